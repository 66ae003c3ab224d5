package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// Level is a conformance level (docs/protocol.md, 10).
type Level string

// The levels that can be checked. Every server has to reach Core; the others come
// on top of it, each by itself.
const (
	LevelCore     Level = "core"
	LevelReceipts Level = "receipts"
	LevelReplay   Level = "replay"
	LevelExtended Level = "extended"
	// LevelAll is all of them.
	LevelAll Level = "all"
)

// Strength says how binding a check's statement is.
type Strength string

// The strengths of statements.
const (
	Must   Strength = "MUST"
	Should Strength = "SHOULD"
)

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
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Level    Level    `json:"level"`
	Section  string   `json:"section"` // the heading of the published protocol, or "REST: …" for its OpenAPI document
	Strength Strength `json:"strength"`

	run func(*probe)
}

// Result is a check and what became of it. Seen is for people: what failed, why
// it was skipped, or what a passing check measured.
type Result struct {
	Check  `json:",inline"`
	Status Status  `json:"status"`
	Seen   string  `json:"seen,omitzero"`
	Millis float64 `json:"duration_ms"`
}

// Config says which server to check, and how.
type Config struct {
	BaseURL string // without a trailing /v1
	APIKey  string // must read and write Sessions, Tasks, Messages, and read the rest
	// WorkspaceID is where Sessions are made. Empty: the first one that the
	// server lists.
	WorkspaceID string
	// PersonaID is given to every Task. Empty: the server's default.
	PersonaID string
	// AskingPersonaID is a Persona whose Tasks ask for input and complete when they get
	// it. Empty: what needs one is skipped. AskingInput is the JSON of what they are
	// given; a Message if it is empty.
	AskingPersonaID, AskingInput string
	// ClientID and ClientSecret are those of an OAuth2 client with the rights of
	// APIKey. Empty: what needs them is skipped.
	ClientID, ClientSecret string
	// Timeout bounds each check, and the life of each Task it waits for. 0: 30 s.
	Timeout time.Duration
	// Only keeps the checks whose id has one of these prefixes. Empty: all.
	Only []string
}

// Run runs the checks of a level and reports on each, in the order of the list.
// It returns an error only when the server cannot be checked at all: the
// configuration is unusable or selects nothing, or no Workspace can be found.
func Run(ctx context.Context, c Config, level Level) (Report, error) {
	checks, err := Checks(level)
	if err != nil {
		return Report{}, err
	}
	s, err := newSuite(ctx, c)
	if err != nil {
		return Report{}, err
	}
	report := Report{Server: s.base, Level: level, StartedAt: time.Now().UTC()}
	for _, check := range checks {
		if answers.Selected(check.ID, c.Only) {
			report.add(s.run(ctx, check))
		}
	}
	if len(report.Results) == 0 {
		return Report{}, fmt.Errorf("no check of level %s begins with %s", level, strings.Join(c.Only, " or "))
	}
	report.Millis = answers.Millis(report.StartedAt)
	return report, nil
}

// Checks lists the checks of a level, in the order in which they run.
func Checks(level Level) ([]Check, error) {
	switch level {
	case LevelCore:
		return slices.Concat(coreChecks(), observedChecks()), nil
	case LevelReceipts:
		return receiptChecks(), nil
	case LevelReplay:
		return replayChecks(), nil
	case LevelExtended:
		return extendedChecks(), nil
	case LevelAll:
		return slices.Concat(coreChecks(), extendedChecks(), receiptChecks(), replayChecks(), observedChecks()), nil
	}
	return nil, fmt.Errorf("level %q is none of %s, %s, %s, %s and %s", level, LevelCore, LevelExtended, LevelReceipts, LevelReplay, LevelAll)
}

// suite is what the checks of one run share.
type suite struct {
	*client
	workspace string
	persona   string
	asking    string
	question  string // what asking is given, as JSON
	timeout   time.Duration

	clientID, clientSecret string
}

func newSuite(ctx context.Context, c Config) (*suite, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("base URL %q: want http://host:port or https://host", c.BaseURL)
	}
	if c.APIKey == "" {
		return nil, fmt.Errorf("an API key is needed")
	}
	s := &suite{
		client: &client{
			base: strings.TrimRight(c.BaseURL, "/"), key: c.APIKey, seen: newObserver(c.APIKey),
			http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		},
		workspace: c.WorkspaceID, persona: c.PersonaID, asking: c.AskingPersonaID, question: c.AskingInput, timeout: c.Timeout,
		clientID: c.ClientID, clientSecret: c.ClientSecret,
	}
	if s.timeout <= 0 {
		s.timeout = 30 * time.Second
	}
	if s.workspace == "" {
		if s.workspace, err = s.firstWorkspace(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// firstWorkspace asks the server for a Workspace. Listing them belongs to the
// Extended level, so a Core server may need to be told of one.
func (s *suite) firstWorkspace(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := s.send(ctx, request{method: "GET", path: "/v1/workspaces?limit=1"})
	if err != nil {
		return "", fmt.Errorf("looking for a Workspace: %w", err)
	}
	for _, ws := range r.data() {
		if id, ok := ws["id"].(string); ok {
			return id, nil
		}
	}
	return "", fmt.Errorf("no Workspace was named, and the server lists none (GET /v1/workspaces: %d %s)", r.status, answers.Excerpt(r.body))
}

// run runs one check in a goroutine of its own, so that it can be given up from
// any depth with runtime.Goexit, as testing does it.
func (s *suite) run(ctx context.Context, c Check) Result {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p := &probe{suite: s, ctx: ctx, status: Pass}
	started := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(p)
	}()
	<-done
	return Result{Check: c, Status: p.status, Seen: p.seen, Millis: answers.Millis(started)}
}

// probe is a running check. Its methods that take what a server answered fail
// the check, and end it, when the answer is not as it should be.
type probe struct {
	*suite
	ctx    context.Context
	status Status
	seen   string
}

func (p *probe) end(s Status, format string, args ...any) {
	p.status, p.seen = s, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// fail ends the check: the server does not do as the statement says.
func (p *probe) fail(format string, args ...any) { p.end(Fail, format, args...) }

// skip ends the check: it cannot be told whether the server does.
func (p *probe) skip(format string, args ...any) { p.end(Skip, format, args...) }

// note records what a check that goes on has seen.
func (p *probe) note(format string, args ...any) { p.seen = fmt.Sprintf(format, args...) }

// do sends a request and fails the check when no answer comes.
func (p *probe) do(r request) response {
	answer, err := p.send(p.ctx, r)
	if err != nil {
		p.fail("%s %s: %v", r.method, r.path, err)
	}
	return answer
}

func (p *probe) get(path string) response { return p.do(request{method: "GET", path: path}) }

func (p *probe) post(path string, body any) response {
	return p.do(request{method: "POST", path: path, body: body})
}

// want fails the check unless the answer has one of the given statuses.
func (p *probe) want(r response, statuses ...int) response {
	for _, s := range statuses {
		if r.status == s {
			return r
		}
	}
	p.fail("%s answered %d, want %v: %s", r.to, r.status, statuses, answers.Excerpt(r.body))
	return r
}

// wantError fails the check unless the answer is an error of the given code.
func (p *probe) wantError(r response, status int, code string) {
	p.want(r, status)
	if got := r.errorCode(); got != code {
		p.fail("%s answered %d with code %q, want %q", r.to, r.status, got, code)
	}
}

// text returns a member that has to be a string that is not empty.
func (p *probe) text(doc object, member string) string {
	s, ok := doc[member].(string)
	if !ok || s == "" {
		p.fail("%s: %q is %s, want a string", describe(doc), member, answers.Show(doc[member]))
	}
	return s
}

// oneOf returns a string member that has to have one of the given values.
func (p *probe) oneOf(doc object, member string, values ...string) string {
	got := p.text(doc, member)
	for _, v := range values {
		if got == v {
			return got
		}
	}
	p.fail("%s: %q is %q, want one of %s", describe(doc), member, got, strings.Join(values, ", "))
	return got
}

// equal fails the check unless two values, as JSON has them, are the same.
func (p *probe) equal(what string, got, want any) {
	if g, w := answers.Show(got), answers.Show(want); g != w {
		p.fail("%s: got %s, want %s", what, g, w)
	}
}

// pause waits a moment between two looks at a resource.
func (p *probe) pause() {
	select {
	case <-p.ctx.Done():
		p.fail("gave up after %v", p.timeout)
	case <-time.After(20 * time.Millisecond):
	}
}
