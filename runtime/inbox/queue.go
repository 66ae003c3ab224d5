package inbox

import (
	"context"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// scopeOthers lets its owner change what others have queued.
const scopeOthers = "sessions:write"

// Inject queues what a user says to a Session.
func (k *Keeper) Inject(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.InjectRequest) (desk.Doc, error) {
	if err := desk.CheckOneOf("mode", req.Mode, abi.InjectSteer, abi.InjectQueue); err != nil {
		return desk.Doc{}, err
	}
	m, err := k.said(ctx, c, session, req.Parts, abi.MessageInput{Metadata: req.Metadata})
	if err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, session, func(in *kept) ([]ledger.Record, *abi.Injection, error) {
		i := &injection{Injection: abi.Injection{Kind: abi.InjectionUser, Mode: req.Mode, MessageID: m.ID, Parts: m.Parts}}
		i.Envelope = abi.NewEnvelope(abi.ObjectInjection, idOf(m.ID), k.parts.Now(), m.Metadata)
		return k.queue(in, c, i)
	})
}

// said checks what a user says.
func (k *Keeper) said(ctx context.Context, c *desk.Caller, session string, parts []abi.Part, m abi.MessageInput) (*abi.Message, error) {
	m.Role, m.Parts = abi.RoleUser, parts
	return k.parts.Messages.NewClientMessage(ctx, c, &m, session, "")
}

// idOf returns the id of an Injection that is named by its own or by its Message's.
func idOf(id string) string {
	if rest, ok := strings.CutPrefix(id, abi.IDPrefix(abi.ObjectMessage)); ok {
		return abi.IDPrefix(abi.ObjectInjection) + rest
	}
	return id
}

// queue adds an injection to what waits.
func (k *Keeper) queue(in *kept, c *desk.Caller, i *injection) ([]ledger.Record, *abi.Injection, error) {
	i.WorkspaceID, i.SessionID, i.Status, i.QueuedBy = in.WorkspaceID, in.SessionID, abi.InjectionAccepted, c.Actor
	waits, err := pending(&i.Injection)
	if err == nil {
		in.Pending = append(in.Pending, waits)
		err = in.fits()
	}
	return []ledger.Record{i.states(abi.EventInjectionQueued)}, &i.Injection, err
}

// pending returns what an inbox knows of an injection, which is not too large.
func pending(i *abi.Injection) (abi.PendingInjection, error) {
	text, err := json.Marshal(i)
	if err == nil && len(text) > abi.MaxInjectionBytes {
		err = abi.Errorf(abi.CodePayloadTooLarge, "what is queued has at most %d bytes: it can refer to an artifact", abi.MaxInjectionBytes)
	}
	return abi.PendingInjection{ID: i.ID, Kind: i.Kind, Mode: i.Mode, Bytes: len(text), DedupeKey: i.DedupeKey}, err
}

// fits refuses what is more than may wait.
func (in *kept) fits() error {
	bytes := 0
	for _, p := range in.Pending {
		bytes += p.Bytes
	}
	if len(in.Pending) > abi.MaxPendingInjections || bytes > abi.MaxInboxBytes {
		return abi.Errorf(abi.CodeConflict, "at most %d injections of %d bytes wait in session %s: let a task take them, or revoke some",
			abi.MaxPendingInjections, abi.MaxInboxBytes, in.SessionID)
	}
	return nil
}

// ReplaceInjection gives what a user has said other words, unless they were delivered or revoked.
func (k *Keeper) ReplaceInjection(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string, req abi.ReplaceInjectionRequest) (desk.Doc, error) {
	m, err := k.said(ctx, c, session, req.Parts, abi.MessageInput{Metadata: req.Metadata})
	if err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, session, func(in *kept) ([]ledger.Record, *abi.Injection, error) {
		i, at, err := k.own(ctx, c, in, id, abi.InjectionUser)
		if err == nil && at < 0 {
			err = refused(abi.CodeConflict, abi.ReasonAlreadyRevoked, "%s was revoked", id)
		}
		if err != nil {
			return nil, nil, err
		}
		i.Parts, i.Status, i.UpdatedAt = m.Parts, abi.InjectionReplaced, abi.At(k.parts.Now())
		if req.Metadata != nil {
			i.Metadata = m.Metadata
		}
		if in.Pending[at], err = pending(&i.Injection); err == nil {
			err = in.fits()
		}
		return []ledger.Record{i.states(abi.EventInjectionReplaced)}, &i.Injection, err
	})
}

// RevokeInjection takes back what a user has said, unless it was delivered. Once it is revoked the
// answer says that it was already.
func (k *Keeper) RevokeInjection(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string) (desk.Doc, error) {
	return k.revoke(ctx, c, r, session, id, abi.InjectionUser)
}

// RevokeReminder is [Keeper.RevokeInjection] for a reminder.
func (k *Keeper) RevokeReminder(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string) (desk.Doc, error) {
	return k.revoke(ctx, c, r, session, id, abi.InjectionReminder)
}

func (k *Keeper) revoke(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string, kind abi.InjectionKind) (desk.Doc, error) {
	return k.change(ctx, c, r, session, func(in *kept) ([]ledger.Record, *abi.Injection, error) {
		i, at, err := k.own(ctx, c, in, id, kind)
		if err != nil {
			return nil, nil, err
		}
		if at < 0 {
			i.Status = abi.InjectionAlreadyRevoked
			return nil, &i.Injection, nil
		}
		in.Pending = slices.Delete(in.Pending, at, at+1)
		return []ledger.Record{k.revoked(i, "")}, &i.Injection, nil
	})
}

func (k *Keeper) revoked(i *injection, by string) ledger.Record {
	i.Status, i.ReplacedBy, i.UpdatedAt = abi.InjectionRevoked, by, abi.At(k.parts.Now())
	return i.states(abi.EventInjectionRevoked)
}

// own returns an injection that the caller may change, and its place among those that wait: -1 when
// it was revoked.
func (k *Keeper) own(ctx context.Context, c *desk.Caller, in *kept, id string, kind abi.InjectionKind) (*injection, int, error) {
	unknown := refused(abi.CodeResourceNotFound, abi.ReasonUnknownMessage, "nothing that is named %q was queued for session %s", id, in.SessionID)
	all, err := k.read(ctx, in.tenant, idOf(id))
	if ledger.IsNotFound(err) {
		return nil, 0, unknown
	}
	if err != nil {
		return nil, 0, err
	}
	i := &all[0]
	switch {
	case i.SessionID != in.SessionID || i.Kind != kind:
		return nil, 0, unknown
	case i.QueuedBy != c.Actor && !c.Can(scopeOthers):
		return nil, 0, refused(abi.CodePermissionDenied, abi.ReasonNotOwner, "%s was queued by another: changing it needs the scope %s", id, scopeOthers)
	case i.Status == abi.InjectionDelivered:
		return nil, 0, refused(abi.CodeConflict, abi.ReasonAlreadyDelivered, "%s was delivered to task %s", id, i.TaskID)
	case i.Status == abi.InjectionRevoked:
		return i, -1, nil
	}
	at := in.find(func(p *abi.PendingInjection) bool { return p.ID == i.ID })
	if at < 0 {
		return nil, 0, ledger.Nonsense(abi.ObjectInbox, in.ID, "it lacks %s, which waits", i.ID)
	}
	return i, at, nil
}

// refused returns an error that says why in its details.
func refused(code abi.ErrorCode, reason abi.InboxReason, format string, args ...any) *abi.Error {
	err := abi.Errorf(code, format, args...)
	err.Details = []byte(`{"reason":"` + string(reason) + `"}`)
	return err
}

// change changes a Session's inbox, unless the Session is closed. do says what it writes first, and
// what the caller is shown: nothing is written when it names no records.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, r *desk.Retry, session string,
	do func(*kept) ([]ledger.Record, *abi.Injection, error)) (desk.Doc, error) {
	s, release, err := k.parts.Desk.OpenSession(ctx, c, session)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	workspace := s.Workspace()
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.alone.Lock(session)
		doc, err := ledger.Change(k.parts.Ledger, c.Tenant, ID(session), func() (desk.Doc, error) {
			in, err := k.of(ctx, c.Tenant, workspace, session)
			if err != nil {
				return desk.Doc{}, err
			}
			records, shown, err := do(in)
			if err != nil {
				return desk.Doc{}, err
			}
			if records != nil {
				if err := k.write(s, c, in, idem, records); err != nil {
					return desk.Doc{}, err
				}
			}
			text, err := json.Marshal(shown, json.Deterministic(true))
			return desk.Doc{ID: shown.ID, JSON: text, Restricted: restricted(shown.Parts)}, err
		})
		unlock()
		if err == nil {
			k.parts.Go(func() { k.Serve(ledger.Key{Tenant: c.Tenant, ID: session}) })
		}
		return doc, err
	})
}

// write writes a change of an inbox, and waits for the disk. The caller holds the inbox's lock.
func (k *Keeper) write(s *ledger.Session, c *desk.Caller, in *kept, idem *storage.Idempotency, records []ledger.Record) error {
	records = append(records, k.record(in))
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return err
	}
	b := ledger.Batch(storage.Frame{Tenant: c.Tenant, WorkspaceID: in.WorkspaceID, SessionID: in.SessionID, Actor: c.Actor,
		Time: k.parts.Now(), Records: encoded}, idem, desk.StatusCreated, 0)
	b.Expect = append(b.Expect, ledger.Expected(records...)...)
	k.empty.note(ledger.Key{Tenant: c.Tenant, ID: in.SessionID}, false)
	commit, err := s.Append(k.parts.Ledger, b, desk.AllOf(desk.SessionOpen, k.parts.May(c)))
	if err != nil {
		return err
	}
	_, err = k.parts.Ledger.Durable(commit)
	return err
}

// PendingInjections returns what waits for a Session's Tasks, in the order in which it came.
func (k *Keeper) PendingInjections(ctx context.Context, c *desk.Caller, session string) (desk.Doc, error) {
	s, release, err := k.parts.Desk.OpenSession(ctx, c, session)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	unlock := k.alone.Lock(session) // so that nothing is delivered between the two readings
	defer unlock()
	in, err := k.of(ctx, c.Tenant, s.Workspace(), session)
	if err != nil {
		return desk.Doc{}, err
	}
	all, err := k.read(ctx, c.Tenant, idsOf(in.Pending)...)
	if err != nil {
		return desk.Doc{}, err
	}
	shown, doc := abi.PendingInjections{PendingCount: len(all), Injections: []abi.Injection{}}, desk.Doc{ID: in.ID}
	for i := range all {
		shown.Injections = append(shown.Injections, all[i].Injection)
		doc.Restricted = doc.Restricted || restricted(all[i].Parts)
	}
	doc.JSON, err = json.Marshal(&shown, json.Deterministic(true))
	return doc, err
}

func idsOf(pending []abi.PendingInjection) []string {
	ids := make([]string, len(pending))
	for i, p := range pending {
		ids[i] = p.ID
	}
	return ids
}

// WakeSession wakes the Tasks of a Session that wait for its inbox, though nothing is in it for them.
func (k *Keeper) WakeSession(ctx context.Context, c *desk.Caller, session string) (desk.Doc, error) {
	_, release, err := k.parts.Desk.OpenSession(ctx, c, session)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	woken := abi.Woken{SessionID: session}
	for _, task := range k.parts.Parked.Listening(ledger.Key{Tenant: c.Tenant, ID: session}) {
		w, err := k.waits(ctx, task)
		if err != nil {
			return desk.Doc{}, err
		}
		if w == nil {
			continue
		}
		a := waiting.Came(w, nothing(abi.WokenResumed), nil)
		a.Actor = c.Actor
		done, err := k.wake(ctx, task, a)
		if err != nil {
			return desk.Doc{}, err
		}
		if done {
			woken.Woken++
		}
	}
	text, err := json.Marshal(&woken)
	return desk.Doc{ID: session, JSON: text}, err
}
