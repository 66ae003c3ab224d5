package memories_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a keeper by itself.
type room struct {
	*roomtest.House
	*memories.Keeper
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.Keeper = memories.NewKeeper(memories.Parts{Parts: r.Parts,
		TenantID: func(storage.Tenant) string { return roomtest.TenantID },
		Persona: func(_ context.Context, _ storage.Tenant, id string) (*personas.Persona, error) {
			if id != roomtest.Persona {
				return nil, abi.NotFound(abi.ObjectPersona, id)
			}
			return &personas.Persona{}, nil
		}})
}

// request asks for a Memory of the Session.
func request(content string) abi.CreateMemoryRequest {
	return abi.CreateMemoryRequest{Scope: abi.MemorySession, OwnerID: roomtest.Session, Content: jsontext.Value(content), Provenance: abi.EmptyObject()}
}

func (r *room) make(t testing.TB, req abi.CreateMemoryRequest) string {
	t.Helper()
	doc, err := r.CreateMemory(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (r *room) found(t testing.TB, c *desk.Caller, f memories.Filter) string {
	t.Helper()
	list, err := r.ListMemories(t.Context(), c, f, desk.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var contents []string
	for _, doc := range list.Docs {
		contents = append(contents, string(roomtest.As[abi.Memory](t, doc).Content))
	}
	return strings.Join(contents, " ")
}

// What is kept is found by its words, after a crash too, and by nobody who has no part in it.
func TestMemoriesAreFoundByTheirWords(t *testing.T) {
	r := newRoom(t)
	sky := r.make(t, request(`"the sky is blue"`))
	r.make(t, request(`{"sea":"green"}`))
	for range 2 {
		for text, want := range map[string]string{
			"": `{"sea":"green"} "the sky is blue"`, "SKY blue": `"the sky is blue"`, "gre*": `{"sea":"green"}`, "sky green": "", "sk": "",
		} {
			for _, f := range []memories.Filter{{Text: text}, {Text: text, OwnerID: roomtest.Session}, {Text: text, Scope: abi.MemorySession}} {
				if got := r.found(t, r.Root(), f); got != want {
					t.Errorf("%+v finds %s, want %s", f, got, want)
				}
				for who, c := range r.Strangers() {
					if got := r.found(t, c, f); got != "" {
						t.Errorf("one %s finds %s", who, got)
					}
				}
			}
		}
		r.Crash()
		r.furnish()
	}
	for who, c := range r.Strangers() {
		t.Run(who, func(t *testing.T) {
			_, err := r.CreateMemory(t.Context(), c, nil, request(`"x"`))
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			roomtest.WantCode(t, r.RedactMemory(t.Context(), c, nil, sky), abi.CodeResourceNotFound)
		})
	}
}

// A Memory whose time is over is found by nobody, and reads as if it had never been.
func TestMemoriesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		req := request(`"short-lived"`)
		req.ExpiresAt = r.Now().Add(time.Minute)
		id := r.make(t, req)
		wantFound := func(want string) {
			t.Helper()
			for _, f := range []memories.Filter{{}, {OwnerID: roomtest.Session}, {Text: "short"}, {OwnerID: roomtest.Session, Text: "lived"}} {
				if got := r.found(t, r.Root(), f); got != want {
					t.Errorf("%+v finds %s, want %s", f, got, want)
				}
			}
		}
		wantFound(`"short-lived"`)
		if _, err := r.Desk.Get(t.Context(), r.Root(), abi.ObjectMemory, id); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		wantFound("")
		_, err := r.Desk.Get(t.Context(), r.Root(), abi.ObjectMemory, id)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	})
}

// What is not public is found by what it says only by those who may read it.
func TestInternalMemoriesAreNotFoundByWhatTheySay(t *testing.T) {
	r := newRoom(t)
	req := request(`"a secret plan"`)
	req.Visibility = abi.VisibilityInternal
	r.make(t, req)
	f := memories.Filter{Text: "plan", OwnerID: roomtest.Session}
	if got := r.found(t, r.With(abi.ScopeEventsInternal), f); got == "" {
		t.Error("who may read it does not find it")
	}
	if got := r.found(t, r.With("memories:read"), f); got != "" {
		t.Errorf("found %s", got)
	}
}

// A key that is bound to a Workspace keeps and redacts nothing for the whole tenant.
func TestBoundKeysKeepNothingForTheTenant(t *testing.T) {
	r := newRoom(t)
	wide := request(`"x"`)
	wide.Scope, wide.OwnerID = abi.MemoryTenant, roomtest.TenantID
	id := r.make(t, wide)
	bound := r.Bound(roomtest.Workspace)
	if _, err := r.CreateMemory(t.Context(), bound, nil, request(`"y"`)); err != nil {
		t.Error("within its workspace: ", err)
	}
	_, err := r.CreateMemory(t.Context(), bound, nil, wide)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	roomtest.WantCode(t, r.RedactMemory(t.Context(), bound, nil, id), abi.CodePermissionDenied)
	wide.Scope, wide.OwnerID = abi.MemoryPersona, roomtest.Persona
	_, err = r.CreateMemory(t.Context(), bound, nil, wide)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
}

func TestMemoriesThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for param, change := range map[string]func(*abi.CreateMemoryRequest){
		"scope":            func(q *abi.CreateMemoryRequest) { q.Scope = "galaxy" },
		"owner_id":         func(q *abi.CreateMemoryRequest) { q.OwnerID = "" },
		"content":          func(q *abi.CreateMemoryRequest) { q.Content = jsontext.Value(`7`) },
		"confidence":       func(q *abi.CreateMemoryRequest) { q.Confidence = 1.01 },
		"visibility":       func(q *abi.CreateMemoryRequest) { q.Visibility = "secret" },
		"provenance":       func(q *abi.CreateMemoryRequest) { q.Provenance = nil },
		"redaction_policy": func(q *abi.CreateMemoryRequest) { q.RedactionPolicy = jsontext.Value(`[]`) },
		"metadata":         func(q *abi.CreateMemoryRequest) { q.Metadata = jsontext.Value(`[]`) },
		"expires_at":       func(q *abi.CreateMemoryRequest) { q.ExpiresAt = r.Now().Add(-time.Second) },
	} {
		t.Run(param, func(t *testing.T) {
			req := request(`"x"`)
			change(&req)
			_, err := r.CreateMemory(t.Context(), r.Root(), nil, req)
			roomtest.WantParam(t, err, param)
		})
	}
	for name, change := range map[string]func(*abi.CreateMemoryRequest){
		"no session":     func(q *abi.CreateMemoryRequest) { q.OwnerID = "sess_none" },
		"no workspace":   func(q *abi.CreateMemoryRequest) { q.Scope, q.OwnerID = abi.MemoryWorkspace, "ws_none" },
		"no persona":     func(q *abi.CreateMemoryRequest) { q.Scope, q.OwnerID = abi.MemoryPersona, "persona_none" },
		"another tenant": func(q *abi.CreateMemoryRequest) { q.Scope, q.OwnerID = abi.MemoryTenant, "tenant_other" },
		"no artifact": func(q *abi.CreateMemoryRequest) {
			q.Content = jsontext.Value(`{"type":"artifact_ref","artifact_id":"art_none"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(`"x"`)
			change(&req)
			_, err := r.CreateMemory(t.Context(), r.Root(), nil, req)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		})
	}
	_, err := r.ListMemories(t.Context(), r.Root(), memories.Filter{Text: strings.Repeat("word ", 10) + "a b c d e f g h i j k l m n o p q r s t u v w x"}, desk.Page{Limit: 1})
	if err != nil {
		t.Error("a word counts once: ", err)
	}
	_, err = r.ListMemories(t.Context(), r.Root(), memories.Filter{Scope: "galaxy"}, desk.Page{Limit: 1})
	roomtest.WantParam(t, err, "scope")
}

// One request that comes twice, at the same time and after a crash, makes one Memory.
func TestAMemoryIsMadeOnce(t *testing.T) {
	r := newRoom(t)
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			doc, err := r.CreateMemory(t.Context(), r.Root(), roomtest.Retry("k", `{}`), request(`"once"`))
			if err != nil {
				t.Error(err)
			}
			ids[i] = doc.ID
		})
	}
	all.Wait()
	r.Crash()
	r.furnish()
	again, err := r.CreateMemory(t.Context(), r.Root(), roomtest.Retry("k", `{}`), request(`"once"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != again.ID {
			t.Errorf("made %v and %s", ids, again.ID)
		}
	}
	_, err = r.CreateMemory(t.Context(), r.Root(), roomtest.Retry("k", `{"other":1}`), request(`"other"`))
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
	if got := r.found(t, r.Root(), memories.Filter{}); got != `"once"` {
		t.Errorf("there are %s", got)
	}
}

// Of several who redact a Memory at once, one tells it; then nobody finds it.
func TestRedactedOnce(t *testing.T) {
	r := newRoom(t)
	id := r.make(t, request(`"to forget"`))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := r.RedactMemory(t.Context(), r.Root(), nil, id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r.Crash()
	r.furnish()
	told := 0
	for _, kind := range r.Kinds(t, desk.Filter{SessionID: roomtest.Session}) {
		if kind == abi.EventMemoryRedacted {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events tell of it", told)
	}
	doc, err := r.Desk.Get(t.Context(), r.Root(), abi.ObjectMemory, id)
	if m := roomtest.As[abi.Memory](t, doc); err != nil || string(m.Content) != "null" || m.RedactedAt.IsZero() {
		t.Errorf("it is %s, %v", doc.JSON, err)
	}
	if got := r.found(t, r.Root(), memories.Filter{Text: "forget"}); got != "" {
		t.Errorf("found %s", got)
	}
}

// ask makes a host call of a Task, and returns what the plugin is told.
func (r *room) ask(t testing.TB, run *roomtest.Run, task *abi.Task, call, request string) (hostcall.Answer, error) {
	t.Helper()
	return r.HostCalls()[call](t.Context(), &hostcall.Call{Run: run, Tenant: roomtest.Tenant, Task: task, Request: []byte(request)})
}

func (r *room) query(t testing.TB, run *roomtest.Run, request string) (contents string) {
	t.Helper()
	a, err := r.ask(t, run, r.Task(), abi.CallMemoryQuery, request)
	if err != nil {
		t.Fatal(err)
	}
	var got abi.CallMemoryQueryAnswer
	if err := json.Unmarshal(a.JSON, &got); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.Memories {
		contents += string(m.Content) + " "
	}
	return strings.TrimSpace(contents)
}

// What a Task writes is its Session's, its Workspace's, its Persona's or the tenant's.
func TestATaskWritesMemories(t *testing.T) {
	r := newRoom(t)
	for scope, want := range map[abi.MemoryScope]string{
		abi.MemorySession: roomtest.Session, abi.MemoryWorkspace: roomtest.Workspace, abi.MemoryPersona: roomtest.Persona, abi.MemoryTenant: roomtest.TenantID,
	} {
		a, err := r.ask(t, &roomtest.Run{}, r.Task(), abi.CallMemoryWrite, fmt.Sprintf(`{"scope":%q,"content":"of the %s"}`, scope, scope))
		if err != nil {
			t.Fatal(err)
		}
		m := a.States.State.(*abi.Memory)
		if m.OwnerID != want || m.Visibility != abi.VisibilityInternal || !strings.Contains(string(m.Provenance), "task_test") || !a.States.Created {
			t.Errorf("%s: %+v", scope, m)
		}
		r.State(t, m.WorkspaceID, m.SessionID, a.States.Kind, a.States.Object, a.States.ID, m)
		if got := r.query(t, &roomtest.Run{}, fmt.Sprintf(`{"scope":%q,"text":"of"}`, scope)); got != `"of the `+string(scope)+`"` {
			t.Errorf("%s: found %s", scope, got)
		}
	}
}

func TestHostCallsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for _, test := range []struct{ call, request, want string }{
		{abi.CallMemoryQuery, `{"scope":"galaxy"}`, "scope"},
		{abi.CallMemoryQuery, `{"scope":"session","limit":101}`, "limit is 1 to 100"},
		{abi.CallMemoryQuery, `{"scope":"session","limit":-1}`, "limit is 1 to 100"},
		{abi.CallMemoryQuery, `{"scope":"session","text":"` + words(33) + `"}`, "more than 32 words"},
		{abi.CallMemoryQuery, `[]`, ""},
		{abi.CallMemoryWrite, `{"scope":"session","content":7}`, "content is a string or an object"},
		{abi.CallMemoryWrite, `{"scope":"session","content":"x","expires_in_seconds":-1}`, "expires_in_seconds"},
		{abi.CallMemoryWrite, `{"scope":"session","content":"x","confidence":2}`, "confidence is 0 to 1"},
		{abi.CallMemoryWrite, `{"scope":"session","content":"x","visibility":"secret"}`, "visibility"},
	} {
		_, err := r.ask(t, &roomtest.Run{}, r.Task(), test.call, test.request)
		refused, ok := err.(*provider.Refusal)
		if !ok || refused.Status != abi.CallInvalid || !strings.Contains(refused.Message, test.want) {
			t.Errorf("%s %s: %v", test.call, test.request, err)
		}
	}
}

func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// A plugin is told what its Session names beside what it has, and never what is for receipts
// only, has expired, was redacted, or nests too deeply to be passed on.
func TestWhatAPluginIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.NewSession(t, "sess_other", roomtest.Workspace)
		hidden, brief, other := request(`"word hidden"`), request(`"word brief"`), request(`"word named"`)
		hidden.Visibility = abi.VisibilityReceiptOnly
		brief.ExpiresAt = r.Now().Add(time.Minute)
		other.OwnerID = "sess_other"
		r.make(t, hidden)
		r.make(t, brief)
		named := r.make(t, other)
		gone := r.make(t, request(`"word gone"`))
		r.make(t, request(`"word kept"`))
		if err := r.RedactMemory(t.Context(), r.Root(), nil, gone); err != nil {
			t.Fatal(err)
		}
		run := &roomtest.Run{State: abi.Session{MemoryIDs: []string{named, "mem_none"}}}
		const ask = `{"scope":"session","text":"word"}`
		if got := r.query(t, run, ask); got != `"word kept" "word brief" "word named"` {
			t.Errorf("told %s", got)
		}
		time.Sleep(time.Minute)
		if got := r.query(t, run, ask); got != `"word kept" "word named"` {
			t.Errorf("a minute later: %s", got)
		}
		if got := r.query(t, &roomtest.Run{}, `{"scope":"session"}`); got != `"word kept"` {
			t.Errorf("without a word: %s", got)
		}
		if got := r.query(t, run, `{"scope":"session","limit":1}`); got != `"word kept"` {
			t.Errorf("one: %s", got)
		}
		r.make(t, request(`{"word":`+strings.Repeat("[", hostcall.MaxListed)+strings.Repeat("]", hostcall.MaxListed)+`}`))
		if got := r.query(t, &roomtest.Run{}, `{"scope":"session","limit":1}`); got != `{"redacted":true,"reason":"unreadable"}` {
			t.Errorf("a deep one is %.80s", got)
		}
	})
}
