package desk_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

func newHouse(t testing.TB) *roomtest.House { return roomtest.New(t, memory.New(time.Now)) }

// branch states a Branch of the Session, a resource that nothing is put into when it is shown.
func branch(t testing.TB, h *roomtest.House, id string) {
	t.Helper()
	h.State(t, roomtest.Workspace, roomtest.Session, abi.EventBranchCreated, abi.ObjectBranch, id,
		&abi.Branch{Envelope: abi.NewEnvelope(abi.ObjectBranch, id, h.Now(), nil), WorkspaceID: roomtest.Workspace})
}

// What a caller has no part in is answered for as what is not there, whatever asks for it.
func TestStrangersSeeNothing(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	task := h.Task()
	task.Input = jsontext.Value(`{"text":"do it"}`)
	h.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, task.ID, task)
	h.State(t, roomtest.Workspace, roomtest.Session, abi.EventOutcomeCreated, abi.ObjectOutcome, "out_test",
		&abi.Outcome{Envelope: abi.NewEnvelope(abi.ObjectOutcome, "out_test", h.Now(), nil), TaskID: "task_test"}) // says nothing of its Workspace
	ids := map[abi.Object]string{abi.ObjectWorkspace: roomtest.Workspace, abi.ObjectSession: roomtest.Session, abi.ObjectTask: "task_test", abi.ObjectOutcome: "out_test"}
	for o, id := range ids {
		for _, c := range []*desk.Caller{h.Root(), h.Bound(roomtest.Workspace), h.Bound("ws_other", roomtest.Workspace)} {
			if doc, err := h.Desk.Get(ctx, c, o, id); err != nil || doc.ID != id {
				t.Errorf("%s, %v: %v", o, c.Workspaces, err)
			}
			if list, err := h.Desk.List(ctx, c, o, desk.Filter{}, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 1 {
				t.Errorf("%s, %v: %d are listed, %v", o, c.Workspaces, len(list.Docs), err)
			}
		}
		for who, c := range h.Strangers() {
			_, err := h.Desk.Get(ctx, c, o, id)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			if list, err := h.Desk.List(ctx, c, o, desk.Filter{}, desk.Page{Limit: 10}); err != nil || len(list.Docs)+len(list.Unreadable) != 0 {
				t.Errorf("%s, one %s: %d are listed, %v", o, who, len(list.Docs), err)
			}
		}
	}
	last := h.Store.Watermark()
	for _, c := range h.Strangers() {
		for _, f := range []desk.Filter{{WorkspaceID: roomtest.Workspace}, {SessionID: roomtest.Session}, {TaskID: "task_test"}} {
			_, _, err := h.Desk.Events(ctx, c, f, 0, 10)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			_, err = h.Desk.Subscribe(ctx, c, f, 0)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		}
		_, err := h.Desk.Event(ctx, c, last)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, err = h.Desk.Messages(ctx, c, roomtest.Session, desk.Page{Limit: 1})
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, _, err = h.Desk.OpenSession(ctx, c, roomtest.Session)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		roomtest.WantCode(t, h.Desk.CheckWorkspace(ctx, c, roomtest.Workspace), abi.CodeResourceNotFound)
	}
	_, _, err := h.Desk.Events(ctx, h.Bound("ws_a", "ws_b"), desk.Filter{}, 0, 10)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	_, _, err = h.Desk.Events(ctx, h.Root(), desk.Filter{TaskID: "task_test", SessionID: "sess_other"}, 0, 10)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
}

// A list has each resource once, newest first, however it is cut into pages; what cannot be read
// is named to those who see the whole tenant, and costs nothing else.
func TestLists(t *testing.T) {
	h := newHouse(t)
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("branch_%d", i)
		if want = append([]string{id}, want...); i != 3 {
			branch(t, h, id)
			continue
		}
		h.State(t, roomtest.Workspace, roomtest.Session, abi.EventBranchCreated, abi.ObjectBranch, id, jsontext.Value(`7`))
	}
	for limit := 1; limit <= 8; limit++ {
		for _, c := range []*desk.Caller{h.Root(), h.Bound(roomtest.Workspace)} {
			var got, unreadable []string
			for after, more := "", true; more; {
				list, err := h.Desk.List(t.Context(), c, abi.ObjectBranch, desk.Filter{}, desk.Page{After: after, Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				for _, doc := range list.Docs {
					got = append(got, doc.ID)
				}
				unreadable = append(unreadable, list.Unreadable...)
				after, more = list.Next, list.More
			}
			if strings.Join(got, " ") != "branch_6 branch_5 branch_4 branch_2 branch_1 branch_0" {
				t.Errorf("in pages of %d: %v", limit, got)
			}
			if told := len(unreadable) == 1 && unreadable[0] == "branch_3"; told != (len(c.Workspaces) == 0) {
				t.Errorf("in pages of %d, %v are told as unreadable", limit, unreadable)
			}
		}
	}
	_, err := h.Desk.Get(t.Context(), h.Root(), abi.ObjectBranch, "branch_3")
	if u, ok := errors.AsType[*desk.UnreadableError](err); !ok || u.ID != "branch_3" {
		t.Errorf("reading it: %v", err)
	}
}

// A write with an Idempotency-Key is made once: by those who come at once, by those who come
// after a crash, and not for another body; another caller's key is another key.
func TestOnce(t *testing.T) {
	h := newHouse(t)
	var made int
	write := func(c *desk.Caller, r *desk.Retry) (desk.Doc, error) {
		return h.Desk.Once(t.Context(), c, r, roomtest.Workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
			made++ // nobody else is here with the same key
			id := fmt.Sprintf("branch_%d", made)
			return h.Desk.Commit(c, roomtest.Session, roomtest.Workspace, idem, desk.StatusCreated, ledger.Record{Kind: abi.EventBranchCreated,
				Object: abi.ObjectBranch, ID: id, Created: true, State: &abi.Branch{Envelope: abi.NewEnvelope(abi.ObjectBranch, id, h.Now(), nil)}})
		})
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if doc, err := write(h.Root(), roomtest.Retry("k", `{"a":1,"b":2}`)); err != nil || doc.ID != "branch_1" {
				t.Errorf("%s, %v", doc.ID, err)
			}
		})
	}
	all.Wait()
	h.Crash()
	again, err := write(h.Root(), roomtest.Retry("k", `{ "b": 2, "a": 1 }`))
	if err != nil || again.ID != "branch_1" || !again.Replayed || made != 1 {
		t.Errorf("%+v, %v; made %d times", again, err, made)
	}
	_, err = write(h.Root(), roomtest.Retry("k", `{"a":1}`))
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	if doc, err := write(h.With(abi.ScopeAll), roomtest.Retry("k", `{"a":1,"b":2}`)); err != nil || doc.ID != "branch_2" {
		t.Errorf("another caller's: %s, %v", doc.ID, err)
	}
	for range 2 {
		if _, err := write(h.Root(), nil); err != nil {
			t.Error(err)
		}
	}
	if made != 4 {
		t.Errorf("made %d times, two of them without a key", made)
	}
}

// A write that failed leaves its key free.
func TestAFailedWriteIsMadeAgain(t *testing.T) {
	h := newHouse(t)
	torn := errors.New("torn")
	_, err := h.Desk.Once(t.Context(), h.Root(), roomtest.Retry("k", ""), "", func(*storage.Idempotency) (desk.Doc, error) { return desk.Doc{}, torn })
	if !errors.Is(err, torn) {
		t.Error(err)
	}
	doc, err := h.Desk.Once(t.Context(), h.Root(), roomtest.Retry("k", ""), "", func(*storage.Idempotency) (desk.Doc, error) { return desk.Doc{ID: "made"}, nil })
	if err != nil || doc.ID != "made" {
		t.Errorf("%+v, %v", doc, err)
	}
}

// Who subscribes is told what comes after, in the order of the log.
func TestSubscribe(t *testing.T) {
	h := newHouse(t)
	sub, err := h.Desk.Subscribe(t.Context(), h.Bound(roomtest.Workspace), desk.Filter{SessionID: roomtest.Session}, h.Store.Watermark())
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	branch(t, h, "branch_a")
	branch(t, h, "branch_b")
	var told []string
	for len(told) < 2 {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			told = append(told, ev.Record().Resource.ID)
		}
	}
	if got := strings.Join(told, " "); got != "branch_a branch_b" {
		t.Errorf("told %s", got)
	}
}

func TestWhatCallersMay(t *testing.T) {
	h := newHouse(t)
	for name, test := range map[string]struct {
		c          *desk.Caller
		node, read bool
	}{
		"everything":                     {h.Root(), true, true},
		"everything in some workspaces":  {h.Bound(roomtest.Workspace), false, true},
		"one scope":                      {h.With("tasks:read"), false, true},
		"another":                        {h.With("tasks:write"), false, false},
		"none":                           {h.With(), false, false},
		"the node, bound to a workspace": {&desk.Caller{Scopes: []string{abi.ScopeNode}, Workspaces: []string{"ws_a"}}, false, false},
	} {
		if node, read := test.c.Can(abi.ScopeNode), test.c.Can("tasks:read"); node != test.node || read != test.read {
			t.Errorf("%s: node %v, read %v", name, node, read)
		}
		if metrics := test.c.Can(abi.ScopeMetrics); metrics != test.node {
			t.Errorf("%s: metrics %v", name, metrics)
		}
		if err := test.c.OwnsTenantWide(); (err == nil) != (len(test.c.Workspaces) == 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChecks(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "null": true, `{}`: true, `{"a":1}`: true, `[]`: false, `7`: false, `"x"`: false, `true`: false} {
		m := jsontext.Value(text)
		if err := desk.CheckMetadata(&m); (err == nil) != ok {
			t.Errorf("metadata %s: %v", text, err)
		}
		if (text == "" || text == "null") && m != nil {
			t.Errorf("metadata %q is kept as %s", text, m)
		}
	}
	deep := jsontext.Value(`{"a":` + strings.Repeat("[", abi.MaxDepth) + strings.Repeat("]", abi.MaxDepth) + `}`)
	roomtest.WantParam(t, desk.CheckPlainMetadata(&deep), "metadata")
	roomtest.WantParam(t, desk.CheckPresent("p", ""), "p")
	roomtest.WantParam(t, desk.CheckOneOf("p", "", "a", "b"), "p")
	roomtest.WantParam(t, desk.CheckOneOf("p", "c", "a", "b"), "p")
	roomtest.WantParam(t, desk.Within("outer[3]", desk.CheckVisibility("visibility", "secret")), "outer[3].visibility")
	if err := errors.Join(desk.CheckOneOf("p", "b", "a", "b"), desk.CheckVisibility("v", abi.VisibilityInternal)); err != nil {
		t.Error(err)
	}
	for state, open := range map[abi.SessionState]bool{abi.SessionActive: true, abi.SessionClosed: false, abi.SessionFailed: false} {
		if err := desk.SessionOpen(&abi.Session{State: state}); (err == nil) != open {
			t.Errorf("a session that is %s: %v", state, err)
		}
	}
}
