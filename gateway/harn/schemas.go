package harn

import (
	"reflect"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// schema is a JSON Schema of the OpenAPI document.
type schema = gateway.Schema

// The closed enumerations of digest section 3.
var (
	visibilities  = []string{"public", "internal", "receipt_only"}
	artifactKinds = []string{"file", "patch", "image", "log", "diff", "receipt", "snapshot", "dataset", "other"}
	roles         = []string{"user", "assistant", "system", "tool", "agent"}
	branchKinds   = []string{"workspace", "session", "task", "sandbox"}
	memoryScopes  = []string{"persona", "session", "workspace", "tenant"}
)

func text() schema              { return schema{"type": "string"} }
func flag() schema              { return schema{"type": "boolean"} }
func number() schema            { return schema{"type": "number"} }
func whole() schema             { return schema{"type": "integer", "minimum": 0} }
func moment() schema            { return schema{"type": "string", "format": "date-time"} }
func anyObject() schema         { return schema{"type": "object"} }
func anyJSON() schema           { return schema{"description": "Any JSON value."} }
func ref(name string) schema    { return schema{"$ref": "#/components/schemas/" + name} }
func listOf(item schema) schema { return schema{"type": "array", "items": item} }
func mapOf(value schema) schema { return schema{"type": "object", "additionalProperties": value} }

func enum[T ~string](values ...T) schema { return schema{"type": "string", "enum": values} }

func nullable(s schema) schema {
	if kind, ok := s["type"].(string); ok && s["enum"] == nil {
		s["type"] = []string{kind, "null"}
		return s
	}
	return schema{"anyOf": []schema{s, {"type": "null"}}}
}

func oneOf(options ...schema) schema { return schema{"anyOf": options} }

func hexHash() schema { return schema{"type": "string", "pattern": "^[a-fA-F0-9]{64}$"} }

func prefixedHash() schema { return schema{"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"} }

func reference() schema { return schema{"type": "string", "format": "uri-reference"} }

func described(s schema, doc string) schema {
	s["description"] = doc
	return s
}

// shape is an object: which members it must and which it may have.
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

// resource is a shape with the common envelope.
func resource(o abi.Object, doc string, required, optional schema) schema {
	for name, s := range (schema{
		"id": text(), "object": schema{"type": "string", "const": string(o)},
		"created_at": moment(), "updated_at": moment(), "metadata": anyObject(),
	}) {
		required[name] = s
	}
	return shape(doc, required, optional)
}

// Schemas returns the components that the table's routes name.
func (a *Adapter) Schemas() map[string]gateway.Schema {
	all := map[string]gateway.Schema{}
	for _, group := range []map[string]schema{
		discoverySchemas(), taskSchemas(), sessionSchemas(), partSchemas(), eventSchemas(), artifactSchemas(),
		workspaceSchemas(), receiptSchemas(), memorySchemas(), vaultSchemas(), connectorSchemas(), deadLetterSchemas(), skillSchemas(), quotaSchemas(),
		permissionSchemas(), fileSchemas(), branchSchemas(), tokenSchemas(), personaSchemas(), adminSchemas(), replaySchemas(), runtimeSchemas(), toolSchemas(),
	} {
		for name, s := range group {
			all[name] = s
		}
	}
	for name, s := range all {
		if name == "MessageInput" || strings.HasSuffix(name, "Request") && name != "PermissionRequest" {
			bound(s)
		}
	}
	for _, name := range listed {
		all[name+"List"] = shape("Part of a list of "+name+" resources.", schema{
			"object": schema{"type": "string", "const": "list"}, "data": listOf(ref(name)), "page": ref("PageInfo"),
		}, nil)
	}
	all["PageInfo"] = shape("Whether a list goes on.", schema{"has_more": flag()}, schema{"next_cursor": nullable(text()),
		"unreadable": described(listOf(text()), "The ids of what belongs in this page and cannot be read; for a server of tools that does not answer, `SERVER:*`.")})
	return all
}

// bound says in the schema of a request how much its lists and maps hold at most.
func bound(s schema) {
	properties, _ := s["properties"].(schema)
	for name, of := range properties {
		member, ok := of.(schema)
		if !ok {
			continue
		}
		most := abi.MaxMembers
		switch name {
		case "parts":
			most = abi.MaxItems(reflect.TypeFor[abi.MessageInput](), name)
		case "override":
			most = abi.MaxItems(reflect.TypeFor[abi.ReplayTaskRequest](), name)
		}
		if member["items"] != nil && member["maxItems"] == nil {
			member["maxItems"] = most
		}
		if member["additionalProperties"] != nil {
			member["maxProperties"] = most
		}
	}
}

// listed names what there are lists of.
var listed = []string{"Task", "Outcome", "Session", "Branch", "Message", "Event", "Artifact", "Workspace", "Persona", "Receipt",
	"Memory", "Vault", "VaultSecret", "Connector", "DeadLetter", "Skill", "Quota", "PermissionRequest", "APIKey",
	"Capability", "Tool"}

func discoverySchemas() map[string]schema {
	endpoint := shape("A way to reach the node.", schema{
		"transport": enum("rest", "sse", "websocket", "a2a", "mcp", "acp"), "url": reference()}, nil)
	return map[string]schema{
		"Discovery": shape("Which protocol this is, in which versions.", schema{
			"object":          schema{"type": "string", "const": "protocol_discovery"},
			"protocol_family": schema{"type": "string", "const": abi.ProtocolFamily},
			"current_version": enum(abi.ProtocolVersion), "supported_versions": listOf(text()),
			"capabilities": shape("What there is.", nil, schema{
				"rest": flag(), "sse": flag(), "websocket": flag(), "receipts": flag(), "replay": flag()}),
		}, nil),
		"HarnAgentCard": resource(abi.ObjectAgentCard, "Who this agent is.", schema{
			"name": text(), "description": text(), "protocol_version": text(), "a2a_card": ref("A2aAgentCard"), "skills": listOf(ref("Skill")),
		}, schema{
			"harn_interfaces": listOf(ref("HarnAgentInterface")), "interfaces": listOf(ref("HarnAgentInterface")),
			"persona_ids": listOf(text()), "capabilities": listOf(text()), "auth_schemes": listOf(text()),
			"receipt_policy": nullable(text()), "quotas": listOf(ref("Quota")), "provider": anyObject(),
			"public_url": nullable(schema{"type": "string", "format": "uri"}), "signature": nullable(ref("CardSignature")),
		}),
		"HarnAgentInterface": endpoint,
		"A2aAgentCard": shape("A card that A2A 0.3 and A2A 1.0 clients read alike.", schema{
			"name": text(), "description": text(), "version": text(), "capabilities": anyObject(),
			"defaultInputModes": listOf(text()), "defaultOutputModes": listOf(text()), "skills": listOf(anyObject()),
			"supportedInterfaces": schema{"type": "array", "minItems": 1, "items": shape("A transport of A2A 1.0.", schema{
				"url": schema{"type": "string", "format": "uri"}, "protocolBinding": text(), "protocolVersion": text()}, nil)},
		}, schema{
			"url": schema{"type": "string", "format": "uri"}, "protocolVersion": text(), "preferredTransport": text(),
			"additionalInterfaces": listOf(anyObject()), "security": listOf(mapOf(listOf(text()))), "securitySchemes": mapOf(anyObject()),
			"signatures": listOf(shape("A JWS over the canonical form (RFC 8785) of the card without its signatures.", schema{
				"protected": text(), "signature": text()}, nil)),
		}),
		"CardSignature": shape("A JWS, detached, over the canonical form (RFC 8785) of the card without this member.", schema{"algorithm": text(), "key_id": text(), "value": text()}, nil),
	}
}

func taskSchemas() map[string]schema {
	return map[string]schema{
		"TaskStatus": enum(abi.TaskStatuses()...),
		"Failure":    shape("Why a Task failed.", schema{"code": text(), "message": text()}, schema{"details": anyObject()}),
		"Task": resource(abi.ObjectTask, "One unit of agent work.", schema{
			"session_id": text(), "workspace_id": text(), "status": ref("TaskStatus"),
			"input": oneOf(ref("Message"), anyObject()), "created_by": text(),
		}, schema{
			"persona_id": nullable(text()), "branch_id": nullable(text()), "parent_task_id": nullable(text()),
			"assigned_agent_id": nullable(text()), "receipt_id": nullable(text()), "outcome_id": nullable(text()),
			"quota_id": nullable(text()), "started_at": nullable(moment()), "completed_at": nullable(moment()),
			"canceled_at": nullable(moment()), "failure": nullable(ref("Failure")),
			"input_message_id": schema{"type": "string", "description": "The Message that the input is, when it is one."},
			"deadline_at":      schema{"type": "string", "format": "date-time", "description": "When the Task fails unless it has ended."},
			"attempt":          schema{"type": "integer", "minimum": 1, "description": "How often the Task was started: more than once after the node died in it."},
			"module":           described(prefixedHash(), "The digest of the plugin's module, to which the Task is pinned from its start on."),
			"waiting":          ref("Waiting"), "replay": ref("TaskReplay"), "fork": ref("TaskFork"),
		}),
		"Waiting": shape("What a parked Task waits for.", schema{"call": text(), "index": whole(), "request_id": text()}, schema{
			"prompt": text(), "action": described(text(), "What is to be approved."),
			"schema": described(anyJSON(), "A JSON Schema of what is wanted."), "url": described(text(), "Where the user authorizes."),
			"task_id": described(text(), "The Task that is awaited."), "until": described(moment(), "When it stops waiting."),
		}),
		"SubmitTaskRequest": shape("What to do.", schema{"input": oneOf(ref("MessageInput"), anyObject())}, schema{
			"session_id":   schema{"type": "string", "description": "Needed where the path names no Session."},
			"workspace_id": text(), "persona_id": nullable(text()), "branch_id": nullable(text()), "parent_task_id": nullable(text()),
			"metadata":         anyObject(),
			"deadline_seconds": schema{"type": "number", "minimum": 0, "description": "The Task fails when it has not ended so many seconds after it was accepted; 0 is no deadline."},
		}),
		"CancelTaskRequest": shape("Why to cancel.", nil, schema{"reason": nullable(text())}),
		"Outcome": resource(abi.ObjectOutcome, "What a Task resulted in.", schema{
			"task_id": text(), "status": enum(abi.OutcomeSucceeded, abi.OutcomeFailed, abi.OutcomeCanceled), "summary": text(),
			"workspace_id": text(), "session_id": text(),
		}, schema{
			"messages": listOf(ref("Message")), "artifacts": listOf(ref("Artifact")), "message_ids": listOf(text()), "artifact_ids": listOf(text()),
			"handoffs": listOf(anyObject()), "receipt_id": nullable(text()), "failure": nullable(ref("Failure")), "cost": anyObject(), "metrics": anyObject(),
		}),
	}
}

func replaySchemas() map[string]schema {
	modes := []abi.ReplayMode{abi.ReplayExact, abi.ReplayWithOverrides, abi.ReplayFromCheckpoint}
	return map[string]schema{
		"TaskReplay": shape("What a replay Task replays.", schema{
			"source_task_id": text(), "mode": enum(modes...), "request_sha256": prefixedHash(),
			"replay_id": described(text(), "Names the replay in its receipt: equal replays have equal ids, on any node."),
		}, schema{"checkpoint": whole(), "session_run": described(text(), "The replay of a Session that it belongs to.")}),
		"TaskFork": shape("Where a forked Task comes from.", schema{
			"source_task_id": text(), "calls": described(whole(), "How many host calls of the source's record it shares.")},
			schema{"at_event_id": text()}),
		"ForkTaskRequest": shape("Where to fork.", nil, schema{
			"at_event_id":  described(nullable(text()), "The last event whose record is shared; \"0\" shares nothing, none shares all."),
			"same_session": described(flag(), "Stay in the Session, instead of a fork of it."), "metadata": anyObject(),
		}),
		"ReplaySessionRequest": shape("Why to replay.", nil, schema{"reason": nullable(text())}),
		"Record":               recordSchema(),
		"ReplayTaskRequest": shape("How to replay.", nil, schema{
			"mode":     enum(modes...),
			"override": mapOf(ref("ReplayOverride")), "checkpoint_id": nullable(text()), "checkpoint_event_id": nullable(text()),
			"reason": nullable(text()), "metadata": anyObject(),
		}),
		"ReplayOverride": shape("What to answer in the record's stead.", schema{
			"kind": enum("llm_provider_response", "mcp_tool_return", "secret_value", "time", "host_fact", "tool_result", "event_payload", "checkpoint_value"),
		}, schema{
			"event_id": nullable(text()), "target": nullable(text()), "value": anyJSON(), "artifact_id": nullable(text()),
			"sha256": nullable(prefixedHash()), "visibility": enum(visibilities...), "reason": nullable(text()),
		}),
	}
}

// recordSchema is a journal.Record.
func recordSchema() schema {
	told := oneOf(text(), shape("Bytes that are no UTF-8.", schema{"base64": text()}, nil))
	entry := shape("One host call.", schema{
		"index": whole(), "call": text(), "effect": text(), "at": moment(), "status": whole(), "request": told, "answer": told,
	}, schema{
		"key":  described(text(), "The override key, where the answer can be replaced."),
		"open": described(flag(), "Only its intent is recorded."), "event_id": text(), "resource": ref("ResourcePointer"),
	})
	return shape("All that is needed to run a Task again.", schema{
		"task_id": text(), "program": anyObject(), "input": told, "created_at": moment(), "started_at": moment(), "entries": nullable(listOf(entry)),
	}, schema{"ended_at": moment(), "end": anyObject()})
}

func sessionSchemas() map[string]schema {
	turns := schema{"type": "integer", "minimum": 0}
	return map[string]schema{
		"Session": resource(abi.ObjectSession, "A conversation.", schema{
			"workspace_id": text(), "state": enum(abi.SessionActive, abi.SessionIdle, abi.SessionPaused, abi.SessionClosed, abi.SessionFailed),
			"transcript": oneOf(anyObject(), reference()),
		}, schema{
			"persona_id": nullable(text()), "root_session_id": nullable(text()), "parent_session_id": nullable(text()),
			"branch_id": nullable(text()), "last_event_id": nullable(text()), "summary": nullable(text()), "expires_at": nullable(moment()),
			"vault_ids": listOf(text()), "memory_ids": listOf(text()), "skill_ids": listOf(text()),
		}),
		"CreateSessionRequest": shape("Where to converse.", schema{"workspace_id": text()}, schema{
			"persona_id": nullable(text()), "vault_ids": listOf(text()),
			"memory_ids":       described(listOf(text()), "Memories of others that the Session's Tasks find as if they were the Session's own."),
			"skill_ids":        described(listOf(text()), "The only Skills that the Session's Tasks may name; without any, all."),
			"initial_messages": listOf(ref("MessageInput")), "metadata": anyObject(),
		}),
		"UpdateSessionRequest": shape("What to change.", nil, schema{"summary": nullable(text()), "metadata": anyObject()}),
		"ForkSessionRequest": shape("Where to fork.", nil, schema{
			"at_event_id": nullable(text()), "branch_id": nullable(text()), "metadata": anyObject()}),
		"TruncateSessionRequest": {"type": "object", "description": "How many turns to keep, by any of its three names.",
			"properties": schema{"keep_turns": turns, "turns": turns, "keep": turns},
			"anyOf":      []schema{{"required": []string{"keep_turns"}}, {"required": []string{"turns"}}, {"required": []string{"keep"}}}},
		"Message": resource(abi.ObjectMessage, "One turn of a transcript.", schema{"role": enum(roles...), "parts": listOf(ref("Part")), "workspace_id": text()}, schema{
			"session_id": nullable(text()), "task_id": nullable(text())}),
		"MessageInput":         shape("A Message to append.", schema{"role": enum(roles...), "parts": listOf(ref("PartInput"))}, schema{"metadata": anyObject()}),
		"AppendMessageRequest": shape("A Message for a Session.", schema{"message": ref("MessageInput")}, nil),
		"AppendTaskMessageRequest": shape("A Message for a Task.", schema{
			"kind":    enum(abi.TaskMessageInput, abi.TaskMessageInterrupt, abi.TaskMessageToolConfirmation),
			"message": ref("MessageInput")}, nil),
	}
}

// partKinds lists the part types and what each needs besides type and visibility.
func partKinds() map[string]schema {
	return map[string]schema{
		"text":         {"text": text()},
		"json":         {"value": anyJSON()},
		"tool_call":    {"tool_call_id": text(), "name": text(), "input": anyObject()},
		"tool_result":  {"tool_call_id": text(), "output": anyJSON(), "status": enum("ok", "error")},
		"artifact_ref": {"artifact_id": text()},
		"file_ref":     {"uri": text(), "mime_type": text()},
		"image_ref":    {"artifact_id": text(), "mime_type": text()},
	}
}

// partSchemas differ in two things: a part that a client sends may leave visibility out
// (digest section 8, row 8), and says nothing of whether it is withheld.
func partSchemas() map[string]schema {
	var parts, inputs []schema
	for _, kind := range []string{"text", "json", "tool_call", "tool_result", "artifact_ref", "file_ref", "image_ref"} {
		parts = append(parts, partSchema(kind, true))
		inputs = append(inputs, partSchema(kind, false))
	}
	return map[string]schema{
		"PartVisibility": enum(visibilities...),
		"Part":           {"description": "A block of a Message's content.", "oneOf": parts},
		"PartInput":      {"description": "A block of a Message's content, as a client writes it.", "oneOf": inputs},
	}
}

func partSchema(kind string, visible bool) schema {
	required, optional := partKinds()[kind], schema{}
	required["type"] = schema{"type": "string", "const": kind}
	if visible {
		required["visibility"] = ref("PartVisibility")
		optional["redacted"] = described(flag(), "The content is withheld from this reader: the members that hold it are there, and empty.")
	} else {
		optional["visibility"] = ref("PartVisibility")
	}
	return shape("A "+kind+" part.", required, optional)
}

func eventSchemas() map[string]schema {
	return map[string]schema{
		"ResourcePointer": shape("Names a resource.", schema{"object": text(), "id": text()}, nil),
		"Event": resource(abi.ObjectEvent, "One fact.", schema{
			"event": text(), "resource": ref("ResourcePointer"), "sequence": whole(),
			"payload": schema{"type": "object", "description": "What the event says; a resource that it states is a member named after its object."},
		}, schema{
			"trace_id": nullable(text()), "span_id": nullable(text()), "session_id": nullable(text()), "task_id": nullable(text()),
			"workspace_id": nullable(text()), "actor": nullable(text()), "idempotency_key": nullable(text()),
			"previous_event_id": nullable(text()), "receipt_id": nullable(text()),
			"replayed": schema{"type": "boolean", "default": false, "description": "History that a resumed stream delivers again."},
			"replay":   nullable(ref("ReplayEventMetadata")),
		}),
		"ReplayEventMetadata": shape("Where a replayed event comes from.", schema{"source_task_id": text(), "replay_task_id": text()}, schema{
			"original_event_id": nullable(text()), "replay_cursor": nullable(text()), "mode": text(),
			"override_key": nullable(text()), "receipt_delta_id": nullable(text())}),
		"EventStream": {"type": "string", "description": "Server-sent events: `id` is the event's id, `event` its kind, `data` an Event. " +
			"Lines that begin with a colon are heartbeats. A frame `event: error` holds the error envelope and is the last; its id is the cursor to go on from."},
	}
}

func artifactSchemas() map[string]schema {
	links := func() schema {
		return schema{"workspace_id": nullable(text()), "session_id": nullable(text()), "task_id": nullable(text())}
	}
	shown, sent := links(), links()
	shown["receipt_id"], shown["name"], shown["size_bytes"] = nullable(text()), text(), whole()
	sent["uri"], sent["sha256"], sent["metadata"], sent["name"] = nullable(text()), nullable(hexHash()), anyObject(), text()
	sent["content"] = schema{"type": "string", "contentEncoding": "base64", "description": "The content, for Wharf to keep. It takes the place of `uri`."}
	sent["content_base64"] = schema{"type": "string", "contentEncoding": "base64", "description": "Another name of `content`."}
	return map[string]schema{
		"Artifact": resource(abi.ObjectArtifact, "Durable content.", schema{
			"kind": enum(artifactKinds...), "mime_type": text(), "uri": nullable(reference()),
			"visibility": ref("PartVisibility"), "sha256": nullable(hexHash()),
		}, shown),
		"RegisterArtifactRequest": shape("An Artifact.", schema{
			"kind": enum(artifactKinds...), "mime_type": text(), "visibility": ref("PartVisibility")}, sent),
	}
}

func workspaceSchemas() map[string]schema {
	return map[string]schema{
		"Workspace": resource(abi.ObjectWorkspace, "An isolation boundary.", schema{
			"name": text(), "root": text(), "default_branch_id": nullable(text()),
		}, schema{
			"host": nullable(text()), "repository": nullable(text()), "tenant_id": nullable(text()),
			"capabilities": listOf(text()), "connectors": listOf(text()), "quota_id": nullable(text()),
			"image": nullable(text()), "packages": listOf(text()), "network_policy": anyObject(), "sandbox_backend": nullable(text()),
		}),
		"CreateWorkspaceRequest": shape("A Workspace.", schema{"name": text(), "root": text()}, schema{
			"image": nullable(text()), "packages": listOf(text()), "network_policy": anyObject(),
			"sandbox_backend": nullable(text()), "metadata": anyObject(),
		}),
		"UpdateWorkspaceRequest": shape("What to change.", nil, schema{
			"name": text(), "host": nullable(text()), "repository": nullable(text()), "capabilities": listOf(text()), "connectors": listOf(text()),
			"quota_id": described(nullable(text()), "Needs the scope quotas:write as well."), "metadata": anyObject()}),
	}
}

// receiptSchemaURL names the normative JSON Schema of receipts.
const receiptSchemaURL = "https://harnlang.com/schemas/agents-protocol/receipt-2026-04-25.schema.json"

func receiptSchemas() map[string]schema {
	return map[string]schema{
		"Receipt": resource(abi.ObjectReceipt, "A proof of what happened.", schema{
			"subject": ref("ResourcePointer"), "format": text(), "summary": text(), "issued_at": moment(), "issuer": text(),
		}, schema{
			"task_id": text(), "workspace_id": text(), "session_id": text(),
			"wire": ref("ReceiptWire"), "verification": nullable(ref("ReceiptVerification"))}),
		"ReceiptWire": {"type": "object", "description": "A receipt. Its format is defined by the JSON Schema that is referred to.",
			"externalDocs": schema{"url": receiptSchemaURL, "description": "The receipt's JSON Schema"},
			"properties":   schema{"schema": schema{"type": "string", "const": abi.ReceiptSchema}}, "required": []string{"schema"}},
		"SigningKeys": shape("Public keys, the one that signs first.", schema{"issuer": text(), "keys": listOf(ref("SigningKey"))}, nil),
		"SigningKey": shape("A public key.", schema{
			"key_id": text(), "algorithm": enum("ed25519"), "public_key": schema{"type": "string", "contentEncoding": "base64"}, "created_at": moment(),
		}, schema{
			"retired_at": described(nullable(moment()), "It signs no more from then on."),
			"kty":        text(), "crv": text(), "x": text(), "kid": text(), "use": text(), // the same key as a JWK (RFC 8037)
		}),
		"VerifyReceiptRequest": shape("How to verify.", nil, schema{"trust_anchor": nullable(text()), "at_time": nullable(moment())}),
		"ReceiptVerification": shape("Whether a Receipt holds.", schema{"valid": flag(), "checked_at": moment()}, schema{
			"reason": nullable(text()), "details": anyObject()}),
	}
}

func adminSchemas() map[string]schema {
	key := func(more schema) schema {
		more["name"], more["tenant_id"], more["tenant_number"] = text(), text(), whole()
		more["hint"] = described(text(), "The last four characters; empty for a key that a person chose.")
		more["actor"], more["scopes"], more["workspace_ids"] = text(), listOf(text()), listOf(text())
		return more
	}
	source := described(enum(abi.KeyFromClient, abi.KeyFromStart, abi.KeyFromEnvironment, abi.KeyFromFormerEnvironment),
		"What made the key; not there for one that was made before this was said.")
	return map[string]schema{
		"APIKey": resource(abi.ObjectAPIKey, "An API key, without the key itself.", key(schema{}), schema{"revoked_at": nullable(moment()), "source": source}),
		"CreatedKey": resource(abi.ObjectAPIKey, "A new API key.", key(schema{
			"key": schema{"type": "string", "description": "The key itself, shown this once."}}), schema{"revoked_at": nullable(moment()), "source": source}),
		"CreateKeyRequest": shape("An API key.", schema{"name": text()}, schema{
			"actor":  described(text(), "Whom what is done with the key is said to be by: `key:` and its name, if not given, or a word without a colon."),
			"tenant": text(), "scopes": listOf(enum(append(abi.Scopes(), abi.ScopeAll)...)), "workspace_ids": listOf(text())}),
		"BackupRequest": shape("Where to.", schema{"dir": text()}, nil),
		"Backup":        shape("Where it is.", schema{"dir": text()}, nil),
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
