package sessions_test

import (
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
)

var folder = abi.OutsideRef{Kind: "folder", Ref: "/home/x"}

func called(refs ...abi.OutsideRef) abi.CreateSessionRequest {
	return abi.CreateSessionRequest{WorkspaceID: roomtest.Workspace, Refs: refs}
}

// find returns the ids of the Sessions that a caller finds by a reference.
func (r *room) find(t testing.TB, c *desk.Caller, workspace string, ref abi.OutsideRef) (ids []string) {
	t.Helper()
	list, err := r.SessionsCalled(t.Context(), c, workspace, ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		ids = append(ids, roomtest.As[abi.Session](t, doc).ID)
	}
	return ids
}

// holder returns the Session that a refused request is told of.
func holder(t testing.TB, err error) string {
	t.Helper()
	var details struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(roomtest.WantCode(t, err, abi.CodeConflict).Details, &details); err != nil {
		t.Fatal(err)
	}
	return details.SessionID
}

// A Session is found by what it is called outside, after a crash too. A second one is not made:
// whoever asked for it learns which is there. Strangers find nothing.
func TestSessionsAreFoundByTheirReferences(t *testing.T) {
	r := newRoom(t)
	ctx := t.Context()
	other := abi.OutsideRef{Kind: "context", Ref: "/home/x"}
	retry := roomtest.Retry("one", `{}`)
	doc, err := r.CreateSession(ctx, r.Root(), retry, called(folder, other))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again, err := r.CreateSession(ctx, r.Root(), retry, called(folder, other))
		if err != nil || again.ID != doc.ID || !again.Replayed {
			t.Errorf("a retry gets %+v, %v", again, err)
		}
		_, err = r.CreateSession(ctx, r.Root(), nil, called(abi.OutsideRef{Kind: "folder", Ref: "free"}, other))
		if got := holder(t, err); got != doc.ID {
			t.Errorf("the second is told of %s", got)
		}
		for _, c := range []*desk.Caller{r.Root(), r.Bound(roomtest.Workspace), r.Bound("ws_other", roomtest.Workspace)} {
			for _, ref := range []abi.OutsideRef{folder, other} {
				if got := r.find(t, c, roomtest.Workspace, ref); len(got) != 1 || got[0] != doc.ID {
					t.Errorf("%v finds %v by %v", c.Workspaces, got, ref)
				}
			}
		}
		r.crash()
	}
	if got := r.find(t, r.Bound("ws_other", roomtest.Workspace), "", folder); len(got) != 1 || got[0] != doc.ID {
		t.Errorf("in all of its workspaces a key finds %v", got)
	}
	if got := r.find(t, r.Root(), roomtest.Workspace, abi.OutsideRef{Kind: "folder", Ref: "free"}); len(got) != 0 {
		t.Errorf("what was refused has left %v", got)
	}
	for who, c := range r.Strangers() {
		if got := r.find(t, c, roomtest.Workspace, folder); len(got) != 0 {
			t.Errorf("a caller %s finds %v", who, got)
		}
	}
	_, err = r.SessionsCalled(ctx, r.Root(), "", folder)
	roomtest.WantParam(t, err, "workspace_id")
	_, err = r.SessionsCalled(ctx, r.Root(), roomtest.Workspace, abi.OutsideRef{Kind: "folder"})
	roomtest.WantParam(t, err, "ref")
}

// Of Sessions that are made at once with one reference, whichever others they have, one is made
// and found, and all others are told of it.
func TestOneSessionTakesAReference(t *testing.T) {
	r := newRoom(t)
	const n = 16
	refused, made := make(chan error, n), make(chan string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			refs := []abi.OutsideRef{{Kind: "own", Ref: string(rune('a' + i))}, folder}
			if i%2 == 0 {
				refs[0], refs[1] = refs[1], refs[0]
			}
			doc, err := r.CreateSession(t.Context(), r.Root(), nil, called(refs...))
			if err != nil {
				refused <- err
				return
			}
			made <- doc.ID
		})
	}
	wg.Wait()
	if len(made) != 1 || len(refused) != n-1 {
		t.Fatalf("%d were made, %d refused", len(made), len(refused))
	}
	id := <-made
	for range n - 1 {
		if got := holder(t, <-refused); got != id {
			t.Errorf("told of %s, want %s", got, id)
		}
	}
	if got := r.find(t, r.Root(), roomtest.Workspace, folder); len(got) != 1 || got[0] != id {
		t.Errorf("found %v, want %s", got, id)
	}
}
