package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

var recordBegan = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// recorder is a Host that records a Task as the engine does.
type recorder struct {
	input   []byte
	answers map[string]string
	ground  *journal.Ground
	entries []journal.Entry
	keys    journal.Keys
}

func (h *recorder) Now() time.Time                           { return h.ground.Now() }
func (h *recorder) Random(p []byte)                          { h.ground.Random(p) }
func (h *recorder) Sleep(_ context.Context, d time.Duration) { h.ground.Sleep(d) }

func (h *recorder) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	def, _ := abi.LookupHostCall(call)
	switch def.Effect {
	case abi.EffectHint:
		return abi.CallOK, nil, nil
	case abi.EffectGiven:
		return abi.CallOK, h.input, nil
	}
	e := journal.Entry{
		Index: len(h.entries), Call: call, Effect: def.Effect, Key: h.keys.Next(&def, request),
		At:      recordBegan.Add(time.Duration(len(h.entries)+2) * time.Second),
		Request: bytes.Clone(journal.Canonical(call, request)), Answer: journal.Text(h.answers[call]),
	}
	h.ground.Reach(e.At)
	h.entries = append(h.entries, e)
	return e.Status, e.Answer, nil
}

func readExtism(t *testing.T, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata/extism", name))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".zst" {
		return wasm
	}
	d, err := zstd.NewReader(bytes.NewReader(wasm))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var all bytes.Buffer
	if _, err := d.WriteTo(&all); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestExtismReplay holds that the Task of an Extism plugin is replayed from its record as
// any other is: every call is the same, byte for byte, with what the plugin was told of
// time, chance and its configuration in it; and that a changed record is noticed.
func TestExtismReplay(t *testing.T) {
	answers := map[string]string{
		abi.CallConfigGet: `{"value":"Good morning"}`, abi.CallClock: `{"unix_nano":"5"}`, abi.CallLLMComplete: `{"text":"42"}`,
		abi.CallHostFact: `{"value":"wasm"}`, abi.CallMessageAppend: `{"message_id":"msg_1"}`, abi.CallHTTPFetch: `{"status":200,"text":"a page"}`,
	}
	ctx := context.Background()
	r, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx)
	for _, c := range []struct{ file, export string }{
		{"go.wasm.zst", "run"}, {"rust.wasm", "run"}, {"rust.wasm", "fetch"}, {"assemblyscript.wasm", "run"},
		{"c.wasm", "calls"}, {"c.wasm", "silent"},
	} {
		t.Run(c.file+"#"+c.export, func(t *testing.T) {
			m, err := r.Compile(ctx, readExtism(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			rec := &journal.Record{
				TaskID: "task_1", Input: journal.Text(`{"task":{"input":{"name":"Ada"}}}`),
				CreatedAt: recordBegan, StartedAt: recordBegan.Add(time.Second), EndedAt: recordBegan.Add(time.Hour),
				Program: journal.Program{Plugin: "p", Module: m.Digest(), Export: c.export, ABI: abi.ABIVersion,
					Persona: journal.HashOf(nil), Seed: []byte("0123456789abcdef"), Rewriter: r.Rewriter()},
			}
			h := &recorder{input: rec.Input, answers: answers, ground: journal.NewGround(rec.StartedAt, rec.Program.Seed)}
			_, err = m.Run(ctx, c.export, h, sandbox.Limits{})
			rec.End = &journal.End{Status: abi.TaskCompleted, Calls: len(h.entries)}
			if failure, _ := replay.Conclude(err, nil); failure != nil {
				rec.End.Status, rec.End.Failure = abi.TaskFailed, failure
			}
			rec.Entries = h.entries
			got, err := replay.Run(ctx, m, rec, replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Divergence != nil || len(got.Entries) != len(rec.Entries) {
				t.Fatalf("the replay made %d calls of %d, and diverged: %v", len(got.Entries), len(rec.Entries), got.Divergence)
			}
			for i := range got.Entries {
				if !reflect.DeepEqual(got.Entries[i], rec.Entries[i]) {
					t.Errorf("call %d was %+v, then %+v", i, rec.Entries[i], got.Entries[i])
				}
			}
			if len(rec.Entries) == 0 {
				return
			}
			last := &rec.Entries[len(rec.Entries)-1]
			last.Request = append(bytes.TrimSuffix(last.Request, []byte("}")), `,"x":1}`...)
			if got, err = replay.Run(ctx, m, rec, replay.Options{}); err != nil || got.Divergence == nil {
				t.Errorf("a changed record was not noticed: %v", err)
			}
		})
	}
}
