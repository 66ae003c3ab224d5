package tool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/program"
)

// link is one connection to a server.
type link struct {
	session  *mcp.ClientSession
	process  *process // nil over HTTP
	since    time.Time
	closing  func() // ends the session and the process, however long it takes
	once     sync.Once
	flood    flood
	progress progress
	heard    *legacy     // who waits for what the stream says; nil but over the transport of 2024-11-05
	lost     func(error) // says that the server cannot be listened to any more, and ends the connection

	tools     kept[abi.Tool]
	resources kept[abi.Resource]
	templates kept[abi.ResourceTemplate]
	prompts   kept[abi.Prompt]
}

func (l *link) close() { l.once.Do(l.closing) }

// connected returns the connection, making it if need be. One attempt is made for
// all who wait; it goes on when ctx ends.
func (m *MCP) connected(ctx context.Context) (*link, error) {
	a, l, err := m.attempt()
	if a == nil {
		return l, err
	}
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// attempt returns the connection, or the attempt to make one.
func (m *MCP) attempt() (*attempt, *link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, nil, refuse(abi.CallUnavailable, CodeUnavailable, "%s was removed, or the node is being shut down", m.config.Name)
	case m.link != nil:
		return nil, m.link, nil
	case m.connecting != nil:
		return m.connecting, nil, nil
	case m.resting:
		return nil, nil, refuse(abi.CallUnavailable, CodeUnavailable, "%s is disconnected, and does not connect again by itself: a ping connects it", m.config.Name)
	}
	wait := time.Until(m.notBefore)
	if wait > patience {
		return nil, nil, refuse(abi.CallUnavailable, CodeUnavailable,
			"%s has failed %d times in a row; it is left alone for a while. %s says why", m.config.Name, m.failures, m.config.LogAt)
	}
	a := &attempt{done: make(chan struct{})}
	m.connecting = a
	m.links.Add(1)
	go m.try(a, wait)
	return a, nil, nil
}

const (
	patience   = time.Second      // the longest pause that a call waits for
	maxPause   = 30 * time.Second // between attempts
	firstPause = 100 * time.Millisecond
	young      = 10 * time.Second // a connection that dies before counts as a failure
)

// pause is how long to wait after so many failures in a row.
func pause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(maxPause, firstPause<<min(failures-1, 16))
}

// try makes a connection and hands it over.
func (m *MCP) try(a *attempt, wait time.Duration) {
	l, err := m.dial(wait)
	m.mu.Lock()
	m.connecting = nil
	switch {
	case err != nil:
		m.failures++
		m.notBefore = time.Now().Add(pause(m.failures))
		m.log.Warn("a server of tools cannot be reached", "error", err, "failures", m.failures)
		a.err = m.unreachable(err)
		m.refused, m.lastError = true, told(a.err)
		m.resting = m.config.Reconnect == OnlyOnce
	case m.closed:
		a.err = refuse(abi.CallUnavailable, CodeUnavailable, "%s was removed, or the node is being shut down", m.config.Name)
	default:
		m.link, a.link = l, l
		m.refused, m.lastError = false, ""
	}
	m.mu.Unlock()
	close(a.done)
	defer m.links.Done()
	switch {
	case l == nil:
	case a.link == nil:
		l.close()
	default:
		m.watch(l)
	}
	m.again()
}

// told is what is told of a connection that could not be made.
func told(err error) string {
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		return refused.Message
	}
	return plainly.Say(err)
}

// unreachable keeps what the operator has to know out of what the plugin reads,
// unless it was written for it.
func (m *MCP) unreachable(err error) error {
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		return refused
	}
	return refuse(abi.CallUnavailable, CodeUnavailable, "%s cannot be reached. %s says why", m.config.Name, m.config.LogAt)
}

// watch waits for the end of a connection.
func (m *MCP) watch(l *link) {
	_ = l.session.Wait()
	m.drop(l)
	l.close()
}

// drop gives a connection up, so that the next call makes another.
func (m *MCP) drop(l *link) {
	m.mu.Lock()
	mine := m.link == l
	if mine {
		m.link, m.resting = nil, m.config.Reconnect == OnlyOnce
		m.lastError = m.config.Name + " has broken off"
		if time.Since(l.since) < young {
			m.failures++
		} else {
			m.failures = 0
		}
		m.notBefore = time.Now().Add(pause(m.failures))
	}
	m.mu.Unlock()
	if mine {
		go l.close() // which may take a while, and ends the Wait of watch
	}
}

// dial makes a connection. The session lives on after the time for connecting.
func (m *MCP) dial(wait time.Duration) (*link, error) {
	if !sleep(m.life, wait) {
		return nil, context.Cause(m.life)
	}
	ctx, cancel := context.WithCancelCause(m.life)
	late := time.AfterFunc(connectTime, func() { cancel(errLate) })
	l := &link{since: time.Now()}
	var said sync.Once
	l.lost = func(err error) {
		said.Do(func() { m.log.Warn("a server of tools is dropped", "error", err) })
		cancel(err)
		m.drop(l)
	}
	transport, err := m.transport(ctx, l)
	if err != nil {
		cancel(err)
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "wharf", Version: m.config.Version}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{}, // it can ask nothing of the node
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			l.flood.changed(toolsChanged)
			l.tools.changed()
			m.config.Changed()
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			l.flood.changed(resourcesChanged)
			l.resources.changed()
			l.templates.changed()
		},
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
			l.flood.changed(promptsChanged)
			l.prompts.changed()
		},
	})
	client.AddSendingMiddleware(handOver)
	l.session, err = client.Connect(ctx, transport, nil)
	late.Stop()
	l.closing = func() { m.hangUp(l, func() { cancel(context.Canceled) }) }
	if err != nil {
		err = errors.Join(context.Cause(ctx), errors.New(m.scrub(err.Error())))
		l.close()
		return nil, err
	}
	return l, nil
}

var errLate = errors.New("it did not answer in time")

// hangUp ends a session: politely, and then at once.
func (m *MCP) hangUp(l *link, cut func()) {
	polite := make(chan struct{})
	go func() {
		defer close(polite)
		if l.session != nil {
			_ = l.session.Close()
		}
	}()
	if l.process != nil {
		l.process.stop(m.log)
	} else {
		timer := time.AfterFunc(grace, cut)
		<-polite
		timer.Stop()
	}
	cut()
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (m *MCP) transport(ctx context.Context, l *link) (mcp.Transport, error) {
	if m.config.URL != "" {
		return m.overHTTP(ctx, l)
	}
	env, err := m.environment(ctx)
	if err != nil {
		return nil, err
	}
	words := append([]string{m.config.Command}, m.config.Args...)
	if m.config.Start != nil {
		if words, err = m.config.Start(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir = env, m.config.Dir
	l.process, err = startProcess(cmd, func(line string) { m.log.Debug("a server of tools says", "line", m.scrub(line)) })
	if err != nil {
		return nil, err
	}
	return &guarded{Transport: &mcp.IOTransport{Reader: l.process.stdout, Writer: l.process.stdin, MaxLineLength: m.maxMessage()}, link: l}, nil
}

func (m *MCP) environment(ctx context.Context) ([]string, error) {
	environ := m.config.Environ
	if environ == nil {
		environ = os.Environ
	}
	env := program.Environment(environ())
	for name, text := range m.config.Env {
		value, err := m.expand(ctx, text)
		if err != nil {
			return nil, err
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

func (m *MCP) overHTTP(ctx context.Context, l *link) (mcp.Transport, error) {
	endpoint, err := url.Parse(m.config.URL)
	if err != nil {
		return nil, err
	}
	base := m.newTransport()
	context.AfterFunc(ctx, base.CloseIdleConnections)
	client := &http.Client{
		Transport:     &door{server: m, link: l, endpoint: endpoint, base: base, life: ctx},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if m.config.Legacy {
		l.heard = &legacy{}
		return &mcp.SSEClientTransport{Endpoint: m.config.URL, HTTPClient: client, MaxEventSize: m.maxMessage()}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: m.config.URL, HTTPClient: client, MaxEventSize: m.maxMessage()}, nil
}

func (m *MCP) newTransport() *http.Transport {
	if m.config.NewTransport != nil {
		return m.config.NewTransport()
	}
	return http.DefaultTransport.(*http.Transport).Clone()
}

// door puts the configured headers on every request, bounds what comes back, and
// ends requests with the connection.
type door struct {
	server   *MCP
	link     *link
	endpoint *url.URL
	base     *http.Transport
	life     context.Context
}

// RoundTrip implements http.RoundTripper.
func (d *door) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != d.endpoint.Host || req.URL.Scheme != d.endpoint.Scheme {
		return nil, errors.New("a request to another host than the configured one")
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(d.life, func() { cancel(context.Cause(d.life)) })
	release := func() { stop(); cancel(nil) }
	req = req.Clone(ctx)
	for name, text := range d.server.config.Headers {
		value, err := d.server.expand(ctx, text)
		if err != nil {
			release()
			return nil, err
		}
		req.Header.Set(name, value)
	}
	about, err := d.sending(req)
	if err != nil {
		release()
		return nil, err
	}
	if d.link.heard != nil && about.method && about.id != nil {
		d.link.heard.ask(string(about.id), answeringOf(ctx))
	}
	resp, err := d.base.RoundTrip(req)
	if req.Method == http.MethodPost && !about.method {
		d.link.flood.answered()
	}
	if err != nil {
		release()
		return nil, err
	}
	if d.link.heard != nil && req.Method == http.MethodPost { // the answer comes on the stream
		resp.Body = &unread{resp.Body, release}
		return resp, nil
	}
	resp.Body = newBody(resp.Body, resp.Header.Get("Content-Type"), &body{release: release, link: d.link,
		call: answeringOf(ctx), id: about.id, max: d.server.maxMessage()})
	return resp, nil
}

// sending says what a request sends. One that asks for a stream is sent because the
// server ended another.
func (d *door) sending(req *http.Request) (message, error) {
	if req.Method == http.MethodGet {
		err := d.link.flood.one()
		if err != nil {
			d.link.lost(err)
		}
		return message{}, err
	}
	if req.GetBody == nil {
		return message{}, nil
	}
	from, err := req.GetBody()
	if err != nil {
		return message{}, err
	}
	text, err := io.ReadAll(from)
	m, _ := envelope(text)
	return m, err
}
