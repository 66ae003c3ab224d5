package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// keepingKeys makes every node on a disk sign with the same keys, as a restart does.
func keepingKeys(t testing.TB) enginetest.Configure {
	t.Helper()
	keys, err := receipt.OpenKeyring(t.TempDir(), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *engine.Config, p *engine.Parts) { p.Keys = keys }
}

// beside is a Session in which much goes on at once.
type beside struct {
	n                                  *node
	session, connector, quota, persona string

	mu    sync.Mutex
	tasks []string // what was accepted, as far as clients were told
}

func (b *beside) add(docs ...desk.Doc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, doc := range docs {
		b.tasks = append(b.tasks, doc.ID)
	}
}

// accepted returns the Tasks that clients were told of so far.
func (b *beside) accepted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tasks)
}

// recent returns one of the newest Tasks.
func (b *beside) recent(r *rand.Rand) string {
	all := b.accepted()
	if len(all) == 0 {
		return "task_none"
	}
	return all[len(all)-1-r.IntN(min(len(all), 5))]
}

// besideSteps are what goes on in a Session. What each is answered depends on the others:
// the Session may be closed, a Task may have ended.
var besideSteps = map[string]func(ctx context.Context, b *beside, r *rand.Rand) error{
	"submit": func(ctx context.Context, b *beside, r *rand.Rand) error {
		req := abi.SubmitTaskRequest{SessionID: b.session, Input: enginetest.Text("hi")}
		req.PersonaID = []string{"persona_program", "persona_echo", "persona_asks", b.persona}[r.IntN(4)]
		var again *desk.Retry
		if r.IntN(2) == 0 {
			again = retry(fmt.Sprint("submit ", r.IntN(3)), "{}")
		}
		doc, err := b.n.SubmitTask(ctx, b.n.Root, again, req)
		return b.started(err, doc)
	},
	"deadline": func(ctx context.Context, b *beside, r *rand.Rand) error {
		doc, err := b.n.SubmitTask(ctx, b.n.Root, nil, abi.SubmitTaskRequest{
			SessionID: b.session, PersonaID: "persona_asks", Input: enginetest.Text("hi"), DeadlineSeconds: 0.001 * float64(1+r.IntN(10))})
		return b.started(err, doc)
	},
	"deliver": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.ReceiveDelivery(ctx, b.n.Root, b.connector, &intake.Incoming{Method: "POST",
			Header: headers{"webhook-id": fmt.Sprint(r.IntN(20))}, Body: []byte("a: delivery")})
		return err
	},
	"say": func(ctx context.Context, b *beside, _ *rand.Rand) error {
		_, err := b.n.AppendMessage(ctx, b.n.Root, nil, b.session, abi.AppendMessageRequest{Message: message("words")})
		return err
	},
	"update": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.UpdateSession(ctx, b.n.Root, retry(fmt.Sprint("update ", r.IntN(3)), "{}"), b.session,
			abi.UpdateSessionRequest{Summary: abi.ChangeTo("words")})
		return err
	},
	"truncate": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.TruncateSession(ctx, b.n.Root, nil, b.session, abi.TruncateSessionRequest{KeepTurns: new(r.IntN(7))})
		return err
	},
	"merge": func(ctx context.Context, b *beside, _ *rand.Rand) error {
		doc, err := b.n.ForkSession(ctx, b.n.Root, nil, b.session, abi.ForkSessionRequest{})
		if err != nil {
			return err
		}
		var fork abi.Session
		if err := ledger.Decode(doc.JSON, &fork); err != nil {
			return err
		}
		if _, err := b.n.AppendMessage(ctx, b.n.Root, nil, fork.ID, abi.AppendMessageRequest{Message: message("beside")}); err != nil {
			return err
		}
		_, err = b.n.MergeBranch(ctx, b.n.Root, nil, fork.BranchID, abi.MergeBranchRequest{Strategy: abi.MergeAppend})
		return err
	},
	"close": func(ctx context.Context, b *beside, r *rand.Rand) error {
		if r.IntN(20) > 0 { // little happens in a closed Session
			return nil
		}
		_, err := b.n.CloseSession(ctx, b.n.Root, nil, b.session)
		return err
	},
	"cancel": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.CancelTask(ctx, b.n.Root, nil, b.recent(r), abi.CancelTaskRequest{})
		return err
	},
	"answer": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.AppendTaskMessage(ctx, b.n.Root, nil, b.recent(r), abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput, Message: message("me")})
		return err
	},
	"replay": func(ctx context.Context, b *beside, r *rand.Rand) error {
		doc, err := b.n.ReplayTask(ctx, b.n.Root, nil, b.recent(r), abi.ReplayTaskRequest{})
		if codeOf(err) == abi.CodeInvalidRequest { // it is a replay
			return nil
		}
		return b.started(err, doc)
	},
	"replay all": func(ctx context.Context, b *beside, r *rand.Rand) error {
		if r.IntN(3) > 0 { // it makes many Tasks
			return nil
		}
		list, err := b.n.ReplaySession(ctx, b.n.Root, nil, b.session, abi.ReplaySessionRequest{}, "")
		return b.started(err, list.Docs...)
	},
	"fork a task": func(ctx context.Context, b *beside, r *rand.Rand) error {
		rec, err := b.n.TaskRecord(ctx, b.n.Root, b.recent(r))
		if err != nil || len(rec.Entries) == 0 {
			return err
		}
		at := rec.Entries[r.IntN(len(rec.Entries))].EventID
		doc, err := b.n.ForkTask(ctx, b.n.Root, nil, rec.TaskID, abi.ForkTaskRequest{AtEventID: at})
		return b.started(err, doc)
	},
	"verify": func(ctx context.Context, b *beside, r *rand.Rand) error {
		receipts, err := b.n.TaskReceipts(ctx, b.n.Root, b.recent(r))
		if err != nil || len(receipts) == 0 {
			return err
		}
		v, err := b.n.VerifyReceipt(ctx, b.n.Root, nil, receipts[0].ID, abi.VerifyReceiptRequest{})
		if err == nil && !v.Valid {
			err = fmt.Errorf("receipt %s: %+v", receipts[0].ID, v)
		}
		return err
	},
	"quota": func(ctx context.Context, b *beside, r *rand.Rand) error {
		_, err := b.n.UpdateQuota(ctx, b.n.Root, nil, b.quota, abi.UpdateQuotaRequest{Limits: limits("tasks", 1_000+r.IntN(10), "concurrent", 3+r.IntN(10))})
		return err
	},
	"pause": func(ctx context.Context, b *beside, r *rand.Rand) error {
		status := []abi.ConnectorStatus{abi.ConnectorActive, abi.ConnectorPaused}[r.IntN(2)]
		_, err := b.n.UpdateConnector(ctx, b.n.Root, nil, b.connector, abi.UpdateConnectorRequest{Status: &status})
		return err
	},
	"persona": func(ctx context.Context, b *beside, r *rand.Rand) error {
		tier := []abi.AutonomyTier{abi.TierActAuto, abi.TierShadow}[r.IntN(2)]
		_, err := b.n.UpdatePersona(ctx, b.n.Root, nil, b.persona, abi.UpdatePersonaRequest{AutonomyTier: &tier})
		return err
	},
	"key": func(ctx context.Context, b *beside, r *rand.Rand) error {
		if r.IntN(3) == 0 {
			_, err := b.n.RotateSigningKey(ctx, b.n.Root)
			return err
		}
		doc, err := b.n.CreateKey(ctx, b.n.Root, abi.CreateKeyRequest{Name: "beside"})
		if err != nil {
			return err
		}
		_, err = b.n.RevokeKey(ctx, b.n.Root, doc.ID)
		return err
	},
}

// started remembers the Tasks that were accepted.
func (b *beside) started(err error, docs ...desk.Doc) error {
	if err == nil {
		b.add(docs...)
	}
	return err
}

// toldNo reports whether an error is an answer that a client gets because of what others
// do at the same time.
func toldNo(err error) bool {
	var own *abi.Error
	return errors.As(err, &own) && slices.Contains([]abi.ErrorCode{
		abi.CodeConflict, abi.CodeInvalidStateTransition, abi.CodeResourceNotFound, abi.CodeRateLimited, abi.CodeServiceUnavailable}, own.Code)
}

// write takes steps that are drawn, each as soon as the one before is answered.
func (b *beside) write(t *testing.T, r *rand.Rand) {
	names := slices.Sorted(maps.Keys(besideSteps))
	for range 20 {
		name := names[r.IntN(len(names))]
		if err := besideSteps[name](context.Background(), b, r); err != nil && !toldNo(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// finish ends whatever of the Session still waits, and returns all Tasks as they ended.
func (b *beside) finish(t *testing.T) (ended []abi.Task) {
	t.Helper()
	// Tasks that wait for an answer count as concurrent: they would keep deliveries out for ever.
	plenty := abi.UpdateQuotaRequest{Limits: limits("tasks", 1_000_000, "concurrent", 1_000)}
	if _, err := b.n.UpdateQuota(t.Context(), b.n.Root, nil, b.quota, plenty); err != nil {
		t.Fatal(err)
	}
	b.n.pause(t, b.connector, abi.ConnectorActive)
	b.n.settled(t, b.connector)
	for again := true; again; {
		ended, again = nil, false
		for _, task := range b.n.all(t) {
			if !task.Status.Terminal() {
				again = true
				if _, err := b.n.CancelTask(t.Context(), b.n.Root, nil, task.ID, abi.CancelTaskRequest{}); err != nil && !toldNo(err) {
					t.Error(err)
				}
				task = b.n.Wait(t, task.ID)
			}
			ended = append(ended, task)
		}
	}
	return ended
}

// all returns all Tasks of a node.
func (n *node) all(t testing.TB) (tasks []abi.Task) {
	t.Helper()
	for page, more := (desk.Page{Limit: 200}), true; more; {
		list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			tasks = append(tasks, enginetest.As[abi.Task](t, doc))
		}
		page.After, more = list.Next, list.More
	}
	return tasks
}

// wantVerified wants the receipt of a Task that has ended to hold, and to be that of its
// record where it has one.
func (n *node) wantVerified(t *testing.T, task abi.Task) {
	t.Helper()
	if task.Replay == nil && !task.StartedAt.IsZero() {
		n.wantProof(t, task.ID)
		return
	}
	if task.Replay != nil && task.ReceiptID == "" {
		return // it was stopped before it was done
	}
	v, err := n.VerifyReceipt(t.Context(), n.Root, nil, task.ReceiptID, abi.VerifyReceiptRequest{})
	if err != nil || !v.Valid {
		t.Errorf("the receipt of %s: %v %+v", task.ID, err, v)
	}
}

// A fork that is canceled before it begins has done nothing of what it shares with its
// source, and its receipt holds.
func TestForkCanceledBeforeItBegins(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
	session := n.Session(t)
	source := n.Submit(t, session, "")
	n.Wait(t, source)
	rec := n.recordOf(t, source)
	n.Submit(t, session, "persona_hold")
	<-entered // nothing else runs now
	doc, err := n.ForkTask(t.Context(), n.Root, nil, source, abi.ForkTaskRequest{AtEventID: rec.Entries[1].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.CancelTask(t.Context(), n.Root, nil, doc.ID, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	n.wantVerified(t, n.task(t, doc.ID))
	close(leave)
}

// wantOneEnd wants each Task to have ended once, as the last that is told of it says.
func (n *node) wantOneEnd(t *testing.T, tasks []abi.Task) {
	t.Helper()
	ends := map[string][]abi.EventKind{}
	n.eachStored(t, func(rec storage.Record) {
		switch rec.Kind {
		case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
			ends[rec.Resource.ID] = append(ends[rec.Resource.ID], rec.Kind)
		}
	})
	want := map[abi.TaskStatus]abi.EventKind{
		abi.TaskCompleted: abi.EventTaskCompleted, abi.TaskFailed: abi.EventTaskFailed, abi.TaskCanceled: abi.EventTaskCanceled}
	for _, task := range tasks {
		if got := ends[task.ID]; len(got) != 1 || got[0] != want[task.Status] {
			t.Errorf("task %s is %s, and its ends are %v", task.ID, task.Status, got)
		}
	}
}

// everything is what clients can see of a node, by id.
func (n *node) everything(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for _, object := range []abi.Object{abi.ObjectSession, abi.ObjectBranch, abi.ObjectTask, abi.ObjectOutcome, abi.ObjectReceipt, abi.ObjectMessage,
		abi.ObjectPersona, abi.ObjectDeadLetter} {
		for page, more := (desk.Page{Limit: 200}), true; more; {
			list, err := n.List(t.Context(), n.Root, object, desk.Filter{}, page)
			if err != nil {
				t.Fatal(object, err)
			}
			for _, doc := range list.Docs {
				seen[doc.ID] = string(doc.JSON)
			}
			page.After, more = list.Next, list.More
		}
	}
	quotas, err := n.Quotas(t.Context(), n.Root, desk.Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	connectors, err := n.ListConnectors(t.Context(), n.Root, desk.Filter{}, desk.Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(quotas.Docs, connectors.Docs...) {
		seen[doc.ID] = string(doc.JSON)
	}
	return seen
}

// wantSame wants a node to be as it was seen before.
func (n *node) wantSame(t *testing.T, before map[string]string) {
	t.Helper()
	after := n.everything(t)
	for id, was := range before {
		if after[id] != was {
			t.Errorf("before the restart:\n%s\nafter it:\n%s", was, after[id])
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d resources after the restart, and were %d", len(after), len(before))
	}
}

// besideGuests are the plugins that run beside each other.
func besideGuests() enginetest.Guests {
	program := newProgram(op{abi.CallStateSet, `{"key":"k","value":1}`}, say("x"), op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`},
		op{abi.CallHTTPFetch, `{"method":"GET","url":"http://x/"}`}, op{abi.CallMemoryWrite, `{"scope":"session","content":"the sky is blue"}`},
		op{abi.CallTranscriptRead, `{"last":3}`})
	asks := newProgram(say("before"), op{abi.CallInputRequest, `{"prompt":"who?"}`}, say("after"))
	return enginetest.Guests{"sorter": trapping, "program": program.run, "asks": asks.run, "echo": enginetest.Echo}
}

// Whatever is written to a Session beside what, and however the node ends meanwhile: all
// of it is answered, every Task has one end with a receipt of its record, the log is sound,
// and a restart finds the same. In a build with lockcheck the order of the locks is held,
// too.
func TestWritesBesideEachOther(t *testing.T) {
	rounds, mine := 10, share.All
	switch {
	case os.Getenv("WHARF_LONG") != "":
		rounds, mine = 200, share.Of(t)
	case testing.Short():
		rounds = 3
	}
	first := rand.Uint64()
	for round := range rounds {
		if !mine(round) {
			continue
		}
		seed := first + uint64(round)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { writesBeside(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func writesBeside(t *testing.T, r *rand.Rand) {
	watch(t, "writes beside each other")
	g, configure := besideGuests(), []enginetest.Configure{keepingKeys(t), func(c *engine.Config, p *engine.Parts) {
		c.MaxRunning = 1 + r.IntN(8)
		p.Performers = map[string]provider.Performer{abi.CallHTTPFetch: &target{}}
	}}
	n := boot(t, crashtest.NewDisk(), g, configure...)
	defer func() { n.Stop(t) }()
	b := &beside{n: n, session: n.Session(t), persona: n.createPersona(t, aPersona()).ID}
	b.quota = n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1_000)}).ID
	b.connector = n.connector(t, func(req *abi.CreateConnectorRequest) { req.TargetSessionID = b.session })

	var writers sync.WaitGroup
	enough := make(chan struct{}, 6) // gets one for each that is halfway
	for range cap(enough) {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		writers.Go(func() {
			b.write(t, r)
			enough <- struct{}{}
			b.write(t, r)
		})
	}
	disk, accepted := n.Disk, b.accepted
	switch r.IntN(3) {
	case 0: // a drain while all goes on
		<-enough
		if err := n.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	case 1: // a power cut
		<-enough
		told := b.accepted()
		disk, accepted = n.Disk.Crash(r.Uint64(), r.Float64()), func() []string { return told }
	}
	writers.Wait()
	n.Stop(t)
	n = boot(t, disk, g, configure...)
	b.n = n

	tasks := b.finish(t)
	for _, id := range accepted() {
		if !slices.ContainsFunc(tasks, func(task abi.Task) bool { return task.ID == id }) {
			t.Errorf("task %s was accepted and is lost", id)
		}
	}
	for _, task := range tasks {
		n.wantVerified(t, task)
	}
	n.wantOneEnd(t, tasks)
	n.wantSequences(t)
	n.wantSound(t)
	seen := n.everything(t)
	n.Stop(t)
	n = boot(t, disk, g, configure...)
	n.wantSame(t, seen)
}
