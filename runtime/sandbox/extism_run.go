package sandbox

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	extism "github.com/extism/go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// extismRun is the state of one Run of an Extism plugin, and the context that
// everything in it gets.
type extismRun struct {
	*run
	plugin   *extism.Plugin // nil until the instance is made
	memory   api.Memory     // in which the SDK passes bytes
	own      api.Memory     // the guest's, nil until it was called
	memories extismMemories
	headers  extismHeaders
	first    uint64     // bytes of memory to begin with, about
	kernel   api.Module // the SDK's own, nil until the guest calls anything
	entered  bool       // the guest has what it may use
	errorAt  uint64     // what the guest set as its error, 0 for nothing
	// outputBytes is how long the output is that the guest set last.
	outputBytes uint64
	status      abi.CallStatus // of the last host call
	gave        bool           // the guest made the host call output
	said        bool           // the guest made the host call message.append
	aborted     error          // what unwound the guest, nil if nothing did
}

type extismKey struct{}

// Value implements context.Context. It hands the run to host functions.
func (x *extismRun) Value(key any) any {
	if key == (extismKey{}) {
		return x
	}
	return x.run.Value(key)
}

func extismOf(ctx context.Context) *extismRun {
	x, _ := ctx.Value(extismKey{}).(*extismRun)
	return x
}

func newExtismRun(ctx context.Context, h Host, l Limits) *extismRun {
	x := &extismRun{run: &run{}, headers: newExtismHeaders()}
	x.begin(ctx, h, l)
	x.memories.run = x.run
	return x
}

// runExtism does a Run of a plugin that was made with an Extism PDK.
func (m *Module) runExtism(ctx context.Context, begun time.Time, export string, h Host, l Limits) (Usage, error) {
	var needs uint64
	if m.shape.Memory != nil {
		needs = uint64(m.shape.Memory.Min) * pageBytes
	}
	if err := m.callable(ctx, export); err != nil {
		return Usage{}, err
	}
	if err := l.suffice(needs); err != nil {
		return Usage{}, err
	}
	return m.extism.serve(ctx, begun, export, needs, h, l)
}

// serve does a Run, as [instance.serve] does for native plugins.
func (e *extismPlugin) serve(ctx context.Context, begun time.Time, export string, needs uint64, h Host, l Limits) (Usage, error) {
	x := newExtismRun(ctx, h, l)
	x.first = needs + extismPages*pageBytes
	x.yieldAt = e.imports + 1
	x.meter.slice, x.turns, x.run.memories = e.gasSlice, e.turns, e.memories
	defer x.release()
	x.meter.start(l.Gas, nil)
	var usage Usage
	result, err := e.perform(x, export, begun, &usage)
	usage.HostCalls, usage.MemoryBytes, usage.Gas = x.calls, x.memories.size, x.gasUsed()
	return usage, x.judge(export, int32(result), err)
}

// perform makes an instance, calls the export, and throws the instance away.
func (e *extismPlugin) perform(x *extismRun, export string, begun time.Time, usage *Usage) (result uint32, err error) {
	if err := caught(func() { x.hold(x.first) }); err != nil {
		return 0, err
	}
	plugin, err := e.instantiate(x)
	if err != nil {
		return 0, &instantiateError{err}
	}
	defer plugin.Close(context.Background())
	plugin.SetLogger(func(extism.LogLevel, string) {})
	x.plugin, x.memory = plugin, plugin.Memory()
	input, err := x.input()
	if err != nil {
		return 0, err
	}
	called := time.Now()
	usage.Instantiate = called.Sub(begun)
	result, output, err := plugin.CallWithContext(x, export, input)
	if err = x.verdict(err); err == nil && result == 0 {
		err = x.conclude()
	}
	if err == nil && result == 0 {
		err = caught(func() { x.handOut(output) })
	}
	usage.Run = time.Since(called)
	return result, err
}

// instantiate makes an instance. The SDK's functions look for a plugin in the context,
// which is not there yet when a start function runs: yield must not care.
func (e *extismPlugin) instantiate(x *extismRun) (*extism.Plugin, error) {
	ctx := context.WithValue(context.Context(x), extism.PluginCtxKey("plugin"), &extism.Plugin{})
	ctx = experimental.WithMemoryAllocator(ctx, &x.memories)
	return e.compiled.Instance(ctx, extism.PluginInstanceConfig{ModuleConfig: plainConfig})
}

// input returns the Extism input: what the host call of that name answers. The SDK does
// not notice when it has no room for it.
func (x *extismRun) input() (input []byte, err error) {
	err = caught(func() {
		status, answer := x.call(inputCall, nil)
		if status != abi.CallOK {
			x.abort(abi.FailureHost, "its input was refused: %s", callError(answer).Message)
		}
		input = answer
	})
	if room := x.memories.size + uint64(len(input)) + 2*pageBytes; err == nil && room > x.limits.MemoryBytes {
		err = failf(abi.FailurePluginMemory, "the plugin needs %d bytes of memory to start with an input of %d bytes; it may have %d",
			room, len(input), x.limits.MemoryBytes)
		x.failure, _ = errors.AsType[*abi.Failure](err)
	}
	return input, err
}

// verdict takes the SDK's answer to a call for what it is. The SDK mixes up what
// unwound the guest and what the guest set as an error, drops the former when it
// initializes some language runtimes, and takes an exit with 0 for a return.
func (x *extismRun) verdict(err error) error {
	if exit, ok := errors.AsType[*sys.ExitError](x.aborted); x.aborted != nil && !(ok && exit.ExitCode() == 0) {
		return x.aborted
	}
	if err != nil {
		return err
	}
	if said := x.complaint(); said != "" {
		x.failure = &abi.Failure{Code: abi.FailurePluginError, Message: said}
		return x.failure
	}
	return nil
}

// handOut makes the host call output with what the plugin returned, unless it made that
// call itself.
func (x *extismRun) handOut(output []byte) {
	if x.gave || len(output) == 0 {
		return
	}
	x.work(int(max(x.outputBytes, uint64(len(output)))))
	switch {
	case x.outputBytes > uint64(x.limits.PayloadBytes):
		x.abort(abi.FailurePayloadTooLarge, "its output is %d bytes long; one call takes at most %d", x.outputBytes, x.limits.PayloadBytes)
	case !utf8.Valid(output):
		x.badOutput("its output, %d bytes, is not text; hand out bytes with the host call %s", len(output), abi.CallArtifactPut)
	case isOutput(output):
		x.must(outputCall, output)
		return
	}
	part := outputPart(output)
	if !x.said {
		x.must(messageCall, mustMarshal(abi.MessageInput{Role: abi.RoleAssistant, Parts: []abi.Part{part}}))
	}
	x.must(outputCall, mustMarshal(abi.CallOutputRequest{Summary: summary(output)}))
}

func (x *extismRun) badOutput(format string, args ...any) {
	x.failure = failf(abi.FailurePluginOutput, format, args...)
	panic(x.failure)
}

func (x *extismRun) must(c *hostCall, request []byte) {
	if status, answer := x.call(c, request); status != abi.CallOK {
		x.badOutput("its output was refused by the host call %q: %s", c.name, callError(answer).Message)
	}
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // valid UTF-8 and valid JSON can always be written
	}
	return b
}

// isOutput reports whether a plugin returned the request of the host call output: an
// object that is one, and nothing beyond.
func isOutput(output []byte) bool {
	var request struct {
		abi.CallOutputRequest
		Summary *string `json:"summary"`
	}
	if _, err := abi.Weigh(output, reflect.TypeOf(request)); err != nil || abi.TooDeep(output, abi.MaxDepth) >= 0 {
		return false
	}
	return json.Unmarshal(output, &request, json.RejectUnknownMembers(true)) == nil && (request.Summary != nil || request.Failure != nil)
}

// outputPart is what a plugin returned as a part of a Message: JSON objects and arrays
// as such, all else as text.
func outputPart(output []byte) abi.Part {
	if value := jsontext.Value(output); value.IsValid() && (value.Kind() == '{' || value.Kind() == '[') {
		return abi.Part{Type: abi.PartJSON, Value: value, Visibility: abi.VisibilityPublic}
	}
	s := string(output)
	return abi.Part{Type: abi.PartText, Text: &s, Visibility: abi.VisibilityPublic}
}

// maxSummary is the longest summary that is made of an output, in bytes.
const maxSummary = 200

// summary is the first line of an output, as far as a summary goes.
func summary(output []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(output), []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) <= maxSummary {
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:maxSummary]), "") + "…"
}

// entry listens to the start function and the exports of a plugin, for the SDK hides its instance: it gives
// the guest what it may use, and keeps what unwound it.
type entry struct{}

var _ experimental.FunctionListener = entry{}

// Before implements experimental.FunctionListener.
func (entry) Before(ctx context.Context, mod api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	x := extismOf(ctx)
	if x == nil || x.entered {
		return
	}
	gas, metered := mod.ExportedGlobal(rewrite.GasExport).(api.MutableGlobal)
	depth, bounded := mod.ExportedGlobal(rewrite.DepthExport).(api.MutableGlobal)
	if !metered || !bounded {
		return // the SDK's own module
	}
	x.entered, x.meter.left, x.own = true, gas, mod.Memory()
	depth.Set(uint64(x.limits.Depth))
}

// After implements experimental.FunctionListener.
func (entry) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort implements experimental.FunctionListener.
func (entry) Abort(ctx context.Context, _ api.Module, _ api.FunctionDefinition, err error) {
	if x := extismOf(ctx); x != nil {
		x.aborted = err
	}
}
