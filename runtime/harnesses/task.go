package harnesses

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// headerBase is the name under which the address is sealed that a Task's own credentials are for. No
// header has it.
const headerBase = "base_url"

// checkKey refuses what can be no key of a server.
func checkKey(param, key string) error {
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return abi.InvalidParam(param, "api_key is 1 to %d visible characters without blanks", maxKey)
	}
	return nil
}

// CheckCredentials checks the credentials that a Task comes with, if it does, and returns a retry from which
// they cannot be guessed. They are of use to what runs on another server, and are refused by all else.
func (k *Keeper) CheckCredentials(ctx context.Context, c *desk.Caller, r *desk.Retry, req *abi.SubmitTaskRequest) (*desk.Retry, error) {
	const param = "harness_credentials"
	own := req.Credentials
	switch {
	case own == nil:
		return r, nil
	case req.Session == nil:
		return nil, abi.InvalidParam(param, "credentials of one request are for a hosted harness, and for an execution without a session")
	case k.hostedAt(c.Tenant, req.Session.WorkspaceID) == nil:
		return nil, abi.InvalidParam(param, "the harness runs on this node and has no use for credentials: the node has its own for its models")
	case k.parts.Values == nil:
		return nil, abi.Errorf(abi.CodeNotImplemented, "this node can keep no secrets, and so takes no credentials")
	}
	if err := checkKey(param+".api_key", own.APIKey); err != nil {
		return nil, err
	}
	if own.BaseURL != "" {
		if err := at(param+".base_url", web.CheckURL(own.BaseURL, k.parts.Config.Private)); err != nil {
			return nil, err
		}
	}
	return sealed.Blind(ctx, k.parts.Values, r)
}

// PutCredentials returns what adds to the batch that accepts a Task, as put does, and the Task's own credentials.
// Where the Task is not accepted after all, [Keeper.DropCredentials] follows.
func (k *Keeper) PutCredentials(ctx context.Context, own *abi.HarnessCredentials, t storage.Tenant, task *abi.Task, put func(*storage.Batch) error) func(*storage.Batch) error {
	if own == nil {
		return put
	}
	return func(b *storage.Batch) error {
		if err := put(b); err != nil {
			return err
		}
		stored, err := k.values.SealHeaders(ctx, t, task.ID, task.WorkspaceID, map[string]string{headerKey: own.APIKey, headerBase: own.BaseURL})
		if err != nil {
			return err
		}
		return ledger.Prepend(b, stored)
	}
}

// DropCredentials removes the credentials of a Task that was not accepted.
func (k *Keeper) DropCredentials(own *abi.HarnessCredentials, task string) {
	if own == nil {
		return
	}
	if err := k.parts.Values.Keep(sealed.HeadersID(task), 0); err != nil {
		k.log().Warn("the credentials of a task that was not accepted are left on disk", "task", task, "error", err)
	}
}

// placeFor returns where a Task of a hosted Harness is run, and with which key: its own, if it came with
// one, or that of the Harness.
func (k *Keeper) placeFor(ctx context.Context, t storage.Tenant, h *abi.Harness, task string) (remotePlace, error) {
	own, err := k.ownCredentials(ctx, t, task)
	if err != nil {
		return remotePlace{}, err
	}
	if own != nil {
		there := *h
		there.BaseURL = cmp.Or(own.BaseURL, h.BaseURL)
		return remotePlace{remoteBase(&there), own.APIKey}, nil
	}
	key, err := k.storedKey(ctx, t, h)
	return remotePlace{remoteBase(h), key}, err
}

// ownCredentials returns the credentials that a Task came with; nil for none.
func (k *Keeper) ownCredentials(ctx context.Context, t storage.Tenant, task string) (*abi.HarnessCredentials, error) {
	if task == "" || k.parts.Values == nil {
		return nil, nil
	}
	kept, err := k.values.OpenHeaders(ctx, t, task)
	switch {
	case ledger.IsNotFound(err):
		return nil, nil
	case err != nil:
		k.log().Warn("the credentials of a task cannot be read", "task", task, "error", err)
		return nil, err
	}
	return &abi.HarnessCredentials{APIKey: kept[headerKey], BaseURL: kept[headerBase]}, nil
}

// hostedAt returns the hosted Harness of a Workspace; nil for none. It is asked for every Task that ends.
func (k *Keeper) hostedAt(t storage.Tenant, workspace string) *abi.Harness {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.hosts[ledger.Key{Tenant: t, ID: workspace}]
}

// ending is a Task that ends while an execution of it goes on at another server.
type ending struct {
	at        remotePlace
	execution string
}

// RemoteAtEnd returns what is written with the end of a Task: that its own credentials are removed, which they
// are by then. An execution that goes on at another server is cancelled there once the end is on disk
// ([Keeper.TaskEnded]).
func (k *Keeper) RemoteAtEnd(t storage.Tenant, task *abi.Task) []ledger.Record {
	ctx := context.Background() // a Task's end waits for no client
	h := k.hostedAt(t, task.WorkspaceID)
	if h == nil {
		return nil
	}
	key := ledger.Key{Tenant: t, ID: task.ID}
	if execution, ok := k.parts.Remote.under.take(key); ok {
		if at, err := k.placeFor(ctx, t, h, task.ID); err == nil {
			k.ending.note(key, ending{at, execution})
		}
	}
	if k.parts.Values == nil {
		return nil
	}
	removed, err := k.values.Remove(ctx, t, sealed.HeadersID(task.ID))
	if ledger.IsNotFound(err) {
		return nil // it came without
	}
	if err != nil {
		k.log().Error("the credentials of a task are left on disk", "task", task.ID, "error", err)
		return nil
	}
	return []ledger.Record{removed}
}

// TaskEnded cancels what a Task that has ended has left under way at another server: once, and
// nobody waits for it.
func (k *Keeper) TaskEnded(t storage.Tenant, task *abi.Task) {
	left, ok := k.ending.take(ledger.Key{Tenant: t, ID: task.ID})
	if !ok {
		return
	}
	k.parts.Background.Go(func() {
		status, _, err := k.parts.Remote.request(k.parts.Life, left.at, http.MethodPost, executionPath(left.execution)+"/cancel", "", nil)
		k.log().Info("an execution was cancelled at the server of its harness", "task", task.ID, "status", status, "error", err)
	})
}

func executionPath(id string) string { return "/executions/" + url.PathEscape(id) }

// byTask has something of some Tasks. It is safe for concurrent use.
type byTask[T any] struct {
	mu  lockrank.Mutex[lockrank.Table]
	all map[ledger.Key]T
}

func (b *byTask[T]) note(of ledger.Key, what T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[ledger.Key]T{}
	}
	b.all[of] = what
}

func (b *byTask[T]) take(of ledger.Key) (what T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what, ok = b.all[of]
	delete(b.all, of)
	return what, ok
}
