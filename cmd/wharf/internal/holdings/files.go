package holdings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/storage"
)

// filePlace is where a file of a Workspace is.
type filePlace struct {
	tenant    storage.Tenant
	workspace string
	path      string
}

// stated is what the log says last of a file.
type stated struct {
	there  bool
	sha256 string
	at     time.Time
}

// fileEvent takes what an event says of a file.
func (c *check) fileEvent(t storage.Tenant, ev storage.Event) {
	var f file
	if json.Unmarshal(ev.Record().Payload, &f) != nil || !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		return
	}
	c.stated[filePlace{t, f.WorkspaceID, f.Path}] = stated{ev.Record().Kind == abi.EventFileWritten, f.SHA256, ev.Frame.Time}
}

// files holds the files of Workspaces against what the log says last of them.
func (c *check) files() {
	for _, p := range c.places() {
		c.file(p, c.stated[p])
	}
}

// places returns what the log tells of, in order.
func (c *check) places() []filePlace {
	byName := map[string]filePlace{}
	for p := range c.stated {
		byName[c.filePath(p)] = p
	}
	var all []filePlace
	for _, name := range sorted(byName) {
		all = append(all, byName[name])
	}
	return slices.Clip(all)
}

func (c *check) filePath(p filePlace) string {
	return filepath.Join(c.dir, datadir.Workspaces, strconv.FormatUint(uint64(p.tenant), 10), p.workspace, filepath.FromSlash(p.path))
}

// file looks at one file. What was changed after the log last told of it is not damage:
// a node that was killed may have left it, or somebody who works in the folder.
func (c *check) file(p filePlace, s stated) {
	name := c.filePath(p)
	sum, changed, err := hashFile(name)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && !s.there, err == nil && s.there && sum == s.sha256:
	case missing:
		c.lost("%s is missing: it is a file of workspace %s. Put it back from a backup, or remove or write it over REST", name, p.workspace)
	case err != nil:
		c.lost("%s cannot be read: %s. It is a file of workspace %s. Put it back from a backup", name, err, p.workspace)
	case !s.there || changed.After(s.at):
		c.note("%s was changed after the log last told of it", name)
	default:
		c.lost("%s is damaged: it is a file of workspace %s, and does not have the SHA-256 that was recorded. Put it back from a backup, or write it again", name, p.workspace)
	}
}

// hashFile returns the hash of a file, in hexadecimal, and when it was changed.
func hashFile(name string) (sum string, changed time.Time, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", changed, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", changed, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", changed, err
	}
	return hex.EncodeToString(h.Sum(nil)), info.ModTime(), nil
}
