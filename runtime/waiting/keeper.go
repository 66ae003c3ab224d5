package waiting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Messages makes what callers say to Tasks.
type Messages interface {
	// NewClientMessage returns a Message that a client says; what it refers to is there for the client.
	NewClientMessage(ctx context.Context, c *desk.Caller, in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error)
	// AppendMessageTo appends a Message to a Session that check permits it for.
	AppendMessageTo(c *desk.Caller, s *ledger.Session, workspace string, m *abi.Message, idem *storage.Idempotency,
		check func(*abi.Session) error) (desk.Doc, error)
}

// Clients knows the clients that are attached to Sessions.
type Clients interface {
	// Controls refuses what only the controller of a Session may do, when the request names another client.
	Controls(c *desk.Caller, session string) error
	// May is Controls as what is asked when something is handed over; nil for a request that names no client.
	May(c *desk.Caller) func(*abi.Session) error
	// Routes returns the event that a request goes to the client that controls its Session; none when
	// nobody does.
	Routes(t storage.Tenant, session, request string) []ledger.Record
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Messages Messages
	Clients  Clients
	// Task returns a Task as the log has it, without its input.
	Task func(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	// Live returns the Workspace of a Task that is in memory, and its status as it was written last,
	// durable or not; ok is false for any other.
	Live func(ledger.Key) (workspace string, status abi.TaskStatus, ok bool)
	// Wake brings a parked Task what it waits for, and waits until that is durable.
	// ErrNotWaiting says that it does not wait for this any more.
	Wake        func(ctx context.Context, task ledger.Key, a *Answer) error
	Generations int      // how many a Task and those that it comes from are at most
	Pending     *Pending // what Tasks ask at present
	Ends        *Ends
	Turns       *turns.Turns // what takes long of holding an answer against its schema
}

// Keeper serves requests for permission to callers: it lists them and takes answers. It is
// safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// NewPermissionRequests returns what a Task asks somebody by a wait, and the events of that; nil when it asks
// nobody. at is when the waiting call was recorded.
func (k *Keeper) NewPermissionRequests(ctx context.Context, tenant storage.Tenant, t *abi.Task, w *abi.Waiting, at time.Time, by Terms) (*Round, []ledger.Record, error) {
	if kindOf(w) == "" {
		return nil, nil, nil
	}
	requester, err := k.requester(ctx, tenant, t)
	if err != nil {
		return nil, nil, err
	}
	r, err := roundFor(t, w, at, requester, by)
	if err != nil {
		return nil, nil, err
	}
	r, effects, err := StepRound(r, Input{Kind: Ask})
	return r, k.withRoutes(tenant, t, tells(effects)), err
}

// withRoutes adds to what a Task asks which client is to answer it.
func (k *Keeper) withRoutes(tenant storage.Tenant, t *abi.Task, told []ledger.Record) []ledger.Record {
	for _, asked := range slices.Clone(told) {
		for _, route := range k.parts.Clients.Routes(tenant, t.SessionID, asked.ID) {
			route.Object, route.ID, route.Hint = abi.ObjectTask, t.ID, true
			told = append(told, route)
		}
	}
	return told
}

// requester returns who asked for what a Task does. A Task that a plugin has
// spawned was asked for by whoever submitted the first one.
func (k *Keeper) requester(ctx context.Context, tenant storage.Tenant, t *abi.Task) (string, error) {
	for range k.parts.Generations {
		if t.ParentTaskID == "" || t.Fork != nil || t.Replay != nil {
			return t.CreatedBy, nil
		}
		parent, err := k.parts.Task(ctx, tenant, t.ParentTaskID)
		if err != nil {
			return "", err
		}
		if t.CreatedBy != parent.PersonaID {
			return t.CreatedBy, nil // a client named the parent
		}
		t = parent
	}
	return t.CreatedBy, nil
}

// scopeAnswers is what answering a Task takes, on every way: an answer decides what the
// Task does next.
const scopeAnswers = "tasks:write"

// mayAnswer refuses those who may answer no Task. A retry is refused as well.
func mayAnswer(c *desk.Caller) error {
	if !c.Can(scopeAnswers) {
		return desk.Denied(scopeAnswers)
	}
	return nil
}

// wake brings a Task what it waits for. settled is the error when it does not wait for that
// any more.
func (k *Keeper) wake(ctx context.Context, key ledger.Key, a *Answer, settled error) error {
	err := k.parts.Wake(ctx, key, a)
	if errors.Is(err, ErrNotWaiting) {
		return settled
	}
	return err
}

// RespondPermission decides on a request for permission, or brings what it asks
// for. It answers with the request as it is after that: still pending while more
// have to approve.
func (k *Keeper) RespondPermission(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RespondRequest) (desk.Doc, error) {
	if err := mayAnswer(c); err != nil {
		return desk.Doc{}, err
	}
	p, _, err := desk.Find[abi.PermissionRequest](ctx, k.parts.Desk, c, abi.ObjectPermissionRequest, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, p.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		if err := k.parts.Clients.Controls(c, p.SessionID); err != nil {
			return desk.Doc{}, err
		}
		t, err := k.parts.Task(ctx, c.Tenant, p.TaskID)
		if err != nil {
			return desk.Doc{}, err
		}
		if !waitsFor(t.Waiting, id) {
			return desk.Doc{}, settledAlready(id)
		}
		if p.Status != abi.PermissionPending {
			return desk.Doc{}, stranded(t.ID, id)
		}
		a := &Answer{RequestID: t.Waiting.RequestID, PermissionID: id, Actor: c.Actor, May: k.parts.Clients.May(c), Idem: idem, Status: desk.StatusOK}
		if err := k.respond(ctx, c, a, &p, &req); err != nil {
			return desk.Doc{}, err
		}
		if err := k.wake(ctx, ledger.Key{Tenant: c.Tenant, ID: p.TaskID}, a, settledAlready(id)); err != nil {
			return desk.Doc{}, err
		}
		state, err := json.Marshal(&a.Shown.PermissionRequest)
		return desk.Doc{ID: id, JSON: state}, err
	})
}

// waitsFor reports whether a Task waits for the answer to a request.
func waitsFor(w *abi.Waiting, id string) bool {
	return w != nil && (w.PermissionID == id || slices.ContainsFunc(w.Requests, func(named abi.WaitingQuestion) bool {
		return named.PermissionID == id && named.Status == abi.PermissionPending
	}))
}

func settledAlready(id string) error {
	return abi.Errorf(abi.CodeConflict, "permission request %s is settled already", id)
}

// respond turns a response into what ends the wait.
func (k *Keeper) respond(ctx context.Context, c *desk.Caller, a *Answer, p *abi.PermissionRequest, req *abi.RespondRequest) error {
	if p.Kind == abi.PermissionApproval {
		if req.Message != nil {
			return abi.InvalidParam("message", "an approval takes a decision, not a message")
		}
		if err := desk.CheckOneOf("decision", req.Decision, decisionApproved, decisionDenied); err != nil {
			return err
		}
		if req.Code != "" {
			return abi.InvalidParam("code", "a decision on an approval has no code")
		}
		a.decide(req, k.parts.Now())
		return nil
	}
	if len(req.Arguments) > 0 {
		return abi.InvalidParam("arguments", "only an approval takes arguments")
	}
	if req.Decision == decisionDenied && req.Message == nil {
		if err := desk.CheckOneOf("code", cmp.Or(req.Code, abi.Declined), abi.Declined, abi.Dismissed, abi.Unsupported); err != nil {
			return err
		}
		a.decline(p.Kind, req.Code, req.Reason)
		return nil
	}
	if req.Code != "" {
		return abi.InvalidParam("code", `only the decision "denied" has a code`)
	}
	if req.Decision != "" {
		return abi.InvalidParam("decision", `a request for %s is answered by a message, or declined with the decision "denied"`, p.Kind)
	}
	if req.Message == nil {
		return abi.InvalidParam("message", `missing required member "message"`)
	}
	m, err := k.parts.Messages.NewClientMessage(ctx, c, req.Message, p.SessionID, p.TaskID)
	if err != nil {
		return desk.Within("message", err)
	}
	if err := k.fits(ctx, c.Tenant, p, m); err != nil {
		return err
	}
	return a.bring(m)
}

// maxScanned is how many requests one page looks at: a page may hold fewer than it
// could when what it is to hold is rare.
const maxScanned = 1000

// Permissions lists requests for permission, newest first: all, or those of one
// status. Pending ones are found without a look at the others.
func (k *Keeper) Permissions(ctx context.Context, c *desk.Caller, f desk.Filter, status abi.PermissionStatus, p desk.Page) (desk.DocList, error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	switch status {
	case "":
		return k.parts.Desk.List(ctx, c, abi.ObjectPermissionRequest, f, p)
	case abi.PermissionPending:
		return k.pending(ctx, c, f, p)
	}
	if err := desk.CheckOneOf("status", status, abi.PermissionPending, abi.PermissionApproved, abi.PermissionDenied,
		abi.PermissionAnswered, abi.PermissionTimeout, abi.PermissionCanceled); err != nil {
		return desk.DocList{}, err
	}
	var list desk.DocList
	for range maxScanned / p.Limit {
		page, err := k.parts.Desk.List(ctx, c, abi.ObjectPermissionRequest, f, p)
		if err != nil {
			return desk.DocList{}, err
		}
		for i, doc := range page.Docs {
			if hasStatus(doc.JSON, status) && list.Add(doc, p.Limit) {
				return list.End(doc.ID, page.More || i < len(page.Docs)-1), nil
			}
		}
		if !page.More {
			return list.End("", false), nil
		}
		p.After = page.Next
	}
	return list.End(p.After, true), nil
}

func hasStatus(state []byte, status abi.PermissionStatus) bool {
	var p struct {
		Status abi.PermissionStatus `json:"status"`
	}
	return json.Unmarshal(state, &p) == nil && p.Status == status
}

func (k *Keeper) pending(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (desk.DocList, error) {
	ids, more := k.parts.Pending.before(c.Tenant, p.After, p.Limit, func(at place) bool {
		return c.Sees(at.workspace) && desk.Matches(f.WorkspaceID, at.workspace) && desk.Matches(f.SessionID, at.session) && desk.Matches(f.TaskID, at.task)
	})
	var list desk.DocList
	for i, id := range ids {
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectPermissionRequest, id)
		if ledger.IsNotFound(err) || err == nil && !hasStatus(res.State, abi.PermissionPending) {
			continue // it is on its way to the disk, or was settled meanwhile
		}
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(desk.Doc{ID: id, JSON: res.State}, p.Limit) {
			return list.End(id, more || i < len(ids)-1), nil
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	return list.End(ids[len(ids)-1], more), nil
}
