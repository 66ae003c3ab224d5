package updates

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// The discriminators of plans and of what a Session is.
const (
	planUpdate    = "plan"
	infoUpdate    = "session_info_update"
	modeUpdate    = "current_mode_update"
	optionsUpdate = "config_option_update"
)

type plan struct {
	SessionUpdate string  `json:"sessionUpdate"`
	Entries       []entry `json:"entries"`
}

// entry is a step of a plan.
type entry struct {
	Content  string       `json:"content"`
	Priority string       `json:"priority"`
	Status   string       `json:"status"`
	Meta     *shapes.Meta `json:"_meta,omitzero"`
}

// ofStep is what the protocol has no word for.
type ofStep struct {
	Status string `json:"status"`
}

// stepEvent is what is read of a plan that is told, or kept.
type stepEvent struct {
	Steps []step `json:"steps"`
	Plan  *struct {
		Steps []step `json:"steps"`
	} `json:"plan"`
}

type step struct {
	Title   string `json:"title"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// planned tells a plan whole.
func (t *Teller) planned(ev *abi.Event, o *told) {
	p, ok := payload[stepEvent](ev)
	if !ok || p.Plan == nil && p.Steps == nil {
		return
	}
	steps := p.Steps
	if p.Plan != nil {
		steps = p.Plan.Steps
	}
	entries := make([]entry, 0, len(steps))
	for _, s := range steps {
		entries = append(entries, entryOf(&s))
	}
	o.add(plan{planUpdate, entries})
}

func entryOf(s *step) entry {
	e := entry{Content: cmp.Or(s.Title, s.Content), Priority: "medium", Status: s.Status}
	switch abi.StepStatus(s.Status) {
	case abi.StepPending, abi.StepInProgress, abi.StepCompleted:
		return e
	case abi.StepSkipped:
		e.Status = string(abi.StepCompleted)
	default:
		e.Status = string(abi.StepPending)
	}
	if s.Status != "" {
		e.Meta = &shapes.Meta{Harn: ofStep{s.Status}}
	}
	return e
}

// about is what was told of a Session, or is known without.
type about struct {
	title, mode, model string
}

// sessionEvent is what is read of an event that states a Session.
type sessionEvent struct {
	Session *struct {
		Name      string         `json:"name"`
		Summary   string         `json:"summary"`
		PersonaID string         `json:"persona_id"`
		Parent    string         `json:"parent_session_id"`
		UpdatedAt jsontext.Value `json:"updated_at"`
		Model     jsontext.Value `json:"model"`
	} `json:"session"`
}

// info is what people see of a Session.
type info struct {
	SessionUpdate string       `json:"sessionUpdate"`
	Title         *string      `json:"title"`
	UpdatedAt     string       `json:"updatedAt,omitzero"`
	Meta          *shapes.Meta `json:"_meta,omitzero"`
}

type ofSession struct {
	ParentSessionID string `json:"parentSessionId"`
}

// Title returns what a Session is called in lists.
func Title(name, summary string) string { return cmp.Or(name, summary) }

func (t *Teller) sessionCreated(ev *abi.Event, o *told) {
	p, ok := payload[sessionEvent](ev)
	if !ok || p.Session == nil {
		return
	}
	s := p.Session
	t.session.mode = s.PersonaID
	t.session.model, _ = stringOf(s.Model)
	title := Title(s.Name, s.Summary)
	if title == "" && s.Parent == "" {
		return
	}
	t.session.title = title
	u := infoOf(title, s.UpdatedAt)
	if s.Parent != "" {
		u.Meta = &shapes.Meta{Harn: ofSession{s.Parent}}
	}
	o.add(u)
}

func infoOf(title string, at jsontext.Value) info {
	u := info{SessionUpdate: infoUpdate}
	if title != "" {
		u.Title = &title
	}
	u.UpdatedAt, _ = stringOf(at)
	return u
}

// sessionUpdated tells what of a Session has changed: what it is called, its mode, its options.
func (t *Teller) sessionUpdated(ev *abi.Event, o *told) {
	p, ok := payload[sessionEvent](ev)
	if !ok || p.Session == nil {
		return
	}
	s := p.Session
	model, _ := stringOf(s.Model)
	is := about{Title(s.Name, s.Summary), s.PersonaID, model}
	was := t.session
	t.session = is
	if is.title != was.title {
		o.add(infoOf(is.title, s.UpdatedAt))
	}
	if mode := cmp.Or(is.mode, t.f.DefaultMode); is.mode != was.mode && mode != "" {
		o.add(currentMode{modeUpdate, mode})
	}
	if is.model != was.model && t.f.ConfigOptions != nil {
		if options := t.f.ConfigOptions(is.model); options.Kind() == '[' {
			o.add(configOptions{optionsUpdate, options})
		}
	}
}

type currentMode struct {
	SessionUpdate string `json:"sessionUpdate"`
	CurrentModeID string `json:"currentModeId"`
}

type configOptions struct {
	SessionUpdate string         `json:"sessionUpdate"`
	ConfigOptions jsontext.Value `json:"configOptions"`
}

// taskEvent is what is read of the end of a Task.
type taskEvent struct {
	Task *struct {
		Parent  string       `json:"parent_task_id"`
		Failure *abi.Failure `json:"failure"`
	} `json:"task"`
}

// taskEnded ends what a Task has left open, and tells a failure to those who are told it no other way.
func (t *Teller) taskEnded(ev *abi.Event, o *told) {
	if ev.TaskID != "" {
		t.leave(ev.TaskID, ev.Event, o)
		t.texts.end(ev.TaskID)
	}
	p, ok := payload[taskEvent](ev)
	if ev.Event != abi.EventTaskFailed || !ok || p.Task == nil || p.Task.Failure == nil || p.Task.Parent != "" {
		return // what comes of a child's failure is for its parent to say
	}
	if t.f.Awaits != nil && t.f.Awaits(ev.TaskID) {
		return
	}
	f := p.Task.Failure
	t.notice(noticeFailure, "The task has failed: "+cmp.Or(f.Message, "there is no message")+" ("+cmp.Or(f.Code, "unknown")+")", o)
}
