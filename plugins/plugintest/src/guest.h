// What the test plugins share: the border to the host, reading the JSON of the
// host, and writing JSON. Loops cost more than they seem to, for the host looks for
// a stop at each turn: so bytes are handled sixteen at a time.

#include <wasm_simd128.h>

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

// CALL declares the host call of the given name.
#define CALL(function, name) IMPORT("wharf", name) u64 function(const byte *ptr, u32 len)

IMPORT("wharf", "read") u32 host_read(byte *ptr, u32 len);

extern byte __heap_base;

enum { PAGE = 65536, VECTOR = 16 };

struct span {
	byte *start, *end; // end is past the last byte; start is 0 for nothing
};

// LITERAL is the span of a string constant.
#define LITERAL(s) ((struct span){(byte *)(s), (byte *)(s) + sizeof(s) - 1})

// out is where the next bytes are written: everything from __heap_base up to it
// is in use.
static byte *out;

// reserve makes memory reach n bytes past out, and a vector more. It traps when the
// host refuses, which the host reports as what it is.
static void reserve(u32 n) {
	u32 have = __builtin_wasm_memory_size(0) * PAGE;
	u32 want = (u32)out + n + VECTOR;
	if (want <= have) return;
	if (__builtin_wasm_memory_grow(0, (want - have + PAGE - 1) / PAGE) == (u32)-1) __builtin_trap();
}

static void put(byte c) {
	reserve(1);
	*out++ = c;
}

static void put_span(struct span s) {
	u32 n = s.end - s.start;
	reserve(n);
	__builtin_memcpy(out, s.start, n);
	out += n;
}

#define PUT(s) put_span(LITERAL(s))

static inline void put_number(u64 n) {
	byte digits[20];
	int i = 0;
	do digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i) put(digits[--i]);
}

static inline void put_hex(u64 n) {
	for (int shift = 60; shift >= 0; shift -= 4) put("0123456789abcdef"[n >> shift & 15]);
}

// take fetches the answer whose length is in the lower half of a host call's result.
static struct span take(u64 result) {
	u32 n = (u32)result;
	reserve(n);
	struct span answer = {out, out + n};
	host_read(answer.start, n);
	out += n;
	return answer;
}

static u32 status_of(u64 result) { return result >> 32; }

static int same(struct span a, struct span b) {
	if (a.end - a.start != b.end - b.start) return 0;
	while (a.start < a.end && *a.start == *b.start) a.start++, b.start++;
	return a.start == a.end;
}

#define IS(s, text) same(s, LITERAL(text))

static byte *skip_space(byte *p, byte *end) {
	while (p < end && *p <= ' ') p++;
	return p;
}

// find returns the first byte at or after p that is a quote, or one of two others
// once bit 5 is set in them.
static byte *find(byte *p, byte *end, byte one, byte other) {
	for (; p < end; p += VECTOR) {
		v128_t v = wasm_v128_load(p);
		v128_t w = wasm_v128_or(v, wasm_i8x16_splat(0x20));
		v128_t hit = wasm_v128_or(wasm_i8x16_eq(w, wasm_i8x16_splat(one)), wasm_i8x16_eq(w, wasm_i8x16_splat(other)));
		u32 mask = wasm_i8x16_bitmask(wasm_v128_or(hit, wasm_i8x16_eq(v, wasm_i8x16_splat('"'))));
		if (mask) return p + __builtin_ctz(mask);
	}
	__builtin_trap();
}

// skip_string returns the byte after the string that starts at p.
static byte *skip_string(byte *p, byte *end) {
	for (p++;;) {
		p = find(p, end, '\\' | 0x20, '\\' | 0x20);
		if (*p == '"') return p + 1;
		p += *p == '\\' ? 2 : 1;
	}
}

// skip_value returns the byte after the value that starts at p.
static byte *skip_value(byte *p, byte *end) {
	if (*p == '"') return skip_string(p, end);
	if (*p != '{' && *p != '[') {
		while (p < end && *p != ',' && *p != '}' && *p != ']' && *p > ' ') p++;
		return p;
	}
	for (u32 depth = 0;;) {
		p = find(p, end, '{', '}');
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		depth += (*p | 0x20) == '{' ? 1 : -1;
		p++;
		if (depth == 0) return p;
	}
}

// next returns the next value of the object or array whose rest starts at *p, and
// nothing at its end. For an object, key is set to the name with its quotes.
static struct span next(byte **p, byte *end, struct span *key) {
	byte *at = skip_space(*p, end);
	if (at < end && *at == ',') at = skip_space(at + 1, end);
	if (at >= end || *at == '}' || *at == ']') return (struct span){0, 0};
	if (key) {
		*key = (struct span){at, skip_string(at, end)};
		at = skip_space(key->end, end) + 1; // the colon
		at = skip_space(at, end);
	}
	struct span value = {at, skip_value(at, end)};
	*p = value.end;
	return value;
}

// member returns the value of the object's member with the given name, which is
// written with its quotes and without escapes.
static struct span member(struct span object, struct span name) {
	struct span nothing = {0, 0}, key, value;
	if (!object.start || *object.start != '{') return nothing;
	byte *p = object.start + 1;
	while ((value = next(&p, object.end, &key)).start)
		if (same(key, name)) return value;
	return nothing;
}

#define MEMBER(object, name) member(object, LITERAL("\"" name "\""))

// number reads a value that is a whole number, and gives otherwise for anything else.
static inline u64 number(struct span s, u64 otherwise) {
	if (!s.start || *s.start < '0' || *s.start > '9') return otherwise;
	u64 n = 0;
	for (byte *p = s.start; p < s.end && *p >= '0' && *p <= '9'; p++) n = n * 10 + (*p - '0');
	return n;
}

CALL(host_input, "input");
CALL(host_output, "output");

// input returns what the Task was submitted with.
static struct span input(void) {
	out = &__heap_base;
	u64 result = host_input(0, 0);
	if (status_of(result)) __builtin_trap();
	return MEMBER(MEMBER(take(result), "task"), "input");
}

#define EXPORT(name) __attribute__((export_name(name)))
