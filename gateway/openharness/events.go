package openharness

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) eventRoutes() []gateway.Route {
	return []gateway.Route{
		read("events", "hooks.listEvents", "events:read", "List what a harness has told of, newest first", a.at(a.listEvents)),
		eventStream("events/stream", "hooks.streamEvents", "events:read", "Stream what a harness tells of", a.at(a.streamEvents)),
	}
}

// eventStream is a route that answers with server-sent events. Published clients that send options
// with it make it a POST.
func eventStream(path, operation, scope, summary string, h gateway.Handler) gateway.Route {
	rt := read(path, operation, scope, summary, h)
	rt.Media, rt.Or = gateway.MediaEventStream, fasthttp.MethodPost
	return rt
}

// namesOf reads a list of the query: given once with commas, or several times.
func namesOf(r *gateway.Request, name string) (all []string) {
	for _, one := range r.HTTP.QueryArgs().PeekMulti(name) {
		for part := range strings.SplitSeq(string(one), ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// streamEvents tells what happens from now on, or after the event that a client has seen last.
func (a *Adapter) streamEvents(r *gateway.Request, h *abi.Harness) error {
	names := namesOf(r, "events")
	if _, err := kindsOf(names); err != nil {
		return err
	}
	after, _, err := resumeAt(r, a.core.Now())
	if err != nil {
		return err
	}
	return a.stream(r, api.Filter{WorkspaceID: h.WorkspaceID}, after, tellerFunc(func(b []byte, ev *api.Event) []byte {
		_, told, ok := happeningOf(ev.AppendJSON(nil, false))
		if !ok || !wanted(names, told.Type) {
			return b
		}
		return frame(b, ev.At.String(), told.Type, appendJSON(nil, &told))
	}))
}

// streamLogs tells the lines of a harness's log from now on, or after the last that a client has seen.
func (a *Adapter) streamLogs(r *gateway.Request, h *abi.Harness) error {
	level, err := oneOf(r, "level", logLevels...)
	if err != nil {
		return err
	}
	after, _, err := resumeAt(r, a.core.Now())
	if err != nil {
		return err
	}
	return a.stream(r, api.Filter{WorkspaceID: h.WorkspaceID}, after, tellerFunc(func(b []byte, ev *api.Event) []byte {
		line, ok := lineOf(ev.AppendJSON(nil, false))
		if !ok || !line.atLeast(level) {
			return b
		}
		return frame(b, ev.At.String(), "log", appendJSON(nil, &line))
	}))
}

// appendJSON appends what is known to be well-formed.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return append(b, "{}"...)
	}
	return append(b, text...)
}

// storedEvent is something that a harness has told of.
type storedEvent struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Data      happening `json:"data"`
	Timestamp abi.Time  `json:"timestamp"`
}

func (a *Adapter) listEvents(r *gateway.Request, h *abi.Harness) error {
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	since, err := sinceOf(r)
	if err != nil {
		return err
	}
	if name := r.Query("type"); r.HasQuery("type") {
		if _, err := kindsOf([]string{name}); err != nil {
			return abi.InvalidParam("type", "%s", err.(*abi.Error).Message)
		}
	}
	all, err := recent(a, r, h, p.offset+p.limit+1, since, func(ev *api.Event) (one storedEvent, ok bool) {
		logged, told, ok := happeningOf(ev.AppendJSON(nil, false))
		if !ok || r.HasQuery("type") && !wanted([]string{r.Query("type")}, told.Type) || !since.IsZero() && !ev.Time.After(since) {
			return one, false
		}
		return storedEvent{logged.ID, told.Type, told, logged.At}, true
	})
	if err != nil {
		return err
	}
	return page(r, all)
}

// logLine is a line of a harness's log.
type logLine struct {
	Timestamp abi.Time   `json:"timestamp"`
	Level     string     `json:"level"`
	Message   string     `json:"message"`
	Context   logContext `json:"context"`
}

// logContext says what a line is about.
type logContext struct {
	EventID     string `json:"event_id"`
	ExecutionID string `json:"execution_id,omitzero"`
	SessionID   string `json:"session_id,omitzero"`
	Code        string `json:"code,omitzero"`
}

// The levels of lines, in their order.
var logLevels = []string{"debug", "info", "warn", "error"}

// lineOf returns the line that an event is in the log of its harness; false for one that is none.
func lineOf(text []byte) (line logLine, ok bool) {
	var ev struct {
		ID        string        `json:"id"`
		Kind      abi.EventKind `json:"event"`
		At        abi.Time      `json:"created_at"`
		TaskID    string        `json:"task_id"`
		SessionID string        `json:"session_id"`
		Payload   struct {
			Level   string       `json:"level"`
			Message string       `json:"message"`
			Task    *abi.Task    `json:"task"`
			Tool    *abi.ToolUse `json:"tool"`
		} `json:"payload"`
	}
	if json.Unmarshal(text, &ev) != nil {
		return line, false
	}
	line = logLine{Timestamp: ev.At, Level: "info", Context: logContext{EventID: ev.ID, ExecutionID: ev.TaskID, SessionID: ev.SessionID}}
	switch ev.Kind {
	case abi.EventLog:
		line.Level, line.Message = levelOf(ev.Payload.Level), ev.Payload.Message
	case abi.EventTaskStarted:
		if line.Message = "an execution has begun"; ev.Payload.Task != nil && ev.Payload.Task.Attempt > 1 {
			line.Level, line.Message = "warn", "an execution goes on after the node has died"
		}
	case abi.EventTaskCompleted:
		line.Message = "an execution has ended well"
	case abi.EventTaskCanceled:
		line.Level, line.Message = "warn", "an execution was canceled"
	case abi.EventTaskFailed:
		line.Level, line.Message = "error", "an execution has failed: its result says why"
	case abi.EventToolFailed:
		line.Level, line.Message = "warn", "a tool has failed"
		if t := ev.Payload.Tool; t != nil {
			line.Message, line.Context.Code = "the tool "+t.Server+":"+t.Name+" has failed", string(t.ErrorCategory)
		}
	default:
		return line, false
	}
	return line, true
}

func levelOf(level string) string {
	for _, known := range logLevels {
		if level == known {
			return level
		}
	}
	return "info"
}

// atLeast reports whether a line is of a level, or worse; "" lets all through.
func (l *logLine) atLeast(level string) bool {
	for _, one := range logLevels {
		if one == level {
			return true
		}
		if one == l.Level {
			return level == ""
		}
	}
	return true
}

func (a *Adapter) listLogs(r *gateway.Request, h *abi.Harness) error {
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	since, err := sinceOf(r)
	if err != nil {
		return err
	}
	level, err := oneOf(r, "level", logLevels...)
	if err != nil {
		return err
	}
	all, err := recent(a, r, h, p.offset+p.limit+1, since, func(ev *api.Event) (logLine, bool) {
		line, ok := lineOf(ev.AppendJSON(nil, false))
		return line, ok && line.atLeast(level) && (since.IsZero() || ev.Time.After(since))
	})
	if err != nil {
		return err
	}
	return page(r, all)
}
