package prove_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

func canonicalHash(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(canonical))
}

func readObject(t testing.TB, name string) (doc object) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// completed fills in what the sample of a request leaves open: the hashes of its
// values, and the events of this source. The published sample has dummies in their
// place.
func completed(t testing.TB, request object, events map[string]string) object {
	t.Helper()
	for key, o := range request["override"].(object) {
		override := o.(object)
		override["sha256"] = canonicalHash(t, override["value"])
		if delete(override, "event_id"); events[key] != "" {
			override["event_id"] = events[key]
		}
	}
	return request
}

// eventOf finds the event that tells the call with an override key.
func eventOf(t testing.TB, c *client, task, key string) string {
	t.Helper()
	for _, e := range c.all(t, "/v1/tasks/"+task+"/events") {
		if text(e, "payload", "key") == key {
			return text(e, "id")
		}
	}
	t.Fatalf("no event tells %s", key)
	return ""
}

// TestPublishedFixture replays a Task that does what the fixture of the Replay
// contract does, with a request of the published shape. Its hashes are those of its
// values: the published ones are dummies, which TestPublishedDummies has refused.
func TestPublishedFixture(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	source := text(c.run(t, "persona_fixture", object{"message": "hello"}), "id")
	event := eventOf(t, c, source, "llm:main:1")
	request := completed(t, readObject(t, filepath.Join("testdata", "task-replay-request.json")), map[string]string{"llm:main:1": event})
	other := newClient(builder.StartWith(t, nodetest.Options{Args: compiled(), Data: restored(t, copyOf(t, c))}))

	receipts := replays{}
	for place, at := range map[string]*client{"the node": c, "another node": other} {
		replay := at.replayed(t, source, request)
		if text(replay, "status") != "COMPLETED" {
			t.Fatalf("%s: %v", place, replay["failure"])
		}
		receipts[place], _ = at.unsigned(t, text(replay, "id"))
	}
	receipts.wantEqual(t, "the fixture")
	wantFixtureReceipt(t, receipts["the node"], source, event, request)
}

func wantFixtureReceipt(t *testing.T, wire, source, event string, request object) {
	t.Helper()
	var r object
	if err := json.Unmarshal([]byte(wire), &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		path  string
		value string
	}{
		{"subject object", "replay_segment"}, {"lifecycle final_state", "SUCCEEDED"},
		{"lifecycle started_at", "2026-04-25T19:16:14Z"}, {"replay_input determinism", "byte_deterministic"},
		{"metadata source_task_id", source}, {"metadata replay_mode", "with_overrides"},
	} {
		if got := text(r, strings.Fields(want.path)...); got != want.value {
			t.Errorf("%s is %q, want %q", want.path, got, want.value)
		}
	}
	verdict := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(`{"message":"hello","verdict":"approved"}`)))
	if artifacts := r["final_artifacts"].([]any); len(artifacts) != 1 ||
		text(artifacts[0].(object), "sha256") != verdict || text(artifacts[0].(object), "kind") != "dataset" {
		t.Errorf("the artifacts are %v", artifacts)
	}
	deltas := map[string]object{}
	for _, d := range r["deltas"].([]any) {
		deltas[text(d.(object), "override_key")] = d.(object)
	}
	for key, o := range request["override"].(object) {
		d, override := deltas[key], o.(object)
		if d == nil || text(d, "after_sha256") != text(override, "sha256") || text(d, "reason") != text(override, "reason") || text(d, "operation") != "replace" {
			t.Errorf("the delta of %s is %v", key, d)
		}
		if before := text(d, "before_sha256"); !strings.HasPrefix(before, "sha256:") || before == text(d, "after_sha256") {
			t.Errorf("before %s there was %q", key, before)
		}
	}
	if text(deltas["llm:main:1"], "event_id") != event {
		t.Errorf("the model's answer was told by %s; the delta says %v", event, deltas["llm:main:1"])
	}
}

// TestReplayRequestsAreHeldToTheirWord changes one thing about a good request.
func TestReplayRequestsAreHeldToTheirWord(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	source := text(c.run(t, "persona_fixture", object{"message": "hello"}), "id")
	for name, spoil := range map[string]func(overrides, model object){
		"another hash":   func(_, model object) { model["sha256"] = "sha256:" + strings.Repeat("a", 64) },
		"no such event":  func(_, model object) { model["event_id"] = "event_01JZ7001" },
		"another event":  func(_, model object) { model["event_id"] = "1" },
		"an unknown key": func(overrides, model object) { overrides["llm:main:2"] = model },
		"no value":       func(_, model object) { delete(model, "value") },
		"not an answer":  func(_, model object) { model["value"] = 7; delete(model, "sha256") },
	} {
		t.Run(name, func(t *testing.T) {
			request := completed(t, readObject(t, filepath.Join("testdata", "task-replay-request.json")), nil)
			overrides := request["override"].(object)
			spoil(overrides, overrides["llm:main:1"].(object))
			status, shown := c.refused(t, "POST", "/v1/tasks/"+source+"/replay", request)
			if status != 400 || text(shown, "message") == "" {
				t.Errorf("%d %v", status, shown)
			}
			if name == "an unknown key" && (!strings.Contains(text(shown, "message"), "llm:main:1") || !strings.Contains(text(shown, "message"), "time:started_at")) {
				t.Errorf("the keys that there are are not told: %v", shown)
			}
		})
	}
}

// TestPublishedDummies sends the published sample as it stands. Its hashes are
// dummies, and so it is refused for them.
func TestPublishedDummies(t *testing.T) {
	spec := os.Getenv("WHARF_SPEC")
	if spec == "" {
		t.Skip("needs the published documents: set WHARF_SPEC to their folder")
	}
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	source := text(c.run(t, "persona_fixture", object{"message": "hello"}), "id")
	request := readObject(t, filepath.Join(spec, "replay", "fixtures", "task-replay-request.json"))
	status, shown := c.refused(t, "POST", "/v1/tasks/"+source+"/replay", request)
	if status != 400 || !strings.Contains(text(shown, "message"), "sha256") {
		t.Errorf("%d %v", status, shown)
	}
	for _, o := range request["override"].(object) {
		o.(object)["sha256"] = canonicalHash(t, o.(object)["value"])
		delete(o.(object), "event_id")
	}
	if replay := c.replayed(t, source, request); text(replay, "status") != "COMPLETED" {
		t.Errorf("with true hashes it fails: %v", replay["failure"])
	}
}
