package prove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/arm64test"
	"github.com/wharf-dev/wharf/internal/share"
)

// TestAnotherProcessorFindsTheSame has bundles of this processor verified on arm64,
// under an emulator: the hashes, the signatures, and the execution.
func TestAnotherProcessorFindsTheSame(t *testing.T) {
	if !long() {
		t.Skip("builds the program for another processor and emulates that, for minutes: set WHARF_LONG=1")
	}
	emulator := arm64test.Emulator(t)
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "wharf-arm64")
	arm64test.Build(t, root, "build", "-o", binary, "./cmd/wharf")
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	mine := share.Of(t)
	for i, task := range record(t, c) {
		t.Run(task.name, func(t *testing.T) {
			share.Skip(t, mine, i)
			file := filepath.Join(t.TempDir(), "run.zip")
			put(t, file, string(c.bundle(t, task.id)))
			verify := exec.CommandContext(t.Context(), emulator, binary, "verify", file)
			verify.Env = append(os.Environ(), "WHARF_CONFINED=1") // an emulated program cannot start itself
			code, out := execute(t, verify)
			if code != 0 || !strings.Contains(out, "rerun") {
				t.Errorf("on arm64: exit code %d\n%s", code, out)
			}
		})
	}
}
