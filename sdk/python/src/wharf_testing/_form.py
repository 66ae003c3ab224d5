"""The form of requests, as a node holds them to it: what has another type is refused, and nothing more."""

from __future__ import annotations

from typing import Any, Iterator

from ._answers import Refused
from ._calls import FORMS, REQUESTS

_TYPES: dict[str, tuple[type, ...]] = {"text": (str,), "bool": (bool,), "integer": (int,), "natural": (int,), "number": (int, float)}
_STRICT = "llm.complete"  # of which no member may be unknown


def check(call: str, request: Any) -> None:
    """Raises Refused if a request does not have its call's form."""
    form = REQUESTS.get(call)
    if form is None or request is None and form.endswith("?"):
        return
    if request is None:
        raise Refused("invalid", "invalid_request", f"{call} is called with a request, an object")
    form = form.rstrip("?")
    for trouble in _troubles("", form, request, call == _STRICT):
        raise Refused("invalid", "invalid_request", f"the request of {call} is not what it should be: {trouble}")


def _troubles(at: str, form: str, value: Any, strict: bool) -> Iterator[str]:
    if value is None or form == "json":
        return
    where = at or "it"
    if form.startswith("["):
        yield from _elements(where, form, value, list, strict)
    elif form.startswith("{"):
        yield from _elements(where, form, value, dict, strict)
    elif form in FORMS:
        yield from _members(where, at, FORMS[form], value, strict)
    elif not _fits(form, value):
        yield f"{where} is {value!r}, and has to be of the kind {form}"


def _fits(form: str, value: Any) -> bool:
    fits = isinstance(value, _TYPES[form]) and isinstance(value, bool) == (form == "bool")
    return fits and (form != "natural" or int(value) >= 0)


def _elements(where: str, form: str, value: Any, kind: type[list[Any]] | type[dict[str, Any]], strict: bool) -> Iterator[str]:
    if not isinstance(value, kind):
        yield f"{where} is {value!r}, and has to be {'a list' if kind is list else 'an object'}"
        return
    each: Any
    for key, each in list(enumerate(value)) if isinstance(value, list) else value.items():
        yield from _troubles(f"{where}[{key!r}]", form[1:-1], each, strict)


def _members(where: str, at: str, form: dict[str, str], value: Any, strict: bool) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is {value!r}, and has to be an object"
        return
    for name, each in value.items():
        if name in form:
            yield from _troubles(f"{at}.{name}" if at else name, form[name], each, strict)
        elif strict:
            yield f"{where} has the member {name!r}, and may have {', '.join(form)}"
