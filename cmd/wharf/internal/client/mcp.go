package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/plainly"
)

// Pipe passes the messages of a client of the Model Context Protocol that speaks over a pipe, one a line,
// to a node that speaks over HTTP, and the node's to the client. It reads of a message what HTTP has
// to say of it, and changes none but a call that is sent where a request stands for itself: that has a key, so
// that it can be sent again.
type Pipe struct {
	// Broken is told why the node does not answer, before it is asked again.
	Broken func(error)

	c     *Client
	out   io.Writer
	nonce string // what this pipe's keys begin with

	writing  sync.Mutex
	renewing sync.Mutex

	mu         sync.Mutex
	reached    bool // the node has answered once
	session    string
	version    string   // that was agreed on, or that the last request has named
	initialize *mcpLine // what has opened the session
	listening  bool
	asked      map[string]context.CancelFunc // what is being answered, by id
	all        sync.WaitGroup
	ended      chan struct{} // closed when the client says no more
	failed     chan error
}

// NewPipe returns a pipe to the node that writes to out.
func (c *Client) NewPipe(out io.Writer) *Pipe {
	return &Pipe{Broken: func(error) {}, c: c, out: out, nonce: rand.Text(), asked: map[string]context.CancelFunc{}, ended: make(chan struct{}), failed: make(chan error, 1)}
}

// mostWaiting is how many messages wait for a node that is away.
const mostWaiting = 1000

// mcpPath is where a node serves the protocol.
const mcpPath = "/mcp"

// firstStateless is the first revision in which a request stands for itself.
const firstStateless = "2026-07-28"

// methodListen is the request that is answered when its client has gone.
const methodListen = "subscriptions/listen"

// versionMeta is the member of _meta by which a request names its revision.
const versionMeta = "io.modelcontextprotocol/protocolVersion"

// keyMeta is the member of _meta that makes a call one that may be sent again.
const keyMeta = "wharf.dev/idempotencyKey"

// mcpLine is a message, as far as the pipe reads it.
type mcpLine struct {
	text   []byte
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Name      string                    `json:"name"`
		URI       string                    `json:"uri"`
		TaskID    string                    `json:"taskId"`
		RequestID jsontext.Value            `json:"requestId"`
		Meta      map[string]jsontext.Value `json:"_meta"`
	} `json:"params"`
	Result struct {
		ProtocolVersion string `json:"protocolVersion"`
	} `json:"result"`
}

// readLine reads a message. A member of another type than is looked for is the node's to refuse.
func readLine(text []byte) (*mcpLine, bool) {
	m := &mcpLine{}
	lenient := jsontext.AllowDuplicateNames(true)
	_ = json.Unmarshal(text, m, lenient)
	m.text = text // last: null empties all that it is read into
	return m, jsontext.Value(text).IsValid(lenient)
}

func (m *mcpLine) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && m.ID.Kind() != 'n' }

// names returns the revision that the message itself names, "" for none.
func (m *mcpLine) names() (version string) {
	_ = json.Unmarshal(m.Params.Meta[versionMeta], &version)
	return version
}

// Run passes messages on until in ends, and returns when what was asked by then is answered or the context
// ends. The error is an [*Unreachable] when the node has never answered.
func (p *Pipe) Run(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte, mostWaiting)
	read := make(chan error, 1)
	go func() { read <- p.read(ctx, in, lines) }()
	go func() {
		for line := range lines {
			p.take(ctx, line)
		}
		p.all.Wait()
		p.leave(ctx)
		p.failed <- <-read
	}()
	select {
	case err := <-p.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read reads lines until the client says no more.
func (p *Pipe) read(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	defer close(lines)
	defer close(p.ended)
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 0, 64<<10), maxLine)
	for scan.Scan() {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		select {
		case lines <- bytes.Clone(line):
		case <-ctx.Done():
			return nil
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	return nil
}

// take passes on one message of the client's: requests beside one another, all else in order.
func (p *Pipe) take(ctx context.Context, line []byte) {
	m, ok := readLine(line)
	if !ok {
		p.refuse(jsontext.Value("null"), -32700, "this line is not JSON")
		return
	}
	if m.Method == "notifications/cancelled" && p.callOff(m) {
		return
	}
	if !m.isRequest() {
		p.ask(ctx, m, func() {})
		if m.Method == "notifications/initialized" {
			p.listen(ctx)
		}
		return
	}
	within, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	p.asked[string(m.ID)] = cancel
	p.mu.Unlock()
	p.keyed(m)
	sent := make(chan struct{})
	p.all.Go(func() {
		var once sync.Once
		onWay := func() { once.Do(func() { close(sent) }) }
		defer onWay()
		if m.Method == methodListen {
			defer p.untilEnd(cancel)()
		}
		p.ask(within, m, onWay)
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, string(m.ID))
	})
	select { // what comes later may be about this one
	case <-sent:
	case <-within.Done():
	}
}

// callOff ends a request where no session has it: the node sees that nobody waits for the answer.
func (p *Pipe) callOff(m *mcpLine) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != "" {
		return false
	}
	if cancel := p.asked[string(m.Params.RequestID)]; cancel != nil {
		cancel()
	}
	return true
}

// keyed gives a call a key that stands for itself and has none.
func (p *Pipe) keyed(m *mcpLine) {
	if m.Method != "tools/call" || m.names() == "" || m.Params.Meta[keyMeta] != nil {
		return
	}
	var whole, params map[string]jsontext.Value
	if json.Unmarshal(m.text, &whole) != nil || json.Unmarshal(whole["params"], &params) != nil {
		return
	}
	key, err := json.Marshal(p.nonce + " " + string(m.ID))
	if err != nil || len(key) > 200 {
		return
	}
	m.Params.Meta[keyMeta] = key
	params["_meta"], err = json.Marshal(m.Params.Meta, json.Deterministic(true))
	if err != nil {
		return
	}
	if whole["params"], err = json.Marshal(params, json.Deterministic(true)); err != nil {
		return
	}
	if text, err := json.Marshal(whole, json.Deterministic(true)); err == nil {
		m.text = text
	}
}

// stream is how far the stream that answers a message was read.
type stream struct {
	last     string // the id of the last event
	retry    int    // milliseconds, as the server said; 0 for nothing
	answered bool
}

// errLost says that a connection ended before the answer came.
var errLost = errors.New("the connection ended before the answer")

// ask sends a message until it is answered: where the connection breaks the stream is resumed, or the
// message is sent again. sent is called when it is on its way.
func (p *Pipe) ask(ctx context.Context, m *mcpLine, sent func()) {
	var s stream
	for failures := 0; ; {
		before := s.last
		err := p.once(ctx, m, &s, sent)
		switch {
		case err == nil || s.answered || ctx.Err() != nil:
			return
		case errors.Is(err, errSessionLost):
			if err = p.renew(ctx, m); err == nil {
				s = stream{}
				continue
			}
		}
		sent() // or never: what comes later need not wait for that
		if failures++; s.last != before {
			failures = 1
		}
		if !p.again(err) {
			p.giveUp(m, err)
			return
		}
		if s.retry == 0 || !errors.Is(err, errLost) {
			p.Broken(fmt.Errorf("%w; trying again", err))
		}
		if !p.wait(ctx, failures, s.retry) {
			p.giveUp(m, err)
			return
		}
	}
}

// again reports whether a message may be sent again after an error. A node that has never answered is not
// waited for.
func (p *Pipe) again(err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reached {
		return false
	}
	return errors.Is(err, errLost) || broken(err)
}

// wait waits before a message is sent again; it reports false when nobody waits for it any more.
func (p *Pipe) wait(ctx context.Context, failures, retry int) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if retry > 0 { // as the server wants it
		timer := time.NewTimer(time.Duration(retry) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	defer p.untilEnd(cancel)()
	return p.c.pause(ctx, failures) == nil
}

// untilEnd has cancel called when the client says no more, unless the function returned is called first.
func (p *Pipe) untilEnd(cancel func()) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// giveUp answers a message that is not answered otherwise. The pipe ends when the node was never there.
func (p *Pipe) giveUp(m *mcpLine, err error) {
	if m.isRequest() {
		p.refuse(m.ID, -32000, plainly.Say(err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reached {
		select {
		case p.failed <- err:
		default:
		}
	}
}

// errSessionLost says that the node does not know the session any more.
var errSessionLost = errors.New("the node does not know this session any more")

// once sends a message, or resumes the stream that answers it, and passes on what comes.
func (p *Pipe) once(ctx context.Context, m *mcpLine, s *stream, sent func()) error {
	r := request{method: http.MethodPost, path: mcpPath, header: p.header(m), body: bytes.NewReader(m.text), size: int64(len(m.text))}
	inSession := r.header["Mcp-Session-Id"] != ""
	if s.last != "" && inSession {
		r.method, r.body, r.size = http.MethodGet, nil, 0
		r.header["Last-Event-ID"] = s.last
	}
	resp, err := p.c.exchange(onTheWay(ctx, sent), r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	p.mu.Lock()
	p.reached = true
	p.mu.Unlock()
	switch {
	case resp.StatusCode == http.StatusNotFound && inSession && m.Method != "initialize":
		return errSessionLost
	case resp.StatusCode >= 400:
		return p.refused(resp, m, s)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		p.opened(m, resp)
		return p.passStream(ctx, resp.Body, m, s)
	}
	p.opened(m, resp)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return p.c.unreachable(ctx, err)
	}
	if len(bytes.TrimSpace(text)) > 0 {
		p.pass(text, m, s)
	}
	if m.isRequest() && !s.answered {
		return errLost
	}
	return nil
}

// header says of a message over HTTP what it says itself.
func (p *Pipe) header(m *mcpLine) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	if m.Method == "initialize" {
		return h
	}
	if named := m.names(); named != "" {
		p.version = named
	}
	if p.version != "" {
		h["Mcp-Protocol-Version"] = p.version
	}
	if p.session != "" {
		h["Mcp-Session-Id"] = p.session
	}
	if p.version < firstStateless || m.Method == "" {
		return h
	}
	h["Mcp-Method"] = m.Method
	for _, name := range []string{m.Params.Name, m.Params.URI, m.Params.TaskID} {
		if name != "" {
			h["Mcp-Name"] = headerValue(name)
			break
		}
	}
	return h
}

// headerValue returns a text as a header has it: in base64 where it has more than visible ASCII.
func headerValue(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) && strings.TrimSpace(text) == text {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// opened notes the session that a message has opened.
func (p *Pipe) opened(m *mcpLine, resp *http.Response) {
	if m.Method != "initialize" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.initialize = resp.Header.Get("Mcp-Session-Id"), m
}

// passStream passes on what a stream brings.
func (p *Pipe) passStream(ctx context.Context, body io.Reader, m *mcpLine, s *stream) error {
	for f, err := range allFrames(body) {
		if f.id != "" {
			s.last = f.id
		}
		if f.retry > 0 {
			s.retry = f.retry
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return errLost
		case len(f.data) > 0:
			p.pass(f.data, m, s)
		}
		if s.answered {
			return nil
		}
	}
	return errLost
}

// pass writes a message of the node's. m is what the stream that brings it answers; nil for nothing.
func (p *Pipe) pass(text []byte, m *mcpLine, s *stream) {
	line := jsontext.Value(bytes.Clone(text))
	if err := line.Compact(); err != nil {
		p.Broken(fmt.Errorf("what the node has sent is not JSON: %w", err))
		return
	}
	told, _ := readLine(line)
	if m != nil && told.Method == "" && bytes.Equal(told.ID, m.ID) {
		s.answered = true
		if m.Method == "initialize" {
			p.mu.Lock()
			p.version = told.Result.ProtocolVersion
			p.mu.Unlock()
		}
	}
	p.write(line)
}

func (p *Pipe) write(line []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.out.Write(append(line, '\n')) // who has gone says no more either
}

// refuse answers a request with an error of the pipe's own.
func (p *Pipe) refuse(id jsontext.Value, code int, message string) {
	text, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(message, "\uFFFD"))
	if err != nil {
		return
	}
	p.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
}

// refused passes on why the node refuses a message. What may pass is an error: it is sent again.
func (p *Pipe) refused(resp *http.Response, m *mcpLine, s *stream) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests {
		return errLost
	}
	var told struct {
		Error *struct {
			Code    int            `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data,omitzero"`
		} `json:"error"`
	}
	if err != nil || json.Unmarshal(text, &told) != nil || told.Error == nil {
		return &Stray{Server: p.c.base, Status: resp.StatusCode, Start: excerpt(text), Err: err}
	}
	if !m.isRequest() {
		p.Broken(fmt.Errorf("the node refuses a message: %s", told.Error.Message))
		return nil
	}
	answer, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   any            `json:"error"`
	}{"2.0", m.ID, told.Error}, json.Deterministic(true))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		p.Broken(fmt.Errorf("the node refuses the key: %s", told.Error.Message))
	}
	s.answered = true
	p.write(answer)
	return nil
}

// renew opens a session in the place of one that the node does not know any more.
func (p *Pipe) renew(ctx context.Context, m *mcpLine) error {
	p.renewing.Lock()
	defer p.renewing.Unlock()
	p.mu.Lock()
	first, lost := p.initialize, p.session
	p.mu.Unlock()
	if first == nil {
		return errSessionLost
	}
	r := request{method: http.MethodPost, path: mcpPath, header: p.header(first), body: bytes.NewReader(first.text), size: int64(len(first.text))}
	resp, err := p.c.exchange(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return fmt.Errorf("the node opens no session in the place of %s: HTTP %d", lost, resp.StatusCode)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return p.c.unreachable(ctx, err)
	}
	p.opened(first, resp)
	ready, _ := readLine([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return p.once(ctx, ready, &stream{}, func() {})
}

// listen opens the stream on which the node says what answers nothing, for as long as the pipe runs.
func (p *Pipe) listen(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listening || p.session == "" {
		return
	}
	p.listening = true
	go func() {
		var s stream
		for failures := 1; ; failures++ {
			before := s.last
			more, err := p.listenOnce(ctx, &s)
			if !more || ctx.Err() != nil {
				return
			}
			if s.last != before {
				failures = 1
			}
			if errors.Is(err, errSessionLost) {
				s = stream{} // the next message opens another
			}
			if !p.wait(ctx, failures, s.retry) {
				return
			}
		}
	}()
}

// listenOnce reads one connection's worth; more is false where the node has no such stream.
func (p *Pipe) listenOnce(ctx context.Context, s *stream) (more bool, err error) {
	h := p.header(&mcpLine{})
	h["Accept"] = "text/event-stream"
	delete(h, "Content-Type")
	if s.last != "" {
		h["Last-Event-ID"] = s.last
	}
	resp, err := p.c.exchange(ctx, request{method: http.MethodGet, path: mcpPath, header: h})
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return true, errSessionLost
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return true, errLost
	case resp.StatusCode >= 400:
		return false, nil
	}
	return true, p.passStream(ctx, resp.Body, nil, s)
}

// leave ends the session.
func (p *Pipe) leave(ctx context.Context) {
	h := p.header(&mcpLine{})
	if h["Mcp-Session-Id"] == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if resp, err := p.c.exchange(ctx, request{method: http.MethodDelete, path: mcpPath, header: h}); err == nil {
		resp.Body.Close()
	}
}

// onTheWay has sent called when a request was written.
func onTheWay(ctx context.Context, sent func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }})
}
