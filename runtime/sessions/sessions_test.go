package sessions_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

type room struct {
	*roomtest.House
	*sessions.Keeper
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.Keeper = sessions.NewKeeper(sessions.Parts{Parts: r.Parts, DefaultPersona: roomtest.Persona,
		CheckReceipts: func(*abi.Persona) error { return nil },
		Models: func() []abi.NodeModel {
			return []abi.NodeModel{{Name: "main", Aliases: []string{"openai/gpt"}}, {Name: "small"}}
		},
		May: func(*desk.Caller) func(*abi.Session) error { return nil },
		PersonaIn: func(_ context.Context, _ storage.Tenant, _, id string) (*personas.Persona, error) {
			if id != roomtest.Persona {
				return nil, abi.NotFound(abi.ObjectPersona, id)
			}
			return &personas.Persona{}, nil
		},
		SkillIn: func(_ context.Context, _ storage.Tenant, _, id string) (*abi.Skill, error) {
			return nil, abi.NotFound(abi.ObjectSkill, id)
		},
		CheckVaultIDs: func(_ context.Context, _ *desk.Caller, _ string, ids []string) error {
			if len(ids) > 0 {
				return abi.NotFound(abi.ObjectVault, ids[0])
			}
			return nil
		},
		CheckSkillNames: func(_ storage.Tenant, workspace string, names []string) error {
			for _, name := range names {
				if name != "known" || workspace != roomtest.Workspace {
					return abi.InvalidParam("skills", "no skill %q is installed", name)
				}
			}
			return nil
		}})
}

// The skills that a Session names are installed where it is; a fork has them, and all are named anew.
func TestSkillsOfASession(t *testing.T) {
	r := newRoom(t)
	req := abi.CreateSessionRequest{WorkspaceID: roomtest.Workspace, Skills: []string{"unknown"}}
	_, err := r.CreateSession(t.Context(), r.Root(), nil, req)
	roomtest.WantParam(t, err, "skills")
	req.Skills = []string{"known"}
	doc, err := r.CreateSession(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	id := doc.ID
	update := func(skills []string) ([]string, error) {
		doc, err := r.UpdateSession(t.Context(), r.Root(), nil, id, abi.UpdateSessionRequest{Skills: skills})
		if err != nil {
			return nil, err
		}
		return roomtest.As[abi.Session](t, doc).Skills, nil
	}
	if got, err := update(nil); err != nil || len(got) != 1 || got[0] != "known" {
		t.Errorf("an update of something else leaves %v, %v", got, err)
	}
	_, err = update([]string{"unknown"})
	roomtest.WantParam(t, err, "skills")
	fork, err := r.ForkSession(t.Context(), r.Root(), nil, id, abi.ForkSessionRequest{})
	if err != nil || len(roomtest.As[abi.Session](t, fork).Skills) != 1 {
		t.Errorf("the fork is %s, %v", fork.JSON, err)
	}
	if got, err := update([]string{}); err != nil || len(got) != 0 {
		t.Errorf("no skills are %v, %v", got, err)
	}
}

func (r *room) crash() {
	r.Crash()
	r.furnish()
}

func said(text string) *abi.MessageInput {
	return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &text}}}
}

// open makes a Session that has been told some texts.
func (r *room) open(t testing.TB, texts ...string) string {
	t.Helper()
	req := abi.CreateSessionRequest{WorkspaceID: roomtest.Workspace}
	for _, text := range texts {
		req.InitialMessages = append(req.InitialMessages, *said(text))
	}
	doc, err := r.CreateSession(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// transcript returns the texts of a Session, oldest first.
func (r *room) transcript(t testing.TB, c *desk.Caller, session string) string {
	t.Helper()
	list, err := r.Desk.Messages(t.Context(), c, session, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, doc := range list.Docs {
		texts = append(texts, *roomtest.As[abi.Message](t, doc).Parts[0].Text)
	}
	return strings.Join(texts, " ")
}

func (r *room) say(t testing.TB, session, text string) {
	t.Helper()
	if _, err := r.AppendMessage(t.Context(), r.Root(), nil, session, abi.AppendMessageRequest{Message: said(text)}); err != nil {
		t.Fatal(err)
	}
}

// A transcript is what was said, in its order, after a crash too; and who has no part in its
// Workspace can neither read nor change it.
func TestTranscripts(t *testing.T) {
	r := newRoom(t)
	id := r.open(t, "one", "two")
	r.say(t, id, "three")
	r.crash()
	r.say(t, id, "four")
	if got := r.transcript(t, r.Bound(roomtest.Workspace), id); got != "one two three four" {
		t.Errorf("the transcript is %s", got)
	}
	keep := 1
	for who, c := range r.Strangers() {
		_, reads := r.Desk.Messages(t.Context(), c, id, desk.Page{Limit: 1})
		_, says := r.AppendMessage(t.Context(), c, nil, id, abi.AppendMessageRequest{Message: said("x")})
		_, updates := r.UpdateSession(t.Context(), c, nil, id, abi.UpdateSessionRequest{})
		_, closes := r.CloseSession(t.Context(), c, nil, id)
		_, truncates := r.TruncateSession(t.Context(), c, nil, id, abi.TruncateSessionRequest{KeepTurns: &keep})
		_, forks := r.ForkSession(t.Context(), c, nil, id, abi.ForkSessionRequest{})
		_, opens := r.CreateSession(t.Context(), c, nil, abi.CreateSessionRequest{WorkspaceID: roomtest.Workspace})
		for what, err := range map[string]error{
			"reads": reads, "says": says, "updates": updates, "closes": closes, "truncates": truncates, "forks": forks, "opens": opens,
		} {
			t.Run(who+" "+what, func(t *testing.T) { roomtest.WantCode(t, err, abi.CodeResourceNotFound) })
		}
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for name, test := range map[string]struct {
		change func(*abi.CreateSessionRequest)
		code   abi.ErrorCode
		param  string
	}{
		"no workspace":      {func(q *abi.CreateSessionRequest) { q.WorkspaceID = "" }, abi.CodeInvalidRequest, "workspace_id"},
		"another workspace": {func(q *abi.CreateSessionRequest) { q.WorkspaceID = "ws_none" }, abi.CodeResourceNotFound, ""},
		"another persona":   {func(q *abi.CreateSessionRequest) { q.PersonaID = "persona_none" }, abi.CodeResourceNotFound, ""},
		"another vault":     {func(q *abi.CreateSessionRequest) { q.VaultIDs = []string{"vault_none"} }, abi.CodeResourceNotFound, ""},
		"another memory":    {func(q *abi.CreateSessionRequest) { q.MemoryIDs = []string{"mem_none"} }, abi.CodeResourceNotFound, ""},
		"another skill":     {func(q *abi.CreateSessionRequest) { q.SkillIDs = []string{"skill_none"} }, abi.CodeResourceNotFound, ""},
		"many memories":     {func(q *abi.CreateSessionRequest) { q.MemoryIDs = make([]string, sessions.MaxNames+1) }, abi.CodeInvalidRequest, "memory_ids"},
		"many skills":       {func(q *abi.CreateSessionRequest) { q.SkillIDs = make([]string, sessions.MaxNames+1) }, abi.CodeInvalidRequest, "skill_ids"},
		"metadata":          {func(q *abi.CreateSessionRequest) { q.Metadata = jsontext.Value(`[]`) }, abi.CodeInvalidRequest, "metadata"},
		"a message":         {func(q *abi.CreateSessionRequest) { q.InitialMessages = []abi.MessageInput{*said("fine"), {}} }, abi.CodeInvalidRequest, "initial_messages[1].role"},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.Store.Watermark()
			req := abi.CreateSessionRequest{WorkspaceID: roomtest.Workspace}
			test.change(&req)
			_, err := r.CreateSession(t.Context(), r.Root(), nil, req)
			if e := roomtest.WantCode(t, err, test.code); e.Param != test.param {
				t.Errorf("it is about %q", e.Param)
			}
			if r.Store.Watermark() != before {
				t.Error("something of it was told")
			}
		})
	}
}

// A Session that is closed takes no Message, is not cut, and is not closed again; it is read on.
func TestClosedSessions(t *testing.T) {
	r := newRoom(t)
	id, keep := r.open(t, "one"), 0
	if _, err := r.CloseSession(t.Context(), r.Root(), roomtest.Retry("k", ""), id); err != nil {
		t.Fatal(err)
	}
	r.crash()
	if _, err := r.CloseSession(t.Context(), r.Root(), roomtest.Retry("k", ""), id); err != nil {
		t.Error("the same request again: ", err)
	}
	_, err := r.CloseSession(t.Context(), r.Root(), nil, id)
	roomtest.WantCode(t, err, abi.CodeInvalidStateTransition)
	_, err = r.AppendMessage(t.Context(), r.Root(), nil, id, abi.AppendMessageRequest{Message: said("x")})
	roomtest.WantCode(t, err, abi.CodeConflict)
	_, err = r.TruncateSession(t.Context(), r.Root(), nil, id, abi.TruncateSessionRequest{KeepTurns: &keep})
	roomtest.WantCode(t, err, abi.CodeConflict)
	if got := r.transcript(t, r.Root(), id); got != "one" {
		t.Errorf("the transcript is %s", got)
	}
}

// A cut keeps the first turns; a fork begins with what was said up to its event, and what is
// said in one is not said in the other.
func TestCutsAndForks(t *testing.T) {
	r := newRoom(t)
	id, keep := r.open(t, "one", "two", "three"), 2
	if _, err := r.TruncateSession(t.Context(), r.Root(), nil, id, abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
		t.Fatal(err)
	}
	doc, err := r.ForkSession(t.Context(), r.Root(), nil, id, abi.ForkSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r.say(t, id, "here")
	r.say(t, doc.ID, "there")
	r.crash()
	if got := r.transcript(t, r.Root(), id); got != "one two here" {
		t.Errorf("the session's is %s", got)
	}
	if got := r.transcript(t, r.Root(), doc.ID); got != "one two there" {
		t.Errorf("the fork's is %s", got)
	}
	_, err = r.ForkSession(t.Context(), r.Root(), nil, id, abi.ForkSessionRequest{AtEventID: "99999999"})
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
}

// What many say at once is all there, once each, also where they say it twice.
func TestManySpeakAtOnce(t *testing.T) {
	r := newRoom(t)
	id := r.open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			key := fmt.Sprint("k", i%10)
			if _, err := r.AppendMessage(t.Context(), r.Root(), roomtest.Retry(key, ""), id, abi.AppendMessageRequest{Message: said(key)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r.crash()
	got := strings.Fields(r.transcript(t, r.Root(), id))
	seen := map[string]bool{}
	for _, text := range got {
		seen[text] = true
	}
	if len(got) != 10 || len(seen) != 10 {
		t.Errorf("%d messages: %v", len(got), got)
	}
}

func (r *room) ask(t testing.TB, run *roomtest.Run, session, call, request string) (hostcall.Answer, error) {
	t.Helper()
	task := r.Task()
	task.SessionID = session
	return r.HostCalls()[call](t.Context(), &hostcall.Call{Run: run, Tenant: roomtest.Tenant, Task: task, Request: []byte(request), Kept: []byte(request)})
}

// A plugin is told the newest Messages, oldest first, and what it has said itself.
func TestAPluginReadsTheTranscript(t *testing.T) {
	r, run := newRoom(t), &roomtest.Run{}
	id := r.open(t, "one", "two", "three")
	for request, want := range map[string]string{`{}`: "one two three", `{"last":2}`: "two three", `{"last":3}`: "one two three"} {
		a, err := r.ask(t, run, id, abi.CallTranscriptRead, request)
		if err != nil {
			t.Fatal(err)
		}
		var got abi.CallTranscriptReadAnswer
		if err := json.Unmarshal(a.JSON, &got); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range got.Messages {
			texts = append(texts, *m.Parts[0].Text)
		}
		if told := strings.Join(texts, " "); told != want || got.Earlier != (len(texts) < 3) {
			t.Errorf("%s: %s, earlier %v", request, told, got.Earlier)
		}
	}
	if run.Flushed != 3 {
		t.Errorf("it was flushed %d times", run.Flushed)
	}
	for _, request := range []string{`{"last":201}`, `{"last":-1}`} {
		_, err := r.ask(t, run, id, abi.CallTranscriptRead, request)
		if refused, ok := err.(*provider.Refusal); !ok || refused.Status != abi.CallInvalid {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// set sets a value as the engine does: what the call states is on disk before it is released.
func (r *room) set(t testing.TB, session, request string, failed error) {
	t.Helper()
	a, err := r.ask(t, &roomtest.Run{}, session, abi.CallStateSet, request)
	if err != nil {
		t.Error(err)
		return
	}
	for range 100 {
		runtime.Gosched() // those who do not wait for it come in between
	}
	if failed == nil {
		_, _, failed = r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace, SessionID: session}, nil, 0, *a.States)
		if failed != nil {
			t.Error(failed)
		}
	}
	a.Release(failed)
}

func (r *room) value(t testing.TB, session string) string {
	t.Helper()
	a, err := r.ask(t, &roomtest.Run{}, session, abi.CallStateGet, `{"key":"k"}`)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.JSON)
}

// A Session's value is the last that was set, remembered or read; one whose writing failed is
// not; and those who set it at once do so one after the other.
func TestValues(t *testing.T) {
	r := newRoom(t)
	id, other := r.open(t), r.open(t)
	if got := r.value(t, id); got != `{"value":null}` {
		t.Errorf("before it is set: %s", got)
	}
	r.set(t, id, `{"key":"k","value":1}`, nil)
	r.set(t, id, `{"key":"k","value":2}`, context.Canceled)
	for range 2 {
		if got := r.value(t, id); got != `{"value":1}` {
			t.Errorf("it is %s", got)
		}
		r.crash()
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { r.set(t, id, fmt.Sprintf(`{"key":"k","value":%d}`, 10+i), nil) })
	}
	all.Wait()
	res, err := r.Ledger.Find(t.Context(), roomtest.Tenant, abi.ObjectState, sessions.StateID(id, "k"))
	if err != nil || res.Sequence != 8 {
		t.Errorf("its sequence is %d, %v", res.Sequence, err)
	}
	if got := strings.Trim(r.value(t, id), "{}"); !strings.Contains(string(res.State), got) {
		t.Errorf("remembered %s, on disk %s", got, res.State)
	}
	if got := r.value(t, other); got != `{"value":null}` {
		t.Errorf("another session's is %s", got)
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	r := newRoom(t)
	id := r.open(t)
	for _, request := range []string{`{"key":"","value":1}`, `{"key":"a b","value":1}`, `{"key":"k"}`, `{"key":"` + strings.Repeat("k", 129) + `","value":1}`} {
		_, err := r.ask(t, &roomtest.Run{}, id, abi.CallStateSet, request)
		if refused, ok := err.(*provider.Refusal); !ok || refused.Status != abi.CallInvalid {
			t.Errorf("%s: %v", request, err)
		}
	}
	r.State(t, roomtest.Workspace, id, abi.EventStateSet, abi.ObjectState, sessions.StateID(id, "k"), jsontext.Value(`{"key":"k"}`))
	_, err := r.ask(t, &roomtest.Run{}, id, abi.CallStateGet, `{"key":"k"}`)
	if refused, ok := err.(*provider.Refusal); !ok || refused.Status != abi.CallUnavailable || refused.Code != "unreadable" {
		t.Errorf("one that cannot be read: %v", err)
	}
}
