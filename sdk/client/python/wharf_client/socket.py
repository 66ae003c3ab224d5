"""WebSockets (RFC 6455), as far as a client of a node needs them."""

from __future__ import annotations

import base64
import http.client
import json
import os
import threading
from types import TracebackType
from typing import Any, BinaryIO, Dict, Iterator, Mapping, Type, TypeAlias, Union

from .errors import SocketClosed, decode_error

#: What comes over a WebSocket: docs/websocket.md says which frames there are.
Frame: TypeAlias = Dict[str, Any]

_WRITES = ("message", "task.submit", "task.cancel", "session.truncate", "input", "authorization", "approval")
_CONTINUED, _TEXT, _CLOSE, _PING, _PONG = 0, 1, 8, 9, 10
_LONGEST = 64 << 20


class Socket:
    """A WebSocket to a Session. One thread may receive while others send.

    Somebody has to receive: the node closes sockets that do not answer its pings.
    """

    def __init__(self, connection: http.client.HTTPConnection, target: str, headers: Mapping[str, str]) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._sent = 0
        nonce = base64.b64encode(os.urandom(16)).decode("ascii")
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": nonce}
        try:
            connection.request("GET", target, headers={**headers, **upgrade})
            self._socket = connection.sock
            # The answer's reader is kept: it may have read some of what follows the headers.
            self._answer = _Upgraded(self._socket)
            self._answer.begin()
            self._reader: BinaryIO = self._answer.reader
            if self._answer.status != 101:
                raise decode_error(self._answer.read(1 << 20), self._answer.status, self._answer.getheader("X-Request-Id", ""))
        except BaseException:
            connection.close()
            raise

    def send(self, command: str, **members: Any) -> str:
        """Sends a command and returns the id that its ack or error will have. A write gets an idempotency_key unless it has one."""
        with self._sending:
            self._sent += 1
            frame = {"id": str(self._sent), **members, "type": command}
            if command in _WRITES:
                frame.setdefault("idempotency_key", "py-" + os.urandom(16).hex())
            self._write(_TEXT, json.dumps(frame).encode())
        return str(frame["id"])

    def receive(self) -> Frame:
        """Returns the next frame; raises a SocketClosed when the node has closed the socket."""
        message = b""
        while True:
            op, final, payload = self._read()
            if op == _PING:
                with self._sending:
                    self._write(_PONG, payload)
            elif op == _CLOSE:
                raise SocketClosed(int.from_bytes(payload[:2], "big") if len(payload) > 1 else 1005, payload[2:].decode("utf-8", "replace"))
            elif op in (_TEXT, _CONTINUED):
                message += payload
                if len(message) > _LONGEST:
                    raise ConnectionError("a message of the node is too long")
                if final:
                    frame: Frame = json.loads(message)
                    return frame
            elif op != _PONG:
                raise ConnectionError(f"the node has sent a frame of the kind {op}")

    def __iter__(self) -> Iterator[Frame]:
        """The frames, until the node closes the socket, which is raised."""
        while True:
            yield self.receive()

    def close(self) -> None:
        """Closes the socket, also for a thread that receives."""
        try:
            with self._sending:
                self._write(_CLOSE, (1000).to_bytes(2, "big"))
            self._socket.shutdown(2)
        except OSError:
            pass  # it is closed already
        self._connection.close()

    def __enter__(self) -> "Socket":
        return self

    def __exit__(self, kind: Union[Type[BaseException], None], error: Union[BaseException, None], trace: Union[TracebackType, None]) -> None:
        self.close()

    def _exactly(self, size: int) -> bytes:
        content = self._reader.read(size)
        if len(content) < size:
            raise ConnectionError("the socket was cut")
        return content

    def _read(self) -> tuple[int, bool, bytes]:
        first, second = self._exactly(2)
        length = second & 127
        if length > 125:
            length = int.from_bytes(self._exactly(2 if length == 126 else 8), "big")
        if length > _LONGEST:
            raise ConnectionError("a frame of the node is too long")
        return first & 15, first & 128 != 0, self._exactly(length)

    def _write(self, op: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            head = bytes([op | 128, size | 128])
        elif size < 1 << 16:
            head = bytes([op | 128, 126 | 128]) + size.to_bytes(2, "big")
        else:
            head = bytes([op | 128, 127 | 128]) + size.to_bytes(8, "big")
        mask = os.urandom(4)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self._socket.sendall(head + mask + masked)


class _Upgraded(http.client.HTTPResponse):
    """An answer that keeps what it is read with: http.client closes that when an answer has no body."""

    def begin(self) -> None:
        self.reader: BinaryIO = self.fp
        super().begin()

    def _close_conn(self) -> None:
        self.fp = None  # type: ignore[assignment]
