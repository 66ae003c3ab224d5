"""Runs the cases that the engine runs, and what is the host's own, natively."""

import base64
import contextlib
import io
import json
import re
import threading
import unittest
from pathlib import Path

import wharf
from wharf_testing import PROPOSED, SHADOW, Failed, Host, Line, Refused, Unanswered
from wharf_testing._calls import CALLS

import plugin

CASES = sorted((Path(__file__).parent / "testdata").glob("*.yaml"))


def answer(rule):
    """One answer of a case, as the host of tests has it."""
    if "error" in rule:
        return Refused(rule.get("status", "unavailable"), rule["error"]["code"], rule["error"]["message"])
    return base64.b64decode(rule["base64"]) if "base64" in rule else rule["answer"]


class Cases(unittest.TestCase):
    def test_the_same_as_in_the_engine(self):
        self.assertTrue(CASES)
        for path in CASES:
            with self.subTest(path.stem):
                case = json.loads(path.read_text())
                given = case.get("answers", {})
                config = given.pop("config", None)
                answers = {name: [answer(r) for r in rules] if isinstance(rules, list) else answer(rules) for name, rules in given.items()}
                host = Host(answers, config=config)
                outcome = host.run(plugin.run, case["input"])
                self.check(host, outcome, case["expected"])

    def check(self, host, outcome, expected):
        failure = expected.get("failure")
        self.assertEqual(outcome.failure is None, failure is None, outcome)
        if failure:
            self.assertEqual({name: getattr(outcome.failure, name) for name in failure}, failure)
        if "output" in expected:
            self.assertEqual(outcome.output, expected["output"])
        if "calls" in expected:
            made = [{"call": c.name, "request": c.request, **({"status": c.status} if c.status != "ok" else {})} for c in host.calls]
            self.assertEqual(made, expected["calls"])
        if "logs" in expected:
            self.assertEqual([{"level": line.level, "message": line.message} for line in host.logs], expected["logs"])


class Hosts(unittest.TestCase):
    def test_what_was_raised_can_be_looked_at(self):
        outcome = Host().run(plugin.run, "boom")
        self.assertEqual((outcome.failure.code, outcome.failure.message), ("plugin_error", "ValueError: boom"))
        self.assertRegex(outcome.failure.details["stack"][0], r"^boom \(plugin\.py:\d+\)$")
        self.assertRegex(outcome.failure.details["stack"][1], r"^run \(plugin\.py:\d+\)$")
        self.assertEqual(len(outcome.failure.details["stack"]), 2)
        self.assertIsInstance(outcome.error, ValueError)
        self.assertEqual(Host().run(plugin.run, "tea").failure, Failed("no_tea", "the pot is empty", {"pots": 1}))

    def test_a_call_without_an_answer(self):
        for asked in ("ask", "caught"):  # whatever the plugin makes of it
            with self.assertRaises(Unanswered) as raised:
                Host().run(plugin.run, asked)
            self.assertIn("nothing answers llm.complete", str(raised.exception))
            self.assertIn('Host({"llm.complete": {"text":"...","stop_reason":"end"}})', str(raised.exception))
            self.assertEqual(raised.exception.call, "llm.complete")
        host = Host({"llm.complete": [{"text": "one"}]})
        with self.assertRaisesRegex(Unanswered, r"all answers that the test gives to llm.complete are used up \(1\)"):
            host.run(plugin.run, "ask")
        self.assertEqual([c.name for c in host.calls], ["llm.complete"])

    def test_every_call_says_how_to_answer_it(self):
        def asking(call):
            f = getattr(wharf, call.replace(".", "_"))
            if call == "artifact.put":
                return lambda task: f({}, b"")
            if call == "random":
                return lambda task: f(1)
            return lambda task: f() if call == "connector.deliveries" else f({"parts": []})

        lacking = 0
        for call in CALLS:
            if call in ("input", "output"):
                continue
            host = Host()
            try:
                host.run(asking(call))
            except Unanswered as e:
                lacking += 1
                added = eval(re.search(r"Answer it: Host\((.*?)\)\. ", str(e))[1])
                outcome = Host(added).run(asking(call))
                self.assertIsNone(outcome.failure, call)
        self.assertGreater(lacking, 30)

    def test_functions_answer(self):
        asked = []

        def complete(request):
            print("of the test's own", end="")
            asked.append(request["messages"][0]["text"])
            if len(asked) == 2:
                raise Refused("unavailable", "model_down", "try later")
            return {"text": "one"}

        printed, host = io.StringIO(), Host({"llm.complete": complete})
        with contextlib.redirect_stdout(printed):
            outcome = host.run(plugin.run, "ask")
        self.assertEqual((printed.getvalue(), host.logs), ("of the test's own" * 2, []))
        self.assertEqual((asked, outcome.failure.message), (["a", "b"], "Unavailable: llm.complete: try later"))
        self.assertEqual((outcome.error.code, outcome.error.status, outcome.error.call), ("model_down", "unavailable", "llm.complete"))
        stored = []
        host = Host({"artifact.put": lambda request, content: stored.append((request["name"], content)) or {"artifact_id": "art_9", "sha256": "x"}},
                    artifacts={"art_9": b"0123456"})
        self.assertEqual(host.run(plugin.run, "store").summary, "1234 1")
        self.assertEqual(stored, [("pot", "h\u00e9llo\nworld".encode())])

    def test_a_fault_of_the_test_is_no_failure_of_the_plugin(self):
        def wrong(request):
            raise AssertionError("not what was expected")

        for given, error in ((wrong, AssertionError), ("a text", TypeError), ([3], TypeError), ({"text": object()}, TypeError)):
            with self.assertRaises(error):
                Host({"llm.complete": given}).run(plugin.run, "caught")

        def interrupted(task):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            Host().run(interrupted)
        with self.assertRaises(ZeroDivisionError):
            Host({"llm.complete": lambda request: 1 // 0}).run(plugin.run, "caught")

    def test_answers_that_no_call_gets(self):
        for name, text in (("http.fetsh", "did you mean http.fetch"), ("log", "telemetry"), ("input", "run is given the input"), ("nothing", "no host call")):
            with self.assertRaisesRegex(ValueError, text):
                Host({name: {}})
            host = Host()
            host.answers[name] = {}
            with self.assertRaisesRegex(ValueError, text):
                host.run(plugin.run, "keep")
        with self.assertRaisesRegex(ValueError, "no status 'nope'"):
            Refused("nope")
        with self.assertRaises(ValueError):
            Refused("ok")

    def test_held_back(self):
        self.assertEqual(Host({"state.set": PROPOSED}).run(plugin.run, "keep").summary, "proposed")
        self.assertEqual(Host({"http.fetch": SHADOW}).run(plugin.run, "brew").summary, "0 False ")

    def test_what_is_set_and_left(self):
        host = Host(config={"greeting": "Moin"}, state={"name": "Ada"}, secrets=["key"], facts={"tenant": "acme"})
        host.run(plugin.run, "greet")
        host.run(plugin.run, "greet")
        self.assertEqual(host.replies, ["Moin, Ada!", "Moin, Ada!"])

        def asks(task):
            wharf.progress(fraction=0.5)
            kept = [wharf.secret_use(name="key")["handle"], wharf.host_fact(name="tenant")["value"], task.persona["name"], task.created_by, task.skills]
            try:
                wharf.host_fact(name="weather")
            except wharf.NotFound as e:
                return {"summary": str(kept), "metrics": {e.code: 1}}

        outcome = host.run(asks, None, persona={"name": "barista"}, task={"created_by": "me"}, skills=[{"name": "pour"}])
        self.assertEqual(outcome.output, {"summary": "['{{secret:key}}', 'acme', 'barista', 'me', [{'name': 'pour'}]]", "metrics": {"unknown_fact": 1}})
        self.assertEqual([(h.name, h.request) for h in host.hints], [("progress", {"fraction": 0.5})])
        with self.assertRaises(Unanswered):
            host.run(lambda task: wharf.secret_use(name="other"))

    def test_async_functions_fail_as_in_the_engine(self):
        async def later(task):
            return "never"

        outcome = Host().run(later)
        self.assertEqual(outcome.failure.code, "plugin_error")
        self.assertIn("is async or yields", outcome.failure.message)

    def test_what_is_printed_without_an_end_of_line(self):
        host = Host()
        host.run(lambda task: print("a\nb", end=""))
        self.assertEqual(host.logs, [Line("info", "a"), Line("info", "b")])

    def test_a_child_within_a_run(self):
        child = Host({"llm.complete": {"text": "child"}})
        host = Host({"llm.complete": lambda request: {"text": child.run(plugin.run, "ask").summary}})
        self.assertEqual(host.run(plugin.run, "ask").summary, "child child child child")

    def test_two_at_once(self):
        seen = {}

        def one(name):
            host = Host({"llm.complete": {"text": name}})
            seen[name] = host.run(plugin.run, "ask").summary, len(host.calls)

        threads = [threading.Thread(target=one, args=(str(n),)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(seen, {str(n): (f"{n} {n}", 2) for n in range(8)})

    def test_without_a_host(self):
        with self.assertRaisesRegex(RuntimeError, "state.get is made without a host"):
            wharf.state_get(key="k")

    def test_deliveries(self):
        def run(task):
            self.assertIsNone(task)
            deliveries = wharf.connector_deliveries()["deliveries"]
            wharf.connector_normalized(results=[{"id": d["id"], "ignored": d["text"]} for d in deliveries])

        self.assertEqual(Host().normalize(run, [{"text": "a"}, {"text": "b"}]), [{"id": "del_1", "ignored": "a"}, {"id": "del_2", "ignored": "b"}])
        with self.assertRaises(ValueError):
            Host().normalize(plugin.boom, [{}])
        with self.assertRaisesRegex(AssertionError, "has not said what the deliveries mean"):
            Host().normalize(lambda task: None, [{}])


if __name__ == "__main__":
    unittest.main()
