package harn

import (
	"maps"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

const socketDoc = "The same path is a WebSocket for a client that asks for an upgrade: its frames are described in docs/websocket.md."

func (a *Adapter) socketRoutes() []gateway.Route {
	rt := read("/v1/sessions/{session_id}/connect", "connectSession", "Sessions", scopeEvents, "", "Connect to a Session", a.connect).
		with(lastEventParam(), afterParam()).
		doc("A WebSocket: events come and commands go. Without a cursor its stream begins with what happens from now on. " +
			"Its frames are described in docs/websocket.md.")
	rt.Status, rt.Socket = statusSwitching, true
	return routes(rt)
}

// frame is a frame that the node sends, as it is documented.
type frame struct {
	name, doc          string
	required, optional schema
}

// socketFrames lists what the node sends.
func socketFrames() []frame {
	limits := shape("What the node takes.", schema{"message_bytes": whole(), "heartbeat_ms": whole(), "tools": whole()}, nil)
	id := described(text(), "That of the command.")
	return []frame{
		{"hello", "The first frame.", schema{
			"version": text(), "request_id": text(), "actor": described(text(), "Whom the commands are from."),
			"cursor": described(text(), "The events that follow come after this one."), "limits": limits,
		}, schema{"session_id": text(), "task_id": text()}},
		{"event", "An event of the stream, in the log's order.", schema{
			"event": ref("Event"), "replayed": described(flag(), "History that was asked for again; as in the event itself."),
		}, nil},
		{"request", "What a Task asks of people, when it is asked, decided on and settled; and after hello what is still pending.",
			schema{"request": ref("PermissionRequest")}, nil},
		{"tool.call", "A Task calls a tool of the client.", schema{
			"call_id": described(text(), "The same when the very call is made again."), "task_id": text(), "name": text(), "arguments": anyObject(),
		}, schema{"deadline_at": moment()}},
		{"tool.cancel", "Nobody waits for the answer any more.", schema{"call_id": text()}, nil},
		{"ack", "A command was done.", schema{"ok": schema{"type": "boolean", "const": true}}, schema{
			"id": id, "resource": described(anyObject(), "What came of it: a Message, a Task, a Session or a permission request."),
			"idempotent_replayed": described(flag(), "It had been done before; the resource is as it was then."),
		}},
		{"error", "A command was not done; or, without an id, why the socket is closed.", schema{"error": errorMembers()}, schema{"id": id}},
		{"pong", "Answers ping.", nil, schema{"id": id}},
		{"bye", "The last frame.", schema{"code": described(whole(), "The close code."), "reason": text()}, nil},
	}
}

func errorMembers() schema {
	return shape("Why not: the error of the error envelope.", schema{"code": text(), "type": text(), "message": text()},
		schema{"param": text(), "request_id": text(), "details": anyObject()})
}

// socketSchema is the JSON Schema of all frames.
func (a *Adapter) socketSchema() schema {
	defs := schema{}
	define := func(owner string, f frame) schema {
		required := schema{"type": schema{"type": "string", "const": f.name}}
		maps.Copy(required, f.required)
		s := shape(f.doc, required, f.optional)
		s["additionalProperties"] = false
		defs[owner+"."+f.name] = s
		return schema{"$ref": "#/$defs/" + owner + "." + f.name}
	}
	var client, server []schema
	for _, c := range a.socketCommands() {
		optional := schema{"id": schema{"type": "string", "maxLength": maxFrameID}}
		maps.Copy(optional, c.optional)
		if c.keyed {
			optional["idempotency_key"] = schema{"type": "string", "minLength": 1, "maxLength": 255}
		}
		client = append(client, define("client", frame{c.name, c.doc, c.required, optional}))
	}
	for _, f := range socketFrames() {
		server = append(server, define("server", f))
	}
	defs["client"], defs["server"] = schema{"oneOf": client}, schema{"oneOf": server}
	return schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://github.com/wharf-dev/wharf/docs/websocket.schema.json",
		"title": "Frames of the WebSocket",
		"description": "client.* are the frames that a client sends, server.* those that the node sends; client and server are any of them. " +
			"Protocol version " + abi.ProtocolVersion + ".",
		"$defs": local(defs, a.Schemas()),
	}
}

// local makes references to the OpenAPI document's schemas local ones, and adds the
// schemas that they need.
func local(defs schema, components map[string]gateway.Schema) schema {
	all := schema{}
	var move func(v any) any
	move = func(v any) any {
		switch v := v.(type) {
		case schema:
			out := schema{}
			for name, member := range v {
				out[name] = move(member)
			}
			return out
		case []schema:
			out := make([]any, len(v))
			for i := range v {
				out[i] = move(v[i])
			}
			return out
		case string:
			name, ok := strings.CutPrefix(v, componentSchemas)
			if !ok {
				return v
			}
			if all[name] == nil {
				all[name] = true // so that what refers to itself ends
				all[name] = move(components[name])
			}
			return "#/$defs/" + name
		}
		return v
	}
	for name, s := range defs {
		all[name] = move(s)
	}
	return all
}

// componentSchemas begins a reference to a schema of the OpenAPI document.
const componentSchemas = "#/components/schemas/"

// submitMembers are the members of a submit over REST.
func submitMembers() schema {
	properties, _ := taskSchemas()["SubmitTaskRequest"]["properties"].(schema)
	return properties
}

func without(members schema, name string) schema {
	left := maps.Clone(members)
	delete(left, name)
	return left
}

// socketURL returns the URL of WebSockets at a base URL: ws for http, wss for https.
func socketURL(base string) string { return "ws" + strings.TrimPrefix(base, "http") }
