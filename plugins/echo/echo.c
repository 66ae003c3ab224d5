// echo answers a Task with what it was given: the parts of an input Message come
// back as an assistant Message, any other JSON input as a Message with one json
// part.
//
// It is written for speed and for inputs of any size. The Task's JSON is scanned
// once, sixteen bytes at a time, and the answer is made in place around the part
// of it that is sent back.

#include <wasm_simd128.h>

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define HOST(name) __attribute__((import_module("wharf"), import_name(name)))

HOST("input") u64 host_input(const byte *ptr, u32 len);
HOST("output") u64 host_output(const byte *ptr, u32 len);
HOST("message.append") u64 host_message_append(const byte *ptr, u32 len);
HOST("read") u32 host_read(byte *ptr, u32 len);

extern byte __heap_base;

enum { PAGE = 65536, VECTOR = 16 };

// What goes around the parts of a Message, and around other input.
#define BEFORE_PARTS "{\"role\":\"assistant\",\"parts\":"
#define AFTER_PARTS "}"
#define BEFORE_VALUE "{\"role\":\"assistant\",\"parts\":[{\"type\":\"json\",\"visibility\":\"public\",\"value\":"
#define AFTER_VALUE "}]}"

// The room that is left before and after the Task, so that there is always place
// for what goes around, and a vector load never leaves memory.
enum { MARGIN = 256 };

struct span {
	byte *start, *end; // end is past the last byte; start is 0 for nothing
};

static void copy(byte *to, const char *from, u32 n) { __builtin_memcpy(to, from, n); }

static int same(const byte *p, const char *s, u32 n) {
	while (n && *p == (byte)*s) p++, s++, n--;
	return n == 0;
}

// reserve makes memory reach up to end. It traps when the host refuses, which the
// host reports as what it is.
static void reserve(const byte *end) {
	u32 have = __builtin_wasm_memory_size(0) * PAGE;
	u32 want = (u32)end;
	if (want <= have) return;
	if (__builtin_wasm_memory_grow(0, (want - have + PAGE - 1) / PAGE) == (u32)-1) __builtin_trap();
}

// next_quote returns the first quote or backslash at or after p.
static byte *next_quote(byte *p, const byte *end) {
	for (; p < end; p += VECTOR) {
		v128_t v = wasm_v128_load(p);
		u32 mask = wasm_i8x16_bitmask(
			wasm_v128_or(wasm_i8x16_eq(v, wasm_i8x16_splat('"')), wasm_i8x16_eq(v, wasm_i8x16_splat('\\'))));
		if (mask) return p + __builtin_ctz(mask);
	}
	__builtin_trap();
}

// skip_string returns the byte after the string whose first quote is at p.
static byte *skip_string(byte *p, const byte *end) {
	for (p++;;) {
		p = next_quote(p, end);
		if (*p == '"') return p + 1;
		p += 2;
	}
}

// next_structure returns the first quote, bracket or brace at or after p. Setting
// bit 5 makes [ and { the same, and ] and }, and changes nothing about a quote.
static byte *next_structure(byte *p, const byte *end) {
	for (; p < end; p += VECTOR) {
		v128_t v = wasm_v128_load(p);
		v128_t w = wasm_v128_or(v, wasm_i8x16_splat(0x20));
		v128_t hit = wasm_v128_or(wasm_i8x16_eq(w, wasm_i8x16_splat('{')), wasm_i8x16_eq(w, wasm_i8x16_splat('}')));
		u32 mask = wasm_i8x16_bitmask(wasm_v128_or(hit, wasm_i8x16_eq(v, wasm_i8x16_splat('"'))));
		if (mask) return p + __builtin_ctz(mask);
	}
	__builtin_trap();
}

// skip_nested returns the byte after the object or array that starts at p.
static byte *skip_nested(byte *p, const byte *end) {
	for (u32 depth = 0;;) {
		p = next_structure(p, end);
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		depth += (*p | 0x20) == '{' ? 1 : -1;
		p++;
		if (depth == 0) return p;
	}
}

static byte *skip_space(byte *p) {
	while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') p++;
	return p;
}

// skip_value returns the byte after the value that starts at p.
static byte *skip_value(byte *p, const byte *end) {
	if (*p == '"') return skip_string(p, end);
	if (*p == '{' || *p == '[') return skip_nested(p, end);
	while (p < end && *p != ',' && *p != '}' && *p != ']' && *p > ' ') p++;
	return p;
}

// member returns the value of the object's member of the given name, which must
// be written without escapes, as the host writes its own. The first one counts.
static struct span member(struct span object, const char *name, u32 n) {
	struct span none = {0, 0};
	byte *p = skip_space(object.start + 1);
	while (*p == '"') {
		byte *key = p + 1;
		p = skip_string(p, object.end);
		int found = (u32)(p - 1 - key) == n && same(key, name, n);
		p = skip_space(p);
		p = skip_space(p + 1); // the colon
		byte *value = p;
		p = skip_value(p, object.end);
		if (found) return (struct span){value, p};
		p = skip_space(p);
		if (*p != ',') return none;
		p = skip_space(p + 1);
	}
	return none;
}

#define MEMBER(object, name) member(object, name, sizeof name - 1)

// wrap writes text before and after the span, over what was there, and returns
// all of it.
static struct span wrap(struct span s, const char *before, u32 nb, const char *after, u32 na) {
	s.start -= nb;
	copy(s.start, before, nb);
	copy(s.end, after, na);
	s.end += na;
	return s;
}

#define WRAP(s, before, after) wrap(s, before, sizeof before - 1, after, sizeof after - 1)

// answer returns the Message that the input is answered with.
static struct span answer(struct span input) {
	if (*input.start == '{') {
		struct span parts = MEMBER(input, "parts");
		if (parts.start && *parts.start == '[' && MEMBER(input, "role").start) {
			return WRAP(parts, BEFORE_PARTS, AFTER_PARTS);
		}
	}
	return WRAP(input, BEFORE_VALUE, AFTER_VALUE);
}

// say appends the decimal digits of n.
static byte *say(byte *p, u32 n) {
	byte digits[10];
	int i = 0;
	do digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i) *p++ = digits[--i];
	return p;
}

static void conclude(u32 size) {
	byte out[64];
	copy(out, "{\"summary\":\"echoed ", 19);
	byte *p = say(out + 19, size);
	copy(p, " bytes\"}", 8);
	host_output(out, p + 8 - out);
}

__attribute__((export_name("run"))) int run(void) {
	u64 result = host_input(0, 0);
	u32 size = (u32)result;
	if (result >> 32) return 1;
	struct span all = {&__heap_base + MARGIN, &__heap_base + MARGIN + size};
	reserve(all.end + MARGIN);
	host_read(all.start, size);
	struct span task = MEMBER(all, "task");
	if (!task.start) return 2;
	struct span input = MEMBER(task, "input");
	if (!input.start) return 3;
	u32 given = input.end - input.start;
	struct span message = answer(input);
	if (host_message_append(message.start, message.end - message.start) >> 32) return 4;
	conclude(given);
	return 0;
}
