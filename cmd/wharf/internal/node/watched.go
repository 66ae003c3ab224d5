package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/watching"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// How long files of a watched folder have to be left alone before they are read, how long somebody who goes on
// writing is waited for, how often they are looked at beside what the system tells of, and how soon what failed
// for the node's own reasons is tried again.
const (
	watchSettle = 300 * time.Millisecond
	watchMost   = 30 * time.Second
	watchEvery  = 5 * time.Second
	watchAgain  = 30 * time.Second
)

// maxWatched is how many bytes of a file are read: more than the largest package has.
const maxWatched = 128 << 20

// watchActor is who installs what lies in the folders that are watched.
const watchActor = "plugins.watch"

// installer is what plugins are installed with.
type installer interface {
	InstallPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, module io.Reader) (desk.Doc, error)
	InstallPackage(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, at io.ReaderAt, size int64) (desk.Doc, error)
	Plugin(ctx context.Context, c *desk.Caller, name string) (abi.Plugin, error)
}

// watchedFolder is a folder whose plugins are installed as they come and change. It is used by one goroutine.
type watchedFolder struct {
	dir   string
	trust parcel.Trust
	to    installer
	log   *slog.Logger

	seen    map[string]os.FileInfo // files that were taken or refused, as they were then
	digests map[string]string      // of what they held
	started bool                   // the files that were there at first have been looked at
}

// trusted reads the keys of plugins.trust, and says at a start what is wrong with them and with the folders that
// are watched.
func (n *Node) trusted() (parcel.Trust, error) {
	c := &n.options.Config.Plugins
	trust, err := receipt.TrustedKeys(c.Trusted())
	if err != nil {
		return nil, &StartError{What: "plugins.trust: " + err.Error(), Try: "public keys in base64, or files with published keys", Err: err}
	}
	for _, dir := range c.Watched() {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return nil, &StartError{What: "plugins.watch names " + dir + ", which is a file", Try: "the folder that it lies in"}
		case err != nil:
			n.log.Warn("a folder of plugins.watch cannot be read yet", "folder", dir, "error", err)
		}
	}
	return trust, nil
}

// watchPlugins installs what the folders of plugins.watch hold, until ctx ends.
func (n *Node) watchPlugins(ctx context.Context) {
	for _, dir := range n.options.Config.Plugins.Watched() {
		f := &watchedFolder{dir: dir, trust: n.trust, to: n.engine, log: n.log}
		n.watching.Go(func() { f.watch(ctx) })
	}
}

func (f *watchedFolder) watch(ctx context.Context) {
	w := watching.New(watching.Options{Settle: watchSettle, Most: watchMost, Every: watchEvery})
	defer w.Close()
	w.Watch(watching.Tree{Folder: f.dir, Skip: func(path string, folder bool) bool { return folder || !isWatched(path) }})
	w.Nudge() // for what is there
	for {
		if _, err := w.Wait(ctx); err != nil {
			return
		}
		for !f.pass(ctx) {
			soon, cancel := context.WithTimeout(ctx, watchAgain)
			_, err := w.Wait(soon)
			cancel()
			if err != nil && ctx.Err() != nil {
				return
			}
		}
	}
}

// isWatched reports whether a file of the folder may be a plugin: those that are being written have hidden names, or others.
func isWatched(name string) bool {
	ending := path.Ext(name)
	return !strings.HasPrefix(name, ".") && (ending == wasmSuffix || ending == parcel.Extension)
}

// pass installs what has come or changed. It reports whether all of it is settled, one way or the other.
func (f *watchedFolder) pass(ctx context.Context) bool {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return true // its coming back is a change
	}
	settled := true
	seen, digests := map[string]os.FileInfo{}, map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		info, err := os.Stat(filepath.Join(f.dir, name)) // of what a link leads to
		if err != nil || !info.Mode().IsRegular() || !isWatched(name) {
			continue
		}
		if was := f.seen[name]; was != nil && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) && os.SameFile(was, info) {
			seen[name], digests[name] = info, f.digests[name]
			continue
		}
		digest, done := f.take(ctx, name)
		if done {
			seen[name], digests[name] = info, digest
		}
		settled = settled && done
	}
	f.seen, f.digests = seen, digests
	f.started = f.started || settled
	return settled || ctx.Err() != nil
}

// take installs a file, unless it holds what it held. done is false when it has to be tried again.
func (f *watchedFolder) take(ctx context.Context, name string) (digest string, done bool) {
	file := filepath.Join(f.dir, name)
	content, err := readWatched(file)
	if err != nil {
		f.refuse(file, err)
		return "", true // a change of it is another file
	}
	if digest = parcel.Digest(content); digest == f.digests[name] {
		return digest, true
	}
	is, err := f.read(name, content)
	if err != nil {
		f.refuse(file, err)
		return digest, true
	}
	before, err := f.to.Plugin(ctx, f.caller(), is.name)
	if err == nil && !f.started && is.among(before.Versions) {
		return digest, true // since an earlier start; what it was switched to since then stays
	}
	doc, err := f.install(ctx, is, content)
	if refused, ok := errors.AsType[*abi.Error](err); ok && refused.Code != abi.CodeInternalError && refused.Code != abi.CodeServiceUnavailable {
		f.refuse(file, refused)
		return digest, true
	}
	if err != nil {
		if ctx.Err() == nil {
			f.log.Error("a plugin of a watched folder could not be installed yet", "file", file, "error", err)
		}
		return "", false
	}
	now, err := f.to.Plugin(ctx, f.caller(), is.name)
	if err == nil && now.Version != before.Version {
		f.log.Info("installed a plugin of a watched folder", "file", file, "plugin", doc.ID, "version", now.Version, "before", before.Version)
	}
	return digest, true
}

func (f *watchedFolder) caller() *desk.Caller {
	return &desk.Caller{Actor: watchActor, Scopes: []string{abi.ScopeNode}}
}

// watchedPlugin is what a file is to be installed as.
type watchedPlugin struct {
	name     string
	version  string // "" for a module, whose versions are numbered
	digest   string // of the module
	packaged string // the digest of the package; "" for a module alone
}

// among reports whether one of a plugin's versions is this one.
func (w *watchedPlugin) among(versions []abi.PluginBuild) bool {
	return slices.ContainsFunc(versions, func(b abi.PluginBuild) bool {
		return b.Digest == w.digest && (w.packaged == "" || b.Version == w.version && b.Package == w.packaged)
	})
}

// install installs what a file holds.
func (f *watchedFolder) install(ctx context.Context, is *watchedPlugin, content []byte) (desk.Doc, error) {
	req := abi.InstallPluginRequest{Name: is.name, Version: is.version}
	if is.packaged == "" {
		return f.to.InstallPlugin(ctx, f.caller(), nil, req, bytes.NewReader(content))
	}
	return f.to.InstallPackage(ctx, f.caller(), nil, req, bytes.NewReader(content), int64(len(content)))
}

func (f *watchedFolder) refuse(file string, err error) {
	f.log.Error("a plugin of a watched folder cannot be used, and what was installed before stays", "file", file, "error", err)
}

// readWatched reads a file that may be a plugin. What is larger than any is not read.
func readWatched(path string) (_ []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := io.ReadAll(io.LimitReader(file, maxWatched+1))
	if err == nil && len(content) > maxWatched {
		return nil, fmt.Errorf("it has more than %d MiB", maxWatched>>20)
	}
	return content, err
}

// read says what a file is to be installed as.
func (f *watchedFolder) read(name string, content []byte) (*watchedPlugin, error) {
	if plugin, ok := strings.CutSuffix(name, wasmSuffix); ok {
		if len(f.trust) > 0 {
			return nil, errors.New("it is a module alone, and plugins.trust has every plugin signed: make a package of it, wharf plugin package FOLDER --sign KEY")
		}
		return &watchedPlugin{name: plugin, digest: parcel.Digest(content)}, nil
	}
	p, err := parcel.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	return &watchedPlugin{name: p.Manifest.Name, version: p.Manifest.Version, digest: parcel.Digest(p.Module), packaged: p.Digest}, f.trust.Check(p)
}
