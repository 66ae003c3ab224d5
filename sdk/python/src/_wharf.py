"""What is beneath the module wharf outside of the engine: the host of the test that runs."""

from __future__ import annotations

import contextvars
import traceback as _traceback
from pathlib import Path
from types import TracebackType
from typing import Callable, Optional, Tuple

Host = Callable[[str, Optional[bytes]], Tuple[int, bytes]]

# The host that answers, and the folder of the plugin that it runs: set by wharf_testing.
host: contextvars.ContextVar[Host] = contextvars.ContextVar("host")
folder: contextvars.ContextVar[Path] = contextvars.ContextVar("folder")

check = False  # the engine can compile a program without running it


def call(name: str, request: Optional[bytes | str]) -> tuple[int, bytes]:
    """Makes a host call, and returns its status and its answer."""
    answers = host.get(None)
    if answers is None:
        raise RuntimeError(f"the host call {name} is made without a host: run the plugin's function with wharf_testing.Host().run")
    return answers(name, request.encode() if isinstance(request, str) else request)


def traceback(error: BaseException) -> list[tuple[str, int, str | None]]:
    """Returns file, line and function of the frames of an exception, the innermost first. Files that are not the author's
    begin with .sdk/, as in the engine."""
    at: Optional[TracebackType] = error.__traceback__
    return [(_place(f.filename), f.lineno or 0, f.name) for f in reversed(_traceback.extract_tb(at))]


def _place(file: str) -> str:
    try:
        return Path(file).resolve().relative_to(folder.get().resolve()).as_posix()
    except (LookupError, ValueError):
        return ".sdk/" + file
