"""The verification of receipts, without the node."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Dict, List, Sequence, Union

from .ed25519 import verify
from .errors import ReceiptError
from .generated import SigningKey

_FORMAT = "receipt-2026-04-25"
_GRACE = timedelta(minutes=1)  # how far a signature may lie outside the time in which its key was in use


@dataclass(frozen=True)
class VerifiedReceipt:
    """What a receipt that holds says."""

    receipt_id: str
    #: That the next receipt of the Workspace follows.
    hash: str
    #: The hash of the receipt before; None for the first.
    previous: Union[str, None]
    #: The id of what it proves something of.
    subject: str
    issued_at: str
    #: The ids of the keys that have signed it.
    signers: List[str]
    #: All that it says.
    members: Dict[str, Any]


def verify_receipt(wire: bytes, keys: Sequence[SigningKey]) -> VerifiedReceipt:
    """Checks the bytes of a receipt, and raises a ReceiptError when it does not hold.

    They must be the canonical form (RFC 8785) of a receipt of the format receipt-2026-04-25, its hash that of what it says, and every
    signature by one of the keys must hold and have been made while the key was in use, that of the key which the receipt names among them. Whoever
    fetches keys and receipt from one node learns that they fit together; for more, keep the keys from a time when you trusted the
    node. That the receipt follows its closed schema, and that its root is that of the Task's record, is checked by the node
    (receipts.ask) and by wharf verify.
    """
    try:
        return _verify(wire, keys)
    except ReceiptError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReceiptError(f"it is no receipt: {error!r}") from error


def _must(condition: bool, reason: str) -> None:
    if not condition:
        raise ReceiptError(reason)


def _verify(wire: bytes, keys: Sequence[SigningKey]) -> VerifiedReceipt:
    members = json.loads(wire.decode("utf-8"), parse_int=float, parse_constant=_no_number)
    _must(canonical(members).encode("utf-8") == wire, "its bytes are not the canonical form of what they say")
    _must(members["schema"] == _FORMAT, f"its format is {members['schema']!r}, and not {_FORMAT}")
    chain = dict(members["chain"])
    stated = chain.pop("receipt_hash")
    hashed = {name: member for name, member in members.items() if name != "signatures"}
    hashed["chain"] = chain
    digest = "sha256:" + hashlib.sha256(canonical(hashed).encode("utf-8")).hexdigest()
    _must(digest == stated, f"it states the hash {stated}, and its content gives {digest}")
    signers = _signers(members, digest, keys)
    named = members["issuer"].get("public_key_id")
    _must(not named or named in signers, f"it names the key {named}, which has not signed it or is not known")
    _must(len(signers) > 0, "none of its signatures is by a known key")
    return VerifiedReceipt(members["receipt_id"], digest, chain.get("previous_receipt_hash"), members["subject"]["id"], members["issued_at"],
                           signers, members)


def _no_number(name: str) -> float:
    raise ReceiptError(f"{name} is not of JSON")


def _signers(members: Dict[str, Any], digest: str, keys: Sequence[SigningKey]) -> List[str]:
    known = {key["key_id"]: key for key in keys}
    signers = []
    for signature in members.get("signatures", []):
        key = known.get(signature["key_id"])
        if key is None:
            continue
        about = f"the signature by {key['key_id']}: "
        public = _base64(key["public_key"], "")
        raw = _base64(signature["signature"], "base64:")
        _must(signature["algorithm"] == "ed25519" and len(public) == 32 and len(raw) == 64, about + "it is not of Ed25519")
        _must(key["key_id"] == "sig_" + hashlib.sha256(public).hexdigest()[:20], about + "the key's id is not that of its bytes")
        _must(verify(public, digest.encode("ascii"), raw), about + "it does not hold")
        at = datetime.fromisoformat(signature.get("signed_at", members["issued_at"]))
        retired = key.get("retired_at")
        in_use = at >= datetime.fromisoformat(key["created_at"]) - _GRACE and (not retired or at <= datetime.fromisoformat(retired) + _GRACE)
        _must(in_use, about + "its key was not in use at the time")
        signers.append(key["key_id"])
    return signers


def _base64(encoded: str, prefix: str) -> bytes:
    text = encoded.removeprefix(prefix)
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""
    return raw if encoded == prefix + base64.b64encode(raw).decode("ascii") else b""


def canonical(value: Any) -> str:
    """Returns the canonical form (RFC 8785) of what json.loads returns with parse_int=float."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(element) for element in value) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Returns a number as ECMAScript writes it."""
    _must(math.isfinite(value), "a number is too large")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # of the digits, how many are before the point
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits.ljust(point, "0")
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power
