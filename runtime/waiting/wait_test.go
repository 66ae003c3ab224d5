package waiting

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func TestFor(t *testing.T) {
	for _, test := range []struct {
		call, request string
		as            abi.TaskStatus
		until         time.Duration // 0 for ever
		refused       string
	}{
		{abi.CallSleep, `{"ms":1500}`, abi.TaskWorking, 1500 * time.Millisecond, ""},
		{abi.CallSleep, `{"ms":-1}`, "", 0, "ms is 0 to"},
		{abi.CallSleep, `{"ms":"x"}`, "", 0, "ms"},
		{abi.CallInputRequest, `{"prompt":"?","timeout_seconds":2.5}`, abi.TaskInputRequired, 2500 * time.Millisecond, ""},
		{abi.CallInputRequest, `{"timeout_seconds":2}`, "", 0, `missing required member "prompt"`},
		{abi.CallAuthRequest, `{"provider":"x"}`, abi.TaskAuthRequired, 0, ""},
		{abi.CallAuthRequest, `{}`, "", 0, `missing required member "provider"`},
		{abi.CallApprovalRequest, `{"action":"pay","quorum":2}`, abi.TaskInputRequired, 0, ""},
		{abi.CallApprovalRequest, `{"action":"pay","quorum":-1}`, "", 0, "quorum is 0 to"},
		{abi.CallTaskAwait, `{"task_id":"task_1","timeout_seconds":1}`, abi.TaskWorking, time.Second, ""},
		{abi.CallTaskAwait, `{"timeout_seconds":-1,"task_id":"task_1"}`, "", 0, "timeout_seconds is 0 to"},
	} {
		t.Run(test.call+" "+test.request, func(t *testing.T) {
			w, as, err := For(&Call{Name: test.call, Index: 7, RequestID: "task_0-7", Request: []byte(test.request), Now: noon})
			refusal, refused := errors.AsType[*provider.Refusal](err)
			switch {
			case test.refused != "":
				if !refused || !strings.Contains(refusal.Message, test.refused) {
					t.Errorf("%v, want %q", err, test.refused)
				}
			case err != nil || as != test.as || w.Call != test.call || w.Index != 7 || w.RequestID != "task_0-7":
				t.Errorf("%s, %+v, %v", as, w, err)
			case test.until == 0 != w.Until.IsZero(), test.until > 0 && !w.Until.Equal(noon.Add(test.until)):
				t.Errorf("until %v", w.Until)
			}
		})
	}
}

func TestUntil(t *testing.T) {
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), abi.MaxWaitSeconds + 1} {
		if err := Until(&abi.Waiting{}, noon, bad); err == nil {
			t.Errorf("%v seconds are taken", bad)
		}
	}
}

// The terms of a Persona stand above what the plugin asks for: more have to approve, others
// may, and it ends sooner; never less so.
func TestTerms(t *testing.T) {
	about := &abi.Task{CreatedBy: "alice"}
	ask := func(by *abi.ApprovalPolicy, quorum int, until time.Duration) *Request {
		w := &abi.Waiting{Call: abi.CallApprovalRequest, RequestID: "r", Quorum: quorum}
		if until > 0 {
			w.Until = abi.At(noon.Add(until))
		}
		p := requestFor(about, w, noon, "alice", Terms{Approvals: by, Approvers: []string{"cfo"}, Now: noon})
		if w.PermissionID != p.ID || w.Quorum != p.Quorum || p.ExpiresAt != w.Until {
			t.Errorf("the wait is %+v, the request %+v", w, p)
		}
		return p
	}
	if p := ask(nil, 0, 0); p.Quorum != 1 || !p.SelfApproval || len(p.Approvers) != 1 || p.Approvers[0] != "cfo" || !p.ExpiresAt.IsZero() {
		t.Errorf("without a policy: %+v", p)
	}
	policy := &abi.ApprovalPolicy{Quorum: 2, Approvers: []string{"board-*"}, TimeoutSeconds: 60}
	if p := ask(policy, 0, time.Hour); p.Quorum != 2 || p.SelfApproval || p.Approvers[0] != "board-*" || !p.ExpiresAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("under a policy: %+v", p)
	}
	if p := ask(policy, 3, time.Second); p.Quorum != 3 || !p.ExpiresAt.Equal(noon.Add(time.Second)) {
		t.Errorf("a plugin that asks for more: %+v", p)
	}
	about.DeadlineAt = abi.At(noon.Add(30 * time.Second))
	w := &abi.Waiting{Call: abi.CallInputRequest, Until: abi.At(noon.Add(time.Minute))}
	if p := requestFor(about, w, noon, "alice", Terms{Now: noon}); p.ExpiresAt != about.DeadlineAt {
		t.Errorf("a request outlives its task: %v", p.ExpiresAt)
	}
}
