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
