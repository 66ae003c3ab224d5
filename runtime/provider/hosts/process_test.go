package hosts_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
)

// contract checks a value against a definition of the contract of shell discovery.
func contract(t *testing.T, definition string, value []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/host-shell-discovery.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("shells.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("shells.json#/$defs/" + definition)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s is no %s: %v", value, definition, err)
	}
}

// system has these programs, and what is said of it besides.
func system(platform, env, listed string, programs ...string) func() *hosts.System {
	return func() *hosts.System {
		return &hosts.System{Platform: platform, Listed: []byte(listed),
			Getenv: func(name string) string {
				if name == "SHELL" || platform == "windows" && name == "COMSPEC" {
					return env
				}
				return ""
			},
			Runs: func(path string) bool { return slices.Contains(programs, path) },
			Find: func(name string) (string, bool) {
				for _, p := range programs {
					if file := p[strings.LastIndexAny(p, `/\`)+1:]; strings.TrimSuffix(file, ".exe") == name {
						return p, true
					}
				}
				return "", false
			}}
	}
}

// structured returns what a tool's answer has for programs.
func structured(t testing.TB, answer string) jsontext.Value {
	t.Helper()
	var a abi.CallToolCallAnswer
	if err := json.Unmarshal([]byte(answer), &a); err != nil || a.IsError {
		t.Fatalf("%s: %v", answer, err)
	}
	return a.Structured
}

// The node's shells are those that it has, each with how it runs a command.
func TestShellsOfTheNode(t *testing.T) {
	linux := system("linux", "/bin/zsh", "# shells\n/bin/sh\n/usr/sbin/nologin\n/bin/zsh\n/opt/zsh\nrelative\n/bin/gone\n/usr/bin/tmux\n/bin/tcsh\n", "/bin/zsh", "/bin/sh", "/usr/sbin/nologin", "/opt/zsh", "/bin/bash", "/usr/bin/tmux", "/bin/tcsh")
	for name, test := range map[string]struct {
		system func() *hosts.System
		want   string // id:source of each
		first  string
		args   string // of a command that the first runs
		index  string
	}{
		"linux":   {linux, "zsh:env sh:etc_shells /opt/zsh:etc_shells tcsh:etc_shells bash:fallback", "zsh", `["-c","printf ok"]`, "1"},
		"bare":    {system("linux", "", "", "/bin/sh"), "sh:fallback", "sh", `["-c","printf ok"]`, "1"},
		"nothing": {system("linux", "/bin/gone", "/bin/gone\n"), "", "", "", ""},
		"windows": {system("windows", `C:\W\cmd.exe`, "", `C:\W\cmd.exe`, `C:\P\pwsh.exe`, `C:\W\powershell.exe`), "cmd:env pwsh:fallback powershell:fallback", "cmd", `["/C","printf ok"]`, "1"},
		"pwsh":    {system("windows", "", "", `C:\P\pwsh.exe`), "pwsh:fallback", "pwsh", `["-NoProfile","-Command","printf ok"]`, "2"},
	} {
		b := newBox(hosts.Config{}, hosts.ProcessConfig{System: test.system})
		if got := b.names(t, "process"); !slices.Equal(got, []string{"get_default_shell", "list_shells", "set_default_shell", "shell_invocation"}) {
			t.Errorf("%s: %q are offered", name, got)
		}
		plan, answer, err := b.do(t.Context(), "process", "list_shells", `{}`)
		if err != nil || plan.Effect != abi.EffectRead {
			t.Fatal(name, err)
		}
		raw := structured(t, answer)
		contract(t, "list_shells_response", raw)
		var list hosts.Shells
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list.Shells {
			got = append(got, s.ID+":"+s.Source)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q", name, got)
		}
		_, answer, err = b.do(t.Context(), "process", "get_default_shell", `{}`)
		if test.first == "" {
			if string(structured(t, answer)) != "null" || err != nil || !strings.Contains(string(raw), `"default_shell_id":null`) {
				t.Errorf("%s: %s, %v", name, answer, err)
			}
			continue
		}
		contract(t, "shell", structured(t, answer))
		if err != nil || *list.Default != test.first || !strings.Contains(answer, `"id":"`+test.first+`"`) {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
		_, answer, err = b.do(t.Context(), "process", "shell_invocation", `{"shell_id":"`+test.first+`","command":"printf ok"}`)
		if err != nil {
			t.Fatal(name, err)
		}
		raw = structured(t, answer)
		contract(t, "shell_invocation_response", raw)
		if !strings.Contains(string(raw), `"args":`+test.args+`,"command_arg_index":`+test.index) {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// How a shell is run follows from what it can: nothing is made up.
func TestInvocations(t *testing.T) {
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "/bin/zsh", "/bin/tcsh\n", "/bin/zsh", "/bin/tcsh")})
	shell := `{"id":"x","label":"x","path":"/x","platform":"linux","available":true,"supports_login":true,"supports_interactive":false,"default_args":["-e"],"login_args":["-L","-e"],"source":"host"}`
	contract(t, "shell_invocation_request", []byte(`{"shell":`+shell+`,"command":"y","login":true}`))
	for request, want := range map[string]string{
		`{"shell_id":"zsh","command":"a","login":true}`:       `{"program":"/bin/zsh","args":["-l","-c","a"],"command_arg_index":2,`,
		`{"shell_id":"zsh","command":"a","interactive":true}`: `{"program":"/bin/zsh","args":["-i","-c","a"],"command_arg_index":2,`,
		`{"shell_id":"zsh"}`:                                  `{"program":"/bin/zsh","args":["-c"],"command_arg_index":1,`,
		`{"shell":` + shell + `,"command":"a","login":true}`:  `{"program":"/x","args":["-L","-e","a"],"command_arg_index":2,`,
		`{"shell_id":"tcsh","login":true}`:                    "does not run as a login shell",
		`{"shell":` + shell + `,"interactive":true}`:          "runs no command interactively",
		`{"shell_id":"fish"}`:                                 `there is no shell`,
	} {
		_, answer, err := b.do(t.Context(), "process", "shell_invocation", request)
		if err != nil || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), want) {
			t.Errorf("%s: %s, %v", request, answer, err)
		}
	}
	for _, bad := range []string{`{}`, `{"command":"a"}`, `{"shell_id":7}`, `{"shell_id":"zsh","x":1}`} {
		if _, _, err := b.do(t.Context(), "process", "shell_invocation", bad); status(err) != abi.CallInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A Session keeps the shell that it has chosen, and no other Session does.
func TestAChosenShell(t *testing.T) {
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "/bin/zsh", "/bin/bash\n", "/bin/zsh", "/bin/bash")})
	if _, answer, err := b.do(t.Context(), "process", "set_default_shell", `{"shell_id":"nosh"}`); err != nil || !strings.Contains(answer, `"is_error":true`) {
		t.Errorf("%s, %v", answer, err)
	}
	plan, answer, err := b.do(t.Context(), "process", "set_default_shell", `{"shell_id":"bash"}`)
	if err != nil || plan.Effect != abi.EffectWrite || !plan.Repeatable {
		t.Fatal(answer, err)
	}
	contract(t, "shell", structured(t, answer))
	if _, answer, _ = b.do(t.Context(), "process", "list_shells", `{}`); !strings.Contains(string(structured(t, answer)), `"default_shell_id":"bash"`) {
		t.Error(answer)
	}
	other := call(abi.CallToolCall, `{"server":"process","name":"get_default_shell"}`)
	other.SessionID = "s2"
	if plan, err = b.tools.Prepare(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if raw, err := plan.Do(t.Context(), nil); err != nil || !strings.Contains(string(raw), `"id":"zsh"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// A client that answers for shells is asked in the place of the node, and what it leaves out is put in.
func TestShellsOfTheClient(t *testing.T) {
	answers := map[string]string{
		"process.list_shells":       `{"shells":[{"id":"zsh","path":"/bin/zsh"},{"id":"pwsh","source":"odd","supports_login":true,"extra":1}],"default_shell_id":null}`,
		"process.get_default_shell": `{"id":"zsh"}`,
		"process.shell_invocation":  `{"program":"/bin/zsh","args":["-c","printf ok"],"command_arg_index":1,"shell":{"id":"zsh"}}`,
		"process.exec":              `{"exit_code":0}`,
	}
	e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodCall: func(_ context.Context, params jsontext.Value) (any, error) {
		var p struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(params, &p)
		return jsontext.Value(answers[p.Name]), err
	}}}
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "", "")})
	b.add(t, e, hosts.Client{Actor: "key:a", SessionID: "theirs", Declared: hosts.Declared{Methods: []string{hosts.MethodProcess}}})
	for tool, is := range map[string]string{"list_shells": "list_shells_response", "get_default_shell": "shell", "shell_invocation": "shell_invocation_response"} {
		arguments := `{}`
		plan, answer, err := b.do(t.Context(), "process", tool, arguments)
		if err != nil || plan.By != "key:a" {
			t.Fatalf("%s: %v", tool, err)
		}
		contract(t, is, structured(t, answer))
	}
	plan, answer, err := b.do(t.Context(), "process", "exec", `{"command":"x"}`)
	if err != nil || plan.Effect != abi.EffectWrite || plan.Repeatable || string(structured(t, answer)) != `{"exit_code":0}` {
		t.Errorf("%s, %v", answer, err)
	}
	if got := e.heard(); got[len(got)-1] != `host/call {"sessionId":"theirs","name":"process.exec","args":{"command":"x"}}` {
		t.Errorf("it was asked %q", got)
	}
	for name, bad := range map[string][]string{"list_shells": {`[]`, `{"shells":[{}]}`, `{"shells":7}`, `null`}, "shell_invocation": {`{}`, `{"program":"/x","args":[],"command_arg_index":1}`, `{"program":"/x","args":[],"command_arg_index":-1}`}, "exec": {`7`}} {
		for _, says := range bad {
			answers["process."+name] = says
			if _, answer, err := b.do(t.Context(), "process", name, `{}`); status(err) != abi.CallUnavailable {
				t.Errorf("%s answers %s: %s, %v", name, says, answer, err)
			}
		}
	}
	some := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "", "")})
	some.add(t, &editor{}, hosts.Client{Declared: hosts.Declared{Methods: []string{"process.list_shells"}}})
	if got := some.names(t, "process"); !slices.Equal(got, []string{"list_shells"}) {
		t.Errorf("of a client that says less %q are offered", got)
	}
}

// Commands run on the node where the operator lets them: without its secrets, in bounds, and no longer than
// somebody waits.
func TestCommandsOnTheNode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	off := newBox(hosts.Config{}, hosts.ProcessConfig{System: hosts.ThisSystem})
	if _, _, err := off.do(t.Context(), "process", "exec", `{"argv":["true"]}`); status(err) != abi.CallDenied {
		t.Errorf("with process.exec off: %v", err)
	}
	t.Setenv("WHARF_TEST_SECRET", "canary")
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: hosts.ThisSystem, Exec: true, Timeout: time.Minute})
	for request, want := range map[string]string{
		`{"argv":["/bin/sh","-c","cat; echo e >&2; exit 3"],"stdin":"in"}`:           `{"exit_code":3,"signal":null,"stdout":"in","stderr":"e\n","truncated":false,"timed_out":false}`,
		`{"command":"echo $A$WHARF_TEST_SECRET","env":{"A":"1"}}`:                    `{"exit_code":0,"signal":null,"stdout":"1\n","stderr":"","truncated":false,"timed_out":false}`,
		`{"command":"pwd","cwd":"/"}`:                                                `{"exit_code":0,"signal":null,"stdout":"/\n","stderr":"","truncated":false,"timed_out":false}`,
		`{"argv":["/bin/sh","-c","printf 123456"],"output_byte_limit":5}`:            `{"exit_code":0,"signal":null,"stdout":"12345","stderr":"","truncated":true,"timed_out":false}`,
		`{"argv":["/bin/sh","-c","sleep 1000 & sleep 1000"],"timeout_seconds":0.05}`: `{"exit_code":null,"signal":"killed","stdout":"","stderr":"","truncated":false,"timed_out":true}`,
		`{"argv":["/bin/sh","-c","kill -TERM $$"]}`:                                  `{"exit_code":null,"signal":"terminated","stdout":"","stderr":"","truncated":false,"timed_out":false}`,
	} {
		plan, answer, err := b.do(t.Context(), "process", "exec", request)
		if err != nil || plan.Effect != abi.EffectWrite || plan.Repeatable || !plan.Tool.Destructive {
			t.Fatalf("%s: %v", request, err)
		}
		if got := string(structured(t, answer)); got != want {
			t.Errorf("%s: %s", request, got)
		}
	}
	for _, bad := range []string{`{}`, `{"argv":[]}`, `{"argv":["x"],"command":"x"}`, `{"argv":["x"],"shell_id":"sh"}`, `{"command":"x","cwd":"w"}`, `{"command":"x","timeout_seconds":-1}`, `{"argv":"x"}`} {
		if _, _, err := b.do(t.Context(), "process", "exec", bad); status(err) != abi.CallInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{`{"argv":["/no/such/program"]}`, `{"argv":["true"],"env":{"A=B":"1"}}`, `{"command":"x","shell_id":"nosh"}`} {
		if _, answer, err := b.do(t.Context(), "process", "exec", bad); err != nil || !strings.Contains(answer, `"is_error":true`) {
			t.Errorf("%s: %s, %v", bad, answer, err)
		}
	}
	stopped := errors.New("the task has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	started := t.TempDir() + "/started"
	done := make(chan error)
	go func() {
		_, _, err := b.do(ctx, "process", "exec", `{"argv":["/bin/sh","-c","mkfifo `+started+`; echo > `+started+`; sleep 1000"]}`)
		done <- err
	}()
	for {
		if _, err := os.ReadFile(started); err == nil { // it waits for the command
			break
		}
	}
	cancel(stopped)
	if err := <-done; !errors.Is(err, stopped) {
		t.Error(err)
	}
}

// A plugin without a grant has no tools of the server.
func TestShellsAreGranted(t *testing.T) {
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "", "")})
	c := call(abi.CallToolCall, `{"server":"process","name":"list_shells"}`)
	c.Plugin = "other"
	if _, err := b.tools.Prepare(t.Context(), c); status(err) != abi.CallDenied {
		t.Error(err)
	}
}
