package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Options say how far a verification goes.
type Options struct {
	// ChainOnly leaves the re-execution out.
	ChainOnly bool
	// TrustKeys are the public keys that count. Without any, the signatures are
	// checked against the keys that the bundle brings, which proves that it is whole
	// and not who made it.
	TrustKeys []abi.SigningKey
	// Rerun executes the Task again and returns what it checked; an error counts as a
	// check that failed. It is not called when another check has failed.
	Rerun func(ctx context.Context, c *Contents) ([]receipt.Check, error)
}

// The checks of a bundle, in the order in which they are made. Those of a receipt
// follow under its name, as "receipts/000.json: hash".
const (
	CheckNameArchive    = "archive"            // the archive has the prescribed form
	CheckNameManifest   = "manifest"           // every file has the hash that the manifest lists
	CheckNameSignature  = "manifest_signature" // a known key has signed the manifest
	CheckNameTrust      = "trusted_keys"       // that key, and those of the receipts, are trusted
	CheckNameRecord     = "record"             // the record is whole and in order, and of this Task
	CheckNameModule     = "module"             // the module and the Persona are those that the record names
	CheckNameArtifacts  = "artifacts"          // the receipts' Artifacts are in the bundle
	CheckNameBatch      = "batch"              // the proof leads from a receipt to a signed root
	CheckNameRerun      = "rerun"              // the Task, executed again, does the same
	checkNameFromRecord = "from_record"        // of a receipt: the record gives this very receipt
)

// Verify checks a bundle, whoever wrote it. It takes any input. The report lists
// each check; the bundle is valid when none has failed.
func Verify(ctx context.Context, r io.ReaderAt, size int64, o Options) receipt.Report {
	b, err := open(r, size)
	if err != nil {
		return receipt.NewReport([]receipt.Check{receipt.Passed(CheckNameArchive, err)})
	}
	checks := []receipt.Check{receipt.Passed(CheckNameArchive, nil)}
	if len(o.TrustKeys) > 0 {
		if err := checkSignature(b.manifestText, b.signature, o.TrustKeys); err != nil {
			// Nobody whom the caller trusts answers for what else it holds.
			return receipt.NewReport(append(checks, receipt.Passed(CheckNameSignature, err)))
		}
	}
	var c *Contents
	if err = b.manifest.checkFiles(r, b.members[2:]); err == nil {
		c, err = b.contents()
	}
	checks = append(checks, receipt.Passed(CheckNameManifest, err))
	if err != nil {
		return receipt.NewReport(checks)
	}
	v := &verifier{b: b, c: c, o: &o, checks: checks}
	v.keys()
	v.parts()
	v.receipts()
	v.batch()
	v.rerun(ctx)
	return receipt.NewReport(v.checks)
}

// verifier checks a bundle whose files are those of its manifest.
type verifier struct {
	b      *opened
	c      *Contents
	o      *Options
	checks []receipt.Check
	hashes []string // of the receipts, "" for one that has none; nil until it is asked for
}

func (v *verifier) check(name string, err error) {
	v.checks = append(v.checks, receipt.Passed(name, err))
}

func (v *verifier) skip(name, reason string) {
	v.checks = append(v.checks, receipt.Skipped(name, reason))
}

// trusted returns the keys that signatures are checked against.
func (v *verifier) trusted() []abi.SigningKey {
	if len(v.o.TrustKeys) > 0 {
		return v.o.TrustKeys
	}
	return v.c.Keys.Keys
}

func (v *verifier) keys() {
	v.check(CheckNameSignature, checkSignature(v.b.manifestText, v.b.signature, v.trusted()))
	if len(v.o.TrustKeys) == 0 {
		v.skip(CheckNameTrust, "no trusted keys were given: the signatures are held against the keys in the bundle")
		return
	}
	v.check(CheckNameTrust, sameKeys(v.c.Keys.Keys, v.o.TrustKeys))
}

// sameKeys makes sure that a bundle does not give a trusted key's id to another key.
func sameKeys(stated, trusted []abi.SigningKey) error {
	for _, s := range stated {
		for _, t := range trusted {
			if s.KeyID == t.KeyID && s.PublicKey != t.PublicKey {
				return fmt.Errorf("the key %s is another one than the trusted key of that id", s.KeyID)
			}
		}
	}
	return nil
}

// parts checks that the parts belong together.
func (v *verifier) parts() {
	v.check(CheckNameRecord, v.record())
	v.module()
}

// ids are the members of task.json and outcome.json that name the Task.
type ids struct {
	ID     string          `json:"id"`
	TaskID string          `json:"task_id"`
	Replay *abi.TaskReplay `json:"replay"`
}

func (v *verifier) record() error {
	record, task := v.c.Record, v.b.manifest.TaskID
	var stated, outcome ids
	if err := json.Unmarshal(v.c.Task, &stated); err != nil {
		return fmt.Errorf("reading %s: %w", nameTask, err)
	}
	if record.TaskID != task || stated.ID != task {
		return fmt.Errorf("the manifest is about %s, the record about %s and %s about %s", task, record.TaskID, nameTask, stated.ID)
	}
	if len(v.c.Outcome) > 0 {
		if err := json.Unmarshal(v.c.Outcome, &outcome); err != nil || outcome.TaskID != task {
			return errors.Join(fmt.Errorf("%s is about %s", nameOutcome, outcome.TaskID), err)
		}
	}
	for i := range record.Entries {
		e := &record.Entries[i]
		if e.Index != i || e.Open && i != len(record.Entries)-1 {
			return fmt.Errorf("call %d stands where call %d has to be, or is open before the end", e.Index, i)
		}
	}
	return nil
}

func (v *verifier) module() {
	p := &v.c.Record.Program
	switch {
	case p.Module == "":
		v.skip(CheckNameModule, "the Task never ran")
	case len(v.c.Module) == 0:
		v.skip(CheckNameModule, "the bundle does not hold the module")
	case journal.HashOf(v.c.Module) != p.Module:
		v.check(CheckNameModule, fmt.Errorf("%s has the hash %s, and the record names %s", nameModule, journal.HashOf(v.c.Module), p.Module))
	case len(v.c.Persona) > 0 && journal.HashOf(v.c.Persona) != p.Persona:
		v.check(CheckNameModule, fmt.Errorf("%s has the hash %s, and the record names %s", namePersona, journal.HashOf(v.c.Persona), p.Persona))
	default:
		v.check(CheckNameModule, nil)
	}
}

func (v *verifier) receipts() {
	var artifacts []receipt.ArtifactRef
	for i, wire := range v.c.Receipts {
		artifacts = append(artifacts, v.receipt(i, wire)...)
	}
	if len(v.c.Receipts) == 0 {
		v.skip(CheckNameArtifacts, "the bundle holds no receipt")
		return
	}
	v.artifacts(artifacts)
}

// receipt checks one receipt, and returns the Artifacts of one that is about the
// bundle's Task.
func (v *verifier) receipt(i int, wire []byte) []receipt.ArtifactRef {
	prefix := nameOfReceipt(i) + ": "
	r, parseErr := parse(wire)
	trust := receipt.Trust{Keys: v.trusted()}
	about := parseErr == nil && v.about(r)
	if about {
		trust.Leaves = v.leaves()
	}
	if parseErr == nil {
		trust.Previous = v.previous(r)
	}
	for _, c := range receipt.Verify(wire, trust).Checks {
		if c.Name != receipt.CheckNameTime && c.Name != receipt.CheckNameAnchor {
			c.Name = prefix + c.Name
			v.checks = append(v.checks, c)
		}
	}
	switch {
	case parseErr != nil:
		v.check(prefix+checkNameFromRecord, parseErr)
	case !about:
		v.skip(prefix+checkNameFromRecord, "it is about another Task")
	default:
		v.check(prefix+checkNameFromRecord, receipt.CheckRecord(r, v.c.Record))
		return r.FinalArtifacts
	}
	return nil
}

// parse reads a receipt that has the form of one: others may take many times their bytes.
func parse(wire []byte) (*receipt.Receipt, error) {
	if err := receipt.CheckSchema(wire); err != nil {
		return nil, err
	}
	return receipt.Parse(wire)
}

// about reports whether a receipt is about the bundle's Task.
func (v *verifier) about(r *receipt.Receipt) bool {
	if r.Subject.ID == v.b.manifest.TaskID {
		return true
	}
	var task ids
	return json.Unmarshal(v.c.Task, &task) == nil && task.Replay != nil && task.Replay.ReplayID == r.Subject.ID
}

// leaves are the leaf hashes of the record's closed entries.
func (v *verifier) leaves() []abi.Hash {
	closed := v.c.Record.Entries
	if n := len(closed); n > 0 && closed[n-1].Open {
		closed = closed[:n-1]
	}
	return receipt.Leaves(closed)
}

// previous returns the hash of the receipt that r states to follow, when that one
// is in the bundle; "" when r states to be the first.
func (v *verifier) previous(r *receipt.Receipt) *string {
	stated := r.Chain.PreviousReceiptHash
	if stated == nil {
		return new(string)
	}
	if !v.holds(*stated) {
		return nil
	}
	return stated
}

// holds reports whether the receipt with the given hash is in the bundle.
func (v *verifier) holds(hash string) bool {
	if v.hashes == nil {
		v.hashes = make([]string, len(v.c.Receipts))
		for i, wire := range v.c.Receipts {
			v.hashes[i], _ = receipt.HashWire(wire) // its own check says what is wrong with it
		}
	}
	return hash != "" && slices.Contains(v.hashes, hash)
}

func (v *verifier) artifacts(all []receipt.ArtifactRef) {
	var missing []string
	for _, a := range all {
		h, err := journal.ParseHash(a.SHA256)
		if err != nil {
			missing = append(missing, a.ArtifactID)
			continue
		}
		if _, ok := v.c.Blob(h); !ok {
			missing = append(missing, a.ArtifactID)
		}
	}
	if len(missing) > 0 {
		v.skip(CheckNameArtifacts, "the bundle does not hold "+strings.Join(missing, ", "))
		return
	}
	v.check(CheckNameArtifacts, nil)
}

func (v *verifier) batch() {
	p := v.c.Proof
	if p == nil {
		v.skip(CheckNameBatch, "the receipts are in no sealed batch yet")
		return
	}
	err := p.Verify(v.trusted())
	if err == nil && !v.holds(p.ReceiptHash) {
		err = fmt.Errorf("it is about the receipt %s, which is not in the bundle", p.ReceiptHash)
	}
	v.check(CheckNameBatch, err)
}

func (v *verifier) rerun(ctx context.Context) {
	switch {
	case v.o.ChainOnly:
		v.skip(CheckNameRerun, "only the chain was asked for")
		return
	case v.o.Rerun == nil:
		v.skip(CheckNameRerun, "this verifier cannot execute plugins")
		return
	case v.failed():
		v.skip(CheckNameRerun, "the bundle was changed: what it holds is not executed")
		return
	}
	checks, err := v.o.Rerun(ctx, v.c)
	v.checks = append(v.checks, checks...)
	switch {
	case err != nil:
		v.check(CheckNameRerun, err)
	case len(checks) == 0:
		v.skip(CheckNameRerun, "there was nothing to execute")
	}
}

func (v *verifier) failed() bool {
	return slices.ContainsFunc(v.checks, func(c receipt.Check) bool { return c.Status == receipt.CheckFailed })
}
