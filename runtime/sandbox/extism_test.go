package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// extismFixture reads a plugin of testdata/extism; docs/extism.md says how they are built.
func extismFixture(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata/extism", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".zst") {
		return wasm
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if wasm, err = d.DecodeAll(wasm, nil); err != nil {
		t.Fatal(err)
	}
	return wasm
}

// extismHost answers the calls of the plugins of testdata/extism, and remembers them.
func extismHost(input string) *host {
	h := &host{keep: true}
	h.answer = func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		switch call {
		case abi.CallInput:
			return abi.CallOK, []byte(input), nil
		case abi.CallConfigGet:
			return abi.CallOK, []byte(`{"value":null}`), nil
		case abi.CallLLMComplete:
			return abi.CallOK, []byte(`{"text":"42"}`), nil
		case abi.CallHostFact:
			return abi.CallOK, []byte(`{"value":"wasm"}`), nil
		case abi.CallHTTPFetch:
			return abi.CallOK, []byte(`{"status":200,"text":"a page"}`), nil
		case abi.CallStateGet:
			return abi.CallNotFound, []byte(`{"code":"not_found","message":"nothing is kept"}`), nil
		}
		return abi.CallOK, nil, nil
	}
	return h
}

// told is what a plugin handed out, with the calls for that and for its input left out
// of the others.
func (h *host) told() (calls []string, output string) {
	for _, a := range h.asked {
		switch a.call {
		case abi.CallInput, abi.CallMessageAppend:
		case abi.CallOutput:
			output = a.request
		default:
			calls = append(calls, a.call+" "+a.request)
		}
	}
	return calls, output
}

func wantFailure(t *testing.T, err error, code string, words ...string) {
	t.Helper()
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Code != code {
		t.Fatalf("%v, want a failure of the code %s", err, code)
	}
	for _, word := range words {
		if !strings.Contains(failure.Message, word) {
			t.Errorf("%q does not say %q", failure.Message, word)
		}
	}
}

func TestExtismPlugins(t *testing.T) {
	share.Alone(t)
	for _, c := range []struct {
		file, export, input string
		calls               []string
		output              string
	}{
		{file: "c.wasm", export: "run", input: "as it is", output: `{"summary":"as it is"}`},
		{file: "rust.wasm", export: "run", input: `{"task":{"input":{"name":"Ada"}},"persona":{}}`,
			calls:  []string{`log {"level":"info","message":"greeting Ada"}`, `config.get {"name":"greeting"}`},
			output: `{"summary":"Hello, Ada!"}`},
		{file: "rust.wasm", export: "fetch",
			calls:  []string{`http.fetch {"call_id":"page","url":"http://host.example/"}`},
			output: `{"summary":"a page"}`},
		{file: "assemblyscript.wasm", export: "run",
			calls:  []string{`config.get {"name":"color"}`, `host.fact {"name":"arch"}`},
			output: `{"summary":"twelve squared is 144: {\"value\":\"wasm\"}"}`},
		{file: "go.wasm.zst", export: "run", input: "four",
			calls: []string{`log {"level":"info","message":"thinking"}`, `log {"level":"warn","message":"slept"}`,
				`llm.complete {"call_id":"main:1","messages":[]}`},
			output: `{"summary":"2026-01-02 0001020304050607 true 0 4 {\"text\":\"42\"}"}`},
	} {
		t.Run(c.file+"#"+c.export, func(t *testing.T) {
			var gas []uint64
			for _, interpreter := range []bool{false, true} {
				if interpreter && c.file == "go.wasm.zst" && testing.Short() {
					continue
				}
				m := compile(t, newRuntime(t, Config{CacheDir: cacheDir, Interpreter: interpreter}), extismFixture(t, c.file))
				h := extismHost(c.input)
				usage, err := m.Run(context.Background(), c.export, h, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				calls, output := h.told()
				if !slices.Equal(calls, c.calls) {
					t.Errorf("it made the calls %q, want %q", calls, c.calls)
				}
				if output != c.output {
					t.Errorf("its output is %s, want %s", output, c.output)
				}
				if usage.HostCalls != len(h.asked) || usage.Gas == 0 || usage.MemoryBytes == 0 {
					t.Errorf("it used %+v", usage)
				}
				gas = append(gas, usage.Gas)
			}
			if len(gas) == 2 && gas[0] != gas[1] {
				t.Errorf("it used %d units of gas in the compiler, %d in the interpreter", gas[0], gas[1])
			}
		})
	}
}

// extismC compiles the plugin that does what no PDK does.
func extismC(t *testing.T) *Module {
	return compile(t, newRuntime(t, Config{CacheDir: cacheDir}), extismFixture(t, "c.wasm"))
}

// onBothEngines runs a test with the plugin that does what no PDK does.
func onBothEngines(t *testing.T, test func(t *testing.T, m *Module)) {
	for _, interpreter := range []bool{false, true} {
		t.Run(fmt.Sprintf("interpreter=%v", interpreter), func(t *testing.T) {
			test(t, compile(t, newRuntime(t, Config{CacheDir: cacheDir, Interpreter: interpreter}), extismFixture(t, "c.wasm")))
		})
	}
}

func TestExtismEnds(t *testing.T) { onBothEngines(t, testExtismEnds) }

func testExtismEnds(t *testing.T, m *Module) {
	for _, c := range []struct {
		export string
		code   string // "" when it does well
		words  []string
	}{
		{"nothing", "", nil},
		{"silent", abi.FailurePluginError, []string{`"silent" returned 3`}},
		{"said", abi.FailurePluginError, []string{"the moon is full"}},
		{"said_but_zero", abi.FailurePluginError, []string{"half done"}},
		{"trap", abi.FailurePluginTrap, []string{"unreachable"}},
		{"missing", abi.FailurePluginMissing, []string{"missing", "run"}},
		{"variables", abi.FailurePluginTrap, []string{"var_set", "state.set", "state_set", extism.UserModule}},
		{"variable", abi.FailurePluginTrap, []string{"var_get", "state.get"}},
		{"http", abi.FailurePluginTrap, []string{"http_request", "http.fetch", "http_fetch", extism.UserModule}},
		{"http_status", abi.FailurePluginTrap, []string{"http_status_code", "http.fetch"}},
		{"wild", abi.FailurePluginTrap, []string{"12345", "state.get"}},
		{"deep", "", nil},
		{"break_header", abi.FailurePluginTrap, []string{"between the blocks"}},
		{"break_header_bytes", abi.FailurePluginTrap, []string{"between the blocks"}},
		{"break_root", abi.FailurePluginTrap, []string{"between the blocks"}},
		{"far", abi.FailurePluginTrap, []string{"outside of its Extism memory"}},
		{"negative", "", nil},
		{"not_a_number", "", nil},
	} {
		t.Run(c.export, func(t *testing.T) {
			_, err := m.Run(context.Background(), c.export, extismHost(""), Limits{WallTime: time.Minute, Gas: 1 << 30})
			if c.code != "" {
				wantFailure(t, err, c.code, c.words...)
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Run(context.Background(), "run", extismHost("well"), Limits{}); err != nil {
				t.Errorf("the next Run: %v", err)
			}
		})
	}
}

func TestExtismOutputs(t *testing.T) {
	m := extismC(t)
	for _, c := range []struct{ export, input, message, output string }{
		{"run", "one line", `{"role":"assistant","parts":[{"type":"text","text":"one line","visibility":"public"}]}`, `{"summary":"one line"}`},
		{"run", "", "", ""},
		{"run", "\n first\nsecond", `{"role":"assistant","parts":[{"type":"text","text":"\n first\nsecond","visibility":"public"}]}`, `{"summary":"first"}`},
		{"json", "", `{"role":"assistant","parts":[{"type":"json","value":{"count":3},"visibility":"public"}]}`, `{"summary":"{\"count\": 3}"}`},
		{"request", "", "", `{"summary":"mine","metrics":{"n":1}}`},
		{"failed", "", "", `{"summary":"","failure":{"code":"mine","message":"no"}}`},
	} {
		h := extismHost(c.input)
		if _, err := m.Run(context.Background(), c.export, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		var message string
		for _, a := range h.asked {
			if a.call == abi.CallMessageAppend {
				message = a.request
			}
		}
		if _, output := h.told(); message != c.message || output != c.output {
			t.Errorf("%s: it said %s and handed out %s; want %s and %s", c.export, message, output, c.message, c.output)
		}
	}
	_, err := m.Run(context.Background(), "bytes", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginOutput, "artifact.put")
	long := strings.Repeat("ä", 500)
	h := extismHost(long)
	if _, err := m.Run(context.Background(), "run", h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if _, output := h.told(); output != `{"summary":"`+strings.Repeat("ä", 100)+`…"}` {
		t.Errorf("the summary of a long line is %s", output)
	}
	deny := func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
		return abi.CallDenied, []byte(`{"code":"denied","message":"not you"}`), nil
	}
	h = extismHost("x")
	answer := h.answer
	h.answer = func(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallMessageAppend {
			return deny(ctx, call, request)
		}
		return answer(ctx, call, request)
	}
	_, err = m.Run(context.Background(), "run", h, Limits{})
	wantFailure(t, err, abi.FailurePluginOutput, "message.append", "not you")
}

func TestExtismHostCalls(t *testing.T) {
	m := extismC(t)
	h := extismHost("")
	usage, err := m.Run(context.Background(), "calls", h, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []asked{
		{abi.CallInput, ""},
		{abi.CallClock, ""},
		{abi.CallLLMComplete, `{"call_id":"main:1","messages":[]}`},
		{abi.CallStateSet, `{"key":"k","value":1}`},
		{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"done","visibility":"public"}]}`},
		{abi.CallOutput, `{"text":"42"}`}, // what it returned afterwards does not count
	}
	if !slices.Equal(h.asked, want) {
		t.Errorf("it made the calls\n%q, want\n%q", h.asked, want)
	}
	if usage.HostCalls != len(want) {
		t.Errorf("%d host calls were counted, want %d", usage.HostCalls, len(want))
	}

	h = extismHost("")
	if _, err := m.Run(context.Background(), "refused", h, Limits{}); err != nil {
		t.Fatal(err)
	}
	const told = `"value":{"error":{"status":3,"code":"not_found","message":"nothing is kept"}}`
	if !slices.ContainsFunc(h.asked, func(a asked) bool { return strings.Contains(a.request, told) }) {
		t.Errorf("a refusal was not told: %q", h.asked)
	}

	h.answer = func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallMessageAppend {
			return abi.CallInvalid, []byte(`{"code":"invalid","message":"no parts"}`), nil
		}
		return abi.CallOK, nil, nil
	}
	_, err = m.Run(context.Background(), "unheard", h, Limits{})
	wantFailure(t, err, abi.FailurePluginError, "message.append", "no parts")

	_, err = m.Run(context.Background(), "calls", extismHost(""), Limits{HostCalls: 3})
	wantFailure(t, err, abi.FailureHostCalls)
	_, err = m.Run(context.Background(), "run", extismHost("more than ten bytes"), Limits{OutputBytes: 10})
	wantFailure(t, err, abi.FailureOutputTooLarge)
	_, err = m.Run(context.Background(), "run", extismHost("more than ten bytes"), Limits{PayloadBytes: 10})
	wantFailure(t, err, abi.FailurePayloadTooLarge)
	broken := errors.New("the disk is full")
	h.answer = func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallLLMComplete {
			return 0, nil, broken
		}
		return abi.CallOK, nil, nil
	}
	if _, err = m.Run(context.Background(), "calls", h, Limits{}); err != broken {
		t.Errorf("the Host's own error came out as %v", err)
	}
}

// TestExtismForgets holds that nothing of one Run is seen by the next: neither statics nor
// grown memory.
func TestExtismForgets(t *testing.T) {
	m := extismC(t)
	for range 3 {
		h := extismHost("")
		if _, err := m.Run(context.Background(), "count", h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if _, output := h.told(); output != `{"summary":"0 calls before, 0 pages more"}` {
			t.Fatalf("it was called in an instance that was used before: %s", output)
		}
	}
}

// TestExtismConfig holds that each Run is told its own configuration, through a host call
// that is recorded, and not through the one map that the SDK's instances share.
func TestExtismConfig(t *testing.T) {
	m := extismC(t)
	var wait sync.WaitGroup
	for i, c := range []struct{ value, output string }{
		{`"red"`, "red"}, {`"gr\u00fcn"`, "grün"}, {`null`, "(nothing)"}, {`3`, "3"}, {`[1, 2]`, "[1, 2]"}, {`""`, "(nothing)"},
	} {
		wait.Go(func() {
			for range 20 {
				h := extismHost("")
				answer := h.answer
				h.answer = func(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
					if call == abi.CallConfigGet {
						return abi.CallOK, []byte(`{"value":` + c.value + `}`), nil
					}
					return answer(ctx, call, request)
				}
				if _, err := m.Run(context.Background(), "config", h, Limits{}); err != nil {
					t.Error(err)
				}
				calls, output := h.told()
				if want := `{"summary":"` + c.output + `"}`; output != want {
					t.Errorf("%d: it was told %s, want %s", i, output, want)
				}
				if !slices.Equal(calls, []string{`config.get {"name":"color"}`}) {
					t.Errorf("%d: it asked with %q", i, calls)
				}
			}
		})
	}
	wait.Wait()
}

func TestExtismLog(t *testing.T) {
	h := extismHost("")
	if _, err := extismC(t).Run(context.Background(), "log", h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if calls, _ := h.told(); !slices.Equal(calls, []string{`log {"level":"info","message":"a line"}`}) {
		t.Errorf("its log is %q", calls)
	}
}

func TestExtismLimits(t *testing.T) { onBothEngines(t, testExtismLimits) }

func testExtismLimits(t *testing.T, m *Module) {
	for range 2 {
		usage, err := m.Run(context.Background(), "spin", extismHost(""), Limits{Gas: 5_000_000})
		wantFailure(t, err, abi.FailurePluginGas, "5000000")
		if usage.Gas < 1 {
			t.Errorf("it used %d units of gas", usage.Gas)
		}
	}
	_, err := m.Run(context.Background(), "spin", extismHost(""), Limits{WallTime: time.Millisecond})
	wantFailure(t, err, abi.FailurePluginTimeout)

	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	h := extismHost("")
	answer := h.answer
	h.answer = func(c context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		cancel(enough)
		return answer(c, call, request)
	}
	if _, err := m.Run(ctx, "spin", h, Limits{}); err != enough {
		t.Errorf("a busy plugin that is canceled ends with %v", err)
	}
	if _, err := m.Run(ctx, "spin", h, Limits{}); err != enough {
		t.Errorf("a Run that is canceled before it begins ends with %v", err)
	}

	if _, err := m.Run(context.Background(), "deep", extismHost(""), Limits{Depth: 3000}); err != nil {
		t.Error(err)
	}
	_, err = m.Run(context.Background(), "deep", extismHost(""), Limits{Depth: 500})
	wantFailure(t, err, abi.FailurePluginTrap, "stack overflow")

	endless := extismGuest(rewrite.Import{Module: extism.EnvModule, Name: "alloc", Params: i64, Results: i64})
	endless.funcs[0].body = call(1)
	_, err = compile(t, m.runtime, endless.wasm()).Run(context.Background(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginTrap, "stack overflow")

	const limit = 8 << 20
	usage, err := m.Run(context.Background(), "greedy", extismHost(""), Limits{MemoryBytes: limit})
	wantFailure(t, err, abi.FailurePluginError, fmt.Sprint(limit))
	if usage.MemoryBytes > limit || usage.MemoryBytes < limit/2 {
		t.Errorf("it took %d bytes of %d", usage.MemoryBytes, limit)
	}
	_, err = m.Run(context.Background(), "run", extismHost(strings.Repeat("x", limit)), Limits{MemoryBytes: limit})
	wantFailure(t, err, abi.FailurePluginMemory)
	_, err = m.Run(context.Background(), "run", extismHost(strings.Repeat("x", limit/2)), Limits{MemoryBytes: limit})
	wantFailure(t, err, abi.FailurePluginTrap) // it does not look at what alloc answers
	_, err = m.Run(context.Background(), "log", extismHost(""), Limits{PayloadBytes: 5})
	wantFailure(t, err, abi.FailurePayloadTooLarge, "log")
	_, err = m.Run(context.Background(), "walk", extismHost(""), Limits{Gas: 1 << 30})
	wantFailure(t, err, abi.FailurePluginGas)
	_, err = m.Run(context.Background(), "run", extismHost(""), Limits{MemoryBytes: 1 << 16})
	wantFailure(t, err, abi.FailurePluginMemory)
}

func TestExtismImports(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: cacheDir})
	wasm := extismFixture(t, "rust.wasm")
	m := compile(t, r, wasm)
	want := []string{abi.CallConfigGet, abi.CallHTTPFetch, abi.CallInput, abi.CallLog, abi.CallMessageAppend, abi.CallOutput}
	if got := m.Imports(); !slices.Equal(got, want) {
		t.Errorf("it can make the calls %q, want %q", got, want)
	}
	if got := m.Exports(); !slices.Equal(got, []string{"fetch", "remember", "run"}) || !m.HasExport("fetch") || m.HasExport("memory") {
		t.Errorf("it exports %q", got)
	}
	again := compile(t, r, wasm)
	if m.Digest() != again.Digest() || !strings.HasPrefix(m.Digest(), "sha256:") {
		t.Errorf("its digest is %s, then %s", m.Digest(), again.Digest())
	}
}

// extismGuest is a module with the given imports, whose export run is empty.
func extismGuest(imports ...rewrite.Import) *handmade {
	g := &handmade{pages: 1}
	for _, f := range imports {
		g.imports = append(g.imports, importedFunc{f.Module, f.Name, signature(f.Params, f.Results)})
	}
	return g.add(fn{export: abi.DefaultExport, sig: runSig, body: konst(0)})
}

func TestExtismRefuses(t *testing.T) {
	r := newRuntime(t, Config{})
	alloc := rewrite.Import{Module: extism.EnvModule, Name: "alloc", Params: i64, Results: i64}
	for _, c := range []struct {
		name   string
		module *handmade
		words  []string
	}{
		{"an unknown function of the SDK", extismGuest(rewrite.Import{Module: extism.EnvModule, Name: "allocate", Params: i64}), []string{"allocate", "does not exist", "output_set"}},
		{"a function of the SDK that is for hosts", extismGuest(rewrite.Import{Module: extism.EnvModule, Name: "reset"}), []string{"reset", "does not exist"}},
		{"an unknown host call", extismGuest(rewrite.Import{Module: extism.UserModule, Name: "mult", Params: i64, Results: i64}), []string{"mult", "llm_complete"}},
		{"another rewrite.Signature", extismGuest(rewrite.Import{Module: extism.UserModule, Name: "clock", Params: i32, Results: i64}), []string{"clock", "(i32) -> (i64)", "(i64) -> (i64) or () -> (i64)"}},
		{"native host calls", extismGuest(alloc, rewrite.Import{Module: abi.HostModule, Name: "clock", Params: i32 + i32, Results: i64}), []string{"clock", extism.UserModule}},
		{"a second module", extismGuest(alloc, rewrite.Import{Module: "lib", Name: "capitalize", Params: i64, Results: i64}), []string{"capitalize", "one module", "wasm-merge"}},
		{"two signatures for one", extismGuest(rewrite.Import{Module: extism.UserModule, Name: "clock", Results: i64}, rewrite.Import{Module: extism.UserModule, Name: "clock"}), []string{"clock", "one of the two"}},
		{"nothing to run", (&handmade{pages: 1, imports: []importedFunc{{extism.EnvModule, "alloc", signature(i64, i64)}}}).add(fn{export: "_initialize"}), []string{"exports no function"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.Compile(context.Background(), c.module.wasm())
			wantFailure(t, err, abi.FailurePluginInvalid, c.words...)
		})
	}
}

// TestExtismStart holds that a start function is bounded and can be stopped like all
// else, and that it cannot reach the host, which is not there yet.
func TestExtismStart(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: cacheDir})
	alloc := rewrite.Import{Module: extism.EnvModule, Name: "alloc", Params: i64, Results: i64}
	clock := rewrite.Import{Module: extism.UserModule, Name: "clock", Results: i64}
	start := func(body string, imports ...rewrite.Import) *Module {
		g := extismGuest(imports...).add(fn{body: body})
		g.start = len(imports) + 2
		return compile(t, r, g.wasm())
	}
	_, err := start(opLoopForever, alloc).Run(context.Background(), "run", extismHost(""), Limits{Gas: 1 << 20})
	wantFailure(t, err, abi.FailurePluginGas)
	_, err = start(call(2), alloc).Run(context.Background(), "run", extismHost(""), Limits{Depth: 1000})
	wantFailure(t, err, abi.FailurePluginTrap, "stack overflow")
	_, err = start(call(0)+opDrop, clock).Run(context.Background(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginTrap, "start function", "clock")
	_, err = start(opUnreachable, alloc).Run(context.Background(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginTrap, "unreachable")
}

// TestExtismInitialization holds that a plugin is initialized within each Run, under the
// Run's Host and limits, before its export and once.
func TestExtismInitialization(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: cacheDir})
	message := rewrite.Import{Module: extism.UserModule, Name: "message_delta"}
	progress := rewrite.Import{Module: extism.UserModule, Name: "progress"}
	module := func(initialize string) *Module {
		g := &handmade{pages: 1, imports: []importedFunc{
			{message.Module, message.Name, rewrite.Signature{}}, {progress.Module, progress.Name, rewrite.Signature{}},
		}}
		g.add(fn{export: abi.DefaultExport, sig: runSig, body: call(1) + konst(0)})
		return compile(t, r, g.add(fn{export: exportInitialize, body: initialize}).wasm())
	}
	m := module(call(0))
	for range 2 {
		h := extismHost("")
		if _, err := m.Run(context.Background(), "run", h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if want := []asked{{call: abi.CallInput}, {call: abi.CallMessageDelta}, {call: abi.CallProgress}}; !slices.Equal(h.asked, want) {
			t.Errorf("it made the calls %v, want %v", h.asked, want)
		}
	}
	_, err := module(opLoopForever).Run(context.Background(), "run", extismHost(""), Limits{Gas: 1 << 20})
	wantFailure(t, err, abi.FailurePluginGas)
	_, err = module(opUnreachable).Run(context.Background(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginTrap, "unreachable")
	h := extismHost("")
	stop := errors.New("stop")
	h.answer = func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallMessageDelta {
			return 0, nil, stop
		}
		return abi.CallOK, nil, nil
	}
	if _, err := m.Run(context.Background(), "run", h, Limits{}); err != stop {
		t.Errorf("the Host's own error came out as %v", err)
	}
}

// TestExtismHaskell holds that what unwinds an initialization counts where the SDK would
// go on.
func TestExtismHaskell(t *testing.T) {
	g := &handmade{pages: 1, imports: []importedFunc{{extism.EnvModule, "alloc", signature(i64, i64)}}}
	g.add(fn{export: abi.DefaultExport, sig: runSig, body: konst(0)})
	g.add(fn{export: exportInitialize, body: opUnreachable})
	g.add(fn{export: "hs_init", sig: signature(i32+i32, "")})
	m := compile(t, newRuntime(t, Config{}), g.wasm())
	_, err := m.Run(context.Background(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePluginTrap, "unreachable")
}

func TestExtismStandardOutput(t *testing.T) {
	t.Setenv(extism.OutputVariable, "")
	_, err := newRuntime(t, Config{}).Compile(context.Background(), extismFixture(t, "c.wasm"))
	if err == nil || !strings.Contains(err.Error(), extism.OutputVariable) {
		t.Errorf("a plugin may write to the node's standard output: %v", err)
	}
}

// TestExtismPDKs runs what the SDK tests itself with: plugins that were made with other
// versions of its PDKs, and without thinking of Wharf.
func TestExtismPDKs(t *testing.T) {
	share.Alone(t)
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	if err != nil {
		t.Skipf("the SDK's sources are not at hand: %v", err)
	}
	r := newRuntime(t, Config{CacheDir: cacheDir})
	for _, c := range []struct {
		file, export, input, output string
		code                        string
		words                       []string
	}{
		{file: "hello.wasm", export: "run_test", output: `{"summary":"Hello, world!"}`},
		{file: "alloc.wasm", export: "run_test"},
		{file: "fail.wasm", export: "run_test", code: abi.FailurePluginError, words: []string{"Some error message"}},
		{file: "config.wasm", export: "run_test", output: `{"summary":"{\"config\": \"<unset by host>\"}"}`},
		{file: "count_vowels.wasm", export: "count_vowels", input: "hello", code: abi.FailurePluginTrap, words: []string{"var_get", "state.get"}},
		{file: "replace.wasm", export: "run_test", input: "Hello, a and b", output: `{"summary":"Hello, a and b"}`},
		{file: "input_offset.wasm", export: "input_offset_length", input: "abc", output: `{"summary":"` + "\\u0003" + strings.Repeat("\\u0000", 7) + `"}`},
		{file: "hello_haskell.wasm", export: "testing", input: "x", output: `{"summary":"Hello, x"}`},
		{file: "log.wasm", export: "run_test"},
		{file: "std_command.wasm", export: "_start", input: "x", output: `{"summary":"hello x"}`},
		{file: "exit.wasm", export: "_start", code: abi.FailurePluginExit, words: []string{"code 2"}},
		{file: "http.wasm", export: "run_test", code: abi.FailurePluginTrap, words: []string{"http.fetch"}},
		{file: "fs_std.wasm", export: "run_test", code: abi.FailurePluginError},
		{file: "println.wasm", export: "run_test", input: "a line"},
		{file: "main.wasm", code: abi.FailurePluginInvalid, words: []string{"lib", "wasm-merge"}},
		{file: "host.wasm", code: abi.FailurePluginInvalid, words: []string{"mult"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			wasm, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "wasm", c.file))
			if err != nil {
				t.Fatal(err)
			}
			h := extismHost(c.input)
			m, err := r.Compile(context.Background(), wasm)
			if err == nil {
				_, err = m.Run(context.Background(), c.export, h, Limits{})
			}
			if c.code != "" {
				wantFailure(t, err, c.code, c.words...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, output := h.told(); output != c.output {
				t.Errorf("its output is %s, want %s (%v)", output, c.output, h.asked)
			}
		})
	}
}

// TestExtismDocumentedExample builds the example in Go of docs/extism.md as it says, and
// runs it.
func TestExtismDocumentedExample(t *testing.T) {
	share.Alone(t)
	text, err := os.ReadFile("../../docs/extism.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n```go\n")
	source, _, ok := strings.Cut(rest, "\n```\n")
	if !ok {
		t.Fatal("docs/extism.md has no example in Go")
	}
	dir := t.TempDir()
	files := map[string][]byte{"main.go": []byte(source + "\n")}
	for _, name := range []string{"go.mod", "go.sum"} {
		if files[name], err = os.ReadFile(filepath.Join("testdata/extism/go", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
		return cmd.CombinedOutput()
	}
	if out, err := run("mod", "download"); err != nil {
		t.Skipf("the PDK cannot be had: %v\n%s", err, out)
	}
	if out, err := run("build", "-buildmode=c-shared", "-o", "hello.wasm", "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "hello.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	h := extismHost("")
	if _, err := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), wasm).Run(context.Background(), "run", h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if _, output := h.told(); output != `{"summary":"{\"text\":\"42\"}"}` {
		t.Errorf("its output is %s", output)
	}
	i := slices.IndexFunc(h.asked, func(a asked) bool { return a.call == abi.CallLLMComplete })
	if i < 0 {
		t.Fatalf("it asked no model: %q", h.asked)
	}
	var request abi.ModelRequest // as strictly as a node reads it
	if err := json.Unmarshal([]byte(h.asked[i].request), &request, json.RejectUnknownMembers(true)); err != nil || len(request.Messages) != 1 || request.Messages[0].Text == "" {
		t.Errorf("it asked with %s: %v", h.asked[i].request, err)
	}
}

// FuzzExtismMemory runs plugins that do what they like with the memory in which the SDK
// passes bytes: they all end, and in a way that is told.
func FuzzExtismMemory(f *testing.F) {
	op := func(what byte, a, b uint64) string {
		return string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{what}, a), b))
	}
	full := strings.Repeat(op('A', 0, 60000), 20)
	for _, program := range []string{
		op('A', 0, 8) + op('s', ^uint64(7), 0xfffffff4) + full,
		op('A', 0, 8) + op('f', 0, 0) + op('s', 0, 0) + full,
		op('A', 0, 300) + op('f', 0, 0) + op('A', 0, 8) + op('s', 0, 1) + full,
		op('A', 0, 300) + op('F', 77, 0) + op('S', 65, 0) + full,
		op('A', 0, ^uint64(11)) + full, op('A', 0, 1<<32-12) + full,
		op('B', 1, 0) + op('B', 0, 9) + full,
		op('A', 0, 100) + op('o', 0, 1<<40) + op('e', 50, 0) + op('g', 4, 0) + op('L', 1<<33, 0),
		op('A', 0, 100) + op('s', 88, 2) + op('s', 96, 0) + op('s', 104, 0) + full,
	} {
		f.Add([]byte(program))
	}
	r, err := New(context.Background(), Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	m, err := r.Compile(context.Background(), extismFixture(f, "c.wasm"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		usage, err := m.Run(context.Background(), "program", extismHost(string(program)), Limits{MemoryBytes: 4 << 20, Gas: 1 << 24})
		if err == nil {
			return
		}
		failure, ok := errors.AsType[*abi.Failure](err)
		if !ok || failure.Code == abi.FailureHost || strings.Contains(failure.Message, "goroutine") {
			t.Errorf("%v after %d calls", err, usage.HostCalls)
		}
	})
}

func TestExtismInspect(t *testing.T) {
	report, err := extismC(t).Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Snapshot || report.Pool || report.NoSnapshot == "" || report.NoPool == "" || report.Birth <= 0 || report.Memory.Begins < report.Memory.Declared {
		t.Errorf("it says %+v", report)
	}
	allows := map[string]string{}
	for _, i := range report.Imports {
		allows[i.Name] = i.Allows
	}
	for name, words := range map[string]string{
		abi.CallLLMComplete: "model", abi.CallStateGet: "Reads", "config_get": "the operator has configured",
		"http_request": "off: use the host call http.fetch", "store_u8": "Extism SDK", extism.StatusImport: "status",
	} {
		if !strings.Contains(allows[name], words) {
			t.Errorf("%s is described as %q, which does not say %q", name, allows[name], words)
		}
	}
}

// TestExtismGas holds that the gas of a Run does not depend on the slices in which it is
// given, whether a start function, an initialization or an export uses it.
func TestExtismGas(t *testing.T) {
	for _, file := range []string{"assemblyscript.wasm", "rust.wasm", "c.wasm"} {
		var used []uint64
		for _, slice := range []int64{0, 1, 7, 1000} {
			r := newRuntime(t, Config{})
			r.shared.Slice = slice
			m := compile(t, r, extismFixture(t, file))
			usage, err := m.Run(context.Background(), "run", extismHost(`{"task":{"input":{}}}`), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			used = append(used, usage.Gas)
		}
		if len(slices.Compact(used)) != 1 {
			t.Errorf("%s used %d units of gas", file, used)
		}
	}
}
