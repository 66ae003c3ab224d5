package harn

import (
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) memoryRoutes() []gateway.Route {
	const tag, reads, writes = "Memories", "memories:read", "memories:write"
	return routes(
		read("/v1/memories", "listMemories", tag, reads, "Memory", "List Memories, newest first", a.listMemories).
			list("workspace_id", "session_id").with(memoryFilters()...).
			doc("With `q`, or `scope` without `owner_id`, a page can hold fewer than `limit` although `page.has_more` is true: one request looks at "+
				"a bounded number of Memories. Content that the caller may not see is not found by its words. Memories that have expired are not listed."),
		post("/v1/memories", "createMemory", tag, writes, "CreateMemoryRequest", "Memory", "Create a Memory", statusCreated,
			create(a, statusCreated, a.core.CreateMemory)).
			doc("`owner_id` names the Persona, Session, Workspace or tenant of the `scope`. The caller is put into `provenance.actor`."),
		read("/v1/memories/{memory_id}", "getMemory", tag, reads, "Memory", "Get a Memory", a.get(abi.ObjectMemory, "memory_id")),
		write(fasthttp.MethodDelete, "/v1/memories/{memory_id}", "deleteMemory", tag, writes, "", "",
			"Forget a Memory's content", statusNoContent, a.redactMemory).bodyless(),
	)
}

func memoryFilters() []gateway.Param {
	return []gateway.Param{
		{Name: "scope", In: "query", Doc: "Only Memories of this scope.", Schema: enum(valuesOf[abi.MemoryScope]()...)},
		{Name: "owner_id", In: "query", Doc: "Only what belongs to this Persona, Session, Workspace or tenant.", Schema: text()},
		{Name: "q", In: "query", Doc: "Words that the content must all hold, in any letter case; `word*` stands for every word that begins so.", Schema: text()},
	}
}

func (a *Adapter) listMemories(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.ListMemories(r.Context(), r.Caller, api.MemoryFilter{
			Filter: queryFilter(r), Scope: abi.MemoryScope(r.Query("scope")), OwnerID: r.Query("owner_id"), Text: r.Query("q"),
		}, p)
	})
}

func (a *Adapter) redactMemory(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.RedactMemory(r.Context(), r.Caller, retry, r.PathValue("memory_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func memorySchemas() map[string]schema {
	return map[string]schema{
		"Memory": resourceOf[abi.Memory](abi.ObjectMemory, "Durable knowledge.", hidden("session_id", "workspace_id"),
			null("expires_at", "embedding_ref"),
			but(schema{
				"content": oneOf(text(), anyObject()), "redacted": flag(),
				"confidence": nullable(schema{"type": "number", "minimum": 0, "maximum": 1}),
			}),
			says(map[string]string{
				"content":     "Text, JSON or an `artifact_ref` part; `{\"redacted\": true}` in the place of what is withheld or was taken away.",
				"redacted":    "The content is withheld from this reader.",
				"redacted_at": "The content was taken away then.",
			})),
		"CreateMemoryRequest": requestOf[abi.CreateMemoryRequest]("A Memory.", but(schema{"content": oneOf(text(), anyObject())})),
	}
}
