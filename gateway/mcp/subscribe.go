package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

const (
	// maxSubscriptions is how many resources one connection is told of.
	maxSubscriptions = 256
	// tellPause is how long a connection is told nothing after it was told something: what happens
	// meanwhile is told at once.
	tellPause = 100 * time.Millisecond
)

// The notifications that tell of changes, and the method that asks for them where there are no sessions.
const (
	toldUpdated   = "notifications/resources/updated"
	toldTools     = "notifications/tools/list_changed"
	toldPrompts   = "notifications/prompts/list_changed"
	toldResources = "notifications/resources/list_changed"
	toldListening = "notifications/subscriptions/acknowledged"
	methodListen  = "subscriptions/listen"
)

// subscriptions serves what clients with sessions subscribe to. [Adapter.listening] has the rest.
func (a *Adapter) subscriptions() feature {
	return feature{methods: map[string]method{"resources/subscribe": a.subscribe, "resources/unsubscribe": a.unsubscribe}}
}

func (a *Adapter) subscribe(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.SubscribeParams)
	if !ok || p == nil {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a subscription names the uri of a resource", nil)
	}
	watched, err := a.library.find(ctx, q, p.URI)
	if err != nil {
		return nil, q.resourceError(err)
	}
	w := a.watches.of(q.session)
	if w == nil || !w.add(p.URI, watched) {
		return nil, refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a session has at most %d subscriptions: end one", maxSubscriptions), nil)
	}
	return q.reply(struct{}{})
}

// unsubscribe ends a subscription. One that is not there has ended.
func (a *Adapter) unsubscribe(_ context.Context, q *request) (sdk.Result, error) {
	if p, ok := q.params.(*sdk.UnsubscribeParams); ok && p != nil {
		if w := a.watches.of(q.session); w != nil {
			w.remove(p.URI)
		}
	}
	return q.reply(struct{}{})
}

// find returns what a client subscribes to, which it may read.
func (l *library) find(ctx context.Context, q *request, uri string) (place, error) {
	if !ownScheme(uri) {
		s, _, err := l.offeredAt(ctx, q, uri)
		if err != nil {
			return place{}, err
		}
		return place{kind: placeOffered, id: s.ID}, nil
	}
	at, ok := placeOf(uri)
	if !ok || !at.kind.mayLook(q.caller) {
		return place{}, &unknownResource{uri}
	}
	if err := l.look(ctx, q.caller, at); err != nil {
		return place{}, hidden(uri, err)
	}
	return at, nil
}

// look returns an error unless the caller may read what is at a place. It does not read it.
func (l *library) look(ctx context.Context, c *api.Caller, at place) error {
	switch at.kind {
	case placeArtifact:
		_, err := l.core.Get(ctx, c, abi.ObjectArtifact, at.id)
		return err
	case placeReceipt:
		_, err := l.core.Get(ctx, c, abi.ObjectReceipt, at.id)
		return err
	case placeFile:
		f, err := l.core.FindEntry(ctx, c, at.workspace, at.path)
		if err == nil && f.Object != objectFile {
			return abi.Errorf(abi.CodeResourceNotFound, "there is no file %q", at.path)
		}
		return err
	}
	b, err := l.bundle(ctx, c, at)
	if err != nil {
		return err
	}
	m, err := l.manifest(ctx, c, b)
	if err == nil && !slices.ContainsFunc(m.Files, func(f api.SkillEntry) bool { return f.Path == at.path }) {
		return abi.Errorf(abi.CodeResourceNotFound, "there is no file %q", at.path)
	}
	return err
}

// watches are the connections that are told of changes. They are safe for concurrent use.
type watches struct {
	mu   sync.Mutex
	open map[*sdk.ServerSession]*watch
}

// of returns the watch of a session, nil for none.
func (all *watches) of(s *sdk.ServerSession) *watch {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.open[s]
}

// begin keeps the watch that make makes, unless the session has one.
func (all *watches) begin(s *sdk.ServerSession, make func() *watch) (w *watch, begun bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if w := all.open[s]; w != nil {
		return w, false
	}
	if all.open == nil {
		all.open = map[*sdk.ServerSession]*watch{}
	}
	w = make()
	all.open[s] = w
	return w, true
}

func (all *watches) end(s *sdk.ServerSession) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, s)
}

// watch is what one connection is told of: in a session of all lists and of what it subscribes to,
// else of what one request asks for. It holds a place in the log, and nothing that happens: a client that
// is slow is told later, and of many changes once.
type watch struct {
	core      *api.API
	caller    *api.Caller
	workspace string
	tell      func(ctx context.Context, name string, uri string) error
	lists     func(name string) bool // whether a list is told of

	mu   sync.Mutex
	uris map[string]place // what is subscribed to, as the client writes it
}

// add subscribes; false when there are too many.
func (w *watch) add(uri string, at place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.uris[uri]; !there && len(w.uris) >= maxSubscriptions {
		return false
	}
	if w.uris == nil {
		w.uris = map[string]place{}
	}
	w.uris[uri] = at
	return true
}

func (w *watch) remove(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.uris, uri)
}

// follow begins with what happens after a place in the log.
func (w *watch) follow(ctx context.Context, after api.Cursor) (*api.Stream, error) {
	return w.core.Follow(ctx, w.caller, api.Filter{WorkspaceID: w.workspace}, after)
}

// run tells of what a stream brings until the context ends, or the node does.
func (w *watch) run(ctx context.Context, stream *api.Stream) error {
	defer func() { stream.Close() }()
	for {
		entries, err := stream.Next(ctx)
		changed := w.changes(entries)
		if api.IsExpired(err) { // retention has overtaken: anything may have changed
			stream.Close()
			if stream, err = w.follow(ctx, w.core.Now()); err != nil {
				return err
			}
			changed = w.everything()
		}
		if err != nil {
			return err
		}
		if err := w.tellAll(ctx, changed); err != nil {
			return err
		}
	}
}

// change is one thing that a client is told of: a list, or a resource by its URI.
type change struct{ name, uri string }

// tellAll tells of changes, and then holds its peace for a while.
func (w *watch) tellAll(ctx context.Context, changed []change) error {
	if len(changed) == 0 {
		return nil
	}
	for _, ch := range changed {
		if err := w.tell(ctx, ch.name, ch.uri); err != nil {
			return err
		}
	}
	pause := time.NewTimer(tellPause)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// everything is what the client can be told of.
func (w *watch) everything() (all []change) {
	for _, name := range []string{toldTools, toldPrompts, toldResources} {
		if w.lists(name) {
			all = append(all, change{name: name})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri := range w.uris {
		all = append(all, change{toldUpdated, uri})
	}
	return all
}

// changes returns what events have changed, each once.
func (w *watch) changes(entries []api.Entry) (all []change) {
	seen := map[change]bool{}
	add := func(ch change) {
		if !seen[ch] {
			seen[ch] = true
			all = append(all, ch)
		}
	}
	for _, entry := range entries {
		for _, name := range w.listsChanged(entry) {
			if w.lists(name) {
				add(change{name: name})
			}
		}
		for _, uri := range w.updated(entry) {
			add(change{toldUpdated, uri})
		}
	}
	return all
}

// listsChanged returns which lists have changed for the caller. A Skill may be a tool, a prompt or a
// resource, and may have been another of them before.
func (w *watch) listsChanged(entry api.Entry) []string {
	kind := placeFile
	switch entry.Kind() {
	case abi.EventSkillCreated, abi.EventSkillUpdated:
		if w.caller.Can(scopeSkills) {
			return []string{toldTools, toldPrompts, toldResources}
		}
		return nil
	case abi.EventSkillInstalled, abi.EventSkillUninstalled, abi.EventSkillBundleUpdated:
		kind = placeSkill
	case abi.EventArtifactCreated:
		kind = placeArtifact
	case abi.EventReceiptIssued:
		kind = placeReceipt
	case abi.EventFileWritten, abi.EventFileRemoved:
	default:
		return nil
	}
	if !kind.mayLook(w.caller) {
		return nil
	}
	return []string{toldResources}
}

// updated returns the resources among those subscribed to that an event has changed.
func (w *watch) updated(entry api.Entry) (uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.uris) == 0 {
		return nil
	}
	at := placeChanged(entry)
	for uri, subscribed := range w.uris {
		if at.kind == placeSkill {
			subscribed.path = "" // a version changes all its files
		}
		if subscribed == at {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// placeChanged returns the place that an event has changed: of a skill without a path.
func placeChanged(entry api.Entry) place {
	about := entry.About()
	switch entry.Kind() {
	case abi.EventFileWritten, abi.EventFileRemoved:
		return place{kind: placeFile, workspace: entry.Workspace(), path: changedBy(entry).Path}
	case abi.EventSkillInstalled, abi.EventSkillUninstalled, abi.EventSkillBundleUpdated:
		return place{kind: placeSkill, workspace: entry.Workspace(), id: changedBy(entry).Bundle.Name}
	}
	switch about.Object {
	case abi.ObjectArtifact:
		return place{kind: placeArtifact, id: about.ID}
	case abi.ObjectReceipt:
		return place{kind: placeReceipt, id: about.ID}
	case abi.ObjectSkill:
		return place{kind: placeOffered, id: about.ID}
	}
	return place{}
}

// changedPayload is what the payload of an event says of where something has changed.
type changedPayload struct {
	Path   string `json:"path"`
	Bundle struct {
		Name string `json:"name"`
	} `json:"skill_bundle"`
}

func changedBy(entry api.Entry) changedPayload {
	var ev struct {
		Payload changedPayload `json:"payload"`
	}
	if json.Unmarshal(entry.Show().AppendJSON(nil, false), &ev) != nil {
		return changedPayload{} // it names nothing that anybody has subscribed to
	}
	return ev.Payload
}

// listening is the middleware that has connections told of changes: sessions from their first request
// on, and, where there are none, those who ask for it by a request of its own.
func (a *Adapter) listening(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, name string, in sdk.Request) (sdk.Result, error) {
		if name == methodListen {
			return a.listen(ctx, next, in)
		}
		if _, ours := a.table[name]; ours || name == "notifications/initialized" {
			a.watch(name, in)
		}
		return next(ctx, name, in)
	}
}

// watch has a session told of changes, unless it is already.
func (a *Adapter) watch(name string, in sdk.Request) {
	q, err := read(name, in)
	if err != nil || q.stateless || q.session.ID() == "" {
		return
	}
	w, begun := a.watches.begin(q.session, func() *watch {
		w := &watch{core: a.core, caller: q.caller, workspace: q.workspace, lists: func(string) bool { return true }}
		w.tell = func(ctx context.Context, name, uri string) error {
			if err := a.notify(ctx, q.session, name, uri, nil); err != nil {
				a.log.Debug("a session could not be told of a change", slog.Any("error", err))
			}
			return nil // the next one may be told
		}
		return w
	})
	if !begun {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_ = q.session.Wait() // how it ended is nobody's concern
		cancel()
		a.watches.end(q.session)
	}()
	stream, err := w.follow(ctx, a.core.Now())
	if err != nil {
		a.log.Error("a session is told of no changes", slog.Any("error", err))
		return
	}
	go func() {
		if err := w.run(ctx, stream); err != nil && ctx.Err() == nil {
			a.log.Debug("a session is told of no more changes", slog.Any("error", err))
		}
	}()
}

// listener is a request that asks to be told of changes.
type listener struct {
	agreed sdk.NotificationSubscriptions
	id     any // of the request, once the client was told what was agreed
}

// listenerKey is the key of a [listener] in a context.
type listenerKey struct{}

// listen answers a request that asks to be told of changes, for as long as the client listens. The SDK
// is given a request for nothing: it tells the client that it was heard, which [Adapter.saying] puts into
// what was agreed, and keeps no list of what.
func (a *Adapter) listen(ctx context.Context, next sdk.MethodHandler, in sdk.Request) (sdk.Result, error) {
	q, err := read(methodListen, in)
	if err != nil {
		return nil, err
	}
	p, ok := q.params.(*sdk.SubscriptionsListenParams)
	if !ok || p == nil || p.Notifications == nil {
		return nil, refuse(jsonrpc.CodeInvalidParams, "listening takes the notifications that are wanted", nil)
	}
	w := &watch{core: a.core, caller: q.caller, workspace: q.workspace}
	l := &listener{agreed: a.agree(ctx, q, w, p.Notifications)}
	w.lists = l.wants
	w.tell = func(ctx context.Context, name, uri string) error {
		return a.notify(ctx, q.session, name, uri, sdk.Meta{sdk.MetaKeySubscriptionID: l.id})
	}
	stream, err := w.follow(ctx, a.core.Now())
	if err != nil {
		return nil, a.shown(q, err)
	}
	heard := *p
	heard.Notifications = &sdk.NotificationSubscriptions{}
	res, err := next(context.WithValue(ctx, listenerKey{}, l), methodListen, &sdk.SubscriptionsListenRequest{Session: q.session, Params: &heard, Extra: q.extra})
	if err != nil || l.nothing() {
		stream.Close()
		return res, err
	}
	if err := w.run(ctx, stream); err != nil && ctx.Err() == nil {
		return nil, a.shown(q, err)
	}
	return res, nil
}

// agree returns what the client will be told of: lists that there are, and resources that it may read. There
// are never more than [maxSubscriptions].
func (a *Adapter) agree(ctx context.Context, q *request, w *watch, wanted *sdk.NotificationSubscriptions) sdk.NotificationSubscriptions {
	agreed := *wanted
	agreed.ResourceSubscriptions = nil
	for _, uri := range wanted.ResourceSubscriptions[:min(len(wanted.ResourceSubscriptions), maxSubscriptions)] {
		at, err := a.library.find(ctx, q, uri)
		if err == nil && w.add(uri, at) {
			agreed.ResourceSubscriptions = append(agreed.ResourceSubscriptions, uri)
		}
	}
	return agreed
}

func (l *listener) wants(list string) bool {
	switch list {
	case toldTools:
		return l.agreed.ToolsListChanged
	case toldPrompts:
		return l.agreed.PromptsListChanged
	}
	return l.agreed.ResourcesListChanged
}

func (l *listener) nothing() bool {
	return !l.agreed.ToolsListChanged && !l.agreed.PromptsListChanged && !l.agreed.ResourcesListChanged && len(l.agreed.ResourceSubscriptions) == 0
}

// saying is the middleware of what the SDK sends.
func (a *Adapter) saying(next sdk.MethodHandler) sdk.MethodHandler {
	a.say = next
	return func(ctx context.Context, name string, out sdk.Request) (sdk.Result, error) {
		l, listens := ctx.Value(listenerKey{}).(*listener)
		p, heard := out.GetParams().(*sdk.SubscriptionsAcknowledgedParams)
		if name == toldListening && listens && heard {
			p.Notifications, l.id = l.agreed, p.Meta[sdk.MetaKeySubscriptionID]
		}
		return next(ctx, name, out)
	}
}

// notify tells one connection of a change. The SDK has no function for that: it tells of the lists and
// resources that are registered with it, and of those all connections.
func (a *Adapter) notify(ctx context.Context, s *sdk.ServerSession, name, uri string, meta sdk.Meta) error {
	var out sdk.Request
	switch name {
	case toldTools:
		out = &sdk.ServerRequest[*sdk.ToolListChangedParams]{Session: s, Params: &sdk.ToolListChangedParams{Meta: meta}}
	case toldPrompts:
		out = &sdk.ServerRequest[*sdk.PromptListChangedParams]{Session: s, Params: &sdk.PromptListChangedParams{Meta: meta}}
	case toldResources:
		out = &sdk.ServerRequest[*sdk.ResourceListChangedParams]{Session: s, Params: &sdk.ResourceListChangedParams{Meta: meta}}
	default:
		out = &sdk.ServerRequest[*sdk.ResourceUpdatedNotificationParams]{Session: s, Params: &sdk.ResourceUpdatedNotificationParams{URI: uri, Meta: meta}}
	}
	_, err := a.say(ctx, name, out)
	return err
}
