/* Makes each host call once, as the plugins in the other languages do. */
#include "wharf.h"

#define S(text) wharf_str(text)
#define NEW(type, ...) &(const type){__VA_ARGS__}
#define LIST(type, ...) {(const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}) / sizeof(type)}
#define TRY(call) do { wharf_status failed = (call); if (failed) return failed; } while (0)

static wharf_json object(void) { return S("{\"a\":1}"); }

static wharf_status first(void) {
	wharf_clock_answer_t clock;
	wharf_bytes random;
	wharf_id_answer_t id;
	TRY(wharf_clock(NEW(wharf_label_t, .call_id = S("begin")), &clock));
	TRY(wharf_random(3, &random));
	TRY(wharf_id(NEW(wharf_label_t, .call_id = S("")), &id));
	TRY(wharf_sleep(NEW(wharf_sleep_request_t, .ms = 1000)));
	TRY(wharf_say("info", S("hi")));
	TRY(wharf_progress(NEW(wharf_progress_request_t, .fraction = 0.5, .message = S("half"))));
	TRY(wharf_plan(NEW(wharf_plan_request_t, .steps = LIST(wharf_plan_step_t, {S("a"), S("pending")}))));
	return wharf_agent_event(NEW(wharf_agent_event_request_t, .kind = S("turn_started"), .data = S("{\"iteration\":1}")));
}

static wharf_status compose(void) {
	wharf_composition_begin_answer_t begun;
	wharf_tool_call_answer_t called;
	TRY(wharf_composition_begin(NEW(wharf_composition_begin_request_t, .name = S("n"), .language = S("l"), .snippet_hash = S("s"), .manifest_hash = S("m"), .side_effect_ceiling = S("read_only")), &begun));
	TRY(wharf_tool_call(NEW(wharf_tool_call_request_t, .server = S("s"), .name = S("n"), .composition_id = begun.composition_id), &called));
	return wharf_composition_end(NEW(wharf_composition_end_request_t, .composition_id = begun.composition_id, .stdout_ = S("o"), .stderr_ = S("e"),
		.artifacts = LIST(wharf_text, S("art_1")), .result = object(), .failure_category = S("tool_error"), .message = S("m")));
}

static wharf_status session(void) {
	const int64_t version = 2;
	wharf_plan_answer_t plan;
	wharf_inbox_take_answer_t taken;
	wharf_transcript_read_answer_t transcript;
	TRY(wharf_plan_set(NEW(wharf_plan_set_request_t, .steps = LIST(wharf_planned_step_t, {S("a"), S("b"), S("pending")}), .version = &version), &plan));
	TRY(wharf_plan_get(NEW(wharf_plan_get_request_t, .call_id = S("")), &plan));
	TRY(wharf_inbox_take(NEW(wharf_inbox_take_request_t, .checkpoint = S("step")), &taken));
	TRY(wharf_inbox_take(NEW(wharf_inbox_take_request_t, .checkpoint = S("turn"), .wait = true, .timeout_ms = 1000), &taken));
	TRY(wharf_reply(S("hi")));
	TRY(wharf_message_delta(NEW(wharf_message_delta_request_t, .text = S("h"))));
	return wharf_transcript_read(NEW(wharf_transcript_read_request_t, .last = 3), &transcript);
}

static wharf_status model(void) {
	wharf_model_answer_t answer;
	wharf_tool_list_answer_t tools;
	wharf_tool_call_answer_t called;
	TRY(wharf_llm_complete(NEW(wharf_model_request_t, .call_id = S("main:1"), .model = S("m"), .system = S("s"),
		.messages = LIST(wharf_model_message_t,
			{.role = S("assistant"), .text = S("t"), .tool_calls = LIST(wharf_model_tool_call_t, {S("c"), S("n"), object()})},
			{.role = S("tool"), .tool_call_id = S("c"), .is_error = true}),
		.tools = LIST(wharf_model_tool_t, {S("n"), S("d"), object()}),
		.tool_choice = S("auto"), .max_tokens = 1, .stop = LIST(wharf_text, S(".")), .stream = true), &answer));
	TRY(wharf_tool_list(NEW(wharf_tool_list_request_t, .server = S("s")), &tools));
	return wharf_tool_call(NEW(wharf_tool_call_request_t, .call_id = S("c"), .server = S("s"), .name = S("n"), .arguments = object()), &called);
}

static wharf_status resources(void) {
	wharf_resource_list_answer_t list;
	wharf_resource_read_answer_t read;
	wharf_prompt_get_answer_t prompt;
	const wharf_pair argument = {S("a"), S("b")};
	TRY(wharf_resource_list(NEW(wharf_resource_list_request_t, .server = S("s"), .kind = S("resource")), &list));
	TRY(wharf_resource_list(NEW(wharf_resource_list_request_t, .server = S("s"), .kind = S("template")), &list));
	TRY(wharf_resource_list(NEW(wharf_resource_list_request_t, .server = S("s"), .kind = S("prompt")), &list));
	TRY(wharf_resource_read(NEW(wharf_resource_read_request_t, .call_id = S("c"), .server = S("s"), .uri = S("file:///a")), &read));
	return wharf_prompt_get(NEW(wharf_prompt_get_request_t, .call_id = S("c"), .server = S("s"), .name = S("n"), .arguments = {&argument, 1}), &prompt);
}

static const wharf_bytes one = {(const uint8_t *)"\1", 1};

static wharf_status stored(void) {
	const wharf_pair header = {S("a"), S("b")};
	const int64_t version = 0;
	const wharf_bytes content = {(const uint8_t *)"x", 1};
	wharf_http_fetch_answer_t fetched;
	wharf_secret_use_answer_t secret;
	wharf_memory_query_answer_t memories;
	wharf_memory_write_answer_t written;
	wharf_block_list_answer_t blocks;
	wharf_block_write_answer_t block;
	wharf_artifact_put_answer_t artifact;
	wharf_bytes bytes;
	TRY(wharf_http_fetch(NEW(wharf_http_fetch_request_t, .call_id = S("c"), .method = S("POST"), .url = S("https://x"), .header = {&header, 1},
		.body = one, .purpose = S("p"), .idempotency_header = S("Idempotency-Key"), .timeout_ms = 5), &fetched));
	TRY(wharf_secret_use(NEW(wharf_secret_use_request_t, .name = S("s")), &secret));
	TRY(wharf_memory_query(NEW(wharf_memory_query_request_t, .call_id = S("c"), .scope = S("session"), .text = S("t"), .limit = 3), &memories));
	TRY(wharf_memory_write(NEW(wharf_memory_write_request_t, .scope = S("tenant"), .content = S("\"c\""), .expires_in_seconds = 1,
		.visibility = S("internal"), .confidence = 0.5, .metadata = object()), &written));
	TRY(wharf_block_list(NEW(wharf_block_list_request_t, .call_id = S("")), &blocks));
	TRY(wharf_block_write(NEW(wharf_block_write_request_t, .label = S("l"), .value = S("v"), .append = true, .version = &version), &block));
	TRY(wharf_artifact_put(NEW(wharf_artifact_put_request_t, .kind = S("file"), .mime_type = S("text/plain"), .visibility = S("public"), .name = S("n")), content, &artifact));
	return wharf_artifact_get(NEW(wharf_artifact_get_request_t, .artifact_id = S("art_1"), .offset = 1, .length = 2), &bytes);
}

static wharf_status files(void) {
	wharf_file_read_answer_t read;
	wharf_file_remove_answer_t removed;
	wharf_file_edit_answer_t edited;
	wharf_skill_read_answer_t skill;
	wharf_skill_match_answer_t matched;
	wharf_file_write_answer_t written;
	wharf_file_list_answer_t list;
	wharf_file_search_answer_t found;
	TRY(wharf_file_read(NEW(wharf_file_read_request_t, .call_id = S("c"), .path = S("p"), .offset = 1, .length = 2), &read));
	TRY(wharf_file_remove(NEW(wharf_file_remove_request_t, .path = S("p"), .sha256 = S("s")), &removed));
	TRY(wharf_file_edit(NEW(wharf_file_edit_request_t, .path = S("p"), .old = S("o"), .new_ = S("n"), .all = true), &edited));
	TRY(wharf_skill_read(NEW(wharf_skill_read_request_t, .skill = S("s"), .path = S("p")), &skill));
	TRY(wharf_skill_match(NEW(wharf_skill_match_request_t, .call_id = S("c"), .prompt = S("p"), .working_files = LIST(wharf_text, S("f")), .strategy = S("host"),
		.candidates = LIST(wharf_skill_candidate_t, {.name = S("n"), .description = S("d"), .when_to_use = S("w"), .paths = LIST(wharf_text, S("p"))})), &matched));
	TRY(wharf_file_write(NEW(wharf_file_write_request_t, .path = S("p"), .body = one, .mode = S("append"), .sha256 = S("s")), &written));
	TRY(wharf_file_list(NEW(wharf_file_list_request_t, .call_id = S("c"), .path = S("p"), .recursive = true, .after = S("a"), .limit = 3), &list));
	return wharf_file_search(NEW(wharf_file_search_request_t, .call_id = S("c"), .path = S("p"), .glob = S("*"), .text = S("t"), .pattern = S("p"),
		.ignore_case = true, .after = S("a"), .limit = 3), &found);
}

static wharf_status people(void) {
	wharf_state_get_answer_t state;
	wharf_input_request_answer_t input;
	wharf_approval_answer_t approval;
	TRY(wharf_state_get(NEW(wharf_state_get_request_t, .key = S("k")), &state));
	TRY(wharf_state_set(NEW(wharf_state_set_request_t, .key = S("k"), .value = object())));
	TRY(wharf_input_request(NEW(wharf_input_request_request_t, .call_id = S("c"), .prompt = S("p"), .schema = object(), .timeout_seconds = 60), &input));
	TRY(wharf_auth_request(NEW(wharf_auth_request_request_t, .call_id = S("c"), .provider = S("p"), .prompt = S("p"), .url = S("https://x"), .timeout_seconds = 60), &input));
	return wharf_approval_request(NEW(wharf_approval_request_request_t, .call_id = S("c"), .action = S("a"), .prompt = S("p"), .arguments = object(), .timeout_seconds = 60), &approval);
}

static wharf_status others(void) {
	const wharf_delegation_checkpoint_t checkpoint = {.approved = true, .checkpoint_id = S("c"), .allow_local_fallback = true, .plan = S("{}")};
	wharf_task_spawn_answer_t spawned;
	wharf_task_await_answer_t awaited;
	wharf_agent_delegate_answer_t delegated;
	TRY(wharf_task_spawn(NEW(wharf_task_spawn_request_t, .persona_id = S("p"), .input = object(), .metadata = object(), .deadline_seconds = 1), &spawned));
	TRY(wharf_task_await(NEW(wharf_task_await_request_t, .task_id = S("task_1"), .timeout_seconds = 1), &awaited));
	TRY(wharf_handoff(NEW(wharf_handoff_request_t, .persona_id = S("p"), .input = object(), .reason = S("r")), &spawned));
	return wharf_agent_delegate(NEW(wharf_agent_delegate_request_t, .call_id = S("c"), .agent = S("a"), .task = S("t"), .expected_scope = object(), .context = object(),
		.budget = {.usd = 1, .tokens = 1, .seconds = 1, .tool_calls = 1}, .idempotency_key = S("k"), .checkpoint = &checkpoint), &delegated);
}

static wharf_status prepare(const wharf_connector_t *connector, const wharf_delivery_t *delivery, wharf_normalized_delivery_t *meant) {
	(void)connector;
	wharf_part_t *part = wharf_new(wharf_part_t);
	wharf_connector_message_t *message = wharf_new(wharf_connector_message_t);
	wharf_connector_task_t *task = wharf_new(wharf_connector_task_t);
	wharf_connector_event_t *event = wharf_new(wharf_connector_event_t);
	wharf_writer input = WHARF_NONE;
	*part = (wharf_part_t){.type = S("text"), .text = delivery->text.data ? delivery->text : S(""), .visibility = S("public")};
	message->message.role = S("user");
	message->message.parts.items = part;
	message->message.parts.count = 1;
	message->thread = S("t");
	wharf_put_message_input(&input, &message->message);
	*task = (wharf_connector_task_t){wharf_written(&input), S("p"), S("t"), S("o"), S("{}")};
	*event = (wharf_connector_event_t){S("vendor.x"), S("{}")};
	meant->ignored = S("i");
	meant->tasks.items = task;
	meant->messages.items = message;
	meant->events.items = event;
	meant->tasks.count = meant->messages.count = meant->events.count = 1;
	return WHARF_OK;
}

static wharf_status deliveries(void) {
	const wharf_pair header = {S("a"), S("b")};
	wharf_config_get_answer_t config;
	wharf_host_fact_answer_t fact;
	wharf_deliver_answer_t delivered;
	TRY(wharf_event_emit(NEW(wharf_event_emit_request_t, .kind = S("vendor.x.y"), .payload = object())));
	TRY(wharf_config_get(NEW(wharf_config_get_request_t, .name = S("n")), &config));
	TRY(wharf_host_fact(NEW(wharf_host_fact_request_t, .name = S("os")), &fact));
	TRY(wharf_connector_deliver(NEW(wharf_deliver_request_t, .deliveries = LIST(wharf_polled_delivery_t,
		{.id = S("i"), .header = {&header, 1}, .text = S("t")}, {.id = S("j"), .body = one})), &delivered));
	return wharf_connect(prepare) ? wharf_fail("plugin_error", S("normalizing")) : WHARF_OK;
}

static wharf_status everything(const wharf_task *task, wharf_result *result) {
	static wharf_metric metric;
	(void)task;
	TRY(first());
	TRY(compose());
	TRY(session());
	TRY(model());
	TRY(resources());
	TRY(stored());
	TRY(files());
	TRY(people());
	TRY(others());
	TRY(deliveries());
	metric.name = S("n");
	metric.value = 1;
	result->summary = S("done");
	result->metrics.items = &metric;
	result->metrics.count = 1;
	return WHARF_OK;
}

WHARF_MAIN(run, everything)
