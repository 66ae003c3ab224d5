package files

import (
	"io/fs"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// usageTable knows how much the files of Workspaces take, of those that were written
// to since the node started.
type usageTable struct {
	writing lockrank.RWMutex[lockrank.Files] // held for reading by those that write or remove a file
	mu      lockrank.Mutex[lockrank.Table]
	bytes   map[ledger.Key]int64
}

func errFull() error {
	return abi.Errorf(abi.CodePayloadTooLarge, "the files of a workspace have at most %d bytes together, and each file and folder counts %d", int64(maxWorkspaceBytes), entryBytes)
}

// take counts n more bytes of a Workspace, unless it has no room for them. spare is what will
// be given back when they have become a file.
func (t *usageTable) take(workspace ledger.Key, n, spare int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes[workspace]+n > maxWorkspaceBytes+spare {
		return errFull()
	}
	t.bytes[workspace] += n
	return nil
}

// settle counts what a file takes more than the one before in the place of its draft, unless
// the Workspace has no room for it.
func (t *usageTable) settle(workspace ledger.Key, draft, more int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if used := t.bytes[workspace] - draft + more; more <= 0 || used <= maxWorkspaceBytes {
		t.bytes[workspace] = used
		return nil
	}
	return errFull()
}

// add corrects what is counted of a Workspace, once it is known what was done.
func (t *usageTable) add(workspace ledger.Key, more int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes[workspace] += more
}

func (t *usageTable) counted(workspace ledger.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, counted := t.bytes[workspace]
	return counted
}

func (t *usageTable) begin(workspace ledger.Key, used int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes == nil {
		t.bytes = map[ledger.Key]int64{}
	}
	t.bytes[workspace] = used
}

// count counts a Workspace's files, the first time. It removes what was being written when
// the node died, and settles what became of the changes that were under way then: nobody
// has changed a file since. The caller holds the Workspace's lock.
func (k *Keeper) count(at *place) error {
	if k.room.counted(at.key) {
		return nil
	}
	var used int64
	var marks []string
	err := fs.WalkDir(at.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || p == ".":
			return err
		case isMark(d.Name()):
			marks = append(marks, p)
			return nil
		case d.Name() == madeFolder:
			return nil
		case strings.HasPrefix(d.Name(), unfinished): // a crash has left it
			return at.root.Remove(p)
		}
		if info, err := d.Info(); err == nil {
			used += entrySize(info)
		}
		return nil
	})
	for _, name := range marks {
		if err == nil {
			err = k.settle(at, name)
		}
	}
	if err == nil && len(marks) > 0 { // what was judged is not judged again
		err = syncFolder(at.root, ".")
	}
	if err != nil {
		return k.parts.Ledger.Failed("counting a workspace's files", err)
	}
	k.room.begin(at.key, used)
	return nil
}
