package harn

import (
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
	own := []row{
		read(all, "listToolServers", tag, reads, "ToolServer", "List the servers of tools that were added, newest first", a.listToolServers).list(),
		post(all, "createToolServer", tag, writes, "CreateToolServerRequest", "ToolServer", "Add a server of tools", statusCreated,
			create(a, statusCreated, a.core.CreateToolServer)).
			doc("It speaks the Model Context Protocol over HTTP. Its tools are `NAME:TOOL`, and can be called from then on."),
		read(one, "getToolServer", tag, reads, "ToolServer", "Get a server of tools", a.getToolServer).
			doc("Of the URL the host alone is shown to those who may not write servers."),
		patch(one, "updateToolServer", tag, writes, "UpdateToolServerRequest", "ToolServer", "Change a server of tools",
			change(a, "tool_server_id", statusOK, a.core.UpdateToolServer)).
			doc("Calls that are under way fail; the next go to it as it is then."),
		write(fasthttp.MethodDelete, one, "deleteToolServer", tag, writes, "", "", "Delete a server of tools", statusNoContent, a.deleteToolServer).bodyless().
			doc("Calls that are under way fail, and the values of its headers are removed."),
		ping,
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
		"ToolServerPing":          of[abi.ToolServerPing]("Whether a server answers."),
		"CreateToolServerRequest": requestOf[abi.CreateToolServerRequest]("A server to add.", says(made)),
		"UpdateToolServerRequest": requestOf[abi.UpdateToolServerRequest]("What to change of a server.", says(map[string]string{"headers": "All of them anew."})),
	}
}
