# Generated from plugins/py/sdk by go test ./sdk -update. Do not edit.
# What a program imports as "wharf". The functions of the host calls that it uses follow: see py.go.
import json as _json

import _wharf

_statuses = ("ok", "invalid", "denied", "not_found", "too_large", "unavailable", "indeterminate", "timeout")


class WharfError(Exception):
    """The host has refused a call, or could not do it."""

    def __init__(self, call, status, code, message):
        super().__init__(call + ": " + message)
        self.call = call
        self.status = status
        self.code = code
        self.message = message


class Denied(WharfError):
    """Policy forbids the call."""


class NotFound(WharfError):
    """What the call names does not exist, or not for this Task."""


class Unavailable(WharfError):
    """The host could not do it now."""


class TimedOut(WharfError):
    """Nobody answered, or nothing happened, in time."""


_classes = {"denied": Denied, "not_found": NotFound, "unavailable": Unavailable, "timeout": TimedOut}


class Failure(Exception):
    """Fails the Task with a code of the plugin's own when it is raised."""

    def __init__(self, code, message="", details=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class Task:
    """The Task that runs, as it was accepted."""

    def __init__(self, answer):
        for name, value in answer["task"].items():
            setattr(self, name, value)
        self.persona = answer.get("persona")
        self.skills = answer.get("skills") or []
        self.session_id = answer.get("session_id")

    @property
    def text(self):
        """What the input says: itself a text, its member text, or the text parts of a Message, joined by empty lines; else ""."""
        given = getattr(self, "input", None)
        if isinstance(given, dict) and isinstance(given.get("text"), str):
            given = given["text"]
        if isinstance(given, str):
            return given
        return "\n\n".join(p["text"] for p in _parts(given) if p.get("type") == "text")

    @property
    def value(self):
        """The input as JSON: of a Message, the value of its first JSON part."""
        given = getattr(self, "input", None)
        for part in _parts(given):
            if part.get("type") == "json":
                return part.get("value")
        return given


def _parts(given):
    parts = given.get("parts") if isinstance(given, dict) else None
    return [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []


def _refused(call, status, answer):
    try:
        told = _json.loads(answer)
    except ValueError:
        told = {}
    word = _statuses[status] if status < len(_statuses) else str(status)
    code = told.get("code") or word
    if code in ("proposed", "shadow"):
        return {"withheld": code}
    raise _classes.get(word, WharfError)(call, word, code, told.get("message") or word)


def _written(request):
    return _json.dumps(request, separators=(",", ":"))


def _bytes(call, request):
    status, answer = _wharf.call(call, request)
    return _refused(call, status, answer) if status else answer


def _asked(call, request):
    answer = _bytes(call, None if request is None else _written(request))
    if isinstance(answer, dict):
        return answer
    return _json.loads(answer) if answer else None


def _members(request, members):
    if request is None:
        return members
    whole = dict(request)
    whole.update(members)
    return whole


def _print(line):
    _wharf.call("log", _written({"level": "info", "message": line}))


def reply(content):
    """Appends a Message of the assistant: a text, or parts."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content, "visibility": "public"}]
    return _asked("message.append", {"role": "assistant", "parts": content})


class Response:
    """The answer to a request over HTTP."""

    def __init__(self, answer):
        self.status = answer.get("status", 0)  # 0: the Persona's tier has held the request back
        self.ok = 200 <= self.status < 300
        self.url = answer.get("url")
        self.headers = {k.lower(): v for k, v in (answer.get("header") or {}).items()}
        self._answer = answer

    @property
    def content(self):
        body = self._answer.get("body")
        if body is None:
            return (self._answer.get("text") or "").encode()
        from binascii import a2b_base64

        return a2b_base64(body)

    @property
    def text(self):
        text = self._answer.get("text")
        return str(self.content, "utf-8") if text is None else text

    def json(self):
        return _json.loads(self.text)


def fetch(url, method=None, headers=None, body=None, json=None, **more):
    """Makes an HTTP request. The rest are members of the host call http.fetch: call_id, purpose,
    idempotency_header, timeout_ms."""
    request = {"url": url}
    if method:
        request["method"] = method.upper()
    headers = dict(headers or {})
    if json is not None:
        body = _json.dumps(json)
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
    if headers:
        request["header"] = headers
    if isinstance(body, str):
        request["text"] = body
    elif body is not None:
        from binascii import b2a_base64

        request["body"] = str(b2a_base64(body, newline=False), "utf-8")
    request.update(more)
    return Response(_asked("http.fetch", request))


def input():
    return _asked("input", None)


def output(request=None, **members):
    return _asked("output", _members(request, members))


def clock(request=None, **members):
    return _asked("clock", _members(request, members))


def random(n):
    return _bytes("random", n.to_bytes(4, "little"))


def id(request=None, **members):
    return _asked("id", _members(request, members))


def log(request=None, **members):
    return _asked("log", _members(request, members))


def progress(request=None, **members):
    return _asked("progress", _members(request, members))


def plan(request=None, **members):
    return _asked("plan", _members(request, members))


def agent_event(request=None, **members):
    return _asked("agent.event", _members(request, members))


def plan_set(request=None, **members):
    return _asked("plan.set", _members(request, members))


def plan_get(request=None, **members):
    return _asked("plan.get", _members(request, members))


def inbox_take(request=None, **members):
    return _asked("inbox.take", _members(request, members))


def message_append(request=None, **members):
    return _asked("message.append", _members(request, members))


def message_delta(request=None, **members):
    return _asked("message.delta", _members(request, members))


def transcript_read(request=None, **members):
    return _asked("transcript.read", _members(request, members))


def llm_complete(request=None, **members):
    return _asked("llm.complete", _members(request, members))


def tool_list(request=None, **members):
    return _asked("tool.list", _members(request, members))


def tool_call(request=None, **members):
    return _asked("tool.call", _members(request, members))


def resource_list(request=None, **members):
    return _asked("resource.list", _members(request, members))


def resource_read(request=None, **members):
    return _asked("resource.read", _members(request, members))


def prompt_get(request=None, **members):
    return _asked("prompt.get", _members(request, members))


def http_fetch(request=None, **members):
    return _asked("http.fetch", _members(request, members))


def secret_use(request=None, **members):
    return _asked("secret.use", _members(request, members))


def memory_query(request=None, **members):
    return _asked("memory.query", _members(request, members))


def memory_write(request=None, **members):
    return _asked("memory.write", _members(request, members))


def block_list(request=None, **members):
    return _asked("block.list", _members(request, members))


def block_write(request=None, **members):
    return _asked("block.write", _members(request, members))


def artifact_put(request, content):
    if isinstance(content, str):
        content = content.encode()
    answer = _bytes("artifact.put", _written(request).encode() + b"\n" + content)
    return answer if isinstance(answer, dict) else _json.loads(answer)


def artifact_get(request=None, **members):
    return _bytes("artifact.get", _written(_members(request, members)))


def file_read(request=None, **members):
    return _asked("file.read", _members(request, members))


def file_write(request=None, **members):
    return _asked("file.write", _members(request, members))


def file_edit(request=None, **members):
    return _asked("file.edit", _members(request, members))


def file_list(request=None, **members):
    return _asked("file.list", _members(request, members))


def file_remove(request=None, **members):
    return _asked("file.remove", _members(request, members))


def file_search(request=None, **members):
    return _asked("file.search", _members(request, members))


def skill_read(request=None, **members):
    return _asked("skill.read", _members(request, members))


def skill_match(request=None, **members):
    return _asked("skill.match", _members(request, members))


def composition_begin(request=None, **members):
    return _asked("composition.begin", _members(request, members))


def composition_end(request=None, **members):
    return _asked("composition.end", _members(request, members))


def state_get(request=None, **members):
    return _asked("state.get", _members(request, members))


def state_set(request=None, **members):
    return _asked("state.set", _members(request, members))


def sleep(request=None, **members):
    return _asked("sleep", _members(request, members))


def input_request(request=None, **members):
    return _asked("input.request", _members(request, members))


def auth_request(request=None, **members):
    return _asked("auth.request", _members(request, members))


def approval_request(request=None, **members):
    return _asked("approval.request", _members(request, members))


def task_spawn(request=None, **members):
    return _asked("task.spawn", _members(request, members))


def task_await(request=None, **members):
    return _asked("task.await", _members(request, members))


def handoff(request=None, **members):
    return _asked("handoff", _members(request, members))


def agent_delegate(request=None, **members):
    return _asked("agent.delegate", _members(request, members))


def event_emit(request=None, **members):
    return _asked("event.emit", _members(request, members))


def config_get(request=None, **members):
    return _asked("config.get", _members(request, members))


def host_fact(request=None, **members):
    return _asked("host.fact", _members(request, members))


def connector_deliveries():
    return _asked("connector.deliveries", None)


def connector_normalized(request=None, **members):
    return _asked("connector.normalized", _members(request, members))


def connector_deliver(request=None, **members):
    return _asked("connector.deliver", _members(request, members))
