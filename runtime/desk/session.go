package desk

import (
	"bytes"
	"context"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// OpenSession returns a Session that the caller may see, loaded and acquired.
func (d *Desk) OpenSession(ctx context.Context, c *Caller, id string) (*ledger.Session, func(), error) {
	s, release, err := d.OpenDeleted(ctx, c, id)
	if err != nil {
		return nil, nil, err
	}
	if is := s.State(); !is.DeletedAt.IsZero() || d.deletions.has(ledger.Key{Tenant: c.Tenant, ID: id}) {
		release()
		return nil, nil, abi.NotFound(abi.ObjectSession, id)
	}
	return s, release, nil
}

// OpenDeleted is [Desk.OpenSession] for a Session that may be deleted.
func (d *Desk) OpenDeleted(ctx context.Context, c *Caller, id string) (*ledger.Session, func(), error) {
	s, release, err := d.ledger.Open(ctx, ledger.Key{Tenant: c.Tenant, ID: id})
	if err != nil {
		return nil, nil, err
	}
	if !c.Sees(s.Workspace()) {
		release()
		return nil, nil, abi.NotFound(abi.ObjectSession, id)
	}
	return s, release, nil
}

// deleted reports whether something that is still stored was deleted. Most were not.
func deleted(o abi.Object, state []byte) bool {
	switch o {
	case abi.ObjectSession, abi.ObjectPersona, abi.ObjectTask, abi.ObjectArtifact:
	default:
		return false
	}
	if !bytes.Contains(state, []byte(`"deleted_at"`)) {
		return false
	}
	var s struct {
		DeletedAt abi.Time `json:"deleted_at"`
	}
	return json.Unmarshal(state, &s) == nil && !s.DeletedAt.IsZero()
}

// hidden reports whether a Session is in no list. Most are.
func hidden(state []byte) bool {
	if !bytes.Contains(state, []byte(`"only_task_id"`)) {
		return false
	}
	var s struct {
		OnlyTaskID string `json:"only_task_id"`
	}
	return json.Unmarshal(state, &s) == nil && s.OnlyTaskID != ""
}

// SessionOpen refuses what a closed Session does not take any more.
func SessionOpen(s *abi.Session) error {
	if s.State == abi.SessionClosed || s.State == abi.SessionFailed {
		return abi.Errorf(abi.CodeConflict, "session %s is %s", s.ID, s.State)
	}
	return nil
}

// AllOf returns what refuses a Session that one of the checks refuses, the first first. Checks may be nil.
func AllOf(checks ...func(*abi.Session) error) func(*abi.Session) error {
	return func(s *abi.Session) error {
		for _, check := range checks {
			if check == nil {
				continue
			}
			if err := check(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// TakesTasks refuses what a closed Session does not take any more, a paused one does not take
// for now, and one that was made for a Task takes from that Task alone.
func TakesTasks(s *abi.Session) error {
	if s.State == abi.SessionPaused {
		return abi.Errorf(abi.CodeConflict, "session %s is %s: resume it first", s.ID, s.State)
	}
	if err := SessionOpen(s); err != nil || s.OnlyTaskID == "" {
		return err
	}
	return abi.Errorf(abi.CodeConflict, "session %s was made for task %s alone", s.ID, s.OnlyTaskID)
}
