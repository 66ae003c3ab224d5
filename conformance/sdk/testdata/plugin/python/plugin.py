# A plugin that does what a Task says: the tests of the SDK run it in the engine, and natively.
from binascii import a2b_base64

from wharf import (
    Denied, Failure, WharfError, artifact_get, artifact_put, clock, config_get, event_emit, fetch, file_read, host_fact, id, llm_complete,
    memory_query, message_append, random, reply, sleep, state_get, state_set,
)


def greet(task):
    reply(config_get(name="greeting")["value"] + ", " + (state_get(key="name")["value"] or "stranger") + "!")
    return "greeted"


def brew(task):
    try:
        answer = fetch("https://tea.example/pots", "post", {"x-kind": "tea"}, '{"pots":1}', call_id="brew", timeout_ms=500)
    except WharfError as e:
        return e.status + " " + e.code
    return str(answer.status) + " " + str(answer.ok) + " " + answer.text


def recall(task):
    try:
        return str(len(memory_query(scope="session", text="tea")["memories"]))
    except Denied as e:
        return e.call + " " + e.code


def keep(task):
    kept = state_set(key="name", value="Ada") or {}
    return kept.get("withheld") or state_get({"key": "name"})["value"]


def ask(task):
    return " ".join(llm_complete(messages=[{"role": "user", "text": word}])["text"] for word in ("a", "b"))


def store(task):
    made = artifact_put({"kind": "file", "mime_type": "text/plain", "visibility": "internal", "name": "pot"}, "h\u00e9llo\nworld")
    return str(artifact_get(artifact_id=made["artifact_id"], offset=1, length=4), "utf-8") + " " + str(len(made["sha256"]))


def wait(task):
    before = int(clock()["unix_nano"])
    sleep(ms=90000)
    return str((int(clock()["unix_nano"]) - before) // 1000000000) + " " + str(len(random(5))) + " " + str(id()["id"] != id()["id"])


def read(task):
    return str(a2b_base64(file_read(path="pot.bin")["body"]), "utf-8")


def tell(task):
    print("one")
    print("two", 2)
    event_emit(kind="vendor.pot.filled", payload={"pots": 1})


def tea(task):
    raise Failure("no_tea", "the pot is empty", {"pots": 1})


def boom(task):
    raise ValueError("boom")


def caught(task):
    try:
        llm_complete(messages=[])
    except Exception:
        return "caught"


def value(task):
    return {"summary": str(task.value["cups"]), "metrics": {"cups": task.value["cups"]}}


# each makes the calls of its input, and tells how each of them went.
def each(task):
    calls = {"state.set": state_set, "llm.complete": llm_complete, "memory.query": memory_query, "sleep": sleep, "message.append": message_append,
             "state.get": state_get, "config.get": config_get, "host.fact": host_fact, "clock": clock}
    went = []
    for call, request in task.value["each"]:
        try:
            calls[call](request)
            went.append("ok")
        except WharfError as e:
            went.append(e.status + " " + e.code)
    return ", ".join(went)


def run(task):
    if isinstance(task.value, dict) and "each" in task.value:
        return each(task)
    known = {"greet": greet, "brew": brew, "recall": recall, "keep": keep, "ask": ask, "store": store, "wait": wait, "read": read,
             "tell": tell, "tea": tea, "boom": boom, "caught": caught, "": value}
    return known[task.text](task)
