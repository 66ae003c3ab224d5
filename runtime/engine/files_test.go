package engine_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/files"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// withFiles gives a node a folder for the files of Workspaces.
func withFiles(t testing.TB) enginetest.Configure {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return func(_ *engine.Config, p *engine.Parts) { p.Files = root }
}

// fileText returns what a file of the default Workspace holds; "-" for no file.
func (n *node) fileText(t testing.TB, p string) string {
	t.Helper()
	_, content, err := n.OpenFile(t.Context(), n.Root, tenancy.DefaultWorkspace, p)
	if err != nil {
		return "-"
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// changes are writes and removals of files, and one that is refused.
var changes = []op{
	{abi.CallFileWrite, `{"path":"a","text":"one"}`},
	{abi.CallFileWrite, `{"path":"a","text":" two","mode":"append"}`},
	{abi.CallFileWrite, `{"path":"a","text":"x","mode":"create"}`},
	{abi.CallFileRead, `{"path":"a","call_id":"look"}`},
	{abi.CallFileWrite, `{"path":"b/c","text":"three"}`},
	{abi.CallFileSearch, `{"text":"two"}`},
	{abi.CallFileRemove, `{"path":"b/c"}`},
	{abi.CallFileList, ``},
}

// What a Task does to files is done as far as its tier goes, told by its own events, named in its
// receipt, and proved; a replay touches no file.
func TestFilesOnEveryTier(t *testing.T) {
	for tier, want := range map[abi.AutonomyTier]string{
		abi.TierActAuto: "one two", abi.TierActWithApproval: "one two", abi.TierSuggest: "-", abi.TierShadow: "-",
	} {
		t.Run(string(tier), func(t *testing.T) {
			p := newProgram(changes...)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withFiles(t), atTier(tier))
			id := n.Submit(t, n.Session(t), "persona_program")
			if tier == abi.TierActWithApproval {
				for range 5 {
					n.parked(t, id)
					n.decide(t, id, `{"decision":"approved"}`)
				}
			}
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			if got := n.fileText(t, "a"); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
			n.wantProof(t, id)
			told := strings.Count(strings.Join(n.Kinds(t, desk.Filter{TaskID: id}), " "), string(abi.EventFileWritten))
			wire, err := n.ReceiptWire(t.Context(), n.Root, n.task(t, id).ReceiptID)
			if err != nil {
				t.Fatal(err)
			}
			done := want != "-"
			for _, effect := range []string{`"operation":"create","path":"a"`, `"operation":"modify","path":"a"`, `"operation":"delete","path":"b/c"`} {
				if strings.Contains(string(wire), effect) != done {
					t.Errorf("the receipt tells %s: %t\n%s", effect, !done, wire)
				}
			}
			if strings.Count(string(wire), `"operation"`) != map[bool]int{true: 4}[done] || told != map[bool]int{true: 3}[done] {
				t.Errorf("the task's events tell of %d files, its receipt: %s", told, wire)
			}
			n.changed(t, "a", "by another")
			n.wantReplay(t, id)
			if got := n.fileText(t, "a"); got != "by another" {
				t.Errorf("a replay has made it %q", got)
			}
		})
	}
}

// changed writes a file as a client.
func (n *node) changed(t testing.TB, p, content string) {
	t.Helper()
	if _, _, err := n.WriteFile(t.Context(), n.Root, tenancy.DefaultWorkspace, p, strings.NewReader(content), files.Condition{}); err != nil {
		t.Fatal(err)
	}
}

// Files are outside of the log: a fork is told what its source was told, and finds the files as
// they are.
func TestForksFindFilesAsTheyAre(t *testing.T) {
	p := newProgram(op{abi.CallFileWrite, `{"path":"a","text":"one","mode":"append"}`}, op{abi.CallClock, ``}, op{abi.CallFileRead, `{"path":"a"}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withFiles(t))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	n.changed(t, "a", "by another")
	rec, err := n.TaskRecord(t.Context(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[1].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, enginetest.As[abi.Task](t, doc).ID); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	runs := p.runs()
	if fork := runs[len(runs)-1]; fork[0] != runs[0][0] || !strings.Contains(fork[2], "by another") || n.fileText(t, "a") != "by another" {
		t.Errorf("the fork was told %q", fork)
	}
}

// A node that keeps no files says so.
func TestNodesWithoutFiles(t *testing.T) {
	p := newProgram(changes...)
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo})
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	for i, told := range p.runs()[0] {
		if !strings.Contains(told, "not_configured") {
			t.Errorf("%s was answered %s", changes[i].call, told)
		}
	}
}

// toolChanges are what changes does, as a model asks for it.
var toolChanges = []op{
	{abi.CallToolCall, `{"server":"host","name":"file_write","arguments":{"path":"a","content":"one"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_edit","arguments":{"path":"/a","old":"one","new":"one two"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_read","arguments":{"path":"a"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_write","arguments":{"path":"b/c","content":"three"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_write","arguments":{"path":"b/d/e","content":"four"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_list","arguments":{"recursive":true}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_search","arguments":{"grep":"t.o","glob":"a"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_remove","arguments":{"path":"b","recursive":true}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_edit","arguments":{"path":"a","old":"none","new":"x"}}`},
	{abi.CallToolCall, `{"server":"host","name":"file_write","arguments":{"path":"a"}}`},
}

// withFileTools lets a program call the tools of the host.
func withFileTools(_ *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
}

// What a model does to files by tools is held to what holds for the host calls: its tier, events,
// receipt, proof, and a replay that touches no file.
func TestFileToolsOnEveryTier(t *testing.T) {
	for tier, want := range map[abi.AutonomyTier]string{
		abi.TierActAuto: "one two", abi.TierActWithApproval: "one two", abi.TierSuggest: "-", abi.TierShadow: "-",
	} {
		t.Run(string(tier), func(t *testing.T) {
			p := newProgram(toolChanges...)
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withFiles(t), withFileTools, atTier(tier))
			id := n.Submit(t, n.Session(t), "persona_program")
			if tier == abi.TierActWithApproval {
				for range 6 {
					n.parked(t, id)
					n.decide(t, id, `{"decision":"approved"}`)
				}
			}
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			if got := n.fileText(t, "a"); got != want || n.fileText(t, "b/c") != "-" {
				t.Errorf("the file holds %q, want %q", got, want)
			}
			n.wantProof(t, id)
			wire, err := n.ReceiptWire(t.Context(), n.Root, n.task(t, id).ReceiptID)
			if err != nil {
				t.Fatal(err)
			}
			done := want != "-"
			for _, effect := range []string{`"operation":"create","path":"a"`, `"operation":"modify","path":"a"`, `"operation":"create","path":"b/c"`, `"operation":"delete","path":"b/c"`, `"operation":"delete","path":"b/d/e"`} {
				if strings.Count(string(wire), effect) != map[bool]int{true: 1}[done] {
					t.Errorf("the receipt does not tell %s: %t\n%s", effect, done, wire)
				}
			}
			kinds := strings.Join(n.Kinds(t, desk.Filter{TaskID: id}), " ")
			if got := strings.Count(kinds, string(abi.EventFileWritten)); got != map[bool]int{true: 4}[done] {
				t.Errorf("%d writes are told", got)
			}
			told := p.runs()[len(p.runs())-1]
			for i, answer := range map[int]string{2: "one two", 5: "b/d/e", 6: "a:1: one two", 8: "does not have the old text", 9: "content is the text"} {
				if done && !strings.Contains(told[i], answer) {
					t.Errorf("call %d is answered %s, want %s", i, told[i], answer)
				}
			}
			n.changed(t, "a", "by another")
			n.wantReplay(t, id)
			if got := n.fileText(t, "a"); got != "by another" {
				t.Errorf("a replay has made it %q", got)
			}
		})
	}
}

// A Persona whose capabilities do not name a host call is not given the tool that stands for it.
func TestFileToolsNeedCapabilities(t *testing.T) {
	p := newProgram(toolChanges[0], toolChanges[5])
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withFiles(t), withFileTools, func(_ *engine.Config, p *engine.Parts) {
		for i := range p.Personas {
			p.Personas[i].Capabilities = []string{"tool.*", abi.CallFileList}
		}
	})
	n.Wait(t, n.Submit(t, n.Session(t), "persona_program"))
	told := p.runs()[0]
	if !strings.Contains(told[0], "capability_denied") || strings.Contains(told[1], "denied") || n.fileText(t, "a") != "-" {
		t.Errorf("it is told %q", told)
	}
}
