# Base64 as CPython's module has it.
from binascii import a2b_base64, b2a_base64


def b64encode(s):
    return b2a_base64(s, newline=False)


def b64decode(s):
    return a2b_base64(s)


def urlsafe_b64encode(s):
    return b64encode(s).replace(b"+", b"-").replace(b"/", b"_")


def urlsafe_b64decode(s):
    if isinstance(s, str):
        s = s.encode()
    return b64decode(s.replace(b"-", b"+").replace(b"_", b"/"))
