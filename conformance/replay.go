package conformance

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func replayChecks() []Check {
	const entry, modes, keys, log, fixture = "Replay: REST entrypoint", "Replay: Modes", "Replay: Override keys", "Replay: EventLog use", "Replay: Determinism fixture"
	all := []Check{
		{ID: "replay.discovery", Title: "discovery says that there are replays", Section: "REST: Discovery", Strength: Should, run: discovers("replay")},
		{ID: "replay.exact", Title: "a replay is a new Task whose parent is its source", Section: entry, Strength: Must, run: replayExact},
		{ID: "replay.body-optional", Title: "the body is optional", Section: entry, Strength: Must, run: replayWithoutBody},
		{ID: "replay.outcome", Title: "an exact replay ends as its source did", Section: modes, Strength: Must, run: replayOutcome},
		{ID: "replay.lifecycle", Title: "it emits the normal events of a Task", Section: entry, Strength: Must, run: replayLifecycle},
		{ID: "replay.marks", Title: "what is replayed is marked, and says where it comes from", Section: log, Strength: Must, run: replayMarks},
		{ID: "replay.order", Title: "events are replayed in their order", Section: log, Strength: Must, run: replayOrder},
		{ID: "replay.events", Title: "its start and its end are events", Section: "Event taxonomy", Strength: Should, run: replayEvents},
		{ID: "replay.identical", Title: "two exact replays have byte-identical canonical receipts", Section: fixture, Strength: Must, run: replayIdentical},
		{ID: "replay.receipt", Title: "the receipt of a replay is one of a replay segment", Section: "Receipt", Strength: Should, run: replayReceipt},
		{ID: "replay.unknown-mode", Title: "an unknown mode gets 400", Section: modes, Strength: Must, run: replayUnknownMode},
		{ID: "replay.no-checkpoint", Title: "from_checkpoint without a checkpoint gets 400", Section: modes, Strength: Must, run: replayNoCheckpoint},
		{ID: "replay.unknown-key", Title: "an override of what was never asked is refused", Section: keys, Strength: Should, run: replayUnknownKey},
		{ID: "replay.wrong-hash", Title: "an override that does not have its stated hash is refused", Section: keys, Strength: Must, run: replayWrongHash},
		{ID: "replay.missing-source", Title: "an absent source gets 404", Section: "Error taxonomy", Strength: Must, run: replayAbsent},
		{ID: "replay.running", Title: "a Task that has not ended is not replayed", Section: entry, Strength: Should, run: replayRunning},
		{ID: "replay.idempotent", Title: "a retried replay answers with the same Task", Section: "Idempotency", Strength: Must, run: replayRetried},
	}
	for i := range all {
		all[i].Level = LevelReplay
	}
	return all
}

func (p *probe) replayPath(source object) string {
	return "/v1/tasks/" + p.text(source, "id") + "/replay"
}

// replayed replays a Task and waits for its end.
func (p *probe) replayed(source object) object {
	task := p.want(p.post(p.replayPath(source), object{"mode": "exact"}), 202).doc
	return p.settled(p.text(task, "id"))
}

func replayExact(p *probe) {
	source := p.finished()
	task := p.want(p.post(p.replayPath(source), object{"mode": "exact", "reason": "conformance"}), 202).doc
	p.oneOf(task, "object", "task")
	p.oneOf(task, "status", taskStates...)
	p.equal("parent_task_id", task["parent_task_id"], source["id"])
	p.equal("workspace_id", task["workspace_id"], source["workspace_id"])
	if task["id"] == source["id"] {
		p.fail("the replay is its own source")
	}
	if task["session_id"] != source["session_id"] {
		p.note("in another Session")
	}
}

func replayWithoutBody(p *probe) {
	source := p.finished()
	task := p.want(p.post(p.replayPath(source), nil), 202).doc
	p.equal("parent_task_id", task["parent_task_id"], source["id"])
}

func replayOutcome(p *probe) {
	source := p.finished()
	task := p.replayed(source)
	if task["status"] != source["status"] {
		p.fail("the source is %s, the replay %s: %s", answers.Show(source["status"]), answers.Show(task["status"]), answers.Show(task["failure"]))
	}
	if source["outcome_id"] == nil {
		return
	}
	was := p.want(p.get("/v1/outcomes/"+p.text(source, "outcome_id")), 200).doc
	is := p.want(p.get("/v1/outcomes/"+p.text(task, "outcome_id")), 200).doc
	p.equal("the summary", is["summary"], was["summary"])
}

// replayLifecycle wants the transitions of an ordinary Task.
func replayLifecycle(p *probe) {
	task := p.replayed(p.finished())
	p.wantTransitions(task)
}

// marked returns the events of a replay that are marked as replayed.
func (p *probe) marked(task object) (marked []object) {
	for _, e := range p.taskEvents(p.text(task, "id")) {
		if e["replayed"] == true {
			marked = append(marked, e)
		}
	}
	if len(marked) == 0 {
		p.fail("no event of the replay %s is marked as replayed", answers.Show(task["id"]))
	}
	return marked
}

func replayMarks(p *probe) {
	source := p.finished()
	task := p.replayed(source)
	own := map[any]bool{}
	for _, e := range p.taskEvents(p.text(source, "id")) {
		own[e["id"]] = true
	}
	for _, e := range p.marked(task) {
		marks := p.member(e, "replay")
		p.equal("replay.source_task_id", marks["source_task_id"], source["id"])
		p.equal("replay.replay_task_id", marks["replay_task_id"], task["id"])
		p.equal("replay.mode", marks["mode"], "exact")
		if original := p.text(marks, "original_event_id"); original != e["id"] {
			p.text(marks, "replay_cursor")
			if !own[original] {
				p.fail("event %s stands for %s, which the source does not have", answers.Show(e["id"]), original)
			}
		}
	}
	p.wantMarkedStream(task)
}

// wantMarkedStream looks for a marked event in a stream that is read for the
// first time.
func (p *probe) wantMarkedStream(task object) {
	want := p.text(p.marked(task)[0], "id")
	s := p.listen("/v1/tasks/"+p.text(task, "id")+"/stream", "")
	defer s.close()
	for {
		f := p.frame(s)
		if f.id != want {
			continue
		}
		p.equal("replayed, in the stream", f.doc["replayed"], true)
		p.member(f.doc, "replay")
		return
	}
}

func replayOrder(p *probe) {
	source := p.finished()
	place := map[string]int{}
	for i, e := range p.taskEvents(p.text(source, "id")) {
		place[p.text(e, "id")] = i
	}
	last := -1
	for _, e := range p.marked(p.replayed(source)) {
		at, known := place[p.text(p.member(e, "replay"), "original_event_id")]
		if known && at < last {
			p.fail("event %s replays one that comes before the one replayed last", answers.Show(e["id"]))
		}
		last = max(last, at)
	}
}

func replayEvents(p *probe) {
	task := p.replayed(p.finished())
	missing := map[string]bool{"replay.started": true, "replay.completed": true}
	for _, e := range p.taskEvents(p.text(task, "id")) {
		delete(missing, p.text(e, "event"))
	}
	for kind := range missing {
		p.fail("the replay has no event %s", kind)
	}
}

// unsigned returns the canonical bytes of a receipt without its signatures, which
// may differ between implementations.
func (p *probe) unsigned(task object) []byte {
	if len(p.receiptsOf(task)) == 0 {
		p.skip("the replay has no receipt")
	}
	var wire object
	if err := json.Unmarshal(p.bare(p.receipt(task), mediaReceiptJSON), &wire); err != nil {
		p.fail("reading the receipt: %v", err)
	}
	delete(wire, "signatures")
	return canonical(p, []byte(answers.Show(wire)))
}

func replayIdentical(p *probe) {
	source := p.finished()
	first := p.unsigned(p.replayed(source))
	p.settled(p.text(p.submit(p.newSession()), "id")) // something else, in between
	if second := p.unsigned(p.replayed(source)); !bytes.Equal(first, second) {
		p.fail("the receipts differ:\n%s\n%s", first, second)
	}
}

func replayReceipt(p *probe) {
	task := p.replayed(p.finished())
	if len(p.receiptsOf(task)) == 0 {
		p.skip("the replay has no receipt")
	}
	p.equal("subject.object", p.member(p.wire(p.receipt(task)), "subject")["object"], "replay_segment")
}

func replayUnknownMode(p *probe) {
	p.wantError(p.post(p.replayPath(p.finished()), object{"mode": "backwards"}), 400, "invalid_request")
}

func replayNoCheckpoint(p *probe) {
	p.wantError(p.post(p.replayPath(p.finished()), object{"mode": "from_checkpoint"}), 400, "invalid_request")
}

// someOverride is an override that would be sound if its key were known.
func someOverride() object { return object{"kind": "time", "value": "2026-04-25T19:16:14Z"} }

func replayUnknownKey(p *probe) {
	r := p.post(p.replayPath(p.finished()), object{"mode": "with_overrides", "override": object{neverAsked: someOverride()}})
	if p.want(r, 400, 404, 409, 422); r.errorCode() == "" {
		p.fail("refused without an error: %s", answers.Excerpt(r.body))
	}
	p.note("%d %s", r.status, answers.Excerpt(r.body))
}

// replayWrongHash overrides something that the source asked for, if the server
// tells what there is when it refuses a key.
func replayWrongHash(p *probe) {
	source := p.finished()
	asked := p.post(p.replayPath(source), object{"mode": "with_overrides", "override": object{neverAsked: someOverride()}})
	key := anyKey(asked.error())
	if key == "" {
		p.skip("the source asked for nothing that can be overridden, or the server does not tell")
	}
	override := someOverride()
	override["kind"], override["sha256"] = kindOfKey(key), "sha256:"+strings.Repeat("a", 64)
	p.wantRefusal(p.post(p.replayPath(source), object{"mode": "with_overrides", "override": object{key: override}}))
}

func (p *probe) wantRefusal(r response) {
	p.want(r, 400, 409, 422)
	p.note("%d %s", r.status, r.errorCode())
}

// keyForms are the recommended forms of override keys, and what they override.
var keyForms = map[string]string{"llm": "llm_provider_response", "mcp": "mcp_tool_return", "secret": "secret_value",
	"time": "time", "host": "host_fact"}

func kindOfKey(key string) string {
	family, _, _ := strings.Cut(key, ":")
	return keyForms[family]
}

const neverAsked = "time:never-asked"

var keyText = regexp.MustCompile(`\b(?:llm|mcp|secret|time|host):[\w.:/-]*\w`)

// anyKey finds an override key in the error that refused [neverAsked].
func anyKey(refusal object) string {
	for _, key := range keyText.FindAllString(answers.Show(refusal), -1) {
		if key != neverAsked {
			return key
		}
	}
	return ""
}

func replayAbsent(p *probe) {
	p.wantError(p.post("/v1/tasks/task_00000000000000000000000000/replay", nil), 404, "resource_not_found")
}

func replayRunning(p *probe) {
	for range 10 {
		source := p.busy()
		r := p.post(p.replayPath(source), nil)
		p.post("/v1/tasks/"+p.text(source, "id")+"/cancel", object{})
		if r.status < 400 {
			p.settled(p.text(r.doc, "id"))
			if source = p.settled(p.text(source, "id")); source["status"] != "CANCELED" {
				continue // it had ended before the replay
			}
			p.fail("a Task that has not ended was replayed: %d", r.status)
		}
		p.want(r, 400, 409)
		p.note("%d %s", r.status, r.errorCode())
		return
	}
	p.skip("the Task had ended in 10 of 10 tries")
}

func replayRetried(p *probe) {
	source, key := p.finished(), rand.Text()
	first := p.want(p.keyed(p.replayPath(source), key, object{"mode": "exact"}), 202, 200).doc
	second := p.want(p.keyed(p.replayPath(source), key, object{"mode": "exact"}), 202, 200).doc
	p.equal("id of the retried replay", second["id"], p.text(first, "id"))
}
