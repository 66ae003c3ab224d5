package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{
		abi.CallArtifactPut: k.putFor,
		abi.CallArtifactGet: hostcall.Of(k.contentFor),
	}
}

// putFor reads the request itself: the content is no JSON.
func (k *Keeper) putFor(ctx context.Context, c *hostcall.Call) (hostcall.Answer, error) {
	header, content, found := bytes.Cut(c.Request, []byte("\n"))
	if !found {
		return hostcall.Answer{}, provider.Malformed(errors.New("artifact.put takes a line of JSON, a newline, and the content"))
	}
	put, err := provider.Asked[abi.CallArtifactPutRequest](c.Asked, header)
	if err != nil {
		return hostcall.Answer{}, err
	}
	put.Visibility = cmp.Or(put.Visibility, abi.VisibilityPublic)
	reg := abi.RegisterArtifactRequest{Kind: put.Kind, MimeType: put.MimeType, Visibility: put.Visibility, Name: put.Name}
	if err := checkArtifact(&reg); err != nil {
		return hostcall.Answer{}, provider.Malformed(err)
	}
	a, err := k.ArtifactOf(ctx, c.Task, &reg, content)
	if err != nil {
		return hostcall.Answer{}, err
	}
	answer, err := json.Marshal(abi.CallArtifactPutAnswer{ArtifactID: a.ID, SHA256: *a.SHA256})
	return hostcall.Answer{JSON: answer,
		States: &ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a}}, err
}

// ArtifactOf stores what a Task has put and returns its Artifact, which nothing states yet.
func (k *Keeper) ArtifactOf(ctx context.Context, t *abi.Task, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error) {
	hash, size, err := disk.Patient{Blobs: k.parts.Store.Blobs()}.Put(ctx, bytes.NewReader(content), nil)
	if err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	a := k.newArtifact(reg, hex.EncodeToString(hash[:]), size)
	a.WorkspaceID, a.SessionID, a.TaskID = t.WorkspaceID, t.SessionID, t.ID
	return a, nil
}

// ArtifactNamed is [Keeper.ArtifactOf] for an Artifact whose id somebody has derived.
func (k *Keeper) ArtifactNamed(ctx context.Context, id string, t *abi.Task, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error) {
	a, err := k.ArtifactOf(ctx, t, reg, content)
	if err != nil {
		return nil, err
	}
	uri := abi.ArtifactName + id
	a.ID, a.URI = id, &uri
	return a, nil
}

func (k *Keeper) contentFor(ctx context.Context, c *hostcall.Call, get *abi.CallArtifactGetRequest) (hostcall.Answer, error) {
	if get.Offset < 0 || get.Length < 0 {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("offset", "offset and length must not be negative"))
	}
	if c.Run.HasPut(get.ArtifactID) {
		if err := c.Run.Flush(); err != nil {
			return hostcall.Answer{}, err
		}
	}
	a, err := k.visibleTo(ctx, c, get.ArtifactID)
	if err != nil {
		return hostcall.Answer{}, provider.Refuse(abi.CallNotFound, string(abi.CodeResourceNotFound), "no artifact "+strconv.Quote(get.ArtifactID)+" is visible to this task")
	}
	if a.Visibility == abi.VisibilityReceiptOnly {
		return hostcall.Answer{}, provider.Refuse(abi.CallDenied, string(abi.CodePermissionDenied), "the content of this artifact is for receipts only")
	}
	content, err := k.ReadArtifact(ctx, a, get.Offset, get.Length, k.parts.MostRead)
	if errors.Is(err, errNoContent) {
		return hostcall.Answer{}, provider.Refuse(abi.CallUnavailable, "no_content", err.Error())
	}
	return hostcall.Answer{JSON: content}, err
}

// visibleTo finds an Artifact of the Workspace of a call's Task.
func (k *Keeper) visibleTo(ctx context.Context, c *hostcall.Call, id string) (*abi.Artifact, error) {
	res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectArtifact, id)
	if err != nil {
		return nil, err
	}
	var a abi.Artifact
	if err := ledger.Decode(res.State, &a); err != nil {
		return nil, err
	}
	if a.WorkspaceID != c.Task.WorkspaceID {
		return nil, abi.NotFound(abi.ObjectArtifact, id)
	}
	return &a, nil
}
