package receipt

import (
	"net/url"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// What follows reads requests and answers as far as a receipt needs them. A request
// that cannot be read was answered as malformed: it had no effect, and none is told.

func (t *Tally) tool(e *journal.Entry, answer abi.Hash) {
	var request struct {
		Server    string         `json:"server"`
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if json.Unmarshal(e.Request, &request) != nil || request.Server == "" || request.Name == "" {
		return
	}
	if !refused(e.Status) {
		t.toolCalls++
	}
	if len(t.effects.ToolCalls) == maxListed {
		t.omitted.ToolCalls++
		return
	}
	c := ToolCall{Tool: request.Server + "." + request.Name, CallID: callID(e, "mcp:"+request.Server+":"),
		Status: toolStatus(e), OutputHash: journal.FormatHash(answer), Metadata: callMetadata(e.Status)}
	if held(e) {
		c.Metadata.DeniedBy = abi.CodeCompositionCeiling
	}
	if len(request.Arguments) > 0 {
		c.InputHash = journal.HashOf(request.Arguments)
	}
	t.effects.ToolCalls = append(t.effects.ToolCalls, c)
}

// served counts what was read of a server of tools, as a call of a tool is counted. It has no
// effect, and so none is listed.
func (t *Tally) served(e *journal.Entry) {
	if !refused(e.Status) {
		t.toolCalls++
	}
}

func toolStatus(e *journal.Entry) string {
	var answer struct {
		IsError bool `json:"is_error"`
	}
	if e.Status != abi.CallOK || json.Unmarshal(e.Answer, &answer) != nil || answer.IsError {
		return "failed"
	}
	return "succeeded"
}

func (t *Tally) fetch(e *journal.Entry) {
	var request struct {
		URL     string `json:"url"`
		Purpose string `json:"purpose"`
	}
	if refused(e.Status) || json.Unmarshal(e.Request, &request) != nil {
		return
	}
	host := hostOf(request.URL)
	if host == "" {
		return
	}
	egress := Egress{Destination: host, Purpose: request.Purpose, Metadata: callMetadata(e.Status)}
	if egress.Purpose == "" {
		egress.Purpose = abi.CallHTTPFetch
	}
	egress.fetched(e)
	t.egress(egress)
}

// fetched adds what the answer of a request tells.
func (g *Egress) fetched(e *journal.Entry) {
	var answer struct {
		URL       string `json:"url"`
		BytesSent int64  `json:"bytes_sent"`
	}
	if e.Status != abi.CallOK || json.Unmarshal(e.Answer, &answer) != nil {
		return
	}
	sent := max(0, answer.BytesSent)
	g.BytesSent = &sent
	if last := hostOf(answer.URL); last != "" && last != g.Destination {
		g.Metadata = &CallMetadata{RedirectedTo: last}
	}
}

// file notes a change of a file.
func (t *Tally) file(e *journal.Entry) {
	t.changed(e.Call, e.Status, e.Request, e.Answer)
}

// fileTool notes the change of a file that a tool of the node has made.
func (t *Tally) fileTool(e *journal.Entry) {
	var request struct {
		Server    string         `json:"server"`
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	var answer struct {
		Structured jsontext.Value `json:"structured"`
	}
	if json.Unmarshal(e.Request, &request) != nil || request.Server != abi.ToolServerHost {
		return
	}
	paths := hosttools.Changes(request.Name, request.Arguments)
	if len(paths) == 0 || e.Status == abi.CallOK && json.Unmarshal(e.Answer, &answer) != nil {
		return
	}
	named, err := json.Marshal(change{Path: paths[0]})
	if err != nil {
		return // a path that is no text was refused
	}
	t.changed(hosttools.InFiles(request.Server, request.Name), e.Status, named, answer.Structured)
}

// change is what calls that change files have in common, in requests and answers.
type change struct {
	Path         string            `json:"path"`
	SHA256       string            `json:"sha256,omitzero"`
	BeforeSHA256 string            `json:"before_sha256,omitzero"`
	Removed      []abi.RemovedFile `json:"removed,omitzero"`
}

// changed notes what a call has made of files. One of which nobody knows whether it happened is
// told without what there is after it.
func (t *Tally) changed(call string, status abi.CallStatus, request, answered []byte) {
	var asked, answer change
	if status != abi.CallOK && status != abi.CallIndeterminate || json.Unmarshal(request, &asked) != nil || asked.Path == "" {
		return
	}
	if status == abi.CallOK && json.Unmarshal(answered, &answer) != nil {
		return
	}
	w := FileWrite{Path: asked.Path, Operation: "modify", BeforeSHA256: prefixed(answer.BeforeSHA256), AfterSHA256: prefixed(answer.SHA256)}
	switch {
	case call == abi.CallFileRemove && status == abi.CallOK && answer.BeforeSHA256 == "": // a folder
		for _, f := range answer.Removed {
			t.wrote(FileWrite{Path: f.Path, Operation: "delete", BeforeSHA256: prefixed(f.BeforeSHA256)})
		}
		return
	case call == abi.CallFileRemove:
		w.Operation = "delete"
	case status == abi.CallOK && answer.BeforeSHA256 == "":
		w.Operation = "create"
	}
	t.wrote(w)
}

func (t *Tally) wrote(w FileWrite) {
	if len(t.effects.FSWrites) == maxListed {
		t.omitted.FSWrites++
		return
	}
	t.effects.FSWrites = append(t.effects.FSWrites, w)
}

// prefixed writes a bare hash as a receipt has it; "" stays.
func prefixed(sum string) string {
	if sum == "" {
		return ""
	}
	return "sha256:" + sum
}

func (t *Tally) egress(g Egress) {
	if len(t.effects.NetworkEgress) == maxListed {
		t.omitted.NetworkEgress++
		return
	}
	t.effects.NetworkEgress = append(t.effects.NetworkEgress, g)
}

// hostOf returns the host and port of a URL, "" when there is none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// decisions are those that a receipt knows.
var decisions = map[string]bool{"approved": true, "denied": true, "canceled": true, "timeout": true}

func (t *Tally) approval(e *journal.Entry, answer abi.Hash) {
	var request struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(e.Request, &request) != nil || request.Action == "" {
		return
	}
	grounds := journal.Grounds(e)
	a := Approval{ApprovalID: e.Key, Action: request.Action, Actor: nobody, EvidenceHash: journal.FormatHash(answer)}
	if before, ok := a.decide(e); ok {
		t.decided(a, before, &grounds)
	}
}

// questions notes the approvals among several questions that were asked at once, and that what
// was brought for an authorization is what a replay is told.
func (t *Tally) questions(e *journal.Entry, answer abi.Hash) {
	var request struct {
		Requests []struct {
			Key    string             `json:"key"`
			Kind   abi.PermissionKind `json:"kind"`
			Action string             `json:"action"`
		} `json:"requests"`
	}
	var told struct {
		Answers []struct {
			Key      string                  `json:"key"`
			Approval *abi.CallApprovalAnswer `json:"approval"`
		} `json:"answers"`
	}
	if e.Status != abi.CallOK || json.Unmarshal(e.Request, &request) != nil || len(request.Requests) == 0 || json.Unmarshal(e.Answer, &told) != nil || len(told.Answers) == 0 {
		return
	}
	authorizes := false
	for _, q := range request.Requests {
		authorizes = authorizes || q.Kind == abi.PermissionAuthorization
		for _, of := range told.Answers {
			a := Approval{ApprovalID: e.Key + ":" + q.Key, Action: q.Action, Actor: nobody, DecidedAt: e.At, EvidenceHash: journal.FormatHash(answer)}
			if of.Key != q.Key || of.Approval == nil || q.Kind != abi.PermissionApproval || q.Action == "" {
				continue
			}
			if before, ok := a.take(of.Approval); ok {
				t.decided(a, before, &abi.Grounds{})
			}
		}
	}
	if authorizes {
		t.material(MaterialHostFact, e, answer)
	}
}

// decided notes how an approval ended, and the decisions before that.
func (t *Tally) decided(a Approval, before []abi.Decision, grounds *abi.Grounds) {
	for _, d := range before {
		if !decisions[d.Decision] || d.Actor == "" { // of an answer that a replay was given
			continue
		}
		t.approve(Approval{ApprovalID: a.ApprovalID, Action: a.Action, Actor: d.Actor, Decision: d.Decision,
			DecidedAt: d.DecidedAt, EvidenceHash: a.EvidenceHash}, grounds)
	}
	t.approve(a, grounds)
}

func (t *Tally) approve(a Approval, on *abi.Grounds) {
	if len(t.approvals) == maxListed {
		t.omitted.Approvals++
		return
	}
	if on.MatchedRule != "" {
		t.grounds = append(t.grounds, ApprovalGrounds{len(t.approvals), *on})
	}
	t.approvals = append(t.approvals, a)
}

// nobody is the actor of an approval that nobody decided.
const nobody = "none"

// decide fills in how it ended, and returns the decisions that were taken before;
// ok is false when it has no end.
func (a *Approval) decide(e *journal.Entry) (before []abi.Decision, ok bool) {
	a.DecidedAt = e.At
	switch e.Status {
	case abi.CallTimeout:
		a.Decision = "timeout"
		return nil, true
	case abi.CallOK:
	default:
		return nil, false
	}
	var answer abi.CallApprovalAnswer
	if json.Unmarshal(e.Answer, &answer) != nil {
		return nil, false
	}
	return a.take(&answer)
}

// take fills in what the answer to an approval says.
func (a *Approval) take(answer *abi.CallApprovalAnswer) (before []abi.Decision, ok bool) {
	if !decisions[answer.Decision] {
		return nil, false
	}
	a.Decision = answer.Decision
	if answer.Actor != "" {
		a.Actor = answer.Actor
	}
	if !answer.DecidedAt.IsZero() {
		a.DecidedAt = answer.DecidedAt
	}
	if answer.Quorum > 1 {
		a.QuorumProof = &QuorumProof{ApprovedBy: answer.ApprovedBy, Quorum: answer.Quorum}
	}
	before = answer.Decisions
	if len(before) > 0 && answer.Actor != "" {
		before = before[:len(before)-1] // the last one is the end itself
	}
	return before, true
}

func (t *Tally) handoff(e *journal.Entry) {
	var request struct {
		PersonaID string `json:"persona_id"`
	}
	var answer struct {
		TaskID string `json:"task_id"`
	}
	if e.Status != abi.CallOK || json.Unmarshal(e.Request, &request) != nil || json.Unmarshal(e.Answer, &answer) != nil ||
		request.PersonaID == "" || answer.TaskID == "" {
		return
	}
	if len(t.effects.A2AHandoffs) == maxListed {
		t.omitted.Handoffs++
		return
	}
	if t.handoffs == nil {
		t.handoffs = map[string]int{}
	}
	t.handoffs[answer.TaskID] = len(t.effects.A2AHandoffs)
	t.effects.A2AHandoffs = append(t.effects.A2AHandoffs,
		Handoff{TargetAgent: request.PersonaID, TaskID: answer.TaskID, Status: "accepted"})
}

// await notes how a handoff ended, when the Task waited for it.
func (t *Tally) await(e *journal.Entry) {
	var answer struct {
		TaskID    string            `json:"task_id"`
		Status    abi.OutcomeStatus `json:"status"`
		ReceiptID string            `json:"receipt_id"`
	}
	if len(t.handoffs) == 0 || e.Status != abi.CallOK || json.Unmarshal(e.Answer, &answer) != nil {
		return
	}
	i, ok := t.handoffs[answer.TaskID]
	if !ok {
		return
	}
	h := &t.effects.A2AHandoffs[i]
	h.ReceiptID, h.Status = answer.ReceiptID, "failed"
	if answer.Status == abi.OutcomeSucceeded {
		h.Status = "completed"
	}
}
