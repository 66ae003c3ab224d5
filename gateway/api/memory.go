package api

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/blocks"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/memories"
)

// blocksCore serves what Personas know.
type blocksCore interface {
	AgentMemory(ctx context.Context, c *desk.Caller, persona string) (*abi.AgentMemory, error)
	CreateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.CreateBlockRequest) (desk.Doc, error)
	UpdateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona, label string, req abi.UpdateBlockRequest) (desk.Doc, error)
	DeleteBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona, label string) error
	SearchMemory(ctx context.Context, c *desk.Caller, persona string, s blocks.Search) ([]blocks.Found, error)
	ArchiveOf(ctx context.Context, c *desk.Caller, persona string) ([]abi.Memory, error)
	AddToArchive(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.ArchiveRequest) (desk.Doc, error)
	MemorySnapshot(ctx context.Context, c *desk.Caller, persona string, archive bool) ([]filetree.File, error)
	ImportMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, merge abi.MemoryMerge, files []filetree.File) (desk.Doc, error)
}

type (
	// MemorySearch asks what a Persona knows; MemoryFound is what fits.
	MemorySearch = blocks.Search
	MemoryFound  = blocks.Found
)

// MemoryText returns what a Memory says, as text.
func MemoryText(m *abi.Memory) string { return memories.TextOf(m) }

// AgentMemory returns what a Persona has in mind.
func (a *API) AgentMemory(ctx context.Context, c *Caller, persona string) (*abi.AgentMemory, error) {
	return a.core.AgentMemory(ctx, c, persona)
}

// CreateBlock makes a block. The view is all that the Persona has in mind.
func (a *API) CreateBlock(ctx context.Context, c *Caller, r *Write, persona string, req abi.CreateBlockRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateBlock(ctx, c, r, persona, req))
}

// UpdateBlock gives a block another value. The view is all that the Persona has in mind.
func (a *API) UpdateBlock(ctx context.Context, c *Caller, r *Write, persona, label string, req abi.UpdateBlockRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateBlock(ctx, c, r, persona, label, req))
}

// DeleteBlock deletes a block.
func (a *API) DeleteBlock(ctx context.Context, c *Caller, r *Write, persona, label string) error {
	return a.core.DeleteBlock(ctx, c, r, persona, label)
}

// SearchMemory returns what a Persona knows that fits a query, the best first.
func (a *API) SearchMemory(ctx context.Context, c *Caller, persona string, s MemorySearch) ([]MemoryFound, error) {
	return a.core.SearchMemory(ctx, c, persona, s)
}

// ArchiveOf returns the newest entries of a Persona's archive.
func (a *API) ArchiveOf(ctx context.Context, c *Caller, persona string) ([]abi.Memory, error) {
	return a.core.ArchiveOf(ctx, c, persona)
}

// AddToArchive puts a text into a Persona's archive. The view is the Memory that it has become.
func (a *API) AddToArchive(ctx context.Context, c *Caller, r *Write, persona string, req abi.ArchiveRequest) (View, error) {
	return a.to(ctx, c).view(a.core.AddToArchive(ctx, c, r, persona, req))
}

// MemorySnapshot returns what a Persona knows as a zip.
func (a *API) MemorySnapshot(ctx context.Context, c *Caller, persona string, archive bool) ([]byte, error) {
	files, err := a.core.MemorySnapshot(ctx, c, persona, archive)
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	err = (&filetree.Tree{Files: files}).WriteZip(&zipped, "")
	return zipped.Bytes(), err
}

// ImportMemory takes in a zip that [API.MemorySnapshot] has made, or another of its kind. The view is
// all that the Persona has in mind. An error about what the zip is has the param "snapshot".
func (a *API) ImportMemory(ctx context.Context, c *Caller, r *Write, persona string, merge abi.MemoryMerge, zipped io.ReaderAt, size int64) (View, error) {
	files, err := filetree.ReadZip(zipped, size, blocks.SnapshotLimits())
	if refused, ok := errors.AsType[*filetree.Refusal](err); ok {
		return View{}, abi.InvalidParam("snapshot", "%v", refused)
	}
	if err != nil {
		return View{}, err
	}
	return a.to(ctx, c).view(a.core.ImportMemory(ctx, c, r, persona, merge, files.Files))
}
