package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/localtools"
)

// The node's questions about tools, which the pipe may answer itself, and what it says when there are others.
const (
	askTools     = "host/tools/list"
	askTool      = "builtin_call"
	toolsChanged = "host/tools/changed"
)

// beside has the tools of the commands that the client names, by Session. Its methods do not wait.
type beside interface {
	// open has a Session have these tools, in place of those that it had.
	open(session, dir string, commands []localtools.Command)
	close(session string)
	// has reports whether a Session has any tools, or, with a name, this one.
	has(session, tool string) bool
	// do begins a job. Its answer goes to talk.did.
	do(j *job)
}

// job is a question of the node's that is answered beside the pipe: a list of tools, or the call of one.
type job struct {
	node    jsontext.Value // its id on the connection it was asked on
	session string
	tool    string // "" for a list
	args    jsontext.Value
	client  []jsontext.Value   // of a list: the tools that the client itself has
	stop    context.CancelFunc // set by do
}

// changed returns what the node is told when there are other tools: it may have asked already when a connection is
// not live yet.
func (t *talk) changed() [][]byte {
	if t.stale = t.phase != live; t.stale {
		return nil
	}
	return [][]byte{notify(toolsChanged)}
}

// begin begins a job on this connection.
func (t *talk) begin(j *job) {
	t.jobs[string(j.node)] = j
	t.beside.do(j)
}

// did returns what the node is told of a job that is done: nothing, where it does not wait any more.
func (t *talk) did(j *job, answer []byte) [][]byte {
	if t.jobs[string(j.node)] != j {
		return nil
	}
	delete(t.jobs, string(j.node))
	return [][]byte{answer}
}

// callOff ends the jobs for which nobody waits any more.
func (t *talk) callOff(which func(*job) bool) {
	for id, j := range t.jobs {
		if which(j) {
			j.stop()
			delete(t.jobs, id)
		}
	}
}

// ofTools takes what the node asks about tools; false where it is for the client alone.
func (t *talk) ofTools(m *acpMessage) (client, node [][]byte, mine bool) {
	session := textOf(at(m.params.Meta, "harn", "sessionId"))
	switch {
	case m.method == askTools && !t.lists:
		t.begin(&job{node: m.ID, session: session})
		return nil, nil, true
	case m.method == askTools:
		q := &question{key: keyOf(m) + " " + session, tools: t.beside.has(session, ""), session: session}
		m.text = putOr(m.text, nil, "params", "_meta", "harn", "sessionId")
		if at(m.text, "params") == nil {
			m.text = putOr(m.text, jsontext.Value("{}"), "params")
		}
		client, node = t.put(q, m)
		return client, node, true
	case m.method == askTool && (t.beside.has(session, textOf(m.params.Name)) || !t.lists):
		t.begin(&job{node: m.ID, session: session, tool: textOf(m.params.Name), args: firstOf(m.params.Args)})
		return nil, nil, true
	}
	return nil, nil, false
}

// merge has the node told of the client's own tools, as it has answered, with those that run beside the pipe.
func (t *talk) merge(q *question, answer *acpMessage) {
	t.begin(&job{node: q.node, session: q.session, client: toolsOf(answer.Result)})
}

// toolsOf are the entries of a list of tools: bare, or a member tools, or either within result.
func toolsOf(v jsontext.Value) (all []jsontext.Value) {
	for range 2 {
		list := v
		if v.Kind() == '{' {
			list = at(v, "tools")
		}
		if list.Kind() == '[' {
			_ = json.Unmarshal(list, &all, lenientNames)
			return all
		}
		v = at(v, "result")
	}
	return nil
}

func firstOf(list jsontext.Value) jsontext.Value {
	var all []jsontext.Value
	if list.Kind() != '[' || json.Unmarshal(list, &all, lenientNames) != nil || len(all) == 0 {
		return jsontext.Value("{}")
	}
	return all[0]
}

// acpTools runs the commands that a client names. But for end it is used by the pipe's loop alone.
type acpTools struct {
	life     context.Context
	warn     func(error)
	patience time.Duration // see localtools.Options
	sets     map[string]*acpSet
	did      chan jobDone
	changed  chan struct{} // holds one when the tools of a Session have changed
	closing  sync.WaitGroup
}

// acpSet are the commands of one Session.
type acpSet struct {
	*localtools.Set

	dir      string
	commands []localtools.Command
}

type jobDone struct {
	job    *job
	answer []byte
}

func newACPTools(life context.Context, warn func(error), patience time.Duration) *acpTools {
	return &acpTools{life: life, warn: warn, patience: patience, sets: map[string]*acpSet{}, did: make(chan jobDone), changed: make(chan struct{}, 1)}
}

func (a *acpTools) open(session, dir string, commands []localtools.Command) {
	if s := a.sets[session]; s != nil && s.dir == dir && reflect.DeepEqual(s.commands, commands) {
		return
	}
	was := a.sets[session] != nil
	a.close(session)
	if len(commands) > 0 {
		a.sets[session] = &acpSet{localtools.Start(commands, localtools.Options{Dir: dir, Warn: a.warn, Changed: a.hasChanged, Patience: a.patience}), dir, commands}
	}
	if was || len(commands) > 0 {
		a.hasChanged()
	}
}

func (a *acpTools) hasChanged() {
	select {
	case a.changed <- struct{}{}:
	default: // it is to be told already
	}
}

func (a *acpTools) close(session string) {
	if s := a.sets[session]; s != nil {
		delete(a.sets, session)
		a.closing.Go(s.Close)
	}
}

func (a *acpTools) has(session, tool string) bool {
	s := a.sets[session]
	return s != nil && (tool == "" || s.Has(tool))
}

func (a *acpTools) do(j *job) {
	ctx, stop := context.WithCancel(a.life)
	j.stop = stop
	s := a.sets[j.session]
	a.closing.Go(func() {
		defer stop()
		answer := s.answer(ctx, j)
		select {
		case a.did <- jobDone{j, answer}:
		case <-a.life.Done():
		}
	})
}

// end ends all processes. When it returns they are gone.
func (a *acpTools) end() {
	for session := range a.sets {
		a.close(session)
	}
	a.closing.Wait()
}

// answer does a job; s is nil where the Session has no commands.
func (s *acpSet) answer(ctx context.Context, j *job) []byte {
	var result jsontext.Value
	var err error
	switch {
	case j.tool == "":
		result, err = s.list(ctx, j.client)
	case s == nil:
		err = &localtools.Failure{Code: localtools.CodeNoTool, Message: "there is no tool " + j.tool}
	default:
		result, err = s.Call(ctx, j.tool, j.args)
	}
	if failure, ok := errors.AsType[*localtools.Failure](err); ok {
		return failed(j.node, failure.Code, failure.Message)
	}
	if err != nil {
		return failed(j.node, codeInternal, plainly.Say(err))
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, j.node, result)
}

// list lists the tools after those that the client itself has.
func (s *acpSet) list(ctx context.Context, client []jsontext.Value) (jsontext.Value, error) {
	type entry struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	}
	all := client
	if all == nil {
		all = []jsontext.Value{}
	}
	if s != nil {
		var others localtools.Others
		for _, t := range client {
			others.Names = append(others.Names, textOf(at(t, "name")))
			others.Bytes += len(t)
		}
		for _, t := range s.List(ctx, others) {
			text, err := json.Marshal(entry{t.Name, t.Description, t.InputSchema})
			if err != nil {
				return nil, fmt.Errorf("listing the tool %s: %w", t.Name, err)
			}
			all = append(all, text)
		}
	}
	text, err := json.Marshal(map[string][]jsontext.Value{"tools": all}, lenientNames)
	if err != nil {
		return nil, fmt.Errorf("listing tools: %w", err)
	}
	return text, nil
}
