package blocks_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/blocks"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

const agent = "persona_agent"

// ofAgent returns a Task of an agent that the room has.
func (r *room) ofAgent(t testing.TB) *abi.Task {
	t.Helper()
	r.personaIs(t, abi.EventPersonaCreated, func(p *abi.Persona) {})
	task := r.Task()
	task.PersonaID, task.Status = agent, abi.TaskWorking
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskStatusChanged, abi.ObjectTask, task.ID, task)
	return task
}

func (r *room) personaIs(t testing.TB, kind abi.EventKind, change func(*abi.Persona)) {
	t.Helper()
	p := &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, agent, r.Now(), nil), WorkspaceID: roomtest.Workspace, Agent: &abi.Agent{}}
	change(p)
	r.State(t, roomtest.Workspace, "", kind, abi.ObjectPersona, agent, p)
}

// call makes a host call of a Task, and writes what it states as the engine does.
func (r *room) call(t testing.TB, task *abi.Task, name, request string) (string, error) {
	t.Helper()
	answer, err := r.HostCalls()[name](t.Context(), &hostcall.Call{Tenant: roomtest.Tenant, Task: task, Request: []byte(request)})
	if err != nil {
		return "", err
	}
	if len(answer.Extra) > 0 {
		_, _, err = r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: task.WorkspaceID, SessionID: task.SessionID, TaskID: task.ID, Actor: task.PersonaID}, nil, 0, answer.Extra...)
		answer.Release(err)
	}
	return string(answer.JSON), err
}

func wantRefused(t testing.TB, err error, status abi.CallStatus, code, message string) {
	t.Helper()
	refused, ok := errors.AsType[*provider.Refusal](err)
	if !ok || refused.Status != status || refused.Code != code || !strings.Contains(refused.Message, message) {
		t.Errorf("the plugin is told %v, want %s with %q", err, code, message)
	}
}

// What a plugin and people write is one memory: each sees the other's changes, with their actors.
func TestPluginsAndPeopleShareBlocks(t *testing.T) {
	r := newRoom(t)
	task := r.ofAgent(t)
	if told, err := r.call(t, task, abi.CallBlockList, ``); err != nil || told != `{"version":0,"blocks":[]}` {
		t.Errorf("before there are blocks the plugin is told %s, %v", told, err)
	}
	for _, step := range []struct{ request, answer string }{
		{`{"label":"b","value":"two","version":0}`, `{"label":"b","version":1,"characters":3}`},
		{`{"label":"a","value":"é","append":true}`, `{"label":"a","version":2,"characters":1}`},
		{`{"label":"a","value":"line","append":true}`, `{"label":"a","version":3,"characters":6}`},
	} {
		if got, err := r.call(t, task, abi.CallBlockWrite, step.request); err != nil || got != step.answer {
			t.Errorf("%s is answered %s, %v", step.request, got, err)
		}
	}
	if _, err := r.UpdateBlock(t.Context(), r.Root(), nil, agent, "b", abi.UpdateBlockRequest{Value: "hers"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.CreateBlock(t.Context(), r.Root(), nil, agent, abi.CreateBlockRequest{Label: "law", Value: "be kind", ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.furnish()
	want := `{"version":5,"blocks":[{"label":"a","value":"é\nline","read_only":false,"version":3},{"label":"b","value":"hers","read_only":false,"version":4},{"label":"law","value":"be kind","read_only":true,"version":5}]}`
	if told, err := r.call(t, task, abi.CallBlockList, `{"call_id":"c"}`); err != nil || told != want {
		t.Errorf("the plugin is told %s, %v", told, err)
	}
	if _, err := r.call(t, task, abi.CallBlockWrite, `{"label":"b","value":"mine","version":4}`); err != nil {
		t.Error(err)
	}
	if m, err := r.AgentMemory(t.Context(), r.Root(), agent); err != nil || m.Version != 6 || m.ChangedBy != agent || m.Blocks[1].Value != "mine" {
		t.Errorf("people see %+v, %v", m, err)
	}
	if kinds := r.Kinds(t, desk.Filter{TaskID: task.ID}); len(kinds) != 4 {
		t.Errorf("of the plugin's four changes the Task's events tell %v", kinds)
	}
}

// What is refused changes nothing, and says what is wrong.
func TestRefusedWrites(t *testing.T) {
	r := newRoom(t)
	task := r.ofAgent(t)
	make := func(label, value string, readOnly bool) {
		if _, err := r.CreateBlock(t.Context(), r.Root(), nil, agent, abi.CreateBlockRequest{Label: label, Value: value, ReadOnly: readOnly}); err != nil {
			t.Fatal(err)
		}
	}
	write := func(label, value, more string) error {
		_, err := r.call(t, task, abi.CallBlockWrite, fmt.Sprintf(`{"label":%q,"value":%q%s}`, label, value, more))
		return err
	}
	long := strings.Repeat("é", abi.MaxBlockValue)
	make("fixed", "law", true)
	make("long", long, false)
	for i := range 2 {
		make(fmt.Sprint("l", i), long, false)
	}
	const invalid = string(abi.CodeInvalidRequest)
	wantRefused(t, write("fixed", "x", ""), abi.CallDenied, blocks.CodeReadOnly, `"fixed" is read-only`)
	wantRefused(t, write("fixed", "x", `,"append":true`), abi.CallDenied, blocks.CodeReadOnly, "")
	wantRefused(t, write("long", "x", `,"version":1`), abi.CallInvalid, blocks.CodeChanged, `"long" has changed`)
	wantRefused(t, write("long", "x", `,"version":0`), abi.CallInvalid, blocks.CodeChanged, "")
	wantRefused(t, write("none", "x", `,"version":2`), abi.CallInvalid, blocks.CodeChanged, "")
	wantRefused(t, write("long", "x", `,"append":true`), abi.CallInvalid, invalid, "1 to 100000 characters, and this one 100002")
	wantRefused(t, write("long", "", `,"append":true`), abi.CallInvalid, invalid, "at least one character")
	wantRefused(t, write("none", "", ""), abi.CallInvalid, invalid, "1 to 100000 characters")
	wantRefused(t, write("Not a label", "x", ""), abi.CallInvalid, invalid, "a label is")
	wantRefused(t, write("none", long, ""), abi.CallInvalid, invalid, "400000 characters, and with this one 400003")
	for i := range abi.MaxBlocks - 4 {
		if err := write(fmt.Sprint("s", i), "x", ""); err != nil {
			t.Fatal(err)
		}
	}
	wantRefused(t, write("none", "x", ""), abi.CallInvalid, invalid, "has 64 blocks")
	if m, err := r.AgentMemory(t.Context(), r.Root(), agent); err != nil || m.Version != abi.MaxBlocks {
		t.Errorf("something was written: %d, %v", m.Version, err)
	}
}

// A Persona that is no agent of a Workspace has no blocks for its Tasks, and one that was deleted keeps none.
func TestWhoHasBlocks(t *testing.T) {
	r := newRoom(t)
	task := r.ofAgent(t)
	refused := func(who string, id string) {
		t.Helper()
		other := *task
		other.PersonaID = id
		for call, request := range map[string]string{abi.CallBlockList: `{}`, abi.CallBlockWrite: `{"label":"a","value":"x"}`} {
			_, err := r.call(t, &other, call, request)
			wantRefused(t, err, abi.CallNotFound, blocks.CodeNone, who)
		}
	}
	refused("persona_one is no agent", persona)
	refused("persona_gone is no agent", "persona_gone")
	if _, err := r.call(t, task, abi.CallBlockWrite, `{"label":"a","value":"x"}`); err != nil {
		t.Fatal(err)
	}
	r.personaIs(t, abi.EventPersonaUpdated, func(p *abi.Persona) { p.WorkspaceID = "" })
	refused("persona_agent is no agent of a workspace", agent)
	r.personaIs(t, abi.EventPersonaUpdated, func(p *abi.Persona) { p.DeletedAt = abi.At(r.Now()) })
	refused("persona_agent", agent)
}

// Whatever two Tasks and a person do at once: what is added is there, each change is a version, and
// of those who say what they have seen one is faster.
func TestBlocksWrittenAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		r := newRoom(t)
		task := r.ofAgent(t)
		if _, err := r.call(t, task, abi.CallBlockWrite, `{"label":"a","value":"begin"}`); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		var added []string
		changes, won := 1, 0
		for writer := range 3 {
			lines := random.IntN(5)
			all.Go(func() {
				for i := range lines {
					line := fmt.Sprint(writer, "-", i)
					_, err := r.call(t, task, abi.CallBlockWrite, `{"label":"a","value":"`+line+`","append":true}`)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					added, changes = append(added, line), changes+1
					mu.Unlock()
				}
				_, err := r.call(t, task, abi.CallBlockWrite, `{"label":"b","value":"mine","version":0}`)
				if err != nil {
					wantRefused(t, err, abi.CallInvalid, blocks.CodeChanged, "")
					return
				}
				mu.Lock()
				won, changes = won+1, changes+1
				mu.Unlock()
			})
		}
		all.Go(func() {
			if _, err := r.CreateBlock(t.Context(), r.Root(), nil, agent, abi.CreateBlockRequest{Label: "c", Value: "hers"}); err != nil {
				t.Error(err)
			}
			mu.Lock()
			changes++
			mu.Unlock()
		})
		all.Wait()
		told, err := r.call(t, task, abi.CallBlockList, ``)
		if err != nil {
			t.Fatal(err)
		}
		var now abi.CallBlockListAnswer
		if err := json.Unmarshal([]byte(told), &now); err != nil || won != 1 || now.Version != int64(changes) || len(now.Blocks) != 3 {
			t.Fatalf("seed %d: %s after %d changes, %d won, %v", seed, told, changes, won, err)
		}
		if got := strings.Split(now.Blocks[0].Value, "\n"); len(got) != 1+len(added) || got[0] != "begin" {
			t.Errorf("seed %d: of %v there is %q", seed, added, got)
		}
		for _, line := range added {
			if !strings.Contains(now.Blocks[0].Value, "\n"+line) {
				t.Errorf("seed %d: %s is lost", seed, line)
			}
		}
	}
}
