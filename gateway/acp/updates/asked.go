package updates

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// The discriminators of what people are asked.
const (
	hitlRequest  = "hitl_request"
	hitlResolved = "hitl_resolved"
)

type permissionEvent struct {
	Request *abi.PermissionRequest `json:"permission_request"`
}

// hitlAsked is what Harn hosts are told of a question.
type hitlAsked struct {
	RequestID string             `json:"requestId"`
	Kind      abi.PermissionKind `json:"kind"`
	Payload   hitlPayload        `json:"payload"`
}

// hitlPayload holds the members of all kinds of questions.
type hitlPayload struct {
	ApprovalRequest *shapes.ApprovalRequest `json:"approval_request,omitzero"`
	Prompt          string                  `json:"prompt,omitzero"`
	Schema          jsontext.Value          `json:"schema,omitzero"`
	URL             string                  `json:"url,omitzero"`
	Params          jsontext.Value          `json:"params,omitzero"`
	Deadline        abi.Time                `json:"deadline,omitzero"`
}

type hitlSettled struct {
	RequestID string             `json:"requestId"`
	Kind      abi.PermissionKind `json:"kind"`
	Outcome   string             `json:"outcome"`
}

// permissionRequested tells that somebody is asked something: of a tool call that it waits, of a
// question to those who are not asked otherwise what it says.
func (t *Teller) permissionRequested(ev *abi.Event, o *told) {
	p, ok := payload[permissionEvent](ev)
	if !ok || p.Request == nil || p.Request.ID == "" || p.Request.Status != abi.PermissionPending {
		return
	}
	r := p.Request
	if t.asked[r.ID] {
		return
	}
	t.asked[r.ID] = true
	asked := hitlAsked{RequestID: r.ID, Kind: r.Kind}
	if r.Kind == abi.PermissionApproval {
		about := &shapes.Permission{Request: r, Root: t.f.Root, Known: t.audit(r.TaskID)}
		t.waits(about, o)
		asked.Payload.ApprovalRequest = about.ApprovalRequest()
	} else {
		asked.Payload = hitlPayload{Prompt: r.Prompt, Schema: r.Schema, URL: r.URL, Params: r.Params, Deadline: r.ExpiresAt}
		t.question(r, o)
	}
	t.extend(o, hitlRequest, asked)
}

// waits tells that a tool call waits for somebody's approval.
func (t *Teller) waits(p *shapes.Permission, o *told) {
	r := p.Request
	if r.ToolCallID == "" {
		return
	}
	id := p.ID()
	if _, closed := t.calls.closed[id]; closed || t.calls.open[id] != nil {
		return
	}
	_, name := p.Tool()
	t.calls.add(id, &call{task: r.TaskID, status: statusPending})
	t.lastChunk = ""
	u := update{SessionUpdate: toolCall, ToolCallID: id, Title: name, Status: statusPending, Locations: p.Locations(),
		Meta: lifecycle{Audit: t.audit(r.TaskID)}.meta()}
	if u.Title == "" {
		u.Title = "tool"
	}
	if r.Arguments.Kind() == '{' {
		u.RawInput = r.Arguments
	}
	o.add(u)
}

// question tells a question as text. The next prompt answers it.
func (t *Teller) question(r *abi.PermissionRequest, o *told) {
	switch r.Kind {
	case abi.PermissionInput, abi.PermissionAuthorization:
	default:
		return // it is for programs
	}
	says := strings.TrimSpace(r.Prompt + separator + r.URL)
	if t.f.Asks || t.f.takes(hitlRequest) || says == "" {
		return
	}
	t.notice(noticeQuestion, says, o)
}

// What texts are that no Message has.
const (
	noticeQuestion = "question"
	noticeFailure  = "failure"
)

type ofNotice struct {
	Notice string `json:"notice"`
}

// notice tells a text that is no Message.
func (t *Teller) notice(what, says string, o *told) {
	if t.lastChunk != "" {
		says = separator + says
	}
	t.lastChunk = anew
	o.add(chunk{agentChunk, shapes.Text(says), &shapes.Meta{Harn: ofNotice{what}}})
}

// permissionSettled tells what has become of a question.
func (t *Teller) permissionSettled(ev *abi.Event, o *told) {
	p, ok := payload[permissionEvent](ev)
	if !ok || p.Request == nil || p.Request.ID == "" || p.Request.Status == abi.PermissionPending {
		return
	}
	delete(t.asked, p.Request.ID)
	if c := t.calls.open[shapes.ToolCallID(p.Request.TaskID, p.Request.ToolCallID)]; c != nil && p.Request.Status != abi.PermissionApproved {
		c.denied = true
	}
	t.extend(o, hitlResolved, hitlSettled{p.Request.ID, p.Request.Kind, string(p.Request.Status)})
}
