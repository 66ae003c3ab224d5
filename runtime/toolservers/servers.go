package toolservers

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Limits of one server.
const (
	maxName        = 64
	maxDescription = 1024
	maxPatterns    = 100
	maxPattern     = 256 // bytes
	maxHeaders     = 16
	maxHeader      = 4096 // bytes of a value
	maxTimeout     = 10 * time.Minute
	maxArgs        = 32
	maxArg         = 1024 // bytes
	pingTime       = 10 * time.Second
)

// CreateToolServer adds a server. Its name is taken from then on, and its tools can be called.
func (k *Keeper) CreateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateToolServerRequest) (desk.Doc, error) {
	if k.parts.Added == nil {
		return desk.Doc{}, abi.Errorf(abi.CodeNotImplemented, "this node takes no tool servers")
	}
	if err := k.place(ctx, c, &req); err != nil {
		return desk.Doc{}, err
	}
	if len(req.Plugins) == 0 {
		req.Plugins = []string{"*"}
	}
	about := &abi.ToolServer{
		Envelope:    abi.NewEnvelope(abi.ObjectToolServer, k.parts.IDs.New(abi.ObjectToolServer), k.parts.Now(), req.Metadata),
		WorkspaceID: req.WorkspaceID, Name: req.Name, Transport: transportOf(&req), URL: req.URL, Command: req.Command, Args: req.Args,
		AutoReconnect: req.AutoReconnect, Description: req.Description, Headers: slices.Sorted(maps.Keys(req.Headers)),
		Plugins: req.Plugins, ReadOnly: req.ReadOnly, Idempotent: req.Idempotent, Writes: req.Writes, TimeoutMS: req.TimeoutMS,
	}
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkName(req.Name), k.check(about), checkHeaders(req.Headers)); err != nil {
		return desk.Doc{}, err
	}
	r, err := k.blind(ctx, r)
	if err != nil {
		return desk.Doc{}, err
	}
	doc, err := k.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return k.create(ctx, c, idem, about, req.Headers)
	})
	return show(c, doc, err)
}

// transportOf returns how a new server is reached: as it says, or as follows from where it is.
func transportOf(req *abi.CreateToolServerRequest) abi.ToolTransport {
	if req.Transport == "" && req.Command != "" {
		return abi.TransportStdio
	}
	return cmp.Or(req.Transport, abi.TransportHTTP)
}

// place puts a server in the Workspace that is named, or the only one that the caller sees; or
// in none, when it is for the whole tenant.
func (k *Keeper) place(ctx context.Context, c *desk.Caller, req *abi.CreateToolServerRequest) error {
	if req.WorkspaceID == "" && len(c.Workspaces) == 1 {
		req.WorkspaceID = c.Workspaces[0]
	}
	if req.WorkspaceID == "" {
		return c.OwnsTenantWide()
	}
	return k.parts.Desk.CheckWorkspace(ctx, c, req.WorkspaceID)
}

// blind keeps what a retry is compared with from giving headers away. A node that can keep no
// secrets takes no headers.
func (k *Keeper) blind(ctx context.Context, r *desk.Retry) (*desk.Retry, error) {
	if k.parts.Values == nil {
		return r, nil
	}
	return sealed.Blind(ctx, k.parts.Values, r)
}

func (k *Keeper) create(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, about *abi.ToolServer, headers map[string]string) (desk.Doc, error) {
	unlock := k.parts.Ledger.Lock(c.Tenant, "tool servers") // two of one name come one after the other
	defer unlock()
	if err := k.fits(c.Tenant, about.Name); err != nil {
		return desk.Doc{}, err
	}
	records := []ledger.Record{{Kind: abi.EventToolServerCreated, Object: abi.ObjectToolServer, ID: about.ID, Created: true, State: about}}
	if len(headers) > 0 {
		stored, err := k.sealHeaders(ctx, c.Tenant, about, headers)
		if err != nil {
			return desk.Doc{}, err
		}
		records = append(records, stored)
	}
	doc, err := k.parts.Desk.Commit(c, "", about.WorkspaceID, idem, desk.StatusCreated, records...)
	if err == nil {
		k.use(c.Tenant, about, true)
	}
	return doc, err
}

// fits refuses a name that is taken, and one server too many.
func (k *Keeper) fits(t storage.Tenant, name string) error {
	if err := k.free(t, name); err != nil {
		return err
	}
	if n := len(k.of(t)); n >= k.parts.Config.Most {
		return abi.Errorf(abi.CodeConflict, "there are %d tool servers; a tenant has at most %d", n, k.parts.Config.Most)
	}
	return nil
}

// free refuses a name that is taken.
func (k *Keeper) free(t storage.Tenant, name string) error {
	if k.parts.Added.Reserved(name) || k.parts.Added.Get(k.parts.TenantID(t), name) != nil {
		return abi.Errorf(abi.CodeConflict, "there is a server of tools %q already", name)
	}
	return nil
}

// of returns the servers of a tenant, newest first.
func (k *Keeper) of(t storage.Tenant) (all []*abi.ToolServer) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for key, s := range k.servers {
		if key.Tenant == t {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *abi.ToolServer) int { return strings.Compare(b.ID, a.ID) })
	return all
}

// find returns a server that the caller may see. Those of the whole tenant are not shown to keys
// that are bound to Workspaces.
func (k *Keeper) find(c *desk.Caller, id string) (*abi.ToolServer, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	s := k.servers[ledger.Key{Tenant: c.Tenant, ID: id}]
	if s == nil || !sees(c, s) {
		return nil, abi.NotFound(abi.ObjectToolServer, id)
	}
	return s, nil
}

func sees(c *desk.Caller, s *abi.ToolServer) bool {
	return len(c.Workspaces) == 0 || s.WorkspaceID != "" && c.Sees(s.WorkspaceID)
}

// ToolServer returns a server.
func (k *Keeper) ToolServer(_ context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	s, err := k.find(c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.describeNow(c, *s)
}

// describeNow says how the connection is, too.
func (k *Keeper) describeNow(c *desk.Caller, shown abi.ToolServer) (desk.Doc, error) {
	if server := k.parts.Added.Get(k.parts.TenantID(c.Tenant), shown.Name); server != nil {
		shown.Status, shown.LastError = server.MCP.State()
	}
	return describe(c, shown, desk.Doc{ID: shown.ID})
}

// ToolServers lists the servers that the caller may see, newest first.
func (k *Keeper) ToolServers(_ context.Context, c *desk.Caller, p desk.Page) (list desk.DocList, err error) {
	some := slices.DeleteFunc(k.of(c.Tenant), func(s *abi.ToolServer) bool { return !sees(c, s) || p.After != "" && s.ID >= p.After })
	for i, s := range some {
		doc, err := k.describeNow(c, *s)
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, p.Limit) {
			return list.End(doc.ID, i < len(some)-1), nil
		}
	}
	return list, nil
}

// show shows a server as a write has left it.
func show(c *desk.Caller, doc desk.Doc, err error) (desk.Doc, error) {
	if err != nil {
		return desk.Doc{}, err
	}
	var about abi.ToolServer
	if err := ledger.Decode(doc.JSON, &about); err != nil {
		return desk.Doc{}, err
	}
	return describe(c, about, doc)
}

// describe leaves of the URL the host, and of a command its name, for those who may not write
// servers.
func describe(c *desk.Caller, shown abi.ToolServer, doc desk.Doc) (desk.Doc, error) {
	shown.Transport = shown.Over()
	shown.AutoReconnect = new(shown.Reconnects())
	if !c.Can(abi.ScopeToolsWrite) {
		shown.Args = nil
		if u, err := url.Parse(shown.URL); err == nil && shown.URL != "" {
			shown.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		}
	}
	text, err := json.Marshal(&shown, json.Deterministic(true))
	doc.JSON, doc.Restricted = text, false
	return doc, err
}

// UpdateToolServer changes a server. Calls from then on go to it as it is then.
func (k *Keeper) UpdateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateToolServerRequest) (desk.Doc, error) {
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkHeaders(req.Headers)); err != nil {
		return desk.Doc{}, err
	}
	return k.rewrite(ctx, c, r, id, abi.EventToolServerUpdated, func(next *abi.ToolServer) ([]ledger.Record, error) {
		before := next.Name
		applyUpdate(&req, next)
		if err := cmp.Or(checkName(next.Name), k.check(next)); err != nil {
			return nil, err
		}
		if next.Name != before {
			if err := k.free(c.Tenant, next.Name); err != nil {
				return nil, err
			}
		}
		switch {
		case req.Headers == nil:
			return nil, nil
		case len(req.Headers) == 0:
			return k.discardHeaders(ctx, c.Tenant, next), nil
		}
		stored, err := k.sealHeaders(ctx, c.Tenant, next, req.Headers)
		return []ledger.Record{stored}, err
	})
}

func applyUpdate(req *abi.UpdateToolServerRequest, s *abi.ToolServer) {
	if req.Transport != "" && req.Transport != s.Over() {
		s.Transport, s.URL, s.Command, s.Args = req.Transport, "", "", nil
	}
	abi.Replace(&s.Name, req.Name)
	abi.Replace(&s.URL, req.URL)
	abi.Replace(&s.Command, req.Command)
	if req.Args != nil {
		s.Args = req.Args
	}
	if req.AutoReconnect != nil {
		s.AutoReconnect = req.AutoReconnect
	}
	abi.Replace(&s.Description, req.Description)
	abi.Replace(&s.TimeoutMS, req.TimeoutMS)
	for to, from := range map[*[]string][]string{&s.Plugins: req.Plugins, &s.ReadOnly: req.ReadOnly, &s.Idempotent: req.Idempotent, &s.Writes: req.Writes} {
		if from != nil {
			*to = from
		}
	}
	if req.Headers != nil {
		s.Headers = slices.Sorted(maps.Keys(req.Headers))
	}
	if req.Metadata != nil {
		s.Metadata = req.Metadata
	}
}

// DeleteToolServer takes a server away, and the values of its headers. Calls that are under way
// fail, and its name is free.
func (k *Keeper) DeleteToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	_, err := k.rewrite(ctx, c, r, id, abi.EventToolServerDeleted, func(next *abi.ToolServer) ([]ledger.Record, error) {
		next.DeletedAt = abi.At(k.parts.Now())
		return k.discardHeaders(ctx, c.Tenant, next), nil
	})
	return err
}

// rewrite changes a server in the log, and then for calls. change gets a copy, and returns what
// is written beside it.
func (k *Keeper) rewrite(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, kind abi.EventKind,
	change func(*abi.ToolServer) ([]ledger.Record, error)) (desk.Doc, error) {
	r, err := k.blind(ctx, r)
	if err != nil {
		return desk.Doc{}, err
	}
	doc, err := k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.parts.Ledger.Lock(c.Tenant, "tool servers")
		defer unlock()
		before, err := k.find(c, id)
		if err != nil {
			return desk.Doc{}, err
		}
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectToolServer, id)
		if err != nil {
			return desk.Doc{}, err
		}
		next := *before
		next.UpdatedAt = abi.At(k.parts.Now())
		with, err := change(&next)
		if err != nil {
			return desk.Doc{}, err
		}
		rec := ledger.Record{Kind: kind, Object: abi.ObjectToolServer, ID: id, Sequence: res.Sequence + 1, State: &next}
		doc, err := k.parts.Desk.Commit(c, "", next.WorkspaceID, idem, desk.StatusOK, append([]ledger.Record{rec}, with...)...)
		switch {
		case err != nil:
		case next.DeletedAt.IsZero():
			if next.Name != before.Name {
				k.leave(c.Tenant, before)
			}
			k.use(c.Tenant, &next, true)
		default:
			k.leave(c.Tenant, &next)
		}
		return doc, err
	})
	return show(c, doc, err)
}

// PingToolServer connects to a server, if need be, and asks what it has.
func (k *Keeper) PingToolServer(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPing, error) {
	_, server, err := k.reach(c, id)
	if err != nil {
		return abi.ToolServerPing{}, err
	}
	ping := abi.ToolServerPing{ToolServerID: id}
	begun := k.parts.Now()
	within, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if status, _ := server.MCP.State(); status != abi.ToolServerConnected {
		server.MCP.Begin() // also one that does not connect again by itself
	}
	tools, err := []abi.Tool(nil), server.MCP.Ping(within)
	if err == nil {
		tools, err = server.MCP.List(within)
	}
	ping.DurationMS = k.parts.Now().Sub(begun).Milliseconds()
	if ping.Answers = err == nil; ping.Answers {
		ping.Tools = len(tools)
		return ping, nil
	}
	if ctx.Err() != nil {
		return ping, k.parts.Ledger.Failed("asking the tool server", ctx.Err())
	}
	ping.Failure = failure(err)
	return ping, nil
}

// check checks a server as it is to be.
func (k *Keeper) check(s *abi.ToolServer) error {
	if err := k.checkPlace(s); err != nil {
		return err
	}
	if len(s.Description) > maxDescription {
		return abi.InvalidParam("description", "description has at most %d bytes", maxDescription)
	}
	if s.TimeoutMS < 0 || s.TimeoutMS > maxTimeout.Milliseconds() {
		return abi.InvalidParam("timeout_ms", "timeout_ms is 0 to %d", maxTimeout.Milliseconds())
	}
	for _, p := range []struct {
		name string
		all  []string
	}{{"plugins", s.Plugins}, {"read_only", s.ReadOnly}, {"idempotent", s.Idempotent}, {"writes", s.Writes}} {
		if len(p.all) > maxPatterns || slices.ContainsFunc(p.all, func(one string) bool { return one == "" || len(one) > maxPattern }) {
			return abi.InvalidParam(p.name, "%s has at most %d patterns of 1 to %d bytes", p.name, maxPatterns, maxPattern)
		}
	}
	return nil
}

// checkPlace checks where a server is: the URL, or the program that is started.
func (k *Keeper) checkPlace(s *abi.ToolServer) error {
	switch s.Over() {
	case abi.TransportHTTP, abi.TransportSSE:
		if s.Command != "" || s.Args != nil {
			return abi.InvalidParam("command", "only a server of the transport stdio has a command and args")
		}
		return cmp.Or(desk.CheckPresent("url", s.URL), web.CheckURL(s.URL, k.parts.Config.Private))
	case abi.TransportStdio:
	default:
		return abi.InvalidParam("transport", "transport is http, sse or stdio, not %q", s.Transport)
	}
	switch {
	case s.URL != "":
		return abi.InvalidParam("url", "a server of the transport stdio has no url")
	case s.Command == "":
		return abi.InvalidParam("command", "missing command")
	case len(s.Headers) > 0:
		return abi.InvalidParam("headers", "a server of the transport stdio has no headers")
	case len(s.Args) > maxArgs || slices.ContainsFunc(s.Args, func(arg string) bool { return len(arg) > maxArg || strings.ContainsRune(arg, 0) }):
		return abi.InvalidParam("args", "args has at most %d texts of at most %d bytes, without NUL", maxArgs, maxArg)
	case k.parts.Config.Commands[s.Command] == nil:
		return NotAllowed(s.Command)
	}
	return nil
}

// NotAllowed says that the operator has not named a command.
func NotAllowed(command string) error {
	err := abi.Errorf(abi.CodePolicyViolation, "the node starts no %q: its setting openharness.commands names what it starts", command)
	err.Param = "command"
	return err
}

// checkName accepts what can be the server part of a tool's id.
func checkName(name string) error {
	bad := len(name) > maxName || name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	if bad || name[0] == '-' || name[0] == '_' {
		return abi.InvalidParam("name", "name is 1 to %d of a-z 0-9 - _, and begins with a letter or digit", maxName)
	}
	return nil
}

// reserved are headers that are the connection's or the protocol's.
var reserved = []string{"host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding", "te",
	"trailer", "upgrade", "keep-alive", "proxy-connection", "proxy-authorization", "expect", "accept", "accept-encoding",
	"mcp-session-id", "mcp-protocol-version", "last-event-id"}

func checkHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return abi.InvalidParam("headers", "there are at most %d headers", maxHeaders)
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key, value := textproto.CanonicalMIMEHeaderKey(name), headers[name]
		switch {
		case !headerName(name) || seen[key]:
			return abi.InvalidParam("headers", "%q cannot be a header of its own", name)
		case value == "" || len(value) > maxHeader || strings.TrimSpace(value) != value ||
			strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return abi.InvalidParam("headers", "the value of %q is not 1 to %d visible characters", name, maxHeader)
		}
		seen[key] = true
	}
	return nil
}

// headerName accepts what can name a header, and a secret.
func headerName(name string) bool {
	return name != "" && len(name) <= 64 && !slices.Contains(reserved, strings.ToLower(name)) && alphanumeric(rune(name[0])) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' })
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// failure says why a server does not answer, as a plugin would be told.
func failure(err error) *abi.Failure {
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		return &abi.Failure{Code: refused.Code, Message: refused.Message}
	}
	return &abi.Failure{Code: tool.CodeTimeout, Message: "it did not answer in time"}
}
