package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// damages are what may happen to a file: nil removes it.
var damages = map[string]func([]byte) []byte{
	"removed": nil,
	"emptied": func([]byte) []byte { return nil },
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"changed": func(b []byte) []byte { b[len(b)/3] ^= 1; return b },
}

// A plugin is not told what was never stored, neither all of it nor a part: its Task
// fails, and says what is lost.
func TestTaskIsNotGivenDamagedContent(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			var id string
			status, told := abi.CallOK, ""
			read := func(ctx context.Context, h sandbox.Host) error {
				var answer []byte
				var err error
				status, answer, err = h.Call(ctx, abi.CallArtifactGet, fmt.Appendf(nil, `{"artifact_id":%q,"offset":5,"length":3}`, id))
				told = string(answer)
				return err
			}
			n := newNode(t, enginetest.Guests{"read": read})
			doc, err := n.RegisterArtifact(t.Context(), n.Root, nil, abi.RegisterArtifactRequest{
				Kind: abi.ArtifactFile, MimeType: "text/plain", Visibility: abi.VisibilityPublic}, strings.NewReader("0123456789"))
			if err != nil {
				t.Fatal(err)
			}
			id = doc.ID
			session := n.Session(t)
			if task := n.Wait(t, n.Submit(t, session, "persona_read")); task.Status != abi.TaskCompleted || told != "567" {
				t.Fatalf("before: %s, %q", task.Status, told)
			}
			if err := n.Disk.Damage(n.Disk.Blob(*enginetest.As[abi.Artifact](t, doc).SHA256), damage); err != nil {
				t.Fatal(err)
			}
			task := n.Wait(t, n.Submit(t, session, "persona_read"))
			if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureHost || !strings.Contains(task.Failure.Message, id) {
				t.Errorf("%s %+v; the plugin was told %d %q", task.Status, task.Failure, status, told)
			}
		})
	}
}
