package engine

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
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
	mu   lockrank.RWMutex[lockTable]
	byID map[string]cachedKey
	// chosen holds the ids of keys that persons chose, by their hash. They are few, and
	// known since the start.
	chosen map[[sha256.Size]byte]string
}

type cachedKey struct {
	hash   [sha256.Size]byte
	caller *Caller
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
func (k *keyCache) get(id string, hash []byte) *Caller {
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
func (e *Engine) Authenticate(ctx context.Context, credential string) (*Caller, error) {
	if e.tokens != nil && identity.LooksLikeToken(credential) {
		return e.tokenCaller(ctx, credential)
	}
	return e.keyCaller(ctx, credential)
}

// keyCaller returns the caller that an API key stands for.
func (e *Engine) keyCaller(ctx context.Context, key string) (*Caller, error) {
	hash := sha256.Sum256([]byte(key))
	return e.keyHolder(ctx, e.keys.id(key, hash), hash[:])
}

// keyHolder returns the caller of the key with the given id, if it is valid and, unless
// hash is nil, has that hash.
func (e *Engine) keyHolder(ctx context.Context, id string, hash []byte) (*Caller, error) {
	if caller := e.keys.get(id, hash); caller != nil {
		return caller, nil
	}
	unlock := e.locks.lock(storage.SystemTenant, id) // so that a revocation is not overtaken
	defer unlock()
	stored, err := e.storedKey(ctx, id)
	if isNotFound(err) {
		return nil, errUnauthenticated
	}
	if err != nil {
		return nil, err
	}
	known, err := hex.DecodeString(stored.Hash)
	if err != nil || len(known) != sha256.Size || !stored.RevokedAt.IsZero() || !sameHash(known, hash) {
		return nil, errUnauthenticated
	}
	if e.tenantID(storage.Tenant(stored.TenantNumber)) == "" {
		return nil, unreadable(abi.ObjectTenant, stored.TenantID, "%w", errLostTenant)
	}
	caller := &Caller{
		Tenant: storage.Tenant(stored.TenantNumber), TenantID: stored.TenantID, Actor: stored.Actor, KeyID: id,
		Scopes: stored.Scopes, Workspaces: stored.WorkspaceIDs,
	}
	if stored.Source == abi.KeyFromClient {
		caller.Retries = id
	}
	e.keys.put(id, cachedKey{[sha256.Size]byte(known), caller})
	return caller, nil
}

// sameHash reports whether hash is nil, which asks for none, or the one that is known.
func sameHash(known, hash []byte) bool {
	return hash == nil || subtle.ConstantTimeCompare(known, hash) == 1
}

func isNotFound(err error) bool {
	var own *abi.Error
	return errors.As(err, &own) && own.Code == abi.CodeResourceNotFound
}

func (e *Engine) storedKey(ctx context.Context, id string) (*abi.APIKey, error) {
	res, err := e.find(ctx, storage.SystemTenant, abi.ObjectAPIKey, id)
	if err != nil {
		return nil, err
	}
	var k abi.APIKey
	if err := decode(res.State, &k); err != nil {
		return nil, naming(abi.ObjectAPIKey, id, err)
	}
	return &k, checkEnvelope(&k.Envelope, abi.ObjectAPIKey, id)
}

// CreateKey makes an API key and answers with a [abi.CreatedKey], the only time
// that the key is shown. Nobody gives away more than they have.
func (e *Engine) CreateKey(ctx context.Context, c *Caller, req abi.CreateKeyRequest) (Doc, error) {
	if !c.Can(abi.ScopeAdmin) {
		return Doc{}, errDenied(abi.ScopeAdmin)
	}
	tenant, err := e.keyTenant(ctx, c, req.Tenant)
	if err != nil {
		return Doc{}, err
	}
	if err := e.checkKey(ctx, c, tenant, &req); err != nil {
		return Doc{}, err
	}
	secret, err := e.newSecret()
	if err != nil {
		return Doc{}, err
	}
	k, err := e.writeKey(c.Actor, tenant, secret, abi.KeyFromClient, req)
	if err != nil {
		return Doc{}, err
	}
	k.Hash = ""
	text, err := json.Marshal(&abi.CreatedKey{APIKey: *k, Key: secret})
	return Doc{ID: k.ID, JSON: text}, err
}

func (e *Engine) checkKey(ctx context.Context, c *Caller, tenant *abi.Tenant, req *abi.CreateKeyRequest) error {
	if err := checkPresent("name", req.Name); err != nil {
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
			return abi.InvalidParam("scopes", "%q is not a scope: one of * %v", s, abi.Scopes())
		}
		if !c.Can(s) {
			return errDenied(s)
		}
	}
	if len(req.WorkspaceIDs) == 0 && tenant.ID == c.TenantID {
		req.WorkspaceIDs = c.Workspaces
	}
	target := &Caller{Tenant: storage.Tenant(tenant.Number), Workspaces: nil}
	for _, w := range req.WorkspaceIDs {
		if tenant.ID == c.TenantID && !c.Sees(w) {
			return abi.NotFound(abi.ObjectWorkspace, w)
		}
		if err := e.checkWorkspace(ctx, target, w); err != nil {
			return err
		}
	}
	return nil
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
	if others || req.Actor == abi.RootKeyActor || slices.Contains([]string{hostActor, sourceNode, "host"}, req.Actor) || abi.LikeID(req.Actor) {
		return abi.InvalidParam(param, "others are known as %q: the actor of a key is \"key:\" and its name, or a word without a colon that is no id, and neither the node's nor that of its own key", req.Actor)
	}
	return nil
}

// keyTenant returns the tenant that a new key is for: the caller's own, or, for
// who may administer the node, any other by name. A new name makes a new tenant.
func (e *Engine) keyTenant(ctx context.Context, c *Caller, name string) (*abi.Tenant, error) {
	own, err := e.tenant(ctx, c.TenantID)
	if err != nil || name == "" || name == own.Name {
		return own, err
	}
	if !c.Can(abi.ScopeNode) {
		return nil, errDenied(abi.ScopeNode)
	}
	return e.ensureTenant(ctx, c.Actor, name)
}

func (e *Engine) newSecret() (string, error) {
	var random [32]byte
	if _, err := io.ReadFull(e.entropy, random[:]); err != nil {
		return "", fmt.Errorf("reading randomness for a key: %w", err)
	}
	return "wharf_" + base64.RawURLEncoding.EncodeToString(random[:]), nil
}

func (e *Engine) writeKey(actor string, tenant *abi.Tenant, secret string, source abi.KeySource, req abi.CreateKeyRequest) (*abi.APIKey, error) {
	hash := sha256.Sum256([]byte(secret))
	id, hint := abi.APIKeyID(secret), secret[len(secret)-4:]
	if source == abi.KeyFromEnvironment { // what can be guessed at is shown nothing of
		id, hint = e.ids.New(abi.ObjectAPIKey), ""
	}
	k := &abi.APIKey{
		Envelope: abi.NewEnvelope(abi.ObjectAPIKey, id, e.now(), nil), Source: source,
		Name: req.Name, Hash: hex.EncodeToString(hash[:]), Hint: hint,
		TenantID: tenant.ID, TenantNumber: tenant.Number, Actor: req.Actor,
		Scopes: req.Scopes, WorkspaceIDs: req.WorkspaceIDs,
	}
	if k.WorkspaceIDs == nil {
		k.WorkspaceIDs = []string{}
	}
	_, err := e.commit(&Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		record{kind: abi.EventKeyCreated, object: abi.ObjectAPIKey, id: id, created: true, state: k})
	return k, err
}

// ListKeys returns the keys of the caller's tenant, or, for who may administer
// the node, all of them.
func (e *Engine) ListKeys(ctx context.Context, c *Caller, p Page) (DocList, error) {
	if !c.Can(abi.ScopeAdmin) {
		return DocList{}, errDenied(abi.ScopeAdmin)
	}
	var list DocList
	for after, looked := p.After, 0; ; {
		page, more, err := e.store.List(ctx, storage.SystemTenant, abi.ObjectAPIKey, Scope{}, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return DocList{}, e.failed("listing keys", err)
		}
		for i, res := range page {
			after = res.ID
			doc, mine, err := keyDoc(c, res)
			if err != nil {
				return DocList{}, err
			}
			if !mine {
				continue
			}
			if list.add(doc, p.Limit) {
				return list.end(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= maxLooked {
			return list.end(after, more), nil
		}
	}
}

// keyDoc shows a key without its hash; mine is false for one that the caller may
// not see.
func keyDoc(c *Caller, res storage.Resource) (doc Doc, mine bool, err error) {
	var k abi.APIKey
	if err := decode(res.State, &k); err != nil {
		return Doc{}, false, err
	}
	doc, err = shownKey(&k)
	return doc, c.keeps(&k), err
}

// shownKey shows a key without its hash, and nothing of one that can be guessed at.
func shownKey(k *abi.APIKey) (Doc, error) {
	shown := *k
	shown.Hash = ""
	if k.Chosen() {
		shown.Hint = ""
	}
	text, err := json.Marshal(&shown)
	return Doc{ID: k.ID, JSON: text}, err
}

// keeps reports whether the caller may know of a key, and end it: one of its own tenant
// that sees nothing that the caller does not see, or, for who may administer the node,
// any.
func (c *Caller) keeps(k *abi.APIKey) bool {
	if k.TenantID != c.TenantID || len(c.Workspaces) == 0 {
		return k.TenantID == c.TenantID || c.Can(abi.ScopeNode)
	}
	return len(k.WorkspaceIDs) > 0 && !slices.ContainsFunc(k.WorkspaceIDs, func(w string) bool { return !c.Sees(w) })
}

// administers reports whether a key may administer the node: who may not does not end it.
func administers(k *abi.APIKey) bool {
	of := &Caller{Scopes: k.Scopes, Workspaces: k.WorkspaceIDs}
	return of.Can(abi.ScopeNode)
}

// RevokeKey ends an API key: no request that begins after it returns is let in.
// Revoking a revoked key changes nothing.
func (e *Engine) RevokeKey(ctx context.Context, c *Caller, id string) (Doc, error) {
	if !c.Can(abi.ScopeAdmin) {
		return Doc{}, errDenied(abi.ScopeAdmin)
	}
	unlock := e.locks.lock(storage.SystemTenant, id)
	defer unlock()
	res, err := e.find(ctx, storage.SystemTenant, abi.ObjectAPIKey, id)
	if err != nil {
		return Doc{}, err
	}
	doc, mine, err := keyDoc(c, res)
	if err != nil || !mine {
		return Doc{}, firstError(err, abi.NotFound(abi.ObjectAPIKey, id))
	}
	var k abi.APIKey
	if err := decode(res.State, &k); err != nil {
		return Doc{}, err
	}
	if !k.RevokedAt.IsZero() {
		return doc, nil
	}
	if administers(&k) && !c.Can(abi.ScopeNode) {
		return Doc{}, errDenied(abi.ScopeNode)
	}
	if err := e.endKey(c.Actor, &k, res.Sequence); err != nil {
		return Doc{}, err
	}
	return shownKey(&k)
}

// endKey writes that a key is revoked. seq is that of the event that stated it before.
func (e *Engine) endKey(actor string, k *abi.APIKey, seq uint64) error {
	k.RevokedAt, k.UpdatedAt = abi.At(e.now()), abi.At(e.now())
	_, err := e.commit(&Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		record{kind: abi.EventKeyRevoked, object: abi.ObjectAPIKey, id: k.ID, seq: seq + 1, state: k})
	if err != nil {
		return err
	}
	e.keys.forget(k.ID)
	return nil
}
