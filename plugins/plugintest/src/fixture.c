// fixture is what the replay conformance fixture replays: it reads the clock under
// the name started_at, asks a model under the name main:1, and stores
//
//	{"message": what the input says, "verdict": what the model says}
//
// as an Artifact. Without a model the verdict is "approved".

#include "guest.h"

CALL(host_clock, "clock");
CALL(host_llm_complete, "llm.complete");
CALL(host_artifact_put, "artifact.put");

static struct span ask(struct span message) {
	byte *start = out;
	PUT("{\"call_id\":\"main:1\",\"messages\":[{\"role\":\"user\",\"text\":");
	put_span(message);
	PUT("}]}");
	u64 result = host_llm_complete(start, out - start);
	struct span text = MEMBER(take(result), "text");
	return status_of(result) || !text.start ? LITERAL("\"approved\"") : text;
}

EXPORT("run") int run(void) {
	struct span message = MEMBER(input(), "message"), label = LITERAL("{\"call_id\":\"started_at\"}");
	if (!message.start || *message.start != '"') message = LITERAL("\"\"");
	if (status_of(host_clock(label.start, label.end - label.start))) return 1;
	struct span verdict = ask(message);
	byte *start = out;
	PUT("{\"kind\":\"dataset\",\"mime_type\":\"application/json\",\"name\":\"verdict.json\"}\n{\"message\":");
	put_span(message);
	PUT(",\"verdict\":");
	put_span(verdict);
	PUT("}");
	if (status_of(host_artifact_put(start, out - start))) return 2;
	start = out;
	PUT("{\"summary\":");
	put_span(verdict);
	PUT("}");
	return status_of(host_output(start, out - start));
}
