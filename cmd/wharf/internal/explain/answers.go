package explain

import "github.com/wharf-dev/wharf/abi"

// answers are what a node refuses requests with.
func answers() []Page {
	page := func(code abi.ErrorCode, short, means, do, example string) Page {
		return Page{Code: string(code), Kind: Answer, Short: short, Means: means, Do: do, Example: example}
	}
	return []Page{
		page(abi.CodeInvalidRequest, "the request is malformed",
			`A member is missing, unknown, of another type, too long, or does not go with another; param names it. 405 and 415 have this code too.`,
			`Correct the member that param names. /openapi.json of the node has the form of every request.`,
			`curl http://127.0.0.1:8080/openapi.json`),
		page(abi.CodeInvalidStateTransition, "the resource is in no state for that",
			`For example an answer to a Task that does not wait, or a resume of a Session that is not paused.`,
			`Look at the state that it has now. A second answer to the same question comes too late.`,
			`wharf task get task_01K0...`),
		page(abi.CodeUnauthenticated, "the API key is missing or unknown",
			`The request has no key, or one that this node does not know: it was revoked, or is of another node.`,
			`Set WHARF_API_KEY to the key that "wharf serve" printed on its first start, or one that was made with wharf key create.`,
			`export WHARF_API_KEY=...
wharf key list`),
		page(abi.CodePermissionDenied, "the API key may not do this",
			`The key lacks a scope, is of another tenant, or is bound to other Workspaces.`,
			`Have somebody with a key that has keys:write make one with the scope.`,
			`wharf key create NAME --scope tasks:read,events:read`),
		page(abi.CodeResourceNotFound, "there is nothing of that id that this key can see",
			`It does not exist, was deleted, or belongs to others: the answer is the same, so that nobody learns what others have.`,
			`Look for it in the list, with the same key.`,
			`wharf task list
wharf session list`),
		page(abi.CodeConflict, "something else is there already, or it has changed meanwhile",
			`For example a name that is taken, a Task that has ended, or a version that is not the newest any more.`,
			`Read the resource as it is now, and decide again.`,
			`wharf task get task_01K0...`),
		page(abi.CodeIdempotencyKeyReused, "the idempotency key belongs to another request",
			`A key stands for one request: sent again with the same body, it is answered as before; with another body it is refused.`,
			`Use a new key for a new request.`,
			`wharf task submit --idempotency-key order-4711 "Hello"`),
		page(abi.CodeCursorExpired, "the events after that cursor are not kept any more",
			`Retention has removed what lies between the cursor and the oldest event that is kept.`,
			`Read the resource as it is now, then stream from now on, without the cursor.`,
			`wharf task get task_01K0...
wharf task tail task_01K0...`),
		page(abi.CodePayloadTooLarge, "the request is larger than it may be",
			`Its body passes limits.body, or has more values or members than docs/limits.md says.`,
			`Upload large input as an Artifact, which --file does, or raise the limit of the node.`,
			`wharf task submit --file large.pdf
wharf config show`),
		page(abi.CodePolicyViolation, "policy forbids it",
			`The request is sound, and what it asks for is not allowed: a plugin that the node does not have, a command that it does not start, a Persona that needs receipts where there is no key, a plugin that no key of plugins.trust has signed. A plugin meets this code when its Persona's capabilities or the node's grants do not include a host call.`,
			`The message names what is not allowed. For a plugin: add the host call to the Persona's capabilities, and the host, tool or secret to grants in the node's configuration. A plugin to be installed is packed and signed with wharf plugin package FOLDER --sign KEY.`,
			`wharf config show
wharf persona get persona_01K0...`),
		page(abi.CodeResourceLocked, "somebody else holds it",
			`Another client controls it for as long as it says so.`,
			`Try again later, or take over where that is offered.`,
			`wharf session clients sess_01K0...`),
		page(abi.CodeUnsupportedVersion, "client and node do not speak the same version of the protocol",
			`The request names no version in its header `+abi.VersionHeader+`, or one that this node does not speak.`,
			`Send the version of the node; use a client and a node of the same release.`,
			`wharf version --json`),
		page(abi.CodeRateLimited, "too much at one time, or a quota is spent",
			`The queue of Tasks is full (tasks.queue), or a Quota bounds the tenant, Workspace or Persona. Retry-After says when it makes sense to ask again.`,
			`Wait as long as Retry-After says. The SDKs and wharf do so by themselves where a request can be repeated.`,
			`wharf quota list`),
		page(abi.CodeClientClosedRequest, "the client left before the answer",
			`The connection was closed while the node worked on the request. It stands in logs and metrics; nobody is there to see it.`,
			`Repeat the request with the same idempotency key: it is done once.`, ""),
		page(abi.CodeInternalError, "the node has failed",
			`Something went wrong that is no fault of the request: a disk, a value that cannot be read, a mistake in Wharf.`,
			`Look in the node's log for the request id that the answer has, and report it with that line if it is none of the disk.`,
			`wharf doctor`),
		page(abi.CodeUpstreamUnavailable, "what lies behind the node does not answer",
			`A server of tools, a model or an identity provider could not be reached, or answered with an error.`,
			`See whether the node can reach it: its log has the address and the cause.`,
			`wharf tool-server ping tsrv_01K0...`),
		page(abi.CodeServiceUnavailable, "the node is busy, starting or ending, or its disk is nearly full",
			`There is no room for the request now, or the node drains before it ends. Or its disk is nearly full: the message says so, and new work is refused until there is room. Nothing was done.`,
			`Ask again after Retry-After. Where the disk is nearly full, delete what is no longer needed or make room: docs/disk.md says where it goes.`,
			`curl http://127.0.0.1:8080/readyz`),
		page(abi.CodeDeadlineExceeded, "it was not done in time",
			`The node gave up waiting for what the request needs. Whether it is done later cannot be told from this answer.`,
			`Read the resource, then repeat the request with the same idempotency key.`,
			`wharf task list`),
		page(abi.CodeNotImplemented, "this node does not have that",
			`It is an optional part of the protocol that is not there, or is turned off in the node's configuration.`,
			`The message names what is missing; docs/configuration.md says which setting turns it on.`,
			`wharf config show`),
	}
}

// inboxes are why messages of inboxes are not changed.
func inboxes() []Page {
	page := func(code abi.InboxReason, short, means, do string) Page {
		return Page{Code: string(code), Kind: Inbox, Short: short, Means: means, Do: do, Example: "wharf session pending sess_01K0..."}
	}
	return []Page{
		page(abi.ReasonAlreadyDelivered, "the plugin has it already", `A message can be replaced and taken back until a Task has taken it.`, `Say the rest in a new message.`),
		page(abi.ReasonAlreadyRevoked, "it was taken back already", `Somebody has revoked the message before.`, `There is nothing to do; send a new message if you still want it.`),
		page(abi.ReasonUnknownMessage, "there is no such message in the inbox", `The id is of another Session, or of no message at all.`, `See what is pending.`),
		page(abi.ReasonNotOwner, "it is somebody else's message", `Messages are changed by whoever sent them, or by the client that controls the Session.`, `Take control of the Session, or ask the sender.`),
	}
}
