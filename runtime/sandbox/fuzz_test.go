package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
)

// FuzzCompile holds that any bytes are either refused with a reason or make a
// module that can be run within its limits.
func FuzzCompile(f *testing.F) {
	for _, test := range hostile {
		f.Add(test.guest.wasm())
	}
	for _, test := range invalidModules {
		f.Add(test.wasm)
	}
	f.Add(relays().wasm())
	echo, _ := plugins.Lookup("echo")
	f.Add(echo.Wasm())
	r := newRuntime(f, Config{})
	limits := Limits{MemoryBytes: 1 << 20, WallTime: 10 * time.Millisecond, HostCalls: 100, PayloadBytes: 1 << 16, OutputBytes: 1 << 16}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := r.Compile(t.Context(), wasm)
		if err != nil {
			if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != abi.FailurePluginInvalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		defer m.Close(context.Background())
		for _, export := range m.Exports() {
			if _, err := m.Run(t.Context(), export, &host{answer: always("{}")}, limits); err != nil {
				if _, ok := errors.AsType[*abi.Failure](err); !ok {
					t.Errorf("%s ended with %v", export, err)
				}
			}
		}
	})
}
