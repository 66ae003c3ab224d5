package tenancy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// What an API key of a person's choice has at least: so many bytes, and so many different
// ones.
const (
	MinKeyLen   = 16
	minKeyBytes = 8
)

// maxCachedKeys bounds the memory that known keys take.
const maxCachedKeys = 10_000

// keyCache remembers the callers of keys that were found valid.
type keyCache struct {
	mu   lockrank.RWMutex[lockrank.Table]
	byID map[string]cachedKey
	// chosen holds the ids of keys that persons chose, by their hash. They are few, and
	// known since the start.
	chosen map[[sha256.Size]byte]string
}

type cachedKey struct {
	hash   [sha256.Size]byte
	caller *desk.Caller
}

// id returns the id of the key with the given hash.
func (k *keyCache) id(key string, hash [sha256.Size]byte) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if id := k.chosen[hash]; id != "" {
		return id
	}
	return abi.APIKeyID(key)
}

// get returns the caller of a key that is known to be valid, or nil; see sameHash.
func (k *keyCache) get(id string, hash []byte) *desk.Caller {
	k.mu.RLock()
	defer k.mu.RUnlock()
	known, ok := k.byID[id]
	if !ok || !sameHash(known.hash[:], hash) {
		return nil
	}
	return known.caller
}

func (k *keyCache) put(id string, known cachedKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxCachedKeys {
		k.byID = map[string]cachedKey{}
	}
	k.byID[id] = known
}

func (k *keyCache) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

var errUnauthenticated = abi.Errorf(abi.CodeUnauthenticated, "the API key is missing, unknown or revoked; send it as: Authorization: Bearer <api-key>")

// Authenticate returns the caller that an API key or an access token stands for. The
// *Caller may be shared: do not change it.
func (d *Directory) Authenticate(ctx context.Context, credential string) (*desk.Caller, error) {
	if d.parts.Tokens != nil && identity.LooksLikeToken(credential) {
		return d.tokenCaller(ctx, credential)
	}
	return d.keyCaller(ctx, credential)
}

// keyCaller returns the caller that an API key stands for.
func (d *Directory) keyCaller(ctx context.Context, key string) (*desk.Caller, error) {
	hash := sha256.Sum256([]byte(key))
	return d.keyHolder(ctx, d.keys.id(key, hash), hash[:])
}

// keyHolder returns the caller of the key with the given id, if it is valid and, unless
// hash is nil, has that hash.
func (d *Directory) keyHolder(ctx context.Context, id string, hash []byte) (*desk.Caller, error) {
	if caller := d.keys.get(id, hash); caller != nil {
		return caller, nil
	}
	unlock := d.parts.Ledger.Lock(storage.SystemTenant, id) // so that a revocation is not overtaken
	defer unlock()
	stored, err := d.storedKey(ctx, id)
	if ledger.IsNotFound(err) {
		return nil, errUnauthenticated
	}
	if err != nil {
		return nil, err
	}
	known, err := hex.DecodeString(stored.Hash)
	if err != nil || len(known) != sha256.Size || !stored.RevokedAt.IsZero() || !sameHash(known, hash) {
		return nil, errUnauthenticated
	}
	if d.tenants.IDOf(storage.Tenant(stored.TenantNumber)) == "" {
		return nil, ledger.Unreadable(abi.ObjectTenant, stored.TenantID, "%w", ledger.ErrLostTenant)
	}
	caller := &desk.Caller{
		Tenant: storage.Tenant(stored.TenantNumber), TenantID: stored.TenantID, Actor: stored.Actor, KeyID: id,
		Scopes: stored.Scopes, Workspaces: stored.WorkspaceIDs,
	}
	if stored.Source == abi.KeyFromClient {
		caller.Retries = id
	}
	d.keys.put(id, cachedKey{[sha256.Size]byte(known), caller})
	return caller, nil
}

// sameHash reports whether hash is nil, which asks for none, or the one that is known.
func sameHash(known, hash []byte) bool {
	return hash == nil || subtle.ConstantTimeCompare(known, hash) == 1
}

func (d *Directory) storedKey(ctx context.Context, id string) (*abi.APIKey, error) {
	res, err := d.parts.Ledger.Find(ctx, storage.SystemTenant, abi.ObjectAPIKey, id)
	if err != nil {
		return nil, err
	}
	var k abi.APIKey
	if err := ledger.Decode(res.State, &k); err != nil {
		return nil, ledger.Naming(abi.ObjectAPIKey, id, err)
	}
	return &k, ledger.CheckEnvelope(&k.Envelope, abi.ObjectAPIKey, id)
}

// CreateKey makes an API key and answers with a [abi.CreatedKey], the only time
// that the key is shown. Nobody gives away more than they have.
func (d *Directory) CreateKey(ctx context.Context, c *desk.Caller, req abi.CreateKeyRequest) (desk.Doc, error) {
	if !c.Can(abi.ScopeAdmin) {
		return desk.Doc{}, desk.Denied(abi.ScopeAdmin)
	}
	tenant, err := d.keyTenant(ctx, c, req.Tenant)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := d.checkKey(ctx, c, tenant, &req); err != nil {
		return desk.Doc{}, err
	}
	secret, err := d.newSecret()
	if err != nil {
		return desk.Doc{}, err
	}
	k, err := d.writeKey(c.Actor, tenant, secret, abi.KeyFromClient, req)
	if err != nil {
		return desk.Doc{}, err
	}
	k.Hash = ""
	text, err := json.Marshal(&abi.CreatedKey{APIKey: *k, Key: secret})
	return desk.Doc{ID: k.ID, JSON: text}, err
}

func (d *Directory) checkKey(ctx context.Context, c *desk.Caller, tenant *abi.Tenant, req *abi.CreateKeyRequest) error {
	if err := desk.CheckPresent("name", req.Name); err != nil {
		return err
	}
	if err := checkActor(req); err != nil {
		return err
	}
	if len(req.Scopes) == 0 {
		req.Scopes = abi.DefaultScopes()
	}
	for _, s := range req.Scopes {
		if s != abi.ScopeAll && !slices.Contains(abi.Scopes(), s) {
			return abi.InvalidParam("scopes", "%q is not a scope: %s", s, scopeMeant(s))
		}
		if !c.Can(s) {
			return desk.Denied(s)
		}
	}
	if len(req.WorkspaceIDs) == 0 && tenant.ID == c.TenantID {
		req.WorkspaceIDs = c.Workspaces
	}
	target := &desk.Caller{Tenant: storage.Tenant(tenant.Number), Workspaces: nil}
	for _, w := range req.WorkspaceIDs {
		if tenant.ID == c.TenantID && !c.Sees(w) {
			return abi.NotFound(abi.ObjectWorkspace, w)
		}
		if err := d.parts.Desk.CheckWorkspace(ctx, target, w); err != nil {
			return err
		}
	}
	return nil
}

// scopeMeant says what may have been meant by the name of a scope that there is not.
func scopeMeant(name string) string {
	if near := plainly.Nearest(name, slices.Values(abi.Scopes())); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "one of " + plainly.Or(append([]string{abi.ScopeAll}, abi.Scopes()...))
}

// maxActor is how long the actor of a key may be, in bytes.
const maxActor = 200

// checkActor gives a new key its actor, and refuses those that others are known by: the
// node and what came with it, its own key, other keys by their names, the users of issuers,
// which are NAME:USER, and resources that act, such as Personas and Connectors.
func checkActor(req *abi.CreateKeyRequest) error {
	param, named := "actor", "key:"+req.Name
	if req.Actor == "" {
		param, req.Actor = "name", named
	}
	if len(req.Actor) > maxActor || strings.ContainsFunc(req.Actor, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return abi.InvalidParam(param, "%s has at most %d bytes, all of them printable", param, maxActor)
	}
	others := req.Actor != named && strings.Contains(req.Actor, ":")
	if others || req.Actor == abi.RootKeyActor || slices.Contains([]string{desk.HostActor, abi.SourceNode, "host"}, req.Actor) || abi.LikeID(req.Actor) {
		return abi.InvalidParam(param, "others are known as %q: the actor of a key is \"key:\" and its name, or a word without a colon that is no id, and neither the node's nor that of its own key", req.Actor)
	}
	return nil
}

// keyTenant returns the tenant that a new key is for: the caller's own, or, for
// who may administer the node, any other by name. A new name makes a new tenant.
func (d *Directory) keyTenant(ctx context.Context, c *desk.Caller, name string) (*abi.Tenant, error) {
	own, err := d.tenants.Tenant(c.TenantID)
	if err != nil || name == "" || name == own.Name {
		return own, err
	}
	if !c.Can(abi.ScopeNode) {
		return nil, desk.Denied(abi.ScopeNode)
	}
	return d.ensureTenant(ctx, c.Actor, name)
}

func (d *Directory) newSecret() (string, error) {
	var random [32]byte
	if _, err := io.ReadFull(d.parts.Entropy, random[:]); err != nil {
		return "", fmt.Errorf("reading randomness for a key: %w", err)
	}
	return abi.APIKeyPrefix + base64.RawURLEncoding.EncodeToString(random[:]), nil
}

func (d *Directory) writeKey(actor string, tenant *abi.Tenant, secret string, source abi.KeySource, req abi.CreateKeyRequest) (*abi.APIKey, error) {
	hash := sha256.Sum256([]byte(secret))
	id, hint := abi.APIKeyID(secret), secret[len(secret)-4:]
	if source == abi.KeyFromEnvironment { // what can be guessed at is shown nothing of
		id, hint = d.parts.IDs.New(abi.ObjectAPIKey), ""
	}
	k := &abi.APIKey{
		Envelope: abi.NewEnvelope(abi.ObjectAPIKey, id, d.parts.Now(), nil), Source: source,
		Name: req.Name, Hash: hex.EncodeToString(hash[:]), Hint: hint,
		TenantID: tenant.ID, TenantNumber: tenant.Number, Actor: req.Actor,
		Scopes: req.Scopes, WorkspaceIDs: req.WorkspaceIDs,
	}
	if k.WorkspaceIDs == nil {
		k.WorkspaceIDs = []string{}
	}
	_, err := d.parts.Desk.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventKeyCreated, Object: abi.ObjectAPIKey, ID: id, Created: true, State: k})
	return k, err
}

// ListKeys returns the keys of the caller's tenant, or, for a caller that may administer
// the node, all of them.
func (d *Directory) ListKeys(ctx context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error) {
	if !c.Can(abi.ScopeAdmin) {
		return desk.DocList{}, desk.Denied(abi.ScopeAdmin)
	}
	var list desk.DocList
	for after, looked := p.After, 0; ; {
		page, more, err := d.parts.Store.List(ctx, storage.SystemTenant, abi.ObjectAPIKey, desk.Scope{}, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return desk.DocList{}, d.parts.Ledger.Failed("listing keys", err)
		}
		for i, res := range page {
			after = res.ID
			doc, mine, err := keyDoc(c, res)
			if err != nil {
				return desk.DocList{}, err
			}
			if !mine {
				continue
			}
			if list.Add(doc, p.Limit) {
				return list.End(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= desk.MaxLooked {
			return list.End(after, more), nil
		}
	}
}

// keyDoc shows a key without its hash; mine is false for one that the caller may
// not see.
func keyDoc(c *desk.Caller, res storage.Resource) (doc desk.Doc, mine bool, err error) {
	var k abi.APIKey
	if err := ledger.Decode(res.State, &k); err != nil {
		return desk.Doc{}, false, err
	}
	doc, err = shownKey(&k)
	return doc, keeps(c, &k), err
}

// shownKey shows a key without its hash, and nothing of one that can be guessed at.
func shownKey(k *abi.APIKey) (desk.Doc, error) {
	shown := *k
	shown.Hash = ""
	if k.Chosen() {
		shown.Hint = ""
	}
	text, err := json.Marshal(&shown)
	return desk.Doc{ID: k.ID, JSON: text}, err
}

// keeps reports whether the caller may know of a key, and end it: one of its own tenant
// that sees nothing that the caller does not see, or, for one that may administer the node,
// any.
func keeps(c *desk.Caller, k *abi.APIKey) bool {
	if k.TenantID != c.TenantID || len(c.Workspaces) == 0 {
		return k.TenantID == c.TenantID || c.Can(abi.ScopeNode)
	}
	return len(k.WorkspaceIDs) > 0 && !slices.ContainsFunc(k.WorkspaceIDs, func(w string) bool { return !c.Sees(w) })
}

// administers reports whether a key may administer the node: who may not does not end it.
func administers(k *abi.APIKey) bool {
	of := &desk.Caller{Scopes: k.Scopes, Workspaces: k.WorkspaceIDs}
	return of.Can(abi.ScopeNode)
}

// RevokeKey ends an API key: no request that begins after it returns is let in.
// Revoking a revoked key changes nothing.
func (d *Directory) RevokeKey(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	if !c.Can(abi.ScopeAdmin) {
		return desk.Doc{}, desk.Denied(abi.ScopeAdmin)
	}
	return ledger.Change(d.parts.Ledger, storage.SystemTenant, id, func() (desk.Doc, error) { return d.revokeKey(ctx, c, id) })
}

// revokeKey is called under the key's lock.
func (d *Directory) revokeKey(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	res, err := d.parts.Ledger.Find(ctx, storage.SystemTenant, abi.ObjectAPIKey, id)
	if err != nil {
		return desk.Doc{}, err
	}
	doc, mine, err := keyDoc(c, res)
	if err != nil || !mine {
		return desk.Doc{}, cmp.Or[error](err, abi.NotFound(abi.ObjectAPIKey, id))
	}
	var k abi.APIKey
	if err := ledger.Decode(res.State, &k); err != nil {
		return desk.Doc{}, err
	}
	if !k.RevokedAt.IsZero() {
		return doc, nil
	}
	if administers(&k) && !c.Can(abi.ScopeNode) {
		return desk.Doc{}, desk.Denied(abi.ScopeNode)
	}
	if err := d.endKey(c.Actor, &k, res.Sequence); err != nil {
		return desk.Doc{}, err
	}
	return shownKey(&k)
}

// endKey writes that a key is revoked. seq is that of the event that stated it before.
func (d *Directory) endKey(actor string, k *abi.APIKey, seq uint64) error {
	k.RevokedAt, k.UpdatedAt = abi.At(d.parts.Now()), abi.At(d.parts.Now())
	_, err := d.parts.Desk.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventKeyRevoked, Object: abi.ObjectAPIKey, ID: k.ID, Sequence: seq + 1, State: k})
	if err != nil {
		return err
	}
	d.keys.forget(k.ID)
	return nil
}
