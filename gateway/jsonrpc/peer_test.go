package jsonrpc_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// pipe is a conversation over two pipes, of which the test is the other side.
type pipe struct {
	peer  *jsonrpc.Peer
	say   *io.PipeWriter
	heard *bufio.Scanner
	out   *io.PipeReader
	ended chan error
}

const limit = 4096

func converse(t *testing.T, cfg jsonrpc.Config) *pipe {
	t.Helper()
	in, say := io.Pipe()
	hear, out := io.Pipe()
	p := &pipe{peer: jsonrpc.New(jsonrpc.Lines(in, out, limit), cfg), say: say, heard: bufio.NewScanner(hear), out: hear, ended: make(chan error, 1)}
	go func() { p.ended <- p.peer.Serve(context.Background()) }()
	t.Cleanup(func() {
		_ = say.Close()
		_ = hear.Close() // what is still said is not heard
		<-p.ended
		p.ended <- nil
	})
	return p
}

func (p *pipe) tell(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.say, text+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (p *pipe) hear(t *testing.T) string {
	t.Helper()
	if !p.heard.Scan() {
		t.Fatal("nothing more is said", p.heard.Err())
	}
	return p.heard.Text()
}

// echo answers with the params, and fails as it is told to.
func echo(_ context.Context, r *jsonrpc.Request) (any, error) {
	switch r.Method {
	case "echo":
		return r.Params, nil
	case "fail":
		return nil, errors.New("a secret reason")
	case "refuse":
		return nil, &jsonrpc.Error{Code: 7, Message: "no", Data: jsontext.Value(`{"why":1}`)}
	case "panic":
		panic("a secret reason")
	case "typed":
		var params struct {
			N int `json:"n"`
		}
		return params, r.Decode(&params)
	case "unencodable":
		return func() {}, nil
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "there is no %s", r.Method)
}

// What is malformed is answered, with the id as far as it can be known, and ends nothing.
func TestMessages(t *testing.T) {
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`:            `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`,
		`{"jsonrpc":"2.0","id":"x","method":"echo","params":[1,2]}`:            `{"jsonrpc":"2.0","id":"x","result":[1,2]}`,
		`{"jsonrpc":"2.0","id":null,"method":"echo"}`:                          `{"jsonrpc":"2.0","id":null,"result":null}`,
		`{"jsonrpc":"2.0","id":1.50,"method":"echo","other":true}`:             `{"jsonrpc":"2.0","id":1.50,"result":null}`,
		`{"method":"echo","params":{ "a" : "\u0061" },"id":1,"jsonrpc":"2.0"}`: `{"jsonrpc":"2.0","id":1,"result":{"a":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"none"}`:                             `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no none"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"refuse"}`:                           `{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no","data":{"why":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"fail"}`:                             `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the node failed to do this"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"panic"}`:                            `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the node failed to do this"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"unencodable"}`:                      `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,`,
		`{"jsonrpc":"2.0","id":1,"method":"typed","params":{"n":"x"}}`:         `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,`,
		`{`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":1,"method":"echo"} x`:                                                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"echo"}`:                                               `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}":                                            `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":1,"params":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`,
		`[{"jsonrpc":"2.0","id":1,"method":"echo"}]`:                                                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`"text"`:                                                `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"id":3,"method":"echo"}`:                              `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":2.0,"id":3,"method":"echo"}`:                `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":3,"method":5}`:                   `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":{},"method":"echo"}`:             `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":true,"method":"x"}`:              `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":3}`:                              `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":3,"method":"echo","params":"x"}`: `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":3,"method":"echo","result":1}`:   `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":3,"method":"echo","params":"` + strings.Repeat("x", limit) + `"}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message has at most 4096 bytes"`,
		// What needs no answer gets none: the next message is answered.
		`{"jsonrpc":"2.0","method":"panic"}`:                        ``,
		`{"jsonrpc":"2.0","method":"none"}`:                         ``,
		`{"jsonrpc":"2.0","id":99,"result":1}`:                      ``,
		`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":""}}`: ``,
		"  \t\r": ``,
	} {
		p := converse(t, jsonrpc.Config{Handle: echo})
		p.tell(t, sent)
		if want != "" {
			if got := p.hear(t); !strings.HasPrefix(got, want) {
				t.Errorf("%.200s\n is answered with %s\n want %s", sent, got, want)
			}
		}
		p.tell(t, `{"jsonrpc":"2.0","id":"after","method":"echo"}`)
		if got := p.hear(t); got != `{"jsonrpc":"2.0","id":"after","result":null}` {
			t.Errorf("after %.200s: %s", sent, got)
		}
	}
}

// A request that takes long holds up neither others, nor what cancels it, nor the answer to a
// question that it has asked itself.
func TestReadingGoesOnWhileRequestsRun(t *testing.T) {
	var p *pipe
	p = converse(t, jsonrpc.Config{Handle: func(ctx context.Context, r *jsonrpc.Request) (any, error) {
		switch r.Method {
		case "wait":
			<-ctx.Done()
			return context.Cause(ctx).Error(), nil
		case "cancel":
			var id [1]jsontext.Value
			if err := r.Decode(&id); err != nil {
				return nil, err
			}
			p.peer.Cancel(id[0])
			return nil, nil
		case "ask":
			var answer string
			err := p.peer.Call(ctx, "question", []int{1}, &answer)
			return answer, err
		}
		return echo(ctx, r)
	}})
	p.tell(t, `{"jsonrpc":"2.0","id":"long","method":"wait"}`)
	p.tell(t, `{"jsonrpc":"2.0","id":"l\u006fng","method":"echo"}`)
	if got := p.hear(t); !strings.Contains(got, "running already") {
		t.Errorf("a second request with one id: %s", got)
	}
	p.tell(t, `{"jsonrpc":"2.0","id":2,"method":"ask"}`)
	question := p.hear(t)
	if question != `{"jsonrpc":"2.0","id":1,"method":"question","params":[1]}` {
		t.Fatal(question)
	}
	p.tell(t, `{"jsonrpc":"2.0","id":1,"result":"an answer"}`)
	if got := p.hear(t); got != `{"jsonrpc":"2.0","id":2,"result":"an answer"}` {
		t.Errorf("what asks itself: %s", got)
	}
	p.tell(t, `{"jsonrpc":"2.0","method":"cancel","params":["long"]}`)
	if got := p.hear(t); got != `{"jsonrpc":"2.0","id":"long","result":"the request was canceled"}` {
		t.Errorf("what was canceled: %s", got)
	}
	p.tell(t, `{"jsonrpc":"2.0","id":3,"method":"ask"}`)
	p.hear(t)
	p.tell(t, `{"jsonrpc":"2.0","id":2,"error":{"code":-7,"message":"no"}}`)
	if got := p.hear(t); got != `{"jsonrpc":"2.0","id":3,"error":{"code":-7,"message":"no"}}` {
		t.Errorf("what was refused: %s", got)
	}
}

// As many requests run as may; one more is refused, and what is canceled makes room.
func TestParallelRequestsAreBounded(t *testing.T) {
	var p *pipe
	p = converse(t, jsonrpc.Config{Parallel: 2, Handle: func(ctx context.Context, r *jsonrpc.Request) (any, error) {
		if r.Notification {
			p.peer.Cancel(jsontext.Value("1"))
			return nil, nil
		}
		<-ctx.Done()
		return nil, nil
	}})
	for _, id := range []string{"1", "2", "3"} {
		p.tell(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"wait"}`)
	}
	if got := p.hear(t); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,`) {
		t.Errorf("a third: %s", got)
	}
	p.tell(t, `{"jsonrpc":"2.0","method":"cancel"}`)
	if got := p.hear(t); got != `{"jsonrpc":"2.0","id":1,"result":null}` {
		t.Errorf("the first: %s", got)
	}
	p.tell(t, `{"jsonrpc":"2.0","id":1,"method":"wait"}`) // its id is free again
	p.tell(t, `{"jsonrpc":"2.0","id":4,"method":"wait"}`)
	if got := p.hear(t); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":4,"error":`) {
		t.Errorf("a fourth: %s", got)
	}
}

// When the other side has gone, what waits for it fails, what runs for it ends, and Serve
// returns when nothing is left.
func TestTheOtherSideLeaves(t *testing.T) {
	entered, left := make(chan struct{}), make(chan error, 1)
	p := converse(t, jsonrpc.Config{Handle: func(ctx context.Context, r *jsonrpc.Request) (any, error) {
		close(entered)
		<-ctx.Done()
		left <- context.Cause(ctx)
		return nil, nil
	}})
	p.tell(t, `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
	<-entered
	asked := make(chan error, 1)
	go func() { asked <- p.peer.Call(context.Background(), "question", nil, nil) }()
	p.hear(t)
	_ = p.say.Close()
	_ = p.out.Close()
	if err := <-asked; !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("a question ends with %v", err)
	}
	if err := <-left; !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("a request ends with %v", err)
	}
	if err := p.peer.Call(context.Background(), "question", nil, nil); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("a later question ends with %v", err)
	}
	err := <-p.ended
	p.ended <- nil
	if err != nil {
		t.Error(err)
	}
}

// Whoever has given up gets no answer, and the late one goes to nobody else.
func TestLateAnswers(t *testing.T) {
	p := converse(t, jsonrpc.Config{Handle: echo})
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { asked <- p.peer.Call(ctx, "first", nil, nil) }()
	p.hear(t)
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var second string
	go func() { asked <- p.peer.Call(t.Context(), "second", nil, &second) }()
	p.hear(t)
	p.tell(t, `{"jsonrpc":"2.0","id":1,"result":"late"}`)
	p.tell(t, `{"jsonrpc":"2.0","id":2,"result":"in time"}`)
	if err := <-asked; err != nil || second != "in time" {
		t.Errorf("%q, %v", second, err)
	}
}

// FuzzMessage: whatever the other side sends, it gets messages of JSON-RPC 2.0, and the next
// request is answered.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}`, `{"jsonrpc":"2.0","id":"\ud83d","method":"x"}`, `{"jsonrpc":"2.0","result":null,"id":null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		p := converse(t, jsonrpc.Config{Handle: echo})
		go func() {
			_, _ = io.WriteString(p.say, sent+"\n"+`{"jsonrpc":"2.0","id":"the end","method":"echo"}`+"\n")
		}()
		for {
			var m struct {
				Version string         `json:"jsonrpc"`
				ID      jsontext.Value `json:"id"`
				Result  jsontext.Value `json:"result"`
				Error   *jsonrpc.Error `json:"error"`
			}
			text := p.hear(t)
			if err := json.Unmarshal([]byte(text), &m, json.RejectUnknownMembers(true)); err != nil || m.Version != "2.0" || m.ID == nil || (m.Result == nil) == (m.Error == nil) {
				t.Fatalf("%q is answered with %s", sent, text)
			}
			if string(m.ID) == `"the end"` {
				return
			}
		}
	})
}

// Several notifications are lines of their own, in their order.
func TestNotifyAll(t *testing.T) {
	p := converse(t, jsonrpc.Config{Handle: echo})
	go func() {
		if err := p.peer.NotifyAll("a\"b", jsontext.Value(`{"n":1}`), jsontext.Value(`[2]`)); err != nil {
			t.Error(err)
		}
	}()
	for _, want := range []string{`{"jsonrpc":"2.0","method":"a\"b","params":{"n":1}}`, `{"jsonrpc":"2.0","method":"a\"b","params":[2]}`} {
		if got := p.hear(t); got != want {
			t.Errorf("said %s, want %s", got, want)
		}
	}
}
