package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// acceptedFile is what the name of a file ends with that says which differences from a record are kept.
const acceptedFile = ".accepted"

// maxAccepted is how large such a file may be.
const maxAccepted = 16 << 20

// accepted is such a file. It lies beside its record, which stays what a node has signed.
type accepted struct {
	TaskID string `json:"task_id"`
	// Record is the hash of the file that holds the record, and Run that of what the run did.
	Record string `json:"record_sha256"`
	Run    string `json:"run_sha256"`
	// Deviations are for those who look through a change; Run alone is compared.
	Deviations []alone.Deviation `json:"deviations"`
}

// hold compares a Task that differs with what was accepted of it, and accepts it if that is asked for.
func (r *testResult) hold(record *journal.Record, accept bool) error {
	why := r.unacceptable(record)
	if why != "" {
		if accept {
			r.Unaccepted = why
		}
		return nil
	}
	now, err := r.acceptable()
	if err != nil {
		return err
	}
	was, err := readAccepted(r.File)
	if err != nil && !accept {
		return err
	}
	switch {
	case was != nil && was.Record == now.Record && was.Run == now.Run:
		r.Result = testAccepted
	case accept:
		r.Result = testAccepted
		return now.write(r.File)
	case was != nil:
		r.Unaccepted = "it is not what " + r.File + acceptedFile + " has: look at it, and run it with --accept"
	}
	return nil
}

// unacceptable says why what a Task does now cannot be kept; "" when it can.
func (r *testResult) unacceptable(record *journal.Record) string {
	switch {
	case r.Incomplete != "":
		return "the run could not be done to its end: " + r.Incomplete + ". Record a Task of this build instead"
	case r.bytesAlone != "":
		return r.bytesAlone
	case r.report == nil || r.report.Stopped:
		return "the record does not have all that the run asks for"
	}
	f, was := r.report.Unfinished(), record.End.Failure
	if f != nil && (was == nil || was.Code != f.Code) {
		return "the run did not come to its end: " + f.Code + ": " + f.Message
	}
	return ""
}

func (r *testResult) acceptable() (*accepted, error) {
	run, err := r.report.Digest()
	if err != nil {
		return nil, err
	}
	sum, err := hashOfFile(r.File)
	return &accepted{TaskID: r.TaskID, Record: sum, Run: run, Deviations: r.Deviations}, err
}

func hashOfFile(file string) (_ string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading the record: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading the record: %w", err)
	}
	return journal.FormatHash(abi.Hash(h.Sum(nil))), nil
}

// readAccepted reads what was accepted of a record; nil when nothing was.
func readAccepted(record string) (_ *accepted, err error) {
	file := record + acceptedFile
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was accepted: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxAccepted+1))
	if err != nil {
		return nil, fmt.Errorf("reading what was accepted: %w", err)
	}
	var a accepted
	if err := json.Unmarshal(text, &a); err != nil || len(text) > maxAccepted || a.Run == "" {
		return nil, fmt.Errorf("%s does not say what was accepted: look at it, or run --accept, which writes it anew", file)
	}
	return &a, nil
}

// write puts the file in its place whole. One that may not be written stays as it is.
func (a *accepted) write(record string) error {
	file := record + acceptedFile
	if info, err := os.Lstat(file); err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o200 == 0) {
		return advise(fmt.Errorf("%s is read-only, or no file: it stays as it is", file), "chmod u+w")
	}
	text, err := json.Marshal(a, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("writing what was accepted: %w", err)
	}
	if len(text) >= maxAccepted {
		return fmt.Errorf("its differences are more than %s takes: record a Task of this build instead", file)
	}
	if err := writeWhole(file, bytes.NewReader(append(text, '\n'))); err != nil {
		return fmt.Errorf("writing what was accepted: %w", err)
	}
	return nil
}

// forget removes what was accepted of a Task that does what its record says again.
func (r *testResult) forget() error {
	if err := os.Remove(r.File + acceptedFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what was accepted: %w", err)
	}
	return nil
}
