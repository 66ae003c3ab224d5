package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// A call of a Task changes a file once, also when the node dies before its answer is recorded
// and the call is made again. Before the change a mark is put beside the files, which says what
// was there and what is to be there, and after it the mark is renamed. The first change to a
// Workspace after a start looks at the marks of changes that the node died in, and judges them by
// what is there: nobody has changed a file since. A mark goes when its call will not be made
// again.
const (
	markBegun  = unfinished + "call-"
	markMade   = unfinished + "made-"
	markUnsure = unfinished + "lost-" // somebody else has changed the file while no node ran
)

// mark says what a call changes. The hashes are "" for no file.
type mark struct {
	Task   string `json:"task_id"`
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
	Size   int64  `json:"size"` // after
	// Replaced is how often an edit has replaced its text.
	Replaced int `json:"replaced,omitzero"`
	// Of the removal of a folder, what goes with it: files and folders, as they were when it began.
	Folder  bool              `json:"folder,omitzero"`
	Removed []abi.RemovedFile `json:"removed,omitzero"`
	Folders []string          `json:"folders,omitzero"`

	begun bool // it is on the disk already
}

func isMark(name string) bool {
	return strings.HasPrefix(name, markBegun) || strings.HasPrefix(name, markMade) || strings.HasPrefix(name, markUnsure)
}

// markOf names the mark of a call.
func markOf(kind, call string) string {
	sum := sha256.Sum256([]byte(call))
	return kind + hex.EncodeToString(sum[:16])
}

// mark says, durably, that a call is about to change a file.
func (p *place) mark(call string, m *mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := p.root.OpenFile(markOf(markBegun, call), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close(), syncFolder(p.root, "."))
}

// confirm says, durably, that a call has changed the file that its mark names.
func (p *place) confirm(call string) error {
	if err := p.root.Rename(markOf(markBegun, call), markOf(markMade, call)); err != nil {
		return err
	}
	return syncFolder(p.root, ".")
}

// unmark forgets a call.
func (p *place) unmark(call string) error {
	for _, kind := range []string{markBegun, markMade, markUnsure} {
		if err := p.root.Remove(markOf(kind, call)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// made returns what a call has changed already; nil when it has changed nothing. sure is false
// when nobody knows.
func (p *place) made(call string) (m *mark, sure bool, err error) {
	if _, err := p.root.Lstat(markOf(markUnsure, call)); err == nil {
		return nil, false, nil
	}
	m, err = p.readMark(markOf(markMade, call))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	return m, true, err
}

func (p *place) readMark(name string) (*mark, error) {
	text, err := p.root.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := &mark{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("reading a mark of a workspace: %w", err)
	}
	return m, nil
}

// settle finds out, after a start, whether the change happened that a mark is of.
func (k *Keeper) settle(at *place, name string) error {
	m, err := at.readMark(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || k.over(at, m.Task) { // it was not whole when the node died: nothing was changed yet
		return at.root.Remove(name)
	}
	call, begun := strings.CutPrefix(name, markBegun)
	if !begun || m.Folder {
		return nil // an earlier start has judged it, or the call goes on by itself
	}
	now, err := at.now(context.Background(), m.Path)
	switch {
	case err != nil:
		return err
	case now.SHA256 == m.After:
		return at.root.Rename(name, markMade+call)
	case now.SHA256 == m.Before:
		return at.root.Remove(name)
	}
	return at.root.Rename(name, markUnsure+call)
}

// over reports whether a Task makes no more calls.
func (k *Keeper) over(at *place, task string) bool {
	res, err := k.parts.Ledger.Find(context.Background(), at.key.Tenant, abi.ObjectTask, task)
	if err != nil {
		return ledger.IsNotFound(err)
	}
	var t abi.Task
	return ledger.Decode(res.State, &t) == nil && t.Status.Terminal()
}
