package journal

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
)

// Given returns the answer of abi.CallInput. It follows from what was submitted,
// and so is the same in every run. Its parts are JSON already, so they are joined
// and not encoded again. A Task without skills is told of none.
func Given(about *abi.Task, input jsontext.Value, persona []byte, skills []abi.TaskSkill) jsontext.Value {
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
	rest := jsonw.Object{B: append(append(answer, about.SessionID...), '"', ',')}
	jsonw.OptionalList(&rest, "skills", skills, appendSkill)
	return rest.End()
}

func appendSkill(b []byte, s *abi.TaskSkill) []byte {
	m := jsonw.Begin(b)
	m.Text("name", s.Name)
	m.Text("description", s.Description)
	m.Text("version", s.Version)
	return m.End()
}
