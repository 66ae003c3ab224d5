# Randomness of the Task. What is drawn before a Task begins is the same for all.
import _wharf

_state = 0
_drawn = False  # whether the state was drawn, and not chosen


def seed(a=None):
    global _state, _drawn
    _drawn = a is None
    if a is None:
        a = int.from_bytes(_wharf.entropy(8), "little")
    elif not isinstance(a, int):
        n = 14695981039346656037
        for byte in str(a).encode():
            n = (n ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
        a = n
    _state = a & 0xFFFFFFFFFFFFFFFF or 0x9E3779B97F4A7C15


def getrandbits(k):
    global _state
    if not _state:
        seed()
    value = 0
    for _ in range(0, k, 32):
        x = _state
        x ^= x >> 12
        x ^= x << 25 & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 27
        _state = x
        value = value << 32 | (x * 0x2545F4914F6CDD1D & 0xFFFFFFFFFFFFFFFF) >> 32
    return value >> -k % 32


def random():
    return getrandbits(53) / (1 << 53)


def randrange(start, stop=None, step=1):
    if stop is None:
        start, stop = 0, start
    n = (stop - start + step - (1 if step > 0 else -1)) // step
    if n <= 0:
        raise ValueError("empty range")
    bits = 0
    while 1 << bits < n:
        bits += 1
    drawn = n
    while drawn >= n:
        drawn = getrandbits(bits) if bits else 0
    return start + drawn * step


def randint(a, b):
    return randrange(a, b + 1)


def uniform(a, b):
    return a + (b - a) * random()


def choice(seq):
    if not len(seq):
        raise IndexError("there is nothing to choose from")
    return seq[randrange(len(seq))]


def choices(seq, k=1):
    return [choice(seq) for _ in range(k)]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = randrange(i + 1)
        x[i], x[j] = x[j], x[i]


def sample(seq, k):
    left = list(seq)
    shuffle(left)
    if k > len(left):
        raise ValueError("the sample is larger than what it is of")
    return left[:k]
