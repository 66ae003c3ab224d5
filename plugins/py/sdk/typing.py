# For annotations, which nothing looks at here: each name is something that can be called and indexed.
class _Any:
    def __getitem__(self, _):
        return self

    def __call__(self, *given, **named):
        return given[-1] if given else self


TYPE_CHECKING = False
_any = _Any()


def cast(_, value):
    return value


class TypedDict(dict):
    pass


class Protocol:
    pass


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _any
