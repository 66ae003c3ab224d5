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
