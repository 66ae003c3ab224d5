package outbox

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Format writes deliveries as a protocol has them. An adapter brings its own; see
// [Parts.Formats].
type Format struct {
	Name string
	// Write returns what is sent for an event. It is given only what the public may see. What it
	// returns for an event is the same each time, for an event may be sent again.
	Write func(ctx context.Context, n *Notice) (Message, error)
	// Delays are the waits after each attempt; after the last of them the delivery is given
	// up. nil: as the node's configuration has it.
	Delays []time.Duration
	// Ordered: one delivery is under way at a time, in the order of the log, and one that is not taken
	// holds up those behind it until it is taken or given up.
	Ordered bool
	// Ends: a Webhook of one Task goes when the Task has ended: when what it is told last was taken, or
	// long enough after the end that what was given up could be looked at, and driven again.
	Ends bool
}

// Notice is an event that is to be sent.
type Notice struct {
	ID      string               // of the delivery: the webhook-id, the same over all attempts
	Webhook *abi.WebhookEndpoint // to whom; not to be changed
	EventID string
	Kind    abi.EventKind
	At      time.Time
	Event   jsontext.Value // as those see it who may see what is public
	// Get returns what the event is about, or something that it names, as the public may see it.
	Get func(ctx context.Context, o abi.Object, id string) (jsontext.Value, error)
	// Logged is the event as the log has it, with what is internal, and Log returns another: for
	// formats of the node's own, whose Webhooks are made by those who may see that.
	Logged desk.Event
	Log    func(at desk.Position) (desk.Event, error)
}

// Message is what is sent.
type Message struct {
	ContentType string // empty for application/json
	Header      map[string]string
	Body        []byte
	Skip        bool // the protocol does not tell this event
	Last        bool // nothing comes after it: when it is taken, and nothing was given up, the Webhook is deleted
}

const formatHarn = "harn"

func writeHarn(_ context.Context, n *Notice) (Message, error) { return Message{Body: n.Event}, nil }
