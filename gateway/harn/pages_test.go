package harn_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// Every list ends a page at so many bytes, however few resources that are, and goes on
// where it ended: nothing comes twice, nothing is left out.
func TestPagesAreBoundedByBytes(t *testing.T) {
	n := newNode(t)
	const count, each = 5, 1 << 20
	large := `{"large":"` + strings.Repeat("x", each) + `"}`
	session := n.session(t)
	n.crowd = func(ctx context.Context, h sandbox.Host) error {
		for range count {
			if err := call(ctx, h, abi.CallMemoryWrite, `{"scope":"session","content":`+large+`}`); err != nil {
				return err
			}
		}
		return echo(ctx, h)
	}
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_crowd","input":{}}`, header("Prefer", "wait=20")).want(200)
	for range count {
		n.do(t, "POST", "/v1/workspaces", `{"name":"w","root":"/","metadata":`+large+`}`).want(201)
		n.do(t, "POST", "/v1/sessions", `{"workspace_id":"ws_default","metadata":`+large+`}`).want(201)
		n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_echo","input":`+large+`}`, header("Prefer", "wait=20")).want(200)
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", `{"message":{"role":"user","parts":[{"type":"json","value":`+large+`}]}}`).want(201)
		n.do(t, "POST", "/v1/artifacts", `{"kind":"file","mime_type":"text/plain","visibility":"public","uri":"https://a.example/","session_id":"`+session+`","metadata":`+large+`}`).want(201)
		n.do(t, "POST", "/v1/sessions/"+session+"/branches", `{"kind":"session","base_ref":"main","metadata":`+large+`}`).want(201)
		n.do(t, "POST", "/v1/personas", `{"name":"p","version":"1","entry_workflow":"echo","description":"d","autonomy_tier":"act_auto","receipt_policy":"optional","metadata":`+large+`}`).want(201)
	}
	for _, path := range []string{
		"/v1/workspaces", "/v1/sessions", "/v1/tasks", "/v1/sessions/" + session + "/tasks", "/v1/sessions/" + session + "/messages", "/v1/artifacts",
		"/v1/sessions/" + session + "/branches", "/v1/personas", "/v1/memories", "/v1/memories?q=x*&owner_id=" + session,
		"/v1/memories?scope=session", "/v1/events", "/v1/sessions/" + session + "/events",
	} {
		t.Run(path, func(t *testing.T) {
			var ids []string
			pages := 0
			for cursor := ""; ; {
				join := "?"
				if strings.Contains(path, "?") {
					join = "&"
				}
				at := path + join + "limit=200"
				if cursor != "" {
					at += "&cursor=" + cursor
				}
				a := n.do(t, "GET", at, nil).want(200)
				if pages++; len(a.body) > storage.PageBytes+2*each || pages > 100 {
					t.Fatalf("page %d has %d bytes", pages, len(a.body))
				}
				ids = append(ids, a.ids()...)
				next, _ := a.get("page", "next_cursor").(string)
				if cursor = next; cursor == "" {
					break
				}
			}
			if pages < 2 || len(ids) < count {
				t.Errorf("%d pages with %d resources", pages, len(ids))
			}
			all := len(ids)
			slices.Sort(ids)
			if ids = slices.Compact(ids); len(ids) != all {
				t.Errorf("%d of %d come twice", all-len(ids), all)
			}
		})
	}
}

// A key that is bound to several Workspaces reads no more than a page's work of what
// belongs to others, and is told where to go on.
func TestPagesOfBoundKeysLookAtSoMuch(t *testing.T) {
	n := newNode(t)
	a := n.do(t, "POST", "/v1/workspaces", `{"name":"a","root":"/"}`).want(201).id()
	b := n.do(t, "POST", "/v1/workspaces", `{"name":"b","root":"/"}`).want(201).id()
	root, err := n.Authenticate(t.Context(), rootKey)
	if err != nil {
		t.Fatal(err)
	}
	bound := n.do(t, "POST", "/wharf/v1/keys", abi.CreateKeyRequest{Name: "bound", WorkspaceIDs: []string{a, b}}).want(201).get("key").(string)
	own := n.do(t, "POST", "/v1/sessions", `{"workspace_id":"`+a+`"}`).want(201).id()
	for range 2050 {
		if _, err := n.CreateSession(t.Context(), root, nil, abi.CreateSessionRequest{WorkspaceID: "ws_default"}); err != nil {
			t.Fatal(err)
		}
	}
	first := n.do(t, "GET", "/v1/sessions?limit=200", nil, key(bound)).want(200)
	next, _ := first.get("page", "next_cursor").(string)
	if len(first.ids()) != 0 || next == "" {
		t.Fatalf("the first page: %s", first.body)
	}
	second := n.do(t, "GET", "/v1/sessions?limit=200&cursor="+next, nil, key(bound)).want(200)
	if !slices.Equal(second.ids(), []string{own}) || second.get("page", "has_more") != false {
		t.Errorf("the second page: %s", second.body)
	}
}

// What a plugin reads of a Session is bounded by bytes too: the newest is told.
func TestToldListsAreBoundedByBytes(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	large := strings.Repeat("x", 3<<20)
	for range 7 {
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", `{"message":{"role":"user","parts":[{"type":"text","text":"`+large+`"}]}}`).want(201)
	}
	sizes := make(chan int, 2)
	n.crowd = func(ctx context.Context, h sandbox.Host) error {
		for range 7 {
			if err := call(ctx, h, abi.CallMemoryWrite, `{"scope":"session","content":"`+large+`"}`); err != nil {
				return err
			}
		}
		for name, request := range map[string]string{abi.CallTranscriptRead: `{"last":200}`, abi.CallMemoryQuery: `{"scope":"session","limit":100}`} {
			_, answer, err := h.Call(ctx, name, []byte(request))
			if err != nil {
				return err
			}
			sizes <- len(answer)
		}
		return echo(ctx, h)
	}
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_crowd","input":{}}`, header("Prefer", "wait=20")).want(200)
	for range 2 {
		if size := <-sizes; size < 12<<20 || size > 20<<20 {
			t.Errorf("an answer has %d bytes", size)
		}
	}
}
