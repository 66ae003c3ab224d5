package harn

import (
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// The statuses that this package answers with.
const (
	statusOK        = fasthttp.StatusOK
	statusCreated   = fasthttp.StatusCreated
	statusAccepted  = fasthttp.StatusAccepted
	statusNoContent = fasthttp.StatusNoContent
	statusSwitching = fasthttp.StatusSwitchingProtocols

	statusPartial     = fasthttp.StatusPartialContent
	statusNotModified = fasthttp.StatusNotModified
)

// routes returns the table: the operations of the protocol (docs/protocol.md, 2)
// and Wharf's own.
func (a *Adapter) routes() []gateway.Route {
	var all []gateway.Route
	for _, group := range [][]gateway.Route{
		a.discoveryRoutes(), a.taskRoutes(), a.inboxRoutes(), a.sessionRoutes(), a.messageRoutes(), a.eventRoutes(),
		a.artifactRoutes(), a.receiptRoutes(), a.workspaceRoutes(), a.personaRoutes(), a.memoryRoutes(),
		a.vaultRoutes(), a.connectorRoutes(), a.deadLetterRoutes(), a.webhookRoutes(), a.skillRoutes(), a.quotaRoutes(), a.permissionRoutes(), a.fileRoutes(), a.branchRoutes(), a.tokenRoutes(),
		a.recordRoutes(), a.adminRoutes(), a.socketRoutes(), a.runtimeRoutes(), a.toolRoutes(), a.toolServerRoutes(), a.pluginRoutes(), a.skillBundleRoutes(), a.liveRoutes(), a.deletionRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

// row starts a route: everything else follows by the methods below.
type row gateway.Route

func read(path, operation, tag, scope, response, summary string, h gateway.Handler) row {
	return row{Method: fasthttp.MethodGet, Path: path, Operation: operation, Tag: tag, Scope: scope,
		Response: response, Summary: summary, Status: statusOK, Handle: h}
}

func write(method, path, operation, tag, scope, request, response, summary string, status int, h gateway.Handler) row {
	return row{Method: method, Path: path, Operation: operation, Tag: tag, Scope: scope, Body: gateway.BodyJSON,
		Request: request, Response: response, Summary: summary, Status: status, Idempotent: true, Handle: h}
}

func post(path, operation, tag, scope, request, response, summary string, status int, h gateway.Handler) row {
	return write(fasthttp.MethodPost, path, operation, tag, scope, request, response, summary, status, h)
}

func patch(path, operation, tag, scope, request, response, summary string, h gateway.Handler) row {
	return write(fasthttp.MethodPatch, path, operation, tag, scope, request, response, summary, statusOK, h)
}

// with adds parameters.
func (rt row) with(params ...gateway.Param) row {
	rt.Params = append(rt.Params, params...)
	return rt
}

// optional makes the body optional.
func (rt row) optional() row {
	rt.Body = gateway.BodyOptionalJSON
	return rt
}

// tolerant says that members of the body that are not known are ignored: for writes of
// the protocol whose required members hold all of the content, so that a client of a
// later revision can say more. Of others a lost member would be lost content, or a limit
// that is thought to hold.
func (rt row) tolerant() row {
	rt.Tolerant = true
	return rt
}

// bodyless says that nothing is read.
func (rt row) bodyless() row {
	rt.Body, rt.Request = gateway.BodyNone, ""
	return rt
}

func (rt row) doc(text string) row {
	rt.Doc = text
	return rt
}

// list makes the route a paginated list of its response.
func (rt row) list(filters ...string) row {
	rt.Response += "List"
	for _, name := range filters {
		rt = rt.with(filterParam(name))
	}
	return rt.with(limitParam(), cursorParam())
}

func cursorParam() gateway.Param {
	return gateway.Param{Name: "cursor", In: "query", Doc: "`page.next_cursor` of the page before.", Schema: text()}
}

// also adds an answer that is no failure.
func (rt row) also(status int, doc string, empty bool) row {
	rt.Also = append(rt.Also, gateway.Answer{Status: status, Doc: doc, Empty: empty})
	return rt
}

func limitParam() gateway.Param {
	return gateway.Param{Name: "limit", In: "query", Doc: "How many to answer with at most.",
		Schema: gateway.Schema{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit}}
}

func filterParam(name string) gateway.Param {
	object := strings.TrimSuffix(name, "_id")
	return gateway.Param{Name: name, In: "query", Doc: "Only what belongs to this " + object + ".", Schema: text()}
}

func refParams() []gateway.Param {
	return []gateway.Param{
		{Name: "ref_kind", In: "query", Doc: "Of which kind `ref` is.", Schema: text()},
		{Name: "ref", In: "query", Doc: "What something outside calls the Session. It is compared byte by byte.", Schema: text()},
	}
}

func afterParam() gateway.Param {
	return gateway.Param{Name: "after_event_id", In: "query",
		Doc: "The id of the last event seen; what follows it is answered.", Schema: text()}
}

func lastEventParam() gateway.Param {
	return gateway.Param{Name: "Last-Event-ID", In: "header",
		Doc: "The id of the last event seen; the stream goes on after it.", Schema: text()}
}

func routes(rows ...row) []gateway.Route {
	all := make([]gateway.Route, len(rows))
	for i, rt := range rows {
		all[i] = gateway.Route(rt)
	}
	return all
}

func (a *Adapter) discoveryRoutes() []gateway.Route {
	const tag = "Discovery"
	discovery := read("/v1", "getDiscovery", tag, "", "Discovery", "Discover the protocol versions and transports", a.discovery)
	card := read("/v1/agent-card", "getAgentCard", tag, "", "HarnAgentCard", "Get the agent card", a.agentCard)
	discovery.Public, card.Public = true, true
	return routes(discovery, card)
}

func (a *Adapter) taskRoutes() []gateway.Route {
	const tag, reads, writes = "Tasks", "tasks:read", "tasks:write"
	prefer := gateway.Param{Name: "Prefer", In: "header",
		Doc: "`wait=SECONDS` asks to be answered when the Task has ended, or after so long (RFC 7240).", Schema: text()}
	const submitted = "Answers 202 as soon as the Task is durable. With `Prefer: wait=SECONDS` the answer is held until the Task has ended, " +
		"and is then 200, or until the time is up, and is then 202; `Preference-Applied` says how long the node was ready to wait."
	submit := func(path, operation, summary string) row {
		rt := post(path, operation, tag, writes, "SubmitTaskRequest", "Task", summary, statusAccepted, a.submitTask)
		return rt.with(prefer, clientParam()).tolerant().doc(submitted).also(statusOK, "The Task has ended.", false)
	}
	return routes(
		byStatus(read("/v1/tasks", "listTasks", tag, reads, "Task", "List Tasks, newest first", a.list(abi.ObjectTask)).paged(descending, "workspace_id", "session_id").timed(),
			abi.TaskStatuses()),
		submit("/v1/tasks", "submitTask", "Submit a Task to the Session that the body names, or has made with it"),
		read("/v1/tasks/{task_id}", "getTask", tag, reads, "Task", "Get a Task", a.get(abi.ObjectTask, "task_id")),
		post("/v1/tasks/{task_id}/cancel", "cancelTask", tag, writes, "CancelTaskRequest", "Task", "Cancel a Task", statusOK,
			change(a, "task_id", statusOK, a.core.CancelTask)).optional().tolerant().with(clientParam()),
		post("/v1/tasks/{task_id}/replay", "replayTask", tag, abi.ScopeTasksReplay, "ReplayTaskRequest", "Task", "Replay a Task",
			statusAccepted, change(a, "task_id", statusAccepted, a.core.ReplayTask)).optional().
			doc("Answers with a new Task, whose parent is the source. Its plugin is run again, and each of its host calls is answered from the "+
				"source's record. A call that differs from the record ends it with the failure `replay_divergence`."),
		byStatus(read("/v1/sessions/{session_id}/tasks", "listSessionTasks", tag, reads, "Task", "List a Session's Tasks, newest first",
			a.listWithin(abi.ObjectTask, abi.ObjectSession, "session_id")).paged(descending).timed(), abi.TaskStatuses()),
		submit("/v1/sessions/{session_id}/tasks", "submitSessionTask", "Submit a Task to a Session"),
		read("/v1/outcomes", "listOutcomes", "Outcomes", "outcomes:read", "Outcome", "List Outcomes, newest first", a.list(abi.ObjectOutcome)).paged(descending, "task_id"),
		read("/v1/outcomes/{outcome_id}", "getOutcome", "Outcomes", "outcomes:read", "Outcome", "Get an Outcome", a.get(abi.ObjectOutcome, "outcome_id")),
	)
}

func (a *Adapter) sessionRoutes() []gateway.Route {
	const tag, reads, writes = "Sessions", "sessions:read", "sessions:write"
	return routes(
		byStatus(read("/v1/sessions", "listSessions", tag, reads, "Session", "List Sessions, newest first", a.listSessions).paged(descending, "workspace_id").timed(),
			abi.SessionStates()).with(refParams()...).
			with(flagParam("include_message_count", "Whether to show of each Session how many Messages its transcript has, up to 1,000, as `message_count`.")).
			doc("With `ref_kind` and `ref` the list holds the Session that has this reference: of a Workspace at most one. Only a key that is bound to "+
				"Workspaces can leave `workspace_id` out then."),
		post("/v1/sessions", "createSession", tag, writes, "CreateSessionRequest", "Session", "Create a Session", statusCreated,
			create(a, statusCreated, a.core.CreateSession)),
		read("/v1/sessions/{session_id}", "getSession", tag, reads, "Session", "Get a Session", a.get(abi.ObjectSession, "session_id")),
		patch("/v1/sessions/{session_id}", "updateSession", tag, writes, "UpdateSessionRequest", "Session", "Change a Session's summary or metadata",
			change(a, "session_id", statusOK, a.core.UpdateSession)),
		post("/v1/sessions/{session_id}/close", "closeSession", tag, writes, "", "Session", "Close a Session", statusOK, a.changeSession(a.core.CloseSession)).bodyless(),
		post("/wharf/v1/sessions/{session_id}/pause", "pauseSession", tag, writes, "", "Session", "Have a Session take no new Tasks", statusOK, a.changeSession(a.core.PauseSession)).bodyless().
			doc("A new Task is refused with 409 until the Session is resumed. Tasks that it has taken already run on, with those that they spawn, and Messages are taken."),
		post("/wharf/v1/sessions/{session_id}/resume", "resumeSession", tag, writes, "", "Session", "Have a paused Session take Tasks again", statusOK,
			a.changeSession(a.core.ResumeSession)).bodyless(),
		write(fasthttp.MethodDelete, "/wharf/v1/sessions/{session_id}", "deleteSession", tag, writes, "", "", "Delete a Session", statusNoContent, a.deletes("session_id", a.core.DeleteSession)).bodyless().
			doc("It is closed, shown nowhere any more, and its references are free. Tasks that run end. Then it is erased with its Messages, its Tasks and all that belongs to them: at once, or when "+
				"nothing that was forked from it is left. Receipts stay. One that a Hold is on, or on something in it, is refused with 423."),
		post("/v1/sessions/{session_id}/fork", "forkSession", tag, writes, "ForkSessionRequest", "Session", "Fork a Session", statusCreated,
			change(a, "session_id", statusCreated, a.core.ForkSession)).optional(),
		post("/v1/sessions/{session_id}/truncate", "truncateSession", tag, writes, "TruncateSessionRequest", "Session",
			"Keep the first turns of a Session and drop the rest", statusOK, change(a, "session_id", statusOK, a.core.TruncateSession)).
			doc("A turn is a Message. The events of dropped turns stay in the log."),
		read("/v1/sessions/{session_id}/branches", "listSessionBranches", "Branches", "branches:read", "Branch", "List a Session's Branches, newest first",
			a.listWithin(abi.ObjectBranch, abi.ObjectSession, "session_id")).paged(descending),
		post("/v1/sessions/{session_id}/branches", "createBranch", "Branches", "branches:write", "CreateBranchRequest", "Branch", "Create a Branch",
			statusCreated, change(a, "session_id", statusCreated, a.core.CreateBranch)),
		read("/v1/branches/{branch_id}", "getBranch", "Branches", "branches:read", "Branch", "Get a Branch", a.get(abi.ObjectBranch, "branch_id")),
	)
}

func (a *Adapter) messageRoutes() []gateway.Route {
	const tag, reads, writes = "Messages", "messages:read", "messages:write"
	return routes(
		read("/v1/sessions/{session_id}/messages", "listSessionMessages", tag, reads, "Message", "List a Session's Messages, oldest first", a.messages).paged(ascending),
		post("/v1/sessions/{session_id}/messages", "appendMessage", tag, writes, "AppendMessageRequest", "Message", "Append a Message to a Session",
			statusCreated, change(a, "session_id", statusCreated, a.core.AppendMessage)).with(clientParam()),
		post("/v1/tasks/{task_id}/messages", "appendTaskMessage", tag, writes, "AppendTaskMessageRequest", "Message", "Send a Message to a Task",
			statusCreated, change(a, "task_id", statusCreated, a.core.AppendTaskMessage)).with(clientParam()).
			doc("A Task that waits for input takes the kind `input`; one that waits for an approval takes `tool_confirmation`, with a `json` part "+
				"whose value is `{\"decision\": \"approved\" or \"denied\", \"reason\": …, \"arguments\": …}`. Both take the scope `tasks:write` besides."),
		read("/v1/messages/{message_id}", "getMessage", tag, reads, "Message", "Get a Message", a.get(abi.ObjectMessage, "message_id")),
	)
}

func (a *Adapter) eventRoutes() []gateway.Route {
	const tag, reads = "Events", "events:read"
	list := func(path, operation, summary string, h gateway.Handler) row {
		rt := read(path, operation, tag, reads, "EventList", summary, h)
		cursor := gateway.Param{Name: "cursor", In: "query", Doc: "`page.next_cursor` of the page before; it comes before `after_event_id`.", Schema: text()}
		return rt.with(afterParam(), cursor, limitParam()).
			doc("`page.next_cursor` is the id to give as `cursor`, or as `after_event_id`, next. An id that retention has passed answers 410 `cursor_expired`.")
	}
	stream := func(path, operation, summary string, h gateway.Handler) row {
		rt := read(path, operation, tag, reads, "EventStream", summary, h)
		rt.Media, rt.Socket = gateway.MediaEventStream, true
		return rt.with(lastEventParam(), afterParam()).doc(socketDoc)
	}
	filters := []gateway.Param{filterParam("workspace_id"), filterParam("session_id"), filterParam("task_id")}
	return routes(
		list("/v1/events", "listEvents", "List events, oldest first", a.listEvents(byQuery)).with(filters...),
		read("/v1/events/{event_id}", "getEvent", tag, reads, "Event", "Get an event", a.getEvent),
		stream("/v1/events/stream", "streamEvents", "Stream events", a.streamEvents(byQuery)).with(filters...),
		list("/v1/sessions/{session_id}/events", "listSessionEvents", "List a Session's events, oldest first", a.listEvents(bySession)),
		stream("/v1/sessions/{session_id}/events/stream", "streamSessionEvents", "Stream a Session's events", a.streamEvents(bySession)),
		list("/v1/tasks/{task_id}/events", "listTaskEvents", "List a Task's events, oldest first", a.listEvents(byTask)),
		stream("/v1/tasks/{task_id}/stream", "streamTaskEvents", "Stream a Task's events", a.streamTask).
			doc("The stream ends after the event that ends the Task. "+socketDoc).
			also(statusNoContent, "The Task has ended and the cursor lies after its end: an EventSource stops here.", true),
	)
}

func (a *Adapter) artifactRoutes() []gateway.Route {
	const tag, reads, writes = "Artifacts", "artifacts:read", "artifacts:write"
	register := post("/v1/artifacts", "registerArtifact", tag, writes, "RegisterArtifactRequest", "Artifact",
		"Register or upload an Artifact", statusCreated, a.registerArtifact).
		with(uploadParams()...).
		doc("A JSON body registers an Artifact, with its content in base64 or its place elsewhere. Any other media type is the content itself, " +
			"described by the query parameters; `multipart/form-data` holds one file, and the same parameters as fields before it.")
	register.Body = gateway.BodyRaw
	content := read("/v1/artifacts/{artifact_id}/content", "getArtifactContent", tag, reads, "", "Get an Artifact's content", a.artifactContent).
		with(gateway.Param{Name: "Range", In: "header", Doc: "One range of bytes.", Schema: text()}).
		also(statusPartial, "The range that was asked for.", false).
		also(statusNotModified, "The client has this content already.", true)
	content.Media = "application/octet-stream"
	return routes(
		read("/v1/artifacts", "listArtifacts", tag, reads, "Artifact", "List Artifacts, newest first", a.list(abi.ObjectArtifact)).
			paged(descending, "workspace_id", "session_id", "task_id"),
		register,
		read("/v1/artifacts/{artifact_id}", "getArtifact", tag, reads, "Artifact", "Get an Artifact", a.get(abi.ObjectArtifact, "artifact_id")),
		content,
	)
}

func (a *Adapter) workspaceRoutes() []gateway.Route {
	const tag, reads, writes = "Workspaces", "workspaces:read", "workspaces:write"
	return routes(
		read("/v1/workspaces", "listWorkspaces", tag, reads, "Workspace", "List Workspaces, newest first", a.list(abi.ObjectWorkspace)).paged(descending),
		post("/v1/workspaces", "createWorkspace", tag, writes, "CreateWorkspaceRequest", "Workspace", "Create a Workspace", statusCreated,
			create(a, statusCreated, a.core.CreateWorkspace)).tolerant(),
		read("/v1/workspaces/{workspace_id}", "getWorkspace", tag, reads, "Workspace", "Get a Workspace", a.getWorkspace),
		patch("/v1/workspaces/{workspace_id}", "updateWorkspace", tag, writes, "UpdateWorkspaceRequest", "Workspace", "Change a Workspace",
			change(a, "workspace_id", statusOK, a.core.UpdateWorkspace)),
	)
}

func (a *Adapter) receiptRoutes() []gateway.Route {
	const tag, reads = "Receipts", "receipts:read"
	get := read("/v1/receipts/{receipt_id}", "getReceipt", tag, reads, "Receipt", "Get a Receipt", a.getReceipt).
		doc("Accept chooses the form: the resource; the receipt alone, as the canonical JSON (RFC 8785) that its hash is computed over " +
			"once `chain.receipt_hash` and `signatures` are left out; or its archive in deterministic CBOR (RFC 8949).")
	get.Forms = []gateway.Form{
		{Media: abi.MediaReceiptJSON, Schema: ref("ReceiptWire")},
		{Media: mediaCBOR, Schema: schema{"type": "string", "format": "binary"}},
	}
	keys := read("/.well-known/wharf-keys.json", "getPublishedKeys", tag, "", "SigningKeys",
		"List the public keys that receipts of this node are signed with", a.publishedKeys)
	keys.Public = true
	return routes(
		read("/v1/tasks/{task_id}/receipts", "listTaskReceipts", tag, reads, "Receipt", "List a Task's Receipts", a.taskReceipts).list().
			doc("There is none before the Task has ended."),
		get,
		post("/v1/receipts/{receipt_id}/verify", "verifyReceipt", tag, abi.ScopeReceiptsVerify, "VerifyReceiptRequest", "ReceiptVerification",
			"Verify a Receipt", statusOK, a.verifyReceipt).optional(),
		keys,
	)
}

// recordRoutes are Wharf's own routes to what a Task recorded.
func (a *Adapter) recordRoutes() []gateway.Route {
	const tag, internal = "Records", abi.ScopeEventsInternal
	bundle := read("/wharf/v1/tasks/{task_id}/bundle", "exportTask", tag, internal, "", "Export a Task as a run bundle", a.taskBundle).
		doc("A zip with the record, the module, the receipts and the keys, which anybody can verify offline (docs/bundle-format.md).")
	bundle.Media = mediaZip
	rows := []row{
		post("/wharf/v1/tasks/{task_id}/fork", "forkTask", tag, "tasks:write", "ForkTaskRequest", "Task", "Fork a Task", statusAccepted,
			change(a, "task_id", statusAccepted, a.core.ForkTask)).optional().
			doc("Answers with a new Task that shares the source's record up to and including an event, and is live from there."),
		read("/wharf/v1/tasks/{task_id}/record", "getRecord", tag, internal, "Record", "Get the record of a Task", a.taskRecord).
			doc("What the Task's plugin was started with, and each host call with its answer."),
		bundle,
		post("/wharf/v1/sessions/{session_id}/replay", "replaySession", tag, abi.ScopeTasksReplay, "ReplaySessionRequest", "TaskList",
			"Replay every Task of a Session", statusAccepted, a.replaySession).optional().with(cursorParam()).
			doc("Answers with the replay Tasks, oldest first. When they are more than a page takes, the rest is not replayed yet: the same request with `page.next_cursor` goes on."),
	}
	for i := range rows {
		rows[i].Unversioned = true
	}
	return routes(rows...)
}

func (a *Adapter) adminRoutes() []gateway.Route {
	const tag = "Administration"
	rows := []row{
		post("/wharf/v1/keys", "createKey", tag, abi.ScopeAdmin, "CreateKeyRequest", "CreatedKey", "Make an API key", statusCreated,
			a.createKey).doc("The key itself is shown this once. Keys of another tenant need the scope `node:admin`."),
		read("/wharf/v1/keys", "listKeys", tag, abi.ScopeAdmin, "APIKey", "List API keys, newest first", a.listKeys).list(),
		write(fasthttp.MethodDelete, "/wharf/v1/keys/{key_id}", "revokeKey", tag, abi.ScopeAdmin, "", "APIKey", "Revoke an API key", statusOK, a.revokeKey).bodyless(),
		post("/wharf/v1/backup", "backup", tag, abi.ScopeNode, "BackupRequest", "Backup", "Write a copy of the node's data to a folder on its machine",
			statusCreated, a.backup),
		read("/wharf/v1/signing-keys", "listSigningKeys", tag, "receipts:read", "SigningKeys", "List the public keys that receipts are signed with", a.signingKeys),
		post("/wharf/v1/signing-keys", "rotateSigningKey", tag, abi.ScopeNode, "", "SigningKeys", "Sign receipts with a new key from now on",
			statusCreated, a.rotateSigningKey).bodyless().doc("The keys that signed before stay published."),
	}
	for i := range rows {
		// A retry of createKey cannot be answered: the key is shown once and kept
		// nowhere. The others are naturally idempotent.
		rows[i].Unversioned, rows[i].Idempotent = true, false
	}
	return routes(rows...)
}
