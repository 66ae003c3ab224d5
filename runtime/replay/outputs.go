package replay

import (
	"bytes"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Outputs is what a run's calls leave to the Outcome of its Task.
type Outputs struct {
	Output    *abi.CallOutputRequest // nil until the plugin gives one
	Messages  []string               // ids, in the order in which they were appended
	Artifacts []receipt.ArtifactRef  // in the order in which they were put
}

// Take takes over what an answered call leaves: nothing unless it went well.
func (o *Outputs) Take(e *journal.Entry) error {
	if e.Status != abi.CallOK {
		return nil
	}
	switch e.Call {
	case abi.CallOutput:
		o.Output = &abi.CallOutputRequest{}
		return json.Unmarshal(e.Request, o.Output)
	case abi.CallMessageAppend:
		var a abi.CallMessageAppendAnswer
		err := json.Unmarshal(e.Answer, &a)
		o.Messages = append(o.Messages, a.MessageID)
		return err
	}
	made, err := Artifacts(e)
	o.Artifacts = append(o.Artifacts, made...)
	return err
}

// Artifacts returns how a receipt refers to the Artifacts that an answered call has made, if any.
func Artifacts(e *journal.Entry) ([]receipt.ArtifactRef, error) {
	switch {
	case e.Status != abi.CallOK:
		return nil, nil
	case e.Call == abi.CallArtifactPut:
		a, err := Artifact(e)
		return []receipt.ArtifactRef{a}, err
	case e.Call != abi.CallAgentDelegate:
		return nil, nil
	}
	d, err := journal.ReadDelegation(e)
	if err != nil || !d.Dispatched() || d.Answer.Handoff == nil {
		return nil, err
	}
	var made []receipt.ArtifactRef
	for _, a := range d.Answer.Handoff.Artifacts {
		made = append(made, receipt.ArtifactRef{ArtifactID: a.ArtifactID, Kind: string(a.Kind), URI: receipt.ArtifactURI(a.ArtifactID), SHA256: "sha256:" + a.SHA256})
	}
	return made, nil
}

// ArtifactIDs returns the ids of the Artifacts.
func (o *Outputs) ArtifactIDs() []string {
	var ids []string
	for i := range o.Artifacts {
		ids = append(ids, o.Artifacts[i].ArtifactID)
	}
	return ids
}

// Artifact returns how a receipt refers to the Artifact that a call has put.
func Artifact(e *journal.Entry) (receipt.ArtifactRef, error) {
	header, _, _ := bytes.Cut(e.Request, []byte("\n"))
	var put abi.CallArtifactPutRequest
	var answer abi.CallArtifactPutAnswer
	if err := errors.Join(json.Unmarshal(header, &put), json.Unmarshal(e.Answer, &answer)); err != nil {
		return receipt.ArtifactRef{}, fmt.Errorf("reading the record of an artifact: %w", err)
	}
	return receipt.ArtifactRef{ArtifactID: answer.ArtifactID, Kind: string(put.Kind), URI: receipt.ArtifactURI(answer.ArtifactID),
		SHA256: "sha256:" + answer.SHA256}, nil
}
