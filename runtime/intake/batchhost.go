package intake

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// batchHost is what a plugin that normalizes is told, and what it may do: read the
// deliveries, say what they mean, and write lines to the node's log. What it is told
// follows from the deliveries, so that it makes the same of them whenever it runs.
type batchHost struct {
	out     *slog.Logger // the node's log
	about   *abi.Connector
	ground  *journal.Ground
	at      time.Time
	answer  []byte
	results *abi.CallNormalizedRequest
	lines   int
}

var _ sandbox.Host = (*batchHost)(nil)

// maxLines bounds what a run may write to the node's log.
const maxLines = 100

func newBatchHost(log *slog.Logger, about *abi.Connector, batch []arrival, answer []byte) *batchHost {
	h := &batchHost{out: log, about: about, answer: answer}
	seed := sha256.New()
	for _, a := range batch {
		_, _ = seed.Write([]byte(a.id)) // it never fails
		if a.at.After(h.at) {
			h.at = a.at
		}
	}
	h.ground = journal.NewGround(h.at, seed.Sum(nil))
	return h
}

// Now implements [sandbox.Host].
func (h *batchHost) Now() time.Time { return h.ground.Now() }

// Random implements [sandbox.Host].
func (h *batchHost) Random(p []byte) { h.ground.Random(p) }

// Sleep implements [sandbox.Host]. Nobody waits for it.
func (h *batchHost) Sleep(_ context.Context, d time.Duration) { h.ground.Sleep(d) }

// Call implements [sandbox.Host].
func (h *batchHost) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	answer, refused := h.call(call, request)
	if refused != nil {
		return refused.Status, refused.Answer(), nil
	}
	return abi.CallOK, answer, nil
}

func (h *batchHost) call(call string, request []byte) ([]byte, *provider.Refusal) {
	switch call {
	case abi.CallDeliveries:
		return h.answer, nil
	case abi.CallNormalized:
		return nil, h.normalized(request)
	case abi.CallLog:
		return nil, h.log(request)
	case abi.CallProgress, abi.CallPlan:
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
	return nil, provider.Refuse(abi.CallDenied, "not_in_a_task", "a plugin that normalizes deliveries may not call "+call)
}

func (h *batchHost) normalized(request []byte) *provider.Refusal {
	if h.results != nil {
		return provider.Refuse(abi.CallInvalid, "twice", "what the deliveries mean was said already")
	}
	results := &abi.CallNormalizedRequest{}
	if refused := provider.Readable(request, reflect.TypeOf(results)); refused != nil {
		return refused
	}
	if err := json.Unmarshal(request, results, json.RejectUnknownMembers(true)); err != nil {
		return provider.Malformed(err)
	}
	h.results = results
	return nil
}

func (h *batchHost) log(request []byte) *provider.Refusal {
	var line abi.CallLogRequest
	if err := json.Unmarshal(request, &line); err != nil {
		return provider.Malformed(err)
	}
	if h.lines++; h.lines <= maxLines {
		h.out.Info("a connector's plugin says", "connector", h.about.ID, "level", line.Level, "message", line.Message)
	}
	return nil
}

// check reports a plugin that did not say of each delivery, in their order, what it
// means.
func (h *batchHost) check(batch []arrival) error {
	if h.results == nil {
		return &abi.Failure{Code: abi.FailurePluginOutput, Message: "the plugin did not say what the deliveries mean"}
	}
	if n := len(h.results.Results); n != len(batch) {
		return &abi.Failure{Code: abi.FailurePluginOutput, Message: fmt.Sprintf("the plugin gave %d results for %d deliveries", n, len(batch))}
	}
	for i, r := range h.results.Results {
		if r.ID != batch[i].id {
			return &abi.Failure{Code: abi.FailurePluginOutput, Message: fmt.Sprintf("result %d of the plugin is not for the delivery that has its place", i)}
		}
	}
	return nil
}
