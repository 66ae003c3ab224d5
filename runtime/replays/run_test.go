package replays

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// asking returns steps that ask for the time so many times.
func asking(times int) (steps []step) {
	for i := range times {
		steps = append(steps, step{abi.CallClock, fmt.Sprintf(`{"call_id":"c%d"}`, i), `{"unix_nano":"1"}`})
	}
	return steps
}

// A replay says that it began, of each call where it comes from, and how it ended.
func TestWhatIsTold(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", func(s *abi.Task) {
		s.Input = jsontext.Value(`{"parts":[{"text":"for receipts","visibility":"receipt_only"}]}`)
	}, talk...)
	r.plugin = making(talk...)
	l := r.replay(t, "task_1", abi.ReplayTaskRequest{Reason: "why not"})
	r.RunReplay(t.Context(), l)
	kinds, calls, marks := l.told(t)
	if want := []abi.EventKind{abi.EventReplayStarted, abi.EventReplayEventReplayed, abi.EventReplayEventReplayed,
		abi.EventReplayEventReplayed, abi.EventReplayEventReplayed, abi.EventReplayCompleted}; !slices.Equal(kinds, want) {
		t.Errorf("told %v, want %v", kinds, want)
	}
	if !slices.Equal(calls, upTo(0, len(talk))) {
		t.Errorf("told calls %v", calls)
	}
	source := r.record(t, "task_1")
	for i, m := range marks {
		if want := (abi.ReplayMarks{SourceTaskID: "task_1", ReplayTaskID: l.about.ID, OriginalEventID: source.Entries[i].EventID,
			ReplayCursor: fmt.Sprintf("call:%d", i+1), Mode: abi.ReplayExact}); m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	if l.end.Kind != lifecycle.Complete || l.end.Facts == nil || len(l.end.Facts.Withheld) != 1 || r.gas != 7 {
		t.Errorf("it ends with %v, %+v, %d gas", l.end.Kind, l.end.Facts, r.gas)
	}
	if l.held != 1 || r.held != 0 {
		t.Errorf("%d receipts are held at its end, and %d after it", l.held, r.held)
	}
	if o := l.outcome(abi.OutcomeSucceeded); o.Summary != "said" || !slices.Equal(o.MessageIDs, []string{"msg_task_1"}) || string(o.Metrics) != `{"host_calls":4,"overrides":0}` {
		t.Errorf("%+v", o)
	}
}

// However often a replay is started, each call is told once and in order, and so is its
// beginning; no batch is larger than it may be.
func TestNothingIsToldTwice(t *testing.T) {
	const calls = 2*maxReplayBatch + 10
	r := newRoom(t)
	steps := asking(calls)
	r.ran(t, "task_1", nil, steps...)
	l := r.replay(t, "task_1", abi.ReplayTaskRequest{})
	for _, reaches := range []int{0, maxReplayBatch / 2, maxReplayBatch + 1, maxReplayBatch + 2, 2*maxReplayBatch - 1} {
		ctx, stop := context.WithCancel(t.Context())
		r.plugin = func(ctx context.Context, h sandbox.Host) error {
			err := making(steps[:reaches]...)(ctx, h)
			stop()
			return err
		}
		l.stopped = true
		if r.RunReplay(ctx, l); l.end != nil {
			t.Fatalf("stopped after %d calls, it has ended: %+v", reaches, l.end)
		}
		for _, n := range l.batches {
			if n > maxReplayBatch {
				t.Errorf("%d events are told at once", n)
			}
		}
		l = l.again()
	}
	r.plugin = making(steps...)
	r.RunReplay(t.Context(), l)
	kinds, told, _ := l.told(t)
	if !slices.Equal(told, upTo(0, calls)) {
		t.Errorf("%d calls were told: %v…", len(told), told[:min(len(told), 20)])
	}
	if len(l.end.Records) > maxReplayBatch {
		t.Errorf("%d events are told with its end", len(l.end.Records))
	}
	if started := count(kinds, abi.EventReplayStarted); started != 1 || kinds[0] != abi.EventReplayStarted || l.end.Kind != lifecycle.Complete {
		t.Errorf("it began %d times, first with %s, and ended with %v", started, kinds[0], l.end.Kind)
	}
}

// What lies before a checkpoint is restored and not told.
func TestFromACheckpoint(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", nil, talk...)
	r.plugin = making(talk...)
	source := r.record(t, "task_1")
	for calls := range len(talk) + 1 {
		requests := []abi.ReplayTaskRequest{{Mode: abi.ReplayFromCheckpoint, CheckpointID: fmt.Sprintf("call:%d", calls)}}
		if calls > 0 {
			requests = append(requests, abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointEventID: source.Entries[calls-1].EventID})
		}
		for _, req := range requests {
			l := r.replay(t, "task_1", req)
			r.RunReplay(t.Context(), l)
			if _, told, _ := l.told(t); !slices.Equal(told, upTo(calls, len(talk))) {
				t.Errorf("%+v: told %v", req, told)
			}
		}
	}
}

// A replay that is canceled under way tells no more, and is not ended a second time.
func TestCanceledUnderWay(t *testing.T) {
	r := newRoom(t)
	steps := asking(maxReplayBatch + 10)
	r.ran(t, "task_1", nil, steps...)
	for name, stopped := range map[string]bool{"and its run stopped": true, "before its run is stopped": false} {
		t.Run(name, func(t *testing.T) {
			l := r.replay(t, "task_1", abi.ReplayTaskRequest{})
			r.plugin = func(ctx context.Context, h sandbox.Host) error {
				l.ended, l.stopped = true, stopped
				return making(steps...)(ctx, h)
			}
			r.RunReplay(t.Context(), l)
			if kinds, _, _ := (&life{room: r, about: l.about}).told(t); len(kinds) != 0 {
				t.Errorf("it told %v", kinds)
			}
			if l.end != nil || r.held != 0 || r.logged.Len() != 0 {
				t.Errorf("it ends with %+v; %d receipts are held; the log says %s", l.end, r.held, &r.logged)
			}
		})
	}
}

// A replay ends as its source did, or says why it could not be done.
func TestEndings(t *testing.T) {
	failed := &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
	late := &abi.Failure{Code: abi.FailureDeadline, Message: "too late"}
	for name, c := range map[string]struct {
		source  func(*abi.Task)
		limits  journal.Limits
		plugin  guest
		kind    lifecycle.InputKind
		code    string
		receipt bool
	}{
		"as it did":      {nil, journal.Limits{}, making(talk...), lifecycle.Complete, "", true},
		"it failed":      {func(s *abi.Task) { s.Status, s.Failure = abi.TaskFailed, failed }, journal.Limits{}, trapping(talk...), lifecycle.Fail, abi.FailurePluginTrap, true},
		"it was late":    {func(s *abi.Task) { s.Status, s.Failure = abi.TaskFailed, late }, journal.Limits{}, making(asking(99)...), lifecycle.Fail, abi.FailureDivergence, true},
		"stopped late":   {func(s *abi.Task) { s.Status, s.Failure = abi.TaskFailed, late }, journal.Limits{}, making(append(talk, asking(1)...)...), lifecycle.Fail, abi.FailureDeadline, true},
		"it was ended":   {func(s *abi.Task) { s.Status, s.CanceledAt = abi.TaskCanceled, began }, journal.Limits{}, making(append(talk, asking(1)...)...), lifecycle.Canceled, "", true},
		"asks more":      {nil, journal.Limits{}, making(append(talk, asking(1)...)...), lifecycle.Fail, abi.FailureDivergence, true},
		"asks less":      {nil, journal.Limits{}, making(talk[:2]...), lifecycle.Fail, abi.FailureDivergence, true},
		"ends otherwise": {nil, journal.Limits{}, trapping(talk...), lifecycle.Fail, abi.FailureDivergence, true},
		"may not use what it did": {nil, journal.Limits{HostCalls: sandbox.DefaultLimits().HostCalls + 1}, making(talk[:2]...), lifecycle.Fail,
			abi.FailureDivergence, false},
		"no plugin": {nil, journal.Limits{}, nil, lifecycle.Fail, abi.FailurePluginMissing, false},
		"the host fails": {nil, journal.Limits{}, func(context.Context, sandbox.Host) error { return fmt.Errorf("out of files in /var/lib/wharf") },
			lifecycle.Fail, abi.FailureHost, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			r.limits = c.limits
			r.ran(t, "task_1", c.source, talk...)
			r.plugin = c.plugin
			l := r.replay(t, "task_1", abi.ReplayTaskRequest{})
			r.RunReplay(t.Context(), l)
			kinds, _, _ := l.told(t)
			want := abi.EventReplayCompleted
			if c.code != "" {
				want = abi.EventReplayFailed
			}
			if last := kinds[len(kinds)-1]; last != want || l.end.Kind != c.kind {
				t.Errorf("it tells %s and ends with %v, want %s and %v", last, l.end.Kind, want, c.kind)
			}
			status := map[lifecycle.InputKind]abi.OutcomeStatus{lifecycle.Complete: abi.OutcomeSucceeded, lifecycle.Fail: abi.OutcomeFailed, lifecycle.Canceled: abi.OutcomeCanceled}
			o := l.outcome(status[c.kind])
			if code := codeOf(o.Failure); code != c.code || strings.Contains(o.Summary, "/var/lib") {
				t.Errorf("it fails with %q, want %q: %s", code, c.code, o.Summary)
			}
			if (r.logged.Len() != 0) != (c.code == abi.FailureHost) {
				t.Errorf("the log says %q", &r.logged)
			}
			if (l.end.Facts != nil) != c.receipt || r.held != 0 {
				t.Errorf("its receipt is made from %+v; %d are held", l.end.Facts, r.held)
			}
		})
	}
}

// trapping returns a guest that makes the calls of steps and fails.
func trapping(steps ...step) guest {
	return func(ctx context.Context, h sandbox.Host) error {
		if err := making(steps...)(ctx, h); err != nil {
			return err
		}
		return &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
	}
}

func codeOf(f *abi.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code
}

// What was there when a replay was accepted and is not when it runs is named by its failure.
func TestWhatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(r *room, about *abi.Task)
		says string
	}{
		"the source":     {func(_ *room, about *abi.Task) { about.Replay.SourceTaskID = "task_gone" }, "task_gone"},
		"the start":      {func(r *room, _ *abi.Task) { r.lost.starts["task_1"] = true }, "task.started of task_1"},
		"a large answer": {func(r *room, _ *abi.Task) { r.lost.blobs = true }, "of the record"},
		"the request":    {func(_ *room, about *abi.Task) { about.Replay.Request = journal.HashOf([]byte("gone")) }, journal.HashOf([]byte("gone"))},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			long := slices.Clone(talk)
			long[1].answer = `{"text":"` + strings.Repeat("yes ", journal.MaxInline) + `","stop_reason":"end"}`
			r.ran(t, "task_1", nil, long...)
			r.plugin = making(long...)
			l := r.replay(t, "task_1", abi.ReplayTaskRequest{})
			c.lose(r, l.about)
			r.RunReplay(t.Context(), l)
			o := l.outcome(abi.OutcomeFailed)
			if codeOf(o.Failure) != abi.FailureReplayMissing || !strings.Contains(o.Failure.Message, c.says) || !strings.Contains(string(o.Failure.Details), c.says) {
				t.Errorf("%+v", o.Failure)
			}
		})
	}
}

// What a replay with overrides makes has ids that follow from the replay, stays out of the
// transcript, and is not made again by the same replay.
func TestWhatIsMade(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", nil, append(slices.Clone(talk), step{abi.CallArtifactPut, artifact("yes"), `{"artifact_id":"artifact_1","sha256":"00"}`})...)
	said := append(slices.Clone(talk), step{abi.CallArtifactPut, artifact("no"), ""})
	said[2].request = strings.ReplaceAll(hello, "hello", "no")
	r.plugin = making(said...)
	req := abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
		"llm:main:1": {Kind: abi.OverrideModel, Value: jsontext.Value(`{"text":"no","stop_reason":"end"}`)}}}
	made := func() (ids []string) {
		l := r.replay(t, "task_1", req)
		r.RunReplay(t.Context(), l)
		if l.end.Kind != lifecycle.Complete {
			t.Fatalf("%+v", l.outcome(abi.OutcomeFailed).Failure)
		}
		for _, rec := range l.end.Records {
			if rec.Object != abi.ObjectMessage && rec.Object != abi.ObjectArtifact {
				continue
			}
			if !rec.Created || rec.Transcript != (storage.TranscriptOp{}) {
				t.Errorf("%+v", rec)
			}
			ids = append(ids, rec.ID)
		}
		_, _, marks := l.told(t)
		if m := marks[1]; m.OverrideKey != "llm:main:1" || m.ReceiptDeltaID == "" {
			t.Errorf("the replaced call is told with %+v", m)
		}
		o := l.outcome(abi.OutcomeSucceeded)
		if len(o.MessageIDs) != 1 || len(o.ArtifactIDs) != 1 || o.MessageIDs[0] == "msg_task_1" {
			t.Errorf("the outcome has %v and %v", o.MessageIDs, o.ArtifactIDs)
		}
		if err := l.Tell(l.end.Records); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	first := made()
	if len(first) != 2 {
		t.Errorf("it made %v", first)
	}
	if again := made(); len(again) != 0 {
		t.Errorf("the same replay made %v again", again)
	}
}

func artifact(content string) string {
	return `{"kind":"dataset","mime_type":"text/plain"}` + "\n" + content
}

// The value of a secret is kept nowhere; that it was replaced is, and by what hash.
func TestSecretsAreNotKept(t *testing.T) {
	const value = "hunter2-hunter2"
	r := newRoom(t)
	steps := []step{{abi.CallSecretUse, `{"name":"token"}`, `{"handle":"secret_1"}`}}
	r.ran(t, "task_1", nil, steps...)
	r.plugin = making(steps...)
	key := r.record(t, "task_1").Entries[0].Key
	l := r.replay(t, "task_1", abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{
		key: {Kind: abi.OverrideSecret, Value: jsontext.Value(`"` + value + `"`)}}})
	hash, err := journal.ParseHash(l.about.Replay.Request)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := journal.Content(t.Context(), r.Store.Blobs(), hash)
	if err != nil || strings.Contains(string(kept), value) || !strings.Contains(string(kept), journal.HashOf([]byte(`"`+value+`"`))) {
		t.Errorf("%s, %v", kept, err)
	}
	r.RunReplay(t.Context(), l)
	if l.end.Kind != lifecycle.Complete {
		t.Fatalf("%+v", l.outcome(abi.OutcomeFailed).Failure)
	}
	if d := l.end.Facts.Replay.Deltas; len(d) != 1 || d[0].OverrideKey != key || d[0].AfterSHA256 != journal.HashOf([]byte(`"`+value+`"`)) {
		t.Errorf("the receipt tells %+v", d)
	}
}
