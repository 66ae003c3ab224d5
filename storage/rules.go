package storage

import (
	"errors"
	"fmt"
	"math"

	"github.com/wharf-dev/wharf/abi"
)

// Owner returns the Workspace, Session or Task that a frame belongs to, "" for none and
// for any other object.
func (f *Frame) Owner(o abi.Object) string {
	switch o {
	case abi.ObjectWorkspace:
		return f.WorkspaceID
	case abi.ObjectSession:
		return f.SessionID
	case abi.ObjectTask:
		return f.TaskID
	}
	return ""
}

// ListedBy says which scopes the resources of an object are listed by: each is in the
// lists of the owners of the frame that created it. Every object is also listed by tenant.
func ListedBy(o abi.Object) []abi.Object {
	switch o {
	case abi.ObjectTask:
		return []abi.Object{abi.ObjectSession, abi.ObjectWorkspace}
	case abi.ObjectSession, abi.ObjectVault, abi.ObjectConnector, abi.ObjectReceiptBatch:
		return []abi.Object{abi.ObjectWorkspace}
	case abi.ObjectMemory:
		return []abi.Object{abi.ObjectWorkspace, abi.ObjectSession}
	case abi.ObjectArtifact, abi.ObjectReceipt:
		return []abi.Object{abi.ObjectWorkspace, abi.ObjectSession, abi.ObjectTask}
	case abi.ObjectBranch:
		return []abi.Object{abi.ObjectSession}
	case abi.ObjectOutcome:
		return []abi.Object{abi.ObjectTask}
	case abi.ObjectPermissionRequest:
		return []abi.Object{abi.ObjectTask, abi.ObjectWorkspace}
	case abi.ObjectDeadLetter, abi.ObjectVaultSecret, abi.ObjectWebhook, abi.ObjectWebhookDelivery, abi.ObjectToolServer, abi.ObjectHarness, abi.ObjectSkillBundle, abi.ObjectCustomTool,
		abi.ObjectPersona, abi.ObjectSkill, abi.ObjectHold:
		return []abi.Object{abi.ObjectWorkspace}
	}
	return nil
}

// Unlists reports whether a record takes its resource out of the lists of its owners, into which
// one before it in the same frame may have put it. It stays in that of the tenant, and is read by
// its id.
func Unlists(r *Record) bool {
	switch r.Kind {
	case abi.EventSessionDeleted, abi.EventSessionHidden, abi.EventPersonaDeleted, abi.EventTaskDeleted, abi.EventArtifactDeleted:
		return true
	}
	return false
}

// ScopeError says that resources of Object are not listed by Scope.
type ScopeError struct{ Object, Scope abi.Object }

// Error implements the error interface.
func (e *ScopeError) Error() string {
	return "there is no list of " + string(e.Object) + " by " + string(e.Scope)
}

// Validate returns why an engine refuses a batch: it could not be read back as it is.
func (b *Batch) Validate() error {
	if len(b.Frame.Records) == 0 {
		return errors.New("the frame has no records")
	}
	for i := range b.Frame.Records {
		if err := validateRecord(&b.Frame, &b.Frame.Records[i]); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	for i := range b.Expect {
		if err := b.Expect[i].validate(); err != nil {
			return fmt.Errorf("expectation %d: %w", i, err)
		}
	}
	return validateIdempotency(b)
}

func validateRecord(f *Frame, r *Record) error {
	switch {
	case r.Kind == "":
		return errors.New("it has no kind")
	case r.State != nil && r.Resource.ID == "":
		return errors.New("it states no resource")
	case r.Created && r.State == nil:
		return fmt.Errorf("it creates %s without stating it", r.Resource.ID)
	case r.Transcript.Kind != TranscriptNone && f.SessionID == "":
		return errors.New("it changes a transcript, but its frame has no Session")
	case r.Transcript.Kind == TranscriptAppend && r.Resource.Object != abi.ObjectMessage:
		return fmt.Errorf("it appends a %s to a transcript", r.Resource.Object)
	case r.Transcript.Kind > TranscriptCopy || r.Transcript.At == math.MaxUint64:
		return errors.New("its transcript operation is not known")
	case r.Transcript.Kind == TranscriptCopy && r.Transcript.From == f.SessionID:
		return errors.New("it copies a transcript onto itself")
	case r.Erase != nil:
		return validateErasure(f, r)
	case r.Intake == (IntakeOp{}):
		return nil
	case r.Intake.Kind == IntakeNone || r.Intake.Kind > IntakeTally || r.Intake.Connector == "":
		return errors.New("its operation on deliveries is not known")
	case r.Transcript.Kind != TranscriptNone:
		return errors.New("it changes both a transcript and deliveries")
	}
	return nil
}

func validateErasure(f *Frame, r *Record) error {
	switch r.Resource.Object {
	case abi.ObjectTask, abi.ObjectSession, abi.ObjectArtifact:
	default:
		return fmt.Errorf("it erases a %s", r.Resource.Object)
	}
	switch {
	case r.Resource.ID == "" || r.State != nil:
		return errors.New("it erases a resource and states it, or names none")
	case r.Intake != (IntakeOp{}) || r.Transcript.Kind != TranscriptNone:
		return errors.New("it erases, and changes a transcript or deliveries")
	case f.SessionID != "" || f.TaskID != "":
		return errors.New("it erases what its own frame may belong to")
	}
	return nil
}

func validateIdempotency(b *Batch) error {
	i := b.Idempotency
	switch {
	case i == nil:
		return nil
	case i.Record < 0 || i.Record >= len(b.Frame.Records):
		return fmt.Errorf("the idempotency record answers with record %d of %d", i.Record, len(b.Frame.Records))
	case i.Answer == nil && b.Frame.Records[i.Record].State == nil:
		return errors.New("the idempotency record has no answer")
	case i.Status < 0:
		return fmt.Errorf("the idempotency record has status %d", i.Status)
	}
	return nil
}
