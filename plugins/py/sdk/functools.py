# A part of CPython's module.
def partial(f, *first, **named):
    def call(*rest, **more):
        whole = dict(named)
        whole.update(more)
        return f(*(first + rest), **whole)

    return call


def reduce(f, items, *initial):
    it = iter(items)
    value = initial[0] if initial else next(it)
    for item in it:
        value = f(value, item)
    return value


def wraps(_):
    return lambda f: f
