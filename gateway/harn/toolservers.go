package harn

import (
	"context"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) toolServerRoutes() []gateway.Route {
	const tag, reads, writes = "Tools", "tools:read", abi.ScopeToolsWrite
	const all = "/wharf/v1/tool-servers"
	const one = all + "/{tool_server_id}"
	ping := post(one+"/ping", "pingToolServer", tag, writes, "", "ToolServerPing", "Ask a server of tools whether it is there", statusOK, a.pingToolServer).
		bodyless().doc("The node connects to it if need be, and asks what tools it has. That it does not answer is an answer, with `failure`.")
	ping.Idempotent = false
	const live = "The server is asked, at most 30 seconds, and the answer is in no log."
	readsOne := post(one+"/resources/read", "readToolServerResource", tag, writes, "ReadResourceRequest", "ResourceContents", "Read a resource of a server of tools", statusOK,
		asks(a.core.ReadToolServerResource)).doc(live + " A resource that the server does not know is a 400 or 404, as it says.")
	getsOne := post(one+"/prompts/get", "getToolServerPrompt", tag, writes, "GetPromptRequest", "FilledPrompt", "Get a prompt of a server of tools", statusOK,
		asks(a.core.GetToolServerPrompt)).doc(live)
	readsOne.Idempotent, getsOne.Idempotent = false, false
	own := []row{
		read(all, "listToolServers", tag, reads, "ToolServer", "List the servers of tools that were added, newest first", a.listToolServers).list(),
		post(all, "createToolServer", tag, writes, "CreateToolServerRequest", "ToolServer", "Add a server of tools", statusCreated,
			create(a, statusCreated, a.core.CreateToolServer)).
			doc("It speaks the Model Context Protocol: over HTTP, or as a program that the node's setting `openharness.commands` names. Its tools are `NAME:TOOL`, and can be called from then on."),
		read(one, "getToolServer", tag, reads, "ToolServer", "Get a server of tools", a.getToolServer).
			doc("Of the URL the host alone is shown to those who may not write servers, and of a program its name."),
		patch(one, "updateToolServer", tag, writes, "UpdateToolServerRequest", "ToolServer", "Change a server of tools",
			change(a, "tool_server_id", statusOK, a.core.UpdateToolServer)).
			doc("Calls that are under way fail; the next go to it as it is then."),
		write(fasthttp.MethodDelete, one, "deleteToolServer", tag, writes, "", "", "Delete a server of tools", statusNoContent, a.deleteToolServer).bodyless().
			doc("Calls that are under way fail, and the values of its headers are removed."),
		ping,
		read(one+"/tools", "listToolServerTools", tag, reads, "ToolServerTools", "List the tools of a server of tools", a.listToolServerTools).doc(live),
		read(one+"/resources", "listToolServerResources", tag, reads, "ToolServerResources", "List the resources of a server of tools", looks(a.core.ToolServerResources)).doc(live),
		read(one+"/resource-templates", "listToolServerTemplates", tag, reads, "ToolServerTemplates", "List the templates of a server's resources", looks(a.core.ToolServerTemplates)).doc(live),
		read(one+"/prompts", "listToolServerPrompts", tag, reads, "ToolServerPrompts", "List the prompts of a server of tools", looks(a.core.ToolServerPrompts)).doc(live),
		readsOne, getsOne,
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return routes(own...)
}

func (a *Adapter) listToolServers(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) { return a.core.ToolServers(r.Context(), r.Caller, p) })
}

func (a *Adapter) getToolServer(r *gateway.Request) error {
	doc, err := a.core.ToolServer(r.Context(), r.Caller, r.PathValue("tool_server_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) deleteToolServer(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteToolServer(r.Context(), r.Caller, retry, r.PathValue("tool_server_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func (a *Adapter) pingToolServer(r *gateway.Request) error {
	ping, err := a.core.PingToolServer(r.Context(), r.Caller, r.PathValue("tool_server_id"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, ping)
}

// looks serves what a server has.
func looks[T any](ask func(context.Context, *api.Caller, string) (T, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		has, err := ask(r.Context(), r.Caller, r.PathValue("tool_server_id"))
		if err != nil {
			return err
		}
		return sendValue(r, statusOK, has)
	}
}

// asks serves what a server is asked for with a body. It changes nothing, so that no retry is
// remembered.
func asks[Request, T any](ask func(context.Context, *api.Caller, string, Request) (T, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		var req Request
		if _, err := r.Decode(&req); err != nil {
			return err
		}
		answer, err := ask(r.Context(), r.Caller, r.PathValue("tool_server_id"), req)
		if err != nil {
			return err
		}
		return sendValue(r, statusOK, answer)
	}
}

// toolServerTools are the tools of a server that was added.
type toolServerTools struct {
	ToolServerID string     `json:"tool_server_id"`
	Tools        []*toolDoc `json:"tools"`
}

func (a *Adapter) listToolServerTools(r *gateway.Request) error {
	id := r.PathValue("tool_server_id")
	tools, plugins, err := a.core.ToolServerTools(r.Context(), r.Caller, id)
	if err != nil {
		return err
	}
	has := toolServerTools{ToolServerID: id, Tools: []*toolDoc{}}
	for i := range tools {
		has.Tools = append(has.Tools, a.toolDocOf(&tools[i], plugins))
	}
	return sendValue(r, statusOK, has)
}

func toolServerSchemas() map[string]schema {
	patterns := map[string]string{
		"workspace_id": "Whose Tasks may use it; none: all of the tenant.",
		"plugins":      "Patterns of the plugins that may use its tools; none: all.",
		"read_only":    "Patterns of tools that change nothing, whatever the server says of them.",
		"idempotent":   "Patterns of tools of which the same call again changes nothing more.",
		"writes":       "Patterns of tools that do change something, whatever the server says.",
		"timeout_ms":   "Of one call; none: a minute.",
	}
	made := map[string]string{"headers": "Headers that requests carry. Their values are never shown."}
	for name, says := range patterns {
		made[name] = says
	}
	return map[string]schema{
		"ToolServer": resourceOf[abi.ToolServer](abi.ObjectToolServer, "A server of the Model Context Protocol that a tenant has added.", says(patterns),
			says(map[string]string{"headers": "The names of the headers that requests carry."}), hidden("deleted_at")),
		"ToolServerTools":         of[toolServerTools]("The tools of a server.", but(schema{"tools": listOf(ref("Tool"))})),
		"ToolServerResources":     of[abi.ToolServerResources]("The resources of a server."),
		"ToolServerTemplates":     of[abi.ToolServerTemplates]("The templates of a server's resources."),
		"ToolServerPrompts":       of[abi.ToolServerPrompts]("The prompts of a server."),
		"Resource":                of[abi.Resource]("What its URI names can be read of a server of tools."),
		"ResourceTemplate":        of[abi.ResourceTemplate]("Resources whose URIs have a form (RFC 6570)."),
		"Prompt":                  of[abi.Prompt]("Messages that a server of tools fills in."),
		"PromptArgument":          of[abi.PromptArgument]("What a prompt is filled in with."),
		"PromptMessage":           of[abi.PromptMessage]("A message of a prompt, of user or assistant."),
		"ResourceContent":         of[abi.ResourceContent]("The content of a resource: text, or bytes."),
		"ResourceContents":        of[abi.CallResourceReadAnswer]("What a URI names: one URI may name several contents."),
		"FilledPrompt":            of[abi.CallPromptGetAnswer]("A prompt that is filled in."),
		"ReadResourceRequest":     requestOf[abi.ReadResourceRequest]("What to read.", says(map[string]string{"uri": "At most 2,048 bytes."})),
		"GetPromptRequest":        requestOf[abi.GetPromptRequest]("What to get.", says(map[string]string{"arguments": "Texts, by the names of the prompt's arguments."})),
		"ToolServerPing":          of[abi.ToolServerPing]("Whether a server answers."),
		"CreateToolServerRequest": requestOf[abi.CreateToolServerRequest]("A server to add.", says(made)),
		"UpdateToolServerRequest": requestOf[abi.UpdateToolServerRequest]("What to change of a server.", says(map[string]string{"headers": "All of them anew."})),
	}
}
