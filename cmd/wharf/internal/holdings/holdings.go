package holdings

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/storage"
)

// maxProblems is how many problems a report describes; the rest are counted.
const maxProblems = 100

// Report is what was found.
type Report struct {
	// Lost describes the first of what is lost or damaged, and Faults counts all of it.
	Lost   []string
	Faults uint64
	// Notes are what somebody should know, and what may well be right.
	Notes []string
	// Unreferenced counts the blobs that nothing in the log refers to.
	Unreferenced uint64
}

// Check holds the data folder dir, or a copy of it, against the log, which tells what there
// must be, up to a position.
func Check(ctx context.Context, log storage.Walker, dir string, until storage.Position) (Report, error) {
	c := newCheck(ctx, dir, until)
	err := log.Walk(ctx, storage.Visitor{
		Blob: c.blob, Reference: c.refer, Event: c.event, Resource: c.resource,
		Objects: []abi.Object{abi.ObjectArtifact, abi.ObjectReceipt, abi.ObjectVaultSecret, abi.ObjectSkillBundle, abi.ObjectPlugin},
	})
	if err != nil {
		return c.report, fmt.Errorf("looking at what %s holds: %w", dir, err)
	}
	c.keys()
	c.compiled()
	c.files()
	c.report.Unreferenced = uint64(len(c.unseen))
	return c.report, nil
}

// check is a running check of one folder.
type check struct {
	ctx    context.Context // of the one call that the check lives for
	dir    string
	until  storage.Position
	report Report

	blobs  map[storage.Hash]int64    // the sizes of those that are there
	unseen map[storage.Hash]struct{} // those of them that nothing has referred to yet
	told   map[storage.Hash]bool     // those that were reported
	vaults *vault.Store
	sealed bool // the key of the vaults is damaged: nothing can be said of what it encrypts
	noted  map[string]bool
	signed map[string]signer // by key
	stated map[filePlace]stated
}

func newCheck(ctx context.Context, dir string, until storage.Position) *check {
	key := filepath.Join(dir, datadir.Keys, datadir.VaultKey)
	err := vault.CheckKey(key)
	return &check{
		sealed: err != nil && !errors.Is(err, fs.ErrNotExist),
		ctx:    ctx, dir: dir, until: until, blobs: map[storage.Hash]int64{}, unseen: map[storage.Hash]struct{}{},
		told: map[storage.Hash]bool{}, noted: map[string]bool{}, signed: map[string]signer{}, stated: map[filePlace]stated{},
		vaults: vault.New(vault.Config{Dir: filepath.Join(dir, datadir.Vaults), KeyFile: key}),
	}
}

func (c *check) lost(format string, args ...any) {
	if c.report.Faults++; len(c.report.Lost) < maxProblems {
		c.report.Lost = append(c.report.Lost, fmt.Sprintf(format, args...))
	}
}

// note tells something once, and no more than so many things.
func (c *check) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.noted[text] && len(c.noted) < maxProblems {
		c.noted[text] = true
		c.report.Notes = append(c.report.Notes, text)
	}
}

func (c *check) blob(h storage.Hash, size int64) {
	c.blobs[h] = size
	c.unseen[h] = struct{}{}
}

// refer takes a blob that the log itself refers to: that it is there is a matter of the
// log's own check.
func (c *check) refer(h storage.Hash) { delete(c.unseen, h) }

// path returns the file of a blob.
func (c *check) path(h storage.Hash) string {
	name := hex.EncodeToString(h[:])
	return filepath.Join(c.dir, "blobs", name[:2], name)
}

// need reports a blob that is not there, once; what says what it is. A size below 0 is
// not known.
func (c *check) need(h storage.Hash, size int64, what, remedy string) {
	c.refer(h)
	got, there := c.blobs[h]
	if c.told[h] || there && (size < 0 || got == size) {
		return
	}
	c.told[h] = true
	wrong := "is missing"
	if there {
		wrong = fmt.Sprintf("has %d bytes instead of %d", got, size)
	}
	c.lost("%s %s: it is %s. Put it back from a backup%s", c.path(h), wrong, what, remedy)
}

func (c *check) needText(text, what string) {
	if h, err := journal.ParseHash(text); err == nil {
		c.need(h, -1, what, "")
	}
}

// told is what of an event's payload refers to content.
type told struct {
	Program *struct {
		Module  string `json:"module"`
		Persona string `json:"persona"`
		Skills  []struct {
			Name    string `json:"name"`
			Archive string `json:"archive"`
		} `json:"skills"`
	} `json:"program"`
	Call    string `json:"call"`
	Request string `json:"request_blob"`
	Answer  string `json:"answer_blob"`
}

// event looks at what an event refers to.
func (c *check) event(t storage.Tenant, ev storage.Event) {
	if ev.Position() > c.until {
		return
	}
	r := ev.Record()
	c.mention(r.State)
	c.mention(r.Payload)
	switch {
	case r.Kind == abi.EventFileWritten || r.Kind == abi.EventFileRemoved:
		c.fileEvent(t, ev)
	case r.Kind == abi.EventTaskStarted, bytes.Contains(r.Payload, []byte(`_blob":"sha256:`)):
		c.record(ev)
	}
}

// record looks at the record of a Task: what it runs, and the values of calls that were
// too large for an event.
func (c *check) record(ev storage.Event) {
	var p told
	if json.Unmarshal(ev.Record().Payload, &p) != nil {
		return // of another kind, or damaged: the check of the log tells
	}
	task := "of task " + ev.Frame.TaskID
	if p.Program != nil {
		c.needText(p.Program.Module, "the module "+task+", which cannot be resumed or replayed without it")
		c.needText(p.Program.Persona, "the persona "+task+", which cannot be resumed or replayed without it")
		for _, s := range p.Program.Skills {
			c.needText(s.Archive, "the skill "+s.Name+" "+task+", which cannot read it without it")
		}
	}
	if p.Call != "" {
		c.needText(p.Request, "what call "+p.Call+" asked, "+task)
		c.needText(p.Answer, "what call "+p.Call+" answered, "+task)
	}
}

// mention takes every hash in a text for a reference: what counts as not referred to is
// mentioned nowhere.
func (c *check) mention(text []byte) {
	for _, h := range storage.HashesIn(text) {
		c.refer(h)
	}
}

// resource looks at what a resource refers to.
func (c *check) resource(t storage.Tenant, o abi.Object, r storage.Resource) {
	if r.Position > c.until {
		return
	}
	c.mention(r.State)
	switch o {
	case abi.ObjectArtifact:
		c.artifact(r.State)
	case abi.ObjectReceipt:
		c.receipt(r)
	case abi.ObjectVaultSecret:
		c.secret(r.State)
	case abi.ObjectSkillBundle:
		c.skill(r.State)
	case abi.ObjectPlugin:
		c.plugin(r.State)
	}
}

// plugin looks for the modules that a plugin can be switched to.
func (c *check) plugin(state []byte) {
	var p abi.Plugin
	if json.Unmarshal(state, &p) != nil {
		return // the check of the log says so
	}
	for _, b := range p.Versions {
		if h, err := journal.ParseHash(b.Digest); err == nil {
			c.need(h, b.Bytes, "the module of version "+b.Version+" of the plugin "+p.Name, ", or install it again")
		}
	}
}

func (c *check) artifact(state []byte) {
	var a abi.Artifact
	if json.Unmarshal(state, &a) != nil || a.SHA256 == nil || a.SizeBytes == nil {
		return // Wharf does not hold the content
	}
	raw, err := hex.DecodeString(*a.SHA256)
	if err == nil && len(raw) == len(storage.Hash{}) {
		c.need(storage.Hash(raw), *a.SizeBytes, "the content of artifact "+a.ID, ", or upload the same content again")
	}
}

// skill looks at the versions of a skill that can be used again.
func (c *check) skill(state []byte) {
	var b abi.SkillBundle
	if json.Unmarshal(state, &b) != nil || !b.DeletedAt.IsZero() {
		return
	}
	for _, v := range b.Versions {
		c.needText(v.Archive, "version "+v.Version+" of the skill "+b.Name+" ("+b.ID+")")
	}
}

// sorted returns the keys of a map in order, so that reports are the same each time.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// file describes a file of a Workspace as its events do.
type file = abi.File
