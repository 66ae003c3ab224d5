package harnesses

import (
	"cmp"
	"context"
	"net/http"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// maxKey is the longest key of another server, in bytes.
const maxKey = 4096

// headerKey is the name under which the key of a Harness is sealed.
const headerKey = "Authorization"

// Validation is what became of a key that was tried.
type Validation struct {
	Valid  bool
	Stored bool
	Reason string // why it is not valid; "" when it is
}

// ValidateHarnessKey tries a key: at the server that a Harness is hosted on, or at another one that
// baseURL names; where there is none, it is one of this node. A key that is valid is stored where
// that is asked for: the executions of the Harness are asked for with it from then on.
func (k *Keeper) ValidateHarnessKey(ctx context.Context, c *desk.Caller, h *abi.Harness, key, baseURL string, store bool) (Validation, error) {
	if err := checkKey("api_key", key); err != nil {
		return Validation{}, err
	}
	if baseURL != "" {
		if err := at("base_url", web.CheckURL(baseURL, k.parts.Config.Private)); err != nil {
			return Validation{}, err
		}
	}
	tried, err := k.try(ctx, c, h, key, cmp.Or(baseURL, h.BaseURL))
	if err != nil || !tried.Valid || !store {
		return tried, err
	}
	if h.Kind != abi.HarnessHosted {
		return tried, nil // it needs none: it runs here
	}
	tried.Stored = true
	return tried, k.storeKey(ctx, c, h, key)
}

// try asks whether a key is taken.
func (k *Keeper) try(ctx context.Context, c *desk.Caller, h *abi.Harness, key, baseURL string) (Validation, error) {
	if baseURL == "" {
		return k.tryHere(ctx, c, h, key), nil
	}
	there := *h
	there.BaseURL = baseURL
	status, _, err := k.parts.Remote.request(ctx, remotePlace{remoteBase(&there), key}, http.MethodGet, "", "", nil)
	if refusal, ok := err.(*provider.Refusal); ok {
		return Validation{Reason: refusal.Message}, nil
	}
	switch {
	case err != nil:
		return Validation{}, k.parts.Ledger.Failed("trying the key of a harness", err)
	case status >= 200 && status < 300:
		return Validation{Valid: true}, nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Validation{Reason: "the server does not take this key"}, nil
	case status == http.StatusNotFound:
		return Validation{Reason: "the server has no harness of this name for this key"}, nil
	}
	return Validation{Reason: "the server has answered with " + http.StatusText(status)}, nil
}

// tryHere asks whether a key of this node sees a Harness.
func (k *Keeper) tryHere(ctx context.Context, c *desk.Caller, h *abi.Harness, key string) Validation {
	other, err := k.parts.Authenticate(ctx, key)
	if err != nil || other.Tenant != c.Tenant || !other.Sees(h.WorkspaceID) {
		return Validation{Reason: "the node does not take this key for this harness"}
	}
	return Validation{Valid: true}
}

func (k *Keeper) storeKey(ctx context.Context, c *desk.Caller, h *abi.Harness, key string) error {
	if k.parts.Values == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node can keep no secrets, and so no keys of harnesses")
	}
	unlock := k.parts.Ledger.Lock(c.Tenant, oneLock)
	defer unlock()
	stored, err := k.values.SealHeaders(ctx, c.Tenant, h.ID, h.WorkspaceID, map[string]string{headerKey: key})
	if err != nil {
		return err
	}
	_, err = k.parts.Desk.Commit(c, "", h.WorkspaceID, nil, desk.StatusOK, stored)
	return err
}

// storedKey returns the key that a hosted Harness is asked with, "" for none.
func (k *Keeper) storedKey(ctx context.Context, t storage.Tenant, h *abi.Harness) (string, error) {
	if k.parts.Values == nil {
		return "", nil
	}
	headers, err := k.values.OpenHeaders(ctx, t, h.ID)
	if ledger.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		k.log().Warn("the key of a harness cannot be read", "harness", h.ID, "error", err)
	}
	return headers[headerKey], err
}

// forgetKey removes the key of a Harness that was deleted.
func (k *Keeper) forgetKey(ctx context.Context, t storage.Tenant, h *abi.Harness) {
	if k.parts.Values == nil {
		return
	}
	removed, err := k.values.Remove(ctx, t, sealed.HeadersID(h.ID))
	if ledger.IsNotFound(err) {
		return // it had none
	}
	if err == nil {
		_, err = k.parts.Desk.Commit(&desk.Caller{Tenant: t, Actor: desk.HostActor}, "", h.WorkspaceID, nil, 0, removed)
	}
	if err != nil {
		k.log().Warn("the key of a harness is left on disk", "harness", h.ID, "error", err)
	}
}
