package updates

import (
	"maps"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// The discriminators of other extensions.
const (
	artifactUpdate = "artifact"
	fsWatch        = "fs_watch"
	handoffUpdate  = "handoff"
	liveClient     = "live_session_client"
	liveRoute      = "live_session_permission_route"
	logUpdate      = "log"
	progressUpdate = "progress"
	reminderUpdate = "reminder_emitted"
	workerUpdate   = "worker_update"
)

// workerFields are the members of what is told of a worker.
var workerFields = []string{"worker_id", "worker_name", "worker_task", "worker_mode", "event", "status", "terminal", "metadata", "audit"}

// agentFields are the members of what an agent tells of its work, by the update that they become.
var agentFields = map[string][]string{
	"skill_activated":    {"skill_name", "iteration", "reason"},
	"skill_deactivated":  {"skill_name", "iteration"},
	"skill_scope_tools":  {"skill_name", "allowed_tools"},
	"skill_narrow":       {"reason", "removed_tools", "remaining_tools", "policy", "removed_tool_details", "kept_tool_details"},
	"tool_search_query":  {"tool_use_id", "name", "query", "strategy", "mode"},
	"tool_search_result": {"tool_use_id", "promoted", "strategy", "mode"},
	"transcript_compacted": {"mode", "reason", "strategy", "archived_messages", "estimated_tokens_before", "estimated_tokens_after",
		"snapshot_asset_id", "instruction_mode", "instruction_source", "compaction_policy"},
	"transcript_projected": {"policy", "reason", "prefix_hash", "kept_count", "dropped_count", "provider_safety_blocked", "redacted_count",
		"reclaimed_tokens", "roots_consulted", "redaction_pointers"},
}

// Extensions lists the discriminators of the updates that Harn-aware clients may be told, as initialize
// tells them. The documents of Harn count available_commands_update to them, and user_message to those
// of the protocol.
func Extensions() []string {
	all := []string{artifactUpdate, "available_commands_update", fsWatch, handoffUpdate, hitlRequest, hitlResolved, liveClient, liveRoute,
		logUpdate, progressUpdate, reminderUpdate, workerUpdate}
	for name := range agentFields {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// members is an object.
type members map[string]jsontext.Value

// redacted reports whether what an event says is withheld from this reader.
func (m members) redacted() bool {
	var yes bool
	return json.Unmarshal(m["redacted"], &yes) == nil && yes
}

// membersOf reads an object; nil for what is none.
func membersOf(v jsontext.Value) members {
	var m members
	if v.Kind() != '{' || json.Unmarshal(v, &m) != nil {
		return nil
	}
	return m
}

// pick returns some members under the names that Harn has for them.
func (m members) pick(names []string) members {
	picked := members{}
	for _, name := range names {
		if v, ok := m[name]; ok {
			picked[camel(name)] = v
		}
	}
	return picked
}

// camel spells a name as Harn does.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// only returns some members as they are.
func (m members) only(names ...string) members {
	picked := members{}
	for _, name := range names {
		if v, ok := m[name]; ok {
			picked[name] = v
		}
	}
	return picked
}

func (t *Teller) worker(ev *abi.Event, o *told) {
	m := membersOf(ev.Payload)
	if m["worker_id"].Kind() != '"' || m["event"].Kind() != '"' || m.redacted() {
		return
	}
	t.extend(o, workerUpdate, m.pick(workerFields))
}

// agentEvent tells what an agent says of its work. What has no update of its own is for [Teller.AgentEvent].
func (t *Teller) agentEvent(ev *abi.Event, o *told) {
	m := membersOf(ev.Payload)
	kind, _ := stringOf(m["kind"])
	fields, ok := agentFields[kind]
	data := membersOf(m["data"])
	if !ok || data == nil || m.redacted() {
		return
	}
	t.extend(o, kind, data.pick(fields))
}

// AgentEvent returns the params of the notification _harn/agentEvent that an event is told as; false
// for one that is not, and where the client is not Harn-aware. Such an event has no update.
func (t *Teller) AgentEvent(ev *abi.Event) (params jsontext.Value, ok bool) {
	if !t.f.Harn || ev.Event != abi.EventComposition && ev.Event != abi.EventAgentEvent {
		return nil, false // it is asked of every event, and reads none of the others
	}
	m := membersOf(ev.Payload)
	kind, known := stringOf(m["kind"])
	if !known || m.redacted() {
		return nil, false
	}
	var says members
	switch {
	case ev.Event == abi.EventComposition && strings.HasPrefix(kind, "composition_"):
		says = m
	case ev.Event == abi.EventAgentEvent && strings.HasPrefix(kind, "turn_"):
		says = membersOf(m["data"])
	default:
		return nil, false
	}
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(says)) {
		if name != "visibility" && name != "type" {
			fields[camel(name)] = says[name]
		}
	}
	fields["kind"], fields["sessionId"] = kind, ev.SessionID
	if call, child := stringOf(says["call_id"]); child && ev.Event == abi.EventComposition {
		fields["toolCallId"] = shapes.ToolCallID(ev.TaskID, call)
	}
	if ev.TaskID != "" {
		fields["taskId"] = ev.TaskID
	}
	text, err := json.Marshal(fields, json.Deterministic(true))
	return text, err == nil
}

// live tells of the clients that are attached to a Session, in the words of the answers to session/attach.
func (t *Teller) live(ev *abi.Event, o *told) {
	m := membersOf(ev.Payload)
	if m["action"].Kind() == '"' && !m.redacted() {
		t.extend(o, liveClient, m.only("action", "client", "previous_controller_id", "active_controller_id", "clients", "reason"))
	}
}

func (t *Teller) liveRoute(ev *abi.Event, o *told) {
	m := membersOf(ev.Payload)
	if m["request_id"].Kind() == '"' && !m.redacted() {
		t.extend(o, liveRoute, m.only("request_id", "controller_client_id", "metadata"))
	}
}

// injection is what is read of something that waits in a Session's inbox.
type injection struct {
	Injection *struct {
		ID        string `json:"id"`
		MessageID string `json:"message_id"`
		Kind      string `json:"kind"`
	} `json:"injection"`
}

// injection notes which Messages are to come that somebody has injected.
func (t *Teller) injection(ev *abi.Event, _ *told) {
	p, ok := payload[injection](ev)
	if !ok || p.Injection == nil || p.Injection.Kind != "user" {
		return
	}
	id := p.Injection.MessageID
	if id == "" {
		id = p.Injection.ID
	}
	if ev.Event == abi.EventInjectionRevoked {
		delete(t.injected, id)
		return
	}
	t.injected[id] = true
}

// reminder tells of a reminder that a model is shown.
func (t *Teller) reminder(ev *abi.Event, o *told) {
	m := membersOf(membersOf(ev.Payload)["reminder"])
	if m["reminder_id"].Kind() != '"' || m.redacted() {
		return
	}
	fields := []string{"reminder_id", "tags", "body", "role_hint", "rendered_role", "source", "ttl_turns"}
	t.extend(o, reminderUpdate, map[string]any{"reminder": m.pick(fields)})
}

// artifact tells of an Artifact, and nothing of its content.
func (t *Teller) artifact(ev *abi.Event, o *told) {
	p, ok := payload[struct {
		Artifact *abi.Artifact `json:"artifact"`
	}](ev)
	if !ok || p.Artifact == nil || p.Artifact.ID == "" {
		return
	}
	a := p.Artifact
	fields := artifactFields{ArtifactID: a.ID, Kind: a.Kind, Title: a.Name, MimeType: a.MimeType, SizeBytes: a.SizeBytes, Metadata: a.Metadata,
		Provenance: provenance{URI: shapes.ArtifactURI(a.ID), SHA256: a.SHA256, SessionID: a.SessionID, TaskID: a.TaskID, CreatedAt: a.CreatedAt}}
	t.extend(o, artifactUpdate, fields)
}

type artifactFields struct {
	ArtifactID string           `json:"artifactId"`
	Kind       abi.ArtifactKind `json:"kind"`
	Title      string           `json:"title,omitzero"`
	MimeType   string           `json:"mimeType"`
	SizeBytes  *int64           `json:"sizeBytes,omitzero"`
	Provenance provenance       `json:"provenance"`
	Metadata   jsontext.Value   `json:"metadata,omitzero"`
}

type provenance struct {
	URI       string   `json:"uri"`
	SHA256    *string  `json:"sha256,omitzero"`
	SessionID string   `json:"sessionId,omitzero"`
	TaskID    string   `json:"taskId,omitzero"`
	CreatedAt abi.Time `json:"createdAt,omitzero"`
}

// handoff tells that work was handed to another Persona.
func (t *Teller) handoff(ev *abi.Event, o *told) {
	p, ok := payload[struct {
		Request abi.CallHandoffRequest  `json:"request"`
		Answer  abi.CallTaskSpawnAnswer `json:"answer"`
	}](ev)
	if !ok {
		return
	}
	h := handedOver{Type: "handoff_artifact", FromTask: ev.TaskID, TaskID: p.Answer.TaskID, PersonaID: p.Request.PersonaID, Reason: p.Request.Reason, Input: p.Request.Input}
	id := h.TaskID
	if id == "" {
		id = "handoff-" + ev.ID // what it is may not be seen
	}
	t.extend(o, handoffUpdate, handoffFields{id, h})
}

type handoffFields struct {
	HandoffID string     `json:"handoffId"`
	Handoff   handedOver `json:"handoff"`
}

type handedOver struct {
	Type      string         `json:"_type"`
	FromTask  string         `json:"from_task_id,omitzero"`
	TaskID    string         `json:"task_id,omitzero"`
	PersonaID string         `json:"persona_id,omitzero"`
	Reason    string         `json:"reason,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
}

// progress tells how far a Task, or the tool that it calls, says it is.
func (t *Teller) progress(ev *abi.Event, o *told) {
	p, ok := payload[abi.Progress](ev)
	if !ok || p.Redacted || p.Message == "" && p.Fraction == nil {
		return
	}
	fields := progressFields{Phase: "narration", Message: p.Message}
	if p.Fraction != nil {
		percent, total := *p.Fraction*100, 100
		fields.Phase, fields.Progress, fields.Total = "progress", &percent, &total
	}
	if p.Type == abi.ProgressOfTool {
		fields.Phase = "tool"
	}
	t.extend(o, progressUpdate, fields)
}

type progressFields struct {
	Phase    string   `json:"phase"`
	Message  string   `json:"message,omitzero"`
	Progress *float64 `json:"progress,omitzero"`
	Total    *int     `json:"total,omitzero"`
}

// log tells a line that a plugin has logged.
func (t *Teller) log(ev *abi.Event, o *told) {
	p, ok := payload[struct {
		Level    string         `json:"level"`
		Message  string         `json:"message"`
		Fields   jsontext.Value `json:"fields"`
		Redacted bool           `json:"redacted"`
	}](ev)
	if !ok || p.Redacted || p.Level == "" && p.Message == "" {
		return
	}
	if p.Fields.Kind() != '{' {
		p.Fields = abi.EmptyObject()
	}
	t.extend(o, logUpdate, logFields{p.Level, p.Message, p.Fields})
}

type logFields struct {
	Level   string         `json:"level"`
	Message string         `json:"message"`
	Fields  jsontext.Value `json:"fields"`
}

// fileKinds are what happens to files, in the words of those who watch folders.
var fileKinds = map[abi.EventKind]string{
	abi.EventFileWritten: "modify", abi.EventFileRemoved: "remove", abi.EventFolderMade: "create", abi.EventFolderRemoved: "remove",
}

// file tells what happens to a file of the Workspace.
func (t *Teller) file(ev *abi.Event, o *told) {
	p, ok := payload[abi.File](ev)
	if !ok || p.Path == "" {
		return
	}
	at := p.Path
	if l, ok := shapes.LocationOf(t.f.Root, p.Path); ok {
		at = l.Path
	}
	one := fileEvent{Kind: fileKinds[ev.Event], Paths: []string{at}, RelativePaths: []string{p.Path}, RawKind: string(ev.Event)}
	t.extend(o, fsWatch, fileFields{"workspace:" + p.WorkspaceID, []fileEvent{one}})
}

type fileFields struct {
	SubscriptionID string      `json:"subscriptionId"`
	Events         []fileEvent `json:"events"`
}

type fileEvent struct {
	Kind          string   `json:"kind"`
	Paths         []string `json:"paths"`
	RelativePaths []string `json:"relative_paths"`
	RawKind       string   `json:"raw_kind"`
	Error         *string  `json:"error"`
}
