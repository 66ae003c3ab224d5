package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// inbox is what users say and hosts remind of while the agent works, as the model is shown it.
type inbox struct {
	none      bool // the Persona may not look into it, or nothing is ever delivered to the Task
	reminders []wharf.Reminder
}

// takeInbox takes what is due at a checkpoint: what users say goes into the conversation.
func (a *agent) takeInbox(at wharf.Checkpoint, wait bool) (wharf.Inbox, error) {
	if a.inbox.none {
		return wharf.Inbox{}, nil
	}
	take := wharf.InboxTake
	if wait {
		take = func(at wharf.Checkpoint) (wharf.Inbox, error) { return wharf.InboxWait(at, 0) }
	}
	taken, err := take(at)
	if errors.Is(err, wharf.StatusDenied) || taken.Woken == "never" { // by a Persona of before there were inboxes; forks and replays
		a.inbox.none = true
		return wharf.Inbox{}, nil
	}
	for _, m := range taken.Messages {
		if text := textOf(m); text != "" {
			a.messages = append(a.messages, wharf.ModelMessage{Role: "user", Text: text})
		}
	}
	a.inbox.reminders = append(a.inbox.reminders, taken.Reminders...)
	return taken, err
}

// goesOn reports whether the agent has more to do after an answer that wants no tool: what came
// meanwhile, or, if it is to stay, what comes at some time. What comes when the turns are spent is left to the
// next Task.
func (a *agent) goesOn() (bool, error) {
	if a.settings.maxTurns != 0 && a.turns >= a.settings.maxTurns {
		return false, nil
	}
	if a.settings.stay {
		taken, err := a.takeInbox(wharf.AtTurn, true)
		return !taken.Empty() || taken.Woken == "resumed", err
	}
	taken, err := a.takeInbox(wharf.AtLoopExit, false)
	return !taken.Empty(), err
}

// section is what the prompt says of reminders.
func (i *inbox) section() string {
	var bodies []string
	for _, r := range i.reminders {
		if r.RenderedRole != "user" {
			bodies = append(bodies, r.Body)
		}
	}
	if bodies == nil {
		return ""
	}
	return "Reminders of your host, which the user does not see:\n\n" + strings.Join(bodies, "\n\n")
}

// with returns the conversation with the reminders that are shown as a user's words.
func (i *inbox) with(messages []wharf.ModelMessage) []wharf.ModelMessage {
	shown := slices.Clip(messages)
	for _, r := range i.reminders {
		if r.RenderedRole == "user" {
			shown = append(shown, wharf.ModelMessage{Role: "user", Text: r.Body})
		}
	}
	return shown
}

// shown counts a turn in which the model was shown the reminders.
func (i *inbox) shown() {
	for n := range i.reminders {
		i.reminders[n].TTLTurns--
	}
	i.reminders = slices.DeleteFunc(i.reminders, func(r wharf.Reminder) bool { return r.TTLTurns <= 0 })
}

// auditOnly reports whether a Message of the transcript is a reminder that no model is shown.
func auditOnly(m wharf.Message) bool {
	var said struct {
		AuditOnly bool `json:"wharf_audit_only"`
	}
	return m.Role == "system" && json.Unmarshal(m.Metadata, &said) == nil && said.AuditOnly
}
