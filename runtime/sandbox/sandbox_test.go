package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
)

// cacheDir is shared by the tests that run large modules, so that each is compiled
// once.
var cacheDir string

// cacheKey is what they are authenticated with.
var cacheKey = bytes.Repeat([]byte{7}, kept.KeyBytes)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "wharf-sandbox-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cacheDir = dir
	return m.Run()
}

// host is a Host that remembers what it was asked.
type host struct {
	keep   bool
	asked  []asked
	answer func(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error)
	slept  time.Duration
}

type asked struct{ call, request string }

func (h *host) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	if h.keep {
		h.asked = append(h.asked, asked{call, string(request)})
	}
	if h.answer != nil {
		return h.answer(ctx, call, request)
	}
	return abi.CallOK, nil, nil
}

// always gives the same answer to everything.
func always(answer string) func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
	return func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
		return abi.CallOK, []byte(answer), nil
	}
}

// Sleep waits until the Run is to stop, as far as a short sleep of the guest's is
// not over before.
func (h *host) Sleep(ctx context.Context, d time.Duration) {
	h.slept += d
	if d >= time.Minute {
		<-ctx.Done()
	}
}

func (h *host) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

func (h *host) Random(p []byte) {
	for i := range p {
		p[i] = byte(i)
	}
}

func newRuntime(t testing.TB, c Config) *Runtime {
	t.Helper()
	if c.CacheDir != "" && c.CacheKey == nil {
		c.CacheKey = cacheKey
	}
	r, err := New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func compile(t testing.TB, r *Runtime, wasm []byte) *Module {
	t.Helper()
	m, err := r.Compile(context.Background(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
