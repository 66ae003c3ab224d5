package alone

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// CaseOf writes the test case of a recorded Task that has ended by itself. again is what a run of the
// plugin with the record did, which the case expects.
func CaseOf(rec *journal.Record, again *Report) ([]byte, error) {
	switch {
	case rec.End == nil:
		return nil, errors.New("the task has not ended")
	case rec.End.Stopped:
		return nil, errors.New("the task was stopped from outside: what its plugin would have done is not recorded")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Made of the Task %s, which ran %s.\n", journal.AsJSON([]byte(rec.TaskID)), journal.AsJSON([]byte(rec.Program.Plugin)))
	b.WriteString("given:" + yamlAfter(journal.AsJSON(rec.Input), 2))
	b.WriteString("export:" + yamlAfter(quoted(rec.Program.Export), 2))
	b.WriteString("started_at:" + yamlAfter(quoted(rec.StartedAt.UTC().Format(time.RFC3339Nano)), 2))
	if len(rec.Program.Seed) > 0 {
		b.WriteString("seed:" + yamlAfter(quoted(base64.StdEncoding.EncodeToString(rec.Program.Seed)), 2))
	}
	if err := writeAnswers(&b, rec); err != nil {
		return nil, err
	}
	text, err := (&Case{}).expectation(again)
	if err != nil {
		return nil, err
	}
	b.Write(text)
	return b.Bytes(), nil
}

// writeAnswers writes what the calls of a record were answered with, by call, each in its order.
func writeAnswers(b *bytes.Buffer, rec *journal.Record) error {
	var order []string
	answers := map[string][]jsontext.Value{}
	defs := abi.HostCallsByName()
	for i := range rec.Entries {
		e := &rec.Entries[i]
		def := defs[e.Call]
		if def == nil || def.Effect == abi.EffectHint || def.Effect == abi.EffectGiven || e.Call == abi.CallOutput && e.Status == abi.CallOK {
			continue // the run itself answers it
		}
		answer, err := answerOf(def, e)
		if err != nil {
			return err
		}
		if answers[e.Call] == nil {
			order = append(order, e.Call)
		}
		answers[e.Call] = append(answers[e.Call], answer)
	}
	if order == nil {
		return nil
	}
	b.WriteString("answers:\n")
	for _, call := range order {
		list, err := json.Marshal(answers[call])
		if err != nil {
			return fmt.Errorf("writing the answers of %s: %w", call, err)
		}
		b.WriteString("  " + call + ":" + yamlAfter(list, 4))
	}
	return nil
}

// answerOf writes an answer so that [ReadAnswers] reads the same of it: as JSON where that can be.
func answerOf(def *abi.HostCall, e *journal.Entry) (jsontext.Value, error) {
	if e.Status != abi.CallOK {
		var failed abi.CallError
		if err := json.Unmarshal(bytes.Clone(e.Answer), &failed); err != nil {
			return nil, fmt.Errorf("the answer of call %d, %s, is no error of a host call: %w", e.Index, e.Call, err)
		}
		return json.Marshal(struct {
			Status string        `json:"status"`
			Error  abi.CallError `json:"error"`
		}{StatusName(e.Status), failed})
	}
	if len(e.Answer) == 0 {
		return jsontext.Value(`{"status":"ok"}`), nil
	}
	whole := jsontext.Value(`{"answer":` + string(e.Answer) + `}`)
	if whole.IsValid() {
		if n, err := readFile("", []byte("a:"+yamlAfter(whole, 2))); err == nil {
			if r, err := readRule(def, n.get("a")); err == nil && journal.SameValue(r.answer, e.Answer) {
				return whole, nil
			}
		}
	}
	if utf8.Valid(e.Answer) {
		return jsontext.Value(`{"text":` + string(quoted(string(e.Answer))) + `}`), nil
	}
	return jsontext.Value(`{"base64":` + string(quoted(base64.StdEncoding.EncodeToString(e.Answer))) + `}`), nil
}
