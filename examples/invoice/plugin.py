# invoice takes the facts out of the text of an invoice. What the text does not say is missing, whatever the model says.
import json
from wharf import Failure, llm_complete, reply

FIELDS = ("number", "date", "total", "currency")

SYSTEM = """Take these out of the invoice: number, date (YYYY-MM-DD), total (such as 1234.50), currency (EUR, USD or GBP).
Answer with JSON alone: for each that is there {"value": ..., "quote": the words of the invoice that say so}."""


def run(task):
    found = ask(task.text)
    answer = {}
    missing = []
    for field in FIELDS:
        value = quoted(found.get(field), task.text)
        if value is None:
            missing.append(field)
        else:
            answer[field] = value
    answer["missing"] = missing
    reply([{"type": "json", "value": answer, "visibility": "public"}])
    return "missing: " + ", ".join(missing) if missing else "complete"


def ask(text):
    said = llm_complete(system=SYSTEM, messages=[{"role": "user", "text": text}], temperature=0)["text"]
    try:
        found = json.loads(said)
    except ValueError:
        raise Failure("model_answer", "the model answers with something that is no JSON")
    if not isinstance(found, dict):
        raise Failure("model_answer", "the model answers with JSON that is no object")
    return found


# A value counts if the model quotes the words that it is from, and if they are in the text.
def quoted(said, text):
    if not isinstance(said, dict):
        return None
    quote = said.get("quote")
    if not isinstance(quote, str) or not quote.strip() or quote not in text:
        return None
    return said.get("value")
