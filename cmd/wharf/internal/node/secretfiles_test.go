package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
)

// Each file with a secret that everybody on the machine may read is told of at a start, with
// the setting that names it, and no other.
func TestReadersOfSecretsAreToldOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for setting, place := range map[string]func(o *Options, dir string) string{
		"tls.key": func(o *Options, dir string) string {
			o.Config.TLS.Key = filepath.Join(dir, "key.pem")
			return o.Config.TLS.Key
		},
		"secrets.token.file": func(o *Options, dir string) string {
			file := filepath.Join(dir, "token")
			o.Config.Secrets = map[string]config.Secret{"token": {File: file}, "other": {Env: "OTHER"}}
			return file
		},
		"vaults.files": func(o *Options, dir string) string {
			o.Config.Vaults.Files = dir
			return filepath.Join(dir, "default", "token")
		},
		"acme": func(o *Options, _ string) string { return filepath.Join(o.Config.Data, acmeCache, "acme_account+key") },
	} {
		for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o666: true, 0o601: true} {
			o := options(t, nil)
			name := place(&o, t.TempDir())
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			warnOfReaders(slog.New(slog.NewTextHandler(&log, nil)), secretFiles(&o.Config))
			told := strings.Count(log.String(), name) == 1 && strings.Contains(log.String(), "setting="+setting)
			if told != warned || !warned && log.Len() > 0 {
				t.Errorf("%s %o: %s", setting, mode, &log)
			}
		}
	}
}
