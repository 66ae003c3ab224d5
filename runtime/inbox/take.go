package inbox

import (
	"context"
	"errors"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{abi.CallInboxTake: hostcall.Of(k.takeFor)}
}

// takeFor takes what is due. Until that is on disk, nobody else changes the inbox.
func (k *Keeper) takeFor(ctx context.Context, c *hostcall.Call, req *abi.CallInboxTakeRequest) (hostcall.Answer, error) {
	if err := waiting.CheckInboxTake(req); err != nil {
		return hostcall.Answer{}, err
	}
	if c.Task.Fork != nil || c.Task.Replay != nil {
		return hostcall.Answer{JSON: nothing(abi.WokenNever)}, nil
	}
	answer, err := k.takeNow(ctx, c, req.Checkpoint)
	if ledger.IsUnreadable(err) {
		return answer, provider.Refuse(abi.CallUnavailable, "unreadable", "the inbox cannot be read")
	}
	if err != nil || answer.JSON != nil {
		return answer, err
	}
	if req.Wait {
		return answer, hostcall.ErrWait
	}
	return hostcall.Answer{JSON: nothing("")}, nil
}

// takeNow takes what is due; it answers nothing when that is nothing.
func (k *Keeper) takeNow(ctx context.Context, c *hostcall.Call, at abi.Checkpoint) (hostcall.Answer, error) {
	session := ledger.Key{Tenant: c.Tenant, ID: c.Task.SessionID}
	if spawned(c.Task) || k.empty.has(session) {
		return hostcall.Answer{}, nil
	}
	unlock := k.alone.Lock(session.ID)
	in, taken, err := k.take(ctx, c.Tenant, c.Task, at)
	if err != nil || taken.records == nil {
		unlock()
		return hostcall.Answer{}, err
	}
	return hostcall.Answer{JSON: taken.answer, Extra: taken.records, Durable: true, Release: func(err error) {
		if err == nil {
			k.empty.note(session, len(in.Pending) == 0)
		}
		unlock()
	}}, nil
}

// spawned reports whether a plugin has made the Task: what is said in the Session is for the Task
// that it works for.
func spawned(t *abi.Task) bool {
	return t.ParentTaskID != "" && strings.HasPrefix(t.CreatedBy, abi.IDPrefix(abi.ObjectPersona))
}

// Listens reports whether a Task that waits for its Session's inbox is woken by what comes there.
func Listens(t *abi.Task) bool { return !spawned(t) }

// due reports whether what waits is delivered at a checkpoint.
func due(mode abi.InjectionMode, at abi.Checkpoint) bool {
	switch mode {
	case abi.InjectQueue:
		return at != abi.CheckpointStep
	case abi.RemindAuditOnly:
		return at == abi.CheckpointLoopExit
	}
	return true
}

// nothing is the answer that brings nothing.
func nothing(why abi.InboxWoken) []byte { return waiting.EmptyInbox(why) }

// taken is what is delivered: the answer to the call that takes it, and what is written with that.
type taken struct {
	answer  []byte
	records []ledger.Record // nil for nothing
}

// take takes what is due out of an inbox. The caller holds its lock.
func (k *Keeper) take(ctx context.Context, tenant storage.Tenant, t *abi.Task, at abi.Checkpoint) (*kept, taken, error) {
	in, err := k.of(ctx, tenant, t.WorkspaceID, t.SessionID)
	if err != nil {
		return nil, taken{}, err
	}
	if len(in.Pending) == 0 {
		k.empty.note(ledger.Key{Tenant: tenant, ID: t.SessionID}, true)
	}
	var goes, stays []abi.PendingInjection
	for _, p := range in.Pending {
		if due(p.Mode, at) {
			goes = append(goes, p)
		} else {
			stays = append(stays, p)
		}
	}
	if goes == nil {
		return in, taken{}, nil
	}
	slices.SortStableFunc(goes, func(a, b abi.PendingInjection) int { return rank(a) - rank(b) })
	all, err := k.read(ctx, tenant, idsOf(goes)...)
	if err != nil {
		return nil, taken{}, err
	}
	in.Pending = stays
	given, err := k.deliver(all, t, at)
	given.records = append(given.records, k.record(in))
	return in, given, err
}

// rank puts first what interrupts.
func rank(p abi.PendingInjection) int {
	if p.Mode == abi.RemindInterrupt {
		return 0
	}
	return 1
}

// deliver says what is written and answered when injections are delivered to a Task.
func (k *Keeper) deliver(all []injection, t *abi.Task, at abi.Checkpoint) (taken, error) {
	var given taken
	answer := abi.CallInboxTakeAnswer{Messages: []abi.Message{}, Reminders: []abi.TakenReminder{}}
	for n := range all {
		i := &all[n]
		i.Status, i.TaskID, i.Checkpoint, i.DeliveredAt = abi.InjectionDelivered, t.ID, at, abi.At(k.parts.Now())
		i.UpdatedAt = i.DeliveredAt
		switch {
		case i.Kind == abi.InjectionUser:
			m := k.message(i, abi.RoleUser, i.MessageID, i.Parts, i.Metadata)
			told, err := sessions.ForPlugin(m)
			if err != nil {
				return taken{}, err
			}
			answer.Messages = append(answer.Messages, told)
			given.records = append(given.records, sessions.MessageRecord(m))
		case i.Mode == abi.RemindAuditOnly:
			m, err := k.audited(i)
			if err != nil {
				return taken{}, err
			}
			given.records = append(given.records, sessions.MessageRecord(m))
		default:
			shown := shownAs(i)
			answer.Reminders = append(answer.Reminders, shown)
			given.records = append(given.records, ledger.Record{Kind: abi.EventReminderEmitted, Object: abi.ObjectTask, ID: t.ID, Payload: &abi.ReminderEmitted{Reminder: shown}})
		}
		given.records = append(given.records, i.states(abi.EventInjectionDelivered))
	}
	var err error
	given.answer, err = json.Marshal(&answer, json.Deterministic(true))
	return given, err
}

func (k *Keeper) message(i *injection, role abi.Role, id string, parts []abi.Part, metadata jsontext.Value) *abi.Message {
	return &abi.Message{Envelope: abi.NewEnvelope(abi.ObjectMessage, id, k.parts.Now(), metadata), Role: role, Parts: parts, SessionID: i.SessionID, TaskID: i.TaskID}
}

// audited returns the Message that a reminder is in the transcript which no model is shown: its
// metadata says so to whoever reads the transcript.
func (k *Keeper) audited(i *injection) (*abi.Message, error) {
	metadata, err := json.Marshal(map[string]any{abi.MetadataAuditOnly: true, "reminder_id": i.ID}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	text := abi.Part{Type: abi.PartText, Text: &i.Body}
	text.Normalize()
	return k.message(i, abi.RoleSystem, abi.IDPrefix(abi.ObjectMessage)+strings.TrimPrefix(i.ID, abi.IDPrefix(abi.ObjectInjection)), []abi.Part{text}, metadata), nil
}

// shownAs returns a reminder as a plugin gets it. Models take instructions by their system prompt.
func shownAs(i *injection) abi.TakenReminder {
	as := abi.ReminderSystem
	if i.RoleHint == abi.ReminderUser {
		as = abi.ReminderUser
	}
	return abi.TakenReminder{ReminderID: i.ID, Tags: i.Tags, Body: i.Body, RoleHint: i.RoleHint, RenderedRole: as, Source: i.Source, TTLTurns: i.TTLTurns, Meta: i.Meta}
}

// Serve wakes the Tasks that wait for a Session's inbox and have something due there. It is called
// when something has come there, and when a Task has begun to wait.
func (k *Keeper) Serve(session ledger.Key) {
	for _, task := range k.parts.Parked.Listening(session) {
		if k.empty.has(session) {
			return
		}
		if err := k.serve(context.Background(), session, task); err != nil {
			k.parts.Log.Warn("a task that waits for its inbox could not be woken", "task", task.ID, "error", err)
		}
	}
}

func (k *Keeper) serve(ctx context.Context, session, task ledger.Key) error {
	unlock := k.alone.Lock(session.ID)
	defer unlock()
	t, err := k.parts.Task(ctx, task.Tenant, task.ID)
	if err != nil || t.Waiting == nil || t.Waiting.Inbox == nil {
		return err
	}
	in, taken, err := k.take(ctx, session.Tenant, t, t.Waiting.Inbox.Checkpoint)
	if err != nil || taken.records == nil {
		return err
	}
	a := waiting.Came(t.Waiting, taken.answer, nil)
	a.Actor, a.Message = desk.HostActor, taken.records
	done, err := k.wake(ctx, task, a)
	if done {
		k.empty.note(session, len(in.Pending) == 0)
	}
	return err
}

// wake wakes a Task, unless it does not wait any more.
func (k *Keeper) wake(ctx context.Context, task ledger.Key, a *waiting.Answer) (bool, error) {
	err := k.parts.Wake(ctx, task, a)
	if errors.Is(err, waiting.ErrNotWaiting) {
		return false, nil
	}
	return err == nil, err
}

// waits returns what a Task waits for that waits for an inbox; nil for any other.
func (k *Keeper) waits(ctx context.Context, task ledger.Key) (*abi.Waiting, error) {
	t, err := k.parts.Task(ctx, task.Tenant, task.ID)
	if err != nil || t.Waiting == nil || t.Waiting.Inbox == nil {
		return nil, err
	}
	return t.Waiting, nil
}
