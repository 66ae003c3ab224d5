package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// talker is a running client of WebSockets, spoken to in lines.
type talker struct {
	lines *bufio.Scanner
	stdin io.WriteCloser
}

func talk(t *testing.T, program string, args ...string) *talker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return &talker{bufio.NewScanner(stdout), stdin}
}

// until reads up to the frame of that type.
func (k *talker) until(t *testing.T, kind string) map[string]any {
	t.Helper()
	for k.lines.Scan() {
		line := k.lines.Text()
		var frame map[string]any
		// What a program for people puts around a frame is passed over.
		start, end := strings.Index(line, "{"), strings.LastIndex(line, "}")
		if start < 0 || end < start || json.Unmarshal([]byte(line[start:end+1]), &frame) != nil {
			continue
		}
		if frame["type"] == kind {
			return frame
		}
	}
	t.Fatalf("the client ended before %s came: %v", kind, k.lines.Err())
	return nil
}

func (k *talker) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(k.stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

const hello = `{"type":"message","id":"1","message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}`

// The ws package connects as a browser does, and both ends agree on the close.
func TestWS(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	session := newSession(t, n)
	k := talk(t, "node", "socket.mjs", "ws"+strings.TrimPrefix(n.URL, "http")+"/v1/sessions/"+session+"/connect", nodetest.Key)
	if open := k.until(t, "open"); open["protocol"] != "harn.v1" || !strings.Contains(fmt.Sprint(open["extensions"]), "permessage-deflate") {
		t.Errorf("opened %v", open)
	}
	if h := k.until(t, "hello"); h["session_id"] != session {
		t.Errorf("hello %v", h)
	}
	k.say(t, hello)
	if ack := k.until(t, "ack"); ack["id"] != "1" {
		t.Errorf("ack %v", ack)
	}
	_ = k.stdin.Close()
	if closed := k.until(t, "close"); closed["code"] != float64(4000) {
		t.Errorf("closed %v", closed)
	}
}

// What the documents say to type into wscat works.
func TestWscat(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	session := newSession(t, n)
	k := talk(t, "node", "node_modules/wscat/bin/wscat", "--no-color", "-H", "Authorization: Bearer "+nodetest.Key,
		"-H", "Harn-Agents-Protocol-Version: "+nodetest.Version, "-x", hello, "-w", "2",
		"-c", "ws"+strings.TrimPrefix(n.URL, "http")+"/v1/sessions/"+session+"/connect")
	k.until(t, "hello")
	if ack := k.until(t, "ack"); ack["id"] != "1" {
		t.Errorf("ack %v", ack)
	}
}
