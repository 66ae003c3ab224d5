package extism

import (
	"context"
	"fmt"
	"math"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

const (
	i32 = string(rune(api.ValueTypeI32))
	i64 = string(rune(api.ValueTypeI64))
)

func signature(params, results string) rewrite.Signature {
	return rewrite.Signature{Params: params, Results: results}
}

// function is a function that Wharf offers to Extism plugins. The stack holds its
// parameters, and its result afterwards.
type function func(x *run, p *extism.CurrentPlugin, stack []uint64)

// offer is how a function of EnvModule or UserModule is offered.
type offer struct {
	sig  rewrite.Signature
	own  function // nil: as the SDK does it
	call string   // the host call behind it, "" without one
	off  string   // what to use instead, "" when it is not off
}

// function is an offer as the SDK wants it.
func (o offer) function(f rewrite.Import) extism.HostFunction {
	callback := func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
		x := runOf(ctx)
		if x.plugin == nil {
			x.Abort(abi.FailurePluginTrap, "its start function called %q; an Extism plugin can do so from its exports only", f.Name)
		}
		x.CheckStop()
		x.kernel, _ = ctx.Value(extism.PluginCtxKey("extism")).(api.Module)
		o.own(x, p, stack)
	}
	fn := extism.NewHostFunctionWithStack(f.Name, callback, []byte(f.Params), []byte(f.Results))
	if f.Module == EnvModule {
		fn.SetNamespace(ownModule)
	}
	return fn
}

// envFunctions are the functions of EnvModule that plugins may import. Those of
// the SDK that are missing here are for hosts: with them a plugin could reset or
// replace its own input.
var envFunctions = map[string]offer{
	"alloc":            {sig: signature(i64, i64), own: allocate},
	"free":             {sig: signature(i64, ""), own: free},
	"length":           {sig: signature(i64, i64), own: lengthOf},
	"length_unsafe":    {sig: signature(i64, i64)},
	"load_u8":          {sig: signature(i64, i32)},
	"load_u64":         {sig: signature(i64, i64)},
	"store_u8":         {sig: signature(i64+i32, ""), own: storeU8},
	"store_u64":        {sig: signature(i64+i64, ""), own: storeU64},
	"input_length":     {sig: signature("", i64)},
	"input_offset":     {sig: signature("", i64)},
	"input_load_u8":    {sig: signature(i64, i32)},
	"input_load_u64":   {sig: signature(i64, i64)},
	"output_set":       {sig: signature(i64+i64, ""), own: outputSet},
	"output_length":    {sig: signature("", i64), own: outputLength},
	"output_offset":    {sig: signature("", i64)},
	"error_set":        {sig: signature(i64, ""), own: errorSet},
	"error_get":        {sig: signature("", i64), own: errorGet},
	"memory_bytes":     {sig: signature("", i64)},
	"config_get":       {sig: signature(i64, i64), own: configGet, call: abi.CallConfigGet},
	"get_log_level":    {sig: signature("", i32), own: logLevel},
	"log_trace":        {sig: signature(i64, ""), own: logAs("debug"), call: abi.CallLog},
	"log_debug":        {sig: signature(i64, ""), own: logAs("debug"), call: abi.CallLog},
	"log_info":         {sig: signature(i64, ""), own: logAs("info"), call: abi.CallLog},
	"log_warn":         {sig: signature(i64, ""), own: logAs("warn"), call: abi.CallLog},
	"log_error":        {sig: signature(i64, ""), own: logAs("error"), call: abi.CallLog},
	"var_get":          {sig: signature(i64, i64), off: insteadOf(abi.CallStateGet)},
	"var_set":          {sig: signature(i64+i64, ""), off: insteadOf(abi.CallStateSet)},
	"http_request":     {sig: signature(i64+i64, i64), off: insteadOf(abi.CallHTTPFetch)},
	"http_status_code": {sig: signature("", i32), off: insteadOf(abi.CallHTTPFetch)},
	"http_headers":     {sig: signature("", i64), off: insteadOf(abi.CallHTTPFetch)},
}

// offered says how an import is offered.
func offered(f rewrite.Import) offer {
	switch {
	case f.Module == EnvModule:
		offer := envFunctions[f.Name]
		if offer.off != "" {
			offer.own = turnedOff(f.Name, offer.off)
		}
		return offer
	case f.Module == UserModule && f.Name == StatusImport:
		return offer{own: answerStatus}
	case f.Module == UserModule:
		return offer{own: callHost(callsByName()[f.Name], f.Params != "", f.Results != "")}
	}
	return offer{}
}

// insteadOf says what to use in place of what is off.
func insteadOf(call string) string {
	return fmt.Sprintf("use the host call %s: import %q from %q", call, identifier(call), UserModule)
}

// turnedOff ends the Run of a plugin that uses what is off: what goes past the host calls
// can be neither recorded nor policed.
func turnedOff(name, instead string) function {
	return func(x *run, _ *extism.CurrentPlugin, _ []uint64) {
		x.Abort(abi.FailurePluginTrap, "it called %q of its PDK, which is off in Wharf; %s", name, instead)
	}
}

// callForms are the signatures in which a host call can be imported: without a request,
// it is empty, and without an answer, a refusal ends the Run.
var callForms = []rewrite.Signature{signature(i64, i64), signature("", i64), signature(i64, ""), signature("", "")}

// identifier is the name of a host call as an identifier, which is what PDKs make
// imports of.
func identifier(call string) string { return strings.ReplaceAll(call, ".", "_") }

// callsByName are the host calls by the names under which Extism plugins import them:
// their own, and the same as an identifier.
func callsByName() map[string]*guest.HostCall {
	calls := map[string]*guest.HostCall{}
	for _, def := range abi.HostCalls() {
		c := guest.NewHostCall(&def)
		calls[def.Name], calls[identifier(def.Name)] = c, c
	}
	return calls
}

// guest.HostCall offers a host call: request and answer are blocks of Extism memory.
func callHost(c *guest.HostCall, hasRequest, hasAnswer bool) function {
	return func(x *run, p *extism.CurrentPlugin, stack []uint64) {
		var request []byte
		if hasRequest {
			request = x.block(p, c.Name, stack[0])
		}
		status, answer := x.call(c, request)
		if status != abi.CallOK && !hasAnswer {
			x.Abort(abi.FailurePluginError, "the host call %q was refused: %s; it is imported without a result, and so cannot be told",
				c.Name, callError(answer).Message)
		}
		if status != abi.CallOK {
			answer = refusal(status, answer)
		}
		if hasAnswer {
			stack[0] = x.give(p, answer)
		}
	}
}

// refused is what a plugin is told of a host call that was not [abi.CallOK].
type refused struct {
	Error struct {
		Status abi.CallStatus `json:"status"`
		abi.CallError
	} `json:"error"`
}

func refusal(status abi.CallStatus, answer []byte) []byte {
	var r refused
	r.Error.Status, r.Error.CallError = status, callError(answer)
	return mustMarshal(r)
}

// callError reads the answer to a host call that was refused.
func callError(answer []byte) abi.CallError {
	var e abi.CallError
	if err := json.Unmarshal(answer, &e); err != nil {
		return abi.CallError{Code: abi.FailureHost, Message: asText(answer)}
	}
	return e
}

// StatusImport is the one import from UserModule that is no host call: () -> i64, the
// [abi.CallStatus] of the last one. It tells a refusal from an answer that happens to
// look like one.
const StatusImport = "wharf_status"

var statusForm = signature("", i64)

func answerStatus(x *run, _ *extism.CurrentPlugin, stack []uint64) { stack[0] = uint64(x.status) }

// configGet answers with the host call config.get, and not from the SDK's map,
// which all instances share and which no record holds.
func configGet(x *run, p *extism.CurrentPlugin, stack []uint64) {
	block := x.block(p, "config_get", stack[0])
	x.quotable(configCall, block)
	name := strings.ToValidUTF8(string(block), "\uFFFD")
	status, answer := x.call(configCall, mustMarshal(abi.CallConfigGetRequest{Name: name}))
	stack[0] = x.give(p, configValue(status, answer))
}

// configValue is a value as Extism has it, which knows text only: a string without its
// quotes, anything else as JSON, and nothing for null and what was refused.
func configValue(status abi.CallStatus, answer []byte) []byte {
	var config abi.CallConfigGetAnswer
	if status != abi.CallOK || json.Unmarshal(answer, &config) != nil {
		return nil
	}
	switch config.Value.Kind() {
	case 'n', 0:
		return nil
	case '"':
		value, err := jsontext.AppendUnquote(nil, config.Value)
		if err != nil {
			return nil
		}
		return value
	}
	return config.Value
}

// logLevel asks PDKs for everything but traces.
func logLevel(_ *run, _ *extism.CurrentPlugin, stack []uint64) {
	stack[0] = uint64(uint32(extism.LogLevelDebug.ExtismCompat()))
}

// logAs makes a line of a plugin's log a host call, and frees it, as the SDK does.
func logAs(level string) function {
	return func(x *run, p *extism.CurrentPlugin, stack []uint64) {
		text := x.block(p, abi.CallLog, stack[0])
		x.quotable(guest.LogCall, text)
		x.call(guest.LogCall, guest.LogRequest(level, text))
		free(x, p, stack)
	}
}

// quotable ends the Run when a text is longer than one call takes once it is quoted, before
// it is: that is six times as long at most.
func (x *run) quotable(c *guest.HostCall, text []byte) {
	if size := quotedLen(text); size > x.Limits.PayloadBytes {
		x.Admit(c, int64(size))
	}
}

// quotedLen returns how long a text is as JSON, about.
func quotedLen(text []byte) int {
	size := len(text)
	for _, b := range text {
		switch {
		case b < ' ':
			size += 5
		case b == '"', b == '\\':
			size++
		}
	}
	return size
}

// kernelCall calls a function of the SDK's own module, which keeps what is passed.
func (x *run) kernelCall(name string, params ...uint64) (result uint64) {
	results, err := x.kernel.ExportedFunction(name).Call(x, params...)
	if err != nil {
		panic(err)
	}
	if len(results) > 0 {
		result = results[0]
	}
	return result
}

// outputSet lets the SDK know of an output that is too long by its first byte only:
// it would copy all of it, outside of the guest's memory, before it is refused.
func outputSet(x *run, _ *extism.CurrentPlugin, stack []uint64) {
	x.kernelCall("output_set", stack[0], stack[1])
	x.outputBytes = x.kernelCall("output_length")
	if x.outputBytes > uint64(x.Limits.PayloadBytes) {
		x.kernelCall("output_set", x.kernelCall("output_offset"), 1)
	}
}

func outputLength(x *run, _ *extism.CurrentPlugin, stack []uint64) {
	stack[0] = x.outputBytes
}

// errorSet keeps where the guest's error lies, and the SDK from knowing: it would
// copy all of it several times.
func errorSet(x *run, _ *extism.CurrentPlugin, stack []uint64) {
	x.kernelCall("error_set", stack[0])
	x.errorAt = x.kernelCall("error_get")
	x.kernelCall("error_set", 0)
}

func errorGet(x *run, _ *extism.CurrentPlugin, stack []uint64) { stack[0] = x.errorAt }

// complaint returns what the guest set as its error, as far as a message goes, "" for
// nothing.
func (x *run) complaint() (said string) {
	if x.errorAt == 0 {
		return ""
	}
	err := guest.Caught(func() {
		size := x.kernelCall("length", x.errorAt)
		text, _ := x.memory.Read(uint32(x.errorAt), uint32(min(size, guest.MaxLine)))
		said = asText(text)
	})
	if err != nil {
		return "its error cannot be read"
	}
	return said
}

func allocate(x *run, p *extism.CurrentPlugin, stack []uint64) {
	stack[0] = x.alloc(p, stack[0])
}

func free(x *run, p *extism.CurrentPlugin, stack []uint64) {
	x.walk()
	if err := p.FreeWithContext(x, stack[0]); err != nil {
		panic(err)
	}
}

func lengthOf(x *run, p *extism.CurrentPlugin, stack []uint64) {
	stack[0] = x.length(p, stack[0])
}

func storeU8(x *run, _ *extism.CurrentPlugin, stack []uint64) {
	at := x.writable(stack[0], 1)
	if !x.memory.WriteByte(at, byte(stack[1])) {
		x.outside(stack[0])
	}
}

func storeU64(x *run, _ *extism.CurrentPlugin, stack []uint64) {
	at := x.writable(stack[0], 8)
	if !x.memory.WriteUint64Le(at, stack[1]) {
		x.outside(stack[0])
	}
}

func (x *run) outside(at uint64) {
	x.Abort(abi.FailurePluginTrap, "it wrote to %d, outside of its Extism memory", at)
}

// writable ends the Run of a plugin that writes where the SDK keeps what it knows of
// the memory: it would follow what it finds there for ever.
func (x *run) writable(at uint64, size uint32) uint32 {
	if at > math.MaxUint32-uint64(size) {
		x.outside(at)
	}
	if x.headers.overlaps(uint32(at), size) {
		x.Abort(abi.FailurePluginTrap, "it wrote to %d in its Extism memory, between the blocks that it has", at)
	}
	return uint32(at)
}

// yield is where a guest that computes comes by: see [guest.Run.Yield].
func yield() extism.HostFunction {
	i64 := api.ValueTypeI64
	fn := extism.NewHostFunctionWithStack(rewrite.YieldName, func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) {
		stack[0] = uint64(runOf(ctx).Yield(int64(stack[0]), int64(stack[1])))
	}, []api.ValueType{i64, i64}, []api.ValueType{i64})
	fn.SetNamespace(rewrite.YieldModule)
	return fn
}

// wasiFunction offers a function of WASI, which works on the guest's own memory.
func wasiFunction(f rewrite.Import) extism.HostFunction {
	called, _ := wasi.Lookup(f.Name)
	fn := extism.NewHostFunctionWithStack(f.Name, func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) {
		x := runOf(ctx)
		if x.own == nil {
			x.Abort(abi.FailurePluginTrap, "%q is exported as it was imported; call it from a function of the plugin's", f.Name)
		}
		called.Call(x.Run, x.own, stack)
	}, []api.ValueType(f.Params), []api.ValueType(f.Results))
	fn.SetNamespace(wasiModule)
	return fn
}

// call makes a host call for the guest, or in its name.
func (x *run) call(c *guest.HostCall, request []byte) (abi.CallStatus, []byte) {
	x.Admit(c, int64(len(request)))
	status, answer := x.Ask(c.Name, request)
	if status == abi.CallOK {
		x.gave = x.gave || c.Name == abi.CallOutput
		x.said = x.said || c.Name == abi.CallMessageAppend
	}
	x.status = status
	return status, answer
}

// block returns a block of Extism memory, which stays where it is.
func (x *run) block(p *extism.CurrentPlugin, call string, at uint64) []byte {
	if at == 0 {
		return nil
	}
	size := x.length(p, at)
	switch {
	case size == 0:
		x.Abort(abi.FailurePluginTrap, "it passed %d to %q, which is no block of its Extism memory", at, call)
	case size > uint64(x.Limits.PayloadBytes):
		x.Abort(abi.FailurePayloadTooLarge, "it passed %d bytes to %q; one call takes at most %d", size, call, x.Limits.PayloadBytes)
	}
	content, ok := x.memory.Read(uint32(at), uint32(size))
	if !ok {
		x.Abort(abi.FailurePluginTrap, "the block at %d that it passed to %q lies outside of its Extism memory", at, call)
	}
	return content
}

// give returns a block of Extism memory with the given content, or 0 for none.
func (x *run) give(p *extism.CurrentPlugin, content []byte) uint64 {
	if len(content) == 0 {
		return 0
	}
	x.Work(len(content))
	at := x.alloc(p, uint64(len(content)))
	if at == 0 || !x.memory.Write(uint32(at), content) {
		x.Abort(abi.FailurePluginMemory, "an answer of %d bytes does not fit into the %d bytes of memory that it may have",
			len(content), x.Limits.MemoryBytes)
	}
	return at
}

// alloc returns a block of Extism memory, or 0 where there is no room. The SDK would
// take a size just below 2^64 for a negative one.
func (x *run) alloc(p *extism.CurrentPlugin, size uint64) uint64 {
	if size > min(x.Limits.MemoryBytes, math.MaxUint32) {
		x.Refused = size
		return 0
	}
	x.walk()
	at, err := p.AllocWithContext(x, size)
	if err != nil {
		panic(err)
	}
	if at != 0 {
		x.headers.add(uint32(at))
	}
	return at
}

// length returns the size of a block of Extism memory, 0 where none begins.
func (x *run) length(p *extism.CurrentPlugin, at uint64) uint64 {
	x.walk()
	size, err := p.LengthWithContext(x, at)
	if err != nil {
		panic(err)
	}
	return size
}

// walk charges the guest for what the SDK does to find a block, which is to look at one
// after the other, and lets it be stopped.
func (x *run) walk() { x.Work(x.headers.blocks * guest.BytesPerGas) }

// asText makes UTF-8 of what may be none, and no more of it than a message can hold.
func asText(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), guest.MaxLine)]), "\uFFFD")
}

var (
	configCall  = mustCall(abi.CallConfigGet)
	inputCall   = mustCall(abi.CallInput)
	outputCall  = mustCall(abi.CallOutput)
	messageCall = mustCall(abi.CallMessageAppend)
)

func mustCall(name string) *guest.HostCall {
	def, ok := abi.LookupHostCall(name)
	if !ok {
		panic(fmt.Sprintf("there is no host call %q", name))
	}
	return guest.NewHostCall(&def)
}
