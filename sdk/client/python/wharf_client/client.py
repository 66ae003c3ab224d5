"""The client that waits for answers."""

from __future__ import annotations

import http.client
import io
import json
import random
import secrets
import ssl
import threading
import time
import urllib.parse
from typing import Any, Callable, Dict, Iterator, List, Mapping, Sequence, Union

from . import generated as api
from .errors import CutError, WharfError, decode_error, is_transient
from .receipt import VerifiedReceipt, verify_receipt
from .socket import Socket

#: The version of the protocol that this client speaks.
PROTOCOL_VERSION = "agents-protocol-2026-04-25"


def text(words: str) -> api.TextPartInput:
    """A part of a Message that is text."""
    return {"type": "text", "text": words}


def say(words: str) -> api.MessageInput:
    """A Message of a user."""
    return {"role": "user", "parts": [text(words)]}


def ended(task: api.Task) -> bool:
    """Whether a Task has ended, well or not."""
    return task["status"] in ("COMPLETED", "FAILED", "CANCELED")


def needs_answer(task: api.Task) -> bool:
    """Whether a Task waits for somebody's answer: see tasks.permissions."""
    return task["status"] in ("INPUT_REQUIRED", "AUTH_REQUIRED")


class Wharf:
    """A client of one node. Many threads can use it."""

    def __init__(self, url: str, key: str = "", *, retries: int = 4, max_wait: float = 60, timeout: float = 120,
                 tls: Union[ssl.SSLContext, None] = None) -> None:
        """url is that of the node, such as http://127.0.0.1:8080, and key an API key or access token.

        A request is sent again retries times at most, and not when the node asks to wait longer than max_wait seconds;
        so long a stream tries to reach a node that is not there.
        timeout is how long the node may be silent; it sends a heartbeat over streams more often.
        """
        self._url = urllib.parse.urlsplit(url.rstrip("/"))
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ValueError(f"{url!r} is no URL of a node: it begins with http:// or https://")
        self._key = key
        self._retries = retries
        self._max_wait = max_wait
        self._timeout = timeout
        self._tls = tls
        self.workspaces = api.WorkspacesResource(self)
        self.personas = api.PersonasResource(self)
        self.sessions = Sessions(self)
        self.tasks = Tasks(self)
        self.messages = api.MessagesResource(self)
        self.outcomes = api.OutcomesResource(self)
        self.artifacts = api.ArtifactsResource(self)
        self.permissions = Permissions(self)
        self.receipts = Receipts(self)
        self.events = Events(self)
        self.branches = api.BranchesResource(self)
        self.memories = api.MemoriesResource(self)
        self.connectors = api.ConnectorsResource(self)
        self.webhooks = api.WebhooksResource(self)
        self.plugins = api.PluginsResource(self)
        self.skills = api.SkillsResource(self)
        self.skill_bundles = api.SkillBundlesResource(self)
        self.tool_servers = api.ToolServersResource(self)
        self.vaults = api.VaultsResource(self)
        self.keys = api.KeysResource(self)
        self.quotas = api.QuotasResource(self)
        self.holds = api.HoldsResource(self)
        self.node = api.NodeResource(self)

    def request(self, operation: str, *, path: Sequence[str] = (), query: Any = None, body: Any = None,
                idempotency_key: Union[str, None] = None, headers: Union[Mapping[str, str], None] = None) -> Any:
        """Sends the request of any operation: request("listQuotas")."""
        return self.call(operation, list(path), query, body, idempotency_key, headers)

    def call(self, operation: str, path: List[str], query: Any, body: Any, idempotency_key: Union[str, None],
             headers: Union[Mapping[str, str], None]) -> Any:
        """What the resources send their requests by."""
        all_headers = dict(headers or {})
        content = b""
        if body is not None:
            all_headers.setdefault("Content-Type", "application/json")
            content = json.dumps(body).encode()
        answer = self.send(operation, path, query, content, idempotency_key, all_headers)
        return json.loads(answer) if answer else None

    def upload(self, operation: str, path: List[str], query: Any, content: api.Content, media: str, idempotency_key: Union[str, None],
               headers: Union[Mapping[str, str], None]) -> Any:
        """Sends bytes, of a media type. A file is sent from its beginning, also when it is sent again."""
        return json.loads(self.send(operation, path, query, content, idempotency_key, {"Content-Type": media, **(headers or {})}))

    def download(self, operation: str, path: List[str], query: Any, headers: Union[Mapping[str, str], None]) -> bytes:
        """Sends the request of an operation, and returns the bytes that it is answered with."""
        return self.send(operation, path, query, b"", None, headers or {})

    def send(self, operation: str, path: List[str], query: Any, content: api.Content, idempotency_key: Union[str, None],
             headers: Mapping[str, str]) -> bytes:
        """Sends a request until it is answered with success, or for good without, and returns the answer's bytes."""
        op = api.OPERATIONS[operation]
        target = self.target(op.path, path, query)
        sent = dict(headers)
        if not isinstance(content, bytes):  # of a file that is all there http.client would not say its length
            sent["Content-Length"] = str(content.seek(0, io.SEEK_END))
        if op.keyed:
            sent["Idempotency-Key"] = idempotency_key or new_key()
        repeatable = op.keyed or op.method == "GET"
        attempt = 0
        while True:
            if not isinstance(content, bytes):
                content.seek(0)
            try:
                with Exchange(self, op.method, target, content, sent) as exchange:
                    return exchange.answer.read()
            except (OSError, http.client.HTTPException, WharfError) as error:
                wait = self._wait_before(error, attempt, repeatable)
                if attempt >= self._retries or wait is None:
                    raise
            time.sleep(wait)
            attempt += 1

    def target(self, path: str, ids: Sequence[str], query: Any) -> str:
        """Returns the path and query of a request."""
        left = list(ids)
        parts = []
        for part in path.split("/"):
            if part.startswith("{"):
                value = left.pop(0)
                if value in ("", ".", ".."):
                    raise ValueError(f"{value!r} cannot be the {part[1:-1]} in {path}")
                part = urllib.parse.quote(value, safe="")
            parts.append(part)
        members = {name: plain(value) for name, value in (query or {}).items() if value is not None}
        target = self._url.path + "/".join(parts)
        return f"{target}?{urllib.parse.urlencode(members)}" if members else target

    def _wait_before(self, error: Exception, attempt: int, repeatable: bool) -> Union[float, None]:
        """Returns how long to wait before a request is sent again; None when it is not."""
        if not isinstance(error, WharfError):
            return backoff(attempt) if repeatable else None
        again = error.status == 429 or (repeatable and error.status in (502, 503, 504))
        if not again or error.retry_after > self._max_wait:
            return None
        if error.retry_after > 0:
            return error.retry_after + random.uniform(0, 0.25)
        return min(backoff(attempt), self._max_wait)

    def connection(self) -> http.client.HTTPConnection:
        """Returns a connection to the node, which is not open yet."""
        host = self._url.hostname or ""
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, self._url.port, timeout=self._timeout, context=self._tls)
        return http.client.HTTPConnection(host, self._url.port, timeout=self._timeout)

    def headers(self) -> Dict[str, str]:
        """Returns the headers that every request has."""
        own = {"Harn-Agents-Protocol-Version": PROTOCOL_VERSION}
        if self._key:
            own["Authorization"] = f"Bearer {self._key}"
        return own

    def stream(self, operation: str, *, path: Sequence[str] = (), query: Any = None, after: str = "",
               stop: Union["Stop", None] = None) -> Iterator[api.Event]:
        """Follows the events of a streaming operation, from the one after the event whose id is after.

        When the connection is cut or the node restarts, it connects again and goes on: no event comes twice, and none is lost. It
        ends when the stream does, which that of a Task does, or when it is stopped, and raises what coming back does not help against.
        """
        stop = stop or Stop()
        failed, reached = 0, time.monotonic()
        while not stop.is_set():
            wait = 0.0
            try:
                for event in self._follow(operation, path, query, after, stop):
                    failed, after = 0, event["id"]
                    yield event
                    reached = time.monotonic()
                return
            except (OSError, http.client.HTTPException, WharfError) as error:
                if stop.is_set():
                    return
                if isinstance(error, CutError):
                    reached = time.monotonic()
                lost = time.monotonic() - reached > self._max_wait
                if lost or not (is_transient(error) or isinstance(error, http.client.HTTPException)):
                    raise
                wait = error.retry_after if isinstance(error, WharfError) else 0.0
            stop.wait(max(backoff(failed), wait))
            failed += 1

    def _follow(self, operation: str, path: Sequence[str], query: Any, after: str, stop: "Stop") -> Iterator[api.Event]:
        """One connection of a stream. It returns when the node has no more, and raises when it was cut."""
        headers = {"Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = after
        target = self.target(api.OPERATIONS[operation].path, path, query)
        with Exchange(self, "GET", target, b"", headers) as exchange, stop.closing(exchange.close):
            if exchange.answer.status == 204:
                return
            for name, data in frames(exchange.answer):
                if name == "error":
                    raise decode_error(data)
                event: api.Event = json.loads(data)
                yield event


class Stop:
    """Ends a stream from another thread."""

    def __init__(self) -> None:
        self._set = threading.Event()
        self._close: Union[Callable[[], None], None] = None
        self._lock = threading.Lock()

    def set(self) -> None:
        """Ends the stream, also one that waits for an event."""
        with self._lock:
            self._set.set()
            if self._close:
                self._close()

    def is_set(self) -> bool:
        return self._set.is_set()

    def wait(self, timeout: float) -> None:
        self._set.wait(timeout)

    def closing(self, close: Callable[[], None]) -> "_Closing":
        """Has close called when the stream is stopped, within a with statement."""
        return _Closing(self, close)

    def hold(self, close: Union[Callable[[], None], None]) -> None:
        with self._lock:
            self._close = close
            if close and self._set.is_set():
                close()


class _Closing:
    def __init__(self, stop: Stop, close: Callable[[], None]) -> None:
        self._stop, self._close = stop, close

    def __enter__(self) -> None:
        self._stop.hold(self._close)

    def __exit__(self, *_: object) -> None:
        self._stop.hold(None)


class Exchange:
    """One request and its answer, over a connection of its own. An answer of 400 and above is raised as a WharfError."""

    def __init__(self, client: Wharf, method: str, target: str, content: api.Content, headers: Mapping[str, str]) -> None:
        self._connection = client.connection()
        try:
            self._connection.request(method, target, body=content or None, headers={**headers, **client.headers()})
            self._socket = self._connection.sock
            self.answer = self._connection.getresponse()
            if self.answer.status >= 400:
                raise decode_error(self.answer.read(1 << 20), self.answer.status, self.answer.getheader("X-Request-Id", ""),
                                   self.answer.getheader("Retry-After", ""))
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "Exchange":
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()
        self._connection.close()

    def close(self) -> None:
        """Ends the exchange for who reads the answer in another thread."""
        try:
            self._socket.shutdown(2)
        except OSError:
            pass  # it is closed already


def frames(answer: http.client.HTTPResponse) -> Iterator[tuple[str, bytes]]:
    """Reads server-sent events: name and data. A frame counts when the empty line after it is there; the end of the bytes is a CutError."""
    name, data = "", []
    while True:
        try:
            line = answer.readline()
        except (OSError, http.client.HTTPException) as error:
            raise CutError("the stream was cut") from error
        if not line.endswith(b"\n"):
            raise CutError("the stream was cut")
        line = line.rstrip(b"\r\n")
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode()
        elif field == b"data":
            data.append(value)
        elif not line and data:
            yield name, b"\n".join(data)
            name, data = "", []


def new_key() -> str:
    """Returns an idempotency key that nobody has used."""
    return "py-" + secrets.token_hex(16)


def plain(value: Any) -> str:
    """Returns a member of a query as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def backoff(attempt: int) -> float:
    """Longer each time, and never as long as other clients wait that failed at the same moment."""
    return min(0.2 * 2.0**attempt, 10) * random.uniform(0.5, 1)


class Sessions(api.SessionsResource):
    def __init__(self, wharf: Wharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, session_id: str, *, after: str = "", stop: Union[Stop, None] = None) -> Iterator[api.Event]:
        """Follows the events of a Session."""
        return self._wharf.stream("streamSessionEvents", path=[session_id], after=after, stop=stop)

    def connect(self, session_id: str, *, after: str = "") -> Socket:
        """Opens a WebSocket to a Session. Its events come after the one that after names, or from now on."""
        query = {"after_event_id": after} if after else None
        target = self._wharf.target(api.OPERATIONS["connectSession"].path, [session_id], query)
        return Socket(self._wharf.connection(), target, self._wharf.headers())


class Tasks(api.TasksResource):
    def __init__(self, wharf: Wharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, task_id: str, *, after: str = "", stop: Union[Stop, None] = None) -> Iterator[api.Event]:
        """Follows the events of a Task, and ends with it."""
        return self._wharf.stream("streamTaskEvents", path=[task_id], after=after, stop=stop)

    def wait(self, task_id: str, *, or_asked: bool = False, stop: Union[Stop, None] = None) -> api.Task:
        """Returns a Task when it has ended, well or not, over restarts of the node; with or_asked also when it waits for an answer."""
        for event in self.stream(task_id, stop=stop):
            if or_asked and event["event"] in ("task.input_required", "task.auth_required"):
                task = self.get(task_id)  # it may have been answered since
                if needs_answer(task):
                    return task
        return self.get(task_id)

    def outcome(self, task_id: str) -> api.Outcome:
        """What a Task that has ended resulted in, with its Messages and Artifacts."""
        task = self.get(task_id)
        outcome_id = task.get("outcome_id")
        if not outcome_id:
            raise LookupError(f"the Task {task_id} is {task['status']}, and has no Outcome yet")
        return self._wharf.outcomes.get(outcome_id)


class Permissions(api.PermissionsResource):
    def approve(self, request_id: str) -> api.PermissionRequest:
        """Lets a Task do what it has asked for."""
        return self.respond(request_id, {"decision": "approved"})

    def deny(self, request_id: str, reason: str = "") -> api.PermissionRequest:
        """Refuses what a Task has asked for."""
        return self.respond(request_id, {"decision": "denied", "reason": reason})


class Receipts(api.ReceiptsResource):
    def __init__(self, wharf: Wharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def wire(self, receipt_id: str) -> bytes:
        """The bytes of a receipt, for verify_receipt."""
        return self._wharf.send("getReceipt", [receipt_id], None, b"", None, {"Accept": "application/vnd.harn.receipt+json"})

    def verify(self, receipt_id: str, keys: Sequence[api.SigningKey]) -> VerifiedReceipt:
        """Fetches a receipt and checks it here, with keys that the caller trusts. See verify_receipt."""
        return verify_receipt(self.wire(receipt_id), keys)


class Events(api.EventsResource):
    def __init__(self, wharf: Wharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, query: Union[api.StreamEventsQuery, None] = None, *, after: str = "", stop: Union[Stop, None] = None) -> Iterator[api.Event]:
        """Follows all events that a query selects."""
        return self._wharf.stream("streamEvents", query=query, after=after, stop=stop)
