package hostcall

import (
	"context"
	"errors"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// Run is the run that makes a call, as rooms see it.
type Run interface {
	// Flush puts on disk what the run has written so far, so that readers of the store find it.
	Flush() error
	// HasPut reports whether the run itself has put an Artifact.
	HasPut(artifact string) bool
	// Session returns the Task's Session as it is now.
	Session() abi.Session
	// Skills returns the skills that the Task has. They are not changed.
	Skills() []abi.TaskSkill
}

// Call is one call of a Task that is answered at once.
type Call struct {
	Run     Run
	Tenant  storage.Tenant
	Task    *abi.Task // as it was accepted: do not change it
	Index   int       // of the call in the Task's record
	Request []byte    // in guest memory: good until the call is answered
	Kept    []byte    // the request's canonical form, as the record has it: do not change it
	Asked   any       // the request, decoded: a pointer to what the call's definition says; nil when it is not yet
}

// Answer is the answer to a call.
type Answer struct {
	JSON   []byte          // or other bytes, as the call's definition says
	States *ledger.Record  // what the call's event states; nil for nothing
	Extra  []ledger.Record // further events, written before the call's own
	// Durable says that the call is answered only when all of that is on disk.
	Durable bool
	// Release is called when the call is recorded, and all that it states with it, or when
	// that failed; nil for nothing.
	Release func(error)
}

// ErrWait answers a call that is to wait: the Task is parked until somebody brings what it waits for.
var ErrWait = errors.New("the call waits")

// Func answers a call. A *provider.Refusal is an answer for the plugin; any other error fails
// its Task.
type Func func(ctx context.Context, c *Call) (Answer, error)

// Of returns a Func that decodes a call's request and answers with what f returns.
func Of[T any](f func(ctx context.Context, c *Call, req *T) (Answer, error)) Func {
	return func(ctx context.Context, c *Call) (Answer, error) {
		req, err := provider.Asked[T](c.Asked, c.Request)
		if err != nil {
			return Answer{}, err
		}
		return f(ctx, c, &req)
	}
}

// Encoded returns an answer that is only a document.
func Encoded(v any) (Answer, error) {
	doc, err := json.Marshal(v)
	return Answer{JSON: doc}, err
}
