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
