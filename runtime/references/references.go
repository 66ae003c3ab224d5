package references

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

const (
	maxRefs    = 16   // of a Session
	maxKindLen = 64   // bytes
	maxRefLen  = 2048 // bytes
)

// Keeper finds Sessions, and states what they are called. It is safe for concurrent use.
type Keeper struct{ parts desk.Parts }

// NewKeeper returns a keeper.
func NewKeeper(p desk.Parts) *Keeper { return &Keeper{parts: p} }

// Check accepts the references that a Session is to have.
func Check(refs []abi.OutsideRef) error {
	if len(refs) > maxRefs {
		return abi.InvalidParam("refs", "a session has at most %d references", maxRefs)
	}
	seen := make(map[abi.OutsideRef]bool, len(refs))
	for i, r := range refs {
		at := "refs[" + strconv.Itoa(i) + "]"
		if err := cmp.Or(checkKind(at+".kind", r.Kind), checkRef(at+".ref", r.Ref)); err != nil {
			return err
		}
		if seen[r] {
			return abi.InvalidParam(at, "it is there twice")
		}
		seen[r] = true
	}
	return nil
}

func checkKind(param, kind string) error {
	if len(kind) == 0 || len(kind) > maxKindLen || !abi.ValidName(kind) {
		return abi.InvalidParam(param, "the kind of a reference is 1 to %d characters A-Z a-z 0-9 _ - .", maxKindLen)
	}
	return nil
}

func checkRef(param, ref string) error {
	if len(ref) == 0 || len(ref) > maxRefLen || !utf8.ValidString(ref) || strings.ContainsFunc(ref, unicode.IsControl) {
		return abi.InvalidParam(param, "a reference is 1 to %d bytes of text without control characters", maxRefLen)
	}
	return nil
}

// idOf returns the id of a reference. Lengths keep the parts apart.
func idOf(workspace string, r abi.OutsideRef) string {
	h := sha256.New()
	for _, part := range []string{workspace, r.Kind, r.Ref} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return abi.IDPrefix(abi.ObjectReference) + hex.EncodeToString(h.Sum(nil))
}

// Take returns the records with which a Session takes its references; refs are those of s. What
// the ledger expects of them is that nobody takes one meanwhile. A reference that another
// Session has is an abi.CodeConflict, which names that Session.
func (k *Keeper) Take(ctx context.Context, t storage.Tenant, s *abi.Session) (records []ledger.Record, err error) {
	for _, r := range s.Refs {
		id := idOf(s.WorkspaceID, r)
		rec := ledger.Record{Kind: abi.EventReferenceTaken, Object: abi.ObjectReference, ID: id, Created: true,
			State: &abi.Reference{Envelope: abi.NewEnvelope(abi.ObjectReference, id, k.parts.Now(), nil), OutsideRef: r, WorkspaceID: s.WorkspaceID, SessionID: s.ID}}
		before, res, err := k.find(ctx, t, id)
		switch {
		case ledger.IsNotFound(err):
		case err != nil:
			return nil, err
		case before.SessionID != "":
			return nil, taken(&before)
		default:
			rec.Created, rec.Sequence = false, res.Sequence+1
		}
		records = append(records, rec)
	}
	return records, nil
}

// Free returns the records with which a Session that is deleted gives its references back.
func (k *Keeper) Free(ctx context.Context, t storage.Tenant, s *abi.Session) (records []ledger.Record, err error) {
	for _, r := range s.Refs {
		before, res, err := k.find(ctx, t, idOf(s.WorkspaceID, r))
		if err != nil {
			return nil, err
		}
		before.SessionID, before.UpdatedAt = "", abi.At(k.parts.Now())
		records = append(records, ledger.Record{Kind: abi.EventReferenceFreed, Object: abi.ObjectReference, ID: res.ID, Sequence: res.Sequence + 1, State: &before})
	}
	return records, nil
}

// Overtaken reports whether a batch has left nothing because somebody has stated a reference
// since [Keeper.Take]: to take them again says who.
func Overtaken(err error) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && c.Expected.Resource.Object == abi.ObjectReference
}

// taken is what a caller is told who wants a reference that a Session has. The caller sees the
// Workspace, and so the Session.
func taken(r *abi.Reference) error {
	refused := abi.Errorf(abi.CodeConflict, "session %s has the reference %s %q", r.SessionID, r.Kind, r.Ref)
	refused.Details, _ = json.Marshal(map[string]string{"session_id": r.SessionID, "kind": r.Kind, "ref": r.Ref}, json.Deterministic(true)) // strings can be marshaled
	return refused
}

func (k *Keeper) find(ctx context.Context, t storage.Tenant, id string) (r abi.Reference, res storage.Resource, err error) {
	if res, err = k.parts.Ledger.Find(ctx, t, abi.ObjectReference, id); err != nil {
		return r, res, err
	}
	return r, res, ledger.Naming(abi.ObjectReference, id, ledger.Decode(res.State, &r))
}

// FindSession returns the id of the Session of a Workspace that something outside calls so; ""
// when there is none, or none that the caller sees.
func (k *Keeper) FindSession(ctx context.Context, c *desk.Caller, workspace string, ref abi.OutsideRef) (string, error) {
	if err := cmp.Or(checkKind("ref_kind", ref.Kind), checkRef("ref", ref.Ref)); err != nil {
		return "", err
	}
	if !c.Sees(workspace) {
		return "", nil
	}
	r, _, err := k.find(ctx, c.Tenant, idOf(workspace, ref))
	if ledger.IsNotFound(err) {
		return "", nil
	}
	return r.SessionID, err
}
