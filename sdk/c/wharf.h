/*
 * Write plugins for Wharf in C or C++. This one header is the whole SDK.
 *
 *	#include "wharf.h"
 *
 *	static wharf_status greet(const wharf_task *task, wharf_result *result) {
 *		wharf_status failed = wharf_reply(wharf_join(wharf_str("Hello, "), wharf_task_text(task)));
 *		result->summary = wharf_str("greeted");
 *		return failed;
 *	}
 *
 *	WHARF_MAIN(run, greet)
 *
 *	clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o greet.wasm greet.c
 *
 * There is a function for each host call, with its request and its answer as structs: fill in what
 * the request needs, zero is left out. It returns WHARF_OK or why it failed; wharf_last() has the code
 * and the message. A call that the Persona's tier holds back (shadow, suggest) is no failure: its
 * answer is zero, and wharf_last()->withheld says so. A plugin imports the calls that it uses.
 *
 * Memory comes from an arena and lives as long as the Task. With wasi-libc the arena is malloc's, else
 * pages that it adds to the memory. Outside of Wasm, wharf_test_host answers the calls.
 *
 * Generated from package abi and sdk/c/parts by go generate ./abi. Do not edit.
 */
#ifndef WHARF_H
#define WHARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not inlined: that doubles what a plugin weighs, and takes seconds to compile. */
#define WHARF_FN static __attribute__((unused, noinline))

/* Begins a struct that has nothing in it yet: wharf_log_request_t line = WHARF_NONE; */
#ifdef __cplusplus
#define WHARF_NONE {}
#else
#define WHARF_NONE {0}
#endif

/* A text in UTF-8, which need not end with a zero. Nothing: data is NULL. */
typedef struct wharf_text {
	const char *data;
	size_t len;
} wharf_text;

/* A JSON value as it is written. Nothing: data is NULL. */
typedef wharf_text wharf_json;

/* Bytes, which are base64 in JSON. */
typedef struct wharf_bytes {
	const uint8_t *data;
	size_t len;
} wharf_bytes;

typedef struct wharf_text_list { const wharf_text *items; size_t count; } wharf_text_list;
typedef struct wharf_json_list { const wharf_json *items; size_t count; } wharf_json_list;

/* Members by name: texts, or JSON as it is written. */
typedef struct wharf_pair { wharf_text name, value; } wharf_pair;
typedef struct wharf_text_map { const wharf_pair *items; size_t count; } wharf_text_map;
typedef struct wharf_json_map { const wharf_pair *items; size_t count; } wharf_json_map;

/* Numbers by name. */
typedef struct wharf_metric { wharf_text name; double value; } wharf_metric;
typedef struct wharf_number_map { const wharf_metric *items; size_t count; } wharf_number_map;

/* How a host call ended. */
typedef enum wharf_status {
	WHARF_OK = 0,
	WHARF_INVALID = 1,       /* the request is malformed */
	WHARF_DENIED = 2,        /* policy forbids it */
	WHARF_NOT_FOUND = 3,     /* what it names does not exist, or not for this Task */
	WHARF_TOO_LARGE = 4,     /* a limit on size or count */
	WHARF_UNAVAILABLE = 5,   /* the host could not do it now */
	WHARF_INDETERMINATE = 6, /* the node died while it was done: nobody knows whether it was */
	WHARF_TIMEOUT = 7,       /* nobody answered, or nothing happened, in time */
	WHARF_FAILED = 100       /* what wharf_fail said, or an answer that cannot be read */
} wharf_status;

/* How the last call was held back. */
typedef enum wharf_withheld { WHARF_DONE, WHARF_PROPOSED, WHARF_SHADOWED } wharf_withheld;

/* What came of the last host call. */
typedef struct wharf_error {
	const char *call;
	wharf_status status;
	wharf_text code, message;
	wharf_withheld withheld;
} wharf_error;

/* --- texts ------------------------------------------------------------------ */

WHARF_FN void wharf_copy(void *to, const void *from, size_t n) {
	__builtin_memcpy(to, from, n);
}

#if defined(__wasm__) && !defined(__wasi__) && !defined(WHARF_NO_MEM)
/* What compilers call where there is no C library. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) void *memcpy(void *to, const void *from, size_t n) {
	unsigned char *t = (unsigned char *)to;
	const unsigned char *f = (const unsigned char *)from;
	for (size_t i = 0; i < n; i++) { t[i] = f[i]; __asm__ volatile("" ::: "memory"); }
	return to;
}
__attribute__((weak)) void *memset(void *to, int with, size_t n) {
	unsigned char *t = (unsigned char *)to;
	for (size_t i = 0; i < n; i++) { t[i] = (unsigned char)with; __asm__ volatile("" ::: "memory"); }
	return to;
}
#ifdef __cplusplus
}
#endif
#endif

/* The text of a string that ends with a zero. */
WHARF_FN wharf_text wharf_str(const char *s) {
	wharf_text t = {s, 0};
	while (s && s[t.len]) t.len++;
	return t;
}

WHARF_FN bool wharf_same(wharf_text a, wharf_text b) {
	if (a.len != b.len) return false;
	for (size_t i = 0; i < a.len; i++)
		if (a.data[i] != b.data[i]) return false;
	return true;
}

/* Whether a text is what a string says. */
WHARF_FN bool wharf_is(wharf_text a, const char *b) { return wharf_same(a, wharf_str(b)); }

/* --- memory ----------------------------------------------------------------- */

#ifdef __wasm__
static uintptr_t wharf_arena_at, wharf_arena_end;

#ifdef __wasi__
#include <stdlib.h>
/* The malloc of a C library takes all memory that is there for its own. */
WHARF_FN void *wharf_pages(size_t n) { return malloc(n * 65536); }
#else
WHARF_FN void *wharf_pages(size_t n) {
	size_t before = __builtin_wasm_memory_grow(0, n);
	return before == (size_t)-1 ? NULL : (void *)(before * 65536);
}
#endif

/* Memory for as long as the Task runs, aligned to 16 bytes. It never fails: without memory the plugin traps. */
WHARF_FN void *wharf_alloc(size_t n) {
	const size_t page = 65536;
	if (n > (size_t)-1 - 2 * page) __builtin_trap();
	n = (n + 15) & ~(size_t)15;
	if (wharf_arena_end - wharf_arena_at < n) {
		size_t pages = (n + page - 1) / page;
		uintptr_t more = (uintptr_t)wharf_pages(pages);
		if (!more) __builtin_trap();
		if (more != wharf_arena_end) wharf_arena_at = more;
		wharf_arena_end = more + pages * page;
	}
	void *p = (void *)wharf_arena_at;
	wharf_arena_at += n;
	return p;
}
#else
#include <stdlib.h>

typedef struct wharf_block { struct wharf_block *next; } wharf_block;
static wharf_block *wharf_blocks;

WHARF_FN void *wharf_alloc(size_t n) {
	wharf_block *b = n > (size_t)-1 - 64 ? NULL : (wharf_block *)malloc(sizeof(wharf_block) + 8 + n);
	if (!b) abort();
	b->next = wharf_blocks;
	wharf_blocks = b;
	return (char *)b + sizeof(wharf_block) + 8;
}

/* Ends what wharf_alloc gave: for tests. */
WHARF_FN void wharf_free_all(void) {
	while (wharf_blocks) {
		wharf_block *next = wharf_blocks->next;
		free(wharf_blocks);
		wharf_blocks = next;
	}
}
#endif

WHARF_FN void *wharf_zeroed(size_t n) {
	void *p = wharf_alloc(n);
	__builtin_memset(p, 0, n);
	return p;
}

/* A struct that lives as long as the Task, with nothing in it yet: wharf_part_t *p = wharf_new(wharf_part_t); */
#define wharf_new(type) ((type *)wharf_zeroed(sizeof(type)))

/* Room that grows: it holds the items of lists while their number is not known. */
WHARF_FN void *wharf_grow(void *items, size_t count, size_t *room, size_t size) {
	if (count < *room) return items;
	size_t more = *room ? *room * 2 : 4;
	if (more > (size_t)-1 / 2 / size) __builtin_trap();
	char *bigger = (char *)wharf_alloc(more * size);
	if (count) wharf_copy(bigger, items, count * size);
	*room = more;
	return bigger;
}

/* Two texts as one. */
WHARF_FN wharf_text wharf_join(wharf_text a, wharf_text b) {
	char *p = (char *)wharf_alloc(a.len + b.len + 1);
	if (a.len) wharf_copy(p, a.data, a.len);
	if (b.len) wharf_copy(p + a.len, b.data, b.len);
	p[a.len + b.len] = 0;
	wharf_text t = {p, a.len + b.len};
	return t;
}

/* --- numbers as texts --------------------------------------------------------- */

/* A natural number of any length, least word first. It is for doubles that have no short way. */
#define WHARF_BIG_WORDS 132
typedef struct wharf_big { uint32_t w[WHARF_BIG_WORDS]; int n; } wharf_big;

WHARF_FN void wharf_big_set(wharf_big *b, uint64_t v) {
	b->n = 0;
	for (; v; v >>= 32) b->w[b->n++] = (uint32_t)v;
}

/* b = b * m + a */
WHARF_FN void wharf_big_mul(wharf_big *b, uint32_t m, uint32_t a) {
	uint64_t carry = a;
	for (int i = 0; i < b->n; i++) {
		carry += (uint64_t)b->w[i] * m;
		b->w[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry && b->n < WHARF_BIG_WORDS) b->w[b->n++] = (uint32_t)carry;
}

WHARF_FN void wharf_big_pow10(wharf_big *b, int n) {
	for (; n >= 9; n -= 9) wharf_big_mul(b, 1000000000, 0);
	for (; n > 0; n--) wharf_big_mul(b, 10, 0);
}

WHARF_FN void wharf_big_shift(wharf_big *b, int bits) {
	for (; bits >= 31; bits -= 31) wharf_big_mul(b, 1u << 31, 0);
	if (bits > 0) wharf_big_mul(b, 1u << bits, 0);
}

WHARF_FN int wharf_big_cmp(const wharf_big *a, const wharf_big *b) {
	if (a->n != b->n) return a->n < b->n ? -1 : 1;
	for (int i = a->n - 1; i >= 0; i--)
		if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
	return 0;
}

/* a = a - b, where b is not more */
WHARF_FN void wharf_big_sub(wharf_big *a, const wharf_big *b) {
	uint64_t borrow = 0;
	for (int i = 0; i < a->n; i++) {
		uint64_t take = borrow + (i < b->n ? b->w[i] : 0);
		borrow = a->w[i] < take;
		a->w[i] = (uint32_t)(a->w[i] - take);
	}
	while (a->n && !a->w[a->n - 1]) a->n--;
}

WHARF_FN int wharf_big_bits(const wharf_big *b) {
	return b->n ? b->n * 32 - __builtin_clz(b->w[b->n - 1]) : 0;
}

WHARF_FN double wharf_double_of(uint64_t mantissa, int exponent) { /* mantissa * 2^exponent, exactly */
	union { uint64_t u; double d; } v;
	if (!mantissa) return 0;
	if (mantissa == (uint64_t)1 << 53) mantissa >>= 1, exponent++; /* it was rounded up to one bit more */
	while (mantissa < ((uint64_t)1 << 52) && exponent > -1074) mantissa <<= 1, exponent--;
	if (mantissa < ((uint64_t)1 << 52)) v.u = mantissa;
	else if (exponent > 971) v.u = (uint64_t)0x7ff << 52;
	else v.u = (mantissa & (((uint64_t)1 << 52) - 1)) | (uint64_t)(exponent + 1075) << 52;
	return v.d;
}

/* The double that is nearest to digits * 10^exponent, whose digits are a big number. */
WHARF_FN double wharf_nearest(wharf_big *num, int exponent) {
	wharf_big den;
	wharf_big_set(&den, 1);
	if (!num->n) return 0;
	if (exponent > 0) wharf_big_pow10(num, exponent);
	else wharf_big_pow10(&den, -exponent);
	int e = wharf_big_bits(num) - wharf_big_bits(&den) - 54; /* so that the quotient has 54 or 55 bits */
	if (e < -1075) e = -1075;
	if (e > 0) wharf_big_shift(&den, e);
	else wharf_big_shift(num, -e);
	uint64_t q = 0;
	int bits = wharf_big_bits(num) - wharf_big_bits(&den);
	if (bits < 0) bits = 0;
	wharf_big_shift(&den, bits);
	for (;; bits--) {
		q <<= 1;
		if (wharf_big_cmp(num, &den) >= 0) wharf_big_sub(num, &den), q |= 1;
		if (!bits) break;
		uint32_t low = 0; /* den = den / 2 */
		for (int i = den.n - 1; i >= 0; i--) {
			uint32_t w = den.w[i];
			den.w[i] = w >> 1 | low << 31;
			low = w & 1;
		}
		while (den.n && !den.w[den.n - 1]) den.n--;
	}
	bool more = num->n != 0;
	while (q >= ((uint64_t)1 << 54)) more |= q & 1, q >>= 1, e++;
	/* The last bit says how to round. */
	if (e < -1075) return 0;
	bool up = (q & 1) && (more || (q & 2));
	q = (q >> 1) + up;
	return wharf_double_of(q, e + 1);
}

/* A number as ECMAScript writes it, in the arena. One that is not finite is null. */
WHARF_FN wharf_text wharf_number_text(double v);

/* --- writing JSON --------------------------------------------------------------- */

/* A writer of JSON. Zero is a writer of nothing yet. */
typedef struct wharf_writer {
	char *data;
	size_t len, room;
	bool comma; /* a value came before in what is open */
} wharf_writer;

WHARF_FN void wharf_put_raw(wharf_writer *w, const char *data, size_t n) {
	if (n > w->room - w->len) {
		size_t room = w->room * 2 + n + 256;
		if (room < n) __builtin_trap();
		char *bigger = (char *)wharf_alloc(room);
		if (w->len) wharf_copy(bigger, w->data, w->len);
		w->data = bigger;
		w->room = room;
	}
	if (n) wharf_copy(w->data + w->len, data, n);
	w->len += n;
}

WHARF_FN void wharf_put_char(wharf_writer *w, char c) { wharf_put_raw(w, &c, 1); }

/* Begins a value: a comma is written where one is needed. */
WHARF_FN void wharf_put_value(wharf_writer *w) {
	if (w->comma) wharf_put_char(w, ',');
	w->comma = true;
}

WHARF_FN void wharf_put_quoted(wharf_writer *w, wharf_text t) {
	static const char hex[] = "0123456789abcdef";
	wharf_put_char(w, '"');
	size_t from = 0;
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.data[i];
		if (c >= ' ' && c != '"' && c != '\\') continue;
		wharf_put_raw(w, t.data + from, i - from);
		from = i + 1;
		char escape[6] = {'\\', (char)c, '0', '0', hex[c >> 4], hex[c & 15]};
		switch (c) {
		case '"': case '\\': wharf_put_raw(w, escape, 2); continue;
		case '\n': escape[1] = 'n'; wharf_put_raw(w, escape, 2); continue;
		case '\r': escape[1] = 'r'; wharf_put_raw(w, escape, 2); continue;
		case '\t': escape[1] = 't'; wharf_put_raw(w, escape, 2); continue;
		case '\b': escape[1] = 'b'; wharf_put_raw(w, escape, 2); continue;
		case '\f': escape[1] = 'f'; wharf_put_raw(w, escape, 2); continue;
		}
		escape[1] = 'u';
		wharf_put_raw(w, escape, 6);
	}
	wharf_put_raw(w, t.data + from, t.len - from);
	wharf_put_char(w, '"');
}

WHARF_FN void wharf_put_object(wharf_writer *w) { wharf_put_value(w); wharf_put_char(w, '{'); w->comma = false; }
WHARF_FN void wharf_end_object(wharf_writer *w) { wharf_put_char(w, '}'); w->comma = true; }
WHARF_FN void wharf_put_array(wharf_writer *w) { wharf_put_value(w); wharf_put_char(w, '['); w->comma = false; }
WHARF_FN void wharf_end_array(wharf_writer *w) { wharf_put_char(w, ']'); w->comma = true; }

/* Begins a member: its value comes next. */
WHARF_FN void wharf_put_name(wharf_writer *w, wharf_text name) {
	wharf_put_value(w);
	wharf_put_quoted(w, name);
	wharf_put_char(w, ':');
	w->comma = false;
}

WHARF_FN void wharf_put_text(wharf_writer *w, wharf_text t) { wharf_put_value(w); wharf_put_quoted(w, t); }
WHARF_FN void wharf_put_bool(wharf_writer *w, bool b) { wharf_put_value(w); wharf_put_raw(w, b ? "true" : "false", b ? 4 : 5); }

/* A JSON value as it is written; null for nothing. */
WHARF_FN void wharf_put_json(wharf_writer *w, wharf_json v) {
	wharf_put_value(w);
	wharf_put_raw(w, v.data ? v.data : "null", v.data ? v.len : 4);
}

WHARF_FN void wharf_put_natural(wharf_writer *w, uint64_t n) {
	char digits[20];
	int i = 20;
	do digits[--i] = (char)('0' + n % 10); while (n /= 10);
	wharf_put_value(w);
	wharf_put_raw(w, digits + i, (size_t)(20 - i));
}

WHARF_FN void wharf_put_integer(wharf_writer *w, int64_t n) {
	if (n >= 0) { wharf_put_natural(w, (uint64_t)n); return; }
	wharf_put_value(w);
	wharf_put_char(w, '-');
	w->comma = false;
	wharf_put_natural(w, 0 - (uint64_t)n);
}

WHARF_FN void wharf_put_number(wharf_writer *w, double v) {
	wharf_text t = wharf_number_text(v);
	wharf_put_value(w);
	wharf_put_raw(w, t.data, t.len);
}

WHARF_FN void wharf_put_base64(wharf_writer *w, wharf_bytes b) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	wharf_put_value(w);
	wharf_put_char(w, '"');
	for (size_t i = 0; i < b.len; i += 3) {
		size_t n = b.len - i;
		uint32_t v = (uint32_t)b.data[i] << 16 | (n > 1 ? (uint32_t)b.data[i + 1] << 8 : 0) | (n > 2 ? b.data[i + 2] : 0);
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63], n > 1 ? digits[v >> 6 & 63] : '=', n > 2 ? digits[v & 63] : '='};
		wharf_put_raw(w, four, 4);
	}
	wharf_put_char(w, '"');
}

/* What was written. */
WHARF_FN wharf_json wharf_written(const wharf_writer *w) {
	wharf_json v = {w->data ? w->data : "", w->len};
	return v;
}

/* --- reading JSON --------------------------------------------------------------- */

/*
 * A reader that takes one value after the other from a text. The first fault stays in error, and
 * whatever is read after it is nothing. A text without escapes is a part of what is read.
 *
 *	wharf_reader r = wharf_read(text);
 *	wharf_text name;
 *	for (wharf_get_object(&r); wharf_next_member(&r, &name);) {
 *		if (wharf_is(name, "count")) n = wharf_get_integer(&r);
 *		else wharf_skip(&r);
 *	}
 *	if (wharf_bad(&r)) ...
 */
typedef struct wharf_reader {
	const char *at, *end;
	const char *error; /* NULL: none yet */
	bool first;        /* nothing of what was entered has been read */
	int depth;
} wharf_reader;

/* The host nests at most 200 levels deep. */
#define WHARF_MAX_DEPTH 256

WHARF_FN wharf_reader wharf_read(wharf_text t) {
	wharf_reader r = {t.data, t.data ? t.data + t.len : t.data, NULL, false, 0};
	return r;
}

WHARF_FN bool wharf_wrong(wharf_reader *r, const char *why) {
	if (!r->error) r->error = why;
	r->at = r->end;
	return false;
}

/* The next byte that is no white space; 0 at the end. */
WHARF_FN char wharf_peek(wharf_reader *r) {
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) r->at++;
	return r->at < r->end ? *r->at : 0;
}

WHARF_FN bool wharf_take(wharf_reader *r, const char *word) {
	const char *p = r->at;
	for (; *word; word++, p++)
		if (p >= r->end || *p != *word) return wharf_wrong(r, "it is no JSON value");
	r->at = p;
	return true;
}

/* Takes a null, if it is next. */
WHARF_FN bool wharf_get_null(wharf_reader *r) { return wharf_peek(r) == 'n' && wharf_take(r, "null"); }

WHARF_FN bool wharf_enter(wharf_reader *r, char opening, const char *why) {
	if (wharf_peek(r) != opening) return wharf_wrong(r, why);
	if (++r->depth > WHARF_MAX_DEPTH) return wharf_wrong(r, "it nests too deep");
	r->at++;
	r->first = true;
	return true;
}

/* Enters an object, or an array: read each with wharf_next_member or wharf_next_item. */
WHARF_FN bool wharf_get_object(wharf_reader *r) { return wharf_enter(r, '{', "it is no object"); }
WHARF_FN bool wharf_get_array(wharf_reader *r) { return wharf_enter(r, '[', "it is no array"); }

WHARF_FN bool wharf_more(wharf_reader *r, char closing) {
	if (r->error) return false;
	char c = wharf_peek(r);
	if (c == closing) {
		r->at++;
		r->depth--;
		r->first = false;
		return false;
	}
	if (!r->first) {
		if (c != ',') return wharf_wrong(r, "a comma is missing");
		r->at++;
		wharf_peek(r);
	}
	r->first = false;
	return true;
}

/* Whether the array has another item, which comes next. */
WHARF_FN bool wharf_next_item(wharf_reader *r) { return wharf_more(r, ']'); }

WHARF_FN int wharf_hex4(const char *p) {
	int v = 0;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
		if (d < 0) return -1;
		v = v << 4 | d;
	}
	return v;
}

WHARF_FN char *wharf_put_rune(char *p, uint32_t c) {
	if (c < 0x80) { *p++ = (char)c; return p; }
	if (c < 0x800) { *p++ = (char)(0xc0 | c >> 6); }
	else {
		if (c < 0x10000) { *p++ = (char)(0xe0 | c >> 12); }
		else { *p++ = (char)(0xf0 | c >> 18); *p++ = (char)(0x80 | (c >> 12 & 63)); }
		*p++ = (char)(0x80 | (c >> 6 & 63));
	}
	*p++ = (char)(0x80 | (c & 63));
	return p;
}

/* Where the string ends that begins at r->at: at its quote; NULL if it does not. */
WHARF_FN const char *wharf_string_end(wharf_reader *r, bool *escapes) {
	for (const char *p = r->at + 1; p < r->end; p++) {
		if (*p == '"') return p;
		if ((unsigned char)*p < ' ') { wharf_wrong(r, "a text has a control character"); return NULL; }
		if (*p != '\\') continue;
		*escapes = true;
		if (++p >= r->end) break;
		switch (*p) {
		case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': continue;
		case 'u':
			if (r->end - p > 4 && wharf_hex4(p + 1) >= 0) { p += 4; continue; }
		}
		wharf_wrong(r, "a text has an escape that does not exist");
		return NULL;
	}
	wharf_wrong(r, "a text has no end");
	return NULL;
}

/* Half of a pair of UTF-16 stands for itself only with the other: else it is U+FFFD. */
WHARF_FN const char *wharf_unescape(const char *p, const char *end, char **to) {
	uint32_t c = (uint32_t)wharf_hex4(p);
	p += 4;
	if (c >= 0xd800 && c < 0xe000) {
		int low = c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? wharf_hex4(p + 2) : -1;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10 | ((uint32_t)low - 0xdc00));
			p += 6;
		} else {
			c = 0xfffd;
		}
	}
	*to = wharf_put_rune(*to, c);
	return p;
}

/* A text; nothing for null. */
WHARF_FN wharf_text wharf_get_text(wharf_reader *r) {
	wharf_text nothing = {NULL, 0}, t;
	bool escapes = false;
	if (wharf_get_null(r)) return nothing;
	if (wharf_peek(r) != '"') { wharf_wrong(r, "it is no text"); return nothing; }
	const char *end = wharf_string_end(r, &escapes);
	if (!end) return nothing;
	const char *p = r->at + 1;
	r->at = end + 1;
	t.data = p;
	t.len = (size_t)(end - p);
	if (!escapes) return t;
	char *start = (char *)wharf_alloc(t.len), *to = start;
	while (p < end) {
		if (*p != '\\') { *to++ = *p++; continue; }
		char c = p[1];
		p += 2;
		switch (c) {
		case 'b': *to++ = '\b'; break;
		case 'f': *to++ = '\f'; break;
		case 'n': *to++ = '\n'; break;
		case 'r': *to++ = '\r'; break;
		case 't': *to++ = '\t'; break;
		case 'u': p = wharf_unescape(p, end, &to); break;
		default: *to++ = c;
		}
	}
	t.data = start;
	t.len = (size_t)(to - start);
	return t;
}

/* Whether the object has another member, whose value comes next. */
WHARF_FN bool wharf_next_member(wharf_reader *r, wharf_text *name) {
	if (!wharf_more(r, '}')) return false;
	if (wharf_peek(r) != '"') return wharf_wrong(r, "a member has no name");
	*name = wharf_get_text(r);
	if (wharf_peek(r) != ':') return wharf_wrong(r, "a colon is missing");
	r->at++;
	return !r->error;
}

/* The digits of a number, as they are written. */
WHARF_FN wharf_text wharf_get_digits(wharf_reader *r) {
	wharf_text nothing = {NULL, 0};
	wharf_peek(r);
	const char *p = r->at, *end = r->end;
#define WHARF_DIGIT(p) ((p) < end && *(p) >= '0' && *(p) <= '9')
	if (p < end && *p == '-') p++;
	if (!WHARF_DIGIT(p)) { wharf_wrong(r, "it is no number"); return nothing; }
	if (*p == '0') p++;
	else while (WHARF_DIGIT(p)) p++;
	if (p < end && *p == '.') {
		p++;
		if (!WHARF_DIGIT(p)) { wharf_wrong(r, "it is no number"); return nothing; }
		while (WHARF_DIGIT(p)) p++;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-')) p++;
		if (!WHARF_DIGIT(p)) { wharf_wrong(r, "it is no number"); return nothing; }
		while (WHARF_DIGIT(p)) p++;
	}
#undef WHARF_DIGIT
	wharf_text t = {r->at, (size_t)(p - r->at)};
	r->at = p;
	return t;
}

/* The double that digits say, rounded to the nearest. */
WHARF_FN double wharf_parse_number(wharf_text t) {
	static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const char *p = t.data, *end = t.data + t.len;
	bool minus = p < end && *p == '-', point = false, more = false;
	int exponent = 0, digits = 0;
	uint64_t m = 0;
	wharf_big big;
	wharf_big_set(&big, 0);
	for (p += minus; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') { point = true; continue; }
		if (exponent < -100000 || exponent > 100000) continue;
		if (digits >= 780) { more |= *p != '0'; exponent += !point; continue; }
		if (digits || *p != '0') {
			digits++;
			if (digits <= 19) m = m * 10 + (uint64_t)(*p - '0');
			if (!big.n) wharf_big_set(&big, (uint64_t)(*p - '0'));
			else wharf_big_mul(&big, 10, (uint32_t)(*p - '0'));
		}
		exponent -= point;
	}
	if (p < end) {
		bool down = ++p < end && *p == '-';
		int e = 0;
		if (p < end && (*p == '-' || *p == '+')) p++;
		for (; p < end; p++)
			if (e < 1000000) e = e * 10 + (*p - '0');
		exponent += down ? -e : e;
	}
	double v;
	if (!digits || digits + exponent < -330) v = 0;
	else if (digits + exponent > 310) v = wharf_double_of(1, 2000);
	else if (digits <= 19 && m < ((uint64_t)1 << 53) && exponent >= -22 && exponent <= 22) v = exponent < 0 ? (double)m / tens[-exponent] : (double)m * tens[exponent];
	else {
		if (more) wharf_big_mul(&big, 10, 1), exponent--;
		v = wharf_nearest(&big, exponent);
	}
	return minus ? -v : v;
}

WHARF_FN double wharf_get_number(wharf_reader *r) {
	if (wharf_get_null(r)) return 0;
	wharf_text t = wharf_get_digits(r);
	return t.data ? wharf_parse_number(t) : 0;
}

/* A whole number without fraction and exponent. */
WHARF_FN uint64_t wharf_get_whole(wharf_reader *r, bool *minus) {
	*minus = false;
	if (wharf_get_null(r)) return 0;
	wharf_text t = wharf_get_digits(r);
	uint64_t n = 0;
	for (size_t i = 0; i < t.len; i++) {
		if (i == 0 && t.data[0] == '-') { *minus = true; continue; }
		uint64_t d = (uint64_t)(t.data[i] - '0');
		if (d > 9) { wharf_wrong(r, "it is no whole number"); return 0; }
		if (n > (UINT64_MAX - d) / 10) { wharf_wrong(r, "the number is too large"); return 0; }
		n = n * 10 + d;
	}
	return n;
}

WHARF_FN int64_t wharf_get_integer(wharf_reader *r) {
	bool minus;
	uint64_t n = wharf_get_whole(r, &minus);
	if (n > (uint64_t)INT64_MAX + minus) { wharf_wrong(r, "the number is too large"); return 0; }
	return minus ? (int64_t)(0 - n) : (int64_t)n;
}

WHARF_FN uint64_t wharf_get_natural(wharf_reader *r) {
	bool minus;
	uint64_t n = wharf_get_whole(r, &minus);
	if (minus && n) { wharf_wrong(r, "the number is negative"); return 0; }
	return n;
}

WHARF_FN bool wharf_get_bool(wharf_reader *r) {
	if (wharf_get_null(r)) return false;
	if (wharf_peek(r) == 't') return wharf_take(r, "true");
	if (wharf_peek(r) != 'f') return wharf_wrong(r, "it is neither true nor false");
	wharf_take(r, "false");
	return false;
}

/* Passes over a value. */
WHARF_FN void wharf_skip(wharf_reader *r) {
	bool escapes = false;
	wharf_text name;
	const char *end;
	switch (wharf_peek(r)) {
	case '{':
		for (wharf_get_object(r); wharf_next_member(r, &name);) wharf_skip(r);
		break;
	case '[':
		for (wharf_get_array(r); wharf_next_item(r);) wharf_skip(r);
		break;
	case '"':
		end = wharf_string_end(r, &escapes);
		if (end) r->at = end + 1;
		break;
	case 't': wharf_take(r, "true"); break;
	case 'f': wharf_take(r, "false"); break;
	case 'n': wharf_take(r, "null"); break;
	default: wharf_get_digits(r);
	}
}

/* A value as it is written. */
WHARF_FN wharf_json wharf_get_json(wharf_reader *r) {
	wharf_peek(r);
	wharf_json v = {r->at, 0};
	wharf_skip(r);
	if (r->error) v.data = NULL;
	else v.len = (size_t)(r->at - v.data);
	return v;
}

WHARF_FN wharf_bytes wharf_get_base64(wharf_reader *r) {
	wharf_text t = wharf_get_text(r);
	wharf_bytes nothing = {NULL, 0}, b;
	if (!t.data) return nothing;
	size_t pad = 0;
	while (pad < 2 && pad < t.len && t.data[t.len - 1 - pad] == '=') pad++;
	uint8_t *to = (uint8_t *)wharf_alloc(t.len / 4 * 3 + 1);
	b.data = to;
	if (t.len % 4) { wharf_wrong(r, "it is not base64"); return nothing; }
	for (size_t i = 0; i < t.len; i += 4) {
		uint32_t v = 0;
		for (size_t j = i; j < i + 4; j++) {
			char c = t.data[j];
			int d = c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : j >= t.len - pad ? 0 : -1;
			if (d < 0) { wharf_wrong(r, "it is not base64"); return nothing; }
			v = v << 6 | (uint32_t)d;
		}
		*to++ = (uint8_t)(v >> 16);
		*to++ = (uint8_t)(v >> 8);
		*to++ = (uint8_t)v;
	}
	b.len = (size_t)(to - b.data) - pad;
	return b;
}

/* Whether what was read is wrong, or more than one value. */
WHARF_FN bool wharf_bad(wharf_reader *r) {
	if (!r->error && wharf_peek(r)) wharf_wrong(r, "something comes after the value");
	return r->error != NULL;
}

/* The member of an object, as it is written; nothing if it has none. */
WHARF_FN wharf_json wharf_member(wharf_json object, const char *name) {
	wharf_json nothing = {NULL, 0};
	wharf_reader r = wharf_read(object);
	wharf_text n;
	if (wharf_peek(&r) != '{') return nothing;
	for (wharf_get_object(&r); wharf_next_member(&r, &n);) {
		if (wharf_is(n, name)) return wharf_get_json(&r);
		wharf_skip(&r);
	}
	return nothing;
}

/* --- doubles, as they are written ------------------------------------------------- */

/* p significant digits of v, which is positive, and the exponent of the first: rounded to the nearest. */
WHARF_FN int wharf_round_digits(double v, int p, char *digits) {
	union { double d; uint64_t u; } bits;
	bits.d = v;
	uint64_t m = bits.u & (((uint64_t)1 << 52) - 1);
	int e = (int)(bits.u >> 52);
	if (e) m |= (uint64_t)1 << 52; else e = 1;
	e -= 1075;
	wharf_big num, den;
	int first = 0, top = 64 - __builtin_clzll(m) + e; /* v < 2^top */
	first = (top - 1) * 30103 / 100000 - (top <= 0);  /* at most one too small */
	for (;; first++) {
		wharf_big_set(&num, m);
		wharf_big_set(&den, 1);
		if (e > 0) wharf_big_shift(&num, e); else wharf_big_shift(&den, -e);
		int up = p - 1 - first; /* digits before the point, once it is moved */
		if (up > 0) wharf_big_pow10(&num, up); else wharf_big_pow10(&den, -up);
		wharf_big_mul(&num, 2, 0); /* (2 * num + den) / (2 * den) is the nearest */
		uint64_t carry = 0;
		for (int i = 0; i < den.n || carry; i++) {
			if (i >= num.n) num.w[num.n++] = 0;
			carry += (uint64_t)num.w[i] + (i < den.n ? den.w[i] : 0);
			num.w[i] = (uint32_t)carry;
			carry >>= 32;
		}
		wharf_big_mul(&den, 2, 0);
		uint64_t q = 0;
		wharf_big most = den;
		wharf_big_pow10(&most, p);
		if (wharf_big_cmp(&num, &most) >= 0) continue; /* a digit too many */
		int shift = wharf_big_bits(&num) - wharf_big_bits(&den);
		for (int i = shift < 0 ? 0 : shift; i >= 0; i--) {
			wharf_big part = den;
			wharf_big_shift(&part, i);
			q <<= 1;
			if (wharf_big_cmp(&num, &part) >= 0) wharf_big_sub(&num, &part), q |= 1;
		}
		for (int i = p - 1; i >= 0; i--) digits[i] = (char)('0' + q % 10), q /= 10;
		return first;
	}
}

/* The fewest digits that are read as v again, and the exponent of the first. */
WHARF_FN int wharf_shortest(double v, char *digits, int *count) {
	for (int p = 1;; p++) {
		int first = wharf_round_digits(v, p, digits);
		wharf_big all;
		wharf_big_set(&all, 0);
		for (int i = 0; i < p; i++) {
			if (all.n) wharf_big_mul(&all, 10, (uint32_t)(digits[i] - '0'));
			else wharf_big_set(&all, (uint64_t)(digits[i] - '0'));
		}
		*count = p;
		if (p == 17 || wharf_nearest(&all, first - p + 1) == v) return first;
	}
}

WHARF_FN wharf_text wharf_number_text(double v) {
	char digits[20], *start = (char *)wharf_alloc(40), *p = start;
	union { double d; uint64_t u; } bits;
	bits.d = v;
	wharf_text t = {"null", 4};
	if ((bits.u >> 52 & 0x7ff) == 0x7ff) return t;
	if (v == 0) { t.data = "0"; t.len = 1; return t; }
	if (v < 0) *p++ = '-', v = -v;
	int count = 0, first;
	if (v < 9007199254740992.0 && v == (double)(uint64_t)v) { /* a whole number is its digits */
		uint64_t n = (uint64_t)v;
		int i = 20;
		do digits[--i] = (char)('0' + n % 10); while (n /= 10);
		for (; i < 20; i++) *p++ = digits[i];
		t.data = start;
		t.len = (size_t)(p - start);
		return t;
	}
	first = wharf_shortest(v, digits, &count);
	while (count > 1 && digits[count - 1] == '0') count--;
	if (first >= 21 || first < -6) goto scientific;
	if (first < 0) {
		*p++ = '0', *p++ = '.';
		for (int i = -1; i > first; i--) *p++ = '0';
		for (int i = 0; i < count; i++) *p++ = digits[i];
	} else {
		for (int i = 0; i <= first || i < count; i++) {
			if (i == first + 1) *p++ = '.';
			*p++ = i < count ? digits[i] : '0';
		}
	}
	t.data = start;
	t.len = (size_t)(p - start);
	return t;
scientific:
	*p++ = digits[0];
	if (count > 1) *p++ = '.';
	for (int i = 1; i < count; i++) *p++ = digits[i];
	*p++ = 'e';
	*p++ = first < 0 ? '-' : '+';
	if (first < 0) first = -first;
	if (first >= 100) *p++ = (char)('0' + first / 100);
	if (first >= 10) *p++ = (char)('0' + first / 10 % 10);
	*p++ = (char)('0' + first % 10);
	t.data = start;
	t.len = (size_t)(p - start);
	return t;
}

/* --- host calls ------------------------------------------------------------------- */

static wharf_error wharf_last_error;

/* What came of the last host call, or what wharf_fail said. */
WHARF_FN const wharf_error *wharf_last(void) { return &wharf_last_error; }

/* Fails with a code of the plugin's own: return what it returns. */
WHARF_FN wharf_status wharf_fail(const char *code, wharf_text message) {
	wharf_error e = {"", WHARF_FAILED, wharf_str(code), message, WHARF_DONE};
	wharf_last_error = e;
	return WHARF_FAILED;
}

#ifdef __wasm__
#define WHARF_IMPORT(name) __attribute__((import_module("wharf"), import_name(name)))
#ifdef __cplusplus
extern "C" {
#endif
WHARF_IMPORT("read") uint32_t wharf_host_read(void *to, uint32_t len);
#ifdef __cplusplus
}
#endif
#define WHARF_HOST(function, name)  \
	WHARF_IMPORT(name) uint64_t wharf_host_##function(const void *request, uint32_t len);
#else
/* Answers the calls outside of Wasm: it sets answer, and returns the status. */
static uint32_t (*wharf_test_host)(const char *call, wharf_text request, wharf_text *answer);
static wharf_text wharf_test_answer;

WHARF_FN uint64_t wharf_test_call(const char *call, const void *request, uint32_t len) {
	wharf_text r = {(const char *)request, len}, nothing = {NULL, 0};
	wharf_test_answer = nothing;
	if (!wharf_test_host) abort();
	uint32_t status = wharf_test_host(call, r, &wharf_test_answer);
	return (uint64_t)status << 32 | (uint32_t)wharf_test_answer.len;
}

WHARF_FN uint32_t wharf_host_read(void *to, uint32_t len) {
	size_t n = wharf_test_answer.len < len ? wharf_test_answer.len : len;
	if (n) wharf_copy(to, wharf_test_answer.data, n);
	return (uint32_t)n;
}
#define WHARF_HOST(function, name)  \
	WHARF_FN uint64_t wharf_host_##function(const void *request, uint32_t len) { return wharf_test_call(name, request, len); }
#endif

/* Fetches the answer of a call, and says what came of it. */
WHARF_FN wharf_status wharf_take_answer(const char *call, uint64_t result, bool may_be_withheld, wharf_text *answer) {
	uint32_t len = (uint32_t)result;
	char *to = (char *)wharf_alloc(len);
	wharf_error e = {call, (wharf_status)(result >> 32), {NULL, 0}, {NULL, 0}, WHARF_DONE};
	answer->data = to;
	answer->len = wharf_host_read(to, len);
	if (e.status) {
		wharf_reader r = wharf_read(*answer);
		wharf_text name;
		for (wharf_get_object(&r); wharf_next_member(&r, &name);) {
			if (wharf_is(name, "code")) e.code = wharf_get_text(&r);
			else if (wharf_is(name, "message")) e.message = wharf_get_text(&r);
			else wharf_skip(&r);
		}
		if (may_be_withheld && e.status == WHARF_DENIED) {
			if (wharf_is(e.code, "proposed")) e.withheld = WHARF_PROPOSED;
			if (wharf_is(e.code, "shadow")) e.withheld = WHARF_SHADOWED;
		}
		if (e.withheld) e.status = WHARF_OK;
	}
	wharf_last_error = e;
	return e.status;
}

/* Whether the answer was read whole. */
WHARF_FN wharf_status wharf_took(const char *call, wharf_reader *r) {
	if (!wharf_bad(r)) return WHARF_OK;
	wharf_error e = {call, WHARF_FAILED, wharf_str("plugin_error"), wharf_join(wharf_str("reading the answer: "), wharf_str(r->error)), WHARF_DONE};
	wharf_last_error = e;
	return WHARF_FAILED;
}

#ifdef __cplusplus
extern "C" {
#endif

WHARF_HOST(input, "input")
WHARF_HOST(output, "output")
WHARF_HOST(clock, "clock")
WHARF_HOST(random, "random")
WHARF_HOST(id, "id")
WHARF_HOST(log, "log")
WHARF_HOST(progress, "progress")
WHARF_HOST(plan, "plan")
WHARF_HOST(agent_event, "agent.event")
WHARF_HOST(plan_set, "plan.set")
WHARF_HOST(plan_get, "plan.get")
WHARF_HOST(inbox_take, "inbox.take")
WHARF_HOST(message_append, "message.append")
WHARF_HOST(message_delta, "message.delta")
WHARF_HOST(transcript_read, "transcript.read")
WHARF_HOST(llm_complete, "llm.complete")
WHARF_HOST(tool_list, "tool.list")
WHARF_HOST(tool_call, "tool.call")
WHARF_HOST(resource_list, "resource.list")
WHARF_HOST(resource_read, "resource.read")
WHARF_HOST(prompt_get, "prompt.get")
WHARF_HOST(http_fetch, "http.fetch")
WHARF_HOST(secret_use, "secret.use")
WHARF_HOST(memory_query, "memory.query")
WHARF_HOST(memory_write, "memory.write")
WHARF_HOST(block_list, "block.list")
WHARF_HOST(block_write, "block.write")
WHARF_HOST(artifact_put, "artifact.put")
WHARF_HOST(artifact_get, "artifact.get")
WHARF_HOST(file_read, "file.read")
WHARF_HOST(file_write, "file.write")
WHARF_HOST(file_edit, "file.edit")
WHARF_HOST(file_list, "file.list")
WHARF_HOST(file_remove, "file.remove")
WHARF_HOST(file_search, "file.search")
WHARF_HOST(skill_read, "skill.read")
WHARF_HOST(skill_match, "skill.match")
WHARF_HOST(composition_begin, "composition.begin")
WHARF_HOST(composition_end, "composition.end")
WHARF_HOST(state_get, "state.get")
WHARF_HOST(state_set, "state.set")
WHARF_HOST(sleep, "sleep")
WHARF_HOST(input_request, "input.request")
WHARF_HOST(auth_request, "auth.request")
WHARF_HOST(approval_request, "approval.request")
WHARF_HOST(task_spawn, "task.spawn")
WHARF_HOST(task_await, "task.await")
WHARF_HOST(handoff, "handoff")
WHARF_HOST(agent_delegate, "agent.delegate")
WHARF_HOST(event_emit, "event.emit")
WHARF_HOST(config_get, "config.get")
WHARF_HOST(host_fact, "host.fact")
WHARF_HOST(connector_deliveries, "connector.deliveries")
WHARF_HOST(connector_normalized, "connector.normalized")
WHARF_HOST(connector_deliver, "connector.deliver")
#ifdef __cplusplus
}
#endif

/* --- requests and answers of wharf-abi-1 ------------------------------------------------ */

/* AgentEventKind is a kind of what an agent tells of its own work. */
#define WHARF_AGENT_EVENT_KIND_SKILL_ACTIVATED "skill_activated"
#define WHARF_AGENT_EVENT_KIND_SKILL_DEACTIVATED "skill_deactivated"
#define WHARF_AGENT_EVENT_KIND_SKILL_SCOPE_TOOLS "skill_scope_tools"
#define WHARF_AGENT_EVENT_KIND_SKILL_NARROW "skill_narrow"
#define WHARF_AGENT_EVENT_KIND_TOOL_SEARCH_QUERY "tool_search_query"
#define WHARF_AGENT_EVENT_KIND_TOOL_SEARCH_RESULT "tool_search_result"
#define WHARF_AGENT_EVENT_KIND_TRANSCRIPT_COMPACTED "transcript_compacted"
#define WHARF_AGENT_EVENT_KIND_TRANSCRIPT_PROJECTED "transcript_projected"
#define WHARF_AGENT_EVENT_KIND_TURN_STARTED "turn_started"
#define WHARF_AGENT_EVENT_KIND_TURN_ENDED "turn_ended"

/* ArtifactKind says what an Artifact is. */
#define WHARF_ARTIFACT_KIND_FILE "file"
#define WHARF_ARTIFACT_KIND_PATCH "patch"
#define WHARF_ARTIFACT_KIND_IMAGE "image"
#define WHARF_ARTIFACT_KIND_LOG "log"
#define WHARF_ARTIFACT_KIND_DIFF "diff"
#define WHARF_ARTIFACT_KIND_RECEIPT "receipt"
#define WHARF_ARTIFACT_KIND_SNAPSHOT "snapshot"
#define WHARF_ARTIFACT_KIND_DATASET "dataset"
#define WHARF_ARTIFACT_KIND_OTHER "other"

/* AutonomyTier says how far a Persona may act by itself. */
#define WHARF_AUTONOMY_TIER_SHADOW "shadow"
#define WHARF_AUTONOMY_TIER_SUGGEST "suggest"
#define WHARF_AUTONOMY_TIER_ACT_WITH_APPROVAL "act_with_approval"
#define WHARF_AUTONOMY_TIER_ACT_AUTO "act_auto"

/* Checkpoint is where a plugin looks into the inbox. */
#define WHARF_CHECKPOINT_STEP "step"
#define WHARF_CHECKPOINT_TURN "turn"
#define WHARF_CHECKPOINT_LOOP_EXIT "loop_exit"

/* CompositionFailure says in which way a composition failed. */
#define WHARF_COMPOSITION_FAILURE_SNIPPET_ERROR "snippet_error"
#define WHARF_COMPOSITION_FAILURE_TOOL_ERROR "tool_error"
#define WHARF_COMPOSITION_FAILURE_CEILING_EXCEEDED "ceiling_exceeded"
#define WHARF_COMPOSITION_FAILURE_TIMEOUT "timeout"
#define WHARF_COMPOSITION_FAILURE_LIMIT "limit"
#define WHARF_COMPOSITION_FAILURE_NOT_ENDED "not_ended"
#define WHARF_COMPOSITION_FAILURE_TASK_FAILED "task_failed"
#define WHARF_COMPOSITION_FAILURE_TASK_CANCELED "task_canceled"

/* ConnectorStatus says whether a Connector takes and handles deliveries. */
#define WHARF_CONNECTOR_STATUS_ACTIVE "ACTIVE"
#define WHARF_CONNECTOR_STATUS_PAUSED "PAUSED"
#define WHARF_CONNECTOR_STATUS_FAILED "FAILED"
#define WHARF_CONNECTOR_STATUS_DISABLED "DISABLED"

/* DeclineCode says in which way a question was not answered. */
#define WHARF_DECLINE_CODE_DECLINED "declined"
#define WHARF_DECLINE_CODE_CANCELLED "cancelled"
#define WHARF_DECLINE_CODE_UNSUPPORTED "unsupported"

/* DelegationStatus says what became of a CallAgentDelegate. */
#define WHARF_DELEGATION_STATUS_CHECKPOINT_REQUIRED "checkpoint_required"
#define WHARF_DELEGATION_STATUS_COMPLETED "completed"
#define WHARF_DELEGATION_STATUS_REPLAYED "replayed"
#define WHARF_DELEGATION_STATUS_BUDGET_EXCEEDED "budget_exceeded"
#define WHARF_DELEGATION_STATUS_REFUSED "refused"

/* FileMode says what CallFileWrite does with a file that is there. */
#define WHARF_FILE_MODE_REPLACE "replace"
#define WHARF_FILE_MODE_CREATE "create"
#define WHARF_FILE_MODE_APPEND "append"

/* InboxWoken says why a wait for an inbox has ended with nothing. */
#define WHARF_INBOX_WOKEN_RESUMED "resumed"
#define WHARF_INBOX_WOKEN_TIMEOUT "timeout"
#define WHARF_INBOX_WOKEN_NEVER "never"

/* MatchedBy says who has ranked skills. */
#define WHARF_MATCHED_BY_NODE "node"
#define WHARF_MATCHED_BY_HOST "host"

/* MemoryScope says whom a Memory belongs to. */
#define WHARF_MEMORY_SCOPE_PERSONA "persona"
#define WHARF_MEMORY_SCOPE_SESSION "session"
#define WHARF_MEMORY_SCOPE_WORKSPACE "workspace"
#define WHARF_MEMORY_SCOPE_TENANT "tenant"

/* OutcomeStatus is how a Task ended, as its Outcome says it. */
#define WHARF_OUTCOME_STATUS_SUCCEEDED "SUCCEEDED"
#define WHARF_OUTCOME_STATUS_FAILED "FAILED"
#define WHARF_OUTCOME_STATUS_CANCELED "CANCELED"

/* PartType discriminates the content of a Part. */
#define WHARF_PART_TYPE_TEXT "text"
#define WHARF_PART_TYPE_JSON "json"
#define WHARF_PART_TYPE_TOOL_CALL "tool_call"
#define WHARF_PART_TYPE_TOOL_RESULT "tool_result"
#define WHARF_PART_TYPE_ARTIFACT_REF "artifact_ref"
#define WHARF_PART_TYPE_FILE_REF "file_ref"
#define WHARF_PART_TYPE_IMAGE_REF "image_ref"

/* PermissionKind says what a Task asks for. */
#define WHARF_PERMISSION_KIND_APPROVAL "approval"
#define WHARF_PERMISSION_KIND_INPUT "input"
#define WHARF_PERMISSION_KIND_AUTHORIZATION "authorization"
#define WHARF_PERMISSION_KIND_SAMPLING "sampling"
#define WHARF_PERMISSION_KIND_ROOTS "roots"

/* PermissionStatus says what has become of a request. */
#define WHARF_PERMISSION_STATUS_PENDING "pending"
#define WHARF_PERMISSION_STATUS_APPROVED "approved"
#define WHARF_PERMISSION_STATUS_DENIED "denied"
#define WHARF_PERMISSION_STATUS_ANSWERED "answered"
#define WHARF_PERMISSION_STATUS_TIMEOUT "timeout"
#define WHARF_PERMISSION_STATUS_CANCELED "canceled"

/* ReceiptPolicy says whether Tasks of a Persona get receipts. */
#define WHARF_RECEIPT_POLICY_REQUIRED "required"
#define WHARF_RECEIPT_POLICY_OPTIONAL "optional"
#define WHARF_RECEIPT_POLICY_DISABLED "disabled"

/* ReminderRole says as whose words a model should be shown a reminder. */
#define WHARF_REMINDER_ROLE_SYSTEM "system"
#define WHARF_REMINDER_ROLE_DEVELOPER "developer"
#define WHARF_REMINDER_ROLE_USER "user"

/* ReplayMode says how a Task is replayed (docs/protocol.md, 6.1). */
#define WHARF_REPLAY_MODE_EXACT "exact"
#define WHARF_REPLAY_MODE_WITH_OVERRIDES "with_overrides"
#define WHARF_REPLAY_MODE_FROM_CHECKPOINT "from_checkpoint"

/* ResourceKind is what CallResourceList lists. */
#define WHARF_RESOURCE_KIND_RESOURCE "resource"
#define WHARF_RESOURCE_KIND_TEMPLATE "template"
#define WHARF_RESOURCE_KIND_PROMPT "prompt"

/* Role is the author's role of a Message. */
#define WHARF_ROLE_USER "user"
#define WHARF_ROLE_ASSISTANT "assistant"
#define WHARF_ROLE_SYSTEM "system"
#define WHARF_ROLE_TOOL "tool"
#define WHARF_ROLE_AGENT "agent"

/* SideEffectLevel says how far what a call does may reach. */
#define WHARF_SIDE_EFFECT_LEVEL_READ_ONLY "read_only"
#define WHARF_SIDE_EFFECT_LEVEL_WORKSPACE_WRITE "workspace_write"
#define WHARF_SIDE_EFFECT_LEVEL_PROCESS_EXEC "process_exec"
#define WHARF_SIDE_EFFECT_LEVEL_NETWORK "network"

/* SignatureScheme says how a provider signs its deliveries. */
#define WHARF_SIGNATURE_SCHEME_NONE "none"
#define WHARF_SIGNATURE_SCHEME_STANDARD_WEBHOOKS "standard-webhooks"
#define WHARF_SIGNATURE_SCHEME_GITHUB "github"
#define WHARF_SIGNATURE_SCHEME_STRIPE "stripe"
#define WHARF_SIGNATURE_SCHEME_SLACK "slack"
#define WHARF_SIGNATURE_SCHEME_HMAC "hmac"

/* SkillSource says where a skill is from. */
#define WHARF_SKILL_SOURCE_INSTALLED "installed"
#define WHARF_SKILL_SOURCE_HOST "host"

/* StepStatus says how far a step of a plan is. */
#define WHARF_STEP_STATUS_PENDING "pending"
#define WHARF_STEP_STATUS_IN_PROGRESS "in_progress"
#define WHARF_STEP_STATUS_COMPLETED "completed"
#define WHARF_STEP_STATUS_SKIPPED "skipped"

/* StopReason says why a model stopped. */
#define WHARF_STOP_REASON_END "end"
#define WHARF_STOP_REASON_TOOLS "tools"
#define WHARF_STOP_REASON_LENGTH "length"
#define WHARF_STOP_REASON_REFUSAL "refusal"

/* TaskStatus is the lifecycle state of a Task, spelled as on the wire (docs/protocol.md, 5.1). */
#define WHARF_TASK_STATUS_SUBMITTED "SUBMITTED"
#define WHARF_TASK_STATUS_WORKING "WORKING"
#define WHARF_TASK_STATUS_INPUT_REQUIRED "INPUT_REQUIRED"
#define WHARF_TASK_STATUS_AUTH_REQUIRED "AUTH_REQUIRED"
#define WHARF_TASK_STATUS_COMPLETED "COMPLETED"
#define WHARF_TASK_STATUS_FAILED "FAILED"
#define WHARF_TASK_STATUS_CANCELED "CANCELED"

/* ToolErrorCategory says in which way a tool call failed. */
#define WHARF_TOOL_ERROR_CATEGORY_SCHEMA_VALIDATION "schema_validation"
#define WHARF_TOOL_ERROR_CATEGORY_PERMISSION_DENIED "permission_denied"
#define WHARF_TOOL_ERROR_CATEGORY_TIMEOUT "timeout"
#define WHARF_TOOL_ERROR_CATEGORY_TOOL_ERROR "tool_error"
#define WHARF_TOOL_ERROR_CATEGORY_MCP_SERVER_ERROR "mcp_server_error"
#define WHARF_TOOL_ERROR_CATEGORY_HOST_BRIDGE_ERROR "host_bridge_error"
#define WHARF_TOOL_ERROR_CATEGORY_UNKNOWN "unknown"
#define WHARF_TOOL_ERROR_CATEGORY_CANCELLED "cancelled"

/* ToolExecutor says what runs a tool. */
#define WHARF_TOOL_EXECUTOR_HARN_BUILTIN "harn_builtin"
#define WHARF_TOOL_EXECUTOR_HOST_BRIDGE "host_bridge"
#define WHARF_TOOL_EXECUTOR_MCP_SERVER "mcp_server"

/* ToolKind is a kind of tools, by what they do. */
#define WHARF_TOOL_KIND_READ "read"
#define WHARF_TOOL_KIND_EDIT "edit"
#define WHARF_TOOL_KIND_DELETE "delete"
#define WHARF_TOOL_KIND_MOVE "move"
#define WHARF_TOOL_KIND_SEARCH "search"
#define WHARF_TOOL_KIND_EXECUTE "execute"
#define WHARF_TOOL_KIND_THINK "think"
#define WHARF_TOOL_KIND_FETCH "fetch"
#define WHARF_TOOL_KIND_SWITCH_MODE "switch_mode"
#define WHARF_TOOL_KIND_OTHER "other"

/* ToolsVisibility says how much of the tool calls of a Persona's Tasks is told to keys without
   events:internal. */
#define WHARF_TOOLS_VISIBILITY_INTERNAL "internal"
#define WHARF_TOOLS_VISIBILITY_NAMED "named"
#define WHARF_TOOLS_VISIBILITY_PUBLIC "public"

/* Visibility says who may see content (docs/protocol.md, 3.5). */
#define WHARF_VISIBILITY_PUBLIC "public"
#define WHARF_VISIBILITY_INTERNAL "internal"
#define WHARF_VISIBILITY_RECEIPT_ONLY "receipt_only"

typedef struct wharf_failure_t wharf_failure_t;
typedef struct wharf_failure_list_t { const wharf_failure_t *items; size_t count; } wharf_failure_list_t;
typedef struct wharf_budget_t wharf_budget_t;
typedef struct wharf_budget_list_t { const wharf_budget_t *items; size_t count; } wharf_budget_list_t;
typedef struct wharf_run_options_t wharf_run_options_t;
typedef struct wharf_run_options_list_t { const wharf_run_options_t *items; size_t count; } wharf_run_options_list_t;
typedef struct wharf_task_client_t wharf_task_client_t;
typedef struct wharf_task_client_list_t { const wharf_task_client_t *items; size_t count; } wharf_task_client_list_t;
typedef struct wharf_inbox_wait_t wharf_inbox_wait_t;
typedef struct wharf_inbox_wait_list_t { const wharf_inbox_wait_t *items; size_t count; } wharf_inbox_wait_list_t;
typedef struct wharf_tool_use_t wharf_tool_use_t;
typedef struct wharf_tool_use_list_t { const wharf_tool_use_t *items; size_t count; } wharf_tool_use_list_t;
typedef struct wharf_composition_child_t wharf_composition_child_t;
typedef struct wharf_composition_child_list_t { const wharf_composition_child_t *items; size_t count; } wharf_composition_child_list_t;
typedef struct wharf_waiting_question_t wharf_waiting_question_t;
typedef struct wharf_waiting_question_list_t { const wharf_waiting_question_t *items; size_t count; } wharf_waiting_question_list_t;
typedef struct wharf_waiting_t wharf_waiting_t;
typedef struct wharf_waiting_list_t { const wharf_waiting_t *items; size_t count; } wharf_waiting_list_t;
typedef struct wharf_task_replay_t wharf_task_replay_t;
typedef struct wharf_task_replay_list_t { const wharf_task_replay_t *items; size_t count; } wharf_task_replay_list_t;
typedef struct wharf_task_fork_t wharf_task_fork_t;
typedef struct wharf_task_fork_list_t { const wharf_task_fork_t *items; size_t count; } wharf_task_fork_list_t;
typedef struct wharf_task_t wharf_task_t;
typedef struct wharf_task_list_t { const wharf_task_t *items; size_t count; } wharf_task_list_t;
typedef struct wharf_model_policy_t wharf_model_policy_t;
typedef struct wharf_model_policy_list_t { const wharf_model_policy_t *items; size_t count; } wharf_model_policy_list_t;
typedef struct wharf_approval_policy_t wharf_approval_policy_t;
typedef struct wharf_approval_policy_list_t { const wharf_approval_policy_t *items; size_t count; } wharf_approval_policy_list_t;
typedef struct wharf_agent_skill_t wharf_agent_skill_t;
typedef struct wharf_agent_skill_list_t { const wharf_agent_skill_t *items; size_t count; } wharf_agent_skill_list_t;
typedef struct wharf_agent_server_t wharf_agent_server_t;
typedef struct wharf_agent_server_list_t { const wharf_agent_server_t *items; size_t count; } wharf_agent_server_list_t;
typedef struct wharf_agent_model_t wharf_agent_model_t;
typedef struct wharf_agent_model_list_t { const wharf_agent_model_t *items; size_t count; } wharf_agent_model_list_t;
typedef struct wharf_agent_tools_t wharf_agent_tools_t;
typedef struct wharf_agent_tools_list_t { const wharf_agent_tools_t *items; size_t count; } wharf_agent_tools_list_t;
typedef struct wharf_agent_bundle_t wharf_agent_bundle_t;
typedef struct wharf_agent_bundle_list_t { const wharf_agent_bundle_t *items; size_t count; } wharf_agent_bundle_list_t;
typedef struct wharf_agent_t wharf_agent_t;
typedef struct wharf_agent_list_t { const wharf_agent_t *items; size_t count; } wharf_agent_list_t;
typedef struct wharf_rights_t wharf_rights_t;
typedef struct wharf_rights_list_t { const wharf_rights_t *items; size_t count; } wharf_rights_list_t;
typedef struct wharf_persona_t wharf_persona_t;
typedef struct wharf_persona_list_t { const wharf_persona_t *items; size_t count; } wharf_persona_list_t;
typedef struct wharf_input_skill_t wharf_input_skill_t;
typedef struct wharf_input_skill_list_t { const wharf_input_skill_t *items; size_t count; } wharf_input_skill_list_t;
typedef struct wharf_input_answer_t wharf_input_answer_t;
typedef struct wharf_input_answer_list_t { const wharf_input_answer_t *items; size_t count; } wharf_input_answer_list_t;
typedef struct wharf_output_request_t wharf_output_request_t;
typedef struct wharf_output_request_list_t { const wharf_output_request_t *items; size_t count; } wharf_output_request_list_t;
typedef struct wharf_label_t wharf_label_t;
typedef struct wharf_label_list_t { const wharf_label_t *items; size_t count; } wharf_label_list_t;
typedef struct wharf_clock_answer_t wharf_clock_answer_t;
typedef struct wharf_clock_answer_list_t { const wharf_clock_answer_t *items; size_t count; } wharf_clock_answer_list_t;
typedef struct wharf_id_answer_t wharf_id_answer_t;
typedef struct wharf_id_answer_list_t { const wharf_id_answer_t *items; size_t count; } wharf_id_answer_list_t;
typedef struct wharf_log_request_t wharf_log_request_t;
typedef struct wharf_log_request_list_t { const wharf_log_request_t *items; size_t count; } wharf_log_request_list_t;
typedef struct wharf_progress_request_t wharf_progress_request_t;
typedef struct wharf_progress_request_list_t { const wharf_progress_request_t *items; size_t count; } wharf_progress_request_list_t;
typedef struct wharf_plan_step_t wharf_plan_step_t;
typedef struct wharf_plan_step_list_t { const wharf_plan_step_t *items; size_t count; } wharf_plan_step_list_t;
typedef struct wharf_plan_request_t wharf_plan_request_t;
typedef struct wharf_plan_request_list_t { const wharf_plan_request_t *items; size_t count; } wharf_plan_request_list_t;
typedef struct wharf_agent_event_request_t wharf_agent_event_request_t;
typedef struct wharf_agent_event_request_list_t { const wharf_agent_event_request_t *items; size_t count; } wharf_agent_event_request_list_t;
typedef struct wharf_planned_step_t wharf_planned_step_t;
typedef struct wharf_planned_step_list_t { const wharf_planned_step_t *items; size_t count; } wharf_planned_step_list_t;
typedef struct wharf_plan_set_request_t wharf_plan_set_request_t;
typedef struct wharf_plan_set_request_list_t { const wharf_plan_set_request_t *items; size_t count; } wharf_plan_set_request_list_t;
typedef struct wharf_plan_answer_t wharf_plan_answer_t;
typedef struct wharf_plan_answer_list_t { const wharf_plan_answer_t *items; size_t count; } wharf_plan_answer_list_t;
typedef struct wharf_plan_get_request_t wharf_plan_get_request_t;
typedef struct wharf_plan_get_request_list_t { const wharf_plan_get_request_t *items; size_t count; } wharf_plan_get_request_list_t;
typedef struct wharf_inbox_take_request_t wharf_inbox_take_request_t;
typedef struct wharf_inbox_take_request_list_t { const wharf_inbox_take_request_t *items; size_t count; } wharf_inbox_take_request_list_t;
typedef struct wharf_part_t wharf_part_t;
typedef struct wharf_part_list_t { const wharf_part_t *items; size_t count; } wharf_part_list_t;
typedef struct wharf_message_t wharf_message_t;
typedef struct wharf_message_list_t { const wharf_message_t *items; size_t count; } wharf_message_list_t;
typedef struct wharf_taken_reminder_t wharf_taken_reminder_t;
typedef struct wharf_taken_reminder_list_t { const wharf_taken_reminder_t *items; size_t count; } wharf_taken_reminder_list_t;
typedef struct wharf_inbox_take_answer_t wharf_inbox_take_answer_t;
typedef struct wharf_inbox_take_answer_list_t { const wharf_inbox_take_answer_t *items; size_t count; } wharf_inbox_take_answer_list_t;
typedef struct wharf_message_input_t wharf_message_input_t;
typedef struct wharf_message_input_list_t { const wharf_message_input_t *items; size_t count; } wharf_message_input_list_t;
typedef struct wharf_message_append_answer_t wharf_message_append_answer_t;
typedef struct wharf_message_append_answer_list_t { const wharf_message_append_answer_t *items; size_t count; } wharf_message_append_answer_list_t;
typedef struct wharf_message_delta_request_t wharf_message_delta_request_t;
typedef struct wharf_message_delta_request_list_t { const wharf_message_delta_request_t *items; size_t count; } wharf_message_delta_request_list_t;
typedef struct wharf_transcript_read_request_t wharf_transcript_read_request_t;
typedef struct wharf_transcript_read_request_list_t { const wharf_transcript_read_request_t *items; size_t count; } wharf_transcript_read_request_list_t;
typedef struct wharf_transcript_read_answer_t wharf_transcript_read_answer_t;
typedef struct wharf_transcript_read_answer_list_t { const wharf_transcript_read_answer_t *items; size_t count; } wharf_transcript_read_answer_list_t;
typedef struct wharf_model_tool_call_t wharf_model_tool_call_t;
typedef struct wharf_model_tool_call_list_t { const wharf_model_tool_call_t *items; size_t count; } wharf_model_tool_call_list_t;
typedef struct wharf_model_message_t wharf_model_message_t;
typedef struct wharf_model_message_list_t { const wharf_model_message_t *items; size_t count; } wharf_model_message_list_t;
typedef struct wharf_model_tool_t wharf_model_tool_t;
typedef struct wharf_model_tool_list_t { const wharf_model_tool_t *items; size_t count; } wharf_model_tool_list_t;
typedef struct wharf_model_request_t wharf_model_request_t;
typedef struct wharf_model_request_list_t { const wharf_model_request_t *items; size_t count; } wharf_model_request_list_t;
typedef struct wharf_model_usage_t wharf_model_usage_t;
typedef struct wharf_model_usage_list_t { const wharf_model_usage_t *items; size_t count; } wharf_model_usage_list_t;
typedef struct wharf_model_considered_t wharf_model_considered_t;
typedef struct wharf_model_considered_list_t { const wharf_model_considered_t *items; size_t count; } wharf_model_considered_list_t;
typedef struct wharf_model_answer_t wharf_model_answer_t;
typedef struct wharf_model_answer_list_t { const wharf_model_answer_t *items; size_t count; } wharf_model_answer_list_t;
typedef struct wharf_tool_list_request_t wharf_tool_list_request_t;
typedef struct wharf_tool_list_request_list_t { const wharf_tool_list_request_t *items; size_t count; } wharf_tool_list_request_list_t;
typedef struct wharf_tool_t wharf_tool_t;
typedef struct wharf_tool_list_t { const wharf_tool_t *items; size_t count; } wharf_tool_list_t;
typedef struct wharf_tool_list_answer_t wharf_tool_list_answer_t;
typedef struct wharf_tool_list_answer_list_t { const wharf_tool_list_answer_t *items; size_t count; } wharf_tool_list_answer_list_t;
typedef struct wharf_tool_call_request_t wharf_tool_call_request_t;
typedef struct wharf_tool_call_request_list_t { const wharf_tool_call_request_t *items; size_t count; } wharf_tool_call_request_list_t;
typedef struct wharf_tool_content_t wharf_tool_content_t;
typedef struct wharf_tool_content_list_t { const wharf_tool_content_t *items; size_t count; } wharf_tool_content_list_t;
typedef struct wharf_tool_call_answer_t wharf_tool_call_answer_t;
typedef struct wharf_tool_call_answer_list_t { const wharf_tool_call_answer_t *items; size_t count; } wharf_tool_call_answer_list_t;
typedef struct wharf_resource_list_request_t wharf_resource_list_request_t;
typedef struct wharf_resource_list_request_list_t { const wharf_resource_list_request_t *items; size_t count; } wharf_resource_list_request_list_t;
typedef struct wharf_resource_t wharf_resource_t;
typedef struct wharf_resource_list_t { const wharf_resource_t *items; size_t count; } wharf_resource_list_t;
typedef struct wharf_resource_template_t wharf_resource_template_t;
typedef struct wharf_resource_template_list_t { const wharf_resource_template_t *items; size_t count; } wharf_resource_template_list_t;
typedef struct wharf_prompt_argument_t wharf_prompt_argument_t;
typedef struct wharf_prompt_argument_list_t { const wharf_prompt_argument_t *items; size_t count; } wharf_prompt_argument_list_t;
typedef struct wharf_prompt_t wharf_prompt_t;
typedef struct wharf_prompt_list_t { const wharf_prompt_t *items; size_t count; } wharf_prompt_list_t;
typedef struct wharf_resource_list_answer_t wharf_resource_list_answer_t;
typedef struct wharf_resource_list_answer_list_t { const wharf_resource_list_answer_t *items; size_t count; } wharf_resource_list_answer_list_t;
typedef struct wharf_resource_read_request_t wharf_resource_read_request_t;
typedef struct wharf_resource_read_request_list_t { const wharf_resource_read_request_t *items; size_t count; } wharf_resource_read_request_list_t;
typedef struct wharf_resource_content_t wharf_resource_content_t;
typedef struct wharf_resource_content_list_t { const wharf_resource_content_t *items; size_t count; } wharf_resource_content_list_t;
typedef struct wharf_resource_read_answer_t wharf_resource_read_answer_t;
typedef struct wharf_resource_read_answer_list_t { const wharf_resource_read_answer_t *items; size_t count; } wharf_resource_read_answer_list_t;
typedef struct wharf_prompt_get_request_t wharf_prompt_get_request_t;
typedef struct wharf_prompt_get_request_list_t { const wharf_prompt_get_request_t *items; size_t count; } wharf_prompt_get_request_list_t;
typedef struct wharf_prompt_message_t wharf_prompt_message_t;
typedef struct wharf_prompt_message_list_t { const wharf_prompt_message_t *items; size_t count; } wharf_prompt_message_list_t;
typedef struct wharf_prompt_get_answer_t wharf_prompt_get_answer_t;
typedef struct wharf_prompt_get_answer_list_t { const wharf_prompt_get_answer_t *items; size_t count; } wharf_prompt_get_answer_list_t;
typedef struct wharf_http_fetch_request_t wharf_http_fetch_request_t;
typedef struct wharf_http_fetch_request_list_t { const wharf_http_fetch_request_t *items; size_t count; } wharf_http_fetch_request_list_t;
typedef struct wharf_http_fetch_answer_t wharf_http_fetch_answer_t;
typedef struct wharf_http_fetch_answer_list_t { const wharf_http_fetch_answer_t *items; size_t count; } wharf_http_fetch_answer_list_t;
typedef struct wharf_secret_use_request_t wharf_secret_use_request_t;
typedef struct wharf_secret_use_request_list_t { const wharf_secret_use_request_t *items; size_t count; } wharf_secret_use_request_list_t;
typedef struct wharf_secret_use_answer_t wharf_secret_use_answer_t;
typedef struct wharf_secret_use_answer_list_t { const wharf_secret_use_answer_t *items; size_t count; } wharf_secret_use_answer_list_t;
typedef struct wharf_memory_query_request_t wharf_memory_query_request_t;
typedef struct wharf_memory_query_request_list_t { const wharf_memory_query_request_t *items; size_t count; } wharf_memory_query_request_list_t;
typedef struct wharf_memory_t wharf_memory_t;
typedef struct wharf_memory_list_t { const wharf_memory_t *items; size_t count; } wharf_memory_list_t;
typedef struct wharf_memory_query_answer_t wharf_memory_query_answer_t;
typedef struct wharf_memory_query_answer_list_t { const wharf_memory_query_answer_t *items; size_t count; } wharf_memory_query_answer_list_t;
typedef struct wharf_memory_write_request_t wharf_memory_write_request_t;
typedef struct wharf_memory_write_request_list_t { const wharf_memory_write_request_t *items; size_t count; } wharf_memory_write_request_list_t;
typedef struct wharf_memory_write_answer_t wharf_memory_write_answer_t;
typedef struct wharf_memory_write_answer_list_t { const wharf_memory_write_answer_t *items; size_t count; } wharf_memory_write_answer_list_t;
typedef struct wharf_block_list_request_t wharf_block_list_request_t;
typedef struct wharf_block_list_request_list_t { const wharf_block_list_request_t *items; size_t count; } wharf_block_list_request_list_t;
typedef struct wharf_block_t wharf_block_t;
typedef struct wharf_block_list_t { const wharf_block_t *items; size_t count; } wharf_block_list_t;
typedef struct wharf_block_list_answer_t wharf_block_list_answer_t;
typedef struct wharf_block_list_answer_list_t { const wharf_block_list_answer_t *items; size_t count; } wharf_block_list_answer_list_t;
typedef struct wharf_block_write_request_t wharf_block_write_request_t;
typedef struct wharf_block_write_request_list_t { const wharf_block_write_request_t *items; size_t count; } wharf_block_write_request_list_t;
typedef struct wharf_block_write_answer_t wharf_block_write_answer_t;
typedef struct wharf_block_write_answer_list_t { const wharf_block_write_answer_t *items; size_t count; } wharf_block_write_answer_list_t;
typedef struct wharf_artifact_put_request_t wharf_artifact_put_request_t;
typedef struct wharf_artifact_put_request_list_t { const wharf_artifact_put_request_t *items; size_t count; } wharf_artifact_put_request_list_t;
typedef struct wharf_artifact_put_answer_t wharf_artifact_put_answer_t;
typedef struct wharf_artifact_put_answer_list_t { const wharf_artifact_put_answer_t *items; size_t count; } wharf_artifact_put_answer_list_t;
typedef struct wharf_artifact_get_request_t wharf_artifact_get_request_t;
typedef struct wharf_artifact_get_request_list_t { const wharf_artifact_get_request_t *items; size_t count; } wharf_artifact_get_request_list_t;
typedef struct wharf_file_read_request_t wharf_file_read_request_t;
typedef struct wharf_file_read_request_list_t { const wharf_file_read_request_t *items; size_t count; } wharf_file_read_request_list_t;
typedef struct wharf_file_read_answer_t wharf_file_read_answer_t;
typedef struct wharf_file_read_answer_list_t { const wharf_file_read_answer_t *items; size_t count; } wharf_file_read_answer_list_t;
typedef struct wharf_file_write_request_t wharf_file_write_request_t;
typedef struct wharf_file_write_request_list_t { const wharf_file_write_request_t *items; size_t count; } wharf_file_write_request_list_t;
typedef struct wharf_file_write_answer_t wharf_file_write_answer_t;
typedef struct wharf_file_write_answer_list_t { const wharf_file_write_answer_t *items; size_t count; } wharf_file_write_answer_list_t;
typedef struct wharf_file_edit_request_t wharf_file_edit_request_t;
typedef struct wharf_file_edit_request_list_t { const wharf_file_edit_request_t *items; size_t count; } wharf_file_edit_request_list_t;
typedef struct wharf_file_edit_answer_t wharf_file_edit_answer_t;
typedef struct wharf_file_edit_answer_list_t { const wharf_file_edit_answer_t *items; size_t count; } wharf_file_edit_answer_list_t;
typedef struct wharf_file_list_request_t wharf_file_list_request_t;
typedef struct wharf_file_list_request_list_t { const wharf_file_list_request_t *items; size_t count; } wharf_file_list_request_list_t;
typedef struct wharf_file_entry_t wharf_file_entry_t;
typedef struct wharf_file_entry_list_t { const wharf_file_entry_t *items; size_t count; } wharf_file_entry_list_t;
typedef struct wharf_file_list_answer_t wharf_file_list_answer_t;
typedef struct wharf_file_list_answer_list_t { const wharf_file_list_answer_t *items; size_t count; } wharf_file_list_answer_list_t;
typedef struct wharf_file_remove_request_t wharf_file_remove_request_t;
typedef struct wharf_file_remove_request_list_t { const wharf_file_remove_request_t *items; size_t count; } wharf_file_remove_request_list_t;
typedef struct wharf_removed_file_t wharf_removed_file_t;
typedef struct wharf_removed_file_list_t { const wharf_removed_file_t *items; size_t count; } wharf_removed_file_list_t;
typedef struct wharf_file_remove_answer_t wharf_file_remove_answer_t;
typedef struct wharf_file_remove_answer_list_t { const wharf_file_remove_answer_t *items; size_t count; } wharf_file_remove_answer_list_t;
typedef struct wharf_file_search_request_t wharf_file_search_request_t;
typedef struct wharf_file_search_request_list_t { const wharf_file_search_request_t *items; size_t count; } wharf_file_search_request_list_t;
typedef struct wharf_file_match_t wharf_file_match_t;
typedef struct wharf_file_match_list_t { const wharf_file_match_t *items; size_t count; } wharf_file_match_list_t;
typedef struct wharf_file_search_answer_t wharf_file_search_answer_t;
typedef struct wharf_file_search_answer_list_t { const wharf_file_search_answer_t *items; size_t count; } wharf_file_search_answer_list_t;
typedef struct wharf_skill_read_request_t wharf_skill_read_request_t;
typedef struct wharf_skill_read_request_list_t { const wharf_skill_read_request_t *items; size_t count; } wharf_skill_read_request_list_t;
typedef struct wharf_skill_manifest_t wharf_skill_manifest_t;
typedef struct wharf_skill_manifest_list_t { const wharf_skill_manifest_t *items; size_t count; } wharf_skill_manifest_list_t;
typedef struct wharf_skill_read_answer_t wharf_skill_read_answer_t;
typedef struct wharf_skill_read_answer_list_t { const wharf_skill_read_answer_t *items; size_t count; } wharf_skill_read_answer_list_t;
typedef struct wharf_skill_candidate_t wharf_skill_candidate_t;
typedef struct wharf_skill_candidate_list_t { const wharf_skill_candidate_t *items; size_t count; } wharf_skill_candidate_list_t;
typedef struct wharf_skill_match_request_t wharf_skill_match_request_t;
typedef struct wharf_skill_match_request_list_t { const wharf_skill_match_request_t *items; size_t count; } wharf_skill_match_request_list_t;
typedef struct wharf_skill_match_t wharf_skill_match_t;
typedef struct wharf_skill_match_list_t { const wharf_skill_match_t *items; size_t count; } wharf_skill_match_list_t;
typedef struct wharf_known_skill_t wharf_known_skill_t;
typedef struct wharf_known_skill_list_t { const wharf_known_skill_t *items; size_t count; } wharf_known_skill_list_t;
typedef struct wharf_skill_match_answer_t wharf_skill_match_answer_t;
typedef struct wharf_skill_match_answer_list_t { const wharf_skill_match_answer_t *items; size_t count; } wharf_skill_match_answer_list_t;
typedef struct wharf_composition_begin_request_t wharf_composition_begin_request_t;
typedef struct wharf_composition_begin_request_list_t { const wharf_composition_begin_request_t *items; size_t count; } wharf_composition_begin_request_list_t;
typedef struct wharf_composition_begin_answer_t wharf_composition_begin_answer_t;
typedef struct wharf_composition_begin_answer_list_t { const wharf_composition_begin_answer_t *items; size_t count; } wharf_composition_begin_answer_list_t;
typedef struct wharf_composition_end_request_t wharf_composition_end_request_t;
typedef struct wharf_composition_end_request_list_t { const wharf_composition_end_request_t *items; size_t count; } wharf_composition_end_request_list_t;
typedef struct wharf_state_get_request_t wharf_state_get_request_t;
typedef struct wharf_state_get_request_list_t { const wharf_state_get_request_t *items; size_t count; } wharf_state_get_request_list_t;
typedef struct wharf_state_get_answer_t wharf_state_get_answer_t;
typedef struct wharf_state_get_answer_list_t { const wharf_state_get_answer_t *items; size_t count; } wharf_state_get_answer_list_t;
typedef struct wharf_state_set_request_t wharf_state_set_request_t;
typedef struct wharf_state_set_request_list_t { const wharf_state_set_request_t *items; size_t count; } wharf_state_set_request_list_t;
typedef struct wharf_sleep_request_t wharf_sleep_request_t;
typedef struct wharf_sleep_request_list_t { const wharf_sleep_request_t *items; size_t count; } wharf_sleep_request_list_t;
typedef struct wharf_question_t wharf_question_t;
typedef struct wharf_question_list_t { const wharf_question_t *items; size_t count; } wharf_question_list_t;
typedef struct wharf_input_request_request_t wharf_input_request_request_t;
typedef struct wharf_input_request_request_list_t { const wharf_input_request_request_t *items; size_t count; } wharf_input_request_request_list_t;
typedef struct wharf_decision_t wharf_decision_t;
typedef struct wharf_decision_list_t { const wharf_decision_t *items; size_t count; } wharf_decision_list_t;
typedef struct wharf_approval_answer_t wharf_approval_answer_t;
typedef struct wharf_approval_answer_list_t { const wharf_approval_answer_t *items; size_t count; } wharf_approval_answer_list_t;
typedef struct wharf_question_answer_t wharf_question_answer_t;
typedef struct wharf_question_answer_list_t { const wharf_question_answer_t *items; size_t count; } wharf_question_answer_list_t;
typedef struct wharf_input_request_answer_t wharf_input_request_answer_t;
typedef struct wharf_input_request_answer_list_t { const wharf_input_request_answer_t *items; size_t count; } wharf_input_request_answer_list_t;
typedef struct wharf_auth_request_request_t wharf_auth_request_request_t;
typedef struct wharf_auth_request_request_list_t { const wharf_auth_request_request_t *items; size_t count; } wharf_auth_request_request_list_t;
typedef struct wharf_approval_request_request_t wharf_approval_request_request_t;
typedef struct wharf_approval_request_request_list_t { const wharf_approval_request_request_t *items; size_t count; } wharf_approval_request_request_list_t;
typedef struct wharf_task_spawn_request_t wharf_task_spawn_request_t;
typedef struct wharf_task_spawn_request_list_t { const wharf_task_spawn_request_t *items; size_t count; } wharf_task_spawn_request_list_t;
typedef struct wharf_task_spawn_answer_t wharf_task_spawn_answer_t;
typedef struct wharf_task_spawn_answer_list_t { const wharf_task_spawn_answer_t *items; size_t count; } wharf_task_spawn_answer_list_t;
typedef struct wharf_task_await_request_t wharf_task_await_request_t;
typedef struct wharf_task_await_request_list_t { const wharf_task_await_request_t *items; size_t count; } wharf_task_await_request_list_t;
typedef struct wharf_task_await_answer_t wharf_task_await_answer_t;
typedef struct wharf_task_await_answer_list_t { const wharf_task_await_answer_t *items; size_t count; } wharf_task_await_answer_list_t;
typedef struct wharf_handoff_request_t wharf_handoff_request_t;
typedef struct wharf_handoff_request_list_t { const wharf_handoff_request_t *items; size_t count; } wharf_handoff_request_list_t;
typedef struct wharf_delegation_budget_t wharf_delegation_budget_t;
typedef struct wharf_delegation_budget_list_t { const wharf_delegation_budget_t *items; size_t count; } wharf_delegation_budget_list_t;
typedef struct wharf_delegation_peer_t wharf_delegation_peer_t;
typedef struct wharf_delegation_peer_list_t { const wharf_delegation_peer_t *items; size_t count; } wharf_delegation_peer_list_t;
typedef struct wharf_delegation_checkpoint_t wharf_delegation_checkpoint_t;
typedef struct wharf_delegation_checkpoint_list_t { const wharf_delegation_checkpoint_t *items; size_t count; } wharf_delegation_checkpoint_list_t;
typedef struct wharf_agent_delegate_request_t wharf_agent_delegate_request_t;
typedef struct wharf_agent_delegate_request_list_t { const wharf_agent_delegate_request_t *items; size_t count; } wharf_agent_delegate_request_list_t;
typedef struct wharf_call_error_t wharf_call_error_t;
typedef struct wharf_call_error_list_t { const wharf_call_error_t *items; size_t count; } wharf_call_error_list_t;
typedef struct wharf_delegation_artifact_t wharf_delegation_artifact_t;
typedef struct wharf_delegation_artifact_list_t { const wharf_delegation_artifact_t *items; size_t count; } wharf_delegation_artifact_list_t;
typedef struct wharf_delegation_handoff_t wharf_delegation_handoff_t;
typedef struct wharf_delegation_handoff_list_t { const wharf_delegation_handoff_t *items; size_t count; } wharf_delegation_handoff_list_t;
typedef struct wharf_agent_delegate_answer_t wharf_agent_delegate_answer_t;
typedef struct wharf_agent_delegate_answer_list_t { const wharf_agent_delegate_answer_t *items; size_t count; } wharf_agent_delegate_answer_list_t;
typedef struct wharf_event_emit_request_t wharf_event_emit_request_t;
typedef struct wharf_event_emit_request_list_t { const wharf_event_emit_request_t *items; size_t count; } wharf_event_emit_request_list_t;
typedef struct wharf_config_get_request_t wharf_config_get_request_t;
typedef struct wharf_config_get_request_list_t { const wharf_config_get_request_t *items; size_t count; } wharf_config_get_request_list_t;
typedef struct wharf_config_get_answer_t wharf_config_get_answer_t;
typedef struct wharf_config_get_answer_list_t { const wharf_config_get_answer_t *items; size_t count; } wharf_config_get_answer_list_t;
typedef struct wharf_host_fact_request_t wharf_host_fact_request_t;
typedef struct wharf_host_fact_request_list_t { const wharf_host_fact_request_t *items; size_t count; } wharf_host_fact_request_list_t;
typedef struct wharf_host_fact_answer_t wharf_host_fact_answer_t;
typedef struct wharf_host_fact_answer_list_t { const wharf_host_fact_answer_t *items; size_t count; } wharf_host_fact_answer_list_t;
typedef struct wharf_dedupe_policy_t wharf_dedupe_policy_t;
typedef struct wharf_dedupe_policy_list_t { const wharf_dedupe_policy_t *items; size_t count; } wharf_dedupe_policy_list_t;
typedef struct wharf_webhook_auth_t wharf_webhook_auth_t;
typedef struct wharf_webhook_auth_list_t { const wharf_webhook_auth_t *items; size_t count; } wharf_webhook_auth_list_t;
typedef struct wharf_webhook_t wharf_webhook_t;
typedef struct wharf_webhook_list_t { const wharf_webhook_t *items; size_t count; } wharf_webhook_list_t;
typedef struct wharf_polling_t wharf_polling_t;
typedef struct wharf_polling_list_t { const wharf_polling_t *items; size_t count; } wharf_polling_list_t;
typedef struct wharf_connector_counters_t wharf_connector_counters_t;
typedef struct wharf_connector_counters_list_t { const wharf_connector_counters_t *items; size_t count; } wharf_connector_counters_list_t;
typedef struct wharf_connector_t wharf_connector_t;
typedef struct wharf_connector_list_t { const wharf_connector_t *items; size_t count; } wharf_connector_list_t;
typedef struct wharf_delivery_t wharf_delivery_t;
typedef struct wharf_delivery_list_t { const wharf_delivery_t *items; size_t count; } wharf_delivery_list_t;
typedef struct wharf_deliveries_answer_t wharf_deliveries_answer_t;
typedef struct wharf_deliveries_answer_list_t { const wharf_deliveries_answer_t *items; size_t count; } wharf_deliveries_answer_list_t;
typedef struct wharf_connector_task_t wharf_connector_task_t;
typedef struct wharf_connector_task_list_t { const wharf_connector_task_t *items; size_t count; } wharf_connector_task_list_t;
typedef struct wharf_connector_message_t wharf_connector_message_t;
typedef struct wharf_connector_message_list_t { const wharf_connector_message_t *items; size_t count; } wharf_connector_message_list_t;
typedef struct wharf_connector_event_t wharf_connector_event_t;
typedef struct wharf_connector_event_list_t { const wharf_connector_event_t *items; size_t count; } wharf_connector_event_list_t;
typedef struct wharf_normalized_delivery_t wharf_normalized_delivery_t;
typedef struct wharf_normalized_delivery_list_t { const wharf_normalized_delivery_t *items; size_t count; } wharf_normalized_delivery_list_t;
typedef struct wharf_normalized_request_t wharf_normalized_request_t;
typedef struct wharf_normalized_request_list_t { const wharf_normalized_request_t *items; size_t count; } wharf_normalized_request_list_t;
typedef struct wharf_polled_delivery_t wharf_polled_delivery_t;
typedef struct wharf_polled_delivery_list_t { const wharf_polled_delivery_t *items; size_t count; } wharf_polled_delivery_list_t;
typedef struct wharf_deliver_request_t wharf_deliver_request_t;
typedef struct wharf_deliver_request_list_t { const wharf_deliver_request_t *items; size_t count; } wharf_deliver_request_list_t;
typedef struct wharf_deliver_answer_t wharf_deliver_answer_t;
typedef struct wharf_deliver_answer_list_t { const wharf_deliver_answer_t *items; size_t count; } wharf_deliver_answer_list_t;

/* Failure says why a Task failed. `code` is one of the Failure* constants or what the plugin reported. */
struct wharf_failure_t {
	/* for programs: one of the host, or of the plugin */
	wharf_text code;
	/* for people */
	wharf_text message;
	/* more about it, where there is more to say */
	wharf_json details;
};

/* Budget bounds what a Task may spend. A member that is 0 bounds nothing. */
struct wharf_budget_t {
	/* in US dollars */
	double usd;
	int64_t input_tokens;
	int64_t output_tokens;
	int64_t tool_calls;
	int64_t host_calls;
	/* how long it may run, in milliseconds */
	int64_t wall_time_ms;
};

/* RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its
   input, and follows them as it can; `budget`, `max_tokens` and `autonomy_tier` the host holds. They
   bound what the Persona may do, and never widen it. */
struct wharf_run_options_t {
	/* names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and Session */
	wharf_text_list skills;
	/* the model to ask, by the name that the node has for it */
	wharf_text model;
	/* in place of those that the plugin or its operator has; at most 16 KiB */
	wharf_text instructions;
	/* told to the model after the instructions; at most 16 KiB */
	wharf_text context;
	/* of the model, 0 to 1 */
	const double *temperature;
	/* of one answer of a model, at most 200,000; 0: no bound */
	int64_t max_tokens;
	/* of the Task, where it is less than the Persona's */
	const wharf_budget_t *budget;
	/* `autonomy_tier` is that of the Task and of those below it, where it allows less than the Persona's:
	   with suggest, the Task is a dry run that proposes what it would change. */
	wharf_text autonomy_tier;
};

/* TaskClient is what a client says of itself when it submits a Task. */
struct wharf_task_client_t {
	/* that it speaks, and its revision, such as mcp/2025-11-25 */
	wharf_text protocol;
	wharf_text name;
	wharf_text version;
	/* `capabilities` are the kinds of questions that it can answer: at most 32 words without white space
	   or commas, such as elicitation.form, elicitation.url, sampling, sampling.tools and roots. */
	wharf_text_list capabilities;
};

/* InboxWait is what a Task that waits for its Session's inbox waits for. */
struct wharf_inbox_wait_t {
	wharf_text session_id;
	wharf_text checkpoint;
};

/* ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and its
   end (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it a key
   without events:internal sees is up to the Persona's ToolsVisibility. */
struct wharf_tool_use_t {
	/* the call_id that it was made with, or else call- and its index in the record */
	wharf_text call_id;
	wharf_text server;
	wharf_text name;
	/* absent: not known */
	wharf_text kind;
	bool read_only;
	/* its definition says that it can destroy something */
	bool destructive;
	wharf_text executor;
	wharf_text started_at;
	/* `duration_us` is how long the whole call took, of its end: with waiting for approval, and over a
	   crash. `execution_us` is how long its server took of that, where it was asked. */
	int64_t duration_us;
	int64_t execution_us;
	/* of its end: why it failed */
	wharf_text error_category;
	/* `started_event_id` is the event that told its beginning, of its end. */
	wharf_text started_event_id;
	/* `visibility` is the Persona's when the call was made; absent for named. */
	wharf_text visibility;
};

/* CompositionChild is a child of a composition that waits. */
struct wharf_composition_child_t {
	wharf_text composition_id;
	wharf_text call_id;
	wharf_text executor;
	wharf_text started_at;
	/* as in ToolUse */
	wharf_text visibility;
};

/* WaitingQuestion is one of several requests that a Task waits on. */
struct wharf_waiting_question_t {
	/* the plugin's name for it */
	wharf_text key;
	wharf_text permission_request_id;
	wharf_text kind;
	wharf_text status;
};

/* Waiting says what a parked Task waits for. */
struct wharf_waiting_t {
	/* the host call that waits */
	wharf_text call;
	/* of the call in the record, from 0 */
	int64_t index;
	wharf_text request_id;
	/* what somebody is asked */
	wharf_text prompt;
	wharf_text action;
	wharf_json schema;
	wharf_text url;
	/* the child that is awaited */
	wharf_text task_id;
	/* the inbox that is waited for */
	const wharf_inbox_wait_t *inbox;
	/* of a tool that waits, such as a Skill */
	const wharf_tool_use_t *tool;
	/* when it stops waiting */
	wharf_text until;
	/* `composition` is set when the tool is a child of one. */
	const wharf_composition_child_t *composition;
	/* `permission_id` names the request that somebody is to answer. Of an approval: `arguments` are what
	   is to be done with, `quorum` how many must approve, and `gate` says that policy asks, not the
	   plugin: when it is approved the call itself is made. */
	wharf_text permission_id;
	wharf_json arguments;
	int64_t quorum;
	bool gate;
	/* `requests` are what is asked at once by one call, in the order of the call: those that are pending,
	   and those that were settled before. */
	wharf_waiting_question_list_t requests;
};

/* TaskReplay says what a replay Task replays. Overrides are kept by their hash. */
struct wharf_task_replay_t {
	/* the Task that is replayed */
	wharf_text source_task_id;
	wharf_text mode;
	/* `replay_id` is derived from the source, the module, the mode and the overrides: it is the same for
	   the same replay, on any node, and the one id of a replay that its receipt holds. */
	wharf_text replay_id;
	/* the hash of the request that asked for the replay */
	wharf_text request_sha256;
	/* of from_checkpoint: how many calls come before the boundary */
	int64_t checkpoint;
	/* the replay of a Session that it belongs to */
	wharf_text session_run;
};

/* TaskFork says where a forked Task came from: it shares the record of its source up to a number of
   host calls, and is live from there. */
struct wharf_task_fork_t {
	/* the Task that it was forked from */
	wharf_text source_task_id;
	/* the last event whose record is shared; absent: all of them */
	wharf_text at_event_id;
	int64_t calls;
};

/* Task is one unit of agent work. `input` is a Message or any JSON object, as it was submitted. */
struct wharf_task_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	wharf_text session_id;
	wharf_text workspace_id;
	/* where it is in its life */
	wharf_text status;
	wharf_json input;
	/* the actor that submitted it */
	wharf_text created_by;
	wharf_text persona_id;
	/* the Branch that it goes along */
	wharf_text branch_id;
	/* the Task that it belongs to */
	wharf_text parent_task_id;
	/* proves what it did, once it has ended; absent where its Persona asks for none */
	wharf_text receipt_id;
	/* what it resulted in, once it has ended */
	wharf_text outcome_id;
	/* when it started first */
	wharf_text started_at;
	/* when it ended, in success or failure */
	wharf_text completed_at;
	/* when it ended, if it was canceled */
	wharf_text canceled_at;
	/* why it failed, if it did */
	const wharf_failure_t *failure;
	/* `input_message_id` is set when the input is a Message, which the log holds once. */
	wharf_text input_message_id;
	/* `deadline_at` is when the Task fails unless it has ended. */
	wharf_text deadline_at;
	/* `run` is what the Task was submitted to do otherwise than its Persona. */
	const wharf_run_options_t *run;
	/* `client` is what the client that submitted it has said of itself. */
	const wharf_task_client_t *client;
	/* `attempt` counts the starts of the Task: more than 1 after the node died in one. */
	int64_t attempt;
	/* `module` is the digest of the plugin's module, "sha256:" and hex. The Task is pinned to it from its
	   start on. */
	wharf_text module;
	/* `waiting` is set while the Task is parked. */
	const wharf_waiting_t *waiting;
	/* `replay` is set on a Task that replays another. */
	const wharf_task_replay_t *replay;
	/* `fork` is set on a Task that was forked from another. */
	const wharf_task_fork_t *fork;
	/* `persona_version` is the version of the Persona that the Task is pinned to, and `quota_id` the Quota
	   that bounds it most narrowly. */
	wharf_text persona_version;
	wharf_text quota_id;
	/* `connector_id` and `delivery_id` are set on a Task that came from a Connector. Of the Tasks with one
	   `order_key`, of a Connector or of a Session, one runs at a time, in the order in which they were
	   accepted. */
	wharf_text connector_id;
	wharf_text delivery_id;
	wharf_text order_key;
	/* `deleted_at` is set on a Task that is not shown any more. */
	wharf_text deleted_at;
};

/* ModelPolicy says which models Tasks of a Persona may ask. Empty members allow all. */
struct wharf_model_policy_t {
	/* patterns of the names of models, in which * stands for any characters; none: all */
	wharf_text_list models;
	/* the same of providers */
	wharf_text_list providers;
	/* of one answer; 0: no bound */
	int64_t max_tokens;
};

/* ApprovalPolicy says how writes are approved. */
struct wharf_approval_policy_t {
	/* `quorum` is how many must approve; 0 is 1. */
	int64_t quorum;
	/* `approvers` are patterns of the actors that may decide; empty for all. */
	wharf_text_list approvers;
	/* `self_approval` says that whoever submitted the Task may decide, too. */
	bool self_approval;
	/* `timeout_seconds` is how long to wait for a decision; 0 for ever. */
	double timeout_seconds;
	/* `without` are patterns of tools (SERVER:TOOL) and host calls that need no approval. */
	wharf_text_list without;
};

/* AgentSkill names a version of a bundle of a skill. */
struct wharf_agent_skill_t {
	wharf_text name;
	wharf_text version;
	/* of its files; absent while it is not installed */
	wharf_text digest;
	bool required;
};

/* AgentServer names a server of tools. */
struct wharf_agent_server_t {
	wharf_text name;
	/* patterns of names; none: all of the server */
	wharf_text_list tools;
	bool required;
};

/* AgentModel is a model as a bundle names it. */
struct wharf_agent_model_t {
	wharf_text provider;
	wharf_text name;
	wharf_text embedding;
};

/* AgentTools are tools as a bundle names them. */
struct wharf_agent_tools_t {
	wharf_text_list allow;
	wharf_text_list deny;
};

/* AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex. */
struct wharf_agent_bundle_t {
	/* of its AGENTS.md */
	wharf_text manifest;
	/* of a zip with the files beside it; absent when there are none */
	wharf_text files;
	/* of these files */
	int64_t count;
	/* of these files, unpacked */
	int64_t bytes;
};

/* Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the
   bundle that it came in. It is policy: a change of it is a new version of the Persona. */
struct wharf_agent_t {
	/* what a model is told first, as it is */
	wharf_text instructions;
	/* the model to ask; the node's default if it is absent */
	wharf_text model;
	/* 0 to 1 */
	const double *temperature;
	/* of one answer of a model; 0: no bound */
	int64_t max_tokens;
	/* `skills` are the bundles of skills that it knows, each as it was when it was named. */
	wharf_agent_skill_list_t skills;
	/* `mcp_servers` are the servers of tools that it counts on. Of one that names tools it may use these
	   alone. */
	wharf_agent_server_list_t mcp_servers;
	/* the Persona whose subagent it is */
	wharf_text parent_id;
	/* of a subagent, for its parent */
	wharf_text role;
	/* `vendor_key` and `agent_key` name it among all agents, wherever they are. Both are of a-z, 0-9 and
	   -. */
	wharf_text vendor_key;
	wharf_text agent_key;
	wharf_text slug;
	/* as its author counts, 1.2.3 (semver.org); that of the Persona counts changes here */
	wharf_text version;
	wharf_text author;
	/* as SPDX writes it */
	wharf_text license;
	wharf_text_list tags;
	/* `model_named` and `tools_named` are what its bundle says, in the bundle's own words. `model`, and
	   the tools and tools_denied of the Persona, follow from them. */
	const wharf_agent_model_t *model_named;
	const wharf_agent_tools_t *tools_named;
	const wharf_agent_bundle_t *bundle;
};

/* Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the
   Persona. */
struct wharf_rights_t {
	wharf_text persona_id;
	wharf_text_list tools;
	wharf_text_list tools_denied;
	wharf_text_list capabilities;
	wharf_text_list handoffs;
	const wharf_model_policy_t *model_policy;
	wharf_agent_server_list_t mcp_servers;
};

/* Persona is a durable operational role: policy, not merely a prompt. */
struct wharf_persona_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	wharf_text name;
	/* of its policy: a change is a new version */
	wharf_text version;
	/* what runs its Tasks: PLUGIN, or PLUGIN#EXPORT */
	wharf_text entry_workflow;
	wharf_text description;
	/* how far its Tasks may act by themselves */
	wharf_text autonomy_tier;
	/* whether its Tasks get receipts */
	wharf_text receipt_policy;
	/* `tools` and `capabilities` are patterns of what Tasks of the Persona may use: tools as SERVER:TOOL,
	   and host calls. * stands for any characters. */
	wharf_text_list tools;
	wharf_text_list capabilities;
	/* `tools_denied` are patterns as those of `tools`: of what its Tasks may not use, whatever `tools`
	   says. */
	wharf_text_list tools_denied;
	/* `handoffs` are patterns of the Personas that its Tasks may hand work to; nil for all. */
	wharf_text_list handoffs;
	/* kept, and without effect */
	wharf_json_list triggers;
	/* kept, and without effect */
	wharf_json_list schedules;
	/* kept, and without effect */
	wharf_text_list context_packs;
	/* kept, and without effect */
	wharf_text_list evals;
	wharf_text owner;
	const wharf_model_policy_t *model_policy;
	/* kept, and without effect */
	wharf_json rollout_policy;
	/* a Quota that bounds its Tasks */
	wharf_text quota_id;
	/* `budget` bounds each Task of the Persona, and `approvals` says how its Tasks' writes are approved.
	   Both are Wharf's own. */
	const wharf_budget_t *budget;
	const wharf_approval_policy_t *approvals;
	/* `tools_visibility` is Wharf's own: what keys without events:internal see of its tool calls. */
	wharf_text tools_visibility;
	/* since then no new Task or Session may name it */
	wharf_text retired_at;
	/* the Workspace that alone sees and uses it, for ever; none: the whole tenant */
	wharf_text workspace_id;
	/* what makes it an agent of its own */
	const wharf_agent_t *agent;
	/* set on one that was deleted: no read shows it any more */
	wharf_text deleted_at;
	/* `within` are the rights of the agents whose subagent it is, of its parent first, as they were when a
	   Task of it began: what one of them may not do, that Task may not. It is in what Tasks are pinned to
	   alone. */
	wharf_rights_list_t within;
};

/* InputSkill is a skill as a plugin is told of it. */
struct wharf_input_skill_t {
	wharf_text name;
	wharf_text description;
	wharf_text version;
	/* What its SKILL.md says of when to use it, and which tools it asks for. */
	wharf_text when_to_use;
	wharf_text_list paths;
	wharf_text_list allowed_tools;
};

struct wharf_input_answer_t {
	/* as it was accepted; Task.Input holds what was submitted */
	wharf_task_t task;
	wharf_persona_t persona;
	wharf_text session_id;
	/* `skills` are those that the `task` has, as they were when it started. Their files are read by
	   CallSkillRead. */
	wharf_input_skill_list_t skills;
};

/* With `failure` set the Task fails, whatever the export returns. */
struct wharf_output_request_t {
	wharf_text summary;
	wharf_number_map metrics;
	const wharf_failure_t *failure;
	/* `stopped` says that the Task ends before its work is done, and not because it has failed. Then
	   `handoff`, an object, says how things stand for whoever goes on. */
	bool stopped;
	wharf_json handoff;
	/* `stop_reason` says why the model has stopped whose answer the summary is of: StopLength if it was
	   cut off. Absent: nothing is said. */
	wharf_text stop_reason;
};

/* In every request, call_id is what an override key calls this call; it is to be unique among the
   Task's calls of that kind. */
struct wharf_label_t {
	wharf_text call_id;
};

struct wharf_clock_answer_t {
	/* a decimal string */
	wharf_text unix_nano;
};

struct wharf_id_answer_t {
	wharf_text id;
};

struct wharf_log_request_t {
	/* debug, info, warn or error */
	wharf_text level;
	wharf_text message;
};

struct wharf_progress_request_t {
	/* 0 to 1 */
	double fraction;
	wharf_text message;
};

/* PlanStep is one step of a plan. */
struct wharf_plan_step_t {
	wharf_text title;
	/* pending, in_progress, completed or skipped */
	wharf_text status;
};

struct wharf_plan_request_t {
	wharf_plan_step_list_t steps;
};

/* `data` is an object with the members that the kind has, and no others (docs/events.md). */
struct wharf_agent_event_request_t {
	wharf_text kind;
	wharf_json data;
};

/* PlannedStep is one step of a Plan. */
struct wharf_planned_step_t {
	/* unique in its plan; the host makes one where there is none */
	wharf_text id;
	/* what is to be done */
	wharf_text content;
	wharf_text status;
};

struct wharf_plan_set_request_t {
	wharf_planned_step_list_t steps;
	/* `version` is that of the plan which is to be replaced, 0 for none; left out for whatever is there.
	   When somebody has changed it meanwhile, nothing happens, and the call is refused with the code
	   plan_changed. */
	const int64_t *version;
};

struct wharf_plan_answer_t {
	/* 0 for no plan */
	int64_t version;
	/* the actor of the last change */
	wharf_text changed_by;
	/* each with its id */
	wharf_planned_step_list_t steps;
};

struct wharf_plan_get_request_t {
	wharf_text call_id;
};

struct wharf_inbox_take_request_t {
	wharf_text call_id;
	wharf_text checkpoint;
	/* `wait` parks the Task until something is there, at the longest so many milliseconds; 0 for as long
	   as the Task may live. */
	bool wait;
	int64_t timeout_ms;
};

/* Part is one block of a Message. Which members are set follows from `type`. */
struct wharf_part_t {
	wharf_text type;
	wharf_text text;
	wharf_json value;
	/* joins a call and its result */
	wharf_text tool_call_id;
	wharf_text name;
	wharf_json input;
	wharf_json output;
	/* of a tool_result: ok or error */
	wharf_text status;
	wharf_text artifact_id;
	/* where the file is */
	wharf_text uri;
	/* of the file or image */
	wharf_text mime_type;
	wharf_text visibility;
	/* `redacted` marks a part whose content was withheld from this reader. */
	bool redacted;
};

/* Message is one turn of a Session's transcript. Where it is shown to clients it has the member
   workspace_id too. */
struct wharf_message_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	/* who speaks */
	wharf_text role;
	/* the content, in its order */
	wharf_part_list_t parts;
	wharf_text session_id;
	wharf_text task_id;
};

/* TakenReminder is a reminder that is to be shown to a model. */
struct wharf_taken_reminder_t {
	wharf_text reminder_id;
	wharf_text_list tags;
	wharf_text body;
	wharf_text role_hint;
	/* system, or user */
	wharf_text rendered_role;
	wharf_text source;
	int64_t ttl_turns;
	wharf_json_map meta;
};

struct wharf_inbox_take_answer_t {
	/* as the transcript has them */
	wharf_message_list_t messages;
	wharf_taken_reminder_list_t reminders;
	/* `woken` says why a call that waited brings nothing. */
	wharf_text woken;
};

/* MessageInput is a Message as a client writes it. */
struct wharf_message_input_t {
	/* who speaks */
	wharf_text role;
	/* the content, in its order */
	wharf_part_list_t parts;
	wharf_json metadata;
};

struct wharf_message_append_answer_t {
	wharf_text message_id;
};

struct wharf_message_delta_request_t {
	wharf_text text;
};

/* `last` asks for the newest so many Messages; 0 for 50. */
struct wharf_transcript_read_request_t {
	wharf_text call_id;
	int64_t last;
};

/* `earlier` says that there are `messages` before these. `unreadable` has the ids of those that are
   left out, for what is stored of them cannot be read. */
struct wharf_transcript_read_answer_t {
	wharf_message_list_t messages;
	bool earlier;
	wharf_text_list unreadable;
};

/* ModelToolCall is a model's wish to have a tool called. */
struct wharf_model_tool_call_t {
	wharf_text id;
	wharf_text name;
	/* a JSON object */
	wharf_json arguments;
};

/* ModelMessage is one message of a conversation with a model. `role` is user, assistant or tool. */
struct wharf_model_message_t {
	wharf_text role;
	wharf_text text;
	/* of an assistant */
	wharf_model_tool_call_list_t tool_calls;
	/* `tool_call_id` and `is_error` belong to the role tool: `text` is what the tool answered. */
	wharf_text tool_call_id;
	bool is_error;
};

/* ModelTool is a tool that a model may ask for. */
struct wharf_model_tool_t {
	wharf_text name;
	wharf_text description;
	wharf_json input_schema;
};

struct wharf_model_request_t {
	wharf_text call_id;
	/* `model` names a configured model, or is empty for the node's default. */
	wharf_text model;
	wharf_text system;
	wharf_model_message_list_t messages;
	wharf_model_tool_list_t tools;
	/* auto (default), none, any, or a tool's name */
	wharf_text tool_choice;
	int64_t max_tokens;
	const double *temperature;
	wharf_text_list stop;
	/* `stream` tells watchers the text as it comes, as message deltas. The answer is the same. */
	bool stream;
};

/* ModelUsage counts tokens. */
struct wharf_model_usage_t {
	int64_t input_tokens;
	int64_t output_tokens;
};

/* ModelConsidered is a model that was not used. */
struct wharf_model_considered_t {
	wharf_text provider;
	wharf_text model;
	wharf_text reason;
};

struct wharf_model_answer_t {
	/* openai, anthropic, script or client */
	wharf_text provider;
	/* as the provider names it */
	wharf_text model;
	wharf_text text;
	wharf_model_tool_call_list_t tool_calls;
	wharf_text stop_reason;
	wharf_model_usage_t usage;
	/* `cost` is in `currency`, from the node's price table; 0 when it has no price. */
	double cost;
	wharf_text currency;
	/* `route` says why this model was taken, and `considered` which others were configured for the same
	   name and were tried or passed over before. */
	wharf_text route;
	wharf_model_considered_list_t considered;
};

/* An empty `server` lists those of all. */
struct wharf_tool_list_request_t {
	wharf_text call_id;
	wharf_text server;
};

/* Tool describes a tool that a plugin may call. The hints are what the tool says of itself (Model
   Context Protocol, tool annotations). */
struct wharf_tool_t {
	wharf_text server;
	wharf_text name;
	wharf_text description;
	wharf_json input_schema;
	bool read_only;
	bool idempotent;
	bool destructive;
	/* it reaches what is not its server's own */
	bool open_world;
	/* whoever offers it would rather have another called */
	bool deprecated;
};

struct wharf_tool_list_answer_t {
	wharf_tool_list_t tools;
};

struct wharf_tool_call_request_t {
	wharf_text call_id;
	wharf_text server;
	wharf_text name;
	/* a JSON object */
	wharf_json arguments;
	/* `composition_id` is that of the composition which the call is a child of. The one that is open has
	   all calls as its children, named or not: a call that names another is refused. */
	wharf_text composition_id;
};

/* ToolContent is one block of a tool's answer. `type` is text, image, audio or resource. */
struct wharf_tool_content_t {
	wharf_text type;
	wharf_text text;
	/* base64 */
	wharf_bytes data;
	wharf_text mime_type;
	wharf_text uri;
};

/* A tool that failed by its own word answers with `is_error`; the call itself is then still `ok`. */
struct wharf_tool_call_answer_t {
	wharf_tool_content_list_t content;
	wharf_json structured;
	bool is_error;
};

/* No `kind` is KindResource. */
struct wharf_resource_list_request_t {
	wharf_text call_id;
	wharf_text server;
	wharf_text kind;
};

/* Resource describes a resource of a server of tools: what its `uri` names can be read. */
struct wharf_resource_t {
	wharf_text uri;
	wharf_text name;
	wharf_text title;
	wharf_text description;
	wharf_text mime_type;
	/* in bytes, when the server says it */
	int64_t size;
};

/* ResourceTemplate describes resources whose URIs have a form (RFC 6570). */
struct wharf_resource_template_t {
	wharf_text uri_template;
	wharf_text name;
	wharf_text title;
	wharf_text description;
	wharf_text mime_type;
};

/* PromptArgument describes an argument of a Prompt. */
struct wharf_prompt_argument_t {
	wharf_text name;
	wharf_text title;
	wharf_text description;
	bool required;
};

/* Prompt describes a prompt of a server of tools. */
struct wharf_prompt_t {
	wharf_text name;
	wharf_text title;
	wharf_text description;
	wharf_prompt_argument_list_t arguments;
};

struct wharf_resource_list_answer_t {
	wharf_resource_list_t resources;
	wharf_resource_template_list_t templates;
	wharf_prompt_list_t prompts;
};

struct wharf_resource_read_request_t {
	wharf_text call_id;
	wharf_text server;
	wharf_text uri;
};

/* ResourceContent is the content of a resource: text, or bytes. */
struct wharf_resource_content_t {
	wharf_text uri;
	wharf_text mime_type;
	wharf_text text;
	/* base64 */
	wharf_bytes data;
};

/* One URI may name several contents. */
struct wharf_resource_read_answer_t {
	wharf_resource_content_list_t contents;
};

struct wharf_prompt_get_request_t {
	wharf_text call_id;
	wharf_text server;
	wharf_text name;
	wharf_text_map arguments;
};

/* PromptMessage is a message of a prompt. `role` is user or assistant. */
struct wharf_prompt_message_t {
	wharf_text role;
	wharf_tool_content_t content;
};

struct wharf_prompt_get_answer_t {
	wharf_text description;
	wharf_prompt_message_list_t messages;
};

/* `header` values and the `url`'s query may hold secret handles ({{secret:NAME}}), which the host
   replaces. */
struct wharf_http_fetch_request_t {
	wharf_text call_id;
	/* default GET */
	wharf_text method;
	wharf_text url;
	/* `header` holds one value by name. */
	wharf_text_map header;
	/* the body as text */
	wharf_text text;
	/* the body as bytes, base64; not with `text` */
	wharf_bytes body;
	/* `purpose` is what the receipt says that the request was for. */
	wharf_text purpose;
	/* `idempotency_header` names the header by which the target recognizes a repeated write, such as
	   Idempotency-Key. The host fills it in, and repeats the request after a crash. Without it, such a
	   write is answered with `indeterminate`. */
	wharf_text idempotency_header;
	int64_t timeout_ms;
};

/* A status of 400 and more is an answer, not a failed call. */
struct wharf_http_fetch_answer_t {
	int64_t status;
	/* after redirects, without secrets */
	wharf_text url;
	wharf_text_map header;
	/* the body, when it is UTF-8 */
	wharf_text text;
	/* the body otherwise, base64 */
	wharf_bytes body;
	/* body bytes of the request */
	int64_t bytes_sent;
};

struct wharf_secret_use_request_t {
	wharf_text name;
};

/* `handle` is what to write where the secret belongs. */
struct wharf_secret_use_answer_t {
	wharf_text handle;
};

/* A Memory is found when it holds every word of `text`, in any letter case; an empty `text` finds all. */
struct wharf_memory_query_request_t {
	wharf_text call_id;
	wharf_text scope;
	wharf_text text;
	/* 1 to 100; default 10 */
	int64_t limit;
};

/* Memory is durable knowledge, apart from transcripts. */
struct wharf_memory_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	wharf_text scope;
	wharf_text owner_id;
	/* a string or an object; null when it is redacted */
	wharf_json content;
	wharf_json provenance;
	wharf_text expires_at;
	wharf_text visibility;
	double confidence;
	/* the client's own: Wharf keeps it */
	wharf_json redaction_policy;
	/* the client's own: Wharf keeps it */
	wharf_text embedding_ref;
	/* `redacted_at` is set when the content was redacted. */
	wharf_text redacted_at;
	wharf_text workspace_id;
	wharf_text session_id;
};

/* `unreadable` has the ids of `memories` that are left out, for what is stored of them cannot be read. */
struct wharf_memory_query_answer_t {
	wharf_memory_list_t memories;
	wharf_text_list unreadable;
};

struct wharf_memory_write_request_t {
	wharf_text scope;
	/* a string or an object */
	wharf_json content;
	/* `expires_in_seconds` is how long the Memory lives; 0 for ever. */
	double expires_in_seconds;
	/* default internal */
	wharf_text visibility;
	/* 0 to 1 */
	double confidence;
	wharf_json metadata;
};

struct wharf_memory_write_answer_t {
	wharf_text memory_id;
};

struct wharf_block_list_request_t {
	wharf_text call_id;
};

/* CallBlock is a block of memory, as a plugin is told of it. */
struct wharf_block_t {
	wharf_text label;
	wharf_text value;
	bool read_only;
	int64_t version;
};

struct wharf_block_list_answer_t {
	/* counts the changes of all blocks; 0 before the first */
	int64_t version;
	/* in order of label */
	wharf_block_list_t blocks;
};

struct wharf_block_write_request_t {
	/* of the block, which is made if there is none */
	wharf_text label;
	wharf_text value;
	/* `append` puts value below what the block has, on a line of its own, instead of in its place. */
	bool append;
	/* `version` is that of the block which is to be changed, 0 for none; left out for whatever is there.
	   When somebody has changed it meanwhile, nothing happens, and the call is refused with the code
	   block_changed. */
	const int64_t *version;
};

struct wharf_block_write_answer_t {
	wharf_text label;
	int64_t version;
	/* of its value */
	int64_t characters;
};

struct wharf_artifact_put_request_t {
	wharf_text kind;
	wharf_text mime_type;
	/* default public */
	wharf_text visibility;
	wharf_text name;
};

struct wharf_artifact_put_answer_t {
	wharf_text artifact_id;
	/* bare hex */
	wharf_text sha256;
};

/* A `length` of 0 reads to the end, as far as the payload limit goes. */
struct wharf_artifact_get_request_t {
	wharf_text call_id;
	wharf_text artifact_id;
	int64_t offset;
	int64_t length;
};

/* A `length` of 0 reads to the end, as far as one call goes. */
struct wharf_file_read_request_t {
	wharf_text call_id;
	/* names separated by /, relative to the Workspace */
	wharf_text path;
	int64_t offset;
	int64_t length;
};

struct wharf_file_read_answer_t {
	wharf_text path;
	/* of what was read */
	int64_t offset;
	/* of the whole file */
	int64_t size;
	/* of the whole file, bare hex; left out of one of more than 8 MiB */
	wharf_text sha256;
	wharf_text updated_at;
	/* what was read, when it is UTF-8 */
	wharf_text text;
	/* what was read otherwise, base64 */
	wharf_bytes body;
};

struct wharf_file_write_request_t {
	wharf_text path;
	/* the content as text */
	wharf_text text;
	/* the content as bytes, base64; not with `text` */
	wharf_bytes body;
	wharf_text mode;
	/* `sha256` is what the file must have before, bare hex; another file, or none, is left as it is, and
	   the call is answered with `invalid` and the code conflict. */
	wharf_text sha256;
};

struct wharf_file_write_answer_t {
	wharf_text path;
	int64_t size;
	/* bare hex */
	wharf_text sha256;
	/* what was there before; "" when the file is new */
	wharf_text before_sha256;
};

/* `old` is what the file has, and exactly so: once, unless `all` is set. */
struct wharf_file_edit_request_t {
	wharf_text path;
	wharf_text old;
	/* what comes in its place; "" takes it away */
	wharf_text new_;
	bool all;
	/* `sha256` is what the file must have before, as in CallFileWriteRequest. */
	wharf_text sha256;
};

struct wharf_file_edit_answer_t {
	wharf_text path;
	int64_t size;
	/* bare hex */
	wharf_text sha256;
	wharf_text before_sha256;
	/* how often Old was there */
	int64_t replaced;
};

struct wharf_file_list_request_t {
	wharf_text call_id;
	/* of the folder; "" for the Workspace */
	wharf_text path;
	/* all files below it, and no folders */
	bool recursive;
	/* the next of the answer before */
	wharf_text after;
	/* 1 to 1,000; default 100 */
	int64_t limit;
};

/* FileEntry is a file or folder in a list. */
struct wharf_file_entry_t {
	/* within the Workspace */
	wharf_text path;
	bool folder;
	int64_t size;
	/* of a file */
	wharf_text updated_at;
};

/* `next` is set when there is more. */
struct wharf_file_list_answer_t {
	wharf_file_entry_list_t entries;
	wharf_text next;
};

/* `sha256` is what the file must have, as in CallFileWriteRequest. `recursive` lets `path` be a
   folder, which is removed with all that is in it. */
struct wharf_file_remove_request_t {
	wharf_text path;
	wharf_text sha256;
	bool recursive;
};

/* RemovedFile is a file that was removed with its folder. */
struct wharf_removed_file_t {
	wharf_text path;
	/* bare hex */
	wharf_text before_sha256;
};

struct wharf_file_remove_answer_t {
	wharf_text path;
	/* what was removed, bare hex; "" of a folder */
	wharf_text before_sha256;
	/* of a folder: the files that were in it */
	wharf_removed_file_list_t removed;
};

/* Of `text` and `pattern` at most one is set; without either, what is found are the files that `glob`
   names. */
struct wharf_file_search_request_t {
	wharf_text call_id;
	/* of the folder to search; "" for the Workspace */
	wharf_text path;
	/* `glob` is what the path below that folder must match: * and ? within a name, [a-z], and ** for any
	   number of folders. Without a / it is matched with the file's name. */
	wharf_text glob;
	wharf_text text;
	/* a regular expression (RE2), matched with each line */
	wharf_text pattern;
	bool ignore_case;
	/* the next of the answer before */
	wharf_text after;
	/* 1 to 1,000; default 100 */
	int64_t limit;
};

/* FileMatch is a line of a file, or a file. */
struct wharf_file_match_t {
	wharf_text path;
	/* from 1; 0 for a file that only its name was asked of */
	int64_t line;
	/* the line, at most 1,000 bytes of it */
	wharf_text text;
};

/* `next` is set when the search is not over; it may be so when nothing was found yet. */
struct wharf_file_search_answer_t {
	wharf_file_match_list_t matches;
	wharf_text next;
};

struct wharf_skill_read_request_t {
	wharf_text call_id;
	/* its name, as the Task was told */
	wharf_text skill;
	/* within the skill; SKILL.md if it is absent */
	wharf_text path;
};

/* SkillManifest is what a client says of a skill that it has. */
struct wharf_skill_manifest_t {
	wharf_text when_to_use;
	wharf_text_list allowed_tools;
	/* patterns of the files that it is for */
	wharf_text_list paths;
	wharf_text model;
};

struct wharf_skill_read_answer_t {
	wharf_text skill;
	wharf_text version;
	wharf_text path;
	wharf_text text;
	/* with SKILL.md: the paths of the other files */
	wharf_text_list files;
	/* `manifest` is set for a skill of a client's, which has no version. */
	const wharf_skill_manifest_t *manifest;
};

/* SkillCandidate is a skill that is ranked. */
struct wharf_skill_candidate_t {
	wharf_text name;
	wharf_text description;
	wharf_text when_to_use;
	/* patterns of the files that it is for; * stands for any characters */
	wharf_text_list paths;
};

struct wharf_skill_match_request_t {
	wharf_text call_id;
	wharf_text prompt;
	wharf_text_list working_files;
	/* `candidates` are the skills that are ranked; those that the Task has, and those of its Session's
	   clients, if they are absent. */
	wharf_skill_candidate_list_t candidates;
	/* metadata: the node ranks, the default; host, or embedding: a client does, if there is one */
	wharf_text strategy;
};

/* SkillMatch is a skill that fits. */
struct wharf_skill_match_t {
	wharf_text name;
	/* 0 or more */
	double score;
	wharf_text reason;
};

/* KnownSkill is a skill that a Task can read. */
struct wharf_known_skill_t {
	wharf_text name;
	wharf_text description;
	wharf_text when_to_use;
	/* patterns of the files that it is for; * stands for any characters */
	wharf_text_list paths;
	wharf_text source;
};

struct wharf_skill_match_answer_t {
	/* the best first */
	wharf_skill_match_list_t matches;
	wharf_text by;
	/* `skills` are what was ranked, where the request has no candidates. */
	wharf_known_skill_list_t skills;
};

struct wharf_composition_begin_request_t {
	/* for people */
	wharf_text name;
	/* that the snippet is written in */
	wharf_text language;
	/* `snippet_hash` and `manifest_hash` are SHA-256, in hex, of the snippet and of the manifest of
	   bindings that whoever wrote it was shown. */
	wharf_text snippet_hash;
	wharf_text manifest_hash;
	wharf_text side_effect_ceiling;
};

struct wharf_composition_begin_answer_t {
	wharf_text composition_id;
};

/* With a `failure_category` the composition has failed. */
struct wharf_composition_end_request_t {
	wharf_text composition_id;
	wharf_text stdout_;
	wharf_text stderr_;
	/* ids of those that the Task has put */
	wharf_text_list artifacts;
	wharf_json result;
	wharf_text failure_category;
	/* of a failure */
	wharf_text message;
};

struct wharf_state_get_request_t {
	wharf_text call_id;
	wharf_text key;
};

/* `value` is null when nothing is kept. */
struct wharf_state_get_answer_t {
	wharf_json value;
};

struct wharf_state_set_request_t {
	wharf_text key;
	wharf_json value;
};

struct wharf_sleep_request_t {
	int64_t ms;
};

/* Question is one of several that are asked at once. */
struct wharf_question_t {
	/* names it in the answer: the plugin's own, and no other question's */
	wharf_text key;
	/* default: input */
	wharf_text kind;
	wharf_text prompt;
	/* `schema`, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is not
	   taken. */
	wharf_json schema;
	/* `params`, of a sampling, are what the model of whoever answers is asked: those of MCP's
	   sampling/createMessage. The answer is its result, in a json part. */
	wharf_json params;
	/* of an authorization: what is to be authorized */
	wharf_text provider;
	/* of an authorization: where the user does so */
	wharf_text url;
	/* of an approval: what is to be approved */
	wharf_text action;
	/* `arguments`, `quorum` and `approvers`, of an approval, are as those of approval.request. */
	wharf_json arguments;
	int64_t quorum;
	wharf_text_list approvers;
};

struct wharf_input_request_request_t {
	wharf_text call_id;
	/* of a single question */
	wharf_text prompt;
	/* `schema` is a JSON Schema of what is wanted: an answer that does not fit it is not taken. */
	wharf_json schema;
	/* `requests` are several questions, 1 to 16, in the place of `prompt` and `schema`. Each is answered
	   by itself, and the call when all are settled. */
	wharf_question_list_t requests;
	/* `timeout_seconds` is how long to wait; then the status is `timeout`. 0: for ever. */
	double timeout_seconds;
};

/* `decision` is what one actor has decided. */
struct wharf_decision_t {
	wharf_text actor;
	/* approved or denied */
	wharf_text decision;
	/* for people */
	wharf_text reason;
	/* other arguments, when the actor changed them */
	wharf_json arguments;
	wharf_text decided_at;
};

struct wharf_approval_answer_t {
	/* approved, denied or timeout */
	wharf_text decision;
	wharf_text actor;
	wharf_text decided_at;
	wharf_text reason;
	/* when an approver changed them */
	wharf_json arguments;
	/* `decisions` lists all that were taken, in their order, when there was not just the one above. */
	wharf_decision_list_t decisions;
	/* `quorum` and `approved_by` are set when more than one had to approve, and did. */
	int64_t quorum;
	wharf_text_list approved_by;
};

/* QuestionAnswer is what became of one of several questions. */
struct wharf_question_answer_t {
	wharf_text key;
	/* answered, approved, denied or timeout */
	wharf_text status;
	wharf_text permission_request_id;
	/* who answered, or declined */
	wharf_text actor;
	/* of one that is no approval and was denied: in which way */
	wharf_text code;
	/* why it was declined */
	wharf_text reason;
	/* what was answered */
	const wharf_message_t *message;
	/* of an approval: how it was decided */
	const wharf_approval_answer_t *approval;
};

struct wharf_input_request_answer_t {
	const wharf_message_t *message;
	/* who answered */
	wharf_text actor;
	/* `answers` are those to several questions, in the order in which they were asked; then there is
	   nothing else. */
	wharf_question_answer_list_t answers;
};

struct wharf_auth_request_request_t {
	wharf_text call_id;
	/* what is to be authorized */
	wharf_text provider;
	wharf_text prompt;
	/* where the user does so */
	wharf_text url;
	double timeout_seconds;
};

struct wharf_approval_request_request_t {
	wharf_text call_id;
	/* what is to be approved, such as workspace.patch.apply */
	wharf_text action;
	wharf_text prompt;
	wharf_json arguments;
	double timeout_seconds;
	/* `quorum` is how many must approve; 0 is 1. `approvers` are patterns of the actors that may decide;
	   empty for all. The Persona's policy may ask for more. */
	int64_t quorum;
	wharf_text_list approvers;
};

struct wharf_task_spawn_request_t {
	/* default: the same */
	wharf_text persona_id;
	wharf_json input;
	wharf_json metadata;
	double deadline_seconds;
};

struct wharf_task_spawn_answer_t {
	wharf_text task_id;
};

struct wharf_task_await_request_t {
	wharf_text call_id;
	wharf_text task_id;
	double timeout_seconds;
};

struct wharf_task_await_answer_t {
	wharf_text task_id;
	wharf_text status;
	wharf_text summary;
	wharf_message_list_t messages;
	const wharf_failure_t *failure;
	wharf_text receipt_id;
};

struct wharf_handoff_request_t {
	wharf_text persona_id;
	wharf_json input;
	wharf_text reason;
};

/* DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound. */
struct wharf_delegation_budget_t {
	double usd;
	int64_t tokens;
	double seconds;
	int64_t tool_calls;
};

/* DelegationPeer says who the agent is, as the node has found it. */
struct wharf_delegation_peer_t {
	wharf_text agent;
	/* by its card */
	wharf_text name;
	/* where work is dispatched to */
	wharf_text url;
	/* of the card's canonical JSON, with "sha256:" before it */
	wharf_text card_sha256;
};

/* DelegationCheckpoint is what an agent means to do before it is paid for it. */
struct wharf_delegation_checkpoint_t {
	/* `approved` has the work dispatched, once whoever policy asks has approved it. Without it, the call
	   ends with the checkpoint. */
	bool approved;
	/* `checkpoint_id` is that of the checkpoint that was looked at. When the agent has another one by
	   then, nothing is dispatched. */
	wharf_text checkpoint_id;
	/* `allow_local_fallback` lets `plan` stand in for that of an agent which makes none. */
	bool allow_local_fallback;
	wharf_json plan;
	/* The rest is the agent's, and the node's. In a request it means nothing. */
	wharf_json expected_scope;
	wharf_json evidence_refs;
	wharf_json metadata;
	/* the plan is the plugin's own */
	bool local;
	const wharf_delegation_peer_t *peer;
};

/* Its budget has at least one bound. */
struct wharf_agent_delegate_request_t {
	wharf_text call_id;
	/* by its name in the configuration */
	wharf_text agent;
	wharf_text task;
	/* what may come of it: a text, or any other JSON */
	wharf_json expected_scope;
	/* a JSON object */
	wharf_json context;
	wharf_delegation_budget_t budget;
	/* `idempotency_key` names this piece of work among those of the plugin in its Workspace, for good. One
	   follows from the call where it is not given. */
	wharf_text idempotency_key;
	const wharf_delegation_checkpoint_t *checkpoint;
};

/* CallError is the answer that comes with any status but `ok`. */
struct wharf_call_error_t {
	wharf_text code;
	wharf_text message;
};

/* DelegationArtifact names an Artifact that a delegation has left. */
struct wharf_delegation_artifact_t {
	wharf_text artifact_id;
	wharf_text kind;
	wharf_text sha256;
};

/* DelegationHandoff is what came of work that was dispatched: the envelope of ExternalHandoffSchema. */
struct wharf_delegation_handoff_t {
	/* ExternalHandoffSchema */
	wharf_text schema;
	/* DelegationCompleted or DelegationExceeded */
	wharf_text status;
	wharf_delegation_peer_t peer;
	/* as the agent was told it */
	wharf_text idempotency_key;
	/* of the task, its scope and its context */
	wharf_text asked_sha256;
	wharf_text task_id;
	const wharf_delegation_checkpoint_t *checkpoint;
	wharf_delegation_budget_t budget;
	wharf_delegation_budget_t budget_used;
	/* `reported` is what of `budget_used` the agent has said itself. The rest is taken to be what it was
	   allowed. */
	wharf_text_list reported;
	/* members of the budget */
	wharf_text_list exceeded;
	/* the agent says that it had done it before */
	bool repeated;
	/* what the agent hands over, for review */
	wharf_json handoff;
	/* the patch, where there is one */
	wharf_text diff;
	/* the agent's artifacts */
	wharf_json outputs;
	wharf_json receipts;
	/* `artifacts` are those of this node: the envelope itself, as the log has it, and the patch. */
	wharf_delegation_artifact_list_t artifacts;
};

struct wharf_agent_delegate_answer_t {
	wharf_text status;
	/* of a refusal */
	const wharf_call_error_t *reason;
	/* `idempotency_key` is the one to come back with when the checkpoint is approved. */
	wharf_text idempotency_key;
	const wharf_delegation_peer_t *peer;
	const wharf_delegation_checkpoint_t *checkpoint;
	const wharf_delegation_handoff_t *handoff;
};

struct wharf_event_emit_request_t {
	wharf_text kind;
	/* a JSON object */
	wharf_json payload;
};

struct wharf_config_get_request_t {
	wharf_text name;
};

/* `value` is null when nothing is configured. */
struct wharf_config_get_answer_t {
	wharf_json value;
};

struct wharf_host_fact_request_t {
	wharf_text name;
};

struct wharf_host_fact_answer_t {
	wharf_text value;
};

/* DedupePolicy says how deliveries that come again are recognized. */
struct wharf_dedupe_policy_t {
	/* `header` is the header with the provider's delivery id; empty: the provider's own. */
	wharf_text header;
	/* `window_seconds` is how long ids are remembered; 0 for the default of a week. */
	int64_t window_seconds;
};

/* WebhookAuth says how deliveries on the public path are checked. `secrets` are named, never stated:
   they are those of the node's configuration or of a Vault. */
struct wharf_webhook_auth_t {
	/* empty: the provider's own */
	wharf_text scheme;
	/* `secrets` are names; a delivery signed with any of them is taken, so that a secret can be changed
	   without a gap. */
	wharf_text_list secrets;
	/* where they are; empty: the node's own */
	wharf_text vault_id;
	/* `tolerance_seconds` is how far a timestamp may be from now; 0 for 5 minutes. */
	int64_t tolerance_seconds;
	/* of hmac: the header with the signature */
	wharf_text header;
	/* of hmac: sha256 or sha512 */
	wharf_text hash;
	/* of hmac: the signature's, hex or base64 */
	wharf_text encoding;
	/* of hmac: what stands before the signature */
	wharf_text prefix;
	/* `timestamp_header` is the header with the time in seconds, of hmac; then "TIME.BODY" is signed, and
	   else the body alone. */
	wharf_text timestamp_header;
};

/* Webhook is the public path of a Connector. */
struct wharf_webhook_t {
	/* `path` is where providers send to. It is shown to those who may write Connectors, for it holds an
	   unguessable token. */
	wharf_text path;
	/* `enabled` says that the path is open. */
	bool enabled;
};

/* Polling makes a Connector act by itself. */
struct wharf_polling_t {
	/* five fields of cron, or @every 5m, @hourly, … */
	wharf_text schedule;
	/* of the IANA database; UTC if it is empty */
	wharf_text timezone;
	/* the plugin's export that polls; empty: each tick is a delivery itself */
	wharf_text export_;
	/* when it acts next */
	wharf_text next_at;
	/* the last tick that was acted on */
	wharf_text last_at;
	/* the Task of that tick */
	wharf_text last_task_id;
};

/* ConnectorCounters count what became of deliveries, since the Connector was made. */
struct wharf_connector_counters_t {
	/* taken in; what had come before is not among them */
	uint64_t received;
	/* had come before */
	uint64_t deduped;
	/* for their signature; since the node started */
	uint64_t rejected;
	/* the plugin has said what they mean */
	uint64_t normalized;
	/* submitted */
	uint64_t tasks;
	/* put aside as dead letters */
	uint64_t failed;
	/* neither handled nor put aside yet */
	uint64_t pending;
};

/* Connector turns what a provider sends, or what is polled from it, into Tasks, Events or Messages. */
struct wharf_connector_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	wharf_text name;
	/* such as github; it decides the defaults of the rest */
	wharf_text provider;
	wharf_text workspace_id;
	/* whether it takes and handles deliveries */
	wharf_text status;
	/* `status_reason` says why it is FAILED. */
	wharf_text status_reason;
	wharf_text_list event_kinds;
	const wharf_dedupe_policy_t *dedupe_policy;
	const wharf_webhook_auth_t *auth;
	const wharf_webhook_t *webhook;
	const wharf_polling_t *polling;
	/* whose Tasks deliveries become */
	wharf_text target_persona_id;
	/* the Session of those Tasks */
	wharf_text target_session_id;
	/* `plugin` is what normalizes deliveries: PLUGIN#EXPORT. */
	wharf_text plugin;
	/* `settings` are the plugin's own, such as the mapping of generic. */
	wharf_json settings;
	/* `ordered` says that the deliveries of one order key are handled strictly one after another: a Task
	   begins when the one before has ended. ConnectorTask has the key. */
	bool ordered;
	/* `deleted_at` is set on one that was deleted: no read shows it any more. */
	wharf_text deleted_at;
	/* `problems` are what keeps it from working now, a sentence each. They are filled in when one is read
	   by its id, made or changed. */
	wharf_text_list problems;
	/* `counters` are filled in when a Connector is read. */
	const wharf_connector_counters_t *counters;
};

/* Delivery is what a provider has sent, as it is kept: the body as text when it is UTF-8, else as
   bytes. */
struct wharf_delivery_t {
	/* names the resource; it never changes */
	wharf_text id;
	/* the kind of resource */
	wharf_text object;
	/* when it was made */
	wharf_text created_at;
	/* when it last changed */
	wharf_text updated_at;
	/* the client's own: any object; {} if there is none */
	wharf_json metadata;
	wharf_text connector_id;
	wharf_text workspace_id;
	/* the provider's */
	wharf_text delivery_id;
	/* names in lower case; no credentials */
	wharf_text_map header;
	wharf_text text;
	/* base64 */
	wharf_bytes body;
};

struct wharf_deliveries_answer_t {
	wharf_connector_t connector;
	wharf_delivery_list_t deliveries;
};

/* ConnectorTask is a Task to submit. */
struct wharf_connector_task_t {
	wharf_json input;
	/* `persona_id` is the Connector's target if it is empty. */
	wharf_text persona_id;
	/* `thread` is what belongs to one Session, such as a pull request; empty: the Connector's target
	   Session, or one for all. */
	wharf_text thread;
	/* `order_key` orders Tasks when the Connector is ordered; empty: `thread`. */
	wharf_text order_key;
	wharf_json metadata;
};

/* ConnectorMessage is a `message` to append. */
struct wharf_connector_message_t {
	wharf_message_input_t message;
	wharf_text thread;
};

/* ConnectorEvent is an event to tell. */
struct wharf_connector_event_t {
	wharf_text kind;
	wharf_json payload;
};

/* NormalizedDelivery says what a delivery means. With none of the members it means nothing and is done
   with. */
struct wharf_normalized_delivery_t {
	/* the Delivery's id */
	wharf_text id;
	wharf_connector_task_list_t tasks;
	wharf_connector_message_list_t messages;
	wharf_connector_event_list_t events;
	/* `ignored` says in a word why it means nothing. */
	wharf_text ignored;
	/* `failure` puts the delivery aside, whatever else it says. */
	const wharf_failure_t *failure;
};

struct wharf_normalized_request_t {
	wharf_normalized_delivery_list_t results;
};

/* PolledDelivery is one thing that was found. `id` is how it is recognized when it is found again. */
struct wharf_polled_delivery_t {
	wharf_text id;
	wharf_text_map header;
	wharf_text text;
	/* base64; not with `text` */
	wharf_bytes body;
};

/* Each is taken as if the provider had sent it. */
struct wharf_deliver_request_t {
	wharf_polled_delivery_list_t deliveries;
};

struct wharf_deliver_answer_t {
	int64_t received;
	int64_t deduped;
};
WHARF_FN void wharf_put_failure(wharf_writer *w, const wharf_failure_t *v);
WHARF_FN void wharf_get_failure(wharf_reader *r, wharf_failure_t *v);
WHARF_FN void wharf_put_budget(wharf_writer *w, const wharf_budget_t *v);
WHARF_FN void wharf_get_budget(wharf_reader *r, wharf_budget_t *v);
WHARF_FN void wharf_put_run_options(wharf_writer *w, const wharf_run_options_t *v);
WHARF_FN void wharf_get_run_options(wharf_reader *r, wharf_run_options_t *v);
WHARF_FN void wharf_put_task_client(wharf_writer *w, const wharf_task_client_t *v);
WHARF_FN void wharf_get_task_client(wharf_reader *r, wharf_task_client_t *v);
WHARF_FN void wharf_put_inbox_wait(wharf_writer *w, const wharf_inbox_wait_t *v);
WHARF_FN void wharf_get_inbox_wait(wharf_reader *r, wharf_inbox_wait_t *v);
WHARF_FN void wharf_put_tool_use(wharf_writer *w, const wharf_tool_use_t *v);
WHARF_FN void wharf_get_tool_use(wharf_reader *r, wharf_tool_use_t *v);
WHARF_FN void wharf_put_composition_child(wharf_writer *w, const wharf_composition_child_t *v);
WHARF_FN void wharf_get_composition_child(wharf_reader *r, wharf_composition_child_t *v);
WHARF_FN void wharf_put_waiting_question(wharf_writer *w, const wharf_waiting_question_t *v);
WHARF_FN void wharf_get_waiting_question(wharf_reader *r, wharf_waiting_question_t *v);
WHARF_FN void wharf_put_waiting(wharf_writer *w, const wharf_waiting_t *v);
WHARF_FN void wharf_get_waiting(wharf_reader *r, wharf_waiting_t *v);
WHARF_FN void wharf_put_task_replay(wharf_writer *w, const wharf_task_replay_t *v);
WHARF_FN void wharf_get_task_replay(wharf_reader *r, wharf_task_replay_t *v);
WHARF_FN void wharf_put_task_fork(wharf_writer *w, const wharf_task_fork_t *v);
WHARF_FN void wharf_get_task_fork(wharf_reader *r, wharf_task_fork_t *v);
WHARF_FN void wharf_put_task(wharf_writer *w, const wharf_task_t *v);
WHARF_FN void wharf_get_task(wharf_reader *r, wharf_task_t *v);
WHARF_FN void wharf_put_model_policy(wharf_writer *w, const wharf_model_policy_t *v);
WHARF_FN void wharf_get_model_policy(wharf_reader *r, wharf_model_policy_t *v);
WHARF_FN void wharf_put_approval_policy(wharf_writer *w, const wharf_approval_policy_t *v);
WHARF_FN void wharf_get_approval_policy(wharf_reader *r, wharf_approval_policy_t *v);
WHARF_FN void wharf_put_agent_skill(wharf_writer *w, const wharf_agent_skill_t *v);
WHARF_FN void wharf_get_agent_skill(wharf_reader *r, wharf_agent_skill_t *v);
WHARF_FN void wharf_put_agent_server(wharf_writer *w, const wharf_agent_server_t *v);
WHARF_FN void wharf_get_agent_server(wharf_reader *r, wharf_agent_server_t *v);
WHARF_FN void wharf_put_agent_model(wharf_writer *w, const wharf_agent_model_t *v);
WHARF_FN void wharf_get_agent_model(wharf_reader *r, wharf_agent_model_t *v);
WHARF_FN void wharf_put_agent_tools(wharf_writer *w, const wharf_agent_tools_t *v);
WHARF_FN void wharf_get_agent_tools(wharf_reader *r, wharf_agent_tools_t *v);
WHARF_FN void wharf_put_agent_bundle(wharf_writer *w, const wharf_agent_bundle_t *v);
WHARF_FN void wharf_get_agent_bundle(wharf_reader *r, wharf_agent_bundle_t *v);
WHARF_FN void wharf_put_agent(wharf_writer *w, const wharf_agent_t *v);
WHARF_FN void wharf_get_agent(wharf_reader *r, wharf_agent_t *v);
WHARF_FN void wharf_put_rights(wharf_writer *w, const wharf_rights_t *v);
WHARF_FN void wharf_get_rights(wharf_reader *r, wharf_rights_t *v);
WHARF_FN void wharf_put_persona(wharf_writer *w, const wharf_persona_t *v);
WHARF_FN void wharf_get_persona(wharf_reader *r, wharf_persona_t *v);
WHARF_FN void wharf_put_input_skill(wharf_writer *w, const wharf_input_skill_t *v);
WHARF_FN void wharf_get_input_skill(wharf_reader *r, wharf_input_skill_t *v);
WHARF_FN void wharf_put_input_answer(wharf_writer *w, const wharf_input_answer_t *v);
WHARF_FN void wharf_get_input_answer(wharf_reader *r, wharf_input_answer_t *v);
WHARF_FN void wharf_put_output_request(wharf_writer *w, const wharf_output_request_t *v);
WHARF_FN void wharf_get_output_request(wharf_reader *r, wharf_output_request_t *v);
WHARF_FN void wharf_put_label(wharf_writer *w, const wharf_label_t *v);
WHARF_FN void wharf_get_label(wharf_reader *r, wharf_label_t *v);
WHARF_FN void wharf_put_clock_answer(wharf_writer *w, const wharf_clock_answer_t *v);
WHARF_FN void wharf_get_clock_answer(wharf_reader *r, wharf_clock_answer_t *v);
WHARF_FN void wharf_put_id_answer(wharf_writer *w, const wharf_id_answer_t *v);
WHARF_FN void wharf_get_id_answer(wharf_reader *r, wharf_id_answer_t *v);
WHARF_FN void wharf_put_log_request(wharf_writer *w, const wharf_log_request_t *v);
WHARF_FN void wharf_get_log_request(wharf_reader *r, wharf_log_request_t *v);
WHARF_FN void wharf_put_progress_request(wharf_writer *w, const wharf_progress_request_t *v);
WHARF_FN void wharf_get_progress_request(wharf_reader *r, wharf_progress_request_t *v);
WHARF_FN void wharf_put_plan_step(wharf_writer *w, const wharf_plan_step_t *v);
WHARF_FN void wharf_get_plan_step(wharf_reader *r, wharf_plan_step_t *v);
WHARF_FN void wharf_put_plan_request(wharf_writer *w, const wharf_plan_request_t *v);
WHARF_FN void wharf_get_plan_request(wharf_reader *r, wharf_plan_request_t *v);
WHARF_FN void wharf_put_agent_event_request(wharf_writer *w, const wharf_agent_event_request_t *v);
WHARF_FN void wharf_get_agent_event_request(wharf_reader *r, wharf_agent_event_request_t *v);
WHARF_FN void wharf_put_planned_step(wharf_writer *w, const wharf_planned_step_t *v);
WHARF_FN void wharf_get_planned_step(wharf_reader *r, wharf_planned_step_t *v);
WHARF_FN void wharf_put_plan_set_request(wharf_writer *w, const wharf_plan_set_request_t *v);
WHARF_FN void wharf_get_plan_set_request(wharf_reader *r, wharf_plan_set_request_t *v);
WHARF_FN void wharf_put_plan_answer(wharf_writer *w, const wharf_plan_answer_t *v);
WHARF_FN void wharf_get_plan_answer(wharf_reader *r, wharf_plan_answer_t *v);
WHARF_FN void wharf_put_plan_get_request(wharf_writer *w, const wharf_plan_get_request_t *v);
WHARF_FN void wharf_get_plan_get_request(wharf_reader *r, wharf_plan_get_request_t *v);
WHARF_FN void wharf_put_inbox_take_request(wharf_writer *w, const wharf_inbox_take_request_t *v);
WHARF_FN void wharf_get_inbox_take_request(wharf_reader *r, wharf_inbox_take_request_t *v);
WHARF_FN void wharf_put_part(wharf_writer *w, const wharf_part_t *v);
WHARF_FN void wharf_get_part(wharf_reader *r, wharf_part_t *v);
WHARF_FN void wharf_put_message(wharf_writer *w, const wharf_message_t *v);
WHARF_FN void wharf_get_message(wharf_reader *r, wharf_message_t *v);
WHARF_FN void wharf_put_taken_reminder(wharf_writer *w, const wharf_taken_reminder_t *v);
WHARF_FN void wharf_get_taken_reminder(wharf_reader *r, wharf_taken_reminder_t *v);
WHARF_FN void wharf_put_inbox_take_answer(wharf_writer *w, const wharf_inbox_take_answer_t *v);
WHARF_FN void wharf_get_inbox_take_answer(wharf_reader *r, wharf_inbox_take_answer_t *v);
WHARF_FN void wharf_put_message_input(wharf_writer *w, const wharf_message_input_t *v);
WHARF_FN void wharf_get_message_input(wharf_reader *r, wharf_message_input_t *v);
WHARF_FN void wharf_put_message_append_answer(wharf_writer *w, const wharf_message_append_answer_t *v);
WHARF_FN void wharf_get_message_append_answer(wharf_reader *r, wharf_message_append_answer_t *v);
WHARF_FN void wharf_put_message_delta_request(wharf_writer *w, const wharf_message_delta_request_t *v);
WHARF_FN void wharf_get_message_delta_request(wharf_reader *r, wharf_message_delta_request_t *v);
WHARF_FN void wharf_put_transcript_read_request(wharf_writer *w, const wharf_transcript_read_request_t *v);
WHARF_FN void wharf_get_transcript_read_request(wharf_reader *r, wharf_transcript_read_request_t *v);
WHARF_FN void wharf_put_transcript_read_answer(wharf_writer *w, const wharf_transcript_read_answer_t *v);
WHARF_FN void wharf_get_transcript_read_answer(wharf_reader *r, wharf_transcript_read_answer_t *v);
WHARF_FN void wharf_put_model_tool_call(wharf_writer *w, const wharf_model_tool_call_t *v);
WHARF_FN void wharf_get_model_tool_call(wharf_reader *r, wharf_model_tool_call_t *v);
WHARF_FN void wharf_put_model_message(wharf_writer *w, const wharf_model_message_t *v);
WHARF_FN void wharf_get_model_message(wharf_reader *r, wharf_model_message_t *v);
WHARF_FN void wharf_put_model_tool(wharf_writer *w, const wharf_model_tool_t *v);
WHARF_FN void wharf_get_model_tool(wharf_reader *r, wharf_model_tool_t *v);
WHARF_FN void wharf_put_model_request(wharf_writer *w, const wharf_model_request_t *v);
WHARF_FN void wharf_get_model_request(wharf_reader *r, wharf_model_request_t *v);
WHARF_FN void wharf_put_model_usage(wharf_writer *w, const wharf_model_usage_t *v);
WHARF_FN void wharf_get_model_usage(wharf_reader *r, wharf_model_usage_t *v);
WHARF_FN void wharf_put_model_considered(wharf_writer *w, const wharf_model_considered_t *v);
WHARF_FN void wharf_get_model_considered(wharf_reader *r, wharf_model_considered_t *v);
WHARF_FN void wharf_put_model_answer(wharf_writer *w, const wharf_model_answer_t *v);
WHARF_FN void wharf_get_model_answer(wharf_reader *r, wharf_model_answer_t *v);
WHARF_FN void wharf_put_tool_list_request(wharf_writer *w, const wharf_tool_list_request_t *v);
WHARF_FN void wharf_get_tool_list_request(wharf_reader *r, wharf_tool_list_request_t *v);
WHARF_FN void wharf_put_tool(wharf_writer *w, const wharf_tool_t *v);
WHARF_FN void wharf_get_tool(wharf_reader *r, wharf_tool_t *v);
WHARF_FN void wharf_put_tool_list_answer(wharf_writer *w, const wharf_tool_list_answer_t *v);
WHARF_FN void wharf_get_tool_list_answer(wharf_reader *r, wharf_tool_list_answer_t *v);
WHARF_FN void wharf_put_tool_call_request(wharf_writer *w, const wharf_tool_call_request_t *v);
WHARF_FN void wharf_get_tool_call_request(wharf_reader *r, wharf_tool_call_request_t *v);
WHARF_FN void wharf_put_tool_content(wharf_writer *w, const wharf_tool_content_t *v);
WHARF_FN void wharf_get_tool_content(wharf_reader *r, wharf_tool_content_t *v);
WHARF_FN void wharf_put_tool_call_answer(wharf_writer *w, const wharf_tool_call_answer_t *v);
WHARF_FN void wharf_get_tool_call_answer(wharf_reader *r, wharf_tool_call_answer_t *v);
WHARF_FN void wharf_put_resource_list_request(wharf_writer *w, const wharf_resource_list_request_t *v);
WHARF_FN void wharf_get_resource_list_request(wharf_reader *r, wharf_resource_list_request_t *v);
WHARF_FN void wharf_put_resource(wharf_writer *w, const wharf_resource_t *v);
WHARF_FN void wharf_get_resource(wharf_reader *r, wharf_resource_t *v);
WHARF_FN void wharf_put_resource_template(wharf_writer *w, const wharf_resource_template_t *v);
WHARF_FN void wharf_get_resource_template(wharf_reader *r, wharf_resource_template_t *v);
WHARF_FN void wharf_put_prompt_argument(wharf_writer *w, const wharf_prompt_argument_t *v);
WHARF_FN void wharf_get_prompt_argument(wharf_reader *r, wharf_prompt_argument_t *v);
WHARF_FN void wharf_put_prompt(wharf_writer *w, const wharf_prompt_t *v);
WHARF_FN void wharf_get_prompt(wharf_reader *r, wharf_prompt_t *v);
WHARF_FN void wharf_put_resource_list_answer(wharf_writer *w, const wharf_resource_list_answer_t *v);
WHARF_FN void wharf_get_resource_list_answer(wharf_reader *r, wharf_resource_list_answer_t *v);
WHARF_FN void wharf_put_resource_read_request(wharf_writer *w, const wharf_resource_read_request_t *v);
WHARF_FN void wharf_get_resource_read_request(wharf_reader *r, wharf_resource_read_request_t *v);
WHARF_FN void wharf_put_resource_content(wharf_writer *w, const wharf_resource_content_t *v);
WHARF_FN void wharf_get_resource_content(wharf_reader *r, wharf_resource_content_t *v);
WHARF_FN void wharf_put_resource_read_answer(wharf_writer *w, const wharf_resource_read_answer_t *v);
WHARF_FN void wharf_get_resource_read_answer(wharf_reader *r, wharf_resource_read_answer_t *v);
WHARF_FN void wharf_put_prompt_get_request(wharf_writer *w, const wharf_prompt_get_request_t *v);
WHARF_FN void wharf_get_prompt_get_request(wharf_reader *r, wharf_prompt_get_request_t *v);
WHARF_FN void wharf_put_prompt_message(wharf_writer *w, const wharf_prompt_message_t *v);
WHARF_FN void wharf_get_prompt_message(wharf_reader *r, wharf_prompt_message_t *v);
WHARF_FN void wharf_put_prompt_get_answer(wharf_writer *w, const wharf_prompt_get_answer_t *v);
WHARF_FN void wharf_get_prompt_get_answer(wharf_reader *r, wharf_prompt_get_answer_t *v);
WHARF_FN void wharf_put_http_fetch_request(wharf_writer *w, const wharf_http_fetch_request_t *v);
WHARF_FN void wharf_get_http_fetch_request(wharf_reader *r, wharf_http_fetch_request_t *v);
WHARF_FN void wharf_put_http_fetch_answer(wharf_writer *w, const wharf_http_fetch_answer_t *v);
WHARF_FN void wharf_get_http_fetch_answer(wharf_reader *r, wharf_http_fetch_answer_t *v);
WHARF_FN void wharf_put_secret_use_request(wharf_writer *w, const wharf_secret_use_request_t *v);
WHARF_FN void wharf_get_secret_use_request(wharf_reader *r, wharf_secret_use_request_t *v);
WHARF_FN void wharf_put_secret_use_answer(wharf_writer *w, const wharf_secret_use_answer_t *v);
WHARF_FN void wharf_get_secret_use_answer(wharf_reader *r, wharf_secret_use_answer_t *v);
WHARF_FN void wharf_put_memory_query_request(wharf_writer *w, const wharf_memory_query_request_t *v);
WHARF_FN void wharf_get_memory_query_request(wharf_reader *r, wharf_memory_query_request_t *v);
WHARF_FN void wharf_put_memory(wharf_writer *w, const wharf_memory_t *v);
WHARF_FN void wharf_get_memory(wharf_reader *r, wharf_memory_t *v);
WHARF_FN void wharf_put_memory_query_answer(wharf_writer *w, const wharf_memory_query_answer_t *v);
WHARF_FN void wharf_get_memory_query_answer(wharf_reader *r, wharf_memory_query_answer_t *v);
WHARF_FN void wharf_put_memory_write_request(wharf_writer *w, const wharf_memory_write_request_t *v);
WHARF_FN void wharf_get_memory_write_request(wharf_reader *r, wharf_memory_write_request_t *v);
WHARF_FN void wharf_put_memory_write_answer(wharf_writer *w, const wharf_memory_write_answer_t *v);
WHARF_FN void wharf_get_memory_write_answer(wharf_reader *r, wharf_memory_write_answer_t *v);
WHARF_FN void wharf_put_block_list_request(wharf_writer *w, const wharf_block_list_request_t *v);
WHARF_FN void wharf_get_block_list_request(wharf_reader *r, wharf_block_list_request_t *v);
WHARF_FN void wharf_put_block(wharf_writer *w, const wharf_block_t *v);
WHARF_FN void wharf_get_block(wharf_reader *r, wharf_block_t *v);
WHARF_FN void wharf_put_block_list_answer(wharf_writer *w, const wharf_block_list_answer_t *v);
WHARF_FN void wharf_get_block_list_answer(wharf_reader *r, wharf_block_list_answer_t *v);
WHARF_FN void wharf_put_block_write_request(wharf_writer *w, const wharf_block_write_request_t *v);
WHARF_FN void wharf_get_block_write_request(wharf_reader *r, wharf_block_write_request_t *v);
WHARF_FN void wharf_put_block_write_answer(wharf_writer *w, const wharf_block_write_answer_t *v);
WHARF_FN void wharf_get_block_write_answer(wharf_reader *r, wharf_block_write_answer_t *v);
WHARF_FN void wharf_put_artifact_put_request(wharf_writer *w, const wharf_artifact_put_request_t *v);
WHARF_FN void wharf_get_artifact_put_request(wharf_reader *r, wharf_artifact_put_request_t *v);
WHARF_FN void wharf_put_artifact_put_answer(wharf_writer *w, const wharf_artifact_put_answer_t *v);
WHARF_FN void wharf_get_artifact_put_answer(wharf_reader *r, wharf_artifact_put_answer_t *v);
WHARF_FN void wharf_put_artifact_get_request(wharf_writer *w, const wharf_artifact_get_request_t *v);
WHARF_FN void wharf_get_artifact_get_request(wharf_reader *r, wharf_artifact_get_request_t *v);
WHARF_FN void wharf_put_file_read_request(wharf_writer *w, const wharf_file_read_request_t *v);
WHARF_FN void wharf_get_file_read_request(wharf_reader *r, wharf_file_read_request_t *v);
WHARF_FN void wharf_put_file_read_answer(wharf_writer *w, const wharf_file_read_answer_t *v);
WHARF_FN void wharf_get_file_read_answer(wharf_reader *r, wharf_file_read_answer_t *v);
WHARF_FN void wharf_put_file_write_request(wharf_writer *w, const wharf_file_write_request_t *v);
WHARF_FN void wharf_get_file_write_request(wharf_reader *r, wharf_file_write_request_t *v);
WHARF_FN void wharf_put_file_write_answer(wharf_writer *w, const wharf_file_write_answer_t *v);
WHARF_FN void wharf_get_file_write_answer(wharf_reader *r, wharf_file_write_answer_t *v);
WHARF_FN void wharf_put_file_edit_request(wharf_writer *w, const wharf_file_edit_request_t *v);
WHARF_FN void wharf_get_file_edit_request(wharf_reader *r, wharf_file_edit_request_t *v);
WHARF_FN void wharf_put_file_edit_answer(wharf_writer *w, const wharf_file_edit_answer_t *v);
WHARF_FN void wharf_get_file_edit_answer(wharf_reader *r, wharf_file_edit_answer_t *v);
WHARF_FN void wharf_put_file_list_request(wharf_writer *w, const wharf_file_list_request_t *v);
WHARF_FN void wharf_get_file_list_request(wharf_reader *r, wharf_file_list_request_t *v);
WHARF_FN void wharf_put_file_entry(wharf_writer *w, const wharf_file_entry_t *v);
WHARF_FN void wharf_get_file_entry(wharf_reader *r, wharf_file_entry_t *v);
WHARF_FN void wharf_put_file_list_answer(wharf_writer *w, const wharf_file_list_answer_t *v);
WHARF_FN void wharf_get_file_list_answer(wharf_reader *r, wharf_file_list_answer_t *v);
WHARF_FN void wharf_put_file_remove_request(wharf_writer *w, const wharf_file_remove_request_t *v);
WHARF_FN void wharf_get_file_remove_request(wharf_reader *r, wharf_file_remove_request_t *v);
WHARF_FN void wharf_put_removed_file(wharf_writer *w, const wharf_removed_file_t *v);
WHARF_FN void wharf_get_removed_file(wharf_reader *r, wharf_removed_file_t *v);
WHARF_FN void wharf_put_file_remove_answer(wharf_writer *w, const wharf_file_remove_answer_t *v);
WHARF_FN void wharf_get_file_remove_answer(wharf_reader *r, wharf_file_remove_answer_t *v);
WHARF_FN void wharf_put_file_search_request(wharf_writer *w, const wharf_file_search_request_t *v);
WHARF_FN void wharf_get_file_search_request(wharf_reader *r, wharf_file_search_request_t *v);
WHARF_FN void wharf_put_file_match(wharf_writer *w, const wharf_file_match_t *v);
WHARF_FN void wharf_get_file_match(wharf_reader *r, wharf_file_match_t *v);
WHARF_FN void wharf_put_file_search_answer(wharf_writer *w, const wharf_file_search_answer_t *v);
WHARF_FN void wharf_get_file_search_answer(wharf_reader *r, wharf_file_search_answer_t *v);
WHARF_FN void wharf_put_skill_read_request(wharf_writer *w, const wharf_skill_read_request_t *v);
WHARF_FN void wharf_get_skill_read_request(wharf_reader *r, wharf_skill_read_request_t *v);
WHARF_FN void wharf_put_skill_manifest(wharf_writer *w, const wharf_skill_manifest_t *v);
WHARF_FN void wharf_get_skill_manifest(wharf_reader *r, wharf_skill_manifest_t *v);
WHARF_FN void wharf_put_skill_read_answer(wharf_writer *w, const wharf_skill_read_answer_t *v);
WHARF_FN void wharf_get_skill_read_answer(wharf_reader *r, wharf_skill_read_answer_t *v);
WHARF_FN void wharf_put_skill_candidate(wharf_writer *w, const wharf_skill_candidate_t *v);
WHARF_FN void wharf_get_skill_candidate(wharf_reader *r, wharf_skill_candidate_t *v);
WHARF_FN void wharf_put_skill_match_request(wharf_writer *w, const wharf_skill_match_request_t *v);
WHARF_FN void wharf_get_skill_match_request(wharf_reader *r, wharf_skill_match_request_t *v);
WHARF_FN void wharf_put_skill_match(wharf_writer *w, const wharf_skill_match_t *v);
WHARF_FN void wharf_get_skill_match(wharf_reader *r, wharf_skill_match_t *v);
WHARF_FN void wharf_put_known_skill(wharf_writer *w, const wharf_known_skill_t *v);
WHARF_FN void wharf_get_known_skill(wharf_reader *r, wharf_known_skill_t *v);
WHARF_FN void wharf_put_skill_match_answer(wharf_writer *w, const wharf_skill_match_answer_t *v);
WHARF_FN void wharf_get_skill_match_answer(wharf_reader *r, wharf_skill_match_answer_t *v);
WHARF_FN void wharf_put_composition_begin_request(wharf_writer *w, const wharf_composition_begin_request_t *v);
WHARF_FN void wharf_get_composition_begin_request(wharf_reader *r, wharf_composition_begin_request_t *v);
WHARF_FN void wharf_put_composition_begin_answer(wharf_writer *w, const wharf_composition_begin_answer_t *v);
WHARF_FN void wharf_get_composition_begin_answer(wharf_reader *r, wharf_composition_begin_answer_t *v);
WHARF_FN void wharf_put_composition_end_request(wharf_writer *w, const wharf_composition_end_request_t *v);
WHARF_FN void wharf_get_composition_end_request(wharf_reader *r, wharf_composition_end_request_t *v);
WHARF_FN void wharf_put_state_get_request(wharf_writer *w, const wharf_state_get_request_t *v);
WHARF_FN void wharf_get_state_get_request(wharf_reader *r, wharf_state_get_request_t *v);
WHARF_FN void wharf_put_state_get_answer(wharf_writer *w, const wharf_state_get_answer_t *v);
WHARF_FN void wharf_get_state_get_answer(wharf_reader *r, wharf_state_get_answer_t *v);
WHARF_FN void wharf_put_state_set_request(wharf_writer *w, const wharf_state_set_request_t *v);
WHARF_FN void wharf_get_state_set_request(wharf_reader *r, wharf_state_set_request_t *v);
WHARF_FN void wharf_put_sleep_request(wharf_writer *w, const wharf_sleep_request_t *v);
WHARF_FN void wharf_get_sleep_request(wharf_reader *r, wharf_sleep_request_t *v);
WHARF_FN void wharf_put_question(wharf_writer *w, const wharf_question_t *v);
WHARF_FN void wharf_get_question(wharf_reader *r, wharf_question_t *v);
WHARF_FN void wharf_put_input_request_request(wharf_writer *w, const wharf_input_request_request_t *v);
WHARF_FN void wharf_get_input_request_request(wharf_reader *r, wharf_input_request_request_t *v);
WHARF_FN void wharf_put_decision(wharf_writer *w, const wharf_decision_t *v);
WHARF_FN void wharf_get_decision(wharf_reader *r, wharf_decision_t *v);
WHARF_FN void wharf_put_approval_answer(wharf_writer *w, const wharf_approval_answer_t *v);
WHARF_FN void wharf_get_approval_answer(wharf_reader *r, wharf_approval_answer_t *v);
WHARF_FN void wharf_put_question_answer(wharf_writer *w, const wharf_question_answer_t *v);
WHARF_FN void wharf_get_question_answer(wharf_reader *r, wharf_question_answer_t *v);
WHARF_FN void wharf_put_input_request_answer(wharf_writer *w, const wharf_input_request_answer_t *v);
WHARF_FN void wharf_get_input_request_answer(wharf_reader *r, wharf_input_request_answer_t *v);
WHARF_FN void wharf_put_auth_request_request(wharf_writer *w, const wharf_auth_request_request_t *v);
WHARF_FN void wharf_get_auth_request_request(wharf_reader *r, wharf_auth_request_request_t *v);
WHARF_FN void wharf_put_approval_request_request(wharf_writer *w, const wharf_approval_request_request_t *v);
WHARF_FN void wharf_get_approval_request_request(wharf_reader *r, wharf_approval_request_request_t *v);
WHARF_FN void wharf_put_task_spawn_request(wharf_writer *w, const wharf_task_spawn_request_t *v);
WHARF_FN void wharf_get_task_spawn_request(wharf_reader *r, wharf_task_spawn_request_t *v);
WHARF_FN void wharf_put_task_spawn_answer(wharf_writer *w, const wharf_task_spawn_answer_t *v);
WHARF_FN void wharf_get_task_spawn_answer(wharf_reader *r, wharf_task_spawn_answer_t *v);
WHARF_FN void wharf_put_task_await_request(wharf_writer *w, const wharf_task_await_request_t *v);
WHARF_FN void wharf_get_task_await_request(wharf_reader *r, wharf_task_await_request_t *v);
WHARF_FN void wharf_put_task_await_answer(wharf_writer *w, const wharf_task_await_answer_t *v);
WHARF_FN void wharf_get_task_await_answer(wharf_reader *r, wharf_task_await_answer_t *v);
WHARF_FN void wharf_put_handoff_request(wharf_writer *w, const wharf_handoff_request_t *v);
WHARF_FN void wharf_get_handoff_request(wharf_reader *r, wharf_handoff_request_t *v);
WHARF_FN void wharf_put_delegation_budget(wharf_writer *w, const wharf_delegation_budget_t *v);
WHARF_FN void wharf_get_delegation_budget(wharf_reader *r, wharf_delegation_budget_t *v);
WHARF_FN void wharf_put_delegation_peer(wharf_writer *w, const wharf_delegation_peer_t *v);
WHARF_FN void wharf_get_delegation_peer(wharf_reader *r, wharf_delegation_peer_t *v);
WHARF_FN void wharf_put_delegation_checkpoint(wharf_writer *w, const wharf_delegation_checkpoint_t *v);
WHARF_FN void wharf_get_delegation_checkpoint(wharf_reader *r, wharf_delegation_checkpoint_t *v);
WHARF_FN void wharf_put_agent_delegate_request(wharf_writer *w, const wharf_agent_delegate_request_t *v);
WHARF_FN void wharf_get_agent_delegate_request(wharf_reader *r, wharf_agent_delegate_request_t *v);
WHARF_FN void wharf_put_call_error(wharf_writer *w, const wharf_call_error_t *v);
WHARF_FN void wharf_get_call_error(wharf_reader *r, wharf_call_error_t *v);
WHARF_FN void wharf_put_delegation_artifact(wharf_writer *w, const wharf_delegation_artifact_t *v);
WHARF_FN void wharf_get_delegation_artifact(wharf_reader *r, wharf_delegation_artifact_t *v);
WHARF_FN void wharf_put_delegation_handoff(wharf_writer *w, const wharf_delegation_handoff_t *v);
WHARF_FN void wharf_get_delegation_handoff(wharf_reader *r, wharf_delegation_handoff_t *v);
WHARF_FN void wharf_put_agent_delegate_answer(wharf_writer *w, const wharf_agent_delegate_answer_t *v);
WHARF_FN void wharf_get_agent_delegate_answer(wharf_reader *r, wharf_agent_delegate_answer_t *v);
WHARF_FN void wharf_put_event_emit_request(wharf_writer *w, const wharf_event_emit_request_t *v);
WHARF_FN void wharf_get_event_emit_request(wharf_reader *r, wharf_event_emit_request_t *v);
WHARF_FN void wharf_put_config_get_request(wharf_writer *w, const wharf_config_get_request_t *v);
WHARF_FN void wharf_get_config_get_request(wharf_reader *r, wharf_config_get_request_t *v);
WHARF_FN void wharf_put_config_get_answer(wharf_writer *w, const wharf_config_get_answer_t *v);
WHARF_FN void wharf_get_config_get_answer(wharf_reader *r, wharf_config_get_answer_t *v);
WHARF_FN void wharf_put_host_fact_request(wharf_writer *w, const wharf_host_fact_request_t *v);
WHARF_FN void wharf_get_host_fact_request(wharf_reader *r, wharf_host_fact_request_t *v);
WHARF_FN void wharf_put_host_fact_answer(wharf_writer *w, const wharf_host_fact_answer_t *v);
WHARF_FN void wharf_get_host_fact_answer(wharf_reader *r, wharf_host_fact_answer_t *v);
WHARF_FN void wharf_put_dedupe_policy(wharf_writer *w, const wharf_dedupe_policy_t *v);
WHARF_FN void wharf_get_dedupe_policy(wharf_reader *r, wharf_dedupe_policy_t *v);
WHARF_FN void wharf_put_webhook_auth(wharf_writer *w, const wharf_webhook_auth_t *v);
WHARF_FN void wharf_get_webhook_auth(wharf_reader *r, wharf_webhook_auth_t *v);
WHARF_FN void wharf_put_webhook(wharf_writer *w, const wharf_webhook_t *v);
WHARF_FN void wharf_get_webhook(wharf_reader *r, wharf_webhook_t *v);
WHARF_FN void wharf_put_polling(wharf_writer *w, const wharf_polling_t *v);
WHARF_FN void wharf_get_polling(wharf_reader *r, wharf_polling_t *v);
WHARF_FN void wharf_put_connector_counters(wharf_writer *w, const wharf_connector_counters_t *v);
WHARF_FN void wharf_get_connector_counters(wharf_reader *r, wharf_connector_counters_t *v);
WHARF_FN void wharf_put_connector(wharf_writer *w, const wharf_connector_t *v);
WHARF_FN void wharf_get_connector(wharf_reader *r, wharf_connector_t *v);
WHARF_FN void wharf_put_delivery(wharf_writer *w, const wharf_delivery_t *v);
WHARF_FN void wharf_get_delivery(wharf_reader *r, wharf_delivery_t *v);
WHARF_FN void wharf_put_deliveries_answer(wharf_writer *w, const wharf_deliveries_answer_t *v);
WHARF_FN void wharf_get_deliveries_answer(wharf_reader *r, wharf_deliveries_answer_t *v);
WHARF_FN void wharf_put_connector_task(wharf_writer *w, const wharf_connector_task_t *v);
WHARF_FN void wharf_get_connector_task(wharf_reader *r, wharf_connector_task_t *v);
WHARF_FN void wharf_put_connector_message(wharf_writer *w, const wharf_connector_message_t *v);
WHARF_FN void wharf_get_connector_message(wharf_reader *r, wharf_connector_message_t *v);
WHARF_FN void wharf_put_connector_event(wharf_writer *w, const wharf_connector_event_t *v);
WHARF_FN void wharf_get_connector_event(wharf_reader *r, wharf_connector_event_t *v);
WHARF_FN void wharf_put_normalized_delivery(wharf_writer *w, const wharf_normalized_delivery_t *v);
WHARF_FN void wharf_get_normalized_delivery(wharf_reader *r, wharf_normalized_delivery_t *v);
WHARF_FN void wharf_put_normalized_request(wharf_writer *w, const wharf_normalized_request_t *v);
WHARF_FN void wharf_get_normalized_request(wharf_reader *r, wharf_normalized_request_t *v);
WHARF_FN void wharf_put_polled_delivery(wharf_writer *w, const wharf_polled_delivery_t *v);
WHARF_FN void wharf_get_polled_delivery(wharf_reader *r, wharf_polled_delivery_t *v);
WHARF_FN void wharf_put_deliver_request(wharf_writer *w, const wharf_deliver_request_t *v);
WHARF_FN void wharf_get_deliver_request(wharf_reader *r, wharf_deliver_request_t *v);
WHARF_FN void wharf_put_deliver_answer(wharf_writer *w, const wharf_deliver_answer_t *v);
WHARF_FN void wharf_get_deliver_answer(wharf_reader *r, wharf_deliver_answer_t *v);

WHARF_FN void wharf_put_failure(wharf_writer *w, const wharf_failure_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("code")); wharf_put_text(w, v->code);
	wharf_put_name(w, wharf_str("message")); wharf_put_text(w, v->message);
	if (v->details.data) { wharf_put_name(w, wharf_str("details")); wharf_put_json(w, v->details); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_failure(wharf_reader *r, wharf_failure_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "code")) { v->code = wharf_get_text(r); }
		else if (wharf_is(name, "message")) { v->message = wharf_get_text(r); }
		else if (wharf_is(name, "details")) { v->details = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_budget(wharf_writer *w, const wharf_budget_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->usd) { wharf_put_name(w, wharf_str("usd")); wharf_put_number(w, v->usd); }
	if (v->input_tokens) { wharf_put_name(w, wharf_str("input_tokens")); wharf_put_integer(w, v->input_tokens); }
	if (v->output_tokens) { wharf_put_name(w, wharf_str("output_tokens")); wharf_put_integer(w, v->output_tokens); }
	if (v->tool_calls) { wharf_put_name(w, wharf_str("tool_calls")); wharf_put_integer(w, v->tool_calls); }
	if (v->host_calls) { wharf_put_name(w, wharf_str("host_calls")); wharf_put_integer(w, v->host_calls); }
	if (v->wall_time_ms) { wharf_put_name(w, wharf_str("wall_time_ms")); wharf_put_integer(w, v->wall_time_ms); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_budget(wharf_reader *r, wharf_budget_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "usd")) { v->usd = wharf_get_number(r); }
		else if (wharf_is(name, "input_tokens")) { v->input_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "output_tokens")) { v->output_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "tool_calls")) { v->tool_calls = wharf_get_integer(r); }
		else if (wharf_is(name, "host_calls")) { v->host_calls = wharf_get_integer(r); }
		else if (wharf_is(name, "wall_time_ms")) { v->wall_time_ms = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_run_options(wharf_writer *w, const wharf_run_options_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->skills.count) { wharf_put_name(w, wharf_str("skills")); wharf_put_array(w); for (size_t i = 0; i < v->skills.count; i++) { wharf_put_text(w, v->skills.items[i]); } wharf_end_array(w); }
	if (v->model.len) { wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model); }
	if (v->instructions.len) { wharf_put_name(w, wharf_str("instructions")); wharf_put_text(w, v->instructions); }
	if (v->context.len) { wharf_put_name(w, wharf_str("context")); wharf_put_text(w, v->context); }
	if (v->temperature) { wharf_put_name(w, wharf_str("temperature")); wharf_put_number(w, (*v->temperature)); }
	if (v->max_tokens) { wharf_put_name(w, wharf_str("max_tokens")); wharf_put_integer(w, v->max_tokens); }
	if (v->budget) { wharf_put_name(w, wharf_str("budget")); wharf_put_budget(w, &(*v->budget)); }
	if (v->autonomy_tier.len) { wharf_put_name(w, wharf_str("autonomy_tier")); wharf_put_text(w, v->autonomy_tier); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_run_options(wharf_reader *r, wharf_run_options_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "skills")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->skills.items = items; v->skills.count = n; } }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else if (wharf_is(name, "instructions")) { v->instructions = wharf_get_text(r); }
		else if (wharf_is(name, "context")) { v->context = wharf_get_text(r); }
		else if (wharf_is(name, "temperature")) { if (!wharf_get_null(r)) { double *p = (double *)wharf_alloc(sizeof *p); (*p) = wharf_get_number(r); v->temperature = p; } }
		else if (wharf_is(name, "max_tokens")) { v->max_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "budget")) { if (!wharf_get_null(r)) { wharf_budget_t *p = (wharf_budget_t *)wharf_alloc(sizeof *p); wharf_get_budget(r, &(*p)); v->budget = p; } }
		else if (wharf_is(name, "autonomy_tier")) { v->autonomy_tier = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_client(wharf_writer *w, const wharf_task_client_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->protocol.len) { wharf_put_name(w, wharf_str("protocol")); wharf_put_text(w, v->protocol); }
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	if (v->version.len) { wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version); }
	if (v->capabilities.count) { wharf_put_name(w, wharf_str("capabilities")); wharf_put_array(w); for (size_t i = 0; i < v->capabilities.count; i++) { wharf_put_text(w, v->capabilities.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_client(wharf_reader *r, wharf_task_client_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "protocol")) { v->protocol = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "capabilities")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->capabilities.items = items; v->capabilities.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_inbox_wait(wharf_writer *w, const wharf_inbox_wait_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("session_id")); wharf_put_text(w, v->session_id);
	wharf_put_name(w, wharf_str("checkpoint")); wharf_put_text(w, v->checkpoint);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_inbox_wait(wharf_reader *r, wharf_inbox_wait_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "session_id")) { v->session_id = wharf_get_text(r); }
		else if (wharf_is(name, "checkpoint")) { v->checkpoint = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_use(wharf_writer *w, const wharf_tool_use_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id);
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->kind.len) { wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind); }
	if (v->read_only) { wharf_put_name(w, wharf_str("read_only")); wharf_put_bool(w, v->read_only); }
	if (v->destructive) { wharf_put_name(w, wharf_str("destructive")); wharf_put_bool(w, v->destructive); }
	wharf_put_name(w, wharf_str("executor")); wharf_put_text(w, v->executor);
	wharf_put_name(w, wharf_str("started_at")); wharf_put_text(w, v->started_at);
	if (v->duration_us) { wharf_put_name(w, wharf_str("duration_us")); wharf_put_integer(w, v->duration_us); }
	if (v->execution_us) { wharf_put_name(w, wharf_str("execution_us")); wharf_put_integer(w, v->execution_us); }
	if (v->error_category.len) { wharf_put_name(w, wharf_str("error_category")); wharf_put_text(w, v->error_category); }
	if (v->started_event_id.len) { wharf_put_name(w, wharf_str("started_event_id")); wharf_put_text(w, v->started_event_id); }
	if (v->visibility.len) { wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_use(wharf_reader *r, wharf_tool_use_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "read_only")) { v->read_only = wharf_get_bool(r); }
		else if (wharf_is(name, "destructive")) { v->destructive = wharf_get_bool(r); }
		else if (wharf_is(name, "executor")) { v->executor = wharf_get_text(r); }
		else if (wharf_is(name, "started_at")) { v->started_at = wharf_get_text(r); }
		else if (wharf_is(name, "duration_us")) { v->duration_us = wharf_get_integer(r); }
		else if (wharf_is(name, "execution_us")) { v->execution_us = wharf_get_integer(r); }
		else if (wharf_is(name, "error_category")) { v->error_category = wharf_get_text(r); }
		else if (wharf_is(name, "started_event_id")) { v->started_event_id = wharf_get_text(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_composition_child(wharf_writer *w, const wharf_composition_child_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("composition_id")); wharf_put_text(w, v->composition_id);
	wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id);
	if (v->executor.len) { wharf_put_name(w, wharf_str("executor")); wharf_put_text(w, v->executor); }
	wharf_put_name(w, wharf_str("started_at")); wharf_put_text(w, v->started_at);
	if (v->visibility.len) { wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_composition_child(wharf_reader *r, wharf_composition_child_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "composition_id")) { v->composition_id = wharf_get_text(r); }
		else if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "executor")) { v->executor = wharf_get_text(r); }
		else if (wharf_is(name, "started_at")) { v->started_at = wharf_get_text(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_waiting_question(wharf_writer *w, const wharf_waiting_question_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("key")); wharf_put_text(w, v->key);
	wharf_put_name(w, wharf_str("permission_request_id")); wharf_put_text(w, v->permission_request_id);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_waiting_question(wharf_reader *r, wharf_waiting_question_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "key")) { v->key = wharf_get_text(r); }
		else if (wharf_is(name, "permission_request_id")) { v->permission_request_id = wharf_get_text(r); }
		else if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_waiting(wharf_writer *w, const wharf_waiting_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("call")); wharf_put_text(w, v->call);
	wharf_put_name(w, wharf_str("index")); wharf_put_integer(w, v->index);
	wharf_put_name(w, wharf_str("request_id")); wharf_put_text(w, v->request_id);
	if (v->prompt.len) { wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt); }
	if (v->action.len) { wharf_put_name(w, wharf_str("action")); wharf_put_text(w, v->action); }
	if (v->schema.data) { wharf_put_name(w, wharf_str("schema")); wharf_put_json(w, v->schema); }
	if (v->url.len) { wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url); }
	if (v->task_id.len) { wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id); }
	if (v->inbox) { wharf_put_name(w, wharf_str("inbox")); wharf_put_inbox_wait(w, &(*v->inbox)); }
	if (v->tool) { wharf_put_name(w, wharf_str("tool")); wharf_put_tool_use(w, &(*v->tool)); }
	if (v->until.len) { wharf_put_name(w, wharf_str("until")); wharf_put_text(w, v->until); }
	if (v->composition) { wharf_put_name(w, wharf_str("composition")); wharf_put_composition_child(w, &(*v->composition)); }
	if (v->permission_id.len) { wharf_put_name(w, wharf_str("permission_id")); wharf_put_text(w, v->permission_id); }
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	if (v->quorum) { wharf_put_name(w, wharf_str("quorum")); wharf_put_integer(w, v->quorum); }
	if (v->gate) { wharf_put_name(w, wharf_str("gate")); wharf_put_bool(w, v->gate); }
	if (v->requests.count) { wharf_put_name(w, wharf_str("requests")); wharf_put_array(w); for (size_t i = 0; i < v->requests.count; i++) { wharf_put_waiting_question(w, &v->requests.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_waiting(wharf_reader *r, wharf_waiting_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call")) { v->call = wharf_get_text(r); }
		else if (wharf_is(name, "index")) { v->index = wharf_get_integer(r); }
		else if (wharf_is(name, "request_id")) { v->request_id = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "action")) { v->action = wharf_get_text(r); }
		else if (wharf_is(name, "schema")) { v->schema = wharf_get_json(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else if (wharf_is(name, "inbox")) { if (!wharf_get_null(r)) { wharf_inbox_wait_t *p = (wharf_inbox_wait_t *)wharf_alloc(sizeof *p); wharf_get_inbox_wait(r, &(*p)); v->inbox = p; } }
		else if (wharf_is(name, "tool")) { if (!wharf_get_null(r)) { wharf_tool_use_t *p = (wharf_tool_use_t *)wharf_alloc(sizeof *p); wharf_get_tool_use(r, &(*p)); v->tool = p; } }
		else if (wharf_is(name, "until")) { v->until = wharf_get_text(r); }
		else if (wharf_is(name, "composition")) { if (!wharf_get_null(r)) { wharf_composition_child_t *p = (wharf_composition_child_t *)wharf_alloc(sizeof *p); wharf_get_composition_child(r, &(*p)); v->composition = p; } }
		else if (wharf_is(name, "permission_id")) { v->permission_id = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "quorum")) { v->quorum = wharf_get_integer(r); }
		else if (wharf_is(name, "gate")) { v->gate = wharf_get_bool(r); }
		else if (wharf_is(name, "requests")) { if (!wharf_get_null(r)) { wharf_waiting_question_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_waiting_question_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_waiting_question(r, &items[n]); } v->requests.items = items; v->requests.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_replay(wharf_writer *w, const wharf_task_replay_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("source_task_id")); wharf_put_text(w, v->source_task_id);
	wharf_put_name(w, wharf_str("mode")); wharf_put_text(w, v->mode);
	wharf_put_name(w, wharf_str("replay_id")); wharf_put_text(w, v->replay_id);
	wharf_put_name(w, wharf_str("request_sha256")); wharf_put_text(w, v->request_sha256);
	if (v->checkpoint) { wharf_put_name(w, wharf_str("checkpoint")); wharf_put_integer(w, v->checkpoint); }
	if (v->session_run.len) { wharf_put_name(w, wharf_str("session_run")); wharf_put_text(w, v->session_run); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_replay(wharf_reader *r, wharf_task_replay_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "source_task_id")) { v->source_task_id = wharf_get_text(r); }
		else if (wharf_is(name, "mode")) { v->mode = wharf_get_text(r); }
		else if (wharf_is(name, "replay_id")) { v->replay_id = wharf_get_text(r); }
		else if (wharf_is(name, "request_sha256")) { v->request_sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "checkpoint")) { v->checkpoint = wharf_get_integer(r); }
		else if (wharf_is(name, "session_run")) { v->session_run = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_fork(wharf_writer *w, const wharf_task_fork_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("source_task_id")); wharf_put_text(w, v->source_task_id);
	if (v->at_event_id.len) { wharf_put_name(w, wharf_str("at_event_id")); wharf_put_text(w, v->at_event_id); }
	wharf_put_name(w, wharf_str("calls")); wharf_put_integer(w, v->calls);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_fork(wharf_reader *r, wharf_task_fork_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "source_task_id")) { v->source_task_id = wharf_get_text(r); }
		else if (wharf_is(name, "at_event_id")) { v->at_event_id = wharf_get_text(r); }
		else if (wharf_is(name, "calls")) { v->calls = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task(wharf_writer *w, const wharf_task_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	wharf_put_name(w, wharf_str("session_id")); wharf_put_text(w, v->session_id);
	wharf_put_name(w, wharf_str("workspace_id")); wharf_put_text(w, v->workspace_id);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	if (v->input.data) { wharf_put_name(w, wharf_str("input")); wharf_put_json(w, v->input); }
	wharf_put_name(w, wharf_str("created_by")); wharf_put_text(w, v->created_by);
	if (v->persona_id.len) { wharf_put_name(w, wharf_str("persona_id")); wharf_put_text(w, v->persona_id); }
	if (v->branch_id.len) { wharf_put_name(w, wharf_str("branch_id")); wharf_put_text(w, v->branch_id); }
	if (v->parent_task_id.len) { wharf_put_name(w, wharf_str("parent_task_id")); wharf_put_text(w, v->parent_task_id); }
	if (v->receipt_id.len) { wharf_put_name(w, wharf_str("receipt_id")); wharf_put_text(w, v->receipt_id); }
	if (v->outcome_id.len) { wharf_put_name(w, wharf_str("outcome_id")); wharf_put_text(w, v->outcome_id); }
	if (v->started_at.len) { wharf_put_name(w, wharf_str("started_at")); wharf_put_text(w, v->started_at); }
	if (v->completed_at.len) { wharf_put_name(w, wharf_str("completed_at")); wharf_put_text(w, v->completed_at); }
	if (v->canceled_at.len) { wharf_put_name(w, wharf_str("canceled_at")); wharf_put_text(w, v->canceled_at); }
	if (v->failure) { wharf_put_name(w, wharf_str("failure")); wharf_put_failure(w, &(*v->failure)); }
	if (v->input_message_id.len) { wharf_put_name(w, wharf_str("input_message_id")); wharf_put_text(w, v->input_message_id); }
	if (v->deadline_at.len) { wharf_put_name(w, wharf_str("deadline_at")); wharf_put_text(w, v->deadline_at); }
	if (v->run) { wharf_put_name(w, wharf_str("run")); wharf_put_run_options(w, &(*v->run)); }
	if (v->client) { wharf_put_name(w, wharf_str("client")); wharf_put_task_client(w, &(*v->client)); }
	if (v->attempt) { wharf_put_name(w, wharf_str("attempt")); wharf_put_integer(w, v->attempt); }
	if (v->module.len) { wharf_put_name(w, wharf_str("module")); wharf_put_text(w, v->module); }
	if (v->waiting) { wharf_put_name(w, wharf_str("waiting")); wharf_put_waiting(w, &(*v->waiting)); }
	if (v->replay) { wharf_put_name(w, wharf_str("replay")); wharf_put_task_replay(w, &(*v->replay)); }
	if (v->fork) { wharf_put_name(w, wharf_str("fork")); wharf_put_task_fork(w, &(*v->fork)); }
	if (v->persona_version.len) { wharf_put_name(w, wharf_str("persona_version")); wharf_put_text(w, v->persona_version); }
	if (v->quota_id.len) { wharf_put_name(w, wharf_str("quota_id")); wharf_put_text(w, v->quota_id); }
	if (v->connector_id.len) { wharf_put_name(w, wharf_str("connector_id")); wharf_put_text(w, v->connector_id); }
	if (v->delivery_id.len) { wharf_put_name(w, wharf_str("delivery_id")); wharf_put_text(w, v->delivery_id); }
	if (v->order_key.len) { wharf_put_name(w, wharf_str("order_key")); wharf_put_text(w, v->order_key); }
	if (v->deleted_at.len) { wharf_put_name(w, wharf_str("deleted_at")); wharf_put_text(w, v->deleted_at); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task(wharf_reader *r, wharf_task_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "session_id")) { v->session_id = wharf_get_text(r); }
		else if (wharf_is(name, "workspace_id")) { v->workspace_id = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "input")) { v->input = wharf_get_json(r); }
		else if (wharf_is(name, "created_by")) { v->created_by = wharf_get_text(r); }
		else if (wharf_is(name, "persona_id")) { v->persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "branch_id")) { v->branch_id = wharf_get_text(r); }
		else if (wharf_is(name, "parent_task_id")) { v->parent_task_id = wharf_get_text(r); }
		else if (wharf_is(name, "receipt_id")) { v->receipt_id = wharf_get_text(r); }
		else if (wharf_is(name, "outcome_id")) { v->outcome_id = wharf_get_text(r); }
		else if (wharf_is(name, "started_at")) { v->started_at = wharf_get_text(r); }
		else if (wharf_is(name, "completed_at")) { v->completed_at = wharf_get_text(r); }
		else if (wharf_is(name, "canceled_at")) { v->canceled_at = wharf_get_text(r); }
		else if (wharf_is(name, "failure")) { if (!wharf_get_null(r)) { wharf_failure_t *p = (wharf_failure_t *)wharf_alloc(sizeof *p); wharf_get_failure(r, &(*p)); v->failure = p; } }
		else if (wharf_is(name, "input_message_id")) { v->input_message_id = wharf_get_text(r); }
		else if (wharf_is(name, "deadline_at")) { v->deadline_at = wharf_get_text(r); }
		else if (wharf_is(name, "run")) { if (!wharf_get_null(r)) { wharf_run_options_t *p = (wharf_run_options_t *)wharf_alloc(sizeof *p); wharf_get_run_options(r, &(*p)); v->run = p; } }
		else if (wharf_is(name, "client")) { if (!wharf_get_null(r)) { wharf_task_client_t *p = (wharf_task_client_t *)wharf_alloc(sizeof *p); wharf_get_task_client(r, &(*p)); v->client = p; } }
		else if (wharf_is(name, "attempt")) { v->attempt = wharf_get_integer(r); }
		else if (wharf_is(name, "module")) { v->module = wharf_get_text(r); }
		else if (wharf_is(name, "waiting")) { if (!wharf_get_null(r)) { wharf_waiting_t *p = (wharf_waiting_t *)wharf_alloc(sizeof *p); wharf_get_waiting(r, &(*p)); v->waiting = p; } }
		else if (wharf_is(name, "replay")) { if (!wharf_get_null(r)) { wharf_task_replay_t *p = (wharf_task_replay_t *)wharf_alloc(sizeof *p); wharf_get_task_replay(r, &(*p)); v->replay = p; } }
		else if (wharf_is(name, "fork")) { if (!wharf_get_null(r)) { wharf_task_fork_t *p = (wharf_task_fork_t *)wharf_alloc(sizeof *p); wharf_get_task_fork(r, &(*p)); v->fork = p; } }
		else if (wharf_is(name, "persona_version")) { v->persona_version = wharf_get_text(r); }
		else if (wharf_is(name, "quota_id")) { v->quota_id = wharf_get_text(r); }
		else if (wharf_is(name, "connector_id")) { v->connector_id = wharf_get_text(r); }
		else if (wharf_is(name, "delivery_id")) { v->delivery_id = wharf_get_text(r); }
		else if (wharf_is(name, "order_key")) { v->order_key = wharf_get_text(r); }
		else if (wharf_is(name, "deleted_at")) { v->deleted_at = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_policy(wharf_writer *w, const wharf_model_policy_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->models.count) { wharf_put_name(w, wharf_str("models")); wharf_put_array(w); for (size_t i = 0; i < v->models.count; i++) { wharf_put_text(w, v->models.items[i]); } wharf_end_array(w); }
	if (v->providers.count) { wharf_put_name(w, wharf_str("providers")); wharf_put_array(w); for (size_t i = 0; i < v->providers.count; i++) { wharf_put_text(w, v->providers.items[i]); } wharf_end_array(w); }
	if (v->max_tokens) { wharf_put_name(w, wharf_str("max_tokens")); wharf_put_integer(w, v->max_tokens); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_policy(wharf_reader *r, wharf_model_policy_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "models")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->models.items = items; v->models.count = n; } }
		else if (wharf_is(name, "providers")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->providers.items = items; v->providers.count = n; } }
		else if (wharf_is(name, "max_tokens")) { v->max_tokens = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_approval_policy(wharf_writer *w, const wharf_approval_policy_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->quorum) { wharf_put_name(w, wharf_str("quorum")); wharf_put_integer(w, v->quorum); }
	if (v->approvers.count) { wharf_put_name(w, wharf_str("approvers")); wharf_put_array(w); for (size_t i = 0; i < v->approvers.count; i++) { wharf_put_text(w, v->approvers.items[i]); } wharf_end_array(w); }
	if (v->self_approval) { wharf_put_name(w, wharf_str("self_approval")); wharf_put_bool(w, v->self_approval); }
	if (v->timeout_seconds) { wharf_put_name(w, wharf_str("timeout_seconds")); wharf_put_number(w, v->timeout_seconds); }
	if (v->without.count) { wharf_put_name(w, wharf_str("without")); wharf_put_array(w); for (size_t i = 0; i < v->without.count; i++) { wharf_put_text(w, v->without.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_approval_policy(wharf_reader *r, wharf_approval_policy_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "quorum")) { v->quorum = wharf_get_integer(r); }
		else if (wharf_is(name, "approvers")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->approvers.items = items; v->approvers.count = n; } }
		else if (wharf_is(name, "self_approval")) { v->self_approval = wharf_get_bool(r); }
		else if (wharf_is(name, "timeout_seconds")) { v->timeout_seconds = wharf_get_number(r); }
		else if (wharf_is(name, "without")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->without.items = items; v->without.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_skill(wharf_writer *w, const wharf_agent_skill_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->version.len) { wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version); }
	if (v->digest.len) { wharf_put_name(w, wharf_str("digest")); wharf_put_text(w, v->digest); }
	if (v->required) { wharf_put_name(w, wharf_str("required")); wharf_put_bool(w, v->required); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_skill(wharf_reader *r, wharf_agent_skill_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "digest")) { v->digest = wharf_get_text(r); }
		else if (wharf_is(name, "required")) { v->required = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_server(wharf_writer *w, const wharf_agent_server_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->tools.count) { wharf_put_name(w, wharf_str("tools")); wharf_put_array(w); for (size_t i = 0; i < v->tools.count; i++) { wharf_put_text(w, v->tools.items[i]); } wharf_end_array(w); }
	if (v->required) { wharf_put_name(w, wharf_str("required")); wharf_put_bool(w, v->required); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_server(wharf_reader *r, wharf_agent_server_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "tools")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tools.items = items; v->tools.count = n; } }
		else if (wharf_is(name, "required")) { v->required = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_model(wharf_writer *w, const wharf_agent_model_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->provider.len) { wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider); }
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->embedding.len) { wharf_put_name(w, wharf_str("embedding")); wharf_put_text(w, v->embedding); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_model(wharf_reader *r, wharf_agent_model_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "embedding")) { v->embedding = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_tools(wharf_writer *w, const wharf_agent_tools_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->allow.count) { wharf_put_name(w, wharf_str("allow")); wharf_put_array(w); for (size_t i = 0; i < v->allow.count; i++) { wharf_put_text(w, v->allow.items[i]); } wharf_end_array(w); }
	if (v->deny.count) { wharf_put_name(w, wharf_str("deny")); wharf_put_array(w); for (size_t i = 0; i < v->deny.count; i++) { wharf_put_text(w, v->deny.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_tools(wharf_reader *r, wharf_agent_tools_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "allow")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->allow.items = items; v->allow.count = n; } }
		else if (wharf_is(name, "deny")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->deny.items = items; v->deny.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_bundle(wharf_writer *w, const wharf_agent_bundle_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("manifest")); wharf_put_text(w, v->manifest);
	if (v->files.len) { wharf_put_name(w, wharf_str("files")); wharf_put_text(w, v->files); }
	if (v->count) { wharf_put_name(w, wharf_str("count")); wharf_put_integer(w, v->count); }
	if (v->bytes) { wharf_put_name(w, wharf_str("bytes")); wharf_put_integer(w, v->bytes); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_bundle(wharf_reader *r, wharf_agent_bundle_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "manifest")) { v->manifest = wharf_get_text(r); }
		else if (wharf_is(name, "files")) { v->files = wharf_get_text(r); }
		else if (wharf_is(name, "count")) { v->count = wharf_get_integer(r); }
		else if (wharf_is(name, "bytes")) { v->bytes = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent(wharf_writer *w, const wharf_agent_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->instructions.len) { wharf_put_name(w, wharf_str("instructions")); wharf_put_text(w, v->instructions); }
	if (v->model.len) { wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model); }
	if (v->temperature) { wharf_put_name(w, wharf_str("temperature")); wharf_put_number(w, (*v->temperature)); }
	if (v->max_tokens) { wharf_put_name(w, wharf_str("max_tokens")); wharf_put_integer(w, v->max_tokens); }
	if (v->skills.count) { wharf_put_name(w, wharf_str("skills")); wharf_put_array(w); for (size_t i = 0; i < v->skills.count; i++) { wharf_put_agent_skill(w, &v->skills.items[i]); } wharf_end_array(w); }
	if (v->mcp_servers.count) { wharf_put_name(w, wharf_str("mcp_servers")); wharf_put_array(w); for (size_t i = 0; i < v->mcp_servers.count; i++) { wharf_put_agent_server(w, &v->mcp_servers.items[i]); } wharf_end_array(w); }
	if (v->parent_id.len) { wharf_put_name(w, wharf_str("parent_id")); wharf_put_text(w, v->parent_id); }
	if (v->role.len) { wharf_put_name(w, wharf_str("role")); wharf_put_text(w, v->role); }
	if (v->vendor_key.len) { wharf_put_name(w, wharf_str("vendor_key")); wharf_put_text(w, v->vendor_key); }
	if (v->agent_key.len) { wharf_put_name(w, wharf_str("agent_key")); wharf_put_text(w, v->agent_key); }
	if (v->slug.len) { wharf_put_name(w, wharf_str("slug")); wharf_put_text(w, v->slug); }
	if (v->version.len) { wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version); }
	if (v->author.len) { wharf_put_name(w, wharf_str("author")); wharf_put_text(w, v->author); }
	if (v->license.len) { wharf_put_name(w, wharf_str("license")); wharf_put_text(w, v->license); }
	if (v->tags.count) { wharf_put_name(w, wharf_str("tags")); wharf_put_array(w); for (size_t i = 0; i < v->tags.count; i++) { wharf_put_text(w, v->tags.items[i]); } wharf_end_array(w); }
	if (v->model_named) { wharf_put_name(w, wharf_str("model_named")); wharf_put_agent_model(w, &(*v->model_named)); }
	if (v->tools_named) { wharf_put_name(w, wharf_str("tools_named")); wharf_put_agent_tools(w, &(*v->tools_named)); }
	if (v->bundle) { wharf_put_name(w, wharf_str("bundle")); wharf_put_agent_bundle(w, &(*v->bundle)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent(wharf_reader *r, wharf_agent_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "instructions")) { v->instructions = wharf_get_text(r); }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else if (wharf_is(name, "temperature")) { if (!wharf_get_null(r)) { double *p = (double *)wharf_alloc(sizeof *p); (*p) = wharf_get_number(r); v->temperature = p; } }
		else if (wharf_is(name, "max_tokens")) { v->max_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "skills")) { if (!wharf_get_null(r)) { wharf_agent_skill_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_agent_skill_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_agent_skill(r, &items[n]); } v->skills.items = items; v->skills.count = n; } }
		else if (wharf_is(name, "mcp_servers")) { if (!wharf_get_null(r)) { wharf_agent_server_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_agent_server_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_agent_server(r, &items[n]); } v->mcp_servers.items = items; v->mcp_servers.count = n; } }
		else if (wharf_is(name, "parent_id")) { v->parent_id = wharf_get_text(r); }
		else if (wharf_is(name, "role")) { v->role = wharf_get_text(r); }
		else if (wharf_is(name, "vendor_key")) { v->vendor_key = wharf_get_text(r); }
		else if (wharf_is(name, "agent_key")) { v->agent_key = wharf_get_text(r); }
		else if (wharf_is(name, "slug")) { v->slug = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "author")) { v->author = wharf_get_text(r); }
		else if (wharf_is(name, "license")) { v->license = wharf_get_text(r); }
		else if (wharf_is(name, "tags")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tags.items = items; v->tags.count = n; } }
		else if (wharf_is(name, "model_named")) { if (!wharf_get_null(r)) { wharf_agent_model_t *p = (wharf_agent_model_t *)wharf_alloc(sizeof *p); wharf_get_agent_model(r, &(*p)); v->model_named = p; } }
		else if (wharf_is(name, "tools_named")) { if (!wharf_get_null(r)) { wharf_agent_tools_t *p = (wharf_agent_tools_t *)wharf_alloc(sizeof *p); wharf_get_agent_tools(r, &(*p)); v->tools_named = p; } }
		else if (wharf_is(name, "bundle")) { if (!wharf_get_null(r)) { wharf_agent_bundle_t *p = (wharf_agent_bundle_t *)wharf_alloc(sizeof *p); wharf_get_agent_bundle(r, &(*p)); v->bundle = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_rights(wharf_writer *w, const wharf_rights_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("persona_id")); wharf_put_text(w, v->persona_id);
	if (v->tools.count) { wharf_put_name(w, wharf_str("tools")); wharf_put_array(w); for (size_t i = 0; i < v->tools.count; i++) { wharf_put_text(w, v->tools.items[i]); } wharf_end_array(w); }
	if (v->tools_denied.count) { wharf_put_name(w, wharf_str("tools_denied")); wharf_put_array(w); for (size_t i = 0; i < v->tools_denied.count; i++) { wharf_put_text(w, v->tools_denied.items[i]); } wharf_end_array(w); }
	if (v->capabilities.count) { wharf_put_name(w, wharf_str("capabilities")); wharf_put_array(w); for (size_t i = 0; i < v->capabilities.count; i++) { wharf_put_text(w, v->capabilities.items[i]); } wharf_end_array(w); }
	if (v->handoffs.count) { wharf_put_name(w, wharf_str("handoffs")); wharf_put_array(w); for (size_t i = 0; i < v->handoffs.count; i++) { wharf_put_text(w, v->handoffs.items[i]); } wharf_end_array(w); }
	if (v->model_policy) { wharf_put_name(w, wharf_str("model_policy")); wharf_put_model_policy(w, &(*v->model_policy)); }
	if (v->mcp_servers.count) { wharf_put_name(w, wharf_str("mcp_servers")); wharf_put_array(w); for (size_t i = 0; i < v->mcp_servers.count; i++) { wharf_put_agent_server(w, &v->mcp_servers.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_rights(wharf_reader *r, wharf_rights_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "persona_id")) { v->persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "tools")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tools.items = items; v->tools.count = n; } }
		else if (wharf_is(name, "tools_denied")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tools_denied.items = items; v->tools_denied.count = n; } }
		else if (wharf_is(name, "capabilities")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->capabilities.items = items; v->capabilities.count = n; } }
		else if (wharf_is(name, "handoffs")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->handoffs.items = items; v->handoffs.count = n; } }
		else if (wharf_is(name, "model_policy")) { if (!wharf_get_null(r)) { wharf_model_policy_t *p = (wharf_model_policy_t *)wharf_alloc(sizeof *p); wharf_get_model_policy(r, &(*p)); v->model_policy = p; } }
		else if (wharf_is(name, "mcp_servers")) { if (!wharf_get_null(r)) { wharf_agent_server_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_agent_server_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_agent_server(r, &items[n]); } v->mcp_servers.items = items; v->mcp_servers.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_persona(wharf_writer *w, const wharf_persona_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version);
	wharf_put_name(w, wharf_str("entry_workflow")); wharf_put_text(w, v->entry_workflow);
	wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description);
	wharf_put_name(w, wharf_str("autonomy_tier")); wharf_put_text(w, v->autonomy_tier);
	wharf_put_name(w, wharf_str("receipt_policy")); wharf_put_text(w, v->receipt_policy);
	wharf_put_name(w, wharf_str("tools")); wharf_put_array(w); for (size_t i = 0; i < v->tools.count; i++) { wharf_put_text(w, v->tools.items[i]); } wharf_end_array(w);
	wharf_put_name(w, wharf_str("capabilities")); wharf_put_array(w); for (size_t i = 0; i < v->capabilities.count; i++) { wharf_put_text(w, v->capabilities.items[i]); } wharf_end_array(w);
	if (v->tools_denied.count) { wharf_put_name(w, wharf_str("tools_denied")); wharf_put_array(w); for (size_t i = 0; i < v->tools_denied.count; i++) { wharf_put_text(w, v->tools_denied.items[i]); } wharf_end_array(w); }
	if (v->handoffs.count) { wharf_put_name(w, wharf_str("handoffs")); wharf_put_array(w); for (size_t i = 0; i < v->handoffs.count; i++) { wharf_put_text(w, v->handoffs.items[i]); } wharf_end_array(w); }
	if (v->triggers.count) { wharf_put_name(w, wharf_str("triggers")); wharf_put_array(w); for (size_t i = 0; i < v->triggers.count; i++) { wharf_put_json(w, v->triggers.items[i]); } wharf_end_array(w); }
	if (v->schedules.count) { wharf_put_name(w, wharf_str("schedules")); wharf_put_array(w); for (size_t i = 0; i < v->schedules.count; i++) { wharf_put_json(w, v->schedules.items[i]); } wharf_end_array(w); }
	if (v->context_packs.count) { wharf_put_name(w, wharf_str("context_packs")); wharf_put_array(w); for (size_t i = 0; i < v->context_packs.count; i++) { wharf_put_text(w, v->context_packs.items[i]); } wharf_end_array(w); }
	if (v->evals.count) { wharf_put_name(w, wharf_str("evals")); wharf_put_array(w); for (size_t i = 0; i < v->evals.count; i++) { wharf_put_text(w, v->evals.items[i]); } wharf_end_array(w); }
	if (v->owner.len) { wharf_put_name(w, wharf_str("owner")); wharf_put_text(w, v->owner); }
	if (v->model_policy) { wharf_put_name(w, wharf_str("model_policy")); wharf_put_model_policy(w, &(*v->model_policy)); }
	if (v->rollout_policy.data) { wharf_put_name(w, wharf_str("rollout_policy")); wharf_put_json(w, v->rollout_policy); }
	if (v->quota_id.len) { wharf_put_name(w, wharf_str("quota_id")); wharf_put_text(w, v->quota_id); }
	if (v->budget) { wharf_put_name(w, wharf_str("budget")); wharf_put_budget(w, &(*v->budget)); }
	if (v->approvals) { wharf_put_name(w, wharf_str("approvals")); wharf_put_approval_policy(w, &(*v->approvals)); }
	if (v->tools_visibility.len) { wharf_put_name(w, wharf_str("tools_visibility")); wharf_put_text(w, v->tools_visibility); }
	if (v->retired_at.len) { wharf_put_name(w, wharf_str("retired_at")); wharf_put_text(w, v->retired_at); }
	if (v->workspace_id.len) { wharf_put_name(w, wharf_str("workspace_id")); wharf_put_text(w, v->workspace_id); }
	if (v->agent) { wharf_put_name(w, wharf_str("agent")); wharf_put_agent(w, &(*v->agent)); }
	if (v->deleted_at.len) { wharf_put_name(w, wharf_str("deleted_at")); wharf_put_text(w, v->deleted_at); }
	if (v->within.count) { wharf_put_name(w, wharf_str("within")); wharf_put_array(w); for (size_t i = 0; i < v->within.count; i++) { wharf_put_rights(w, &v->within.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_persona(wharf_reader *r, wharf_persona_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "entry_workflow")) { v->entry_workflow = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "autonomy_tier")) { v->autonomy_tier = wharf_get_text(r); }
		else if (wharf_is(name, "receipt_policy")) { v->receipt_policy = wharf_get_text(r); }
		else if (wharf_is(name, "tools")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tools.items = items; v->tools.count = n; } }
		else if (wharf_is(name, "capabilities")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->capabilities.items = items; v->capabilities.count = n; } }
		else if (wharf_is(name, "tools_denied")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tools_denied.items = items; v->tools_denied.count = n; } }
		else if (wharf_is(name, "handoffs")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->handoffs.items = items; v->handoffs.count = n; } }
		else if (wharf_is(name, "triggers")) { if (!wharf_get_null(r)) { wharf_json *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_json *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_json(r); } v->triggers.items = items; v->triggers.count = n; } }
		else if (wharf_is(name, "schedules")) { if (!wharf_get_null(r)) { wharf_json *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_json *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_json(r); } v->schedules.items = items; v->schedules.count = n; } }
		else if (wharf_is(name, "context_packs")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->context_packs.items = items; v->context_packs.count = n; } }
		else if (wharf_is(name, "evals")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->evals.items = items; v->evals.count = n; } }
		else if (wharf_is(name, "owner")) { v->owner = wharf_get_text(r); }
		else if (wharf_is(name, "model_policy")) { if (!wharf_get_null(r)) { wharf_model_policy_t *p = (wharf_model_policy_t *)wharf_alloc(sizeof *p); wharf_get_model_policy(r, &(*p)); v->model_policy = p; } }
		else if (wharf_is(name, "rollout_policy")) { v->rollout_policy = wharf_get_json(r); }
		else if (wharf_is(name, "quota_id")) { v->quota_id = wharf_get_text(r); }
		else if (wharf_is(name, "budget")) { if (!wharf_get_null(r)) { wharf_budget_t *p = (wharf_budget_t *)wharf_alloc(sizeof *p); wharf_get_budget(r, &(*p)); v->budget = p; } }
		else if (wharf_is(name, "approvals")) { if (!wharf_get_null(r)) { wharf_approval_policy_t *p = (wharf_approval_policy_t *)wharf_alloc(sizeof *p); wharf_get_approval_policy(r, &(*p)); v->approvals = p; } }
		else if (wharf_is(name, "tools_visibility")) { v->tools_visibility = wharf_get_text(r); }
		else if (wharf_is(name, "retired_at")) { v->retired_at = wharf_get_text(r); }
		else if (wharf_is(name, "workspace_id")) { v->workspace_id = wharf_get_text(r); }
		else if (wharf_is(name, "agent")) { if (!wharf_get_null(r)) { wharf_agent_t *p = (wharf_agent_t *)wharf_alloc(sizeof *p); wharf_get_agent(r, &(*p)); v->agent = p; } }
		else if (wharf_is(name, "deleted_at")) { v->deleted_at = wharf_get_text(r); }
		else if (wharf_is(name, "within")) { if (!wharf_get_null(r)) { wharf_rights_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_rights_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_rights(r, &items[n]); } v->within.items = items; v->within.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_input_skill(wharf_writer *w, const wharf_input_skill_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description);
	wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version);
	if (v->when_to_use.len) { wharf_put_name(w, wharf_str("when_to_use")); wharf_put_text(w, v->when_to_use); }
	if (v->paths.count) { wharf_put_name(w, wharf_str("paths")); wharf_put_array(w); for (size_t i = 0; i < v->paths.count; i++) { wharf_put_text(w, v->paths.items[i]); } wharf_end_array(w); }
	if (v->allowed_tools.count) { wharf_put_name(w, wharf_str("allowed_tools")); wharf_put_array(w); for (size_t i = 0; i < v->allowed_tools.count; i++) { wharf_put_text(w, v->allowed_tools.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_input_skill(wharf_reader *r, wharf_input_skill_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "when_to_use")) { v->when_to_use = wharf_get_text(r); }
		else if (wharf_is(name, "paths")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->paths.items = items; v->paths.count = n; } }
		else if (wharf_is(name, "allowed_tools")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->allowed_tools.items = items; v->allowed_tools.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_input_answer(wharf_writer *w, const wharf_input_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("task")); wharf_put_task(w, &v->task);
	wharf_put_name(w, wharf_str("persona")); wharf_put_persona(w, &v->persona);
	wharf_put_name(w, wharf_str("session_id")); wharf_put_text(w, v->session_id);
	if (v->skills.count) { wharf_put_name(w, wharf_str("skills")); wharf_put_array(w); for (size_t i = 0; i < v->skills.count; i++) { wharf_put_input_skill(w, &v->skills.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_input_answer(wharf_reader *r, wharf_input_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "task")) { wharf_get_task(r, &v->task); }
		else if (wharf_is(name, "persona")) { wharf_get_persona(r, &v->persona); }
		else if (wharf_is(name, "session_id")) { v->session_id = wharf_get_text(r); }
		else if (wharf_is(name, "skills")) { if (!wharf_get_null(r)) { wharf_input_skill_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_input_skill_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_input_skill(r, &items[n]); } v->skills.items = items; v->skills.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_output_request(wharf_writer *w, const wharf_output_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("summary")); wharf_put_text(w, v->summary);
	if (v->metrics.count) { wharf_put_name(w, wharf_str("metrics")); wharf_put_object(w); for (size_t i = 0; i < v->metrics.count; i++) { wharf_put_name(w, v->metrics.items[i].name); wharf_put_number(w, v->metrics.items[i].value); } wharf_end_object(w); }
	if (v->failure) { wharf_put_name(w, wharf_str("failure")); wharf_put_failure(w, &(*v->failure)); }
	if (v->stopped) { wharf_put_name(w, wharf_str("stopped")); wharf_put_bool(w, v->stopped); }
	if (v->handoff.data) { wharf_put_name(w, wharf_str("handoff")); wharf_put_json(w, v->handoff); }
	if (v->stop_reason.len) { wharf_put_name(w, wharf_str("stop_reason")); wharf_put_text(w, v->stop_reason); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_output_request(wharf_reader *r, wharf_output_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "summary")) { v->summary = wharf_get_text(r); }
		else if (wharf_is(name, "metrics")) { if (!wharf_get_null(r)) { wharf_metric *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_metric *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_number(r); } v->metrics.items = items; v->metrics.count = n; } }
		else if (wharf_is(name, "failure")) { if (!wharf_get_null(r)) { wharf_failure_t *p = (wharf_failure_t *)wharf_alloc(sizeof *p); wharf_get_failure(r, &(*p)); v->failure = p; } }
		else if (wharf_is(name, "stopped")) { v->stopped = wharf_get_bool(r); }
		else if (wharf_is(name, "handoff")) { v->handoff = wharf_get_json(r); }
		else if (wharf_is(name, "stop_reason")) { v->stop_reason = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_label(wharf_writer *w, const wharf_label_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_label(wharf_reader *r, wharf_label_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_clock_answer(wharf_writer *w, const wharf_clock_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("unix_nano")); wharf_put_text(w, v->unix_nano);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_clock_answer(wharf_reader *r, wharf_clock_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "unix_nano")) { v->unix_nano = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_id_answer(wharf_writer *w, const wharf_id_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_id_answer(wharf_reader *r, wharf_id_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_log_request(wharf_writer *w, const wharf_log_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("level")); wharf_put_text(w, v->level);
	wharf_put_name(w, wharf_str("message")); wharf_put_text(w, v->message);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_log_request(wharf_reader *r, wharf_log_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "level")) { v->level = wharf_get_text(r); }
		else if (wharf_is(name, "message")) { v->message = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_progress_request(wharf_writer *w, const wharf_progress_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("fraction")); wharf_put_number(w, v->fraction);
	if (v->message.len) { wharf_put_name(w, wharf_str("message")); wharf_put_text(w, v->message); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_progress_request(wharf_reader *r, wharf_progress_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "fraction")) { v->fraction = wharf_get_number(r); }
		else if (wharf_is(name, "message")) { v->message = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_plan_step(wharf_writer *w, const wharf_plan_step_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("title")); wharf_put_text(w, v->title);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_plan_step(wharf_reader *r, wharf_plan_step_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "title")) { v->title = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_plan_request(wharf_writer *w, const wharf_plan_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("steps")); wharf_put_array(w); for (size_t i = 0; i < v->steps.count; i++) { wharf_put_plan_step(w, &v->steps.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_plan_request(wharf_reader *r, wharf_plan_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "steps")) { if (!wharf_get_null(r)) { wharf_plan_step_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_plan_step_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_plan_step(r, &items[n]); } v->steps.items = items; v->steps.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_event_request(wharf_writer *w, const wharf_agent_event_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	wharf_put_name(w, wharf_str("data")); wharf_put_json(w, v->data);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_event_request(wharf_reader *r, wharf_agent_event_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "data")) { v->data = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_planned_step(wharf_writer *w, const wharf_planned_step_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->id.len) { wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id); }
	wharf_put_name(w, wharf_str("content")); wharf_put_text(w, v->content);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_planned_step(wharf_reader *r, wharf_planned_step_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "content")) { v->content = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_plan_set_request(wharf_writer *w, const wharf_plan_set_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("steps")); wharf_put_array(w); for (size_t i = 0; i < v->steps.count; i++) { wharf_put_planned_step(w, &v->steps.items[i]); } wharf_end_array(w);
	if (v->version) { wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, (*v->version)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_plan_set_request(wharf_reader *r, wharf_plan_set_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "steps")) { if (!wharf_get_null(r)) { wharf_planned_step_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_planned_step_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_planned_step(r, &items[n]); } v->steps.items = items; v->steps.count = n; } }
		else if (wharf_is(name, "version")) { if (!wharf_get_null(r)) { int64_t *p = (int64_t *)wharf_alloc(sizeof *p); (*p) = wharf_get_integer(r); v->version = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_plan_answer(wharf_writer *w, const wharf_plan_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, v->version);
	if (v->changed_by.len) { wharf_put_name(w, wharf_str("changed_by")); wharf_put_text(w, v->changed_by); }
	wharf_put_name(w, wharf_str("steps")); wharf_put_array(w); for (size_t i = 0; i < v->steps.count; i++) { wharf_put_planned_step(w, &v->steps.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_plan_answer(wharf_reader *r, wharf_plan_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "version")) { v->version = wharf_get_integer(r); }
		else if (wharf_is(name, "changed_by")) { v->changed_by = wharf_get_text(r); }
		else if (wharf_is(name, "steps")) { if (!wharf_get_null(r)) { wharf_planned_step_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_planned_step_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_planned_step(r, &items[n]); } v->steps.items = items; v->steps.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_plan_get_request(wharf_writer *w, const wharf_plan_get_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_plan_get_request(wharf_reader *r, wharf_plan_get_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_inbox_take_request(wharf_writer *w, const wharf_inbox_take_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("checkpoint")); wharf_put_text(w, v->checkpoint);
	if (v->wait) { wharf_put_name(w, wharf_str("wait")); wharf_put_bool(w, v->wait); }
	if (v->timeout_ms) { wharf_put_name(w, wharf_str("timeout_ms")); wharf_put_integer(w, v->timeout_ms); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_inbox_take_request(wharf_reader *r, wharf_inbox_take_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "checkpoint")) { v->checkpoint = wharf_get_text(r); }
		else if (wharf_is(name, "wait")) { v->wait = wharf_get_bool(r); }
		else if (wharf_is(name, "timeout_ms")) { v->timeout_ms = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_part(wharf_writer *w, const wharf_part_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("type")); wharf_put_text(w, v->type);
	if (v->text.data) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->value.data) { wharf_put_name(w, wharf_str("value")); wharf_put_json(w, v->value); }
	if (v->tool_call_id.len) { wharf_put_name(w, wharf_str("tool_call_id")); wharf_put_text(w, v->tool_call_id); }
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	if (v->input.data) { wharf_put_name(w, wharf_str("input")); wharf_put_json(w, v->input); }
	if (v->output.data) { wharf_put_name(w, wharf_str("output")); wharf_put_json(w, v->output); }
	if (v->status.len) { wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status); }
	if (v->artifact_id.len) { wharf_put_name(w, wharf_str("artifact_id")); wharf_put_text(w, v->artifact_id); }
	if (v->uri.len) { wharf_put_name(w, wharf_str("uri")); wharf_put_text(w, v->uri); }
	if (v->mime_type.len) { wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type); }
	wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility);
	if (v->redacted) { wharf_put_name(w, wharf_str("redacted")); wharf_put_bool(w, v->redacted); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_part(wharf_reader *r, wharf_part_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "type")) { v->type = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "value")) { v->value = wharf_get_json(r); }
		else if (wharf_is(name, "tool_call_id")) { v->tool_call_id = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "input")) { v->input = wharf_get_json(r); }
		else if (wharf_is(name, "output")) { v->output = wharf_get_json(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "artifact_id")) { v->artifact_id = wharf_get_text(r); }
		else if (wharf_is(name, "uri")) { v->uri = wharf_get_text(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else if (wharf_is(name, "redacted")) { v->redacted = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_message(wharf_writer *w, const wharf_message_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	wharf_put_name(w, wharf_str("role")); wharf_put_text(w, v->role);
	wharf_put_name(w, wharf_str("parts")); wharf_put_array(w); for (size_t i = 0; i < v->parts.count; i++) { wharf_put_part(w, &v->parts.items[i]); } wharf_end_array(w);
	if (v->session_id.len) { wharf_put_name(w, wharf_str("session_id")); wharf_put_text(w, v->session_id); }
	if (v->task_id.len) { wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_message(wharf_reader *r, wharf_message_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "role")) { v->role = wharf_get_text(r); }
		else if (wharf_is(name, "parts")) { if (!wharf_get_null(r)) { wharf_part_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_part_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_part(r, &items[n]); } v->parts.items = items; v->parts.count = n; } }
		else if (wharf_is(name, "session_id")) { v->session_id = wharf_get_text(r); }
		else if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_taken_reminder(wharf_writer *w, const wharf_taken_reminder_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("reminder_id")); wharf_put_text(w, v->reminder_id);
	if (v->tags.count) { wharf_put_name(w, wharf_str("tags")); wharf_put_array(w); for (size_t i = 0; i < v->tags.count; i++) { wharf_put_text(w, v->tags.items[i]); } wharf_end_array(w); }
	wharf_put_name(w, wharf_str("body")); wharf_put_text(w, v->body);
	wharf_put_name(w, wharf_str("role_hint")); wharf_put_text(w, v->role_hint);
	wharf_put_name(w, wharf_str("rendered_role")); wharf_put_text(w, v->rendered_role);
	wharf_put_name(w, wharf_str("source")); wharf_put_text(w, v->source);
	wharf_put_name(w, wharf_str("ttl_turns")); wharf_put_integer(w, v->ttl_turns);
	if (v->meta.count) { wharf_put_name(w, wharf_str("_meta")); wharf_put_object(w); for (size_t i = 0; i < v->meta.count; i++) { wharf_put_name(w, v->meta.items[i].name); wharf_put_json(w, v->meta.items[i].value); } wharf_end_object(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_taken_reminder(wharf_reader *r, wharf_taken_reminder_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "reminder_id")) { v->reminder_id = wharf_get_text(r); }
		else if (wharf_is(name, "tags")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->tags.items = items; v->tags.count = n; } }
		else if (wharf_is(name, "body")) { v->body = wharf_get_text(r); }
		else if (wharf_is(name, "role_hint")) { v->role_hint = wharf_get_text(r); }
		else if (wharf_is(name, "rendered_role")) { v->rendered_role = wharf_get_text(r); }
		else if (wharf_is(name, "source")) { v->source = wharf_get_text(r); }
		else if (wharf_is(name, "ttl_turns")) { v->ttl_turns = wharf_get_integer(r); }
		else if (wharf_is(name, "_meta")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_json(r); } v->meta.items = items; v->meta.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_inbox_take_answer(wharf_writer *w, const wharf_inbox_take_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_message(w, &v->messages.items[i]); } wharf_end_array(w);
	wharf_put_name(w, wharf_str("reminders")); wharf_put_array(w); for (size_t i = 0; i < v->reminders.count; i++) { wharf_put_taken_reminder(w, &v->reminders.items[i]); } wharf_end_array(w);
	if (v->woken.len) { wharf_put_name(w, wharf_str("woken")); wharf_put_text(w, v->woken); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_inbox_take_answer(wharf_reader *r, wharf_inbox_take_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else if (wharf_is(name, "reminders")) { if (!wharf_get_null(r)) { wharf_taken_reminder_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_taken_reminder_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_taken_reminder(r, &items[n]); } v->reminders.items = items; v->reminders.count = n; } }
		else if (wharf_is(name, "woken")) { v->woken = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_message_input(wharf_writer *w, const wharf_message_input_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("role")); wharf_put_text(w, v->role);
	wharf_put_name(w, wharf_str("parts")); wharf_put_array(w); for (size_t i = 0; i < v->parts.count; i++) { wharf_put_part(w, &v->parts.items[i]); } wharf_end_array(w);
	if (v->metadata.data) { wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_message_input(wharf_reader *r, wharf_message_input_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "role")) { v->role = wharf_get_text(r); }
		else if (wharf_is(name, "parts")) { if (!wharf_get_null(r)) { wharf_part_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_part_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_part(r, &items[n]); } v->parts.items = items; v->parts.count = n; } }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_message_append_answer(wharf_writer *w, const wharf_message_append_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("message_id")); wharf_put_text(w, v->message_id);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_message_append_answer(wharf_reader *r, wharf_message_append_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "message_id")) { v->message_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_message_delta_request(wharf_writer *w, const wharf_message_delta_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_message_delta_request(wharf_reader *r, wharf_message_delta_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_transcript_read_request(wharf_writer *w, const wharf_transcript_read_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->last) { wharf_put_name(w, wharf_str("last")); wharf_put_integer(w, v->last); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_transcript_read_request(wharf_reader *r, wharf_transcript_read_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "last")) { v->last = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_transcript_read_answer(wharf_writer *w, const wharf_transcript_read_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_message(w, &v->messages.items[i]); } wharf_end_array(w);
	if (v->earlier) { wharf_put_name(w, wharf_str("earlier")); wharf_put_bool(w, v->earlier); }
	if (v->unreadable.count) { wharf_put_name(w, wharf_str("unreadable")); wharf_put_array(w); for (size_t i = 0; i < v->unreadable.count; i++) { wharf_put_text(w, v->unreadable.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_transcript_read_answer(wharf_reader *r, wharf_transcript_read_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else if (wharf_is(name, "earlier")) { v->earlier = wharf_get_bool(r); }
		else if (wharf_is(name, "unreadable")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->unreadable.items = items; v->unreadable.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_tool_call(wharf_writer *w, const wharf_model_tool_call_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_tool_call(wharf_reader *r, wharf_model_tool_call_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_message(wharf_writer *w, const wharf_model_message_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("role")); wharf_put_text(w, v->role);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->tool_calls.count) { wharf_put_name(w, wharf_str("tool_calls")); wharf_put_array(w); for (size_t i = 0; i < v->tool_calls.count; i++) { wharf_put_model_tool_call(w, &v->tool_calls.items[i]); } wharf_end_array(w); }
	if (v->tool_call_id.len) { wharf_put_name(w, wharf_str("tool_call_id")); wharf_put_text(w, v->tool_call_id); }
	if (v->is_error) { wharf_put_name(w, wharf_str("is_error")); wharf_put_bool(w, v->is_error); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_message(wharf_reader *r, wharf_model_message_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "role")) { v->role = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "tool_calls")) { if (!wharf_get_null(r)) { wharf_model_tool_call_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_model_tool_call_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_model_tool_call(r, &items[n]); } v->tool_calls.items = items; v->tool_calls.count = n; } }
		else if (wharf_is(name, "tool_call_id")) { v->tool_call_id = wharf_get_text(r); }
		else if (wharf_is(name, "is_error")) { v->is_error = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_tool(wharf_writer *w, const wharf_model_tool_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->input_schema.data) { wharf_put_name(w, wharf_str("input_schema")); wharf_put_json(w, v->input_schema); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_tool(wharf_reader *r, wharf_model_tool_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "input_schema")) { v->input_schema = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_request(wharf_writer *w, const wharf_model_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->model.len) { wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model); }
	if (v->system.len) { wharf_put_name(w, wharf_str("system")); wharf_put_text(w, v->system); }
	wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_model_message(w, &v->messages.items[i]); } wharf_end_array(w);
	if (v->tools.count) { wharf_put_name(w, wharf_str("tools")); wharf_put_array(w); for (size_t i = 0; i < v->tools.count; i++) { wharf_put_model_tool(w, &v->tools.items[i]); } wharf_end_array(w); }
	if (v->tool_choice.len) { wharf_put_name(w, wharf_str("tool_choice")); wharf_put_text(w, v->tool_choice); }
	if (v->max_tokens) { wharf_put_name(w, wharf_str("max_tokens")); wharf_put_integer(w, v->max_tokens); }
	if (v->temperature) { wharf_put_name(w, wharf_str("temperature")); wharf_put_number(w, (*v->temperature)); }
	if (v->stop.count) { wharf_put_name(w, wharf_str("stop")); wharf_put_array(w); for (size_t i = 0; i < v->stop.count; i++) { wharf_put_text(w, v->stop.items[i]); } wharf_end_array(w); }
	if (v->stream) { wharf_put_name(w, wharf_str("stream")); wharf_put_bool(w, v->stream); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_request(wharf_reader *r, wharf_model_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else if (wharf_is(name, "system")) { v->system = wharf_get_text(r); }
		else if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_model_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_model_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_model_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else if (wharf_is(name, "tools")) { if (!wharf_get_null(r)) { wharf_model_tool_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_model_tool_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_model_tool(r, &items[n]); } v->tools.items = items; v->tools.count = n; } }
		else if (wharf_is(name, "tool_choice")) { v->tool_choice = wharf_get_text(r); }
		else if (wharf_is(name, "max_tokens")) { v->max_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "temperature")) { if (!wharf_get_null(r)) { double *p = (double *)wharf_alloc(sizeof *p); (*p) = wharf_get_number(r); v->temperature = p; } }
		else if (wharf_is(name, "stop")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->stop.items = items; v->stop.count = n; } }
		else if (wharf_is(name, "stream")) { v->stream = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_usage(wharf_writer *w, const wharf_model_usage_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("input_tokens")); wharf_put_integer(w, v->input_tokens);
	wharf_put_name(w, wharf_str("output_tokens")); wharf_put_integer(w, v->output_tokens);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_usage(wharf_reader *r, wharf_model_usage_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "input_tokens")) { v->input_tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "output_tokens")) { v->output_tokens = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_considered(wharf_writer *w, const wharf_model_considered_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider);
	wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model);
	wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_considered(wharf_reader *r, wharf_model_considered_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_model_answer(wharf_writer *w, const wharf_model_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider);
	wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model);
	wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text);
	if (v->tool_calls.count) { wharf_put_name(w, wharf_str("tool_calls")); wharf_put_array(w); for (size_t i = 0; i < v->tool_calls.count; i++) { wharf_put_model_tool_call(w, &v->tool_calls.items[i]); } wharf_end_array(w); }
	wharf_put_name(w, wharf_str("stop_reason")); wharf_put_text(w, v->stop_reason);
	wharf_put_name(w, wharf_str("usage")); wharf_put_model_usage(w, &v->usage);
	wharf_put_name(w, wharf_str("cost")); wharf_put_number(w, v->cost);
	wharf_put_name(w, wharf_str("currency")); wharf_put_text(w, v->currency);
	wharf_put_name(w, wharf_str("route")); wharf_put_text(w, v->route);
	if (v->considered.count) { wharf_put_name(w, wharf_str("considered")); wharf_put_array(w); for (size_t i = 0; i < v->considered.count; i++) { wharf_put_model_considered(w, &v->considered.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_model_answer(wharf_reader *r, wharf_model_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "tool_calls")) { if (!wharf_get_null(r)) { wharf_model_tool_call_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_model_tool_call_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_model_tool_call(r, &items[n]); } v->tool_calls.items = items; v->tool_calls.count = n; } }
		else if (wharf_is(name, "stop_reason")) { v->stop_reason = wharf_get_text(r); }
		else if (wharf_is(name, "usage")) { wharf_get_model_usage(r, &v->usage); }
		else if (wharf_is(name, "cost")) { v->cost = wharf_get_number(r); }
		else if (wharf_is(name, "currency")) { v->currency = wharf_get_text(r); }
		else if (wharf_is(name, "route")) { v->route = wharf_get_text(r); }
		else if (wharf_is(name, "considered")) { if (!wharf_get_null(r)) { wharf_model_considered_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_model_considered_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_model_considered(r, &items[n]); } v->considered.items = items; v->considered.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_list_request(wharf_writer *w, const wharf_tool_list_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->server.len) { wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_list_request(wharf_reader *r, wharf_tool_list_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool(wharf_writer *w, const wharf_tool_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->input_schema.data) { wharf_put_name(w, wharf_str("input_schema")); wharf_put_json(w, v->input_schema); }
	if (v->read_only) { wharf_put_name(w, wharf_str("read_only")); wharf_put_bool(w, v->read_only); }
	if (v->idempotent) { wharf_put_name(w, wharf_str("idempotent")); wharf_put_bool(w, v->idempotent); }
	if (v->destructive) { wharf_put_name(w, wharf_str("destructive")); wharf_put_bool(w, v->destructive); }
	if (v->open_world) { wharf_put_name(w, wharf_str("open_world")); wharf_put_bool(w, v->open_world); }
	if (v->deprecated) { wharf_put_name(w, wharf_str("deprecated")); wharf_put_bool(w, v->deprecated); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool(wharf_reader *r, wharf_tool_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "input_schema")) { v->input_schema = wharf_get_json(r); }
		else if (wharf_is(name, "read_only")) { v->read_only = wharf_get_bool(r); }
		else if (wharf_is(name, "idempotent")) { v->idempotent = wharf_get_bool(r); }
		else if (wharf_is(name, "destructive")) { v->destructive = wharf_get_bool(r); }
		else if (wharf_is(name, "open_world")) { v->open_world = wharf_get_bool(r); }
		else if (wharf_is(name, "deprecated")) { v->deprecated = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_list_answer(wharf_writer *w, const wharf_tool_list_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("tools")); wharf_put_array(w); for (size_t i = 0; i < v->tools.count; i++) { wharf_put_tool(w, &v->tools.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_list_answer(wharf_reader *r, wharf_tool_list_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "tools")) { if (!wharf_get_null(r)) { wharf_tool_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_tool_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_tool(r, &items[n]); } v->tools.items = items; v->tools.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_call_request(wharf_writer *w, const wharf_tool_call_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	if (v->composition_id.len) { wharf_put_name(w, wharf_str("composition_id")); wharf_put_text(w, v->composition_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_call_request(wharf_reader *r, wharf_tool_call_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "composition_id")) { v->composition_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_content(wharf_writer *w, const wharf_tool_content_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("type")); wharf_put_text(w, v->type);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->data.len) { wharf_put_name(w, wharf_str("data")); wharf_put_base64(w, v->data); }
	if (v->mime_type.len) { wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type); }
	if (v->uri.len) { wharf_put_name(w, wharf_str("uri")); wharf_put_text(w, v->uri); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_content(wharf_reader *r, wharf_tool_content_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "type")) { v->type = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "data")) { v->data = wharf_get_base64(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else if (wharf_is(name, "uri")) { v->uri = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_tool_call_answer(wharf_writer *w, const wharf_tool_call_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("content")); wharf_put_array(w); for (size_t i = 0; i < v->content.count; i++) { wharf_put_tool_content(w, &v->content.items[i]); } wharf_end_array(w);
	if (v->structured.data) { wharf_put_name(w, wharf_str("structured")); wharf_put_json(w, v->structured); }
	if (v->is_error) { wharf_put_name(w, wharf_str("is_error")); wharf_put_bool(w, v->is_error); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_tool_call_answer(wharf_reader *r, wharf_tool_call_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "content")) { if (!wharf_get_null(r)) { wharf_tool_content_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_tool_content_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_tool_content(r, &items[n]); } v->content.items = items; v->content.count = n; } }
		else if (wharf_is(name, "structured")) { v->structured = wharf_get_json(r); }
		else if (wharf_is(name, "is_error")) { v->is_error = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_list_request(wharf_writer *w, const wharf_resource_list_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	if (v->kind.len) { wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_list_request(wharf_reader *r, wharf_resource_list_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource(wharf_writer *w, const wharf_resource_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("uri")); wharf_put_text(w, v->uri);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->title.len) { wharf_put_name(w, wharf_str("title")); wharf_put_text(w, v->title); }
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->mime_type.len) { wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type); }
	if (v->size) { wharf_put_name(w, wharf_str("size")); wharf_put_integer(w, v->size); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource(wharf_reader *r, wharf_resource_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "uri")) { v->uri = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "title")) { v->title = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else if (wharf_is(name, "size")) { v->size = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_template(wharf_writer *w, const wharf_resource_template_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("uri_template")); wharf_put_text(w, v->uri_template);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->title.len) { wharf_put_name(w, wharf_str("title")); wharf_put_text(w, v->title); }
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->mime_type.len) { wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_template(wharf_reader *r, wharf_resource_template_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "uri_template")) { v->uri_template = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "title")) { v->title = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_prompt_argument(wharf_writer *w, const wharf_prompt_argument_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->title.len) { wharf_put_name(w, wharf_str("title")); wharf_put_text(w, v->title); }
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->required) { wharf_put_name(w, wharf_str("required")); wharf_put_bool(w, v->required); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_prompt_argument(wharf_reader *r, wharf_prompt_argument_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "title")) { v->title = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "required")) { v->required = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_prompt(wharf_writer *w, const wharf_prompt_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->title.len) { wharf_put_name(w, wharf_str("title")); wharf_put_text(w, v->title); }
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->arguments.count) { wharf_put_name(w, wharf_str("arguments")); wharf_put_array(w); for (size_t i = 0; i < v->arguments.count; i++) { wharf_put_prompt_argument(w, &v->arguments.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_prompt(wharf_reader *r, wharf_prompt_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "title")) { v->title = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { if (!wharf_get_null(r)) { wharf_prompt_argument_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_prompt_argument_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_prompt_argument(r, &items[n]); } v->arguments.items = items; v->arguments.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_list_answer(wharf_writer *w, const wharf_resource_list_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->resources.count) { wharf_put_name(w, wharf_str("resources")); wharf_put_array(w); for (size_t i = 0; i < v->resources.count; i++) { wharf_put_resource(w, &v->resources.items[i]); } wharf_end_array(w); }
	if (v->templates.count) { wharf_put_name(w, wharf_str("templates")); wharf_put_array(w); for (size_t i = 0; i < v->templates.count; i++) { wharf_put_resource_template(w, &v->templates.items[i]); } wharf_end_array(w); }
	if (v->prompts.count) { wharf_put_name(w, wharf_str("prompts")); wharf_put_array(w); for (size_t i = 0; i < v->prompts.count; i++) { wharf_put_prompt(w, &v->prompts.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_list_answer(wharf_reader *r, wharf_resource_list_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "resources")) { if (!wharf_get_null(r)) { wharf_resource_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_resource_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_resource(r, &items[n]); } v->resources.items = items; v->resources.count = n; } }
		else if (wharf_is(name, "templates")) { if (!wharf_get_null(r)) { wharf_resource_template_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_resource_template_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_resource_template(r, &items[n]); } v->templates.items = items; v->templates.count = n; } }
		else if (wharf_is(name, "prompts")) { if (!wharf_get_null(r)) { wharf_prompt_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_prompt_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_prompt(r, &items[n]); } v->prompts.items = items; v->prompts.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_read_request(wharf_writer *w, const wharf_resource_read_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	wharf_put_name(w, wharf_str("uri")); wharf_put_text(w, v->uri);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_read_request(wharf_reader *r, wharf_resource_read_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "uri")) { v->uri = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_content(wharf_writer *w, const wharf_resource_content_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("uri")); wharf_put_text(w, v->uri);
	if (v->mime_type.len) { wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type); }
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->data.len) { wharf_put_name(w, wharf_str("data")); wharf_put_base64(w, v->data); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_content(wharf_reader *r, wharf_resource_content_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "uri")) { v->uri = wharf_get_text(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "data")) { v->data = wharf_get_base64(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_resource_read_answer(wharf_writer *w, const wharf_resource_read_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("contents")); wharf_put_array(w); for (size_t i = 0; i < v->contents.count; i++) { wharf_put_resource_content(w, &v->contents.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_resource_read_answer(wharf_reader *r, wharf_resource_read_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "contents")) { if (!wharf_get_null(r)) { wharf_resource_content_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_resource_content_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_resource_content(r, &items[n]); } v->contents.items = items; v->contents.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_prompt_get_request(wharf_writer *w, const wharf_prompt_get_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("server")); wharf_put_text(w, v->server);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->arguments.count) { wharf_put_name(w, wharf_str("arguments")); wharf_put_object(w); for (size_t i = 0; i < v->arguments.count; i++) { wharf_put_name(w, v->arguments.items[i].name); wharf_put_text(w, v->arguments.items[i].value); } wharf_end_object(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_prompt_get_request(wharf_reader *r, wharf_prompt_get_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "server")) { v->server = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_text(r); } v->arguments.items = items; v->arguments.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_prompt_message(wharf_writer *w, const wharf_prompt_message_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("role")); wharf_put_text(w, v->role);
	wharf_put_name(w, wharf_str("content")); wharf_put_tool_content(w, &v->content);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_prompt_message(wharf_reader *r, wharf_prompt_message_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "role")) { v->role = wharf_get_text(r); }
		else if (wharf_is(name, "content")) { wharf_get_tool_content(r, &v->content); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_prompt_get_answer(wharf_writer *w, const wharf_prompt_get_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_prompt_message(w, &v->messages.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_prompt_get_answer(wharf_reader *r, wharf_prompt_get_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_prompt_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_prompt_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_prompt_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_http_fetch_request(wharf_writer *w, const wharf_http_fetch_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->method.len) { wharf_put_name(w, wharf_str("method")); wharf_put_text(w, v->method); }
	wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url);
	if (v->header.count) { wharf_put_name(w, wharf_str("header")); wharf_put_object(w); for (size_t i = 0; i < v->header.count; i++) { wharf_put_name(w, v->header.items[i].name); wharf_put_text(w, v->header.items[i].value); } wharf_end_object(w); }
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	if (v->purpose.len) { wharf_put_name(w, wharf_str("purpose")); wharf_put_text(w, v->purpose); }
	if (v->idempotency_header.len) { wharf_put_name(w, wharf_str("idempotency_header")); wharf_put_text(w, v->idempotency_header); }
	if (v->timeout_ms) { wharf_put_name(w, wharf_str("timeout_ms")); wharf_put_integer(w, v->timeout_ms); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_http_fetch_request(wharf_reader *r, wharf_http_fetch_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "method")) { v->method = wharf_get_text(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "header")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_text(r); } v->header.items = items; v->header.count = n; } }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else if (wharf_is(name, "purpose")) { v->purpose = wharf_get_text(r); }
		else if (wharf_is(name, "idempotency_header")) { v->idempotency_header = wharf_get_text(r); }
		else if (wharf_is(name, "timeout_ms")) { v->timeout_ms = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_http_fetch_answer(wharf_writer *w, const wharf_http_fetch_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("status")); wharf_put_integer(w, v->status);
	wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url);
	wharf_put_name(w, wharf_str("header")); wharf_put_object(w); for (size_t i = 0; i < v->header.count; i++) { wharf_put_name(w, v->header.items[i].name); wharf_put_text(w, v->header.items[i].value); } wharf_end_object(w);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	wharf_put_name(w, wharf_str("bytes_sent")); wharf_put_integer(w, v->bytes_sent);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_http_fetch_answer(wharf_reader *r, wharf_http_fetch_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "status")) { v->status = wharf_get_integer(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "header")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_text(r); } v->header.items = items; v->header.count = n; } }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else if (wharf_is(name, "bytes_sent")) { v->bytes_sent = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_secret_use_request(wharf_writer *w, const wharf_secret_use_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_secret_use_request(wharf_reader *r, wharf_secret_use_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_secret_use_answer(wharf_writer *w, const wharf_secret_use_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("handle")); wharf_put_text(w, v->handle);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_secret_use_answer(wharf_reader *r, wharf_secret_use_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "handle")) { v->handle = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_memory_query_request(wharf_writer *w, const wharf_memory_query_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("scope")); wharf_put_text(w, v->scope);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->limit) { wharf_put_name(w, wharf_str("limit")); wharf_put_integer(w, v->limit); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_memory_query_request(wharf_reader *r, wharf_memory_query_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "scope")) { v->scope = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "limit")) { v->limit = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_memory(wharf_writer *w, const wharf_memory_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	wharf_put_name(w, wharf_str("scope")); wharf_put_text(w, v->scope);
	wharf_put_name(w, wharf_str("owner_id")); wharf_put_text(w, v->owner_id);
	wharf_put_name(w, wharf_str("content")); wharf_put_json(w, v->content);
	wharf_put_name(w, wharf_str("provenance")); wharf_put_json(w, v->provenance);
	if (v->expires_at.len) { wharf_put_name(w, wharf_str("expires_at")); wharf_put_text(w, v->expires_at); }
	if (v->visibility.len) { wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility); }
	if (v->confidence) { wharf_put_name(w, wharf_str("confidence")); wharf_put_number(w, v->confidence); }
	if (v->redaction_policy.data) { wharf_put_name(w, wharf_str("redaction_policy")); wharf_put_json(w, v->redaction_policy); }
	if (v->embedding_ref.len) { wharf_put_name(w, wharf_str("embedding_ref")); wharf_put_text(w, v->embedding_ref); }
	if (v->redacted_at.len) { wharf_put_name(w, wharf_str("redacted_at")); wharf_put_text(w, v->redacted_at); }
	if (v->workspace_id.len) { wharf_put_name(w, wharf_str("workspace_id")); wharf_put_text(w, v->workspace_id); }
	if (v->session_id.len) { wharf_put_name(w, wharf_str("session_id")); wharf_put_text(w, v->session_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_memory(wharf_reader *r, wharf_memory_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "scope")) { v->scope = wharf_get_text(r); }
		else if (wharf_is(name, "owner_id")) { v->owner_id = wharf_get_text(r); }
		else if (wharf_is(name, "content")) { v->content = wharf_get_json(r); }
		else if (wharf_is(name, "provenance")) { v->provenance = wharf_get_json(r); }
		else if (wharf_is(name, "expires_at")) { v->expires_at = wharf_get_text(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else if (wharf_is(name, "confidence")) { v->confidence = wharf_get_number(r); }
		else if (wharf_is(name, "redaction_policy")) { v->redaction_policy = wharf_get_json(r); }
		else if (wharf_is(name, "embedding_ref")) { v->embedding_ref = wharf_get_text(r); }
		else if (wharf_is(name, "redacted_at")) { v->redacted_at = wharf_get_text(r); }
		else if (wharf_is(name, "workspace_id")) { v->workspace_id = wharf_get_text(r); }
		else if (wharf_is(name, "session_id")) { v->session_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_memory_query_answer(wharf_writer *w, const wharf_memory_query_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("memories")); wharf_put_array(w); for (size_t i = 0; i < v->memories.count; i++) { wharf_put_memory(w, &v->memories.items[i]); } wharf_end_array(w);
	if (v->unreadable.count) { wharf_put_name(w, wharf_str("unreadable")); wharf_put_array(w); for (size_t i = 0; i < v->unreadable.count; i++) { wharf_put_text(w, v->unreadable.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_memory_query_answer(wharf_reader *r, wharf_memory_query_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "memories")) { if (!wharf_get_null(r)) { wharf_memory_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_memory_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_memory(r, &items[n]); } v->memories.items = items; v->memories.count = n; } }
		else if (wharf_is(name, "unreadable")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->unreadable.items = items; v->unreadable.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_memory_write_request(wharf_writer *w, const wharf_memory_write_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("scope")); wharf_put_text(w, v->scope);
	wharf_put_name(w, wharf_str("content")); wharf_put_json(w, v->content);
	if (v->expires_in_seconds) { wharf_put_name(w, wharf_str("expires_in_seconds")); wharf_put_number(w, v->expires_in_seconds); }
	if (v->visibility.len) { wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility); }
	if (v->confidence) { wharf_put_name(w, wharf_str("confidence")); wharf_put_number(w, v->confidence); }
	if (v->metadata.data) { wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_memory_write_request(wharf_reader *r, wharf_memory_write_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "scope")) { v->scope = wharf_get_text(r); }
		else if (wharf_is(name, "content")) { v->content = wharf_get_json(r); }
		else if (wharf_is(name, "expires_in_seconds")) { v->expires_in_seconds = wharf_get_number(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else if (wharf_is(name, "confidence")) { v->confidence = wharf_get_number(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_memory_write_answer(wharf_writer *w, const wharf_memory_write_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("memory_id")); wharf_put_text(w, v->memory_id);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_memory_write_answer(wharf_reader *r, wharf_memory_write_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "memory_id")) { v->memory_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_block_list_request(wharf_writer *w, const wharf_block_list_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_block_list_request(wharf_reader *r, wharf_block_list_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_block(wharf_writer *w, const wharf_block_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("label")); wharf_put_text(w, v->label);
	wharf_put_name(w, wharf_str("value")); wharf_put_text(w, v->value);
	wharf_put_name(w, wharf_str("read_only")); wharf_put_bool(w, v->read_only);
	wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, v->version);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_block(wharf_reader *r, wharf_block_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "label")) { v->label = wharf_get_text(r); }
		else if (wharf_is(name, "value")) { v->value = wharf_get_text(r); }
		else if (wharf_is(name, "read_only")) { v->read_only = wharf_get_bool(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_block_list_answer(wharf_writer *w, const wharf_block_list_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, v->version);
	wharf_put_name(w, wharf_str("blocks")); wharf_put_array(w); for (size_t i = 0; i < v->blocks.count; i++) { wharf_put_block(w, &v->blocks.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_block_list_answer(wharf_reader *r, wharf_block_list_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "version")) { v->version = wharf_get_integer(r); }
		else if (wharf_is(name, "blocks")) { if (!wharf_get_null(r)) { wharf_block_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_block_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_block(r, &items[n]); } v->blocks.items = items; v->blocks.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_block_write_request(wharf_writer *w, const wharf_block_write_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("label")); wharf_put_text(w, v->label);
	wharf_put_name(w, wharf_str("value")); wharf_put_text(w, v->value);
	if (v->append) { wharf_put_name(w, wharf_str("append")); wharf_put_bool(w, v->append); }
	if (v->version) { wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, (*v->version)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_block_write_request(wharf_reader *r, wharf_block_write_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "label")) { v->label = wharf_get_text(r); }
		else if (wharf_is(name, "value")) { v->value = wharf_get_text(r); }
		else if (wharf_is(name, "append")) { v->append = wharf_get_bool(r); }
		else if (wharf_is(name, "version")) { if (!wharf_get_null(r)) { int64_t *p = (int64_t *)wharf_alloc(sizeof *p); (*p) = wharf_get_integer(r); v->version = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_block_write_answer(wharf_writer *w, const wharf_block_write_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("label")); wharf_put_text(w, v->label);
	wharf_put_name(w, wharf_str("version")); wharf_put_integer(w, v->version);
	wharf_put_name(w, wharf_str("characters")); wharf_put_integer(w, v->characters);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_block_write_answer(wharf_reader *r, wharf_block_write_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "label")) { v->label = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_integer(r); }
		else if (wharf_is(name, "characters")) { v->characters = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_artifact_put_request(wharf_writer *w, const wharf_artifact_put_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	wharf_put_name(w, wharf_str("mime_type")); wharf_put_text(w, v->mime_type);
	if (v->visibility.len) { wharf_put_name(w, wharf_str("visibility")); wharf_put_text(w, v->visibility); }
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_artifact_put_request(wharf_reader *r, wharf_artifact_put_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "mime_type")) { v->mime_type = wharf_get_text(r); }
		else if (wharf_is(name, "visibility")) { v->visibility = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_artifact_put_answer(wharf_writer *w, const wharf_artifact_put_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("artifact_id")); wharf_put_text(w, v->artifact_id);
	wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_artifact_put_answer(wharf_reader *r, wharf_artifact_put_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "artifact_id")) { v->artifact_id = wharf_get_text(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_artifact_get_request(wharf_writer *w, const wharf_artifact_get_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("artifact_id")); wharf_put_text(w, v->artifact_id);
	if (v->offset) { wharf_put_name(w, wharf_str("offset")); wharf_put_integer(w, v->offset); }
	if (v->length) { wharf_put_name(w, wharf_str("length")); wharf_put_integer(w, v->length); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_artifact_get_request(wharf_reader *r, wharf_artifact_get_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "artifact_id")) { v->artifact_id = wharf_get_text(r); }
		else if (wharf_is(name, "offset")) { v->offset = wharf_get_integer(r); }
		else if (wharf_is(name, "length")) { v->length = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_read_request(wharf_writer *w, const wharf_file_read_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->offset) { wharf_put_name(w, wharf_str("offset")); wharf_put_integer(w, v->offset); }
	if (v->length) { wharf_put_name(w, wharf_str("length")); wharf_put_integer(w, v->length); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_read_request(wharf_reader *r, wharf_file_read_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "offset")) { v->offset = wharf_get_integer(r); }
		else if (wharf_is(name, "length")) { v->length = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_read_answer(wharf_writer *w, const wharf_file_read_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->offset) { wharf_put_name(w, wharf_str("offset")); wharf_put_integer(w, v->offset); }
	wharf_put_name(w, wharf_str("size")); wharf_put_integer(w, v->size);
	if (v->sha256.len) { wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256); }
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_read_answer(wharf_reader *r, wharf_file_read_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "offset")) { v->offset = wharf_get_integer(r); }
		else if (wharf_is(name, "size")) { v->size = wharf_get_integer(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_write_request(wharf_writer *w, const wharf_file_write_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	if (v->mode.len) { wharf_put_name(w, wharf_str("mode")); wharf_put_text(w, v->mode); }
	if (v->sha256.len) { wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_write_request(wharf_reader *r, wharf_file_write_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else if (wharf_is(name, "mode")) { v->mode = wharf_get_text(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_write_answer(wharf_writer *w, const wharf_file_write_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("size")); wharf_put_integer(w, v->size);
	wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256);
	if (v->before_sha256.len) { wharf_put_name(w, wharf_str("before_sha256")); wharf_put_text(w, v->before_sha256); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_write_answer(wharf_reader *r, wharf_file_write_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "size")) { v->size = wharf_get_integer(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "before_sha256")) { v->before_sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_edit_request(wharf_writer *w, const wharf_file_edit_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("old")); wharf_put_text(w, v->old);
	wharf_put_name(w, wharf_str("new")); wharf_put_text(w, v->new_);
	if (v->all) { wharf_put_name(w, wharf_str("all")); wharf_put_bool(w, v->all); }
	if (v->sha256.len) { wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_edit_request(wharf_reader *r, wharf_file_edit_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "old")) { v->old = wharf_get_text(r); }
		else if (wharf_is(name, "new")) { v->new_ = wharf_get_text(r); }
		else if (wharf_is(name, "all")) { v->all = wharf_get_bool(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_edit_answer(wharf_writer *w, const wharf_file_edit_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("size")); wharf_put_integer(w, v->size);
	wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256);
	wharf_put_name(w, wharf_str("before_sha256")); wharf_put_text(w, v->before_sha256);
	wharf_put_name(w, wharf_str("replaced")); wharf_put_integer(w, v->replaced);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_edit_answer(wharf_reader *r, wharf_file_edit_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "size")) { v->size = wharf_get_integer(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "before_sha256")) { v->before_sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "replaced")) { v->replaced = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_list_request(wharf_writer *w, const wharf_file_list_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->path.len) { wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path); }
	if (v->recursive) { wharf_put_name(w, wharf_str("recursive")); wharf_put_bool(w, v->recursive); }
	if (v->after.len) { wharf_put_name(w, wharf_str("after")); wharf_put_text(w, v->after); }
	if (v->limit) { wharf_put_name(w, wharf_str("limit")); wharf_put_integer(w, v->limit); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_list_request(wharf_reader *r, wharf_file_list_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "recursive")) { v->recursive = wharf_get_bool(r); }
		else if (wharf_is(name, "after")) { v->after = wharf_get_text(r); }
		else if (wharf_is(name, "limit")) { v->limit = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_entry(wharf_writer *w, const wharf_file_entry_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->folder) { wharf_put_name(w, wharf_str("folder")); wharf_put_bool(w, v->folder); }
	if (v->size) { wharf_put_name(w, wharf_str("size")); wharf_put_integer(w, v->size); }
	if (v->updated_at.len) { wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_entry(wharf_reader *r, wharf_file_entry_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "folder")) { v->folder = wharf_get_bool(r); }
		else if (wharf_is(name, "size")) { v->size = wharf_get_integer(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_list_answer(wharf_writer *w, const wharf_file_list_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("entries")); wharf_put_array(w); for (size_t i = 0; i < v->entries.count; i++) { wharf_put_file_entry(w, &v->entries.items[i]); } wharf_end_array(w);
	if (v->next.len) { wharf_put_name(w, wharf_str("next")); wharf_put_text(w, v->next); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_list_answer(wharf_reader *r, wharf_file_list_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "entries")) { if (!wharf_get_null(r)) { wharf_file_entry_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_file_entry_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_file_entry(r, &items[n]); } v->entries.items = items; v->entries.count = n; } }
		else if (wharf_is(name, "next")) { v->next = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_remove_request(wharf_writer *w, const wharf_file_remove_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->sha256.len) { wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256); }
	if (v->recursive) { wharf_put_name(w, wharf_str("recursive")); wharf_put_bool(w, v->recursive); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_remove_request(wharf_reader *r, wharf_file_remove_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "recursive")) { v->recursive = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_removed_file(wharf_writer *w, const wharf_removed_file_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("before_sha256")); wharf_put_text(w, v->before_sha256);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_removed_file(wharf_reader *r, wharf_removed_file_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "before_sha256")) { v->before_sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_remove_answer(wharf_writer *w, const wharf_file_remove_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("before_sha256")); wharf_put_text(w, v->before_sha256);
	if (v->removed.count) { wharf_put_name(w, wharf_str("removed")); wharf_put_array(w); for (size_t i = 0; i < v->removed.count; i++) { wharf_put_removed_file(w, &v->removed.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_remove_answer(wharf_reader *r, wharf_file_remove_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "before_sha256")) { v->before_sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "removed")) { if (!wharf_get_null(r)) { wharf_removed_file_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_removed_file_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_removed_file(r, &items[n]); } v->removed.items = items; v->removed.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_search_request(wharf_writer *w, const wharf_file_search_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->path.len) { wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path); }
	if (v->glob.len) { wharf_put_name(w, wharf_str("glob")); wharf_put_text(w, v->glob); }
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->pattern.len) { wharf_put_name(w, wharf_str("pattern")); wharf_put_text(w, v->pattern); }
	if (v->ignore_case) { wharf_put_name(w, wharf_str("ignore_case")); wharf_put_bool(w, v->ignore_case); }
	if (v->after.len) { wharf_put_name(w, wharf_str("after")); wharf_put_text(w, v->after); }
	if (v->limit) { wharf_put_name(w, wharf_str("limit")); wharf_put_integer(w, v->limit); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_search_request(wharf_reader *r, wharf_file_search_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "glob")) { v->glob = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "pattern")) { v->pattern = wharf_get_text(r); }
		else if (wharf_is(name, "ignore_case")) { v->ignore_case = wharf_get_bool(r); }
		else if (wharf_is(name, "after")) { v->after = wharf_get_text(r); }
		else if (wharf_is(name, "limit")) { v->limit = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_match(wharf_writer *w, const wharf_file_match_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	if (v->line) { wharf_put_name(w, wharf_str("line")); wharf_put_integer(w, v->line); }
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_match(wharf_reader *r, wharf_file_match_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "line")) { v->line = wharf_get_integer(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_file_search_answer(wharf_writer *w, const wharf_file_search_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("matches")); wharf_put_array(w); for (size_t i = 0; i < v->matches.count; i++) { wharf_put_file_match(w, &v->matches.items[i]); } wharf_end_array(w);
	if (v->next.len) { wharf_put_name(w, wharf_str("next")); wharf_put_text(w, v->next); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_file_search_answer(wharf_reader *r, wharf_file_search_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "matches")) { if (!wharf_get_null(r)) { wharf_file_match_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_file_match_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_file_match(r, &items[n]); } v->matches.items = items; v->matches.count = n; } }
		else if (wharf_is(name, "next")) { v->next = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_read_request(wharf_writer *w, const wharf_skill_read_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("skill")); wharf_put_text(w, v->skill);
	if (v->path.len) { wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_read_request(wharf_reader *r, wharf_skill_read_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "skill")) { v->skill = wharf_get_text(r); }
		else if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_manifest(wharf_writer *w, const wharf_skill_manifest_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->when_to_use.len) { wharf_put_name(w, wharf_str("when_to_use")); wharf_put_text(w, v->when_to_use); }
	if (v->allowed_tools.count) { wharf_put_name(w, wharf_str("allowed_tools")); wharf_put_array(w); for (size_t i = 0; i < v->allowed_tools.count; i++) { wharf_put_text(w, v->allowed_tools.items[i]); } wharf_end_array(w); }
	if (v->paths.count) { wharf_put_name(w, wharf_str("paths")); wharf_put_array(w); for (size_t i = 0; i < v->paths.count; i++) { wharf_put_text(w, v->paths.items[i]); } wharf_end_array(w); }
	if (v->model.len) { wharf_put_name(w, wharf_str("model")); wharf_put_text(w, v->model); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_manifest(wharf_reader *r, wharf_skill_manifest_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "when_to_use")) { v->when_to_use = wharf_get_text(r); }
		else if (wharf_is(name, "allowed_tools")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->allowed_tools.items = items; v->allowed_tools.count = n; } }
		else if (wharf_is(name, "paths")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->paths.items = items; v->paths.count = n; } }
		else if (wharf_is(name, "model")) { v->model = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_read_answer(wharf_writer *w, const wharf_skill_read_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("skill")); wharf_put_text(w, v->skill);
	wharf_put_name(w, wharf_str("version")); wharf_put_text(w, v->version);
	wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path);
	wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text);
	if (v->files.count) { wharf_put_name(w, wharf_str("files")); wharf_put_array(w); for (size_t i = 0; i < v->files.count; i++) { wharf_put_text(w, v->files.items[i]); } wharf_end_array(w); }
	if (v->manifest) { wharf_put_name(w, wharf_str("manifest")); wharf_put_skill_manifest(w, &(*v->manifest)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_read_answer(wharf_reader *r, wharf_skill_read_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "skill")) { v->skill = wharf_get_text(r); }
		else if (wharf_is(name, "version")) { v->version = wharf_get_text(r); }
		else if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "files")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->files.items = items; v->files.count = n; } }
		else if (wharf_is(name, "manifest")) { if (!wharf_get_null(r)) { wharf_skill_manifest_t *p = (wharf_skill_manifest_t *)wharf_alloc(sizeof *p); wharf_get_skill_manifest(r, &(*p)); v->manifest = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_candidate(wharf_writer *w, const wharf_skill_candidate_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->when_to_use.len) { wharf_put_name(w, wharf_str("when_to_use")); wharf_put_text(w, v->when_to_use); }
	if (v->paths.count) { wharf_put_name(w, wharf_str("paths")); wharf_put_array(w); for (size_t i = 0; i < v->paths.count; i++) { wharf_put_text(w, v->paths.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_candidate(wharf_reader *r, wharf_skill_candidate_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "when_to_use")) { v->when_to_use = wharf_get_text(r); }
		else if (wharf_is(name, "paths")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->paths.items = items; v->paths.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_match_request(wharf_writer *w, const wharf_skill_match_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt);
	if (v->working_files.count) { wharf_put_name(w, wharf_str("working_files")); wharf_put_array(w); for (size_t i = 0; i < v->working_files.count; i++) { wharf_put_text(w, v->working_files.items[i]); } wharf_end_array(w); }
	if (v->candidates.count) { wharf_put_name(w, wharf_str("candidates")); wharf_put_array(w); for (size_t i = 0; i < v->candidates.count; i++) { wharf_put_skill_candidate(w, &v->candidates.items[i]); } wharf_end_array(w); }
	if (v->strategy.len) { wharf_put_name(w, wharf_str("strategy")); wharf_put_text(w, v->strategy); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_match_request(wharf_reader *r, wharf_skill_match_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "working_files")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->working_files.items = items; v->working_files.count = n; } }
		else if (wharf_is(name, "candidates")) { if (!wharf_get_null(r)) { wharf_skill_candidate_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_skill_candidate_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_skill_candidate(r, &items[n]); } v->candidates.items = items; v->candidates.count = n; } }
		else if (wharf_is(name, "strategy")) { v->strategy = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_match(wharf_writer *w, const wharf_skill_match_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_put_name(w, wharf_str("score")); wharf_put_number(w, v->score);
	wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_match(wharf_reader *r, wharf_skill_match_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "score")) { v->score = wharf_get_number(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_known_skill(wharf_writer *w, const wharf_known_skill_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	if (v->description.len) { wharf_put_name(w, wharf_str("description")); wharf_put_text(w, v->description); }
	if (v->when_to_use.len) { wharf_put_name(w, wharf_str("when_to_use")); wharf_put_text(w, v->when_to_use); }
	if (v->paths.count) { wharf_put_name(w, wharf_str("paths")); wharf_put_array(w); for (size_t i = 0; i < v->paths.count; i++) { wharf_put_text(w, v->paths.items[i]); } wharf_end_array(w); }
	wharf_put_name(w, wharf_str("source")); wharf_put_text(w, v->source);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_known_skill(wharf_reader *r, wharf_known_skill_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "description")) { v->description = wharf_get_text(r); }
		else if (wharf_is(name, "when_to_use")) { v->when_to_use = wharf_get_text(r); }
		else if (wharf_is(name, "paths")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->paths.items = items; v->paths.count = n; } }
		else if (wharf_is(name, "source")) { v->source = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_skill_match_answer(wharf_writer *w, const wharf_skill_match_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("matches")); wharf_put_array(w); for (size_t i = 0; i < v->matches.count; i++) { wharf_put_skill_match(w, &v->matches.items[i]); } wharf_end_array(w);
	wharf_put_name(w, wharf_str("by")); wharf_put_text(w, v->by);
	if (v->skills.count) { wharf_put_name(w, wharf_str("skills")); wharf_put_array(w); for (size_t i = 0; i < v->skills.count; i++) { wharf_put_known_skill(w, &v->skills.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_skill_match_answer(wharf_reader *r, wharf_skill_match_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "matches")) { if (!wharf_get_null(r)) { wharf_skill_match_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_skill_match_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_skill_match(r, &items[n]); } v->matches.items = items; v->matches.count = n; } }
		else if (wharf_is(name, "by")) { v->by = wharf_get_text(r); }
		else if (wharf_is(name, "skills")) { if (!wharf_get_null(r)) { wharf_known_skill_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_known_skill_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_known_skill(r, &items[n]); } v->skills.items = items; v->skills.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_composition_begin_request(wharf_writer *w, const wharf_composition_begin_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	wharf_put_name(w, wharf_str("language")); wharf_put_text(w, v->language);
	wharf_put_name(w, wharf_str("snippet_hash")); wharf_put_text(w, v->snippet_hash);
	wharf_put_name(w, wharf_str("manifest_hash")); wharf_put_text(w, v->manifest_hash);
	wharf_put_name(w, wharf_str("side_effect_ceiling")); wharf_put_text(w, v->side_effect_ceiling);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_composition_begin_request(wharf_reader *r, wharf_composition_begin_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "language")) { v->language = wharf_get_text(r); }
		else if (wharf_is(name, "snippet_hash")) { v->snippet_hash = wharf_get_text(r); }
		else if (wharf_is(name, "manifest_hash")) { v->manifest_hash = wharf_get_text(r); }
		else if (wharf_is(name, "side_effect_ceiling")) { v->side_effect_ceiling = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_composition_begin_answer(wharf_writer *w, const wharf_composition_begin_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("composition_id")); wharf_put_text(w, v->composition_id);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_composition_begin_answer(wharf_reader *r, wharf_composition_begin_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "composition_id")) { v->composition_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_composition_end_request(wharf_writer *w, const wharf_composition_end_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("composition_id")); wharf_put_text(w, v->composition_id);
	if (v->stdout_.len) { wharf_put_name(w, wharf_str("stdout")); wharf_put_text(w, v->stdout_); }
	if (v->stderr_.len) { wharf_put_name(w, wharf_str("stderr")); wharf_put_text(w, v->stderr_); }
	if (v->artifacts.count) { wharf_put_name(w, wharf_str("artifacts")); wharf_put_array(w); for (size_t i = 0; i < v->artifacts.count; i++) { wharf_put_text(w, v->artifacts.items[i]); } wharf_end_array(w); }
	if (v->result.data) { wharf_put_name(w, wharf_str("result")); wharf_put_json(w, v->result); }
	if (v->failure_category.len) { wharf_put_name(w, wharf_str("failure_category")); wharf_put_text(w, v->failure_category); }
	if (v->message.len) { wharf_put_name(w, wharf_str("message")); wharf_put_text(w, v->message); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_composition_end_request(wharf_reader *r, wharf_composition_end_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "composition_id")) { v->composition_id = wharf_get_text(r); }
		else if (wharf_is(name, "stdout")) { v->stdout_ = wharf_get_text(r); }
		else if (wharf_is(name, "stderr")) { v->stderr_ = wharf_get_text(r); }
		else if (wharf_is(name, "artifacts")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->artifacts.items = items; v->artifacts.count = n; } }
		else if (wharf_is(name, "result")) { v->result = wharf_get_json(r); }
		else if (wharf_is(name, "failure_category")) { v->failure_category = wharf_get_text(r); }
		else if (wharf_is(name, "message")) { v->message = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_state_get_request(wharf_writer *w, const wharf_state_get_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("key")); wharf_put_text(w, v->key);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_state_get_request(wharf_reader *r, wharf_state_get_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "key")) { v->key = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_state_get_answer(wharf_writer *w, const wharf_state_get_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("value")); wharf_put_json(w, v->value);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_state_get_answer(wharf_reader *r, wharf_state_get_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "value")) { v->value = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_state_set_request(wharf_writer *w, const wharf_state_set_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("key")); wharf_put_text(w, v->key);
	wharf_put_name(w, wharf_str("value")); wharf_put_json(w, v->value);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_state_set_request(wharf_reader *r, wharf_state_set_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "key")) { v->key = wharf_get_text(r); }
		else if (wharf_is(name, "value")) { v->value = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_sleep_request(wharf_writer *w, const wharf_sleep_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("ms")); wharf_put_integer(w, v->ms);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_sleep_request(wharf_reader *r, wharf_sleep_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "ms")) { v->ms = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_question(wharf_writer *w, const wharf_question_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("key")); wharf_put_text(w, v->key);
	if (v->kind.len) { wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind); }
	if (v->prompt.len) { wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt); }
	if (v->schema.data) { wharf_put_name(w, wharf_str("schema")); wharf_put_json(w, v->schema); }
	if (v->params.data) { wharf_put_name(w, wharf_str("params")); wharf_put_json(w, v->params); }
	if (v->provider.len) { wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider); }
	if (v->url.len) { wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url); }
	if (v->action.len) { wharf_put_name(w, wharf_str("action")); wharf_put_text(w, v->action); }
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	if (v->quorum) { wharf_put_name(w, wharf_str("quorum")); wharf_put_integer(w, v->quorum); }
	if (v->approvers.count) { wharf_put_name(w, wharf_str("approvers")); wharf_put_array(w); for (size_t i = 0; i < v->approvers.count; i++) { wharf_put_text(w, v->approvers.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_question(wharf_reader *r, wharf_question_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "key")) { v->key = wharf_get_text(r); }
		else if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "schema")) { v->schema = wharf_get_json(r); }
		else if (wharf_is(name, "params")) { v->params = wharf_get_json(r); }
		else if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "action")) { v->action = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "quorum")) { v->quorum = wharf_get_integer(r); }
		else if (wharf_is(name, "approvers")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->approvers.items = items; v->approvers.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_input_request_request(wharf_writer *w, const wharf_input_request_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	if (v->prompt.len) { wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt); }
	if (v->schema.data) { wharf_put_name(w, wharf_str("schema")); wharf_put_json(w, v->schema); }
	if (v->requests.count) { wharf_put_name(w, wharf_str("requests")); wharf_put_array(w); for (size_t i = 0; i < v->requests.count; i++) { wharf_put_question(w, &v->requests.items[i]); } wharf_end_array(w); }
	if (v->timeout_seconds) { wharf_put_name(w, wharf_str("timeout_seconds")); wharf_put_number(w, v->timeout_seconds); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_input_request_request(wharf_reader *r, wharf_input_request_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "schema")) { v->schema = wharf_get_json(r); }
		else if (wharf_is(name, "requests")) { if (!wharf_get_null(r)) { wharf_question_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_question_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_question(r, &items[n]); } v->requests.items = items; v->requests.count = n; } }
		else if (wharf_is(name, "timeout_seconds")) { v->timeout_seconds = wharf_get_number(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_decision(wharf_writer *w, const wharf_decision_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("actor")); wharf_put_text(w, v->actor);
	wharf_put_name(w, wharf_str("decision")); wharf_put_text(w, v->decision);
	if (v->reason.len) { wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason); }
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	wharf_put_name(w, wharf_str("decided_at")); wharf_put_text(w, v->decided_at);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_decision(wharf_reader *r, wharf_decision_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "actor")) { v->actor = wharf_get_text(r); }
		else if (wharf_is(name, "decision")) { v->decision = wharf_get_text(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "decided_at")) { v->decided_at = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_approval_answer(wharf_writer *w, const wharf_approval_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("decision")); wharf_put_text(w, v->decision);
	if (v->actor.len) { wharf_put_name(w, wharf_str("actor")); wharf_put_text(w, v->actor); }
	wharf_put_name(w, wharf_str("decided_at")); wharf_put_text(w, v->decided_at);
	if (v->reason.len) { wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason); }
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	if (v->decisions.count) { wharf_put_name(w, wharf_str("decisions")); wharf_put_array(w); for (size_t i = 0; i < v->decisions.count; i++) { wharf_put_decision(w, &v->decisions.items[i]); } wharf_end_array(w); }
	if (v->quorum) { wharf_put_name(w, wharf_str("quorum")); wharf_put_integer(w, v->quorum); }
	if (v->approved_by.count) { wharf_put_name(w, wharf_str("approved_by")); wharf_put_array(w); for (size_t i = 0; i < v->approved_by.count; i++) { wharf_put_text(w, v->approved_by.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_approval_answer(wharf_reader *r, wharf_approval_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "decision")) { v->decision = wharf_get_text(r); }
		else if (wharf_is(name, "actor")) { v->actor = wharf_get_text(r); }
		else if (wharf_is(name, "decided_at")) { v->decided_at = wharf_get_text(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "decisions")) { if (!wharf_get_null(r)) { wharf_decision_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_decision_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_decision(r, &items[n]); } v->decisions.items = items; v->decisions.count = n; } }
		else if (wharf_is(name, "quorum")) { v->quorum = wharf_get_integer(r); }
		else if (wharf_is(name, "approved_by")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->approved_by.items = items; v->approved_by.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_question_answer(wharf_writer *w, const wharf_question_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("key")); wharf_put_text(w, v->key);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_put_name(w, wharf_str("permission_request_id")); wharf_put_text(w, v->permission_request_id);
	if (v->actor.len) { wharf_put_name(w, wharf_str("actor")); wharf_put_text(w, v->actor); }
	if (v->code.len) { wharf_put_name(w, wharf_str("code")); wharf_put_text(w, v->code); }
	if (v->reason.len) { wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason); }
	if (v->message) { wharf_put_name(w, wharf_str("message")); wharf_put_message(w, &(*v->message)); }
	if (v->approval) { wharf_put_name(w, wharf_str("approval")); wharf_put_approval_answer(w, &(*v->approval)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_question_answer(wharf_reader *r, wharf_question_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "key")) { v->key = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "permission_request_id")) { v->permission_request_id = wharf_get_text(r); }
		else if (wharf_is(name, "actor")) { v->actor = wharf_get_text(r); }
		else if (wharf_is(name, "code")) { v->code = wharf_get_text(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else if (wharf_is(name, "message")) { if (!wharf_get_null(r)) { wharf_message_t *p = (wharf_message_t *)wharf_alloc(sizeof *p); wharf_get_message(r, &(*p)); v->message = p; } }
		else if (wharf_is(name, "approval")) { if (!wharf_get_null(r)) { wharf_approval_answer_t *p = (wharf_approval_answer_t *)wharf_alloc(sizeof *p); wharf_get_approval_answer(r, &(*p)); v->approval = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_input_request_answer(wharf_writer *w, const wharf_input_request_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->message) { wharf_put_name(w, wharf_str("message")); wharf_put_message(w, &(*v->message)); }
	if (v->actor.len) { wharf_put_name(w, wharf_str("actor")); wharf_put_text(w, v->actor); }
	if (v->answers.count) { wharf_put_name(w, wharf_str("answers")); wharf_put_array(w); for (size_t i = 0; i < v->answers.count; i++) { wharf_put_question_answer(w, &v->answers.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_input_request_answer(wharf_reader *r, wharf_input_request_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "message")) { if (!wharf_get_null(r)) { wharf_message_t *p = (wharf_message_t *)wharf_alloc(sizeof *p); wharf_get_message(r, &(*p)); v->message = p; } }
		else if (wharf_is(name, "actor")) { v->actor = wharf_get_text(r); }
		else if (wharf_is(name, "answers")) { if (!wharf_get_null(r)) { wharf_question_answer_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_question_answer_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_question_answer(r, &items[n]); } v->answers.items = items; v->answers.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_auth_request_request(wharf_writer *w, const wharf_auth_request_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider);
	wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt);
	if (v->url.len) { wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url); }
	if (v->timeout_seconds) { wharf_put_name(w, wharf_str("timeout_seconds")); wharf_put_number(w, v->timeout_seconds); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_auth_request_request(wharf_reader *r, wharf_auth_request_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "timeout_seconds")) { v->timeout_seconds = wharf_get_number(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_approval_request_request(wharf_writer *w, const wharf_approval_request_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("action")); wharf_put_text(w, v->action);
	wharf_put_name(w, wharf_str("prompt")); wharf_put_text(w, v->prompt);
	if (v->arguments.data) { wharf_put_name(w, wharf_str("arguments")); wharf_put_json(w, v->arguments); }
	if (v->timeout_seconds) { wharf_put_name(w, wharf_str("timeout_seconds")); wharf_put_number(w, v->timeout_seconds); }
	if (v->quorum) { wharf_put_name(w, wharf_str("quorum")); wharf_put_integer(w, v->quorum); }
	if (v->approvers.count) { wharf_put_name(w, wharf_str("approvers")); wharf_put_array(w); for (size_t i = 0; i < v->approvers.count; i++) { wharf_put_text(w, v->approvers.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_approval_request_request(wharf_reader *r, wharf_approval_request_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "action")) { v->action = wharf_get_text(r); }
		else if (wharf_is(name, "prompt")) { v->prompt = wharf_get_text(r); }
		else if (wharf_is(name, "arguments")) { v->arguments = wharf_get_json(r); }
		else if (wharf_is(name, "timeout_seconds")) { v->timeout_seconds = wharf_get_number(r); }
		else if (wharf_is(name, "quorum")) { v->quorum = wharf_get_integer(r); }
		else if (wharf_is(name, "approvers")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->approvers.items = items; v->approvers.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_spawn_request(wharf_writer *w, const wharf_task_spawn_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->persona_id.len) { wharf_put_name(w, wharf_str("persona_id")); wharf_put_text(w, v->persona_id); }
	wharf_put_name(w, wharf_str("input")); wharf_put_json(w, v->input);
	if (v->metadata.data) { wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata); }
	if (v->deadline_seconds) { wharf_put_name(w, wharf_str("deadline_seconds")); wharf_put_number(w, v->deadline_seconds); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_spawn_request(wharf_reader *r, wharf_task_spawn_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "persona_id")) { v->persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "input")) { v->input = wharf_get_json(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "deadline_seconds")) { v->deadline_seconds = wharf_get_number(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_spawn_answer(wharf_writer *w, const wharf_task_spawn_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_spawn_answer(wharf_reader *r, wharf_task_spawn_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_await_request(wharf_writer *w, const wharf_task_await_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id);
	if (v->timeout_seconds) { wharf_put_name(w, wharf_str("timeout_seconds")); wharf_put_number(w, v->timeout_seconds); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_await_request(wharf_reader *r, wharf_task_await_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else if (wharf_is(name, "timeout_seconds")) { v->timeout_seconds = wharf_get_number(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_task_await_answer(wharf_writer *w, const wharf_task_await_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_put_name(w, wharf_str("summary")); wharf_put_text(w, v->summary);
	if (v->messages.count) { wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_message(w, &v->messages.items[i]); } wharf_end_array(w); }
	if (v->failure) { wharf_put_name(w, wharf_str("failure")); wharf_put_failure(w, &(*v->failure)); }
	if (v->receipt_id.len) { wharf_put_name(w, wharf_str("receipt_id")); wharf_put_text(w, v->receipt_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_task_await_answer(wharf_reader *r, wharf_task_await_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "summary")) { v->summary = wharf_get_text(r); }
		else if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else if (wharf_is(name, "failure")) { if (!wharf_get_null(r)) { wharf_failure_t *p = (wharf_failure_t *)wharf_alloc(sizeof *p); wharf_get_failure(r, &(*p)); v->failure = p; } }
		else if (wharf_is(name, "receipt_id")) { v->receipt_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_handoff_request(wharf_writer *w, const wharf_handoff_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("persona_id")); wharf_put_text(w, v->persona_id);
	wharf_put_name(w, wharf_str("input")); wharf_put_json(w, v->input);
	if (v->reason.len) { wharf_put_name(w, wharf_str("reason")); wharf_put_text(w, v->reason); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_handoff_request(wharf_reader *r, wharf_handoff_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "persona_id")) { v->persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "input")) { v->input = wharf_get_json(r); }
		else if (wharf_is(name, "reason")) { v->reason = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delegation_budget(wharf_writer *w, const wharf_delegation_budget_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->usd) { wharf_put_name(w, wharf_str("usd")); wharf_put_number(w, v->usd); }
	if (v->tokens) { wharf_put_name(w, wharf_str("tokens")); wharf_put_integer(w, v->tokens); }
	if (v->seconds) { wharf_put_name(w, wharf_str("seconds")); wharf_put_number(w, v->seconds); }
	if (v->tool_calls) { wharf_put_name(w, wharf_str("tool_calls")); wharf_put_integer(w, v->tool_calls); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delegation_budget(wharf_reader *r, wharf_delegation_budget_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "usd")) { v->usd = wharf_get_number(r); }
		else if (wharf_is(name, "tokens")) { v->tokens = wharf_get_integer(r); }
		else if (wharf_is(name, "seconds")) { v->seconds = wharf_get_number(r); }
		else if (wharf_is(name, "tool_calls")) { v->tool_calls = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delegation_peer(wharf_writer *w, const wharf_delegation_peer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("agent")); wharf_put_text(w, v->agent);
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	wharf_put_name(w, wharf_str("url")); wharf_put_text(w, v->url);
	wharf_put_name(w, wharf_str("card_sha256")); wharf_put_text(w, v->card_sha256);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delegation_peer(wharf_reader *r, wharf_delegation_peer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "agent")) { v->agent = wharf_get_text(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "url")) { v->url = wharf_get_text(r); }
		else if (wharf_is(name, "card_sha256")) { v->card_sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delegation_checkpoint(wharf_writer *w, const wharf_delegation_checkpoint_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->approved) { wharf_put_name(w, wharf_str("approved")); wharf_put_bool(w, v->approved); }
	if (v->checkpoint_id.len) { wharf_put_name(w, wharf_str("checkpoint_id")); wharf_put_text(w, v->checkpoint_id); }
	if (v->allow_local_fallback) { wharf_put_name(w, wharf_str("allow_local_fallback")); wharf_put_bool(w, v->allow_local_fallback); }
	if (v->plan.data) { wharf_put_name(w, wharf_str("plan")); wharf_put_json(w, v->plan); }
	if (v->expected_scope.data) { wharf_put_name(w, wharf_str("expected_scope")); wharf_put_json(w, v->expected_scope); }
	if (v->evidence_refs.data) { wharf_put_name(w, wharf_str("evidence_refs")); wharf_put_json(w, v->evidence_refs); }
	if (v->metadata.data) { wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata); }
	if (v->local) { wharf_put_name(w, wharf_str("local")); wharf_put_bool(w, v->local); }
	if (v->peer) { wharf_put_name(w, wharf_str("peer")); wharf_put_delegation_peer(w, &(*v->peer)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delegation_checkpoint(wharf_reader *r, wharf_delegation_checkpoint_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "approved")) { v->approved = wharf_get_bool(r); }
		else if (wharf_is(name, "checkpoint_id")) { v->checkpoint_id = wharf_get_text(r); }
		else if (wharf_is(name, "allow_local_fallback")) { v->allow_local_fallback = wharf_get_bool(r); }
		else if (wharf_is(name, "plan")) { v->plan = wharf_get_json(r); }
		else if (wharf_is(name, "expected_scope")) { v->expected_scope = wharf_get_json(r); }
		else if (wharf_is(name, "evidence_refs")) { v->evidence_refs = wharf_get_json(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "local")) { v->local = wharf_get_bool(r); }
		else if (wharf_is(name, "peer")) { if (!wharf_get_null(r)) { wharf_delegation_peer_t *p = (wharf_delegation_peer_t *)wharf_alloc(sizeof *p); wharf_get_delegation_peer(r, &(*p)); v->peer = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_delegate_request(wharf_writer *w, const wharf_agent_delegate_request_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->call_id.len) { wharf_put_name(w, wharf_str("call_id")); wharf_put_text(w, v->call_id); }
	wharf_put_name(w, wharf_str("agent")); wharf_put_text(w, v->agent);
	wharf_put_name(w, wharf_str("task")); wharf_put_text(w, v->task);
	if (v->expected_scope.data) { wharf_put_name(w, wharf_str("expected_scope")); wharf_put_json(w, v->expected_scope); }
	if (v->context.data) { wharf_put_name(w, wharf_str("context")); wharf_put_json(w, v->context); }
	wharf_put_name(w, wharf_str("budget")); wharf_put_delegation_budget(w, &v->budget);
	if (v->idempotency_key.len) { wharf_put_name(w, wharf_str("idempotency_key")); wharf_put_text(w, v->idempotency_key); }
	if (v->checkpoint) { wharf_put_name(w, wharf_str("checkpoint")); wharf_put_delegation_checkpoint(w, &(*v->checkpoint)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_delegate_request(wharf_reader *r, wharf_agent_delegate_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "call_id")) { v->call_id = wharf_get_text(r); }
		else if (wharf_is(name, "agent")) { v->agent = wharf_get_text(r); }
		else if (wharf_is(name, "task")) { v->task = wharf_get_text(r); }
		else if (wharf_is(name, "expected_scope")) { v->expected_scope = wharf_get_json(r); }
		else if (wharf_is(name, "context")) { v->context = wharf_get_json(r); }
		else if (wharf_is(name, "budget")) { wharf_get_delegation_budget(r, &v->budget); }
		else if (wharf_is(name, "idempotency_key")) { v->idempotency_key = wharf_get_text(r); }
		else if (wharf_is(name, "checkpoint")) { if (!wharf_get_null(r)) { wharf_delegation_checkpoint_t *p = (wharf_delegation_checkpoint_t *)wharf_alloc(sizeof *p); wharf_get_delegation_checkpoint(r, &(*p)); v->checkpoint = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_call_error(wharf_writer *w, const wharf_call_error_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("code")); wharf_put_text(w, v->code);
	wharf_put_name(w, wharf_str("message")); wharf_put_text(w, v->message);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_call_error(wharf_reader *r, wharf_call_error_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "code")) { v->code = wharf_get_text(r); }
		else if (wharf_is(name, "message")) { v->message = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delegation_artifact(wharf_writer *w, const wharf_delegation_artifact_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("artifact_id")); wharf_put_text(w, v->artifact_id);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	wharf_put_name(w, wharf_str("sha256")); wharf_put_text(w, v->sha256);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delegation_artifact(wharf_reader *r, wharf_delegation_artifact_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "artifact_id")) { v->artifact_id = wharf_get_text(r); }
		else if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "sha256")) { v->sha256 = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delegation_handoff(wharf_writer *w, const wharf_delegation_handoff_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("schema")); wharf_put_text(w, v->schema);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	wharf_put_name(w, wharf_str("peer")); wharf_put_delegation_peer(w, &v->peer);
	wharf_put_name(w, wharf_str("idempotency_key")); wharf_put_text(w, v->idempotency_key);
	wharf_put_name(w, wharf_str("asked_sha256")); wharf_put_text(w, v->asked_sha256);
	if (v->task_id.len) { wharf_put_name(w, wharf_str("task_id")); wharf_put_text(w, v->task_id); }
	if (v->checkpoint) { wharf_put_name(w, wharf_str("checkpoint")); wharf_put_delegation_checkpoint(w, &(*v->checkpoint)); }
	wharf_put_name(w, wharf_str("budget")); wharf_put_delegation_budget(w, &v->budget);
	wharf_put_name(w, wharf_str("budget_used")); wharf_put_delegation_budget(w, &v->budget_used);
	wharf_put_name(w, wharf_str("reported")); wharf_put_array(w); for (size_t i = 0; i < v->reported.count; i++) { wharf_put_text(w, v->reported.items[i]); } wharf_end_array(w);
	if (v->exceeded.count) { wharf_put_name(w, wharf_str("exceeded")); wharf_put_array(w); for (size_t i = 0; i < v->exceeded.count; i++) { wharf_put_text(w, v->exceeded.items[i]); } wharf_end_array(w); }
	if (v->repeated) { wharf_put_name(w, wharf_str("repeated")); wharf_put_bool(w, v->repeated); }
	wharf_put_name(w, wharf_str("handoff")); wharf_put_json(w, v->handoff);
	if (v->diff.len) { wharf_put_name(w, wharf_str("diff")); wharf_put_text(w, v->diff); }
	if (v->outputs.data) { wharf_put_name(w, wharf_str("outputs")); wharf_put_json(w, v->outputs); }
	if (v->receipts.data) { wharf_put_name(w, wharf_str("receipts")); wharf_put_json(w, v->receipts); }
	if (v->artifacts.count) { wharf_put_name(w, wharf_str("artifacts")); wharf_put_array(w); for (size_t i = 0; i < v->artifacts.count; i++) { wharf_put_delegation_artifact(w, &v->artifacts.items[i]); } wharf_end_array(w); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delegation_handoff(wharf_reader *r, wharf_delegation_handoff_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "schema")) { v->schema = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "peer")) { wharf_get_delegation_peer(r, &v->peer); }
		else if (wharf_is(name, "idempotency_key")) { v->idempotency_key = wharf_get_text(r); }
		else if (wharf_is(name, "asked_sha256")) { v->asked_sha256 = wharf_get_text(r); }
		else if (wharf_is(name, "task_id")) { v->task_id = wharf_get_text(r); }
		else if (wharf_is(name, "checkpoint")) { if (!wharf_get_null(r)) { wharf_delegation_checkpoint_t *p = (wharf_delegation_checkpoint_t *)wharf_alloc(sizeof *p); wharf_get_delegation_checkpoint(r, &(*p)); v->checkpoint = p; } }
		else if (wharf_is(name, "budget")) { wharf_get_delegation_budget(r, &v->budget); }
		else if (wharf_is(name, "budget_used")) { wharf_get_delegation_budget(r, &v->budget_used); }
		else if (wharf_is(name, "reported")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->reported.items = items; v->reported.count = n; } }
		else if (wharf_is(name, "exceeded")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->exceeded.items = items; v->exceeded.count = n; } }
		else if (wharf_is(name, "repeated")) { v->repeated = wharf_get_bool(r); }
		else if (wharf_is(name, "handoff")) { v->handoff = wharf_get_json(r); }
		else if (wharf_is(name, "diff")) { v->diff = wharf_get_text(r); }
		else if (wharf_is(name, "outputs")) { v->outputs = wharf_get_json(r); }
		else if (wharf_is(name, "receipts")) { v->receipts = wharf_get_json(r); }
		else if (wharf_is(name, "artifacts")) { if (!wharf_get_null(r)) { wharf_delegation_artifact_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_delegation_artifact_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_delegation_artifact(r, &items[n]); } v->artifacts.items = items; v->artifacts.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_agent_delegate_answer(wharf_writer *w, const wharf_agent_delegate_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	if (v->reason) { wharf_put_name(w, wharf_str("reason")); wharf_put_call_error(w, &(*v->reason)); }
	if (v->idempotency_key.len) { wharf_put_name(w, wharf_str("idempotency_key")); wharf_put_text(w, v->idempotency_key); }
	if (v->peer) { wharf_put_name(w, wharf_str("peer")); wharf_put_delegation_peer(w, &(*v->peer)); }
	if (v->checkpoint) { wharf_put_name(w, wharf_str("checkpoint")); wharf_put_delegation_checkpoint(w, &(*v->checkpoint)); }
	if (v->handoff) { wharf_put_name(w, wharf_str("handoff")); wharf_put_delegation_handoff(w, &(*v->handoff)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_agent_delegate_answer(wharf_reader *r, wharf_agent_delegate_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "reason")) { if (!wharf_get_null(r)) { wharf_call_error_t *p = (wharf_call_error_t *)wharf_alloc(sizeof *p); wharf_get_call_error(r, &(*p)); v->reason = p; } }
		else if (wharf_is(name, "idempotency_key")) { v->idempotency_key = wharf_get_text(r); }
		else if (wharf_is(name, "peer")) { if (!wharf_get_null(r)) { wharf_delegation_peer_t *p = (wharf_delegation_peer_t *)wharf_alloc(sizeof *p); wharf_get_delegation_peer(r, &(*p)); v->peer = p; } }
		else if (wharf_is(name, "checkpoint")) { if (!wharf_get_null(r)) { wharf_delegation_checkpoint_t *p = (wharf_delegation_checkpoint_t *)wharf_alloc(sizeof *p); wharf_get_delegation_checkpoint(r, &(*p)); v->checkpoint = p; } }
		else if (wharf_is(name, "handoff")) { if (!wharf_get_null(r)) { wharf_delegation_handoff_t *p = (wharf_delegation_handoff_t *)wharf_alloc(sizeof *p); wharf_get_delegation_handoff(r, &(*p)); v->handoff = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_event_emit_request(wharf_writer *w, const wharf_event_emit_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	if (v->payload.data) { wharf_put_name(w, wharf_str("payload")); wharf_put_json(w, v->payload); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_event_emit_request(wharf_reader *r, wharf_event_emit_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "payload")) { v->payload = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_config_get_request(wharf_writer *w, const wharf_config_get_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_config_get_request(wharf_reader *r, wharf_config_get_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_config_get_answer(wharf_writer *w, const wharf_config_get_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("value")); wharf_put_json(w, v->value);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_config_get_answer(wharf_reader *r, wharf_config_get_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "value")) { v->value = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_host_fact_request(wharf_writer *w, const wharf_host_fact_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_host_fact_request(wharf_reader *r, wharf_host_fact_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_host_fact_answer(wharf_writer *w, const wharf_host_fact_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("value")); wharf_put_text(w, v->value);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_host_fact_answer(wharf_reader *r, wharf_host_fact_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "value")) { v->value = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_dedupe_policy(wharf_writer *w, const wharf_dedupe_policy_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->header.len) { wharf_put_name(w, wharf_str("header")); wharf_put_text(w, v->header); }
	if (v->window_seconds) { wharf_put_name(w, wharf_str("window_seconds")); wharf_put_integer(w, v->window_seconds); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_dedupe_policy(wharf_reader *r, wharf_dedupe_policy_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "header")) { v->header = wharf_get_text(r); }
		else if (wharf_is(name, "window_seconds")) { v->window_seconds = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_webhook_auth(wharf_writer *w, const wharf_webhook_auth_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->scheme.len) { wharf_put_name(w, wharf_str("scheme")); wharf_put_text(w, v->scheme); }
	if (v->secrets.count) { wharf_put_name(w, wharf_str("secrets")); wharf_put_array(w); for (size_t i = 0; i < v->secrets.count; i++) { wharf_put_text(w, v->secrets.items[i]); } wharf_end_array(w); }
	if (v->vault_id.len) { wharf_put_name(w, wharf_str("vault_id")); wharf_put_text(w, v->vault_id); }
	if (v->tolerance_seconds) { wharf_put_name(w, wharf_str("tolerance_seconds")); wharf_put_integer(w, v->tolerance_seconds); }
	if (v->header.len) { wharf_put_name(w, wharf_str("header")); wharf_put_text(w, v->header); }
	if (v->hash.len) { wharf_put_name(w, wharf_str("hash")); wharf_put_text(w, v->hash); }
	if (v->encoding.len) { wharf_put_name(w, wharf_str("encoding")); wharf_put_text(w, v->encoding); }
	if (v->prefix.len) { wharf_put_name(w, wharf_str("prefix")); wharf_put_text(w, v->prefix); }
	if (v->timestamp_header.len) { wharf_put_name(w, wharf_str("timestamp_header")); wharf_put_text(w, v->timestamp_header); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_webhook_auth(wharf_reader *r, wharf_webhook_auth_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "scheme")) { v->scheme = wharf_get_text(r); }
		else if (wharf_is(name, "secrets")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->secrets.items = items; v->secrets.count = n; } }
		else if (wharf_is(name, "vault_id")) { v->vault_id = wharf_get_text(r); }
		else if (wharf_is(name, "tolerance_seconds")) { v->tolerance_seconds = wharf_get_integer(r); }
		else if (wharf_is(name, "header")) { v->header = wharf_get_text(r); }
		else if (wharf_is(name, "hash")) { v->hash = wharf_get_text(r); }
		else if (wharf_is(name, "encoding")) { v->encoding = wharf_get_text(r); }
		else if (wharf_is(name, "prefix")) { v->prefix = wharf_get_text(r); }
		else if (wharf_is(name, "timestamp_header")) { v->timestamp_header = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_webhook(wharf_writer *w, const wharf_webhook_t *v) {
	(void)v;
	wharf_put_object(w);
	if (v->path.len) { wharf_put_name(w, wharf_str("path")); wharf_put_text(w, v->path); }
	wharf_put_name(w, wharf_str("enabled")); wharf_put_bool(w, v->enabled);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_webhook(wharf_reader *r, wharf_webhook_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "path")) { v->path = wharf_get_text(r); }
		else if (wharf_is(name, "enabled")) { v->enabled = wharf_get_bool(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_polling(wharf_writer *w, const wharf_polling_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("schedule")); wharf_put_text(w, v->schedule);
	if (v->timezone.len) { wharf_put_name(w, wharf_str("timezone")); wharf_put_text(w, v->timezone); }
	if (v->export_.len) { wharf_put_name(w, wharf_str("export")); wharf_put_text(w, v->export_); }
	if (v->next_at.len) { wharf_put_name(w, wharf_str("next_at")); wharf_put_text(w, v->next_at); }
	if (v->last_at.len) { wharf_put_name(w, wharf_str("last_at")); wharf_put_text(w, v->last_at); }
	if (v->last_task_id.len) { wharf_put_name(w, wharf_str("last_task_id")); wharf_put_text(w, v->last_task_id); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_polling(wharf_reader *r, wharf_polling_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "schedule")) { v->schedule = wharf_get_text(r); }
		else if (wharf_is(name, "timezone")) { v->timezone = wharf_get_text(r); }
		else if (wharf_is(name, "export")) { v->export_ = wharf_get_text(r); }
		else if (wharf_is(name, "next_at")) { v->next_at = wharf_get_text(r); }
		else if (wharf_is(name, "last_at")) { v->last_at = wharf_get_text(r); }
		else if (wharf_is(name, "last_task_id")) { v->last_task_id = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_connector_counters(wharf_writer *w, const wharf_connector_counters_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("received")); wharf_put_natural(w, v->received);
	wharf_put_name(w, wharf_str("deduped")); wharf_put_natural(w, v->deduped);
	wharf_put_name(w, wharf_str("rejected")); wharf_put_natural(w, v->rejected);
	wharf_put_name(w, wharf_str("normalized")); wharf_put_natural(w, v->normalized);
	wharf_put_name(w, wharf_str("tasks")); wharf_put_natural(w, v->tasks);
	wharf_put_name(w, wharf_str("failed")); wharf_put_natural(w, v->failed);
	wharf_put_name(w, wharf_str("pending")); wharf_put_natural(w, v->pending);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_connector_counters(wharf_reader *r, wharf_connector_counters_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "received")) { v->received = wharf_get_natural(r); }
		else if (wharf_is(name, "deduped")) { v->deduped = wharf_get_natural(r); }
		else if (wharf_is(name, "rejected")) { v->rejected = wharf_get_natural(r); }
		else if (wharf_is(name, "normalized")) { v->normalized = wharf_get_natural(r); }
		else if (wharf_is(name, "tasks")) { v->tasks = wharf_get_natural(r); }
		else if (wharf_is(name, "failed")) { v->failed = wharf_get_natural(r); }
		else if (wharf_is(name, "pending")) { v->pending = wharf_get_natural(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_connector(wharf_writer *w, const wharf_connector_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	if (v->name.len) { wharf_put_name(w, wharf_str("name")); wharf_put_text(w, v->name); }
	wharf_put_name(w, wharf_str("provider")); wharf_put_text(w, v->provider);
	wharf_put_name(w, wharf_str("workspace_id")); wharf_put_text(w, v->workspace_id);
	wharf_put_name(w, wharf_str("status")); wharf_put_text(w, v->status);
	if (v->status_reason.len) { wharf_put_name(w, wharf_str("status_reason")); wharf_put_text(w, v->status_reason); }
	wharf_put_name(w, wharf_str("event_kinds")); wharf_put_array(w); for (size_t i = 0; i < v->event_kinds.count; i++) { wharf_put_text(w, v->event_kinds.items[i]); } wharf_end_array(w);
	if (v->dedupe_policy) { wharf_put_name(w, wharf_str("dedupe_policy")); wharf_put_dedupe_policy(w, &(*v->dedupe_policy)); }
	if (v->auth) { wharf_put_name(w, wharf_str("auth")); wharf_put_webhook_auth(w, &(*v->auth)); }
	if (v->webhook) { wharf_put_name(w, wharf_str("webhook")); wharf_put_webhook(w, &(*v->webhook)); }
	if (v->polling) { wharf_put_name(w, wharf_str("polling")); wharf_put_polling(w, &(*v->polling)); }
	if (v->target_persona_id.len) { wharf_put_name(w, wharf_str("target_persona_id")); wharf_put_text(w, v->target_persona_id); }
	if (v->target_session_id.len) { wharf_put_name(w, wharf_str("target_session_id")); wharf_put_text(w, v->target_session_id); }
	wharf_put_name(w, wharf_str("plugin")); wharf_put_text(w, v->plugin);
	if (v->settings.data) { wharf_put_name(w, wharf_str("settings")); wharf_put_json(w, v->settings); }
	if (v->ordered) { wharf_put_name(w, wharf_str("ordered")); wharf_put_bool(w, v->ordered); }
	if (v->deleted_at.len) { wharf_put_name(w, wharf_str("deleted_at")); wharf_put_text(w, v->deleted_at); }
	if (v->problems.count) { wharf_put_name(w, wharf_str("problems")); wharf_put_array(w); for (size_t i = 0; i < v->problems.count; i++) { wharf_put_text(w, v->problems.items[i]); } wharf_end_array(w); }
	if (v->counters) { wharf_put_name(w, wharf_str("counters")); wharf_put_connector_counters(w, &(*v->counters)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_connector(wharf_reader *r, wharf_connector_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "name")) { v->name = wharf_get_text(r); }
		else if (wharf_is(name, "provider")) { v->provider = wharf_get_text(r); }
		else if (wharf_is(name, "workspace_id")) { v->workspace_id = wharf_get_text(r); }
		else if (wharf_is(name, "status")) { v->status = wharf_get_text(r); }
		else if (wharf_is(name, "status_reason")) { v->status_reason = wharf_get_text(r); }
		else if (wharf_is(name, "event_kinds")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->event_kinds.items = items; v->event_kinds.count = n; } }
		else if (wharf_is(name, "dedupe_policy")) { if (!wharf_get_null(r)) { wharf_dedupe_policy_t *p = (wharf_dedupe_policy_t *)wharf_alloc(sizeof *p); wharf_get_dedupe_policy(r, &(*p)); v->dedupe_policy = p; } }
		else if (wharf_is(name, "auth")) { if (!wharf_get_null(r)) { wharf_webhook_auth_t *p = (wharf_webhook_auth_t *)wharf_alloc(sizeof *p); wharf_get_webhook_auth(r, &(*p)); v->auth = p; } }
		else if (wharf_is(name, "webhook")) { if (!wharf_get_null(r)) { wharf_webhook_t *p = (wharf_webhook_t *)wharf_alloc(sizeof *p); wharf_get_webhook(r, &(*p)); v->webhook = p; } }
		else if (wharf_is(name, "polling")) { if (!wharf_get_null(r)) { wharf_polling_t *p = (wharf_polling_t *)wharf_alloc(sizeof *p); wharf_get_polling(r, &(*p)); v->polling = p; } }
		else if (wharf_is(name, "target_persona_id")) { v->target_persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "target_session_id")) { v->target_session_id = wharf_get_text(r); }
		else if (wharf_is(name, "plugin")) { v->plugin = wharf_get_text(r); }
		else if (wharf_is(name, "settings")) { v->settings = wharf_get_json(r); }
		else if (wharf_is(name, "ordered")) { v->ordered = wharf_get_bool(r); }
		else if (wharf_is(name, "deleted_at")) { v->deleted_at = wharf_get_text(r); }
		else if (wharf_is(name, "problems")) { if (!wharf_get_null(r)) { wharf_text *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_text *)wharf_grow(items, n, &room, sizeof *items); items[n] = wharf_get_text(r); } v->problems.items = items; v->problems.count = n; } }
		else if (wharf_is(name, "counters")) { if (!wharf_get_null(r)) { wharf_connector_counters_t *p = (wharf_connector_counters_t *)wharf_alloc(sizeof *p); wharf_get_connector_counters(r, &(*p)); v->counters = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_delivery(wharf_writer *w, const wharf_delivery_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	wharf_put_name(w, wharf_str("object")); wharf_put_text(w, v->object);
	wharf_put_name(w, wharf_str("created_at")); wharf_put_text(w, v->created_at);
	wharf_put_name(w, wharf_str("updated_at")); wharf_put_text(w, v->updated_at);
	wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata);
	wharf_put_name(w, wharf_str("connector_id")); wharf_put_text(w, v->connector_id);
	wharf_put_name(w, wharf_str("workspace_id")); wharf_put_text(w, v->workspace_id);
	wharf_put_name(w, wharf_str("delivery_id")); wharf_put_text(w, v->delivery_id);
	wharf_put_name(w, wharf_str("header")); wharf_put_object(w); for (size_t i = 0; i < v->header.count; i++) { wharf_put_name(w, v->header.items[i].name); wharf_put_text(w, v->header.items[i].value); } wharf_end_object(w);
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_delivery(wharf_reader *r, wharf_delivery_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "object")) { v->object = wharf_get_text(r); }
		else if (wharf_is(name, "created_at")) { v->created_at = wharf_get_text(r); }
		else if (wharf_is(name, "updated_at")) { v->updated_at = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else if (wharf_is(name, "connector_id")) { v->connector_id = wharf_get_text(r); }
		else if (wharf_is(name, "workspace_id")) { v->workspace_id = wharf_get_text(r); }
		else if (wharf_is(name, "delivery_id")) { v->delivery_id = wharf_get_text(r); }
		else if (wharf_is(name, "header")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_text(r); } v->header.items = items; v->header.count = n; } }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_deliveries_answer(wharf_writer *w, const wharf_deliveries_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("connector")); wharf_put_connector(w, &v->connector);
	wharf_put_name(w, wharf_str("deliveries")); wharf_put_array(w); for (size_t i = 0; i < v->deliveries.count; i++) { wharf_put_delivery(w, &v->deliveries.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_deliveries_answer(wharf_reader *r, wharf_deliveries_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "connector")) { wharf_get_connector(r, &v->connector); }
		else if (wharf_is(name, "deliveries")) { if (!wharf_get_null(r)) { wharf_delivery_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_delivery_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_delivery(r, &items[n]); } v->deliveries.items = items; v->deliveries.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_connector_task(wharf_writer *w, const wharf_connector_task_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("input")); wharf_put_json(w, v->input);
	if (v->persona_id.len) { wharf_put_name(w, wharf_str("persona_id")); wharf_put_text(w, v->persona_id); }
	if (v->thread.len) { wharf_put_name(w, wharf_str("thread")); wharf_put_text(w, v->thread); }
	if (v->order_key.len) { wharf_put_name(w, wharf_str("order_key")); wharf_put_text(w, v->order_key); }
	if (v->metadata.data) { wharf_put_name(w, wharf_str("metadata")); wharf_put_json(w, v->metadata); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_connector_task(wharf_reader *r, wharf_connector_task_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "input")) { v->input = wharf_get_json(r); }
		else if (wharf_is(name, "persona_id")) { v->persona_id = wharf_get_text(r); }
		else if (wharf_is(name, "thread")) { v->thread = wharf_get_text(r); }
		else if (wharf_is(name, "order_key")) { v->order_key = wharf_get_text(r); }
		else if (wharf_is(name, "metadata")) { v->metadata = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_connector_message(wharf_writer *w, const wharf_connector_message_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("message")); wharf_put_message_input(w, &v->message);
	if (v->thread.len) { wharf_put_name(w, wharf_str("thread")); wharf_put_text(w, v->thread); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_connector_message(wharf_reader *r, wharf_connector_message_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "message")) { wharf_get_message_input(r, &v->message); }
		else if (wharf_is(name, "thread")) { v->thread = wharf_get_text(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_connector_event(wharf_writer *w, const wharf_connector_event_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("kind")); wharf_put_text(w, v->kind);
	if (v->payload.data) { wharf_put_name(w, wharf_str("payload")); wharf_put_json(w, v->payload); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_connector_event(wharf_reader *r, wharf_connector_event_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "kind")) { v->kind = wharf_get_text(r); }
		else if (wharf_is(name, "payload")) { v->payload = wharf_get_json(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_normalized_delivery(wharf_writer *w, const wharf_normalized_delivery_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	if (v->tasks.count) { wharf_put_name(w, wharf_str("tasks")); wharf_put_array(w); for (size_t i = 0; i < v->tasks.count; i++) { wharf_put_connector_task(w, &v->tasks.items[i]); } wharf_end_array(w); }
	if (v->messages.count) { wharf_put_name(w, wharf_str("messages")); wharf_put_array(w); for (size_t i = 0; i < v->messages.count; i++) { wharf_put_connector_message(w, &v->messages.items[i]); } wharf_end_array(w); }
	if (v->events.count) { wharf_put_name(w, wharf_str("events")); wharf_put_array(w); for (size_t i = 0; i < v->events.count; i++) { wharf_put_connector_event(w, &v->events.items[i]); } wharf_end_array(w); }
	if (v->ignored.len) { wharf_put_name(w, wharf_str("ignored")); wharf_put_text(w, v->ignored); }
	if (v->failure) { wharf_put_name(w, wharf_str("failure")); wharf_put_failure(w, &(*v->failure)); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_normalized_delivery(wharf_reader *r, wharf_normalized_delivery_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "tasks")) { if (!wharf_get_null(r)) { wharf_connector_task_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_connector_task_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_connector_task(r, &items[n]); } v->tasks.items = items; v->tasks.count = n; } }
		else if (wharf_is(name, "messages")) { if (!wharf_get_null(r)) { wharf_connector_message_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_connector_message_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_connector_message(r, &items[n]); } v->messages.items = items; v->messages.count = n; } }
		else if (wharf_is(name, "events")) { if (!wharf_get_null(r)) { wharf_connector_event_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_connector_event_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_connector_event(r, &items[n]); } v->events.items = items; v->events.count = n; } }
		else if (wharf_is(name, "ignored")) { v->ignored = wharf_get_text(r); }
		else if (wharf_is(name, "failure")) { if (!wharf_get_null(r)) { wharf_failure_t *p = (wharf_failure_t *)wharf_alloc(sizeof *p); wharf_get_failure(r, &(*p)); v->failure = p; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_normalized_request(wharf_writer *w, const wharf_normalized_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("results")); wharf_put_array(w); for (size_t i = 0; i < v->results.count; i++) { wharf_put_normalized_delivery(w, &v->results.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_normalized_request(wharf_reader *r, wharf_normalized_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "results")) { if (!wharf_get_null(r)) { wharf_normalized_delivery_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_normalized_delivery_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_normalized_delivery(r, &items[n]); } v->results.items = items; v->results.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_polled_delivery(wharf_writer *w, const wharf_polled_delivery_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("id")); wharf_put_text(w, v->id);
	if (v->header.count) { wharf_put_name(w, wharf_str("header")); wharf_put_object(w); for (size_t i = 0; i < v->header.count; i++) { wharf_put_name(w, v->header.items[i].name); wharf_put_text(w, v->header.items[i].value); } wharf_end_object(w); }
	if (v->text.len) { wharf_put_name(w, wharf_str("text")); wharf_put_text(w, v->text); }
	if (v->body.len) { wharf_put_name(w, wharf_str("body")); wharf_put_base64(w, v->body); }
	wharf_end_object(w);
}

WHARF_FN void wharf_get_polled_delivery(wharf_reader *r, wharf_polled_delivery_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "id")) { v->id = wharf_get_text(r); }
		else if (wharf_is(name, "header")) { if (!wharf_get_null(r)) { wharf_pair *items = NULL; size_t n = 0, room = 0; for (wharf_get_object(r); wharf_next_member(r, &name); n++) { items = (wharf_pair *)wharf_grow(items, n, &room, sizeof *items); items[n].name = name; items[n].value = wharf_get_text(r); } v->header.items = items; v->header.count = n; } }
		else if (wharf_is(name, "text")) { v->text = wharf_get_text(r); }
		else if (wharf_is(name, "body")) { v->body = wharf_get_base64(r); }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_deliver_request(wharf_writer *w, const wharf_deliver_request_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("deliveries")); wharf_put_array(w); for (size_t i = 0; i < v->deliveries.count; i++) { wharf_put_polled_delivery(w, &v->deliveries.items[i]); } wharf_end_array(w);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_deliver_request(wharf_reader *r, wharf_deliver_request_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "deliveries")) { if (!wharf_get_null(r)) { wharf_polled_delivery_t *items = NULL; size_t n = 0, room = 0; for (wharf_get_array(r); wharf_next_item(r); n++) { items = (wharf_polled_delivery_t *)wharf_grow(items, n, &room, sizeof *items); wharf_get_polled_delivery(r, &items[n]); } v->deliveries.items = items; v->deliveries.count = n; } }
		else wharf_skip(r);
	}
}

WHARF_FN void wharf_put_deliver_answer(wharf_writer *w, const wharf_deliver_answer_t *v) {
	(void)v;
	wharf_put_object(w);
	wharf_put_name(w, wharf_str("received")); wharf_put_integer(w, v->received);
	wharf_put_name(w, wharf_str("deduped")); wharf_put_integer(w, v->deduped);
	wharf_end_object(w);
}

WHARF_FN void wharf_get_deliver_answer(wharf_reader *r, wharf_deliver_answer_t *v) {
	wharf_text name;
	__builtin_memset(v, 0, sizeof *v);
	if (wharf_get_null(r)) return;
	for (wharf_get_object(r); wharf_next_member(r, &name);) {
		if (wharf_is(name, "received")) { v->received = wharf_get_integer(r); }
		else if (wharf_is(name, "deduped")) { v->deduped = wharf_get_integer(r); }
		else wharf_skip(r);
	}
}

/* What the Task was submitted with, the Task as it was accepted, and the Persona it runs as.

	static wharf_status example_run(const wharf_task *task, wharf_result *result) {
		static const wharf_metric orders = {{"orders", 6}, 1};
		result->summary = wharf_join(wharf_str("done: "), wharf_task_text(task));
		result->metrics.items = &orders;
		result->metrics.count = 1;
		return WHARF_OK;
	}
 */
WHARF_FN wharf_status wharf_input(wharf_input_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	failed = wharf_take_answer("input", wharf_host_input(NULL, 0), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_input_answer(&r, answer);
	return wharf_took("input", &r);
}

/* What the Task results in. Called once; a second call is answered with `invalid`.
   Its example is that of wharf_input.
 */
WHARF_FN wharf_status wharf_output(const wharf_output_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_output_request(&w, request);
	failed = wharf_take_answer("output", wharf_host_output(w.data, (uint32_t)w.len), true, &text);
	return failed;
}

/* Reads the wall clock. A replay can give another answer under the key time:<call_id>.

	wharf_label_t request = WHARF_NONE;
	wharf_clock_answer_t now;
	wharf_status failed = wharf_clock(&request, &now);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("it is "), now.unix_nano));
 */
WHARF_FN wharf_status wharf_clock(const wharf_label_t *request, wharf_clock_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_label(&w, request);
	failed = wharf_take_answer("clock", wharf_host_clock(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_clock_answer(&r, answer);
	return wharf_took("clock", &r);
}

/* Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data folder.
   Limit: 65,536 bytes. A replay can give another answer under the key host:random:<call_id>.

	wharf_bytes key;
	return wharf_random(16, &key);
 */
WHARF_FN wharf_status wharf_random(uint32_t count, wharf_bytes *answer) {
	wharf_text text;
	wharf_status failed;
	uint8_t little[4] = {(uint8_t)count, (uint8_t)(count >> 8), (uint8_t)(count >> 16), (uint8_t)(count >> 24)};
	failed = wharf_take_answer("random", wharf_host_random(little, 4), false, &text);
	answer->data = (const uint8_t *)text.data;
	answer->len = failed ? 0 : text.len;
	return failed;
}

/* Makes an id that is unique and sorts by time: a ULID. A replay can give another answer under the key
   host:id:<call_id>.

	wharf_label_t request = WHARF_NONE;
	wharf_id_answer_t order;
	wharf_status failed = wharf_id(&request, &order);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("this is order "), order.id));
 */
WHARF_FN wharf_status wharf_id(const wharf_label_t *request, wharf_id_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_label(&w, request);
	failed = wharf_take_answer("id", wharf_host_id(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_id_answer(&r, answer);
	return wharf_took("id", &r);
}

/* Writes a line to the Task's event stream. Limit: 10,000 hints of a Task; more are dropped.

	wharf_log_request_t line = {.level = wharf_str("warn"), .message = wharf_str("the pot is half empty")};
	return wharf_log(&line);
 */
WHARF_FN wharf_status wharf_log(const wharf_log_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_log_request(&w, request);
	failed = wharf_take_answer("log", wharf_host_log(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Tells watchers how far the Task is. Limit: 10,000 hints of a Task; more are dropped.

	wharf_progress_request_t request = {.fraction = 0.5, .message = wharf_str("half of the orders are in")};
	return wharf_progress(&request);
 */
WHARF_FN wharf_status wharf_progress(const wharf_progress_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_progress_request(&w, request);
	failed = wharf_take_answer("progress", wharf_host_progress(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set does.
   Limit: 10,000 hints of a Task; more are dropped.

	wharf_plan_step_t steps[] = {
		{wharf_str("Ask for the order"), wharf_str("completed")},
		{wharf_str("Place it"), wharf_str("pending")},
	};
	wharf_plan_request_t request = {.steps = {steps, 2}};
	return wharf_plan(&request);
 */
WHARF_FN wharf_status wharf_plan(const wharf_plan_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_plan_request(&w, request);
	failed = wharf_take_answer("plan", wharf_host_plan(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Tells watchers what an agent does with its skills, its tools and its conversation. The data is an
   object that has members of its kind alone: skill_activated, skill_deactivated, skill_scope_tools,
   skill_narrow, tool_search_query, tool_search_result, transcript_compacted, transcript_projected,
   turn_started or turn_ended. Limit: 32 KiB; 10,000 hints of a Task, more are dropped.

	wharf_agent_event_request_t event = {.kind = wharf_str("turn_started"), .data = wharf_str("{\"iteration\":1}")};
	return wharf_agent_event(&event);
 */
WHARF_FN wharf_status wharf_agent_event(const wharf_agent_event_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_agent_event_request(&w, request);
	failed = wharf_take_answer("agent.event", wharf_host_agent_event(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Sets the Task's plan, which people see and may change. A step without an id gets one that follows
   from the call. Limit: 200 steps of 2,000 characters.
   Its example is that of wharf_plan_get.
 */
WHARF_FN wharf_status wharf_plan_set(const wharf_plan_set_request_t *request, wharf_plan_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_plan_set_request(&w, request);
	failed = wharf_take_answer("plan.set", wharf_host_plan_set(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_plan_answer(&r, answer);
	return wharf_took("plan.set", &r);
}

/* Reads the Task's plan as it is now, with what people have changed. A replay can give another answer
   under the key host:plan.get:<call_id>.

	wharf_plan_get_request_t get = WHARF_NONE;
	wharf_plan_answer_t plan;
	wharf_status failed = wharf_plan_get(&get, &plan);
	if (failed) return failed;
	// It fails when somebody has changed the plan since it was read.
	wharf_planned_step_t step = {.id = wharf_str("order"), .content = wharf_str("Place the order"), .status = wharf_str("in_progress")};
	const int64_t version = plan.version;
	wharf_plan_set_request_t set = {.steps = {&step, 1}, .version = &version};
	return wharf_plan_set(&set, &plan);
 */
WHARF_FN wharf_status wharf_plan_get(const wharf_plan_get_request_t *request, wharf_plan_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_plan_get_request(&w, request);
	failed = wharf_take_answer("plan.get", wharf_host_plan_get(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_plan_answer(&r, answer);
	return wharf_took("plan.get", &r);
}

/* Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered once: its
   Messages are in the transcript and the answer is on disk before it is given. With wait the Task is
   parked until something comes. Limit: 100 that wait in a Session, 4 MB of them. A replay can give
   another answer under the key host:inbox.take:<call_id>.

	wharf_inbox_take_request_t request = {.checkpoint = wharf_str("turn"), .wait = true, .timeout_ms = 60000};
	wharf_inbox_take_answer_t taken;
	wharf_status failed = wharf_inbox_take(&request, &taken);
	for (size_t i = 0; !failed && i < taken.messages.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("somebody says: "), taken.messages.items[i].parts.items[0].text));
	return failed;
 */
WHARF_FN wharf_status wharf_inbox_take(const wharf_inbox_take_request_t *request, wharf_inbox_take_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_inbox_take_request(&w, request);
	failed = wharf_take_answer("inbox.take", wharf_host_inbox_take(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_inbox_take_answer(&r, answer);
	return wharf_took("inbox.take", &r);
}

/* Appends a Message to the Session's transcript. It becomes visible with the next call that reaches
   outside the Task, at the latest when the Task ends.

	return wharf_reply(wharf_str("Your tea is coming."));
 */
WHARF_FN wharf_status wharf_message_append(const wharf_message_input_t *request, wharf_message_append_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_message_input(&w, request);
	failed = wharf_take_answer("message.append", wharf_host_message_append(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_message_append_answer(&r, answer);
	return wharf_took("message.append", &r);
}

/* Streams a piece of a Message that is being written. The Message itself is appended when it is whole.
   Limit: 20 events a second of a Task: pieces that come faster are put together.

	wharf_message_delta_request_t piece = {.text = wharf_str("Your tea")};
	return wharf_message_delta(&piece);
 */
WHARF_FN wharf_status wharf_message_delta(const wharf_message_delta_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_message_delta_request(&w, request);
	failed = wharf_take_answer("message.delta", wharf_host_message_delta(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Reads Messages of the Session, oldest first: what was appended before the Task was submitted, and
   what it appended itself. Limit: 200 Messages. A replay can give another answer under the key
   host:transcript.read:<call_id>.

	wharf_transcript_read_request_t request = {.last = 5};
	wharf_transcript_read_answer_t read;
	wharf_status failed = wharf_transcript_read(&request, &read);
	for (size_t i = 0; !failed && i < read.messages.count; i++)
		failed = wharf_say("info", wharf_join(read.messages.items[i].role, wharf_str(" has spoken")));
	return failed;
 */
WHARF_FN wharf_status wharf_transcript_read(const wharf_transcript_read_request_t *request, wharf_transcript_read_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_transcript_read_request(&w, request);
	failed = wharf_take_answer("transcript.read", wharf_host_transcript_read(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_transcript_read_answer(&r, answer);
	return wharf_took("transcript.read", &r);
}

/* Asks a model. The answer never holds hidden reasoning. With stream set, text is told to watchers as
   it comes. A replay can give another answer under the key llm:<call_id>.

	wharf_model_message_t question = {.role = wharf_str("user"), .text = wharf_str("Name one.")};
	wharf_model_request_t request = {.system = wharf_str("You know teas."), .messages = {&question, 1}, .max_tokens = 20};
	wharf_model_answer_t answer;
	wharf_status failed = wharf_llm_complete(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the model says: "), answer.text));
 */
WHARF_FN wharf_status wharf_llm_complete(const wharf_model_request_t *request, wharf_model_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_model_request(&w, request);
	failed = wharf_take_answer("llm.complete", wharf_host_llm_complete(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_model_answer(&r, answer);
	return wharf_took("llm.complete", &r);
}

/* Lists the tools that the plugin may call. A replay can give another answer under the key
   host:tool.list:<call_id>.

	wharf_tool_list_request_t request = {.server = wharf_str("desk")};
	wharf_tool_list_answer_t list;
	wharf_status failed = wharf_tool_list(&request, &list);
	for (size_t i = 0; !failed && i < list.tools.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is a tool "), list.tools.items[i].name));
	return failed;
 */
WHARF_FN wharf_status wharf_tool_list(const wharf_tool_list_request_t *request, wharf_tool_list_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_tool_list_request(&w, request);
	failed = wharf_take_answer("tool.list", wharf_host_tool_list(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_tool_list_answer(&r, answer);
	return wharf_took("tool.list", &r);
}

/* Calls a tool. It is a read when the tool says that it is read-only, else a write: then the intent is
   on disk before the tool is called, and after a crash a tool that is not idempotent is not called
   again. A replay can give another answer under the key mcp:<server>:<call_id>.

	wharf_tool_call_request_t request = {.server = wharf_str("desk"), .name = wharf_str("look"), .arguments = wharf_str("{\"where\":\"harbour\"}")};
	wharf_tool_call_answer_t answer;
	wharf_status failed = wharf_tool_call(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the tool says: "), answer.content.items[0].text));
 */
WHARF_FN wharf_status wharf_tool_call(const wharf_tool_call_request_t *request, wharf_tool_call_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_tool_call_request(&w, request);
	failed = wharf_take_answer("tool.call", wharf_host_tool_call(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_tool_call_answer(&r, answer);
	return wharf_took("tool.call", &r);
}

/* Lists the resources, the templates of resources, or the prompts of a server of tools. A server that
   has none lists none. Limit: 1,000 entries, 1 MiB. A replay can give another answer under the key
   mcp:<server>:resource.list:<call_id>.

	wharf_resource_list_request_t request = {.server = wharf_str("desk"), .kind = wharf_str("resource")};
	wharf_resource_list_answer_t list;
	wharf_status failed = wharf_resource_list(&request, &list);
	for (size_t i = 0; !failed && i < list.resources.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is "), list.resources.items[i].uri));
	return failed;
 */
WHARF_FN wharf_status wharf_resource_list(const wharf_resource_list_request_t *request, wharf_resource_list_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_resource_list_request(&w, request);
	failed = wharf_take_answer("resource.list", wharf_host_resource_list(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_resource_list_answer(&r, answer);
	return wharf_took("resource.list", &r);
}

/* Reads a resource of a server of tools. It counts as a call of a tool. Limit: what the server's
   `answer` says, 4 MiB unless it is set. A replay can give another answer under the key
   mcp:<server>:resource.read:<call_id>.

	wharf_resource_read_request_t request = {.server = wharf_str("desk"), .uri = wharf_str("notes://teas")};
	wharf_resource_read_answer_t note;
	wharf_status failed = wharf_resource_read(&request, &note);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the note says: "), note.contents.items[0].text));
 */
WHARF_FN wharf_status wharf_resource_read(const wharf_resource_read_request_t *request, wharf_resource_read_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_resource_read_request(&w, request);
	failed = wharf_take_answer("resource.read", wharf_host_resource_read(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_resource_read_answer(&r, answer);
	return wharf_took("resource.read", &r);
}

/* Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a tool. Limit:
   what the server's `answer` says, 4 MiB unless it is set. A replay can give another answer under the
   key mcp:<server>:prompt.get:<call_id>.

	wharf_pair name = {wharf_str("name"), wharf_str("Ada")};
	wharf_prompt_get_request_t request = {.server = wharf_str("desk"), .name = wharf_str("greet"), .arguments = {&name, 1}};
	wharf_prompt_get_answer_t prompt;
	wharf_status failed = wharf_prompt_get(&request, &prompt);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the prompt says: "), prompt.messages.items[0].content.text));
 */
WHARF_FN wharf_status wharf_prompt_get(const wharf_prompt_get_request_t *request, wharf_prompt_get_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_prompt_get_request(&w, request);
	failed = wharf_take_answer("prompt.get", wharf_host_prompt_get(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_prompt_get_answer(&r, answer);
	return wharf_took("prompt.get", &r);
}

/* Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the rest are
   writes. Secrets are put in by the host. A replay can give another answer under the key
   host:http.fetch:<call_id>.
   Its example is that of wharf_secret_use.
 */
WHARF_FN wharf_status wharf_http_fetch(const wharf_http_fetch_request_t *request, wharf_http_fetch_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_http_fetch_request(&w, request);
	failed = wharf_take_answer("http.fetch", wharf_host_http_fetch(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_http_fetch_answer(&r, answer);
	return wharf_took("http.fetch", &r);
}

/* Asks for a handle of a secret that the plugin is allowed. The value is never told: the host puts it
   where the handle stands in an outgoing request. A replay can give another answer under the key
   secret:<name>.

	wharf_config_get_request_t where = {.name = wharf_str("shop")}; // by the node's configuration
	wharf_config_get_answer_t shop;
	wharf_status failed = wharf_config_get(&where, &shop);
	if (failed) return failed;
	// The handle stands for the key. The host puts the key in its place.
	wharf_secret_use_request_t which = {.name = wharf_str("shop-key")};
	wharf_secret_use_answer_t key;
	failed = wharf_secret_use(&which, &key);
	if (failed) return failed;
	wharf_pair header[] = {
		{wharf_str("Authorization"), wharf_join(wharf_str("Bearer "), key.handle)},
		{wharf_str("Content-Type"), wharf_str("application/json")},
	};
	wharf_http_fetch_request_t request = {
		.method = wharf_str("POST"), .url = wharf_join(wharf_text_of(shop.value), wharf_str("/orders")), .header = {header, 2},
		.text = wharf_str("{\"tea\":\"green\"}"), .purpose = wharf_str("to order tea"),
		.idempotency_header = wharf_str("Idempotency-Key"), .timeout_ms = 30000,
	};
	wharf_http_fetch_answer_t answer;
	failed = wharf_http_fetch(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the shop says: "), answer.text));
 */
WHARF_FN wharf_status wharf_secret_use(const wharf_secret_use_request_t *request, wharf_secret_use_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_secret_use_request(&w, request);
	failed = wharf_take_answer("secret.use", wharf_host_secret_use(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_secret_use_answer(&r, answer);
	return wharf_took("secret.use", &r);
}

/* Finds Memories that the Task may read and that have every word of the query, newest first. Words are
   whole; `word*` stands for all that begin so. A query has at most 32. Expired and redacted Memories
   are left out. Limit: 100 Memories. A replay can give another answer under the key
   host:memory.query:<call_id>.

	wharf_memory_query_request_t request = {.scope = wharf_str("session"), .text = wharf_str("tea"), .limit = 3};
	wharf_memory_query_answer_t found;
	wharf_status failed = wharf_memory_query(&request, &found);
	for (size_t i = 0; !failed && i < found.memories.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("I remember: "), wharf_text_of(found.memories.items[i].content)));
	return failed;
 */
WHARF_FN wharf_status wharf_memory_query(const wharf_memory_query_request_t *request, wharf_memory_query_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_memory_query_request(&w, request);
	failed = wharf_take_answer("memory.query", wharf_host_memory_query(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_memory_query_answer(&r, answer);
	return wharf_took("memory.query", &r);
}

/* Keeps a Memory for later Tasks. Its provenance names the Task.

	wharf_memory_write_request_t memory = {.scope = wharf_str("session"), .content = wharf_str("\"Ada likes green tea\""), .confidence = 0.75};
	wharf_memory_write_answer_t written;
	return wharf_memory_write(&memory, &written);
 */
WHARF_FN wharf_status wharf_memory_write(const wharf_memory_write_request_t *request, wharf_memory_write_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_memory_write_request(&w, request);
	failed = wharf_take_answer("memory.write", wharf_host_memory_write(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_memory_write_answer(&r, answer);
	return wharf_took("memory.write", &r);
}

/* Reads the blocks of memory of the Task's agent as they are now, whoever has changed them. A Persona
   that is no agent of a Workspace is answered with `not_found` and the code `no_blocks`. A replay can
   give another answer under the key host:block.list:<call_id>.

	wharf_block_list_request_t request = WHARF_NONE;
	wharf_block_list_answer_t list;
	wharf_status failed = wharf_block_list(&request, &list);
	for (size_t i = 0; !failed && i < list.blocks.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(list.blocks.items[i].label, wharf_str(": ")), list.blocks.items[i].value));
	return failed;
 */
WHARF_FN wharf_status wharf_block_list(const wharf_block_list_request_t *request, wharf_block_list_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_block_list_request(&w, request);
	failed = wharf_take_answer("block.list", wharf_host_block_list(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_block_list_answer(&r, answer);
	return wharf_took("block.list", &r);
}

/* Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent have it, too.
   It happens once. A block that is read-only is answered with `denied` and the code `block_read_only`,
   and a Persona that is no agent of a Workspace with `not_found` and `no_blocks`. Limit: 64 blocks of
   100,000 characters, 400,000 characters together.

	wharf_block_write_request_t block = {.label = wharf_str("customer"), .value = wharf_str("Ada, who likes green tea.")};
	wharf_block_write_answer_t written;
	return wharf_block_write(&block, &written);
 */
WHARF_FN wharf_status wharf_block_write(const wharf_block_write_request_t *request, wharf_block_write_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_block_write_request(&w, request);
	failed = wharf_take_answer("block.write", wharf_host_block_write(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_block_write_answer(&r, answer);
	return wharf_took("block.write", &r);
}

/* Stores an Artifact of this Task. It becomes visible with the next call that reaches outside the
   Task, at the latest when the Task ends.

	wharf_artifact_put_request_t put = {.kind = wharf_str("dataset"), .mime_type = wharf_str("text/csv"), .name = wharf_str("orders.csv")};
	wharf_bytes content = {(const uint8_t *)"tea,10\n", 7}, first;
	wharf_artifact_put_answer_t artifact;
	wharf_status failed = wharf_artifact_put(&put, content, &artifact);
	if (failed) return failed;
	wharf_artifact_get_request_t get = {.artifact_id = artifact.artifact_id, .length = 3};
	failed = wharf_artifact_get(&get, &first);
	if (failed) return failed;
	wharf_text text = {(const char *)first.data, first.len};
	return wharf_say("info", wharf_join(wharf_str("it begins with "), text));
 */
WHARF_FN wharf_status wharf_artifact_put(const wharf_artifact_put_request_t *request, wharf_bytes content, wharf_artifact_put_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_artifact_put_request(&w, request);
	wharf_put_char(&w, '\n');
	wharf_put_raw(&w, (const char *)content.data, content.len);
	failed = wharf_take_answer("artifact.put", wharf_host_artifact_put(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_artifact_put_answer(&r, answer);
	return wharf_took("artifact.put", &r);
}

/* Reads a range of an Artifact's content that the Task's tenant and Workspace may see. A replay can
   give another answer under the key host:artifact.get:<call_id>.
   Its example is that of wharf_artifact_put.
 */
WHARF_FN wharf_status wharf_artifact_get(const wharf_artifact_get_request_t *request, wharf_bytes *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_artifact_get_request(&w, request);
	failed = wharf_take_answer("artifact.get", wharf_host_artifact_get(w.data, (uint32_t)w.len), false, &text);
	answer->data = (const uint8_t *)text.data;
	answer->len = failed ? 0 : text.len;
	return failed;
}

/* Reads a file of the Task's Workspace, or a range of it. Limit: 8 MiB of a file at once, and half of
   what one call may pass. A replay can give another answer under the key host:file.read:<call_id>.

	wharf_file_read_request_t request = {.path = wharf_str("orders/today.md")};
	wharf_file_read_answer_t file;
	wharf_status failed = wharf_file_read(&request, &file);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the file says: "), file.text));
 */
WHARF_FN wharf_status wharf_file_read(const wharf_file_read_request_t *request, wharf_file_read_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_read_request(&w, request);
	failed = wharf_take_answer("file.read", wharf_host_file_read(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_read_answer(&r, answer);
	return wharf_took("file.read", &r);
}

/* Writes a file of the Task's Workspace, whole or not at all. It happens once, also when the node dies
   meanwhile. Limit: files of 8 MiB, 1 GiB in a Workspace.

	wharf_file_write_request_t request = {.path = wharf_str("orders/today.md"), .text = wharf_str("green tea, ten times")};
	wharf_file_write_answer_t written;
	return wharf_file_write(&request, &written);
 */
WHARF_FN wharf_status wharf_file_write(const wharf_file_write_request_t *request, wharf_file_write_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_write_request(&w, request);
	failed = wharf_take_answer("file.write", wharf_host_file_write(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_write_answer(&r, answer);
	return wharf_took("file.write", &r);
}

/* Replaces a text within a file of the Task's Workspace, by one change that happens once. A text that
   is not there, or more than once without `all`, is answered with `invalid` and the code conflict.
   Limit: files of 8 MiB, before and after.

	wharf_file_edit_request_t request = {.path = wharf_str("orders/today.md"), .old = wharf_str("green tea"), .new_ = wharf_str("black tea")};
	wharf_file_edit_answer_t edited;
	return wharf_file_edit(&request, &edited);
 */
WHARF_FN wharf_status wharf_file_edit(const wharf_file_edit_request_t *request, wharf_file_edit_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_edit_request(&w, request);
	failed = wharf_take_answer("file.edit", wharf_host_file_edit(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_edit_answer(&r, answer);
	return wharf_took("file.edit", &r);
}

/* Lists a folder of the Task's Workspace, or all files below it, in the order of their paths' names.
   Limit: 1,000 entries. A replay can give another answer under the key host:file.list:<call_id>.

	wharf_file_list_request_t request = {.path = wharf_str("orders"), .recursive = true, .limit = 10};
	wharf_file_list_answer_t page;
	wharf_status failed = wharf_file_list(&request, &page);
	for (size_t i = 0; !failed && i < page.entries.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is a file "), page.entries.items[i].path));
	return failed;
 */
WHARF_FN wharf_status wharf_file_list(const wharf_file_list_request_t *request, wharf_file_list_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_list_request(&w, request);
	failed = wharf_take_answer("file.list", wharf_host_file_list(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_list_answer(&r, answer);
	return wharf_took("file.list", &r);
}

/* Removes a file of the Task's Workspace, or a folder: one that is not empty only with `recursive`. A
   folder goes with its last file, unless somebody has made it by itself. Limit: 1,000 files and
   folders in a folder.

	wharf_file_remove_request_t request = {.path = wharf_str("orders/today.md")};
	wharf_file_remove_answer_t removed;
	return wharf_file_remove(&request, &removed);
 */
WHARF_FN wharf_status wharf_file_remove(const wharf_file_remove_request_t *request, wharf_file_remove_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_remove_request(&w, request);
	failed = wharf_take_answer("file.remove", wharf_host_file_remove(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_remove_answer(&r, answer);
	return wharf_took("file.remove", &r);
}

/* Finds lines, or only names, in the files of the Task's Workspace. Content that is no text is left
   out, and so are files of more than 8 MiB. A search that takes more than 10 seconds goes on with
   `next`, too. Limit: 1,000 matches, 32 MiB of content and 20,000 files at once. A replay can give
   another answer under the key host:file.search:<call_id>.

	wharf_file_search_request_t request = {.glob = wharf_str("*.md"), .text = wharf_str("TEA"), .ignore_case = true, .limit = 10};
	wharf_file_search_answer_t found;
	wharf_status failed = wharf_file_search(&request, &found);
	for (size_t i = 0; !failed && i < found.matches.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(found.matches.items[i].path, wharf_str(": ")), found.matches.items[i].text));
	return failed;
 */
WHARF_FN wharf_status wharf_file_search(const wharf_file_search_request_t *request, wharf_file_search_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_file_search_request(&w, request);
	failed = wharf_take_answer("file.search", wharf_host_file_search(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_file_search_answer(&r, answer);
	return wharf_took("file.search", &r);
}

/* Reads a file of a skill that the Task has, as it was when the Task started, or the instructions of
   one that a client of its Session has. A file that is no text is not read. Limit: half of what one
   call may pass. A replay can give another answer under the key host:skill.read:<call_id>.

	wharf_skill_read_request_t request = {.skill = wharf_str("brewing"), .path = wharf_str("times.md")};
	wharf_skill_read_answer_t file;
	wharf_status failed = wharf_skill_read(&request, &file);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the skill says: "), file.text));
 */
WHARF_FN wharf_status wharf_skill_read(const wharf_skill_read_request_t *request, wharf_skill_read_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_skill_read_request(&w, request);
	failed = wharf_take_answer("skill.read", wharf_host_skill_read(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_skill_read_answer(&r, answer);
	return wharf_took("skill.read", &r);
}

/* Ranks skills by how well they fit a prompt and the files that are worked on: the node does, or a
   client of the Session when it is asked for and there is one. Without candidates it also lists the
   skills that the Task can read. Limit: 1,000 candidates. A replay can give another answer under the
   key host:skill.match:<call_id>.

	wharf_text file = wharf_str("orders/today.md");
	wharf_skill_match_request_t request = {.prompt = wharf_str("How long does tea take?"), .working_files = {&file, 1}};
	wharf_skill_match_answer_t ranked;
	wharf_status failed = wharf_skill_match(&request, &ranked);
	for (size_t i = 0; !failed && i < ranked.matches.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(wharf_str("the skill "), ranked.matches.items[i].name), wharf_str(" fits")));
	return failed;
 */
WHARF_FN wharf_status wharf_skill_match(const wharf_skill_match_request_t *request, wharf_skill_match_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_skill_match_request(&w, request);
	failed = wharf_take_answer("skill.match", wharf_host_skill_match(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_skill_match_answer(&r, answer);
	return wharf_took("skill.match", &r);
}

/* Begins a composition: the run of a snippet whose effects are tool calls. Until it ends, every call
   is held to its ceiling, and every tool call is told as a child of it. While one is open, another is
   refused with `invalid` and the code `composition_open`; a call beyond the ceiling is refused with
   `denied` and `composition_ceiling`. Limit: one at a time.

	wharf_composition_begin_request_t begin = {
		.name = wharf_str("what time it is"), .language = wharf_str("javascript"), .side_effect_ceiling = wharf_str("read_only"),
		.snippet_hash = wharf_str("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"),
		.manifest_hash = wharf_str("fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"),
	};
	wharf_composition_begin_answer_t begun;
	wharf_status failed = wharf_composition_begin(&begin, &begun);
	if (failed) return failed;
	wharf_tool_call_request_t call = {.server = wharf_str("host"), .name = wharf_str("time_now"), .composition_id = begun.composition_id};
	wharf_tool_call_answer_t answer;
	failed = wharf_tool_call(&call, &answer);
	if (failed) return failed;
	wharf_composition_end_request_t end = {.composition_id = begun.composition_id, .stdout_ = wharf_str("tea time")};
	return wharf_composition_end(&end);
 */
WHARF_FN wharf_status wharf_composition_begin(const wharf_composition_begin_request_t *request, wharf_composition_begin_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_composition_begin_request(&w, request);
	failed = wharf_take_answer("composition.begin", wharf_host_composition_begin(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_composition_begin_answer(&r, answer);
	return wharf_took("composition.begin", &r);
}

/* Ends the composition that is open, with what came of it. One that is not open is answered with
   `not_found` and the code `unknown_composition`. When the Task ends before, the host ends it with an
   error. Limit: 256 KiB, 100 Artifacts.
   Its example is that of wharf_composition_begin.
 */
WHARF_FN wharf_status wharf_composition_end(const wharf_composition_end_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_composition_end_request(&w, request);
	failed = wharf_take_answer("composition.end", wharf_host_composition_end(w.data, (uint32_t)w.len), true, &text);
	return failed;
}

/* Reads a value that this Session's Tasks have kept. A replay can give another answer under the key
   host:state.get:<call_id>.

	wharf_state_get_request_t get = {.key = wharf_str("orders")};
	wharf_state_get_answer_t kept;
	wharf_status failed = wharf_state_get(&get, &kept);
	if (failed) return failed;
	wharf_reader read = wharf_read(kept.value); // null when nothing is kept: that is 0
	wharf_writer orders = WHARF_NONE;
	wharf_put_integer(&orders, wharf_get_integer(&read) + 1);
	wharf_state_set_request_t set = {.key = wharf_str("orders"), .value = wharf_written(&orders)};
	return wharf_state_set(&set);
 */
WHARF_FN wharf_status wharf_state_get(const wharf_state_get_request_t *request, wharf_state_get_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_state_get_request(&w, request);
	failed = wharf_take_answer("state.get", wharf_host_state_get(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_state_get_answer(&r, answer);
	return wharf_took("state.get", &r);
}

/* Keeps a value for this Session's Tasks; null removes it. When the call returns, the value is on
   disk. Limit: keys of 1 to 128 characters A-Z a-z 0-9 _ - ..
   Its example is that of wharf_state_get.
 */
WHARF_FN wharf_status wharf_state_set(const wharf_state_set_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_state_set_request(&w, request);
	failed = wharf_take_answer("state.set", wharf_host_state_set(w.data, (uint32_t)w.len), true, &text);
	return failed;
}

/* Waits. The Task is parked meanwhile, also over a restart of the node.

	wharf_sleep_request_t request = {.ms = 100};
	return wharf_sleep(&request);
 */
WHARF_FN wharf_status wharf_sleep(const wharf_sleep_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_sleep_request(&w, request);
	failed = wharf_take_answer("sleep", wharf_host_sleep(w.data, (uint32_t)w.len), false, &text);
	return failed;
}

/* Asks the user for input, or several questions at once: inputs, authorizations, approvals, samplings
   and roots. The Task is INPUT_REQUIRED until the answer comes. A replay can give another answer under
   the key host:input.request:<call_id>.

	wharf_input_request_request_t request = {
		.prompt = wharf_str("Which tea?"), .schema = wharf_str("{\"type\":\"object\",\"required\":[\"tea\"]}"), .timeout_seconds = 3600,
	};
	wharf_input_request_answer_t answer;
	wharf_status failed = wharf_input_request(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(answer.actor, wharf_str(" has answered")));
 */
WHARF_FN wharf_status wharf_input_request(const wharf_input_request_request_t *request, wharf_input_request_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_input_request_request(&w, request);
	failed = wharf_take_answer("input.request", wharf_host_input_request(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_input_request_answer(&r, answer);
	return wharf_took("input.request", &r);
}

/* Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered. Credentials do
   not belong into the answer: the plugin and the record see it. A replay can give another answer under
   the key host:auth.request:<call_id>.

	wharf_auth_request_request_t request = {
		.provider = wharf_str("calendar"), .prompt = wharf_str("May I see when you are at home?"),
		.url = wharf_str("https://calendar.example.com/authorize"), .timeout_seconds = 3600,
	};
	wharf_input_request_answer_t answer;
	wharf_status failed = wharf_auth_request(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(answer.actor, wharf_str(" has authorized it")));
 */
WHARF_FN wharf_status wharf_auth_request(const wharf_auth_request_request_t *request, wharf_input_request_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_auth_request_request(&w, request);
	failed = wharf_take_answer("auth.request", wharf_host_auth_request(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_input_request_answer(&r, answer);
	return wharf_took("auth.request", &r);
}

/* Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided. The receipt names
   who decided. A replay can give another answer under the key host:approval.request:<call_id>.

	wharf_approval_request_request_t request = {
		.action = wharf_str("order.place"), .prompt = wharf_str("Order ten teas?"), .arguments = wharf_str("{\"count\":10}"), .timeout_seconds = 3600,
	};
	wharf_approval_answer_t approval;
	wharf_status failed = wharf_approval_request(&request, &approval);
	if (failed) return failed;
	return wharf_is(approval.decision, "approved") ? WHARF_OK : wharf_fail("no_order", wharf_str("nobody wants tea"));
 */
WHARF_FN wharf_status wharf_approval_request(const wharf_approval_request_request_t *request, wharf_approval_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_approval_request_request(&w, request);
	failed = wharf_take_answer("approval.request", wharf_host_approval_request(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_approval_answer(&r, answer);
	return wharf_took("approval.request", &r);
}

/* Submits a child Task in the same Session. A crash does not submit it twice. Limit: 1,000 children of
   a Task, 8 generations.

	wharf_task_spawn_request_t spawn = {.persona_id = wharf_str("persona_echo"), .input = wharf_str("{\"text\":\"Boil water.\"}")};
	wharf_task_spawn_answer_t child;
	wharf_status failed = wharf_task_spawn(&spawn, &child);
	if (failed) return failed;
	wharf_task_await_request_t await = {.task_id = child.task_id, .timeout_seconds = 60};
	wharf_task_await_answer_t outcome;
	failed = wharf_task_await(&await, &outcome);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the child says: "), outcome.summary));
 */
WHARF_FN wharf_status wharf_task_spawn(const wharf_task_spawn_request_t *request, wharf_task_spawn_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_task_spawn_request(&w, request);
	failed = wharf_take_answer("task.spawn", wharf_host_task_spawn(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_task_spawn_answer(&r, answer);
	return wharf_took("task.spawn", &r);
}

/* Waits for a child Task to end. A replay can give another answer under the key
   host:task.await:<call_id>.
   Its example is that of wharf_task_spawn.
 */
WHARF_FN wharf_status wharf_task_await(const wharf_task_await_request_t *request, wharf_task_await_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_task_await_request(&w, request);
	failed = wharf_take_answer("task.await", wharf_host_task_await(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_task_await_answer(&r, answer);
	return wharf_took("task.await", &r);
}

/* Hands work to another Persona: a child Task that the receipt names as a handoff.

	wharf_handoff_request_t request = {
		.persona_id = wharf_str("persona_echo"), .input = wharf_str("{\"text\":\"Serve the tea.\"}"), .reason = wharf_str("it has the cups"),
	};
	wharf_task_spawn_answer_t successor;
	wharf_status failed = wharf_handoff(&request, &successor);
	if (failed) return failed;
	return wharf_say("info", wharf_join(successor.task_id, wharf_str(" goes on")));
 */
WHARF_FN wharf_status wharf_handoff(const wharf_handoff_request_t *request, wharf_task_spawn_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_handoff_request(&w, request);
	failed = wharf_take_answer("handoff", wharf_host_handoff(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_task_spawn_answer(&r, answer);
	return wharf_took("handoff", &r);
}

/* Has an agent outside do paid work, in the order that docs/delegation.md tells: its card proves that
   it keeps to a budget, its plan is approved, and then it is dispatched, once. The Task is
   INPUT_REQUIRED until that is decided. Work that was done before by the same key is not dispatched
   again. It counts as a call of a tool. Limit: 1 MiB of a request, and what the agent's `answer` says,
   4 MiB unless it is set. A replay can give another answer under the key
   host:agent.delegate:<call_id>.

	wharf_delegation_checkpoint_t checkpoint = {.approved = true};
	wharf_agent_delegate_request_t request = {
		.agent = wharf_str("coder"), .task = wharf_str("Mend the kettle's firmware"), .budget = {.usd = 2, .seconds = 60}, .checkpoint = &checkpoint,
	};
	wharf_agent_delegate_answer_t work;
	wharf_status failed = wharf_agent_delegate(&request, &work);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the work is "), work.status));
 */
WHARF_FN wharf_status wharf_agent_delegate(const wharf_agent_delegate_request_t *request, wharf_agent_delegate_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_agent_delegate_request(&w, request);
	failed = wharf_take_answer("agent.delegate", wharf_host_agent_delegate(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_agent_delegate_answer(&r, answer);
	return wharf_took("agent.delegate", &r);
}

/* Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS name.
   "vendor.wharf." is the host's.

	wharf_event_emit_request_t event = {.kind = wharf_str("vendor.shop.ordered"), .payload = wharf_str("{\"count\":10}")};
	return wharf_event_emit(&event);
 */
WHARF_FN wharf_status wharf_event_emit(const wharf_event_emit_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_event_emit_request(&w, request);
	failed = wharf_take_answer("event.emit", wharf_host_event_emit(w.data, (uint32_t)w.len), true, &text);
	return failed;
}

/* Reads what the operator has configured for this plugin. A replay can give another answer under the
   key host:config.get:<name>.

	wharf_config_get_request_t request = {.name = wharf_str("currency")};
	wharf_config_get_answer_t currency;
	wharf_status failed = wharf_config_get(&request, &currency);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("prices are in "), wharf_text_of(currency.value)));
 */
WHARF_FN wharf_status wharf_config_get(const wharf_config_get_request_t *request, wharf_config_get_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_config_get_request(&w, request);
	failed = wharf_take_answer("config.get", wharf_host_config_get(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_config_get_answer(&r, answer);
	return wharf_took("config.get", &r);
}

/* Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace, session, task,
   deadline; and of the client that submitted the Task: client.protocol, client.name, client.version,
   and client.capabilities, with commas between them. Each is empty where it is not known. A replay can
   give another answer under the key host:host.fact:<name>.

	wharf_host_fact_request_t request = {.name = wharf_str("abi.version")};
	wharf_host_fact_answer_t fact;
	wharf_status failed = wharf_host_fact(&request, &fact);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the host speaks "), fact.value));
 */
WHARF_FN wharf_status wharf_host_fact(const wharf_host_fact_request_t *request, wharf_host_fact_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_host_fact_request(&w, request);
	failed = wharf_take_answer("host.fact", wharf_host_host_fact(w.data, (uint32_t)w.len), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_host_fact_answer(&r, answer);
	return wharf_took("host.fact", &r);
}

/* The deliveries that a Connector's plugin is to normalize, and the Connector. In a Task there are
   none: `not_found`.

	static wharf_status example_connector(const wharf_connector_t *connector, const wharf_delivery_t *delivery, wharf_normalized_delivery_t *meant) {
		(void)connector;
		wharf_part_t part = {.type = wharf_str("text"), .text = delivery->text, .visibility = wharf_str("public")};
		wharf_message_input_t message = {.role = wharf_str("user"), .parts = {&part, 1}};
		wharf_writer input = WHARF_NONE;
		wharf_put_message_input(&input, &message);
		// What is told of all deliveries together has to outlive this function.
		wharf_connector_task_t *task = wharf_new(wharf_connector_task_t);
		wharf_connector_event_t *event = wharf_new(wharf_connector_event_t);
		task->input = wharf_written(&input);
		task->thread = wharf_str("orders");
		event->kind = wharf_str("vendor.shop.order");
		event->payload = wharf_str("{\"count\":2}");
		meant->tasks.items = task;
		meant->events.items = event;
		meant->tasks.count = meant->events.count = 1;
		return WHARF_OK;
	}
 */
WHARF_FN wharf_status wharf_connector_deliveries(wharf_deliveries_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	failed = wharf_take_answer("connector.deliveries", wharf_host_connector_deliveries(NULL, 0), false, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_deliveries_answer(&r, answer);
	return wharf_took("connector.deliveries", &r);
}

/* What the deliveries mean: Tasks, Messages, events, nothing, or a failure. Called once, outside of
   Tasks.
   Its example is that of wharf_connector_deliveries.
 */
WHARF_FN wharf_status wharf_connector_normalized(const wharf_normalized_request_t *request) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_normalized_request(&w, request);
	failed = wharf_take_answer("connector.normalized", wharf_host_connector_normalized(w.data, (uint32_t)w.len), true, &text);
	return failed;
}

/* Hands what a poll has found to the Task's Connector, which takes it as if it had been sent. What was
   found before is left out. Limit: 1,000 deliveries.

	wharf_pair type = {wharf_str("content-type"), wharf_str("text/plain")};
	wharf_polled_delivery_t order = {.id = wharf_str("order-1"), .header = {&type, 1}, .text = wharf_str("two green teas")};
	wharf_deliver_request_t request = {.deliveries = {&order, 1}};
	wharf_deliver_answer_t answer;
	return wharf_connector_deliver(&request, &answer);
 */
WHARF_FN wharf_status wharf_connector_deliver(const wharf_deliver_request_t *request, wharf_deliver_answer_t *answer) {
	wharf_text text;
	wharf_status failed;
	wharf_writer w = {NULL, 0, 0, false};
	wharf_put_deliver_request(&w, request);
	failed = wharf_take_answer("connector.deliver", wharf_host_connector_deliver(w.data, (uint32_t)w.len), true, &text);
	__builtin_memset(answer, 0, sizeof *answer);
	if (failed || wharf_last_error.withheld) return failed;
	wharf_reader r = wharf_read(text);
	wharf_get_deliver_answer(&r, answer);
	return wharf_took("connector.deliver", &r);
}

/* --- what plugins do most ----------------------------------------------------------- */

/* What the plugin was started for. */
typedef struct wharf_task {
	wharf_text id, session_id;
	wharf_json input; /* what the Task was submitted with */
	wharf_json given; /* everything that the host tells: wharf_get_input_answer reads it */
} wharf_task;

/* What a Task results in. */
typedef struct wharf_result {
	wharf_text summary; /* one line for people */
	wharf_number_map metrics;
	wharf_text stop_reason;
} wharf_result;

WHARF_FN wharf_status wharf_read_task(wharf_task *task) {
	wharf_reader r;
	wharf_text name;
	wharf_status failed = wharf_take_answer("input", wharf_host_input(NULL, 0), false, &task->given);
	if (failed) return failed;
	r = wharf_read(task->given);
	for (wharf_get_object(&r); wharf_next_member(&r, &name);) {
		if (wharf_is(name, "session_id")) task->session_id = wharf_get_text(&r);
		else if (!wharf_is(name, "task")) wharf_skip(&r);
		else for (wharf_get_object(&r); wharf_next_member(&r, &name);) {
			if (wharf_is(name, "id")) task->id = wharf_get_text(&r);
			else if (wharf_is(name, "input")) task->input = wharf_get_json(&r);
			else wharf_skip(&r);
		}
	}
	return wharf_took("input", &r);
}

/* A JSON value that is a text; nothing for any other. */
WHARF_FN wharf_text wharf_text_of(wharf_json v) {
	wharf_text nothing = {NULL, 0};
	wharf_reader r = wharf_read(v);
	return wharf_peek(&r) == '"' ? wharf_get_text(&r) : nothing;
}

/* The text parts of a list of parts, joined by empty lines. */
WHARF_FN wharf_text wharf_parts_text(wharf_json parts) {
	wharf_text all = {NULL, 0};
	wharf_reader r = wharf_read(parts);
	if (wharf_peek(&r) != '[') return all;
	for (wharf_get_array(&r); wharf_next_item(&r);) {
		wharf_json part = wharf_get_json(&r);
		if (!wharf_is(wharf_text_of(wharf_member(part, "type")), "text")) continue;
		wharf_text text = wharf_text_of(wharf_member(part, "text"));
		all = all.data ? wharf_join(wharf_join(all, wharf_str("\n\n")), text) : text;
	}
	return all;
}

/* The text that the Task was given: the input itself if it is a text, its member text, or the text
 * parts of a Message; else nothing. */
WHARF_FN wharf_text wharf_task_text(const wharf_task *task) {
	wharf_text text = wharf_text_of(task->input);
	if (!text.data) text = wharf_text_of(wharf_member(task->input, "text"));
	return text.data ? text : wharf_parts_text(wharf_member(task->input, "parts"));
}

/* The input as JSON: of a Message, the value of its first JSON part. */
WHARF_FN wharf_json wharf_task_value(const wharf_task *task) {
	wharf_reader r = wharf_read(wharf_member(task->input, "parts"));
	if (wharf_peek(&r) != '[') return task->input;
	for (wharf_get_array(&r); wharf_next_item(&r);) {
		wharf_json part = wharf_get_json(&r);
		if (wharf_is(wharf_text_of(wharf_member(part, "type")), "json")) return wharf_member(part, "value");
	}
	return task->input;
}

/* Appends an assistant's Message of one text. */
WHARF_FN wharf_status wharf_reply(wharf_text text) {
	wharf_part_t part = WHARF_NONE;
	wharf_message_input_t message = WHARF_NONE;
	wharf_message_append_answer_t answer;
	part.type = wharf_str("text");
	part.text = text;
	if (!part.text.data) part.text.data = "";
	part.visibility = wharf_str("public");
	message.role = wharf_str("assistant");
	message.parts.items = &part;
	message.parts.count = 1;
	return wharf_message_append(&message, &answer);
}

/* Writes a line to the Task's event stream, of the level debug, info, warn or error. */
WHARF_FN wharf_status wharf_say(const char *level, wharf_text message) {
	wharf_log_request_t line = WHARF_NONE;
	line.level = wharf_str(level);
	line.message = message;
	return wharf_log(&line);
}

/* The wall clock, in nanoseconds since 1970. */
WHARF_FN wharf_status wharf_now(int64_t *nanoseconds) {
	wharf_label_t label = WHARF_NONE;
	wharf_clock_answer_t answer;
	wharf_reader r;
	wharf_status failed = wharf_clock(&label, &answer);
	*nanoseconds = 0;
	if (failed) return failed;
	r = wharf_read(answer.unix_nano);
	*nanoseconds = wharf_get_integer(&r);
	return wharf_took("clock", &r);
}

/* Ends the Task with the code plugin_panic and what it says. */
WHARF_FN void wharf_panic(const char *why) {
	wharf_failure_t failure = WHARF_NONE;
	wharf_output_request_t output = WHARF_NONE;
	failure.code = wharf_str("plugin_panic");
	failure.message = wharf_str(why);
	output.failure = &failure;
	wharf_output(&output);
	__builtin_trap();
}

/* What wharf_last() says, as the failure of a Task or of a delivery. */
WHARF_FN wharf_failure_t wharf_failure_of(wharf_status failed) {
	const wharf_error *e = wharf_last();
	wharf_failure_t failure = WHARF_NONE;
	failure.code = wharf_str("plugin_error");
	failure.message = e->message;
	if (failed == WHARF_FAILED) {
		failure.code = e->code;
		return failure;
	}
	failure.message = wharf_join(wharf_join(wharf_str(e->call), wharf_str(": ")), e->message);
	if (e->code.len) failure.message = wharf_join(wharf_join(failure.message, wharf_str(" (")), wharf_join(e->code, wharf_str(")")));
	return failure;
}

/* Reads the Task, calls the function, and tells the host what came of it. */
WHARF_FN int wharf_run(wharf_status (*handler)(const wharf_task *, wharf_result *)) {
	wharf_task task = WHARF_NONE;
	wharf_result result = WHARF_NONE;
	wharf_failure_t failure = WHARF_NONE;
	wharf_output_request_t output = WHARF_NONE;
	wharf_status failed = wharf_read_task(&task);
	if (!failed) failed = handler(&task, &result);
	if (failed) {
		failure = wharf_failure_of(failed);
		output.failure = &failure;
	} else {
		output.summary = result.summary;
		output.metrics = result.metrics;
		output.stop_reason = result.stop_reason;
	}
	return wharf_output(&output) != WHARF_OK;
}

/* Reads the deliveries to a Connector, calls the function for each, which says what it means, and tells
 * the host. A delivery for which it fails is put aside with that failure, and the others are not. */
WHARF_FN int wharf_connect(wharf_status (*handler)(const wharf_connector_t *, const wharf_delivery_t *, wharf_normalized_delivery_t *)) {
	wharf_deliveries_answer_t given;
	wharf_normalized_request_t request = WHARF_NONE;
	if (wharf_connector_deliveries(&given)) return 1;
	wharf_normalized_delivery_t *results = (wharf_normalized_delivery_t *)wharf_zeroed(given.deliveries.count * sizeof *results);
	for (size_t i = 0; i < given.deliveries.count; i++) {
		wharf_status failed = handler(&given.connector, &given.deliveries.items[i], &results[i]);
		if (failed) {
			wharf_failure_t *failure = wharf_new(wharf_failure_t);
			wharf_normalized_delivery_t nothing = WHARF_NONE;
			*failure = wharf_failure_of(failed);
			results[i] = nothing;
			results[i].failure = failure;
		}
		results[i].id = given.deliveries.items[i].id;
	}
	request.results.items = results;
	request.results.count = given.deliveries.count;
	return wharf_connector_normalized(&request) != WHARF_OK;
}

/* Exports a function as a plugin's, under a name: run is what a Persona calls that names no other. */
#ifdef __wasm__
#define WHARF_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WHARF_EXPORT(name)
#endif
#ifdef __cplusplus
#define WHARF_ENTRY extern "C"
#else
#define WHARF_ENTRY
#endif
#define WHARF_MAIN(name, handler) WHARF_ENTRY WHARF_EXPORT(name) int wharf_export_##name(void) { return wharf_run(handler); }
/* Exports a function as a Connector's: see wharf_connect. */
#define WHARF_CONNECTOR(name, handler) WHARF_ENTRY WHARF_EXPORT(name) int wharf_export_##name(void) { return wharf_connect(handler); }

#endif
