package a2a

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
)

// What the protocol's own library has of these takes every number for a float64 and shows lists
// that are empty as null or not at all, so they are ours. Its names of states and roles are used.

// part is a piece of content: exactly one of Text, Raw, URL and Data is there.
type part struct {
	Text      *string        `json:"text,omitzero"`
	Raw       []byte         `json:"raw,omitzero"`
	URL       *string        `json:"url,omitzero"`
	Data      jsontext.Value `json:"data,omitzero"`
	Filename  string         `json:"filename,omitzero"`
	MediaType string         `json:"mediaType,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

// kinds counts what a part holds.
func (p *part) kinds() (n int) {
	for _, there := range []bool{p.Text != nil, p.Raw != nil, p.URL != nil, p.Data != nil} {
		if there {
			n++
		}
	}
	return n
}

type message struct {
	MessageID        string          `json:"messageId"`
	ContextID        string          `json:"contextId,omitzero"`
	TaskID           string          `json:"taskId,omitzero"`
	Role             a2a.MessageRole `json:"role"`
	Parts            []part          `json:"parts"`
	Metadata         jsontext.Value  `json:"metadata,omitzero"`
	Extensions       []string        `json:"extensions,omitzero"`
	ReferenceTaskIDs []string        `json:"referenceTaskIds,omitzero"`
}

type artifact struct {
	ArtifactID  string         `json:"artifactId"`
	Name        string         `json:"name,omitzero"`
	Description string         `json:"description,omitzero"`
	Parts       []part         `json:"parts"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
}

type taskStatus struct {
	State     a2a.TaskState `json:"state"`
	Message   *message      `json:"message,omitzero"`
	Timestamp abi.Time      `json:"timestamp,omitzero"`
}

// task has a list that is nil where it was not asked for.
type task struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    taskStatus     `json:"status"`
	Artifacts []artifact     `json:"artifacts,omitzero"`
	History   []message      `json:"history,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

type statusUpdate struct {
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    taskStatus     `json:"status"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

type artifactUpdate struct {
	TaskID    string   `json:"taskId"`
	ContextID string   `json:"contextId"`
	Artifact  artifact `json:"artifact"`
	Append    bool     `json:"append"`
	LastChunk bool     `json:"lastChunk"`
}

// happening is what a stream tells, and what a message is answered with: one of its members.
type happening struct {
	Task           *task           `json:"task,omitzero"`
	StatusUpdate   *statusUpdate   `json:"statusUpdate,omitzero"`
	ArtifactUpdate *artifactUpdate `json:"artifactUpdate,omitzero"`
}

type sendParams struct {
	Tenant        string         `json:"tenant"`
	Message       *message       `json:"message"`
	Configuration *sendConfig    `json:"configuration"`
	Metadata      jsontext.Value `json:"metadata"`
}

type sendConfig struct {
	AcceptedOutputModes []string    `json:"acceptedOutputModes"`
	ReturnImmediately   bool        `json:"returnImmediately"`
	HistoryLength       *int        `json:"historyLength"`
	Push                *pushConfig `json:"taskPushNotificationConfig"`
}

// taskParams name a task.
type taskParams struct {
	Tenant        string `json:"tenant"`
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength"`
}

type listParams struct {
	Tenant               string         `json:"tenant"`
	ContextID            string         `json:"contextId"`
	Status               *string        `json:"status"`
	PageSize             *int           `json:"pageSize"`
	PageToken            string         `json:"pageToken"`
	HistoryLength        *int           `json:"historyLength"`
	StatusTimestampAfter *string        `json:"statusTimestampAfter"`
	IncludeArtifacts     bool           `json:"includeArtifacts"`
	Metadata             jsontext.Value `json:"metadata"`
}

type listAnswer struct {
	Tasks         []task `json:"tasks"`
	TotalSize     int    `json:"totalSize"`
	PageSize      int    `json:"pageSize"`
	NextPageToken string `json:"nextPageToken"`
}

// pushConfig says where somebody wants to be told of a task.
type pushConfig struct {
	Tenant         string    `json:"tenant,omitzero"`
	TaskID         string    `json:"taskId"`
	ID             string    `json:"id"`
	URL            string    `json:"url"`
	Token          string    `json:"token,omitzero"`
	Authentication *pushAuth `json:"authentication,omitzero"`
}

type pushAuth struct {
	Scheme      string `json:"scheme"`
	Credentials string `json:"credentials,omitzero"`
}

// pushParams name a config of a task, or those of a task.
type pushParams struct {
	Tenant    string `json:"tenant"`
	TaskID    string `json:"taskId"`
	ID        string `json:"id"`
	PageSize  *int   `json:"pageSize"`
	PageToken string `json:"pageToken"`
}

type pushList struct {
	Configs       []pushConfig `json:"configs"`
	NextPageToken string       `json:"nextPageToken"`
}

// stateOf returns the protocol's word for the status of a Task.
func stateOf(s abi.TaskStatus) a2a.TaskState {
	switch s {
	case abi.TaskSubmitted:
		return a2a.TaskStateSubmitted
	case abi.TaskInputRequired:
		return a2a.TaskStateInputRequired
	case abi.TaskAuthRequired:
		return a2a.TaskStateAuthRequired
	case abi.TaskCompleted:
		return a2a.TaskStateCompleted
	case abi.TaskFailed:
		return a2a.TaskStateFailed
	case abi.TaskCanceled:
		return a2a.TaskStateCanceled
	}
	return a2a.TaskStateWorking
}

// statusNamed returns the status of Tasks in a state; false for what is no state of any.
func statusNamed(state string) (abi.TaskStatus, bool) {
	for _, s := range abi.TaskStatuses() {
		if string(stateOf(s)) == state {
			return s, true
		}
	}
	return "", false
}

// interrupted reports whether a Task in a state waits for its client.
func interrupted(s a2a.TaskState) bool {
	return s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}
