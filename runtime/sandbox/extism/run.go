package extism

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
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/image"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// run is the state of one Run of an Extism plugin, and the context that
// everything in it gets.
type run struct {
	*guest.Run
	plugin   *extism.Plugin // nil until the instance is made
	memory   api.Memory     // in which the SDK passes bytes
	own      api.Memory     // the guest's, nil until it was called
	memories memories
	headers  headers
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

type runKey struct{}

// Value implements context.Context. It hands the run to host functions.
func (x *run) Value(key any) any {
	if key == (runKey{}) {
		return x
	}
	return x.Run.Value(key)
}

func runOf(ctx context.Context) *run {
	x, _ := ctx.Value(runKey{}).(*run)
	return x
}

func newRun(ctx context.Context, h guest.Host, l guest.Limits, s guest.Shared) *run {
	x := &run{Run: &guest.Run{}, headers: newHeaders()}
	x.Begin(ctx, h, l, s)
	x.Arm(nil)
	x.memories.run = x.Run
	return x
}

// Run makes an instance, calls the export, and throws the instance away. begun is when the
// Run was asked for. It returns nil when the export returned 0; what the guest did wrong is
// an *abi.Failure, as it is for native plugins.
func (p *Plugin) Run(ctx context.Context, begun time.Time, export string, h guest.Host, l guest.Limits) (guest.Usage, error) {
	if err := l.Suffice(p.memory); err != nil {
		return guest.Usage{}, err
	}
	x := newRun(ctx, h, l, p.engine.Shared)
	defer x.Release()
	x.first = p.memory + kernelPages*image.PageBytes
	x.YieldAt, x.Locate = p.imports+1, p.engine.Locate
	var usage guest.Usage
	result, err := p.perform(x, export, begun, &usage)
	usage.HostCalls, usage.MemoryBytes, usage.Gas = x.Calls, x.memories.size, x.GasUsed()
	return usage, x.Judge(export, int32(result), err)
}

// perform makes an instance, calls the export, and throws the instance away.
func (p *Plugin) perform(x *run, export string, begun time.Time, usage *guest.Usage) (result uint32, err error) {
	if err := guest.Caught(func() { x.Hold(x.first) }); err != nil {
		return 0, err
	}
	plugin, err := p.instantiate(x)
	if err != nil {
		return 0, &guest.InstantiateError{Err: err}
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
		err = x.Conclude()
	}
	if err == nil && result == 0 {
		err = guest.Caught(func() { x.handOut(output) })
	}
	usage.Run = time.Since(called)
	return result, err
}

// instantiate makes an instance. The SDK's functions look for a plugin in the context,
// which is not there yet when a start function runs: yield must not care.
func (p *Plugin) instantiate(x *run) (*extism.Plugin, error) {
	ctx := context.WithValue(context.Context(x), extism.PluginCtxKey("plugin"), &extism.Plugin{})
	ctx = experimental.WithMemoryAllocator(ctx, &x.memories)
	return p.compiled.Instance(ctx, extism.PluginInstanceConfig{ModuleConfig: p.engine.Module})
}

// input returns the Extism input: what the host call of that name answers. The SDK does
// not notice when it has no room for it.
func (x *run) input() (input []byte, err error) {
	err = guest.Caught(func() {
		status, answer := x.call(inputCall, nil)
		if status != abi.CallOK {
			x.Abort(abi.FailureHost, "its input was refused: %s", callError(answer).Message)
		}
		input = answer
	})
	if room := x.memories.size + uint64(len(input)) + 2*image.PageBytes; err == nil && room > x.Limits.MemoryBytes {
		err = guest.Failf(abi.FailurePluginMemory, "the plugin needs %d bytes of memory to start with an input of %d bytes; it may have %d",
			room, len(input), x.Limits.MemoryBytes)
		x.Failure, _ = errors.AsType[*abi.Failure](err)
	}
	return input, err
}

// verdict takes the SDK's answer to a call for what it is. The SDK mixes up what
// unwound the guest and what the guest set as an error, drops the former when it
// initializes some language runtimes, and takes an exit with 0 for a return.
func (x *run) verdict(err error) error {
	if exit, ok := errors.AsType[*sys.ExitError](x.aborted); x.aborted != nil && !(ok && exit.ExitCode() == 0) {
		return x.aborted
	}
	if err != nil {
		return err
	}
	if said := x.complaint(); said != "" {
		x.Failure = &abi.Failure{Code: abi.FailurePluginError, Message: said}
		return x.Failure
	}
	return nil
}

// handOut makes the host call output with what the plugin returned, unless it made that
// call itself.
func (x *run) handOut(output []byte) {
	if x.gave || len(output) == 0 {
		return
	}
	x.Work(int(max(x.outputBytes, uint64(len(output)))))
	switch {
	case x.outputBytes > uint64(x.Limits.PayloadBytes):
		x.Abort(abi.FailurePayloadTooLarge, "its output is %d bytes long; one call takes at most %d", x.outputBytes, x.Limits.PayloadBytes)
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

func (x *run) badOutput(format string, args ...any) {
	x.Failure = guest.Failf(abi.FailurePluginOutput, format, args...)
	panic(x.Failure)
}

func (x *run) must(c *guest.HostCall, request []byte) {
	if status, answer := x.call(c, request); status != abi.CallOK {
		x.badOutput("its output was refused by the host call %q: %s", c.Name, callError(answer).Message)
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
	x := runOf(ctx)
	if x == nil || x.entered {
		return
	}
	gas, metered := mod.ExportedGlobal(rewrite.GasExport).(api.MutableGlobal)
	depth, bounded := mod.ExportedGlobal(rewrite.DepthExport).(api.MutableGlobal)
	if !metered || !bounded {
		return // the SDK's own module
	}
	x.entered, x.own = true, mod.Memory()
	x.Reach(gas)
	depth.Set(uint64(x.Limits.Depth))
}

// After implements experimental.FunctionListener.
func (entry) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort implements experimental.FunctionListener.
func (entry) Abort(ctx context.Context, _ api.Module, _ api.FunctionDefinition, err error) {
	if x := runOf(ctx); x != nil {
		x.aborted = err
	}
}
