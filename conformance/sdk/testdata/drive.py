"""Drives the client in Python: as drive.go. With the argument async it is that for asyncio."""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import inspect
import json
import sys
from typing import Any, Dict, List

import wharf_client
from wharf_client import AsyncWharf, ReceiptError, Wharf, WharfError, say, verify_receipt


def show(line: Dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def told(error: Exception) -> Dict[str, Any]:
    said: Dict[str, Any] = {"text": str(error), "receipt": isinstance(error, ReceiptError)}
    if isinstance(error, WharfError):
        said.update(status=error.status, code=error.code, message=error.message, advice=error.advice, request_id=error.request_id,
                    retry_after=error.retry_after, param=error.param)
    return said


async def done(value: Any) -> Any:
    """What either client answers."""
    return await value if inspect.isawaitable(value) else value


async def run(wharf: Any, c: Dict[str, Any]) -> Any:
    key = c.get("idempotencyKey") or None
    do, session, task = c["do"], c.get("session", ""), c.get("task", "")
    if do == "session":
        spaces = await done(wharf.workspaces.list())
        return (await done(wharf.sessions.create({"workspace_id": spaces["data"][0]["id"]}, idempotency_key=key)))["id"]
    if do == "submit":
        return (await done(wharf.sessions.submit(session, {"persona_id": c["persona"], "input": say(c["text"])}, idempotency_key=key)))["id"]
    if do == "append":
        return (await done(wharf.sessions.append(session, {"message": say(c["text"])}, idempotency_key=key)))["id"]
    if do == "messages":
        texts: List[str] = []
        query: Any = {"limit": 1}
        while True:
            page = await done(wharf.sessions.messages(session, query))
            texts += [m["parts"][0]["text"] for m in page["data"]]
            query["cursor"] = page["page"]["next_cursor"]
            if query["cursor"] is None:
                return texts
    if do == "wait":
        return (await done(wharf.tasks.wait(task, or_asked=bool(c.get("orAsked")))))["status"]
    if do == "outcome":
        return (await done(wharf.tasks.outcome(task)))["summary"]
    if do == "stream":
        events = wharf.tasks.stream(task) if task else wharf.sessions.stream(session)
        return await follow(events, c.get("until", ""))
    if do == "upload":
        artifact = await done(wharf.artifacts.upload(c["text"].encode(), {"name": "tide.txt", "session_id": session}, idempotency_key=key))
        return (await done(wharf.artifacts.content(artifact["id"]))).decode()
    if do == "receipt":
        about = await done(wharf.tasks.get(task))
        keys = await done(wharf.node.keys())
        return (await done(wharf.receipts.verify(about["receipt_id"], keys["keys"]))).subject
    if do == "verify":
        return verify_receipt(base64.b64decode(c["wire"]), c["keys"]).hash
    if do == "create key":
        return (await done(wharf.request("createKey", body={"name": c["text"], "scopes": ["tasks:read"]})))["id"]
    if do == "get task":
        return (await done(wharf.tasks.get(task)))["status"]
    if do == "install":
        with open(c["module"], "rb") as module:
            return (await done(wharf.plugins.install(c["text"], module, idempotency_key=key)))["digest"]
    if do == "plugins":
        return await plugins(wharf, c)
    if do == "connectors":
        return await connectors(wharf, c)
    if do == "vaults":
        return await vaults(wharf)
    if do == "files":
        return await files(wharf, c)
    if do == "crowd":
        return await crowd(wharf, session, c["text"])
    if do == "socket":
        return await talk(wharf, c)
    raise LookupError(f"{do} is not known")


async def gone(answer: Any) -> bool:
    """Whether what is asked for is not there."""
    try:
        await done(answer())
    except WharfError as error:
        return error.code == "resource_not_found"
    return False


async def plugins(wharf: Any, c: Dict[str, Any]) -> List[Any]:
    with open(c["package"], "rb") as packed:
        first = await done(wharf.plugins.install_package(c["text"], packed))
    manifest = await done(wharf.plugins.manifest(c["text"]))
    with open(c["module"], "rb") as module:
        second = await done(wharf.plugins.install(c["text"], module.read(), {"version": "second"}))
    before = await done(wharf.plugins.rollback(c["text"], {}))
    disabled = await done(wharf.plugins.disable(c["text"]))
    enabled = await done(wharf.plugins.enable(c["text"]))
    await done(wharf.plugins.remove(c["text"], {"force": "true"}))  # a Persona names it
    return [first["version"], first["persona_id"], "tide" in manifest["text"], second["version"], len(second["versions"]), before["version"],
            disabled["status"], enabled["status"], await gone(lambda: wharf.plugins.get(c["text"]))]


async def connectors(wharf: Any, c: Dict[str, Any]) -> List[Any]:
    made = await done(wharf.connectors.create({"provider": "generic", "target_persona_id": c["persona"], "target_session_id": c["session"],
                                               "settings": {"task": {"text": "{$.say}"}}}))
    headers = {"Content-Type": "application/json", "webhook-id": "msg_1"}
    seen: List[Any] = []
    for _ in range(2):
        seen.append((await done(wharf.connectors.deliver(made["id"], b'{"say":"spring tide"}', headers=headers)))["status"])
    await until(wharf.sessions.stream(c["session"]), "task.completed")
    seen.append(len((await done(wharf.connectors.dead_letters(made["id"])))["data"]))
    await done(wharf.connectors.delete(made["id"]))
    return seen


async def until(events: Any, name: str) -> None:
    """Follows a stream up to an event."""
    if inspect.isasyncgen(events):
        async for event in events:
            if event["event"] == name:
                break
        await events.aclose()
        return
    for event in events:
        if event["event"] == name:
            return


async def vaults(wharf: Any) -> List[Any]:
    vault = (await done(wharf.vaults.create({"provider": "local", "capabilities": ["read", "write"]})))["id"]
    await done(wharf.vaults.store(vault, "crm", {"value": "s3cret", "hosts": ["crm.example.com"]}))
    secret = (await done(wharf.vaults.secrets(vault)))["data"][0]
    await done(wharf.vaults.remove_secret(vault, "crm"))
    return [secret["name"], secret["hosts"][0], len((await done(wharf.vaults.secrets(vault)))["data"])]


async def files(wharf: Any, c: Dict[str, Any]) -> List[Any]:
    space = (await done(wharf.workspaces.list()))["data"][0]["id"]
    query = {"path": f"tides/{c['task']}.txt"}
    await done(wharf.workspaces.put_file(space, c["text"].encode(), query))
    read = (await done(wharf.workspaces.file(space, query))).decode()
    await done(wharf.workspaces.delete_file(space, query))
    bundle = await done(wharf.tasks.bundle(c["task"]))
    return [read, await gone(lambda: wharf.workspaces.file(space, query)), bundle[:2].decode()]


async def follow(events: Any, until: str) -> None:
    if inspect.isasyncgen(events):
        async for event in events:
            show({"event": event["id"], "about": event["resource"]["id"]})
            if event["resource"]["id"] == until:
                break
        await events.aclose()
        return
    for event in events:
        show({"event": event["id"], "about": event["resource"]["id"]})
        if event["resource"]["id"] == until:
            break


async def crowd(wharf: Any, session: str, text: str) -> int:
    """Follows a Session many times at once, says something, and counts the streams that have shown it."""
    opened = [asyncio.Event() for _ in range(50)]

    async def one(mine: asyncio.Event) -> bool:
        if isinstance(wharf, Wharf):
            loop = asyncio.get_running_loop()
            threads = concurrent.futures.ThreadPoolExecutor(1)
            return await loop.run_in_executor(threads, lambda: blocking(lambda: loop.call_soon_threadsafe(mine.set)))
        events = wharf.sessions.stream(session)
        async for event in events:
            mine.set()
            if event["event"] == "user.message":
                await events.aclose()
                return True
        return False

    def blocking(show: Any) -> bool:
        for event in wharf.sessions.stream(session):
            show()
            if event["event"] == "user.message":
                return True
        return False

    followers = [asyncio.create_task(one(mine)) for mine in opened]
    for mine in opened:
        await mine.wait()
    await done(wharf.sessions.append(session, {"message": say(text)}))
    return sum(await asyncio.gather(*followers))


async def talk(wharf: Any, c: Dict[str, Any]) -> List[str]:
    socket = await done(wharf.sessions.connect(c["session"]))
    sent = await done(socket.send("message", message=say(c["text"])))
    acked = event = ""
    while not (acked and event):
        frame = await done(socket.receive())
        if frame["type"] == "error":
            raise RuntimeError(json.dumps(frame))
        if frame["type"] == "ack" and frame["id"] == sent:
            acked = frame["resource"]["id"]
        if frame["type"] == "event":
            event = frame["event"]["resource"]["id"]
    await done(socket.close())
    return [acked, event]


async def main() -> None:
    make: Any = AsyncWharf if "async" in sys.argv else Wharf
    for line in sys.stdin:
        c = json.loads(line)
        try:
            show({"done": await run(make(c.get("url") or "http://127.0.0.1", c.get("key", "")), c)})
        except Exception as error:
            show({"error": told(error)})


assert wharf_client.__version__
asyncio.run(main())
