package pebble

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// What was stated together is read together: a frame is decoded once, however many of its resources
// are asked for, and not once for each. Allocations tell: they do not depend on the machine.
func TestWhatWasStatedTogetherIsReadTogether(t *testing.T) {
	const many = 500
	s := openMarked(t, vfs.NewMem())
	t.Cleanup(func() { _ = s.Close() })
	session := fmt.Sprintf("sess_%026d", 1)
	b := &storage.Batch{Frame: storage.Frame{Tenant: 1, SessionID: session, Actor: "a"}}
	var ids []string
	for n := range many {
		ids = append(ids, fmt.Sprintf("msg_%026d", n+1))
		b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: abi.EventUserMessage, Created: true, State: fmt.Appendf(nil, `{"id":%q}`, ids[n]),
			Resource: abi.ResourcePointer{Object: abi.ObjectMessage, ID: ids[n]}, Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}})
	}
	if _, err := s.Append(b).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	allocations := func(read func() (int, error)) float64 {
		return testing.AllocsPerRun(3, func() {
			if n, err := read(); n == 0 || err != nil {
				t.Fatalf("read %d, %v", n, err)
			}
		})
	}
	one := allocations(func() (int, error) {
		all, err := s.GetAll(t.Context(), 1, abi.ObjectMessage, ids[:1])
		return len(all), err
	})
	for name, read := range map[string]func() (int, error){
		"GetAll": func() (int, error) {
			all, err := s.GetAll(t.Context(), 1, abi.ObjectMessage, ids)
			return len(all), err
		},
		"Transcript": func() (int, error) {
			all, _, err := s.Transcript(t.Context(), 1, session, storage.Page{Limit: many})
			return len(all), err
		},
		"Event": func() (n int, err error) {
			ctx := storage.Together(t.Context())
			for p := storage.Position(1); p <= many && err == nil; p++ {
				_, err = s.Event(ctx, 1, p)
				n++
			}
			return n, err
		},
	} {
		if all := allocations(read); all > 2*one+30*many {
			t.Errorf("%s of %d allocates %.0f times, where reading one of them does %.0f times", name, many, all, one)
		}
	}
}
