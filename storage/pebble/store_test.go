package pebble

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/oklog/ulid/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// epoch is when the tests take place.
var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// ctx is that of calls in tests that nobody interrupts.
var ctx = context.Background()

// testOptions are small and quiet.
func testOptions(fs vfs.FS) Options {
	return Options{
		FS: fs, CacheBytes: 1 << 20, MemtableBytes: 1 << 20, MaxInlineBytes: 1 << 10,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now:    func() time.Time { return epoch },
	}
}

func openTest(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newID returns the id number n of an object; they sort by n.
func newID(o abi.Object, n int) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(epoch.UnixMilli()))
	u[14], u[15] = byte(n>>8), byte(n)
	return abi.IDPrefix(o) + u.String()
}

func ptr(o abi.Object, id string) abi.ResourcePointer { return abi.ResourcePointer{Object: o, ID: id} }

// state returns some JSON that states a resource.
func state(id string, version int) []byte {
	return fmt.Appendf(nil, `{"id":%q,"version":%d}`, id, version)
}

// accept returns a batch as the acceptance of a Task makes it.
func accept(tenant storage.Tenant, n int) *storage.Batch {
	task, msg := newID(abi.ObjectTask, n), newID(abi.ObjectMessage, n)
	b := &storage.Batch{
		Frame: storage.Frame{
			Tenant: tenant, Time: epoch.Add(time.Duration(n) * time.Second),
			WorkspaceID: newID(abi.ObjectWorkspace, 1), SessionID: newID(abi.ObjectSession, 1), TaskID: task,
			Actor: "user_1",
			Records: []storage.Record{
				{Kind: abi.EventUserMessage, Resource: ptr(abi.ObjectMessage, msg), Created: true,
					State: state(msg, 0), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
				{Kind: abi.EventTaskSubmitted, Resource: ptr(abi.ObjectTask, task), Created: true,
					State: state(task, 0), IdempotencyKey: fmt.Sprint("key-", n)},
			},
		},
		Idempotency: &storage.Idempotency{Body: [32]byte{byte(n)}, Expires: epoch.Add(24 * time.Hour), Status: 202, Record: 1},
	}
	b.Idempotency.Key[0], b.Idempotency.Key[1] = byte(n>>8), byte(n)
	return b
}

func mustAppend(t testing.TB, s *Store, b *storage.Batch) storage.Position {
	t.Helper()
	p, err := s.Append(b).Wait(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
