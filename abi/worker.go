package abi

import "github.com/go-json-experiment/json/jsontext"

// Worker is what [EventWorker] tells a Task of one of its children. Its worker_id is the child's
// id; the event stands on the stream of the parent.
type Worker struct {
	WorkerID   string `json:"worker_id"`
	WorkerName string `json:"worker_name"` // of the child's Persona
	// WorkerTask is what the child was asked, as far as it is public, cut off after 1,024 bytes.
	WorkerTask string `json:"worker_task"`
	// Internal is what of that is not public; absent for nothing.
	Internal   *WorkerAsked   `json:"worker_task_internal,omitzero"`
	WorkerMode WorkerMode     `json:"worker_mode"`
	Event      WorkerEvent    `json:"event"`
	Status     WorkerStatus   `json:"status"`   // as the event says
	Terminal   bool           `json:"terminal"` // nothing more comes of this worker
	Metadata   WorkerMetadata `json:"metadata"`
	// Audit says whose changes the child's are; absent for one that can change nothing.
	Audit *MutationSession `json:"audit,omitzero"`
}

// WorkerAsked is what a child was asked that is not public.
type WorkerAsked struct {
	Type       string     `json:"type"` // text
	Visibility Visibility `json:"visibility"`
	Text       string     `json:"text,omitzero"`
	Redacted   bool       `json:"redacted,omitzero"` // the text is withheld from this reader
}

// WorkerMetadata is what else is told of a worker. Members that say nothing are left out.
type WorkerMetadata struct {
	Task              string           `json:"task"` // as worker_task
	Mode              WorkerMode       `json:"mode"`
	StartedAt         *Time            `json:"started_at,omitzero"`
	FinishedAt        *Time            `json:"finished_at,omitzero"`
	AwaitingStartedAt *Time            `json:"awaiting_started_at,omitzero"` // while it waits: since when
	ChildRunID        string           `json:"child_run_id"`                 // the child's id: adapters name by it where it is read
	Audit             *MutationSession `json:"audit,omitzero"`
	Error             *Failure         `json:"error,omitzero"` // why it has failed, without what is not public
	// Handoff is the summary that a child has stopped with.
	Handoff jsontext.Value `json:"handoff,omitzero"`
}

// WorkerEvent is one step of a worker's life.
type WorkerEvent string

// The steps of a worker's life. The last four end it.
const (
	WorkerSpawned         WorkerEvent = "WorkerSpawned" // it has begun to work, or goes on after it has waited
	WorkerProgressed      WorkerEvent = "WorkerProgressed"
	WorkerWaitingForInput WorkerEvent = "WorkerWaitingForInput"
	WorkerCompleted       WorkerEvent = "WorkerCompleted"
	WorkerFailed          WorkerEvent = "WorkerFailed"
	WorkerStopped         WorkerEvent = "WorkerStopped" // it has ended early by itself, and says how things stand
	WorkerCancelled       WorkerEvent = "WorkerCancelled"
)

// WorkerStatus is what a worker is after a [WorkerEvent].
type WorkerStatus string

// Status returns what a worker is after a step.
func (e WorkerEvent) Status() WorkerStatus {
	switch e {
	case WorkerProgressed:
		return "progressed"
	case WorkerWaitingForInput:
		return "awaiting_input"
	case WorkerCompleted:
		return "completed"
	case WorkerFailed:
		return "failed"
	case WorkerStopped:
		return "stopped"
	case WorkerCancelled:
		return "cancelled"
	}
	return "running"
}

// Terminal reports whether a step ends the worker's life.
func (e WorkerEvent) Terminal() bool {
	switch e {
	case WorkerCompleted, WorkerFailed, WorkerStopped, WorkerCancelled:
		return true
	}
	return false
}

// WorkerMode says how a child works for its parent.
type WorkerMode string

// How a child works for its parent.
const (
	WorkerSubAgent       WorkerMode = "sub_agent"       // in a Session of its own
	WorkerDelegatedStage WorkerMode = "delegated_stage" // in the Session of its parent: a Skill, a handoff, a Task that was spawned
)

// MutationSession says whose the changes are that a Task makes, and what it may change. All that
// tells of one Task's changes has the same.
type MutationSession struct {
	SessionID       string           `json:"session_id"`
	ParentSessionID string           `json:"parent_session_id,omitzero"` // of the parent's Task; of any other Task the Session that its own was forked from
	RunID           string           `json:"run_id"`                     // the Task's id
	WorkerID        string           `json:"worker_id,omitzero"`         // the same, of a child
	ExecutionKind   string           `json:"execution_kind"`             // worker for a child, else task
	MutationScope   string           `json:"mutation_scope"`             // apply_workspace; who can change nothing has no MutationSession
	ApprovalPolicy  MutationApproval `json:"approval_policy"`
}

// MutationApproval are patterns of what a Task may do by itself, may not do, and may do once
// somebody has approved it.
type MutationApproval struct {
	AutoApprove        []string `json:"auto_approve"`
	AutoDeny           []string `json:"auto_deny"`
	RequireApproval    []string `json:"require_approval"`
	WritePathAllowlist []string `json:"write_path_allowlist"` // none: every path
}

// MutationSessionOf returns whose a Task's changes are; nil for a Persona that can change nothing, and for a replay. All
// who tell of one Task's changes ask it, so that they tell the same. parent is the Task that it works for, and s its
// Session: nil where there is none, or it cannot be read.
func MutationSessionOf(t, parent *Task, s *Session, p *Persona) *MutationSession {
	if t == nil || p == nil || t.Replay != nil {
		return nil
	}
	approval := p.mutationApproval()
	if approval == nil {
		return nil
	}
	m := &MutationSession{SessionID: t.SessionID, RunID: t.ID, ExecutionKind: "task", MutationScope: "apply_workspace", ApprovalPolicy: *approval}
	switch {
	case t.ParentTaskID != "" && t.Fork == nil:
		m.WorkerID, m.ExecutionKind, m.ParentSessionID = t.ID, "worker", t.SessionID
		if parent != nil {
			m.ParentSessionID = parent.SessionID
		}
	case s != nil:
		m.ParentSessionID = s.ParentSessionID
	}
	return m
}

// mutationApproval returns what Tasks of the Persona may do by themselves; nil when that is nothing.
func (p *Persona) mutationApproval() *MutationApproval {
	all, none := []string{"*"}, []string{}
	a := &MutationApproval{AutoApprove: all, RequireApproval: none, AutoDeny: append(none, p.ToolsDenied...), WritePathAllowlist: none}
	switch p.AutonomyTier {
	case TierActAuto:
		return a
	case TierActWithApproval:
		a.AutoApprove, a.RequireApproval = none, all
		if p.Approvals != nil {
			a.AutoApprove = append(none, p.Approvals.Without...)
		}
		return a
	}
	return nil // it proposes, or does as if
}
