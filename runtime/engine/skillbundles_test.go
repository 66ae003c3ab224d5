package engine_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

func skillFiles(t testing.TB, version string) *filetree.Tree {
	t.Helper()
	text := "---\nname: pdf\ndescription: Reads PDFs.\nversion: " + version + "\n---\nRead on in more.md.\n"
	tree, err := filetree.ReadFiles(func(yield func(filetree.Named, error) bool) {
		_ = yield(filetree.Named{Path: "pdf/SKILL.md", Content: strings.NewReader(text)}, nil) &&
			yield(filetree.Named{Path: "pdf/more.md", Content: strings.NewReader("more of " + version)}, nil)
	}, skillmd.Limits())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (n *node) installSkill(t testing.TB, version string) string {
	t.Helper()
	doc, err := n.InstallSkillBundle(t.Context(), n.Root, nil, abi.InstallSkillBundleRequest{WorkspaceID: tenancy.DefaultWorkspace}, skillFiles(t, version))
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (n *node) submitWith(t testing.TB, session string, skills ...string) string {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program",
		Input: enginetest.Text("go"), Run: &abi.RunOptions{Skills: skills}})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// readsSkills tells of the skills, reads their files as calls and as tools, and is cut before its end.
var readsSkills = []op{
	{abi.CallInput, ``},
	{abi.CallSkillRead, `{"skill":"pdf"}`},
	{abi.CallStateSet, `{"key":"a","value":1}`},
	{abi.CallToolCall, `{"server":"host","name":"skill_read","arguments":{"skill":"pdf","path":"more.md"}}`},
	{abi.CallToolCall, `{"server":"host","name":"skill_read","arguments":{"skill":"pdf"}}`},
	{abi.CallSkillRead, `{"skill":"other"}`},
}

// A Task has its skills as they were when it started: it goes on with them after a crash, and is
// replayed, proved and forked with them, when they were upgraded and uninstalled meanwhile.
func TestSkillsOfATaskStay(t *testing.T) {
	p := newProgram(readsSkills...)
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	tools := func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallToolCall: open{}}
	}
	first := newNode(t, g, tools)
	bundle := first.installSkill(t, "1.0.0")
	p.stopBefore(3)
	id := first.submitWith(t, first.Session(t), "pdf")
	<-p.there
	if _, _, err := first.UpgradeSkillBundle(t.Context(), first.Root, nil, bundle, abi.UpgradeSkillBundleRequest{}, skillFiles(t, "2.0.0")); err != nil {
		t.Fatal(err)
	}
	if err := first.UninstallSkillBundle(t.Context(), first.Root, nil, bundle); err != nil {
		t.Fatal(err)
	}
	disk := first.Disk.Crash(1, 0)
	p.stopBefore(-1)
	n := boot(t, disk, g, tools)
	defer n.Stop(t)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	runs := p.runs()
	told := runs[len(runs)-1]
	for i, want := range []string{`"session_id":`, `"version":"1.0.0","path":"SKILL.md"`, ``, `more of 1.0.0`, `Read on in more.md.\n\nFiles of this skill: more.md`, `"code":"unknown_skill"`} {
		if !strings.Contains(told[i], want) {
			t.Errorf("call %d was answered %s", i, told[i])
		}
	}
	if !strings.HasSuffix(told[0], `,"skills":[{"name":"pdf","description":"Reads PDFs.","version":"1.0.0"}]}`) {
		t.Errorf("it was told %s", told[0])
	}
	n.wantProof(t, id)
	n.wantReplay(t, id)
	doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: n.recordOf(t, id).Entries[0].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, doc.ID); task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	runs = p.runs()
	if forked := runs[len(runs)-1]; forked[0] != told[0] || forked[3] != told[3] || forked[4] != told[4] {
		t.Errorf("the fork was told %q, its source %q", forked, told)
	}
}

// Tasks that name no skill are told of none, and a name that stands for nothing is refused.
func TestTasksWithoutSkills(t *testing.T) {
	p := newProgram(op{abi.CallInput, ``}, op{abi.CallSkillRead, `{"skill":"pdf"}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo})
	n.installSkill(t, "1.0.0")
	session := n.Session(t)
	n.Wait(t, n.Submit(t, session, "persona_program"))
	told := p.runs()[0]
	if strings.Contains(told[0], `"skills"`) || !strings.Contains(told[1], "this task has no skill") {
		t.Errorf("it was told %q", told)
	}
	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("go"), Run: &abi.RunOptions{Skills: []string{"pfd"}}})
	if refused := enginetest.WantCode(t, err, abi.CodeInvalidRequest); refused.Param != "run.skills" {
		t.Errorf("it is refused with %+v", refused)
	}
	if _, err := n.UpdateSession(t.Context(), n.Root, nil, session, abi.UpdateSessionRequest{Skills: []string{"pdf"}}); err != nil {
		t.Fatal(err)
	}
	n.Wait(t, n.Submit(t, session, "persona_program"))
	if told := p.runs()[1]; !strings.Contains(told[0], `"skills":[{"name":"pdf"`) || !strings.HasPrefix(told[1], "0 ") {
		t.Errorf("a task of a session with skills was told %q", told)
	}
}
