package customtools

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/storage"
)

// Limits of one tool.
const (
	maxName        = 100 // characters
	maxDescription = 1000
	maxArgs        = 32
	maxArg         = 1024 // bytes
	maxSchema      = 64 << 10
	secretBytes    = 32
)

// CreateCustomTool gives a Workspace a tool. Of one that is answered by requests, the answer has
// the secret that signs them, and so has that to a retry; no other answer has it.
func (k *Keeper) CreateCustomTool(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateCustomToolRequest) (desk.Doc, error) {
	if k.parts.Added == nil {
		return desk.Doc{}, abi.Errorf(abi.CodeNotImplemented, "this node takes no custom tools")
	}
	if err := k.parts.Desk.CheckWorkspace(ctx, c, req.WorkspaceID); err != nil {
		return desk.Doc{}, err
	}
	about := &abi.CustomTool{
		Envelope:    abi.NewEnvelope(abi.ObjectCustomTool, k.parts.IDs.New(abi.ObjectCustomTool), k.parts.Now(), req.Metadata),
		WorkspaceID: req.WorkspaceID, Name: req.Name, Description: req.Description, InputSchema: req.InputSchema, Handler: req.Handler,
	}
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), k.check(about)); err != nil {
		return desk.Doc{}, err
	}
	doc, err := k.parts.Desk.Once(ctx, c, r, about.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return k.create(ctx, c, idem, about)
	})
	return k.reveal(ctx, c, doc, err)
}

func (k *Keeper) create(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, about *abi.CustomTool) (desk.Doc, error) {
	unlock := k.parts.Ledger.Lock(c.Tenant, "custom tools") // two of one name come one after the other
	defer unlock()
	if err := k.fits(c, about); err != nil {
		return desk.Doc{}, err
	}
	var records []ledger.Record
	if about.Handler.URL != "" {
		stored, err := k.newSecret(ctx, c.Tenant, about)
		if err != nil {
			return desk.Doc{}, err
		}
		records = append(records, stored)
	}
	made := ledger.Record{Kind: abi.EventCustomToolCreated, Object: abi.ObjectCustomTool, ID: about.ID, Created: true, State: about}
	doc, err := k.parts.Desk.Commit(c, "", about.WorkspaceID, idem, desk.StatusCreated, slices.Insert(records, 0, made)...)
	if err == nil {
		k.use(c.Tenant, about)
	}
	return doc, err
}

// fits refuses a name that is taken, and one tool too many.
func (k *Keeper) fits(c *desk.Caller, about *abi.CustomTool) error {
	at := k.placeOf(c.Tenant, about.WorkspaceID)
	switch {
	case k.parts.Added.Get(at.tenant, abi.ToolServerCustom) != nil:
		return abi.Errorf(abi.CodeConflict, "a tool server of this tenant has the name %q: give it another", abi.ToolServerCustom)
	case k.named(at, about.Name) != nil:
		return abi.Errorf(abi.CodeConflict, "there is a custom tool %q in this workspace already", about.Name)
	case len(k.of(at)) >= k.parts.Config.Most:
		return abi.Errorf(abi.CodeConflict, "a workspace has at most %d custom tools", k.parts.Config.Most)
	}
	return nil
}

// newSecret keeps a new secret, as Standard Webhooks wants it.
func (k *Keeper) newSecret(ctx context.Context, t storage.Tenant, about *abi.CustomTool) (ledger.Record, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(k.parts.Entropy, raw); err != nil {
		return ledger.Record{}, fmt.Errorf("making a secret: %w", err)
	}
	about.SecretID = k.parts.IDs.New(abi.ObjectVaultSecret)
	return k.values.Seal(ctx, sealed.Secret{Tenant: t, ID: about.SecretID, WorkspaceID: about.WorkspaceID, Name: about.ID},
		[]byte("whsec_"+base64.StdEncoding.EncodeToString(raw)))
}

// reveal shows a tool with its secret to who has made it.
func (k *Keeper) reveal(ctx context.Context, c *desk.Caller, doc desk.Doc, err error) (desk.Doc, error) {
	if err != nil {
		return desk.Doc{}, err
	}
	var about abi.CustomTool
	if err := ledger.Decode(doc.JSON, &about); err != nil {
		return desk.Doc{}, err
	}
	shown, err := describe(c, about, doc)
	if err != nil || about.SecretID == "" {
		return shown, err
	}
	value, err := k.values.Open(ctx, c.Tenant, about.SecretID)
	if err != nil {
		return shown, nil // it was deleted since
	}
	shown.JSON = desk.WithMember(shown.JSON, "secret", jsonw.String(nil, string(value)))
	return shown, nil
}

// describe leaves of a URL the host, and of a command its name, for those who may not write tools.
func describe(c *desk.Caller, shown abi.CustomTool, doc desk.Doc) (desk.Doc, error) {
	if !c.Can(abi.ScopeToolsWrite) {
		shown.Handler.Args = nil
		if u, err := url.Parse(shown.Handler.URL); err == nil && shown.Handler.URL != "" {
			shown.Handler.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		}
	}
	text, err := json.Marshal(&shown, json.Deterministic(true))
	doc.JSON, doc.Restricted = text, false
	return doc, err
}

// find returns a tool of a Workspace that the caller may see.
func (k *Keeper) find(c *desk.Caller, workspace, id string) (*abi.CustomTool, error) {
	all := k.of(k.placeOf(c.Tenant, workspace))
	i := slices.IndexFunc(all, func(one *abi.CustomTool) bool { return one.ID == id })
	if i < 0 || !c.Sees(workspace) {
		return nil, abi.NotFound(abi.ObjectCustomTool, id)
	}
	return all[i], nil
}

// CustomTool returns a tool of a Workspace.
func (k *Keeper) CustomTool(_ context.Context, c *desk.Caller, workspace, id string) (desk.Doc, error) {
	about, err := k.find(c, workspace, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return describe(c, *about, desk.Doc{ID: id})
}

// CustomTools returns the tools of a Workspace that the caller may see, by name. They are not
// changed.
func (k *Keeper) CustomTools(_ context.Context, c *desk.Caller, workspace string) []*abi.CustomTool {
	if !c.Sees(workspace) {
		return nil
	}
	return k.of(k.placeOf(c.Tenant, workspace))
}

// DeleteCustomTool takes a tool away, and what signs its requests. Its name is free.
func (k *Keeper) DeleteCustomTool(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string) error {
	_, err := k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.parts.Ledger.Lock(c.Tenant, "custom tools")
		defer unlock()
		about, err := k.find(c, workspace, id)
		if err != nil {
			return desk.Doc{}, err
		}
		res, err := k.parts.Ledger.Find(ctx, c.Tenant, abi.ObjectCustomTool, id)
		if err != nil {
			return desk.Doc{}, err
		}
		next := *about
		next.DeletedAt = abi.At(k.parts.Now())
		next.UpdatedAt = next.DeletedAt
		records := []ledger.Record{{Kind: abi.EventCustomToolDeleted, Object: abi.ObjectCustomTool, ID: id, Sequence: res.Sequence + 1, State: &next}}
		if about.SecretID != "" {
			removed, err := k.values.Remove(ctx, c.Tenant, about.SecretID)
			if err != nil {
				return desk.Doc{}, err
			}
			records = append(records, removed)
		}
		doc, err := k.parts.Desk.Commit(c, "", workspace, idem, desk.StatusOK, records...)
		if err == nil {
			k.leave(c.Tenant, about)
		}
		return doc, err
	})
	return err
}

// check checks a tool as it is to be.
func (k *Keeper) check(t *abi.CustomTool) error {
	if n := utf8.RuneCountInString(t.Name); n == 0 || n > maxName {
		return abi.InvalidParam("name", "name is 1 to %d characters", maxName)
	}
	if err := tool.CheckName(t.Name); err != nil {
		return abi.InvalidParam("name", "%v", err)
	}
	if n := utf8.RuneCountInString(t.Description); n == 0 || n > maxDescription || !utf8.ValidString(t.Description) {
		return abi.InvalidParam("description", "description is 1 to %d characters", maxDescription)
	}
	if len(t.InputSchema) > maxSchema {
		return abi.InvalidParam("input_schema", "input_schema has at most %d bytes", maxSchema)
	}
	if err := skill.Accept(t.InputSchema); err != nil {
		return abi.InvalidParam("input_schema", "input_schema is no JSON Schema that is taken: %v", err)
	}
	return k.checkHandler(&t.Handler)
}

func (k *Keeper) checkHandler(h *abi.ToolHandler) error {
	switch {
	case (h.URL == "") == (h.Command == ""):
		return abi.InvalidParam("handler", "a handler has a url or a command")
	case h.URL != "" && h.Args != nil:
		return abi.InvalidParam("handler.args", "only a command has args")
	case h.URL != "" && k.parts.Values == nil:
		return abi.Errorf(abi.CodeNotImplemented, "this node can keep no secrets, and so sends no requests for tools")
	case h.URL != "":
		return desk.Within("handler", web.CheckURL(h.URL, k.parts.Config.Private))
	case len(h.Args) > maxArgs || slices.ContainsFunc(h.Args, func(arg string) bool { return len(arg) > maxArg || strings.ContainsRune(arg, 0) }):
		return abi.InvalidParam("handler.args", "args has at most %d texts of at most %d bytes, without NUL", maxArgs, maxArg)
	case k.parts.Config.Commands[h.Command] == nil:
		err := abi.Errorf(abi.CodePolicyViolation, "the node starts no %q: its setting openharness.commands names what it starts", h.Command)
		err.Param = "handler.command"
		return err
	}
	return nil
}
