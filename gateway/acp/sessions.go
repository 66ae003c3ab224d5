package acp

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// sessions makes, finds and ends sessions.
func (a *Adapter) sessions() feature {
	return feature{
		"session/new":    takes("sessions:write", a.newSession).own(),
		"session/load":   takes("sessions:read", a.loadSession).own(),
		"session/resume": takes("sessions:read", a.resumeSession).own(),
		"session/list":   takes("sessions:read", a.listSessions).own(),
		"session/close":  takes("sessions:write", a.closeSession).own(),
		"session/fork":   takes("sessions:write", a.forkSession).own(),
	}
}

// kept is what a Session's metadata has of the session that a client sees in it.
type kept struct {
	ACP struct {
		CWD string `json:"cwd,omitzero"`
	} `json:"acp,omitzero"`
}

// noFolder is the folder of a Session that was not made by a client of the protocol.
const noFolder = "/"

// folderOf is the folder that a Session is about.
func folderOf(s *abi.Session) string {
	var of kept
	if json.Unmarshal(s.Metadata, &of) != nil || of.ACP.CWD == "" {
		return noFolder
	}
	return of.ACP.CWD
}

// place is what a client says of where a session is.
type place struct {
	CWD        string      `json:"cwd"`
	MCPServers []mcpServer `json:"mcpServers"`
	Meta       struct {
		Harn struct {
			WorkspaceID string  `json:"workspaceId"`
			PersonaID   string  `json:"personaId"`
			After       *string `json:"after"` // "" for what was told nothing of
		} `json:"harn"`
	} `json:"_meta"`
}

type mcpServer struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Command string `json:"command"`
}

// maxFolder is the longest name of a folder, in bytes.
const maxFolder = 4096

func (p *place) check() error {
	switch {
	case p.CWD == "":
		return missing("cwd")
	case !absolute(p.CWD):
		return abi.InvalidParam("cwd", "cwd is an absolute path")
	case len(p.CWD) > maxFolder:
		return abi.InvalidParam("cwd", "cwd has at most %d bytes", maxFolder)
	}
	if len(p.MCPServers) > 0 {
		s := p.MCPServers[0]
		if s.Type == "http" || s.Type == "sse" {
			return abi.InvalidParam("mcpServers", "the node reaches MCP servers of its own configuration, and of its tool servers, alone: not %q", s.Name)
		}
		return abi.InvalidParam("mcpServers", "the node starts no commands for a client: not %q. Offer its tools as those of the client, or configure it on the node", s.Name)
	}
	return nil
}

// absolute reports whether a path is one from the root, on the client's machine.
func absolute(p string) bool {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) {
		return true
	}
	drive := len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	return drive && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// newSession makes a Session.
func (a *Adapter) newSession(ctx context.Context, q *request, p *place) (any, error) {
	if err := q.may(scopeEvents); err != nil {
		return nil, err
	}
	var of kept
	of.ACP.CWD = p.CWD
	metadata, err := json.Marshal(&of, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	req := abi.CreateSessionRequest{WorkspaceID: p.Meta.Harn.WorkspaceID, PersonaID: p.Meta.Harn.PersonaID, Metadata: metadata}
	if req.WorkspaceID == "" {
		req.WorkspaceID = a.core.DefaultWorkspaceOf(q.caller)
	}
	made, err := a.core.CreateSession(ctx, q.caller, q.retry(&req), req)
	if err != nil {
		return nil, err
	}
	s, err := decoded[abi.Session](made)
	if err != nil {
		return nil, err
	}
	return a.enter(ctx, q, s, tellsNothing)
}

// retry identifies a write of a client that comes by a pipe, which sends it again when it has lost the
// connection; nil for any other.
func (q *request) retry(of any) *api.Write {
	said := q.conn.client()
	if said.pipe == "" || q.ID == nil {
		return nil
	}
	body, err := json.Marshal(of, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return &api.Write{Key: clippedKey("acp:" + said.pipe + ":" + string(q.ID)), Scope: "acp " + q.Method, Fingerprint: api.Fingerprint(body)}
}

// clippedKey is a key that is not too long: a client that has longer ids is not protected from itself.
func clippedKey(key string) string { return key[:min(len(key), 255)] }

// may refuses a caller who lacks a scope.
func (q *request) may(scopes ...string) error {
	for _, scope := range scopes {
		if err := gateway.Require(q.caller, scope); err != nil {
			return err
		}
	}
	return nil
}

// scopeEvents is what a session cannot be open without, for it tells events.
const scopeEvents = "events:read"

// decoded reads a resource.
func decoded[T any](v api.View) (*T, error) {
	t := new(T)
	return t, json.Unmarshal(v.JSON, t)
}

// named is a session that a client names.
type named struct {
	SessionID string `json:"sessionId"`
}

func (p *named) session() string { return p.SessionID }

func (p *named) check() error {
	if p.SessionID == "" {
		return missing("sessionId")
	}
	return nil
}

// reopening is a session that a client goes on with.
type reopening struct {
	named `json:",inline"`
	place `json:",inline"`
}

func (p *reopening) check() error {
	if err := p.named.check(); err != nil {
		return err
	}
	return p.place.check()
}

// sessionOf returns a Session that the caller may see.
func (a *Adapter) sessionOf(ctx context.Context, q *request, id string) (*abi.Session, error) {
	v, err := a.core.Get(ctx, q.caller, abi.ObjectSession, id)
	if err != nil {
		return nil, err
	}
	return decoded[abi.Session](v)
}

// loadSession tells the whole conversation, and then answers.
func (a *Adapter) loadSession(ctx context.Context, q *request, p *reopening) (any, error) {
	return a.reopen(ctx, q, p, tellsAll)
}

// resumeSession goes on with a session of which the client has what was told before: all of it, or what
// was told up to an update.
func (a *Adapter) resumeSession(ctx context.Context, q *request, p *reopening) (any, error) {
	after := p.Meta.Harn.After
	if after == nil {
		return a.reopen(ctx, q, p, tellsNothing)
	}
	if *after == "" { // the connection broke before the first update
		return a.reopen(ctx, q, p, tellsAll)
	}
	at, err := parseMark(*after)
	if err != nil {
		return nil, err
	}
	return a.reopen(ctx, q, p, at.before)
}

func (a *Adapter) reopen(ctx context.Context, q *request, p *reopening, told func(mark) bool) (any, error) {
	if err := q.may(scopeEvents, "messages:read", "tasks:read"); err != nil {
		return nil, err
	}
	s, err := a.sessionOf(ctx, q, p.SessionID)
	if err != nil {
		return nil, err
	}
	return a.enter(ctx, q, s, told)
}

// entered answers whoever opens a session.
type entered struct {
	SessionID     string         `json:"sessionId,omitzero"`
	Modes         *modeState     `json:"modes,omitzero"`
	ConfigOptions []configOption `json:"configOptions,omitzero"`
	ParentID      string         `json:"parent_id,omitzero"`
	BranchedAt    string         `json:"branched_at,omitzero"`
}

// enter opens a session on the connection: it tells of what was before as told says, and then answers.
// What happens from then on is told after the answer.
func (a *Adapter) enter(ctx context.Context, q *request, s *abi.Session, told func(mark) bool) (*jsonrpc.Then, error) {
	q.conn.enters(ctx, q.caller, s.ID)
	o, err := q.conn.openSession(ctx, q.caller, s, told, q.Method == "session/resume")
	if err != nil {
		return nil, err
	}
	o.watches(ctx, q.caller)
	res := &entered{}
	if q.Method != "session/load" && q.Method != "session/resume" {
		res.SessionID = s.ID
	}
	if res.Modes, err = a.modes(ctx, q, o); err == nil {
		res.ConfigOptions = a.options(o)
	}
	if err != nil {
		o.end()
		return nil, err
	}
	q.conn.enter(o)
	caller := q.caller
	return &jsonrpc.Then{Result: res, Do: func() { o.begin(func() { a.tellCommands(o, caller) }) }}, nil
}

type listParams struct {
	CWD    string `json:"cwd"`
	Cursor string `json:"cursor"`
	Meta   struct {
		Harn struct {
			WorkspaceID string `json:"workspaceId"`
		} `json:"harn"`
	} `json:"_meta"`
}

func (p *listParams) check() error {
	if p.CWD != "" && !absolute(p.CWD) {
		return abi.InvalidParam("cwd", "cwd is an absolute path")
	}
	return nil
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
	Title     string `json:"title,omitzero"`
	UpdatedAt string `json:"updatedAt,omitzero"`
}

type sessionList struct {
	Sessions   []sessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitzero"`

	after string // the Session after which more follow, "" for none
}

// The bounds of one answer to session/list: how many sessions it has at most, and after how many that were
// looked at to find those of a folder it is given although there may be more. There is no index of folders,
// so a page may be short, or empty, and the client asks on.
const (
	listed   = 50
	lookedAt = 1000
)

// listSessions lists Sessions, newest first.
func (a *Adapter) listSessions(ctx context.Context, q *request, p *listParams) (any, error) {
	page := api.Page{Limit: listed}
	if p.Cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(p.Cursor)
		if err != nil || len(after) == 0 {
			return nil, abi.InvalidParam("cursor", "this is no cursor of a list")
		}
		page.After = string(after)
	}
	res := &sessionList{Sessions: []sessionInfo{}}
	for looked := 0; ; page.After, looked = res.after, looked+listed {
		list, err := a.core.List(ctx, q.caller, abi.ObjectSession, api.Filter{WorkspaceID: p.Meta.Harn.WorkspaceID}, page)
		if err != nil {
			return nil, err
		}
		full, err := res.take(list, p.CWD)
		if err != nil {
			return nil, err
		}
		if res.after == "" {
			return res, nil
		}
		// A page that is short although more follow has looked at many of others.
		if full || looked+listed >= lookedAt || len(list.Views) < listed {
			res.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(res.after))
			return res, nil
		}
	}
}

// take takes the Sessions of a folder from a page, "" for those of all. It reports whether it could take no
// more, and keeps after which Session more follow, if any do.
func (l *sessionList) take(page api.List, folder string) (full bool, err error) {
	for i, v := range page.Views {
		s, err := decoded[abi.Session](v)
		if err != nil {
			return false, err
		}
		cwd := folderOf(s)
		if folder != "" && folder != cwd {
			continue
		}
		l.Sessions = append(l.Sessions, infoOf(s, cwd))
		if last := i == len(page.Views)-1; len(l.Sessions) == listed && !last {
			l.after = v.ID
			return true, nil
		}
	}
	l.after = ""
	if page.More {
		l.after = page.Next
	}
	return len(l.Sessions) == listed, nil
}

func infoOf(s *abi.Session, cwd string) sessionInfo {
	return sessionInfo{SessionID: s.ID, CWD: cwd, Title: updates.Title(s.Name, s.Summary), UpdatedAt: s.UpdatedAt.Format(time.RFC3339Nano)}
}

// closeSession ends a Session, and before it what runs in it.
func (a *Adapter) closeSession(ctx context.Context, q *request, p *named) (any, error) {
	s, err := a.sessionOf(ctx, q, p.SessionID)
	if err != nil {
		return nil, err
	}
	prompts := q.conn.callOff(s.ID)
	caller, err := q.conn.controlling(ctx, q.caller, s.ID)
	if err != nil {
		return nil, err
	}
	if err := a.cancelAll(ctx, caller, s.ID); err != nil {
		return nil, err
	}
	if o := q.conn.session(s.ID); o != nil {
		o.quiet(ctx)
	}
	for _, p := range prompts { // they are told how their turns end as long as the session is open here
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if s.State != abi.SessionClosed {
		if _, err := a.core.CloseSession(ctx, q.caller, nil, s.ID); err != nil {
			return nil, err
		}
	}
	q.conn.leave(s.ID)
	q.conn.detachFrom(s.ID)
	return struct{}{}, nil
}

type forkParams struct {
	named     `json:",inline"`
	CWD       string `json:"cwd"`
	KeepFirst *int   `json:"keep_first"`
	ID        string `json:"id"`
	Branch    string `json:"branch_name"`
}

func (p *forkParams) check() error {
	switch {
	case p.CWD != "" && !absolute(p.CWD):
		return abi.InvalidParam("cwd", "cwd is an absolute path")
	case p.KeepFirst != nil && *p.KeepFirst < 1:
		return abi.InvalidParam("keep_first", "keep_first is how many messages the fork begins with, at least one")
	case p.ID != "":
		return abi.InvalidParam("id", "the node chooses the ids of sessions")
	}
	return p.named.check()
}

// forkSession makes a Session that begins as another one is.
func (a *Adapter) forkSession(ctx context.Context, q *request, p *forkParams) (any, error) {
	if err := q.may(scopeEvents, "messages:read"); err != nil {
		return nil, err
	}
	from, err := a.sessionOf(ctx, q, p.SessionID)
	if err != nil {
		return nil, err
	}
	req := abi.ForkSessionRequest{Name: p.Branch}
	if p.CWD != "" {
		if req.Metadata, err = withFolder(from.Metadata, p.CWD); err != nil {
			return nil, err
		}
	}
	if p.KeepFirst != nil {
		if req.AtEventID, err = a.endOf(ctx, q, from.ID, *p.KeepFirst); err != nil {
			return nil, err
		}
	}
	made, err := a.core.ForkSession(ctx, q.caller, q.retry(&req), from.ID, req)
	if err != nil {
		return nil, err
	}
	s, err := decoded[abi.Session](made)
	if err != nil {
		return nil, err
	}
	res, err := a.enter(ctx, q, s, tellsNothing)
	if err != nil {
		return nil, err
	}
	of := res.Result.(*entered)
	of.ParentID, of.BranchedAt = from.ID, s.CreatedAt.Format(time.RFC3339Nano)
	begin := res.Do
	res.Do = func() {
		begin()
		q.conn.tellInfo(s)
	}
	return res, nil
}

// tellInfo tells what a session is called.
func (c *conn) tellInfo(s *abi.Session) {
	info := infoOf(s, "")
	update, err := json.Marshal(struct {
		Kind      string `json:"sessionUpdate"`
		Title     string `json:"title,omitzero"`
		UpdatedAt string `json:"updatedAt"`
	}{"session_info_update", info.Title, info.UpdatedAt}, json.Deterministic(true))
	if err == nil {
		_ = c.update(s.ID, update)
	}
}

// endOf returns the event of the n-th Message of a Session; "" where it has no more than that.
func (a *Adapter) endOf(ctx context.Context, q *request, session string, n int) (string, error) {
	list, err := a.core.Messages(ctx, q.caller, session, api.Page{Limit: 1, Offset: n - 1})
	if err != nil || !list.More {
		return "", err
	}
	return list.Next, nil
}

// withFolder returns the metadata of a Session with another folder.
func withFolder(metadata jsontext.Value, cwd string) (jsontext.Value, error) {
	of := map[string]jsontext.Value{}
	if len(metadata) > 0 {
		if err := json.Unmarshal(metadata, &of); err != nil {
			return nil, err
		}
	}
	var k kept
	k.ACP.CWD = cwd
	own, err := json.Marshal(&k.ACP, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	of["acp"] = own
	return json.Marshal(of, json.Deterministic(true))
}
