"""The client for asyncio. It is that which waits for answers, in threads: all else would be a second client of HTTP."""

from __future__ import annotations

import asyncio
import ssl
import threading
from typing import Any, AsyncIterator, Callable, Iterator, List, Mapping, Sequence, TypeVar, Union

from . import generated as api
from .client import Stop, Wharf, needs_answer
from .receipt import VerifiedReceipt, verify_receipt
from .socket import Frame, Socket

T = TypeVar("T")


async def in_thread(work: Callable[..., T], *args: Any) -> T:
    """Does work in a thread of its own: those that asyncio shares are few, and streams that wait for events would take all of them.

    A thread that nobody waits for any more does not keep a program from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: Union[T, None], error: Union[BaseException, None]) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: Union[T, None] = None
        error: Union[BaseException, None] = None
        try:
            result = work(*args)
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits

    threading.Thread(target=run, daemon=True).start()
    return await done


class AsyncWharf:
    """A client of one node, for asyncio. See Wharf."""

    def __init__(self, url: str, key: str = "", *, retries: int = 4, max_wait: float = 60, timeout: float = 120,
                 tls: Union[ssl.SSLContext, None] = None) -> None:
        self._wharf = Wharf(url, key, retries=retries, max_wait=max_wait, timeout=timeout, tls=tls)
        self.workspaces = api.AsyncWorkspacesResource(self)
        self.personas = api.AsyncPersonasResource(self)
        self.sessions = AsyncSessions(self)
        self.tasks = AsyncTasks(self)
        self.messages = api.AsyncMessagesResource(self)
        self.outcomes = api.AsyncOutcomesResource(self)
        self.artifacts = api.AsyncArtifactsResource(self)
        self.permissions = AsyncPermissions(self)
        self.receipts = AsyncReceipts(self)
        self.events = AsyncEvents(self)
        self.branches = api.AsyncBranchesResource(self)
        self.memories = api.AsyncMemoriesResource(self)
        self.connectors = api.AsyncConnectorsResource(self)
        self.webhooks = api.AsyncWebhooksResource(self)
        self.plugins = api.AsyncPluginsResource(self)
        self.skills = api.AsyncSkillsResource(self)
        self.skill_bundles = api.AsyncSkillBundlesResource(self)
        self.tool_servers = api.AsyncToolServersResource(self)
        self.vaults = api.AsyncVaultsResource(self)
        self.keys = api.AsyncKeysResource(self)
        self.quotas = api.AsyncQuotasResource(self)
        self.holds = api.AsyncHoldsResource(self)
        self.node = api.AsyncNodeResource(self)

    @property
    def blocking(self) -> Wharf:
        """The client that does the work."""
        return self._wharf

    async def request(self, operation: str, *, path: Sequence[str] = (), query: Any = None, body: Any = None,
                      idempotency_key: Union[str, None] = None, headers: Union[Mapping[str, str], None] = None) -> Any:
        """Sends the request of any operation."""
        return await self.call(operation, list(path), query, body, idempotency_key, headers)

    async def call(self, operation: str, path: List[str], query: Any, body: Any, idempotency_key: Union[str, None],
                   headers: Union[Mapping[str, str], None]) -> Any:
        """What the resources send their requests by."""
        return await in_thread(self._wharf.call, operation, path, query, body, idempotency_key, headers)

    async def upload(self, operation: str, path: List[str], query: Any, content: api.Content, media: str, idempotency_key: Union[str, None],
                     headers: Union[Mapping[str, str], None]) -> Any:
        """Sends bytes, of a media type."""
        return await in_thread(self._wharf.upload, operation, path, query, content, media, idempotency_key, headers)

    async def download(self, operation: str, path: List[str], query: Any, headers: Union[Mapping[str, str], None]) -> bytes:
        """Sends the request of an operation, and returns the bytes that it is answered with."""
        return await in_thread(self._wharf.download, operation, path, query, headers)

    async def stream(self, operation: str, *, path: Sequence[str] = (), query: Any = None, after: str = "") -> AsyncIterator[api.Event]:
        """Follows the events of a streaming operation. See Wharf.stream."""
        stop = Stop()
        events = self._wharf.stream(operation, path=path, query=query, after=after, stop=stop)
        pending: Union[asyncio.Task[Union[api.Event, None]], None] = None
        try:
            while True:
                pending = asyncio.create_task(in_thread(_next, events))
                event = await asyncio.shield(pending)
                pending = None
                if event is None:
                    return
                yield event
        finally:
            stop.set()  # ends the thread, which may wait for an event
            if pending is not None:
                pending.add_done_callback(lambda done: done.cancelled() or done.exception())


def _next(events: Iterator[api.Event]) -> Union[api.Event, None]:
    return next(events, None)


class AsyncSessions(api.AsyncSessionsResource):
    def __init__(self, wharf: AsyncWharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, session_id: str, *, after: str = "") -> AsyncIterator[api.Event]:
        """Follows the events of a Session."""
        return self._wharf.stream("streamSessionEvents", path=[session_id], after=after)

    async def connect(self, session_id: str, *, after: str = "") -> "AsyncSocket":
        """Opens a WebSocket to a Session."""
        return AsyncSocket(await in_thread(lambda: self._wharf.blocking.sessions.connect(session_id, after=after)))


class AsyncTasks(api.AsyncTasksResource):
    def __init__(self, wharf: AsyncWharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, task_id: str, *, after: str = "") -> AsyncIterator[api.Event]:
        """Follows the events of a Task, and ends with it."""
        return self._wharf.stream("streamTaskEvents", path=[task_id], after=after)

    async def wait(self, task_id: str, *, or_asked: bool = False) -> api.Task:
        """Returns a Task when it has ended, well or not, over restarts of the node; with or_asked also when it waits for an answer."""
        async for event in self.stream(task_id):
            if or_asked and event["event"] in ("task.input_required", "task.auth_required"):
                task = await self.get(task_id)  # it may have been answered since
                if needs_answer(task):
                    return task
        return await self.get(task_id)

    async def outcome(self, task_id: str) -> api.Outcome:
        """What a Task that has ended resulted in, with its Messages and Artifacts."""
        return await in_thread(self._wharf.blocking.tasks.outcome, task_id)


class AsyncPermissions(api.AsyncPermissionsResource):
    async def approve(self, request_id: str) -> api.PermissionRequest:
        """Lets a Task do what it has asked for."""
        return await self.respond(request_id, {"decision": "approved"})

    async def deny(self, request_id: str, reason: str = "") -> api.PermissionRequest:
        """Refuses what a Task has asked for."""
        return await self.respond(request_id, {"decision": "denied", "reason": reason})


class AsyncReceipts(api.AsyncReceiptsResource):
    def __init__(self, wharf: AsyncWharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    async def wire(self, receipt_id: str) -> bytes:
        """The bytes of a receipt, for verify_receipt."""
        return await in_thread(self._wharf.blocking.receipts.wire, receipt_id)

    async def verify(self, receipt_id: str, keys: Sequence[api.SigningKey]) -> VerifiedReceipt:
        """Fetches a receipt and checks it here, with keys that the caller trusts. See verify_receipt."""
        return verify_receipt(await self.wire(receipt_id), keys)


class AsyncEvents(api.AsyncEventsResource):
    def __init__(self, wharf: AsyncWharf) -> None:
        super().__init__(wharf)
        self._wharf = wharf

    def stream(self, query: Union[api.StreamEventsQuery, None] = None, *, after: str = "") -> AsyncIterator[api.Event]:
        """Follows all events that a query selects."""
        return self._wharf.stream("streamEvents", query=query, after=after)


class AsyncSocket:
    """A WebSocket to a Session, for asyncio. See Socket."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def send(self, command: str, **members: Any) -> str:
        """Sends a command and returns the id that its ack or error will have."""
        return await in_thread(lambda: self._socket.send(command, **members))

    async def receive(self) -> Frame:
        """Returns the next frame; raises a SocketClosed when the node has closed the socket."""
        return await in_thread(self._socket.receive)

    async def __aiter__(self) -> AsyncIterator[Frame]:
        while True:
            yield await self.receive()

    async def close(self) -> None:
        """Closes the socket."""
        await in_thread(self._socket.close)
