package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
)

// persona answers the Tasks of every measurement: a small native module.
const persona = "persona_echo"

// question is what small Tasks ask.
const question = "Which of the open orders are affected by what changed in the delivery schedule of the northern depots since Monday?"

// taskFor is a small Task for a Persona, as a client would write it.
func taskFor(persona string) []byte {
	return fmt.Appendf(nil, `{"input":{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]},"persona_id":%q,"metadata":{"source":"benches","trace":"b7c1f0"}}`,
		question, persona)
}

// held keeps accepted Tasks from competing with the accepting: one runs at a
// time, the others wait in a queue that never fills.
func held() []string { return []string{"WHARF_TASKS_CONCURRENCY=1", "WHARF_TASKS_QUEUE=10000000"} }

// unbounded lets Tasks run as they do by default, but never refuses one.
func unbounded() []string { return []string{"WHARF_TASKS_QUEUE=10000000"} }

// shape says what the requests of a load look like.
type shape struct {
	wait    bool   // ask for the answer when the Task is terminal
	keyed   bool   // carry an Idempotency-Key
	fresh   bool   // have the Task's Session made with it, a hidden one
	harness bool   // ask by the Open Harness API, which does the same
	persona string // that runs the Tasks; "" for echo
	task    []byte // what is submitted; nil for a small question
	conns   int    // 0 for as many as the suite has
	asked   *asked // how another protocol asks for it; nil for Harn's or the harness's way
}

// asked is how a protocol asks for a Task, and sees that it is done.
type asked struct {
	path    string
	headers []load.Header
	body    []byte // with slot in it, which each request has another text in
	done    string // what the answer holds
}

// slot is as long as a key of [load.Request].
const slot = "0000000000000000000000000000slot"

// who is the Persona of the Sessions and Tasks of a load.
func (sh shape) who() string {
	if sh.persona == "" {
		return persona
	}
	return sh.persona
}

// body is what a request of this shape carries.
func (sh shape) body() []byte {
	switch {
	case sh.asked != nil:
		return sh.asked.body
	case sh.task != nil:
		return sh.task
	case sh.harness:
		return fmt.Appendf(nil, `{"message":%q,"agent_id":%q}`, question, sh.who())
	case sh.fresh:
		return append([]byte(`{"session":{"workspace_id":"ws_default","hidden":true},`), taskFor(sh.who())[1:]...)
	}
	return taskFor(sh.who())
}

// path is where a request of this shape goes, of one to a Session.
func (sh shape) path(session string) string {
	switch {
	case sh.asked != nil:
		return sh.asked.path
	case sh.harness:
		return "/v1/harnesses/wharf/execute"
	case sh.fresh:
		return "/v1/tasks"
	}
	return "/v1/sessions/" + session + "/tasks"
}

// sample is what one load told about a server.
type sample struct {
	rate float64       // counted answers a second
	cpu  time.Duration // processor time of the server for each, 0 if unknown
	took []time.Duration
}

// headers of a request of this shape.
func (sh shape) headers() []load.Header {
	h := node.Headers()
	if sh.wait {
		h = append(h, load.Header{Name: "Prefer", Value: "wait=10"})
	}
	if sh.asked != nil {
		h = append(h, sh.asked.headers...)
	}
	return h
}

// counts is the condition for an answer to count.
func (sh shape) counts(status int, body []byte) bool {
	if sh.asked != nil {
		return status == 200 && bytes.Contains(body, []byte(sh.asked.done))
	}
	return status/100 == 2 && (!sh.wait || bytes.Contains(body, []byte(`"status":"COMPLETED"`)))
}

// plan is a load of Tasks, spread over the given Sessions.
func (s *Suite) plan(addr string, sessions []string, sh shape) load.Plan {
	return load.Plan{
		Addr: addr, Conns: s.conns(sh), Warmup: s.Warmup, Measure: s.Duration, Counts: sh.counts,
		Requests: func(conn int) *load.Request { return sh.request(addr, sessions[conn%len(sessions)]) },
	}
}

// request is what one connection of a load sends.
func (sh shape) request(addr, session string) *load.Request {
	r := load.NewRequest("POST", addr, sh.path(session), sh.headers(), sh.keyed || sh.asked != nil, sh.body())
	if sh.asked != nil {
		place := r.Slot(slot)
		r.OnRefresh(func(key []byte) { copy(place, key) })
	}
	return r
}

// conns is how many connections a load has.
func (s *Suite) conns(sh shape) int {
	if sh.conns == 0 {
		return s.Conns
	}
	return sh.conns
}

// runPlan sends a load and requires that nothing was refused.
func runPlan(ctx context.Context, p load.Plan, cpu func() (time.Duration, error)) (*load.Result, sample, error) {
	var used [2]time.Duration
	p.Window = func(open bool) {
		spent, err := cpu()
		if err != nil {
			spent = 0 // reported as unknown
		}
		if open {
			used[0] = spent
		} else {
			used[1] = spent
		}
	}
	result, err := load.Run(ctx, p)
	if err != nil {
		return nil, sample{}, err
	}
	if len(result.Refused) > 0 {
		return nil, sample{}, fmt.Errorf("some requests were not answered as they should: %v, such as %s", result.Refused, result.Example)
	}
	if result.Counted == 0 {
		return nil, sample{}, errors.New("nothing was answered within the window")
	}
	return result, sample{rate: result.Rate(), cpu: (used[1] - used[0]) / time.Duration(result.Counted), took: result.Took}, nil
}

// loadCeiling measures the ceiling once, on a fresh store.
func (s *Suite) loadCeiling(ctx context.Context, sh shape) (sample, error) {
	dir, remove, err := s.folder("ceiling")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	server, err := ceiling.Start(ctx, s.Self, "accept", dir)
	if err != nil {
		return sample{}, err
	}
	defer server.Stop()
	sessions := []string{"sess_00000000000000000000000000"}
	_, got, err := runPlan(ctx, s.plan(server.Addr, sessions, shape{keyed: sh.keyed}), server.CPU)
	return got, err
}

// loadFresh measures a node once, on a fresh folder.
func (s *Suite) loadFresh(ctx context.Context, name string, sh shape, env []string) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled(name)
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, args, env)
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	result, got, err := s.loadNode(ctx, n, sh, profile)
	if err != nil {
		return sample{}, err
	}
	if sh.asked != nil { // its answers do not begin with the Task's id
		return got, nil
	}
	return got, s.check(n, result.IDs)
}

// loadNode measures a running node, and profiles it while it does.
func (s *Suite) loadNode(ctx context.Context, n *node.Node, sh shape, profile profiler) (*load.Result, sample, error) {
	sessions, err := n.CreateSessions(s.conns(sh), sh.who())
	if err != nil {
		return nil, sample{}, err
	}
	defer profile(ctx)()
	result, got, err := runPlan(ctx, s.plan(n.Addr, sessions, sh), n.CPU)
	if err != nil {
		return nil, sample{}, withOutput(err, n)
	}
	return result, got, nil
}

// withOutput adds what the node said to an error.
func withOutput(err error, n *node.Node) error {
	if said := n.Output(); said != "" {
		return fmt.Errorf("%w; the node said:\n%s", err, said)
	}
	return err
}

// check requires that every acknowledged Task is in the log, once.
func (s *Suite) check(n *node.Node, acknowledged []string) error {
	missing := make(map[string]struct{}, len(acknowledged))
	for _, id := range acknowledged {
		missing[id] = struct{}{}
	}
	if len(missing) != len(acknowledged) {
		return fmt.Errorf("%d acknowledgements named only %d different Tasks", len(acknowledged), len(missing))
	}
	if err := n.TaskIDs(func(id string) { delete(missing, id) }); err != nil {
		return fmt.Errorf("looking for acknowledged Tasks: %w", err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d of %d acknowledged Tasks are not in the log", len(missing), len(acknowledged))
	}
	s.checked += len(acknowledged)
	return nil
}

// profiler profiles a node: it is called before the load, and its result after.
type profiler func(context.Context) (save func())

// noProfile profiles nothing.
func noProfile(context.Context) func() { return func() {} }

// profiled returns the arguments that make a node serve profiles, and what saves
// them. Without a folder for profiles there is nothing to do.
func (s *Suite) profiled(name string) (args []string, start profiler, err error) {
	if s.Profiles == "" {
		return nil, noProfile, nil
	}
	addr, err := node.FreeAddr()
	if err != nil {
		return nil, nil, err
	}
	start = func(ctx context.Context) func() {
		cpu := make(chan error, 1)
		go func() { cpu <- node.FetchProfile(ctx, addr, "profile", s.Warmup+s.Duration, s.profile(name, "cpu")) }()
		return func() {
			if err := errors.Join(<-cpu, node.FetchProfile(ctx, addr, "allocs", 0, s.profile(name, "allocs"))); err != nil {
				s.say("  no profile of %s: %v", name, err)
			}
		}
	}
	return node.ProfileArgs(addr), start, nil
}

// profile is the file that a profile is saved to.
func (s *Suite) profile(name, kind string) string {
	return filepath.Join(s.Profiles, name+"."+kind+".pprof")
}
