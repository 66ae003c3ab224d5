package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// TestContentThatTheDiskRefuses uploads to a full disk, before the store has failed and
// after it: the client is told to come again, as with any other write. When there is
// room, and nothing has failed but uploads, the node goes on.
func TestContentThatTheDiskRefuses(t *testing.T) {
	for _, refusal := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		t.Run(refusal.Error(), func(t *testing.T) {
			disk := crashtest.NewDisk()
			n := boot(t, disk, enginetest.Guests{"echo": enginetest.Echo})
			defer func() {
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				_, _ = n.Drain(ended), n.Store.Close() // the store has failed
			}()
			session := n.Session(t)
			upload := func() error {
				_, err := n.RegisterArtifact(t.Context(), n.Root, nil, abi.RegisterArtifactRequest{SessionID: session, Kind: "file",
					MimeType: "text/plain", Visibility: abi.VisibilityInternal}, bytes.NewReader(make([]byte, 300_000)))
				return err
			}
			submit := func(words string) error {
				_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text(words)})
				return err
			}
			disk.Refuse(refusal)
			mustBeTold(t, upload())
			mustBeTold(t, submit(strings.Repeat("words ", 30_000))) // too large to be in the log
			disk.Refuse(nil)
			if err := upload(); err != nil {
				t.Fatalf("when the disk works again: %v", err)
			}
			if full := errors.Is(refusal, syscall.ENOSPC) || errors.Is(refusal, syscall.EDQUOT); full {
				disk.Refuse(refusal)
				mustBeTold(t, submit("hi")) // its module is not kept yet: nothing comes to the log
				disk.Refuse(nil)
			}
			n.Wait(t, n.Submit(t, session, ""))
			disk.Refuse(refusal)
			mustBeTold(t, submit("hi")) // the log itself: the store has failed for good
			disk.Refuse(nil)
			mustBeTold(t, upload())
		})
	}
}

// mustBeTold checks that a client is told to come again later.
func mustBeTold(t *testing.T, err error) {
	t.Helper()
	told, ok := errors.AsType[*abi.Error](err)
	if !ok || told.Code != abi.CodeServiceUnavailable || told.RetryAfter == 0 {
		t.Errorf("the answer is %v", err)
	}
}
