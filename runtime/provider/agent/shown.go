package agent

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// Shown is a card with all that people want to know of it.
type Shown struct {
	*Card
	Text        jsontext.Value // the card itself
	Description string
	Version     string
	Interfaces  []Interface
	Signatures  []Signature
	// Unusable says why nothing can be sent to the agent; nil for one that can be sent to.
	Unusable error
}

// Interface is a place that a card names.
type Interface struct {
	URL     string `json:"url"`
	Binding string `json:"binding"`
	Version string `json:"version"` // of A2A
}

// Signature is one of a card.
type Signature struct {
	KeyID  string           `json:"key_id"`
	Keys   string           `json:"keys"` // where its key is published
	Verify SignatureVerdict `json:"verdict"`
	Reason string           `json:"reason,omitzero"`
}

// SignatureVerdict says what came of a check.
type SignatureVerdict string

// The verdicts.
const (
	SignatureValid   SignatureVerdict = "valid"
	SignatureInvalid SignatureVerdict = "invalid"
	SignatureUnknown SignatureVerdict = "unknown" // its key is not to be had
)

// maxSignatures is how many signatures of a card are checked.
const maxSignatures = 8

// Show reads the agent's card for people, and checks its signatures with the keys that they name, as
// far as these are where requests may go. The error is a *provider.Refusal.
func (p *Peer) Show(ctx context.Context) (*Shown, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTime)
	defer cancel()
	text, _, err := p.exchange(ctx, "", &request{method: http.MethodGet, url: p.base.String(), most: cardBytes})
	if err != nil {
		return nil, err
	}
	card, unusable := ParseCard(text, p.may)
	if card == nil {
		return nil, refuse(abi.CallUnavailable, codeCard, "what the agent %q has at %s is no card: %v", p.config.Name, p.base, unusable)
	}
	s := &Shown{Card: card, Text: text, Unusable: unusable}
	s.read()
	p.check(ctx, s)
	return s, nil
}

// read takes what is only shown from the card. What has another type than it should is left out.
func (s *Shown) read() {
	var w writtenCard
	_ = json.Unmarshal(s.Text, &w) // ParseCard has read it
	s.Interfaces = w.interfaces()
	var members map[string]jsontext.Value
	_ = json.Unmarshal(s.Text, &members)
	_ = json.Unmarshal(members["description"], &s.Description)
	_ = json.Unmarshal(members["version"], &s.Version)
}

// interfaces are all places of a card, with those that the card of 0.3 has.
func (w *writtenCard) interfaces() (all []Interface) {
	add := func(i Interface) {
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	for _, i := range w.Supported {
		add(Interface{i.URL, i.Binding, i.Version})
	}
	if len(all) > 0 {
		return all
	}
	if w.URL != "" {
		binding := w.Preferred
		if binding == "" {
			binding = bindingJSONRPC
		}
		add(Interface{w.URL, binding, "0.3"})
	}
	for _, i := range w.Additional {
		add(Interface{i.URL, i.Transport, "0.3"})
	}
	return all
}

// writtenSignature is a signature as a card has it.
type writtenSignature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

// check checks the signatures of a card.
func (p *Peer) check(ctx context.Context, s *Shown) {
	var members map[string]jsontext.Value
	_ = json.Unmarshal(s.Text, &members)
	var all []writtenSignature
	if len(members["signatures"]) == 0 {
		return
	}
	if json.Unmarshal(members["signatures"], &all) != nil {
		s.Signatures = []Signature{{Verify: SignatureInvalid, Reason: "the signatures cannot be read"}}
		return
	}
	delete(members, "signatures")
	payloads := signedForms(members)
	for _, w := range all[:min(len(all), maxSignatures)] {
		s.Signatures = append(s.Signatures, p.checkOne(ctx, w, payloads))
	}
}

// signedForms returns the forms of a card that signatures are made over: its canonical JSON, and,
// as some SDKs do it, that of what is not empty in it.
func signedForms(members map[string]jsontext.Value) (forms []string) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	var value any
	_ = json.Unmarshal(text, &value)
	whole, _ := json.Marshal(withoutEmpty(value))
	for _, form := range []jsontext.Value{text, whole} {
		if form.Canonicalize() == nil {
			forms = append(forms, base64.RawURLEncoding.EncodeToString(form))
		}
	}
	return forms
}

func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutEmpty(member); v[name] == nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		var kept []any
		for _, member := range v {
			if member = withoutEmpty(member); member != nil {
				kept = append(kept, member)
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

func (p *Peer) checkOne(ctx context.Context, w writtenSignature, payloads []string) Signature {
	var header struct {
		KeyID string `json:"kid"`
		Keys  string `json:"jku"`
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(w.Protected, "="))
	if err != nil || json.Unmarshal(text, &header) != nil {
		return Signature{Verify: SignatureInvalid, Reason: "its header cannot be read"}
	}
	s := Signature{KeyID: bounded(header.KeyID), Keys: bounded(header.Keys), Verify: SignatureUnknown}
	keys, err := p.keys(ctx, header.Keys)
	if err != nil {
		s.Reason = plainly.Say(err)
		return s
	}
	if _, there := keys.LookupKeyID(header.KeyID); !there {
		s.Reason = "its key is not among those that are published"
		return s
	}
	s.Verify = SignatureInvalid
	for _, payload := range payloads {
		signed := w.Protected + "." + payload + "." + w.Signature
		if _, err := jws.Verify([]byte(signed), jws.WithCompact(), jws.WithKeySet(keys, jws.WithInferAlgorithmFromKey(true))); err == nil {
			s.Verify = SignatureValid
			return s
		}
	}
	s.Reason = "the card is not what was signed"
	return s
}

// keys reads the keys that are published at a place.
func (p *Peer) keys(ctx context.Context, at string) (jwk.Set, error) {
	u, err := url.Parse(at)
	switch {
	case at == "" || err != nil:
		return nil, errors.New("it does not say where its key is published")
	case !p.may(u):
		return nil, errors.New("its key is on another host than the card")
	}
	text, _, err := p.exchange(ctx, "", &request{method: http.MethodGet, url: at, most: cardBytes})
	if err != nil {
		return nil, errors.New("its key cannot be read")
	}
	set, err := jwk.Parse(text, jwk.WithIgnoreParseError(true))
	if err != nil {
		return nil, errors.New("its key cannot be read")
	}
	return set, nil
}
