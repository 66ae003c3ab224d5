package sessions_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
)

// admitted has nothing against deleting a Session.
func admitted(*abi.Session) (func(), error) { return func() {}, nil }

type sessionChange = func(context.Context, *desk.Caller, *desk.Retry, string) (desk.Doc, error)

// A Session is paused, resumed, closed and deleted in the orders that make sense, and refuses
// all others with what it is.
func TestLifeOfASession(t *testing.T) {
	r := newRoom(t)
	drop := func(ctx context.Context, c *desk.Caller, retry *desk.Retry, id string) (desk.Doc, error) {
		return r.DropSession(ctx, c, retry, id, admitted)
	}
	changes := func() map[string]sessionChange {
		return map[string]sessionChange{"pause": r.PauseSession, "resume": r.ResumeSession, "close": r.CloseSession, "delete": drop}
	}
	for _, c := range []struct {
		done []string
		want abi.SessionState
		can  []string
	}{
		{nil, abi.SessionActive, []string{"pause", "close", "delete"}},
		{[]string{"pause"}, abi.SessionPaused, []string{"resume", "close", "delete"}},
		{[]string{"pause", "resume"}, abi.SessionActive, []string{"pause", "close", "delete"}},
		{[]string{"close"}, abi.SessionClosed, []string{"delete"}},
		{[]string{"pause", "close"}, abi.SessionClosed, []string{"delete"}},
	} {
		for name := range changes() {
			id := r.open(t)
			for _, do := range c.done {
				if _, err := changes()[do](t.Context(), r.Bound(roomtest.Workspace), nil, id); err != nil {
					t.Fatalf("%v, %s: %v", c.done, do, err)
				}
				r.crash()
			}
			doc, err := r.Desk.Get(t.Context(), r.Root(), abi.ObjectSession, id)
			if err != nil || roomtest.As[abi.Session](t, doc).State != c.want {
				t.Errorf("%v: %s, %v", c.done, doc.JSON, err)
			}
			_, err = changes()[name](t.Context(), r.Root(), nil, id)
			if slices.Contains(c.can, name) {
				if err != nil {
					t.Errorf("%v, %s: %v", c.done, name, err)
				}
				continue
			}
			roomtest.WantCode(t, err, abi.CodeInvalidStateTransition)
		}
	}
	id := r.open(t)
	for who, c := range r.Strangers() {
		for name, do := range changes() {
			t.Run(who+" "+name, func(t *testing.T) {
				_, err := do(t.Context(), c, nil, id)
				roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			})
		}
	}
}

// A Session that is deleted is nowhere to be found, and takes nothing; what it was called
// is free for another, and only for one.
func TestDeletedSessionsAreGone(t *testing.T) {
	r := newRoom(t)
	ctx := t.Context()
	doc, err := r.CreateSession(ctx, r.Root(), nil, called(folder))
	if err != nil {
		t.Fatal(err)
	}
	id := doc.ID
	r.say(t, id, "one")
	retry := roomtest.Retry("once", "")
	if _, err := r.DropSession(ctx, r.Root(), retry, id, admitted); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.DropSession(ctx, r.Root(), retry, id, admitted); err != nil {
			t.Errorf("a retry: %v", err)
		}
		keep := 1
		_, gets := r.Desk.Get(ctx, r.Root(), abi.ObjectSession, id)
		_, reads := r.Desk.Messages(ctx, r.Root(), id, desk.Page{Limit: 9})
		_, follows := r.Desk.Subscribe(ctx, r.Root(), desk.Filter{SessionID: id}, 0)
		_, deletes := r.DropSession(ctx, r.Root(), nil, id, admitted)
		_, updates := r.UpdateSession(ctx, r.Root(), nil, id, abi.UpdateSessionRequest{})
		_, resumes := r.ResumeSession(ctx, r.Root(), nil, id)
		_, truncates := r.TruncateSession(ctx, r.Root(), nil, id, abi.TruncateSessionRequest{KeepTurns: &keep})
		_, forks := r.ForkSession(ctx, r.Root(), nil, id, abi.ForkSessionRequest{})
		_, says := r.AppendMessage(ctx, r.Root(), nil, id, abi.AppendMessageRequest{Message: said("x")})
		for what, err := range map[string]error{"get": gets, "messages": reads, "follow": follows, "delete": deletes, "update": updates, "resume": resumes,
			"truncate": truncates, "fork": forks, "say": says} {
			t.Run(what, func(t *testing.T) { roomtest.WantCode(t, err, abi.CodeResourceNotFound) })
		}
		for _, f := range []desk.Filter{{}, {WorkspaceID: roomtest.Workspace}, {Status: string(abi.SessionClosed)}} {
			list, err := r.Desk.List(ctx, r.Root(), abi.ObjectSession, f, desk.Page{Limit: 9})
			if err != nil || slices.ContainsFunc(list.Docs, func(d desk.Doc) bool { return d.ID == id }) {
				t.Errorf("%+v has it, or %v", f, err)
			}
		}
		list, err := r.Desk.List(ctx, r.Root(), abi.ObjectSession, desk.Filter{WorkspaceID: roomtest.Workspace}, desk.Page{Limit: 9, Total: true})
		if err != nil || list.Total != 1 {
			t.Errorf("%d are counted, %v", list.Total, err)
		}
		if got := r.find(t, r.Root(), roomtest.Workspace, folder); len(got) != 0 {
			t.Errorf("it is still called so: %v", got)
		}
		r.crash()
	}
	next, err := r.CreateSession(ctx, r.Root(), nil, called(folder))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.find(t, r.Root(), roomtest.Workspace, folder); len(got) != 1 || got[0] != next.ID {
		t.Errorf("found %v, want %s", got, next.ID)
	}
	_, err = r.CreateSession(ctx, r.Root(), nil, called(folder))
	if got := holder(t, err); got != next.ID {
		t.Errorf("told of %s", got)
	}
}
