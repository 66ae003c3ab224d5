package sandbox

import (
	"context"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
)

// TestSDKsSayTheSame holds that a plugin that moves from one language to another makes the same
// record: the same calls in the same order, with the same bytes.
func TestSDKsSayTheSame(t *testing.T) {
	share.Alone(t)
	want := callsOf(t, buildWithSDK(t, everything))
	for _, language := range []struct {
		name  string
		build func(*testing.T) []byte
	}{
		{"python", func(t *testing.T) []byte { return pythonModule(t, fileText(t, "testdata/everything.py")) }},
		{"c", func(t *testing.T) []byte { return buildC(t, "c99", fileText(t, "testdata/everything.c")) }},
		{"assemblyscript", func(t *testing.T) []byte { return buildAssemblyScript(t, fileText(t, "testdata/everything_as.ts")) }},
		{"typescript", func(t *testing.T) []byte { return scripted(t, fileText(t, "testdata/everything.ts")) }},
	} {
		t.Run(language.name, func(t *testing.T) { compareTraces(t, callsOf(t, language.build(t)), want) })
	}
}

// callsOf runs a plugin and returns the calls that it made. Each request is checked against its
// definition.
func callsOf(t *testing.T, wasm []byte) []asked {
	t.Helper()
	h := &host{keep: true, answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		def, _ := abi.LookupHostCall(call)
		return checkedAnswer(t, def, request)
	}}
	m := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), wasm)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	return h.asked
}

func compareTraces(t *testing.T, got, want []asked) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("call %d is\n%s %q, want\n%s %q", i, got[i].call, got[i].request, want[i].call, want[i].request)
		}
	}
	if len(got) != len(want) {
		t.Errorf("it makes %d calls, want %d", len(got), len(want))
	}
}
