package intake

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// batchHost is what a plugin that normalizes is told, and what it may do: read the
// deliveries, say what they mean, and write lines to the node's log. What it is told
// follows from the deliveries, so that it makes the same of them whenever it runs.
type batchHost struct {
	*apart.Host
	answer  []byte
	results *abi.CallNormalizedRequest
}

func newBatchHost(log *slog.Logger, about *abi.Connector, batch []arrival, answer []byte) *batchHost {
	h := &batchHost{answer: answer}
	var at time.Time
	seed := sha256.New()
	for _, a := range batch {
		_, _ = seed.Write([]byte(a.id)) // it never fails
		if a.at.After(at) {
			at = a.at
		}
	}
	h.Host = apart.NewHost("normalizes deliveries", at, seed.Sum(nil), h.answers, func(level, message string) {
		log.Info("a connector's plugin says", "connector", about.ID, "level", level, "message", message)
	})
	return h
}

// answers implements [apart.Answers].
func (h *batchHost) answers(call string, request []byte) (answer []byte, refused *provider.Refusal, known bool) {
	switch call {
	case abi.CallDeliveries:
		return h.answer, nil, true
	case abi.CallNormalized:
		return nil, h.normalized(request), true
	}
	return nil, nil, false
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
