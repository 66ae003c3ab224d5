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
