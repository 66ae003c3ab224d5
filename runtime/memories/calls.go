package memories

import (
	"cmp"
	"context"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{
		abi.CallMemoryQuery: hostcall.Of(k.queryFor),
		abi.CallMemoryWrite: hostcall.Of(k.writeFor),
	}
}

// ownerOf returns whom a Task's Memory of a scope belongs to.
func (k *Keeper) ownerOf(c *hostcall.Call, scope abi.MemoryScope) (string, error) {
	switch scope {
	case abi.MemoryPersona:
		return c.Task.PersonaID, nil
	case abi.MemorySession:
		return c.Task.SessionID, nil
	case abi.MemoryWorkspace:
		return c.Task.WorkspaceID, nil
	case abi.MemoryTenant:
		return k.parts.TenantID(c.Tenant), nil
	}
	return "", provider.Malformed(desk.CheckOneOf("scope", scope, abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant))
}

func (k *Keeper) queryFor(ctx context.Context, c *hostcall.Call, req *abi.CallMemoryQueryRequest) (hostcall.Answer, error) {
	owner, err := k.ownerOf(c, req.Scope)
	if err != nil {
		return hostcall.Answer{}, err
	}
	req.Limit = cmp.Or(req.Limit, 10)
	if req.Limit < 1 || req.Limit > 100 {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("limit", "limit is 1 to 100"))
	}
	found, err := k.find(ctx, c, req, owner)
	if err != nil {
		return hostcall.Answer{}, err
	}
	return hostcall.Encoded(found)
}

// find returns the newest Memories of an owner that hold every word.
func (k *Keeper) find(ctx context.Context, c *hostcall.Call, req *abi.CallMemoryQueryRequest, owner string) (*abi.CallMemoryQueryAnswer, error) {
	terms, err := termsOf("text", req.Text)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	found, size := &abi.CallMemoryQueryAnswer{Memories: []abi.Memory{}}, 0
	_, err = k.search(ctx, c.Tenant, storage.Query{Owner: owner, Terms: terms, Limit: req.Limit}, func(res storage.Resource) (bool, error) {
		m, err := memoryForPlugin(&res)
		if err != nil {
			found.Unreadable = append(found.Unreadable, res.ID)
			return true, nil
		}
		if m.Scope == req.Scope && m.Visibility != abi.VisibilityReceiptOnly && Alive(&m, k.parts.Now()) {
			found.Memories = append(found.Memories, m)
			size += len(res.State)
		}
		return len(found.Memories) < req.Limit && size < hostcall.MaxTold, nil
	})
	if err != nil || req.Scope != abi.MemorySession {
		return found, err
	}
	return found, k.addNamed(ctx, c, found, terms, req.Limit, size)
}

// addNamed adds the Memories that a Session names to those found that are its own.
func (k *Keeper) addNamed(ctx context.Context, c *hostcall.Call, found *abi.CallMemoryQueryAnswer, terms []storage.Term, limit, size int) error {
	for _, id := range c.Run.Session().MemoryIDs {
		if len(found.Memories) >= limit || size >= hostcall.MaxTold {
			break
		}
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectMemory, id)
		if ledger.IsNotFound(err) {
			continue
		}
		var m abi.Memory
		if err == nil {
			m, err = memoryForPlugin(&res)
		}
		switch {
		case ledger.IsUnreadable(err):
			found.Unreadable = append(found.Unreadable, id)
		case err != nil:
			return err
		case Alive(&m, k.parts.Now()) && m.OwnerID != c.Task.SessionID && holdsAll(storage.Words(m.Content), terms):
			found.Memories = append(found.Memories, m)
			size += len(res.State)
		}
	}
	return nil
}

// memoryForPlugin returns a stored Memory as a plugin gets it in a list.
func memoryForPlugin(res *storage.Resource) (m abi.Memory, err error) {
	if err := ledger.ReadListed(res, &m); err != nil {
		return m, ledger.Naming(abi.ObjectMemory, res.ID, err)
	}
	if abi.TooDeep(res.State, hostcall.MaxListed) >= 0 {
		for _, v := range []*jsontext.Value{&m.Content, &m.Metadata, &m.Provenance} {
			hostcall.Flatten(v, hostcall.MaxListed-1)
		}
	}
	return m, nil
}

// maxSeconds is a hundred years.
const maxSeconds = 100 * 366 * 24 * 3600

func (k *Keeper) writeFor(ctx context.Context, c *hostcall.Call, req *abi.CallMemoryWriteRequest) (hostcall.Answer, error) {
	owner, err := k.ownerOf(c, req.Scope)
	if err != nil {
		return hostcall.Answer{}, err
	}
	if err := checkWritten(req); err != nil {
		return hostcall.Answer{}, provider.Malformed(err)
	}
	m := k.written(c.Task, req, owner)
	if req.Scope == abi.MemoryPersona {
		p, err := k.parts.Persona(ctx, c.Tenant, owner)
		if err != nil {
			return hostcall.Answer{}, err
		}
		m.WorkspaceID = p.WorkspaceID
	}
	answer, err := json.Marshal(abi.CallMemoryWriteAnswer{MemoryID: m.ID})
	return hostcall.Answer{JSON: answer,
		States: &ledger.Record{Kind: abi.EventAgentMemoryWrite, Object: abi.ObjectMemory, ID: m.ID, Created: true, State: m}}, err
}

func checkWritten(req *abi.CallMemoryWriteRequest) error {
	req.Visibility = cmp.Or(req.Visibility, abi.VisibilityInternal)
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), desk.CheckVisibility("visibility", req.Visibility)); err != nil {
		return err
	}
	switch kind := req.Content.Kind(); {
	case kind != '"' && kind != '{':
		return abi.InvalidParam("content", "content is a string or an object")
	case req.ExpiresInSeconds < 0 || req.ExpiresInSeconds > maxSeconds:
		return abi.InvalidParam("expires_in_seconds", "expires_in_seconds is 0 to %d", maxSeconds)
	case req.Confidence < 0 || req.Confidence > 1:
		return abi.InvalidParam("confidence", "confidence is 0 to 1")
	}
	return nil
}

// written returns the Memory that a Task writes.
func (k *Keeper) written(t *abi.Task, req *abi.CallMemoryWriteRequest, owner string) *abi.Memory {
	m := &abi.Memory{
		Envelope: abi.NewEnvelope(abi.ObjectMemory, k.parts.IDs.New(abi.ObjectMemory), k.parts.Now(), req.Metadata),
		Scope:    req.Scope, OwnerID: owner, Content: req.Content.Clone(), Visibility: req.Visibility, Confidence: req.Confidence,
		Provenance: jsontext.Value(`{"task_id":"` + t.ID + `","persona_id":"` + t.PersonaID + `"}`),
	}
	if req.Scope == abi.MemorySession || req.Scope == abi.MemoryWorkspace {
		m.WorkspaceID = t.WorkspaceID
	}
	if req.Scope == abi.MemorySession {
		m.SessionID = t.SessionID
	}
	if req.ExpiresInSeconds > 0 {
		m.ExpiresAt = abi.At(m.CreatedAt.Add(time.Duration(req.ExpiresInSeconds * float64(time.Second))))
	}
	return m
}
