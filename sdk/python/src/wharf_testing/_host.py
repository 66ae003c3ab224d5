"""The host of tests."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import io
import json
import random
import sys
import threading
import types
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping

import _wharf
import wharf
from wharf import _runtime

from . import _form as form
from ._answers import STATUSES, Answer, Refused, Unanswered, check, wire
from ._calls import CALLS, HINTS

STARTED = 1767225600 * 10**9  # 2026-01-01T00:00:00Z, when a run begins, as in "wharf plugin run"
MAX_RANDOM = 65536

# The engine runs one program, and what is printed has one way: so one run waits for the other.
_one_at_a_time = threading.RLock()


@dataclasses.dataclass(frozen=True)
class Call:
    """A host call that the plugin has made."""

    name: str
    request: Any
    """As it was sent: JSON, of random the number of bytes, or None where there is none."""
    content: bytes | None = None
    """Of artifact.put."""
    status: str = "ok"
    """What it was answered with: "ok", "denied", ..."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the log."""

    level: str
    message: str


@dataclasses.dataclass(frozen=True)
class Failed:
    """Why a Task has failed."""

    code: str
    message: str
    details: Any = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run has ended in."""

    summary: str
    failure: Failed | None
    """None for success."""
    output: dict[str, Any]
    """The whole request of the host call output."""
    error: BaseException | None = None
    """What the function has raised."""


class Host:
    """Stands in for Wharf while a plugin's function runs. It is given answers by the names of host calls, and answers by
    itself what "wharf plugin run" does: what the plugin hands out is taken; clock, random, id, sleep, state, config,
    facts and secrets are answered from what is set here, and from a fixed time and seed. Any other call that has no
    answer ends the run with Unanswered. Telemetry is kept in logs and hints.

    One host can be used for several runs: state, artifacts and answers that are used up stay.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        secrets: Iterable[str] = (),
        state: Mapping[str, Any] | None = None,
        artifacts: Mapping[str, bytes] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        self.answers: dict[str, Answer] = dict(answers or {})
        check(self.answers)
        self.config = dict(config or {})
        self.secrets = list(secrets)
        self.state = dict(state or {})
        """What the Session keeps; what the plugin sets is added."""
        self.artifacts = dict(artifacts or {})
        """Content by Artifact id; what the plugin stores is added."""
        self.facts = {**_FACTS, **(facts or {})}

        self.calls: list[Call] = []
        """What the plugin has called and was answered, in its order, but for input, output and telemetry."""
        self.logs: list[Line] = []
        self.hints: list[Call] = []
        """The rest of telemetry: progress, plan, agent.event, message.delta."""
        self.messages: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.slept: float = 0.0
        """Seconds."""

        self._used: dict[str, int] = {}
        self._ids = 0
        self._random = random.Random(1)
        self._input: dict[str, Any] | None = {}  # None: what runs is no Task
        self._output: dict[str, Any] | None = None
        self._fault: BaseException | None = None
        self._stdout = sys.stdout

    @property
    def replies(self) -> list[str]:
        """The texts of the Messages that the plugin has appended."""
        texts = ((p.get("text") for p in m.get("parts", []) if p.get("type") == "text") for m in self.messages)
        return ["\n\n".join(parts) for parts in map(list, texts)]

    def run(
        self,
        function: Callable[..., Any],
        input: Any = None,
        *,
        task: Mapping[str, Any] | None = None,
        persona: Mapping[str, Any] | None = None,
        skills: Iterable[Mapping[str, Any]] = (),
    ) -> Outcome:
        """Runs a function of the plugin on a Task, and returns what it has ended in. An input that is a text is a
        user's Message; anything else is the input as it is. What task and persona have comes in the place of what is
        made up. What the function raises is the Outcome's failure; a fault of the test itself, such as a call without
        an answer, is raised."""
        return self._run(function, _given(input, dict(task or {}), dict(persona or {}), list(skills)))

    def _run(self, function: Callable[..., Any], given: dict[str, Any] | None) -> Outcome:
        check(self.answers)
        self._input, self._output, self._fault = given, None, None
        raised: list[BaseException] = []

        def watched(task: wharf.Task | None) -> Any:
            try:
                result = function(task)
                if inspect.iscoroutine(result):
                    result.close()  # it is refused, as in the engine
                return result
            except BaseException as e:
                raised.append(e)
                raise

        self._serve(watched, _folder_of(function))
        error = raised[-1] if raised else None
        if self._fault is not None:
            raise self._fault
        if error is not None and not isinstance(error, (Exception, SystemExit)):
            raise error  # the test is interrupted, or skipped
        return self._outcome(error)

    def normalize(
        self, function: Callable[..., Any], deliveries: Iterable[Mapping[str, Any]], connector: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Hands deliveries of a Connector to a function of the plugin, and returns what it says that they mean. What is
        not given of a delivery is made up. The function is given None in the place of a Task, as in a node."""
        given = [{"id": f"del_{i}", "object": "delivery", "header": {}, **d} for i, d in enumerate(deliveries, 1)]
        of = {"id": "con_test", "object": "connector", "name": "test", "provider": "test", "event_kinds": [], **(connector or {})}
        self.answers["connector.deliveries"] = {"connector": of, "deliveries": given}
        outcome = self._run(function, None)
        if outcome.error is not None:
            raise outcome.error
        told = [c for c in self.calls if c.name == "connector.normalized"]
        if not told:
            raise AssertionError("the plugin has not said what the deliveries mean: it calls connector_normalized(results=[...])")
        results: list[dict[str, Any]] = told[-1].request["results"]
        return results

    def _serve(self, function: Callable[..., Any], folder: Path) -> None:
        printed = _Printed()
        with _one_at_a_time, self._outside(), contextlib.redirect_stdout(printed):
            host, place, before = _wharf.host.set(self._call), _wharf.folder.set(folder), _runtime.program
            _runtime.program = types.SimpleNamespace(run=function)
            try:
                _runtime.serve("run")
                printed.end()
            finally:
                _runtime.program = before
                _wharf.folder.reset(place)
                _wharf.host.reset(host)

    @contextlib.contextmanager
    def _outside(self) -> Iterator[None]:
        """Keeps where the test prints to, for its functions that answer."""
        before, self._stdout = self._stdout, sys.stdout
        try:
            yield
        finally:
            self._stdout = before

    def _outcome(self, error: BaseException | None) -> Outcome:
        output = self._output or {"summary": ""}
        told = output.get("failure")
        failure = Failed(told["code"], told["message"], told.get("details")) if told else None
        return Outcome(output.get("summary", ""), failure, output, error)

    def _call(self, name: str, request: bytes | None) -> tuple[int, bytes]:
        call = _read(name, request)
        status, answer = self._answered(call)
        if name in ("log", "input", "output"):
            return status, answer
        made = dataclasses.replace(call, status=STATUSES[status])
        (self.hints if name in HINTS else self.calls).append(made)
        return status, answer

    def _answered(self, call: Call) -> tuple[int, bytes]:
        try:
            return wire(call.name, self._answer(call))
        except Refused as e:
            return wire(call.name, e)
        except BaseException as e:  # of the test's own: the run ends with it, whatever the plugin makes of it
            self._fault = self._fault or e
            raise

    def _answer(self, call: Call) -> Any:
        form.check(call.name, call.request)
        if call.name == "log":
            self.logs.append(Line(_text(call, "level"), _text(call, "message")))
        if call.name in HINTS:
            return None
        if call.name in self.answers:
            return self._given_answer(call)
        made = _MADE.get(call.name)
        if made is None or call.name == "secret.use" and _text(call, "name") not in self.secrets:
            raise Unanswered(call.name, call.request)
        return made(self, call)

    def _given_answer(self, call: Call) -> Any:
        answer: Any = self.answers[call.name]
        if isinstance(answer, (list, tuple)):
            used = self._used.get(call.name, 0)
            if used == len(answer):
                raise Unanswered(call.name, call.request, used)
            self._used[call.name] = used + 1
            answer = answer[used]
        if not callable(answer):
            return answer
        with contextlib.redirect_stdout(self._stdout):
            return answer(call.request) if call.content is None else answer(call.request, call.content)

    def _new_id(self, kind: str = "id") -> str:
        self._ids += 1
        return f"{kind}_{self._ids}"

    def _give_input(self, call: Call) -> dict[str, Any]:
        if self._input is None:
            raise Refused("denied", "not_in_a_task", "a plugin that normalizes deliveries may not call input")
        return self._input

    def _take_output(self, call: Call) -> None:
        if self._output is not None:
            raise Refused("invalid", "output_given", "the task has its output already; output is called once")
        self._output = call.request

    def _random_bytes(self, call: Call) -> bytes:
        if call.request > MAX_RANDOM:
            raise Refused("too_large", "payload_too_large", "at most 65,536 random bytes at once")
        return self._random.randbytes(call.request)

    def _clock(self, call: Call) -> dict[str, str]:
        return {"unix_nano": str(STARTED + round(self.slept * 10**9))}

    def _sleep(self, call: Call) -> None:
        self.slept += max(call.request.get("ms") or 0, 0) / 1000

    def _append(self, call: Call) -> dict[str, Any]:
        if call.request.get("parts") is None:
            raise Refused("invalid", "invalid_request", 'missing required member "parts"')
        self.messages.append(call.request)
        return {"message_id": self._new_id("msg")}

    def _put(self, call: Call) -> dict[str, Any]:
        content = call.content or b""
        artifact = self._new_id("art")
        self.artifacts[artifact] = content
        return {"artifact_id": artifact, "sha256": hashlib.sha256(content).hexdigest()}

    def _get(self, call: Call) -> bytes:
        artifact = _text(call, "artifact_id")
        content = self.artifacts.get(artifact)
        if content is None:
            raise Refused("not_found", "resource_not_found", f"no artifact {artifact!r} is visible to this task")
        offset, length = call.request.get("offset") or 0, call.request.get("length") or 0
        if offset < 0 or length < 0:
            raise Refused("invalid", "invalid_request", "offset and length cannot be negative")
        return content[offset : offset + length if length else None]

    def _set_state(self, call: Call) -> None:
        self.state[_text(call, "key")] = call.request.get("value")

    def _fact(self, call: Call) -> dict[str, str]:
        name = _text(call, "name")
        if name not in self.facts:
            raise Refused("not_found", "unknown_fact", f"there is no host fact {name!r}")
        return {"value": self.facts[name]}


def _text(call: Call, member: str) -> str:
    """A member of a request that is a text; "" when it is not there."""
    return call.request.get(member) or ""


_FACTS = {
    "wharf.version": "alone", "os": "none", "arch": "none", "tenant": "alone", "workspace": "ws_test", "session": "sess_test",
    "task": "task_test", "deadline": "", "client.protocol": "", "client.name": "", "client.version": "", "client.capabilities": "",
}  # fmt: skip

# What the host answers by itself.
_MADE: dict[str, Callable[[Host, Call], Any]] = {
    "input": Host._give_input,
    "output": Host._take_output,
    "clock": Host._clock,
    "random": Host._random_bytes,
    "id": lambda h, c: {"id": h._new_id()},
    "sleep": Host._sleep,
    "message.append": Host._append,
    "memory.write": lambda h, c: {"memory_id": h._new_id("mem")},
    "artifact.put": Host._put,
    "artifact.get": Host._get,
    "state.get": lambda h, c: {"value": h.state.get(_text(c, "key"))},
    "state.set": Host._set_state,
    "event.emit": lambda h, c: h.events.append(c.request),
    "config.get": lambda h, c: {"value": h.config.get(_text(c, "name"))},
    "host.fact": Host._fact,
    "secret.use": lambda h, c: {"handle": "{{secret:" + _text(c, "name") + "}}"},
    "connector.normalized": lambda h, c: None,
}


class _Printed(io.TextIOBase):
    """Takes what is printed, and tells it line by line."""

    def __init__(self) -> None:
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            _runtime.say(line.encode())
        return len(text)

    def end(self) -> None:
        if self._line:
            _runtime.say(self._line.encode())


def _given(input: Any, task: dict[str, Any], persona: dict[str, Any], skills: list[Mapping[str, Any]]) -> dict[str, Any]:
    if isinstance(input, str):
        input = {"role": "user", "parts": [{"type": "text", "text": input, "visibility": "public"}]}
    at = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "metadata": {}}
    whole = {
        "task": {
            "id": "task_test", "object": "task", **at, "session_id": "sess_test", "workspace_id": "ws_test", "status": "SUBMITTED",
            "persona_id": "persona_test", "created_by": "wharf_testing", "input": input, **task,
        },
        "persona": {
            "id": "persona_test", "object": "persona", **at, "name": "test", "version": "0.0.0", "entry_workflow": "test#run",
            "autonomy_tier": "act_auto", "tools": ["*"], "capabilities": ["*"], **persona,
        },
        "session_id": task.get("session_id", "sess_test"),
    }  # fmt: skip
    if skills:
        whole["skills"] = skills
    return whole


def _read(name: str, request: bytes | None) -> Call:
    if name not in CALLS:
        raise RuntimeError(f"there is no host call {name!r}")
    if not request:
        return Call(name, None)
    if name == "random":
        return Call(name, int.from_bytes(request, "little"))
    if name == "artifact.put":
        head, content = request.split(b"\n", 1)
        return Call(name, json.loads(head), content)
    return Call(name, json.loads(request))


def _folder_of(function: Callable[..., Any]) -> Path:
    """Where the plugin lies: its stacks have files as seen from there."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Path(code.co_filename).parent if code else Path.cwd()
