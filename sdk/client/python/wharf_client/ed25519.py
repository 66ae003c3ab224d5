"""Signatures of Ed25519 (RFC 8032), checked and not made: nothing here is secret, so that it need not be quick or of even time."""

from __future__ import annotations

import hashlib
from typing import Tuple, Union

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1

_Point = Tuple[int, int, int, int]  # X, Y, Z, T: x = X/Z, y = Y/Z, x*y = T/Z


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, p: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, p)
        p = _add(p, p)
        scalar >>= 1
    return result


def _decode(text: bytes) -> Union[_Point, None]:
    y = int.from_bytes(text, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _encode(p: _Point) -> bytes:
    inverse = pow(p[2], -1, _P)
    x, y = p[0] * inverse % _P, p[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE = _decode((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Returns whether the signature is of the message, by the key."""
    key = _decode(public)
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or _BASE is None or len(signature) != 64 or scalar >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    negated: _Point = (-key[0] % _P, key[1], key[2], -key[3] % _P)
    point = _add(_times(scalar, _BASE), _times(int.from_bytes(digest, "little") % _L, negated))
    return _encode(point) == signature[:32]
