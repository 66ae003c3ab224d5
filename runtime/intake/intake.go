package intake

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Tasks is what the intake asks of the part that runs Tasks.
type Tasks interface {
	// Offer hands over the batch that accepts a Task. A caller that offers a Task lets it go
	// with Run.
	Offer(ctx context.Context, o Order) (Offered, error)
	// Run waits until a Task that was offered is durable, and has it run.
	Run(o Offered) error
	// Submit accepts a Task, and has it run once it is durable.
	Submit(ctx context.Context, o Order) error
	// Room returns a channel that closes once there may be room for another Task.
	Room() <-chan struct{}
}

// Order is a Task that a Connector submits.
type Order struct {
	Caller  *desk.Caller
	ID      string
	Request abi.SubmitTaskRequest

	ConnectorID string
	DeliveryID  string // "" for a poll
	OrderKey    string
	With        []ledger.Record // written before the Task's own events, in its batch
}

// Offered is a Task on its way to the disk.
type Offered struct {
	Task   any // as what runs Tasks knows it
	Commit storage.Commit
}

// Tenants is what the intake asks of the part that knows the tenants.
type Tenants interface {
	All() []*abi.Tenant
	IDOf(number storage.Tenant) string
	Tenant(id string) (*abi.Tenant, error)
}

// Parts are what the intake of Connectors works with.
type Parts struct {
	desk.Parts
	Config  Config
	Entropy io.Reader
	Tenants Tenants
	Tasks   Tasks
	Plugins apart.Plugins
	// Offered returns what installed plugins say of their Connectors; nil when there can be none. They are not changed.
	Offered func() []*abi.Connector
	// Persona returns what a Persona runs. It refuses one that may not be used in a Workspace as one that
	// is not there.
	Persona func(ctx context.Context, t storage.Tenant, workspace, id string) (workflow string, err error)
	// Secret returns a value that checks deliveries of a Connector.
	Secret func(ctx context.Context, t storage.Tenant, c *abi.Connector, vaultID, name string) ([]byte, error)
	// Message returns the event that appends a Message under an id.
	Message func(in *abi.MessageInput, session, id string) (ledger.Record, error)
	// LeaveOut is called for a Connector that cannot be read: the node goes on without it.
	LeaveOut func(t storage.Tenant, o abi.Object, id string, cause error)
	// LeftOut returns why a Connector was left out; nil when it was not.
	LeftOut func(key ledger.Key) error
	// Room waits until the disk has room for new work; nil when nobody knows.
	Room func(ctx context.Context) error
	// Draining reports whether the node takes no more, and begins nothing.
	Draining func() bool
	// Background has what the node does by itself.
	Background *background.Group
}

// Intake serves Connectors to callers, takes their deliveries, and does what they mean. It is
// safe for concurrent use.
type Intake struct {
	parts Parts

	inlets     inletTable
	deliveries ledger.Claims[lockrank.Delivery] // on their way to the disk
	header     sync.Pool                        // of *headerNames that are used again
	bytes      atomic.Int64                     // of all inboxes
	workers    workers
	polls      pollTable
}

// New returns an intake that has begun nothing yet.
func New(p Parts) *Intake {
	p.Config = p.Config.withDefaults()
	if p.Room == nil {
		p.Room = func(context.Context) error { return nil }
	}
	i := &Intake{parts: p}
	i.workers.init(p.Config.Workers, i.normalizeSome)
	return i
}

// Start brings the Connectors back, and goes on with what is pending.
func (i *Intake) Start(ctx context.Context) error {
	if err := i.LoadConnectors(ctx); err != nil {
		return err
	}
	for _, s := range i.inlets.all() {
		if s.about.Load().Status == abi.ConnectorFailed {
			s.retry.Trip(i.parts.Now())
		}
		i.normalizeSoon(s)
	}
	i.startPolls()
	return nil
}

// Drain stops normalizing. What is pending stays so until the next start. The counts that no
// settled delivery has recorded are written down.
func (i *Intake) Drain(ctx context.Context) error {
	i.workers.end()
	for _, busy := range []*background.Group{&i.workers.busy, &i.polls.busy} {
		if err := background.Wait(ctx, busy.End()); err != nil {
			return fmt.Errorf("waiting for deliveries and polls that are worked on: %w", err)
		}
	}
	for _, s := range i.inlets.all() {
		i.rest(s)
	}
	return nil
}

// rest stops a Connector's timer, and writes down what it has counted.
func (i *Intake) rest(s *inlet) {
	s.order.Lock()
	defer s.order.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	if about := s.about.Load(); !s.gone() && s.tally.deduped.Load() > 0 {
		i.tellCounts(s, about, i.parts.Now(), nil)
	}
}
