package desk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// task states a Task of a Session.
func task(t testing.TB, h *roomtest.House, workspace, session string) string {
	t.Helper()
	task := h.Task()
	task.ID, task.WorkspaceID, task.SessionID, task.Input = h.IDs.New(abi.ObjectTask), workspace, session, []byte(`{}`)
	h.State(t, workspace, session, abi.EventTaskSubmitted, abi.ObjectTask, task.ID, task)
	return task.ID
}

func ids(list desk.DocList) []string {
	all := []string{}
	for _, doc := range list.Docs {
		all = append(all, doc.ID)
	}
	return all
}

// A list is the same from whichever end it is read, and from every place in it there is a way
// back. It shows no caller what another list would not.
func TestPagesInBothDirections(t *testing.T) {
	h := newHouse(t)
	h.NewWorkspace(t, "ws_2")
	h.NewSession(t, "sess_2", "ws_2")
	var all, own []string
	for i := range 9 {
		workspace, session := roomtest.Workspace, roomtest.Session
		if i%3 == 1 {
			workspace, session = "ws_2", "sess_2"
		}
		id := task(t, h, workspace, session)
		if all = append(all, id); workspace == roomtest.Workspace {
			own = append(own, id)
		}
	}
	slices.Reverse(all)
	slices.Reverse(own)
	for _, list := range []struct {
		name string
		as   *desk.Caller
		of   desk.Filter
		want []string
	}{
		{"of the tenant", h.Root(), desk.Filter{}, all},
		{"of a workspace", h.Root(), desk.Filter{WorkspaceID: roomtest.Workspace}, own},
		{"of a session", h.Root(), desk.Filter{SessionID: roomtest.Session}, own},
		{"of a bound key", h.Bound(roomtest.Workspace), desk.Filter{}, own},
		{"of a key that is bound to one more", h.Bound(roomtest.Workspace, "ws_other"), desk.Filter{}, own},
		{"of a stranger", h.Bound("ws_other"), desk.Filter{}, nil},
	} {
		for _, reversed := range []bool{false, true} {
			want := slices.Clone(list.want)
			if reversed {
				slices.Reverse(want)
			}
			for _, limit := range []int{1, 2, 4, 200} {
				readBothWays(t, h, list.name, list.as, list.of, desk.Page{Limit: limit, Reversed: reversed}, want)
			}
		}
	}
}

// readBothWays reads a list to its end and back again.
func readBothWays(t *testing.T, h *roomtest.House, name string, as *desk.Caller, f desk.Filter, p desk.Page, want []string) {
	t.Helper()
	read := func() desk.DocList {
		list, err := h.Desk.List(t.Context(), as, abi.ObjectTask, f, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return list
	}
	var forth, back []string
	list := read()
	for forth = ids(list); list.More; forth = append(forth, ids(list)...) {
		p.After = list.Next
		list = read()
	}
	if !slices.Equal(forth, want) {
		t.Fatalf("%s, %+v: %v, want %v", name, p, forth, want)
	}
	if len(want) == 0 {
		return
	}
	p.Back = true
	last := ids(list)
	for previous := list.Previous; previous != ""; previous = list.Previous {
		p.After = previous
		list = read()
		if len(list.Docs) > 0 && list.Next != list.Docs[len(list.Docs)-1].ID && len(as.Workspaces) < 2 {
			t.Errorf("%s: from %v it goes on after %s", name, ids(list), list.Next)
		}
		back = append(ids(list), back...)
	}
	if got := append(back, last...); !slices.Equal(got, want) {
		t.Errorf("%s, %+v: back again %v, want %v", name, p, got, want)
	}
}

// An offset counts what the caller sees. Where that cannot be counted it is refused, whether
// or not there is something.
func TestOffsets(t *testing.T) {
	h := newHouse(t)
	h.NewWorkspace(t, "ws_2")
	h.NewSession(t, "sess_2", "ws_2")
	var own []string
	for range 3 {
		task(t, h, "ws_2", "sess_2")
		own = append(own, task(t, h, roomtest.Workspace, roomtest.Session))
	}
	slices.Reverse(own)
	for _, of := range []struct {
		as *desk.Caller
		f  desk.Filter
	}{
		{h.Root(), desk.Filter{WorkspaceID: roomtest.Workspace}}, {h.Root(), desk.Filter{SessionID: roomtest.Session}},
		{h.Bound(roomtest.Workspace), desk.Filter{}}, {h.Bound(roomtest.Workspace), desk.Filter{SessionID: roomtest.Session}},
		{h.Bound("ws_2", roomtest.Workspace), desk.Filter{WorkspaceID: roomtest.Workspace}},
		{h.Bound("ws_2", roomtest.Workspace), desk.Filter{SessionID: roomtest.Session}},
		{h.Root(), desk.Filter{WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session}},
	} {
		for offset := range 5 {
			list, err := h.Desk.List(t.Context(), of.as, abi.ObjectTask, of.f, desk.Page{Limit: 2, Offset: offset})
			rest := own[min(offset, len(own)):]
			if err != nil || !slices.Equal(ids(list), rest[:min(2, len(rest))]) || list.More != (len(rest) > 2) {
				t.Errorf("%v %+v from %d: %v, %v, %v", of.as.Workspaces, of.f, offset, ids(list), list.More, err)
			}
		}
	}
	for _, of := range []struct {
		as *desk.Caller
		f  desk.Filter
	}{
		{h.Bound("ws_2", roomtest.Workspace), desk.Filter{}}, {h.Bound("ws_other"), desk.Filter{SessionID: roomtest.Session}},
		{h.Bound("ws_other"), desk.Filter{SessionID: "sess_none"}}, {h.Bound("ws_other"), desk.Filter{WorkspaceID: roomtest.Workspace}},
		{h.Root(), desk.Filter{WorkspaceID: "ws_2", SessionID: roomtest.Session}},
	} {
		_, err := h.Desk.List(t.Context(), of.as, abi.ObjectTask, of.f, desk.Page{Limit: 2, Offset: 1})
		roomtest.WantParam(t, err, "offset")
	}
}

// A list is narrowed by when things were made, to the millisecond.
func TestListsByTime(t *testing.T) {
	h := newHouse(t)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var made []string
	for i := range 4 { // two in each millisecond
		id := abi.LeastID(abi.ObjectTask, at.Add(time.Duration(i/2)*time.Millisecond))
		id = id[:len(id)-1] + string(rune('0'+i))
		h.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, id,
			&abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, at, nil), WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session, Input: []byte(`{}`)})
		made = append(made, id)
	}
	for _, c := range []struct {
		after, before time.Duration
		want          []string
	}{
		{-time.Hour, time.Hour, made}, {-time.Nanosecond, time.Hour, made}, {0, time.Hour, made[2:]}, {999 * time.Microsecond, time.Hour, made[2:]},
		{time.Millisecond, time.Hour, nil}, {-time.Hour, time.Millisecond, made[:2]}, {-time.Hour, 0, nil},
		{-time.Hour, 2 * time.Millisecond, made}, {time.Hour, -time.Hour, nil}, {-time.Hour * 24 * 365 * 100, time.Hour * 24 * 365 * 200, made},
	} {
		list, err := h.Desk.List(t.Context(), h.Root(), abi.ObjectTask, desk.Filter{},
			desk.Page{Limit: 9, Reversed: true, CreatedAfter: at.Add(c.after), CreatedBefore: at.Add(c.before)})
		if err != nil || !slices.Equal(ids(list), append([]string{}, c.want...)) {
			t.Errorf("after %s and before %s: %v, %v, want %v", c.after, c.before, ids(list), err, c.want)
		}
	}
}

func messageRecord(h *roomtest.House, id string) ledger.Record {
	return ledger.Record{Kind: abi.EventUserMessage, Object: abi.ObjectMessage, ID: id, Created: true,
		State: &abi.Message{Envelope: abi.NewEnvelope(abi.ObjectMessage, id, h.Now(), nil)}, Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}}
}

// The transcript is read from both ends, too.
func TestTranscriptInBothDirections(t *testing.T) {
	h := newHouse(t)
	var said []string
	for range 5 {
		id := h.IDs.New(abi.ObjectMessage)
		_, _, err := h.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session}, nil, 0, messageRecord(h, id))
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, id)
	}
	read := func(p desk.Page) desk.DocList {
		list, err := h.Desk.Messages(t.Context(), h.Root(), roomtest.Session, p)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	last := read(desk.Page{Limit: 2, Reversed: true})
	if got := ids(last); !slices.Equal(got, []string{said[4], said[3]}) {
		t.Errorf("the newest: %v", got)
	}
	next := read(desk.Page{Limit: 2, Reversed: true, After: last.Next})
	if got := ids(next); !slices.Equal(got, []string{said[2], said[1]}) {
		t.Errorf("after that: %v", got)
	}
	if got := ids(read(desk.Page{Limit: 9, Reversed: true, Back: true, After: next.Previous})); !slices.Equal(got, []string{said[4], said[3]}) {
		t.Errorf("back again: %v", got)
	}
	if got := ids(read(desk.Page{Limit: 2, Offset: 2})); !slices.Equal(got, said[2:4]) {
		t.Errorf("by offset: %v", got)
	}
}
