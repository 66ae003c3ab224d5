package journal

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Given returns the answer of abi.CallInput. It follows from what was submitted,
// and so is the same in every run. Its parts are JSON already, so they are joined
// and not encoded again.
func Given(about *abi.Task, input jsontext.Value, persona []byte) jsontext.Value {
	accepted := *about
	accepted.Status, accepted.UpdatedAt, accepted.Input = abi.TaskSubmitted, accepted.CreatedAt, nil
	accepted.StartedAt, accepted.CompletedAt, accepted.CanceledAt = time.Time{}, time.Time{}, time.Time{}
	accepted.Attempt, accepted.Module, accepted.Waiting, accepted.Failure = 0, "", nil, nil
	accepted.OutcomeID, accepted.ReceiptID, accepted.PersonaVersion = "", "", ""
	answer := make([]byte, 0, len(input)+len(persona)+640)
	answer = accepted.AppendJSON(append(answer, `{"task":`...))
	answer = append(answer[:len(answer)-1], `,"input":`...)
	answer = append(append(answer, input...), `},"persona":`...)
	answer = append(append(answer, persona...), `,"session_id":"`...)
	return append(append(answer, about.SessionID...), '"', '}')
}
