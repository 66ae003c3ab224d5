package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// guest is a plugin written in Go: it speaks to the host as a module would.
type guest func(h sandbox.Host) error

func (guest) HasExport(name string) bool { return name == abi.DefaultExport }

func (g guest) Run(_ context.Context, _ string, h sandbox.Host, _ sandbox.Limits) (sandbox.Usage, error) {
	return sandbox.Usage{}, g(h)
}

// step is a call and how it is answered.
type step struct {
	call, request string
	status        abi.CallStatus
	answer        string
}

// told is what a guest is told by one call.
type told struct {
	status abi.CallStatus
	answer string
}

// making returns a guest that makes the calls of steps, and notes what it is told.
func making(notes *[]told, steps ...step) guest {
	return func(h sandbox.Host) error {
		for _, s := range steps {
			request := []byte(s.request)
			status, answer, err := h.Call(context.Background(), s.call, request)
			if err != nil {
				return err
			}
			if notes != nil {
				*notes = append(*notes, told{status, string(answer)})
			}
			for i := range request {
				request[i] = '!' // guest memory is used again
			}
		}
		return nil
	}
}

// recorded returns the record of a Task that made the calls of steps and completed.
func recorded(steps ...step) *journal.Record {
	rec := &journal.Record{TaskID: "task_1", Input: journal.Text(`{"input":1}`), CreatedAt: began, StartedAt: began.Add(time.Second), EndedAt: began.Add(time.Minute),
		Program: journal.Program{Plugin: "p", Module: journal.HashOf([]byte("m")), Export: abi.DefaultExport, ABI: abi.ABIVersion, Persona: journal.HashOf(nil), Seed: []byte("0123456789abcdef")},
		End:     &journal.End{Status: abi.TaskCompleted, Calls: len(steps)}}
	var keys journal.Keys
	for i, s := range steps {
		def, _ := abi.LookupHostCall(s.call)
		rec.Entries = append(rec.Entries, journal.Entry{Index: i, Call: s.call, Key: keys.Next(&def, []byte(s.request)), At: began.Add(time.Duration(i+2) * time.Second),
			Status: s.status, Request: journal.Canonical(s.call, []byte(s.request)), Answer: journal.Text(s.answer), EventID: fmt.Sprint("evt_", i)})
	}
	return rec
}

const hello = `{"role":"assistant","parts":[{"type":"text","text":"hello"}]}`

// everyday are the calls of a Task that does a bit of everything.
func everyday() []step {
	return []step{
		{abi.CallClock, `{"call_id":"begun"}`, abi.CallOK, `{"unix_nano":"5"}`},
		{abi.CallLLMComplete, `{"call_id":"main","messages":[]}`, abi.CallOK, `{"text":"fine","stop_reason":"end"}`},
		{abi.CallHTTPFetch, `{"url":"http://x"}`, abi.CallDenied, `{"code":"denied","message":"no"}`},
		{abi.CallMessageAppend, hello, abi.CallOK, `{"message_id":"msg_1"}`},
		{abi.CallArtifactPut, "{\"kind\":\"dataset\",\"mime_type\":\"text/plain\"}\n\xffbytes", abi.CallOK, `{"artifact_id":"art_1","sha256":"abcd"}`},
		{abi.CallOutput, `{"summary":"done"}`, abi.CallOK, ""},
	}
}

func run(t *testing.T, g guest, rec *journal.Record, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), g, rec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExact(t *testing.T) {
	steps := everyday()
	rec := recorded(steps...)
	var notes []told
	var seen []int
	r := run(t, making(&notes, steps...), rec, Options{OnCall: func(e *journal.Entry, by *Replacement) error {
		if by != nil {
			t.Errorf("call %d was replaced", e.Index)
		}
		seen = append(seen, e.Index)
		return nil
	}})
	if r.Divergence != nil || !reflect.DeepEqual(r.End, *rec.End) || !reflect.DeepEqual(r.Entries, rec.Entries) {
		t.Fatalf("%v, %+v\n got %+v\nwant %+v", r.Divergence, r.End, r.Entries, rec.Entries)
	}
	for i, s := range steps {
		if notes[i] != (told{s.status, s.answer}) {
			t.Errorf("%s was answered with %+v", s.call, notes[i])
		}
	}
	if !reflect.DeepEqual(seen, []int{0, 1, 2, 3, 4, 5}) || r.Tally.Used().HostCalls != int64(len(steps)) {
		t.Errorf("told of %v; %d in the tally", seen, r.Tally.Used().HostCalls)
	}
	want := receipt.ArtifactRef{ArtifactID: "art_1", Kind: "dataset", URI: receipt.ArtifactURI("art_1"), SHA256: "sha256:abcd"}
	if r.Output == nil || r.Output.Summary != "done" || !reflect.DeepEqual(r.Messages, []string{"msg_1"}) || !reflect.DeepEqual(r.Artifacts, []receipt.ArtifactRef{want}) {
		t.Errorf("%+v %v %+v", r.Output, r.Messages, r.Artifacts)
	}
	if len(r.Applied) != 0 || len(r.Made) != 0 {
		t.Errorf("applied %v, made %v", r.Applied, r.Made)
	}
}

// The ground of a replay is that of the record: its start, its seed, and the times
// of its answers.
func TestGround(t *testing.T) {
	rec := recorded(everyday()[:1]...)
	want := journal.NewGround(rec.StartedAt, rec.Program.Seed)
	g := guest(func(h sandbox.Host) error {
		got, p := make([]byte, 8), make([]byte, 8)
		check := func() {
			h.Random(got)
			want.Random(p)
			if now, was := h.Now(), want.Now(); !now.Equal(was) || !bytes.Equal(got, p) {
				t.Errorf("%s %x, want %s %x", now, got, was, p)
			}
		}
		check()
		if err := making(nil, everyday()[0])(h); err != nil {
			return err
		}
		want.Reach(rec.Entries[0].At)
		check()
		h.Sleep(t.Context(), 100*365*24*time.Hour)
		want.Sleep(100 * 365 * 24 * time.Hour)
		check()
		return nil
	})
	if r := run(t, g, rec, Options{}); r.Divergence != nil {
		t.Error(r.Divergence)
	}
}

// What was given before the Task started, and hints, are not in the record.
func TestAnsweredWithoutTheRecord(t *testing.T) {
	var notes []told
	asides := []step{
		{abi.CallInput, "", 0, `{"input":1}`},
		{abi.CallLog, `{"level":"info","message":"m"}`, 0, ""}, {abi.CallProgress, `{"fraction":0.5}`, 0, ""}, {abi.CallPlan, `{"steps":[]}`, 0, ""}, {abi.CallMessageDelta, `{"text":"t"}`, 0, ""},
		{abi.CallLog, `{"level":"loud"}`, abi.CallInvalid, `{"code":"invalid_request","message":"\"loud\" is not a level: one of debug, info, warn, error"}`},
		{abi.CallProgress, `{"fraction":2}`, abi.CallInvalid, `{"code":"invalid_request","message":"fraction must be between 0 and 1"}`},
		{abi.CallPlan, `{"steps":[{"status":"x"}]}`, abi.CallInvalid, ""}, {abi.CallMessageDelta, `{"text":`, abi.CallInvalid, ""}, {abi.CallLog, "", abi.CallInvalid, ""},
		{abi.CallProgress, `{"fraction":"half"}`, abi.CallInvalid, ""},
	}
	for i, a := range asides { // a live run refuses in the words of provider.Malformed
		if a.status == abi.CallInvalid && a.answer == "" {
			_, _, err := journal.ReadHint(a.call, []byte(a.request))
			asides[i].answer = string(provider.Malformed(err).Answer())
		}
	}
	steps := everyday()
	mixed := append(append(append([]step{}, asides...), steps...), asides...)
	r := run(t, making(&notes, mixed...), recorded(steps...), Options{})
	if r.Divergence != nil || len(r.Entries) != len(steps) {
		t.Fatalf("%v, %d calls", r.Divergence, len(r.Entries))
	}
	for i, m := range mixed {
		if notes[i] != (told{m.status, m.answer}) {
			t.Errorf("%s %s: %+v, want %d %s", m.call, m.request, notes[i], m.status, m.answer)
		}
	}
}

// A run that leaves its record is stopped at the first call that differs.
func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func([]step) []step
		index  int
		before string // the recorded call
		after  string
	}{
		{"first call, another", func(s []step) []step { s[0].call = abi.CallID; return s }, 0, abi.CallClock, abi.CallID},
		{"first call, asked otherwise", func(s []step) []step { s[0].request = `{}`; return s }, 0, abi.CallClock, abi.CallClock},
		{"middle, asked otherwise", func(s []step) []step { s[3].request = strings.Replace(hello, "hello", "bye", 1); return s }, 3, abi.CallMessageAppend, abi.CallMessageAppend},
		{"middle, left out", func(s []step) []step { return append(s[:2:2], s[3:]...) }, 2, abi.CallHTTPFetch, abi.CallMessageAppend},
		{"another content", func(s []step) []step { s[4].request += "!"; return s }, 4, abi.CallArtifactPut, abi.CallArtifactPut},
		{"last", func(s []step) []step { s[5].request = `{"summary":"other"}`; return s }, 5, abi.CallOutput, abi.CallOutput},
		{"goes on", func(s []step) []step { return append(s, s[0]) }, 6, "", abi.CallClock},
		{"ends early", func(s []step) []step { return s[:5] }, 5, abi.CallOutput, ""},
		{"does nothing", func([]step) []step { return nil }, 0, abi.CallClock, ""},
	} {
		rec := recorded(everyday()...)
		r := run(t, making(nil, c.change(everyday())...), rec, Options{Module: "sha256:other"})
		d := r.Divergence
		if d == nil || d.Index != c.index || d.RecordedCall != c.before || d.ActualCall != c.after || d.Diff == "" || len(r.Entries) != c.index {
			t.Errorf("%s: %+v after %d calls", c.name, d, len(r.Entries))
			continue
		}
		if c.before != "" && (d.EventID != fmt.Sprint("evt_", c.index) || !bytes.Equal(d.Recorded, rec.Entries[c.index].Request)) {
			t.Errorf("%s: %+v", c.name, d)
		}
		if d.RecordedModule != rec.Program.Module || d.ActualModule != "sha256:other" || d.RecordedABI != rec.Program.ABI || d.ActualABI != abi.ABIVersion {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// A panic, or an error, that traps ends with what it has said and the stack of its trap. Nodes of before took the
// trap for the reason: their records end as they did.
func TestPanicTraps(t *testing.T) {
	trap := &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable", Details: jsontext.Value(`{"stack":[]}`)}
	for _, said := range []string{abi.FailurePluginPanic, abi.FailurePluginError} {
		steps := everyday()
		steps[len(steps)-1].request = `{"failure":{"code":"` + said + `","message":"no Ada here"}}`
		panics := func(h sandbox.Host) error { return errors.Join(making(nil, steps...)(h), trap) }
		for code, diverges := range map[string]bool{said: false, abi.FailurePluginTrap: false, abi.FailurePluginExit: true} {
			rec := recorded(steps...)
			rec.End.Status, rec.End.Failure = abi.TaskFailed, &abi.Failure{Code: code, Message: "recorded"}
			r := run(t, panics, rec, Options{})
			if (r.Divergence != nil) != diverges {
				t.Errorf("%s, a record that ends with %s: %+v", said, code, r.Divergence)
			}
			if f := r.End.Failure; !diverges && f != rec.End.Failure || diverges && (f.Code != said || f.Message != "no Ada here" || string(f.Details) != string(trap.Details)) {
				t.Errorf("%s, a record that ends with %s ends again with %+v", said, code, f)
			}
		}
	}
}

// A run that ends otherwise than its record has left it, though every call matched.
func TestEndsOtherwise(t *testing.T) {
	trap := &abi.Failure{Code: abi.FailurePluginTrap, Message: "at 0x10"}
	for _, c := range []struct {
		name     string
		failure  *abi.Failure // recorded
		err      error        // of the run
		diverges bool
	}{
		{"well, and well", nil, nil, false},
		{"well, then a trap", nil, trap, true},
		{"a trap, then well", trap, nil, true},
		{"the same trap, elsewhere", &abi.Failure{Code: abi.FailurePluginTrap, Message: "at 0x20"}, trap, false},
		{"another failure", &abi.Failure{Code: abi.FailurePluginExit}, trap, true},
	} {
		rec := recorded(everyday()...)
		if c.failure != nil {
			rec.End.Status, rec.End.Failure = abi.TaskFailed, c.failure
		}
		r := run(t, func(h sandbox.Host) error { return errors.Join(making(nil, everyday()...)(h), c.err) }, rec, Options{})
		if d := r.Divergence; (d != nil) != c.diverges || d != nil && (d.Index != 6 || d.Diff == "" || bytes.Equal(d.Recorded, d.Actual) || d.ActualModule != rec.Program.Module) {
			t.Errorf("%s: %+v", c.name, d)
		}
		if want := map[bool]abi.TaskStatus{true: abi.TaskCompleted, false: abi.TaskFailed}[c.err == nil]; r.End.Status != want || r.End.Calls != 6 {
			t.Errorf("%s: %+v", c.name, r.End)
		}
	}
}

// A record that was stopped is followed up to where it stops.
func TestStopped(t *testing.T) {
	canceled := journal.End{Status: abi.TaskCanceled, Stopped: true, Calls: 2}
	timeout := &abi.Failure{Code: abi.FailurePluginTimeout, Message: "too long"}
	for _, c := range []struct {
		name     string
		open     bool
		end      *journal.End
		goes     error // what the guest does after the calls of the record; nil: one more call
		want     journal.End
		diverges bool
	}{
		{"canceled between calls", false, &canceled, nil, canceled, false},
		{"canceled within a call", true, &canceled, nil, canceled, false},
		{"still running", false, nil, nil, journal.End{Stopped: true, Calls: 2}, false},
		{"still within a call", true, nil, nil, journal.End{Stopped: true, Calls: 2}, false},
		{"ran out of time computing", false, &journal.End{Status: abi.TaskFailed, Failure: timeout, Stopped: true, Calls: 2}, timeout,
			journal.End{Status: abi.TaskFailed, Failure: timeout, Stopped: true, Calls: 2}, false},
		{"ends by itself, a moment after it was canceled", false, &canceled, &abi.Failure{Code: abi.FailurePluginExit}, canceled, false},
		{"ends before the open call", true, &canceled, &abi.Failure{Code: abi.FailurePluginExit}, journal.End{}, true},
	} {
		rec := recorded(everyday()[:2]...)
		rec.End = c.end
		if c.open {
			rec.Entries = append(rec.Entries, journal.Entry{Index: 2, Call: abi.CallSleep, Open: true, Request: journal.Text(`{"ms":9}`), EventID: "evt_2"})
		}
		stopped := false
		r := run(t, func(h sandbox.Host) error {
			if err := making(nil, everyday()[:2]...)(h); err != nil {
				return err
			}
			if c.goes != nil {
				return c.goes
			}
			_, _, err := h.Call(t.Context(), abi.CallSleep, []byte(`{"ms":9}`))
			stopped = err != nil
			return err
		}, rec, Options{})
		if stopped != (c.goes == nil) || (r.Divergence != nil) != c.diverges || len(r.Entries) != 2 {
			t.Errorf("%s: stopped %t, %+v, %d calls", c.name, stopped, r.Divergence, len(r.Entries))
		}
		if !c.diverges && !reflect.DeepEqual(r.End, c.want) {
			t.Errorf("%s: %+v", c.name, r.End)
		}
	}
}

// What is no replay is an error, not a divergence.
func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	rec := recorded(everyday()...)
	other := recorded(everyday()...)
	other.Program.Export = "main"
	odd := recorded(step{abi.CallMessageAppend, hello, abi.CallOK, `not JSON`})
	for name, c := range map[string]struct {
		ctx  context.Context
		g    guest
		rec  *journal.Record
		o    Options
		want string
	}{
		"no such export":     {t.Context(), making(nil), other, Options{}, `no export "main"`},
		"canceled":           {over, making(nil, everyday()...), rec, Options{}, "broken"},
		"the host's failure": {t.Context(), func(sandbox.Host) error { return broken }, rec, Options{}, "running the module: broken"},
		"OnCall says so":     {t.Context(), making(nil, everyday()...), rec, Options{OnCall: func(*journal.Entry, *Replacement) error { return broken }}, "broken"},
		"a damaged record":   {t.Context(), making(nil, step{abi.CallMessageAppend, hello, 0, ""}), odd, Options{}, "call 0"},
		"no host call":       {t.Context(), making(nil, step{"no.such", "", 0, ""}), rec, Options{}, `no host call "no.such"`},
	} {
		r, err := Run(c.ctx, c.g, c.rec, c.o)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestConclude(t *testing.T) {
	said := &abi.CallOutputRequest{Failure: &abi.Failure{Code: "mine", Message: "m"}}
	panicked := &abi.CallOutputRequest{Failure: &abi.Failure{Code: abi.FailurePluginPanic, Message: "no Ada here"}}
	failed := &abi.CallOutputRequest{Failure: &abi.Failure{Code: abi.FailurePluginError, Message: "http.fetch: no"}}
	for _, c := range []struct {
		err    error
		output *abi.CallOutputRequest
		code   string
		known  bool
	}{
		{nil, nil, "", true}, {nil, &abi.CallOutputRequest{Summary: "s"}, "", true}, {nil, said, "mine", true},
		{&abi.Failure{Code: abi.FailurePluginError}, said, "mine", true}, {&abi.Failure{Code: abi.FailurePluginError}, nil, abi.FailurePluginError, true},
		{fmt.Errorf("wrapped: %w", &abi.Failure{Code: abi.FailurePluginTrap}), said, abi.FailurePluginTrap, true},
		{fmt.Errorf("wrapped: %w", &abi.Failure{Code: abi.FailurePluginTrap}), panicked, abi.FailurePluginPanic, true},
		{&abi.Failure{Code: abi.FailurePluginTrap}, failed, abi.FailurePluginError, true},
		{&abi.Failure{Code: abi.FailurePluginTimeout}, panicked, abi.FailurePluginTimeout, true},
		{errors.New("disk"), said, "", false},
	} {
		failure, known := Conclude(c.err, c.output)
		if known != c.known || (failure != nil) != (c.code != "") || failure != nil && failure.Code != c.code {
			t.Errorf("%v: %v, %t", c.err, failure, known)
		}
	}
}

// handingOut is a Task that hands out what a model says.
func handingOut(word string) []step {
	return []step{
		{abi.CallLLMComplete, `{"call_id":"main"}`, abi.CallOK, `{"text":"yes"}`},
		{abi.CallMessageAppend, strings.Replace(hello, "hello", word, 1), abi.CallOK, `{"message_id":"msg_1"}`},
		{abi.CallArtifactPut, "{\"kind\":\"dataset\",\"mime_type\":\"text/plain\"}\n" + word, abi.CallOK, `{"artifact_id":"art_1","sha256":"abcd"}`},
		{abi.CallMemoryWrite, `{"content":"` + word + `"}`, abi.CallOK, `{"memory_id":"mem_1"}`},
		{abi.CallStateSet, `{"key":"k","value":"` + word + `"}`, abi.CallOK, ""},
		{abi.CallEventEmit, `{"kind":"vendor.x","payload":{"w":"` + word + `"}}`, abi.CallOK, ""},
		{abi.CallOutput, `{"summary":"` + word + `"}`, abi.CallOK, ""},
	}
}

// After a replacement what a plugin makes may differ: it is made anew, with ids
// that every node derives alike.
func TestMadeAnew(t *testing.T) {
	rec := recorded(handingOut("yes")...)
	by := Replacement{Key: "llm:main", Index: 0, Answer: []byte(`{"text":"no"}`)}
	var notes []told
	times := Replacement{Key: KeyCreatedAt, Index: -1}
	var replaced []int
	r := run(t, making(&notes, handingOut("no")...), rec, Options{TaskID: "replay_1", Replacements: []Replacement{by, times}, OnCall: func(e *journal.Entry, by *Replacement) error {
		if by != nil {
			replaced = append(replaced, e.Index)
		}
		return nil
	}})
	if r.Divergence != nil || r.End.Status != abi.TaskCompleted || !reflect.DeepEqual(replaced, []int{0}) {
		t.Fatalf("%v %+v %v", r.Divergence, r.End, replaced)
	}
	message, artifact, memory := DerivedID(abi.ObjectMessage, "replay_1", began, 1), DerivedID(abi.ObjectArtifact, "replay_1", began, 2), DerivedID(abi.ObjectMemory, "replay_1", began, 3)
	sum := strings.TrimPrefix(journal.HashOf([]byte("no")), "sha256:")
	want := []told{{0, `{"text":"no"}`}, {0, `{"message_id":"` + message + `"}`}, {0, `{"artifact_id":"` + artifact + `","sha256":"` + sum + `"}`},
		{0, `{"memory_id":"` + memory + `"}`}, {0, ""}, {0, ""}, {0, ""}}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("told %+v\nwant %+v", notes, want)
	}
	asked := handingOut("no")
	if !reflect.DeepEqual(r.Made, []Made{{abi.CallMessageAppend, message, []byte(asked[1].request)}, {abi.CallArtifactPut, artifact, []byte(asked[2].request)}, {abi.CallMemoryWrite, memory, []byte(asked[3].request)}}) {
		t.Errorf("made %q", r.Made)
	}
	for i, s := range asked {
		if e := r.Entries[i]; !bytes.Equal(e.Request, journal.Canonical(s.call, []byte(s.request))) || string(e.Answer) != want[i].answer {
			t.Errorf("call %d is told as %q %q", i, e.Request, e.Answer)
		}
	}
	if r.Output.Summary != "no" || r.Messages[0] != message || r.Artifacts[0].ArtifactID != artifact || r.Artifacts[0].SHA256 != "sha256:"+sum {
		t.Errorf("%+v %v %+v", r.Output, r.Messages, r.Artifacts)
	}
	if len(r.Applied) != 2 {
		t.Errorf("applied %+v", r.Applied)
	}
	again := recorded(handingOut("yes")...)
	if !reflect.DeepEqual(rec, again) {
		t.Error("the replay changed its record")
	}
}

// What a replacement leaves as it was keeps its ids.
func TestUnchangedIsNotMadeAnew(t *testing.T) {
	rec := recorded(handingOut("yes")...)
	r := run(t, making(nil, handingOut("yes")...), rec, Options{Replacements: []Replacement{{Key: "llm:main", Answer: []byte(`{"text":"aye"}`)}}})
	if r.Divergence != nil || len(r.Made) != 0 || r.Messages[0] != "msg_1" || r.Artifacts[0].ArtifactID != "art_1" {
		t.Errorf("%v %v %v", r.Divergence, r.Made, r.Messages)
	}
}

// A replacement does not let a plugin ask what the record cannot answer, nor
// change what came before it.
func TestReplacedDiverges(t *testing.T) {
	steps := func(word string) []step {
		return []step{
			{abi.CallMessageAppend, hello, abi.CallOK, `{"message_id":"msg_1"}`},
			{abi.CallLLMComplete, `{"call_id":"a"}`, abi.CallOK, `{"text":"yes"}`},
			{abi.CallStateGet, `{"key":"` + word + `"}`, abi.CallOK, `{"value":1}`},
			{abi.CallLLMComplete, `{"call_id":"b","model":"` + word + `"}`, abi.CallOK, `{"text":"yes"}`},
			{abi.CallTaskSpawn, `{"input":"x"}`, abi.CallOK, `{"task_id":"task_2"}`},
		}
	}
	a := Replacement{Key: "llm:a", Index: 1, Answer: []byte(`{"text":"no"}`)}
	b := Replacement{Key: "llm:b", Index: 3, Answer: []byte(`{"text":"no"}`)}
	value := Replacement{Key: "host:state.get:1", Index: 2, Answer: []byte(`{"value":2}`)}
	change := func(i int, request string) []step {
		s := steps("yes")
		s[i].request = request
		return s
	}
	for _, c := range []struct {
		name  string
		run   []step
		with  []Replacement
		index int // -1: it does not diverge
	}{
		{"a changed read", change(2, `{"key":"no"}`), []Replacement{a}, 2},
		{"a changed read whose answer is replaced too", change(2, `{"key":"no"}`), []Replacement{a, value}, -1},
		{"a changed call of a model", change(3, `{"call_id":"b","model":"no"}`), []Replacement{a}, 3},
		{"replaced itself", change(3, `{"call_id":"b","model":"no"}`), []Replacement{a, b}, -1},
		{"asked otherwise before anything was replaced", change(1, `{"call_id":"a","model":"x"}`), []Replacement{a}, 1},
		{"made otherwise before", change(0, `{"role":"user","parts":[]}`), []Replacement{a}, 0},
		{"a changed child", change(4, `{"input":"y"}`), []Replacement{a}, 4},
		{"another call", append(steps("yes")[:2:2], steps("yes")[0]), []Replacement{a}, 2},
		{"ends early", steps("yes")[:2], []Replacement{a}, 2},
		{"goes on", append(steps("yes"), step{abi.CallOutput, `{}`, 0, ""}), []Replacement{a}, 5},
		{"only the Task's own times", change(2, `{"key":"no"}`), []Replacement{{Key: KeyStartedAt, Index: -1}}, 2},
		{"nothing changed", steps("yes"), []Replacement{a, b, value}, -1},
	} {
		r := run(t, making(nil, c.run...), recorded(steps("yes")...), Options{Replacements: c.with})
		if d := r.Divergence; (d != nil) != (c.index >= 0) || d != nil && d.Index != c.index {
			t.Errorf("%s: %v", c.name, d)
		}
	}
}

// A replacement answers a call that had failed, and may change how the run ends.
func TestReplacesAFailure(t *testing.T) {
	rec := recorded(step{abi.CallLLMComplete, `{"call_id":"a"}`, abi.CallUnavailable, `{"code":"c","message":"m"}`})
	rec.End.Status, rec.End.Failure = abi.TaskFailed, &abi.Failure{Code: "mine"}
	var notes []told
	r := run(t, making(&notes, step{abi.CallLLMComplete, `{"call_id":"a"}`, 0, ""}), rec, Options{Replacements: []Replacement{{Key: "llm:a", Answer: []byte(`{"text":"now"}`)}}})
	if r.Divergence != nil || notes[0] != (told{abi.CallOK, `{"text":"now"}`}) || r.End.Status != abi.TaskCompleted || r.Entries[0].Status != abi.CallOK {
		t.Errorf("%v %+v %+v", r.Divergence, notes, r.End)
	}
}

// A call that makes something and was refused is refused again, with other content.
func TestRefusedIsNotMadeAnew(t *testing.T) {
	steps := handingOut("yes")[:2]
	steps[1].status, steps[1].answer = abi.CallTooLarge, `{"code":"c","message":"m"}`
	var notes []told
	r := run(t, making(&notes, handingOut("no")[:2]...), recorded(steps...), Options{Replacements: []Replacement{{Key: "llm:main", Answer: []byte(`{}`)}}})
	if r.Divergence != nil || len(r.Made) != 0 || notes[1] != (told{abi.CallTooLarge, `{"code":"c","message":"m"}`}) || len(r.Messages) != 0 {
		t.Errorf("%v %v %+v", r.Divergence, r.Made, notes)
	}
}

// The ids of what a replay makes are the same on every node and in every version.
func TestDerivedID(t *testing.T) {
	at := began.Add(123 * time.Millisecond)
	got := fmt.Sprintln(DerivedID(abi.ObjectMessage, "task_1", at, 0), DerivedID(abi.ObjectArtifact, "task_1", at, 0), DerivedID(abi.ObjectTask, "task_1", at, 12))
	if want := "msg_01KQREZ053604E6T5G47K2NJ7V art_01KQREZ0539J22V2YDS4N678RE task_01KQREZ0530HYR7Q1FTKJCC2CV\n"; got != want {
		t.Errorf("%swant %s", got, want)
	}
	seen := map[string]bool{}
	for _, id := range []string{DerivedID(abi.ObjectMessage, "task_1", at, 0), DerivedID(abi.ObjectMessage, "task_1", at, 1), DerivedID(abi.ObjectMessage, "task_2", at, 0),
		DerivedID(abi.ObjectMessage, "task_1", at.Add(time.Millisecond), 0), DerivedID(abi.ObjectMemory, "task_1", at, 0)} {
		if seen[id[strings.LastIndex(id, "_"):]] {
			t.Errorf("%s twice", id)
		}
		seen[id[strings.LastIndex(id, "_"):]] = true
	}
	if DerivedID(abi.ObjectMessage, "task_1", at, 0) != DerivedID(abi.ObjectMessage, "task_1", at.In(time.FixedZone("east", 3600)), 0) {
		t.Error("the time zone matters")
	}
}

// A divergence travels as JSON with both requests whole.
func TestDivergenceJSON(t *testing.T) {
	r := run(t, making(nil, step{abi.CallRandom, "\xff\x00\x00\x00", 0, ""}), recorded(step{abi.CallRandom, "\x04\x00\x00\x00", abi.CallOK, "abcd"}), Options{})
	b, err := json.Marshal(r.Divergence)
	if err != nil {
		t.Fatal(err)
	}
	var back journal.Divergence
	if err := json.Unmarshal(b, &back); err != nil || string(back.Actual) != "\xff\x00\x00\x00" || string(back.Recorded) != "\x04\x00\x00\x00" {
		t.Errorf("%s %v", b, err)
	}
}
