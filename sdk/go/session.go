package wharf

import "github.com/wharf-dev/wharf/sdk/go/internal/hostcall"

// Transcript reads the newest so many Messages of the Session, oldest first: what was
// there when the Task was submitted, and what it appended itself. 0 is for 50; at
// most 200. earlier says that there are Messages before these.
func Transcript(last int) (messages []Message, earlier bool, err error) {
	var answer transcript
	err = ask(hostcall.NameTranscriptRead, hostcall.TranscriptRead, readTranscript{last}, &answer)
	return answer.Messages, answer.Earlier, err
}

type readTranscript struct {
	Last int `json:"last,omitempty"`
}

type transcript struct {
	Messages []Message `json:"messages"`
	Earlier  bool      `json:"earlier"`
}

// Delta streams a piece of a Message that is being written. Append the Message when
// it is whole.
func Delta(text string) error {
	return ask(hostcall.NameMessageDelta, hostcall.MessageDelta, struct {
		Text string `json:"text"`
	}{text}, nil)
}

// PlanStep is one step of a plan. Status is pending, in_progress, completed or
// skipped.
type PlanStep struct {
	Title  string `json:"title"`
	Status string `json:"status"`
}

// SetPlan tells watchers what the plugin means to do, and how far it got.
func SetPlan(steps ...PlanStep) error {
	return ask(hostcall.NamePlan, hostcall.Plan, struct {
		Steps []PlanStep `json:"steps"`
	}{steps}, nil)
}

// Emit appends an event of the plugin's own kind: "vendor." and a name, or a
// reverse-DNS name. The payload encodes to a JSON object, or is nil.
func Emit(kind string, payload any) error {
	return ask(hostcall.NameEventEmit, hostcall.EventEmit, struct {
		Kind    string `json:"kind"`
		Payload any    `json:"payload,omitempty"`
	}{kind, payload}, nil)
}

// Config stores what the operator has configured for this plugin under the name in
// v, as json.Unmarshal does, and reports whether there is anything.
func Config(name string, v any) (found bool, err error) {
	return value(hostcall.NameConfigGet, hostcall.ConfigGet, named{name}, v)
}

// Fact returns a fact about the host: wharf.version, abi.version, os, arch, tenant,
// workspace, session, task or deadline. [AskingClient] has those about the client.
func Fact(name string) (string, error) {
	var answer struct {
		Value string `json:"value"`
	}
	err := ask(hostcall.NameHostFact, hostcall.HostFact, named{name}, &answer)
	return answer.Value, err
}

// NewID makes an id that is unique and sorts by time: a ULID.
func NewID() (string, error) {
	var answer struct {
		ID string `json:"id"`
	}
	err := ask(hostcall.NameID, hostcall.ID, labeled{}, &answer)
	return answer.ID, err
}
