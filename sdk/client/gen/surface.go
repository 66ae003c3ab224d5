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

// method is one operation by the name that it has in its resource.
type method struct{ name, operation string }

func surface() []resource {
	return []resource{
		{"workspaces", "Workspaces hold everything else.", []method{
			{"list", "listWorkspaces"}, {"get", "getWorkspace"}, {"create", "createWorkspace"}, {"update", "updateWorkspace"}}},
		{"personas", "Personas are what does the work: a plugin and how it is set up.", []method{
			{"list", "listPersonas"}, {"get", "getPersona"}, {"create", "createPersona"}, {"update", "updatePersona"},
			{"clone", "clonePersona"}, {"versions", "listPersonaVersions"}}},
		{"sessions", "Sessions are conversations.", []method{
			{"list", "listSessions"}, {"get", "getSession"}, {"create", "createSession"}, {"update", "updateSession"},
			{"close", "closeSession"}, {"delete", "deleteSession"}, {"fork", "forkSession"}, {"truncate", "truncateSession"},
			{"pause", "pauseSession"}, {"resume", "resumeSession"}, {"messages", "listSessionMessages"}, {"append", "appendMessage"},
			{"tasks", "listSessionTasks"}, {"submit", "submitSessionTask"}, {"events", "listSessionEvents"}}},
		{"tasks", "Tasks are units of work.", []method{
			{"list", "listTasks"}, {"get", "getTask"}, {"submit", "submitTask"}, {"cancel", "cancelTask"}, {"fork", "forkTask"},
			{"replay", "replayTask"}, {"append", "appendTaskMessage"}, {"events", "listTaskEvents"}, {"receipts", "listTaskReceipts"},
			{"permissions", "listTaskPermissionRequests"}, {"record", "getRecord"}}},
		{"messages", "Messages are what is said in Sessions.", []method{{"get", "getMessage"}}},
		{"outcomes", "Outcomes are what Tasks resulted in.", []method{{"list", "listOutcomes"}, {"get", "getOutcome"}}},
		{"artifacts", "Artifacts are files that Tasks and clients make.", []method{
			{"list", "listArtifacts"}, {"get", "getArtifact"}, {"register", "registerArtifact"}}},
		{"permissions", "Permissions are what Tasks ask people for.", []method{
			{"list", "listPermissionRequests"}, {"get", "getPermissionRequest"}, {"respond", "respondPermissionRequest"}}},
		{"receipts", "Receipts prove what Tasks did.", []method{{"get", "getReceipt"}, {"ask", "verifyReceipt"}}},
		{"events", "Events are all that has happened.", []method{{"list", "listEvents"}, {"get", "getEvent"}}},
		{"webhooks", "Webhooks are told of events; a delivery is one that was not taken at first.", []method{
			{"list", "listWebhooks"}, {"get", "getWebhook"}, {"create", "createWebhook"}, {"update", "updateWebhook"},
			{"delete", "deleteWebhook"}, {"rotate", "rotateWebhook"}, {"test", "testWebhook"}, {"deliveries", "listWebhookDeliveries"},
			{"redrive", "redriveWebhookDelivery"}, {"redriveAll", "redriveWebhookDeliveries"}}},
		{"plugins", "Plugins are installed, switched and removed while the node runs.", []method{
			{"list", "listPlugins"}, {"get", "getPlugin"}, {"remove", "removePlugin"}, {"enable", "enablePlugin"},
			{"disable", "disablePlugin"}, {"rollback", "rollbackPlugin"}}},
		{"node", "The node itself.", []method{
			{"discovery", "getDiscovery"}, {"runtime", "getRuntime"}, {"models", "listModels"}, {"tools", "listTools"},
			{"keys", "getPublishedKeys"}}},
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
	for _, r := range surface() {
		for _, m := range r.methods {
			if a.operations[m.operation] == nil {
				return fmt.Errorf("surface.go: %s.%s is the operation %s, which is not in the document", r.name, m.name, m.operation)
			}
		}
	}
	for code := range advice() {
		if !slices.Contains(a.codes, code) {
			return fmt.Errorf("surface.go has the error %s, which is not in the document", code)
		}
	}
	return nil
}
