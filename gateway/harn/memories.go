package harn

import (
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// memoryCore is what the Memories' routes ask of the engine.
type memoryCore interface{}

func (a *Adapter) memoryRoutes() []gateway.Route {
	forget := write(fasthttp.MethodDelete, "/v1/memories/{memory_id}", "deleteMemory", "Memories", "memories:write", "", "",
		"Forget a Memory's content", statusNoContent, a.redactMemory).bodyless()
	return routes(
		read("/v1/memories", "listMemories", "Memories", "memories:read", "Memory", "List Memories, newest first", a.list(abi.ObjectMemory)).
			list("workspace_id", "session_id"),
		post("/v1/memories", "createMemory", "Memories", "memories:write", "CreateMemoryRequest", "Memory", "Create a Memory", statusCreated, nil).later(),
		read("/v1/memories/{memory_id}", "getMemory", "Memories", "memories:read", "Memory", "Get a Memory", a.get(abi.ObjectMemory, "memory_id")),
		forget,
	)
}

func memorySchemas() map[string]schema {
	return map[string]schema{
		"Memory": resource(abi.ObjectMemory, "Durable knowledge.", schema{
			"scope": enum(memoryScopes...), "owner_id": text(), "content": anyJSON(), "provenance": anyObject(),
		}, schema{
			"expires_at": nullable(moment()), "embedding_ref": nullable(text()), "visibility": ref("PartVisibility"),
			"redaction_policy": anyObject(), "confidence": nullable(schema{"type": "number", "minimum": 0, "maximum": 1}),
		}),
		"CreateMemoryRequest": shape("A Memory.", schema{
			"scope": enum(memoryScopes...), "owner_id": text(), "content": anyJSON(), "provenance": anyObject()}, schema{"metadata": anyObject()}),
	}
}
