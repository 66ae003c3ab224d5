# Generated from plugins/py/sdk by go test ./sdk -update. Do not edit.
# What runs the program: the engine (engine/shim.c) knows load, serve and say.
import sys

import _wharf
import wharf

program = None
broken = None


def load():
    global program, broken
    if _wharf.check:
        return
    try:
        program = __import__(_wharf.entry)
    except BaseException as e:
        broken = e
    drawn = sys.modules.get("random")
    if drawn and getattr(drawn, "_drawn", False):
        drawn._state = 0  # each Task draws its own


# frames returns the stack of an exception in the author's own files, the innermost first. Of a long one the middle
# is left out.
def frames(e):
    out = []
    for file, line, function in _wharf.traceback(e):
        if file.startswith(".sdk/"):
            continue
        where = "%s:%d" % (file, line)
        out.append(where if function in (None, "<module>") else "%s (%s)" % (function, where))
    return out if len(out) <= 50 else out[:40] + ["..."] + out[-9:]


def failure_of(e):
    if isinstance(e, wharf.Failure):
        failure = {"code": e.code, "message": e.message}
        if e.details is not None:
            failure["details"] = e.details
        return failure
    text = str(e)
    name = type(e).__name__
    return {"code": "plugin_error", "message": name + ": " + text if text else name, "details": {"stack": frames(e)}}


# problems compiles the author's files, and tells what is wrong with them.
def problems():
    out = []
    number = 0
    while True:
        try:
            name = _wharf.compiled(number)
            if name is None:
                return out
        except Exception as e:
            at = _wharf.traceback(e)
            file, line = at[0][:2] if at else ("", 0)
            out.append({"file": file, "line": line, "text": type(e).__name__ + ": " + str(e)})
        number += 1


# given is the Task; None for the deliveries to a Connector, which are no Task's.
def given():
    try:
        return wharf.Task(wharf._asked("input", None))
    except wharf.Denied as e:
        if e.code != "not_in_a_task":
            raise
        return None


# connect runs an export for the deliveries to a Connector, which tells the host itself what they mean. What it raises
# for one delivery puts that aside; of several, the node finds the one by trying with fewer.
def connect(name):
    try:
        if broken is not None:
            raise broken
        getattr(program, name)(None)
    except BaseException as e:
        deliveries = wharf._asked("connector.deliveries", None)["deliveries"]
        if len(deliveries) != 1:
            raise
        wharf._asked("connector.normalized", {"results": [{"id": deliveries[0]["id"], "failure": failure_of(e)}]})


def answer_to(name, task):
    if _wharf.check:
        return {"summary": "", "failure": {"code": "plugin_check", "message": "checked", "details": {"problems": problems()}}}
    try:
        if broken is not None:
            raise broken
        result = getattr(program, name)(task)
        if hasattr(result, "send"):
            raise TypeError(name + " is async or yields, which nothing waits for: host calls are answered when they return")
    except BaseException as e:
        return {"summary": "", "failure": failure_of(e)}
    if result is None:
        return {"summary": ""}
    if isinstance(result, dict):
        whole = {"summary": ""}
        whole.update(result)
        return whole
    return {"summary": str(result)}


def serve(name):
    task = None if _wharf.check else given()
    if task is None and not _wharf.check:
        return connect(name)
    try:
        wharf._asked("output", answer_to(name, task))
    except BaseException as e:
        wharf._asked("output", {"summary": "", "failure": failure_of(e)})


def say(line):
    wharf._print(str(line, "utf-8"))
