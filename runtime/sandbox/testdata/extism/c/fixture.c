// A plugin for the tests of Extism plugins: what no PDK does, and every way to misbehave.
#include "extism.h"

WHARF(clock) u64 host_clock(void);
WHARF(llm.complete) u64 llm_complete(u64 request);
WHARF(state_set) u64 state_set(u64 request);
WHARF(state_get) u64 state_get(u64 request);
WHARF(message_append) void message_append(u64 request);
WHARF(output) u64 host_output(u64 request);
WHARF(wharf_status) u64 wharf_status(void);

static u32 counter;

// run returns its input.
EXPORT(run) int run(void) {
	u64 n = input_length(), at = alloc(n);
	for (u64 i = 0; i < n; i++) store_u8(at + i, input_load_u8(i));
	return output(at);
}

// count tells how often it was called in this instance, and how many pages that has.
EXPORT(count) int count(void) {
	char text[] = "0 calls before, 0 pages more";
	static u32 pages;
	if (!pages) pages = __builtin_wasm_memory_size(0);
	text[0] += counter++;
	text[16] += __builtin_wasm_memory_size(0) - pages;
	__builtin_wasm_memory_grow(0, 1);
	return output_text(text);
}

// silent fails without saying why.
EXPORT(silent) int silent(void) { return 3; }

// said fails and says why.
EXPORT(said) int said(void) {
	error_set(block("the moon is full"));
	return 1;
}

// said_but_zero sets an error and returns 0.
EXPORT(said_but_zero) int said_but_zero(void) {
	error_set(block("half done"));
	return 0;
}

EXPORT(trap) int trap(void) {
	error_set(block("never mind"));
	__builtin_trap();
}

EXPORT(nothing) void nothing(void) {}

EXPORT(spin) int spin(void) {
	for (volatile u32 i = 0;; i++) {}
}

static u32 __attribute__((noinline)) dig(u32 n) {
	volatile u32 here = n;
	return n ? dig(n - 1) + here : 0;
}

// deep calls itself 1,000 times.
EXPORT(deep) int deep(void) { return dig(1000) == 0; }

EXPORT(variables) int variables(void) {
	var_set(block("k"), block("v"));
	return 0;
}

EXPORT(variable) int variable(void) { return var_get(block("k")) == 0; }

EXPORT(http) int http(void) { return http_request(block("{\"url\":\"http://127.0.0.1:9/\"}"), 0) != 0; }

EXPORT(http_status) int http_status(void) { return (int)http_status_code(); }

// config returns what is configured under "color".
EXPORT(config) int config(void) {
	u64 value = config_get(block("color"));
	return value ? output(value) : output_text("(nothing)");
}

EXPORT(log) int log_something(void) {
	if (get_log_level() != 1) return 1;
	log_info(block("a line"));
	return 0;
}

// calls makes host calls of each kind.
EXPORT(calls) int calls(void) {
	host_clock();
	u64 answer = llm_complete(block("{\"call_id\":\"main:1\",\"messages\":[]}"));
	if (wharf_status()) return output(answer);
	state_set(block("{\"key\":\"k\",\"value\":1}"));
	message_append(block("{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"text\":\"done\",\"visibility\":\"public\"}]}"));
	host_output(answer);
	return output_text("not this");
}

// refused asks for what it does not get.
EXPORT(refused) int refused(void) {
	u64 answer = state_get(block("{\"key\":\"k\"}"));
	return wharf_status() == 3 ? output(answer) : 1;
}

EXPORT(unheard) int unheard(void) {
	message_append(block("{}"));
	return 0;
}

EXPORT(wild) int wild(void) { return state_get(12345) != 0; }

EXPORT(bytes) int bytes(void) { return output_text("\xff\xfe"); }

EXPORT(json) int json(void) { return output_text("{\"count\": 3}"); }

EXPORT(request) int request(void) { return output_text("{\"summary\":\"mine\",\"metrics\":{\"n\":1}}"); }

EXPORT(failed) int failed(void) { return output_text("{\"summary\":\"\",\"failure\":{\"code\":\"mine\",\"message\":\"no\"}}"); }

// Without bounds the SDK would walk for ever over what these leave behind: its memory
// begins with what it knows of all, and has 12 bytes before each block.
static int lost(void) {
	for (u32 i = 0; i < 64; i++) alloc(60000);
	return 0;
}

EXPORT(break_header) int break_header(void) {
	u64 at = alloc(8);
	store_u64(at - 8, 0x00000000fffffff4);
	return lost();
}

EXPORT(break_header_bytes) int break_header_bytes(void) {
	u64 at = alloc(8);
	for (u32 i = 0; i < 4; i++) store_u8(at - 8 + i, i ? 0xff : 0xf4);
	return lost();
}

EXPORT(break_root) int break_root(void) {
	store_u64(8, 0);
	return lost();
}

EXPORT(negative) int negative(void) { return alloc(0xfffffffffffffff4) != 0; }

EXPORT(far) int far(void) {
	store_u64(0xffffffff00000100, 1);
	return 0;
}

static u64 number(u64 *at) {
	u64 n = 0;
	for (u32 i = 0; i < 8; i++) n |= (u64)input_load_u8((*at)++) << (8 * i);
	return n;
}

// program does what its input says with its memory: a letter, and two numbers.
EXPORT(program) int program(void) {
	u64 last = 0;
	for (u64 at = 0; at < input_length();) {
		u8 what = input_load_u8(at++);
		u64 a = number(&at), b = number(&at);
		if (what >= 'a') a += last, what -= 'a' - 'A'; // relative to the last block
		switch (what) {
		case 'A': last = alloc(b); break;
		case 'F': free_block(a); break;
		case 'B': store_u8(a, b); break;
		case 'S': store_u64(a, b); break;
		case 'L': load_u8(a), load_u64(a), length(a); break;
		case 'O': output_set(a, b); break;
		case 'E': error_set(a); break;
		case 'G': config_get(a); break;
		}
	}
	return 0;
}

// not_a_number does well when the bits of a NaN are those of the canonical one, which no
// two kinds of processors make by themselves.
EXPORT(not_a_number) int not_a_number(void) {
	volatile double zero = 0;
	union {
		double number;
		u64 bits;
	} n = {zero / zero};
	return n.bits != 0x7ff8000000000000;
}

// walk has the SDK go through many blocks, many times.
EXPORT(walk) int walk(void) {
	u64 last = 0;
	for (u32 i = 0; i < 100000; i++) last = alloc(1);
	for (;;) length(last + 1);
}

// greedy takes all that it can have, in the SDK's memory and in its own.
EXPORT(greedy) int greedy(void) {
	u32 taken = 0;
	while (alloc(1 << 20)) taken++;
	while (__builtin_wasm_memory_grow(0, 16) != (u32)-1) taken++;
	return taken ? (int)taken : 1;
}
