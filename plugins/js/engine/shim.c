// The engine of plugins in JavaScript: QuickJS, and what joins it to the host.
//
// It is built without a program, and does not run as it is. Package js makes a plugin
// of it: it names the slots of host calls and of exports that the program uses, and puts
// the program where memory ends, so that the code is the same in all plugins.
// Initialization loads the program, so that the snapshot that Tasks begin with has it
// loaded.

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "quickjs/quickjs.h"

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

__attribute__((import_module("wharf"), import_name("read"))) u32 host_read(void *ptr, u32 len);

#define SLOT(n) __attribute__((import_module("wharf"), import_name("slot" #n))) u64 slot##n(const void *ptr, u32 len);
#include "slots.h"
#undef SLOT

#define SLOT(n) slot##n,
static u64 (*const slots[])(const void *ptr, u32 len) = {
#include "slots.h"
};
#undef SLOT

// What the program begins with; the parts follow in this order, each with a 0 behind it.
struct header {
	u32 size;    // of all
	u32 calls;   // bytes of the names of the host calls, by slot, each ended by a 0
	u32 exports; // bytes of the names of the exports, in the same way
	u32 source;  // bytes of the program, an ES module
	u32 map;     // bytes of its source map, which is read when something is thrown
};

// How much of the native stack the engine may use: less than is linked. Together with the
// engine's WEIGHS, it ends before the depth of 65,536 that a node allows at most, so that
// what recurs without end is a RangeError and no trap. Functions of a program that call each
// other do not use it, but CALL_STACK.
enum { NATIVE_STACK = 960 << 10, CALL_STACK = 1 << 20 };

static char call_stack[CALL_STACK] __attribute__((aligned(16)));

static const struct header *header;
static const char *calls, *exports, *source, *map;
static JSRuntime *runtime;
static JSContext *context;
static JSValue wharf;   // what the program's runtime and this file share
static JSValue program; // the module's namespace

static void *need(void *p) {
	if (!p) __builtin_trap();
	return p;
}

extern char __heap_base; // where the linker's data ends

enum { PAGE = 64 << 10 };

// find finds the program: it begins with the first page that the linker has not asked for. The
// allocator takes that for free memory, so all up to the program's end is allocated before
// anything else is, and never freed.
static void find(void) {
	char *begin = (char *)(((unsigned long)&__heap_base + PAGE - 1) / PAGE * PAGE);
	header = (const struct header *)begin;
	char *end = begin + header->size, *taken = need(malloc(end - &__heap_base));
	if (taken > begin || taken + (end - &__heap_base) < end) __builtin_trap();
	calls = begin + sizeof *header;
	exports = calls + header->calls + 1;
	source = exports + header->exports + 1;
	map = source + header->source + 1;
}

// name_at returns the name of the given number in a list of n bytes, 0 when there is none.
static const char *name_at(const char *list, u32 n, u32 number) {
	const char *end = list + n;
	for (; list < end; list += strlen(list) + 1)
		if (!number--) return list;
	return 0;
}

static int slot_of(const char *name) {
	const char *known;
	for (int i = 0; (known = name_at(calls, header->calls, i)); i++)
		if (!strcmp(known, name)) return i;
	return -1;
}

// A request as bytes, and what is to be freed once it was passed.
struct request {
	const byte *start;
	size_t size;
	const char *text;
	JSValue json;
};

// read_request takes bytes as they are and anything else as JSON; undefined is empty.
static int read_request(struct request *r, JSValueConst value) {
	*r = (struct request){.json = JS_UNDEFINED};
	if (JS_IsUndefined(value)) return 0;
	if (JS_GetTypedArrayType(value) == JS_TYPED_ARRAY_UINT8) {
		r->start = JS_GetUint8Array(context, &r->size, value);
		return r->start || !r->size ? 0 : -1;
	}
	r->json = JS_JSONStringify(context, value, JS_UNDEFINED, JS_UNDEFINED);
	if (JS_IsException(r->json)) return -1;
	if (JS_IsUndefined(r->json)) return 0;
	r->text = JS_ToCStringLen(context, &r->size, r->json);
	r->start = (const byte *)r->text;
	return r->text ? 0 : -1;
}

static void free_request(struct request *r) {
	if (r->text) JS_FreeCString(context, r->text);
	JS_FreeValue(context, r->json);
}

// method calls a function of the shared object.
static JSValue method(const char *name, int argc, JSValueConst *argv) {
	JSValue f = JS_GetPropertyStr(context, wharf, name);
	JSValue result = JS_Call(context, f, wharf, argc, argv);
	JS_FreeValue(context, f);
	return result;
}

static JSValue refused(JSValueConst name, u32 status, JSValue answer) {
	if (JS_IsException(answer)) return answer;
	JSValue args[] = {JS_DupValue(context, name), JS_NewUint32(context, status), answer};
	JSValue error = method("refused", 3, (JSValueConst *)args);
	for (int i = 0; i < 3; i++) JS_FreeValue(context, args[i]);
	return JS_IsException(error) ? error : JS_Throw(context, error);
}

// answer_of reads what a host call has answered: JSON, or bytes when they are asked for.
static JSValue answer_of(u64 result, int bytes) {
	u32 size = (u32)result;
	if (!size && !bytes) return JS_UNDEFINED;
	char *text = need(malloc(size + 1));
	host_read(text, size);
	text[size] = 0;
	JSValue answer = bytes && !(result >> 32) ? JS_NewUint8ArrayCopy(context, (byte *)text, size)
	                                          : JS_ParseJSON(context, text, size, "answer");
	free(text);
	return answer;
}

// call(name, request, bytes) makes a host call and returns its answer.
static JSValue call(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc;
	const char *name = JS_ToCString(ctx, argv[0]);
	if (!name) return JS_EXCEPTION;
	int slot = slot_of(name);
	if (slot < 0) {
		JSValue error = JS_ThrowTypeError(ctx, "the host call %s was not there when the plugin was built", name);
		JS_FreeCString(ctx, name);
		return error;
	}
	JS_FreeCString(ctx, name);
	struct request request;
	if (read_request(&request, argv[1]) < 0) {
		free_request(&request);
		return JS_EXCEPTION;
	}
	u64 result = slots[slot](request.start, request.size);
	free_request(&request);
	JSValue answer = answer_of(result, JS_ToBool(ctx, argv[2]));
	return result >> 32 ? refused(argv[0], result >> 32, answer) : answer;
}

// The state of Math.random. It is drawn anew for each Task: what initialization drew is
// the same in all of them.
static u64 chance;

static JSValue math_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc, (void)argv;
	while (!chance)
		if (getentropy(&chance, sizeof chance)) __builtin_trap();
	chance ^= chance >> 12, chance ^= chance << 25, chance ^= chance >> 27; // xorshift64*
	return JS_NewFloat64(ctx, (double)((chance * 0x2545F4914F6CDD1D) >> 11) * 0x1p-53);
}

// entropy(bytes) fills a Uint8Array with randomness of the Task.
static JSValue entropy(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc;
	size_t size;
	byte *p = JS_GetUint8Array(ctx, &size, argv[0]);
	if (!p && size) return JS_EXCEPTION;
	for (size_t n; size; p += n, size -= n) {
		n = size < 256 ? size : 256; // as much as getentropy takes
		if (getentropy(p, n)) __builtin_trap();
	}
	return JS_UNDEFINED;
}

// encode(text) returns UTF-8.
static JSValue encode(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc;
	size_t size;
	const char *text = JS_ToCStringLen(ctx, &size, argv[0]);
	if (!text) return JS_EXCEPTION;
	JSValue bytes = JS_NewUint8ArrayCopy(ctx, (const byte *)text, size);
	JS_FreeCString(ctx, text);
	return bytes;
}

// decode(bytes) reads UTF-8; what is none is replaced.
static JSValue decode(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc;
	size_t size;
	byte *p = JS_GetUint8Array(ctx, &size, argv[0]);
	if (!p && size) return JS_EXCEPTION;
	return JS_NewStringLen(ctx, (char *)p, size);
}

// pause(ms) waits, as running time.
static JSValue pause_for(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc;
	double ms;
	if (JS_ToFloat64(ctx, &ms, argv[0])) return JS_EXCEPTION;
	if (ms > 0) {
		struct timespec t = {(time_t)(ms / 1000), (long)((u64)(ms * 1e6) % 1000000000)};
		nanosleep(&t, 0);
	}
	return JS_UNDEFINED;
}

// source_map() returns the map of the program, "" without one.
static JSValue source_map(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
	(void)self, (void)argc, (void)argv;
	return JS_NewStringLen(ctx, map, header->map);
}

static void define(JSValueConst object, const char *name, JSCFunction *f, int arity) {
	JS_SetPropertyStr(context, object, name, JS_NewCFunction(context, f, name, arity));
}

static void prepare(void) {
	runtime = need(JS_NewRuntime());
	JS_SetMaxStackSize(runtime, NATIVE_STACK);
	JS_SetCallStack(runtime, call_stack, sizeof call_stack);
	context = need(JS_NewContext(runtime));
	JSValue global = JS_GetGlobalObject(context), math = JS_GetPropertyStr(context, global, "Math");
	define(math, "random", math_random, 0);
	wharf = JS_NewObject(context);
	define(wharf, "call", call, 3);
	define(wharf, "entropy", entropy, 1);
	define(wharf, "encode", encode, 1);
	define(wharf, "decode", decode, 1);
	define(wharf, "pause", pause_for, 1);
	define(wharf, "sourceMap", source_map, 0);
	JS_DefinePropertyValueStr(context, global, "__wharf", JS_DupValue(context, wharf), 0);
	JS_FreeValue(context, math);
	JS_FreeValue(context, global);
}

// remember keeps what the program has thrown while it was loaded: each Task fails with it.
static void remember(JSValue thrown) {
	JS_SetPropertyStr(context, wharf, "broken", thrown);
	JS_SetPropertyStr(context, wharf, "isBroken", JS_TRUE);
}

static int truth(JSValue v) {
	int yes = JS_ToBool(context, v);
	JS_FreeValue(context, v);
	return yes > 0;
}

// drain runs what is due until nothing is: jobs of promises, and timers after them.
static void drain(void) {
	JSContext *of;
	do {
		while (JS_ExecutePendingJob(runtime, &of) != 0) {
		}
	} while (truth(method("tick", 0, 0)));
}

static void evaluate(void) {
	JSValue module = JS_Eval(context, source, header->source, "plugin.js", JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
	if (JS_IsException(module)) {
		remember(JS_GetException(context));
		return;
	}
	JSModuleDef *def = JS_VALUE_GET_PTR(module);
	JSValue done = JS_EvalFunction(context, module);
	if (JS_IsException(done)) {
		remember(JS_GetException(context));
		return;
	}
	drain();
	if (JS_PromiseState(context, done) == JS_PROMISE_REJECTED) remember(JS_PromiseResult(context, done));
	if (JS_PromiseState(context, done) == JS_PROMISE_PENDING)
		remember(JS_NewString(context, "the program's top level awaits what nothing resolves"));
	JS_FreeValue(context, done);
	program = JS_GetModuleNamespace(context, def);
}

__attribute__((constructor)) static void begin(void) {
	find();
	prepare();
	evaluate();
	JS_RunGC(runtime);
	chance = 0;
}

// run calls an export of the program, and returns what the Wasm export returns.
static int run(u32 number) {
	JSValue f = JS_GetPropertyStr(context, program, name_at(exports, header->exports, number));
	JSValue done = method("serve", 1, (JSValueConst *)&f);
	if (JS_IsException(done)) return 1;
	drain();
	if (JS_PromiseState(context, done) == JS_PROMISE_PENDING) {
		method("stuck", 0, 0);
		return 0;
	}
	int code = 1;
	if (JS_PromiseState(context, done) == JS_PROMISE_FULFILLED) JS_ToInt32(context, &code, JS_PromiseResult(context, done));
	return code;
}

#define EXPORTED(n) __attribute__((export_name("export" #n))) int export##n(void) { return run(1##n - 100); }
#include "exports.h"
