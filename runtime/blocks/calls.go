package blocks

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// What calls about blocks are refused with.
const (
	CodeNone     = "no_blocks"       // the Persona is no agent of a Workspace
	CodeReadOnly = "block_read_only" // nobody changes the block
	CodeChanged  = "block_changed"   // the call says which version it changes, and that has changed meanwhile
)

// HostCalls are the calls of plugins that the keeper answers, those about Memories among them.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	calls := k.Keeper.HostCalls()
	calls[abi.CallBlockList] = func(ctx context.Context, c *hostcall.Call) (hostcall.Answer, error) { return k.listFor(ctx, c) }
	calls[abi.CallBlockWrite] = hostcall.Of(k.writeFor)
	return calls
}

func (k *Keeper) listFor(ctx context.Context, c *hostcall.Call) (hostcall.Answer, error) {
	m, err := k.ofTask(ctx, c)
	if err != nil {
		return hostcall.Answer{}, err
	}
	told := abi.CallBlockListAnswer{Version: m.Version, Blocks: make([]abi.CallBlock, len(m.Blocks))}
	for i, b := range m.Blocks {
		told.Blocks[i] = abi.CallBlock{Label: b.Label, Value: b.Value, ReadOnly: b.ReadOnly, Version: b.Version}
	}
	return hostcall.Encoded(told)
}

// ofTask reads what a Task's Persona has in mind.
func (k *Keeper) ofTask(ctx context.Context, c *hostcall.Call) (*kept, error) {
	p, err := k.parts.Persona(ctx, c.Tenant, c.Task.PersonaID)
	if err != nil && !ledger.IsNotFound(err) {
		return nil, unreadable(err)
	}
	if err != nil || p.Agent == nil || p.WorkspaceID == "" || !p.DeletedAt.IsZero() {
		return nil, provider.Refuse(abi.CallNotFound, CodeNone, fmt.Sprintf("persona %s is no agent of a workspace, and has no blocks of memory", c.Task.PersonaID))
	}
	m, err := k.keptOf(ctx, c.Tenant, &p.Persona)
	return m, unreadable(err)
}

// writeFor changes a block. Until that is on disk, nobody else changes what the Persona has in mind.
func (k *Keeper) writeFor(ctx context.Context, c *hostcall.Call, req *abi.CallBlockWriteRequest) (hostcall.Answer, error) {
	unlock := k.parts.Ledger.Lock(c.Tenant, ID(c.Task.PersonaID))
	answer, err := k.write(ctx, c, req)
	if err != nil {
		unlock()
		return hostcall.Answer{}, err
	}
	answer.Release = func(error) { unlock() }
	return answer, nil
}

func (k *Keeper) write(ctx context.Context, c *hostcall.Call, req *abi.CallBlockWriteRequest) (hostcall.Answer, error) {
	if err := checkLabel(req.Label); err != nil {
		return hostcall.Answer{}, provider.Malformed(err)
	}
	m, err := k.ofTask(ctx, c)
	if err != nil {
		return hostcall.Answer{}, err
	}
	value, err := written(m, req)
	if err != nil {
		return hostcall.Answer{}, err
	}
	m.Version, m.Imported = m.Version+1, nil
	k.put(m, req.Label, value, false)
	if err := checkTotal(m); err != nil {
		return hostcall.Answer{}, provider.Malformed(err)
	}
	answer, err := hostcall.Encoded(abi.CallBlockWriteAnswer{Label: req.Label, Version: m.Version, Characters: utf8.RuneCountInString(value)})
	answer.Extra = []ledger.Record{k.stated(m, c.Task.PersonaID)}
	return answer, err
}

// written returns the value that a block has after a write.
func written(m *kept, req *abi.CallBlockWriteRequest) (string, error) {
	var old abi.MemoryBlock
	i, found := at(m, req.Label)
	if found {
		old = m.Blocks[i]
	}
	value := req.Value
	switch {
	case old.ReadOnly:
		return "", provider.Refuse(abi.CallDenied, CodeReadOnly, fmt.Sprintf("the block %q is read-only: it stays as it is", req.Label))
	case req.Version != nil && *req.Version != old.Version:
		return "", provider.Refuse(abi.CallInvalid, CodeChanged, fmt.Sprintf("the block %q has changed meanwhile, and nothing was written: look at what it says now", req.Label))
	case value == "" && req.Append:
		return "", provider.Malformed(abi.InvalidParam("value", "what is added to a block has at least one character"))
	case req.Append && found:
		value = old.Value + "\n" + value
	}
	if err := checkValue(value); err != nil {
		return "", provider.Malformed(err)
	}
	return value, nil
}

// unreadable answers a plugin whose blocks cannot be read.
func unreadable(err error) error {
	if ledger.IsUnreadable(err) {
		return provider.Refuse(abi.CallUnavailable, "unreadable", "the blocks of memory cannot be read")
	}
	return err
}
