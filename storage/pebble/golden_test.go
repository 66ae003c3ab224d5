package pebble

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenFrame returns a frame of one record of the given kind. What else it holds
// varies with n, so that the files together show every part of the encoding.
func goldenFrame(kind abi.EventKind, n int) storage.Frame {
	object := goldenObject(kind)
	r := storage.Record{Kind: kind, Resource: ptr(object, newID(object, n)), Sequence: uint64(n * n * 7),
		Hint: n%3 == 1, Restricted: n%4 == 1}
	if n%2 == 0 {
		r.State, r.Created = []byte(`{"state":true}`), n%4 == 0
	}
	if n%3 != 0 {
		r.Payload = []byte(`{"payload":true}`)
	}
	if n%5 == 0 {
		r.IdempotencyKey = "a-client's-key"
	}
	f := storage.Frame{Tenant: storage.Tenant(n % 3), First: storage.Position(1000 + n), Time: epoch.Add(time.Duration(n) * time.Microsecond),
		WorkspaceID: newID(abi.ObjectWorkspace, 1), SessionID: "sess_not-a-ulid", Actor: "actor_1", Records: []storage.Record{r}}
	switch {
	case n%7 == 1:
		f.Records[0].Transcript = storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: 900}
	case n%7 == 2:
		f.Records[0].Transcript = storage.TranscriptOp{Kind: storage.TranscriptCopy, At: 901, From: newID(abi.ObjectSession, 3)}
	case n%7 == 3:
		f.Records[0].Transcript.Kind = storage.TranscriptAppend
	case n%7 == 4:
		f.TaskID = newID(abi.ObjectTask, 4)
	}
	return f
}

// goldenObject returns what a kind's events are usually about.
func goldenObject(k abi.EventKind) abi.Object {
	family, _, _ := strings.Cut(string(k), ".")
	switch o := abi.Object(family); o {
	case abi.ObjectTask, abi.ObjectSession, abi.ObjectBranch, abi.ObjectArtifact, abi.ObjectReceipt, abi.ObjectConnector:
		return o
	case "user", "agent":
		return abi.ObjectMessage
	case "span", "tool", "replay":
		return abi.Object(family) // no object that the format numbers
	}
	return abi.ObjectTask
}

// encodeAt returns the key and the value of a frame at its position.
func encodeAt(f *storage.Frame, refs outline) (key, value []byte) {
	d := newDraft()
	defer d.free()
	d.addFrame(f, refs)
	d.place(f.First)
	o := d.ops[0]
	return clone(d.buf[o.key:o.value]), clone(d.buf[o.value:o.end])
}

// compareGolden holds text against a file, or writes the file.
func compareGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s has changed.\nwant:\n%s\ngot:\n%s\nOld logs must stay readable: a new layout needs a new version.", name, want, text)
	}
}

// strangersNumber is how many kinds there were when the stranger's file was written.
const strangersNumber = 75

// TestGoldenFrames holds the encoding of every kind that the format knows, and of a
// stranger's, against files. Logs that exist must stay readable for ever. How well
// fields are packed may change; what they are unpacked to may not.
func TestGoldenFrames(t *testing.T) {
	kinds := append(kindCodes[:len(kindCodes):len(kindCodes)], "com.example.custom")
	for n, kind := range kinds {
		if n == len(kindCodes) {
			n = strangersNumber
		}
		f := goldenFrame(kind, n)
		name := fmt.Sprintf("frame-v%d/%s.hex", frameVersion, kind)
		key, value := encodeAt(&f, nil)
		stored := readGolden(t, name, fmt.Sprintf("%x\n%x\n", key, value))
		got, refs, err := decodeFrame(tenantOf(stored[0]), lastPosition(stored[0]), stored[1])
		if err != nil || refs != nil || !reflect.DeepEqual(*got, f) {
			t.Errorf("%s decodes to %+v, %v, %v", kind, got, refs, err)
		}
		mustEqualVersion1(t, kind, &f)
		_, fields, err := openBody(stored[1][:len(stored[1])-crcLen])
		if again := appendFields(nil, &f, nil); err != nil || !bytes.Equal(again, fields) || !bytes.Equal(stored[0], key) {
			t.Errorf("%s has changed: it was %x and is %x, %v\nOld logs must stay readable: a new layout needs a new version.",
				name, fields, again, err)
		}
	}
}

// mustEqualVersion1 reads what the first version made of the frame, when it knew the
// kind by a number.
func mustEqualVersion1(t *testing.T, kind abi.EventKind, want *storage.Frame) {
	t.Helper()
	name := fmt.Sprintf("frame-v1/%s.hex", kind)
	if _, err := os.Stat(filepath.Join("testdata", "golden", name)); err != nil || codeOfKind[kind] == 0 {
		return
	}
	stored := readGolden(t, name, "")
	got, refs, err := decodeFrame(tenantOf(stored[0]), lastPosition(stored[0]), stored[1])
	if err != nil || refs != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s decodes to %+v, %v, %v", name, got, refs, err)
	}
}

// readGolden returns the key and the value that a file holds. With -update it is
// written first, unless it is there: golden frames never change.
func readGolden(t *testing.T, name, text string) [][]byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if _, err := os.Stat(path); *update && err != nil {
		compareGolden(t, name, text)
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var parts [][]byte
	for _, line := range bytes.Fields(stored) {
		parts = append(parts, unhex(t, line))
	}
	return parts
}

// TestGoldenFilesDecode reads every golden file there is, those of older versions
// included, without knowing what it should hold.
func TestGoldenFilesDecode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "frame-v*", "*.hex"))
	if err != nil || len(files) < len(kindCodes) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Fields(text)
		key, value := unhex(t, lines[0]), unhex(t, lines[1])
		if _, _, err := decodeFrame(tenantOf(key), lastPosition(key), value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func unhex(t testing.TB, text []byte) []byte {
	t.Helper()
	b, err := hex.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTaxonomyHasCodes checks that every kind of the protocol has a number, and that
// each number stands for one kind.
func TestTaxonomyHasCodes(t *testing.T) {
	for _, k := range abi.EventKinds() {
		if _, ok := codeOfKind[k]; !ok {
			t.Errorf("%s is written as text: give it the next number", k)
		}
	}
	if len(codeOfKind) != len(kindCodes) || len(codeOfObject) != len(objectCodes) {
		t.Error("a kind or an object has two numbers")
	}
}

// example is the frame that docs/log-format.md takes apart.
func example() *storage.Batch {
	b := accept(1, 1)
	b.Frame.Records[0].State = []byte(`{"id":"msg"}`)
	b.Frame.Records[1].State = []byte(`{"id":"task"}`)
	return b
}

// aPersona is a frame that makes a Persona of a Workspace.
func aPersona() *storage.Batch {
	return &storage.Batch{Frame: storage.Frame{Tenant: 1, Time: epoch, WorkspaceID: newID(abi.ObjectWorkspace, 1), Actor: "actor_1", Records: []storage.Record{
		{Kind: abi.EventPersonaCreated, Resource: ptr(abi.ObjectPersona, newID(abi.ObjectPersona, 1)), Created: true, State: []byte(`{"id":"persona"}`)}}}}
}

// TestGoldenProjections holds all that follows from some frames against a file.
func TestGoldenProjections(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	mustAppend(t, s, example())
	finished := taskEvent(1, abi.EventTaskCompleted, 3, []byte(`{"done":true}`))
	finished.Frame.Records = append(finished.Frame.Records, storage.Record{Kind: abi.EventProgress,
		Resource: finished.Frame.Records[0].Resource, Sequence: 4, Hint: true})
	mustAppend(t, s, finished)
	mustAppend(t, s, aPersona())
	var text strings.Builder
	err := scan(s.db, nil, nil, func(key, value []byte) error {
		fmt.Fprintf(&text, "%c %x\n  %x\n", key[prefixLen-1], key, value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, fmt.Sprintf("projections-v%d.txt", formatVersion), text.String())
}

// TestDocumentedExample holds the worked example of the format's specification
// against the code.
func TestDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "log-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```example-(key|value|fields)\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(blocks) != 3 {
		t.Fatalf("the document has %d example blocks", len(blocks))
	}
	f := example().Frame
	f.First = 41
	key, value := encodeAt(&f, nil)
	var documented [3][]byte
	for i, b := range blocks {
		for line := range strings.Lines(string(b[2])) {
			digits, _, _ := strings.Cut(line, "|")
			documented[i] = append(documented[i], unhex(t, bytes.ReplaceAll([]byte(strings.TrimSpace(digits)), []byte(" "), nil))...)
		}
	}
	stored := documented[1]
	_, fields, err := openBody(stored[:len(stored)-crcLen])
	if err != nil || !bytes.Equal(fields, documented[2]) {
		t.Errorf("the documented fields are\n%x\nthe documented value unpacks to\n%x, %v", documented[2], fields, err)
	}
	if !bytes.Equal(documented[0], key) || !bytes.Equal(fields, appendFields(nil, &f, nil)) {
		t.Errorf("the document says\n%x\n%x\nthe code writes\n%x\n%x", documented[0], fields, key, appendFields(nil, &f, nil))
	}
	if got, _, err := decodeFrame(1, 41, stored); err != nil || !reflect.DeepEqual(*got, f) {
		t.Errorf("the documented value decodes to %+v, %v; the code writes\n%x", got, err, value)
	}
}

// TestDocumentedNumbers holds the tables of numbers in the specification against
// the code.
func TestDocumentedNumbers(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "log-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range objectCodes {
		row := fmt.Sprintf("| %d | `%s` | `%s` |", i+1, o, abi.IDPrefix(o))
		if abi.IDPrefix(o) == "" {
			row = fmt.Sprintf("| %d | `%s` | |", i+1, o)
		}
		if !bytes.Contains(doc, []byte(row)) {
			t.Errorf("the document lacks %s", row)
		}
	}
	for i, k := range kindCodes {
		if entry := fmt.Sprintf("%d `%s`", i+1, k); !bytes.Contains(doc, []byte(entry)) {
			t.Errorf("the document lacks %s", entry)
		}
	}
}
