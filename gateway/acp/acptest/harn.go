package acptest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// extensions are the updates of the Harn documents, each with the members that it may have below
// _meta.harn.
var extensions = map[string][]string{
	"artifact":           {"artifactId", "kind", "title", "mimeType", "spec", "fallback", "sizeBytes", "provenance", "metadata"},
	"fs_watch":           {"subscriptionId", "events"},
	"handoff":            {"handoffId", "artifactId", "handoff"},
	"hitl_request":       {"requestId", "kind", "payload"},
	"hitl_resolved":      {"requestId", "kind", "outcome"},
	"log":                {"level", "message", "fields"},
	"progress":           {"phase", "message", "progress", "total", "data"},
	"reminder_emitted":   {"reminder"},
	"skill_activated":    {"skillName", "iteration", "reason"},
	"skill_deactivated":  {"skillName", "iteration"},
	"skill_narrow":       {"reason", "removedTools", "remainingTools", "policy", "removedToolDetails", "keptToolDetails"},
	"skill_scope_tools":  {"skillName", "allowedTools"},
	"tool_search_query":  {"toolUseId", "name", "query", "strategy", "mode"},
	"tool_search_result": {"toolUseId", "promoted", "strategy", "mode"},
	"transcript_compacted": {"mode", "reason", "strategy", "archivedMessages", "estimatedTokensBefore", "estimatedTokensAfter", "snapshotAssetId",
		"instructionMode", "instructionSource", "compactionPolicy"},
	"transcript_projected": {"policy", "reason", "prefixHash", "keptCount", "droppedCount", "providerSafetyBlocked", "redactedCount",
		"reclaimedTokens", "rootsConsulted", "redactionPointers"},
	"worker_update":                 {"workerId", "workerName", "workerTask", "workerMode", "event", "status", "terminal", "metadata", "audit"},
	"live_session_client":           {"action", "client", "previous_controller_id", "active_controller_id", "clients", "reason"},
	"live_session_permission_route": {"request_id", "controller_client_id", "metadata"},
}

// toolFields are what the documents have below _meta.harn of a tool call.
var toolFields = []string{"audit", "durationMs", "error", "errorCategory", "executionDurationMs", "executor", "parsing", "rawInputPartial"}

// Methods of the Harn documents, by the side that handles them, beside those that begin with "_".
var harnMethods = map[side][]string{
	client: {"host/capabilities", "host/call", "host/tools/list", "builtin_call", "skills/list", "skills/fetch", "skill/match", "agent/idle",
		"process.list_shells", "process.get_default_shell", "process.set_default_shell", "process.shell_invocation", "process.exec"},
	agent: {"session/fork", "session/attach", "session/takeover", "session/detach", "session/heartbeat", "session/inject", "session/revoke_inject",
		"session/replace_inject", "session/remind", "session/revoke_reminder", "session/pending_injections", "agent/resume", "skills/update", "$/cancel_request"},
}

// harnUpdate checks an update that the protocol does not have; false for one that it may have.
func (s *schemas) harnUpdate(update map[string]any) (known bool, err error) {
	kind, _ := update["sessionUpdate"].(string)
	if kind == "user_message" {
		return true, s.userMessage(update)
	}
	fields, ok := extensions[kind]
	if !ok {
		return false, nil
	}
	if err := only(update, "sessionUpdate", "_meta"); err != nil {
		return true, fmt.Errorf("%s: %w", kind, err)
	}
	meta, _ := update["_meta"].(map[string]any)
	harn, ok := meta["harn"].(map[string]any)
	if !ok || len(meta) != 1 {
		return true, fmt.Errorf("%s has no _meta.harn alone", kind)
	}
	if err := only(harn, fields...); err != nil {
		return true, fmt.Errorf("%s: _meta.harn: %w", kind, err)
	}
	return true, nil
}

// userMessage checks a Message of the user that was delivered while the agent worked.
func (s *schemas) userMessage(update map[string]any) error {
	if err := only(update, "sessionUpdate", "messageId", "content", "_meta"); err != nil {
		return fmt.Errorf("user_message: %w", err)
	}
	if id, _ := update["messageId"].(string); id == "" {
		return fmt.Errorf("user_message has no messageId")
	}
	content, _ := update["content"].([]any)
	if len(content) == 0 {
		return fmt.Errorf("user_message has no content")
	}
	for _, block := range content {
		if err := s.check("ContentBlock", block); err != nil {
			return fmt.Errorf("user_message: %w", err)
		}
	}
	return nil
}

// harnTool checks what is below _meta.harn of a tool call.
func harnTool(update map[string]any) error {
	kind, _ := update["sessionUpdate"].(string)
	meta, _ := update["_meta"].(map[string]any)
	harn, _ := meta["harn"].(map[string]any)
	if !strings.HasPrefix(kind, "tool_call") {
		return nil
	}
	if err := only(harn, toolFields...); err != nil {
		return fmt.Errorf("%s: _meta.harn: %w", kind, err)
	}
	return nil
}

// bare returns the params of session/request_permission without what Harn hosts are told at the root.
func bare(params map[string]any) map[string]any {
	to := maps.Clone(params)
	for _, name := range []string{"approvalRequest", "policyDecision", "mutation", "declaredPaths"} {
		delete(to, name)
	}
	if call, ok := params["toolCall"].(map[string]any); ok {
		call = maps.Clone(call)
		delete(call, "toolName")
		to["toolCall"] = call
	}
	return to
}

// only refuses members of other names.
func only(object map[string]any, names ...string) error {
	for name := range object {
		if !slices.Contains(names, name) {
			return fmt.Errorf("it has a member %q", name)
		}
	}
	return nil
}
