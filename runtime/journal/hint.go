package journal

import (
	"reflect"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// ReadHint checks the request of a call with the effect abi.EffectHint and returns
// the event that tells it. Hints are not recorded: a run and its replay answer
// them alike because both ask this function. Without a payload there is nothing to tell.
func ReadHint(call string, request []byte) (kind abi.EventKind, payload any, err error) {
	switch call {
	case abi.CallLog:
		var line abi.CallLogRequest
		if err := json.Unmarshal(request, &line); err != nil {
			return "", nil, err
		}
		switch line.Level {
		case "debug", "info", "warn", "error":
			return abi.EventLog, &line, nil
		}
		return "", nil, abi.InvalidParam("level", "%q is not a level: one of debug, info, warn, error", line.Level)
	case abi.CallProgress:
		var p abi.CallProgressRequest
		if err := json.Unmarshal(request, &p); err != nil {
			return "", nil, err
		}
		if p.Fraction < 0 || p.Fraction > 1 {
			return "", nil, abi.InvalidParam("fraction", "fraction must be between 0 and 1")
		}
		return abi.EventProgress, &p, nil
	case abi.CallPlan:
		return readPlan(request)
	case abi.CallAgentEvent:
		return readAgentEvent(request)
	}
	var d abi.CallMessageDeltaRequest
	err = json.Unmarshal(request, &d)
	return abi.EventMessageDelta, &d, err
}

func readAgentEvent(request []byte) (abi.EventKind, any, error) {
	if len(request) > abi.MaxAgentEvent {
		return "", nil, abi.InvalidParam("data", "what an agent tells has at most %d bytes", abi.MaxAgentEvent)
	}
	var told abi.CallAgentEventRequest
	if err := json.Unmarshal(request, &told); err != nil {
		return "", nil, err
	}
	ev, err := told.Event()
	if err != nil {
		return "", nil, err
	}
	return abi.EventAgentEvent, ev, nil
}

// readPlan tells no plan with more steps than are decoded. It does not refuse it, for a
// record of before may hold a run that was answered so.
func readPlan(request []byte) (abi.EventKind, any, error) {
	var p abi.CallPlanRequest
	if _, err := abi.Weigh(request, reflect.TypeOf(p)); err != nil {
		return abi.EventPlan, nil, nil
	}
	if err := json.Unmarshal(request, &p); err != nil {
		return "", nil, err
	}
	for _, step := range p.Steps {
		switch step.Status {
		case "pending", "in_progress", "completed", "skipped":
		default:
			return "", nil, abi.InvalidParam("steps.status", "%q is not a status: one of pending, in_progress, completed, skipped", step.Status)
		}
	}
	return abi.EventPlan, &p, nil
}
