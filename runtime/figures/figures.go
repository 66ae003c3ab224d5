package figures

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

const (
	// Other stands for all names beyond those that are told apart.
	Other = "other"
	// NoPlugin stands for that of Tasks that ended without one: they were canceled, or failed, before or after it.
	NoPlugin = "none"

	maxPlugins = 100
	maxCodes   = 20 // of failures, by plugin or model
	maxModels  = 100
	maxCode    = 64 // bytes of a failure's code
)

// Book counts. Its methods are safe for concurrent use; a nil Book counts nothing.
type Book struct {
	log     *slog.Logger
	plugins table[plugin]
	models  table[model]
}

// New returns a Book that logs failed Tasks to log.
func New(log *slog.Logger) *Book {
	return &Book{log: log, plugins: table[plugin]{most: maxPlugins}, models: table[model]{most: maxModels}}
}

type plugin struct {
	runs, nanos, gas, calls, completed, canceled atomic.Uint64

	failures table[atomic.Uint64]
}

type model struct {
	provider string

	mu       lockrank.Mutex[lockrank.Last]
	answered uint64
	in, out  int64
	costs    map[string]float64
	failures table[atomic.Uint64]
}

// Plugin is what was counted of one plugin since the node started.
type Plugin struct {
	Name                string
	Runs                uint64 // a Task that waited and went on has several
	Ran                 time.Duration
	Gas, HostCalls      uint64
	Completed, Canceled uint64
	Failed              map[string]uint64 // by code
}

// Model is what was counted of one model since the node started.
type Model struct {
	Name, Provider string
	Answered       uint64
	Input, Output  int64              // tokens
	Cost           map[string]float64 // by currency
	Failed         map[string]uint64  // by code
}

// Ran counts a run of a plugin.
func (b *Book) Ran(name string, took time.Duration, gas uint64, hostCalls int) {
	if b == nil {
		return
	}
	p := b.plugin(name)
	p.runs.Add(1)
	p.nanos.Add(uint64(max(0, took)))
	p.gas.Add(gas)
	p.calls.Add(uint64(max(0, hostCalls)))
}

func (b *Book) plugin(name string) *plugin {
	return b.plugins.at(name, func() *plugin { return &plugin{failures: table[atomic.Uint64]{most: maxCodes}} })
}

// Ended counts a Task that has ended, and logs one that has failed. name is the plugin of its last run,
// "" when there was none.
func (b *Book) Ended(tenantID, name string, t *abi.Task) {
	if b == nil {
		return
	}
	if name == "" {
		name = NoPlugin
	}
	p := b.plugin(name)
	switch t.Status {
	case abi.TaskCompleted:
		p.completed.Add(1)
	case abi.TaskCanceled:
		p.canceled.Add(1)
	case abi.TaskFailed:
		p.failures.at(codeOf(t.Failure), newCount).Add(1)
		b.logFailed(tenantID, name, t)
	}
}

// logFailed logs ids and a code. What a failure says of itself may be anybody's content.
func (b *Book) logFailed(tenantID, name string, t *abi.Task) {
	b.log.LogAttrs(context.Background(), slog.LevelWarn, "task failed", slog.String("task", t.ID), slog.String("code", codeOf(t.Failure)), slog.String("plugin", name),
		slog.String("persona", t.PersonaID), slog.String("workspace", t.WorkspaceID), slog.String("session", t.SessionID), slog.String("tenant", tenantID), slog.Int("attempt", t.Attempt))
}

func newCount() *atomic.Uint64 { return new(atomic.Uint64) }

// codeOf returns the code of a failure as a label: a plugin may have said anything.
func codeOf(f *abi.Failure) string {
	if f == nil || f.Code == "" {
		return Other
	}
	return strings.ToValidUTF8(f.Code[:min(len(f.Code), maxCode)], "")
}

// Answered counts an answer of a model.
func (b *Book) Answered(name, provider string, used abi.ModelUsage, cost float64, currency string) {
	if b == nil {
		return
	}
	m := b.model(name, provider)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered++
	m.in += max(0, used.InputTokens)
	m.out += max(0, used.OutputTokens)
	if cost > 0 {
		m.costs[currency] += cost
	}
}

// Unanswered counts a call that a model has not answered, after all attempts.
func (b *Book) Unanswered(name, provider, code string) {
	if b == nil {
		return
	}
	b.model(name, provider).failures.at(codeOf(&abi.Failure{Code: code}), newCount).Add(1)
}

func (b *Book) model(name, provider string) *model {
	return b.models.at(name, func() *model {
		return &model{provider: provider, costs: map[string]float64{}, failures: table[atomic.Uint64]{most: maxCodes}}
	})
}

// Plugins returns what was counted by plugin, by name.
func (b *Book) Plugins() []Plugin {
	if b == nil {
		return nil
	}
	var all []Plugin
	for name, p := range b.plugins.all() {
		all = append(all, Plugin{Name: name, Runs: p.runs.Load(), Ran: time.Duration(p.nanos.Load()), Gas: p.gas.Load(), HostCalls: p.calls.Load(),
			Completed: p.completed.Load(), Canceled: p.canceled.Load(), Failed: counted(&p.failures)})
	}
	slices.SortFunc(all, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Models returns what was counted by model, by name.
func (b *Book) Models() []Model {
	if b == nil {
		return nil
	}
	var all []Model
	for name, m := range b.models.all() {
		all = append(all, m.shown(name))
	}
	slices.SortFunc(all, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (m *model) shown(name string) Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Model{Name: name, Provider: m.provider, Answered: m.answered, Input: m.in, Output: m.out, Cost: maps.Clone(m.costs), Failed: counted(&m.failures)}
}

func counted(t *table[atomic.Uint64]) map[string]uint64 {
	all := map[string]uint64{}
	for name, n := range t.all() {
		all[name] = n.Load()
	}
	return all
}
