package journal

import (
	"errors"
	"reflect"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

func TestReadHint(t *testing.T) {
	for _, c := range []struct {
		call, request string
		kind          abi.EventKind
		payload       any
	}{
		{abi.CallLog, `{"level":"debug","message":"m"}`, abi.EventLog, &abi.CallLogRequest{Level: "debug", Message: "m"}},
		{abi.CallLog, `{"level":"info"}`, abi.EventLog, &abi.CallLogRequest{Level: "info"}},
		{abi.CallLog, `{"level":"warn"}`, abi.EventLog, &abi.CallLogRequest{Level: "warn"}},
		{abi.CallLog, `{"level":"error"}`, abi.EventLog, &abi.CallLogRequest{Level: "error"}},
		{abi.CallProgress, `{"fraction":0}`, abi.EventProgress, &abi.CallProgressRequest{}},
		{abi.CallProgress, `{"fraction":1,"message":"m"}`, abi.EventProgress, &abi.CallProgressRequest{Fraction: 1, Message: "m"}},
		{abi.CallPlan, `{"steps":[{"title":"a","status":"pending"},{"title":"b","status":"in_progress"},{"title":"c","status":"completed"},{"title":"d","status":"skipped"}]}`,
			abi.EventPlan, &abi.CallPlanRequest{Steps: []abi.PlanStep{{Title: "a", Status: "pending"}, {Title: "b", Status: "in_progress"}, {Title: "c", Status: "completed"}, {Title: "d", Status: "skipped"}}}},
		{abi.CallMessageDelta, `{"text":"t"}`, abi.EventMessageDelta, &abi.CallMessageDeltaRequest{Text: "t"}},
	} {
		kind, payload, err := ReadHint(c.call, []byte(c.request))
		if err != nil || kind != c.kind || !reflect.DeepEqual(payload, c.payload) {
			t.Errorf("%s %s: %s %+v, %v", c.call, c.request, kind, payload, err)
		}
	}
}

func TestReadHintRefuses(t *testing.T) {
	for _, c := range []struct{ call, request, param string }{
		{abi.CallLog, `{"level":"fatal"}`, "level"}, {abi.CallLog, `{}`, "level"}, {abi.CallLog, `{"level":"INFO"}`, "level"},
		{abi.CallProgress, `{"fraction":-0.1}`, "fraction"}, {abi.CallProgress, `{"fraction":1.1}`, "fraction"},
		{abi.CallPlan, `{"steps":[{"status":"pending"},{"status":"done"}]}`, "steps.status"}, {abi.CallPlan, `{"steps":[{}]}`, "steps.status"},
		{abi.CallLog, ``, ""}, {abi.CallLog, `{"level":1}`, ""}, {abi.CallProgress, `{"fraction":"1"}`, ""}, {abi.CallPlan, `{"steps":1}`, ""},
		{abi.CallMessageDelta, `{"text":1}`, ""}, {abi.CallMessageDelta, `{"text":"a"`, ""}, {abi.CallMessageDelta, "", ""},
	} {
		_, _, err := ReadHint(c.call, []byte(c.request))
		if err == nil {
			t.Errorf("%s %s is accepted", c.call, c.request)
			continue
		}
		if invalid, ok := errors.AsType[*abi.Error](err); ok != (c.param != "") || ok && invalid.Param != c.param {
			t.Errorf("%s %s: %v", c.call, c.request, err)
		}
	}
}

// Every call that is a hint is told by an event of its own.
func TestEveryHintHasAKind(t *testing.T) {
	requests := map[string]string{abi.CallLog: `{"level":"info"}`, abi.CallProgress: `{}`, abi.CallPlan: `{}`, abi.CallMessageDelta: `{}`, abi.CallAgentEvent: `{"kind":"turn_started","data":{"iteration":1}}`}
	kinds := map[abi.EventKind]bool{}
	for _, def := range abi.HostCalls() {
		if def.Effect != abi.EffectHint {
			continue
		}
		kind, _, err := ReadHint(def.Name, []byte(requests[def.Name]))
		if err != nil || kinds[kind] {
			t.Errorf("%s: %s, %v", def.Name, kind, err)
		}
		kinds[kind] = true
	}
}
