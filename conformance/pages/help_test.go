package pages

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/internal/share"
)

// before is what has to be there when an example runs, for those that use something up, or wait for somebody. The
// first that fits counts.
var before = []struct {
	example *regexp.Regexp
	script  string
}{
	{regexp.MustCompile(`^wharf plugin (build|test|lint|package|package --sign my.key)$`), `cd hello; cp -p ../my.key .`},
	{regexp.MustCompile(`^wharf plugin key new`), `rm my.key`},
	{regexp.MustCompile(`^wharf plugin new hello`), `rm -r hello`},
	{regexp.MustCompile(`^wharf plugin test .*--run greet`), `mv my-plugin/testdata/*.yaml my-plugin/testdata/greet.yaml`},
	{regexp.MustCompile(`^wharf plugin test .*--record`), `ID_TASK=$(new task task submit Hello --persona persona_my-plugin --wait=5m)`},
	{regexp.MustCompile(`^wharf plugin test .*--run task`), `ID_TASK=$(new task task submit Hello --persona persona_my-plugin --wait=5m); wharf plugin test my-plugin --record $ID_TASK`},
	{regexp.MustCompile(`^wharf plugin rollback`), `wharf plugin remove triage --force || true; wharf plugin install triage11; wharf plugin install triage`},
	{regexp.MustCompile(`^wharf plugin (remove|disable|enable|show|versions)`), `wharf plugin install triage || true`},
	{regexp.MustCompile(`^wharf plugin install triage`), `wharf plugin remove triage --force || true`},
	{regexp.MustCompile(`^wharf plugin install build/out.wasm`), `wharf plugin remove triage --force || true`},
	{regexp.MustCompile(`^wharf doctor$`), `cp -a stopped wharf-data`},
	{regexp.MustCompile(`large.pdf`), `cp README.md large.pdf`},
	{regexp.MustCompile(`^wharf restore`), `rm -r stopped`},
	{regexp.MustCompile(`^wharf backup /`), `rm -r backups/*`},
	{regexp.MustCompile(`^wharf config (check|show)`), `wharf config init >wharf.yaml`},
	{regexp.MustCompile(`^wharf a2a send coder .*--task`), `printf "tools: {coder: {a2a: '$N', headers: {Authorization: 'Bearer $KEY'}}}\n" >wharf.yaml; ID_TASK=$(asks_input)`},
	{regexp.MustCompile(`^wharf a2a .* coder `), `printf "tools: {coder: {a2a: '$N', headers: {Authorization: 'Bearer $KEY'}}}\n" >wharf.yaml`},
	{regexp.MustCompile(`^wharf harness register`), `wharf harness delete desk || true`},
	{regexp.MustCompile(`^wharf (harness delete desk|agent list --harness)`), `wharf harness register desk --plugin agent || true`},
	{regexp.MustCompile(`^wharf agent (import|run \./)`), `wharf agent delete my-agent || true`},
	{regexp.MustCompile(`^wharf agent (export|clone|delete|show|run)`), `wharf agent import ./my-agent || true`},
	{regexp.MustCompile(`^git log`), `git init -q .; git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m "A change."`},
	{regexp.MustCompile(`^wharf skill install`), `wharf skill uninstall my-skill || true`},
	{regexp.MustCompile(`^wharf skill (upgrade|rollback) my-skill`), `wharf skill uninstall my-skill || true; wharf skill install my-skill; sed -i 's/1.0.0/1.1.0/' my-skill/SKILL.md; [ "$EXAMPLE" = upgrade ] || wharf skill upgrade my-skill my-skill`},
	{regexp.MustCompile(`^wharf skill .*pdf-forms`), `wharf skill uninstall pdf-forms || true; wharf skill install pdf-forms; [ "$EXAMPLE" = download ] || [ "$EXAMPLE" = uninstall ] || [ "$EXAMPLE" = versions ] || { sed -i 's/1.0.0/1.1.0/' pdf-forms/SKILL.md; [ "$EXAMPLE" = upgrade ] || wharf skill upgrade pdf-forms pdf-forms; }`},
	{regexp.MustCompile(`^wharf task submit .*--skill-bundle`), `wharf skill install my-skill || true`},
	{regexp.MustCompile(`^wharf connector test .*HOOK`), `ID_CONN=$(new conn connector create --provider github --webhook --secret hook --persona persona_echo)`},
	{regexp.MustCompile(`^wharf session fork .*--at`), `EVENT=$(curl -sS "$N/v1/sessions/$ID_SESS/events" -H "Authorization: Bearer $KEY" -H "Harn-Agents-Protocol-Version: agents-protocol-2026-04-25" | jq -r '.data[0].id')`},
	{regexp.MustCompile(`^wharf session resume`), `ID_SESS=$(new_session); wharf session pause $ID_SESS`},
	{regexp.MustCompile(`^wharf session (replace|revoke) `), `ID_SESS=$(new_session); ID_INJ=$(queued $ID_SESS)`},
	{regexp.MustCompile(`^wharf session revoke-reminder`), `ID_SESS=$(new_session); ID_INJ=$(wharf session remind $ID_SESS Rebased --json | id inj)`},
	{regexp.MustCompile(`^wharf session (detach|heartbeat|takeover)`), `ID_SESS=$(new_session); wharf session attach $ID_SESS script`},
	{regexp.MustCompile(`^wharf session (pause|close|attach|inject|remind|wake|delete)`), `ID_SESS=$(new_session)`},
	{regexp.MustCompile(`^wharf session create .*--skill`), `ID_SKILL=$(wharf task submit x >x; curl -sS $N/v1/skills -H "Authorization: Bearer $KEY" -H "Harn-Agents-Protocol-Version: agents-protocol-2026-04-25" | id skill)`},
	{regexp.MustCompile(`^wharf persona reinstate`), `ID_PERSONA=$(new_persona); wharf persona retire $ID_PERSONA`},
	{regexp.MustCompile(`^wharf persona update-offer`), `ID_SKILL=$(new skill persona offer $(new_persona) units --description "Converts units")`},
	{regexp.MustCompile(`^wharf persona (clone|rename|retire|update|delete|offer)`), `ID_PERSONA=$(new_persona)`},
	{regexp.MustCompile(`^wharf task delete`), `ID_TASK=$(new_task)`},
	{regexp.MustCompile(`^wharf artifact delete`), `ID_ART=$(new art artifact add notes.txt --workspace $(new ws workspace create "ours $RANDOM"))`},
	{regexp.MustCompile(`^wharf artifact add report.pdf`), `cp README.md report.pdf`},
	{regexp.MustCompile(`^wharf artifact add -`), `exec <<<a-note`},
	{regexp.MustCompile(`^wharf hold place`), `ID_WS=$(new ws workspace create "held $RANDOM"); ID_TASK=$(new_task)`},
	{regexp.MustCompile(`^wharf hold release`), `ID_TASK=$(new_task); wharf hold place $ID_TASK --reason "case 4711"`},
	{regexp.MustCompile(`^wharf connector delete`), `ID_CONN=$(new conn connector create -f orders.yaml)`},
	{regexp.MustCompile(`^wharf session message `), `ID_SESS=$(new_session); wharf session say $ID_SESS Hello; ID_MSG=$(wharf session messages $ID_SESS --json | id msg)`},
	{regexp.MustCompile(`^wharf memory create -f`), `echo '{"scope":"workspace","owner_id":"ws_default","content":"We ship on Fridays","provenance":{}}' >fact.yaml`},
	{regexp.MustCompile(`^wharf memory (show|redact)`), `ID_MEM=$(new mem memory create "We ship on Fridays" --scope workspace --owner ws_default)`},
	{regexp.MustCompile(`^wharf file list .* notes`), `wharf file put ws_default notes/kept.md --file notes.txt`},
	{regexp.MustCompile(`^wharf file put`), `cp notes.txt today.md`},
	{regexp.MustCompile(`^wharf file (get|rm) .*today`), `wharf file put ws_default notes/today.md --file notes.txt`},
	{regexp.MustCompile(`^wharf file get .*logo`), `wharf file put ws_default logo.png --file notes.txt`},
	{regexp.MustCompile(`^wharf branch .*branch_`), `ID_SESS=$(new_session); ID_BRANCH=$(wharf session fork $ID_SESS --json | jq -r .branch_id)`},
	{regexp.MustCompile(`^wharf workspace update`), `ID_WS=$(new ws workspace create "kept $RANDOM")`},
	{regexp.MustCompile(`^wharf task answer .*--(approve|deny)`), `ID_TASK=$(asks_approval)`},
	{regexp.MustCompile(`^wharf task (answer|cancel)`), `ID_TASK=$(asks_input)`},
	{regexp.MustCompile(`^wharf inbox answer .*roots`), `ID_PERM=$(question $(asks_roots))`},
	{regexp.MustCompile(`^wharf inbox (answer|deny .*--code)`), `ID_PERM=$(question $(asks_input))`},
	{regexp.MustCompile(`^wharf inbox`), `ID_PERM=$(question $(asks_approval))`},
	{regexp.MustCompile(`^wharf key revoke`), `ID_KEY=$(new key key create once)`},
	{regexp.MustCompile(`^wharf vault rm`), `ID_VAULT=$(new vault vault create --persona persona_agent); wharf vault set $ID_VAULT crm --from-env CRM_TOKEN`},
	{regexp.MustCompile(`^wharf vault set .*--host`), `exec <<<a-token`},
	{regexp.MustCompile(`^wharf connector pause`), `ID_CONN=$(new conn connector create -f orders.yaml)`},
	{regexp.MustCompile(`^wharf connector resume`), `ID_CONN=$(new conn connector create -f orders.yaml); wharf connector pause $ID_CONN`},
	{regexp.MustCompile(`^wharf webhook delete`), `ID_HOOK=$(new hook webhook create "$WHARF_SERVER/nowhere" --event task.failed)`},
	{regexp.MustCompile(`^wharf webhook resume`), `ID_HOOK=$(new hook webhook create "$WHARF_SERVER/nowhere" --event task.failed --paused)`},
	{regexp.MustCompile(`^wharf key rotate --lost`), `rm stopped/keys/signing-keys.json`},
	{regexp.MustCompile(`^wharf vault rotate --lost`), `rm stopped/keys/vault.age`},
	{regexp.MustCompile(`^wharf tool-server (create|rm|update)`), `ID_TSRV=$(new tsrv tool-server create away-$RANDOM --url "$WHARF_SERVER/mcp")`},
}

// exception is an example that is not run, and why.
type exception struct {
	example *regexp.Regexp
	reason  string
}

// unrun says why an example is not run. That it is a command line that the program takes, TestExamplesParse of cmd/wharf
// holds for each.
var unrun = []exception{
	{regexp.MustCompile(`^(WHARF_API_KEY=.* )?wharf serve`), "it runs until it is stopped, and every test of a node starts one so"},
	{regexp.MustCompile(`^wharf event tail`), "it runs until it is stopped: TestCommandsThatAskANode of cmd/wharf"},
	{regexp.MustCompile(`^wharf plugin dev`), "it runs until it is stopped: TestDevLoadsEachSave of cmd/wharf"},
	{regexp.MustCompile(`^wharf (mcp|acp) --embedded`), "it has a node of its own, as serve: TestPipeWithoutANode and TestACPEmbedded of cmd/wharf"},
	{regexp.MustCompile(`^wharf plugin (push|pull)`), "it needs a registry: TestPackagesInARegistry of cmd/wharf"},
	{regexp.MustCompile(`^wharf (key|vault) rotate$`), "the other examples have the old key"},
	{regexp.MustCompile(`dead_01K0|whd_01K0`), "it needs what could not be delivered: TestScripts and TestCommandsThatAskANode of cmd/wharf"},
	{regexp.MustCompile(`--override secret:`), "it needs a Task that has used a secret"},
	{regexp.MustCompile(`--skill units`), "it needs the plugin of examples/units, whose page has the same: TestExamples of conformance/tutorials"},
	{regexp.MustCompile(`^wharf vault create --provider env`), "it needs vaults.env: TestScripts of cmd/wharf"},
	{regexp.MustCompile(`^wharf tool-server (read|prompt) `), "it needs a server with just that: TestCommandsThatAskANode of cmd/wharf"},
	{regexp.MustCompile(`^wharf artifact get .*jq`), "it needs an Artifact that is JSON"},
	{regexp.MustCompile(`^wharf a2a delegate coder`), "it asks on a terminal before it pays: that of docs/delegation.md says --yes"},
	{regexp.MustCompile(`^curl .* \.\.\.$`), "it leaves out what is asked"},
	{regexp.MustCompile(`^export `), "it shows where a key goes"},
}

// examples returns the examples in the help of all commands and of all codes, each once.
func examples(t *testing.T) []string {
	t.Helper()
	help := read(t, "cmd/wharf/testdata/help.txt")
	var all []string
	for _, block := range regexp.MustCompile(`(?m)^Examples:\n((?:  .*\n)+)`).FindAllStringSubmatch(help, -1) {
		for line := range strings.Lines(block[1]) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	for _, f := range fences(t, "docs/errors.md") { // the same as "wharf explain" shows
		all = append(all, strings.Split(f.text, "\n")...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestHelpExamples runs the examples of help, each in a folder of its own, on one node: this run's share of them, and
// with WHARF_LONG all.
func TestHelpExamples(t *testing.T) {
	all := examples(t)
	if len(all) < 250 {
		t.Fatalf("help has %d examples", len(all))
	}
	mine := share.Of(t)
	if os.Getenv("WHARF_LONG") != "" {
		mine = share.All
	}
	w := open(t)
	used, taken := map[int]bool{}, newTurns()
	for n, example := range all {
		if i := slices.IndexFunc(unrun, func(u exception) bool { return u.example.MatchString(example) }); i >= 0 {
			used[i] = true
			continue
		}
		if !mine(n) {
			continue
		}
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			defer taken.turn(example)()
			w.try(t, example)
		})
	}
	for i := range unrun {
		if !used[i] {
			t.Errorf("no example is %s", unrun[i].example)
		}
	}
}

// shared are names of what examples of several commands make and remove: those of one name run one after another.
var shared = []string{"desk", "triage", "my-skill", "pdf-forms", "my-agent", "notes/today.md"}

// turns are the locks of those names.
type turns map[string]*sync.Mutex

func newTurns() turns {
	all := turns{}
	for _, name := range shared {
		all[name] = &sync.Mutex{}
	}
	return all
}

// turn waits until an example may run.
func (all turns) turn(example string) (done func()) {
	var held []*sync.Mutex
	for _, name := range shared {
		if strings.Contains(example, name) || name == "triage" && strings.Contains(example, "build/out.wasm") {
			all[name].Lock()
			held = append(held, all[name])
		}
	}
	return func() {
		for _, m := range held {
			m.Unlock()
		}
	}
}

func (w *workshop) try(t *testing.T, example string) {
	t.Helper()
	script := ". ./env.sh\n"
	if words := strings.Fields(example); len(words) > 2 {
		script += "EXAMPLE=" + words[2] + "\n"
	}
	for _, b := range before {
		if b.example.MatchString(example) {
			script += b.script + "\n"
			break
		}
	}
	script += here(t, example)
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute) // one that never ends is told by its name
	defer end()
	if out, err := w.bash(ctx, w.copied(t, script), script); err != nil {
		t.Errorf("%v\n%s\n%s", err, script, out)
	}
}
