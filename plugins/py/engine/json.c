// Reading JSON as RFC 8259 has it, in the place of MicroPython's reader, which takes more and knows no characters
// beyond 16 bits in escapes.

#include <string.h>

#include "py/cstack.h"
#include "py/obj.h"
#include "py/objstr.h"
#include "py/parsenum.h"
#include "py/runtime.h"
#include "py/unicode.h"

struct json { const byte *begin, *at, *end; };

static mp_obj_t value(struct json *j);

static NORETURN void wrong(struct json *j) {
	mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("no JSON from byte %u"), (unsigned)(j->at - j->begin));
}

static int peek(struct json *j) { return j->at < j->end ? *j->at : -1; }

static int take(struct json *j, char c) {
	if (peek(j) != (byte)c) return 0;
	j->at++;
	return 1;
}

static void space(struct json *j) {
	while (take(j, ' ') || take(j, '\t') || take(j, '\n') || take(j, '\r')) {}
}

static mp_obj_t word(struct json *j, const char *text, mp_obj_t is) {
	size_t n = strlen(text);
	if ((size_t)(j->end - j->at) < n || memcmp(j->at, text, n)) wrong(j);
	j->at += n;
	return is;
}

static unsigned four(struct json *j) {
	unsigned v = 0;
	for (int i = 0; i < 4; i++) {
		int c = peek(j);
		int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' && c > 0 ? (c | 32) - 'a' + 10 : -1;
		if (digit < 0) wrong(j);
		v = v << 4 | digit;
		j->at++;
	}
	return v;
}

// unicode reads what follows \u. What is half of a character becomes the one that says so.
static unsigned unicode(struct json *j) {
	unsigned v = four(j);
	if (v >= 0xd800 && v < 0xdc00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') {
		const byte *before = j->at;
		j->at += 2;
		unsigned low = four(j);
		if (low >= 0xdc00 && low < 0xe000) return 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
		j->at = before;
	}
	return v >= 0xd800 && v < 0xe000 ? 0xfffd : v;
}

static void escape(struct json *j, vstr_t *into) {
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = peek(j);
	if (c == 'u') {
		j->at++;
		vstr_add_char(into, unicode(j));
		return;
	}
	const char *known = c > 0 ? strchr(from, c) : 0;
	if (!known) wrong(j);
	vstr_add_byte(into, to[known - from]);
	j->at++;
}

static mp_obj_t string(struct json *j) {
	const byte *from = j->at;
	while (j->at < j->end && *j->at != '"' && *j->at != '\\' && *j->at >= ' ') j->at++;
	if (take(j, '"')) return mp_obj_new_str((const char *)from, j->at - 1 - from);
	vstr_t text;
	vstr_init(&text, 2 * (j->at - from) + 16);
	vstr_add_strn(&text, (const char *)from, j->at - from);
	while (!take(j, '"')) {
		if (take(j, '\\')) escape(j, &text);
		else if (peek(j) < ' ') wrong(j);
		else vstr_add_byte(&text, *j->at++);
	}
	return mp_obj_new_str_from_vstr(&text);
}

static void digits(struct json *j) {
	const byte *from = j->at;
	while (peek(j) >= '0' && peek(j) <= '9') j->at++;
	if (j->at == from) wrong(j);
}

static mp_obj_t number(struct json *j) {
	const char *from = (const char *)j->at;
	int whole = 1;
	take(j, '-');
	if (!take(j, '0')) digits(j);
	if (take(j, '.')) whole = 0, digits(j);
	if (take(j, 'e') || take(j, 'E')) {
		whole = 0;
		if (!take(j, '+')) take(j, '-');
		digits(j);
	}
	size_t n = (const char *)j->at - from;
	return whole ? mp_parse_num_integer(from, n, 10, 0) : mp_parse_num_float(from, n, false, 0);
}

static mp_obj_t list(struct json *j) {
	mp_obj_t all = mp_obj_new_list(0, 0);
	space(j);
	if (take(j, ']')) return all;
	do mp_obj_list_append(all, value(j));
	while (take(j, ','));
	if (!take(j, ']')) wrong(j);
	return all;
}

static mp_obj_t dict(struct json *j) {
	mp_obj_t all = mp_obj_new_dict(0);
	space(j);
	if (take(j, '}')) return all;
	do {
		space(j);
		if (!take(j, '"')) wrong(j);
		mp_obj_t key = string(j);
		space(j);
		if (!take(j, ':')) wrong(j);
		mp_obj_dict_store(all, key, value(j));
	} while (take(j, ','));
	if (!take(j, '}')) wrong(j);
	return all;
}

static mp_obj_t one(struct json *j) {
	switch (peek(j)) {
	case '{': j->at++; return dict(j);
	case '[': j->at++; return list(j);
	case '"': j->at++; return string(j);
	case 'n': return word(j, "null", mp_const_none);
	case 't': return word(j, "true", mp_const_true);
	case 'f': return word(j, "false", mp_const_false);
	}
	return number(j);
}

// value reads a value and the space around it.
static mp_obj_t value(struct json *j) {
	WEIGHS(24);
	mp_cstack_check();
	space(j);
	mp_obj_t v = one(j);
	space(j);
	return v;
}

mp_obj_t engine_json(const byte *text, size_t size) {
	if (!utf8_check(text, size)) mp_raise_msg(&mp_type_UnicodeError, 0);
	struct json j = {text, text, text + size};
	mp_obj_t v = value(&j);
	if (j.at < j.end) wrong(&j);
	return v;
}
