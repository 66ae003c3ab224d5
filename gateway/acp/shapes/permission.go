package shapes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// ToolCallID names a tool call among all of a Session: two Tasks may both have a call-0.
func ToolCallID(taskID, callID string) string { return taskID + "." + callID }

// The options that a permission request gives. There is none that stays: a rule that nobody has
// recorded would widen policy.
const (
	OptionAllow  = "allow_once"
	OptionReject = "reject_once"
)

// Permission is a permission request, and what is known of whoever asks. Only Request is needed.
type Permission struct {
	Request *abi.PermissionRequest
	Task    *abi.Task
	Parent  *abi.Task // that Task works for it; nil for none
	Session *abi.Session
	Persona *abi.Persona
	Known   *abi.MutationSession // the mutation session, where it is known; else it follows from Task, Parent, Session and Persona
	Root    string               // the Session's folder at the client, to which paths are relative
}

// ID names the call, or else the request, that a decision is about.
func (p *Permission) ID() string {
	if p.Request.ToolCallID == "" {
		return p.Request.ID
	}
	return ToolCallID(p.Request.TaskID, p.Request.ToolCallID)
}

// Tool returns the server and the name of the tool that is asked about; "" for what is no tool.
func (p *Permission) Tool() (server, name string) {
	action, ok := strings.CutPrefix(p.Request.Action, abi.CallToolCall+" ")
	if !ok || p.Request.ToolCallID == "" {
		return "", ""
	}
	action, _, _ = strings.Cut(action, " ") // what follows says whose tool it is
	server, name, _ = strings.Cut(action, ":")
	return server, name
}

// ApprovalRequest is what Harn hosts show of a permission request.
type ApprovalRequest struct {
	ID                    string         `json:"id"`
	Action                string         `json:"action"`
	Args                  jsontext.Value `json:"args"`
	Principal             string         `json:"principal"`
	RequestedAt           abi.Time       `json:"requested_at"`
	Deadline              abi.Time       `json:"deadline,omitzero"`
	ApproversRequired     int            `json:"approvers_required"`
	EvidenceRefs          []Evidence     `json:"evidence_refs"`
	UndoMetadata          UndoMetadata   `json:"undo_metadata"`
	CapabilitiesRequested []string       `json:"capabilities_requested"`
	PermissionRequestID   string         `json:"permission_request_id"` // Wharf's own: by which it is answered over REST
}

// Evidence is something that an approver may want to look at.
type Evidence struct {
	Kind     string   `json:"kind"`
	Ref      string   `json:"ref"`
	Metadata PathOnly `json:"metadata"`
}

// PathOnly is a path of the Workspace.
type PathOnly struct {
	WorkspacePath string `json:"workspace_path"`
}

// UndoMetadata says where a write belongs to.
type UndoMetadata struct {
	SessionID      string         `json:"session_id"`
	RunID          string         `json:"run_id"`
	WorkerID       *string        `json:"worker_id"`
	MutationScope  string         `json:"mutation_scope,omitzero"`
	PolicyDecision PolicyDecision `json:"policy_decision"`
}

// PolicyDecision says why policy asks.
type PolicyDecision struct {
	Type        string          `json:"type"`
	Action      string          `json:"action"`
	Reason      string          `json:"reason"`
	MatchedRule *MatchedRule    `json:"matched_rule,omitzero"`
	RiskLabels  []abi.RiskLabel `json:"risk_labels"`
	Context     *PolicyContext  `json:"context,omitzero"`
}

// MatchedRule is the rule by which policy asks.
type MatchedRule struct {
	Source string `json:"source"`
	Action string `json:"action"`
	ID     string `json:"id"`
}

// PolicyContext is what policy has looked at.
type PolicyContext struct {
	ToolName   string     `json:"tool_name"`
	SideEffect string     `json:"side_effect,omitzero"`
	Paths      []PathOnly `json:"paths"`
}

const (
	policyDecisionType = "harn.permission_policy_decision.v1"
	asks               = "ask"
)

// PolicyDecision returns why policy asks. The whole of it has its context.
func (p *Permission) PolicyDecision(whole bool) PolicyDecision {
	r := p.Request
	d := PolicyDecision{Type: policyDecisionType, Action: asks, Reason: cmp.Or(r.Prompt, r.Action), RiskLabels: append([]abi.RiskLabel{}, r.RiskLabels...)}
	if r.MatchedRule != "" {
		source, _, _ := strings.Cut(r.MatchedRule, ".")
		d.MatchedRule = &MatchedRule{Source: source, Action: asks, ID: r.MatchedRule}
	}
	if !whole {
		return d
	}
	_, name := p.Tool()
	d.Context = &PolicyContext{ToolName: cmp.Or(name, r.Action), Paths: []PathOnly{}}
	if slices.Contains(r.RiskLabels, abi.RiskWrite) {
		d.Context.SideEffect = "write"
	}
	for _, path := range r.DeclaredPaths {
		d.Context.Paths = append(d.Context.Paths, PathOnly{path})
	}
	return d
}

// ApprovalRequest returns what Harn hosts show.
func (p *Permission) ApprovalRequest() *ApprovalRequest {
	r := p.Request
	a := &ApprovalRequest{
		ID: p.ID(), Action: r.Action, Args: object(r.Arguments), Principal: cmp.Or(r.PersonaID, r.RequestedBy), RequestedAt: r.CreatedAt, Deadline: r.ExpiresAt,
		ApproversRequired: max(1, r.Quorum), EvidenceRefs: []Evidence{}, PermissionRequestID: r.ID,
		UndoMetadata:          UndoMetadata{SessionID: r.SessionID, RunID: r.TaskID, PolicyDecision: p.PolicyDecision(false)},
		CapabilitiesRequested: []string{r.Action},
	}
	if _, name := p.Tool(); name != "" {
		a.Action = name
	}
	for _, path := range r.DeclaredPaths {
		a.EvidenceRefs = append(a.EvidenceRefs, Evidence{"workspace_path", path, PathOnly{path}})
	}
	if audit := p.Audit(); audit != nil {
		a.UndoMetadata.MutationScope = audit.MutationScope
		if audit.WorkerID != "" {
			a.UndoMetadata.WorkerID = &audit.WorkerID
		}
	}
	return a
}

// Audit returns the mutation session that the Task's writes belong to; nil for a Task that can write nothing, and where
// the Task or its Persona is not known.
func (p *Permission) Audit() *abi.MutationSession {
	if p.Known != nil {
		return p.Known
	}
	return abi.MutationSessionOf(p.Task, p.Parent, p.Session, p.Persona)
}

// object returns arguments as everybody is shown some: an object.
func object(v jsontext.Value) jsontext.Value {
	if v.Kind() != '{' {
		return abi.EmptyObject()
	}
	return v
}

// askedOf is the params of session/request_permission.
type askedOf struct {
	SessionID      string   `json:"sessionId"`
	ToolCall       toolCall `json:"toolCall"`
	Options        []option `json:"options"`
	Meta           Meta     `json:"_meta"`
	*permissionOwn          // for Harn hosts
}

type permissionOwn struct {
	ApprovalRequest *ApprovalRequest     `json:"approvalRequest"`
	PolicyDecision  PolicyDecision       `json:"policyDecision"`
	Mutation        *abi.MutationSession `json:"mutation,omitzero"`
	DeclaredPaths   []string             `json:"declaredPaths"`
}

type toolCall struct {
	ToolCallID string         `json:"toolCallId"`
	ToolName   string         `json:"toolName,omitzero"` // for Harn hosts
	Title      string         `json:"title"`
	Status     string         `json:"status"`
	RawInput   jsontext.Value `json:"rawInput"`
	Locations  []Location     `json:"locations,omitzero"`
	Meta       *Meta          `json:"_meta,omitzero"`
}

type toolOwn struct {
	ToolName string               `json:"toolName"`
	Audit    *abi.MutationSession `json:"audit,omitzero"`
}

type option struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

// Location is a file that something is about.
type Location struct {
	Path string `json:"path"` // absolute
	Line *int   `json:"line,omitzero"`
}

// LocationOf returns where a path of a Workspace lies at a client; false where that is not known.
// root is the Session's folder at the client.
func LocationOf(root, file string) (Location, bool) {
	switch {
	case file == "" || strings.ContainsRune(file, 0):
		return Location{}, false
	case absolute(file):
		return Location{Path: file}, true
	case !absolute(root):
		return Location{}, false
	case strings.Contains(root, `\`):
		return Location{Path: strings.TrimRight(root, `\`) + `\` + strings.ReplaceAll(file, "/", `\`)}, true
	}
	return Location{Path: path.Join(root, file)}, true
}

// absolute reports whether a path of any system is absolute.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// Params returns the params of session/request_permission for an approval. A Harn host is told its own
// members at the root too.
func (p *Permission) Params(harn bool) (jsontext.Value, error) {
	r := p.Request
	own := &permissionOwn{p.ApprovalRequest(), p.PolicyDecision(true), p.Audit(), append([]string{}, r.DeclaredPaths...)}
	_, name := p.Tool()
	name = cmp.Or(name, r.Action)
	title := cmp.Or(name, r.Prompt, "permission")
	asked := &askedOf{
		SessionID: r.SessionID,
		ToolCall: toolCall{ToolCallID: p.ID(), Title: title, Status: "pending", RawInput: object(r.Arguments), Locations: p.Locations(),
			Meta: &Meta{toolOwn{name, own.Mutation}}},
		Options: []option{{OptionAllow, "Allow", "allow_once"}, {OptionReject, "Reject", "reject_once"}},
		Meta:    Meta{own},
	}
	if harn {
		asked.permissionOwn, asked.ToolCall.ToolName = own, name
	}
	text, err := json.Marshal(asked, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("asking for permission: %w", err)
	}
	return text, nil
}

// Locations are the files that a request names.
func (p *Permission) Locations() []Location {
	var all []Location
	for _, file := range p.Request.DeclaredPaths {
		if l, ok := LocationOf(p.Root, file); ok {
			all = append(all, l)
		}
	}
	return all
}

// AnswerKind says what an answer to session/request_permission comes to.
type AnswerKind int

// What an answer comes to. Only [Approved] lets anything happen.
const (
	Unreadable AnswerKind = iota // none of the documented shapes: whoever asked has erred, and nothing is decided
	Approved
	Denied
	Abandoned // the turn was cancelled before somebody decided
)

// Answer is an answer to session/request_permission.
type Answer struct {
	Kind AnswerKind
	// Respond is the decision, of Approved and Denied; of Unreadable the denial that is given where
	// nobody else may decide.
	Respond abi.RespondRequest
}

// The decisions, and the reason of one that nobody has made.
const (
	decisionApproved = "approved"
	decisionDenied   = "denied"
	reasonHostError  = "host_error"
)

// HostError is the answer of a client that has given an error, or none in time. why is for people.
func HostError(why string) Answer {
	reason := reasonHostError
	if why != "" {
		reason += ": " + why
	}
	return Answer{Unreadable, abi.RespondRequest{Decision: decisionDenied, Reason: reason}}
}

// answered holds the members of all documented shapes.
type answered struct {
	Outcome *outcome       `json:"outcome"`
	Granted *bool          `json:"granted"`
	Args    jsontext.Value `json:"args"`
	Reason  string         `json:"reason"`
}

type outcome struct {
	Outcome  string         `json:"outcome"`
	OptionID jsontext.Value `json:"optionId"`
}

// ReadAnswer reads the result of session/request_permission.
func ReadAnswer(result jsontext.Value) Answer {
	var a answered
	if result.Kind() != '{' {
		return HostError("the answer is no object")
	}
	if err := json.Unmarshal(result, &a); err != nil {
		return HostError("the answer cannot be read")
	}
	switch {
	case a.Outcome != nil && a.Granted != nil:
		return HostError("the answer decides twice")
	case a.Outcome != nil:
		return a.Outcome.read()
	case a.Granted == nil:
		return HostError("the answer decides nothing")
	case !*a.Granted:
		return denied(a.Reason)
	}
	return a.granted()
}

func denied(reason string) Answer {
	return Answer{Denied, abi.RespondRequest{Decision: decisionDenied, Reason: reason}}
}

func approved(reason string, arguments jsontext.Value) Answer {
	return Answer{Approved, abi.RespondRequest{Decision: decisionApproved, Reason: reason, Arguments: arguments}}
}

// granted reads the shape of before the protocol had one, which may bring other arguments.
func (a *answered) granted() Answer {
	switch a.Args.Kind() {
	case '{':
		return approved(a.Reason, a.Args)
	case 0, 'n':
		return approved(a.Reason, nil)
	}
	return HostError("the arguments are no object")
}

func (o *outcome) read() Answer {
	switch o.Outcome {
	case "cancelled":
		return Answer{Kind: Abandoned}
	case "selected":
	default:
		return HostError("the outcome is neither selected nor cancelled")
	}
	if len(o.OptionID) == 0 {
		return approved("", nil) // the documents of Harn name no option
	}
	var id string
	if o.OptionID.Kind() == '"' {
		_ = json.Unmarshal(o.OptionID, &id) // what cannot be read is no option
	}
	switch id {
	case OptionAllow:
		return approved("", nil)
	case OptionReject:
		return denied("")
	}
	return HostError("the option was not offered")
}
