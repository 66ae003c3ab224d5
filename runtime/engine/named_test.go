package engine_test

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// TestSessionsNameMemoriesAndSkills holds that what a Session names is kept, checked, and
// decides what its Tasks find and may be.
func TestSessionsNameMemoriesAndSkills(t *testing.T) {
	p := newProgram(op{abi.CallMemoryQuery, `{"scope":"session","text":"tide"}`}, op{abi.CallMemoryQuery, `{"scope":"session","text":"crane"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	skill := func(name string) string {
		return must(n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: "persona_echo", Name: name, Description: "d"})).ID
	}
	fact := func(visibility abi.Visibility) string {
		return must(n.CreateMemory(t.Context(), n.Root, nil, abi.CreateMemoryRequest{Scope: abi.MemoryWorkspace, OwnerID: tenancy.DefaultWorkspace,
			Content: jsontext.Value(`"the tide decides"`), Provenance: abi.EmptyObject(), Visibility: visibility})).ID
	}
	known, internal, one, other := fact(abi.VisibilityPublic), fact(abi.VisibilityInternal), skill("one"), skill("other")
	create := func(c *desk.Caller, memories, skills []string) (desk.Doc, error) {
		return n.CreateSession(t.Context(), c, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace, MemoryIDs: memories, SkillIDs: skills})
	}
	plain := *n.Root
	plain.Scopes = abi.DefaultScopes()
	enginetest.WantCode(t, second(create(n.Root, []string{"mem_nope"}, nil)), abi.CodeResourceNotFound)
	enginetest.WantCode(t, second(create(n.Root, nil, []string{"skill_nope"})), abi.CodeResourceNotFound)
	enginetest.WantCode(t, second(create(n.Root, []string{fact(abi.VisibilityReceiptOnly)}, nil)), abi.CodePermissionDenied)
	enginetest.WantCode(t, second(create(&plain, []string{internal}, nil)), abi.CodePermissionDenied)
	enginetest.WantCode(t, second(create(n.Root, make([]string, sessions.MaxNames+1), nil)), abi.CodeInvalidRequest)

	session := must(create(n.Root, []string{known}, []string{one}))
	fork := must(n.ForkSession(t.Context(), n.Root, nil, session.ID, abi.ForkSessionRequest{}))
	for _, doc := range []desk.Doc{session, fork} {
		s := enginetest.As[abi.Session](t, doc)
		if len(s.MemoryIDs) != 1 || s.MemoryIDs[0] != known || len(s.SkillIDs) != 1 || s.SkillIDs[0] != one {
			t.Errorf("the session names %v and %v", s.MemoryIDs, s.SkillIDs)
		}
		id := n.Submit(t, s.ID, "persona_program")
		n.Wait(t, id)
		told := p.runs()
		if found := told[len(told)-1]; !strings.Contains(found[0], known) || strings.Contains(found[1], known) {
			t.Errorf("the task was told %v", found)
		}
		n.wantReplay(t, id)
		as := func(skill string) error {
			return second(n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: s.ID, Input: jsontext.Value(`{"text":"x"}`),
				Metadata: jsontext.Value(`{"skill_id":"` + skill + `"}`)}))
		}
		if err := as(one); err != nil {
			t.Error(err)
		}
		enginetest.WantCode(t, as(other), abi.CodePolicyViolation)
	}
}

// TestClosedSessionLetsItsTasksEnd holds that closing takes nothing more from clients but
// the answer that a Task waits for, with which the Task goes on to its end.
func TestClosedSessionLetsItsTasksEnd(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`}, say("the last word"))
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	must(n.CloseSession(t.Context(), n.Root, nil, session))
	send := func(kind abi.TaskMessageKind) error {
		return second(n.AppendTaskMessage(t.Context(), n.Root, nil, id, abi.AppendTaskMessageRequest{Kind: kind, Message: message("me")}))
	}
	enginetest.WantCode(t, send(abi.TaskMessageInterrupt), abi.CodeConflict)
	if err := send(abi.TaskMessageInput); err != nil {
		t.Fatal(err)
	}
	task := n.Wait(t, id)
	if task.Status != abi.TaskCompleted || !strings.Contains(strings.Join(n.transcript(t, session), " "), "the last word") {
		t.Errorf("%s, the transcript is %v", task.Status, n.transcript(t, session))
	}
	var metrics struct {
		QueueMS float64 `json:"queue_ms"`
	}
	o := enginetest.As[abi.Outcome](t, must(n.Get(t.Context(), n.Root, abi.ObjectOutcome, task.OutcomeID)))
	if err := json.Unmarshal(o.Metrics, &metrics); err != nil || metrics.QueueMS != float64(task.StartedAt.Sub(task.CreatedAt).Microseconds())/1000 {
		t.Errorf("queue_ms is %v (%v); the task was created at %s and started at %s", metrics.QueueMS, err, task.CreatedAt, task.StartedAt)
	}
}
