package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// reading counts the Messages that are read from a Store.
type reading struct {
	storage.Store
	messages atomic.Int64
}

func (r *reading) Transcript(ctx context.Context, t storage.Tenant, session string, p storage.Page) ([]storage.Resource, bool, error) {
	list, more, err := r.Store.Transcript(ctx, t, session, p)
	r.messages.Add(int64(len(list)))
	return list, more, err
}

// TestTheNewestMessagesAreTold holds that a plugin is told the newest Messages, oldest
// first, as many as it asks for and fit, and that no more of a Session is read for it.
func TestTheNewestMessagesAreTold(t *testing.T) {
	const large = 3 << 20
	for _, test := range []struct {
		name              string
		said, size, asked int
		told              int // with the input of the Task
		earlier           bool
	}{
		{"of many", 500, 1, 7, 7, true},
		{"of as many", 20, 1, 21, 21, false},
		{"of fewer", 5, 1, 200, 6, false},
		{"of large ones", 8, large, 200, hostcall.MaxTold/large + 1, true},
		{"of its own alone", 0, 1, 3, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(op{abi.CallTranscriptRead, fmt.Sprintf(`{"last":%d}`, test.asked)})
			store := &reading{}
			n := boot(t, crashtest.NewDisk(), enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, func(_ *engine.Config, parts *engine.Parts) {
				store.Store, parts.Store = parts.Store, store
			})
			defer n.Stop(t)
			session := n.Session(t)
			for i := range test.said {
				n.say(t, session, fmt.Sprintf("%d %s", i, strings.Repeat("x", test.size)))
			}
			if task := n.Wait(t, n.Submit(t, session, "persona_program")); task.Status != abi.TaskCompleted {
				t.Fatalf("%s %+v", task.Status, task.Failure)
			}
			var got abi.CallTranscriptReadAnswer
			_, answer, _ := strings.Cut(p.runs()[0][0], " ") // after the status
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Messages) != test.told || got.Earlier != test.earlier {
				t.Fatalf("told %d Messages, earlier %t; want %d, %t", len(got.Messages), got.Earlier, test.told, test.earlier)
			}
			for i, m := range got.Messages[:test.told-1] {
				if want := fmt.Sprintf("%d ", test.said+1-test.told+i); !strings.HasPrefix(*m.Parts[0].Text, want) {
					t.Errorf("Message %d is %.20q, want %q", i, *m.Parts[0].Text, want)
				}
			}
			if read := store.messages.Load(); read > int64(test.told)+2 {
				t.Errorf("%d Messages were read to tell %d", read, test.told)
			}
		})
	}
}
