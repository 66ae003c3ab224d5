"""Runs the functions of a plugin for Wharf outside of a node, against a host that a test can look into.

    from wharf_testing import Host

    from plugin import run

    def test_greets() -> None:
        host = Host()
        outcome = host.run(run, "Ada")
        assert (outcome.summary, host.replies) == ("greeted", ["Hello, Ada!"])
"""

from ._answers import PROPOSED, SHADOW, Answer, Refused, Unanswered
from ._host import Call, Failed, Host, Line, Outcome

__all__ = ["PROPOSED", "SHADOW", "Answer", "Call", "Failed", "Host", "Line", "Outcome", "Refused", "Unanswered"]
