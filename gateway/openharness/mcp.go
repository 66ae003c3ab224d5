package openharness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) mcpRoutes() []gateway.Route {
	const reads, writes = "tools:read", abi.ScopeToolsWrite
	const one = "mcp-servers/{serverId}"
	health := post(one+"/health", "mcp.health", writes, "Ask an MCP server whether it is there", statusOK, a.atServer(a.serverHealth))
	health.Body, health.Idempotent = gateway.BodyNone, false
	return []gateway.Route{
		read("mcp-servers", "mcp.list", reads, "List MCP servers", a.at(a.listServers)),
		post("mcp-servers", "mcp.connect", writes, "Connect an MCP server", statusCreated, a.at(a.connectServer)),
		read(one, "mcp.get", reads, "Get an MCP server", a.atServer(a.getServer)),
		patch(one, "mcp.update", writes, "Change an MCP server", a.atServer(a.updateServer)),
		remove(one, "mcp.disconnect", writes, "Disconnect an MCP server", a.atServer(a.disconnectServer)),
		read(one+"/tools", "mcp.listTools", reads, "List the tools of an MCP server", a.atServer(a.serverTools)),
		read(one+"/resources", "mcp.listResources", reads, "List the resources of an MCP server", a.atServer(a.serverResources)),
		read(one+"/prompts", "mcp.listPrompts", reads, "List the prompts of an MCP server", a.atServer(a.serverPrompts)),
		health,
	}
}

// mcpTransport says how an MCP server is reached.
type mcpTransport struct {
	Type    abi.ToolTransport `json:"type"`
	URL     string            `json:"url,omitzero"`
	Command string            `json:"command,omitzero"`
	Args    []string          `json:"args,omitzero"`
}

// mcpServer is an MCP server as the protocol shows it.
type mcpServer struct {
	ID             string               `json:"id"`
	Name           string               `json:"name"`
	Transport      mcpTransport         `json:"transport"`
	Status         abi.ToolServerStatus `json:"status"`
	LastError      string               `json:"last_error,omitzero"`
	AutoReconnect  bool                 `json:"auto_reconnect"`
	Tools          []mcpTool            `json:"tools"`
	Resources      []mcpResource        `json:"resources"`
	Prompts        []mcpPrompt          `json:"prompts"`
	ToolsCount     int                  `json:"tools_count"`
	ResourcesCount int                  `json:"resources_count"`
	PromptsCount   int                  `json:"prompts_count"`
	CreatedAt      abi.Time             `json:"created_at"`
}

type mcpTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
}

type mcpResource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mime_type,omitzero"`
}

type mcpPrompt struct {
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Arguments   []mcpPromptArgument `json:"arguments,omitzero"`
}

type mcpPromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

type serverAnswer struct {
	Server mcpServer `json:"server"`
}

// serverMark is what the adapter keeps with a server of its own: servers of Wharf have plainer
// names.
type serverMark struct {
	Name string `json:"name"`
}

// serverHandler answers a request about an MCP server of a harness.
type serverHandler func(r *gateway.Request, h *abi.Harness, s *abi.ToolServer) error

// atServer finds the server that the path names. It is one of the harness.
func (a *Adapter) atServer(does serverHandler) gateway.Handler {
	return a.at(func(r *gateway.Request, h *abi.Harness) error {
		s, err := a.serverOf(r, h, r.PathValue("serverId"))
		if err != nil {
			return err
		}
		return does(r, h, s)
	})
}

func (a *Adapter) serverOf(r *gateway.Request, h *abi.Harness, id string) (*abi.ToolServer, error) {
	all, err := a.core.ToolServersIn(r.Context(), r.Caller, h.WorkspaceID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, abi.NotFound(abi.ObjectToolServer, id)
}

// titleOf returns the name that a server was given.
func titleOf(s *abi.ToolServer) string {
	var mark serverMark
	if json.Unmarshal(s.Metadata, &mark) == nil && mark.Name != "" {
		return mark.Name
	}
	return s.Name
}

// lookTime is how long a look at what a server has waits for it.
const lookTime = 3 * time.Second

// shownServer shows a server with what it has, as far as it is connected and says so in time.
func (a *Adapter) shownServer(r *gateway.Request, s *abi.ToolServer) mcpServer {
	shown := mcpServer{
		ID: s.ID, Name: titleOf(s), Transport: mcpTransport{Type: s.Over(), URL: s.URL, Command: s.Command, Args: s.Args},
		Status: s.Status, LastError: s.LastError, AutoReconnect: s.Reconnects(), CreatedAt: s.CreatedAt,
		Tools: []mcpTool{}, Resources: []mcpResource{}, Prompts: []mcpPrompt{},
	}
	if shown.Status == "" {
		shown.Status = abi.ToolServerDisconnected
	}
	if s.Status != abi.ToolServerConnected {
		return shown
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookTime)
	defer cancel()
	if tools, _, err := a.core.ToolServerTools(ctx, r.Caller, s.ID); err == nil {
		shown.Tools = toolsOf(tools)
	}
	if has, err := a.core.ToolServerResources(ctx, r.Caller, s.ID); err == nil {
		shown.Resources = resourcesOf(has.Resources)
	}
	if has, err := a.core.ToolServerPrompts(ctx, r.Caller, s.ID); err == nil {
		shown.Prompts = promptsOf(has.Prompts)
	}
	shown.ToolsCount, shown.ResourcesCount, shown.PromptsCount = len(shown.Tools), len(shown.Resources), len(shown.Prompts)
	return shown
}

func toolsOf(tools []abi.Tool) []mcpTool {
	all := []mcpTool{}
	for _, t := range tools {
		all = append(all, mcpTool{t.Name, t.Description, t.InputSchema})
	}
	return all
}

func resourcesOf(resources []abi.Resource) []mcpResource {
	all := []mcpResource{}
	for _, one := range resources {
		all = append(all, mcpResource{one.URI, one.Name, one.MimeType})
	}
	return all
}

func promptsOf(prompts []abi.Prompt) []mcpPrompt {
	all := []mcpPrompt{}
	for _, p := range prompts {
		shown := mcpPrompt{Name: p.Name, Description: p.Description}
		for _, one := range p.Arguments {
			shown.Arguments = append(shown.Arguments, mcpPromptArgument{one.Name, one.Description, one.Required})
		}
		all = append(all, shown)
	}
	return all
}

func (a *Adapter) listServers(r *gateway.Request, h *abi.Harness) error {
	status, err := oneOf(r, "status", abi.ToolServerConnected, abi.ToolServerDisconnected, abi.ToolServerError)
	if err != nil {
		return err
	}
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	all, err := a.core.ToolServersIn(r.Context(), r.Caller, h.WorkspaceID)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s abi.ToolServer) bool { return status != "" && s.Status != status })
	from := min(p.offset, len(all))
	to := min(from+p.limit, len(all))
	shown := paged[mcpServer]{Total: len(all), Limit: p.limit, Offset: p.offset, HasMore: to < len(all)}
	for i := from; i < to; i++ {
		shown.Data = append(shown.Data, a.shownServer(r, &all[i]))
	}
	return sendPage(r, shown, "", "servers")
}

type connectRequest struct {
	Name          string              `json:"name"`
	Transport     *connectedTransport `json:"transport"`
	AutoReconnect *bool               `json:"auto_reconnect"`
}

// connectedTransport has headers, too, which no answer shows.
type connectedTransport struct {
	mcpTransport `json:",inline"`
	Headers      map[string]string `json:"headers"`
}

// maxServerName is how many characters the name of a server has.
const maxServerName = 100

// serverName returns what Wharf calls a server of a name.
func serverName(name string) (string, error) {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxServerName {
		return "", abi.InvalidParam("name", "name is 1 to %d characters", maxServerName)
	}
	return plainName(name), nil
}

// plainName is the name of a server as its tools are called by.
func plainName(name string) string {
	if plain := kebab(name); plain != "" {
		return plain[:min(len(plain), 40)]
	}
	sum := sha256.Sum256([]byte(name))
	return "mcp-" + hex.EncodeToString(sum[:4])
}

func (a *Adapter) connectServer(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[connectRequest](r)
	if err != nil {
		return err
	}
	plain, err := serverName(req.Name)
	if err != nil {
		return err
	}
	if err := checkTransport(req.Transport); err != nil {
		return err
	}
	mark, err := json.Marshal(serverMark{req.Name})
	if err != nil {
		return err
	}
	t := req.Transport
	create := abi.CreateToolServerRequest{WorkspaceID: h.WorkspaceID, Name: plain, Transport: t.Type, URL: t.URL, Command: t.Command, Args: t.Args,
		Headers: t.Headers, AutoReconnect: req.AutoReconnect, Metadata: mark}
	made, err := a.unlikeOthers(r, h, req.Name, &create.Name, func() (api.View, error) {
		return a.core.CreateToolServer(r.Context(), r.Caller, retry, create)
	})
	if err != nil {
		return notAllowed(err)
	}
	if _, err := a.core.PingToolServer(r.Context(), r.Caller, made.ID); err != nil {
		return err
	}
	return a.sentServer(r, h, statusCreated, made)
}

// checkTransport refuses what does not say how a server is reached.
func checkTransport(t *connectedTransport) error {
	switch {
	case t == nil || t.Type == "":
		return abi.InvalidParam("transport", "transport says the type (http, sse or stdio), and where the server is")
	case t.Type == abi.TransportStdio && t.Command == "":
		return abi.InvalidParam("transport.command", "missing command")
	case t.Type != abi.TransportStdio && t.URL == "":
		return abi.InvalidParam("transport.url", "missing url")
	}
	return nil
}

// unlikeOthers writes a server of a name. Servers of one harness have different names; where another
// harness has one that Wharf calls the same, this one gets the harness's name behind it.
func (a *Adapter) unlikeOthers(r *gateway.Request, h *abi.Harness, name string, plain *string, write func() (api.View, error)) (api.View, error) {
	view, err := write()
	taken, is := errors.AsType[*abi.Error](err)
	if !is || taken.Code != abi.CodeConflict {
		return view, err
	}
	all, wrong := a.core.ToolServersIn(r.Context(), r.Caller, h.WorkspaceID)
	if wrong != nil {
		return view, wrong
	}
	if slices.ContainsFunc(all, func(s abi.ToolServer) bool { return plainName(titleOf(&s)) == plainName(name) }) {
		return view, err
	}
	*plain += "-" + h.Name[:min(len(h.Name), 23)]
	return write()
}

// notAllowed says of a program that the operator has not named that it is not allowed.
func notAllowed(err error) error {
	wrong, ok := errors.AsType[*abi.Error](err)
	if !ok || wrong.Code != abi.CodePolicyViolation || wrong.Param == "" {
		return err
	}
	refused := coded(codeCommandNotAllowed, 422, "%s", wrong.Message)
	refused.Param = wrong.Param
	return refused
}

func (a *Adapter) sentServer(r *gateway.Request, h *abi.Harness, status int, written api.View) error {
	s, err := a.serverOf(r, h, written.ID)
	if err != nil {
		return err
	}
	return sent(r, status, written, serverAnswer{a.shownServer(r, s)})
}

func (a *Adapter) getServer(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	return send(r, statusOK, serverAnswer{a.shownServer(r, s)})
}

type updateServerRequest struct {
	Name          *string             `json:"name"`
	Transport     *connectedTransport `json:"transport"`
	AutoReconnect *bool               `json:"auto_reconnect"`
}

func (a *Adapter) updateServer(r *gateway.Request, h *abi.Harness, s *abi.ToolServer) error {
	req, retry, err := decode[updateServerRequest](r)
	if err != nil {
		return err
	}
	change := abi.UpdateToolServerRequest{AutoReconnect: req.AutoReconnect}
	if t := req.Transport; t != nil {
		if err := checkTransport(t); err != nil {
			return err
		}
		change.Transport, change.URL, change.Command, change.Args, change.Headers = t.Type, new(t.URL), new(t.Command), t.Args, t.Headers
	}
	plain, name := s.Name, titleOf(s)
	if req.Name != nil && *req.Name != name {
		name = *req.Name
		if plain, err = serverName(name); err != nil {
			return err
		}
		if change.Metadata, err = json.Marshal(serverMark{name}); err != nil {
			return err
		}
	}
	change.Name = &plain
	written, err := a.unlikeOthers(r, h, name, &plain, func() (api.View, error) {
		return a.core.UpdateToolServer(r.Context(), r.Caller, retry, s.ID, change)
	})
	if err != nil {
		return notAllowed(err)
	}
	if _, err := a.core.PingToolServer(r.Context(), r.Caller, s.ID); err != nil {
		return err
	}
	return a.sentServer(r, h, statusOK, written)
}

func (a *Adapter) disconnectServer(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteToolServer(r.Context(), r.Caller, retry, s.ID); err != nil {
		return err
	}
	return empty(r)
}

func (a *Adapter) serverTools(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	tools, _, err := a.core.ToolServerTools(r.Context(), r.Caller, s.ID)
	if err != nil {
		return err
	}
	return send(r, statusOK, map[string]any{"tools": toolsOf(tools)})
}

func (a *Adapter) serverResources(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	has, err := a.core.ToolServerResources(r.Context(), r.Caller, s.ID)
	if err != nil {
		return err
	}
	return send(r, statusOK, map[string]any{"resources": resourcesOf(has.Resources)})
}

func (a *Adapter) serverPrompts(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	has, err := a.core.ToolServerPrompts(r.Context(), r.Caller, s.ID)
	if err != nil {
		return err
	}
	return send(r, statusOK, map[string]any{"prompts": promptsOf(has.Prompts)})
}

type serverHealthAnswer struct {
	Status    string `json:"status"`
	LatencyMS int64  `json:"latency_ms"`
	LastError string `json:"last_error,omitzero"`
}

// serverHealth pings a server. One that answers and offers nothing is degraded.
func (a *Adapter) serverHealth(r *gateway.Request, _ *abi.Harness, s *abi.ToolServer) error {
	ping, err := a.core.PingToolServer(r.Context(), r.Caller, s.ID)
	if err != nil {
		return err
	}
	answer := serverHealthAnswer{Status: "healthy", LatencyMS: ping.DurationMS, LastError: s.LastError}
	if ping.Failure != nil {
		answer.Status, answer.LastError = "unhealthy", ping.Failure.Message
	}
	return send(r, statusOK, answer)
}
