package hosts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
)

func lists(methods ...string) hosts.Declared {
	return hosts.Declared{Methods: append([]string{hosts.MethodTools}, methods...)}
}

// A client is asked once for its tools, in any of the shapes that there are, and again when it says
// that they have changed.
func TestAClientsToolsAreKept(t *testing.T) {
	for _, shape := range []string{`[%]`, `{"tools":[%]}`, `{"result":{"tools":[%]}}`, `{"result":[%]}`} {
		one := `{"name":"Read","short_description":"Reads","parameters":{"type":"object"},"more":1},{"name":"open","deprecated":true,"description":"Opens","schema":null,"input_schema":{}}`
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){
			hosts.MethodTools: says(strings.Replace(shape, "%", one, 1)), hosts.MethodBuiltin: says(`"done"`)}}
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		h := b.add(t, e, hosts.Client{Actor: "key:a", Declared: lists()})
		told := b.list(t, "client")
		if len(told) != 2 || told[0].Name != "Read" || told[0].Description != "Reads" || string(told[0].InputSchema) != `{"type":"object"}` || told[0].ReadOnly || told[0].Deprecated ||
			told[1].Name != "open" || !told[1].Deprecated || string(told[1].InputSchema) != `{}` || !told[1].Destructive {
			t.Fatalf("%s: %+v", shape, told)
		}
		plan, answer, err := b.do(t.Context(), "client", "Read", `{"path":"x"}`)
		if err != nil || plan.Effect != abi.EffectWrite || plan.By != "key:a" || plan.Repeatable || answer != `{"content":[{"type":"text","text":"done"}]}` {
			t.Fatalf("%s: %+v, %s, %v", shape, plan, answer, err)
		}
		want := []string{`host/tools/list {}`, `builtin_call {"name":"Read","args":[{"path":"x"}],"_meta":{"harn":{"sessionId":"s","taskId":"task_1","callId":"task_1-0"}}}`}
		if got := e.heard(); !slices.Equal(got, want) {
			t.Fatalf("it was asked %q", got)
		}
		h.ToolsChanged()
		b.list(t, "client")
		if got := e.heard(); len(got) != 3 {
			t.Errorf("it was asked %q", got)
		}
	}
}

// What is wrong with one tool is that one's matter, and too many are as many as are taken.
func TestWhatIsWrongWithAListedTool(t *testing.T) {
	e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodTools: says(
		`[{"name":"a"},{"name":"a"},{"name":""},7,{"name":"b","schema":[]},{"name":"c*"},{"name":"d\u202e"},{},{"name":"e","description":7},{"name":"f","schema":` +
			strings.Repeat(`{"a":`, abi.MaxToldDepth+1) + `1` + strings.Repeat(`}`, abi.MaxToldDepth+1) + `},{"name":"z"}]`)}}
	b := newBox(hosts.Config{}, hosts.ProcessConfig{})
	h := b.add(t, e, hosts.Client{Declared: lists()})
	if got := b.names(t, "client"); !slices.Equal(got, []string{"a", "z"}) {
		t.Errorf("%q are offered", got)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = `{"name":"t` + strings.Repeat("x", i%100) + strings.Repeat("y", i/100) + `"}`
	}
	e.answers[hosts.MethodTools] = says(`[` + strings.Join(many, ",") + `]`)
	h.ToolsChanged()
	if got := b.names(t, "client"); len(got) != 256 {
		t.Errorf("%d tools are offered", len(got))
	}
}

// The controller comes first, then who came last; what nobody has declared nobody is asked.
func TestWhichClientIsAsked(t *testing.T) {
	b, all := newBox(hosts.Config{}, hosts.ProcessConfig{}), map[string]*hosts.Host{}
	for _, id := range []string{"first", "second", "third"} {
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){
			hosts.MethodTools: says(`[{"name":"who"},{"name":"only_` + id + `"}]`), hosts.MethodBuiltin: says(`"` + id + `"`)}}
		all[id] = b.add(t, e, hosts.Client{Actor: "key:" + id, Declared: lists()})
	}
	if got := b.names(t, "client"); !slices.Equal(got, []string{"only_first", "only_second", "only_third", "who"}) {
		t.Errorf("%q are offered", got)
	}
	for control, want := range map[string]string{"": "third", "first": "first", "second": "second"} {
		for id, h := range all {
			h.Controls(id == control)
		}
		if plan, got, err := b.do(t.Context(), "client", "who", `{}`); err != nil || plan.By != "key:"+want || !strings.Contains(got, want) {
			t.Errorf("%q controls, and %s was asked: %s, %v", control, plan.By, got, err)
		}
	}
	mute := &editor{}
	b.add(t, mute, hosts.Client{})
	b.names(t, "client")
	if _, _, err := b.do(t.Context(), "client", "fs_read", `{"path":"/x"}`); status(err) != abi.CallNotFound || len(mute.heard()) != 0 {
		t.Errorf("%v; it was asked %q", err, mute.heard())
	}
}

func status(err error) abi.CallStatus {
	if refusal, ok := errors.AsType[*provider.Refusal](err); ok {
		return refusal.Status
	}
	return abi.CallOK
}

// What a client answers with an error is told as what it is.
func TestErrorsOfClients(t *testing.T) {
	for code, want := range map[int]abi.CallStatus{-32601: abi.CallNotFound, -32602: abi.CallInvalid, -32001: abi.CallDenied, -32603: abi.CallOK, -32002: abi.CallOK, 7: abi.CallOK} {
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){
			hosts.MethodTools: says(`[{"name":"x"}]`), hosts.MethodBuiltin: fails(code, "because")}}
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		b.add(t, e, hosts.Client{Declared: lists()})
		_, answer, err := b.do(t.Context(), "client", "x", `{}`)
		if status(err) != want || want == abi.CallOK && (err != nil || !strings.Contains(answer, "because") || !strings.Contains(answer, `"is_error":true`)) {
			t.Errorf("%d: %s, %v", code, answer, err)
		}
		b.names(t, "client")
		if again := len(e.heard()) == 3; again != (code == -32601) {
			t.Errorf("%d: it was asked %q", code, e.heard())
		}
	}
}

// A client that leaves before it answers may have done what it was asked, unless that was a read.
func TestAClientThatLeaves(t *testing.T) {
	for name, want := range map[string]abi.CallStatus{"fs_read": abi.CallUnavailable, "fs_write": abi.CallIndeterminate, "terminal_run": abi.CallIndeterminate} {
		e := &editor{}
		gone := func(ctx context.Context, _ jsontext.Value) (any, error) { e.leave(); <-ctx.Done(); return nil, nil }
		e.answers = map[string]func(context.Context, jsontext.Value) (any, error){"fs/read_text_file": gone, "fs/write_text_file": gone, "terminal/create": gone}
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		h := b.add(t, e, hosts.Client{Declared: hosts.Declared{ReadsFiles: true, WritesFiles: true, Terminals: true}})
		arguments := map[string]string{"fs_read": `{"path":"/x"}`, "fs_write": `{"path":"/x","content":""}`, "terminal_run": `{"command":"x"}`}[name]
		if _, _, err := b.do(t.Context(), "client", name, arguments); status(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		h.Close()
		if got := b.names(t, "client"); len(got) != 0 {
			t.Errorf("of a client that has left %q are offered", got)
		}
	}
}

// Files of the client's are asked for as ACP has it, and nothing is asked with what fits in nothing.
func TestFilesOfTheClient(t *testing.T) {
	e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){
		"fs/read_text_file": says(`{"content":"a\nb","_meta":{}}`), "fs/write_text_file": says(`null`)}}
	b := newBox(hosts.Config{}, hosts.ProcessConfig{})
	b.add(t, e, hosts.Client{SessionID: "theirs", Declared: hosts.Declared{ReadsFiles: true, WritesFiles: true}})
	plan, answer, err := b.do(t.Context(), "client", "fs_read", `{"path":"/a","line":2,"limit":3}`)
	if err != nil || plan.Effect != abi.EffectRead || answer != `{"content":[{"type":"text","text":"a\nb"}]}` {
		t.Errorf("%s: %s, %v", plan.Effect, answer, err)
	}
	plan, _, err = b.do(t.Context(), "client", "fs_write", `{"path":"C:\\a","content":""}`)
	if err != nil || plan.Effect != abi.EffectWrite || !plan.Tool.Destructive {
		t.Errorf("%+v, %v", plan, err)
	}
	want := []string{`fs/read_text_file {"sessionId":"theirs","path":"/a","line":2,"limit":3}`, `fs/write_text_file {"sessionId":"theirs","path":"C:\\a","content":""}`}
	if got := e.heard(); !slices.Equal(got, want) {
		t.Errorf("it was asked %q", got)
	}
	for _, bad := range []string{`{}`, `{"path":"a"}`, `{"path":"../a"}`, `{"path":"file:///a"}`, `{"path":"/a","line":0}`, `{"path":"/a","limit":0}`, `{"path":"/a","line":-1}`, `{"path":"/a","line":1.5}`, `{"path":"/a\u0000"}`, `{"path":"/a","x":1}`, `{"path":7}`} {
		if _, _, err := b.do(t.Context(), "client", "fs_read", bad); status(err) != abi.CallInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, _, err := b.do(t.Context(), "client", "fs_write", `{"path":"/a"}`); status(err) != abi.CallInvalid {
		t.Error(err)
	}
	if got := e.heard(); len(got) != 2 {
		t.Errorf("it was asked %q", got)
	}
	e.answers["fs/read_text_file"] = says(`{"text":"a"}`)
	if _, _, err := b.do(t.Context(), "client", "fs_read", `{"path":"/a"}`); status(err) != abi.CallUnavailable {
		t.Error(err)
	}
}

func terminals() map[string]func(context.Context, jsontext.Value) (any, error) {
	return map[string]func(context.Context, jsontext.Value) (any, error){
		"terminal/create": says(`{"terminalId":"t1"}`), "terminal/wait_for_exit": says(`{"exitCode":3,"signal":null}`),
		"terminal/output": says(`{"output":"0123456789","truncated":false}`), "terminal/release": says(`null`)}
}

// A command runs in a terminal of the client's, which is released.
func TestATerminalOfTheClient(t *testing.T) {
	e := &editor{answers: terminals()}
	b := newBox(hosts.Config{}, hosts.ProcessConfig{})
	b.add(t, e, hosts.Client{Declared: hosts.Declared{Terminals: true}})
	plan, answer, err := b.do(t.Context(), "client", "terminal_run", `{"command":"make","args":["all"],"cwd":"/w","env":{"B":"2","A":"1"},"output_byte_limit":4}`)
	if err != nil || plan.Effect != abi.EffectWrite || plan.Repeatable || !strings.HasSuffix(answer, `"structured":{"output":"6789","truncated":true,"exit_code":3,"signal":null}}`) {
		t.Errorf("%s, %v", answer, err)
	}
	want := []string{`terminal/create {"sessionId":"s","command":"make","args":["all"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"cwd":"/w","outputByteLimit":4}`,
		`terminal/wait_for_exit {"sessionId":"s","terminalId":"t1"}`, `terminal/output {"sessionId":"s","terminalId":"t1"}`, `terminal/release {"sessionId":"s","terminalId":"t1"}`}
	if got := e.heard(); !slices.Equal(got, want) {
		t.Errorf("it was asked %q", got)
	}
	for _, bad := range []string{`{}`, `{"command":""}`, `{"command":"x","cwd":"w"}`, `{"command":"x","output_byte_limit":0}`, `{"command":"x","env":{"A=B":"1"}}`, `{"command":"x","env":{"":"1"}}`} {
		if _, _, err := b.do(t.Context(), "client", "terminal_run", bad); status(err) != abi.CallInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Whatever becomes of its call, a terminal that was created is released.
func TestATerminalIsReleased(t *testing.T) {
	stopped := errors.New("the task has ended")
	for method, answered := range map[string]func(context.Context, jsontext.Value) (any, error){
		"terminal/create": nil, "terminal/wait_for_exit": nil, "terminal/output": nil,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e, released, goOn := &editor{answers: terminals()}, make(chan struct{}), make(chan struct{})
		answered = e.answers[method]
		e.answers[method] = func(of context.Context, p jsontext.Value) (any, error) {
			cancel(stopped)
			<-goOn // nobody waits for it any more
			return answered(of, p)
		}
		e.answers["terminal/release"] = func(context.Context, jsontext.Value) (any, error) { close(released); return nil, nil }
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		b.add(t, e, hosts.Client{Declared: hosts.Declared{Terminals: true}})
		done := make(chan error)
		go func() {
			_, _, err := b.do(ctx, "client", "terminal_run", `{"command":"x"}`)
			done <- err
		}()
		if method == "terminal/create" {
			if err := <-done; !errors.Is(err, stopped) {
				t.Errorf("%s: %v", method, err)
			}
			close(goOn)
		}
		<-released
		if method != "terminal/create" {
			if err := <-done; !errors.Is(err, stopped) {
				t.Errorf("%s: %v", method, err)
			}
			close(goOn)
		}
	}
	for _, method := range []string{"terminal/wait_for_exit", "terminal/output"} {
		e := &editor{answers: terminals()}
		e.answers[method] = fails(-32603, "it broke")
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		b.add(t, e, hosts.Client{Declared: hosts.Declared{Terminals: true}})
		if _, answer, err := b.do(t.Context(), "client", "terminal_run", `{"command":"x"}`); err != nil || !strings.Contains(answer, "it broke") {
			t.Errorf("%s: %s, %v", method, answer, err)
		}
		if got := e.heard(); !strings.HasPrefix(got[len(got)-1], "terminal/release") {
			t.Errorf("%s: it was asked %q", method, got)
		}
	}
}

// A client that never says what it has holds up nobody for longer than it takes to notice, nor the other
// clients' tools, and is not asked at every turn.
func TestASilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox(hosts.Config{}, hosts.ProcessConfig{})
		silent := &never{}
		h := b.hosts.Connect(hosts.Client{Tenant: "t", Session: "s", Caller: silent, Declared: hosts.Declared{ReadsFiles: true, Methods: []string{hosts.MethodTools}}})
		defer h.Close()
		for range 3 {
			if got := b.names(t, "client"); !slices.Equal(got, []string{"fs_read"}) {
				t.Errorf("%q are offered", got)
			}
		}
		if silent.asked != 1 {
			t.Errorf("it was asked %d times", silent.asked)
		}
	})
}

type never struct{ asked int }

func (n *never) Call(ctx context.Context, _ string, _, _ any) error {
	n.asked++
	<-ctx.Done()
	return context.Cause(ctx)
}

// A Task that goes on after a start waits for the client whose tool it calls, but not for ever, and not for one
// that is there and has no such tool.
func TestClientsComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox(hosts.Config{Returning: 10 * time.Second}, hosts.ProcessConfig{})
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodTools: says(`[{"name":"look"}]`), hosts.MethodBuiltin: says(`"done"`)}}
		begun := time.Now()
		done := make(chan string)
		go func() {
			_, answer, err := b.do(t.Context(), "client", "look", `{}`)
			done <- fmt.Sprint(answer, err)
		}()
		synctest.Wait()
		time.Sleep(2 * time.Second)
		h := b.add(t, e, hosts.Client{Declared: lists()})
		if got := <-done; got != `{"content":[{"type":"text","text":"done"}]}<nil>` || time.Since(begun) != 2*time.Second {
			t.Errorf("after %v: %s", time.Since(begun), got)
		}
		if _, _, err := b.do(t.Context(), "client", "other", `{}`); status(err) != abi.CallNotFound || time.Since(begun) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		h.Close()
		called, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, _, err := b.do(called, "client", "look", `{}`); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that was called off: %v", err)
		}
		for range 2 {
			if _, _, err := b.do(t.Context(), "client", "look", `{}`); status(err) != abi.CallNotFound || time.Since(begun) != 10*time.Second {
				t.Errorf("after %v: %v", time.Since(begun), err)
			}
		}
	})
}
