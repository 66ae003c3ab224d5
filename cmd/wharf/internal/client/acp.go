package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/plainly"
)

// ACPOptions are what a pipe says in the place of a client that cannot say it.
type ACPOptions struct {
	// Harn declares the Harn extensions for the client.
	Harn bool
	// Persona and Workspace are those of Sessions that the client opens, "" for the node's own choice.
	Persona, Workspace string
	// Wait bounds how long a node that is away is waited for. 0 ends the pipe when the node does not answer at
	// first, and waits for one that has answered for as long as the client stays.
	Wait time.Duration
	// Patience is how long a tool server that the client names by a command may take to list its tools before it is
	// left out until it has; 0 for 8 s.
	Patience time.Duration
}

// ACP passes the messages of a client of the Agent Client Protocol, one a line, to a node that has them as the
// messages of a WebSocket, and the node's to the client. Where the connection breaks it opens another, and the
// client goes on where it was: each update is told once, each request is answered once, in their order.
type ACP struct {
	// Broken is told what people should know: why the node does not answer, before it is asked again, and what is
	// wrong with a tool server. It is called on any goroutine.
	Broken func(error)

	c       *Client
	out     io.Writer
	options ACPOptions
	talk    *talk
	tools   *acpTools

	conn     *acpConn
	reached  bool
	ended    bool // the client says no more
	failures int  // in a row
	since    time.Time
	dialed   chan dialed
}

// NewACP returns a pipe to the node that writes to out.
func (c *Client) NewACP(out io.Writer, o ACPOptions) *ACP {
	return &ACP{Broken: func(error) {}, c: c, out: out, options: o, dialed: make(chan dialed, 1)}
}

// acpPath is where a node serves the protocol.
const acpPath = "/acp"

// maxACPLine bounds what a client says in one line.
const maxACPLine = 64 << 20

// dialed is how opening a connection has ended.
type dialed struct {
	conn *acpConn
	err  error
}

// Run passes messages on until in ends and what was asked by then is answered, or the context ends. The error is
// an [*Unreachable] when the node was away for longer than is waited for, a [*Refused] when it refuses the key.
func (p *ACP) Run(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.tools = newACPTools(ctx, p.Broken, p.options.Patience)
	p.talk = newTalk(rand.Text(), p.options, p.tools)
	lines := make(chan acpLine, 16)
	go readACP(ctx, in, lines)
	err := p.loop(ctx, lines)
	if p.conn != nil {
		p.conn.leave()
	}
	if err != nil && ctx.Err() == nil {
		for _, answer := range p.talk.giveUp(err) {
			_ = p.write(answer)
		}
	}
	cancel()
	p.tools.end()
	return err
}

// loop is all that changes the pipe: what the client says, what the node says, and connections that come and go.
func (p *ACP) loop(ctx context.Context, lines <-chan acpLine) error {
	for !p.done() {
		heard := lines
		if p.ended || p.talk.full() {
			heard = nil
		}
		select {
		case line, more := <-heard:
			if p.ended = !more; p.ended {
				continue
			}
			if p.since.IsZero() { // who says nothing needs no node
				p.since = time.Now()
				p.dial(ctx)
			}
			if err := p.take(line); err != nil {
				return err
			}
		case d := <-p.dialed:
			if err := p.opened(ctx, d); err != nil {
				return err
			}
		case frame, more := <-p.conn.frames():
			if err := p.told(ctx, frame, more); err != nil {
				return err
			}
		case d := <-p.tools.did:
			for _, text := range p.talk.did(d.job, d.answer) {
				p.send(text)
			}
		case <-p.tools.changed:
			for _, text := range p.talk.changed() {
				p.send(text)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// done reports whether nothing is left to do: the client says no more, and waits for nothing that could come
// without it.
func (p *ACP) done() bool {
	return p.ended && (p.talk.idle() || p.talk.asks())
}

// take passes on what the client says.
func (p *ACP) take(line acpLine) error {
	if line.err != nil {
		return p.write(failed(jsontext.Value("null"), line.code, plainly.Say(line.err)))
	}
	toNode, toClient := p.talk.take(line.text)
	for _, text := range toNode {
		p.send(text)
	}
	if toClient != nil {
		return p.write(toClient)
	}
	return nil
}

// send writes to the node. What is lost on the way is sent again on the next connection.
func (p *ACP) send(text []byte) {
	if p.conn != nil && p.conn.write(text) != nil {
		p.conn.close() // which the loop sees
	}
}

// told passes on what the node says, and opens another connection where this one has ended.
func (p *ACP) told(ctx context.Context, frame acpFrame, more bool) error {
	if more && frame.err == nil {
		if p.talk.phase == live {
			p.failures = 0
		}
		toClient, toNode, err := p.talk.told(frame.text)
		if err != nil {
			p.Broken(err)
		}
		if errors.Is(err, errNotBegun) {
			p.conn.close()
		}
		for _, text := range toNode {
			p.send(text)
		}
		for _, text := range toClient {
			if err := p.write(text); err != nil {
				return err
			}
		}
		return nil
	}
	p.conn.close()
	p.conn = nil
	p.since = time.Now()
	if p.talk.phase != live {
		p.failures++
	}
	p.talk.lost()
	if err := p.closed(frame.err); err != nil {
		return err
	}
	p.Broken(fmt.Errorf("%w; trying again", errNodeLeft))
	p.dial(ctx)
	return nil
}

// errNodeLeft says that a connection has ended.
var errNodeLeft = errors.New("the connection to the node has ended")

// The codes with which a node closes a socket, as far as another would be closed like it.
const (
	closeUnauthorized = 4401
	closeForbidden    = 4403
)

// closed looks at why a connection has ended; the error is one that another would end with, too.
func (p *ACP) closed(why error) error {
	end, ok := errors.AsType[*websocket.CloseError](why)
	if !ok {
		return nil
	}
	switch end.Code {
	case closeUnauthorized, closeForbidden:
		return keyRefused(end.Code-4000, end.Text)
	case websocket.CloseMessageTooBig:
		if answer := p.talk.tooLarge(); answer != nil {
			return p.write(answer)
		}
	}
	return nil
}

// opened goes on with a connection, or sees what is wrong.
func (p *ACP) opened(ctx context.Context, d dialed) error {
	if d.err == nil {
		p.conn, p.reached = d.conn, true
		for _, text := range p.talk.opened() {
			p.send(text)
		}
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !p.passing(d.err) || p.ended || !p.patient() {
		return d.err
	}
	if p.failures++; p.failures == 1 {
		p.Broken(fmt.Errorf("%w; trying again", d.err))
	}
	p.dial(ctx)
	return nil
}

// passing reports whether an error may be gone the next time: a node that was there may be started again, behind
// a proxy that answers for it meanwhile.
func (p *ACP) passing(err error) bool {
	stray, ok := errors.AsType[*Stray](err)
	return broken(err) || ok && p.reached && stray.Status >= 500
}

// patient reports whether a node that is away is waited for.
func (p *ACP) patient() bool {
	if p.options.Wait > 0 {
		return time.Since(p.since) < p.options.Wait
	}
	return p.reached
}

// dial opens a connection, after a pause where the last has failed.
func (p *ACP) dial(ctx context.Context) {
	failures, again := p.failures, p.reached || p.failures > 0
	go func() {
		if again {
			if err := p.c.pause(ctx, failures+1); err != nil {
				p.dialed <- dialed{err: err}
				return
			}
		}
		conn, err := p.c.dialACP(ctx)
		p.dialed <- dialed{conn, err}
	}()
}

// write says a line to the client.
func (p *ACP) write(text []byte) error {
	if _, err := p.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("telling the client: %w", err)
	}
	return nil
}

// acpConn is one connection to the node.
type acpConn struct {
	ws   *websocket.Conn
	read chan acpFrame
	quit chan struct{}
	once func()
}

// acpFrame is what the node says, or why it says no more.
type acpFrame struct {
	text []byte
	err  error
}

// How long a node that says nothing is believed to be there, and how often it is asked.
const (
	acpSilence   = 50 * time.Second
	acpPing      = 20 * time.Second
	acpWriteTime = 30 * time.Second
)

// dialACP opens a connection.
func (c *Client) dialACP(ctx context.Context) (*acpConn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	upgrade := websocket.Dialer{Proxy: http.ProxyFromEnvironment, NetDialContext: dialer().DialContext, TLSClientConfig: c.trust, ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}
	header := http.Header{"User-Agent": {"wharf"}}
	if c.key != "" {
		header.Set("Authorization", "Bearer "+c.key)
	}
	ws, resp, err := upgrade.DialContext(ctx, "ws"+c.base[len("http"):]+acpPath, header)
	if err != nil {
		return nil, c.notUpgraded(ctx, resp, err)
	}
	ws.SetReadLimit(maxLine)
	conn := &acpConn{ws: ws, read: make(chan acpFrame), quit: make(chan struct{})}
	conn.once = sync.OnceFunc(func() {
		close(conn.quit)
		_ = ws.Close()
	})
	go conn.listen()
	go conn.beat()
	return conn, nil
}

// notUpgraded says why there is no connection.
func (c *Client) notUpgraded(ctx context.Context, resp *http.Response, err error) error {
	if resp == nil {
		return c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	return refusal(resp)
}

// frames are what the node says; none where there is no connection.
func (c *acpConn) frames() <-chan acpFrame {
	if c == nil {
		return nil
	}
	return c.read
}

// listen reads until the connection ends.
func (c *acpConn) listen() {
	defer close(c.read)
	alive := func() { _ = c.ws.SetReadDeadline(time.Now().Add(acpSilence)) }
	c.ws.SetPongHandler(func(string) error { alive(); return nil })
	for {
		alive()
		_, text, err := c.ws.ReadMessage()
		select {
		case c.read <- acpFrame{text, err}:
		case <-c.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// beat asks the node whether it is there.
func (c *acpConn) beat() {
	tick := time.NewTicker(acpPing)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(acpWriteTime))
		case <-c.quit:
			return
		}
	}
}

func (c *acpConn) write(text []byte) error {
	_ = c.ws.SetWriteDeadline(time.Now().Add(acpWriteTime))
	if err := c.ws.WriteMessage(websocket.TextMessage, text); err != nil {
		return fmt.Errorf("writing to the node: %w", err)
	}
	return nil
}

// close ends the connection.
func (c *acpConn) close() { c.once() }

// leave ends the connection, and says that this was meant.
func (c *acpConn) leave() {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	c.close()
}
