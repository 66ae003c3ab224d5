package abi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// What is written by hand is what the JSON library writes, whatever is set.
func TestAppendJSONIsWhatMarshalWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, v := range []interface{ AppendJSON([]byte) []byte }{task(t), messageOf(t), outcome(t)} {
			want, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.AppendJSON([]byte("x")); string(got) != "x"+string(want) {
				t.Fatalf("%T\n%s\n%s", v, got, want)
			}
		}
	})
}

func drawText(t *rapid.T) string { return rapid.String().Draw(t, "text") }

func drawTime(t *rapid.T) Time {
	if rapid.Bool().Draw(t, "zero") {
		return Time{}
	}
	return At(time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")))
}

func drawRaw(t *rapid.T) jsontext.Value {
	return rapid.SampledFrom([]jsontext.Value{nil, jsontext.Value("{}"), jsontext.Value(`{"a":[1,null,"é"]}`), jsontext.Value("null"), jsontext.Value("1e3"),
		jsontext.Value("{ \"a\\\" b\" :\t[ 1,\r\n 2 ] }"), jsontext.Value(`"a b"`)}).Draw(t, "raw")
}

func drawTexts(t *rapid.T) []string {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	return rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts")
}

func drawEnvelope(t *rapid.T) Envelope {
	return Envelope{ID: drawText(t), Object: Object(drawText(t)), CreatedAt: At(time.Unix(1, 5)), UpdatedAt: At(time.Unix(2, 0)), Metadata: jsontext.Value(`{"k":"v"}`)}
}

func drawFailure(t *rapid.T) *Failure {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	return &Failure{Code: drawText(t), Message: drawText(t), Details: drawRaw(t)}
}

func task(t *rapid.T) *Task {
	return &Task{
		Envelope: drawEnvelope(t), SessionID: drawText(t), WorkspaceID: drawText(t), Status: TaskStatus(drawText(t)),
		Input: drawRaw(t), CreatedBy: drawText(t), PersonaID: drawText(t), BranchID: drawText(t), ParentTaskID: drawText(t),
		ReceiptID: drawText(t), OutcomeID: drawText(t), StartedAt: drawTime(t), CompletedAt: drawTime(t), CanceledAt: drawTime(t),
		Failure: drawFailure(t), InputMessageID: drawText(t), DeadlineAt: drawTime(t), Attempt: rapid.Int().Draw(t, "attempt"),
		Run: drawRun(t), Client: drawClient(t), OrderKey: drawText(t), DeletedAt: drawTime(t),
	}
}

func drawRun(t *rapid.T) *RunOptions {
	if rapid.Bool().Draw(t, "no options") {
		return nil
	}
	heat := rapid.Float64Range(0, 1).Draw(t, "temperature")
	return &RunOptions{Model: drawText(t), Instructions: drawText(t), Temperature: &heat, MaxTokens: rapid.IntRange(0, 9).Draw(t, "tokens"),
		Budget: &Budget{USD: rapid.Float64Range(0, 9).Draw(t, "usd")}}
}

func drawClient(t *rapid.T) *TaskClient {
	if rapid.Bool().Draw(t, "no client") {
		return nil
	}
	return &TaskClient{Protocol: drawText(t), Name: drawText(t), Version: drawText(t), Capabilities: rapid.SliceOf(rapid.Just(ClientSamples)).Draw(t, "capabilities")}
}

func messageOf(t *rapid.T) *Message {
	m := &Message{Envelope: drawEnvelope(t), Role: Role(drawText(t)), Parts: []Part{}, SessionID: drawText(t), TaskID: drawText(t)}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		p := Part{
			Type: PartType(drawText(t)), Value: drawRaw(t), ToolCallID: drawText(t), Name: drawText(t), Input: drawRaw(t), Output: drawRaw(t),
			Status: drawText(t), ArtifactID: drawText(t), URI: drawText(t), MimeType: drawText(t), Visibility: Visibility(drawText(t)),
			Redacted: rapid.Bool().Draw(t, "redacted"),
		}
		if s := drawText(t); s != "" {
			p.Text = &s
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

func outcome(t *rapid.T) *Outcome {
	o := &Outcome{
		Envelope: drawEnvelope(t), TaskID: drawText(t), Status: OutcomeStatus(drawText(t)), Summary: drawText(t),
		MessageIDs: drawTexts(t), ArtifactIDs: drawTexts(t), Failure: drawFailure(t), Metrics: drawRaw(t),
		Stopped: rapid.Bool().Draw(t, "stopped"), Handoff: drawRaw(t), StopReason: StopReason(drawText(t)),
	}
	if rapid.Bool().Draw(t, "messages") {
		o.Messages = []jsontext.Value{jsontext.Value("{}"), jsontext.Value("[]")}
	}
	return o
}

// The table of transitions is the protocol's (docs/protocol.md, 5.1), and a terminal state is one that
// nothing leaves.
func TestTransitions(t *testing.T) {
	allowed := map[TaskStatus]string{
		TaskSubmitted: "WORKING CANCELED FAILED", TaskWorking: "INPUT_REQUIRED AUTH_REQUIRED COMPLETED FAILED CANCELED",
		TaskInputRequired: "WORKING FAILED CANCELED", TaskAuthRequired: "WORKING FAILED CANCELED",
	}
	for _, from := range TaskStatuses() {
		leaves := false
		for _, to := range TaskStatuses() {
			want := slices.Contains(strings.Fields(allowed[from]), string(to))
			if got := from.CanBecome(to); got != want {
				t.Errorf("%s to %s: %v, want %v", from, to, got, want)
			}
			leaves = leaves || want
		}
		if from.Terminal() == leaves {
			t.Errorf("%s: terminal %v, but something leaves it: %v", from, from.Terminal(), leaves)
		}
	}
}

// Ids sort in the order in which they were made, whatever the clock does.
func TestIDsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_800_000_000, 0)
		entropy := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "entropy")
		ids := NewIDs(func() time.Time { return now }, repeat(entropy))
		last := ""
		for range 50 {
			now = now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "ms")) * time.Millisecond)
			id := ids.New(ObjectTask)
			if id <= last {
				t.Fatalf("%s follows %s", id, last)
			}
			if !ValidID(ObjectTask, id) || ValidID(ObjectSession, id) {
				t.Fatalf("%s is not an id of a task alone", id)
			}
			last = id
		}
	})
}

// repeat is an entropy source that always yields the same bytes.
type repeat []byte

func (r repeat) Read(p []byte) (int, error) { return copy(p, r), nil }

func TestErrorClasses(t *testing.T) {
	for _, class := range ErrorClasses() {
		err := Errorf(class.Code, "x")
		if err.HTTPStatus() != class.Status || err.Type != class.Type {
			t.Errorf("%s: %d %s", class.Code, err.HTTPStatus(), err.Type)
		}
	}
	if got := ErrorCode("unheard_of").Class(); got.Status != 500 {
		t.Errorf("an unknown code is answered with %d", got.Status)
	}
}
