# These are the examples of docs/host-calls-examples.md, as a plugin: it runs on a node, beside those in the
# other languages. Each says which host calls it shows.
from wharf import *


def run(task):
    for example in (example_clock, example_random, example_id, example_log, example_progress, example_plan, example_agent_event,
                    example_plan_set, example_inbox_take, example_message_append, example_message_delta, example_transcript_read,
                    example_llm_complete, example_tool_list, example_tool_call, example_composition, example_resource_list,
                    example_resource_read, example_prompt_get, example_config_get, example_http_fetch, example_memory_write,
                    example_memory_query, example_block_write, example_block_list, example_artifact, example_file_write,
                    example_file_edit, example_sleep, example_file_read, example_file_list, example_file_search, example_file_remove,
                    example_skill_read, example_skill_match, example_state, example_input_request, example_auth_request,
                    example_approval_request, example_task, example_handoff, example_agent_delegate, example_event_emit,
                    example_host_fact):
        example()
    return example_run(task)


# Calls: input, output.
def example_run(task):
    return {"summary": "done: " + task.text, "metrics": {"orders": 1}}


# Calls: clock.
def example_clock():
    print("it is " + clock()["unix_nano"])


# Calls: random.
def example_random():
    key = random(16)
    assert len(key) == 16


# Calls: id.
def example_id():
    print("this is order " + id()["id"])


# Calls: sleep.
def example_sleep():
    sleep(ms=100)


# Calls: log.
def example_log():
    log(level="warn", message="the pot is half empty")


# Calls: progress.
def example_progress():
    progress(fraction=0.5, message="half of the orders are in")


# Calls: plan.
def example_plan():
    plan(steps=[{"title": "Ask for the order", "status": "completed"}, {"title": "Place it", "status": "pending"}])


# Calls: agent.event.
def example_agent_event():
    agent_event(kind="turn_started", data={"iteration": 1})


# Calls: plan.get, plan.set.
def example_plan_set():
    version = plan_get()["version"]
    # It raises an error when somebody has changed the plan since it was read.
    plan_set(steps=[{"id": "order", "content": "Place the order", "status": "in_progress"}], version=version)


# Calls: inbox.take.
def example_inbox_take():
    for message in inbox_take(checkpoint="turn", wait=True, timeout_ms=60000)["messages"]:
        print("somebody says: " + message["parts"][0]["text"])


# Calls: message.append.
def example_message_append():
    reply("Your tea is coming.")


# Calls: message.delta.
def example_message_delta():
    message_delta(text="Your tea")


# Calls: transcript.read.
def example_transcript_read():
    for message in transcript_read(last=5)["messages"]:
        print(message["role"] + " has spoken")


# Calls: llm.complete.
def example_llm_complete():
    answer = llm_complete(system="You know teas.", messages=[{"role": "user", "text": "Name one."}], max_tokens=20)
    print("the model says: " + answer["text"])


# Calls: tool.list.
def example_tool_list():
    for tool in tool_list(server="desk")["tools"]:
        print("there is a tool " + tool["name"])


# Calls: tool.call.
def example_tool_call():
    answer = tool_call(server="desk", name="look", arguments={"where": "harbour"})
    print("the tool says: " + answer["content"][0]["text"])


# Calls: composition.begin, composition.end.
def example_composition():
    begun = composition_begin(
        name="what time it is", language="javascript",
        snippet_hash="2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        manifest_hash="fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling="read_only")
    tool_call(server="host", name="time_now", composition_id=begun["composition_id"])
    composition_end(composition_id=begun["composition_id"], stdout="tea time")


# Calls: resource.list.
def example_resource_list():
    for resource in resource_list(server="desk", kind="resource")["resources"]:
        print("there is " + resource["uri"])


# Calls: resource.read.
def example_resource_read():
    note = resource_read(server="desk", uri="notes://teas")
    print("the note says: " + note["contents"][0]["text"])


# Calls: prompt.get.
def example_prompt_get():
    prompt = prompt_get(server="desk", name="greet", arguments={"name": "Ada"})
    print("the prompt says: " + prompt["messages"][0]["content"]["text"])


# Calls: config.get.
def example_config_get():
    currency = config_get(name="currency")["value"]
    if currency:
        print("prices are in " + currency)


# Calls: secret.use, http.fetch.
def example_http_fetch():
    shop = config_get(name="shop")["value"]  # where it is, by the node's configuration
    # The handle stands for the key. The host puts the key in its place.
    key = secret_use(name="shop-key")["handle"]
    answer = http_fetch(
        method="POST", url=shop + "/orders", header={"Authorization": "Bearer " + key, "Content-Type": "application/json"},
        text='{"tea":"green"}', purpose="to order tea", idempotency_header="Idempotency-Key", timeout_ms=30000)
    print("the shop says: " + answer["text"])


# Calls: memory.write.
def example_memory_write():
    memory_write(scope="session", content="Ada likes green tea", confidence=0.75)


# Calls: memory.query.
def example_memory_query():
    for memory in memory_query(scope="session", text="tea", limit=3)["memories"]:
        print("I remember: " + memory["content"])


# Calls: block.write.
def example_block_write():
    block_write(label="customer", value="Ada, who likes green tea.")


# Calls: block.list.
def example_block_list():
    for block in block_list()["blocks"]:
        print(block["label"] + ": " + block["value"])


# Calls: artifact.put, artifact.get.
def example_artifact():
    artifact = artifact_put({"kind": "dataset", "mime_type": "text/csv", "name": "orders.csv"}, b"tea,10\n")
    first = artifact_get(artifact_id=artifact["artifact_id"], length=3)
    print("it begins with " + str(first, "utf-8"))


# Calls: file.write.
def example_file_write():
    file_write(path="orders/today.md", text="green tea, ten times")


# Calls: file.read.
def example_file_read():
    print("the file says: " + file_read(path="orders/today.md")["text"])


# Calls: file.edit.
def example_file_edit():
    file_edit(path="orders/today.md", old="green tea", new="black tea")


# Calls: file.list.
def example_file_list():
    for file in file_list(path="orders", recursive=True, limit=10)["entries"]:
        print("there is a file " + file["path"])


# Calls: file.search.
def example_file_search():
    for match in file_search(glob="*.md", text="TEA", ignore_case=True, limit=10)["matches"]:
        print(match["path"] + ": " + match["text"])


# Calls: file.remove.
def example_file_remove():
    file_remove(path="orders/today.md")


# Calls: skill.read.
def example_skill_read():
    print("the skill says: " + skill_read(skill="brewing", path="times.md")["text"])


# Calls: skill.match.
def example_skill_match():
    ranked = skill_match(prompt="How long does tea take?", working_files=["orders/today.md"])
    for match in ranked["matches"]:
        print("the skill " + match["name"] + " fits")


# Calls: state.get, state.set.
def example_state():
    orders = state_get(key="orders")["value"] or 0  # None when nothing is kept
    state_set(key="orders", value=orders + 1)


# Calls: input.request.
def example_input_request():
    answer = input_request(prompt="Which tea?", schema={"type": "object", "required": ["tea"]}, timeout_seconds=3600)
    print(answer["actor"] + " has answered")


# Calls: auth.request.
def example_auth_request():
    answer = auth_request(provider="calendar", prompt="May I see when you are at home?",
                          url="https://calendar.example.com/authorize", timeout_seconds=3600)
    print(answer["actor"] + " has authorized it")


# Calls: approval.request.
def example_approval_request():
    approval = approval_request(action="order.place", prompt="Order ten teas?", arguments={"count": 10}, timeout_seconds=3600)
    if approval["decision"] != "approved":
        raise Failure("no_order", "nobody wants tea")


# Calls: task.spawn, task.await.
def example_task():
    child = task_spawn(persona_id="persona_echo", input={"text": "Boil water."})
    outcome = task_await(task_id=child["task_id"], timeout_seconds=60)
    print("the child says: " + outcome["summary"])


# Calls: handoff.
def example_handoff():
    successor = handoff(persona_id="persona_echo", input={"text": "Serve the tea."}, reason="it has the cups")
    print(successor["task_id"] + " goes on")


# Calls: agent.delegate.
def example_agent_delegate():
    work = agent_delegate(agent="coder", task="Mend the kettle's firmware", budget={"usd": 2, "seconds": 60}, checkpoint={"approved": True})
    print("the work is " + work["status"])


# Calls: event.emit.
def example_event_emit():
    event_emit(kind="vendor.shop.ordered", payload={"count": 10})


# Calls: host.fact.
def example_host_fact():
    print("the host speaks " + host_fact(name="abi.version")["value"])


# Calls: connector.deliver.
def example_connector_deliver():
    connector_deliver(deliveries=[{"id": "order-1", "header": {"content-type": "text/plain"}, "text": "two green teas"}])


def poll(_):
    example_connector_deliver()
    return "polled"


# Calls: connector.deliveries, connector.normalized.
def example_connector():
    results = []
    for delivery in connector_deliveries()["deliveries"]:
        message = {"role": "user", "parts": [{"type": "text", "text": delivery["text"], "visibility": "public"}]}
        results.append({"id": delivery["id"], "tasks": [{"input": message, "thread": "orders"}],
                        "events": [{"kind": "vendor.shop.order", "payload": {"count": 2}}]})
    connector_normalized(results=results)


def normalize(_):
    example_connector()


__all__ = ["run", "poll", "normalize"]
