/* These are the examples of docs/host-calls-examples.md, as a plugin: it runs on a node, beside those in the
 * other languages. Each says which host calls it shows. */
#include "wharf.h"

/* Calls: input, output. */
static wharf_status example_run(const wharf_task *task, wharf_result *result) {
	static const wharf_metric orders = {{"orders", 6}, 1};
	result->summary = wharf_join(wharf_str("done: "), wharf_task_text(task));
	result->metrics.items = &orders;
	result->metrics.count = 1;
	return WHARF_OK;
}

/* Calls: clock. */
static wharf_status example_clock(void) {
	wharf_label_t request = WHARF_NONE;
	wharf_clock_answer_t now;
	wharf_status failed = wharf_clock(&request, &now);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("it is "), now.unix_nano));
}

/* Calls: random. */
static wharf_status example_random(void) {
	wharf_bytes key;
	return wharf_random(16, &key);
}

/* Calls: id. */
static wharf_status example_id(void) {
	wharf_label_t request = WHARF_NONE;
	wharf_id_answer_t order;
	wharf_status failed = wharf_id(&request, &order);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("this is order "), order.id));
}

/* Calls: sleep. */
static wharf_status example_sleep(void) {
	wharf_sleep_request_t request = {.ms = 100};
	return wharf_sleep(&request);
}

/* Calls: log. */
static wharf_status example_log(void) {
	wharf_log_request_t line = {.level = wharf_str("warn"), .message = wharf_str("the pot is half empty")};
	return wharf_log(&line);
}

/* Calls: progress. */
static wharf_status example_progress(void) {
	wharf_progress_request_t request = {.fraction = 0.5, .message = wharf_str("half of the orders are in")};
	return wharf_progress(&request);
}

/* Calls: plan. */
static wharf_status example_plan(void) {
	wharf_plan_step_t steps[] = {
		{wharf_str("Ask for the order"), wharf_str("completed")},
		{wharf_str("Place it"), wharf_str("pending")},
	};
	wharf_plan_request_t request = {.steps = {steps, 2}};
	return wharf_plan(&request);
}

/* Calls: agent.event. */
static wharf_status example_agent_event(void) {
	wharf_agent_event_request_t event = {.kind = wharf_str("turn_started"), .data = wharf_str("{\"iteration\":1}")};
	return wharf_agent_event(&event);
}

/* Calls: plan.get, plan.set. */
static wharf_status example_plan_set(void) {
	wharf_plan_get_request_t get = WHARF_NONE;
	wharf_plan_answer_t plan;
	wharf_status failed = wharf_plan_get(&get, &plan);
	if (failed) return failed;
	/* It fails when somebody has changed the plan since it was read. */
	wharf_planned_step_t step = {.id = wharf_str("order"), .content = wharf_str("Place the order"), .status = wharf_str("in_progress")};
	const int64_t version = plan.version;
	wharf_plan_set_request_t set = {.steps = {&step, 1}, .version = &version};
	return wharf_plan_set(&set, &plan);
}

/* Calls: inbox.take. */
static wharf_status example_inbox_take(void) {
	wharf_inbox_take_request_t request = {.checkpoint = wharf_str("turn"), .wait = true, .timeout_ms = 60000};
	wharf_inbox_take_answer_t taken;
	wharf_status failed = wharf_inbox_take(&request, &taken);
	for (size_t i = 0; !failed && i < taken.messages.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("somebody says: "), taken.messages.items[i].parts.items[0].text));
	return failed;
}

/* Calls: message.append. */
static wharf_status example_message_append(void) {
	return wharf_reply(wharf_str("Your tea is coming."));
}

/* Calls: message.delta. */
static wharf_status example_message_delta(void) {
	wharf_message_delta_request_t piece = {.text = wharf_str("Your tea")};
	return wharf_message_delta(&piece);
}

/* Calls: transcript.read. */
static wharf_status example_transcript_read(void) {
	wharf_transcript_read_request_t request = {.last = 5};
	wharf_transcript_read_answer_t read;
	wharf_status failed = wharf_transcript_read(&request, &read);
	for (size_t i = 0; !failed && i < read.messages.count; i++)
		failed = wharf_say("info", wharf_join(read.messages.items[i].role, wharf_str(" has spoken")));
	return failed;
}

/* Calls: llm.complete. */
static wharf_status example_llm_complete(void) {
	wharf_model_message_t question = {.role = wharf_str("user"), .text = wharf_str("Name one.")};
	wharf_model_request_t request = {.system = wharf_str("You know teas."), .messages = {&question, 1}, .max_tokens = 20};
	wharf_model_answer_t answer;
	wharf_status failed = wharf_llm_complete(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the model says: "), answer.text));
}

/* Calls: tool.list. */
static wharf_status example_tool_list(void) {
	wharf_tool_list_request_t request = {.server = wharf_str("desk")};
	wharf_tool_list_answer_t list;
	wharf_status failed = wharf_tool_list(&request, &list);
	for (size_t i = 0; !failed && i < list.tools.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is a tool "), list.tools.items[i].name));
	return failed;
}

/* Calls: tool.call. */
static wharf_status example_tool_call(void) {
	wharf_tool_call_request_t request = {.server = wharf_str("desk"), .name = wharf_str("look"), .arguments = wharf_str("{\"where\":\"harbour\"}")};
	wharf_tool_call_answer_t answer;
	wharf_status failed = wharf_tool_call(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the tool says: "), answer.content.items[0].text));
}

/* Calls: composition.begin, composition.end. */
static wharf_status example_composition(void) {
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
}

/* Calls: resource.list. */
static wharf_status example_resource_list(void) {
	wharf_resource_list_request_t request = {.server = wharf_str("desk"), .kind = wharf_str("resource")};
	wharf_resource_list_answer_t list;
	wharf_status failed = wharf_resource_list(&request, &list);
	for (size_t i = 0; !failed && i < list.resources.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is "), list.resources.items[i].uri));
	return failed;
}

/* Calls: resource.read. */
static wharf_status example_resource_read(void) {
	wharf_resource_read_request_t request = {.server = wharf_str("desk"), .uri = wharf_str("notes://teas")};
	wharf_resource_read_answer_t note;
	wharf_status failed = wharf_resource_read(&request, &note);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the note says: "), note.contents.items[0].text));
}

/* Calls: prompt.get. */
static wharf_status example_prompt_get(void) {
	wharf_pair name = {wharf_str("name"), wharf_str("Ada")};
	wharf_prompt_get_request_t request = {.server = wharf_str("desk"), .name = wharf_str("greet"), .arguments = {&name, 1}};
	wharf_prompt_get_answer_t prompt;
	wharf_status failed = wharf_prompt_get(&request, &prompt);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the prompt says: "), prompt.messages.items[0].content.text));
}

/* Calls: config.get. */
static wharf_status example_config_get(void) {
	wharf_config_get_request_t request = {.name = wharf_str("currency")};
	wharf_config_get_answer_t currency;
	wharf_status failed = wharf_config_get(&request, &currency);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("prices are in "), wharf_text_of(currency.value)));
}

/* Calls: secret.use, http.fetch. */
static wharf_status example_http_fetch(void) {
	wharf_config_get_request_t where = {.name = wharf_str("shop")}; /* by the node's configuration */
	wharf_config_get_answer_t shop;
	wharf_status failed = wharf_config_get(&where, &shop);
	if (failed) return failed;
	/* The handle stands for the key. The host puts the key in its place. */
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
}

/* Calls: memory.write. */
static wharf_status example_memory_write(void) {
	wharf_memory_write_request_t memory = {.scope = wharf_str("session"), .content = wharf_str("\"Ada likes green tea\""), .confidence = 0.75};
	wharf_memory_write_answer_t written;
	return wharf_memory_write(&memory, &written);
}

/* Calls: memory.query. */
static wharf_status example_memory_query(void) {
	wharf_memory_query_request_t request = {.scope = wharf_str("session"), .text = wharf_str("tea"), .limit = 3};
	wharf_memory_query_answer_t found;
	wharf_status failed = wharf_memory_query(&request, &found);
	for (size_t i = 0; !failed && i < found.memories.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("I remember: "), wharf_text_of(found.memories.items[i].content)));
	return failed;
}

/* Calls: block.write. */
static wharf_status example_block_write(void) {
	wharf_block_write_request_t block = {.label = wharf_str("customer"), .value = wharf_str("Ada, who likes green tea.")};
	wharf_block_write_answer_t written;
	return wharf_block_write(&block, &written);
}

/* Calls: block.list. */
static wharf_status example_block_list(void) {
	wharf_block_list_request_t request = WHARF_NONE;
	wharf_block_list_answer_t list;
	wharf_status failed = wharf_block_list(&request, &list);
	for (size_t i = 0; !failed && i < list.blocks.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(list.blocks.items[i].label, wharf_str(": ")), list.blocks.items[i].value));
	return failed;
}

/* Calls: artifact.put, artifact.get. */
static wharf_status example_artifact(void) {
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
}

/* Calls: file.write. */
static wharf_status example_file_write(void) {
	wharf_file_write_request_t request = {.path = wharf_str("orders/today.md"), .text = wharf_str("green tea, ten times")};
	wharf_file_write_answer_t written;
	return wharf_file_write(&request, &written);
}

/* Calls: file.read. */
static wharf_status example_file_read(void) {
	wharf_file_read_request_t request = {.path = wharf_str("orders/today.md")};
	wharf_file_read_answer_t file;
	wharf_status failed = wharf_file_read(&request, &file);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the file says: "), file.text));
}

/* Calls: file.edit. */
static wharf_status example_file_edit(void) {
	wharf_file_edit_request_t request = {.path = wharf_str("orders/today.md"), .old = wharf_str("green tea"), .new_ = wharf_str("black tea")};
	wharf_file_edit_answer_t edited;
	return wharf_file_edit(&request, &edited);
}

/* Calls: file.list. */
static wharf_status example_file_list(void) {
	wharf_file_list_request_t request = {.path = wharf_str("orders"), .recursive = true, .limit = 10};
	wharf_file_list_answer_t page;
	wharf_status failed = wharf_file_list(&request, &page);
	for (size_t i = 0; !failed && i < page.entries.count; i++)
		failed = wharf_say("info", wharf_join(wharf_str("there is a file "), page.entries.items[i].path));
	return failed;
}

/* Calls: file.search. */
static wharf_status example_file_search(void) {
	wharf_file_search_request_t request = {.glob = wharf_str("*.md"), .text = wharf_str("TEA"), .ignore_case = true, .limit = 10};
	wharf_file_search_answer_t found;
	wharf_status failed = wharf_file_search(&request, &found);
	for (size_t i = 0; !failed && i < found.matches.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(found.matches.items[i].path, wharf_str(": ")), found.matches.items[i].text));
	return failed;
}

/* Calls: file.remove. */
static wharf_status example_file_remove(void) {
	wharf_file_remove_request_t request = {.path = wharf_str("orders/today.md")};
	wharf_file_remove_answer_t removed;
	return wharf_file_remove(&request, &removed);
}

/* Calls: skill.read. */
static wharf_status example_skill_read(void) {
	wharf_skill_read_request_t request = {.skill = wharf_str("brewing"), .path = wharf_str("times.md")};
	wharf_skill_read_answer_t file;
	wharf_status failed = wharf_skill_read(&request, &file);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the skill says: "), file.text));
}

/* Calls: skill.match. */
static wharf_status example_skill_match(void) {
	wharf_text file = wharf_str("orders/today.md");
	wharf_skill_match_request_t request = {.prompt = wharf_str("How long does tea take?"), .working_files = {&file, 1}};
	wharf_skill_match_answer_t ranked;
	wharf_status failed = wharf_skill_match(&request, &ranked);
	for (size_t i = 0; !failed && i < ranked.matches.count; i++)
		failed = wharf_say("info", wharf_join(wharf_join(wharf_str("the skill "), ranked.matches.items[i].name), wharf_str(" fits")));
	return failed;
}

/* Calls: state.get, state.set. */
static wharf_status example_state(void) {
	wharf_state_get_request_t get = {.key = wharf_str("orders")};
	wharf_state_get_answer_t kept;
	wharf_status failed = wharf_state_get(&get, &kept);
	if (failed) return failed;
	wharf_reader read = wharf_read(kept.value); /* null when nothing is kept: that is 0 */
	wharf_writer orders = WHARF_NONE;
	wharf_put_integer(&orders, wharf_get_integer(&read) + 1);
	wharf_state_set_request_t set = {.key = wharf_str("orders"), .value = wharf_written(&orders)};
	return wharf_state_set(&set);
}

/* Calls: input.request. */
static wharf_status example_input_request(void) {
	wharf_input_request_request_t request = {
		.prompt = wharf_str("Which tea?"), .schema = wharf_str("{\"type\":\"object\",\"required\":[\"tea\"]}"), .timeout_seconds = 3600,
	};
	wharf_input_request_answer_t answer;
	wharf_status failed = wharf_input_request(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(answer.actor, wharf_str(" has answered")));
}

/* Calls: auth.request. */
static wharf_status example_auth_request(void) {
	wharf_auth_request_request_t request = {
		.provider = wharf_str("calendar"), .prompt = wharf_str("May I see when you are at home?"),
		.url = wharf_str("https://calendar.example.com/authorize"), .timeout_seconds = 3600,
	};
	wharf_input_request_answer_t answer;
	wharf_status failed = wharf_auth_request(&request, &answer);
	if (failed) return failed;
	return wharf_say("info", wharf_join(answer.actor, wharf_str(" has authorized it")));
}

/* Calls: approval.request. */
static wharf_status example_approval_request(void) {
	wharf_approval_request_request_t request = {
		.action = wharf_str("order.place"), .prompt = wharf_str("Order ten teas?"), .arguments = wharf_str("{\"count\":10}"), .timeout_seconds = 3600,
	};
	wharf_approval_answer_t approval;
	wharf_status failed = wharf_approval_request(&request, &approval);
	if (failed) return failed;
	return wharf_is(approval.decision, "approved") ? WHARF_OK : wharf_fail("no_order", wharf_str("nobody wants tea"));
}

/* Calls: task.spawn, task.await. */
static wharf_status example_task(void) {
	wharf_task_spawn_request_t spawn = {.persona_id = wharf_str("persona_echo"), .input = wharf_str("{\"text\":\"Boil water.\"}")};
	wharf_task_spawn_answer_t child;
	wharf_status failed = wharf_task_spawn(&spawn, &child);
	if (failed) return failed;
	wharf_task_await_request_t await = {.task_id = child.task_id, .timeout_seconds = 60};
	wharf_task_await_answer_t outcome;
	failed = wharf_task_await(&await, &outcome);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the child says: "), outcome.summary));
}

/* Calls: handoff. */
static wharf_status example_handoff(void) {
	wharf_handoff_request_t request = {
		.persona_id = wharf_str("persona_echo"), .input = wharf_str("{\"text\":\"Serve the tea.\"}"), .reason = wharf_str("it has the cups"),
	};
	wharf_task_spawn_answer_t successor;
	wharf_status failed = wharf_handoff(&request, &successor);
	if (failed) return failed;
	return wharf_say("info", wharf_join(successor.task_id, wharf_str(" goes on")));
}

/* Calls: agent.delegate. */
static wharf_status example_agent_delegate(void) {
	wharf_delegation_checkpoint_t checkpoint = {.approved = true};
	wharf_agent_delegate_request_t request = {
		.agent = wharf_str("coder"), .task = wharf_str("Mend the kettle's firmware"), .budget = {.usd = 2, .seconds = 60}, .checkpoint = &checkpoint,
	};
	wharf_agent_delegate_answer_t work;
	wharf_status failed = wharf_agent_delegate(&request, &work);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the work is "), work.status));
}

/* Calls: event.emit. */
static wharf_status example_event_emit(void) {
	wharf_event_emit_request_t event = {.kind = wharf_str("vendor.shop.ordered"), .payload = wharf_str("{\"count\":10}")};
	return wharf_event_emit(&event);
}

/* Calls: host.fact. */
static wharf_status example_host_fact(void) {
	wharf_host_fact_request_t request = {.name = wharf_str("abi.version")};
	wharf_host_fact_answer_t fact;
	wharf_status failed = wharf_host_fact(&request, &fact);
	if (failed) return failed;
	return wharf_say("info", wharf_join(wharf_str("the host speaks "), fact.value));
}

/* Calls: connector.deliver. */
static wharf_status example_connector_deliver(void) {
	wharf_pair type = {wharf_str("content-type"), wharf_str("text/plain")};
	wharf_polled_delivery_t order = {.id = wharf_str("order-1"), .header = {&type, 1}, .text = wharf_str("two green teas")};
	wharf_deliver_request_t request = {.deliveries = {&order, 1}};
	wharf_deliver_answer_t answer;
	return wharf_connector_deliver(&request, &answer);
}

/* Calls: connector.deliveries, connector.normalized. */
static wharf_status example_connector(const wharf_connector_t *connector, const wharf_delivery_t *delivery, wharf_normalized_delivery_t *meant) {
	(void)connector;
	wharf_part_t part = {.type = wharf_str("text"), .text = delivery->text, .visibility = wharf_str("public")};
	wharf_message_input_t message = {.role = wharf_str("user"), .parts = {&part, 1}};
	wharf_writer input = WHARF_NONE;
	wharf_put_message_input(&input, &message);
	/* What is told of all deliveries together has to outlive this function. */
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

static wharf_status all(const wharf_task *task, wharf_result *result) {
	static wharf_status (*const examples[])(void) = {
		example_clock, example_random, example_id, example_log, example_progress, example_plan, example_agent_event,
		example_plan_set, example_inbox_take, example_message_append, example_message_delta, example_transcript_read,
		example_llm_complete, example_tool_list, example_tool_call, example_composition, example_resource_list,
		example_resource_read, example_prompt_get, example_config_get, example_http_fetch, example_memory_write,
		example_memory_query, example_block_write, example_block_list, example_artifact, example_file_write, example_file_edit,
		example_sleep, example_file_read, example_file_list, example_file_search, example_file_remove, example_skill_read, example_skill_match,
		example_state, example_input_request, example_auth_request, example_approval_request, example_task, example_handoff,
		example_agent_delegate, example_event_emit, example_host_fact,
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		wharf_status failed = examples[i]();
		if (failed) return failed;
	}
	return example_run(task, result);
}

static wharf_status polled(const wharf_task *task, wharf_result *result) {
	(void)task;
	result->summary = wharf_str("polled");
	return example_connector_deliver();
}

WHARF_MAIN(run, all)
WHARF_MAIN(poll, polled)
WHARF_CONNECTOR(normalize, example_connector)
