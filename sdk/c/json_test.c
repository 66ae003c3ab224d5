/* What wharf.h reads and writes, outside of Wasm: clang -fsanitize=address,undefined json_test.c */
#include "wharf.h"

#include <stdio.h>
#include <string.h>

static int bad;

static void expect(const char *what, wharf_text got, const char *want) {
	if (wharf_is(got, want)) return;
	printf("%s: got %.*s, want %s\n", what, (int)got.len, got.data ? got.data : "", want);
	bad = 1;
}

int main(void) {
	static const struct { double v; const char *want; } numbers[] = {
		{0, "0"}, {-0.0, "0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"},
		{-2.5e300, "-2.5e+300"}, {1e-6, "0.000001"}, {1.5e-7, "1.5e-7"}, {5e-324, "5e-324"}, {0.1 + 0.2, "0.30000000000000004"},
		{1.7976931348623157e308, "1.7976931348623157e+308"}, {2.2250738585072014e-308, "2.2250738585072014e-308"},
	};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		wharf_text t = wharf_number_text(numbers[i].v);
		expect("number", t, numbers[i].want);
		if (wharf_parse_number(t) != numbers[i].v) printf("%s is read as another number\n", numbers[i].want), bad = 1;
	}
	static const struct { const char *text; double v; } rounded[] = { /* up to one bit more */
		{"0.99999999999999999999999", 1}, {"8388607.99999999999999999999", 8388608}, {"1.7976931348623159e308", __builtin_inf()},
	};
	for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
		if (wharf_parse_number(wharf_str(rounded[i].text)) != rounded[i].v) printf("%s is read as another number\n", rounded[i].text), bad = 1;
	uint64_t seed = 1;
	for (int i = 0; i < 20000; i++) {
		union { uint64_t u; double d; } v, back;
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v.u = seed ^ seed >> 29;
		if ((v.u >> 52 & 0x7ff) == 0x7ff) continue;
		char text[64];
		snprintf(text, sizeof text, "%.17g", v.d);
		back.d = wharf_parse_number(wharf_str(text));
		if (back.u != v.u) printf("%s is read as another number\n", text), bad = 1;
		if (i % 40 == 0 && wharf_parse_number(wharf_number_text(v.d)) != v.d) printf("%s is written as another number\n", text), bad = 1;
		wharf_free_all();
	}
	static const char *wrong[] = {"", "{", "[1,]", "{\"a\":1,}", "{\"a\"}", "01", "1.", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\n\"", "tru", "[1 2]", "1 2", "{1:2}", "[", "]"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		size_t n = strlen(wrong[i]);
		char *exact = (char *)malloc(n ? n : 1); /* so that a byte too far is found */
		memcpy(exact, wrong[i], n);
		wharf_text t = {exact, n};
		wharf_reader r = wharf_read(t);
		wharf_skip(&r);
		if (!wharf_bad(&r)) printf("%s is taken\n", wrong[i]), bad = 1;
		free(exact);
	}
	char deep[1000];
	memset(deep, '[', sizeof deep);
	wharf_text t = {deep, sizeof deep};
	wharf_reader r = wharf_read(t);
	wharf_skip(&r);
	if (!r.error) printf("too deep is taken\n"), bad = 1;
	r = wharf_read(wharf_str("\"a\\n\\u00e9\\ud83d\\ude00\\ud800\""));
	expect("escapes", wharf_get_text(&r), "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
	wharf_writer w = {0};
	wharf_put_text(&w, wharf_str("\"\\\n\x01"));
	expect("quoted", wharf_written(&w), "\"\\\"\\\\\\n\\u0001\"");
	wharf_file_write_request_t q = {0}, back;
	q.path = wharf_str("a/b");
	q.body.data = (const uint8_t *)"foob";
	q.body.len = 4;
	wharf_writer v = {0};
	wharf_put_file_write_request(&v, &q);
	expect("request", wharf_written(&v), "{\"path\":\"a/b\",\"body\":\"Zm9vYg==\"}");
	r = wharf_read(wharf_written(&v));
	wharf_get_file_write_request(&r, &back);
	if (wharf_bad(&r) || back.body.len != 4 || memcmp(back.body.data, "foob", 4)) printf("bytes come back otherwise\n"), bad = 1;
	wharf_free_all();
	return bad;
}
