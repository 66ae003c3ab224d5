package deletion_test

import (
	"context"
	"encoding/base64"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// onFiles is the real store in a real folder.
type onFiles struct{ *pebble.Store }

func (onFiles) Reopen() onFiles { panic("nothing dies here") }

// churn ends Tasks of some KB over and over while their room is limited, as retention does that.
type churn struct {
	*room
	store   *pebble.Store
	dir     string
	limit   int64
	chance  *rand.ChaCha8
	written int64 // bytes of what the Tasks say, since the limit was first reached
	full    bool
}

// taskBytes is what a Task says of itself, which cannot be packed.
const taskBytes = 8 << 10

// work ends some Tasks, and has time pass.
func (c *churn) work(tasks int) {
	c.t.Helper()
	var last storage.Commit
	for range tasks {
		noise := make([]byte, taskBytes*3/4)
		_, _ = c.chance.Read(noise)
		c.next++
		id := abi.NewIDs(func() time.Time { return c.clock }, numbers(c.next)).New(abi.ObjectTask)
		task := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, c.clock, nil), WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session, Status: abi.TaskSubmitted}
		ended := new(*task)
		ended.Status, ended.CompletedAt = abi.TaskCompleted, abi.At(c.clock)
		_, commit, err := c.Parts.Ledger.HandOver(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: task.WorkspaceID, SessionID: task.SessionID, TaskID: id}, nil, 0,
			ledger.Record{Kind: abi.EventTaskSubmitted, Object: abi.ObjectTask, ID: id, Created: true, State: task, Payload: map[string]string{"noise": base64.StdEncoding.EncodeToString(noise)}},
			ledger.Record{Kind: abi.EventTaskCompleted, Object: abi.ObjectTask, ID: id, Sequence: 1, State: ended})
		if err != nil {
			c.t.Fatal(err)
		}
		last = commit
		if c.full {
			c.written += taskBytes
		}
	}
	if _, err := last.Wait(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	c.clock = c.clock.Add(5 * time.Second)
}

// shrink does what a node does every five seconds.
func (c *churn) shrink() {
	c.t.Helper()
	used := c.store.Used()
	if used <= c.limit {
		return
	}
	c.full = true
	ctx := c.t.Context()
	if _, err := c.Shrink(ctx, used-c.limit+c.limit/50); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.store.Sweep(ctx, -1); err != nil {
		c.t.Fatal(err)
	}
	if err := c.store.Reclaim(ctx); err != nil {
		c.t.Fatal(err)
	}
}

// files is what the folder takes, once what is merged or about to be removed is gone.
func (c *churn) files() (bytes int64) {
	for c.store.Metrics().PassingBytes > 0 {
		time.Sleep(time.Millisecond)
	}
	_ = filepath.WalkDir(c.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// The folder never takes more than its limit and a tenth, however often that is turned over, if what the store collects in
// memory, and writes twice, is a hundredth of that.
func TestChurn(t *testing.T) {
	limit, turns := int64(24<<20), int64(1)
	if os.Getenv("WHARF_LONG") != "" {
		limit, turns = 256<<20, 4
	}
	dir := filepath.Join(t.TempDir(), "data")
	store, err := pebble.Open(dir, pebble.Options{MemtableBytes: uint64(limit / 100), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := &churn{room: newRoom(t, onFiles{store}), store: store, dir: dir, limit: limit, chance: rand.NewChaCha8([32]byte{})}
	step := int(limit / 100 / taskBytes)
	least, most := limit, int64(0)
	for c.written < turns*limit {
		c.work(step)
		c.shrink()
		if is := c.files(); c.full {
			least, most = min(least, is), max(most, is)
		}
	}
	t.Logf("of a limit of %d MiB, turned over %d times: %.1f to %.1f %%", limit>>20, turns, percent(least, limit), percent(most, limit))
	if percent(most, limit) > 110 || percent(least, limit) < 85 {
		t.Error("the folder is not kept beside its limit")
	}
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(of) }
