package harn

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Toolbox knows the tools of the node; *api.Tools is one.
type Toolbox interface {
	Offered(ctx context.Context) (tools []abi.Tool, silent []string)
	OfferedBy(ctx context.Context, server string) ([]abi.Tool, error)
	GrantedTo(server, name string) []string
	AddedTo(ctx context.Context, v api.ToolViewer) (tools []abi.Tool, by map[string][]string, silent []string)
}

var _ Toolbox = (*api.Tools)(nil)

// The objects of what the node is and has. They are in no log.
const (
	objectTool       abi.Object = "tool"
	objectCapability abi.Object = "capability"
	objectRuntime    abi.Object = "runtime"
)

// toolDoc is a tool as it is shown. Its id is what grants and the tools of Personas are
// patterns of.
type toolDoc struct {
	abi.Envelope
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema" doc:"The JSON Schema of its arguments; null if its server says none."`
	Server      string         `json:"server" doc:"Which server of tools it is of: host, skills, one of the configuration's, or one that was added."`
	Source      string         `json:"source" enum:"host,skill,mcp" doc:"What kind of server that is."`
	ReadOnly    bool           `json:"read_only" doc:"A call of it changes nothing."`
	Idempotent  bool           `json:"idempotent" doc:"The same call again changes nothing more."`
	Destructive bool           `json:"destructive" doc:"A call of it can destroy something."`
	Plugins     []string       `json:"plugins" doc:"The plugins that are granted it; patterns of them, for a server that was added."`
}

func (a *Adapter) toolRoutes() []gateway.Route {
	const tag, reads = "Tools", "skills:read"
	return routes(
		read("/v1/tools", "listTools", tag, reads, "Tool", "List the tools that Tasks can call", a.listTools).list().
			doc("These are the tools that the configuration grants to any plugin, and those of the tenant's own servers, by id. Whether a Task may call one is decided when it runs: by the "+
				"grants of its plugin, and by the `tools` of its Persona, which are patterns of these ids. Tools that clients offer to a Session are not "+
				"listed. A server that does not answer within three seconds is left out, and `page.unreadable` holds it as `SERVER:*`."),
		read("/v1/tools/{tool_id}", "getTool", tag, reads, "Tool", "Get a tool", a.getTool).
			doc("A tool of a server that does not answer is a 502 `upstream_unavailable`, since nobody knows whether it is there."),
	)
}

func toolSchemas() map[string]schema {
	return map[string]schema{
		"Tool": resourceOf[toolDoc](objectTool, "What a Task can call besides its plugin's own code.", null("input_schema")),
	}
}

func (a *Adapter) listTools(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		if a.node.Tools == nil {
			return api.List{}, nil
		}
		tools, silent := a.node.Tools.Offered(r.Context())
		added, by, quiet := a.node.Tools.AddedTo(r.Context(), viewer(r.Caller))
		list, err := pageByID(p, append(tools, added...), func(t *abi.Tool) identified { return a.toolOf(t, by) })
		for _, server := range append(silent, quiet...) {
			list.Unreadable = append(list.Unreadable, server+":*")
		}
		return list, err
	})
}

func (a *Adapter) getTool(r *gateway.Request) error {
	id := r.PathValue("tool_id")
	server, name, _ := strings.Cut(id, ":")
	if a.node.Tools == nil {
		return abi.NotFound(objectTool, id)
	}
	tools, err := a.node.Tools.OfferedBy(r.Context(), server)
	silent := err != nil && len(a.node.Tools.GrantedTo(server, name)) > 0
	var by map[string][]string
	if len(tools) == 0 && !silent {
		var quiet []string
		tools, by, quiet = a.node.Tools.AddedTo(r.Context(), viewer(r.Caller))
		silent = slices.Contains(quiet, server)
	}
	if silent {
		return abi.Errorf(abi.CodeUpstreamUnavailable, "the server of tools %q does not say what it has", server)
	}
	i := slices.IndexFunc(tools, func(t abi.Tool) bool { return t.Server == server && t.Name == name })
	if i < 0 {
		return abi.NotFound(objectTool, id)
	}
	doc, err := asDoc(id, a.toolOf(&tools[i], by))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// viewer is a caller who looks at tools.
func viewer(c *api.Caller) api.ToolViewer { return api.ToolViewer{Tenant: c.TenantID, Sees: c.Sees} }

// toolOf shows a tool. by has the plugins that may use the tools of servers that were added.
func (a *Adapter) toolOf(t *abi.Tool, by map[string][]string) identified {
	plugins := by[t.Server]
	if plugins == nil {
		plugins = a.node.Tools.GrantedTo(t.Server, t.Name)
	}
	return a.toolDocOf(t, plugins)
}

func (a *Adapter) toolDocOf(t *abi.Tool, plugins []string) *toolDoc {
	return &toolDoc{
		Envelope: abi.NewEnvelope(objectTool, t.Server+":"+t.Name, a.core.Started(), nil),
		Name:     t.Name, Description: t.Description, InputSchema: t.InputSchema, Server: t.Server, Source: toolSource(t.Server),
		ReadOnly: t.ReadOnly, Idempotent: t.Idempotent, Destructive: t.Destructive, Plugins: plugins,
	}
}

func (t *toolDoc) identity() string { return t.ID }

func toolSource(server string) string {
	switch server {
	case api.ServerHost:
		return "host"
	case api.ServerSkills:
		return "skill"
	}
	return "mcp"
}

// identified is what a list has parts of that is in no log.
type identified interface{ identity() string }

func asDoc(id string, shown any) (api.View, error) {
	text, err := json.Marshal(shown, json.Deterministic(true))
	return api.View{ID: id, JSON: text}, err
}

// pageByID returns a page of what the node has. It goes on after an id that is gone by now.
func pageByID[T any](p api.Page, all []T, show func(*T) identified) (list api.List, err error) {
	shown := make([]identified, len(all))
	for i := range all {
		shown[i] = show(&all[i])
	}
	slices.SortFunc(shown, func(a, b identified) int { return strings.Compare(a.identity(), b.identity()) })
	for _, one := range shown {
		switch {
		case one.identity() <= p.After:
			continue
		case len(list.Views) == p.Limit:
			list.More, list.Next = true, list.Views[p.Limit-1].ID
			return list, nil
		}
		doc, err := asDoc(one.identity(), one)
		if err != nil {
			return list, err
		}
		list.Views = append(list.Views, doc)
	}
	return list, nil
}
