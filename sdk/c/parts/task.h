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
