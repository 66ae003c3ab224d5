package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/live"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// place is a node with one Session.
type place struct {
	*roomtest.House
	*live.Keeper
	session string

	mu      sync.Mutex
	now     time.Time
	pending []string // requests that the Session's Tasks wait on, newest first
}

func newPlace(t testing.TB) *place {
	p := &place{House: roomtest.New(t, memory.New(time.Now)), session: "sess_live", now: time.Unix(1_780_000_000, 0)}
	p.NewSession(t, p.session, roomtest.Workspace)
	p.boot()
	return p
}

// boot begins another life of the node on the same log.
func (p *place) boot() {
	parts := p.Parts
	parts.Now = p.clock
	p.Keeper = live.NewKeeper(live.Parts{Parts: parts, Pending: func(storage.Tenant, string, int) []string { return slices.Clone(p.pending) }})
}

func (p *place) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *place) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// as is a caller of the tenant who may do everything, as a client.
func as(actor, client string) *desk.Caller {
	return &desk.Caller{Tenant: roomtest.Tenant, Actor: actor, Scopes: []string{abi.ScopeAll}, Client: client}
}

func (p *place) attach(t testing.TB, actor, client string, mode abi.LiveMode, takeover bool) *abi.LiveClients {
	t.Helper()
	all, err := p.AttachClient(t.Context(), as(actor, ""), p.session, abi.AttachClientRequest{ClientID: client, Mode: mode, Takeover: takeover})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// told is an event about live clients.
type told struct {
	kind    abi.EventKind
	actor   string
	payload string
}

// events returns what the Session's stream has of live clients.
func (p *place) events(t testing.TB) (all []told) {
	t.Helper()
	events, _, err := p.Store.Events(t.Context(), roomtest.Tenant, storage.Scope{Object: abi.ObjectSession, ID: p.session}, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if rec := ev.Record(); strings.HasPrefix(string(rec.Kind), "vendor.wharf.live_") {
			all = append(all, told{rec.Kind, ev.Frame.Actor, string(rec.Payload)})
		}
	}
	return all
}

func id(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// reason returns the reason of a conflict, "" for none.
func reason(t testing.TB, err error) string {
	t.Helper()
	refused, ok := errors.AsType[*abi.Error](err)
	if !ok || refused.Code != abi.CodeConflict {
		return ""
	}
	var details struct {
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(refused.Details, &details); err != nil {
		t.Fatal(err)
	}
	return details.Reason
}

func TestOneControls(t *testing.T) {
	p := newPlace(t)
	if all := p.attach(t, "ada", "tui", abi.LiveController, false); id(all.ActiveControllerID) != "tui" || all.PreviousControllerID != nil || !all.Client.PromptInjection || all.Client.AttachedAt != "1780000000" {
		t.Errorf("the first controller: %+v", all)
	}
	if all := p.attach(t, "bob", "portal", "", false); all.Client.Mode != abi.LiveObserver || all.Client.PermissionRouting || len(all.Clients) != 2 || id(all.ActiveControllerID) != "tui" {
		t.Errorf("an observer: %+v", all)
	}
	_, err := p.AttachClient(t.Context(), as("bob", ""), p.session, abi.AttachClientRequest{ClientID: "portal", Mode: abi.LiveController})
	if reason(t, err) != "controller_exists" || !strings.Contains(err.Error(), `"tui" controls`) {
		t.Errorf("a second controller is answered %v", err)
	}
	if err := p.Controls(as("bob", "portal"), p.session); reason(t, err) != "not_controller" || !strings.Contains(string(err.(*abi.Error).Details), `"active_controller_id":"tui"`) {
		t.Errorf("an observer that prompts is answered %v", err)
	}
	if err := p.Controls(as("ada", "tui"), p.session); err != nil {
		t.Errorf("the controller is refused: %v", err)
	}
	if err := p.Controls(as("bob", "tui"), p.session); reason(t, err) != "not_controller" {
		t.Errorf("another actor acts as the controller: %v", err)
	}
	if err := p.Controls(as("bob", ""), p.session); err != nil {
		t.Errorf("a request that names no client is refused: %v", err)
	}
	all, err := p.TakeoverSession(t.Context(), as("bob", ""), p.session, abi.TakeoverSessionRequest{ClientID: "portal"})
	if err != nil || id(all.ActiveControllerID) != "portal" || id(all.PreviousControllerID) != "tui" || all.Clients[0].Mode != abi.LiveObserver {
		t.Errorf("a takeover: %+v, %v", all, err)
	}
	if err := p.Controls(as("ada", "tui"), p.session); reason(t, err) != "not_controller" {
		t.Errorf("the former controller still controls: %v", err)
	}
	all, err = p.DetachClient(t.Context(), as("bob", ""), p.session, abi.DetachClientRequest{ClientID: "portal", Reason: "done"})
	if err != nil || all.ActiveControllerID != nil || id(all.PreviousControllerID) != "portal" || len(all.Clients) != 1 {
		t.Errorf("a detach: %+v, %v", all, err)
	}
	if err := p.Controls(as("ada", "tui"), p.session); reason(t, err) != "not_controller" {
		t.Errorf("nobody controls, and %v", err)
	}
	var actions []string
	for _, ev := range p.events(t) {
		var is abi.LiveClientChange
		if err := json.Unmarshal([]byte(ev.payload), &is); err != nil {
			t.Fatal(err)
		}
		actions = append(actions, fmt.Sprintf("%s %s by %s, %s to %s %s", is.Action, is.Client.ClientID, ev.actor, id(is.PreviousControllerID), id(is.ActiveControllerID), is.Reason))
	}
	want := []string{"attached tui by ada, - to tui ", "attached portal by bob, - to tui ", "taken_over portal by bob, tui to portal ", "detached portal by bob, portal to - done"}
	if !slices.Equal(actions, want) {
		t.Errorf("the log tells\n%s", strings.Join(actions, "\n"))
	}
}

func TestClientsAreTheirActors(t *testing.T) {
	p := newPlace(t)
	p.attach(t, "ada", "tui", abi.LiveController, false)
	mallory := as("mallory", "")
	for what, err := range map[string]error{
		"attach": func() error {
			_, err := p.AttachClient(t.Context(), mallory, p.session, abi.AttachClientRequest{ClientID: "tui"})
			return err
		}(),
		"takeover": func() error {
			_, err := p.TakeoverSession(t.Context(), mallory, p.session, abi.TakeoverSessionRequest{ClientID: "tui"})
			return err
		}(),
		"detach": func() error {
			_, err := p.DetachClient(t.Context(), mallory, p.session, abi.DetachClientRequest{ClientID: "tui"})
			return err
		}(),
		"heartbeat": func() error {
			_, err := p.HeartbeatClient(t.Context(), mallory, p.session, abi.HeartbeatClientRequest{ClientID: "tui"})
			return err
		}(),
	} {
		if reason(t, err) != "client_taken" || strings.Contains(fmt.Sprint(err), "ada") {
			t.Errorf("%s as another's client is answered %v", what, err)
		}
	}
	if all := p.attach(t, "mallory", "own", abi.LiveController, true); id(all.PreviousControllerID) != "tui" {
		t.Errorf("a takeover as a client of one's own: %+v", all)
	}
}

func TestReconnectKeepsControl(t *testing.T) {
	p := newPlace(t)
	first := p.attach(t, "ada", "tui", abi.LiveController, false)
	p.pass(time.Minute)
	again := p.attach(t, "ada", "tui", "", false)
	if id(again.ActiveControllerID) != "tui" || again.Client.AttachedAt != "1780000060" || len(again.Clients) != 1 {
		t.Errorf("a client that came back: %+v", again)
	}
	// The connection that it had before ends only now.
	_, err := p.DetachClient(t.Context(), as("ada", ""), p.session, abi.DetachClientRequest{ClientID: "tui", Reason: abi.DetachedExit, Attachment: first.Attachment})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Controls(as("ada", "tui"), p.session); err != nil {
		t.Errorf("the end of a former connection took control away: %v", err)
	}
	if all := p.attach(t, "ada", "tui", abi.LiveObserver, false); all.ActiveControllerID != nil || id(all.PreviousControllerID) != "tui" {
		t.Errorf("a controller that asks to observe: %+v", all)
	}
}

func TestHeartbeats(t *testing.T) {
	p := newPlace(t)
	p.attach(t, "ada", "tui", abi.LiveController, false)
	p.attach(t, "bob", "portal", abi.LiveObserver, false)
	before := len(p.events(t))
	beat := func(actor, client, metadata string) *abi.LiveClients {
		t.Helper()
		all, err := p.HeartbeatClient(t.Context(), as(actor, ""), p.session, abi.HeartbeatClientRequest{ClientID: client, Metadata: jsontext.Value(metadata)})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	p.pass(live.Silence)
	if all := beat("bob", "portal", ""); all.Client.LastSeenAt != "1780000120" || id(all.ActiveControllerID) != "tui" {
		t.Errorf("a heartbeat: %+v", all)
	}
	beat("bob", "portal", "{}")
	if n := len(p.events(t)); n != before {
		t.Errorf("%d heartbeats that say nothing are in the log", n-before)
	}
	beat("bob", "portal", `{"surface": "web"}`)
	p.pass(time.Second)
	// Nothing was heard of the controller for too long.
	if all := beat("bob", "portal", ""); all.ActiveControllerID != nil || len(all.Clients) != 1 {
		t.Errorf("who is gone is still there: %+v", all)
	}
	events := p.events(t)[before:]
	if len(events) != 2 || !strings.Contains(events[0].payload, `"action":"heartbeat"`) || !strings.Contains(events[1].payload, `"reason":"silent"`) {
		t.Errorf("the log tells %+v", events)
	}
	all, err := p.AttachClient(t.Context(), as("ada", ""), p.session, abi.AttachClientRequest{ClientID: "tui", Mode: abi.LiveController, Held: true})
	if err != nil || id(all.ActiveControllerID) != "tui" {
		t.Fatalf("it comes back: %+v, %v", all, err)
	}
	p.pass(time.Hour)
	p.attach(t, "carol", "third", abi.LiveObserver, false)
	if err := p.Controls(as("ada", "tui"), p.session); err != nil {
		t.Errorf("a client whose connection is watched was taken out for its silence: %v", err)
	}
}

func TestRequestsAreRoutedToTheNewController(t *testing.T) {
	p := newPlace(t)
	p.pending = []string{"perm_2", "perm_1"}
	p.attach(t, "bob", "portal", abi.LiveObserver, false)
	p.attach(t, "ada", "tui", abi.LiveController, false)
	p.attach(t, "ada", "tui", abi.LiveController, false) // nothing is routed anew
	p.attach(t, "bob", "portal", abi.LiveController, true)
	var routes []string
	for _, ev := range p.events(t) {
		var to abi.LivePermissionRoute
		if ev.kind == abi.EventLivePermissionRoute && json.Unmarshal([]byte(ev.payload), &to) == nil {
			routes = append(routes, to.RequestID+" to "+to.ClientID)
		}
	}
	if want := []string{"perm_1 to tui", "perm_2 to tui", "perm_1 to portal", "perm_2 to portal"}; !slices.Equal(routes, want) {
		t.Errorf("the log routes %v", routes)
	}
}

func TestWhoMayAttach(t *testing.T) {
	p := newPlace(t)
	reader := &desk.Caller{Tenant: roomtest.Tenant, Actor: "eve", Scopes: []string{"sessions:read"}}
	req := abi.AttachClientRequest{ClientID: "c", Mode: abi.LiveController}
	for what, c := range map[string]*desk.Caller{
		"another tenant":    {Tenant: roomtest.Tenant + 1, Actor: "ada", Scopes: []string{abi.ScopeAll}},
		"another workspace": {Tenant: roomtest.Tenant, Actor: "ada", Scopes: []string{abi.ScopeAll}, Workspaces: []string{"ws_other"}},
	} {
		if _, err := p.AttachClient(t.Context(), c, p.session, req); !notFound(err) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := p.LiveClients(t.Context(), c, p.session); !notFound(err) {
			t.Errorf("%s lists: %v", what, err)
		}
	}
	var denied *abi.Error
	if _, err := p.AttachClient(t.Context(), reader, p.session, req); !errors.As(err, &denied) || denied.Code != abi.CodePermissionDenied {
		t.Errorf("a reader that wants to control is answered %v", err)
	}
	if _, err := p.AttachClient(t.Context(), reader, p.session, abi.AttachClientRequest{ClientID: "c"}); err != nil {
		t.Errorf("a reader may not observe: %v", err)
	}
	for _, bad := range []abi.AttachClientRequest{
		{}, {ClientID: strings.Repeat("c", desk.MaxClientID+1)}, {ClientID: "a\nb"}, {ClientID: "\xff"}, {ClientID: "c", Mode: "owner"},
		{ClientID: "c", Takeover: true}, {ClientID: "c", Metadata: jsontext.Value(`[1]`)},
		{ClientID: "c", Metadata: jsontext.Value(`{"much":"` + strings.Repeat("m", 2<<10) + `"}`)},
	} {
		var invalid *abi.Error
		if _, err := p.AttachClient(t.Context(), as("ada", ""), p.session, bad); !errors.As(err, &invalid) || invalid.Code != abi.CodeInvalidRequest {
			t.Errorf("%.60v is answered %v", bad, err)
		}
	}
}

func notFound(err error) bool {
	refused, ok := errors.AsType[*abi.Error](err)
	return ok && refused.Code == abi.CodeResourceNotFound
}

func TestClientsAreBounded(t *testing.T) {
	p := newPlace(t)
	fill := func(session string) (refused error) {
		for n := 0; refused == nil; n++ {
			_, refused = p.AttachClient(t.Context(), as("ada", ""), session, abi.AttachClientRequest{ClientID: fmt.Sprint("c", n)})
		}
		return refused
	}
	var full *abi.Error
	for n := 0; full == nil || full.Code != abi.CodeRateLimited; n++ {
		session := fmt.Sprint("sess_", n)
		p.NewSession(t, session, roomtest.Workspace)
		if err := fill(session); !errors.As(err, &full) || full.Code != abi.CodeConflict && full.Code != abi.CodeRateLimited {
			t.Fatal(err)
		}
		if n > 100 {
			t.Fatal("a tenant attaches as many clients as it likes")
		}
	}
	other := as("bob", "")
	p.pass(live.Silence + time.Second)
	if _, err := p.AttachClient(t.Context(), other, p.session, abi.AttachClientRequest{ClientID: "late", Mode: abi.LiveController}); err != nil {
		t.Errorf("clients of which nothing was heard keep others out: %v", err)
	}
}

func TestAnotherLifeKnowsNobody(t *testing.T) {
	p := newPlace(t)
	p.attach(t, "ada", "tui", abi.LiveController, false)
	p.boot()
	if err := p.Controls(as("ada", "tui"), p.session); reason(t, err) != "not_controller" {
		t.Errorf("after a restart: %v", err)
	}
	if all := p.attach(t, "ada", "tui", abi.LiveController, false); id(all.ActiveControllerID) != "tui" {
		t.Errorf("it comes back: %+v", all)
	}
	if n := len(p.events(t)); n != 2 {
		t.Errorf("the log has %d events", n)
	}
}

// modelled is what a plain model knows of a client.
type modelled struct {
	actor string
	seen  time.Time
	held  bool
}

// TestOwnershipAgainstAModel has clients come, go, take over and fall silent in any order, and holds who
// controls the Session, and what the log says of that, against a plain model.
func TestOwnershipAgainstAModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPlace(t)
		clients, controller := map[string]*modelled{}, ""
		actors, ids := rapid.SampledFrom([]string{"ada", "bob"}), rapid.SampledFrom([]string{"a", "b", "c"})
		// gone takes out of the model whoever was silent for too long, but the one that is heard of.
		gone := func(heard string) {
			for name, c := range clients {
				if name != heard && !c.held && p.clock().Sub(c.seen) > live.Silence {
					delete(clients, name)
					if controller == name {
						controller = ""
					}
				}
			}
		}
		check := func(what string, err error, ok bool) {
			if (err == nil) != ok {
				r.Fatalf("%s: %v, and the model says %v", what, err, ok)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"attach": func(r *rapid.T) {
				actor, name, held := actors.Draw(r, "actor"), ids.Draw(r, "client"), rapid.Bool().Draw(r, "held")
				mode, takeover := rapid.SampledFrom([]abi.LiveMode{"", abi.LiveObserver, abi.LiveController}).Draw(r, "mode"), rapid.Bool().Draw(r, "takeover")
				takeover = takeover && mode == abi.LiveController
				_, err := p.AttachClient(t.Context(), as(actor, ""), p.session, abi.AttachClientRequest{ClientID: name, Mode: mode, Takeover: takeover, Held: held})
				was, after := clients[name], controller
				silent := map[string]bool{}
				for other, c := range clients {
					silent[other] = other != name && !c.held && p.clock().Sub(c.seen) > live.Silence
				}
				rival := after != "" && after != name && !silent[after]
				controls := mode == abi.LiveController || mode == "" && was != nil && after == name
				ok := (was == nil || was.actor == actor) && (!controls || !rival || takeover)
				check("attach", err, ok)
				if !ok {
					return
				}
				gone(name)
				clients[name] = &modelled{actor: actor, seen: p.clock(), held: held}
				switch {
				case controls:
					controller = name
				case controller == name:
					controller = ""
				}
			},
			"detach": func(r *rapid.T) {
				actor, name := actors.Draw(r, "actor"), ids.Draw(r, "client")
				_, err := p.DetachClient(t.Context(), as(actor, ""), p.session, abi.DetachClientRequest{ClientID: name})
				ok := clients[name] != nil && clients[name].actor == actor
				check("detach", err, ok)
				if !ok {
					return
				}
				gone(name)
				if delete(clients, name); controller == name {
					controller = ""
				}
			},
			"heartbeat": func(r *rapid.T) {
				actor, name := actors.Draw(r, "actor"), ids.Draw(r, "client")
				_, err := p.HeartbeatClient(t.Context(), as(actor, ""), p.session, abi.HeartbeatClientRequest{ClientID: name,
					Metadata: jsontext.Value(rapid.SampledFrom([]string{"", "{}", `{"x":1}`}).Draw(r, "metadata"))})
				ok := clients[name] != nil && clients[name].actor == actor
				check("heartbeat", err, ok)
				if ok {
					gone(name)
					clients[name].seen = p.clock()
				}
			},
			"act": func(r *rapid.T) {
				actor, name := actors.Draw(r, "actor"), ids.Draw(r, "client")
				err := p.Controls(as(actor, name), p.session)
				ok := controller == name && clients[name].actor == actor
				check("act", err, ok)
				if ok {
					clients[name].seen = p.clock()
				}
			},
			"time": func(r *rapid.T) { p.pass(time.Duration(rapid.IntRange(1, 150).Draw(r, "seconds")) * time.Second) },
			"crash": func(*rapid.T) {
				p.boot()
				clear(clients)
				controller = ""
			},
			"": func(r *rapid.T) {
				all, err := p.LiveClients(t.Context(), as("ada", ""), p.session)
				if err != nil {
					r.Fatal(err)
				}
				if len(all.Clients) != len(clients) || all.ActiveControllerID == nil && controller != "" || all.ActiveControllerID != nil && *all.ActiveControllerID != controller {
					r.Fatalf("there are %+v, controlled by %s; the model has %d, controlled by %q", all.Clients, id(all.ActiveControllerID), len(clients), controller)
				}
				for _, c := range all.Clients {
					if (c.Mode == abi.LiveController) != (c.ClientID == controller) {
						r.Fatalf("%+v", c)
					}
				}
			},
		})
	})
}

// TestTakeoversAtOnce has many clients take one Session over at once: one controls it in the end, and
// the log tells one owner after the other.
func TestTakeoversAtOnce(t *testing.T) {
	p := newPlace(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			name := fmt.Sprint("c", n)
			for range 10 {
				if _, err := p.TakeoverSession(context.Background(), as(name, ""), p.session, abi.TakeoverSessionRequest{ClientID: name}); err != nil {
					t.Error(err)
				}
				_ = p.Controls(as(name, name), p.session)
				if _, err := p.HeartbeatClient(context.Background(), as(name, ""), p.session, abi.HeartbeatClientRequest{ClientID: name}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	owner := "-"
	for _, ev := range p.events(t) {
		var is abi.LiveClientChange
		if err := json.Unmarshal([]byte(ev.payload), &is); err != nil {
			t.Fatal(err)
		}
		if former := id(is.PreviousControllerID); former != owner && !(former == "-" && owner == is.Client.ClientID) {
			t.Fatalf("%s took over from %s, and %s controlled it", is.Client.ClientID, former, owner)
		}
		owner = is.Client.ClientID
	}
	now, err := p.LiveClients(t.Context(), as("ada", ""), p.session)
	if err != nil || id(now.ActiveControllerID) != owner {
		t.Errorf("%s controls it, and the log says %s (%v)", id(now.ActiveControllerID), owner, err)
	}
}
