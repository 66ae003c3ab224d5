package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// checkGolden compares text with a file of testdata, or rewrites that.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-400):min(len(text), at+400)] }
	t.Errorf("it is not what %s says (-update rewrites it). There, at byte %d:\n%s\n\nand now:\n%s", path, at, around(want), around(got))
}

// TestManualPages holds the manual page of every command.
func TestManualPages(t *testing.T) {
	var pages strings.Builder
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, env: func(string) string { return "" }}
		code := a.execute(t.Context(), args)
		fmt.Fprintf(&pages, "$ wharf %s\n%scode %d\n\n", strings.Join(args, " "), &out, code)
	})
	checkGolden(t, "help.txt", pages.String())
}

// asked are command lines that ask a node, one of each kind. Files are those of testdata/asked.
var asked = []string{
	"key list", "key create third", "key create third --scope tasks:read,events:read --workspace ws_1 --tenant t --actor a", "key create",
	"key revoke key_1", "key published", "key rotate", "key list more",
	"token", "token --scope tasks:read",
	"vault list", "vault list vault_1", "vault list a b", "vault create",
	"vault create --workspace ws_1 --persona persona_a --connector conn_* --capability read --provider env",
	"vault set vault_1 crm --from-file testdata/asked/value --host a,b", "vault set vault_1 crm", "vault set vault_1 crm --from-env A --from-file b",
	"vault rm vault_1 crm", "vault rm vault_1", "vault rotate",
	"persona list", "persona get persona_1", "persona get persona_1 --versions", "persona create -f testdata/asked/persona.yaml", "persona create",
	"persona list --workspace ws_1", "persona create -f testdata/asked/persona.yaml --workspace ws_1", "persona clone persona_1 bold", "persona clone persona_1 bold --workspace ws_1",
	"persona clone persona_1", "persona rename persona_1 bold", "persona rename persona_1 very bold", "persona retire persona_1", "persona reinstate persona_1", "persona retire",
	"session list", "session list --workspace ws_1 --persona persona_1 --state paused --limit 2", "session list --state odd", "session list --limit 0", "session show sess_1",
	"session create --workspace ws_1 --persona persona_1 --skill a,b --skill-bundle pdf --vault v --memory m --ref kind=r,s --ref kind=/a=b", "session create", "session create --ref bad",
	"session pause sess_1", "session resume sess_1", "session close sess_1", "session fork sess_1", "session fork sess_1 --at 7 --branch branch_1", "session delete sess_1",
	"session pause", "session show", "session delete",
	"session inject sess_1 Stop", "session inject sess_1 Then --queue --client tui", "session inject sess_1", "session replace sess_1 inj_1 Wait", "session replace sess_1 inj_1",
	"session revoke sess_1 inj_1", "session remind sess_1 Rebased --key k --tag a,b --turns 3 --role user --mode interrupt_immediate --source ci", "session remind sess_1",
	"session revoke-reminder sess_1 inj_2", "session pending sess_1", "session pending", "session wake sess_1", "session inject sess_9 x",
	"session clients sess_1", "session clients", "session attach sess_1 tui", "session attach sess_1 tui --control --takeover --metadata {\"a\":1}", "session attach sess_1 tui --takeover",
	"session attach sess_1 tui --metadata 7", "session takeover sess_1 tui", "session heartbeat sess_1 tui", "session detach sess_1 tui --reason late", "session detach sess_1",
	"persona update persona_1 --tier suggest --version 1.3 --description d", "persona update persona_1 -f testdata/asked/change.yaml",
	"quota list", "quota create --scope tenant --of tenant_1 --limit usd=1,tasks=3 --window 1m", "quota create --limit usd=1 --soft",
	"skill list", "skill list --workspace ws_1 --category user", "skill list x", "skill versions pdf", "skill versions skb_1 --workspace ws_1", "skill versions twice", "skill versions none", "skill versions",
	"skill rollback pdf 1.0.0", "skill rollback pdf", "skill uninstall pdf --workspace ws_1", "skill uninstall", "skill upgrade pdf", "skill install", "skill download",
	"tool-server list", "tool-server create weather --url https://x.test/mcp --header a:b --plugin agent,my-* --read-only get_*", "tool-server create weather --header a",
	"tool-server create", "tool-server update tsrv_1 --url https://y.test --writes put", "tool-server update tsrv_1", "tool-server ping tsrv_1", "tool-server tools tsrv_1", "tool-server resources tsrv_1", "tool-server resources tsrv_1 templates", "tool-server resources tsrv_1 x",
	"tool-server prompts tsrv_1", "tool-server read tsrv_1 file:///a", "tool-server read tsrv_1", "tool-server prompt tsrv_1 greet who=Ada", "tool-server prompt tsrv_1 greet Ada",
	"tool-server rm tsrv_1",
	"quota create", "quota create --limit usd=1 --window 1ms", "quota update quota_1 --limit usd=2", "quota update quota_1", "quota update",
	"connector list", "connector get conn_1", "connector get", "connector create --provider github --webhook --secret hook --vault vault_1",
	"connector create -f testdata/asked/connector.yaml --name other --schedule @hourly --timezone UTC --poll p --ordered --event a,b",
	"connector pause conn_1", "connector resume conn_1", "connector deadletters conn_1", "connector deadletters conn_1 dead_1", "connector deadletters",
	"connector redrive conn_1 dead_1", "connector redrive conn_1 --all", "connector redrive conn_1", "connector providers",
	"connector test conn_1 --id one", "connector test conn_1 --id one --secret-env KEY --file testdata/asked/value -H A:b", "connector test conn_1 -H bad",
	"connector test conn_1 --id one --secret-env NONE",
	"webhook list", "webhook show hook_1", "webhook show", "webhook create https://a.test --event task.* --header A=b --persona persona_1 --paused",
	"webhook create https://a.test", "webhook pause hook_1", "webhook resume hook_1", "webhook delete hook_1", "webhook rotate hook_1 --overlap 1h",
	"webhook test hook_1", "webhook deliveries hook_1", "webhook deliveries hook_1 --status dead", "webhook redrive hook_1 whd_1",
	"webhook redrive hook_1 --all", "webhook redrive hook_1",
	"inbox list", "inbox list --status all --workspace ws_1 --limit 3", "inbox list --limit 0", "inbox get perm_1", "inbox approve perm_1 --reason r",
	"inbox approve perm_1 --arguments {\"a\":1}", "inbox approve perm_1 --arguments {", "inbox deny perm_1 --reason r", "inbox answer perm_1 --text t",
	"inbox answer perm_1 --value 1", "inbox answer perm_1",
	"task list", "task list --status failed --session s --workspace w --limit 3", "task list --status odd", "task list --limit 0",
	"task get task_1", "task get task_1 --outcome", "task get task_2", "task get task_2 --outcome", "task cancel task_1 --reason r",
	"task answer task_1 --text t", "task answer task_1 --approve --arguments {\"a\":1}", "task answer task_1 --deny --reason r", "task answer task_1",
	"task replay task_1", "task replay task_1 --override llm:1={\"text\":\"No.\"} --reason r", "task replay task_1 --mode odd",
	"task fork task_1", "task fork task_1 --at 7 --same-session", "task receipts task_1", "task receipts task_2",
	"task submit hello --session sess_1 --persona persona_1 --deadline 1m --idempotency-key k", "task submit hello --session sess_1 --wait=1s", "task submit hello --session sess_1 --persona scribe", "task submit hello --session sess_1 --persona nobody", "task submit hello --session sess_1 --model small --instructions i --temperature 0 --max-tokens 9", "task submit hello --session sess_1 --skill-bundle pdf,forms", "task submit hello --temperature warm", "task submit",
	"task submit hello --session sess_1 --skill units", "task submit hello --session sess_1 --skill skill_b --idempotency-key k", "task submit hello --session sess_1 --skill twice", "task submit hello --session sess_1 --skill none",
	"artifact list", "artifact list --task task_1 --session s --workspace w --limit 3", "artifact list --limit 0", "artifact show art_1", "artifact show art_2", "artifact show",
	"artifact get art_1", "artifact get", "artifact get art_9",
	"task delete task_1", "task delete", "artifact delete art_1", "artifact delete", "hold list", "hold list --workspace ws_1 --limit 3", "hold list --limit 0",
	"hold place task_1 --reason r", "hold place task_1", "hold place", "hold release task_1", "hold release",
	"receipt get rcpt_1", "receipt get rcpt_1 --form json", "receipt get rcpt_1 --form odd", "receipt verify rcpt_1 --trust k", "receipt verify rcpt_2",
	"export task_1",
	"workspace list", "workspace show ws_1", "workspace show", "workspace create shop --root /srv", "workspace create", "workspace update ws_1 --name b --quota=", "workspace update ws_1 --keep-tasks 30d --keep-sessions forever", "workspace update ws_1 --keep-tasks soon", "workspace update ws_1 --keep-size 10GiB", "workspace update ws_1 --keep-size unlimited", "workspace update ws_1 --keep-size 0", "workspace update ws_1 --keep-size=-1", "workspace update ws_1 --keep-size 1.5GiB",
	"workspace update ws_1 --keep-size 9999999TiB", "workspace update ws_1 --keep-size=", "workspace update ws_1 --keep-size 1GiB --keep-as-the-node", "workspace update ws_1 --keep-as-the-node", "workspace update ws_1",
	"file list ws_1", "file list ws_1 notes", "file list", "file get ws_1 a.txt", "file get ws_1 notes/", "file put ws_1 a.txt --file testdata/asked/value", "file put ws_1 a.txt", "file put ws_1 a --file testdata",
	"file put ws_1", "file rm ws_1 a.txt", "file rm ws_1",
	"memory list", "memory list --scope persona --owner persona_1 --workspace ws_1 --session s --limit 3", "memory list --scope odd", "memory list --limit 0", "memory search ship", "memory search",
	"memory show mem_1", "memory create fact --scope persona --owner persona_1 --visibility internal", "memory create -f testdata/asked/memory.yaml --owner ws_1", "memory create",
	"memory create a --lasts -1s", "memory redact mem_1", "memory redact",
	"branch list sess_1", "branch list", "branch show branch_1", "branch create sess_1 --from main --parent branch_0 --task task_1", "branch lineage branch_1", "branch merge branch_1", "branch merge branch_1 --append",
	"branch abandon branch_1 --reason r",
	"event list", "event list --session sess_1 --task t --workspace w --after 5 --limit 3", "event list --limit 0", "event show 7", "event tail --session sess_1 --after 5",
	"node show", "node ready", "node capabilities", "node tools", "node tool host:time_now", "node tool", "node models",
	"session update sess_1 --name n --persona= --skill-bundle a,b", "session update sess_1", "session messages sess_1", "session messages sess_1 --limit 0", "session message msg_1", "session say sess_1 Hello --role system",
	"session say sess_1", "session truncate sess_1 --keep 0", "session truncate sess_1", "session replay sess_1 --reason r",
	"persona delete persona_1", "persona delete", "persona skills", "persona skills --workspace ws_1", "persona skills skill_b", "persona offer persona_a twice --description d --takes {} --approval", "persona offer persona_a twice",
	"persona offer persona_a twice --description d --takes {", "persona update-offer skill_b --deprecated", "persona update-offer skill_b --deprecated=false --version 3 --gives {}", "persona update-offer skill_b",
	"skill show pdf", "skill update pdf --title t", "skill update pdf",
	"vault show vault_1", "vault update vault_1 --connector conn_1", "vault update vault_1 --persona= --capability read", "vault update vault_1 --capability read", "vault update vault_1", "vault set vault_1",
	"connector list --urls", "connector update conn_1 --name n --persona= --secret hook --vault vault_1 --webhook=false --ordered=false --event a,b", "connector update conn_1 -f testdata/asked/connector-change.yaml --timezone UTC",
	"connector update conn_1", "connector delete conn_1", "connector delete",
	"quota show quota_1", "tool-server show tsrv_1", "webhook update hook_1 --url https://b.test --event task.* --persona=", "webhook update hook_1",
	"artifact add testdata/asked/value --workspace ws_1", "artifact add testdata/asked/value --name v.md", "artifact add testdata/asked/none", "artifact add",
}

// fakeNode is a node that answers what testdata/answers.json says, or refuses everything.
type fakeNode struct {
	answers map[string]jsontext.Value
	refuses string // a code, "" for none
	status  int
	asked   strings.Builder
}

func (n *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(&n.asked, "> %s %s %s\n", r.Method, r.URL.RequestURI(), body)
	for _, name := range []string{"Idempotency-Key", "Prefer", "Accept", "Content-Type", "A", "Webhook-Id", "Webhook-Signature", "X-Hub-Signature-256"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&n.asked, ">   %s: %s\n", name, v)
		}
	}
	answer, known := n.answers[r.Method+" "+r.URL.Path]
	switch {
	case n.refuses != "":
		w.WriteHeader(n.status)
		fmt.Fprintf(w, `{"error":{"code":%q,"message":"it is refused","request_id":"req_1"}}`, n.refuses)
	case !known:
		w.WriteHeader(http.StatusTeapot)
	default:
		_, _ = w.Write(answer)
	}
}

// refusals are those that commands have advice for.
var refusals = []struct {
	code   string
	status int
}{{"resource_not_found", 404}, {"conflict", 409}, {"invalid_state_transition", 409}}

// ownName hides what this program is called.
var ownName = strings.NewReplacer("go run ./cmd/wharf", "wharf", "wharf.test", "wharf")

var (
	stamped = regexp.MustCompile(`2020-01-0\d \d\d:\d\d:\d\d\.\d{3}`)
	agoDays = regexp.MustCompile(`\d{4}d ago`)
	advice  = regexp.MustCompile(`(?m)^  try .*|^code \d+|^\{.*`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// ask runs a command line against the node, and writes all that can be seen of it.
func (n *fakeNode) ask(t *testing.T, server, key string, line string, more ...string) string {
	t.Helper()
	n.asked.Reset()
	args := append(strings.Fields(line), more...)
	var out, errs bytes.Buffer
	env := map[string]string{"WHARF_SERVER": server, "WHARF_API_KEY": key, "KEY": "secret"}
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }}
	code := a.execute(t.Context(), args)
	text := fmt.Sprintf("$ wharf %s\n%s%s", strings.Join(args, " "), &n.asked, &out)
	if errs.Len() > 0 {
		text += "stderr:\n" + errs.String()
	}
	text += fmt.Sprintf("code %d\n\n", code)
	text = stamped.ReplaceAllString(ownName.Replace(text), "2020-01-02 03:04:05.000")
	return address.ReplaceAllString(agoDays.ReplaceAllString(text, "2000d ago"), "127.0.0.1:0")
}

// TestCommandsThatAskANode holds what each command that asks a node sends, prints and
// ends with: for people, as JSON, when it is refused, and without a key.
func TestCommandsThatAskANode(t *testing.T) {
	content, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{}
	if err := json.Unmarshal(content, &n.answers); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	defer server.Close()
	var text strings.Builder
	for _, line := range asked {
		n.refuses = ""
		text.WriteString(n.ask(t, server.URL, "wharf_key", line))
		text.WriteString(n.ask(t, server.URL, "wharf_key", line, "--json"))
		text.WriteString(n.ask(t, server.URL, "", line))
		for _, r := range refusals {
			n.refuses, n.status = r.code, r.status
			fmt.Fprintf(&text, "%s: %s\n", r.code, strings.Join(advice.FindAllString(n.ask(t, server.URL, "wharf_key", line), -1), ", "))
		}
		text.WriteString("\n")
	}
	checkGolden(t, "asked.txt", text.String())
}
