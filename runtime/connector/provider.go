package connector

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Header is the header of a delivery.
type Header interface {
	// Get returns the value of the header of the given name, in any case, nil when
	// there is none. It is valid as long as the request is.
	Get(name string) []byte
}

// Answer is what a provider is answered that has asked, and delivered nothing.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
}

// Provider is what is known of a provider, and so what a Connector need not say.
type Provider struct {
	Name string
	// Plugin is what normalizes its deliveries: PLUGIN#EXPORT.
	Plugin string
	Scheme abi.SignatureScheme
	// IDHeaders are the headers that may hold the delivery id: the first that is there
	// counts.
	IDHeaders []string
	// EventKinds are those that its plugin knows, in the provider's own words.
	EventKinds []string

	bodyID    func(h Header, body []byte) (id, from string)
	challenge func(method string, h Header, body []byte) (Answer, bool)
}

// MaxDeliveryID is the longest delivery id, in bytes, that is taken as it is.
const MaxDeliveryID = 255

// DeliveryID returns what tells a delivery from others, by the provider's headers or,
// where the provider says it there, by the body; "" when neither has it, or it is
// longer than [MaxDeliveryID] or has bytes that are no printable ASCII. The caller
// then takes a hash of the delivery. from is the header that it stands in, "" when it
// is the body.
func (p Provider) DeliveryID(h Header, body []byte) (id, from string) {
	for _, name := range p.IDHeaders {
		if id := h.Get(name); len(id) > 0 {
			return usableID(string(id)), name
		}
	}
	if p.bodyID == nil {
		return "", ""
	}
	id, from = p.bodyID(h, body)
	return usableID(id), from
}

func usableID(id string) string {
	if len(id) > MaxDeliveryID || !printable(id) {
		return ""
	}
	return id
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Challenge answers a request that delivers nothing and only asks whether somebody is
// there: Slack's url_verification, the OPTIONS of CloudEvents. A request with a body
// is to be passed only when its signature holds; OPTIONS carries none.
func (p Provider) Challenge(method string, h Header, body []byte) (Answer, bool) {
	if p.challenge == nil {
		return Answer{}, false
	}
	return p.challenge(method, h, body)
}

// Lookup returns the provider of the given name. One that is not known is normalized
// by a plugin that its Connector names, and is otherwise like generic.
func Lookup(name string) (Provider, bool) {
	for _, p := range providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// Names returns the names of the known providers, sorted.
func Names() []string {
	names := map[string]bool{}
	for _, p := range providers() {
		names[p.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func providers() []Provider {
	return []Provider{
		{Name: "cloudevents", Plugin: "connectors#cloudevents", Scheme: abi.SchemeStandard, IDHeaders: []string{"webhook-id"},
			EventKinds: []string{"*"}, bodyID: cloudEventID, challenge: cloudEventsHandshake},
		{Name: "cron", Plugin: "connectors#cron", Scheme: abi.SchemeStandard, IDHeaders: []string{"webhook-id"}, EventKinds: []string{"tick"}},
		{Name: "generic", Plugin: "connectors#generic", Scheme: abi.SchemeStandard,
			IDHeaders: []string{"webhook-id"}, EventKinds: []string{"*"}},
		{Name: "github", Plugin: "connectors#github", Scheme: abi.SchemeGitHub, IDHeaders: []string{"X-GitHub-Delivery"},
			EventKinds: []string{"commit_comment", "discussion", "discussion_comment", "issue_comment", "issues", "ping", "pull_request",
				"pull_request_review", "pull_request_review_comment", "push", "release", "workflow_run"}},
		{Name: "slack", Plugin: "connectors#slack", Scheme: abi.SchemeSlack,
			EventKinds: []string{"app_mention", "message", "reaction_added"}, bodyID: member("event_id"), challenge: slackVerification},
		{Name: "stripe", Plugin: "connectors#generic", Scheme: abi.SchemeStripe, EventKinds: []string{"*"}, bodyID: member("id")},
	}
}

// member returns a function that finds a string among the body's own members.
func member(name string) func(Header, []byte) (id, from string) {
	return func(_ Header, body []byte) (id, from string) { return members(body, name)[name], "" }
}

// members returns those strings among the members of an object that are named.
// What is wrong with the text after them is not seen; it is seen when the delivery is
// normalized.
func members(body []byte, names ...string) map[string]string {
	found := make(map[string]string, len(names))
	in := jsontext.NewDecoder(bytes.NewReader(body))
	if t, err := in.ReadToken(); err != nil || t.Kind() != '{' {
		return found
	}
	for len(found) < len(names) && in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return found
		}
		key := name.String() // the token lasts until the decoder is used again
		if !slices.Contains(names, key) || in.PeekKind() != '"' {
			if in.SkipValue() != nil {
				return found
			}
			continue
		}
		value, err := in.ReadToken()
		if err != nil {
			return found
		}
		found[key] = value.String()
	}
	return found
}
