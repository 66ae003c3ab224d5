package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// acpEditor is an editor that knows nothing but ACP and runs "wharf acp".
type acpEditor struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	asked int
	told  string // the agent's text

	mu     sync.Mutex
	stderr strings.Builder
}

func startACP(t *testing.T, env []string, args ...string) *acpEditor {
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	p := &acpEditor{t: t, cmd: exec.Command(program, append([]string{"acp"}, args...)...)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), env...), p
	in, err := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err, err2, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // fails when it has ended
	p.in, p.lines = in, bufio.NewScanner(out)
	p.lines.Buffer(nil, 16<<20)
	return p
}

// embed starts one that is a node itself, on a folder.
func embed(t *testing.T, data string) *acpEditor {
	t.Helper()
	return startACP(t, []string{"WHARF_API_KEY="}, "--embedded", "--server", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--data", data, "--persona", "persona_echo", "--set", pluginCacheSet())
}

// Write takes what is said to people.
func (p *acpEditor) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(text)
}

// toPeople is what was said to people so far.
func (p *acpEditor) toPeople() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// acpAnswer is a line that the editor is told.
type acpAnswer struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
	Params struct {
		Update struct {
			Kind    string         `json:"sessionUpdate"`
			Content jsontext.Value `json:"content"`
		} `json:"update"`
	} `json:"params"`
}

// call sends a request and returns the whole answer; what the agent says before it is kept.
func (p *acpEditor) call(method, params string) *acpAnswer {
	p.t.Helper()
	p.asked++
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.asked, method, params); err != nil {
		p.t.Fatal(err)
	}
	for p.lines.Scan() {
		line := &acpAnswer{}
		if err := json.Unmarshal(p.lines.Bytes(), line, json.RejectUnknownMembers(false)); err != nil {
			p.t.Fatalf("%v: %s", err, p.lines.Text())
		}
		if line.Method == "" && string(line.ID) == fmt.Sprint(p.asked) {
			return line
		}
		if line.Method != "session/update" {
			p.t.Errorf("a stock client is told %s", p.lines.Bytes())
		}
		if u := line.Params.Update; u.Kind == "agent_message_chunk" {
			var content struct {
				Text string `json:"text"`
			}
			_ = json.Unmarshal(u.Content, &content)
			p.told += content.Text
		}
	}
	_ = p.cmd.Wait()
	p.t.Fatalf("it has ended before it answered %s: %s", method, p.toPeople())
	return nil
}

// ask sends a request that must be answered with a result, which it returns.
func (p *acpEditor) ask(method, params string) jsontext.Value {
	p.t.Helper()
	answer := p.call(method, params)
	if answer.Error != nil {
		p.t.Fatalf("%s: %s", method, answer.Error)
	}
	return answer.Result
}

func (p *acpEditor) begin() {
	p.t.Helper()
	if got := string(p.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"test","version":"1"}}`)); !strings.Contains(got, `"loadSession":true`) {
		p.t.Errorf("initialize: %s", got)
	}
}

// open makes a session in a folder, with tool servers, and returns its id.
func (p *acpEditor) open(dir string, servers ...string) string {
	p.t.Helper()
	var of struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(p.ask("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[%s]}`, dir, strings.Join(servers, ","))), &of); err != nil {
		p.t.Fatal(err)
	}
	return of.SessionID
}

func (p *acpEditor) prompt(session, words string) {
	p.t.Helper()
	if got := string(p.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, words))); !strings.Contains(got, `"end_turn"`) {
		p.t.Errorf("the turn: %s", got)
	}
}

// rest returns what it says until it ends, and how it does.
func (p *acpEditor) rest() (said []string, code int) {
	p.t.Helper()
	for p.lines.Scan() {
		said = append(said, p.lines.Text())
	}
	_ = p.cmd.Wait()
	return said, p.cmd.ProcessState.ExitCode()
}

// end closes the editor's side, and wants the pipe to end well.
func (p *acpEditor) end() {
	p.t.Helper()
	_ = p.in.Close()
	if _, code := p.rest(); code != 0 {
		p.t.Errorf("it ends with %d: %s", code, p.toPeople())
	}
}

// An editor alone has a node that lives as long as it does: what was said is there after a SIGTERM, and when the
// editor just closes the pipe. Another one on the same folder says why it cannot, and what to do.
func TestACPEmbedded(t *testing.T) {
	data := t.TempDir()
	first := embed(t, data)
	first.begin()
	s := first.open("/home/ann/project")
	first.prompt(s, "High water is at nine.")
	if !strings.Contains(first.told, "High water is at nine.") {
		t.Errorf("the agent has said %q", first.told)
	}

	second := embed(t, data)
	_, _ = io.WriteString(second.in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
	if said, code := second.rest(); code == 0 || len(said) > 0 || !strings.Contains(second.toPeople(), data) || !strings.Contains(second.toPeople(), "try") {
		t.Errorf("a second one on the folder ends with %d, says %q, and to people %q", code, said, second.toPeople())
	}

	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if said, code := first.rest(); code != exitInterrupted || len(said) > 0 || strings.Contains(first.toPeople(), "goroutine") {
		t.Errorf("after SIGTERM it ends with %d, says %q, and to people %q", code, said, first.toPeople())
	}

	again := embed(t, data)
	again.begin()
	if list := string(again.ask("session/list", `{"cwd":"/home/ann/project"}`)); !strings.Contains(list, s) {
		t.Errorf("listed: %s", list)
	}
	again.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[]}`, s))
	if again.told != first.told {
		t.Errorf("loaded: %q, and it was %q", again.told, first.told)
	}
	again.prompt(s, "And low water?")
	_ = again.in.Close()
	if said, code := again.rest(); code != 0 {
		t.Errorf("when the editor leaves it ends with %d, says %q, and to people %q", code, said, again.toPeople())
	}
}

// Standard input that ends within a line, or a SIGTERM, ends the pipe; the node and what is in it stay.
func TestACPPipeEnds(t *testing.T) {
	r := newRig(t)
	env := []string{"WHARF_API_KEY=" + testKey, "WHARF_SERVER=" + r.node.url}
	p := startACP(t, env)
	p.begin()
	s := p.open("/home/ann/project")
	p.prompt(s, "hi")
	spoken := p.told
	_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"`+s)
	_ = p.in.Close()
	said, code := p.rest()
	if code != 0 || len(said) > 1 || len(said) == 1 && !strings.Contains(said[0], "-32700") {
		t.Errorf("cut off within a line it ends with %d, says %q, and to people %q", code, said, p.toPeople())
	}

	p = startACP(t, env)
	p.begin()
	p.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[]}`, s))
	if p.told != spoken {
		t.Errorf("loaded %q, and it was %q", p.told, spoken)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, code := p.rest(); code != exitInterrupted {
		t.Errorf("after SIGTERM it ends with %d, and says to people %q", code, p.toPeople())
	}
}
