package suite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/fanout"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/proc"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/benches/internal/socket"
)

// What the Agent Client Protocol is held to.
const (
	goalFirstUpdate     = 3  // ms, p50
	goalFirstUpdateLate = 20 // ms, p99
	goalTurn            = 1.3
	goalCancelled       = 50 // ms, p99
	goalUpdates         = 20_000
	goalIdleEditor      = 60  // KB
	goalPipeStart       = 150 // ms
	goalPipeMemory      = 20  // MB
)

const (
	turnsMeasured   = 500
	cancelsMeasured = 50
	idleEditors     = 1000
)

// editor is a client of the protocol, on a WebSocket.
type editor struct {
	ws   *websocket.Conn
	last int
}

// acpHello is what a client begins with.
const acpHello = `{"protocolVersion":1,"clientCapabilities":{}}`

// openEditor connects, and says what it is.
func openEditor(n *node.Node) (*editor, error) {
	ws, err := socket.Open(n.Addr, "/acp", node.Headers())
	if err != nil {
		return nil, err
	}
	e := &editor{ws: ws}
	_, err = e.ask("initialize", acpHello, nil)
	return e, err
}

// say sends a request, and returns its id.
func (e *editor) say(method, params string) (string, error) {
	e.last++
	id := fmt.Sprint(e.last)
	return id, e.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

// next reads a message.
func (e *editor) next() ([]byte, error) {
	if err := e.ws.SetReadDeadline(time.Now().Add(completeLimit)); err != nil {
		return nil, err
	}
	_, text, err := e.ws.ReadMessage()
	return text, err
}

// acpAnswer is the answer to a request.
type acpAnswer struct {
	ID     int `json:"id"`
	Result struct {
		SessionID  string `json:"sessionId"`
		StopReason string `json:"stopReason"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// until reads up to the answer to a request. update, if it is not nil, is told what comes before.
func (e *editor) until(id string, update func([]byte)) (*acpAnswer, error) {
	for {
		text, err := e.next()
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(`"method":"session/update"`)) {
			if update != nil {
				update(text)
			}
			continue
		}
		var a acpAnswer
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, fmt.Errorf("%w: %.300s", err, text)
		}
		switch {
		case fmt.Sprint(a.ID) != id:
		case a.Error != nil:
			return nil, errors.New(a.Error.Message)
		default:
			return &a, nil
		}
	}
}

func (e *editor) ask(method, params string, update func([]byte)) (*acpAnswer, error) {
	id, err := e.say(method, params)
	if err != nil {
		return nil, err
	}
	return e.until(id, update)
}

// open makes a session.
func (e *editor) open(persona string) (string, error) {
	a, err := e.ask("session/new", fmt.Sprintf(`{"cwd":"/work","mcpServers":[],"_meta":{"harn":{"personaId":%q}}}`, persona), nil)
	if err != nil {
		return "", err
	}
	return a.Result.SessionID, nil
}

func promptOf(session string) string {
	return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, question)
}

// onNode runs f with a fresh node that has the plugins, and profiles it under a name, which "" is none of.
func (s *Suite) onNode(ctx context.Context, name string, f func(*node.Node) error) error {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return err
	}
	defer remove()
	args, profile, err := s.profiled(name)
	if err != nil {
		return err
	}
	n, err := s.startWith(ctx, dir, args, append(s.withPlugins(), fmt.Sprint("WHARF_LIMITS_STREAMS=", idleEditors+100)))
	if err != nil {
		return err
	}
	defer n.Kill()
	defer profile(ctx)()
	if err := f(n); err != nil {
		return withOutput(err, n)
	}
	return nil
}

// turnTimes are those of one round.
type turnTimes struct {
	first, turn, task, cancelled []time.Duration
}

// measureEditorTurns measures turns as an editor has them, beside the same Tasks over REST.
func measureEditorTurns(ctx context.Context, s *Suite) ([]report.Row, error) {
	var first, late, turn, task, cancelled []float64
	for range s.Rounds {
		var t turnTimes
		if err := s.onNode(ctx, "acp-turns", func(n *node.Node) error { return t.measure(ctx, n) }); err != nil {
			return nil, err
		}
		first, late = append(first, millis(quantile(t.first, 0.5))), append(late, millis(quantile(t.first, 0.99)))
		turn, task = append(turn, millis(quantile(t.turn, 0.5))), append(task, millis(quantile(t.task, 0.5)))
		cancelled = append(cancelled, millis(quantile(t.cancelled, 0.99)))
		s.say("  first update %.2f ms, p99 %.2f ms; turn %.2f ms, Task %.2f ms; cancelled p99 %.1f ms", first[len(first)-1], late[len(late)-1], turn[len(turn)-1], task[len(task)-1], cancelled[len(cancelled)-1])
	}
	return []report.Row{
		report.Row{What: "from session/prompt to the first update, 1 editor, p50", Wharf: report.NewFigure("ms", first)}.Must(report.AtMost, goalFirstUpdate),
		report.Row{What: "the same, p99", Wharf: report.NewFigure("ms", late)}.Must(report.AtMost, goalFirstUpdateLate),
		report.Row{What: "a turn, p50", Wharf: report.NewFigure("ms", turn)}.Against("its Task over REST, Prefer: wait", report.NewFigure("ms", task)).Must(report.AtMost, goalTurn),
		report.Row{What: "from session/cancel to cancelled, of a plugin that computes, p99", Wharf: report.NewFigure("ms", cancelled)}.Must(report.AtMost, goalCancelled),
	}, nil
}

func (t *turnTimes) measure(ctx context.Context, n *node.Node) error {
	e, err := openEditor(n)
	if err != nil {
		return err
	}
	defer e.ws.Close()
	session, err := e.open(persona)
	if err != nil {
		return err
	}
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return err
	}
	for range turnsMeasured {
		if err := t.one(e, session); err != nil {
			return err
		}
		start := time.Now()
		if _, err := n.Submit(sessions[0], taskFor(persona), "wait=10"); err != nil {
			return err
		}
		t.task = append(t.task, time.Since(start))
	}
	for range cancelsMeasured {
		if err := t.cancel(ctx, n, e); err != nil {
			return err
		}
	}
	return nil
}

func (t *turnTimes) one(e *editor, session string) error {
	start := time.Now()
	var first time.Duration
	_, err := e.ask("session/prompt", promptOf(session), func([]byte) {
		if first == 0 {
			first = time.Since(start)
		}
	})
	t.first, t.turn = append(t.first, first), append(t.turn, time.Since(start))
	return err
}

// busyTask waits for input, and then computes without an end.
const busyTask = `{"input":{"program":[{"call":"input.request","request":{"prompt":"Which depot is meant?"}},{"call":"log","text":"busy"},{"call":"spin"}]},"persona_id":"` + personaCalls + `"}`

// cancel answers a Task that waits by a prompt, and cancels it when it computes.
func (t *turnTimes) cancel(ctx context.Context, n *node.Node, e *editor) error {
	session, err := e.open(personaCalls)
	if err != nil {
		return err
	}
	task, err := n.Submit(session, []byte(busyTask), "")
	if err != nil {
		return err
	}
	for asked := false; !asked; {
		text, err := e.next()
		if err != nil {
			return err
		}
		asked = bytes.Contains(text, []byte("Which depot"))
	}
	if err := n.Await(ctx, task, "INPUT_REQUIRED", completeLimit, parkEvery); err != nil {
		return err
	}
	id, err := e.say("session/prompt", promptOf(session))
	if err != nil {
		return err
	}
	if err := n.Await(ctx, task, "WORKING", completeLimit, time.Millisecond); err != nil {
		return err
	}
	start := time.Now()
	if err := e.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session)); err != nil {
		return err
	}
	a, err := e.until(id, nil)
	if err == nil && a.Result.StopReason != "cancelled" {
		err = fmt.Errorf("the turn has stopped with %q", a.Result.StopReason)
	}
	t.cancelled = append(t.cancelled, time.Since(start))
	return err
}

// measureEditorUpdates measures how many updates a second one editor is told: of a Task while it says
// much, beside a stream of the same kind of Task over REST, and of a conversation that there is.
func measureEditorUpdates(ctx context.Context, s *Suite) ([]report.Row, error) {
	of := func(name string, f func(context.Context, *node.Node) (float64, error)) step {
		return step{name, func(ctx context.Context) (rate float64, err error) {
			err = s.onNode(ctx, name, func(n *node.Node) error {
				rate, err = f(ctx, n)
				return err
			})
			return rate, err
		}}
	}
	got, err := s.interleave(ctx, []step{of("acp-live", liveUpdates), of("acp-live-rest", liveEvents), of("acp-load", loadedUpdates)})
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Row{What: "updates of a conversation told to one editor that loads it", Wharf: report.NewFigure(perSecond, got["acp-load"]),
			Note: fmt.Sprintf("%d times, %d updates each", loads, loadedTasks*fanoutEvents)}.Must(report.AtLeast, goalUpdates),
		report.Row{What: "updates of one Task told to one editor while it says them", Wharf: report.NewFigure(perSecond, got["acp-live"]),
			Note: "the Task says them as fast as it can, and each is durable before it is told: that is part of it"}.
			Against("the Task's stream over REST", report.NewFigure(perSecond, got["acp-live-rest"])),
	}, nil
}

// talkTo begins a Task that waits, and then says much.
func talkTo(ctx context.Context, n *node.Node, session string) (task string, err error) {
	if task, err = n.Submit(session, talkingTask(fanoutEvents), ""); err != nil {
		return "", err
	}
	return task, n.Await(ctx, task, "INPUT_REQUIRED", completeLimit, parkEvery)
}

// liveUpdates reads what a Task says while it says it.
func liveUpdates(ctx context.Context, n *node.Node) (float64, error) {
	e, err := openEditor(n)
	if err != nil {
		return 0, err
	}
	defer e.ws.Close()
	session, err := e.open(personaCalls)
	if err != nil {
		return 0, err
	}
	task, err := talkTo(ctx, n, session)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := goOn(n, task); err != nil {
		return 0, err
	}
	for seen := 0; seen < fanoutEvents; {
		text, err := e.next()
		if err != nil {
			return 0, err
		}
		if bytes.Contains(text, []byte(saidByTask)) {
			seen++
		}
	}
	return rate(1, time.Since(start)), nil
}

// liveEvents reads the same as a stream of events.
func liveEvents(ctx context.Context, n *node.Node) (float64, error) {
	sessions, err := n.CreateSessions(1, personaCalls)
	if err != nil {
		return 0, err
	}
	task, err := talkTo(ctx, n, sessions[0])
	if err != nil {
		return 0, err
	}
	readers, err := fanout.Open(ctx, n.Addr, 1, n.StreamRequest("/v1/tasks/"+task+"/stream"), fanout.EventsOf(string(abi.EventAgentMessage)), fanoutEvents, time.Now().Add(fanoutLimit), nil)
	if err != nil {
		return 0, err
	}
	defer readers.Close()
	start := time.Now()
	if err := goOn(n, task); err != nil {
		return 0, err
	}
	last, err := readers.Wait()
	return rate(1, last.Sub(start)), err
}

// How long a conversation is that is loaded, and how often it is.
const (
	loadedTasks = 5
	loads       = 5
)

// loadedUpdates reads a conversation that there is, as session/load tells it.
func loadedUpdates(ctx context.Context, n *node.Node) (float64, error) {
	e, err := openEditor(n)
	if err != nil {
		return 0, err
	}
	defer e.ws.Close()
	sessions, err := n.CreateSessions(1, personaCalls)
	if err != nil {
		return 0, err
	}
	for range loadedTasks {
		task, err := talkTo(ctx, n, sessions[0])
		if err != nil {
			return 0, err
		}
		if err := goOn(n, task); err != nil {
			return 0, err
		}
		if err := n.Await(ctx, task, "COMPLETED", completeLimit, parkEvery); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	for range loads {
		said := 0
		if _, err := e.ask("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, sessions[0]), func(text []byte) {
			if bytes.Contains(text, []byte(saidByTask)) {
				said++
			}
		}); err != nil {
			return 0, err
		}
		if said != loadedTasks*fanoutEvents {
			return 0, fmt.Errorf("%d of %d updates were told", said, loadedTasks*fanoutEvents)
		}
	}
	return rate(loads*loadedTasks, time.Since(start)), nil
}

// measureIdleEditors measures what editors that say nothing cost a node, each with a session of its own.
func measureIdleEditors(ctx context.Context, s *Suite) ([]report.Row, error) {
	var each []float64
	for range min(s.Rounds, memoryRounds) {
		if err := s.onNode(ctx, "", func(n *node.Node) error {
			before, err := settled(ctx, n)
			if err != nil {
				return err
			}
			for range idleEditors {
				e, err := openEditor(n)
				if err != nil {
					return err
				}
				defer e.ws.Close()
				if _, err := e.open(persona); err != nil {
					return err
				}
			}
			with, err := settled(ctx, n)
			each = append(each, (with-before)*megabyte/1000/idleEditors)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return []report.Row{report.Row{What: fmt.Sprintf("what each of %d idle editors with a session adds to the node", idleEditors), Wharf: report.NewFigure("KB", each)}.Must(report.AtMost, goalIdleEditor)}, nil
}

// measurePipe measures "wharf acp": from its start to the answer to initialize, and its memory after a turn.
func measurePipe(ctx context.Context, s *Suite) ([]report.Row, error) {
	var took, own, resident []float64
	for range s.Rounds {
		if err := s.onNode(ctx, "", func(n *node.Node) error {
			p, err := s.pipeOnce(ctx, n)
			took, own, resident = append(took, millis(p.answered)), append(own, float64(p.own)/megabyte), append(resident, float64(p.resident)/megabyte)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return []report.Row{
		report.Row{What: "from starting wharf acp to the answer to initialize", Wharf: report.NewFigure("ms", took)}.Must(report.AtMost, goalPipeStart),
		report.Row{What: "memory of its own that wharf acp holds after a turn", Wharf: report.NewFigure("MB", own),
			Note: fmt.Sprintf("resident with the pages of the program's file, which it shares with the node: %.0f MB", report.Median(resident))}.Must(report.AtMost, goalPipeMemory),
	}, nil
}

// pipeSample is what one run of "wharf acp" takes.
type pipeSample struct {
	answered      time.Duration
	own, resident int64
}

func (s *Suite) pipeOnce(ctx context.Context, n *node.Node) (got pipeSample, err error) {
	pipe := exec.CommandContext(ctx, s.Binary, "acp", "--server", "http://"+n.Addr)
	pipe.Env = append(os.Environ(), "WHARF_API_KEY="+node.APIKey)
	in, err := pipe.StdinPipe()
	if err != nil {
		return got, err
	}
	out, err := pipe.StdoutPipe()
	if err != nil {
		return got, err
	}
	lines := bufio.NewScanner(out)
	until := func(what string) error {
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return nil
			}
		}
		return fmt.Errorf("the pipe has ended before %s: %w", what, lines.Err())
	}
	start := time.Now()
	if err := pipe.Start(); err != nil {
		return got, err
	}
	defer func() {
		_ = in.Close()
		err = errors.Join(err, pipe.Wait())
	}()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}`+"\n", acpHello)
	if err := until(`"protocolVersion"`); err != nil {
		return got, err
	}
	got.answered = time.Since(start)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work","mcpServers":[],"_meta":{"harn":{"personaId":%q}}}}`+"\n", persona)
	for lines.Scan() {
		var a acpAnswer
		if json.Unmarshal(lines.Bytes(), &a) == nil && a.Result.SessionID != "" {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":%s}`+"\n", promptOf(a.Result.SessionID))
			break
		}
	}
	if err := until(`"stopReason"`); err != nil {
		return got, err
	}
	if got.own, err = proc.Own(pipe.Process.Pid); err != nil {
		return got, err
	}
	got.resident, err = proc.RSS(pipe.Process.Pid)
	return got, err
}
