# The Task's clock, and waiting as running time.
from collections import namedtuple

import _wharf

struct_time = namedtuple("struct_time", ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst"))


def time():
    return _wharf.clock(False) / 1000000000


def time_ns():
    return _wharf.clock(False)


def monotonic():
    return _wharf.clock(True) / 1000000000


def monotonic_ns():
    return _wharf.clock(True)


perf_counter = monotonic
perf_counter_ns = monotonic_ns


def sleep(seconds):
    _wharf.pause(seconds)


# gmtime is that of the civil calendar, in UTC.
def gmtime(seconds=None):
    s = int(time() if seconds is None else seconds)
    days, s = divmod(s, 86400)
    z = days + 719468
    era, doe = divmod(z, 146097)
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    year = yoe + era * 400 + (month <= 2)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    before = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)[month - 1]
    day = doy - (153 * mp + 2) // 5 + 1
    return struct_time(year, month, day, s // 3600, s // 60 % 60, s % 60, (days + 3) % 7, before + day + (leap and month > 2), 0)
