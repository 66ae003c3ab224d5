package artifacts_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/artifacts"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage/memory"
)

// mostRead is what a call of a plugin reads at most in these tests.
const mostRead = 20

type room struct {
	*roomtest.House
	*artifacts.Keeper
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.Keeper = artifacts.NewKeeper(artifacts.Parts{Parts: r.Parts, MostRead: mostRead,
		DefaultWorkspaceOf: func(*desk.Caller) string { return roomtest.Workspace }})
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func file() abi.RegisterArtifactRequest {
	return abi.RegisterArtifactRequest{Kind: abi.ArtifactFile, MimeType: "text/plain", Visibility: abi.VisibilityPublic}
}

func (r *room) register(t testing.TB, req abi.RegisterArtifactRequest, content string) abi.Artifact {
	t.Helper()
	doc, err := r.RegisterArtifact(t.Context(), r.Root(), nil, req, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Artifact](t, doc)
}

func (r *room) content(t testing.TB, c *desk.Caller, id string) string {
	t.Helper()
	_, blob, err := r.OpenArtifact(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	p, err := io.ReadAll(blob)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// What was registered is there after a crash, with the hash and the size of its content, and
// only for those who see its Workspace.
func TestArtifactsAreKept(t *testing.T) {
	r := newRoom(t)
	a := r.register(t, file(), "hello")
	if a.SHA256 == nil || *a.SHA256 != hashOf("hello") || *a.SizeBytes != 5 || *a.URI != "wharf:artifact/"+a.ID || a.WorkspaceID != roomtest.Workspace {
		t.Errorf("%+v", a)
	}
	r.Crash()
	r.furnish()
	for _, c := range []*desk.Caller{r.Root(), r.Bound(roomtest.Workspace)} {
		if got := r.content(t, c, a.ID); got != "hello" {
			t.Errorf("the content is %q", got)
		}
	}
	for who, c := range r.Strangers() {
		t.Run(who, func(t *testing.T) {
			_, _, err := r.OpenArtifact(t.Context(), c, a.ID)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			_, err = r.RegisterArtifact(t.Context(), c, nil, file(), strings.NewReader("x"))
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		})
	}
}

// The content of what is not public is for those who may read it, and of what is for receipts
// only for nobody.
func TestContentsThatAreNotPublic(t *testing.T) {
	r := newRoom(t)
	internal, receipts := file(), file()
	internal.Visibility, receipts.Visibility = abi.VisibilityInternal, abi.VisibilityReceiptOnly
	a, b := r.register(t, internal, "inside"), r.register(t, receipts, "proof")
	if got := r.content(t, r.Root(), a.ID); got != "inside" {
		t.Errorf("read %q", got)
	}
	for _, c := range []struct {
		by *desk.Caller
		id string
	}{{r.With("artifacts:read"), a.ID}, {r.With("artifacts:read"), b.ID}, {r.Root(), b.ID}} {
		_, _, err := r.OpenArtifact(t.Context(), c.by, c.id)
		roomtest.WantCode(t, err, abi.CodePermissionDenied)
	}
}

func TestArtifactsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	wrong, short := hashOf("other"), "abc"
	r.NewWorkspace(t, "ws_other")
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, "task_test", r.Task())
	for name, test := range map[string]struct {
		change func(*abi.RegisterArtifactRequest)
		param  string
	}{
		"kind":              {func(q *abi.RegisterArtifactRequest) { q.Kind = "song" }, "kind"},
		"no kind":           {func(q *abi.RegisterArtifactRequest) { q.Kind = "" }, "kind"},
		"no mime type":      {func(q *abi.RegisterArtifactRequest) { q.MimeType = "" }, "mime_type"},
		"a header's end":    {func(q *abi.RegisterArtifactRequest) { q.MimeType = "text/plain\r\nX: y" }, "mime_type"},
		"a long mime type":  {func(q *abi.RegisterArtifactRequest) { q.MimeType = strings.Repeat("a", 256) }, "mime_type"},
		"visibility":        {func(q *abi.RegisterArtifactRequest) { q.Visibility = "secret" }, "visibility"},
		"metadata":          {func(q *abi.RegisterArtifactRequest) { q.Metadata = jsontext.Value(`7`) }, "metadata"},
		"no hash":           {func(q *abi.RegisterArtifactRequest) { q.SHA256 = &short }, "sha256"},
		"another hash":      {func(q *abi.RegisterArtifactRequest) { q.SHA256 = &wrong }, "sha256"},
		"another workspace": {func(q *abi.RegisterArtifactRequest) { q.SessionID, q.WorkspaceID = roomtest.Session, "ws_other" }, "workspace_id"},
		"another session":   {func(q *abi.RegisterArtifactRequest) { q.TaskID, q.SessionID = "task_test", "sess_other" }, "session_id"},
	} {
		t.Run(name, func(t *testing.T) {
			req := file()
			test.change(&req)
			_, err := r.RegisterArtifact(t.Context(), r.Root(), nil, req, strings.NewReader("hello"))
			roomtest.WantParam(t, err, test.param)
		})
	}
	for name, change := range map[string]func(*abi.RegisterArtifactRequest){
		"workspace": func(q *abi.RegisterArtifactRequest) { q.WorkspaceID = "ws_none" },
		"session":   func(q *abi.RegisterArtifactRequest) { q.SessionID = "sess_none" },
		"task":      func(q *abi.RegisterArtifactRequest) { q.TaskID = "task_none" },
	} {
		req := file()
		change(&req)
		_, err := r.RegisterArtifact(t.Context(), r.Root(), nil, req, strings.NewReader("hello"))
		if e := roomtest.WantCode(t, err, abi.CodeResourceNotFound); !strings.Contains(e.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The hash is compared whatever letters it is spelled with.
func TestAStatedHashIsCompared(t *testing.T) {
	r := newRoom(t)
	req, upper := file(), strings.ToUpper(hashOf("hello"))
	req.SHA256 = &upper
	if a := r.register(t, req, "hello"); *a.SHA256 != hashOf("hello") {
		t.Errorf("it is %s", *a.SHA256)
	}
}

// One request that comes several times at once makes one Artifact; the same key with another
// content is refused.
func TestAnArtifactIsMadeOnce(t *testing.T) {
	r := newRoom(t)
	ids := make([]string, 6)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			doc, err := r.RegisterArtifact(t.Context(), r.Root(), roomtest.Retry("k", ""), file(), strings.NewReader("hello"))
			if err != nil {
				t.Error(err)
			}
			ids[i] = doc.ID
		})
	}
	all.Wait()
	r.Crash()
	r.furnish()
	again, err := r.RegisterArtifact(t.Context(), r.Root(), roomtest.Retry("k", ""), file(), strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != again.ID {
			t.Errorf("made %v and %s", ids, again.ID)
		}
	}
	_, err = r.RegisterArtifact(t.Context(), r.Root(), roomtest.Retry("k", ""), file(), strings.NewReader("other"))
	roomtest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
}

func (r *room) ask(t testing.TB, run *roomtest.Run, call, request string) (hostcall.Answer, error) {
	t.Helper()
	return r.HostCalls()[call](t.Context(), &hostcall.Call{Run: run, Tenant: roomtest.Tenant, Task: r.Task(), Request: []byte(request)})
}

// What a Task puts is its own, with what it holds, and is read in parts.
func TestATaskPutsAndGets(t *testing.T) {
	r, run := newRoom(t), &roomtest.Run{}
	content := "line one\nline two\nline three\n"
	a, err := r.ask(t, run, abi.CallArtifactPut, `{"kind":"file","mime_type":"text/plain","name":"n"}`+"\n"+content)
	if err != nil {
		t.Fatal(err)
	}
	art := a.States.State.(*abi.Artifact)
	if *art.SHA256 != hashOf(content) || art.TaskID != "task_test" || art.SessionID != roomtest.Session || art.Visibility != abi.VisibilityPublic || art.Name != "n" {
		t.Errorf("%+v", art)
	}
	r.State(t, art.WorkspaceID, art.SessionID, a.States.Kind, a.States.Object, a.States.ID, art)
	run.Puts = []string{art.ID}
	for ask, want := range map[string]string{
		``: content[:mostRead], `,"offset":9,"length":8`: "line two", `,"offset":20`: content[20:], `,"offset":1000`: "",
	} {
		got, err := r.ask(t, run, abi.CallArtifactGet, `{"artifact_id":"`+art.ID+`"`+ask+`}`)
		if err != nil || string(got.JSON) != want {
			t.Errorf("%s: %q, %v", ask, got.JSON, err)
		}
	}
	if run.Flushed != 4 {
		t.Errorf("its own was made readable %d times", run.Flushed)
	}
}

func TestHostCallsThatAreRefused(t *testing.T) {
	r, run := newRoom(t), &roomtest.Run{}
	r.NewWorkspace(t, "ws_other")
	receipts, other, elsewhere := file(), file(), file()
	receipts.Visibility, other.WorkspaceID = abi.VisibilityReceiptOnly, "ws_other"
	uri := "https://example.com/a"
	elsewhere.URI = &uri
	doc, err := r.RegisterArtifact(t.Context(), r.Root(), nil, elsewhere, nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func(id string) string { return `{"artifact_id":"` + id + `"}` }
	for _, test := range []struct {
		name, call, request string
		status              abi.CallStatus
	}{
		{"no content", abi.CallArtifactPut, `{"kind":"file","mime_type":"text/plain"}`, abi.CallInvalid},
		{"no JSON", abi.CallArtifactPut, "{\nx", abi.CallInvalid},
		{"another kind", abi.CallArtifactPut, `{"kind":"song","mime_type":"text/plain"}` + "\nx", abi.CallInvalid},
		{"a negative offset", abi.CallArtifactGet, `{"artifact_id":"art_1","offset":-1}`, abi.CallInvalid},
		{"a negative length", abi.CallArtifactGet, `{"artifact_id":"art_1","length":-1}`, abi.CallInvalid},
		{"none", abi.CallArtifactGet, get("art_none"), abi.CallNotFound},
		{"of another workspace", abi.CallArtifactGet, get(r.register(t, other, "x").ID), abi.CallNotFound},
		{"for receipts", abi.CallArtifactGet, get(r.register(t, receipts, "x").ID), abi.CallDenied},
		{"held elsewhere", abi.CallArtifactGet, get(doc.ID), abi.CallUnavailable},
	} {
		_, err := r.ask(t, run, test.call, test.request)
		if refused, ok := err.(*provider.Refusal); !ok || refused.Status != test.status {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if run.Flushed != 0 {
		t.Error("nothing that the run has put was asked for")
	}
}
