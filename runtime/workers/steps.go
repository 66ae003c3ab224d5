package workers

import (
	"hash/fnv"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// lists is how many lists of pending steps a tenant has: what cannot be read in one holds up no other.
const lists = 16

// listPrefix begins the names of the lists. No Connector and no Webhook has such an id.
const listPrefix = "workers_"

// listOf returns the list that the children of a Task are in.
func listOf(parent string) string {
	h := fnv.New32a()
	h.Write([]byte(parent))
	return listPrefix + string("0123456789abcdef"[h.Sum32()%lists])
}

// IsWorker reports whether a Task is a child whose parent is told of it.
func IsWorker(t *abi.Task) bool { return t.ParentTaskID != "" && t.Fork == nil && t.Replay == nil }

// Accepted makes the event that accepts a Task pending, if its parent is to be told.
func Accepted(rec *ledger.Record, t *abi.Task) {
	if IsWorker(t) {
		rec.Intake = pend(t)
	}
}

// Due returns what makes an event pending that states a Task after a step; nothing for a step that the
// parent is not told of.
func Due(before, after *abi.Task) storage.IntakeOp {
	if !IsWorker(after) || !after.Status.Terminal() && awaits(before) == awaits(after) {
		return storage.IntakeOp{}
	}
	return pend(after)
}

func pend(t *abi.Task) storage.IntakeOp {
	return storage.IntakeOp{Kind: storage.IntakePend, Connector: listOf(t.ParentTaskID)}
}

// awaits reports whether a Task waits for somebody to say something, and not for a timer or a
// child of its own.
func awaits(t *abi.Task) bool {
	return t.Waiting != nil && (t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired || t.Waiting.Call == abi.CallInboxTake)
}

// stepsOf returns the steps that an event tells which states a child. o is its Outcome, once it has one.
func stepsOf(kind abi.EventKind, t *abi.Task, o *abi.Outcome) []abi.WorkerEvent {
	switch {
	case kind == abi.EventTaskSubmitted:
		return []abi.WorkerEvent{abi.WorkerSpawned}
	case t.Status == abi.TaskFailed:
		return []abi.WorkerEvent{abi.WorkerFailed}
	case t.Status == abi.TaskCanceled:
		return []abi.WorkerEvent{abi.WorkerCancelled}
	case t.Status == abi.TaskCompleted && o != nil && o.Stopped:
		return []abi.WorkerEvent{abi.WorkerStopped}
	case t.Status == abi.TaskCompleted:
		return []abi.WorkerEvent{abi.WorkerCompleted}
	case awaits(t):
		return []abi.WorkerEvent{abi.WorkerWaitingForInput}
	}
	return []abi.WorkerEvent{abi.WorkerProgressed, abi.WorkerSpawned} // a new cycle begins
}

// idOf returns the id of the resource that is told of a child.
func idOf(child string) string {
	return abi.IDPrefix(abi.ObjectWorker) + strings.TrimPrefix(child, abi.IDPrefix(abi.ObjectTask))
}
