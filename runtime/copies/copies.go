package copies

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Parts are what a keeper works with.
type Parts struct {
	// Write writes a copy of the data folder to dir; nil when the node's storage cannot.
	Write func(dir string) error
	// Check says what such a copy lacks; nil when nothing can.
	Check func(ctx context.Context, dir string) error
	// WhileFilesRest does something while no file of a Workspace comes or goes.
	WhileFilesRest func(do func() error) error
}

// Keeper has copies made. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// Backup writes a copy of the node's data, as of now, to a folder on the node's
// machine that does not exist yet.
func (k *Keeper) Backup(ctx context.Context, c *desk.Caller, dir string) error {
	if !c.Can(abi.ScopeNode) {
		return desk.Denied(abi.ScopeNode)
	}
	if k.parts.Write == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node's storage takes no online backups")
	}
	if err := k.parts.WhileFilesRest(func() error { return k.parts.Write(dir) }); err != nil {
		return abi.InvalidParam("dir", "backing up to %q: %v", dir, err)
	}
	if k.parts.Check == nil {
		return nil
	}
	if err := k.parts.Check(ctx, dir); err != nil {
		return errors.Join(abi.Errorf(abi.CodeInternalError, "%v", err), err)
	}
	return nil
}
