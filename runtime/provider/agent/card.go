package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// version of the A2A protocol that an agent speaks.
type version int

const (
	v1  version = iota // 1.0
	v03                // 0.3
)

// maxSkills is how many skills of a card are offered.
const maxSkills = 200

// maxSaid is how many bytes are taken of what a card says of a skill.
const maxSaid = 8 << 10

// Card is what an agent says of itself, as far as it is used.
type Card struct {
	Name     string
	SHA256   string // of its canonical JSON (RFC 8785), with "sha256:" before it
	Endpoint string // where JSON-RPC goes
	Skills   []Skill
	External External
	Streams  bool // it tells of its tasks in streams

	speaks version
	tenant string // to be named in requests; "" for none
}

// Skill is something that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples"`
}

// External is what a card promises of paid work; the zero value promises nothing.
type External struct {
	Checkpoint  bool     `json:"pre_dispatch_checkpoint"`
	BudgetCap   bool     `json:"budget_cap"`
	Idempotency bool     `json:"idempotency"`
	Handoff     bool     `json:"reviewable_handoff"`
	Dispatch    bool     `json:"dispatch"`
	Operations  []string `json:"operations"`
}

// Lacks names what a card does not promise that paid work needs.
func (x *External) Lacks() (all []string) {
	for _, p := range []struct {
		name  string
		there bool
	}{
		{"budget_cap", x.BudgetCap}, {"idempotency", x.Idempotency}, {"reviewable_handoff", x.Handoff},
		{"dispatch", x.Dispatch && x.offers(abi.MethodExternalDispatch)},
	} {
		if !p.there {
			all = append(all, p.name)
		}
	}
	return all
}

// Plans reports whether the agent says what it would do before it does it.
func (x *External) Plans() bool { return x.Checkpoint && x.offers(abi.MethodExternalPlan) }

// offers reports whether a method is among the operations; a card that lists none has both.
func (x *External) offers(method string) bool {
	return len(x.Operations) == 0 || slices.Contains(x.Operations, method)
}

// writtenCard is a card as it is written: what 1.0 and 0.3 have, together.
type writtenCard struct {
	Name string `json:"name"`

	Supported []struct {
		URL     string `json:"url"`
		Binding string `json:"protocolBinding"`
		Version string `json:"protocolVersion"`
		Tenant  string `json:"tenant"`
	} `json:"supportedInterfaces"`

	URL        string `json:"url"`
	Preferred  string `json:"preferredTransport"`
	Additional []struct {
		URL       string `json:"url"`
		Transport string `json:"transport"`
	} `json:"additionalInterfaces"`

	Skills       []Skill `json:"skills"`
	Capabilities struct {
		Streaming jsontext.Value `json:"streaming"`
		External  jsontext.Value `json:"externalAgent"`
		Meta      meta           `json:"_meta"`
	} `json:"capabilities"`
	Meta meta `json:"_meta"`
}

type meta struct {
	Harn struct {
		External jsontext.Value `json:"externalAgent"`
	} `json:"harn"`
}

// ParseCard reads a card. may says of each place that the card names whether requests may go there;
// the first one that may, and that speaks JSON-RPC, is the Endpoint.
func ParseCard(text []byte, may func(*url.URL) bool) (*Card, error) {
	var w writtenCard
	if refused := provider.Readable(text, reflect.TypeOf(w)); refused != nil {
		return nil, refused
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, errors.New("the card is not one")
	}
	canonical := jsontext.Value(slices.Clone(text))
	if err := canonical.Canonicalize(); err != nil {
		return nil, errors.New("the card is not one")
	}
	sum := sha256.Sum256(canonical)
	c := &Card{Name: bounded(w.Name), SHA256: "sha256:" + hex.EncodeToString(sum[:]), Skills: skills(w.Skills), External: w.external(), Streams: w.Capabilities.Streaming.Kind() == 't'}
	return c, c.choose(w.places(), may)
}

// place is one that a card names for JSON-RPC.
type place struct {
	url, tenant string
	speaks      version
}

const bindingJSONRPC = "JSONRPC"

// places returns those that speak JSON-RPC: of 1.0 first.
func (w *writtenCard) places() (all []place) {
	for _, i := range w.Supported {
		if i.Binding == bindingJSONRPC && strings.HasPrefix(i.Version, "1.") {
			all = append(all, place{i.URL, i.Tenant, v1})
		}
	}
	for _, i := range w.Supported {
		if i.Binding == bindingJSONRPC && strings.HasPrefix(i.Version, "0.3") {
			all = append(all, place{i.URL, "", v03})
		}
	}
	if w.URL != "" && cmp.Or(w.Preferred, bindingJSONRPC) == bindingJSONRPC {
		all = append(all, place{w.URL, "", v03})
	}
	for _, i := range w.Additional {
		if i.Transport == bindingJSONRPC {
			all = append(all, place{i.URL, "", v03})
		}
	}
	return all
}

func (c *Card) choose(places []place, may func(*url.URL) bool) error {
	for _, p := range places {
		u, err := url.Parse(p.url)
		if err != nil || u.User != nil || u.Fragment != "" || !may(u) {
			continue
		}
		c.Endpoint, c.tenant, c.speaks = u.String(), p.tenant, p.speaks
		return nil
	}
	if len(places) == 0 {
		return errors.New("the card names no place that speaks JSON-RPC of A2A 1.0 or 0.3")
	}
	return errors.New("the card leads to another host than the configured one, which hosts does not name")
}

// external returns what the card promises of paid work, at the first of the three places that has it.
func (w *writtenCard) external() (x External) {
	for _, text := range []jsontext.Value{w.Capabilities.External, w.Capabilities.Meta.Harn.External, w.Meta.Harn.External} {
		var said struct {
			Schema   string `json:"schema"`
			External `json:",inline"`
		}
		if len(text) > 0 && json.Unmarshal(text, &said) == nil && said.Schema == abi.ExternalAgentSchema {
			return said.External
		}
	}
	return x
}

// skills leaves out those that no tool can stand for, and those that come twice.
func skills(all []Skill) (kept []Skill) {
	seen := map[string]bool{}
	for _, s := range all {
		if tool.CheckName(s.ID) != nil || seen[s.ID] || len(kept) == maxSkills {
			continue
		}
		seen[s.ID] = true
		kept = append(kept, s)
	}
	return kept
}

// says is what a model is told of a skill.
func (s *Skill) says() string {
	text := s.Description
	if s.Name != "" && s.Name != s.ID {
		text = s.Name + ": " + text
	}
	if len(s.Examples) > 0 {
		text += fmt.Sprintf(" For example: %s", strings.Join(s.Examples, " / "))
	}
	return bounded(text)
}

// bounded cuts a text where it is too long, between characters.
func bounded(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	return strings.ToValidUTF8(text[:maxSaid], "")
}
