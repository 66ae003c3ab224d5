package openharness_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// parents makes an agent that may do little, and returns its path and id.
func (n *node) parents(t testing.TB) (path, id string) {
	t.Helper()
	id = n.do(t, "POST", "/wharf/agents", `{"name":"Parent","description":"d","model":"opus","system_prompt":"Lead.",
		"config":{"tools_access":{"allow":["Read","Write"],"deny":["Write"]}},"mcp_servers":[{"server_id":"desk","required":false}]}`).want(201).text("agent.id")
	return "/wharf/agents/" + id + "/subagents", id
}

const scout = `{"name":"Scout","description":"Looks ahead.","system_prompt":"Look."}`

func (n *node) spawns(t testing.TB, at, body string) string {
	t.Helper()
	return at + "/" + n.do(t, "POST", at, body).want(201).text("subagent.id")
}

// A subagent belongs to its parent alone, and may do what that may, whatever is asked for.
func TestSubagents(t *testing.T) {
	n := newNode(t, nil)
	at, parent := n.parents(t)
	if _, err := n.UpdatePersona(t.Context(), n.Root, nil, parent, abi.UpdatePersonaRequest{AutonomyTier: new(abi.TierSuggest), Handoffs: []string{"none"}}); err != nil {
		t.Fatal(err)
	}
	made := n.do(t, "POST", at, `{"name":"Scout","description":"Looks ahead.","system_prompt":"Look.","skills":["fix"],"model":"fast","tools":["Bash"],"config":{"tools_access":{"allow":["Bash"]}}}`).want(201)
	id := made.text("subagent.id")
	if made.text("subagent.status") != "idle" || made.text("subagent.parent_agent_id") != parent || made.text("subagent.name") != "Scout" || made.text("subagent.description") != "Looks ahead." {
		t.Errorf("%s", made.body)
	}
	own, err := n.Persona(t.Context(), n.Root.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	of, err := n.Persona(t.Context(), n.Root.Tenant, parent)
	if err != nil {
		t.Fatal(err)
	}
	if own.AutonomyTier != abi.TierSuggest || !slices.Equal(own.Tools, of.Tools) || !slices.Equal(own.ToolsDenied, of.ToolsDenied) || len(own.ToolsDenied) == 0 ||
		!slices.Equal(own.Handoffs, of.Handoffs) || own.WorkspaceID != of.WorkspaceID || own.EntryWorkflow != of.EntryWorkflow || len(own.Agent.MCPServers) != 1 {
		t.Errorf("%+v\nis no child of\n%+v", own, of)
	}
	if a := own.Agent; a.Model != "fast" || a.Instructions != "Look." || a.Skills[0].Name != "fix" || a.ParentID != parent || own.Version == "" {
		t.Errorf("%+v", a)
	}
	second := n.do(t, "POST", at, `{"name":"Second","description":"d"}`).want(201).text("subagent.id")
	if own, err := n.Persona(t.Context(), n.Root.Tenant, second); err != nil || own.Agent.Model != of.Agent.Model || own.Agent.Instructions != "" {
		t.Errorf("%+v, %v", own.Agent, err)
	}
	if got := n.do(t, "GET", at, nil).want(200); got.text("subagents.0.id") != second || got.text("subagents.1.id") != id || got.get("subagents.2") != nil {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/wharf/agents", nil).want(200); got.get("total") != 1.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", at, scout).fails(409, "CONFLICT")
	for member, body := range map[string]string{
		"name": `{"description":"d"}`, "description": `{"name":"x"}`, "model": `{"name":"x","description":"d","model":"best"}`,
		"name has 1 to 100": `{"name":"` + strings.Repeat("é", 101) + `","description":"d"}`,
	} {
		if got := n.do(t, "POST", at, body).want(400); !strings.Contains(string(got.body), member) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	other := n.do(t, "POST", "/wharf/agents", `{"name":"Other","description":"d"}`).want(201).text("agent.id")
	for _, path := range []string{"/wharf/agents/" + other + "/subagents/" + id, at + "/" + other, at + "/none", "/wharf/agents/none/subagents/" + id} {
		n.do(t, "GET", path, nil).fails(404, "NOT_FOUND")
		n.do(t, "GET", path+"/result", nil).fails(404, "NOT_FOUND")
		n.do(t, "DELETE", path, nil).fails(404, "NOT_FOUND")
		n.do(t, "POST", path+"/delegate", `{"task":"go"}`).fails(404, "NOT_FOUND")
	}
	n.do(t, "GET", "/wharf/agents/none/subagents", nil).fails(404, "NOT_FOUND")
	n.do(t, "POST", "/wharf/agents/none/subagents", scout).fails(404, "NOT_FOUND")
	n.do(t, "GET", at, nil, by(n.stranger(t))).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", at+"/"+id, nil).want(204)
	n.do(t, "GET", at+"/"+id, nil).fails(404, "NOT_FOUND")
}

// What is delegated is done in one session of the subagent, also when clients are many at once, and
// told as executions are.
func TestDelegation(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	at := "/wharf/agents/" + n.do(t, "POST", "/wharf/agents", `{"name":"Parent","description":"d"}`).want(201).text("agent.id") + "/subagents"
	at = n.spawns(t, at, scout)
	n.do(t, "GET", at+"/result", nil).fails(404, "NOT_FOUND")
	n.do(t, "GET", at+"/stream", nil).fails(404, "NOT_FOUND")
	const most = 8
	ids := make([]string, most)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			got := n.do(t, "POST", at+"/delegate", fmt.Sprintf(`{"task":"go %d","context":{"n": %d}}`, i, i))
			if ids[i] = got.text("execution_id"); got.status != 200 || got.text("status") != "completed" {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	all.Wait()
	sessions := map[string]bool{}
	for i, id := range ids {
		task := n.Wait(t, id)
		sessions[task.SessionID] = true
		if task.Run == nil || !strings.HasSuffix(task.Run.Context, fmt.Sprintf(`{"n":%d}`, i)) {
			t.Errorf("%+v", task.Run)
		}
	}
	if len(sessions) != 1 {
		t.Errorf("there are %d sessions", len(sessions))
	}
	if text, kinds, _ := readAll(t, n.streams(t, "POST", at+"/delegate/stream", `{"task":"go"}`)); text != workedText || !strings.HasSuffix(kinds, "done ") {
		t.Errorf("%q, %s", text, kinds)
	}
	if text, _, _ := readAll(t, n.streams(t, "GET", at+"/stream", nil)); text != workedText {
		t.Errorf("%q", text)
	}
	if got := n.do(t, "GET", at+"/result", nil).want(200); got.text("result.output") != workedText || got.text("result.status") != "completed" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", at, nil).want(200); got.text("subagent.status") != "completed" {
		t.Errorf("%s", got.body)
	}
	for member, body := range map[string]string{
		"task": `{"task":""}`, "context is an object": `{"task":"go","context":[]}`, "and at most": `{"task":"go","context":{"a":"` + strings.Repeat("x", 16<<10) + `"}}`,
	} {
		if got := n.do(t, "POST", at+"/delegate", body).want(400); !strings.Contains(string(got.body), member) {
			t.Errorf("%s", got.body)
		}
	}
	first := n.do(t, "POST", at+"/delegate", `{"task":"once"}`, header("Idempotency-Key", "k")).want(200).text("execution_id")
	if again := n.do(t, "POST", at+"/delegate", `{"task":"once"}`, header("Idempotency-Key", "k")).want(200).text("execution_id"); again != first {
		t.Errorf("one key begins %s and %s", first, again)
	}
}

// A subagent that waits is running; terminated, it does so no more.
func TestTerminatedSubagents(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), enginetest.Guests{"agent": asks}, gateway.Config{WaitLimit: 1})
	at, _ := n.parents(t)
	all := at
	at = n.spawns(t, at, scout)
	var ids []string
	for range 3 {
		got := n.do(t, "POST", at+"/delegate", `{"task":"go"}`).want(202)
		ids = append(ids, got.text("execution_id"))
	}
	if got := n.do(t, "GET", at, nil).want(200); got.text("subagent.status") != "running" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", at+"/result", nil).fails(409, "CONFLICT")
	n.streams(t, "GET", "/wharf/executions/"+ids[0]+"/stream", nil).wants("progress")
	h, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	n.do(t, "DELETE", at, nil, by(n.key(t, []string{"personas:read", "personas:write"}, h.WorkspaceID))).fails(403, "FORBIDDEN")
	if task := n.do(t, "GET", "/wharf/executions/"+ids[0], nil).want(200); task.text("execution.status") != "running" {
		t.Errorf("who may not delete it has canceled its work: %s", task.body)
	}
	n.do(t, "DELETE", at, nil).want(204)
	for _, id := range ids {
		if task := n.Wait(t, id); task.Status != abi.TaskCanceled {
			t.Errorf("%s is %s", id, task.Status)
		}
	}
	n.do(t, "DELETE", at, nil).fails(404, "NOT_FOUND")
	n.do(t, "POST", at+"/delegate", `{"task":"go"}`).fails(404, "NOT_FOUND")
	if got := n.do(t, "GET", all, nil).want(200); got.get("subagents.0") != nil {
		t.Errorf("%s", got.body)
	}
	list, err := n.List(t.Context(), n.Root, abi.ObjectSession, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || !strings.Contains(string(list.Docs[0].JSON), `"CLOSED"`) {
		t.Errorf("%v, %v", list.Docs, err)
	}
	n.spawns(t, all, scout)
}

// snapshots is a store that keeps how its disk is found after a crash before each write.
type snapshots struct {
	storage.Store
	disk *crashtest.Disk

	mu    sync.Mutex
	takes bool
	taken []*crashtest.Disk
}

func (s *snapshots) Append(b *storage.Batch) storage.Commit {
	s.take()
	return s.Store.Append(b)
}

func (s *snapshots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.takes {
		return
	}
	for seed, kept := range []float64{0, 0.5, 1} { // of what was not synced: a power cut, and a process that was killed
		s.taken = append(s.taken, s.disk.Crash(uint64(len(s.taken)+seed), kept))
	}
}

// A subagent whose termination was cut off by a crash, before any of its writes, is there, or is not: there
// is no half of it. Whoever asks again has the rest done.
func TestTerminationIsCutOff(t *testing.T) {
	disk := crashtest.NewDisk()
	store := &snapshots{disk: disk}
	n := startNode(t, disk, enginetest.Guests{"agent": asks}, gateway.Config{WaitLimit: 1}, func(_ *engine.Config, p *engine.Parts) {
		store.Store, p.Store = p.Store, store
	})
	all, _ := n.parents(t)
	at := n.spawns(t, all, scout)
	var ids []string
	for range 2 {
		ids = append(ids, n.do(t, "POST", at+"/delegate", `{"task":"go"}`).want(202).text("execution_id"))
	}
	n.streams(t, "GET", "/wharf/executions/"+ids[0]+"/stream", nil).wants("progress")
	store.mu.Lock()
	store.takes = true
	store.mu.Unlock()
	n.do(t, "DELETE", at, nil).want(204)
	store.take() // it has answered: it is done, whatever comes
	store.mu.Lock()
	store.takes = false
	taken := store.taken
	store.mu.Unlock()
	there, gone := 0, 0
	for _, found := range taken {
		again := startNode(t, found, enginetest.Guests{"agent": asks}, gateway.Config{WaitLimit: 1})
		shown, listed := again.do(t, "GET", at, nil).status, again.do(t, "GET", all, nil).want(200).get("subagents.0") != nil
		if listed != (shown == 200) || shown != 200 && shown != 404 {
			t.Errorf("it is answered %d, and listed %v", shown, listed)
		}
		if shown == 200 {
			there++
			again.do(t, "DELETE", at, nil).want(204)
		} else {
			gone++
		}
		again.do(t, "DELETE", at, nil).fails(404, "NOT_FOUND")
		for _, id := range ids {
			if task := again.Wait(t, id); task.Status != abi.TaskCanceled {
				t.Errorf("%s is %s", id, task.Status)
			}
		}
		list, err := again.List(t.Context(), again.Root, abi.ObjectSession, desk.Filter{}, desk.Page{Limit: 10})
		if err != nil || len(list.Docs) != 1 || !strings.Contains(string(list.Docs[0].JSON), `"CLOSED"`) {
			t.Errorf("%v, %v", list.Docs, err)
		}
		again.spawns(t, all, scout) // its name is free
	}
	if there < 4 || gone < 3 {
		t.Errorf("of %d crashes %d have left it, and %d have not", len(taken), there, gone)
	}
}

// Terminated, a subagent does nothing more in the sessions either that clients have opened with it; what
// somebody else does goes on.
func TestTerminationEndsEverySession(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), enginetest.Guests{"agent": asks}, gateway.Config{WaitLimit: 1})
	all, parent := n.parents(t)
	at := n.spawns(t, all, scout)
	subagent := n.do(t, "GET", at, nil).want(200).text("subagent.id")
	delegated := n.do(t, "POST", at+"/delegate", `{"task":"go"}`).want(202).text("execution_id")
	talk := func(agent string) (session, execution string) {
		session = n.do(t, "POST", "/wharf/sessions", map[string]any{"agent_id": agent}).want(201).text("session.id")
		return session, n.do(t, "POST", "/wharf/sessions/"+session+"/message", `{"content":"go"}`).want(202).text("execution_id")
	}
	session, said := talk(subagent)
	others, otherwise := talk(parent)
	n.begins(t, otherwise)
	n.do(t, "DELETE", at, nil).want(204)
	for path, want := range map[string]string{"executions/" + delegated: "cancelled", "executions/" + said: "cancelled", "sessions/" + session: "ended",
		"executions/" + otherwise: "running", "sessions/" + others: "active"} {
		kind, _, _ := strings.Cut(path, "s/")
		got := n.do(t, "GET", "/wharf/"+path, nil).want(200).text(kind + ".status")
		if got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// begins waits until an execution has begun.
func (n *node) begins(t testing.TB, execution string) {
	t.Helper()
	n.Until(t, execution, func(rec *storage.Record) bool { return rec.Kind == abi.EventTaskStarted })
}
