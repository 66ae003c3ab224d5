package openharness

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The kinds of what a harness tells of.
const (
	tellsStarted     = "execution.started"
	tellsCompleted   = "execution.completed"
	tellsSession     = "session.created"
	tellsSessionEnd  = "session.ended"
	tellsInstalled   = "skill.installed"
	tellsUninstalled = "skill.uninstalled"
	tellsHook        = "hook.triggered"
	tellsError       = "error"
)

// toldBy says by which events of the log each is told.
var toldBy = map[string][]abi.EventKind{
	tellsStarted:     {abi.EventTaskStarted},
	tellsCompleted:   {abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled},
	tellsSession:     {abi.EventSessionCreated},
	tellsSessionEnd:  {abi.EventSessionClosed, abi.EventSessionDeleted},
	tellsInstalled:   {kindSkillInstalled},
	tellsUninstalled: {kindSkillUninstalled},
	tellsHook:        {kindHookTriggered},
	tellsError:       {abi.EventTaskFailed},
}

// Kinds of events that the log names so.
const (
	kindSkillInstalled   abi.EventKind = "vendor.wharf.skill_installed"
	kindSkillUninstalled abi.EventKind = "vendor.wharf.skill_uninstalled"
	kindHookTriggered    abi.EventKind = "vendor.wharf.hook_triggered"
)

// happening is something that a harness tells of. Its members follow from its kind.
type happening struct {
	Type        string         `json:"type"`
	ExecutionID string         `json:"execution_id,omitzero"`
	Status      string         `json:"status,omitzero"`
	Error       *failed        `json:"error,omitzero"`
	SessionID   string         `json:"session_id,omitzero"`
	SkillID     string         `json:"skill_id,omitzero"`
	HookID      string         `json:"hook_id,omitzero"`
	Event       string         `json:"event,omitzero"`
	Data        jsontext.Value `json:"data,omitzero"`
	Code        string         `json:"code,omitzero"`
	Message     string         `json:"message,omitzero"`
}

// loggedEvent is what is read of an event of the log.
type loggedEvent struct {
	ID        string              `json:"id"`
	Kind      abi.EventKind       `json:"event"`
	At        abi.Time            `json:"created_at"`
	TaskID    string              `json:"task_id"`
	SessionID string              `json:"session_id"`
	Resource  abi.ResourcePointer `json:"resource"`
	Payload   struct {
		Task        *abi.Task       `json:"task"`
		Session     *abi.Session    `json:"session"`
		HookID      string          `json:"hook_id"`
		Event       string          `json:"event"`
		Data        jsontext.Value  `json:"data"`
		SkillBundle *skillAnnounced `json:"skill_bundle"`
	} `json:"payload"`
}

// skillAnnounced is what an event tells of a skill.
type skillAnnounced struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// happeningOf returns what an event of the log tells of a harness; false for one that tells
// nothing.
func happeningOf(text []byte) (ev loggedEvent, h happening, ok bool) {
	if json.Unmarshal(text, &ev) != nil {
		return ev, h, false
	}
	switch ev.Kind {
	case abi.EventTaskStarted:
		if ev.Payload.Task == nil || ev.Payload.Task.Attempt > 1 {
			return ev, h, false // it goes on after the node has died
		}
		return ev, happening{Type: tellsStarted, ExecutionID: ev.TaskID}, true
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return ev, ended(&ev), true
	case abi.EventSessionCreated:
		if s := ev.Payload.Session; s == nil || s.OnlyTaskID != "" {
			return ev, h, false // it is hidden
		}
		return ev, happening{Type: tellsSession, SessionID: ev.Resource.ID}, true
	case abi.EventSessionClosed:
		if s := ev.Payload.Session; s == nil || s.OnlyTaskID != "" {
			return ev, h, false
		}
		return ev, happening{Type: tellsSessionEnd, SessionID: ev.Resource.ID}, true
	case kindHookTriggered:
		return ev, happening{Type: tellsHook, HookID: ev.Payload.HookID, Event: ev.Payload.Event, Data: orObject(ev.Payload.Data)}, true
	case kindSkillInstalled, kindSkillUninstalled:
		h := happening{Type: tellsInstalled, SkillID: ev.Resource.ID}
		if ev.Kind == kindSkillUninstalled {
			h.Type = tellsUninstalled
		}
		return ev, h, true
	}
	return ev, h, false
}

// ended is the end of an execution.
func ended(ev *loggedEvent) happening {
	h := happening{Type: tellsCompleted, ExecutionID: ev.TaskID, Status: endStatus(ev.Kind)}
	if ev.Kind == abi.EventTaskFailed {
		h.Error = &failed{Code: "execution_failed", Message: "the execution failed: its result says why"}
	}
	return h
}

// endStatus is the status of an execution whose Task has ended so.
func endStatus(k abi.EventKind) string {
	switch k {
	case abi.EventTaskFailed:
		return "failed"
	case abi.EventTaskCanceled:
		return "cancelled"
	}
	return "completed"
}

func orObject(v jsontext.Value) jsontext.Value {
	if v.Kind() != '{' {
		return abi.EmptyObject()
	}
	return v
}

// kindsOf returns by which events of the log the named happenings are told; nil names all. A name
// that ends in * is how others begin.
func kindsOf(names []string) (kinds []abi.EventKind, err error) {
	for _, name := range names {
		found := false
		for tells, by := range toldBy {
			if tells == name || strings.HasSuffix(name, "*") && strings.HasPrefix(tells, strings.TrimSuffix(name, "*")) {
				found, kinds = true, append(kinds, by...)
			}
		}
		if !found {
			return nil, abi.InvalidParam("events", "%q is nothing that a harness tells of: one of %s", name, strings.Join(tellings(), ", "))
		}
	}
	return kinds, nil
}

// tellings are the names of what a harness tells of.
func tellings() []string {
	return []string{tellsStarted, tellsCompleted, tellsSession, tellsSessionEnd, tellsInstalled, tellsUninstalled, tellsHook, tellsError}
}

// wanted reports whether somebody who has named some happenings wants one of a kind.
func wanted(names []string, kind string) bool {
	if len(names) == 0 {
		return true
	}
	for _, name := range names {
		if name == kind || strings.HasSuffix(name, "*") && strings.HasPrefix(kind, strings.TrimSuffix(name, "*")) {
			return true
		}
	}
	return false
}
