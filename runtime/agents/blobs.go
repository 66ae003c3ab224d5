package agents

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/storage"
)

const digestPrefix = "sha256:"

// keep keeps the files of an agent, and returns where.
func (k *Keeper) keep(ctx context.Context, a *oaf.Agent) (*abi.AgentBundle, error) {
	hash, _, err := k.parts.Store.Blobs().Put(ctx, bytes.NewReader(a.Text), nil)
	if err != nil {
		return nil, fmt.Errorf("keeping an agent's %s: %w", oaf.ManifestFile, err)
	}
	kept := &abi.AgentBundle{Manifest: digestOf(hash), Count: len(a.Files)}
	if len(a.Files) == 0 {
		return kept, nil
	}
	packed, into := io.Pipe()
	go func() { _ = into.CloseWithError(oaf.Pack(into, a.Files)) }() // it always returns nil
	hash, _, err = k.parts.Store.Blobs().Put(ctx, packed, nil)
	_ = packed.Close() // ends the packing where the blob was not taken
	if err != nil {
		return nil, fmt.Errorf("keeping an agent's files: %w", err)
	}
	for i := range a.Files {
		kept.Bytes += int64(len(a.Files[i].Content))
	}
	kept.Files = digestOf(hash)
	return kept, nil
}

func digestOf(hash storage.Hash) string { return digestPrefix + hex.EncodeToString(hash[:]) }

// blob opens what lies at a digest.
func (k *Keeper) blob(ctx context.Context, digest string) (storage.Blob, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(digest, digestPrefix))
	if err != nil || len(raw) != len(storage.Hash{}) {
		return nil, abi.Errorf(abi.CodeConflict, "the agent's bundle has no digest %q", digest)
	}
	blob, err := k.parts.Store.Blobs().Open(ctx, storage.Hash(raw))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, abi.Errorf(abi.CodeConflict, "the agent's bundle %s is not on this node", digest)
	}
	return blob, err
}

// text reads the AGENTS.md of an agent; nil for one that came without.
func (k *Keeper) text(ctx context.Context, a *abi.Agent) (text []byte, err error) {
	if a.Bundle == nil || a.Bundle.Manifest == "" {
		return nil, nil
	}
	blob, err := k.blob(ctx, a.Bundle.Manifest)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	return io.ReadAll(io.LimitReader(blob, oaf.Limits().FileBytes))
}

// files reads the files of an agent beside its AGENTS.md.
func (k *Keeper) files(ctx context.Context, a *abi.Agent) (files []filetree.File, err error) {
	if a.Bundle == nil || a.Bundle.Files == "" {
		return nil, nil
	}
	blob, err := k.blob(ctx, a.Bundle.Files)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	limits := oaf.Limits()
	limits.Ratio = 0 // what is read was taken before
	tree, err := filetree.ReadZip(blob, blob.Size(), limits)
	if err != nil {
		return nil, fmt.Errorf("reading an agent's files: %w", err)
	}
	for _, f := range tree.Files {
		if tree.Root != "" {
			f.Path = tree.Root + "/" + f.Path
		}
		files = append(files, f)
	}
	return files, nil
}
