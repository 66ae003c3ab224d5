package abi

import (
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Object is the lower-snake-case discriminator of a resource.
type Object string

// The resource kinds of the protocol, and the few that Wharf adds.
const (
	ObjectPersona   Object = "persona"
	ObjectWorkspace Object = "workspace"
	ObjectSession   Object = "session"
	ObjectTask      Object = "task"
	ObjectBranch    Object = "branch"
	ObjectMessage   Object = "message"
	ObjectArtifact  Object = "artifact"
	ObjectAgentCard Object = "harn_agent_card"
	ObjectEvent     Object = "event"
	ObjectReceipt   Object = "receipt"
	ObjectMemory    Object = "memory"
	ObjectVault     Object = "vault"
	ObjectConnector Object = "connector"
	ObjectSkill     Object = "skill"
	ObjectOutcome   Object = "outcome"
	ObjectQuota     Object = "quota"

	// ObjectAPIKey and ObjectTenant are Wharf's own: they live in the node's
	// system tenant and no protocol route shows them.
	ObjectAPIKey Object = "api_key"
	ObjectTenant Object = "tenant"
	// ObjectState is a value that a Session's Tasks keep (state.set), and
	// ObjectReceiptBatch a sealed batch of a Workspace's receipts.
	ObjectState        Object = "session_state"
	ObjectReceiptBatch Object = "receipt_batch"
	// ObjectPermissionRequest is what a Task asks somebody, ObjectDelivery what a
	// provider has sent to a Connector, ObjectDeadLetter a delivery that could not be
	// handled, and ObjectVaultSecret a secret in a Vault.
	ObjectPermissionRequest Object = "permission_request"
	ObjectDelivery          Object = "delivery"
	ObjectDeadLetter        Object = "dead_letter"
	ObjectVaultSecret       Object = "vault_secret"
	// ObjectReference is what something outside calls a Session.
	ObjectReference Object = "reference"
	// ObjectPlan is what a Task means to do: one Task has one at most.
	ObjectPlan Object = "plan"
	// ObjectInjection is what waits for a Session's Tasks, or has waited. ObjectInbox lists those of
	// a Session: one Session has one at most.
	ObjectInjection Object = "injection"
	ObjectInbox     Object = "inbox"
	// ObjectWorker is a child of a Task, as the Task is told of it.
	ObjectWorker Object = "worker"
	// ObjectAgentMemory is what a Persona has in mind: one Persona has one at most.
	ObjectAgentMemory Object = "agent_memory"
	// ObjectToolServer is a server of tools that a tenant has added.
	ObjectToolServer Object = "tool_server"
	// ObjectCustomTool is a tool that a Workspace has of its own.
	ObjectCustomTool Object = "custom_tool"
	// ObjectHarness is a named way to run agents.
	ObjectHarness Object = "harness"
	// ObjectSkillBundle is a skill that is installed in a Workspace, as files.
	ObjectSkillBundle Object = "skill_bundle"
	// ObjectWebhook is a receiver that is sent events, and ObjectWebhookDelivery an event that
	// one has not taken at first.
	ObjectWebhook         Object = "webhook"
	ObjectWebhookDelivery Object = "webhook_delivery"
	// ObjectPlugin is a plugin that was installed while the node ran. It lives in the node's system
	// tenant, for names of plugins are the node's.
	ObjectPlugin Object = "plugin"
	// ObjectLiveSession is what the clients that are attached to a Session have in common: events are
	// about it, and the log has no state of it.
	ObjectLiveSession Object = "live_session"
	// ObjectHold keeps something from being deleted.
	ObjectHold Object = "hold"
)

// idPrefixes maps an object to the prefix of its ids.
var idPrefixes = map[Object]string{
	ObjectPersona: "persona_", ObjectWorkspace: "ws_", ObjectSession: "sess_",
	ObjectTask: "task_", ObjectBranch: "branch_", ObjectMessage: "msg_",
	ObjectArtifact: "art_", ObjectReceipt: "rcpt_", ObjectMemory: "mem_",
	ObjectVault: "vault_", ObjectConnector: "conn_", ObjectSkill: "skill_",
	ObjectOutcome: "out_", ObjectQuota: "quota_", ObjectAPIKey: "key_",
	ObjectTenant: "tenant_", ObjectAgentCard: "card_", ObjectState: "state_",
	ObjectReceiptBatch: "rbatch_", ObjectPermissionRequest: "perm_",
	ObjectDelivery: "dlv_", ObjectDeadLetter: "dead_", ObjectVaultSecret: "vsec_",
	ObjectReference: "ref_", ObjectPlan: "plan_", ObjectWorker: "worker_", ObjectAgentMemory: "amem_", ObjectToolServer: "tsrv_", ObjectHarness: "harness_", ObjectSkillBundle: "skb_", ObjectCustomTool: "tool_",
	ObjectWebhook: "hook_", ObjectWebhookDelivery: "whd_", ObjectHold: "hold_", ObjectLiveSession: "live_", ObjectPlugin: "plug_",
	ObjectInjection: "inj_", ObjectInbox: "inbox_",
}

// IDPrefix returns the prefix of ids of the given object, such as "task_".
// It is empty for objects whose ids carry none (events).
func IDPrefix(o Object) string { return idPrefixes[o] }

// IDs makes resource ids: a prefix and a ULID. Ids of one IDs value sort in the
// order in which they were made, also within a millisecond and when the clock
// steps back. It is safe for concurrent use.
type IDs struct {
	mu      sync.Mutex
	now     func() time.Time
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewIDs returns a source of ids that reads time from now and randomness from
// entropy. Both are called under a lock and need not be safe for concurrent use.
func NewIDs(now func() time.Time, entropy io.Reader) *IDs {
	return &IDs{now: now, entropy: ulid.Monotonic(entropy, 0)}
}

// New returns a fresh id for a resource of the given object. It panics if the
// entropy source fails, for without randomness no id is safe to hand out.
func (s *IDs) New(o Object) string {
	s.mu.Lock()
	ms := max(ulid.Timestamp(s.now()), s.last)
	id, err := ulid.New(ms, s.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		ms++
		id, err = ulid.New(ms, s.entropy)
	}
	s.last = ms
	s.mu.Unlock()
	if err != nil {
		panic("abi: making an id: " + err.Error())
	}
	prefix := idPrefixes[o]
	buf := make([]byte, len(prefix)+ulid.EncodedSize)
	copy(buf, prefix)
	_ = id.MarshalTextTo(buf[len(prefix):])
	return string(buf)
}

// LeastID returns the least id that [IDs.New] makes of an object in the millisecond of a time:
// those that it made before sort before it.
func LeastID(o Object, at time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(min(uint64(max(at.UnixMilli(), 0)), ulid.MaxTime())) // fails only on a later time
	return idPrefixes[o] + id.String()
}

// MaxIDLen is the longest id that Wharf accepts, in bytes.
const MaxIDLen = 128

// ValidID reports whether s could be an id of the given object: its prefix
// followed by 1 or more of the characters A-Z a-z 0-9 _ - . and at most
// [MaxIDLen] bytes in all.
func ValidID(o Object, s string) bool {
	prefix := idPrefixes[o]
	return len(s) <= MaxIDLen && strings.HasPrefix(s, prefix) && len(s) > len(prefix) && ValidName(s[len(prefix):])
}

// LikeID reports whether s begins as the ids of some object do.
func LikeID(s string) bool {
	for _, prefix := range idPrefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// ValidName reports whether s consists of characters that ids may hold: A-Z a-z 0-9
// _ - and the dot. It is true for the empty string.
func ValidName(s string) bool {
	for i := range len(s) {
		if !idByte(s[i]) {
			return false
		}
	}
	return true
}

// DerivedID returns the id that a resource made at the given time has by its seed
// alone: the same wherever and however often it is made.
func DerivedID(o Object, at time.Time, seed string) string {
	sum := sha256.Sum256([]byte(seed))
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at))
	_ = id.SetEntropy(sum[:10])
	return idPrefixes[o] + id.String()
}

func idByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return c == '_' || c == '-' || c == '.'
}
