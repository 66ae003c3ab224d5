package inbox

import (
	"context"
	"maps"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// maxMeta is how deep a reminder's _meta may nest: it is part of events and answers.
const maxMeta = abi.MaxDepth - 8

// maxMetaMembers is how many members a reminder's _meta may have.
const maxMetaMembers = 1000

// options are the members that a reminder can have.
var options = []string{"body", "tags", "dedupe_key", "ttl_turns", "role_hint", "mode", "source", "_meta"}

// ReadReminder reads a reminder as a client sends it: its errors have the codes that the bridge's
// protocol gives them.
func ReadReminder(text jsontext.Value) (req abi.RemindRequest, err error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return req, malformed("", "a reminder is an object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(options, name) {
			return req, reminderError(abi.CodeReminderOption, name, "a reminder has no option %q: what a host wants to add belongs into _meta", name)
		}
	}
	if err := json.Unmarshal(text, &req); err != nil {
		fault, _ := plainly.Of(err)
		param := ""
		for param = range fault.Pointer.Tokens() {
			break
		}
		return req, malformed(param, "%v", err)
	}
	if len(req.Meta) > maxMetaMembers {
		return req, malformed("_meta", "_meta has at most %d members", maxMetaMembers)
	}
	return req, nil
}

func malformed(param, format string, args ...any) *abi.Error {
	return reminderError(abi.CodeReminderMalformed, param, format, args...)
}

func reminderError(code, param, format string, args ...any) *abi.Error {
	err := abi.InvalidParam(param, code+": "+format, args...)
	err.Details = []byte(`{"code":"` + code + `"}`)
	return err
}

// reminderOf checks a reminder, and fills in what is left out.
func reminderOf(req *abi.RemindRequest) (*abi.Injection, error) {
	i := &abi.Injection{Kind: abi.InjectionReminder, Mode: req.Mode, Reminder: abi.Reminder{Body: req.Body, Tags: req.Tags, DedupeKey: req.DedupeKey,
		TTLTurns: 1, RoleHint: req.RoleHint, Source: req.Source, Meta: req.Meta}}
	if i.Mode == "" {
		i.Mode = abi.RemindFinishStep
	}
	if i.RoleHint == "" {
		i.RoleHint = abi.ReminderSystem
	}
	if i.Source == "" {
		i.Source = "client"
	}
	if req.TTLTurns != nil {
		i.TTLTurns = *req.TTLTurns
	}
	meta, err := json.Marshal(i.Meta)
	long := func(text string) bool { return len(text) > abi.MaxReminderText }
	switch {
	case err != nil || abi.TooDeep(meta, maxMeta) >= 0:
		return nil, malformed("_meta", "_meta nests at most %d levels deep", maxMeta)
	case i.Body == "":
		return nil, malformed("body", "a reminder needs a body")
	case len(i.Tags) > abi.MaxReminderTags || slices.ContainsFunc(i.Tags, func(tag string) bool { return tag == "" || long(tag) }):
		return nil, malformed("tags", "tags are at most %d texts of 1 to %d bytes", abi.MaxReminderTags, abi.MaxReminderText)
	case long(i.DedupeKey):
		return nil, malformed("dedupe_key", "dedupe_key has at most %d bytes", abi.MaxReminderText)
	case long(i.Source):
		return nil, malformed("source", "source has at most %d bytes", abi.MaxReminderText)
	case i.TTLTurns < 1 || i.TTLTurns > abi.MaxReminderTurns:
		return nil, malformed("ttl_turns", "ttl_turns is 1 to %d", abi.MaxReminderTurns)
	case !slices.Contains([]abi.ReminderRole{abi.ReminderSystem, abi.ReminderDeveloper, abi.ReminderUser}, i.RoleHint):
		return nil, malformed("role_hint", "role_hint is system, developer or user")
	case !slices.Contains([]abi.InjectionMode{abi.RemindInterrupt, abi.RemindFinishStep, abi.RemindAuditOnly}, i.Mode):
		return nil, malformed("mode", "mode is interrupt_immediate, finish_step or audit_only")
	}
	return i, nil
}

// Remind queues a reminder. One that waits with the same dedupe_key gives way to it.
func (k *Keeper) Remind(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.RemindRequest) (desk.Doc, error) {
	about, err := reminderOf(&req)
	if err != nil {
		return desk.Doc{}, err
	}
	id := k.parts.IDs.New(abi.ObjectInjection)
	return k.change(ctx, c, r, session, func(in *kept) ([]ledger.Record, *abi.Injection, error) {
		i := &injection{Injection: *about}
		i.Envelope = abi.NewEnvelope(abi.ObjectInjection, id, k.parts.Now(), nil)
		former, err := k.former(ctx, in, i)
		if err != nil {
			return nil, nil, err
		}
		records, shown, err := k.queue(in, c, i)
		return append(records, former...), shown, err
	})
}

// former takes away the reminder that a new one replaces.
func (k *Keeper) former(ctx context.Context, in *kept, by *injection) ([]ledger.Record, error) {
	at := in.find(func(p *abi.PendingInjection) bool { return p.DedupeKey != "" && p.DedupeKey == by.DedupeKey })
	if at < 0 {
		return nil, nil
	}
	all, err := k.read(ctx, in.tenant, in.Pending[at].ID)
	if err != nil {
		return nil, err
	}
	in.Pending = slices.Delete(in.Pending, at, at+1)
	return []ledger.Record{k.revoked(&all[0], by.ID)}, nil
}
