package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins"
)

// Config says how to measure.
type Config struct {
	Self       string        // this program, which also is the ceiling's process
	Binary     string        // the node's binary
	Dir        string        // where data folders are made
	Rounds     int           // samples of each figure
	Warmup     time.Duration // before each window
	Duration   time.Duration // of each window
	Conns      int           // connections of the throughput measurements
	Readers    int           // of the fan-out
	Sessions   int           // that an idle node is measured with
	Parked     int           // Tasks that wait for input in the parked measurement
	Calls      int           // host calls of the Task that is replayed
	Events     int64         // that the log is filled with by scale
	Executions int           // of the longest list of them
	Backlog    int           // deliveries that wait when normalize begins
	Attack     time.Duration // of strangers
	Attacks    string        // parts of the names of the attacks to make; empty: all
	Ended      int           // Tasks that retention removes
	IDs        int64         // of deliveries in the window, for dedupe
	Profiles   string        // folder for profiles of the node, "" for none
	Progress   io.Writer     // what is being done
}

// Measurement is one thing that can be measured by itself.
type Measurement struct {
	Name string
	Doc  string
	// Long measurements run only when they are asked for by name.
	Long bool
	run  func(context.Context, *Suite) ([]report.Row, error)
}

// Measurements lists all there is to measure, in order.
func Measurements() []Measurement {
	return []Measurement{
		{Name: "accept", Doc: "Tasks accepted and durable a second", run: measureAccept},
		{Name: "complete", Doc: "Tasks accepted and completed a second", run: measureComplete},
		{Name: "latency", Doc: "from submit to completion seen on a stream", run: measureLatency},
		{Name: "fanout", Doc: "events delivered to many readers of one stream", run: measureFanout},
		{Name: "cold", Doc: "from starting the binary to its first answer", run: measureCold},
		{Name: "memory", Doc: "resident memory of an idle node", run: measureMemory},
		{Name: "steps-durable", Doc: "Tasks of recorded steps, each durable before the next", run: measureStepsDurable},
		{Name: "steps-read", Doc: "the same with steps that need not be durable one by one", run: measureStepsRead},
		{Name: "wal", Doc: "bytes of the write-ahead log for a Task of recorded steps", run: measureWAL},
		{Name: "replay", Doc: "host calls replayed a second", run: measureReplay},
		{Name: "receipt", Doc: "receipts made and signed a second by one core", run: measureReceipt},
		{Name: "ws-echo", Doc: "commands answered over WebSockets", run: measureEcho},
		{Name: "ws-idle", Doc: "memory of open WebSockets that say nothing", run: measureIdleSockets},
		{Name: "deliveries", Doc: "deliveries accepted, verified, deduped and durable a second", run: measureDeliveries},
		{Name: "normalize", Doc: "deliveries that a Wasm connector turns into Tasks a second", run: measureNormalize},
		{Name: "webhooks", Doc: "deliveries to a Webhook ended a second, alone and beside dead receivers", run: measureWebhooks},
		{Name: "lists", Doc: "a page of a list of a million, against one of a thousand", run: measureLists},
		{Name: "dedupe", Doc: "whether a delivery has been taken, and what remembering it takes", run: measureDedupe},
		{Name: "spinning", Doc: "what a client waits beside guests that compute without an end", run: measureSpinning},
		{Name: "parked", Doc: "memory of Tasks that wait for input", run: measureParked},
		{Name: "harness-accept", Doc: "executions accepted and durable a second, beside Harn's Tasks", run: measureHarnessAccept},
		{Name: "harness-text", Doc: "from a model's first piece to the first text of execute/stream, beside Harn's stream", run: measureHarnessText},
		{Name: "harness-fanout", Doc: "texts delivered to many readers of one execution, beside Harn's streams", run: measureHarnessFanout},
		{Name: "harness-import", Doc: "importing a bundle of 2,000 files, and refusing a bomb of 10 GB", run: measureHarnessImport},
		{Name: "harness-webhooks", Doc: "deliveries to a webhook of a harness ended a second, alone and beside dead receivers", run: measureHarnessWebhooks},
		{Name: "agents-list", Doc: "what an MCP client waits for the list of tools", run: measureToolsList},
		{Name: "agents-call", Doc: "Tasks that clients of MCP and of A2A have done a second, beside the same over REST", run: measureAgentCalls},
		{Name: "agents-push", Doc: "push notifications of A2A to a receiver", run: measurePush},
		{Name: "agents-fanout", Doc: "texts delivered by A2A to many subscribers of one Task, beside Harn's streams", run: measureAgentFanout},
		{Name: "agent-tasks", Doc: "what a Task of the bundled agent costs", run: measureAgentTasks},
		{Name: "acp-turns", Doc: "turns and cancelling as an editor has them, beside the same Tasks over REST", run: measureEditorTurns},
		{Name: "acp-updates", Doc: "updates told to one editor a second", run: measureEditorUpdates},
		{Name: "acp-idle", Doc: "memory of editors that say nothing", run: measureIdleEditors},
		{Name: "acp-pipe", Doc: "start and memory of wharf acp", run: measurePipe},
		{Name: "sandbox-instance", Doc: "what a pristine instance costs each Task", run: measureInstances},
		{Name: "sandbox-idle", Doc: "memory of instances that wait for a Task", run: measureIdle},
		{Name: "sandbox-compute", Doc: "what counting gas and depth costs guests that compute", run: measureCompute},
		{Name: "sandbox-call", Doc: "a host call", run: measureHostCall},
		{Name: "sandbox-tasks", Doc: "Tasks of a plugin in Go beside one in C", run: measureGoTasks},
		{Name: "plugin-tasks", Doc: "Tasks of new plugins in TypeScript and Python beside one in C", run: measureScriptTasks},
		{Name: "plugin-install", Doc: "from the install of a plugin in Go to its first answer", run: measureInstall},
		{Name: "plugin-languages", Doc: "the module and a host call of one plugin in each language, beside Extism's kits", Long: true, run: measureLanguages},
		{Name: "steps-scale", Doc: "Tasks of recorded steps with a full log", Long: true, run: measureStepsScale},
		{Name: "harness-lists", Doc: "a page of a list of a million executions, against one of a thousand", Long: true, run: measureHarnessLists},
		{Name: "retention", Doc: "a million ended Tasks removed beside clients, and the room that comes back", Long: true, run: measureRetention},
		{Name: "strangers", Doc: "a node of 1 GiB under all attacks at once, and another tenant beside them", Long: true, run: measureStrangers},
		{Name: "compare", Doc: "Tasks of recorded steps beside Restate, which npm has to install first", Long: true, run: measureCompare},
		{Name: "scale", Doc: "accept and complete with a full log", Long: true, run: measureScale},
	}
}

// Select returns the measurements with the given names, or all that are not
// long when there are none.
func Select(names []string) ([]Measurement, error) {
	all := Measurements()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(m Measurement) bool { return m.Long }), nil
	}
	var out []Measurement
	for _, name := range names {
		found := named(all, name)
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no measurement %q", name)
		}
		out = append(out, found...)
	}
	return out, nil
}

// named returns the measurement of a name, or else those of the family that has it, such
// as sandbox.
func named(all []Measurement, name string) (found []Measurement) {
	for _, m := range all {
		if m.Name == name {
			return []Measurement{m}
		}
		if strings.HasPrefix(m.Name, name+"-") && !m.Long {
			found = append(found, m)
		}
	}
	return found
}

// Suite is one run of measurements.
type Suite struct {
	Config
	checked int    // acknowledged Tasks that were looked for, and found
	serial  int    // of the folders made
	modules string // folder of compiled modules that fresh data folders begin with
	plugins string // folder of the plugins that only measurements run
}

// Run makes the measurements and adds what came of them to r. One that fails is
// reported and does not keep the others from running; Run fails only when ctx
// ends, or if no node can be started.
func (s *Suite) Run(ctx context.Context, measurements []Measurement, r *report.Report) error {
	if err := s.compileModules(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, measurements, r); err != nil {
		return err
	}
	if s.checked > 0 {
		r.Checks = append(r.Checks, fmt.Sprintf("every one of %d acknowledged Tasks was found in the log afterwards", s.checked))
	}
	return nil
}

func (s *Suite) measure(ctx context.Context, measurements []Measurement, r *report.Report) error {
	for _, m := range measurements {
		s.say("%s: %s", m.Name, m.Doc)
		rows, err := m.run(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Failed = append(r.Failed, fmt.Sprintf("%s: %v", m.Name, err))
			s.say("%s failed: %v", m.Name, err)
		}
		for i := range rows {
			rows[i].Measurement = m.Name
		}
		r.Rows = append(r.Rows, rows...)
	}
	return nil
}

// say prints a line of progress.
func (s *Suite) say(format string, args ...any) {
	fmt.Fprintf(s.Progress, "%s  "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}

// folder makes a fresh folder and returns a function that removes it.
func (s *Suite) folder(name string) (dir string, remove func(), err error) {
	s.serial++
	dir = filepath.Join(s.Dir, fmt.Sprintf("%s-%d", name, s.serial))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("making a folder: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

// modulesFolder is where a node keeps compiled modules, within its data folder.
const modulesFolder = "modules"

// compileModules runs every bundled Persona once, has a delivery normalized, and loads
// the plugins that are not bundled. Compiling takes seconds, which a node spends in the
// background after its first start: it would be measured along with everything else.
func (s *Suite) compileModules(ctx context.Context) error {
	s.say("compiling the bundled modules")
	dir, _, err := s.folder("modules") // removed with the folder that it is in
	if err != nil {
		return err
	}
	if err := s.writePlugins(); err != nil {
		return err
	}
	n, connector, _, err := s.startHooked(ctx, dir, "ACTIVE", nil, s.withPlugins())
	if err != nil {
		return err
	}
	if err := s.normalizeOne(ctx, n, connector); err != nil {
		n.Kill()
		return withOutput(fmt.Errorf("normalizing: %w", err), n)
	}
	// The agent is not compiled where there is no model, until somebody asks what it can do.
	if err := n.Call("GET", harnessPath+"/capabilities", nil, new(map[string]any)); err != nil {
		n.Kill()
		return withOutput(err, n)
	}
	for _, persona := range []string{plugins.PersonaEcho, plugins.PersonaDigest} {
		if err := completeOne(ctx, n, persona, compileLimit); err != nil {
			n.Kill()
			return withOutput(fmt.Errorf("running %s: %w", persona, err), n)
		}
	}
	if err := calm(ctx, n); err != nil {
		n.Kill()
		return err
	}
	s.modules = filepath.Join(dir, modulesFolder)
	return n.Stop()
}

// calm waits until a node that nobody asks anything has nothing left to do, such as
// compiling. On a busy machine it may get to nothing for a while, hence several looks.
func calm(ctx context.Context, n *node.Node) error {
	const look, looks = 250 * time.Millisecond, 4
	used, err := n.CPU()
	for quiet := 0; err == nil && quiet < looks; quiet++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		before := used
		if used, err = n.CPU(); used-before >= look/20 {
			quiet = -1
		}
	}
	return err
}

// dataFolder makes a fresh data folder that holds compiled modules and nothing
// else.
func (s *Suite) dataFolder(name string) (dir string, remove func(), err error) {
	dir, remove, err = s.folder(name)
	if err != nil {
		return "", nil, err
	}
	err = os.CopyFS(filepath.Join(dir, modulesFolder), os.DirFS(s.modules))
	if err == nil {
		err = copyCacheKey(filepath.Dir(s.modules), dir)
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("copying the compiled modules: %w", err)
	}
	return dir, remove, nil
}

// copyCacheKey copies the key that compiled modules are authenticated with, without which a
// node would compile them anew. A node of an earlier version has none.
func copyCacheKey(from, to string) error {
	name := filepath.Join("keys", "cache.key")
	key, err := os.ReadFile(filepath.Join(from, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(to, "keys"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, name), key, 0o600)
}

// start runs a node on a folder, with further settings.
func (s *Suite) start(ctx context.Context, dir string, env ...string) (*node.Node, error) {
	return s.startWith(ctx, dir, nil, env)
}

// startWith is start with further arguments.
func (s *Suite) startWith(ctx context.Context, dir string, args, env []string) (*node.Node, error) {
	return node.Start(ctx, node.Options{Binary: s.Binary, Data: dir, Args: args, Env: append(quietEnv(), env...)})
}

// quietEnv keeps nodes from logging each request and from reading settings of
// whoever runs the benches.
func quietEnv() []string { return []string{"WHARF_LOG_LEVEL=warn"} }

// step is one sample of a round.
type step struct {
	name string
	take func(context.Context) (float64, error)
}

// interleave takes every step once a round, in turn from the first and from the
// last, and returns the samples by the steps' names.
func (s *Suite) interleave(ctx context.Context, steps []step) (map[string][]float64, error) {
	samples := map[string][]float64{}
	for round := range s.Rounds {
		var said []string
		for i := range steps {
			if round%2 == 1 {
				i = len(steps) - 1 - i
			}
			v, err := steps[i].take(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", steps[i].name, round+1, err)
			}
			samples[steps[i].name] = append(samples[steps[i].name], v)
			said = append(said, fmt.Sprintf("%s %.4g", steps[i].name, v))
		}
		s.say("  round %d of %d: %s", round+1, s.Rounds, strings.Join(said, ", "))
	}
	return samples, nil
}
