package live

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// client is a client that is attached.
type client struct {
	id         string
	actor      string // who attached it
	controls   bool
	attached   time.Time
	seen       time.Time
	metadata   jsontext.Value
	held       bool   // somebody watches its connection
	attachment uint64 // which of its attachments this is
}

// silent reports whether a client is thought to be gone.
func (c *client) silent(now time.Time) bool { return !c.held && now.Sub(c.seen) > Silence }

func (c *client) shown() abi.LiveClient {
	mode := abi.LiveObserver
	if c.controls {
		mode = abi.LiveController
	}
	return abi.LiveClient{ClientID: c.id, Mode: mode, AttachedAt: seconds(c.attached), LastSeenAt: seconds(c.seen),
		PromptInjection: c.controls, PermissionRouting: c.controls, Metadata: c.metadata}
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// room is the clients of one Session, in the order in which they came. A step returns another one,
// and leaves this one as it is.
type room []client

func (r room) find(id string) int {
	return slices.IndexFunc(r, func(c client) bool { return c.id == id })
}

// controller returns the client that controls the Session, nil for none.
func (r room) controller() *client {
	i := slices.IndexFunc(r, func(c client) bool { return c.controls })
	if i < 0 {
		return nil
	}
	return &r[i]
}

// controllerID is the id of the controller, nil for none.
func (r room) controllerID() *string {
	if c := r.controller(); c != nil {
		id := c.id
		return &id
	}
	return nil
}

// own returns the place of a client that the caller may act as.
func (r room) own(c *desk.Caller, id string) (int, error) {
	i := r.find(id)
	if i < 0 {
		return 0, abi.Errorf(abi.CodeResourceNotFound, "no client %q is attached to this session: attach it first", id)
	}
	if r[i].actor != c.Actor {
		return 0, ofAnother(id)
	}
	return i, nil
}

// step is what has become of a room.
type step struct {
	room    room
	changes []abi.LiveClientChange
	of      *abi.LiveClient // whom it was about
	former  *string         // who controlled the Session before, where that has changed
	number  uint64          // of the attachment
}

// tell adds the change of a client.
func (s *step) tell(action abi.LiveAction, c *client, former *string, reason string) {
	shown := c.shown()
	s.of, s.former = &shown, former
	s.changes = append(s.changes, abi.LiveClientChange{Action: action, Client: shown, PreviousControllerID: former,
		ActiveControllerID: s.room.controllerID(), Reason: reason})
}

// remove takes a client out, who gives up control with that.
func (s *step) remove(i int, reason string) {
	gone := s.room[i]
	var former *string
	if gone.controls {
		former = &gone.id
	}
	s.room = slices.Delete(s.room, i, i+1)
	s.tell(abi.LiveDetached, &gone, former, reason)
}

// begin returns the step of a room, out of which clients are taken of which nothing was heard for
// long, but the one that is heard of now.
func (r room) begin(heard string, now time.Time) *step {
	s := &step{room: slices.Clone(r)}
	for i := len(s.room) - 1; i >= 0; i-- {
		if s.room[i].id != heard && s.room[i].silent(now) {
			s.remove(i, abi.DetachedSilent)
		}
	}
	s.of, s.former = nil, nil
	return s
}

// attach attaches a client, or takes it in again.
func (s *step) attach(c *desk.Caller, req *abi.AttachClientRequest, number uint64, now time.Time) error {
	i := s.room.find(req.ClientID)
	controls := req.Mode == abi.LiveController || req.Mode == "" && i >= 0 && s.room[i].controls
	if controls && !c.Can(scopeControls) {
		return desk.Denied(scopeControls)
	}
	if i >= 0 && s.room[i].actor != c.Actor {
		return ofAnother(req.ClientID)
	}
	rival := s.room.controller()
	if rival != nil && rival.id == req.ClientID {
		rival = nil
	}
	if controls && rival != nil && !req.Takeover {
		return taken(req.ClientID, rival.id)
	}
	former := s.room.controllerID()
	if i < 0 {
		if len(s.room) >= maxClients {
			return abi.Errorf(abi.CodeConflict, "this session has %d clients already, and takes no more", maxClients)
		}
		i, s.room = len(s.room), append(s.room, client{id: req.ClientID, actor: c.Actor, metadata: jsontext.Value("{}")})
		rival = s.room.controller()
	}
	if controls && rival != nil {
		rival.controls = false
	}
	own := &s.room[i]
	own.controls, own.attached, own.seen, own.held, own.attachment = controls, now, now, req.Held, number
	if req.Metadata != nil {
		own.metadata = req.Metadata
	}
	s.number = number
	if now := s.room.controllerID(); same(former, now) {
		former = nil
	}
	action := abi.LiveAttached
	if req.Takeover && controls {
		action = abi.LiveTakenOver
	}
	s.tell(action, own, former, "")
	return nil
}

// detach takes a client out. A detach of an attachment that is over does nothing: the client has
// come back on another connection.
func (s *step) detach(c *desk.Caller, req *abi.DetachClientRequest) error {
	i, err := s.room.own(c, req.ClientID)
	if err != nil {
		return err
	}
	if req.Attachment == 0 || s.room[i].attachment == req.Attachment {
		s.remove(i, req.Reason)
	}
	return nil
}

// heartbeat notes that a client is there. It changes no owner.
func (s *step) heartbeat(c *desk.Caller, req *abi.HeartbeatClientRequest, now time.Time) error {
	i, err := s.room.own(c, req.ClientID)
	if err != nil {
		return err
	}
	own := &s.room[i]
	own.seen = now
	if req.Metadata == nil || string(req.Metadata) == string(own.metadata) {
		shown := own.shown()
		s.of = &shown
		return nil
	}
	own.metadata = req.Metadata
	s.tell(abi.LiveHeartbeat, own, nil, "")
	return nil
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// answer is what a step is answered with.
func (s *step) answer() *abi.LiveClients {
	all := s.room.shown()
	all.Client, all.PreviousControllerID, all.Attachment = s.of, s.former, s.number
	return all
}

func (r room) shown() *abi.LiveClients {
	all := &abi.LiveClients{ActiveControllerID: r.controllerID(), Clients: make([]abi.LiveClient, len(r))}
	for i := range r {
		all.Clients[i] = r[i].shown()
	}
	return all
}
