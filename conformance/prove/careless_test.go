package prove_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// careless is an adapter that withholds nothing: it asks for all there is, and shows whoever
// asks what it was given, answers and errors alike.
type careless struct {
	api   *api.API
	who   *api.Caller
	asked map[string]bool   // by method of the API
	shown map[string][]byte // by what was asked for
	seen  map[string]bool   // what was shown before, which need not be looked at again
}

// keep keeps a text that was shown.
func (c *careless) keep(where, text string) {
	if !c.seen[text] {
		c.seen[text] = true
		c.shown[where] = append(append(c.shown[where], text...), '\n')
	}
}

// show keeps what a method answered with.
func (c *careless) show(method, of string, what any, err error) {
	c.asked[method] = true
	where := method + " " + of
	c.keep(where, fmt.Sprintf("%+v", err))
	switch v := what.(type) {
	case api.View:
		c.keep(where, fmt.Sprintf("%+v", v))
		c.keep(where, string(v.JSON))
	case api.List:
		for _, view := range v.Views {
			c.show(method, of, view, nil)
		}
		c.keep(where, fmt.Sprintf("%+v", v.Unreadable)+v.Next)
	case *api.Event:
		c.keep(where, string(v.AppendJSON(nil, false)))
		c.keep(where, string(v.Stated))
	default:
		c.keep(where, fmt.Sprintf("%+v", v))
	}
}

// every reads a list to its end and returns the ids of what is in it.
func (c *careless) every(method, of string, page func(api.Page) (api.List, error)) (ids []string) {
	for p := (api.Page{Limit: 100}); ; {
		list, err := page(p)
		c.show(method, of, list, err)
		for _, view := range list.Views {
			ids = append(ids, view.ID)
		}
		if err != nil || !list.More {
			return ids
		}
		p.After = list.Next
	}
}

// all lists resources of one kind, and gets each.
func (c *careless) all(ctx context.Context, o abi.Object) []string {
	ids := c.every("List", string(o), func(p api.Page) (api.List, error) { return c.api.List(ctx, c.who, o, api.Filter{}, p) })
	for _, id := range ids {
		view, err := c.api.Get(ctx, c.who, o, id)
		c.show("Get", id, view, err)
	}
	return ids
}

// read reads everything.
func (c *careless) read(ctx context.Context) {
	for _, o := range []abi.Object{abi.ObjectOutcome, abi.ObjectPersona, abi.ObjectWorkspace, abi.ObjectSkill, abi.ObjectMessage} {
		for _, id := range c.all(ctx, o) {
			if o == abi.ObjectPersona {
				c.every("PersonaVersions", id, func(p api.Page) (api.List, error) { return c.api.PersonaVersions(ctx, c.who, id, p) })
			}
			if o == abi.ObjectWorkspace {
				view, err := c.api.GetWorkspace(ctx, c.who, id)
				c.show("GetWorkspace", id, view, err)
				c.every("ListFiles", id, func(p api.Page) (api.List, error) { return c.api.ListFiles(ctx, c.who, id, "", p) })
				c.harness(ctx, id)
			}
		}
	}
	for _, id := range c.all(ctx, abi.ObjectArtifact) {
		c.artifact(ctx, id)
	}
	for _, id := range c.all(ctx, abi.ObjectSession) {
		c.session(ctx, id)
	}
	for _, id := range c.all(ctx, abi.ObjectTask) {
		c.task(ctx, id)
	}
	for _, id := range c.all(ctx, abi.ObjectVault) {
		c.every("ListSecrets", id, func(p api.Page) (api.List, error) { return c.api.ListSecrets(ctx, c.who, id, p) })
	}
	for _, id := range c.every("ListConnectors", "", func(p api.Page) (api.List, error) { return c.api.ListConnectors(ctx, c.who, api.Filter{}, p) }) {
		view, err := c.api.GetConnector(ctx, c.who, id)
		c.show("GetConnector", id, view, err)
		for _, dead := range c.every("DeadLetters", id, func(p api.Page) (api.List, error) { return c.api.DeadLetters(ctx, c.who, id, p) }) {
			view, err := c.api.DeadLetter(ctx, c.who, id, dead)
			c.show("DeadLetter", dead, view, err)
		}
	}
	for _, id := range c.every("ListMemories", "", func(p api.Page) (api.List, error) { return c.api.ListMemories(ctx, c.who, api.MemoryFilter{}, p) }) {
		view, err := c.api.Get(ctx, c.who, abi.ObjectMemory, id)
		c.show("Get", id, view, err)
	}
	for _, id := range c.every("Quotas", "", func(p api.Page) (api.List, error) { return c.api.Quotas(ctx, c.who, p) }) {
		view, err := c.api.Quota(ctx, c.who, id)
		c.show("Quota", id, view, err)
	}
	for _, id := range c.every("ToolServers", "", func(p api.Page) (api.List, error) { return c.api.ToolServers(ctx, c.who, p) }) {
		view, err := c.api.ToolServer(ctx, c.who, id)
		c.show("ToolServer", id, view, err)
	}
	for _, id := range c.every("Webhooks", "", func(p api.Page) (api.List, error) { return c.api.Webhooks(ctx, c.who, api.Filter{}, p) }) {
		view, err := c.api.Webhook(ctx, c.who, id)
		c.show("Webhook", id, view, err)
		c.every("WebhookDeliveries", id, func(p api.Page) (api.List, error) { return c.api.WebhookDeliveries(ctx, c.who, id, "", p) })
	}
	for _, id := range c.every("SkillBundles", "", func(p api.Page) (api.List, error) { return c.api.SkillBundles(ctx, c.who, api.SkillFilter{}, p) }) {
		view, err := c.api.SkillBundle(ctx, c.who, id)
		c.show("SkillBundle", id, view, err)
	}
	c.every("Permissions", "", func(p api.Page) (api.List, error) { return c.api.Permissions(ctx, c.who, api.Filter{}, "", p) })
	c.every("ListKeys", "", func(p api.Page) (api.List, error) { return c.api.ListKeys(ctx, c.who, p) })
	c.events(ctx, api.Filter{}, "everything")
}

// harness reads what a Workspace has as a harness.
func (c *careless) harness(ctx context.Context, workspace string) {
	for _, id := range c.every("Agents", workspace, func(p api.Page) (api.List, error) { return c.api.Agents(ctx, c.who, workspace, p) }) {
		view, err := c.api.Agent(ctx, c.who, workspace, id)
		c.show("Agent", id, view, err)
		c.every("Subagents", id, func(p api.Page) (api.List, error) { return c.api.Subagents(ctx, c.who, workspace, id, p) })
	}
	hooks, err := c.api.Hooks(ctx, c.who, workspace)
	c.show("Hooks", workspace, hooks, err)
	for _, hook := range hooks.Views {
		view, err := c.api.Hook(ctx, c.who, hook.ID)
		c.show("Hook", hook.ID, view, err)
	}
}

func (c *careless) artifact(ctx context.Context, id string) {
	view, content, err := c.api.OpenArtifact(ctx, c.who, id)
	c.show("OpenArtifact", id, view, err)
	if content != nil {
		bytes, err := io.ReadAll(content)
		c.show("OpenArtifact", id, string(bytes), errors.Join(err, content.Close()))
	}
}

func (c *careless) session(ctx context.Context, id string) {
	c.every("Messages", id, func(p api.Page) (api.List, error) { return c.api.Messages(ctx, c.who, id, p) })
	within := api.Filter{SessionID: id}
	for _, branch := range c.every("List", "branches of "+id, func(p api.Page) (api.List, error) { return c.api.List(ctx, c.who, abi.ObjectBranch, within, p) }) {
		c.every("BranchLineage", branch, func(p api.Page) (api.List, error) { return c.api.BranchLineage(ctx, c.who, branch, p) })
	}
	c.events(ctx, within, id)
}

func (c *careless) task(ctx context.Context, id string) {
	receipts, err := c.api.TaskReceipts(ctx, c.who, id)
	c.show("TaskReceipts", id, api.List{Views: receipts}, err)
	for _, r := range receipts {
		wire, err := c.api.ReceiptWire(ctx, c.who, r.ID)
		c.show("ReceiptWire", r.ID, string(wire), err)
		verdict, err := c.api.VerifyReceipt(ctx, c.who, nil, r.ID, abi.VerifyReceiptRequest{})
		c.show("VerifyReceipt", r.ID, verdict, err)
	}
	if !c.who.Can(abi.ScopeEventsInternal) {
		record, err := c.api.TaskRecord(ctx, c.who, id)
		c.show("Record", id, record, err)
		c.show("ExportTask", id, nil, c.api.ExportTask(ctx, c.who, id, io.Discard))
	}
	plan, err := c.api.Plan(ctx, c.who, id)
	c.show("Plan", id, plan, err)
	brief, cancel := context.WithTimeout(ctx, time.Millisecond) // one that waits is shown as it is
	defer cancel()
	view, err := c.api.WaitTask(brief, c.who, id)
	c.show("WaitTask", id, view, err)
	view, err = c.api.WaitSettled(brief, c.who, id)
	c.show("WaitSettled", id, view, err)
	c.events(ctx, api.Filter{TaskID: id}, id)
}

// events reads the events that a filter lets through, in each of the ways that there are.
func (c *careless) events(ctx context.Context, f api.Filter, of string) {
	last := api.Cursor(0)
	for more := true; more; {
		var events []*api.Event
		var err error
		if events, more, err = c.api.Events(ctx, c.who, f, last, 200); err != nil {
			more = false
		}
		c.show("Events", of, len(events), err)
		for _, ev := range events {
			c.show("Events", of, ev, nil)
			last = ev.At
			one, err := c.api.Event(ctx, c.who, ev.At)
			c.show("Event", of, one, err)
		}
	}
	stream, err := c.api.Follow(ctx, c.who, f, 0)
	c.show("Follow", of, nil, err)
	if err != nil {
		return
	}
	defer stream.Close()
	for at := api.Cursor(0); at < last; {
		entries, err := stream.Poll(ctx, func() {})
		if err != nil || len(entries) == 0 {
			c.show("Follow", of, nil, fmt.Errorf("the stream ended at %v of %v: %w", at, last, err))
			return
		}
		for _, entry := range entries {
			ev := entry.Show()
			c.show("Follow", of, ev, nil)
			at = ev.At
		}
	}
}

// write writes beside all that is there: the answers are of what holds content of others.
func (c *careless) write(ctx context.Context) {
	text := "x"
	said := abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &text, Visibility: abi.VisibilityPublic}}}
	for _, id := range c.all(ctx, abi.ObjectTask) {
		view, err := c.api.ReplayTask(ctx, c.who, nil, id, abi.ReplayTaskRequest{})
		c.show("ReplayTask", id, view, err)
		view, err = c.api.AppendTaskMessage(ctx, c.who, nil, id, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInterrupt, Message: &said})
		c.show("AppendTaskMessage", id, view, err)
		view, err = c.api.CancelTask(ctx, c.who, nil, id, abi.CancelTaskRequest{})
		c.show("CancelTask", id, view, err)
		view, err = c.api.ForkTask(ctx, c.who, nil, id, abi.ForkTaskRequest{})
		c.show("ForkTask", id, view, err)
	}
	for _, id := range c.all(ctx, abi.ObjectSession) {
		list, err := c.api.ReplaySession(ctx, c.who, nil, id, abi.ReplaySessionRequest{}, "")
		c.show("ReplaySession", id, list, err)
		view, err := c.api.UpdateSession(ctx, c.who, nil, id, abi.UpdateSessionRequest{})
		c.show("UpdateSession", id, view, err)
		view, err = c.api.AppendMessage(ctx, c.who, nil, id, abi.AppendMessageRequest{Message: &said})
		c.show("AppendMessage", id, view, err)
		c.inbox(ctx, id)
		view, err = c.api.ForkSession(ctx, c.who, nil, id, abi.ForkSessionRequest{})
		c.show("ForkSession", id, view, err)
		view, err = c.api.PauseSession(ctx, c.who, nil, id)
		c.show("PauseSession", id, view, err)
		view, err = c.api.ResumeSession(ctx, c.who, nil, id)
		c.show("ResumeSession", id, view, err)
		view, err = c.api.CloseSession(ctx, c.who, nil, id)
		c.show("CloseSession", id, view, err)
	}
	for _, id := range c.every("Permissions", "", func(p api.Page) (api.List, error) { return c.api.Permissions(ctx, c.who, api.Filter{}, "", p) }) {
		view, err := c.api.RespondPermission(ctx, c.who, nil, id, abi.RespondRequest{Decision: "denied"})
		c.show("RespondPermission", id, view, err)
	}
}

// inbox changes what waits for a Session's Tasks.
func (c *careless) inbox(ctx context.Context, session string) {
	view, err := c.api.PendingInjections(ctx, c.who, session)
	c.show("PendingInjections", session, view, err)
	for _, id := range c.all(ctx, abi.ObjectInjection) {
		view, err := c.api.RevokeInjection(ctx, c.who, nil, session, id)
		c.show("RevokeInjection", id, view, err)
		view, err = c.api.RevokeReminder(ctx, c.who, nil, session, id)
		c.show("RevokeReminder", id, view, err)
	}
	view, err = c.api.WakeSession(ctx, c.who, session)
	c.show("WakeSession", session, view, err)
}

// ownWrites answer with nothing but what the same caller has just sent.
var ownWrites = []string{
	"CreateKey", "RevokeKey", "CreateConnector", "UpdateConnector", "RedriveDeadLetter", "RedriveDeadLetters", "CreateWorkspace",
	"UpdateWorkspace", "CreateBranch", "MergeBranch", "AbandonBranch", "RegisterArtifact", "CreatePersona", "UpdatePersona", "CreateSkill", "UpdateSkill", "CreateMemory", "CreateQuota", "UpdateQuota",
	"ToolServer", // this node has none: those of the folder's node are read over REST
	"DeadLetter", // of the canaries' deliveries none is put aside
	"CreateVault", "UpdateVault", "StoreSecret",
	"CreateAgent", "UpdateAgent", "CloneAgent", "CreateHarness", "UpdateHarness", "CreateHook", "UpdateHook", "UpdatePlan", "UpdatePlanStep", "Inject", "ReplaceInjection", "Remind",
	"InstallPlugin", "InstallPackage", "RollbackPlugin", "EnablePlugin", "DisablePlugin", "InstallSkillBundle", "UpdateSkillBundle", "UpgradeSkillBundle", "RollbackSkillBundle", "CreateBlock", "UpdateBlock", "AddToArchive", "ImportMemory",
	"SkillBundle", // none is installed
	"PlaceHold", "ReleaseHold", "ClonePersona", "CreateToolServer", "UpdateToolServer", "CreateCustomTool", "CreateWebhook", "UpdateWebhook", "RotateWebhook", "RedriveWebhookDelivery", "RedriveWebhookDeliveries", "CreateSession", "TruncateSession", "SubmitTask", "SubmitTaskIn", "SessionsCalled",
}

// carelessNode serves a data folder to careless adapters.
func carelessNode(t *testing.T, data string) *engine.Engine {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	store, err := pebble.Open(data, pebble.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := receipt.OpenKeyring(t.TempDir(), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{DefaultPersona: "persona_echo"}, engine.Parts{
		Keys: keys, Store: store, Modules: enginetest.Guests{"echo": enginetest.Echo}, Personas: enginetest.Guests{"echo": enginetest.Echo}.Personas(), Log: quiet,
	})
	if err == nil {
		_, err = e.Bootstrap(t.Context(), nodeKey)
	}
	if err == nil {
		err = e.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = e.Drain(ctx)
	})
	return e
}

// searchCareless has a careless adapter show each kind of caller all that it can get from a data
// folder.
func searchCareless(t *testing.T, data string, hidden func(*api.Caller) places, met told) {
	t.Helper()
	e := carelessNode(t, data)
	root, err := e.Authenticate(t.Context(), nodeKey)
	if err != nil {
		t.Fatal(err)
	}
	core := api.New(e, nil)
	if _, err := core.CreateQuota(t.Context(), root, nil, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, OwnerID: root.TenantID, Limits: map[string]float64{"tasks": 1e6}}); err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(abi.Scopes(), func(s string) bool { return s == abi.ScopeEventsInternal })
	scopes := [][]string{{}, abi.DefaultScopes(), all, {abi.ScopeEventsInternal}, {abi.ScopeAll}}
	asked := map[string]bool{}
	for _, some := range scopes {
		who := *root
		who.Scopes = some
		c := &careless{api: core, who: &who, asked: asked, shown: map[string][]byte{}, seen: map[string]bool{}}
		c.read(t.Context())
		if c.who.Can("sessions:write") {
			c.write(t.Context())
		}
		for what, content := range c.shown {
			hidden(&who).search(t, met, fmt.Sprintf("%s for a caller with %v", what, some), content)
		}
	}
	surface := reflect.TypeFor[*api.API]()
	for i := range surface.NumMethod() {
		m := surface.Method(i)
		if shows(m.Type) && !asked[m.Name] && !slices.Contains(ownWrites, m.Name) {
			t.Errorf("nobody has asked %s: what it shows was not looked at", m.Name)
		}
	}
}

// shows reports whether a method answers with something that is stored.
func shows(m reflect.Type) bool {
	for i := range m.NumOut() {
		name := m.Out(i).String()
		if strings.Contains(name, "api.View") || strings.Contains(name, "api.List") || strings.Contains(name, "api.Event") || strings.Contains(name, "api.Stream") {
			return true
		}
	}
	return false
}
