package harn_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// smallLists are the lists whose pages cannot hold much, and why.
var smallLists = map[string]string{
	"/v1/capabilities":             "names and versions",
	"/v1/tools":                    "at most 1 MiB of each server, and names",
	"/v1/tasks/{task_id}/receipts": "one",
	"/v1/outcomes":                 "what Tasks say of themselves, of at most 64 KiB",
	"/wharf/v1/connectors/{connector_id}/dead-letters": "why each was put aside, and no delivery",
	"/wharf/v1/connectors/{connector_id}/redrive":      "the same",
	"/wharf/v1/holds":                            "no metadata, and a reason of 1,000 bytes",
	"/wharf/v1/keys":                             "no metadata, and a name of 200 bytes",
	"/wharf/v1/vaults/{vault_id}/secrets":        "names, and no values",
	"/wharf/v1/webhooks/{webhook_id}/deliveries": "which event each is of, and what became of it",
	"/wharf/v1/webhooks/{webhook_id}/redrive":    "the same",
	"/v1/tasks/{task_id}/events":                 "as /v1/events, by the same function",
	"/v1/tasks/{task_id}/permission-requests":    "as /v1/permission-requests, by the same function",
}

// Every list ends a page at so many bytes, however few resources that are, and goes on
// where it ended: nothing comes twice, nothing is left out.
func TestPagesAreBoundedByBytes(t *testing.T) {
	share.Alone(t)
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	const count, each = 5, 1 << 20
	large := `{"large":"` + strings.Repeat("x", each) + `"}`
	session := n.session(t)
	n.crowd = func(ctx context.Context, h sandbox.Host) error {
		for range count {
			if err := enginetest.Call(ctx, h, abi.CallMemoryWrite, `{"scope":"session","content":`+large+`}`); err != nil {
				return err
			}
		}
		return echo(ctx, h)
	}
	made := func(path, body string) string { return n.do(t, "POST", path, body).want(201).id() }
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_crowd","input":{}}`, header("Prefer", "wait=20")).want(200)
	branch, persona := "", made("/v1/personas", aLargePersona("0", large))
	replayed := n.session(t)
	for i := range count {
		made("/v1/workspaces", `{"name":"w","root":"/","metadata":`+large+`}`)
		made("/v1/sessions", `{"workspace_id":"ws_default","metadata":`+large+`}`)
		n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_echo","input":`+large+`}`, header("Prefer", "wait=20")).want(200)
		n.do(t, "POST", "/v1/sessions/"+replayed+"/tasks", `{"persona_id":"persona_echo","input":`+large+`}`, header("Prefer", "wait=20")).want(200)
		made("/v1/sessions/"+session+"/messages", `{"message":{"role":"user","parts":[{"type":"json","value":`+large+`}]}}`)
		made("/v1/artifacts", `{"kind":"file","mime_type":"text/plain","visibility":"public","uri":"https://a.example/","session_id":"`+session+`","metadata":`+large+`}`)
		parent := ""
		if branch != "" {
			parent = `"parent_branch_id":"` + branch + `",`
		}
		branch = made("/v1/sessions/"+session+"/branches", `{"kind":"session",`+parent+`"base_ref":"main","metadata":`+large+`}`)
		made("/v1/personas", aLargePersona("1", large))
		n.do(t, "PATCH", "/v1/personas/"+persona, `{"version":"`+strconv.Itoa(i+1)+`"}`).want(200)
		made("/wharf/v1/quotas", `{"scope":"tenant","limits":{"tasks":100000},"metadata":`+large+`}`)
		made("/wharf/v1/skills", `{"persona_id":"persona_echo","name":"s","description":"d","metadata":`+large+`}`)
		made("/v1/vaults", `{"provider":"local","capabilities":["read"],"metadata":`+large+`}`)
		made("/wharf/v1/tool-servers", `{"name":"s`+strconv.Itoa(i)+`","url":"https://a.example/","metadata":`+large+`}`)
		made("/wharf/v1/skill-bundles", `{"workspace_id":"ws_default","content":"`+base64.StdEncoding.EncodeToString(skillZip("s"+strconv.Itoa(i), ""))+`","metadata":`+large+`}`)
		made("/wharf/v1/webhooks", `{"url":"https://a.example/","events":["task.completed"],"status":"PAUSED","metadata":`+large+`}`)
		made("/v1/connectors", `{"provider":"generic","plugin":"sick#`+abi.DefaultExport+`","metadata":`+large+`}`)
	}
	n.crowd = func(ctx context.Context, h sandbox.Host) error {
		return enginetest.Call(ctx, h, abi.CallApprovalRequest, `{"action":"pay","prompt":"?","arguments":`+large+`}`)
	}
	for range count {
		n.waiting(t, n.do(t, "POST", "/v1/sessions/"+session+"/tasks", `{"persona_id":"persona_crowd","input":{}}`).want(202).id())
	}
	lists := map[string]string{ // by the route
		"/v1/sessions/{session_id}/tasks": "/v1/sessions/" + session + "/tasks", "/v1/sessions/{session_id}/messages": "/v1/sessions/" + session + "/messages",
		"/v1/sessions/{session_id}/branches": "/v1/sessions/" + session + "/branches", "/v1/sessions/{session_id}/events": "/v1/sessions/" + session + "/events",
		"/wharf/v1/branches/{branch_id}/lineage": "/wharf/v1/branches/" + branch + "/lineage", "/wharf/v1/personas/{persona_id}/versions": "/wharf/v1/personas/" + persona + "/versions",
		"/wharf/v1/sessions/{session_id}/replay": "/wharf/v1/sessions/" + replayed + "/replay",
	}
	for _, r := range n.server.Routes() {
		if !slices.ContainsFunc(r.Params, func(p gateway.Param) bool { return p.Name == "cursor" }) || smallLists[r.Path] != "" {
			continue
		}
		path, known := lists[r.Path]
		if !known && strings.Contains(r.Path, "{") {
			t.Errorf("%s %s is tried with nothing large", r.Method, r.Path)
		}
		n.wantSmallPages(t, r.Method, cmp.Or(path, r.Path), count, each)
	}
	for _, path := range []string{"/v1/memories?q=x*&owner_id=" + session, "/v1/memories?scope=session", "/v1/permission-requests?status=pending"} {
		n.wantSmallPages(t, "GET", path, count, each)
	}
}

func aLargePersona(version, metadata string) string {
	return `{"name":"p","version":"` + version + `","entry_workflow":"echo","description":"d","autonomy_tier":"act_auto","receipt_policy":"optional","metadata":` + metadata + `}`
}

// wantSmallPages wants a list of large resources in several pages that are bounded.
func (n *node) wantSmallPages(t *testing.T, method, path string, count, each int) {
	t.Run(method+" "+path, func(t *testing.T) {
		var ids []string
		pages, join := 0, "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		for cursor := ""; ; {
			at := path + join + "limit=200"
			if method == "POST" {
				at = path + join // which needs no limit
			}
			if cursor != "" {
				at += "&cursor=" + cursor
			}
			a := n.do(t, method, at, nil)
			if pages++; a.status >= 300 || len(a.body) > storage.PageBytes+2*each || pages > 100 {
				t.Fatalf("page %d: %d, with %d bytes", pages, a.status, len(a.body))
			}
			a.status = 200 // also what was accepted
			ids = append(ids, a.ids()...)
			next, _ := a.get("page", "next_cursor").(string)
			if cursor = next; cursor == "" {
				break
			}
		}
		if pages < 2 || len(ids) < count {
			t.Errorf("%d pages with %d resources", pages, len(ids))
		}
		if strings.HasSuffix(path, "/versions") {
			return // of one id
		}
		all := len(ids)
		slices.Sort(ids)
		if ids = slices.Compact(ids); len(ids) != all {
			t.Errorf("%d of %d come twice", all-len(ids), all)
		}
	})
}

// A key that is bound to several Workspaces reads no more than a page's work of what
// belongs to others, and is told where to go on.
func TestPagesOfBoundKeysLookAtSoMuch(t *testing.T) {
	n := newNode(t)
	a := n.do(t, "POST", "/v1/workspaces", `{"name":"a","root":"/"}`).want(201).id()
	b := n.do(t, "POST", "/v1/workspaces", `{"name":"b","root":"/"}`).want(201).id()
	root, err := n.Authenticate(t.Context(), enginetest.RootKey)
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
	share.Alone(t)
	n := newNode(t)
	session := n.session(t)
	large := strings.Repeat("x", 3<<20)
	for range 7 {
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", `{"message":{"role":"user","parts":[{"type":"text","text":"`+large+`"}]}}`).want(201)
	}
	sizes := make(chan int, 2)
	n.crowd = func(ctx context.Context, h sandbox.Host) error {
		for range 7 {
			if err := enginetest.Call(ctx, h, abi.CallMemoryWrite, `{"scope":"session","content":"`+large+`"}`); err != nil {
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
