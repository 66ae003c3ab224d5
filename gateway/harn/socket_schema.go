package harn

import (
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

// frame is a frame as it is documented; takes are its members but for its type.
type frame struct {
	name  string
	takes schema
}

// socketFrames lists what the node sends. All but hello and errors have no type in Go: they
// are written as they are sent.
func socketFrames() []frame {
	id := described(text(), "That of the command.")
	failed := shape("A command was not done; or, without an id, why the socket is closed.",
		schema{"error": gateway.ErrorSchema("Why not: the error of the error envelope.")}, schema{"id": id})
	return []frame{
		{"hello", of[helloFrame]("The first frame.")},
		{"event", shape("An event of the stream, in the log's order.", schema{
			"event": ref("Event"), "replayed": described(flag(), "History that was asked for again; as in the event itself."),
		}, nil)},
		{"request", shape("What a Task asks of people, when it is asked, decided on and settled; and after hello what is still pending.",
			schema{"request": ref("PermissionRequest")}, nil)},
		{"tool.call", shape("A Task calls a tool of the client.", schema{
			"call_id": described(text(), "The same when the very call is made again."), "task_id": text(), "name": text(), "arguments": anyObject(),
		}, schema{"deadline_at": described(moment(), "When nobody waits for the answer any more.")})},
		{"tool.cancel", shape("Nobody waits for the answer any more.", schema{"call_id": text()}, nil)},
		{"ack", shape("A command was done.", schema{"ok": schema{"type": "boolean", "const": true}}, schema{
			"id": id, "resource": described(anyObject(), "What came of it: a Message, a Task, a Session or a permission request."),
			"idempotent_replayed": described(flag(), "It had been done before; the resource is as it was then."),
		})},
		{"error", failed},
		{"pong", shape("Answers ping.", nil, schema{"id": id})},
		{"bye", shape("The last frame.", schema{"code": described(whole(), "The close code."), "reason": text()}, nil)},
	}
}

// closed is the schema of a frame: its members, its type, and no others.
func (f frame) closed() schema {
	properties, required := f.takes["properties"].(schema), f.takes["required"].([]string)
	if properties["type"] == nil {
		required = append(required, "type")
	}
	properties["type"] = constant(f.name)
	f.takes["required"], f.takes["additionalProperties"] = sorted(required), false
	return f.takes
}

// frame is a command's frame, with the members of its head.
func (c *command) frame() frame {
	properties := c.takes["properties"].(schema)
	properties["id"] = schema{"type": "string", "maxLength": maxFrameID}
	if c.keyed {
		properties["idempotency_key"] = schema{"type": "string", "minLength": 1, "maxLength": 255}
	}
	return frame{c.name, c.takes}
}

// socketSchema is the JSON Schema of all frames.
func (a *Adapter) socketSchema() schema {
	defs := schema{}
	define := func(owner string, f frame) schema {
		defs[owner+"."+f.name] = f.closed()
		return schema{"$ref": "#/$defs/" + owner + "." + f.name}
	}
	var client, server []schema
	for _, c := range a.socketCommands() {
		client = append(client, define("client", c.frame()))
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

// socketURL returns the URL of WebSockets at a base URL: ws for http, wss for https.
func socketURL(base string) string { return "ws" + strings.TrimPrefix(base, "http") }
