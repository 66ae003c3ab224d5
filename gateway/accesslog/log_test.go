package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// texts reads the lines of a log, each of which has to be one JSON object.
func texts(t *testing.T, text []byte) (all []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%q is no line of JSON: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// Whatever a client sends, a line stays one line of JSON, and is bounded.
func TestHostileLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	hostile := []string{"", "/a\nb\r\n\"}{\\", "/\xff\xfe\x00", strings.Repeat("/ä", 4096), "/" + strings.Repeat("\x01", 8191), "\u2028\u2029"}
	for _, text := range hostile {
		l.Tell(&Line{Time: time.Unix(1, 0), Method: text, Path: text, Agent: text, Actor: text, Template: "/x"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Tell(&Line{}) // too late, and no harm
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := texts(t, written)
	if len(got) != len(hostile) {
		t.Fatalf("%d lines of %d", len(got), len(hostile))
	}
	for i, line := range got {
		if path := line["path"].(string); len(path) > 3*maxPath+3 || len(hostile[i]) < 100 && path != strings.ToValidUTF8(path, "") {
			t.Errorf("%q became %q", hostile[i], path)
		}
	}
	if got[1]["path"] != hostile[1] {
		t.Errorf("%q", got[1]["path"])
	}
}

// A file that was moved away is made anew, and none of the lines is lost.
func TestRotation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	f, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	l := newLog(f, slog.New(slog.DiscardHandler))
	l.path, l.file, l.every = file, f, 0
	tell := func(id string) { l.put((&Line{RequestID: id}).append(nil), 1) }
	tell("req_1")
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	tell("req_2")
	if err := os.Rename(file, file+".2"); err != nil {
		t.Fatal(err)
	}
	tell("req_3")
	defer l.file.Close()
	for name, want := range map[string]string{".1": "req_1", ".2": "req_2", "": "req_3"} {
		text, err := os.ReadFile(file + name)
		if got := texts(t, text); err != nil || len(got) != 1 || got[0]["request_id"] != want {
			t.Errorf("%q has %s, %v", name, text, err)
		}
	}
	if l.Dropped() != 0 {
		t.Errorf("%d dropped", l.Dropped())
	}
}

// full is a disk that has no room until it is told so.
type full struct {
	room bool
	text bytes.Buffer
}

func (f *full) Write(p []byte) (int, error) {
	if !f.room {
		return 0, errors.New("no space left on device")
	}
	return f.text.Write(p)
}

// On a full disk lines are dropped and counted, it is said once, and said when it is over.
func TestFullDisk(t *testing.T) {
	var said bytes.Buffer
	disk := &full{}
	l := newLog(disk, slog.New(slog.NewTextHandler(&said, nil)))
	line := func() []byte { return (&Line{RequestID: "req_x"}).append(nil) }
	l.put(line(), 1)
	l.put(append(line(), line()...), 2)
	if l.Dropped() != 3 || strings.Count(said.String(), "cannot be written") != 1 {
		t.Errorf("%d dropped; %s", l.Dropped(), said.String())
	}
	disk.room = true
	l.put(line(), 1)
	l.put(line(), 1)
	if l.Dropped() != 3 || strings.Count(said.String(), "written again") != 1 || len(texts(t, disk.text.Bytes())) != 2 {
		t.Errorf("%d dropped; %s; %s", l.Dropped(), said.String(), disk.text.String())
	}
}

// What a write that failed in the middle has left is taken back, so that every line is whole.
func TestTornLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	f, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newLog(nil, slog.New(slog.DiscardHandler))
	l.path, l.file, l.to = file, f, f
	l.put((&Line{RequestID: "req_1"}).append(nil), 1)
	l.to = halfway{f}
	l.put((&Line{RequestID: "req_2"}).append(nil), 1)
	l.to = f
	l.put((&Line{RequestID: "req_3"}).append(nil), 1)
	written, err := os.ReadFile(file)
	if got := texts(t, written); err != nil || len(got) != 2 || got[1]["request_id"] != "req_3" || l.Dropped() != 1 {
		t.Errorf("%s, %v", written, err)
	}
}

// halfway writes half, and then there is no more room.
type halfway struct{ to io.Writer }

func (h halfway) Write(p []byte) (int, error) {
	n, _ := h.to.Write(p[:len(p)/2])
	return n, errors.New("no space left on device")
}

// Lines that nobody writes hold up nobody.
func TestAStuckLogHoldsNothingUp(t *testing.T) {
	var said bytes.Buffer
	l := newLog(io.Discard, slog.New(slog.NewTextHandler(&said, nil)))
	for range waiting + 10 {
		l.Tell(&Line{})
	}
	if l.Dropped() != 10 || strings.Count(said.String(), "lines are dropped") != 1 {
		t.Errorf("%d dropped; %s", l.Dropped(), said.String())
	}
	var none *Log
	if none.Tell(&Line{}); none.Dropped() != 0 || none.Close() != nil {
		t.Error("no log is something")
	}
}
