package node

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
)

// secretFile is a file with a secret, and the setting that names it.
type secretFile struct{ setting, path string }

// secretFiles returns the files with secrets that an operator names, or that others than
// Wharf have written. The node's own keys are not among them: who reads those refuses the
// ones that others can read (keyfile.Exposed).
func secretFiles(c *config.Config) []secretFile {
	files := []secretFile{{"tls.key", c.TLS.Key}}
	for name, s := range c.Secrets {
		files = append(files, secretFile{"secrets." + name + ".file", s.File})
	}
	files = append(files, below("vaults.files", c.Vaults.Files)...)
	return append(files, below("acme", filepath.Join(c.Data, acmeCache))...)
}

// below returns the files in a folder and its folders.
func below(setting, dir string) (files []secretFile) {
	if dir == "" {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, secretFile{setting, path})
		}
		return nil // who needs a file that cannot be read says so
	})
	return files
}

// warnOfReaders tells of each file with a secret that everybody on the machine may read. It
// does not keep a node from starting: who may read them is for their owner to say.
func warnOfReaders(log *slog.Logger, files []secretFile) {
	if runtime.GOOS == "windows" { // where modes say nothing
		return
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		if info, err := os.Stat(f.path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
			log.Warn("a file with a secret is open to everybody on this machine: take that away with chmod o-rwx", "setting", f.setting, "file", f.path, "mode", info.Mode().Perm().String())
		}
	}
}
