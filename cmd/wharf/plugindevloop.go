package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/watching"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// devVersion is what is loaded as a version.
type devVersion struct {
	digest  string // of the module
	said    *abi.PluginManifest
	version string // under which it was sent
}

// same reports whether two would be the same version.
func (v *devVersion) same(o *devVersion) bool {
	return v.said != nil && o.said != nil && v.digest == o.digest && v.said.Text == o.said.Text && maps.Equal(v.said.Files, o.said.Files)
}

// How long to wait before a node that is away is tried again, and how long one load may take.
const (
	devAwayFirst = 250 * time.Millisecond
	devAwayMost  = 5 * time.Second
	devPatience  = 5 * time.Minute
)

// What a command of the author's writes beside the module may be taken for a save. A build that follows another
// so closely so often is not made at once.
const (
	devChased = 3
	devLate   = 200 * time.Millisecond // how long after a build what it wrote may be noticed
	devPause  = 30 * time.Second
)

// loop loads the plugin, and again after each save, until ctx ends. One load is made at a time; what is saved
// meanwhile makes for one more.
func (d *pluginDev) loop(ctx context.Context) error {
	d.watch.Watch(d.tree())
	for noticed := time.Now(); ; {
		if err := d.round(ctx, noticed); err != nil {
			return err
		}
		next, err := d.wait(ctx)
		if err != nil {
			return err
		}
		if !next.IsZero() {
			noticed = next
		}
	}
}

// tree is what a load depends on.
func (d *pluginDev) tree() watching.Tree {
	return watching.Tree{Folder: d.folder, Skip: d.project.Ignores, Files: d.beyond}
}

// wait returns when something was saved, and when; or the zero time when a node that was away is to be tried again.
func (d *pluginDev) wait(ctx context.Context) (time.Time, error) {
	if over := d.chased - devChased; over >= 0 {
		if over == 0 {
			d.tell.chased()
		}
		if !paused(ctx, min(time.Second<<min(over, 10), devPause)) {
			return time.Time{}, context.Cause(ctx)
		}
	}
	if d.away == 0 {
		return d.watch.Wait(ctx)
	}
	soon, cancel := context.WithTimeoutCause(ctx, d.away, errTimeUp)
	defer cancel()
	at, err := d.watch.Wait(soon)
	if ctx.Err() == nil && errors.Is(err, errTimeUp) {
		return time.Time{}, nil
	}
	return at, err
}

// paused waits, and reports whether ctx has not ended before.
func paused(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// chase counts builds of what seems to come of the builds themselves. Only a command of the author's writes elsewhere
// than where nobody looks.
func (d *pluginDev) chase(noticed time.Time, built *building.Built) {
	if built.Cached || len(d.project.Manifest.Build.Command) == 0 {
		return
	}
	d.chased++
	if noticed.After(d.built.Add(devLate)) {
		d.chased = 0
	}
	d.built = time.Now()
}

// round tries to load the plugin. The error is one that no save mends.
func (d *pluginDev) round(ctx context.Context, noticed time.Time) error {
	err := d.load(ctx, noticed)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case denied(err):
		return err
	case isAway(err):
		d.away = min(max(2*d.away, devAwayFirst), devAwayMost)
		d.tell.waiting(err)
		return nil
	}
	d.away = 0
	if err != nil {
		d.tell.failed(err)
	}
	return nil
}

func denied(err error) bool {
	refused, ok := errors.AsType[*client.Refused](err)
	return ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden)
}

func isAway(err error) bool {
	if _, gone := errors.AsType[*client.Unreachable](err); gone {
		return true
	}
	refused, ok := errors.AsType[*client.Refused](err)
	return ok && (refused.Status == http.StatusServiceUnavailable || refused.Status == http.StatusTooManyRequests)
}

// load builds the plugin, and installs it when that made something new.
func (d *pluginDev) load(ctx context.Context, noticed time.Time) error {
	begun := time.Now()
	p, err := openProject(d.folder)
	if err != nil {
		return &devFailure{stage: "manifest", err: err}
	}
	if !sameSources(p.Manifest, d.project.Manifest) {
		d.project = p
		d.watchAnew()
	}
	d.project = p
	built, err := building.Build(ctx, p, building.Options{Announce: d.announce, Quick: !d.release, Resident: &d.compiler})
	if err != nil {
		return &devFailure{stage: "build", err: err}
	}
	d.chase(noticed, built)
	if !slices.Equal(d.beyond, built.Beyond) {
		d.beyond = built.Beyond
		d.watchAnew()
	}
	of, err := sourceOf(d.folder, nil)
	if err != nil {
		return &devFailure{stage: "manifest", err: err}
	}
	is := devVersion{digest: built.Digest, said: of.said}
	if d.loaded.same(&is) {
		if !built.Cached || d.tell.complained() {
			d.tell.unchanged(&d.loaded, built)
		}
		return nil
	}
	building := time.Since(begun)
	begun = time.Now()
	doc, err := d.install(ctx, of, &is, built.Wasm)
	if err != nil {
		return err
	}
	d.loaded = is
	d.tell.loaded(d, of, &doc.Value, devTimes{whole: time.Since(noticed), build: building, install: time.Since(begun)})
	d.submit(ctx, &doc.Value)
	return nil
}

// watchAnew watches what has to be watched now. What changed before is looked at by one more round.
func (d *pluginDev) watchAnew() {
	d.watch.Watch(d.tree())
	d.watch.Nudge()
}

// sameSources reports whether two manifests have the same files be sources.
func sameSources(a, b *manifest.Manifest) bool {
	return b != nil && a.Module == b.Module && slices.Equal(a.Build.Watch, b.Build.Watch) && a.Schemas.Input.File == b.Schemas.Input.File && a.Schemas.Output.File == b.Schemas.Output.File
}

// announce shows what is about to be run, once.
func (d *pluginDev) announce(plan *building.Plan) {
	if command := plan.Shown(); plan.Command != nil && command != d.shown {
		d.shown = command
		d.tell.command(command)
	}
}

// install sends the plugin as a version of its own. One that was sent before, and may or may not have arrived, is
// sent as what it was.
func (d *pluginDev) install(ctx context.Context, of *pluginSource, is *devVersion, wasm []byte) (doc client.Doc[abi.Plugin], err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, devPatience, &client.Unreachable{Server: d.client.Server(), Err: fmt.Errorf("no answer within %s", devPatience)})
	defer cancel()
	again := d.tried.same(is)
	is.version = d.tried.version
	if !again {
		if is.version, err = d.nextVersion(bounded, of.means); err != nil {
			return doc, err
		}
	}
	d.tried = *is
	text, err := of.means.WithVersion(is.version)
	if err != nil {
		return doc, &devFailure{stage: "manifest", err: err}
	}
	sent := &abi.PluginManifest{Text: string(text), Files: of.said.Files}
	d.tell.expect(of.means)
	doc, err = d.client.UploadModule(bounded, client.Post(nil, onePlugin+"/versions", of.name), bytes.NewReader(wasm), int64(len(wasm)), sent)
	if refused, ok := errors.AsType[*client.Refused](err); ok && !denied(err) && !isAway(err) {
		d.tried = devVersion{} // a number that is taken, perhaps
		return doc, &devFailure{stage: "install", err: refused}
	}
	return doc, err
}

// nextVersion is the version that a load has: the number after those that the node has of the manifest's.
func (d *pluginDev) nextVersion(ctx context.Context, m *manifest.Manifest) (string, error) {
	doc, err := client.Do[abi.Plugin](ctx, d.client, client.Get(onePlugin, m.Name))
	if refused, ok := errors.AsType[*client.Refused](err); ok && refused.Status == http.StatusNotFound {
		return manifest.Trial(m.Version, 1), nil
	}
	if err != nil {
		return "", err
	}
	last := 0
	for _, b := range doc.Value.Versions {
		if of, n, ok := manifest.TrialOf(b.Version); ok && of == m.Version {
			last = max(last, n)
		}
	}
	return manifest.Trial(m.Version, last+1), nil
}

// submit submits the Task of --input.
func (d *pluginDev) submit(ctx context.Context, p *abi.Plugin) {
	if !d.hasInput {
		return
	}
	if p.PersonaID == "" {
		d.tell.failed(&devFailure{stage: "input", err: fmt.Errorf("the plugin %s has no persona that --input could be submitted to", p.Name)})
		return
	}
	task, err := d.submitTo(ctx, p.PersonaID)
	switch {
	case ctx.Err() != nil: // it ends
	case err != nil:
		d.tell.failed(&devFailure{stage: "input", err: fmt.Errorf("submitting the input: %w", err)})
	default:
		d.tell.submitted(&task)
	}
}

func (d *pluginDev) submitTo(ctx context.Context, persona string) (task client.Doc[abi.Task], err error) {
	session, err := newSession(ctx, d.client, abi.CreateSessionRequest{}, "")
	if err != nil {
		return task, err
	}
	input, err := buildInput(ctx, d.client, submission{text: d.input, jsonInput: d.jsonInput}, session.Value.ID)
	if err != nil {
		return task, err
	}
	return d.client.Submit(ctx, abi.SubmitTaskRequest{Input: input, SessionID: session.Value.ID, PersonaID: persona}, client.SubmitOptions{})
}

// devFailure is why a load failed, and where.
type devFailure struct {
	stage string // manifest, build, install or input
	err   error
}

// Error implements the error interface.
func (f *devFailure) Error() string { return f.err.Error() }

// Unwrap returns what went wrong.
func (f *devFailure) Unwrap() error { return f.err }

// said returns what is wrong in a line, what more was said of it, and what to do.
func (f *devFailure) said(folder string) (message, output, try string) {
	message = plainly.Say(f.err)
	if tip, ok := errors.AsType[*advised](f.err); ok {
		try = tip.try
	}
	if failed, ok := errors.AsType[*building.CompileError](f.err); ok {
		return "the sources do not compile", failed.Error(), ""
	}
	if missing, ok := errors.AsType[*building.Missing](f.err); ok {
		try = strings.Join(missing.Get, "; ")
	}
	if f.stage == "install" {
		try = "wharf plugin lint " + filepath.Base(folder)
	}
	return message, "", try
}
