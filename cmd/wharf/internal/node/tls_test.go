package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A key that everybody on the machine may read is told of.
func TestReadersOfAKeyAreToldOf(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o666: true} {
		name := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		warnOfReaders(slog.New(slog.NewTextHandler(&log, nil)), "tls.key", name)
		if strings.Contains(log.String(), name) != warned {
			t.Errorf("%o: %s", mode, &log)
		}
	}
}
