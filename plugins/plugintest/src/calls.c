// calls makes the host calls that its input lists, one after the other:
//
//	{"program": [{"call": "clock"}, {"call": "state.set", "request": {"key": "a", "value": 1}}, …]}
//
// A step has the members
//
//	call     the name of a host call, or a word from below
//	request  JSON that is passed as it stands
//	text     a string whose text is passed instead
//	bytes    a number that is passed as four bytes, little-endian, instead
//	repeat   how often; 1 when it is missing
//
// In request and text, $task_id, $artifact_id, $message_id, $memory_id, $composition_id
// and $handle stand for the last member of that name that an answer had, $digest for the digest
// of all answers so far, and $n for the number of the call, from 0.
//
// Words that are no host calls: trap, spin (a loop without an end), grow (by the
// given number of pages in bytes), return (the given number in bytes) end or strain
// the run; wasi.clock, wasi.monotonic, wasi.random, wasi.sleep (both by the number
// in bytes: how many bytes, how many milliseconds) and wasi.print (text) go through
// WASI.
//
// The output has the number of the calls, and a digest of every status and answer.

#include "guest.h"

#define WASI(name) IMPORT("wasi_snapshot_preview1", name)

WASI("clock_time_get") u32 wasi_clock(u32 id, u64 precision, u64 *time);
WASI("random_get") u32 wasi_random(byte *ptr, u32 len);
WASI("fd_write") u32 wasi_write(u32 fd, struct span *parts, u32 count, u32 *written);
WASI("poll_oneoff") u32 wasi_poll(const void *in, void *events, u32 count, u32 *happened);

CALL(host_clock, "clock");
CALL(host_random, "random");
CALL(host_id, "id");
CALL(host_sleep, "sleep");
CALL(host_log, "log");
CALL(host_progress, "progress");
CALL(host_plan, "plan");
CALL(host_message_append, "message.append");
CALL(host_message_delta, "message.delta");
CALL(host_transcript_read, "transcript.read");
CALL(host_llm_complete, "llm.complete");
CALL(host_plan_set, "plan.set");
CALL(host_plan_get, "plan.get");
CALL(host_inbox_take, "inbox.take");
CALL(host_agent_event, "agent.event");
CALL(host_composition_begin, "composition.begin");
CALL(host_composition_end, "composition.end");
CALL(host_tool_list, "tool.list");
CALL(host_tool_call, "tool.call");
CALL(host_resource_list, "resource.list");
CALL(host_resource_read, "resource.read");
CALL(host_prompt_get, "prompt.get");
CALL(host_http_fetch, "http.fetch");
CALL(host_memory_query, "memory.query");
CALL(host_memory_write, "memory.write");
CALL(host_block_list, "block.list");
CALL(host_block_write, "block.write");
CALL(host_secret_use, "secret.use");
CALL(host_artifact_put, "artifact.put");
CALL(host_artifact_get, "artifact.get");
CALL(host_file_read, "file.read");
CALL(host_file_write, "file.write");
CALL(host_file_edit, "file.edit");
CALL(host_file_list, "file.list");
CALL(host_file_remove, "file.remove");
CALL(host_file_search, "file.search");
CALL(host_skill_read, "skill.read");
CALL(host_skill_match, "skill.match");
CALL(host_state_get, "state.get");
CALL(host_state_set, "state.set");
CALL(host_input_request, "input.request");
CALL(host_auth_request, "auth.request");
CALL(host_approval_request, "approval.request");
CALL(host_task_spawn, "task.spawn");
CALL(host_task_await, "task.await");
CALL(host_handoff, "handoff");
CALL(host_agent_delegate, "agent.delegate");
CALL(host_event_emit, "event.emit");
CALL(host_config_get, "config.get");
CALL(host_host_fact, "host.fact");
CALL(host_deliveries, "connector.deliveries");
CALL(host_normalized, "connector.normalized");
CALL(host_deliver, "connector.deliver");

#define ENTRY(name, function) {LITERAL("\"" name "\""), function}

static const struct {
	struct span name;
	u64 (*call)(const byte *, u32);
} table[] = {
	ENTRY("input", host_input), ENTRY("output", host_output),
	ENTRY("clock", host_clock), ENTRY("random", host_random), ENTRY("id", host_id), ENTRY("sleep", host_sleep),
	ENTRY("log", host_log), ENTRY("progress", host_progress), ENTRY("plan", host_plan),
	ENTRY("message.append", host_message_append), ENTRY("message.delta", host_message_delta),
	ENTRY("transcript.read", host_transcript_read),
	ENTRY("llm.complete", host_llm_complete), ENTRY("tool.list", host_tool_list), ENTRY("tool.call", host_tool_call),
	ENTRY("resource.list", host_resource_list), ENTRY("resource.read", host_resource_read), ENTRY("prompt.get", host_prompt_get),
	ENTRY("plan.set", host_plan_set), ENTRY("plan.get", host_plan_get), ENTRY("inbox.take", host_inbox_take), ENTRY("agent.event", host_agent_event),
	ENTRY("composition.begin", host_composition_begin), ENTRY("composition.end", host_composition_end),
	ENTRY("http.fetch", host_http_fetch), ENTRY("secret.use", host_secret_use),
	ENTRY("memory.query", host_memory_query), ENTRY("memory.write", host_memory_write),
	ENTRY("block.list", host_block_list), ENTRY("block.write", host_block_write),
	ENTRY("artifact.put", host_artifact_put), ENTRY("artifact.get", host_artifact_get),
	ENTRY("file.read", host_file_read), ENTRY("file.write", host_file_write), ENTRY("file.list", host_file_list),
	ENTRY("skill.read", host_skill_read), ENTRY("skill.match", host_skill_match),
	ENTRY("file.edit", host_file_edit), ENTRY("file.remove", host_file_remove), ENTRY("file.search", host_file_search),
	ENTRY("state.get", host_state_get), ENTRY("state.set", host_state_set),
	ENTRY("input.request", host_input_request), ENTRY("auth.request", host_auth_request),
	ENTRY("approval.request", host_approval_request),
	ENTRY("task.spawn", host_task_spawn), ENTRY("task.await", host_task_await), ENTRY("handoff", host_handoff), ENTRY("agent.delegate", host_agent_delegate),
	ENTRY("event.emit", host_event_emit), ENTRY("config.get", host_config_get), ENTRY("host.fact", host_host_fact),
	ENTRY("connector.deliveries", host_deliveries), ENTRY("connector.normalized", host_normalized),
	ENTRY("connector.deliver", host_deliver),
};

// The members of answers that later requests can name.
static struct {
	struct span name, variable, value;
} ids[] = {
	{LITERAL("\"task_id\""), LITERAL("$task_id"), {0, 0}},
	{LITERAL("\"artifact_id\""), LITERAL("$artifact_id"), {0, 0}},
	{LITERAL("\"message_id\""), LITERAL("$message_id"), {0, 0}},
	{LITERAL("\"memory_id\""), LITERAL("$memory_id"), {0, 0}},
	{LITERAL("\"handle\""), LITERAL("$handle"), {0, 0}},
	{LITERAL("\"composition_id\""), LITERAL("$composition_id"), {0, 0}},
};

enum { IDS = sizeof ids / sizeof *ids, CALLS = sizeof table / sizeof *table, ID_ROOM = 256 };

static byte kept[IDS][ID_ROOM];

static u64 digest = 0xcbf29ce484222325; // FNV-1a
static u32 made;
static int output_given;

static void mix(const byte *p, u32 n) {
	for (u32 i = 0; i < n; i++) digest = (digest ^ p[i]) * 0x100000001b3;
}

// keep remembers the ids of an answer, without their quotes.
static void keep(struct span answer) {
	for (int i = 0; i < IDS; i++) {
		struct span value = member(answer, ids[i].name);
		u32 n = value.end - value.start;
		if (!value.start || *value.start != '"' || n - 2 > ID_ROOM) continue;
		for (u32 j = 0; j < n - 2; j++) kept[i][j] = value.start[1 + j];
		ids[i].value = (struct span){kept[i], kept[i] + n - 2};
	}
}

static int starts(byte *p, byte *end, struct span with) {
	u32 n = with.end - with.start;
	return (u32)(end - p) >= n && same((struct span){p, p + n}, with);
}

// put_variable writes what the variable at p stands for, and returns its length: 0
// when there is none.
static u32 put_variable(byte *p, byte *end) {
	for (int i = 0; i < IDS; i++) {
		if (!starts(p, end, ids[i].variable)) continue;
		put_span(ids[i].value);
		return ids[i].variable.end - ids[i].variable.start;
	}
	if (starts(p, end, LITERAL("$digest"))) return put_hex(digest), 7;
	if (starts(p, end, LITERAL("$n"))) return put_number(made), 2;
	return 0;
}

static void put_filled(struct span s) {
	for (byte *p = s.start; p < s.end;) {
		u32 n = *p == '$' ? put_variable(p, s.end) : 0;
		if (n)
			p += n;
		else
			put(*p++);
	}
}

// unescape returns the text of a JSON string. Of the \u escapes it knows those
// below \u0080.
static struct span unescape(struct span s) {
	byte *start = out;
	for (byte *p = s.start + 1; p < s.end - 1; p++) {
		if (*p != '\\') {
			put(*p);
			continue;
		}
		switch (*++p) {
		case 'n': put('\n'); break;
		case 't': put('\t'); break;
		case 'r': put('\r'); break;
		case 'u':
			put((p[3] - '0') << 4 | (p[4] <= '9' ? p[4] - '0' : (p[4] | 0x20) - 'a' + 10));
			p += 4;
			break;
		default: put(*p);
		}
	}
	return (struct span){start, out};
}

// request writes what a step passes.
static struct span request(struct span step) {
	struct span bytes = MEMBER(step, "bytes"), text = MEMBER(step, "text");
	struct span from = text.start ? unescape(text) : MEMBER(step, "request");
	byte *start = out;
	if (bytes.start) {
		u32 n = number(bytes, 0);
		for (int i = 0; i < 4; i++, n >>= 8) put(n);
	} else if (from.start) {
		put_filled(from);
	}
	return (struct span){start, out};
}

static void wasi_sleep(u64 ms) {
	u64 subscription[6] = {0, 0, 1, ms * 1000000, 0, 0}; // a relative time of the monotonic clock
	byte event[32];
	u32 happened;
	u32 errno = wasi_poll(subscription, event, 1, &happened);
	mix((byte *)&errno, 4);
}

// through_wasi makes a step that is a word of WASI's.
static int through_wasi(struct span word, struct span step) {
	u64 n = number(MEMBER(step, "bytes"), 16);
	u64 time = 0;
	if (IS(word, "\"wasi.clock\"") || IS(word, "\"wasi.monotonic\"")) {
		wasi_clock(IS(word, "\"wasi.monotonic\""), 1, &time);
		mix((byte *)&time, 8);
	} else if (IS(word, "\"wasi.random\"")) {
		reserve(n);
		wasi_random(out, n);
		mix(out, n);
	} else if (IS(word, "\"wasi.sleep\"")) {
		wasi_sleep(n);
	} else if (IS(word, "\"wasi.print\"")) {
		struct span text = request(step);
		u32 part[2] = {(u32)text.start, text.end - text.start}, written;
		wasi_write(1, (struct span *)part, 1, &written);
	} else {
		return 0;
	}
	return 1;
}

// is_json reports whether a call answers with JSON: bytes may look like the beginning
// of an object, and be none.
static int is_json(u64 (*call)(const byte *, u32)) {
	return call != host_random && call != host_artifact_get;
}

// through_host makes a step that is a host call.
static int through_host(struct span name, struct span step) {
	for (int i = 0; i < CALLS; i++) {
		if (!same(name, table[i].name)) continue;
		struct span asked = request(step);
		u64 result = table[i].call(asked.start, asked.end - asked.start);
		struct span answer = take(result);
		mix((byte *)&result, 8);
		mix(answer.start, answer.end - answer.start);
		if (is_json(table[i].call)) keep(answer);
		if (table[i].call == host_output && !status_of(result)) output_given = 1;
		made++;
		return 1;
	}
	return 0;
}

static void conclude(void) {
	byte *start = out;
	PUT("{\"summary\":\"");
	put_number(made);
	PUT(" calls, digest ");
	put_hex(digest);
	PUT("\",\"metrics\":{\"calls\":");
	put_number(made);
	PUT(",\"digest\":");
	put_number(digest & 0xffffffff);
	PUT("}}");
	host_output(start, out - start);
}

enum { GO_ON = -1, UNKNOWN = 2 };

// perform makes a step, and returns GO_ON or what the export is to return.
static int perform(struct span step) {
	struct span name = MEMBER(step, "call");
	u32 n = number(MEMBER(step, "bytes"), 1);
	if (IS(name, "\"trap\"")) __builtin_trap();
	if (IS(name, "\"return\"")) return n;
	if (IS(name, "\"spin\""))
		for (volatile u32 i = 0;; i++) {
		}
	if (IS(name, "\"grow\"")) {
		u32 before = __builtin_wasm_memory_grow(0, n);
		mix((byte *)&before, 4);
		return GO_ON;
	}
	return through_wasi(name, step) || through_host(name, step) ? GO_ON : UNKNOWN;
}

EXPORT("run") int run(void) {
	struct span program = MEMBER(input(), "program"), step;
	if (!program.start || *program.start != '[') return UNKNOWN;
	byte *scratch = out, *p = program.start + 1;
	while ((step = next(&p, program.end, 0)).start) {
		for (u64 n = number(MEMBER(step, "repeat"), 1); n; n--, out = scratch) {
			int code = perform(step);
			if (code != GO_ON) return code;
		}
	}
	if (!output_given) conclude();
	return 0;
}
