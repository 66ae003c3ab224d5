package harn_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// remember makes a Memory of a Session.
func (n *node) remember(t testing.TB, session string, content any, more object) *answer {
	t.Helper()
	body := object{"scope": "session", "owner_id": session, "content": content, "provenance": object{"source": "a test"}}
	for name, value := range more {
		body[name] = value
	}
	return n.do(t, "POST", "/v1/memories", body)
}

func TestMemories(t *testing.T) {
	n := newNode(t)
	session, other := n.session(t), n.session(t)
	sky := n.remember(t, session, "The sky is blue", object{"confidence": 0.5, "redaction_policy": object{"by": "hand"}, "embedding_ref": "e1", "metadata": object{"a": 1}}).want(201)
	if sky.get("provenance", "actor") != "key:root" || sky.get("provenance", "source") != "a test" || sky.get("session_id") != session ||
		sky.get("workspace_id") != tenancy.DefaultWorkspace || sky.get("embedding_ref") != "e1" || sky.get("visibility") != "public" {
		t.Errorf("created %s", sky.body)
	}
	sea := n.remember(t, session, object{"fact": "the sea is blue", "depth": 11}, nil).want(201).id()
	there := n.remember(t, other, "the sky, elsewhere", nil).want(201).id()
	wide := n.remember(t, "", "the sky of all", object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace}).want(201).id()
	for query, want := range map[string][]string{
		"":                               {wide, there, sea, sky.id()},
		"q=sky":                          {wide, there, sky.id()},
		"q=blue&session_id=" + session:   {sea, sky.id()},
		"q=BLUE+sk*&owner_id=" + session: {sky.id()},
		"owner_id=" + session:            {sea, sky.id()},
		"q=depth+11&workspace_id=" + tenancy.DefaultWorkspace: {sea},
		"scope=workspace":                     {wide},
		"scope=session&q=sky":                 {there, sky.id()},
		"scope=workspace&owner_id=" + session: nil,
		"q=nothing&owner_id=" + session:       nil,
	} {
		for _, limit := range []string{"", "&limit=1", "&limit=2"} {
			var got []string
			for cursor := ""; ; {
				a := n.do(t, "GET", "/v1/memories?"+query+limit+"&cursor="+cursor, nil).want(200)
				got = append(got, a.ids()...)
				if cursor, _ = a.get("page", "next_cursor").(string); cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", query+limit, got, want)
			}
		}
	}
	n.do(t, "DELETE", "/v1/memories/"+sky.id(), nil).want(204)
	if got := n.do(t, "GET", "/v1/memories?q=sky&owner_id="+session, nil).ids(); len(got) != 0 {
		t.Errorf("what was forgotten is found: %v", got)
	}
	if a := n.do(t, "GET", "/v1/memories/"+sky.id(), nil).want(200); strings.Contains(string(a.body), "sky") {
		t.Errorf("what was forgotten is shown: %s", a.body)
	}
}

func TestMemoryIsRefused(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	stranger := n.newKey(t, "another tenant", "*")
	for param, more := range map[string]object{
		"scope":            {"scope": "galaxy"},
		"owner_id":         {"owner_id": ""},
		"content":          {"content": 7},
		"provenance":       {"provenance": "hearsay"},
		"visibility":       {"visibility": "some"},
		"confidence":       {"confidence": 2},
		"redaction_policy": {"redaction_policy": true},
		"metadata":         {"metadata": []int{}},
		"expires_at":       {"expires_at": time.Now().Add(-time.Minute)},
	} {
		if err := n.remember(t, session, "x", more).wantError(400, abi.CodeInvalidRequest); err.Param != param {
			t.Errorf("%v: param %q, want %q", more, err.Param, param)
		}
	}
	for _, more := range []object{
		{"owner_id": "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, {"scope": "persona", "owner_id": "persona_nobody"},
		{"scope": "workspace", "owner_id": "ws_nowhere"}, {"scope": "tenant", "owner_id": "tenant_01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"content": object{"type": "artifact_ref", "artifact_id": "art_01ARZ3NDEKTSV4RRFFQ69G5FAV", "visibility": "public"}},
	} {
		n.remember(t, session, "x", more).wantError(404, abi.CodeResourceNotFound)
	}
	n.do(t, "POST", "/v1/memories", object{"scope": "session", "owner_id": session, "content": "x", "provenance": object{}}, key(stranger)).
		wantError(404, abi.CodeResourceNotFound)
	n.do(t, "GET", "/v1/memories?q="+url.QueryEscape(words(33)), nil).wantError(400, abi.CodeInvalidRequest)
	n.do(t, "GET", "/v1/memories?scope=galaxy", nil).wantError(400, abi.CodeInvalidRequest)
}

// words returns so many different words.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" w" + strings.Repeat("x", i))
	}
	return b.String()
}

// A key that is bound to a Workspace keeps and forgets nothing beyond it, and what a
// reader may not see is not found by its words.
func TestMemoryBounds(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	elsewhere := n.do(t, "POST", "/v1/workspaces", object{"name": "lab", "root": "/lab"}).want(201).id()
	bound := n.do(t, "POST", "/wharf/v1/keys", object{"name": "bound", "scopes": []string{"memories:read", "memories:write"},
		"workspace_ids": []string{elsewhere}}).want(201).get("key").(string)
	hidden := n.remember(t, session, "an internal password", object{"visibility": "internal"}).want(201).id()
	shared := n.remember(t, "", "shared", object{"scope": "persona", "owner_id": "persona_echo"}).want(201).id()
	for _, body := range []object{{"scope": "persona", "owner_id": "persona_echo"}} {
		body["content"], body["provenance"] = "x", object{}
		n.do(t, "POST", "/v1/memories", body, key(bound)).wantError(403, abi.CodePermissionDenied)
	}
	n.do(t, "POST", "/v1/memories", object{"scope": "session", "owner_id": session, "content": "x", "provenance": object{}}, key(bound)).
		wantError(404, abi.CodeResourceNotFound)
	n.do(t, "DELETE", "/v1/memories/"+shared, nil, key(bound)).wantError(403, abi.CodePermissionDenied)
	n.do(t, "DELETE", "/v1/memories/"+hidden, nil, key(bound)).wantError(404, abi.CodeResourceNotFound)
	for _, query := range []string{"q=password", "q=password&owner_id=" + session, "owner_id=" + session} {
		if got := n.do(t, "GET", "/v1/memories?"+query, nil, key(bound)).ids(); len(got) != 0 {
			t.Errorf("%s: a key bound elsewhere finds %v", query, got)
		}
	}
	reader := n.newKey(t, "", "memories:read")
	for query, want := range map[string]int{"q=password": 0, "q=pass*&owner_id=" + session: 0, "owner_id=" + session: 1} {
		a := n.do(t, "GET", "/v1/memories?"+query, nil, key(reader))
		if len(a.ids()) != want || strings.Contains(string(a.body), "password") {
			t.Errorf("%s: a reader of public content is shown %s", query, a.body)
		}
	}
	if got := n.do(t, "GET", "/v1/memories?q=password", nil).ids(); len(got) != 1 {
		t.Errorf("a reader of internal content finds %v", got)
	}
}
