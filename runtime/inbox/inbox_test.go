package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/inbox"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a keeper by itself, with a Task that may wait for the inbox.
type room struct {
	*roomtest.House
	*inbox.Keeper
	parked *waiting.Parked
	task   *abi.Task
	events uint64   // of the Task
	woken  []string // what the Task's waits were answered with
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.task = r.Task()
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.parked = &waiting.Parked{}
	r.Keeper = inbox.NewKeeper(inbox.Parts{Parts: r.Parts, Messages: sessions.NewKeeper(sessions.Parts{Parts: r.Parts}), Parked: r.parked,
		Task: func(context.Context, storage.Tenant, string) (*abi.Task, error) { return r.task, nil },
		Wake: r.wake, Go: func(do func()) { do() }})
}

// wake ends the Task's wait, and writes what is written with that as the engine does.
func (r *room) wake(_ context.Context, task ledger.Key, a *waiting.Answer) error {
	if r.task.Waiting == nil {
		return waiting.ErrNotWaiting
	}
	r.task.Waiting = nil
	r.parked.Forget(task)
	r.woken = append(r.woken, string(a.Result))
	if a.Message == nil {
		return nil
	}
	return r.commit(a.Message)
}

func (r *room) commit(records []ledger.Record) error {
	for i := range records {
		if records[i].Object == abi.ObjectTask {
			records[i].Sequence = r.events
			r.events++
		}
	}
	_, _, err := r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session, TaskID: r.task.ID, Actor: r.task.PersonaID}, nil, 0, records...)
	return err
}

var session = ledger.Key{Tenant: roomtest.Tenant, ID: roomtest.Session}

// waits has the Task wait at a checkpoint.
func (r *room) waits(at abi.Checkpoint) {
	r.task.Waiting = &abi.Waiting{Call: abi.CallInboxTake, RequestID: "r", Inbox: &abi.InboxWait{SessionID: roomtest.Session, Checkpoint: at}}
	r.parked.Listen(roomtest.Tenant, r.task.Waiting.Inbox, r.task.ID)
	r.Serve(session)
}

// take makes the host call of a Task, and writes what is written with it as the engine does.
func (r *room) take(ctx context.Context, task *abi.Task, request string) (abi.CallInboxTakeAnswer, error) {
	answer, err := r.HostCalls()[abi.CallInboxTake](ctx, &hostcall.Call{Tenant: roomtest.Tenant, Task: task, Request: []byte(request)})
	if err != nil {
		return abi.CallInboxTakeAnswer{}, err
	}
	if answer.Extra != nil {
		err = r.commit(answer.Extra)
		answer.Release(err)
	}
	var told abi.CallInboxTakeAnswer
	return told, errors.Join(err, json.Unmarshal(answer.JSON, &told))
}

func (r *room) mustTake(t testing.TB, at abi.Checkpoint) string {
	t.Helper()
	told, err := r.take(t.Context(), r.task, `{"checkpoint":"`+string(at)+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	return short(&told)
}

// short says what an answer brings.
func short(told *abi.CallInboxTakeAnswer) string {
	var words []string
	for _, m := range told.Messages {
		words = append(words, "user:"+*m.Parts[0].Text)
	}
	for _, r := range told.Reminders {
		words = append(words, fmt.Sprintf("%s:%s/%d", r.RenderedRole, r.Body, r.TTLTurns))
	}
	if told.Woken != "" {
		words = append(words, string(told.Woken))
	}
	return strings.Join(words, " ")
}

func says(text string) []abi.Part { return []abi.Part{{Type: abi.PartText, Text: &text}} }

func (r *room) inject(t testing.TB, mode abi.InjectionMode, text string) abi.Injection {
	t.Helper()
	doc, err := r.Inject(context.Background(), r.Root(), nil, roomtest.Session, abi.InjectRequest{Mode: mode, Parts: says(text)})
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Injection](t, doc)
}

func (r *room) remind(t testing.TB, req abi.RemindRequest) abi.Injection {
	t.Helper()
	doc, err := r.Remind(context.Background(), r.Root(), nil, roomtest.Session, req)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Injection](t, doc)
}

func (r *room) pending(t testing.TB) string {
	t.Helper()
	doc, err := r.PendingInjections(context.Background(), r.Root(), roomtest.Session)
	if err != nil {
		t.Fatal(err)
	}
	shown := roomtest.As[abi.PendingInjections](t, doc)
	if shown.PendingCount != len(shown.Injections) {
		t.Fatalf("%d wait, and %d are shown", shown.PendingCount, len(shown.Injections))
	}
	var words []string
	for _, i := range shown.Injections {
		words = append(words, content(&i))
	}
	return strings.Join(words, " ")
}

func content(i *abi.Injection) string {
	if i.Kind == abi.InjectionReminder {
		return i.Body
	}
	return *i.Parts[0].Text
}

// transcript returns what the Session's Messages say.
func (r *room) transcript(t testing.TB) string {
	t.Helper()
	list, err := r.Desk.Messages(context.Background(), r.Root(), roomtest.Session, desk.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, doc := range list.Docs {
		m := roomtest.As[abi.Message](t, doc)
		words = append(words, string(m.Role)+":"+*m.Parts[0].Text)
	}
	return strings.Join(words, " ")
}

// What is queued is delivered at the checkpoint that its mode says, in the order in which it came,
// and once.
func TestModes(t *testing.T) {
	r := newRoom(t)
	queued := r.inject(t, abi.InjectQueue, "later")
	r.inject(t, abi.InjectSteer, "now")
	r.remind(t, abi.RemindRequest{Body: "audited", Mode: abi.RemindAuditOnly})
	two := 2
	r.remind(t, abi.RemindRequest{Body: "step", RoleHint: abi.ReminderUser, TTLTurns: &two})
	r.remind(t, abi.RemindRequest{Body: "first", Mode: abi.RemindInterrupt, RoleHint: abi.ReminderDeveloper})
	if got := r.pending(t); got != "later now audited step first" {
		t.Errorf("%s waits", got)
	}
	for _, want := range []struct {
		at   abi.Checkpoint
		told string
	}{
		{abi.CheckpointStep, "user:now system:first/1 user:step/2"}, {abi.CheckpointStep, ""},
		{abi.CheckpointTurn, "user:later"}, {abi.CheckpointLoopExit, ""}, {abi.CheckpointLoopExit, ""},
	} {
		if got := r.mustTake(t, want.at); got != want.told {
			t.Errorf("%s brings %q, want %q", want.at, got, want.told)
		}
	}
	if got := r.transcript(t); got != "user:now user:later system:audited" {
		t.Errorf("the transcript is %s", got)
	}
	if queued.MessageID == "" || strings.TrimPrefix(queued.MessageID, "msg_") != strings.TrimPrefix(queued.ID, "inj_") {
		t.Errorf("it is %s, and its message %s", queued.ID, queued.MessageID)
	}
	m, _, err := desk.Find[abi.Message](t.Context(), r.Desk, r.Root(), abi.ObjectMessage, queued.MessageID)
	if err != nil || *m.Parts[0].Text != "later" || m.TaskID != r.task.ID {
		t.Errorf("%+v, %v", m, err)
	}
}

// A Task that waits is woken by what is due to it, also when that came before it waited, and by
// whoever wakes the Session.
func TestAWaitingTaskIsWoken(t *testing.T) {
	r := newRoom(t)
	if _, err := r.take(t.Context(), r.task, `{"checkpoint":"step","wait":true}`); !errors.Is(err, hostcall.ErrWait) {
		t.Fatalf("with nothing there it is %v", err)
	}
	r.inject(t, abi.InjectQueue, "a")
	r.waits(abi.CheckpointStep) // a queued one is not due there
	r.inject(t, abi.InjectSteer, "b")
	r.waits(abi.CheckpointTurn)
	r.waits(abi.CheckpointTurn)
	r.remind(t, abi.RemindRequest{Body: "audited", Mode: abi.RemindAuditOnly})
	doc, err := r.WakeSession(t.Context(), r.Root(), roomtest.Session)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.WakeSession(t.Context(), r.Root(), roomtest.Session)
	if err != nil || roomtest.As[abi.Woken](t, doc).Woken != 1 || roomtest.As[abi.Woken](t, again).Woken != 0 {
		t.Errorf("%s and then %s, %v", doc.JSON, again.JSON, err)
	}
	var got []string
	for _, text := range r.woken {
		var told abi.CallInboxTakeAnswer
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatal(err)
		}
		got = append(got, short(&told))
	}
	if want := []string{"user:b", "user:a", "resumed"}; !slices.Equal(got, want) {
		t.Errorf("the waits ended with %q, want %q", got, want)
	}
}

// Forks, replays and what a plugin has spawned take nothing.
func TestWhoTakesNothing(t *testing.T) {
	r := newRoom(t)
	r.inject(t, abi.InjectSteer, "a")
	fork, replay, worker := *r.task, *r.task, *r.task
	fork.Fork, replay.Replay = &abi.TaskFork{}, &abi.TaskReplay{}
	worker.ParentTaskID, worker.CreatedBy = "task_parent", roomtest.Persona
	for _, task := range []*abi.Task{&fork, &replay} {
		if told, err := r.take(t.Context(), task, `{"checkpoint":"loop_exit","wait":true}`); err != nil || short(&told) != "never" {
			t.Errorf("%+v, %v", told, err)
		}
	}
	if told, err := r.take(t.Context(), &worker, `{"checkpoint":"loop_exit"}`); err != nil || short(&told) != "" {
		t.Errorf("%+v, %v", told, err)
	}
	if _, err := r.take(t.Context(), &worker, `{"checkpoint":"loop_exit","wait":true}`); !errors.Is(err, hostcall.ErrWait) {
		t.Error(err)
	}
	if got := r.pending(t); got != "a" {
		t.Errorf("%s waits", got)
	}
}

// Who may change what waits, and why not, is said in words that a host can read.
func TestChanges(t *testing.T) {
	r := newRoom(t)
	ctx, root := t.Context(), r.Root()
	stranger := r.With("messages:write")
	i, reminder := r.inject(t, abi.InjectSteer, "a"), r.remind(t, abi.RemindRequest{Body: "r"})
	reason := func(err error, code abi.ErrorCode, want abi.InboxReason) {
		t.Helper()
		if own := roomtest.WantCode(t, err, code); string(own.Details) != `{"reason":"`+string(want)+`"}` {
			t.Errorf("the details are %s, want %s", own.Details, want)
		}
	}
	replace := func(c *desk.Caller, id, text string) (desk.Doc, error) {
		return r.ReplaceInjection(ctx, c, nil, roomtest.Session, id, abi.ReplaceInjectionRequest{Parts: says(text)})
	}
	_, err := replace(stranger, i.ID, "b")
	reason(err, abi.CodePermissionDenied, abi.ReasonNotOwner)
	_, err = r.RevokeInjection(ctx, stranger, nil, roomtest.Session, i.MessageID)
	reason(err, abi.CodePermissionDenied, abi.ReasonNotOwner)
	for _, id := range []string{"inj_none", "msg_none", "x", reminder.ID} {
		_, err = replace(root, id, "b")
		reason(err, abi.CodeResourceNotFound, abi.ReasonUnknownMessage)
	}
	_, err = r.RevokeReminder(ctx, root, nil, roomtest.Session, i.ID)
	reason(err, abi.CodeResourceNotFound, abi.ReasonUnknownMessage)
	r.NewSession(t, "sess_other", roomtest.Workspace)
	_, err = r.RevokeInjection(ctx, root, nil, "sess_other", i.ID)
	reason(err, abi.CodeResourceNotFound, abi.ReasonUnknownMessage)
	for who, c := range r.Strangers() {
		for what, do := range map[string]func() error{
			"inject": func() error {
				_, err := r.Inject(ctx, c, nil, roomtest.Session, abi.InjectRequest{Mode: abi.InjectQueue, Parts: says("x")})
				return err
			},
			"replace": func() error { _, err := replace(c, i.ID, "x"); return err },
			"revoke":  func() error { _, err := r.RevokeInjection(ctx, c, nil, roomtest.Session, i.ID); return err },
			"remind": func() error {
				_, err := r.Remind(ctx, c, nil, roomtest.Session, abi.RemindRequest{Body: "x"})
				return err
			},
			"pending": func() error { _, err := r.PendingInjections(ctx, c, roomtest.Session); return err },
			"wake":    func() error { _, err := r.WakeSession(ctx, c, roomtest.Session); return err },
		} {
			own, ok := errors.AsType[*abi.Error](do())
			if !ok || own.Code != abi.CodeResourceNotFound {
				t.Errorf("%s, %s: %v", who, what, own)
			}
		}
	}

	doc, err := replace(root, i.MessageID, "b")
	if got := roomtest.As[abi.Injection](t, doc); err != nil || got.Status != abi.InjectionReplaced || content(&got) != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, want := range []abi.InjectionStatus{abi.InjectionRevoked, abi.InjectionAlreadyRevoked, abi.InjectionAlreadyRevoked} {
		doc, err := r.RevokeInjection(ctx, root, nil, roomtest.Session, i.ID)
		if got := roomtest.As[abi.Injection](t, doc); err != nil || got.Status != want {
			t.Errorf("%+v, %v, want %s", got, err, want)
		}
	}
	_, err = replace(root, i.ID, "c")
	reason(err, abi.CodeConflict, abi.ReasonAlreadyRevoked)
	if got := r.mustTake(t, abi.CheckpointStep); got != "system:r/1" {
		t.Errorf("it brings %s", got)
	}
	_, err = r.RevokeReminder(ctx, root, nil, roomtest.Session, reminder.ID)
	reason(err, abi.CodeConflict, abi.ReasonAlreadyDelivered)
}

// A write is done once for its key, and a closed Session takes none.
func TestRetriesAndClosedSessions(t *testing.T) {
	r := newRoom(t)
	retry, req := roomtest.Retry("k", "{}"), abi.InjectRequest{Mode: abi.InjectSteer, Parts: says("a")}
	first, err := r.Inject(t.Context(), r.Root(), retry, roomtest.Session, req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Inject(t.Context(), r.Root(), retry, roomtest.Session, req)
	if err != nil || !again.Replayed || again.ID != first.ID || string(again.JSON) != string(first.JSON) {
		t.Errorf("%s and then %s, %v", first.JSON, again.JSON, err)
	}
	if got := r.pending(t); got != "a" {
		t.Errorf("%s waits", got)
	}
	s := sessions.NewKeeper(sessions.Parts{Parts: r.Parts})
	if _, err := s.CloseSession(t.Context(), r.Root(), nil, roomtest.Session); err != nil {
		t.Fatal(err)
	}
	_, err = r.Inject(t.Context(), r.Root(), nil, roomtest.Session, req)
	roomtest.WantCode(t, err, abi.CodeConflict)
	if got := r.pending(t); got != "a" {
		t.Errorf("%s waits", got)
	}
}

// What waits is bounded, and what was refused leaves nothing.
func TestBounds(t *testing.T) {
	r := newRoom(t)
	_, err := r.Inject(t.Context(), r.Root(), nil, roomtest.Session, abi.InjectRequest{Mode: abi.InjectSteer, Parts: says(strings.Repeat("x", abi.MaxInjectionBytes))})
	roomtest.WantCode(t, err, abi.CodePayloadTooLarge)
	for range 4 {
		r.inject(t, abi.InjectSteer, strings.Repeat("x", abi.MaxInjectionBytes-2000))
	}
	r.inject(t, abi.InjectSteer, "small")
	_, err = r.Inject(t.Context(), r.Root(), nil, roomtest.Session, abi.InjectRequest{Mode: abi.InjectSteer, Parts: says(strings.Repeat("x", 10_000))})
	roomtest.WantCode(t, err, abi.CodeConflict)
	if got := r.mustTake(t, abi.CheckpointStep); !strings.HasSuffix(got, "user:small") || len(got) < 4*(abi.MaxInjectionBytes-2000) {
		t.Errorf("it brings %d bytes", len(got))
	}
	for n := range abi.MaxPendingInjections {
		r.inject(t, abi.InjectSteer, fmt.Sprint(n))
	}
	_, err = r.Inject(t.Context(), r.Root(), nil, roomtest.Session, abi.InjectRequest{Mode: abi.InjectSteer, Parts: says("x")})
	roomtest.WantCode(t, err, abi.CodeConflict)
}

func TestReminders(t *testing.T) {
	for text, want := range map[string]string{
		`{"body":"b","tags":["t"],"dedupe_key":"k","ttl_turns":2,"role_hint":"developer","mode":"audit_only","source":"s","_meta":{"harn":{"origin":"w"}}}`: "",
		`{"body":"b","later":1}`:               "HARN-RMD-001 later",
		`{"body":"b","bodY":1}`:                "HARN-RMD-001 bodY",
		`[]`:                                   "HARN-RMD-002 ",
		`null`:                                 "HARN-RMD-002 ",
		`{"body":1}`:                           "HARN-RMD-002 body",
		`{"body":"b","body":"c"}`:              "HARN-RMD-002 ",
		`{}`:                                   "HARN-RMD-002 body",
		`{"body":"b","tags":[""]}`:             "HARN-RMD-002 tags",
		`{"body":"b","ttl_turns":0}`:           "HARN-RMD-002 ttl_turns",
		`{"body":"b","ttl_turns":1.5}`:         "HARN-RMD-002 ttl_turns",
		`{"body":"b","ttl_turns":101}`:         "HARN-RMD-002 ttl_turns",
		`{"body":"b","role_hint":"assistant"}`: "HARN-RMD-002 role_hint",
		`{"body":"b","mode":"steer"}`:          "HARN-RMD-002 mode",
		`{"body":"b","_meta":[]}`:              "HARN-RMD-002 _meta",
		`{"body":"b","dedupe_key":"` + strings.Repeat("k", 300) + `"}`:                                             "HARN-RMD-002 dedupe_key",
		`{"body":"b","_meta":{"a":` + strings.Repeat("[", abi.MaxDepth) + strings.Repeat("]", abi.MaxDepth) + `}}`: "HARN-RMD-002 _meta",
	} {
		r := newRoom(t)
		req, err := inbox.ReadReminder(jsontext.Value(text))
		if err == nil {
			_, err = r.Remind(t.Context(), r.Root(), nil, roomtest.Session, req)
		}
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		code, param, _ := strings.Cut(want, " ")
		own := roomtest.WantCode(t, err, abi.CodeInvalidRequest)
		if string(own.Details) != `{"code":"`+code+`"}` || own.Param != param {
			t.Errorf("%.60s: %s about %q, want %s", text, own.Details, own.Param, want)
		}
	}
	r := newRoom(t)
	r.remind(t, abi.RemindRequest{Body: "old", DedupeKey: "k"})
	r.remind(t, abi.RemindRequest{Body: "other"})
	r.remind(t, abi.RemindRequest{Body: "new", DedupeKey: "k"})
	if got := r.pending(t); got != "other new" {
		t.Errorf("%s waits", got)
	}
}

func TestMalformedTakes(t *testing.T) {
	r := newRoom(t)
	for _, request := range []string{`{}`, `{"checkpoint":"x"}`, `{"checkpoint":"step","wait":true,"timeout_ms":-1}`, `{"checkpoint":"step","timeout_ms":1e18}`} {
		_, err := r.take(t.Context(), r.task, request)
		if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != abi.CallInvalid {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// Of all that want the same, one wins: each is delivered or revoked, and never both, however many
// ask at once.
func TestRaces(t *testing.T) {
	for range 20 {
		r := newRoom(t)
		i := r.inject(t, abi.InjectSteer, "a")
		var mu sync.Mutex
		var won []string
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				told, err := r.take(context.Background(), r.task, `{"checkpoint":"step"}`)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if len(told.Messages) == 1 {
					won = append(won, "delivered")
				}
			})
			all.Go(func() {
				doc, err := r.RevokeInjection(context.Background(), r.Root(), nil, roomtest.Session, i.ID)
				mu.Lock()
				defer mu.Unlock()
				if own, ok := errors.AsType[*abi.Error](err); ok && own.Code == abi.CodeConflict {
					return
				}
				if got := roomtest.As[abi.Injection](t, doc); err != nil {
					t.Error(err)
				} else if got.Status == abi.InjectionRevoked {
					won = append(won, "revoked")
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("it was %v", won)
		}
	}
}

// modeled is what a model of an inbox knows of one that was queued.
type modeled struct {
	id, text, key, status string
	mode                  abi.InjectionMode
	kind                  abi.InjectionKind
}

// machine compares a room with a plain model.
type machine struct {
	t       testing.TB
	r       *room
	queued  []*modeled
	fifo    []*modeled
	said    []string
	counter int
}

func (m *machine) next() string {
	m.counter++
	return fmt.Sprintf("t%d", m.counter)
}

func (m *machine) waits(one *modeled) { m.queued, m.fifo = append(m.queued, one), append(m.fifo, one) }

func (m *machine) gone(one *modeled, as string) {
	one.status = as
	m.fifo = slices.DeleteFunc(m.fifo, func(other *modeled) bool { return other == one })
}

func (m *machine) inject(t *rapid.T) {
	mode, text := rapid.SampledFrom([]abi.InjectionMode{abi.InjectSteer, abi.InjectQueue}).Draw(t, "mode"), m.next()
	i := m.r.inject(m.t, mode, text)
	m.waits(&modeled{id: i.ID, text: text, mode: mode, kind: abi.InjectionUser})
}

func (m *machine) remind(t *rapid.T) {
	mode, key, text := rapid.SampledFrom([]abi.InjectionMode{abi.RemindInterrupt, abi.RemindFinishStep, abi.RemindAuditOnly}).Draw(t, "mode"),
		rapid.SampledFrom([]string{"", "k", "l"}).Draw(t, "key"), m.next()
	i := m.r.remind(m.t, abi.RemindRequest{Body: text, Mode: mode, DedupeKey: key})
	for _, old := range slices.Clone(m.fifo) {
		if key != "" && old.key == key {
			m.gone(old, "revoked")
		}
	}
	m.waits(&modeled{id: i.ID, text: text, key: key, mode: mode, kind: abi.InjectionReminder})
}

// one draws an injection that was queued at some time.
func (m *machine) one(t *rapid.T) *modeled {
	if len(m.queued) == 0 {
		t.Skip("nothing was queued")
	}
	return rapid.SampledFrom(m.queued).Draw(t, "of")
}

func (m *machine) revoke(t *rapid.T) {
	one := m.one(t)
	do := m.r.RevokeInjection
	if one.kind == abi.InjectionReminder {
		do = m.r.RevokeReminder
	}
	doc, err := do(context.Background(), m.r.Root(), nil, roomtest.Session, one.id)
	if one.status == "delivered" {
		roomtest.WantCode(m.t, err, abi.CodeConflict)
		return
	}
	want := abi.InjectionRevoked
	if one.status == "revoked" {
		want = abi.InjectionAlreadyRevoked
	}
	if got := roomtest.As[abi.Injection](m.t, doc); err != nil || got.Status != want {
		t.Fatalf("%s is %s, %v, want %s", one.id, got.Status, err, want)
	}
	m.gone(one, "revoked")
}

func (m *machine) replace(t *rapid.T) {
	one, text := m.one(t), m.next()
	_, err := m.r.ReplaceInjection(context.Background(), m.r.Root(), nil, roomtest.Session, one.id, abi.ReplaceInjectionRequest{Parts: says(text)})
	switch {
	case one.kind == abi.InjectionReminder:
		roomtest.WantCode(m.t, err, abi.CodeResourceNotFound)
	case one.status != "":
		roomtest.WantCode(m.t, err, abi.CodeConflict)
	case err != nil:
		t.Fatal(err)
	default:
		one.text = text
	}
}

func (m *machine) take(t *rapid.T) {
	at := rapid.SampledFrom([]abi.Checkpoint{abi.CheckpointStep, abi.CheckpointTurn, abi.CheckpointLoopExit}).Draw(t, "at")
	if got, want := m.r.mustTake(m.t, at), m.due(at); got != want {
		t.Fatalf("%s brings %q, want %q", at, got, want)
	}
}

func (m *machine) wait(t *rapid.T) {
	at := rapid.SampledFrom([]abi.Checkpoint{abi.CheckpointStep, abi.CheckpointTurn}).Draw(t, "at")
	m.r.woken = nil
	m.r.waits(at)
	want := m.due(at)
	if want == "" {
		want = "resumed"
		if _, err := m.r.WakeSession(context.Background(), m.r.Root(), roomtest.Session); err != nil {
			t.Fatal(err)
		}
	}
	var told abi.CallInboxTakeAnswer
	if len(m.r.woken) != 1 || json.Unmarshal([]byte(m.r.woken[0]), &told) != nil || short(&told) != want {
		t.Fatalf("the wait ended with %q, want %q", m.r.woken, want)
	}
}

// due delivers what is due.
func (m *machine) due(at abi.Checkpoint) string {
	var users, first, reminders, said []string
	for _, one := range slices.Clone(m.fifo) {
		is := map[abi.Checkpoint]bool{abi.CheckpointStep: one.mode != abi.InjectQueue && one.mode != abi.RemindAuditOnly,
			abi.CheckpointTurn: one.mode != abi.RemindAuditOnly, abi.CheckpointLoopExit: true}[at]
		if !is {
			continue
		}
		m.gone(one, "delivered")
		switch {
		case one.kind == abi.InjectionUser:
			users, said = append(users, "user:"+one.text), append(said, "user:"+one.text)
		case one.mode == abi.RemindAuditOnly:
			said = append(said, "system:"+one.text)
		case one.mode == abi.RemindInterrupt:
			first = append(first, "system:"+one.text+"/1")
		default:
			reminders = append(reminders, "system:"+one.text+"/1")
		}
	}
	m.said = append(m.said, said...)
	return strings.Join(slices.Concat(users, first, reminders), " ")
}

func (m *machine) crash(*rapid.T) {
	m.r.Crash()
	m.r.furnish()
}

func (m *machine) check(t *rapid.T) {
	var waits []string
	for _, one := range m.fifo {
		waits = append(waits, one.text)
	}
	if got, want := m.r.pending(m.t), strings.Join(waits, " "); got != want {
		t.Fatalf("%q waits, want %q", got, want)
	}
	if got, want := m.r.transcript(m.t), strings.Join(m.said, " "); got != want {
		t.Fatalf("the transcript is %q, want %q", got, want)
	}
}

// Whatever is asked in whatever order, and whenever the node dies, an inbox is what a plain list is.
func TestInboxIsAList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{t: t, r: newRoom(t)}
		rt.Repeat(map[string]func(*rapid.T){"inject": m.inject, "remind": m.remind, "revoke": m.revoke, "replace": m.replace,
			"take": m.take, "wait": m.wait, "crash": m.crash, "": m.check})
	})
}
