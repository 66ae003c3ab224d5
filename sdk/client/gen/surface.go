package main

import (
	"fmt"
	"slices"
)

// resource is a group of methods of a client. Which there are and how they are called is
// decided here, once for all languages; what is more than one request (streams, waiting,
// content, verification) is written by hand in each.
type resource struct {
	name, doc string
	methods   []method
}

// method is one operation by the name that it has in its resource. media is what its body is said to be, where that is
// bytes: [mediaBytes] unless it is given, and where it is given of one that also takes JSON.
type method struct{ name, operation, media string }

// sends returns the media type of the bytes that a method sends; "" if it sends JSON, or nothing.
func (m method) sends(op *operation) string {
	if m.media == "" && op.takesBytes && op.body == nil {
		return mediaBytes
	}
	return m.media
}

// without are the operations that no method is of, with why.
func without() map[string]string {
	const stream, provider, login = "its method is written by hand, as it is a stream", "providers call it, by a URL that they were given",
		"libraries of OAuth ask it: this client is given the token"
	return map[string]string{
		"streamEvents": stream, "streamSessionEvents": stream, "streamTaskEvents": stream, "connectSession": stream,
		"receiveWebhook": provider, "validateWebhook": provider,
		"issueToken": login, "getTokenKeys": login, "getAuthorizationServer": login,
		"getOpenAPI": "it is what this client is made from",
	}
}

func surface() []resource {
	return []resource{
		{"workspaces", "Workspaces hold everything else.", []method{
			{"list", "listWorkspaces", ""}, {"get", "getWorkspace", ""}, {"create", "createWorkspace", ""},
			{"update", "updateWorkspace", ""}, {"file", "getFile", ""}, {"putFile", "putFile", ""}, {"deleteFile", "deleteFile", ""}}},
		{"personas", "Personas are what does the work: a plugin and how it is set up.", []method{
			{"list", "listPersonas", ""}, {"get", "getPersona", ""}, {"create", "createPersona", ""}, {"update", "updatePersona", ""},
			{"delete", "deletePersona", ""}, {"clone", "clonePersona", ""}, {"versions", "listPersonaVersions", ""}}},
		{"sessions", "Sessions are conversations.", []method{
			{"list", "listSessions", ""}, {"get", "getSession", ""}, {"create", "createSession", ""}, {"update", "updateSession", ""},
			{"close", "closeSession", ""}, {"delete", "deleteSession", ""}, {"fork", "forkSession", ""},
			{"replay", "replaySession", ""}, {"truncate", "truncateSession", ""}, {"pause", "pauseSession", ""},
			{"resume", "resumeSession", ""}, {"wake", "wakeSession", ""}, {"messages", "listSessionMessages", ""},
			{"append", "appendMessage", ""}, {"tasks", "listSessionTasks", ""}, {"submit", "submitSessionTask", ""},
			{"events", "listSessionEvents", ""}, {"branches", "listSessionBranches", ""}, {"branch", "createBranch", ""},
			{"injections", "listInjections", ""}, {"inject", "createInjection", ""}, {"replaceInjection", "replaceInjection", ""},
			{"revokeInjection", "revokeInjection", ""}, {"remind", "createReminder", ""}, {"revokeReminder", "revokeReminder", ""},
			{"clients", "listLiveClients", ""}, {"attach", "attachLiveClient", ""}, {"heartbeat", "heartbeatLiveClient", ""},
			{"takeOver", "takeoverSession", ""}, {"detach", "detachLiveClient", ""}}},
		{"branches", "Branches are the ways that a Session has gone, of which one is its main one.", []method{
			{"get", "getBranch", ""}, {"lineage", "getBranchLineage", ""}, {"merge", "mergeBranch", ""},
			{"abandon", "abandonBranch", ""}}},
		{"tasks", "Tasks are units of work.", []method{
			{"list", "listTasks", ""}, {"get", "getTask", ""}, {"submit", "submitTask", ""}, {"cancel", "cancelTask", ""},
			{"fork", "forkTask", ""}, {"replay", "replayTask", ""}, {"append", "appendTaskMessage", ""},
			{"events", "listTaskEvents", ""}, {"receipts", "listTaskReceipts", ""}, {"permissions", "listTaskPermissionRequests", ""},
			{"record", "getRecord", ""}, {"bundle", "exportTask", ""}, {"delete", "deleteTask", ""}}},
		{"messages", "Messages are what is said in Sessions.", []method{
			{"get", "getMessage", ""}}},
		{"outcomes", "Outcomes are what Tasks resulted in.", []method{
			{"list", "listOutcomes", ""}, {"get", "getOutcome", ""}}},
		{"artifacts", "Artifacts are files that Tasks and clients make.", []method{
			{"list", "listArtifacts", ""}, {"get", "getArtifact", ""}, {"register", "registerArtifact", ""},
			{"upload", "registerArtifact", mediaBytes}, {"content", "getArtifactContent", ""}, {"delete", "deleteArtifact", ""}}},
		{"permissions", "Permissions are what Tasks ask people for.", []method{
			{"list", "listPermissionRequests", ""}, {"get", "getPermissionRequest", ""}, {"respond", "respondPermissionRequest", ""}}},
		{"receipts", "Receipts prove what Tasks did.", []method{
			{"get", "getReceipt", ""}, {"ask", "verifyReceipt", ""}}},
		{"events", "Events are all that has happened.", []method{
			{"list", "listEvents", ""}, {"get", "getEvent", ""}}},
		{"memories", "Memories are what Personas keep from one Task to the next.", []method{
			{"list", "listMemories", ""}, {"get", "getMemory", ""}, {"create", "createMemory", ""}, {"delete", "deleteMemory", ""}}},
		{"connectors", "Connectors turn what providers send into Tasks; a dead letter is a delivery that came to nothing.", []method{
			{"list", "listConnectors", ""}, {"get", "getConnector", ""}, {"create", "createConnector", ""},
			{"update", "updateConnector", ""}, {"delete", "deleteConnector", ""}, {"deliver", "deliver", ""},
			{"deadLetters", "listDeadLetters", ""}, {"deadLetter", "getDeadLetter", ""}, {"redrive", "redriveDeadLetter", ""},
			{"redriveAll", "redriveDeadLetters", ""}}},
		{"webhooks", "Webhooks are told of events; a delivery is one that was not taken at first.", []method{
			{"list", "listWebhooks", ""}, {"get", "getWebhook", ""}, {"create", "createWebhook", ""}, {"update", "updateWebhook", ""},
			{"delete", "deleteWebhook", ""}, {"rotate", "rotateWebhook", ""}, {"test", "testWebhook", ""},
			{"deliveries", "listWebhookDeliveries", ""}, {"redrive", "redriveWebhookDelivery", ""},
			{"redriveAll", "redriveWebhookDeliveries", ""}}},
		{"plugins", "Plugins are installed, switched and removed while the node runs. What is installed is a module, or a package of one with its manifest.", []method{
			{"list", "listPlugins", ""}, {"get", "getPlugin", ""}, {"install", "installPlugin", "application/wasm"},
			{"installPackage", "installPlugin", "application/zip"}, {"manifest", "getPluginManifest", ""},
			{"rollback", "rollbackPlugin", ""}, {"enable", "enablePlugin", ""}, {"disable", "disablePlugin", ""},
			{"remove", "removePlugin", ""}}},
		{"skills", "Skills are what Personas can do.", []method{
			{"list", "listSkills", ""}, {"get", "getSkill", ""}, {"create", "createSkill", ""}, {"update", "updateSkill", ""}}},
		{"skillBundles", "Skill bundles are folders with a SKILL.md, each in a zip archive.", []method{
			{"list", "listSkillBundles", ""}, {"get", "getSkillBundle", ""}, {"install", "installSkillBundle", "application/zip"},
			{"upgrade", "upgradeSkillBundle", "application/zip"}, {"update", "updateSkillBundle", ""},
			{"versions", "listSkillBundleVersions", ""}, {"content", "getSkillBundleContent", ""},
			{"rollback", "rollbackSkillBundle", ""}, {"uninstall", "uninstallSkillBundle", ""}}},
		{"toolServers", "Tool servers are what Tasks have tools from over MCP.", []method{
			{"list", "listToolServers", ""}, {"get", "getToolServer", ""}, {"create", "createToolServer", ""},
			{"update", "updateToolServer", ""}, {"delete", "deleteToolServer", ""}, {"ping", "pingToolServer", ""},
			{"tools", "listToolServerTools", ""}, {"prompts", "listToolServerPrompts", ""}, {"prompt", "getToolServerPrompt", ""},
			{"resources", "listToolServerResources", ""}, {"templates", "listToolServerTemplates", ""},
			{"read", "readToolServerResource", ""}}},
		{"vaults", "Vaults hold secrets, which nobody can read.", []method{
			{"list", "listVaults", ""}, {"get", "getVault", ""}, {"create", "createVault", ""}, {"update", "updateVault", ""},
			{"secrets", "listVaultSecrets", ""}, {"store", "storeVaultSecret", ""}, {"removeSecret", "removeVaultSecret", ""},
			{"rotateKey", "rotateVaultKey", ""}}},
		{"holds", "Holds keep things from being deleted.", []method{
			{"list", "listHolds", ""}, {"get", "getHold", ""}, {"place", "placeHold", ""}, {"release", "releaseHold", ""}}},
		{"keys", "Keys are what clients show to a node.", []method{
			{"list", "listKeys", ""}, {"create", "createKey", ""}, {"revoke", "revokeKey", ""}}},
		{"quotas", "Quotas bound what Tasks may use.", []method{
			{"list", "listQuotas", ""}, {"get", "getQuota", ""}, {"create", "createQuota", ""}, {"update", "updateQuota", ""}}},
		{"node", "The node itself.", []method{
			{"discovery", "getDiscovery", ""}, {"runtime", "getRuntime", ""}, {"capabilities", "listCapabilities", ""},
			{"card", "getAgentCard", ""}, {"models", "listModels", ""}, {"tools", "listTools", ""}, {"tool", "getTool", ""},
			{"keys", "getPublishedKeys", ""}, {"signingKeys", "listSigningKeys", ""}, {"rotateSigningKey", "rotateSigningKey", ""},
			{"backup", "backup", ""}, {"version", "getVersion", ""}, {"health", "getHealth", ""}, {"live", "getLiveness", ""},
			{"ready", "getReadiness", ""}, {"metrics", "getMetrics", ""}}},
	}
}

// advice is what to do about an error, by its code.
func advice() map[string]string {
	return map[string]string{
		"invalid_request":              "Correct the member or parameter that `param` names, and send the request again.",
		"invalid_state_transition":     "Read the resource again: what it is now does not allow this.",
		"unauthenticated":              "Check the API key: it is missing, wrong, revoked or has expired.",
		"permission_denied":            "Use a key that has the scope which the message names, or ask an operator for it.",
		"resource_not_found":           "Check the id, and that the key may see the Workspace that the resource is in.",
		"conflict":                     "Read the resource again and decide anew: somebody else was first.",
		"idempotency_key_reused":       "Use a new idempotency key: this one was used for another request.",
		"cursor_expired":               "Read the resource, and stream from now on: the events after the cursor are not kept any more.",
		"payload_too_large":            "Send less at once; docs/limits.md has the limits.",
		"policy_violation":             "Read in `details` which rule refuses it; an operator can change the rule.",
		"resource_locked":              "Try again when whoever holds the resource is done.",
		"unsupported_protocol_version": "Use a client of the node's version, or update the node: `details` has the versions that it speaks.",
		"rate_limited":                 "Send less, or wait as long as Retry-After says; the client has already tried several times.",
		"client_closed_request":        "Nothing: the client has closed the connection before the answer.",
		"internal_error":               "Look for the request id in the node's log.",
		"upstream_unavailable":         "Try again later: what the node asked does not answer.",
		"service_unavailable":          "Try again later: the node is starting, draining or overloaded.",
		"deadline_exceeded":            "Allow more time, or ask for less.",
		"not_implemented":              "Do without it: this node cannot do it.",
	}
}

// check finds what the lists above name and the document does not have, or the reverse.
func (a *api) check() error {
	for _, code := range a.codes {
		if advice()[code] == "" {
			return fmt.Errorf("surface.go does not say what to do about the error %s", code)
		}
	}
	if err := a.checkOperations(); err != nil {
		return err
	}
	for code := range advice() {
		if !slices.Contains(a.codes, code) {
			return fmt.Errorf("surface.go has the error %s, which is not in the document", code)
		}
	}
	return nil
}

// checkOperations finds an operation that is neither a method's nor left out for a reason, and names of operations that
// there are not.
func (a *api) checkOperations() error {
	placed := without()
	for _, r := range surface() {
		for _, m := range r.methods {
			op := a.operations[m.operation]
			if op == nil {
				return fmt.Errorf("surface.go: %s.%s is the operation %s, which is not in the document", r.name, m.name, m.operation)
			}
			if m.media != "" && !op.takesBytes {
				return fmt.Errorf("surface.go: %s.%s sends bytes, which %s does not take", r.name, m.name, m.operation)
			}
			if placed[m.operation] != "" && placed[m.operation] != r.name {
				return fmt.Errorf("surface.go: %s.%s is the operation %s, which is placed elsewhere: %s", r.name, m.name, m.operation, placed[m.operation])
			}
			placed[m.operation] = r.name
		}
	}
	for id := range a.operations {
		if placed[id] == "" {
			return fmt.Errorf("surface.go: the operation %s is no method, and without does not say why", id)
		}
	}
	for id := range without() {
		if a.operations[id] == nil {
			return fmt.Errorf("surface.go says why %s is no method, which is not in the document", id)
		}
	}
	return nil
}
