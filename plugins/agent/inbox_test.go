package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

func user1(text string) wharf.Message {
	return wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(text)}}
}

// lastOf says what the model was asked last in each turn.
func lastOf(model *scripted) (last []string) {
	for _, r := range model.asked {
		m := r.Messages[len(r.Messages)-1]
		last = append(last, m.Role+":"+m.Text)
	}
	return last
}

// What a user says meanwhile is what the model is asked next: between two turns, and after its answer.
func TestTheModelIsToldWhatIsSaidMeanwhile(t *testing.T) {
	h, model := office(wants(toolCall("c", "files__read_file", `{}`)), says("Done."), says("Done, too."))
	looks := 0
	var at []string
	h.Inbox = func(where wharf.Checkpoint, waits bool) wharf.Inbox {
		looks++
		at = append(at, fmt.Sprint(where, " ", waits))
		switch looks {
		case 2:
			return wharf.Inbox{Messages: []wharf.Message{user1("not that one")}}
		case 3:
			return wharf.Inbox{Messages: []wharf.Message{user1("and then this")}}
		}
		return wharf.Inbox{}
	}
	if outcome := h.Text(handle, "go"); outcome.Failure != nil || outcome.Summary != "Done, too." {
		t.Fatalf("%+v", outcome)
	}
	if want := []string{"user:go", "user:not that one", "user:and then this"}; !slices.Equal(lastOf(model), want) {
		t.Errorf("the model was asked %q, want %q", lastOf(model), want)
	}
	if want := []string{"step false", "step false", "loop_exit false", "step false", "loop_exit false"}; !slices.Equal(at, want) {
		t.Errorf("it looked at %q, want %q", at, want)
	}
}

// A reminder is shown in as many turns as it says, in its role, and is not part of the conversation.
func TestRemindersAreShownForTheirTurns(t *testing.T) {
	read := wants(toolCall("c", "files__read_file", `{}`))
	h, model := office(read, read, says("Done."))
	given := false
	h.Inbox = func(wharf.Checkpoint, bool) wharf.Inbox {
		if given {
			return wharf.Inbox{}
		}
		given = true
		return wharf.Inbox{Reminders: []wharf.Reminder{{Body: "be quick", RenderedRole: "system", TTLTurns: 2}, {Body: "a file changed", RenderedRole: "user", TTLTurns: 1}}}
	}
	if outcome := h.Text(handle, "go"); outcome.Failure != nil {
		t.Fatalf("%+v", outcome)
	}
	var systems []bool
	for _, r := range model.asked {
		systems = append(systems, r.System != defaultPrompt)
	}
	if !slices.Equal(systems, []bool{true, true, false}) {
		t.Errorf("the prompt had a reminder in the turns %v", systems)
	}
	if first := lastOf(model)[0]; first != "user:a file changed" || model.asked[1].Messages[1].Role != "assistant" {
		t.Errorf("the model was asked %q, and then %v", first, model.asked[1].Messages)
	}
}

// An agent that is to stay waits after its answer, and goes on when it is woken, though nobody says
// anything.
func TestAnAgentStays(t *testing.T) {
	h, model := office(says("One."), says("Two."), says("Three."))
	h.Config = map[string]any{"stay": true}
	waited := 0
	h.Inbox = func(at wharf.Checkpoint, waits bool) wharf.Inbox {
		if !waits {
			return wharf.Inbox{}
		}
		switch waited++; waited {
		case 1:
			return wharf.Inbox{Messages: []wharf.Message{user1("again")}}
		case 2:
			return wharf.Inbox{Woken: "resumed"}
		}
		return wharf.Inbox{Woken: "never"}
	}
	if outcome := h.Text(handle, "go"); outcome.Failure != nil || outcome.Summary != "Three." || len(model.asked) != 3 {
		t.Errorf("%+v after %d turns", outcome, len(model.asked))
	}
}

// Whose turns are spent takes nothing that it could not answer, and a Persona that may not look is
// asked no more.
func TestWhoDoesNotLook(t *testing.T) {
	h, _ := office(says("Done."))
	h.Config = map[string]any{"max_turns": 1}
	var at []wharf.Checkpoint
	h.Inbox = func(where wharf.Checkpoint, _ bool) wharf.Inbox {
		at = append(at, where)
		return wharf.Inbox{}
	}
	if outcome := h.Text(handle, "go"); outcome.Failure != nil || !slices.Equal(at, []wharf.Checkpoint{wharf.AtStep}) {
		t.Errorf("%+v: it looked at %v", outcome, at)
	}
	h, _ = office(wants(toolCall("c", "files__read_file", `{}`)), says("Done."))
	h.Refuse = map[string]*wharf.Error{"inbox.take": {Status: wharf.StatusDenied, Code: "policy_violation"}}
	looked := func(call string) bool { return call == "inbox.take" }
	if outcome := h.Text(handle, "go"); outcome.Failure != nil || len(slices.DeleteFunc(slices.Clone(h.Calls), func(c string) bool { return !looked(c) })) != 1 {
		t.Errorf("%+v after %v", outcome, h.Calls)
	}
}

// A reminder for the audit alone is in the transcript, and not in what a model is shown of it.
func TestAuditedRemindersAreNotShown(t *testing.T) {
	h, model := office(says("Done."))
	h.Transcript = []wharf.Message{user1("Hello"), {Role: "system", Metadata: json.RawMessage(`{"wharf_audit_only":true}`), Parts: []wharf.Part{wharf.TextPart("audited")}},
		{Role: "system", Parts: []wharf.Part{wharf.TextPart("kept")}}}
	h.Text(handle, "go")
	if got := fmt.Sprint(model.asked[0].Messages); got != fmt.Sprint([]wharf.ModelMessage{{Role: "user", Text: "Hello"}, {Role: "user", Text: "kept"}, {Role: "user", Text: "go"}}) {
		t.Errorf("the model was shown %s", got)
	}
}
