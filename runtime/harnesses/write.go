package harnesses

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/storage"
)

// Limits of one Harness.
const (
	maxName        = 100
	maxTitle       = 100  // characters, also of the vendor
	maxDescription = 1000 // characters
	maxPath        = 1024 // bytes
	maxVersion     = 100
	defaultSkills  = "skills/"
)

// oneLock is held while names are given, so that no two Harnesses of a tenant get one.
const oneLock = "harnesses"

var plainName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CreateHarness makes a Harness, its Workspace and its Persona. A key that is bound to Workspaces
// makes none.
func (k *Keeper) CreateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.NewHarness) (desk.Doc, error) {
	if err := c.OwnsTenantWide(); err != nil {
		return desk.Doc{}, err
	}
	h := &abi.Harness{
		Envelope: abi.NewEnvelope(abi.ObjectHarness, k.parts.IDs.New(abi.ObjectHarness), k.parts.Now(), req.Metadata),
		Name:     req.Name, Title: req.Title, Vendor: req.Vendor, Description: req.Description,
		Kind: req.Kind, Status: cmp.Or(req.Status, abi.HarnessActive), Version: req.Version,
		EntryWorkflow: req.EntryWorkflow, BaseURL: req.BaseURL, SkillsPath: cmp.Or(req.SkillsPath, defaultSkills),
	}
	if err := cmp.Or(desk.CheckMetadata(&h.Metadata), checkName(h.Name), k.check(h)); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		with, err := k.furnish(ctx, c, h) // may compile the plugin, so nobody waits for it
		if err != nil {
			return desk.Doc{}, err
		}
		unlock := k.parts.Ledger.Lock(c.Tenant, oneLock)
		defer unlock()
		return k.create(c, idem, h, with)
	})
}

func (k *Keeper) create(c *desk.Caller, idem *storage.Idempotency, h *abi.Harness, with []ledger.Record) (desk.Doc, error) {
	if err := k.fits(c.Tenant, h.Name); err != nil {
		return desk.Doc{}, err
	}
	rec := ledger.Record{Kind: abi.EventHarnessCreated, Object: abi.ObjectHarness, ID: h.ID, Created: true, State: h}
	doc, err := k.parts.Desk.Commit(c, "", h.WorkspaceID, idem, desk.StatusCreated, append([]ledger.Record{rec}, with...)...)
	if err == nil {
		k.use(c.Tenant, h)
	}
	return doc, err
}

// furnish describes the Workspace of a new Harness, and its Persona.
func (k *Keeper) furnish(ctx context.Context, c *desk.Caller, h *abi.Harness) ([]ledger.Record, error) {
	w, err := k.parts.NewWorkspace(c, h.Name)
	if err != nil {
		return nil, err
	}
	h.WorkspaceID = w.ID
	records := []ledger.Record{{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: w.ID, Created: true, State: w}}
	if h.Kind == abi.HarnessHosted {
		h.EntryWorkflow = k.parts.RemoteWorkflow
	}
	if h.EntryWorkflow == "" {
		return records, nil
	}
	p, err := k.parts.NewPersona(ctx, c, &abi.CreatePersonaRequest{Name: h.Name, Version: "1", EntryWorkflow: h.EntryWorkflow, Description: &h.Description,
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, WorkspaceID: w.ID})
	if err != nil {
		return nil, named(err)
	}
	h.PersonaID = p.ID
	return append(records, ledger.Record{Kind: abi.EventPersonaCreated, Object: abi.ObjectPersona, ID: p.ID, Created: true, State: p,
		Payload: abi.PersonaVersion{Version: p.Version}}), nil
}

// named says of a plugin that is not there by which member it was named.
func named(err error) error {
	if own, ok := err.(*abi.Error); ok && own.Param == "entry_workflow" {
		own.Param = "config.binary_path"
	}
	return err
}

// fits refuses a name that is taken, and one Harness too many.
func (k *Keeper) fits(t storage.Tenant, name string) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if name == abi.OwnHarness || k.known[place{t, name}] != nil {
		return abi.Errorf(abi.CodeConflict, "there is a harness %q already", name)
	}
	n := 0
	for at := range k.known {
		if at.tenant == t {
			n++
		}
	}
	if n >= k.parts.Config.Most {
		return abi.Errorf(abi.CodeConflict, "there are %d harnesses; a tenant has at most %d", n, k.parts.Config.Most)
	}
	return nil
}

// UpdateHarness changes what is said of a Harness. The node's own stays as it is.
func (k *Keeper) UpdateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.HarnessChange) (desk.Doc, error) {
	return k.rewrite(ctx, c, r, name, abi.EventHarnessUpdated, func(next *abi.Harness) error {
		abi.Replace(&next.Title, req.Title)
		abi.Replace(&next.Description, req.Description)
		abi.Replace(&next.Status, req.Status)
		abi.Replace(&next.BaseURL, req.BaseURL)
		abi.Replace(&next.SkillsPath, req.SkillsPath)
		if req.EntryWorkflow != nil && *req.EntryWorkflow != next.EntryWorkflow {
			return abi.InvalidParam("config.binary_path", "the plugin of a harness is the one that it was made with: register another harness")
		}
		return k.check(next)
	})
}

// DeleteHarness deletes a Harness in whose Workspace nothing runs any more. The Workspace stays,
// with all that was recorded in it.
func (k *Keeper) DeleteHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) error {
	before, err := k.Harness(ctx, c, name)
	if err != nil {
		return err
	}
	_, err = k.rewrite(ctx, c, r, name, abi.EventHarnessDeleted, func(next *abi.Harness) error {
		busy, err := k.busy(ctx, c.Tenant, next.WorkspaceID)
		if err != nil {
			return err
		}
		if busy {
			return abi.Errorf(abi.CodeConflict, "the harness %q has sessions or executions that have not ended: end them first", name)
		}
		next.DeletedAt = abi.At(k.parts.Now())
		return nil
	})
	if err == nil {
		k.forgetKey(ctx, c.Tenant, before)
	}
	return err
}

// busy reports whether a Workspace has Tasks that have not ended, or Sessions that go on.
func (k *Keeper) busy(ctx context.Context, t storage.Tenant, workspace string) (bool, error) {
	if k.parts.Running(t, workspace) > 0 {
		return true, nil
	}
	for _, state := range []abi.SessionState{abi.SessionActive, abi.SessionIdle, abi.SessionPaused} {
		open, err := k.anySession(ctx, t, desk.Filter{WorkspaceID: workspace, Status: string(state)})
		if open || err != nil {
			return open, err
		}
	}
	return false, nil
}

// anySession reports whether a filter lets any Session through.
func (k *Keeper) anySession(ctx context.Context, t storage.Tenant, f desk.Filter) (bool, error) {
	for page := (desk.Page{Limit: 1}); ; {
		list, err := k.parts.Desk.List(ctx, &desk.Caller{Tenant: t}, abi.ObjectSession, f, page)
		if err != nil || len(list.Docs) > 0 || !list.More {
			return len(list.Docs) > 0, err
		}
		page.After = list.Next
	}
}

// rewrite changes a Harness in the log, and then in memory. change gets a copy.
func (k *Keeper) rewrite(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, kind abi.EventKind, change func(*abi.Harness) error) (desk.Doc, error) {
	before, err := k.Harness(ctx, c, name)
	switch {
	case err != nil:
		return desk.Doc{}, err
	case name == abi.OwnHarness:
		return desk.Doc{}, abi.Errorf(abi.CodePermissionDenied, "the harness %q is the node's own: every tenant has it as it is", name)
	}
	if err := c.OwnsTenantWide(); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, before.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.parts.Ledger.Lock(c.Tenant, oneLock)
		defer unlock()
		before, err := k.Harness(ctx, c, name)
		if err != nil {
			return desk.Doc{}, err
		}
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectHarness, before.ID)
		if err != nil {
			return desk.Doc{}, err
		}
		next := *before
		next.UpdatedAt = abi.At(k.parts.Now())
		if err := change(&next); err != nil {
			return desk.Doc{}, err
		}
		doc, err := k.parts.Desk.Commit(c, "", next.WorkspaceID, idem, desk.StatusOK, ledger.Record{Kind: kind, Object: abi.ObjectHarness, ID: next.ID,
			Sequence: res.Sequence + 1, State: &next})
		if err == nil {
			k.use(c.Tenant, &next)
		}
		return doc, err
	})
}

func checkName(name string) error {
	if len(name) > maxName || !plainName.MatchString(name) {
		return abi.InvalidParam("id", "id is 1 to %d of a-z and 0-9, in words joined by one -", maxName)
	}
	return nil
}

// check checks a Harness as it is to be.
func (k *Keeper) check(h *abi.Harness) error {
	return cmp.Or(
		length("name", h.Title, maxTitle), length("vendor", h.Vendor, maxTitle), length("description", h.Description, maxDescription),
		desk.CheckOneOf("execution_type", h.Kind, abi.HarnessHosted, abi.HarnessSDK, abi.HarnessIDE),
		desk.CheckOneOf("status", h.Status, abi.HarnessActive, abi.HarnessBeta, abi.HarnessComingSoon, abi.HarnessMaintenance, abi.HarnessDeprecated),
		k.checkPlace(h), checkSkills(h.SkillsPath), short("version", h.Version))
}

// checkPlace holds that a Harness says where its agents run.
func (k *Keeper) checkPlace(h *abi.Harness) error {
	switch h.Kind {
	case abi.HarnessHosted:
		if h.BaseURL == "" {
			return abi.InvalidParam("config.base_url", "a hosted harness needs base_url: the address of the server that runs it")
		}
		return at("config.base_url", web.CheckURL(h.BaseURL, k.parts.Config.Private))
	case abi.HarnessSDK:
		return desk.CheckPresent("config.binary_path", h.EntryWorkflow)
	}
	return nil
}

func checkSkills(path string) error {
	if len(path) > maxPath || strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\\\x00") || strings.Contains("/"+path+"/", "/../") {
		return abi.InvalidParam("config.skills_path", "skills_path is a folder of the workspace, at most %d bytes, such as skills/", maxPath)
	}
	return nil
}

func short(param, value string) error {
	if len(value) > maxVersion {
		return abi.InvalidParam(param, "%s has at most %d bytes", param, maxVersion)
	}
	return nil
}

// length holds a text to 1 and at most so many characters.
func length(param, value string, most int) error {
	if value == "" {
		return desk.CheckPresent(param, value)
	}
	if utf8.RuneCountInString(value) > most {
		return abi.InvalidParam(param, "%s has 1 to %d characters", param, most)
	}
	return nil
}

// at says at which member something is wrong.
func at(param string, err error) error {
	if own, ok := err.(*abi.Error); ok {
		own.Param = param
	}
	return err
}
