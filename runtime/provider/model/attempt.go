package model

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// How long is waited before a further attempt. The provider SDKs' own retries are
// off: one policy holds for all providers, and only here is known what a watcher
// has been told already.
const (
	firstWait = 500 * time.Millisecond
	maxWait   = 20 * time.Second
	// maxAsked is the longest wait that a server may ask for. A server that wants
	// more is given up, so that a fallback gets its turn.
	maxAsked = time.Minute
)

// attempts asks one model until it answers, fails for good, or has had its
// attempts. When ctx has ended its results mean nothing.
func (m *Models) attempts(ctx context.Context, a *ask, w, thinks *watcher) (*abi.ModelAnswer, *failure) {
	retries := m.config.Models[a.name].Retries
	for ; ; a.attempt++ {
		answer, fail := m.attempt(ctx, a, w, thinks)
		if fail == nil {
			return answer, nil
		}
		wait := m.wait(a.attempt, fail)
		if !fail.retry || a.attempt == retries || wait > maxAsked || endsWithin(ctx, wait) {
			return nil, fail.after(a.attempt + 1)
		}
		if m.sleep(ctx, wait) != nil {
			return nil, fail
		}
	}
}

// attempt asks once.
func (m *Models) attempt(ctx context.Context, a *ask, w, thinks *watcher) (*abi.ModelAnswer, *failure) {
	model := m.config.Models[a.name]
	key, err := model.key(ctx)
	if err != nil {
		return nil, &failure{status: abi.CallUnavailable, code: "model_key_unavailable",
			message: fmt.Sprintf("its API key could not be read: %v", err)}
	}
	timeout := model.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(context.WithValue(ctx, tenantKey{}, a.call.Tenant), timeout)
	defer cancel()
	a.key, a.text = key, newText(key, w.attempt())
	a.text.thoughts = thoughtsOf(a, thinks)
	reply, err := m.backends[a.name].complete(limited, a)
	if err != nil {
		return nil, failureOf(limited, err, key, timeout)
	}
	a.text.close()
	return m.answer(a, reply)
}

func (m Model) key(ctx context.Context) (string, error) {
	if m.APIKey == nil {
		return "", nil
	}
	secret, err := m.APIKey(ctx)
	return secret.reveal(), err
}

// wait returns how long to wait after the failed attempt: what the server asked
// for, else exponentially longer, shortened by up to a half at random so that
// those who failed together do not come back together.
func (m *Models) wait(attempt int, fail *failure) time.Duration {
	if fail.asked > 0 {
		return fail.asked
	}
	d := min(firstWait<<attempt, maxWait)
	return d - time.Duration(m.jitter()*float64(d)/2)
}

func endsWithin(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < d
}
