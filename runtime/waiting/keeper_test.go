package waiting

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const (
	workspace = "ws_test"
	session   = "sess_test"
)

// node is a keeper over a store in memory. The engine, which parks Tasks and wakes them, is
// played by the test.
type node struct {
	*Keeper
	root    *desk.Caller
	pending Pending
	ends    Ends
	tasks   map[string]*played
	replies []string // what the calls that waited were answered with
}

// played is a Task, as the engine would have it.
type played struct {
	about abi.Task
	asks  *Round
	seq   uint64
}

// nobody is a node to whose Sessions no client is attached.
type nobody struct{}

func (nobody) Controls(*desk.Caller, string) error                   { return nil }
func (nobody) May(*desk.Caller) func(*abi.Session) error             { return nil }
func (nobody) Routes(storage.Tenant, string, string) []ledger.Record { return nil }

func newNode(t *testing.T) *node {
	t.Helper()
	store := memory.New(time.Now)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := ledger.New(ledger.Config{Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler), IdleSessions: 10, KeepKeys: time.Hour})
	common := desk.Parts{Store: store, Ledger: l, Desk: desk.New(store, l, time.Now, nil), IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now}
	n := &node{root: &desk.Caller{Tenant: 1, Actor: "test", Scopes: []string{abi.ScopeAll}}, tasks: map[string]*played{}}
	n.Keeper = NewKeeper(Parts{Parts: common, Messages: sessions.NewKeeper(sessions.Parts{Parts: common}), Clients: nobody{}, Generations: 8,
		Task: n.task, Live: n.live, Wake: n.wake, Pending: &n.pending, Ends: &n.ends, Turns: turns.New(1)})
	for _, rec := range []ledger.Record{
		{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: session, Created: true,
			State: &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, session, time.Now(), nil), WorkspaceID: workspace, State: abi.SessionActive}},
		{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: workspace, Created: true,
			State: &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, workspace, time.Now(), nil)}},
	} {
		if _, err := common.Desk.Commit(n.root, session, workspace, nil, 0, rec); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func (n *node) task(_ context.Context, _ storage.Tenant, id string) (*abi.Task, error) {
	if p := n.tasks[id]; p != nil {
		return &p.about, nil
	}
	return nil, abi.NotFound(abi.ObjectTask, id)
}

func (n *node) live(key ledger.Key) (string, abi.TaskStatus, bool) {
	p := n.tasks[key.ID]
	if p == nil {
		return "", "", false
	}
	return workspace, p.about.Status, true
}

// write hands over records of a Task, as the engine does: those of the Task have its sequence.
func (n *node) write(p *played, actor string, idem *storage.Idempotency, status, place int, records ...ledger.Record) error {
	for i := range records {
		if records[i].Object == abi.ObjectTask {
			records[i].Sequence = p.seq
			p.seq++
		}
	}
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return err
	}
	b := ledger.Batch(storage.Frame{Tenant: 1, Time: time.Now(), WorkspaceID: workspace, SessionID: session, TaskID: p.about.ID,
		Actor: actor, Records: encoded}, idem, status, place)
	_, err = n.parts.Ledger.Append(b).Wait(context.Background())
	return err
}

// wake implements [Parts].Wake.
func (n *node) wake(_ context.Context, key ledger.Key, a *Answer) error {
	p := n.tasks[key.ID]
	if p.about.Waiting == nil || p.about.Waiting.RequestID != a.RequestID {
		return ErrNotWaiting
	}
	taken, err := a.Take(&p.about, p.asks, time.Now(), func(answer []byte, refused error) (ledger.Record, error) {
		if own, ok := errors.AsType[*provider.Refusal](refused); ok {
			answer = own.Answer()
		}
		n.replies = append(n.replies, string(answer))
		return ledger.Record{Kind: EventOf(p.about.Waiting, abi.CallOK, answer), Object: abi.ObjectTask, ID: key.ID}, nil
	})
	if err != nil {
		return err
	}
	was := p.asks
	p.asks, a.Shown = taken.Round, taken.Request
	if taken.Waiting != nil {
		p.about.Waiting = taken.Waiting
		taken.Records = append(taken.Records, ledger.Record{Kind: abi.EventTaskInputRequired, Object: abi.ObjectTask, ID: key.ID, State: &p.about})
	}
	if taken.Over {
		p.about.Status, p.about.Waiting, p.asks = abi.TaskWorking, nil, nil
		taken.Records = append(taken.Records, ledger.Record{Kind: abi.EventTaskStatusChanged, Object: abi.ObjectTask, ID: key.ID, State: &p.about})
	}
	n.pending.Note(1, &p.about, was, p.asks)
	return n.write(p, a.Actor, a.Idem, taken.Status, taken.Place, taken.Records...)
}

// park is a Task of alice's that makes a call which waits. It returns the first request.
func (n *node) park(t *testing.T, call, request string, by Terms) *Request {
	t.Helper()
	return n.parkRound(t, call, request, by).Requests[0]
}

func (n *node) parkRound(t *testing.T, call, request string, by Terms) *Round {
	t.Helper()
	id := n.parts.IDs.New(abi.ObjectTask)
	p := &played{about: abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, time.Now(), nil), WorkspaceID: workspace, SessionID: session, CreatedBy: "alice"}}
	w, as, err := For(&Call{Name: call, RequestID: id + "-0", Request: []byte(request), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	by.Request = []byte(request)
	asks, told, err := n.NewPermissionRequests(t.Context(), 1, &p.about, w, time.Now(), by)
	if err != nil {
		t.Fatal(err)
	}
	p.about.Status, p.about.Waiting, p.asks, n.tasks[id] = as, w, asks, p
	n.pending.Note(1, &p.about, nil, asks)
	if err := n.write(p, "persona_x", nil, 0, 0, append(told, ledger.Record{Kind: abi.EventTaskInputRequired, Object: abi.ObjectTask, ID: id,
		Created: true, State: &p.about})...); err != nil {
		t.Fatal(err)
	}
	return asks
}

func (n *node) as(actor string) *desk.Caller {
	c := *n.root
	c.Actor = actor
	return &c
}

// kinds returns the kinds of a Task's events from the given one on, without their common beginning.
func (n *node) kinds(t *testing.T, task string, from int) string {
	t.Helper()
	events, _, err := n.parts.Desk.Events(t.Context(), n.root, desk.Filter{TaskID: task}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, ev := range events[from:] {
		kinds = append(kinds, strings.TrimPrefix(string(ev.Record().Kind), "vendor.wharf."))
	}
	return strings.Join(kinds, " ")
}

func says(text string) *abi.MessageInput {
	return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &text}}}
}

func saysJSON(value string) *abi.MessageInput {
	return &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: jsontext.Value(value)}}}
}

func wantError(t *testing.T, err error, code abi.ErrorCode, message string) {
	t.Helper()
	own, ok := errors.AsType[*abi.Error](err)
	if !ok || own.Code != code || !strings.Contains(own.Message, message) {
		t.Errorf("%v, want %s %q", err, code, message)
	}
}

// An approval of two is told decision by decision, and ends in one batch with the wait. What
// was answered is answered so again.
func TestRespond(t *testing.T) {
	n := newNode(t)
	p := n.park(t, abi.CallApprovalRequest, `{"action":"pay","prompt":"?","arguments":{"eur":10},"quorum":2}`, Terms{})
	approve := abi.RespondRequest{Decision: "approved"}
	retry := func(actor string) *desk.Retry {
		return &desk.Retry{Key: "k" + actor, Scope: "POST " + p.ID, Fingerprint: ledger.CanonicalHash([]byte("{}"))}
	}
	for i, want := range []abi.PermissionStatus{abi.PermissionPending, abi.PermissionApproved} {
		actor := fmt.Sprint("actor", i)
		for range 2 {
			doc, err := n.RespondPermission(t.Context(), n.as(actor), retry(actor), p.ID, approve)
			if err != nil {
				t.Fatal(err)
			}
			var got abi.PermissionRequest
			if err := json.Unmarshal(doc.JSON, &got); err != nil || got.Status != want || len(got.Decisions) != i+1 {
				t.Errorf("%s with %d decisions, want %s (%v)", got.Status, len(got.Decisions), want, err)
			}
		}
	}
	_, err := n.RespondPermission(t.Context(), n.as("late"), nil, p.ID, approve)
	wantError(t, err, abi.CodeConflict, "is settled already")
	if len(n.replies) != 1 || !strings.Contains(n.replies[0], `"approved_by":["actor0","actor1"]`) {
		t.Errorf("the call is answered with %q", n.replies)
	}
	want := "permission_requested task.input_required user.tool_confirmation permission_decided " +
		"user.tool_confirmation tool.approved permission_decided permission_settled task.status_changed"
	if got := n.kinds(t, p.TaskID, 0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A Task that waits although its request is settled, as after damage, takes no answer, and whoever
// answers learns what can be done.
func TestStranded(t *testing.T) {
	for _, call := range []string{abi.CallApprovalRequest, abi.CallInputRequest} {
		n := newNode(t)
		p := n.park(t, call, `{"action":"pay","prompt":"?"}`, Terms{})
		lost := *n.tasks[p.TaskID].about.Waiting
		n.tasks[p.TaskID].asks = &Round{Requests: []*Request{p.settled(abi.PermissionTimeout, time.Now())}}
		settled := &n.tasks[p.TaskID].asks.Requests[0].PermissionRequest
		answer := abi.RespondRequest{Decision: "denied"}
		if _, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, answer); err == nil {
			t.Fatal("it is answered")
		} else {
			wantError(t, err, abi.CodeConflict, "cancel the task, and fork it")
		}
		wantError(t, n.wake(t.Context(), ledger.Key{Tenant: 1, ID: p.TaskID}, TimedOut(&lost)), abi.CodeConflict, p.TaskID)
		if _, err := n.parts.Desk.Commit(n.root, session, workspace, nil, 0, ledger.Record{Kind: abi.EventPermissionSettled, Object: abi.ObjectPermissionRequest,
			ID: p.ID, Sequence: 1, State: settled}); err != nil {
			t.Fatal(err)
		}
		_, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, answer)
		wantError(t, err, abi.CodeConflict, "cancel the task, and fork it")
		if len(n.replies) != 0 || Canceled(n.tasks[p.TaskID].asks, time.Now()) != nil {
			t.Errorf("%q", n.replies)
		}
	}
}

// What a Message brings comes after it, and before what becomes of the request.
func TestAnswerByMessage(t *testing.T) {
	for name, test := range map[string]struct {
		call, request string
		kind          abi.TaskMessageKind
		message       *abi.MessageInput
		kinds, reply  string
	}{
		"input": {abi.CallInputRequest, `{"prompt":"?"}`, abi.TaskMessageInput, says("yes"),
			"user.message CALL permission_settled task.status_changed", `"actor":"bob"`},
		"approval": {abi.CallApprovalRequest, `{"prompt":"?","action":"pay"}`, abi.TaskMessageToolConfirmation, saysJSON(`{"decision":"approved","arguments":null}`),
			"user.message user.tool_confirmation tool.approved permission_decided permission_settled task.status_changed", `{"decision":"approved","actor":"bob"`},
		"denial": {abi.CallApprovalRequest, `{"prompt":"?","action":"pay"}`, abi.TaskMessageToolConfirmation, saysJSON(`{"decision":"denied","reason":"no"}`),
			"user.message user.tool_confirmation tool.denied permission_decided permission_settled task.status_changed", `"reason":"no"`},
		"interrupt": {abi.CallInputRequest, `{"prompt":"?"}`, abi.TaskMessageInterrupt, says("hurry"), "user.message", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			p := n.park(t, test.call, test.request, Terms{})
			if _, err := n.AppendTaskMessage(t.Context(), n.as("bob"), nil, p.TaskID, abi.AppendTaskMessageRequest{Kind: test.kind, Message: test.message}); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(test.kinds, "CALL", strings.TrimPrefix(string(EventOf(&abi.Waiting{Call: test.call}, abi.CallOK, nil)), "vendor.wharf."))
			if got := n.kinds(t, p.TaskID, 2); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if got := strings.Join(n.replies, ""); !strings.Contains(got, test.reply) || test.reply == "" && got != "" {
				t.Errorf("the call is answered with %q", got)
			}
		})
	}
}

// A decision is told with what it says of the arguments, which are not told themselves.
func TestConfirmation(t *testing.T) {
	n := newNode(t)
	p := n.park(t, abi.CallApprovalRequest, `{"action":"pay","prompt":"?","arguments":{"eur":10},"quorum":3}`, Terms{})
	for i, arguments := range []string{"", `{"eur":5}`} {
		req := abi.RespondRequest{Decision: "approved", Reason: "fine", Arguments: jsontext.Value(arguments)}
		if _, err := n.RespondPermission(t.Context(), n.as(fmt.Sprint("actor", i)), nil, p.ID, req); err != nil {
			t.Fatal(err)
		}
	}
	events, _, err := n.parts.Desk.Events(t.Context(), n.root, desk.Filter{TaskID: p.TaskID}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ev := range events {
		if rec := ev.Record(); rec.Kind == abi.EventUserToolConfirmation {
			got = append(got, string(rec.Payload))
		}
	}
	told := `{"permission_request_id":"` + p.ID + `","request_id":"` + p.TaskID + `-0","decision":"approved","reason":"fine"`
	if want := []string{told + "}", told + `,"modified":true}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot be an answer is refused, and nothing is told of it.
func TestNoAnswers(t *testing.T) {
	n := newNode(t)
	approval := n.park(t, abi.CallApprovalRequest, `{"prompt":"?","action":"pay"}`, Terms{})
	input := n.park(t, abi.CallInputRequest, `{"prompt":"?"}`, Terms{})
	reader, stranger := n.as("reader"), n.as("stranger")
	reader.Scopes, stranger.Workspaces = []string{"tasks:read"}, []string{"ws_other"}
	for _, test := range []struct {
		by   *desk.Caller
		p    *Request
		req  abi.RespondRequest
		code abi.ErrorCode
		says string
	}{
		{n.root, approval, abi.RespondRequest{Message: says("yes")}, abi.CodeInvalidRequest, "an approval takes a decision, not a message"},
		{n.root, approval, abi.RespondRequest{Decision: "maybe"}, abi.CodeInvalidRequest, "decision"},
		{n.root, input, abi.RespondRequest{Arguments: jsontext.Value(`{}`)}, abi.CodeInvalidRequest, "only an approval takes arguments"},
		{n.root, input, abi.RespondRequest{Decision: "approved"}, abi.CodeInvalidRequest, `a request for input is answered by a message, or declined with the decision "denied"`},
		{n.root, input, abi.RespondRequest{}, abi.CodeInvalidRequest, `missing required member "message"`},
		{reader, input, abi.RespondRequest{Decision: "denied"}, abi.CodePermissionDenied, "tasks:write"},
		{stranger, input, abi.RespondRequest{Decision: "denied"}, abi.CodeResourceNotFound, ""},
	} {
		_, err := n.RespondPermission(t.Context(), test.by, nil, test.p.ID, test.req)
		wantError(t, err, test.code, test.says)
	}
	for _, test := range []struct {
		by   *desk.Caller
		p    *Request
		req  abi.AppendTaskMessageRequest
		code abi.ErrorCode
		says string
	}{
		{n.root, approval, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: says("x")}, abi.CodeInvalidStateTransition, "does not wait for input"},
		{n.root, input, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation, Message: says("x")}, abi.CodeInvalidStateTransition, "does not wait for"},
		{n.root, approval, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation, Message: says("x")}, abi.CodeInvalidRequest, "a tool_confirmation needs a json part"},
		{n.root, approval, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageToolConfirmation, Message: saysJSON(`{"decision":1}`)}, abi.CodeInvalidRequest, "reading the decision"},
		{n.root, input, abi.AppendTaskMessageRequest{Kind: "shout", Message: says("x")}, abi.CodeInvalidRequest, "kind"},
		{n.root, input, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput}, abi.CodeInvalidRequest, `missing required member "message"`},
		{reader, input, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: says("x")}, abi.CodePermissionDenied, "tasks:write"},
		{stranger, input, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInterrupt, Message: says("x")}, abi.CodeResourceNotFound, ""},
	} {
		_, err := n.AppendTaskMessage(t.Context(), test.by, nil, test.p.TaskID, test.req)
		wantError(t, err, test.code, test.says)
	}
	if got := n.kinds(t, input.TaskID, 2) + n.kinds(t, approval.TaskID, 2); got != "" || len(n.replies) != 0 {
		t.Errorf("%s, %q", got, n.replies)
	}
}

// Whoever declines says so, and the call learns who did and why.
func TestDecline(t *testing.T) {
	n := newNode(t)
	p := n.park(t, abi.CallAuthRequest, `{"provider":"x","prompt":"?"}`, Terms{})
	doc, err := n.RespondPermission(t.Context(), n.as("bob"), nil, p.ID, abi.RespondRequest{Decision: "denied", Reason: "not mine"})
	if err != nil || !hasStatus(doc.JSON, abi.PermissionDenied) {
		t.Errorf("%s, %v", doc.JSON, err)
	}
	if got := strings.Join(n.replies, ""); !strings.Contains(got, "bob declined to give the authorization: not mine") {
		t.Errorf("the call is answered with %s", got)
	}
}

// Requests are listed by what has become of them, newest first, to those who see their
// Workspace.
func TestPermissions(t *testing.T) {
	n := newNode(t)
	var ids []string
	for range 5 {
		ids = append(ids, n.park(t, abi.CallInputRequest, `{"prompt":"?"}`, Terms{}).ID)
	}
	slices.Sort(ids) // some are of the same millisecond
	for _, id := range ids[:2] {
		if _, err := n.RespondPermission(t.Context(), n.root, nil, id, abi.RespondRequest{Message: says("x")}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(ids)
	stranger, other := n.as("stranger"), n.as("other")
	stranger.Workspaces, other.Workspaces = []string{"ws_other"}, []string{"ws_other", "ws_another"}
	for _, test := range []struct {
		by     *desk.Caller
		filter desk.Filter
		status abi.PermissionStatus
		want   []string
	}{
		{n.root, desk.Filter{}, "", ids},
		{n.root, desk.Filter{}, abi.PermissionPending, ids[:3]},
		{n.root, desk.Filter{}, abi.PermissionAnswered, ids[3:]},
		{n.root, desk.Filter{}, abi.PermissionDenied, nil},
		{n.root, desk.Filter{SessionID: "sess_other"}, abi.PermissionPending, nil},
		{n.root, desk.Filter{WorkspaceID: workspace, SessionID: session}, abi.PermissionPending, ids[:3]},
		{stranger, desk.Filter{}, "", nil},
		{stranger, desk.Filter{}, abi.PermissionPending, nil},
		{stranger, desk.Filter{}, abi.PermissionAnswered, nil},
		{other, desk.Filter{}, "", nil},
		{other, desk.Filter{}, abi.PermissionPending, nil},
	} {
		var got []string
		for p := (desk.Page{Limit: 2}); ; {
			list, err := n.Permissions(t.Context(), test.by, test.filter, test.status, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, doc := range list.Docs {
				got = append(got, doc.ID)
			}
			if !list.More {
				break
			}
			p.After = list.Next
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %q: %q, want %q", test.by.Actor, test.status, got, test.want)
		}
	}
	_, err := n.Permissions(t.Context(), n.root, desk.Filter{}, "open", desk.Page{Limit: 2})
	wantError(t, err, abi.CodeInvalidRequest, "status")
}

// Who waits for a Task gets it as it has ended, or why its end was lost, or the Task as it is
// when they wait no longer.
func TestWaitTask(t *testing.T) {
	n := newNode(t)
	id := n.park(t, abi.CallInputRequest, `{"prompt":"?"}`, Terms{}).TaskID
	lost := errors.New("the disk is gone")
	for _, end := range []Ended{{Doc: desk.Doc{ID: "as told", JSON: []byte("{}")}}, {Err: lost}, {}} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			doc, err := n.WaitTask(context.Background(), n.root, id)
			switch {
			case !errors.Is(err, end.Err):
				t.Errorf("%v, want %v", err, end.Err)
			case end.Err == nil && end.Doc.ID != "" && doc.ID != end.Doc.ID, end.Err == nil && end.Doc.ID == "" && doc.ID != id:
				t.Errorf("the task is %q", doc.ID)
			}
		}()
		for told := false; !told; { // it is told of no end that came before
			n.ends.Tell(ledger.Key{Tenant: 1, ID: id}, func() Ended { told = true; return end })
		}
		<-done
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if doc, err := n.WaitTask(over, n.root, id); err != nil || doc.ID != id {
		t.Errorf("%q, %v", doc.ID, err)
	}
	_, err := n.WaitTask(t.Context(), n.root, "task_none")
	wantError(t, err, abi.CodeResourceNotFound, "")
}

// Who waits until a Task does not go on by itself gets it when it waits for somebody, and when it has
// ended; being told that it waits, when it does not, is no reason to stop.
func TestWaitSettled(t *testing.T) {
	n := newNode(t)
	p := n.park(t, abi.CallInputRequest, `{"prompt":"?"}`, Terms{})
	key := ledger.Key{Tenant: 1, ID: p.TaskID}
	if doc, err := n.WaitSettled(t.Context(), n.root, p.TaskID); err != nil || doc.Task != abi.TaskInputRequired {
		t.Errorf("a task that waits: %s, %v", doc.Task, err)
	}
	text := "go on"
	if _, err := n.RespondPermission(t.Context(), n.root, nil, p.ID, abi.RespondRequest{Message: &abi.MessageInput{Role: abi.RoleUser,
		Parts: []abi.Part{{Type: abi.PartText, Text: &text}}}}); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if doc, err := n.WaitSettled(over, n.root, p.TaskID); err != nil || doc.Task != abi.TaskWorking {
		t.Errorf("a task that works: %s, %v", doc.Task, err)
	}
	settled := make(chan string, 1)
	go func() {
		doc, err := n.WaitSettled(context.Background(), n.root, p.TaskID)
		settled <- fmt.Sprint(doc.ID, err)
	}()
	for told := false; !told; {
		n.ends.Parked(key)
		select {
		case got := <-settled:
			t.Fatalf("a task that works was settled: %s", got)
		default:
		}
		n.ends.Tell(key, func() Ended { told = true; return Ended{Doc: desk.Doc{ID: "ended", JSON: []byte("{}")}} })
	}
	if got := <-settled; got != "ended<nil>" {
		t.Errorf("a task that has ended: %s", got)
	}
	about := n.tasks[p.TaskID]
	delete(n.tasks, p.TaskID) // it is in the log alone from now on
	again := make(chan abi.TaskStatus, 1)
	go func() {
		doc, _ := n.WaitSettled(context.Background(), n.root, p.TaskID)
		again <- doc.Task
	}()
	about.about.Status = abi.TaskInputRequired
	if err := n.write(about, "persona_x", nil, 0, 0, ledger.Record{Kind: abi.EventTaskInputRequired, Object: abi.ObjectTask, ID: p.TaskID, State: &about.about}); err != nil {
		t.Fatal(err)
	}
	n.ends.Parked(key)
	if got := <-again; got != abi.TaskInputRequired {
		t.Errorf("a task that waits again is %s", got)
	}
	_, err := n.WaitSettled(t.Context(), n.root, "task_none")
	wantError(t, err, abi.CodeResourceNotFound, "")
}

// Whoever submitted the first of a family of Tasks has asked for what its children do, and
// whoever names a parent for what that child does.
func TestRequester(t *testing.T) {
	n := newNode(t)
	put := func(id, persona, by, parent string) *abi.Task {
		about := abi.Task{PersonaID: persona, CreatedBy: by, ParentTaskID: parent}
		about.ID = id
		n.tasks[id] = &played{about: about}
		return &n.tasks[id].about
	}
	put("root", "persona_a", "alice", "")
	put("child", "persona_b", "persona_a", "root")
	for want, task := range map[string]*abi.Task{
		"alice": put("grandchild", "persona_c", "persona_b", "child"),
		"bob":   put("named", "persona_c", "bob", "child"),
	} {
		got, _, err := n.NewPermissionRequests(t.Context(), 1, task, &abi.Waiting{Call: abi.CallInputRequest}, time.Now(), Terms{})
		if err != nil || got.Requests[0].RequestedBy != want {
			t.Errorf("%+v asks for %s, want %s (%v)", got, task.ID, want, err)
		}
	}
	_, _, err := n.NewPermissionRequests(t.Context(), 1, put("orphan", "persona_c", "persona_b", "gone"), &abi.Waiting{Call: abi.CallInputRequest}, time.Now(), Terms{})
	wantError(t, err, abi.CodeResourceNotFound, "")
	if got, told, err := n.NewPermissionRequests(t.Context(), 1, &n.tasks["root"].about, &abi.Waiting{Call: abi.CallSleep}, time.Now(), Terms{}); got != nil || told != nil || err != nil {
		t.Errorf("a sleep asks %v", got)
	}
}
