package apart

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Plugins are those of the node.
type Plugins interface {
	// Resolve returns the digest of the module that a name stands for now. An
	// *abi.Failure says that there is none.
	Resolve(ctx context.Context, name string) (digest string, err error)
	// Ready returns a plugin whose export can be called. An *abi.Failure says why none can.
	Ready(ctx context.Context, name, export string) (Plugin, error)
}

// Plugin is one that is ready to run.
type Plugin struct {
	Digest string         // of its module
	Limits sandbox.Limits // of each run
	// Run calls the export on a fresh instance.
	Run func(ctx context.Context, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error)
}

// Module is a compiled plugin.
type Module interface {
	HasExport(name string) bool
	Run(ctx context.Context, export string, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error)
}

// Node implements [Plugins] by what a node knows of its plugins.
type Node struct {
	Resolved  func(ctx context.Context, name string) (digest string, err error)
	Named     func(ctx context.Context, name string) (digest string, m Module, err error)
	LimitsFor func(plugin string) sandbox.Limits
	Used      func(gas uint64) // hears what each run has used
}

// Resolve implements [Plugins].
func (n *Node) Resolve(ctx context.Context, name string) (string, error) {
	return n.Resolved(ctx, name)
}

// Ready implements [Plugins].
func (n *Node) Ready(ctx context.Context, name, export string) (Plugin, error) {
	digest, module, err := n.Named(ctx, name)
	if err != nil {
		return Plugin{}, err
	}
	if !module.HasExport(export) {
		return Plugin{}, &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf("plugin %q has no export %q", name, export)}
	}
	return Plugin{Digest: digest, Limits: n.LimitsFor(name), Run: func(ctx context.Context, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error) {
		usage, err := module.Run(ctx, export, h, l)
		n.Used(usage.Gas)
		return usage, err
	}}, nil
}

// maxLines bounds what a run may write to the node's log.
const maxLines = 100

// Answers answers the calls by which a plugin is given something, and gives something back; known is
// false for any other call. The request is valid during the call alone.
type Answers func(call string, request []byte) (answer []byte, refused *provider.Refusal, known bool)

// Host is what a plugin speaks to in one run.
type Host struct {
	what    string // the plugin is there for
	ground  *journal.Ground
	at      time.Time
	answers Answers
	log     func(level, message string)
	lines   int
}

var _ sandbox.Host = (*Host)(nil)

// NewHost returns the host of a run at a time, whose randomness follows from a seed. what says in refusals
// what such a plugin does; log gets the lines that it writes.
func NewHost(what string, at time.Time, seed []byte, answers Answers, log func(level, message string)) *Host {
	return &Host{what: what, ground: journal.NewGround(at, seed), at: at, answers: answers, log: log}
}

// Now implements [sandbox.Host].
func (h *Host) Now() time.Time { return h.ground.Now() }

// Random implements [sandbox.Host].
func (h *Host) Random(p []byte) { h.ground.Random(p) }

// Sleep implements [sandbox.Host]. Nobody waits for it.
func (h *Host) Sleep(_ context.Context, d time.Duration) { h.ground.Sleep(d) }

// Call implements [sandbox.Host].
func (h *Host) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	answer, refused, known := h.answers(call, request)
	if !known {
		answer, refused = h.call(call, request)
	}
	if refused != nil {
		return refused.Status, refused.Answer(), nil
	}
	return abi.CallOK, answer, nil
}

func (h *Host) call(call string, request []byte) ([]byte, *provider.Refusal) {
	switch call {
	case abi.CallLog:
		return nil, h.write(request)
	case abi.CallProgress, abi.CallPlan, abi.CallAgentEvent:
		return nil, nil // there is no Task whose watchers could be told
	case abi.CallClock:
		return []byte(`{"unix_nano":"` + strconv.FormatInt(h.at.UnixNano(), 10) + `"}`), nil
	case abi.CallRandom:
		if len(request) != 4 || binary.LittleEndian.Uint32(request) > abi.MaxRandom {
			return nil, provider.Malformed(fmt.Errorf("the request must be 4 bytes that say how many, at most %d", abi.MaxRandom))
		}
		random := make([]byte, binary.LittleEndian.Uint32(request))
		h.ground.Random(random)
		return random, nil
	}
	return nil, provider.Refuse(abi.CallDenied, "not_in_a_task", "a plugin that "+h.what+" may not call "+call)
}

func (h *Host) write(request []byte) *provider.Refusal {
	var line abi.CallLogRequest
	if err := json.Unmarshal(request, &line); err != nil {
		return provider.Malformed(err)
	}
	if h.lines++; h.lines <= maxLines {
		h.log(line.Level, line.Message)
	}
	return nil
}
