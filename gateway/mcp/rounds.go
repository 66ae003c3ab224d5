package mcp

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Between rounds a call is a Task that waits, and what its client has of it: the request state, which the
// node has signed. It says which Task goes on, what was asked under which key, and who may go on with it.
type requestState struct {
	Type    string            `json:"typ"`
	Task    string            `json:"task"`
	Asked   map[string]string `json:"asked"` // ids of permission requests by their keys
	Caller  string            `json:"caller"`
	Call    string            `json:"call"` // which call it is: see callHash
	After   string            `json:"after"`
	Expires int64             `json:"exp"` // in seconds since 1970
}

const (
	// stateType tells a state from whatever else the node signs.
	stateType = "wharf-mcp-request-state"
	// stateLife is how long a client may take for a round. The Task waits on when it is over, and is
	// answered elsewhere.
	stateLife = 24 * time.Hour
	// mostState bounds what is read of a state, in bytes.
	mostState = 64 << 10
)

// inputRequired is the result that asks a client all that it can be asked; nil when that is nothing.
func (c *call) inputRequired(all []question) (sdk.Result, error) {
	asks, asked := sdk.InputRequestMap{}, map[string]string{}
	for _, one := range all {
		if by, known := askers()[one.Kind]; known && !c.beyond[one.ID] && by.can(c.q.capabilities(), &one.PermissionRequest) {
			asks[one.key], asked[one.key] = by.ask(&one.PermissionRequest), one.ID
		}
	}
	if len(asks) == 0 {
		return nil, nil
	}
	state, err := c.adapter.sign(&requestState{Type: stateType, Task: c.id, Asked: asked, Caller: ownerOf(c.q.caller), Call: callHash(c.params),
		After: c.from.String(), Expires: c.adapter.has.Now().Add(stateLife).Unix()})
	if err != nil || state == "" {
		return nil, err
	}
	requests, err := asks.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing what a client is asked: %w", err)
	}
	return c.q.replyAs("input_required", inputRequired{requests, state})
}

type inputRequired struct {
	Requests jsontext.Value `json:"inputRequests"`
	State    string         `json:"requestState"`
}

// callHash is the hash of what a call asks for, so that a state is good for this call alone.
func callHash(p *sdk.CallToolParamsRaw) string {
	arguments := p.Arguments
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	sum := api.Fingerprint([]byte(`[` + string(encoded(p.Name)) + `,` + string(arguments) + `]`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// sign makes the text of a state; "" on a node without a key.
func (a *Adapter) sign(s *requestState) (string, error) {
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("writing a request state: %w", err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("writing a request state: %w", err)
	}
	by, err := a.core.SignDocument(canonical, "")
	if err != nil || by == nil {
		return "", err
	}
	return by.Protected + "." + base64.RawURLEncoding.EncodeToString(canonical) + "." + by.Signature, nil
}

// errState says that a state is none that this node has given this caller for this call. It says no more:
// whoever tries is not to learn which.
func errState() error {
	return refuse(jsonrpc.CodeInvalidParams, "the request state is not one of this call, or has expired", nil)
}

// verified reads a state, of which the node's key says that it is the node's.
func (a *Adapter) verified(text string) (*requestState, error) {
	parts := strings.Split(text, ".")
	if len(text) > mostState || len(parts) != 3 {
		return nil, errState()
	}
	header, err1 := base64.RawURLEncoding.DecodeString(parts[0])
	payload, err2 := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err3 := base64.RawURLEncoding.DecodeString(parts[2])
	var of struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	if errors.Join(err1, err2, err3) != nil || json.Unmarshal(header, &of) != nil || of.Algorithm != "EdDSA" {
		return nil, errState()
	}
	key, err := a.signingKey(of.KeyID)
	if err != nil {
		return nil, err
	}
	if key == nil || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), signature) {
		return nil, errState()
	}
	s := &requestState{}
	if json.Unmarshal(payload, s) != nil || s.Type != stateType {
		return nil, errState()
	}
	return s, nil
}

// signingKey returns the public half of one of the node's keys, retired ones too; nil for a stranger's.
func (a *Adapter) signingKey(id string) (ed25519.PublicKey, error) {
	for _, k := range a.core.SigningKeys().Keys {
		if k.KeyID != id {
			continue
		}
		public, err := base64.StdEncoding.DecodeString(k.PublicKey)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("the node's key %s is no key of Ed25519", id)
		}
		return public, nil
	}
	return nil, nil
}

// resumeCall goes on with a call: it settles what the client has answered, and follows the Task. An answer
// that came before, or that somebody else has given meanwhile, is not needed any more; one that is missing,
// or does not fit, is asked for again.
func (a *Adapter) resumeCall(ctx context.Context, q *request, p *sdk.CallToolParamsRaw, show shows) (sdk.Result, error) {
	if !q.stateless {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a revision with sessions has no request state", nil)
	}
	s, err := a.verified(p.RequestState)
	if err != nil {
		return nil, err
	}
	after, ok := api.ParseCursor(s.After)
	if !ok || s.Caller != ownerOf(q.caller) || s.Call != callHash(p) || a.has.Now().Unix() >= s.Expires {
		return nil, errState()
	}
	c := &call{adapter: a, q: q, params: p, id: s.Task, from: after, show: show, beyond: map[string]bool{}}
	t, err := c.task(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.pending(ctx, t)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one question) bool { return s.Asked[one.key] != one.ID })
	if _, err := c.settleGiven(ctx, all); err != nil {
		return nil, err
	}
	if show != nil {
		return c.finish(ctx)
	}
	return c.goOn(ctx, s)
}

// settleGiven settles those of some questions that the client has answered in its request, and returns how
// many that were.
func (c *call) settleGiven(ctx context.Context, all []question) (n int, err error) {
	for _, one := range all {
		answer, given := c.params.InputResponses[one.key]
		by, known := askers()[one.Kind]
		if !given || !known {
			continue
		}
		settled, err := c.settle(ctx, by, &one.PermissionRequest, answer)
		if is, ok := errors.AsType[*abi.Error](err); errors.Is(err, errUnasked) || ok && is.Code == abi.CodePermissionDenied {
			c.beyond[one.ID] = true
			continue
		}
		if err != nil {
			return n, err
		}
		if settled {
			n++
		}
	}
	return n, nil
}

// followAnswered follows a Task. A client that answers with its first request what it knows that it will be
// asked is asked the rest only: each of its answers is for the first question of its key.
func (c *call) followAnswered(ctx context.Context) (*abi.Task, error) {
	known := map[string]bool{}
	for {
		t, err := c.follow(ctx)
		if err != nil || t.Status.Terminal() || !c.q.stateless || c.params.RequestState != "" || len(c.params.InputResponses) == 0 {
			return t, err
		}
		all, err := c.pending(ctx, t)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(one question) bool { return known[one.key] })
		for _, one := range all {
			known[one.key] = true
		}
		if n, err := c.settleGiven(ctx, all); n == 0 || err != nil {
			return t, err
		}
	}
}
