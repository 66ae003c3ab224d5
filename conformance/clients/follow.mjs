// Follows an event stream with the eventsource package and prints what it sees,
// one JSON object a line: {"open": n}, {"id", "event"}, {"error": code or null}.
//
//   node follow.mjs URL KEY VERSION
//
// It ends when its standard input does.
import { EventSource } from "eventsource";

const [url, key, version] = process.argv.slice(2);
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

let opened = 0;
const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, {
      ...init,
      headers: {
        ...init.headers,
        Authorization: `Bearer ${key}`,
        "Harn-Agents-Protocol-Version": version,
      },
    }),
});
source.onopen = () => print({ open: ++opened });
source.onerror = (e) => print({ error: e.code ?? null });

// An EventSource hands an event to the listeners of its name only, and the names
// are not known here, so what it dispatches is looked at instead.
const dispatch = source.dispatchEvent.bind(source);
source.dispatchEvent = (e) => {
  if (e.type !== "open" && e.type !== "error") {
    const event = JSON.parse(e.data);
    print({ id: e.lastEventId, event: e.type, agrees: event.id === e.lastEventId && event.event === e.type });
  }
  return dispatch(e);
};
process.stdin.on("end", () => {
  source.close();
  process.exit(0);
});
process.stdin.resume();
