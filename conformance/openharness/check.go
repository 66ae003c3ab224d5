package openharness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// The domains of checks, in the order in which they run. All but the first are in the manifest of
// a harness.
const (
	Registry  = "registry"
	Agents    = "agents"
	Skills    = "skills"
	MCP       = "mcp"
	Execution = "execution"
	Sessions  = "sessions"
	Memory    = "memory"
	Subagents = "subagents"
	Files     = "files"
	Hooks     = "hooks"
	Planning  = "planning"
)

// Domains returns the domains of checks. The id of a check begins with that of its domain and a dot.
func Domains() []string {
	return []string{Registry, Agents, Skills, MCP, Execution, Sessions, Memory, Subagents, Files, Hooks, Planning}
}

// Status is how a check ended.
type Status string

// The ways in which a check can end.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Check is one statement of the documents that can be observed from outside.
type Check struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Domain     string `json:"domain"`
	Operation  string `json:"operation"`            // what it is about, by its operation id
	Slow       bool   `json:"slow,omitzero"`        // it waits for something
	NeedsModel bool   `json:"needs_model,omitzero"` // nothing can be told without a model that answers

	run func(*probe)
}

// Result is a check and what became of it. Seen is for people: what failed, or why it was skipped.
type Result struct {
	Check  `json:",inline"`
	Status Status  `json:"status"`
	Seen   string  `json:"seen,omitzero"`
	Millis float64 `json:"duration_ms"`
	// Supported says that the harness says it supports the domain; a check that fails there
	// breaks the golden rule. What no manifest speaks of is not.
	Supported bool `json:"supported"`

	declined bool // skipped because the harness does not do this, as it says
}

// Config says which server to check, and how.
type Config struct {
	BaseURL string // without /v1
	APIKey  string
	Harness string // its id
	// Client makes the requests. nil: one of its own.
	Client *http.Client
	// Only keeps the checks whose id has one of these prefixes. Empty: all.
	Only []string
	// Quick leaves out what is slow.
	Quick bool
	// Timeout bounds each check, and Total all of them. 0: 30 s and 10 min.
	Timeout, Total time.Duration
}

// Run runs the checks one after the other and tells what happens meanwhile; tell may be nil. It
// returns an error when the server cannot be checked at all, which is told of to nobody else, and
// when ctx has ended, with what was found until then.
func Run(ctx context.Context, c Config, tell func(Event)) (Report, error) {
	if tell == nil {
		tell = func(Event) {}
	}
	var chosen []Check
	for _, check := range Checks() {
		if answers.Selected(check.ID, c.Only) {
			chosen = append(chosen, check)
		}
	}
	if len(chosen) == 0 {
		return Report{}, fmt.Errorf("no check begins with %s", strings.Join(c.Only, " or "))
	}
	s, err := newSuite(ctx, c)
	if err != nil {
		return Report{}, err
	}
	report := s.runAll(ctx, chosen, tell)
	if ctx.Err() != nil {
		return report, fmt.Errorf("the run was ended: %w", ctx.Err())
	}
	return report, nil
}

// Checks lists the checks, in the order in which they run.
func Checks() []Check {
	groups := map[string][]Check{
		Registry: registryChecks(), Agents: agentChecks(), Skills: skillChecks(), MCP: slices.Concat(mcpChecks(), toolChecks()),
		Execution: executionChecks(), Sessions: sessionChecks(), Memory: memoryChecks(), Subagents: subagentChecks(),
		Files: fileChecks(), Hooks: slices.Concat(hookChecks(), eventChecks(), webhookChecks()), Planning: planningChecks(),
	}
	var all []Check
	for _, domain := range Domains() {
		for _, check := range groups[domain] {
			check.Domain, check.ID = domain, domain+"."+check.ID
			all = append(all, check)
		}
	}
	return all
}

// suite is what the checks of one run share.
type suite struct {
	*client
	harness string
	timeout time.Duration
	total   time.Duration
	quick   bool

	supported map[string]bool   // by domain, as the manifest says
	version   string            // of the harness
	declined  map[string]string // by domain that is not supported: why it is skipped; "" if it is not
	model     *string           // why there is no model; "" when there is one, nil before it was asked
}

func newSuite(ctx context.Context, c Config) (*suite, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("base URL %q: want http://host:port or https://host", c.BaseURL)
	}
	if c.APIKey == "" || c.Harness == "" {
		return nil, fmt.Errorf("an API key and the id of a harness are needed")
	}
	doc, err := newPublished()
	if err != nil {
		return nil, err
	}
	s := &suite{client: &client{base: strings.TrimRight(c.BaseURL, "/") + "/v1/harnesses", key: c.APIKey, http: c.Client, doc: doc},
		harness: c.Harness, timeout: c.Timeout, total: c.Total, quick: c.Quick, supported: map[string]bool{}, declined: map[string]string{}}
	if s.http == nil {
		s.http = &http.Client{Transport: &http.Transport{}}
	}
	if s.timeout <= 0 {
		s.timeout = 30 * time.Second
	}
	if s.total <= 0 {
		s.total = 10 * time.Minute
	}
	return s, s.readManifest(ctx)
}

// readManifest asks what the harness says that it supports.
func (s *suite) readManifest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	a, err := s.send(ctx, request{method: http.MethodGet, path: s.at("capabilities")})
	if err != nil {
		return fmt.Errorf("asking for the capabilities of %q: %w", s.harness, err)
	}
	all, ok := a.get("capabilities").(object)
	if a.status != http.StatusOK || !ok {
		return fmt.Errorf("asking for the capabilities of %q: %d %s", s.harness, a.status, answers.Excerpt(a.body))
	}
	s.version, _ = a.get("version").(string)
	for domain := range all {
		s.supported[domain], _ = a.get("capabilities." + domain + ".supported").(bool)
	}
	return nil
}

// at returns a path below the harness.
func (s *suite) at(path string) string { return "/" + url.PathEscape(s.harness) + "/" + path }

func (s *suite) runAll(ctx context.Context, checks []Check, tell func(Event)) Report {
	bounded, cancel := context.WithTimeout(ctx, s.total)
	defer cancel()
	report := Report{Server: s.base, Harness: s.harness, Version: s.version, StartedAt: time.Now().UTC()}
	for i, check := range checks {
		if ctx.Err() != nil {
			break
		}
		tell(Event{Type: EventStarted, TestID: check.ID, TestName: check.Title})
		result := s.runOne(bounded, check)
		report.add(result)
		tell(result.event())
		tell(Event{Type: EventProgress, Completed: i + 1, Total: len(checks)})
	}
	report.Millis = answers.Millis(report.StartedAt)
	tell(report.done())
	return report
}

// runOne runs a check, unless there is a reason not to.
func (s *suite) runOne(ctx context.Context, c Check) Result {
	started := time.Now()
	result := Result{Check: c, Status: Skip, Supported: s.supported[c.Domain]}
	switch why, declined := s.reason(ctx, &c); {
	case why != "":
		result.Seen, result.declined = why, declined
	default:
		p := s.run(ctx, &c)
		result.Status, result.Seen = p.status, p.seen
	}
	result.Millis = answers.Millis(started)
	return result
}

// reason says why a check is not made; "" when it is. declined says that the harness has said so.
func (s *suite) reason(ctx context.Context, c *Check) (why string, declined bool) {
	if ctx.Err() != nil {
		return "the time for the whole run is over", false
	}
	if c.Domain != Registry && !s.supported[c.Domain] {
		if why := s.declines(ctx, c.Domain); why != "" {
			return why, true
		}
	}
	if c.Slow && s.quick {
		return "it is slow, and a quick run was asked for", false
	}
	if c.NeedsModel {
		return s.noModel(ctx), false
	}
	return "", false
}

// looks are reads that tell whether a server has a domain.
var looks = map[string]string{
	Agents: "agents", Skills: "skills", MCP: "mcp-servers", Execution: "executions", Sessions: "sessions", Memory: "agents/none/memory",
	Subagents: "agents/none/subagents", Files: "files", Hooks: "hooks", Planning: "executions/none/plan",
}

// declines returns why a domain that the manifest says is not supported is skipped; "" when the
// server does answer there, so that it can be checked.
func (s *suite) declines(ctx context.Context, domain string) string {
	if why, known := s.declined[domain]; known {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	why := ""
	if a, err := s.send(ctx, request{method: http.MethodGet, path: s.at(looks[domain])}); err == nil && a.status == http.StatusNotImplemented {
		why = "the harness says that it does not support " + domain
	}
	s.declined[domain] = why
	return why
}

// run runs one check in a goroutine of its own, so that it can be given up from any depth with
// runtime.Goexit, as testing does it.
func (s *suite) run(ctx context.Context, c *Check) *probe {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p := &probe{suite: s, ctx: ctx, status: Pass, name: uniqueName()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(p)
	}()
	<-done
	p.tidy()
	return p
}

// uniqueName returns a name that nothing on the server has.
func uniqueName() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return "oh-check-" + hex.EncodeToString(b[:])
}

// probe is a running check. Its methods that take what a server answered fail the check, and end
// it, when the answer is not as it should be.
type probe struct {
	*suite
	ctx    context.Context
	name   string // of what the check makes
	status Status
	seen   string
	made   []request // what removes what was made, in the order in which it was made
}

func (p *probe) end(s Status, format string, args ...any) {
	p.status, p.seen = s, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// fail ends the check: the server does not do as the statement says.
func (p *probe) fail(format string, args ...any) { p.end(Fail, format, args...) }

// skip ends the check: it cannot be told whether the server does.
func (p *probe) skip(format string, args ...any) { p.end(Skip, format, args...) }

// later removes something when the check has ended, however it has.
func (p *probe) later(path string) {
	p.made = append(p.made, request{method: http.MethodDelete, path: p.at(path)})
}

// tidyTime bounds how long removing something may take.
const tidyTime = 5 * time.Second

// tidy removes what the check has made, what was made last first. What cannot be removed stays:
// a check that is about removal says so.
func (p *probe) tidy() {
	for _, r := range slices.Backward(p.made) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), tidyTime)
		_, _ = p.send(ctx, r)
		cancel()
	}
}

// do sends a request about the harness. An answer that is not as the protocol's documents have it
// fails the check, whatever the check is about.
func (p *probe) do(method, path string, body any, with ...option) answer {
	return p.ask(request{method: method, path: p.at(path), body: body, with: with})
}

func (p *probe) ask(r request) answer {
	a, err := p.send(p.ctx, r)
	if err != nil {
		p.fail("%s %s: %v", r.method, r.path, err)
	}
	if err := p.doc.check(a); err != nil {
		p.fail("%s answered what is not in the protocol's documents: %v", a.to, err)
	}
	return a
}

func (p *probe) get(path string) answer            { return p.do(http.MethodGet, path, nil) }
func (p *probe) post(path string, body any) answer { return p.do(http.MethodPost, path, body) }
func (p *probe) patch(path string, body any) answer {
	return p.do(http.MethodPatch, path, body)
}
func (p *probe) remove(path string) answer { return p.do(http.MethodDelete, path, nil) }

// want fails the check unless the answer has one of some statuses. What the key may not do cannot
// be checked with it.
func (p *probe) want(a answer, statuses ...int) answer {
	switch {
	case slices.Contains(statuses, a.status):
		return a
	case a.status == http.StatusForbidden:
		p.skip("the key may not do this: %s answered 403", a.to)
	}
	p.fail("%s answered %d, want %v: %s", a.to, a.status, statuses, answers.Excerpt(a.body))
	return a
}

// ok wants an answer that says that something was done. Documents leave open which of these says so.
func (p *probe) ok(a answer) answer { return p.want(a, 200, 201, 202) }

// invalid wants a refusal of what was sent.
func (p *probe) invalid(a answer) answer { return p.want(a, 400, 422) }

// missing wants to be told that there is no such thing.
func (p *probe) missing(a answer) { p.want(a, 404) }

// gone wants something to be removed, and to be there no more.
func (p *probe) gone(path string) {
	if a := p.want(p.remove(path), 204); len(a.body) > 0 {
		p.fail("%s answered 204 with a body", a.to)
	}
	p.missing(p.get(path))
}

// text returns a member that has to be a text which is not empty.
func (p *probe) text(a answer, path string) string {
	s, ok := a.get(path).(string)
	if !ok || s == "" {
		p.fail("%s: %s is %s, want a text", a.to, path, answers.Show(a.get(path)))
	}
	return s
}

// list returns a member that has to be a list.
func (p *probe) list(a answer, path string) []any {
	all, ok := a.get(path).([]any)
	if !ok {
		p.fail("%s: %s is %s, want a list", a.to, path, answers.Show(a.get(path)))
	}
	return all
}

// equal fails the check unless two values, as JSON has them, are the same.
func (p *probe) equal(what string, got, want any) {
	if g, w := answers.Show(got), answers.Show(want); g != w {
		p.fail("%s is %s, want %s", what, g, w)
	}
}

// mostPages bounds how much of a list is looked through.
const mostPages = 50

// find looks for something in a list that has pages, or has none.
func (p *probe) find(path, member, id string) (one object, found bool) {
	joint := "?"
	if strings.Contains(path, "?") {
		joint = "&"
	}
	for i := range mostPages {
		a := p.want(p.get(fmt.Sprintf("%s%slimit=100&offset=%d", path, joint, 100*i)), 200)
		for _, entry := range p.list(a, member) {
			if doc, ok := entry.(object); ok && (doc["id"] == id || doc["label"] == id || doc["path"] == id || doc["name"] == id) {
				return doc, true
			}
		}
		if more, _ := a.get("has_more").(bool); !more {
			return nil, false
		}
	}
	p.skip("the list is too long to look through")
	return nil, false
}

// lists wants a list to have something, or not to have it.
func (p *probe) lists(path, member, id string, want bool) {
	if _, found := p.find(path, member, id); found != want {
		p.fail("GET %s lists %s: %v, want %v", path, id, found, want)
	}
}

// pages wants a list to answer page by page as it was asked to.
func (p *probe) pages(path string) {
	first := p.want(p.get(path+"?limit=1&offset=0"), 200)
	p.equal("limit", first.get("limit"), 1)
	if n := len(p.list(first, "data")); n > 1 {
		p.fail("%s has %d entries, want at most 1", first.to, n)
	}
	total, _ := first.get("total").(float64)
	p.equal("has_more", first.get("has_more"), total > 1)
	if total < 2 {
		return
	}
	second := p.want(p.get(path+"?limit=1&offset=1"), 200)
	p.equal("offset", second.get("offset"), 1)
	if answers.Show(first.get("data.0")) == answers.Show(second.get("data.0")) {
		p.fail("the second page of %s has what the first has", path)
	}
}

// pause waits a moment between two looks at something.
func (p *probe) pause() {
	select {
	case <-p.ctx.Done():
		p.fail("gave up after %v", p.timeout)
	case <-time.After(25 * time.Millisecond):
	}
}
