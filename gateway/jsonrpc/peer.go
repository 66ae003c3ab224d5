package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Transport carries messages.
type Transport interface {
	// Read returns the next message; it is called by one goroutine. release, which may be nil, is
	// called when the message is not needed any more. The error is io.EOF when the other side is
	// done, and a *Error for a message that is to be answered with it, after which reading goes on.
	Read() (message []byte, release func(), err error)
	// Write sends messages, each whole, in their order and as far as it can at once. It is safe for
	// concurrent use. An error is final.
	Write(messages ...[]byte) error
}

// Request is a request, or a notification, which nobody waits for.
type Request struct {
	Method       string
	Params       jsontext.Value // an object, a list or nil
	ID           jsontext.Value // nil for a notification
	Notification bool
}

// Decode reads the params into v; it is nil-safe about params that are absent. Its error is what
// to answer.
func (r *Request) Decode(v any) error {
	if r.Params == nil {
		return nil
	}
	if err := json.Unmarshal(r.Params, v); err != nil {
		return Errorf(CodeInvalidParams, "the params of %s are not what it takes: %v", r.Method, err)
	}
	return nil
}

// Handler answers a request: with what is encoded as the result (nil is null), or an error. ctx
// ends when the request is canceled or the conversation is over. What a notification answers
// with goes nowhere.
type Handler func(ctx context.Context, r *Request) (any, error)

// Then is a result after whose answer, once it is written, something is done: what the other side can
// make sense of only when it has the answer.
type Then struct {
	Result any
	Do     func()
}

// Config says how a Peer answers.
type Config struct {
	Handle Handler
	// Arrives is told of each request in the order in which they come, by the goroutine that reads: it
	// must not wait for the other side. What it returns is the context that the request is handled with.
	// nil: a request is known when it is handled, which may be after a notification that came later.
	Arrives func(ctx context.Context, r *Request) context.Context
	// Parallel is how many requests run at once; 0 is 64.
	Parallel int
	// Shape puts an error that is no *Error into one. nil: all of them are internal errors, which
	// are logged and of which the other side learns nothing more.
	Shape func(error) *Error
	Log   *slog.Logger
}

// ErrClosed is what waits for the other side fails with when the conversation is over.
var ErrClosed = errors.New("the conversation is over")

// Peer is this side of a conversation. It is safe for concurrent use.
type Peer struct {
	cfg  Config
	wire Transport

	mu      sync.Mutex
	last    int64
	waiting map[string]chan *message           // for answers, by the id of our request
	running map[string]context.CancelCauseFunc // requests of the other side, by id
	over    bool
	serving sync.WaitGroup
}

// New returns a peer, which [Peer.Serve] makes answer.
func New(t Transport, cfg Config) *Peer {
	if cfg.Parallel == 0 {
		cfg.Parallel = 64
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Peer{cfg: cfg, wire: t, waiting: map[string]chan *message{}, running: map[string]context.CancelCauseFunc{}}
}

// Serve reads and answers until the other side is done, which is no error, or the transport
// fails. It returns when nothing runs any more. It is called once.
func (p *Peer) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	err := p.readAll(ctx)
	p.end()
	stop(ErrClosed)
	p.serving.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (p *Peer) readAll(ctx context.Context) error {
	for {
		text, release, err := p.wire.Read()
		if release == nil {
			release = func() {}
		}
		if wrong, ok := errors.AsType[*Error](err); ok {
			release()
			err = p.answer(nil, nil, wrong)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if err := p.take(ctx, text, release); err != nil {
			return err
		}
	}
}

// take handles one message, which it releases.
func (p *Peer) take(ctx context.Context, text []byte, release func()) error {
	m, kind, wrong := read(text)
	if kind == request {
		return p.begin(ctx, m, release)
	}
	defer release()
	switch {
	case wrong != nil:
		return p.answer(m.ID, nil, wrong)
	case kind == notification:
		_, _ = p.handle(ctx, &Request{Method: m.Method, Params: m.Params, Notification: true})
		return nil
	}
	p.answered(m)
	return nil
}

// begin runs a request beside the others.
func (p *Peer) begin(ctx context.Context, m *message, release func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	if refused := p.enter(m.ID, cancel); refused != nil {
		cancel(nil)
		release()
		return p.answer(m.ID, nil, refused)
	}
	r := &Request{Method: m.Method, Params: m.Params, ID: m.ID}
	if p.cfg.Arrives != nil {
		ctx = p.cfg.Arrives(ctx, r)
	}
	p.serving.Go(func() {
		defer release()
		defer cancel(nil)
		result, err := p.handle(ctx, r)
		p.leave(m.ID)
		then, _ := result.(*Then)
		if then != nil {
			result = then.Result
		}
		if err := p.answer(m.ID, result, err); err != nil {
			p.cfg.Log.Debug("an answer was not taken", slog.String("method", m.Method), slog.Any("error", err))
		}
		if then != nil {
			then.Do()
		}
	})
	return nil
}

func (p *Peer) enter(id jsontext.Value, cancel context.CancelCauseFunc) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, twice := p.running[key(id)]; twice {
		return Errorf(CodeInvalidRequest, "a request with the id %s is running already", id)
	}
	if len(p.running) >= p.cfg.Parallel {
		return Errorf(CodeBusy, "%d requests are running already, as many as there may be", p.cfg.Parallel)
	}
	p.running[key(id)] = cancel
	return nil
}

func (p *Peer) leave(id jsontext.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, key(id))
}

// ErrCanceled is the cause of the end of a request's context that [Peer.Cancel] has ended.
var ErrCanceled = errors.New("the request was canceled")

// Cancel ends the context of a running request of the other side. It reports whether there was
// one; the request is answered by its handler all the same.
func (p *Peer) Cancel(id jsontext.Value) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel := p.running[key(id)]
	if cancel != nil {
		cancel(ErrCanceled)
	}
	return cancel != nil
}

// handle asks the handler. A panic is one request's affair.
func (p *Peer) handle(ctx context.Context, r *Request) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.cfg.Log.Error("a request panicked", slog.String("method", r.Method), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			result, err = nil, Errorf(CodeInternal, "the node failed to do this")
		}
	}()
	result, err = p.cfg.Handle(ctx, r)
	return result, p.shaped(r, err)
}

// shaped returns err as the other side reads it.
func (p *Peer) shaped(r *Request, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if p.cfg.Shape != nil {
		return p.cfg.Shape(err)
	}
	p.cfg.Log.Error("a request failed", slog.String("method", r.Method), slog.Any("error", err))
	return Errorf(CodeInternal, "the node failed to do this")
}

// answer answers a request; id is nil where it is not known.
func (p *Peer) answer(id jsontext.Value, result any, failed error) error {
	m := &message{ID: id}
	if id == nil {
		m.ID = jsontext.Value("null")
	}
	if wrong, ok := errors.AsType[*Error](failed); ok {
		m.Error = wrong
	} else {
		text, err := json.Marshal(result)
		if err != nil {
			p.cfg.Log.Error("an answer cannot be encoded", slog.Any("error", err))
			m.Error = Errorf(CodeInternal, "the node failed to put its answer into words")
		}
		m.Result = text
		if m.Error != nil {
			m.Result = nil
		}
	}
	return p.write(m)
}

func (p *Peer) write(m *message) error {
	text, err := encode(m)
	if err != nil {
		return err
	}
	return p.send(text)
}

func (p *Peer) send(texts ...[]byte) error {
	if err := p.wire.Write(texts...); err != nil {
		return fmt.Errorf("writing to the other side: %w", err)
	}
	return nil
}

// Notify tells the other side something that it does not answer. params are encoded as an
// object or a list; nil is none.
func (p *Peer) Notify(method string, params any) error {
	m, err := outgoing(method, params)
	if err != nil {
		return err
	}
	return p.write(m)
}

// NotifyAll tells the other side several things at once, as [Peer.Notify] would one after the other. Each
// of params is an object or a list that is encoded already, on one line.
func (p *Peer) NotifyAll(method string, params ...jsontext.Value) error {
	head := appendMethod(nil, method)
	texts := make([][]byte, len(params))
	for i, of := range params {
		text := append(make([]byte, 0, len(head)+len(of)+1), head...)
		texts[i] = append(append(text, of...), '}')
	}
	return p.send(texts...)
}

// Call asks the other side and waits for its answer, which is decoded into result unless that is
// nil. The error is an *Error that the other side has answered with, [ErrClosed], or the cause of
// ctx's end; an answer that comes after that is dropped.
func (p *Peer) Call(ctx context.Context, method string, params, result any) error {
	m, err := outgoing(method, params)
	if err != nil {
		return err
	}
	answer, err := p.expect(m)
	if err != nil {
		return err
	}
	defer p.forget(m.ID)
	if err := p.write(m); err != nil {
		return err
	}
	select {
	case got, ok := <-answer:
		return got.into(ok, method, result)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// into decodes what a request of ours was answered with.
func (m *message) into(ok bool, method string, result any) error {
	switch {
	case !ok:
		return ErrClosed
	case m.Error != nil:
		return m.Error
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", method, err)
	}
	return nil
}

func outgoing(method string, params any) (*message, error) {
	m := &message{Method: method}
	if params == nil {
		return m, nil
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding the params of %s: %w", method, err)
	}
	m.Params = text
	return m, nil
}

// expect gives a request of ours its id.
func (p *Peer) expect(m *message) (<-chan *message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil, ErrClosed
	}
	p.last++
	m.ID = jsontext.Value(strconv.FormatInt(p.last, 10))
	answer := make(chan *message, 1)
	p.waiting[key(m.ID)] = answer
	return answer, nil
}

func (p *Peer) forget(id jsontext.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, key(id))
}

// answered hands an answer to whoever waits for it. One that nobody waits for came too late.
func (p *Peer) answered(m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer := p.waiting[key(m.ID)]; answer != nil {
		delete(p.waiting, key(m.ID))
		m.Result = m.Result.Clone()
		answer <- m
	}
}

// end lets nobody wait for an answer any more.
func (p *Peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for id, answer := range p.waiting {
		delete(p.waiting, id)
		close(answer)
	}
}
