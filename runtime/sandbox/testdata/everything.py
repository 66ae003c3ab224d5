# Makes each host call once, as the plugins in the other languages do.
from wharf import *

object_ = {"a": 1}
map_ = {"a": "b"}
one = "AQ=="


def run(_):
    for step in (first, compose, session, model, resources, stored, files, people, others, deliveries):
        step()
    return {"summary": "done", "metrics": {"n": 1}}


def first():
    clock(call_id="begin")
    random(3)
    id()
    sleep(ms=1000)
    log(level="info", message="hi")
    progress(fraction=0.5, message="half")
    plan(steps=[{"title": "a", "status": "pending"}])
    agent_event(kind="turn_started", data={"iteration": 1})


def compose():
    begun = composition_begin(name="n", language="l", snippet_hash="s", manifest_hash="m", side_effect_ceiling="read_only")
    composition = begun["composition_id"]
    inside = {"composition_id": composition} if composition else {}
    tool_call(server="s", name="n", **inside)
    composition_end(composition_id=composition, stdout="o", stderr="e", artifacts=["art_1"], result=object_, failure_category="tool_error", message="m")


def session():
    plan_set(steps=[{"id": "a", "content": "b", "status": "pending"}], version=2)
    plan_get()
    inbox_take(checkpoint="step")
    inbox_take(checkpoint="turn", wait=True, timeout_ms=1000)
    reply("hi")
    message_delta(text="h")
    transcript_read(last=3)


def model():
    llm_complete(call_id="main:1", model="m", system="s", messages=[
        {"role": "assistant", "text": "t", "tool_calls": [{"id": "c", "name": "n", "arguments": object_}]},
        {"role": "tool", "tool_call_id": "c", "is_error": True},
    ], tools=[{"name": "n", "description": "d", "input_schema": object_}], tool_choice="auto", max_tokens=1, stop=["."], stream=True)
    tool_list(server="s")
    tool_call(call_id="c", server="s", name="n", arguments=object_)


def resources():
    for kind in ("resource", "template", "prompt"):
        resource_list(server="s", kind=kind)
    resource_read(call_id="c", server="s", uri="file:///a")
    prompt_get(call_id="c", server="s", name="n", arguments=map_)


def stored():
    http_fetch(call_id="c", method="POST", url="https://x", header=map_, body=one, purpose="p", idempotency_header="Idempotency-Key", timeout_ms=5)
    secret_use(name="s")
    memory_query(call_id="c", scope="session", text="t", limit=3)
    memory_write(scope="tenant", content="c", expires_in_seconds=1, visibility="internal", confidence=0.5, metadata=object_)
    block_list()
    block_write(label="l", value="v", append=True, version=0)
    artifact_put({"kind": "file", "mime_type": "text/plain", "visibility": "public", "name": "n"}, b"x")
    artifact_get(artifact_id="art_1", offset=1, length=2)


def files():
    file_read(call_id="c", path="p", offset=1, length=2)
    file_remove(path="p", sha256="s")
    file_edit({"path": "p", "old": "o", "new": "n", "all": True})
    skill_read(skill="s", path="p")
    skill_match(call_id="c", prompt="p", working_files=["f"], candidates=[{"name": "n", "description": "d", "when_to_use": "w", "paths": ["p"]}], strategy="host")
    file_write(path="p", body=one, mode="append", sha256="s")
    file_list(call_id="c", path="p", recursive=True, after="a", limit=3)
    file_search(call_id="c", path="p", glob="*", text="t", pattern="p", ignore_case=True, after="a", limit=3)


def people():
    state_get(key="k")
    state_set(key="k", value=object_)
    input_request(call_id="c", prompt="p", schema=object_, timeout_seconds=60)
    auth_request(call_id="c", provider="p", prompt="p", url="https://x", timeout_seconds=60)
    approval_request(call_id="c", action="a", prompt="p", arguments=object_, timeout_seconds=60)


def others():
    task_spawn(persona_id="p", input=object_, metadata=object_, deadline_seconds=1)
    task_await(task_id="task_1", timeout_seconds=1)
    handoff(persona_id="p", input=object_, reason="r")
    agent_delegate(call_id="c", agent="a", task="t", expected_scope=object_, context=object_, budget={"usd": 1, "tokens": 1, "seconds": 1, "tool_calls": 1},
                   idempotency_key="k", checkpoint={"approved": True, "checkpoint_id": "c", "allow_local_fallback": True, "plan": {}})


def deliveries():
    event_emit(kind="vendor.x.y", payload=object_)
    config_get(name="n")
    host_fact(name="os")
    connector_deliver(deliveries=[{"id": "i", "header": map_, "text": "t"}, {"id": "j", "body": one}])
    connector_normalized(results=[normalize(each) for each in connector_deliveries()["deliveries"]])


def normalize(delivery):
    message = {"role": "user", "parts": [{"type": "text", "text": delivery.get("text", ""), "visibility": "public"}]}
    return {"id": delivery["id"],
            "tasks": [{"input": message, "persona_id": "p", "thread": "t", "order_key": "o", "metadata": {}}],
            "messages": [{"message": message, "thread": "t"}], "events": [{"kind": "vendor.x", "payload": {}}], "ignored": "i"}
