package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// sessionDetail says what has happened around the Tasks of a Session: to their children, in the inbox, to the clients
// that watch it, and what an agent does with its skills and its conversation. It is "" for any other event.
func sessionDetail(e *abi.Event) string {
	switch e.Event {
	case abi.EventWorker:
		return detailOf(e, workerDetail)
	case abi.EventInjectionQueued, abi.EventInjectionReplaced, abi.EventInjectionRevoked, abi.EventInjectionDelivered:
		return detailOf(e, injectionDetail)
	case abi.EventInboxChanged:
		return detailOf(e, func(p *struct {
			Inbox abi.Inbox `json:"inbox"`
		}) string {
			return fmt.Sprintf("%d waiting", len(p.Inbox.Pending))
		})
	case abi.EventReminderEmitted:
		return detailOf(e, func(p *abi.ReminderEmitted) string {
			return joined(": ", "to the model", strings.Join(p.Reminder.Tags, ", "), p.Reminder.Body)
		})
	case abi.EventLiveClient:
		return detailOf(e, clientDetail)
	case abi.EventLivePermissionRoute:
		return detailOf(e, func(p *abi.LivePermissionRoute) string { return p.RequestID + " is for " + p.ClientID })
	case abi.EventComposition:
		return detailOf(e, func(p *struct {
			Kind  string `json:"kind"`
			RunID string `json:"run_id"`
		}) string {
			return joined(" ", spaced(p.Kind), p.RunID)
		})
	case abi.EventAgentEvent:
		return detailOf(e, agentDetail)
	}
	return ""
}

// spaced is a name in words.
func spaced[T ~string](name T) string { return strings.ReplaceAll(string(name), "_", " ") }

// detailOf reads the payload of an event; "" for one that is not what it should be.
func detailOf[T any](e *abi.Event, say func(*T) string) string {
	p := new(T)
	if json.Unmarshal(e.Payload, p) != nil {
		return ""
	}
	return say(p)
}

func workerDetail(w *abi.Worker) string {
	line := joined(" ", cmp.Or(w.WorkerName, "worker"), spaced(w.Status), w.WorkerID)
	if err := w.Metadata.Error; err != nil {
		return line + ": " + joined(": ", err.Code, err.Message)
	}
	if w.Event == abi.WorkerSpawned {
		return joined(": ", line, w.WorkerTask)
	}
	return line
}

func injectionDetail(p *struct {
	Injection abi.Injection `json:"injection"`
}) string {
	i := &p.Injection
	says := i.Body
	if i.Kind == abi.InjectionUser {
		says = Parts(i.Parts)
	}
	line := joined(" ", string(i.Kind), "("+string(i.Mode)+")", i.ID)
	if i.TaskID != "" {
		line += " to " + i.TaskID
	}
	return joined(": ", line, says)
}

func clientDetail(c *abi.LiveClientChange) string {
	line := joined(" ", c.Client.ClientID, spaced(c.Action))
	switch c.Action {
	case abi.LiveAttached:
		line += " as " + string(c.Client.Mode)
	case abi.LiveTakenOver:
		line = c.Client.ClientID + " has taken over"
	}
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	switch {
	case c.ActiveControllerID == nil:
		return line + ", nobody controls"
	case *c.ActiveControllerID == c.Client.ClientID:
		return line + ", controls"
	}
	return line + ", controlled by " + *c.ActiveControllerID
}

// agentData are the members of what an agent tells, of all its kinds.
type agentData struct {
	SkillName    string   `json:"skill_name"`
	Reason       string   `json:"reason"`
	AllowedTools []string `json:"allowed_tools"`
	Removed      []string `json:"removed_tools"`
	Query        string   `json:"query"`
	Promoted     []string `json:"promoted"`
	Archived     int      `json:"archived_messages"`
	Before       uint64   `json:"estimated_tokens_before"`
	After        uint64   `json:"estimated_tokens_after"`
	Dropped      int      `json:"dropped_count"`
	Reclaimed    uint64   `json:"reclaimed_tokens"`
	Iteration    int      `json:"iteration"`
}

func agentDetail(p *abi.AgentEvent) string {
	if p.Redacted {
		return joined(" ", spaced(cmp.Or(p.Kind, p.Type)), "(withheld)")
	}
	var d agentData
	if json.Unmarshal(p.Data, &d) != nil {
		return string(p.Kind)
	}
	tools := strings.Join(slices.Concat(d.AllowedTools, d.Removed, d.Promoted), ", ")
	switch p.Kind {
	case abi.AgentTranscriptCompacted:
		return fmt.Sprintf("transcript compacted: %d messages, about %d tokens are %d (%s)", d.Archived, d.Before, d.After, d.Reason)
	case abi.AgentTranscriptProjected:
		return fmt.Sprintf("transcript projected: %d messages left out, about %d tokens (%s)", d.Dropped, d.Reclaimed, d.Reason)
	case abi.AgentTurnStarted, abi.AgentTurnEnded:
		return fmt.Sprintf("%s %d", spaced(p.Kind), d.Iteration)
	}
	return joined(": ", spaced(p.Kind), joined(", ", d.SkillName, d.Query, tools, d.Reason))
}
