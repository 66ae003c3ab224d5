package personas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/storage"
)

// CreatePersona makes a Persona, of one Workspace or of the whole tenant. A key that is bound to
// Workspaces makes none for the tenant: that is policy for all of them.
func (k *Keeper) CreatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreatePersonaRequest) (desk.Doc, error) {
	if err := k.mayPlace(ctx, c, req.WorkspaceID); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, req.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		p, err := k.newPersona(ctx, c, &req)
		if err != nil {
			return desk.Doc{}, err
		}
		return k.commitNew(ctx, c, idem, p)
	})
}

// DraftPersona describes a Persona that is made together with something else, in a Workspace that
// may not be there yet, and writes nothing.
func (k *Keeper) DraftPersona(ctx context.Context, c *desk.Caller, req *abi.CreatePersonaRequest) (*abi.Persona, error) {
	return k.newPersona(ctx, c, req)
}

// commitNew writes a Persona that was not there.
func (k *Keeper) commitNew(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, p *abi.Persona) (desk.Doc, error) {
	return ledger.Change(k.parts.Ledger, c.Tenant, p.ID, func() (desk.Doc, error) {
		refs, err := k.rename(ctx, c.Tenant, nil, p)
		if err != nil {
			return desk.Doc{}, err
		}
		doc, err := k.parts.Desk.Commit(c, "", p.WorkspaceID, idem, desk.StatusCreated, append([]ledger.Record{created(p)}, refs...)...)
		if err == nil && p.Agent != nil {
			k.families.forget(c.Tenant, p.WorkspaceID)
		}
		return doc, err
	})
}

func created(p *abi.Persona) ledger.Record {
	return ledger.Record{Kind: abi.EventPersonaCreated, Object: abi.ObjectPersona, ID: p.ID, Created: true, State: p, Payload: abi.PersonaVersion{Version: p.Version}}
}

// updated states a Persona anew; res is how it was stated before.
func updated(p *abi.Persona, res *storage.Resource) ledger.Record {
	return ledger.Record{Kind: abi.EventPersonaUpdated, Object: abi.ObjectPersona, ID: p.ID, Sequence: res.Sequence + 1, State: p,
		Payload: abi.PersonaVersion{Version: p.Version, Previous: res.Position.String()}}
}

// UpdatePersona changes a Persona. A change of its policy is a new version; Tasks
// that have begun keep theirs.
func (k *Keeper) UpdatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdatePersonaRequest) (desk.Doc, error) {
	return k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			p, res, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
			if err == nil {
				err = mayGovern(c, p.WorkspaceID)
			}
			if err != nil {
				return desk.Doc{}, err
			}
			next, err := k.changedPersona(ctx, c, p, res.Position, &req)
			if err != nil {
				return desk.Doc{}, err
			}
			refs, err := k.rename(ctx, c.Tenant, &p, next)
			if err != nil {
				return desk.Doc{}, err
			}
			doc, err := k.parts.Desk.Commit(c, "", next.WorkspaceID, idem, desk.StatusOK, append([]ledger.Record{updated(next, &res)}, refs...)...)
			if err == nil {
				k.cache.drop(ledger.Key{Tenant: c.Tenant, ID: id})
			}
			return doc, err
		})
	})
}

// mayPlace refuses a caller who may make no Persona of a Workspace, "" for the whole tenant.
func (k *Keeper) mayPlace(ctx context.Context, c *desk.Caller, workspace string) error {
	if workspace == "" {
		return mayGovern(c, workspace)
	}
	return cmp.Or(k.parts.Desk.CheckWorkspace(ctx, c, workspace), mayGovern(c, workspace))
}

// mayGovern refuses keys that are bound to Workspaces what is for the whole tenant, and those
// that are not to make policy what is for their own Workspaces.
func mayGovern(c *desk.Caller, workspace string) error {
	switch {
	case len(c.Workspaces) == 0:
		return nil
	case workspace == "":
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change personas of the whole tenant, which are policy for all of them")
	case !c.Can(abi.ScopePersonasOwn):
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces, and lacks the scope %q that lets it change their personas, which are policy", abi.ScopePersonasOwn)
	}
	return nil
}

// PersonaVersions lists the versions of a Persona, newest first: each as it was
// last stated.
func (k *Keeper) PersonaVersions(ctx context.Context, c *desk.Caller, id string, p desk.Page) (desk.DocList, error) {
	_, res, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
	if err != nil {
		return desk.DocList{}, err
	}
	at, before := res.Position, ""
	if p.After != "" {
		var ok bool
		if at, before, ok = versionCursor(p.After); !ok {
			return desk.DocList{}, errNotOfList
		}
	}
	var list desk.DocList
	err = k.eachPersona(ctx, c.Tenant, id, at, func(stated *personaStated) bool {
		switch {
		case stated.version == before: // an older statement of a version that was listed
		case list.Full(p.Limit):
			list.More, list.Next = true, stated.at.String()+" "+before
			return false
		default:
			before = stated.version
			list.Add(desk.Doc{ID: id, JSON: stated.state}, p.Limit)
		}
		return true
	})
	return list, err
}

var errNotOfList = abi.InvalidParam("cursor", "the cursor is not one of this list")

// versionCursor reads where a page begins, and the version listed before it.
func versionCursor(cursor string) (at desk.Position, before string, ok bool) {
	event, before, found := strings.Cut(cursor, " ")
	at, ok = desk.ParsePosition(event)
	return at, before, ok && found
}

// personaStated is a Persona as one event states it.
type personaStated struct {
	at      desk.Position
	version string
	state   []byte
}

func (s *personaStated) persona() (p abi.Persona, err error) {
	err = ledger.Decode(s.state, &p)
	return p, err
}

// versionOf returns the version of a Persona that an event states. The events of its versions say it
// beside the state, which is then not read: a long history is gone through for each new name.
func versionOf(payload *abi.PersonaVersion, state []byte) (string, error) {
	if payload.Version != "" {
		return payload.Version, nil
	}
	p, err := (&personaStated{state: state}).persona()
	return p.Version, err
}

// eachPersona calls visit for the events that state a Persona, from the one at a
// position back to the first, until it returns false.
func (k *Keeper) eachPersona(ctx context.Context, t storage.Tenant, id string, at desk.Position, visit func(*personaStated) bool) error {
	for {
		ev, err := k.parts.Store.Event(ctx, t, at)
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrCursorExpired) {
			return nil // retention has removed what was before
		}
		if err != nil {
			return k.parts.Ledger.Failed("reading the versions of persona "+id, err)
		}
		rec := ev.Record()
		if rec.Resource.Object != abi.ObjectPersona || rec.Resource.ID != id {
			return errNotOfList
		}
		var payload abi.PersonaVersion
		if len(rec.Payload) > 0 {
			if err := ledger.Decode(rec.Payload, &payload); err != nil {
				return err
			}
		}
		version, err := versionOf(&payload, rec.State)
		if err != nil {
			return err
		}
		if !visit(&personaStated{at: at, version: version, state: rec.State}) {
			return nil
		}
		var more bool
		if at, more = desk.ParsePosition(payload.Previous); !more {
			return nil
		}
	}
}

// newPersona checks a request and returns the Persona that it asks for.
func (k *Keeper) newPersona(ctx context.Context, c *desk.Caller, req *abi.CreatePersonaRequest) (*abi.Persona, error) {
	if err := cmp.Or(desk.CheckPresent("name", req.Name), desk.CheckPresent("version", req.Version), desk.CheckPresent("entry_workflow", req.EntryWorkflow),
		desk.CheckMetadata(&req.Metadata)); err != nil {
		return nil, err
	}
	if req.Description == nil {
		return nil, desk.CheckPresent("description", "")
	}
	p := &abi.Persona{
		Envelope: abi.NewEnvelope(abi.ObjectPersona, k.parts.IDs.New(abi.ObjectPersona), k.parts.Now(), req.Metadata),
		Name:     req.Name, Version: req.Version, EntryWorkflow: entryWorkflow(req), Description: *req.Description,
		AutonomyTier: req.AutonomyTier, ReceiptPolicy: req.ReceiptPolicy,
		Tools: orEmpty(req.Tools), ToolsDenied: req.ToolsDenied, Capabilities: orEmpty(req.Capabilities), Handoffs: req.Handoffs, Owner: req.Owner,
		ModelPolicy: req.ModelPolicy, QuotaID: req.QuotaID, Budget: req.Budget, Approvals: req.Approvals, ToolsVisibility: req.ToolsVisibility,
		WorkspaceID: req.WorkspaceID, Agent: req.Agent,
	}
	if err := cmp.Or(mayBound(c, "", p.QuotaID), k.checkEntry(ctx, p.EntryWorkflow)); err != nil {
		return nil, err
	}
	return p, k.checkPersona(ctx, c, p)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// entryWorkflow joins the plugin and the export that a request names.
func entryWorkflow(req *abi.CreatePersonaRequest) string {
	switch {
	case req.ModuleRef == "" || req.ModuleRef == req.EntryWorkflow, strings.HasPrefix(req.EntryWorkflow, req.ModuleRef+"#"):
		return req.EntryWorkflow
	}
	return req.ModuleRef + "#" + req.EntryWorkflow
}

// checkEntry accepts a workflow that a plugin of this node offers.
func (k *Keeper) checkEntry(ctx context.Context, entry string) error {
	name, export, named := strings.Cut(entry, "#")
	if !named {
		export = abi.DefaultExport
	}
	offers, err := k.parts.Offers(ctx, name, export)
	if err == nil && !offers {
		return abi.InvalidParam("entry_workflow", "the plugin %q has no export %q", name, export)
	}
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return abi.InvalidParam("entry_workflow", "%s", failure.Message)
	}
	return err
}

// changedPersona returns p as a request wants it.
func (k *Keeper) changedPersona(ctx context.Context, c *desk.Caller, p abi.Persona, at desk.Position, req *abi.UpdatePersonaRequest) (*abi.Persona, error) {
	next := p
	abi.Replace(&next.Name, req.Name)
	abi.Replace(&next.Description, req.Description)
	abi.Replace(&next.AutonomyTier, req.AutonomyTier)
	abi.Replace(&next.ReceiptPolicy, req.ReceiptPolicy)
	abi.Replace(&next.Version, req.Version)
	abi.Replace(&next.ToolsVisibility, req.ToolsVisibility)
	for _, list := range []struct{ member, value *[]string }{{&next.Tools, &req.Tools}, {&next.ToolsDenied, &req.ToolsDenied}, {&next.Capabilities, &req.Capabilities}, {&next.Handoffs, &req.Handoffs}} {
		if *list.value != nil {
			*list.member = *list.value
		}
	}
	next.ModelPolicy, next.Budget, next.Approvals = cmp.Or(req.ModelPolicy, p.ModelPolicy), cmp.Or(req.Budget, p.Budget), cmp.Or(req.Approvals, p.Approvals)
	next.Agent = cmp.Or(req.Agent, p.Agent)
	k.retire(&next, req.Retired)
	if err := cmp.Or(desk.CheckPresent("name", next.Name), desk.CheckMetadata(&req.Metadata), setQuota(&next, req.QuotaID), mayBound(c, p.QuotaID, next.QuotaID)); err != nil {
		return nil, err
	}
	if req.Metadata != nil {
		next.Metadata = req.Metadata
	}
	if err := cmp.Or(keepsParent(&p, &next), k.checkPersona(ctx, c, &next)); err != nil {
		return nil, err
	}
	next.UpdatedAt = abi.At(k.parts.Now())
	return &next, k.nameVersion(ctx, c, &p, &next, at, req.Version != nil)
}

// mayBound refuses keys that are bound to Workspaces to change which Quota bounds a Persona: they
// would free themselves of one, or use up another's.
func mayBound(c *desk.Caller, before, quota string) error {
	if quota != before && len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change which quota bounds a persona")
	}
	return nil
}

func setQuota(p *abi.Persona, id jsontext.Value) error {
	switch {
	case len(id) == 0:
		return nil
	case id.Kind() == 'n':
		p.QuotaID = ""
		return nil
	}
	if err := json.Unmarshal(id, &p.QuotaID); err != nil {
		return abi.InvalidParam("quota_id", "quota_id is a string, or null for none")
	}
	return nil
}

// nameVersion gives a change its version: a policy never has the name of another. Of a plugin that
// goes back to a version of before the Persona has that version's name again.
// at is the last event that states the Persona.
func (k *Keeper) nameVersion(ctx context.Context, c *desk.Caller, before, next *abi.Persona, at desk.Position, given bool) error {
	if next.Version == before.Version && samePolicy(before, next) {
		return nil
	}
	taken, again, bad := map[string]bool{}, false, error(nil)
	err := k.eachPersona(ctx, c.Tenant, before.ID, at, func(stated *personaStated) bool {
		if taken[stated.version] = true; given || stated.version != next.Version {
			return true
		}
		var had abi.Persona
		had, bad = stated.persona()
		again = bad == nil && samePolicy(&had, next)
		return bad == nil && !again
	})
	if err := cmp.Or(err, bad); err != nil {
		return err
	}
	if given && taken[next.Version] {
		return abi.InvalidParam("version", "persona %s has had a version %q already; it is now at %q", before.ID, next.Version, before.Version)
	}
	if again {
		return nil
	}
	for taken[next.Version] {
		next.Version = nextVersion(next.Version)
	}
	return nil
}

// nextVersion counts the number at the end of a version up, or begins one.
func nextVersion(version string) string {
	digits := len(version) - len(strings.TrimRight(version, "0123456789"))
	n, err := strconv.ParseUint(version[len(version)-digits:], 10, 63)
	if err != nil {
		return version + ".1"
	}
	return version[:len(version)-digits] + strconv.FormatUint(n+1, 10)
}

// samePolicy reports whether two states of a Persona differ in nothing that decides.
func samePolicy(a, b *abi.Persona) bool {
	x, y := *a, *b
	for _, p := range []*abi.Persona{&x, &y} {
		p.Envelope, p.Name, p.Version, p.Description, p.RetiredAt, p.DeletedAt = abi.Envelope{}, "", "", "", abi.Time{}, abi.Time{}
		p.Tools, p.Capabilities = orEmpty(p.Tools), orEmpty(p.Capabilities) // as they are stored
	}
	return reflect.DeepEqual(&x, &y)
}

// checkPersona accepts a Persona whose policy can be followed.
func (k *Keeper) checkPersona(ctx context.Context, c *desk.Caller, p *abi.Persona) error {
	if err := cmp.Or(
		checkVersion(p.Version),
		desk.CheckOneOf("autonomy_tier", p.AutonomyTier, abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto),
		desk.CheckOneOf("receipt_policy", p.ReceiptPolicy, abi.ReceiptRequired, abi.ReceiptOptional, abi.ReceiptDisabled),
		desk.CheckOneOf("tools_visibility", cmp.Or(p.ToolsVisibility, abi.ToolsNamed), abi.ToolsInternal, abi.ToolsNamed, abi.ToolsPublic),
		checkPatterns("tools", p.Tools), checkPatterns("tools_denied", p.ToolsDenied), checkPatterns("handoffs", p.Handoffs), k.checkCapabilities(p.Capabilities),
		checkModelPolicy(p.ModelPolicy), checkBudget(p.Budget), checkApprovals(p.Approvals), checkAgent(p), k.checkParent(ctx, c, p),
	); err != nil {
		return err
	}
	if p.QuotaID == "" {
		return nil
	}
	if _, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectQuota, p.QuotaID); ledger.IsNotFound(err) {
		return abi.InvalidParam("quota_id", "there is no quota %q", p.QuotaID)
	} else if err != nil {
		return err
	}
	return nil
}

// checkVersion accepts what may stand behind the @ of a Persona's reference.
func checkVersion(version string) error {
	if len(version) == 0 || len(version) > 64 || !abi.ValidName(version) {
		return abi.InvalidParam("version", "a version is 1 to 64 characters A-Z a-z 0-9 _ - .")
	}
	return nil
}

// The bounds on lists of patterns.
const (
	maxPatterns   = 1000
	maxPatternLen = 256
)

func checkPatterns(param string, patterns []string) error {
	if len(patterns) > maxPatterns {
		return abi.InvalidParam(param, "%s has %d patterns; it may have %d", param, len(patterns), maxPatterns)
	}
	for i, p := range patterns {
		if p == "" || len(p) > maxPatternLen {
			return abi.InvalidParam(fmt.Sprintf("%s[%d]", param, i), "a pattern is 1 to %d bytes, in which * stands for any characters", maxPatternLen)
		}
	}
	return nil
}

// checkCapabilities refuses patterns that no host call fits: a name that is
// misspelled would forbid what it was to allow.
func (k *Keeper) checkCapabilities(patterns []string) error {
	if err := checkPatterns("capabilities", patterns); err != nil {
		return err
	}
	for i, p := range patterns {
		known := false
		for name := range k.parts.Calls {
			known = known || policy.Match(p, name)
		}
		if !known {
			return abi.InvalidParam(fmt.Sprintf("capabilities[%d]", i), "%q fits no host call (docs/host-calls.md)", p)
		}
	}
	return nil
}

func checkModelPolicy(m *abi.ModelPolicy) error {
	if m == nil {
		return nil
	}
	if m.MaxTokens < 0 {
		return abi.InvalidParam("model_policy.max_tokens", "max_tokens must not be negative")
	}
	return cmp.Or(checkPatterns("model_policy.models", m.Models), checkPatterns("model_policy.providers", m.Providers))
}

func checkBudget(b *abi.Budget) error {
	if b == nil {
		return nil
	}
	for name, value := range map[string]float64{"usd": b.USD, "input_tokens": float64(b.InputTokens), "output_tokens": float64(b.OutputTokens),
		"tool_calls": float64(b.ToolCalls), "host_calls": float64(b.HostCalls), "wall_time_ms": float64(b.WallTimeMS)} {
		if math.IsNaN(value) || value < 0 || value > maxBudget {
			return abi.InvalidParam("budget."+name, "%s is 0, for no bound, to %d", name, int64(maxBudget))
		}
	}
	return nil
}

// maxBudget is the largest number that every reader of JSON tells exactly.
const maxBudget = 1<<53 - 1

func checkApprovals(a *abi.ApprovalPolicy) error {
	switch {
	case a == nil:
		return nil
	case a.Quorum < 0 || a.Quorum > abi.MaxApprovals:
		return abi.InvalidParam("approvals.quorum", "quorum is 0 to %d", abi.MaxApprovals)
	case math.IsNaN(a.TimeoutSeconds) || a.TimeoutSeconds < 0 || a.TimeoutSeconds > abi.MaxWaitSeconds:
		return abi.InvalidParam("approvals.timeout_seconds", "timeout_seconds is 0 to %d", abi.MaxWaitSeconds)
	}
	return cmp.Or(checkPatterns("approvals.approvers", a.Approvers), checkPatterns("approvals.without", a.Without))
}
