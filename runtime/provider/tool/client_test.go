package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// offerer is a client that answers at once, and remembers what it was asked.
type offerer struct {
	actor  string
	tools  []abi.Tool
	client *Client
	got    []*ClientCall
}

func (o *offerer) CallTool(_ context.Context, c *ClientCall) error {
	o.got = append(o.got, c)
	o.client.Answer(c.ID, &abi.CallToolCallAnswer{})
	return nil
}

func (*offerer) CancelTool(string) {}

func (o *offerer) offers(name string) bool {
	return slices.ContainsFunc(o.tools, func(t abi.Tool) bool { return t.Name == name })
}

// offers is a Session in which clients come and go, and the calls that were decided on
// and not made yet.
type offers struct {
	clients   *Clients
	tools     *Tools
	connected []*offerer // oldest first
	decided   []decision
	calls     int
}

// decision is a call that was decided on, and whom it is for.
type decision struct {
	plan provider.Plan
	of   *offerer
	key  string
}

var (
	clientActors = []string{"key:a", "key:b", "key:c"}
	clientTools  = []string{"pay", "look", "send"}
)

// connect lets a client of any actor offer tools, and wants it refused exactly when a
// name belongs to another actor.
func (s *offers) connect(t *rapid.T) {
	o := &offerer{actor: rapid.SampledFrom(clientActors).Draw(t, "actor")}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(clientTools), 1, 2, rapid.ID).Draw(t, "tools") {
		o.tools = append(o.tools, abi.Tool{Name: name, ReadOnly: rapid.Bool().Draw(t, "read only"), Idempotent: rapid.Bool().Draw(t, "idempotent")})
	}
	taken := slices.ContainsFunc(s.connected, func(other *offerer) bool {
		return other.actor != o.actor && slices.ContainsFunc(o.tools, func(t abi.Tool) bool { return other.offers(t.Name) })
	})
	client, err := s.clients.Connect("t", "s", o.actor, o.tools, o)
	if _, refused := errors.AsType[*TakenError](err); refused != taken || err != nil && !refused {
		t.Fatalf("%s offers %v: %v", o.actor, o.tools, err)
	}
	if err == nil {
		o.client = client
		s.connected = append(s.connected, o)
	}
}

func (s *offers) leave(t *rapid.T) {
	if len(s.connected) == 0 {
		t.Skip("nobody is connected")
	}
	i := rapid.IntRange(0, len(s.connected)-1).Draw(t, "who")
	s.connected[i].client.Close()
	s.connected = slices.Delete(s.connected, i, i+1)
}

// decide prepares a call, which is a write whatever its client says of it.
func (s *offers) decide(t *rapid.T) {
	s.calls++
	name, key := rapid.SampledFrom(clientTools).Draw(t, "tool"), fmt.Sprintf("task-%d", s.calls)
	plan, err := s.tools.Prepare(t.Context(), &provider.Call{Name: abi.CallToolCall, Plugin: "p", Tenant: "t", SessionID: "s",
		IdempotencyKey: key, Request: []byte(`{"server":"client","name":"` + name + `"}`)})
	var of *offerer
	for _, o := range s.connected {
		if o.offers(name) {
			of = o // the newest
		}
	}
	if (of == nil) != (err != nil) {
		t.Fatalf("%s: %v", name, err)
	}
	if of == nil {
		return
	}
	if plan.Effect != abi.EffectWrite || plan.By != of.actor {
		t.Fatalf("%s of %s is %s by %q", name, of.actor, plan.Effect, plan.By)
	}
	s.decided = append(s.decided, decision{plan, of, key})
}

// perform makes a call that was decided on, in any order: it reaches the client that it
// was decided on, or nobody.
func (s *offers) perform(t *rapid.T) {
	if len(s.decided) == 0 {
		t.Skip("nothing is decided")
	}
	i := rapid.IntRange(0, len(s.decided)-1).Draw(t, "which")
	d := s.decided[i]
	s.decided = slices.Delete(s.decided, i, i+1)
	before := len(d.of.got)
	_, err := d.plan.Do(t.Context(), func(string) {})
	if connected := slices.Contains(s.connected, d.of); connected != (err == nil) {
		t.Fatalf("the call of %s, connected %v: %v", d.of.actor, connected, err)
	}
	if err == nil && (len(d.of.got) != before+1 || d.of.got[before].ID != d.key) {
		t.Fatalf("%s has not got the call %s", d.of.actor, d.key)
	}
}

// Whatever comes and goes in whatever order, a call reaches the client that it was
// decided on or nobody, and no client's word makes a read of it.
func TestACallGoesToTheClientItWasDecidedOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &offers{clients: NewClients(Limits{}, Hints{})}
		s.tools = New(Config{Servers: map[string]Server{ServerClient: s.clients}, Grants: map[string][]string{"p": {"client:*"}}})
		t.Repeat(map[string]func(*rapid.T){"connect": s.connect, "leave": s.leave, "decide": s.decide, "perform": s.perform})
	})
}

// What a client says of its tools counts for making calls again; the operator's word
// counts for the rest.
func TestWhoSaysWhatAClientsToolIs(t *testing.T) {
	offered := []abi.Tool{{Name: "look", ReadOnly: true}, {Name: "get_x"}, {Name: "get_rich", ReadOnly: true}, {Name: "put", Idempotent: true}, {Name: "pay"}}
	clients := NewClients(Limits{}, Hints{ReadOnly: []string{"get_*"}, Writes: []string{"get_rich"}})
	o := &offerer{actor: "key:a"}
	var err error
	if o.client, err = clients.Connect("t", "s", o.actor, offered, o); err != nil {
		t.Fatal(err)
	}
	tools := New(Config{Servers: map[string]Server{ServerClient: clients}, Grants: map[string][]string{"p": {"client:*"}}})
	of := provider.Call{Name: abi.CallToolCall, Plugin: "p", Tenant: "t", SessionID: "s"}
	for name, want := range map[string]provider.Plan{
		"look": {Effect: abi.EffectWrite, Repeatable: true}, "get_x": {Effect: abi.EffectRead}, "get_rich": {Effect: abi.EffectWrite},
		"put": {Effect: abi.EffectWrite, Repeatable: true}, "pay": {Effect: abi.EffectWrite},
	} {
		of := of
		of.Request = []byte(`{"server":"client","name":"` + name + `"}`)
		plan, err := tools.Prepare(t.Context(), &of)
		if err != nil || plan.Effect != want.Effect || plan.Repeatable != want.Repeatable {
			t.Errorf("%s: %s, repeatable %v, %v", name, plan.Effect, plan.Repeatable, err)
		}
	}
	told, err := clients.ListFor(t.Context(), &of)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range told {
		if readOnly := tool.Name == "get_x"; tool.ReadOnly != readOnly || tool.Destructive == readOnly {
			t.Errorf("plugins are told that %s is read-only: %v, destructive: %v", tool.Name, tool.ReadOnly, tool.Destructive)
		}
	}
}

// The names of one Session are nobody's in another, or in another tenant's.
func TestNamesBelongToASession(t *testing.T) {
	clients := NewClients(Limits{}, Hints{})
	for i, of := range [][2]string{{"t", "s"}, {"t", "s2"}, {"u", "s"}} {
		if _, err := clients.Connect(of[0], of[1], fmt.Sprint("key:", i), []abi.Tool{{Name: "pay"}}, &offerer{}); err != nil {
			t.Errorf("%v: %v", of, err)
		}
	}
}

func TestNamesOfTools(t *testing.T) {
	for _, name := range []string{"a", "read file", "get.x-y_z:1", "größe", "検索", strings.Repeat("x", maxName)} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", strings.Repeat("x", maxName+1), "a\x1b[2J", "a\nb", "a\r", "a\tb", "a\x00", "pay\u202e", "\u2066a", "a\u200b", "a\u2028b",
		"a\u0085", "a\u00a0b", "get_*", "*", "\xff", "\ufeffa"} {
		if err := CheckName(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
