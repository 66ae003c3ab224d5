package alone

import (
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Given returns what abi.CallInput answers in a run of a plugin: a Task of a made-up Persona with an
// input, JSON.
func Given(plugin, export string, input jsontext.Value) (jsontext.Value, error) {
	at := Started()
	persona := abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, "persona_"+plugin, at, nil), Name: plugin, Version: "0.0.0",
		EntryWorkflow: plugin + "#" + export, AutonomyTier: abi.TierActAuto, Tools: []string{"*"}, Capabilities: []string{"*"}}
	task := abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, abi.DerivedID(abi.ObjectTask, at, "alone"), at, nil), Status: abi.TaskSubmitted,
		SessionID: abi.DerivedID(abi.ObjectSession, at, "alone"), PersonaID: persona.ID, Input: input}
	given, err := json.Marshal(abi.CallInputAnswer{Task: task, Persona: persona, SessionID: task.SessionID})
	if err != nil {
		return nil, fmt.Errorf("encoding what the plugin is given: %w", err)
	}
	return given, nil
}

// Message returns the input of a Task that is a user's Message with a text.
func Message(text string) (jsontext.Value, error) {
	part, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("the input is no text: %w", err)
	}
	return jsontext.Value(`{"role":"user","parts":[{"type":"text","text":` + string(part) + `,"visibility":"public"}]}`), nil
}
