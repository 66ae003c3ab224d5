package updates

import (
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// For says who is told. Only Harn and Takes decide what is told; the others say what no event does,
// and may be nil.
type For struct {
	Harn  bool                            // the client is Harn-aware
	Takes func(discriminator string) bool // of Harn-aware clients: which extension updates it takes; nil: all

	// Root is the Session's folder at the client: the paths of files that calls are about are relative
	// to it. Without it they are told where they are absolute.
	Root string
	// Asks says that questions which are no approvals are asked of the client as such. Others are told
	// them as text.
	Asks bool
	// Awaits reports whether the client is told how a Task ends by the answer to a request of its own.
	// Others are told a failure as text.
	Awaits func(taskID string) bool
	// Audit returns the mutation session of a Task; nil for none.
	Audit func(taskID string) *abi.MutationSession
	// Contents reads what Messages show: images and sounds. Without it they are linked to.
	Contents shapes.Contents
	// DefaultMode is that of a Session which has none of its own; "" where that is not known.
	DefaultMode string
	// ConfigOptions returns the options of a Session of which this model is chosen, as session/new
	// answers them; nil for none.
	ConfigOptions func(model string) jsontext.Value
}

// takes reports whether the client is told updates of an extension.
func (f *For) takes(discriminator string) bool {
	return f.Harn && (f.Takes == nil || f.Takes(discriminator))
}

// Teller says what a client is told of a Session's events. It is used by one goroutine at a time.
type Teller struct {
	f For

	texts     texts
	calls     calls
	injected  map[string]bool // injections that are no Messages yet
	asked     map[string]bool // requests that are not settled
	session   about
	lastChunk string // the Message whose text was told last, with nothing after it; "" for none
}

// New returns a Teller at the beginning of a Session.
func New(f For) *Teller {
	return &Teller{f: f, texts: texts{writing: map[string]*text{}, said: map[string]string{}}, calls: calls{open: map[string]*call{}},
		injected: map[string]bool{}, asked: map[string]bool{}}
}

// Tell returns the updates (each the value of params.update, in order) that an event is told as. It is
// called with every event of one Session in the log's order (of the Session's Tasks and of the Session
// itself); none for what clients are not told.
func (t *Teller) Tell(ev *abi.Event) []jsontext.Value {
	tell, ok := tellers[ev.Event]
	if !ok {
		return nil
	}
	out := &told{}
	tell(t, ev, out)
	return out.all
}

// Skip takes an event of which the client is told nothing, as [Teller.Tell] would.
func (t *Teller) Skip(ev *abi.Event) {
	if tell, ok := tellers[ev.Event]; ok {
		tell(t, ev, &told{nothing: true})
	}
}

// Tells reports whether events of a kind may be told, as updates or as [Teller.AgentEvent] says.
func Tells(kind abi.EventKind) bool {
	_, ok := tellers[kind]
	return ok || kind == abi.EventComposition
}

// told collects updates.
type told struct {
	all     []jsontext.Value
	nothing bool // nobody reads them
}

// add adds an update. One that cannot be written is none.
func (o *told) add(update any) {
	if o.nothing {
		return
	}
	text, err := json.Marshal(update, json.Deterministic(true))
	if err == nil {
		o.all = append(o.all, text)
	}
}

// tellers say how the events of each kind are told. Kinds that are missing are not.
var tellers = map[abi.EventKind]func(*Teller, *abi.Event, *told){
	abi.EventUserMessage:            (*Teller).userMessage,
	abi.EventMessageDelta:           (*Teller).delta,
	abi.EventSessionMessageAppended: (*Teller).appended,
	abi.EventAgentMessage:           (*Teller).agentMessage,
	abi.EventAgentReasoningSummary:  (*Teller).reasoning,

	abi.EventToolRequested:       (*Teller).toolRequested,
	abi.EventToolCompleted:       (*Teller).toolEnded,
	abi.EventToolFailed:          (*Teller).toolEnded,
	abi.EventToolDenied:          (*Teller).toolEnded,
	abi.EventPermissionRequested: (*Teller).permissionRequested,
	abi.EventPermissionSettled:   (*Teller).permissionSettled,

	abi.EventPlan:        (*Teller).planned,
	abi.EventPlanChanged: (*Teller).planned,

	abi.EventSessionCreated: (*Teller).sessionCreated,
	abi.EventSessionUpdated: (*Teller).sessionUpdated,

	abi.EventTaskCompleted: (*Teller).taskEnded,
	abi.EventTaskFailed:    (*Teller).taskEnded,
	abi.EventTaskCanceled:  (*Teller).taskEnded,

	abi.EventArtifactCreated: (*Teller).artifact,
	abi.EventAgentHandoff:    (*Teller).handoff,
	abi.EventProgress:        (*Teller).progress,
	abi.EventLog:             (*Teller).log,
	abi.EventFileWritten:     (*Teller).file,
	abi.EventFileRemoved:     (*Teller).file,
	abi.EventFolderMade:      (*Teller).file,
	abi.EventFolderRemoved:   (*Teller).file,

	abi.EventWorker:              (*Teller).worker,
	abi.EventAgentEvent:          (*Teller).agentEvent,
	abi.EventLiveClient:          (*Teller).live,
	abi.EventLivePermissionRoute: (*Teller).liveRoute,
	abi.EventInjectionQueued:     (*Teller).injection,
	abi.EventInjectionReplaced:   (*Teller).injection,
	abi.EventInjectionRevoked:    (*Teller).injection,
	abi.EventReminderEmitted:     (*Teller).reminder,
}

// payload reads what an event says; false where it cannot be read.
func payload[T any](ev *abi.Event) (*T, bool) {
	var p T
	if ev.Payload.Kind() != '{' || json.Unmarshal(ev.Payload, &p) != nil {
		return nil, false
	}
	return &p, true
}

// extension is an update that the protocol does not have.
type extension struct {
	SessionUpdate string      `json:"sessionUpdate"`
	Meta          shapes.Meta `json:"_meta"`
}

// extend tells an extension to those who take it.
func (t *Teller) extend(o *told, discriminator string, fields any) {
	if t.f.takes(discriminator) {
		o.add(extension{discriminator, shapes.Meta{Harn: fields}})
	}
}
