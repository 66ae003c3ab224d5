package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// keeper keeps things, reads them at the end, and changes them after a clock, where its
// forks begin.
type keeper struct {
	changes bool     // whether it goes on changing them
	told    []string // what it read at the end
}

func (k *keeper) run(ctx context.Context, h sandbox.Host) error {
	k.told = nil
	call := func(name, request string) string {
		status, answer, err := h.Call(ctx, name, []byte(request))
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("%d %s", status, answer)
	}
	call(abi.CallStateSet, `{"key":"a","value":1}`)
	call(abi.CallStateSet, `{"key":"a","value":2}`)
	call(abi.CallMemoryWrite, `{"scope":"session","content":"alpha one"}`)
	call(abi.CallMemoryWrite, `{"scope":"session","content":"alpha two"}`)
	var child abi.CallTaskSpawnAnswer
	spawned := call(abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`)
	if err := json.Unmarshal([]byte(strings.TrimPrefix(spawned, "0 ")), &child); err != nil {
		return err
	}
	call(abi.CallClock, "")
	if k.changes {
		call(abi.CallStateSet, `{"key":"a","value":3}`)
		call(abi.CallStateSet, `{"key":"late","value":4}`)
		call(abi.CallMemoryWrite, `{"scope":"session","content":"alpha late"}`)
	}
	_, answer, err := h.Call(ctx, abi.CallTaskAwait, []byte(`{"task_id":"`+child.TaskID+`","timeout_seconds":60}`))
	if err != nil {
		return err
	}
	k.told = append(k.told, string(answer), call(abi.CallStateGet, `{"key":"a"}`), call(abi.CallStateGet, `{"key":"late"}`),
		call(abi.CallMemoryQuery, `{"scope":"session","text":"alpha"}`))
	return nil
}

// A fork finds what its shared record says was done, as of the event where it begins:
// what the Session kept, and the children; and so does a fork of a fork, and one that a
// restart follows. What came later is not there.
func TestForkHasWhatItsRecordSays(t *testing.T) {
	k := &keeper{changes: true}
	g := enginetest.Guests{"keeper": k.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	defer func() { n.Stop(t) }()
	session := n.Session(t)
	id := n.Submit(t, session, "persona_keeper")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted || !strings.Contains(k.told[2], `{"value":4}`) {
		t.Fatalf("%+v %q", task.Failure, k.told)
	}
	awaited := k.told[0]
	k.changes = false
	at := n.recordOf(t, id).Entries[5].EventID
	fork := func(id string, same bool) abi.Task {
		t.Helper()
		doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: at, SameSession: same})
		if err != nil {
			t.Fatal(err)
		}
		task := n.Wait(t, doc.ID)
		if task.Status != abi.TaskCompleted || len(k.told) != 4 || k.told[0] != awaited {
			t.Fatalf("%s %+v, told %q", task.Status, task.Failure, k.told)
		}
		return task
	}
	wantAsOf := func(how string) {
		t.Helper()
		memories := k.told[3]
		if k.told[1] != `0 {"value":2}` || k.told[2] != `0 {"value":null}` || strings.Contains(memories, "late") ||
			!strings.Contains(memories, "alpha two") || strings.Index(memories, "alpha two") > strings.Index(memories, "alpha one") {
			t.Errorf("%s: %q", how, k.told)
		}
	}
	first := fork(id, false)
	wantAsOf("a fork")
	n.wantReplay(t, first.ID)
	second := fork(first.ID, false)
	wantAsOf("a fork of a fork")
	n.wantProof(t, second.ID)
	if fork(id, true); k.told[1] != `0 {"value":3}` || !strings.Contains(k.told[3], "late") {
		t.Errorf("in the same session, the fork does not see the session as it is: %q", k.told)
	}
	disk := n.Disk.Crash(1, 1)
	n.abandon()
	n = boot(t, disk, g)
	fork(id, false)
	wantAsOf("a fork after a restart")
	n.wantSound(t)
}

// A fork takes over no Memory that was redacted since, and has its own.
func TestForkTakesOverMemories(t *testing.T) {
	k := &keeper{}
	n := newNode(t, enginetest.Guests{"keeper": k.run})
	session := n.Session(t)
	id := n.Submit(t, session, "persona_keeper")
	n.Wait(t, id)
	list, err := n.ListMemories(t.Context(), n.Root, memories.Filter{OwnerID: session, Text: "one"}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatal(len(list.Docs), err)
	}
	if err := n.RedactMemory(t.Context(), n.Root, nil, list.Docs[0].ID); err != nil {
		t.Fatal(err)
	}
	doc, err := n.ForkSession(t.Context(), n.Root, nil, session, abi.ForkSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	list, err = n.ListMemories(t.Context(), n.Root, memories.Filter{OwnerID: doc.ID}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatal(len(list.Docs), err)
	}
	if m := enginetest.As[abi.Memory](t, list.Docs[0]); string(m.Content) != `"alpha two"` || m.SessionID != doc.ID || !strings.Contains(string(m.Provenance), `"copied_from":"mem_`) {
		t.Errorf("%s", list.Docs[0].JSON)
	}
	if err := n.RedactMemory(t.Context(), n.Root, nil, list.Docs[0].ID); err != nil {
		t.Fatal(err)
	}
	if list, err = n.ListMemories(t.Context(), n.Root, memories.Filter{OwnerID: session, Text: "two"}, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 1 {
		t.Errorf("the source's own memory went with that of the fork: %d %v", len(list.Docs), err)
	}
}
