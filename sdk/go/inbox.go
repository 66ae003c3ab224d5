package wharf

import (
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// Checkpoint is where a plugin looks into its Session's inbox.
type Checkpoint string

// Where a plugin looks into the inbox: before it asks a model, when one has answered and wants no
// tool, and before it ends.
const (
	AtStep     Checkpoint = "step"
	AtTurn     Checkpoint = "turn"
	AtLoopExit Checkpoint = "loop_exit"
)

// Inbox is what was delivered at a checkpoint.
type Inbox struct {
	Messages  []Message  `json:"messages"` // of users; the transcript has them
	Reminders []Reminder `json:"reminders"`
	// Woken says why nothing was delivered by [InboxWait]: resumed, when somebody has woken the Task,
	// timeout, or never, when the Task is one that nothing is delivered to.
	Woken string `json:"woken"`
}

// Empty reports whether nothing was delivered that a model is to be shown.
func (i Inbox) Empty() bool { return len(i.Messages)+len(i.Reminders) == 0 }

// Reminder is context that a model is to be shown in its next TTLTurns requests, in the role
// RenderedRole: system or user.
type Reminder struct {
	ID           string   `json:"reminder_id"`
	Tags         []string `json:"tags"`
	Body         string   `json:"body"`
	RoleHint     string   `json:"role_hint"`
	RenderedRole string   `json:"rendered_role"`
	Source       string   `json:"source"`
	TTLTurns     int      `json:"ttl_turns"`
}

// InboxTake takes what is due at a checkpoint. Each is delivered once: what is taken is to be used.
func InboxTake(at Checkpoint) (Inbox, error) { return takeInbox(at, false, 0) }

// InboxWait is [InboxTake] that waits until something is due, somebody wakes the Task, or the time is
// over; 0 is for ever. The Task is parked meanwhile.
func InboxWait(at Checkpoint, timeout time.Duration) (Inbox, error) {
	return takeInbox(at, true, timeout)
}

func takeInbox(at Checkpoint, wait bool, timeout time.Duration) (Inbox, error) {
	var taken Inbox
	err := ask(hostcall.NameInboxTake, hostcall.InboxTake, inboxRequest{at, wait, timeout.Milliseconds()}, &taken)
	return taken, err
}

type inboxRequest struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Wait       bool       `json:"wait,omitempty"`
	TimeoutMS  int64      `json:"timeout_ms,omitempty"`
}
