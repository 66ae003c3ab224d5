"""What a test answers host calls with."""

from __future__ import annotations

import base64
import difflib
import json
from typing import Any, Callable, Mapping, Sequence, Union

from ._calls import CALLS, HINTS

STATUSES = ("ok", "invalid", "denied", "not_found", "too_large", "unavailable", "indeterminate", "timeout")


class Refused(Exception):
    """An answer that refuses the call: the plugin gets a WharfError with this status and code. A function that answers
    can return or raise it."""

    def __init__(self, status: str, code: str = "", message: str = "") -> None:
        if status not in STATUSES[1:]:
            raise ValueError(f"there is no status {status!r}: it is one of {', '.join(STATUSES[1:])}")
        super().__init__(message or code or status)
        self.status = status
        self.code = code or status
        self.message = message or self.code


PROPOSED = Refused("denied", "proposed", "the call was not done: it was noted as a proposal")
"""What a write is answered with when the Persona's tier is suggest. For the plugin it is no error."""

SHADOW = Refused("denied", "shadow", "the call was not done: the tier leaves writes out")
"""What a write is answered with when the Persona's tier is shadow. For the plugin it is no error."""


Answer = Union[Mapping[str, Any], bytes, None, Refused, Sequence[Any], Callable[..., Any]]
"""A dict, as docs/host-calls.md has it; bytes, for artifact.get and random; None where there is nothing to say; a Refused;
a list of these, which is used up in its order; or a function of the request (of artifact.put: and of the content)."""


class Unanswered(AssertionError):
    """Says that the plugin has made a host call that the test gives no answer to, and how to give one."""

    def __init__(self, call: str, request: Any, used_up: int = 0) -> None:
        example = CALLS[call]
        given = f"all answers that the test gives to {call} are used up ({used_up})" if used_up else f"nothing answers {call}"
        super().__init__(
            f"{given}; the plugin has called it with {json.dumps(request, default=repr, ensure_ascii=False)}. "
            f'Answer it: Host({{"{call}": {example}}}). In the place of that answer may be a list of answers, a function '
            f'that is given the request, Refused("denied", "CODE", "MESSAGE"), PROPOSED or SHADOW.'
        )
        self.call = call
        self.request = request


def check(answers: Mapping[str, Answer]) -> None:
    """Raises a ValueError if there is an answer that no call can get."""
    for name in answers:
        if name in HINTS:
            raise ValueError(f"{name} is telemetry, which is not answered: what the plugin tells is in host.logs and host.hints")
        if name in ("input", "output"):
            raise ValueError(f"{name} is not answered: run is given the input, and returns the output")
        if name not in CALLS:
            near = difflib.get_close_matches(name, CALLS)
            raise ValueError(f"there is no host call {name!r}" + (f": did you mean {', '.join(near)}?" if near else ""))


def _base64(value: Any) -> str:
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    raise TypeError(f"{value!r} has no form in JSON")


def wire(call: str, answer: Any) -> tuple[int, bytes]:
    """Writes an answer as the host does: its status and its bytes. Bytes within a dict are base64."""
    if isinstance(answer, Refused):
        told = {"code": answer.code, "message": answer.message}
        return STATUSES.index(answer.status), json.dumps(told).encode()
    if answer is None:
        return 0, b""
    if isinstance(answer, (bytes, bytearray)):
        return 0, bytes(answer)
    if isinstance(answer, Mapping):
        return 0, json.dumps(answer, default=_base64).encode()
    raise TypeError(f"{call} cannot be answered with {answer!r}: an answer is a dict, bytes, None or Refused")
