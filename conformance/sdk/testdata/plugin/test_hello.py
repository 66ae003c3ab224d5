import unittest

import wharf
from wharf_testing import Host, Refused

from plugin import run


class Hello(unittest.TestCase):
    def test_greets(self) -> None:
        host = Host()
        outcome = host.run(run, "Ada")
        self.assertEqual((outcome.summary, host.replies), ("greeted", ["Hello, Ada!"]))

    def test_fails_where_nobody_hears(self) -> None:
        outcome = Host({"message.append": Refused("too_large", "payload_too_large", "too much was said")}).run(run, "Ada")
        assert outcome.failure and isinstance(outcome.error, wharf.WharfError)
        self.assertEqual((outcome.failure.code, outcome.error.code), ("plugin_error", "payload_too_large"))


if __name__ == "__main__":
    unittest.main()
