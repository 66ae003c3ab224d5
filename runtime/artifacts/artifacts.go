package artifacts

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// RegisterArtifact records an Artifact. With content, which is streamed to the
// blob store, Wharf holds its bytes; without, it describes bytes that live at
// req.URI. A stated SHA-256 must be that of the content.
func (k *Keeper) RegisterArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.RegisterArtifactRequest, content io.Reader) (desk.Doc, error) {
	if err := checkArtifact(&req); err != nil {
		return desk.Doc{}, err
	}
	if err := k.placeArtifact(ctx, c, &req); err != nil {
		return desk.Doc{}, err
	}
	size := int64(-1)
	if content != nil {
		hash, n, err := k.putBlob(ctx, content, req.SHA256)
		if err != nil {
			return desk.Doc{}, err
		}
		req.SHA256, size = &hash, n
	}
	return k.parts.Desk.Once(ctx, c, artifactRetry(r, req), req.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		sha := ""
		if req.SHA256 != nil {
			sha = *req.SHA256
		}
		a := k.newArtifact(&req, sha, size)
		encoded, err := ledger.Encode(ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a})
		if err != nil {
			return desk.Doc{}, err
		}
		b := ledger.Batch(storage.Frame{
			Tenant: c.Tenant, Time: a.CreatedAt, WorkspaceID: a.WorkspaceID, SessionID: a.SessionID,
			TaskID: a.TaskID, Actor: c.Actor, Records: encoded,
		}, idem, desk.StatusCreated, 0)
		b.Expect = ledger.Owned(&b.Frame, b.Expect)
		if _, err := k.parts.Ledger.Append(b).Wait(context.Background()); err != nil {
			return desk.Doc{}, k.parts.Ledger.Failed("writing to the log", err)
		}
		return desk.Doc{ID: a.ID, JSON: encoded[0].State}, nil
	})
}

// artifactRetry judges equivalence on what was asked for and the content's hash:
// the content itself was streamed and is no longer there.
func artifactRetry(r *desk.Retry, req abi.RegisterArtifactRequest) *desk.Retry {
	if r == nil {
		return nil
	}
	req.Content = nil
	body, err := json.Marshal(&req)
	if err != nil {
		return r
	}
	return &desk.Retry{Key: r.Key, Scope: r.Scope, Fingerprint: ledger.CanonicalHash(body)}
}

func checkArtifact(req *abi.RegisterArtifactRequest) error {
	if err := desk.CheckOneOf("kind", req.Kind, abi.ArtifactFile, abi.ArtifactPatch, abi.ArtifactImage, abi.ArtifactLog,
		abi.ArtifactDiff, abi.ArtifactReceipt, abi.ArtifactSnapshot, abi.ArtifactDataset, abi.ArtifactOther); err != nil {
		return err
	}
	if err := cmp.Or(desk.CheckPresent("mime_type", req.MimeType), desk.CheckVisibility("visibility", req.Visibility), desk.CheckMetadata(&req.Metadata)); err != nil {
		return err
	}
	if strings.ContainsAny(req.MimeType, "\r\n\x00") || len(req.MimeType) > 255 {
		return abi.InvalidParam("mime_type", "mime_type is not a media type")
	}
	if req.SHA256 == nil {
		return nil
	}
	hash := strings.ToLower(*req.SHA256)
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != len(storage.Hash{}) {
		return abi.InvalidParam("sha256", "sha256 must be 64 hexadecimal digits")
	}
	req.SHA256 = &hash
	return nil
}

// placeArtifact checks the owners that a request names and fills in those that
// follow from them.
func (k *Keeper) placeArtifact(ctx context.Context, c *desk.Caller, req *abi.RegisterArtifactRequest) error {
	workspace := ""
	if req.TaskID != "" {
		t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, req.TaskID)
		if err != nil {
			return err
		}
		if req.SessionID != "" && req.SessionID != t.SessionID {
			return abi.InvalidParam("session_id", "task %s belongs to another session", t.ID)
		}
		req.SessionID, workspace = t.SessionID, t.WorkspaceID
	} else if req.SessionID != "" {
		s, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, req.SessionID)
		if err != nil {
			return err
		}
		workspace = s.WorkspaceID
	}
	switch {
	case workspace != "" && req.WorkspaceID != "" && workspace != req.WorkspaceID:
		return abi.InvalidParam("workspace_id", "the session or task belongs to another workspace")
	case workspace != "":
		req.WorkspaceID = workspace
		return nil
	case req.WorkspaceID == "":
		req.WorkspaceID = k.parts.DefaultWorkspaceOf(c)
	}
	return k.parts.Desk.CheckWorkspace(ctx, c, req.WorkspaceID)
}

func (k *Keeper) putBlob(ctx context.Context, content io.Reader, stated *string) (string, int64, error) {
	var want *storage.Hash
	if stated != nil {
		raw, err := hex.DecodeString(*stated)
		if err != nil {
			return "", 0, abi.InvalidParam("sha256", "sha256 must be 64 hexadecimal digits")
		}
		want = (*storage.Hash)(raw)
	}
	hash, size, err := k.parts.Store.Blobs().Put(ctx, content, want)
	if errors.Is(err, storage.ErrBlobMismatch) {
		return "", 0, abi.InvalidParam("sha256", "the content does not have the stated sha256")
	}
	return hex.EncodeToString(hash[:]), size, k.parts.Ledger.Failed("storing the content", err)
}

// newArtifact makes the resource. A size below 0 means that Wharf does not hold
// the bytes.
func (k *Keeper) newArtifact(req *abi.RegisterArtifactRequest, sha string, size int64) *abi.Artifact {
	id := k.parts.IDs.New(abi.ObjectArtifact)
	a := &abi.Artifact{
		Envelope: abi.NewEnvelope(abi.ObjectArtifact, id, k.parts.Now(), req.Metadata),
		Kind:     req.Kind, MimeType: req.MimeType, URI: req.URI, Visibility: req.Visibility, Name: req.Name,
		WorkspaceID: req.WorkspaceID, SessionID: req.SessionID, TaskID: req.TaskID,
	}
	if sha != "" {
		a.SHA256 = &sha
	}
	if size >= 0 {
		uri := abi.ArtifactName + id
		a.URI, a.SizeBytes = &uri, &size
	}
	return a
}

// OpenArtifact returns an Artifact and its content, which the caller closes. The
// content is nil when Wharf does not hold the bytes.
func (k *Keeper) OpenArtifact(ctx context.Context, c *desk.Caller, id string) (desk.Doc, desk.Blob, error) {
	a, res, err := desk.Find[abi.Artifact](ctx, k.parts.Desk, c, abi.ObjectArtifact, id)
	if err != nil {
		return desk.Doc{}, nil, err
	}
	doc := desk.Doc{ID: id, JSON: res.State}
	if a.Visibility == abi.VisibilityReceiptOnly || a.Visibility == abi.VisibilityInternal && !c.Can(abi.ScopeEventsInternal) {
		return desk.Doc{}, nil, abi.Errorf(abi.CodePermissionDenied, "the content of artifact %s is not public", id)
	}
	blob, err := k.openBlob(ctx, &a)
	return doc, blob, err
}

// openBlob opens an Artifact's bytes; nil when Wharf does not hold them.
func (k *Keeper) openBlob(ctx context.Context, a *abi.Artifact) (desk.Blob, error) {
	if a.SizeBytes == nil || a.SHA256 == nil {
		return nil, nil
	}
	raw, err := hex.DecodeString(*a.SHA256)
	if err != nil || len(raw) != len(storage.Hash{}) {
		return nil, k.parts.Ledger.Failed("reading the hash of artifact "+a.ID, err)
	}
	blob, err := k.parts.Store.Blobs().Open(ctx, storage.Hash(raw))
	if err != nil {
		return nil, k.parts.Ledger.Failed("opening the content of artifact "+a.ID, lostArtifact(a, err))
	}
	if blob.Size() != *a.SizeBytes {
		if err := lostArtifact(a, blob.Verify(ctx)); err != nil {
			return nil, errors.Join(k.parts.Ledger.Failed("opening the content of artifact "+a.ID, err), blob.Close())
		}
	}
	return &artifactBlob{blob, a}, nil
}

// artifactBlob is the content of an Artifact. Its errors about damage name it.
type artifactBlob struct {
	desk.Blob
	artifact *abi.Artifact
}

func (b *artifactBlob) Read(p []byte) (int, error) {
	n, err := b.Blob.Read(p)
	return n, lostArtifact(b.artifact, err)
}

func (b *artifactBlob) ReadAt(p []byte, off int64) (int, error) {
	n, err := b.Blob.ReadAt(p, off)
	return n, lostArtifact(b.artifact, err)
}

func (b *artifactBlob) Verify(ctx context.Context) error {
	return lostArtifact(b.artifact, b.Blob.Verify(ctx))
}

// lostArtifact says of an error about damage which Artifact it is the content of.
// Other errors stay as they are.
func lostArtifact(a *abi.Artifact, err error) error {
	damage, ok := errors.AsType[*storage.ContentError](err)
	if !ok {
		return err
	}
	return &ledger.LostContent{What: "the content of artifact " + a.ID, Cause: damage}
}

var errNoContent = errors.New("the node does not hold this artifact's bytes")

// ReadArtifact reads a range of an Artifact's content, at most limit bytes.
func (k *Keeper) ReadArtifact(ctx context.Context, a *abi.Artifact, offset, length, limit int64) ([]byte, error) {
	blob, err := k.openBlob(ctx, a)
	if err != nil {
		return nil, err
	}
	if blob == nil {
		return nil, errNoContent
	}
	defer blob.Close()
	rest := max(blob.Size()-offset, 0)
	if length == 0 || length > rest {
		length = rest
	}
	p := make([]byte, min(length, limit))
	if err := blob.Verify(ctx); err != nil {
		return nil, k.parts.Ledger.Failed("reading the content of artifact "+a.ID, err)
	}
	n, err := blob.ReadAt(p, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p[:n], err
}
