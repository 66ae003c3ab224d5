package receipt

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// maxListed bounds each list of a receipt that grows with the record. What is left
// out is counted in the receipt's metadata.
const maxListed = 1000

// Tally collects what the record of one Task says for its receipt. It holds
// nothing of requests and answers but short names, so its memory is bounded. It is
// used by one goroutine.
type Tally struct {
	taskID  string
	program *journal.Program
	input   abi.Hash

	length int
	tree   tree
	log    hash.Hash // over the leaf hashes, one after the other
	buffer []byte

	spend     spend
	approvals []Approval
	grounds   []ApprovalGrounds
	delegated []Delegation
	effects   SideEffects
	materials []Material
	handoffs  map[string]int // the place in effects.A2AHandoffs, by child Task
	toolCalls int64
	omitted   Omitted
}

// NewTally returns the tally of a Task that runs a program with the given input
// (the answer of abi.CallInput), nil for a Task that never ran. taskID is what the
// receipt calls the Task: for a replay, its replay id.
func NewTally(p *journal.Program, input []byte, taskID string) *Tally {
	return &Tally{taskID: taskID, program: p, input: sha256.Sum256(input), log: sha256.New()}
}

// Add takes the next entry of the record: closed, and in order. Anything else is
// an error, after which the tally is as it was.
func (t *Tally) Add(e *journal.Entry) error {
	if e.Open || e.Index != t.length {
		return fmt.Errorf("the receipt's tally expects call %d, closed, and got call %d (open: %t)", t.length, e.Index, e.Open)
	}
	request, answer := sha256.Sum256(e.Request), sha256.Sum256(e.Answer)
	t.buffer = appendLeaf(t.buffer[:0], e, request, answer)
	leaf := HashLeaf(t.buffer)
	t.tree.add(leaf)
	t.log.Write(leaf[:])
	t.length++
	t.collect(e, answer)
	return nil
}

func (t *Tally) collect(e *journal.Entry, answer abi.Hash) {
	switch e.Call {
	case abi.CallLLMComplete:
		t.model(e)
		t.material(MaterialModel, e, answer)
	case abi.CallToolCall:
		t.tool(e, answer)
		t.fileTool(e)
		t.material(MaterialTool, e, answer)
	case abi.CallResourceList:
		t.material(MaterialTool, e, answer)
	case abi.CallResourceRead, abi.CallPromptGet:
		t.served(e)
		t.material(MaterialTool, e, answer)
	case abi.CallHTTPFetch:
		t.fetch(e)
		t.material(MaterialHostFact, e, answer)
	case abi.CallFileWrite, abi.CallFileEdit, abi.CallFileRemove:
		t.file(e)
	case abi.CallFileRead, abi.CallFileList, abi.CallFileSearch, abi.CallSkillRead, abi.CallSkillMatch, abi.CallPlanGet, abi.CallBlockList:
		t.material(MaterialHostFact, e, answer)
	case abi.CallMemoryQuery, abi.CallAuthRequest:
		t.material(MaterialHostFact, e, answer)
	case abi.CallInputRequest:
		t.questions(e, answer)
	case abi.CallApprovalRequest, abi.CallGate:
		t.approval(e, answer)
	case abi.CallHandoff:
		t.handoff(e)
	case abi.CallAgentDelegate:
		t.delegation(e)
		t.material(MaterialHostFact, e, answer)
	case abi.CallTaskAwait:
		t.await(e)
	}
}

// material notes that a replay is answered with what this call was told.
func (t *Tally) material(kind string, e *journal.Entry, answer abi.Hash) {
	if len(t.materials) == maxListed {
		t.omitted.Materials++
		return
	}
	t.materials = append(t.materials, Material{Kind: kind, ID: e.Key, SHA256: journal.FormatHash(answer),
		URI: fmt.Sprintf("%s%s#%d", recordURI, t.taskID, e.Index), ContentType: "application/json"})
}

// callID returns the call id that an override key ends with.
func callID(e *journal.Entry, prefix string) string {
	if id := strings.TrimPrefix(e.Key, prefix); id != "" {
		return id
	}
	return fmt.Sprint(e.Index) // no host call that is listed lacks a key
}

// statusNames are the names that a receipt has for the statuses of calls.
var statusNames = map[abi.CallStatus]string{
	abi.CallInvalid: "invalid", abi.CallDenied: "denied", abi.CallNotFound: "not_found",
	abi.CallTooLarge: "too_large", abi.CallUnavailable: "unavailable",
	abi.CallIndeterminate: "indeterminate", abi.CallTimeout: "timeout",
}

// callMetadata says how a call went that did not go well; nil for one that did.
func callMetadata(s abi.CallStatus) *CallMetadata {
	if s == abi.CallOK {
		return nil
	}
	return &CallMetadata{CallStatus: statusNames[s], Indeterminate: s == abi.CallIndeterminate}
}

// held reports whether a call was denied for the ceiling of its composition. Other grounds are not told: receipts of before
// are made again from their records.
func held(e *journal.Entry) bool {
	var told abi.CallError
	return e.Status == abi.CallDenied && json.Unmarshal(e.Answer, &told) == nil && told.Code == abi.CodeCompositionCeiling
}

// refused reports whether a call with this status was turned down before anything
// happened.
func refused(s abi.CallStatus) bool {
	return s == abi.CallInvalid || s == abi.CallDenied || s == abi.CallNotFound
}

// Used returns what the entries so far have used up: nothing of a record that could not be read,
// which has no Tally.
func (t *Tally) Used() abi.Used {
	if t == nil {
		return abi.Used{}
	}
	spent := t.spend.total
	for _, n := range t.spend.other {
		spent = add(spent, n)
	}
	return abi.Used{Spent: spent.amount(), InputTokens: t.spend.input, OutputTokens: t.spend.output,
		ToolCalls: t.toolCalls, HostCalls: int64(t.length)}
}
