package harn

import (
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// schema is a JSON Schema of the OpenAPI document.
type schema = gateway.Schema

func text() schema              { return schema{"type": "string"} }
func flag() schema              { return schema{"type": "boolean"} }
func whole() schema             { return schema{"type": "integer", "minimum": 0} }
func moment() schema            { return schema{"type": "string", "format": "date-time"} }
func anyObject() schema         { return schema{"type": "object"} }
func ref(name string) schema    { return schema{"$ref": "#/components/schemas/" + name} }
func listOf(item schema) schema { return schema{"type": "array", "items": item} }

func enum[T ~string](values ...T) schema { return schema{"type": "string", "enum": values} }

func nullable(s schema) schema { return gateway.Nullable(s) }

func constant(value string) schema { return schema{"type": "string", "const": value} }

func oneOf(options ...schema) schema { return schema{"anyOf": options} }

func hexHash() schema { return schema{"type": "string", "pattern": "^[a-fA-F0-9]{64}$"} }

func prefixedHash() schema { return schema{"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"} }

func reference() schema { return schema{"type": "string", "format": "uri-reference"} }

func described(s schema, doc string) schema {
	s["description"] = doc
	return s
}

// shape is an object that is no type in Go, so that it is described by hand: which members it
// must and which it may have. Of this kind are lists, of anything, and what is put together
// as it is sent or read.
func shape(doc string, required, optional schema) schema {
	properties, names := schema{}, []string{}
	for name, s := range required {
		properties[name] = s
		names = append(names, name)
	}
	for name, s := range optional {
		properties[name] = s
	}
	return schema{"type": "object", "description": doc, "properties": properties, "required": sorted(names)}
}

// Schemas returns the components that the table's routes name.
func (a *Adapter) Schemas() map[string]gateway.Schema {
	all := map[string]gateway.Schema{}
	for _, group := range []map[string]schema{
		discoverySchemas(), taskSchemas(), sessionSchemas(), partSchemas(), eventSchemas(), artifactSchemas(),
		workspaceSchemas(), receiptSchemas(), memorySchemas(), vaultSchemas(), connectorSchemas(), deadLetterSchemas(), webhookSchemas(), skillSchemas(), quotaSchemas(), deletionSchemas(),
		permissionSchemas(), fileSchemas(), branchSchemas(), tokenSchemas(), personaSchemas(), adminSchemas(), replaySchemas(), runtimeSchemas(), toolSchemas(), skillBundleSchemas(), pluginSchemas(), toolServerSchemas(), liveSchemas(), inboxSchemas(),
	} {
		for name, s := range group {
			all[name] = s
		}
	}
	for _, name := range listed {
		all[name+"List"] = shape("Part of a list of "+name+" resources.", schema{
			"object": schema{"type": "string", "const": "list"}, "data": listOf(ref(name)), "page": ref("PageInfo"),
		}, nil)
	}
	all["PageInfo"] = of[abi.PageInfo]("Whether a list goes on.", null("previous_cursor"), says(map[string]string{
		"has_more":    "More follows, in the direction in which the page was read.",
		"next_cursor": "The `cursor` of the request for the next page; null at the end of the list.",
		"unreadable":  "The ids of what belongs in this page and cannot be read; for a server of tools that does not answer, `SERVER:*`.",
		"previous_cursor": "The `before` of the request for the page before; null at the beginning of the list. It is there when the request has an `order`, " +
			"an `offset` or a `before`.",
		"total": "How many the list has in all. It is there when the request has `include_total`.", "total_at_least": "There are more than `total`: nobody has counted further.",
	}))
	return all
}

// listed names what there are lists of.
var listed = []string{"Task", "Outcome", "Session", "Branch", "Message", "Event", "Artifact", "Workspace", "Persona", "Receipt",
	"Memory", "Vault", "VaultSecret", "Connector", "DeadLetter", "WebhookEndpoint", "WebhookDelivery", "ToolServer", "SkillBundle", "Skill", "Quota", "PermissionRequest", "APIKey",
	"Capability", "Tool", "Hold"}

func taskSchemas() map[string]schema {
	return map[string]schema{
		"TaskStatus": enum(abi.TaskStatuses()...),
		"Failure":    of[abi.Failure]("Why a Task failed."),
		"Task": resourceOf[abi.Task](abi.ObjectTask, "One unit of agent work.",
			hidden("connector_id", "delivery_id", "order_key", "persona_version"), always("input"),
			null("persona_id", "branch_id", "parent_task_id", "receipt_id", "outcome_id", "quota_id", "started_at", "completed_at", "canceled_at", "failure"),
			but(schema{
				"input": oneOf(ref("Message"), anyObject()), "assigned_agent_id": nullable(text()),
				"attempt": schema{"type": "integer", "minimum": 1}, "module": prefixedHash(),
			}),
			says(map[string]string{
				"attempt": "How often the Task was started: more than once after the node died in it.",
			})),
		"Waiting": of[abi.Waiting]("What a parked Task waits for.", hidden("arguments", "gate", "permission_id", "quorum"), anything("schema"), says(map[string]string{
			"action": "What is to be approved.", "schema": "A JSON Schema of what is wanted.", "url": "Where the user authorizes.",
			"task_id": "The Task that is awaited.", "until": "When it stops waiting.",
		})),
		"ToolUse":          of[abi.ToolUse]("What people see of a tool call.", says(map[string]string{"server": "The server that has the tool.", "name": "The tool.", "started_at": "When it began."})),
		"TaskClient":       of[abi.TaskClient]("What a client says of itself when it submits a Task."),
		"CompositionChild": of[abi.CompositionChild]("A tool call that is a child of a composition, and waits.", says(map[string]string{"composition_id": "The composition.", "call_id": "The tool call."})),
		"WaitingQuestion":  of[abi.WaitingQuestion]("One of several permission requests that a Task waits on."),
		"SubmitTaskRequest": requestOf[abi.SubmitTaskRequest]("What to do.", submitted(), says(map[string]string{
			"session_id": "Needed where neither the path names a Session nor `session` is given."})),
		"TaskSession": requestOf[abi.TaskSession]("A Session that is made with a Task, at once or not at all. It takes the scope `sessions:write` as well.", null("persona_id"), says(map[string]string{
			"refs":   "What things outside call the Session. One that another Session of the Workspace has is refused with 409, and `details.session_id` says which.",
			"hidden": "The Session is for this Task alone: it is in no list, takes no other Task, and is closed with the Task's end."})),
		"CancelTaskRequest": requestOf[abi.CancelTaskRequest]("Why to cancel.", null("reason")),
		"Outcome": resourceOf[abi.Outcome](abi.ObjectOutcome, "What a Task resulted in.", null("receipt_id", "failure"),
			but(schema{
				"workspace_id": text(), "session_id": text(), "messages": listOf(ref("Message")), "artifacts": listOf(ref("Artifact")),
				"handoffs": listOf(anyObject()), "cost": anyObject(),
			}), always("workspace_id", "session_id")),
	}
}

// submitted says what a type does not say of a Task to submit.
func submitted() aspect {
	return func(s schema) {
		null("persona_id", "branch_id", "parent_task_id")(s)
		but(schema{"input": oneOf(ref("MessageInput"), anyObject()), "session": ref("TaskSession"), "deadline_seconds": schema{"type": "number", "minimum": 0}})(s)
		says(map[string]string{"session": "A Session that is made with the Task, in place of `session_id`.",
			"workspace_id": "That of the Session; another is refused.", "deadline_seconds": "The Task fails when it has not ended so many seconds after it was accepted; 0 is no deadline."})(s)
	}
}

func replaySchemas() map[string]schema {
	return map[string]schema{
		"TaskReplay": of[abi.TaskReplay]("What a replay Task replays.", but(schema{"request_sha256": prefixedHash()}), says(map[string]string{
			"replay_id": "Names the replay in its receipt: equal replays have equal ids, on any node.", "session_run": "The replay of a Session that it belongs to."})),
		"RunOptions": requestOf[abi.RunOptions]("What one Task wants otherwise than its Persona."),
		"TaskFork":   of[abi.TaskFork]("Where a forked Task comes from.", says(map[string]string{"calls": "How many host calls of the source's record it shares."})),
		"ForkTaskRequest": requestOf[abi.ForkTaskRequest]("Where to fork.", null("at_event_id"), says(map[string]string{
			"at_event_id":  "The last event whose record is shared; \"0\" shares nothing, none shares all.",
			"same_session": "Stay in the Session, instead of a fork of it."})),
		"ReplaySessionRequest": requestOf[abi.ReplaySessionRequest]("Why to replay.", null("reason")),
		"Record":               recordSchema(),
		"ReplayTaskRequest":    requestOf[abi.ReplayTaskRequest]("How to replay.", null("checkpoint_id", "checkpoint_event_id", "reason")),
		"ReplayOverride": of[abi.ReplayOverride]("What to answer in the record's stead.",
			anything("value"), but(schema{"sha256": prefixedHash(), "visibility": enum(valuesOf[abi.Visibility]()...)}),
			null("event_id", "target", "artifact_id", "sha256", "reason")),
	}
}

// recordSchema is a api.Record.
func recordSchema() schema {
	told := oneOf(text(), shape("Bytes that are no UTF-8.", schema{"base64": text()}, nil)) // a RecordText
	entry := of[api.RecordEntry]("One host call.", but(schema{"effect": text(), "request": told, "answer": told}), says(map[string]string{
		"effect":   "Its class, where not every such call has the same; else empty.",
		"index":    "Of the call within the record, from 0.",
		"call":     "The host call: docs/host-calls.md describes each.",
		"at":       "When it was answered; of an open one, when it began.",
		"status":   "0 is success; docs/host-calls.md has the others.",
		"key":      "The override key, where the answer can be replaced.",
		"open":     "Only its intent is recorded.",
		"event_id": "Of the event that completed the call.",
		"resource": "What that event is about.",
	}))
	return of[api.Record]("All that is needed to run a Task again.", but(schema{
		"input": told, "entries": listOf(entry),
		"program": of[api.RecordProgram]("What the Task runs: fixed when it starts."),
		"end":     of[api.RecordEnd]("How the run ended; absent while the Task has not."),
	}))
}

func sessionSchemas() map[string]schema {
	return map[string]schema{
		"Session": resourceOf[abi.Session](abi.ObjectSession, "A conversation.",
			null("persona_id", "root_session_id", "parent_session_id", "branch_id", "last_event_id", "summary"),
			but(schema{"transcript": oneOf(anyObject(), reference()), "expires_at": nullable(moment()),
				"message_count":      described(whole(), "How many Messages the transcript has, at most 1,000. It is there in lists with `include_message_count`."),
				"message_count_more": described(flag(), "There are more than `message_count`: nobody has counted further.")})),
		"OutsideRef": of[abi.OutsideRef]("What something outside calls a Session: an editor's folder, the context of another protocol. In a Workspace no two Sessions have the same.",
			says(map[string]string{"kind": "Of references, such as `acp_folder`.", "ref": "Compared byte by byte."})),
		"CreateSessionRequest": requestOf[abi.CreateSessionRequest]("Where to converse.", null("persona_id"), says(map[string]string{
			"refs": "What things outside call the Session. One that another Session of the Workspace has is refused with 409, and `details.session_id` says which."})),
		"UpdateSessionRequest":   requestOf[abi.UpdateSessionRequest]("What to change."),
		"ForkSessionRequest":     requestOf[abi.ForkSessionRequest]("Where to fork.", null("at_event_id", "branch_id")),
		"TruncateSessionRequest": requestOf[abi.TruncateSessionRequest]("How many turns to keep, by any of its three names.", anyOfThem(turnNames()...)),
		"Message": resourceOf[abi.Message](abi.ObjectMessage, "One turn of a transcript.", null("session_id", "task_id"),
			but(schema{"workspace_id": text()}), always("workspace_id")),
		"MessageInput":             requestOf[abi.MessageInput]("A Message to append.", but(schema{"parts": listOf(ref("PartInput"))})),
		"AppendMessageRequest":     requestOf[abi.AppendMessageRequest]("A Message for a Session.", but(schema{"message": ref("MessageInput")})),
		"AppendTaskMessageRequest": requestOf[abi.AppendTaskMessageRequest]("A Message for a Task.", but(schema{"message": ref("MessageInput")})),
	}
}

// turnNames are the names of how many turns to keep.
func turnNames() []string { return []string{"keep_turns", "turns", "keep"} }

// partMembers are the members of a part that its type needs, besides type and visibility.
func partMembers(of abi.PartType) []string {
	switch of {
	case abi.PartText:
		return []string{"text"}
	case abi.PartJSON:
		return []string{"value"}
	case abi.PartToolCall:
		return []string{"tool_call_id", "name", "input"}
	case abi.PartToolResult:
		return []string{"tool_call_id", "output", "status"}
	case abi.PartArtifactRef:
		return []string{"artifact_id"}
	case abi.PartFileRef:
		return []string{"uri", "mime_type"}
	case abi.PartImageRef:
		return []string{"artifact_id", "mime_type"}
	}
	return nil
}

// partSchemas differ in two things: a part that a client sends may leave visibility out
// (docs/protocol.md, 8.8), and says nothing of whether it is withheld.
func partSchemas() map[string]schema {
	var parts, inputs []schema
	for _, kind := range valuesOf[abi.PartType]() {
		members := partMembers(abi.PartType(kind))
		parts = append(parts, partOf(kind, append(members, "visibility"), "redacted"))
		inputs = append(inputs, partOf(kind, members, "visibility"))
	}
	return map[string]schema{
		"PartVisibility": enum(valuesOf[abi.Visibility]()...),
		"Part":           {"description": "A block of a Message's content.", "oneOf": parts},
		"PartInput":      {"description": "A block of a Message's content, as a client writes it.", "oneOf": inputs},
	}
}

// partOf is the schema of the parts of one type: an abi.Part with the members of that type.
func partOf(kind string, needed []string, optional string) schema {
	return of[abi.Part]("A "+kind+" part.", anything("value", "output"),
		but(schema{"type": constant(kind), "status": enum("ok", "error")}),
		says(map[string]string{"redacted": "The content is withheld from this reader: the members that hold it are there, and empty."}),
		only(append(needed, "type"), optional))
}

func eventSchemas() map[string]schema {
	return map[string]schema{
		"ResourcePointer": of[abi.ResourcePointer]("Names a resource."),
		"Event": resourceOf[abi.Event](abi.ObjectEvent, "One fact.", maybe("replayed"),
			but(schema{
				"trace_id": nullable(text()), "span_id": nullable(text()), "previous_event_id": nullable(text()),
				"replayed": schema{"type": "boolean", "default": false}, "replay": ref("ReplayEventMetadata"),
			}),
			null("session_id", "task_id", "workspace_id", "actor", "idempotency_key", "receipt_id", "replay"),
			says(map[string]string{
				"payload":  "What the event says; a resource that it states is a member named after its object.",
				"replayed": "History that a resumed stream delivers again.",
			})),
		"ReplayEventMetadata": of[abi.ReplayMarks]("Where a replayed event comes from.",
			null("original_event_id", "replay_cursor", "override_key", "receipt_delta_id"), but(schema{"mode": text()}), maybe("mode")),
		"EventStream": {"type": "string", "description": "Server-sent events: `id` is the event's id, `event` its kind, `data` an Event. " +
			"Lines that begin with a colon are heartbeats. A frame `event: error` holds the error envelope and is the last; its id is the cursor to go on from."},
	}
}

func artifactSchemas() map[string]schema {
	hash := but(schema{"uri": nullable(reference()), "sha256": nullable(hexHash())})
	return map[string]schema{
		"Artifact": resourceOf[abi.Artifact](abi.ObjectArtifact, "Durable content.", hash,
			null("workspace_id", "session_id", "task_id"), but(schema{"receipt_id": nullable(text())})),
		"RegisterArtifactRequest": requestOf[abi.RegisterArtifactRequest]("An Artifact.", hash, but(schema{"uri": nullable(text())}),
			null("workspace_id", "session_id", "task_id"), says(map[string]string{
				"content": "The content, for Wharf to keep. It takes the place of `uri`.", "content_base64": "Another name of `content`."})),
	}
}

func workspaceSchemas() map[string]schema {
	return map[string]schema{
		"Workspace": resourceOf[abi.Workspace](abi.ObjectWorkspace, "An isolation boundary.",
			null("host", "repository", "tenant_id", "quota_id", "image", "sandbox_backend"), but(schema{"connectors": listOf(text())})),
		"CreateWorkspaceRequest": requestOf[abi.CreateWorkspaceRequest]("A Workspace.", null("image", "sandbox_backend")),
		"UpdateWorkspaceRequest": requestOf[abi.UpdateWorkspaceRequest]("What to change.", but(schema{"quota_id": nullable(text())}),
			says(map[string]string{"quota_id": "Needs the scope quotas:write as well.", "retention": "Needs the scope admin as well. null: as the node has it."})),
		"WorkspaceRetention": of[abi.WorkspaceRetention]("How long things of a Workspace are kept, in days, and how much room they may take. 0 days is for ever; what is not stated is as the node has it."),
	}
}

// receiptSchemaURL names the normative JSON Schema of receipts.
const receiptSchemaURL = "https://harnlang.com/schemas/agents-protocol/receipt-2026-04-25.schema.json"

func receiptSchemas() map[string]schema {
	return map[string]schema{
		"Receipt": resourceOf[abi.ReceiptResource](abi.ObjectReceipt, "A proof of what happened.", maybe("wire", "task_id", "workspace_id", "session_id"),
			but(schema{"wire": ref("ReceiptWire")}), null("verification")),
		"ReceiptWire": {"type": "object", "description": "A receipt. Its format is defined by the JSON Schema that is referred to.",
			"externalDocs": schema{"url": receiptSchemaURL, "description": "The receipt's JSON Schema"},
			"properties":   schema{"schema": schema{"type": "string", "const": abi.ReceiptSchema}}, "required": []string{"schema"}},
		"SigningKeys": of[abi.SigningKeys]("Public keys, the one that signs first."),
		"SigningKey": of[abi.SigningKey]("A public key.", null("retired_at"),
			but(schema{
				"algorithm": enum("ed25519"), "public_key": schema{"type": "string", "contentEncoding": "base64"},
				"kty": text(), "crv": text(), "x": text(), "kid": text(), "use": text(), // the same key as a JWK (RFC 8037)
			}),
			says(map[string]string{"retired_at": "It signs no more from then on."})),
		"VerifyReceiptRequest": requestOf[abi.VerifyReceiptRequest]("How to verify.", null("trust_anchor", "at_time")),
		"ReceiptVerification":  of[abi.ReceiptVerification]("Whether a Receipt holds.", null("reason")),
	}
}

func adminSchemas() map[string]schema {
	source := says(map[string]string{"source": "What made the key; not there for one that was made before this was said.",
		"hint": "The last four characters; empty for a key that a person chose."})
	return map[string]schema{
		"APIKey": resourceOf[abi.APIKey](abi.ObjectAPIKey, "An API key, without the key itself.", hidden("hash"), null("revoked_at"), source),
		"CreatedKey": resourceOf[abi.CreatedKey](abi.ObjectAPIKey, "A new API key.", hidden("hash"), null("revoked_at"), source,
			says(map[string]string{"key": "The key itself, shown this once."})),
		"CreateKeyRequest": requestOf[abi.CreateKeyRequest]("An API key.", but(schema{"scopes": listOf(enum(append(abi.Scopes(), abi.ScopeAll)...))}), says(map[string]string{
			"actor": "Whom what is done with the key is said to be by: `key:` and its name, if not given, or a word without a colon."})),
		"BackupRequest": requestOf[backupRequest]("Where to."),
		"Backup":        of[backupRequest]("Where it is."),
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
