package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// blobNoter is a store that notes which blobs were put into it.
type blobNoter struct {
	storage.Store
	mu  sync.Mutex
	all []storage.Hash
}

func (n *blobNoter) Blobs() storage.Blobs { return notedBlobs{n.Store.Blobs(), n} }

type notedBlobs struct {
	storage.Blobs
	to *blobNoter
}

func (b notedBlobs) Put(ctx context.Context, r io.Reader, want *storage.Hash) (storage.Hash, int64, error) {
	h, size, err := b.Blobs.Put(ctx, r, want)
	b.to.mu.Lock()
	b.to.all = append(b.to.all, h)
	b.to.mu.Unlock()
	return h, size, err
}

// recording is the log of a node that has something of everything, as it was stopped.
type recording struct {
	frames []storage.Frame
	blobs  [][]byte
	tasks  map[string]abi.TaskStatus // those that had not ended
}

// guestsOf returns the plugins of a recording.
func guestsOf() enginetest.Guests {
	hold, _, _ := enginetest.Holding()
	return enginetest.Guests{"echo": enginetest.Echo, "hold": hold, "child": newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`}).run, "parent": awaitChild,
		"ask":   newProgram(op{abi.CallApprovalRequest, `{"action":"pay","prompt":"?","arguments":{"eur":1}}`}).run,
		"sleep": newProgram(op{abi.CallSleep, `{"ms":3600000}`}).run}
}

// richLog makes the log of a node that is stopped while Tasks run, wait and are parked.
func richLog(t testing.TB) *recording {
	t.Helper()
	var store *blobNoter
	n := boot(t, crashtest.NewDisk(), guestsOf(), func(c *engine.Config, p *engine.Parts) {
		store = &blobNoter{Store: p.Store}
		p.Store, c.MaxRunning = store, 2
	})
	ctx := context.Background()
	n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaPersona, Limits: limits("tasks", 1000)})
	n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1000)})
	r := &recording{tasks: map[string]abi.TaskStatus{}}
	n.Wait(t, n.Submit(t, n.Session(t), ""))
	n.fork(t, n.Session(t), abi.ForkSessionRequest{})
	for _, persona := range []string{"persona_parent", "persona_ask", "persona_sleep"} {
		n.parked(t, n.Submit(t, n.Session(t), persona))
	}
	for range 3 { // two run, one waits for its turn
		n.Submit(t, n.Session(t), "persona_hold")
	}
	c := n.connector(t, func(req *abi.CreateConnectorRequest) { req.Plugin = "echo#none" })
	n.deliver(t, c, "1", "first")
	list, err := n.List(ctx, n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := n.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		if task := n.task(t, doc.ID); !task.Status.Terminal() {
			r.tasks[task.ID] = task.Status
		}
	}
	r.read(t, store)
	if err := n.Store.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recording) read(t testing.TB, store *blobNoter) {
	t.Helper()
	for tenant := range storage.Tenant(2) {
		events, more, err := store.Events(context.Background(), tenant, desk.Scope{}, 0, 10_000)
		if err != nil || more {
			t.Fatal(err, more)
		}
		for _, ev := range events {
			if ev.Index == 0 {
				r.frames = append(r.frames, *ev.Frame)
			}
		}
	}
	slices.SortFunc(r.frames, func(a, b storage.Frame) int { return cmp.Compare(a.First, b.First) })
	for _, h := range store.all {
		content, err := journal.Content(context.Background(), store.Store.Blobs(), h)
		if err != nil {
			t.Fatal(err)
		}
		r.blobs = append(r.blobs, content)
	}
}

// odd are values that a member may turn out to have.
var odd = []string{`null`, `0`, `-1`, `1e308`, `18446744073709551615`, `""`, `"x"`, `"task_01"`, `{}`, `[]`, `[{}]`, `true`, `"9999-12-31T23:59:59Z"`, nested(9_990), nested(10_100)}

// twist changes one value of a JSON text, however deep it lies.
func twist(text []byte, rng *rand.Rand) []byte {
	var members map[string]jsontext.Value
	if rng.IntN(8) == 0 || json.Unmarshal(text, &members) != nil || len(members) == 0 {
		return []byte(odd[rng.IntN(len(odd))])
	}
	names := slices.Sorted(maps.Keys(members))
	name := names[rng.IntN(len(names))]
	switch rng.IntN(4) {
	case 0:
		delete(members, name)
	case 1:
		members[name] = jsontext.Value(odd[rng.IntN(len(odd))])
	case 2:
		members[name] = members[names[rng.IntN(len(names))]]
	case 3:
		members[name] = twist(members[name], rng)
	}
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name)
		b = append(append(b, ':'), members[name]...)
	}
	return append(b, '}')
}

// rewritten writes the log again with one value of one frame changed, and returns the disk
// and the record that was changed.
func (r *recording) rewritten(t testing.TB, frame, rec int, rng *rand.Rand) (*crashtest.Disk, *storage.Frame, *storage.Record) {
	t.Helper()
	disk := crashtest.NewDisk()
	store, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range r.blobs {
		if _, _, err := store.Blobs().Put(context.Background(), bytes.NewReader(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	var changed *storage.Frame
	var last storage.Commit
	for i, f := range r.frames {
		f.First, f.Records = 0, slices.Clone(f.Records)
		if i == frame%len(r.frames) {
			rec %= len(f.Records)
			to := &f.Records[rec]
			if to.State != nil && (to.Payload == nil || rng.IntN(3) > 0) {
				to.State = twist(to.State, rng)
			} else {
				to.Payload = twist(to.Payload, rng)
			}
			changed = &f
		}
		last = store.Append(&storage.Batch{Frame: f})
	}
	if _, err := last.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, changed, &changed.Records[rec]
}

// wantStart starts a node on a disk: it must start, its other Tasks must be as they were,
// it must answer, cancel and drain.
func (r *recording) wantStart(t testing.TB, disk *crashtest.Disk, f *storage.Frame, rec *storage.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	e, err := engine.New(engine.Config{DefaultPersona: "persona_echo"}, engine.Parts{Store: store, Modules: guestsOf(), Personas: guestsOf().Personas(), Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	failed := func(doing string, err error) {
		t.Helper()
		t.Fatalf("%s: %v\nafter %s of %s %s became\n%.500s\n%.500s", doing, err, rec.Kind, rec.Resource.Object, rec.Resource.ID, rec.State, rec.Payload)
	}
	if _, err := e.Bootstrap(ctx, enginetest.RootKey); err != nil {
		failed("bootstrapping", err)
	}
	if err := e.Start(ctx); err != nil {
		failed("starting", err)
	}
	root := &desk.Caller{Tenant: 1, TenantID: e.Tenants().IDOf(1), Actor: "root", Scopes: []string{abi.ScopeAll}}
	for _, o := range []abi.Object{abi.ObjectTask, abi.ObjectSession, abi.ObjectPersona, abi.ObjectSkill, abi.ObjectConnector, abi.ObjectBranch,
		abi.ObjectWorkspace, abi.ObjectReceipt, abi.ObjectOutcome, abi.ObjectPermissionRequest} {
		if _, err := e.List(ctx, root, o, desk.Filter{}, desk.Page{Limit: 200}); err != nil {
			failed("listing "+string(o), err)
		}
	}
	apart := f.TaskID != "" && rec.Resource.Object != abi.ObjectSession && rec.Resource.Object != abi.ObjectQuota
	for id := range r.tasks {
		own := id == f.TaskID || id == rec.Resource.ID
		doc, err := e.Get(ctx, root, abi.ObjectTask, id)
		if err != nil && (apart && !own || !desk.AboutOne(err)) {
			failed("reading task "+id, err)
		}
		if apart && !own && doc.Task.Terminal() && doc.Task != abi.TaskCompleted && rec.Resource.Object == abi.ObjectTask && r.tasks[f.TaskID] == "" {
			failed("task "+id+" has ended", nil)
		}
		_, err = e.CancelTask(ctx, root, nil, id, abi.CancelTaskRequest{})
		if _, own := asError(err); err != nil && !own && !desk.AboutOne(err) {
			failed("canceling task "+id, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := e.Drain(stopped); err != nil {
		failed("draining", err)
	}
}

func asError(err error) (code abi.ErrorCode, ok bool) {
	if own, is := err.(*abi.Error); is {
		return own.Code, true
	}
	return "", false
}

// Whatever one value of the log has become, the node starts on it.
func TestStartOnAnything(t *testing.T) {
	r := richLog(t)
	rounds, mine := 60, share.All
	switch {
	case os.Getenv("WHARF_LONG") != "":
		rounds, mine = 3000, share.Of(t)
	case testing.Short():
		rounds = 6
	}
	for round := range rounds {
		if !mine(round) {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(round), 7))
		disk, f, rec := r.rewritten(t, rng.IntN(len(r.frames)), rng.IntN(100), rng)
		r.wantStart(t, disk, f, rec)
	}
}

// FuzzStart is TestStartOnAnything with values that the fuzzer finds.
func FuzzStart(f *testing.F) {
	r := richLog(f)
	for i := range 8 {
		f.Add(uint16(i*7), uint8(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, frame uint16, rec uint8, seed uint64) {
		disk, changed, to := r.rewritten(t, int(frame), int(rec), rand.New(rand.NewPCG(seed, 7)))
		r.wantStart(t, disk, changed, to)
	})
}
