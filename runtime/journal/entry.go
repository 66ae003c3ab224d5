package journal

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Entry is one host call of a Task.
type Entry struct {
	Index  int            `json:"index"` // of the call within the record, from 0
	Call   string         `json:"call"`
	Effect abi.Effect     `json:"effect"`       // what the call was, where it varies
	Key    string         `json:"key,omitzero"` // the override key; "" when the answer cannot be replaced
	At     time.Time      `json:"at"`           // when it was answered; of an open entry, when it began
	Status abi.CallStatus `json:"status"`
	// Request is what the plugin asked, in the form in which it is compared: see
	// [Canonical]. Answer is what it was told.
	Request Text `json:"request"`
	Answer  Text `json:"answer"`
	// Open says that only the intent is recorded: the call was about to happen, or
	// still waits.
	Open bool `json:"open,omitzero"`
	// EventID is that of the event which completed the entry, "" in memory before
	// the log has given it one.
	EventID string `json:"event_id,omitzero"`
	// Resource is what the event is about: the Task, or the Message, Artifact,
	// Memory or state that the call made.
	Resource abi.ResourcePointer `json:"resource,omitzero"`
}

// Program is what a Task runs: all of it is fixed when the Task starts.
type Program struct {
	Plugin  string `json:"plugin"`
	Module  string `json:"module"` // "sha256:" and the hex digest of the module as it was written
	Export  string `json:"export"`
	ABI     string `json:"abi"`     // abi.ABIVersion
	Persona string `json:"persona"` // "sha256:" and the hex digest of the blob with the Persona's JSON
	// Seed is what the randomness that WASI gives the guest is made from, 16 bytes.
	Seed   []byte `json:"seed"`
	Limits Limits `json:"limits"`
	// Engine says what ran the Task first, and Rewriter what made the module give the
	// same bits everywhere: "" in records of before, whose NaNs were those of the
	// processor Arch. A replay keeps what the record says.
	Engine   string `json:"engine"`
	Rewriter string `json:"rewriter,omitzero"`
	Arch     string `json:"arch,omitzero"`
	// Skill is set on a Task of a Skill.
	Skill *Skill `json:"skill,omitzero"`
	// Skills are the skills that the Task has. Those whose archives are no longer there cannot be
	// read by a run that goes on beyond the record.
	Skills []abi.TaskSkill `json:"skills,omitzero"`
}

// Skill is what of a Skill decides how its Tasks end.
type Skill struct {
	ID           string         `json:"id"`
	OutputSchema jsontext.Value `json:"output_schema,omitzero"`
}

// Limits are the limits of a run that are the same wherever it runs. Time is not
// among them: a stop by time is recorded where it happened.
type Limits struct {
	MemoryBytes  uint64 `json:"memory_bytes"`
	HostCalls    int    `json:"host_calls"`
	PayloadBytes int    `json:"payload_bytes"`
	OutputBytes  int64  `json:"output_bytes"`
	Gas          uint64 `json:"gas,omitzero"`   // 0: the run was not metered
	Depth        int    `json:"depth,omitzero"` // 0: the engine's own stack was the limit
}

// End says how a run ended.
type End struct {
	Status  abi.TaskStatus `json:"status"`
	Failure *abi.Failure   `json:"failure,omitzero"`
	// Stopped says that the plugin was stopped from outside (by a cancel, a
	// deadline, its wall time) after Calls host calls, and did not end by itself.
	Stopped bool `json:"stopped,omitzero"`
	Calls   int  `json:"calls"`
	// Gas is what the run used, the same wherever the Rewriter of the program runs it.
	// 0: it was not metered, did not end by itself, or had another rewriter in between.
	Gas uint64 `json:"gas,omitzero"`
}

// Record is all that is needed to run a Task again.
type Record struct {
	TaskID    string    `json:"task_id"`
	Program   Program   `json:"program"`
	Input     Text      `json:"input"` // the answer of abi.CallInput
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Entries   []Entry   `json:"entries"`
	End       *End      `json:"end,omitzero"` // nil while the Task has not ended
}

// Closed returns how many calls of a record were answered: all, but for the last one where
// that is open.
func Closed(entries []Entry) int {
	n := len(entries)
	if n > 0 && entries[n-1].Open {
		n--
	}
	return n
}

// Variable returns the effect to record of a call: only those whose class varies need it.
func Variable(def *abi.HostCall) abi.Effect {
	if def.Varies {
		return def.Effect
	}
	return ""
}
