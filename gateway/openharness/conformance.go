package openharness

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// Suite checks whether a harness does as the protocol's documents say.
type Suite struct {
	// Domains are what can be checked by itself.
	Domains []string
	// Run checks a harness of this node, over HTTP. It tells of each event of the run, as the
	// protocol has it, but for the last one, which is made from what it returns. An error says
	// that nothing can be told of the harness: that it could not be asked, or that ctx has ended.
	Run func(ctx context.Context, run SuiteRun, tell func(event jsontext.Value)) (SuiteResult, error)
}

// SuiteRun says what to check, and as whom.
type SuiteRun struct {
	APIKey  string
	Harness string
	Domains []string // empty: all
	Quick   bool     // leave out what is slow
}

// SuiteResult is what a run has found.
type SuiteResult struct {
	Verdict    string // pass, fail or partial
	Passed     int
	Failed     int
	Skipped    int
	Violations int // of the golden rule: a domain that a harness says it supports has no failing check
}

func (a *Adapter) conformanceRoutes() []gateway.Route {
	const reads = "harnesses:read"
	run := post("conformance/run", "conformance.run", "harnesses:write", "Check a harness", statusAccepted, a.at(a.runConformance))
	run.Body, run.Idempotent = gateway.BodyOptionalJSON, false
	stream := read("conformance/run/stream", "conformance.stream", reads, "Stream what a run of checks finds", a.at(a.streamConformance))
	stream.Or, stream.Media = "POST", gateway.MediaEventStream
	return []gateway.Route{
		run, stream,
		read("conformance/results", "conformance.results", reads, "List what runs of checks have found, newest first", a.at(a.conformanceResults)),
		read("conformance/status", "conformance.status", reads, "Say what the last run of checks has found", a.at(a.conformanceStatus)),
	}
}

// runs are the runs that go on, one for each harness. It is safe for concurrent use.
type runs struct {
	mu    sync.Mutex
	going map[string]*conformanceRun // by Workspace
}

// begin adds a run, unless one of the harness goes on.
func (rs *runs) begin(workspace string, run *conformanceRun) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.going[workspace] != nil {
		return false
	}
	if rs.going == nil {
		rs.going = map[string]*conformanceRun{}
	}
	rs.going[workspace] = run
	return true
}

func (rs *runs) end(workspace string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.going, workspace)
}

// of returns the run of a harness that goes on, nil when none does.
func (rs *runs) of(workspace string) *conformanceRun {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.going[workspace]
}

// conformanceRun is a run and what it has told so far. Readers of it are not waited for.
type conformanceRun struct {
	id      string
	begun   time.Time
	mu      sync.Mutex
	events  []jsontext.Value
	over    bool
	changed chan struct{} // closed when there is more
}

func newConformanceRun() *conformanceRun {
	return &conformanceRun{id: "run_" + strings.ToLower(rand.Text()), begun: time.Now(), changed: make(chan struct{})}
}

// tell adds an event; last says that none comes after it.
func (run *conformanceRun) tell(event jsontext.Value, last bool) {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.events, run.over = append(run.events, event.Clone()), last
	close(run.changed)
	run.changed = make(chan struct{})
}

// after returns the events from a place on, whether they are the last ones, and what is closed when
// there is more.
func (run *conformanceRun) after(n int) (events []jsontext.Value, over bool, more <-chan struct{}) {
	run.mu.Lock()
	defer run.mu.Unlock()
	return run.events[min(n, len(run.events)):], run.over, run.changed
}

type runConformanceRequest struct {
	Categories []string `json:"categories"`
	Quick      bool     `json:"quick"`
}

type runConformanceAnswer struct {
	RunID     string `json:"run_id"`
	Status    string `json:"status"`
	StreamURL string `json:"stream_url"`
}

// runConformance begins a run, which asks this node what the caller could ask it.
func (a *Adapter) runConformance(r *gateway.Request, h *abi.Harness) error {
	req, err := a.conformanceRequest(r)
	if err != nil {
		return err
	}
	_, key, _ := strings.Cut(r.Header("Authorization"), " ")
	run := newConformanceRun()
	if !a.runs.begin(h.WorkspaceID, run) {
		return coded(abi.CodeConflict, 409, "a run of checks of the harness %q goes on: wait until it has ended", h.Name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	unhook := context.AfterFunc(r.Live(), cancel)
	c := conduct{a: a, h: h, run: run, caller: r.Caller, report: r.Reporter(),
		asked: SuiteRun{APIKey: strings.TrimSpace(key), Harness: h.Name, Domains: req.Categories, Quick: req.Quick}}
	go func() {
		defer cancel()
		defer unhook()
		c.toEnd(ctx)
	}()
	return send(r, statusAccepted, runConformanceAnswer{run.id, "running", prefix + "/" + h.Name + "/conformance/run/stream?run_id=" + run.id})
}

func (a *Adapter) conformanceRequest(r *gateway.Request) (req runConformanceRequest, err error) {
	if a.has.Suite.Run == nil {
		return req, abi.Errorf(abi.CodeServiceUnavailable, "this node has no checks to run")
	}
	if _, err := r.Decode(&req); err != nil {
		return req, err
	}
	for _, one := range req.Categories {
		if !slices.Contains(a.has.Suite.Domains, one) {
			return req, abi.InvalidParam("categories", "%q is not one of %s", one, strings.Join(a.has.Suite.Domains, ", "))
		}
	}
	return req, nil
}

// conduct is a run and what it needs when its request is over.
type conduct struct {
	a      *Adapter
	h      *abi.Harness
	run    *conformanceRun
	asked  SuiteRun
	caller *api.Caller
	report func(error)
}

type doneEvent struct {
	Type   string     `json:"type"`
	Result doneResult `json:"result"`
	Error  string     `json:"error,omitzero"` // why the run did not come to its end
}

type doneResult struct {
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	Skipped    int     `json:"skipped"`
	DurationMS float64 `json:"duration_ms"`
}

// toEnd makes the run, keeps what it has found and tells its end. A run that did not come to its
// end is not kept. Whoever is told of the end finds the run kept, and can begin another.
func (c *conduct) toEnd(ctx context.Context) {
	found, err := c.a.has.Suite.Run(ctx, c.asked, func(event jsontext.Value) { c.run.tell(event, false) })
	done := doneEvent{Type: "done", Result: doneResult{found.Passed, found.Failed, found.Skipped, float64(time.Since(c.run.begun).Milliseconds())}}
	if done.Error = endedBy(ctx, err); done.Error == "" {
		if err := c.keep(context.WithoutCancel(ctx), found, &done); err != nil {
			c.report(err)
			done.Error = "what the run has found could not be kept"
		}
	}
	c.a.runs.end(c.h.WorkspaceID)
	c.run.tell(appendJSON(nil, &done), true)
}

// endedBy says why a run did not come to its end; "" for one that did.
func endedBy(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return "the node drains"
	case err != nil:
		return err.Error()
	}
	return ""
}

// keptName is the name of the Artifacts that hold what runs have found: their events, one a line.
const keptName = "conformance-run.json"

const mediaLines = "application/x-ndjson"

// keptRun is what is kept of a run with its Artifact, as the protocol shows it.
type keptRun struct {
	ID         string   `json:"id"`
	Version    string   `json:"harness_version"`
	Result     string   `json:"result"` // pass, fail or partial
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"`
	Skipped    int      `json:"skipped"`
	Violations int      `json:"golden_rule_violations"`
	At         abi.Time `json:"run_at"`
	artifact   string
}

// keep registers an Artifact of the harness's Workspace. A run of some domains says nothing of the
// others, so it is never a pass.
func (c *conduct) keep(ctx context.Context, found SuiteResult, done *doneEvent) error {
	kept := keptRun{ID: c.run.id, Version: c.a.versionOf(c.h), Result: found.Verdict, Passed: found.Passed, Failed: found.Failed,
		Skipped: found.Skipped, Violations: found.Violations, At: abi.At(c.run.begun)}
	if kept.Result == verdictPass && len(c.asked.Domains) > 0 {
		kept.Result = verdictPartial
	}
	about, err := json.Marshal(&kept, json.Deterministic(true))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	events, _, _ := c.run.after(0)
	for _, event := range events {
		text.Write(event)
		text.WriteByte('\n')
	}
	text.Write(appendJSON(nil, done))
	_, err = c.a.core.RegisterArtifact(ctx, c.caller, nil, abi.RegisterArtifactRequest{Kind: abi.ArtifactOther, MimeType: mediaLines,
		Visibility: abi.VisibilityPublic, Name: keptName, WorkspaceID: c.h.WorkspaceID, Metadata: about}, &text)
	return err
}

// The results of runs.
const (
	verdictPass    = "pass"
	verdictPartial = "partial"
)

// keptRuns returns the runs of a harness that are kept, newest first.
func (a *Adapter) keptRuns(r *gateway.Request, h *abi.Harness) ([]keptRun, error) {
	all, err := gather(func(p api.Page) (api.List, error) {
		return a.core.List(r.Context(), r.Caller, abi.ObjectArtifact, api.Filter{WorkspaceID: h.WorkspaceID}, p)
	}, func(view api.View) (kept keptRun, ok bool, err error) {
		of, err := as[abi.Artifact](view)
		if err != nil || of.Name != keptName || of.TaskID != "" || json.Unmarshal(of.Metadata, &kept) != nil {
			return kept, false, err
		}
		kept.artifact = of.ID
		return kept, kept.ID != "", nil
	})
	slices.SortStableFunc(all, func(x, y keptRun) int { return y.At.Compare(x.At) })
	return all, err
}

func (a *Adapter) conformanceResults(r *gateway.Request, h *abi.Harness) error {
	all, err := a.keptRuns(r, h)
	if err != nil {
		return err
	}
	return page(r, all)
}

type conformanceStatusAnswer struct {
	Status             string   `json:"status"`
	CertifiedVersion   string   `json:"certified_version,omitzero"`
	PassRate           float64  `json:"pass_rate"`
	LastRunAt          abi.Time `json:"last_run_at,omitzero"`
	SkillLoadingMethod string   `json:"skill_loading_method,omitzero"`
	SupportsFileGen    bool     `json:"supports_file_gen"`
	GoldenRule         bool     `json:"golden_rule_compliant"`
}

// standingOf is what is said of a harness whose last run has this result.
var standingOf = map[string]string{verdictPass: "certified", verdictPartial: "partial", "fail": "failing"}

func (a *Adapter) conformanceStatus(r *gateway.Request, h *abi.Harness) error {
	all, err := a.keptRuns(r, h)
	if err != nil {
		return err
	}
	m, err := a.manifest(r, h)
	if err != nil {
		return err
	}
	said := conformanceStatusAnswer{Status: "not_tested", SupportsFileGen: slices.Contains(m.Execution.Operations, "artifacts")}
	if m.Skills.Supported {
		said.SkillLoadingMethod = "api"
	}
	if len(all) > 0 {
		last := &all[0]
		said.Status, said.LastRunAt, said.GoldenRule = standingOf[last.Result], last.At, last.Violations == 0
		said.PassRate = float64(last.Passed) / float64(max(1, last.Passed+last.Failed))
	}
	if i := slices.IndexFunc(all, func(one keptRun) bool { return one.Result == verdictPass }); i >= 0 {
		said.CertifiedVersion = all[i].Version
	}
	return send(r, statusOK, &said)
}

// streamConformance tells what a run finds, from its beginning or after what a client has been
// told. The id of an event is that of its run and how many came up to it.
func (a *Adapter) streamConformance(r *gateway.Request, h *abi.Harness) error {
	id, n, err := conformanceResumed(r)
	if err != nil {
		return err
	}
	run, err := a.conformanceRun(r, h, id)
	if err != nil {
		return err
	}
	if r.HTTP.IsHead() {
		r.HTTP.SetContentType(gateway.MediaEventStream)
		return nil
	}
	reader := &runReader{run: run, told: n, who: r.Reauthenticate(), scope: r.Route.Scope, heartbeat: a.cfg.Heartbeat}
	return r.Stream(reader.copy)
}

// conformanceResumed reads which run is asked for, "" for the last one, and after which event.
func conformanceResumed(r *gateway.Request) (id string, n int, err error) {
	id = r.Query("run_id")
	last := r.Header("Last-Event-ID")
	if last == "" {
		return id, 0, nil
	}
	of, nth, _ := strings.Cut(last, ".")
	n, err = strconv.Atoi(nth)
	if err != nil || n < 1 || id != "" && id != of {
		return "", 0, abi.InvalidParam("Last-Event-ID", "%q is no id of an event of this stream", last)
	}
	return of, n, nil
}

// conformanceRun returns a run that goes on or is kept.
func (a *Adapter) conformanceRun(r *gateway.Request, h *abi.Harness, id string) (*conformanceRun, error) {
	if going := a.runs.of(h.WorkspaceID); going != nil && (id == "" || id == going.id) {
		return going, nil
	}
	all, err := a.keptRuns(r, h)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if id == "" || all[i].ID == id {
			return a.told(r, &all[i])
		}
	}
	if id == "" {
		return nil, abi.Errorf(abi.CodeResourceNotFound, "the harness %q was not checked yet", h.Name)
	}
	return nil, abi.Errorf(abi.CodeResourceNotFound, "there is no run %q of the harness %q", id, h.Name)
}

// mostTold bounds what is read of a run that is kept, in bytes.
const mostTold = 8 << 20

// told returns a run that has ended, with what it has told.
func (a *Adapter) told(r *gateway.Request, kept *keptRun) (*conformanceRun, error) {
	_, content, err := a.core.OpenArtifact(r.Context(), r.Caller, kept.artifact)
	if err != nil {
		return nil, err
	}
	run := &conformanceRun{id: kept.ID, over: true}
	if content == nil {
		return run, nil
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, mostTold))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		run.events = append(run.events, bytes.TrimSpace(line))
	}
	return run, nil
}

// runReader copies what a run tells to a client.
type runReader struct {
	run       *conformanceRun
	told      int
	who       func() (*api.Caller, error)
	scope     string
	heartbeat time.Duration
}

// copy returns when everything is told, the client has left, its credential is taken away, or the
// node drains.
func (rd *runReader) copy(ctx context.Context, out *gateway.Stream) {
	beat := time.NewTicker(rd.heartbeat)
	defer beat.Stop()
	for {
		events, over, more := rd.run.after(rd.told)
		if rd.write(out, events) != nil || over {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		case <-beat.C:
			if !rd.alive(out) {
				return
			}
		}
	}
}

func (rd *runReader) write(out *gateway.Stream, events []jsontext.Value) error {
	var b []byte
	for _, event := range events {
		var kind struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(event, &kind) // it is one of ours
		rd.told++
		b = frame(b, rd.run.id+"."+strconv.Itoa(rd.told), kind.Type, event)
	}
	_, err := out.Write(b)
	return err
}

// alive says that a quiet stream lives, and finds out whether somebody who may reads it.
func (rd *runReader) alive(out *gateway.Stream) bool {
	caller, err := rd.who()
	if err == nil {
		err = gateway.Require(caller, rd.scope)
	}
	if err != nil || out.Gone() {
		return false
	}
	_, err = io.WriteString(out, ": \n\n")
	return err == nil
}
