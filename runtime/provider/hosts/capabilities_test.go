package hosts_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/provider/hosts"
)

// What a client has not declared it may say when it is asked for what it can do, in any of the shapes that
// hosts answer in; one that does not say it serves nothing of it.
func TestCapabilitiesOfTheClient(t *testing.T) {
	own := []string{"get_default_shell", "list_shells", "set_default_shell", "shell_invocation"}
	for answer, want := range map[string][]string{
		`{"process":["exec","list_shells"]}`:                                        {"exec", "list_shells"},
		`{"capabilities":{"process":{"operations":["process.exec"]}}}`:              {"exec"},
		`{"result":{"capabilities":{"process":{"ops":{"exec":{"about":"runs"}}}}}}`: {"exec"},
		`{"result":{"process":["exec","other"]}}`:                                   {"exec"},
		`{"workspace":["read_text"]}`:                                               own,
		`{"process":7}`:                                                             own,
		`{"process":[7]}`:                                                           own,
		`[]`:                                                                        own,
		`null`:                                                                      own,
	} {
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodCapabilities: says(answer), hosts.MethodCall: says(`{"exit_code":0}`)}}
		b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "", "", "/bin/sh")})
		h := b.add(t, e, hosts.Client{Actor: "key:a", Declared: hosts.Declared{Methods: []string{hosts.MethodCapabilities}}})
		if got := b.names(t, "process"); !slices.Equal(got, want) {
			t.Errorf("%s: %q are offered, want %q", answer, got, want)
		}
		plan, _, err := b.do(t.Context(), "process", "exec", `{"argv":["x"]}`)
		if serves := slices.Contains(want, "exec"); serves != (err == nil && plan.By == "key:a") {
			t.Errorf("%s: a command: %v", answer, err)
		}
		asked := func() (n int) {
			for _, line := range e.heard() {
				if line == hosts.MethodCapabilities+" {}" {
					n++
				}
			}
			return n
		}
		if got := asked(); got != 1 {
			t.Errorf("%s: it was asked %d times", answer, got)
		}
		h.ToolsChanged()
		if b.names(t, "process"); asked() != 2 {
			t.Errorf("%s: after it has changed it was not asked again", answer)
		}
	}
}

// A client is asked by the names that it has declared: of one whose library serves only names that begin
// with an underscore all of them do, but for the protocol's own.
func TestNamesOfTheClientsMethods(t *testing.T) {
	e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){
		"_harn/host/capabilities": says(`{"process":["list_shells"]}`), "_harn/host/call": says(`{"shells":[],"default_shell_id":null}`),
		"_harn/host/tools/list": says(`[{"name":"x"}]`), "_harn/builtin_call": says(`"done"`), "fs/read_text_file": says(`{"content":"c"}`)}}
	b := newBox(hosts.Config{}, hosts.ProcessConfig{System: system("linux", "", "", "/bin/sh")})
	b.add(t, e, hosts.Client{Declared: hosts.Declared{ReadsFiles: true, Methods: []string{"_harn/host/capabilities", "_harn/host/tools/list"}}})
	for _, call := range [][3]string{{"process", "list_shells", `{}`}, {"client", "x", `{}`}, {"client", "fs_read", `{"path":"/f"}`}} {
		if _, answer, err := b.do(t.Context(), call[0], call[1], call[2]); err != nil {
			t.Errorf("%v: %s, %v", call, answer, err)
		}
	}
}
