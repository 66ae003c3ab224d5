import base64
import hashlib
import heapq
import json
import random
import re
import time
from collections import OrderedDict, namedtuple
from functools import partial, reduce
from typing import Any, Optional, TypedDict

loaded: Optional[int] = random.randrange(1000)


class Ticket(TypedDict):
    id: int


def order():
    d = {"z": 1, "a": 2, "m": 3}
    assert list(d) == ["z", "a", "m"] and json.dumps(d) == '{"z": 1, "a": 2, "m": 3}'
    d["b"] = 4
    del d["a"]
    d["a"] = 5
    assert list(d.items()) == [("z", 1), ("m", 3), ("b", 4), ("a", 5)]
    assert d.popitem() == ("a", 5) and d.pop("z") == 1 and list(d) == ["m", "b"]
    assert list(json.loads('{"q":1,"b":{"y":1,"x":2},"a":3}')) == ["q", "b", "a"]
    assert list(dict(c=1, b=2, a=3)) == ["c", "b", "a"]


def many():
    d, model = {}, []
    for i in range(3000):
        k = i * 7919 % 10007
        d[k] = i
        d[str(k)] = -i
        model.append(k)
        model.append(str(k))
    for i in range(0, len(model), 3):
        del d[model[i]]
    left = [k for i, k in enumerate(model) if i % 3]
    assert list(d) == left and len(d) == len(left)
    assert all(d[k] == (i if isinstance(k, int) else -i) for i, k in ((model.index(k) // 2, k) for k in left[:50]))
    assert not any(model[i] in d for i in range(0, 300, 3))
    copy = d.copy()
    copy.update({"new": 1, left[0]: 0})
    assert list(copy) == left + ["new"] and "new" not in d
    while copy:
        copy.popitem()
    copy[1] = 2
    assert list(copy.items()) == [(1, 2)]
    queue = {}
    for i in range(20000):
        queue[i] = i
        if i >= 10:
            del queue[i - 10]
    assert list(queue) == list(range(19990, 20000))
    try:
        d[[]] = 1
        raise AssertionError("a list is a key")
    except TypeError:
        pass


def collect():
    # More than memory holds, of what is thrown away again; what is kept stays as it is.
    kept = [[i, str(i), {"n": i}] for i in range(2000)]
    for i in range(20000):
        x = [i] * 200
    assert x[0] == 19999 and all(kept[i] == [i, str(i), {"n": i}] for i in range(2000))

    def gen(n):
        for i in range(n):
            yield "a" * 1000 + str(i)

    total = 0
    for text in gen(6000):
        total += len(text)
    assert total > 6000000


def errors():
    said = []
    for f in (lambda: 1 // 0, lambda: {}["k"], lambda: [][1], lambda: int("x"), lambda: None.x, lambda: json.loads("{"), lambda: "a" + 1):
        try:
            f()
        except Exception as e:
            said.append(type(e).__name__)
        finally:
            said.append(".")
    assert "".join(said) == "ZeroDivisionError.KeyError.IndexError.ValueError.AttributeError.ValueError.TypeError.", said

    def deep(n):
        try:
            if n:
                deep(n - 1)
            raise ValueError(n)
        except ValueError as e:
            raise KeyError(n) if n else e

    try:
        deep(50)
    except KeyError as e:
        assert e.args[0] == 1
    for i in range(20000):
        try:
            sorted([2, 1], key=lambda v: 1 // 0)
        except ZeroDivisionError:
            pass


def with_block():
    said = []

    class Manager:
        def __enter__(self):
            said.append("in")
            return self

        def __exit__(self, kind, value, trace):
            said.append(kind.__name__)
            return True

    with Manager():
        raise OSError("x")
    assert said == ["in", "OSError"]


def texts():
    name = "漢字😀"
    assert f"{name}|{3.14159:.2f}|{7:03d}|{len(name)}" == "漢字😀|3.14|007|3", f"{name}|{3.14159:.2f}|{7:03d}|{len(name)}"
    assert "a,b".split(",") == ["a", "b"] and "x".join(["1", "2"]) == "1x2" and " a ".strip() == "a"
    assert re.match(r"(\w+)@(\w+)", "me@home").group(2) == "home" and re.sub("a+", "-", "baac") == "b-c"
    assert json.loads(json.dumps({"a": [1, 2.5, None, True, "é\n\u0001\""]})) == {"a": [1, 2.5, None, True, "é\n\u0001\""]}
    assert json.loads('"\\ud83d\\ude00\\u00e9"') == "😀é", repr(json.loads('"\\ud83d\\ude00\\u00e9"'))
    assert base64.b64decode(base64.b64encode(b"\x00\xff")) == b"\x00\xff"
    assert hashlib.sha256(b"a").digest()[:2] == b"\xca\x97"


def numbers():
    assert 2**100 == 1267650600228229401496703205376 and 10**20 % 7 == 2 and -7 // 2 == -4
    assert 0.1 + 0.2 > 0.3 and round(2.5) == 2 and 1e16 == 10**16 and json.dumps(0.1) == "0.1"
    assert sum([1, 2, 3]) == 6 and max(3, 9, 2) == 9 and divmod(7, 2) == (3, 1)
    assert reduce(lambda a, b: a * b, [1, 2, 3, 4]) == 24 and partial(pow, 2)(10) == 1024
    h = []
    for v in (3, 1, 2):
        heapq.heappush(h, v)
    assert heapq.heappop(h) == 1
    P = namedtuple("P", ("x", "y"))
    assert P(1, 2).y == 2 and OrderedDict([("a", 1)])["a"] == 1
    assert time.gmtime(1782604800)[:8] == (2026, 6, 28, 0, 0, 0, 6, 179), time.gmtime(1782604800)
    assert all(0 <= random.random() < 1 and 1 <= random.randint(1, 6) <= 6 for _ in range(100))


def recursion():
    def f(n):
        return f(n + 1) + 1

    def g(v):
        return sorted([v], key=g)

    class A:
        def __getattr__(self, name):
            return getattr(self, name + "x")

        def __repr__(self):
            return repr([self])

    def h():
        yield from h()

    loop = []
    loop.append(loop)
    nested = []
    for _ in range(20000):
        nested = [nested]
    for what in (lambda: f(0), lambda: g(1), lambda: A().y, lambda: repr(A()), lambda: list(h()), lambda: repr(loop), lambda: json.dumps(nested),
                 lambda: json.loads("[" * 20000), lambda: eval("(" * 1000 + "1" + ")" * 1000), lambda: nested == [[nested]]):
        try:
            what()
        except (RuntimeError, ValueError, MemoryError, SyntaxError):
            pass
    def level(n):
        return level(n - 1) + 1 if n else 0
    assert level(1000) == 1000


def run(task):
    globals()[task.text]()
    return "held"
