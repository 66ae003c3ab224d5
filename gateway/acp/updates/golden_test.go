package updates_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
)

var rewrite = flag.Bool("update", false, "rewrite the conversations")

// client is who is told in the tests: a folder, a mutation session for the first Task, and options.
func client(harn bool) updates.For {
	return updates.For{
		Harn: harn, Root: "/home/a",
		Audit: func(task string) *abi.MutationSession {
			if task != "t1" {
				return nil
			}
			return abi.MutationSessionOf(&abi.Task{Envelope: abi.Envelope{ID: task}, SessionID: "s1"}, nil, nil, &abi.Persona{AutonomyTier: abi.TierActAuto})
		},
		ConfigOptions: func(model string) jsontext.Value {
			return jsontext.Value(fmt.Sprintf(`[{"id":"model","name":"Model","category":"model","type":"select","currentValue":%q,"options":[{"value":%[1]q,"name":%[1]q}]}]`, model))
		},
	}
}

// told is what a client is told: updates, and what has none.
func told(t rapid.TB, checker *acptest.Checker, teller *updates.Teller, events []*abi.Event) []string {
	var all []string
	for _, ev := range events {
		for _, u := range teller.Tell(ev) {
			if err := checker.Update(u); err != nil {
				t.Errorf("%s is told as what does not fit: %v", ev.Event, err)
			}
			all = append(all, string(u))
		}
		if params, ok := teller.AgentEvent(ev); ok {
			if err := checker.Params("_harn/agentEvent", params); err != nil {
				t.Errorf("%s is told as what does not fit: %v", ev.Event, err)
			}
			all = append(all, "_harn/agentEvent "+string(params))
		}
	}
	return all
}

func checkers(t testing.TB) (stock, harn *acptest.Checker) {
	t.Helper()
	stock, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	if harn, err = acptest.New(); err != nil {
		t.Fatal(err)
	}
	harn.Aware()
	return stock, harn
}

// eventsOf reads the events of a conversation: each a line.
func eventsOf(t testing.TB, text string) (all []*abi.Event) {
	for line := range strings.Lines(text) {
		ev := &abi.Event{TaskID: "t1", SessionID: "s1"}
		if err := json.Unmarshal([]byte(line), ev); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, ev)
	}
	return all
}

// Each conversation in testdata is events, what a stock client is told of them, and what one of Harn is.
// There is one for every update, and everything fits.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	stock, harn := checkers(t)
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, _, ok := strings.Cut(strings.TrimPrefix(string(text), "# events\n"), "# stock\n")
		if !ok {
			t.Fatalf("%s has no place for what a stock client is told", file)
		}
		events := eventsOf(t, input)
		forStock, forHarn := told(t, stock, updates.New(client(false)), events), told(t, harn, updates.New(client(true)), events)
		got := "# events\n" + input + section("# stock", forStock) + section("# harn", forHarn)
		for _, u := range slices.Concat(forStock, forHarn) {
			var is struct {
				Kind string `json:"sessionUpdate"`
			}
			if json.Unmarshal([]byte(u), &is) == nil {
				seen[is.Kind] = true
			}
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s is now\n%s", file, got)
		}
	}
	seen["available_commands_update"] = true // no event of a Session tells it
	want := append(updates.Extensions(), "user_message", "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan",
		"current_mode_update", "config_option_update", "session_info_update")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("there are conversations of %q, want %q", got, want)
	}
}

func section(head string, lines []string) string {
	return strings.Join(append([]string{head}, lines...), "\n") + "\n"
}
