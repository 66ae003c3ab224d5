package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// devTeller tells what "plugin dev" does, and what the Tasks of the plugin do. Both are told as they happen, a
// thing at a time.
type devTeller struct {
	*app
	client *client.Client
	after  string // the id of the last event that was seen

	mu       sync.Mutex
	plugin   string             // the plugin whose Tasks are shown
	personas map[string]bool    // by id: whether the plugin is run by it
	running  map[string]devTask // Tasks of the plugin that have not ended
	last     string             // the Task that was told of last
	complain string             // what was told as wrong last
	explain  string             // the Persona of which it was said how to reach it
}

// devTask is a Task of the plugin.
type devTask struct{ since time.Time }

// devTimes are how long a load took.
type devTimes struct{ whole, build, install time.Duration }

// devLine is what is told as JSON, a line each.
type devLine struct {
	Type      string         `json:"type"`
	URL       string         `json:"url,omitzero"`
	APIKey    string         `json:"api_key,omitzero"`
	Folder    string         `json:"folder,omitzero"`
	Plugin    string         `json:"plugin,omitzero"`
	Version   string         `json:"version,omitzero"`
	Digest    string         `json:"digest,omitzero"`
	Persona   string         `json:"persona_id,omitzero"`
	TookMS    int64          `json:"took_ms,omitzero"`
	BuildMS   int64          `json:"build_ms,omitzero"`
	InstallMS int64          `json:"install_ms,omitzero"`
	Running   int            `json:"running,omitzero"` // Tasks that go on with a version of before
	Stage     string         `json:"stage,omitzero"`
	Message   string         `json:"message,omitzero"`
	Place     string         `json:"place,omitzero"`
	Output    string         `json:"output,omitzero"`
	Try       string         `json:"try,omitzero"`
	Task      jsontext.Value `json:"task,omitzero"`
	Event     jsontext.Value `json:"event,omitzero"`
}

func newDevTeller(a *app, c *client.Client) *devTeller {
	return &devTeller{app: a, client: c, personas: map[string]bool{}, running: map[string]devTask{}}
}

// put tells something: as JSON, or for people by text.
func (t *devTeller) put(line devLine, text func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = ""
	_ = t.print(line, text) // texts and JSON that was read can be written
}

// node tells where the plugin is loaded.
func (t *devTeller) node(d *pluginDev) {
	t.put(devLine{Type: "node", URL: t.client.Server(), APIKey: d.key, Folder: d.folder}, func() {
		where := "a node of its own"
		if d.key == "" {
			where = "the node"
		}
		t.out.Line("watching ", t.out.Paint(show.Bold, show.OneLine(d.folder)), " for ", where, " at ", t.client.Server())
	})
}

func (t *devTeller) command(command string) {
	if t.json {
		return
	}
	t.put(devLine{}, func() { t.out.Line(t.out.Paint(show.Dim, show.OneLine("$ "+command))) })
}

// expect has the Tasks of a plugin be shown.
func (t *devTeller) expect(m *manifest.Manifest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plugin != m.Name {
		t.plugin, t.personas = m.Name, map[string]bool{}
	}
	t.personas[abi.IDPrefix(abi.ObjectPersona)+m.Name] = true
}

// loaded tells of a version that new Tasks run.
func (t *devTeller) loaded(d *pluginDev, of *pluginSource, p *abi.Plugin, took devTimes) {
	t.mu.Lock()
	t.complain = ""
	running, first := len(t.running), t.explain != p.Name+" "+p.PersonaID
	t.explain = p.Name + " " + p.PersonaID
	t.mu.Unlock()
	t.put(devLine{Type: "loaded", Plugin: p.Name, Version: p.Version, Digest: p.Digest, Persona: p.PersonaID, Running: running,
		TookMS: took.whole.Milliseconds(), BuildMS: took.build.Milliseconds(), InstallMS: took.install.Milliseconds()}, func() {
		said := fmt.Sprintf(" in %d ms", took.whole.Milliseconds())
		if running > 0 {
			said += "; " + numbered(running, "task") + " that run keep the version that they began with"
		}
		t.out.Line(t.out.Paint(show.Green, "loaded"), " ", t.out.Paint(show.Bold, p.Version), said)
		if first {
			t.howToReach(d, p, of.means)
			t.showWants(of.means)
		}
	})
}

// howToReach says how to submit a Task to the plugin.
func (t *devTeller) howToReach(d *pluginDev, p *abi.Plugin, m *manifest.Manifest) {
	if p.PersonaID == "" {
		return
	}
	t.out.Line("send it a task, in another terminal:")
	args, text := strings.CutSuffix(reaching(p, m), " TEXT")
	if args += " --follow"; text {
		args += ` "Hello"`
	}
	command := self() + " task submit " + show.OneLine(args)
	if d.key == "" {
		t.out.Line("  ", command, " --server ", t.client.Server())
		return
	}
	t.out.Line("  export WHARF_SERVER=", t.client.Server(), " WHARF_API_KEY=", d.key)
	t.out.Line("  ", command)
}

// unchanged tells that a save has made nothing new.
func (t *devTeller) unchanged(v *devVersion, built *building.Built) {
	t.settled()
	t.put(devLine{Type: "unchanged", Version: v.version, Digest: v.digest, BuildMS: built.Took.Milliseconds()}, func() {
		t.out.Line("the module is as it was: ", v.version, " stays")
	})
}

// chased tells that builds go on without a save.
func (t *devTeller) chased() {
	const message = "each build changes files that are watched, and so makes for another: name the sources in build.watch of the manifest"
	t.put(devLine{Type: "waiting", Message: message}, func() {
		t.out.Line(t.out.Paint(show.Yellow, "waiting: "), message)
	})
}

func (t *devTeller) complained() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complain != ""
}

func (t *devTeller) settled() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.complain = ""
}

// news reports whether a complaint is another than the one before.
func (t *devTeller) news(complaint string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	is := t.complain != complaint
	t.complain = complaint
	return is
}

// waiting tells that the node is away, once.
func (t *devTeller) waiting(err error) {
	if !t.news("away") {
		return
	}
	t.put(devLine{Type: "waiting", Message: err.Error()}, func() {
		t.out.Line(t.out.Paint(show.Yellow, "waiting: "), show.OneLine(err.Error()), "; trying again until it does")
	})
}

// place is where compilers say that something is wrong.
var place = regexp.MustCompile(`(?m)^\s*(?:--> )?([^\s:][^:\n]*:[0-9]+(?::[0-9]+)?)`)

// failed tells why nothing was loaded. What is wrong with sources is told after each save, all else once.
func (t *devTeller) failed(err error) {
	failure, ok := errors.AsType[*devFailure](err)
	if !ok {
		failure = &devFailure{stage: "install", err: err}
	}
	message, output, try := failure.said(t.plugin)
	if !t.news(failure.stage+message) && output == "" {
		return
	}
	at := ""
	if found := place.FindStringSubmatch(output + message); found != nil {
		at = found[1]
	}
	t.put(devLine{Type: "failed", Stage: failure.stage, Message: message, Place: at, Output: output, Try: try}, func() {
		t.out.Line(t.out.Paint(show.Red, failure.stage+": "), show.OneLine(message))
		if output != "" {
			t.out.Block("  ", output)
		}
		if try != "" {
			t.out.Line("  try  ", show.OneLine(try))
		}
	})
}

func (t *devTeller) submitted(task *client.Doc[abi.Task]) {
	t.put(devLine{Type: "task", Task: task.JSON}, func() {})
}

// begin finds out where the events of the node are now, so that what comes is shown and what was is not: a
// Session of its own is the last that happened.
func (t *devTeller) begin(ctx context.Context) error {
	session, err := newSession(ctx, t.client, abi.CreateSessionRequest{}, "")
	if err != nil {
		return err
	}
	events, err := client.List[abi.Event](ctx, t.client, client.Get("/v1/sessions/{}/events", session.Value.ID).Most(1))
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return errors.New("the node tells no event of a session that was just made")
	}
	t.after = events[0].Value.ID
	return nil
}

// follow shows what Tasks of the plugin do, until ctx ends. A node that goes away is asked again until it is back.
func (t *devTeller) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := t.stream(ctx)
		if refused, ok := errors.AsType[*client.Refused](err); ok {
			if denied(err) {
				t.failed(&devFailure{stage: "events", err: err})
				return
			}
			if refused.Status == http.StatusGone || refused.Status == http.StatusBadRequest { // another log
				_ = t.begin(ctx) // or the next time
			}
		}
		paused(ctx, time.Second)
	}
}

func (t *devTeller) stream(ctx context.Context) error {
	for e, err := range t.client.Follow(ctx, client.Stream{Path: "/v1/events/stream", After: t.after}) {
		if err != nil {
			return err
		}
		t.after = e.Value.ID
		if t.mine(ctx, &e.Value) {
			t.event(&e)
		}
	}
	return nil
}

// mine reports whether an event is of a Task of the plugin.
func (t *devTeller) mine(ctx context.Context, e *abi.Event) bool {
	id := e.TaskID
	if id == "" && e.Resource.Object == abi.ObjectTask {
		id = e.Resource.ID
	}
	if id == "" {
		return false
	}
	t.mu.Lock()
	_, known := t.running[id]
	t.mu.Unlock()
	if known || e.Event != abi.EventTaskSubmitted {
		return known
	}
	var told struct {
		Task abi.Task `json:"task"`
	}
	if json.Unmarshal(e.Payload, &told) != nil || !t.runs(ctx, told.Task.PersonaID) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[id] = devTask{since: e.CreatedAt}
	return true
}

// runs reports whether Tasks of a Persona run the plugin.
func (t *devTeller) runs(ctx context.Context, persona string) bool {
	t.mu.Lock()
	plugin := t.plugin
	is, known := t.personas[persona]
	t.mu.Unlock()
	if known || persona == "" || plugin == "" {
		return is
	}
	doc, err := client.Do[abi.Persona](ctx, t.client, client.Get("/v1/personas/{}", persona))
	if err != nil {
		return false
	}
	entry, _, _ := strings.Cut(doc.Value.EntryWorkflow, "#")
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plugin == plugin {
		t.personas[persona] = entry == plugin
	}
	return entry == plugin
}

// event shows an event of a Task. Above those of another Task than before stands which it is.
func (t *devTeller) event(e *client.Doc[abi.Event]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := e.Value.TaskID
	if id == "" {
		id = e.Value.Resource.ID
	}
	since := t.running[id].since
	_ = t.print(devLine{Type: "event", Event: e.JSON}, func() { // JSON that was read can be written
		if t.last != id {
			t.out.Line(t.out.Paint(show.Bold, id))
		}
		t.out.Event(&e.Value, since)
		t.out.FailedIn(&e.Value)
	})
	t.last = id
	if endOf(&e.Value, id) != "" {
		delete(t.running, id)
	}
}
