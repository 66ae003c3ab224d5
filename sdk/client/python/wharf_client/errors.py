"""What can go wrong."""

from __future__ import annotations

import email.utils
import json
import time
from typing import Any

from .generated import ADVICE


class WharfError(Exception):
    """An error that the node has answered with."""

    def __init__(self, status: int, code: str, message: str, *, type: str = "", param: str = "", advice: str = "",
                 request_id: str = "", details: Any = None, retry_after: float = 0) -> None:
        lines = [f"{code}: {message}" + (f" ({param})" if param else ""), advice, f"request {request_id}" if request_id else ""]
        super().__init__("\n".join(line for line in lines if line))
        #: Of HTTP; 0 when it came within a stream.
        self.status = status
        #: What is wrong, for programs; a newer node may have others.
        self.code = code
        #: What is wrong, for people.
        self.message = message
        #: The group that the code belongs to.
        self.type = type
        #: The member, parameter or header that is wrong, "" if it is none.
        self.param = param
        #: What to do about it.
        self.advice = advice
        #: Names the request in the node's log.
        self.request_id = request_id
        #: More about it, where there is more to say.
        self.details = details
        #: How many seconds the node asks to wait; 0 if it does not.
        self.retry_after = retry_after


class CutError(ConnectionError):
    """A stream that ended before the node has said that it does."""


class ReceiptError(ValueError):
    """A receipt that does not hold, and why."""


class SocketClosed(ConnectionError):
    """Why the node has closed a socket: 1000 when a Task has ended, 1001 when it drains. Connect again after the last event's id."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"the node has closed the socket: {code} {reason}")
        self.code = code
        self.reason = reason


def decode_error(text: bytes, status: int = 0, request_id: str = "", retry_after: str = "") -> WharfError:
    """Returns the error of an answer, or of a stream."""
    try:
        said = json.loads(text)["error"]
        code, message = str(said["code"]), str(said["message"])
    except (ValueError, KeyError, TypeError):  # something between the client and the node has answered
        return WharfError(status, f"http_{status}", f"the answer has the status {status}, and is not from a node", request_id=request_id,
                          advice="Check the URL, and what is between you and the node.", retry_after=seconds(retry_after))
    return WharfError(status, code, message, type=str(said.get("type", "")), param=str(said.get("param", "")), advice=ADVICE.get(code, ""),
                      request_id=str(said.get("request_id") or request_id), details=said.get("details"), retry_after=seconds(retry_after))


def seconds(header: str) -> float:
    """Returns how long a Retry-After asks to wait."""
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(email.utils.parsedate_to_datetime(header).timestamp() - time.time(), 0)
    except ValueError:
        return 0


def is_transient(error: Exception) -> bool:
    """Returns whether it may help to connect a stream again."""
    if not isinstance(error, WharfError):
        return isinstance(error, OSError)
    return error.status in (502, 503, 504) or error.code in ("service_unavailable", "rate_limited", "internal_error", "upstream_unavailable")
