package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// observer looks at every answer of a run for what must hold of all of them.
// Each kind of breach is kept once, with the first answer that showed it.
type observer struct {
	secret []byte

	mu        sync.Mutex
	errors    int
	resources int
	breaches  map[breach]string
}

// breach is a kind of rule and what exactly broke it.
type breach struct{ rule, what string }

// The rules that an observer watches.
const (
	ruleEnvelope  = "error envelope"
	ruleCodes     = "error codes"
	ruleRequestID = "request id"
	ruleResource  = "resource envelope"
	ruleSecret    = "secret"
)

func newObserver(secret string) *observer {
	return &observer{secret: []byte(secret), breaches: map[breach]string{}}
}

// found returns what broke a rule, one sentence for each kind, sorted.
func (o *observer) found(rule string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for b, where := range o.breaches {
		if b.rule == rule {
			all = append(all, where+": "+b.what)
		}
	}
	slices.Sort(all)
	return all
}

// counts returns how many errors and resources were looked at.
func (o *observer) counts() (errors, resources int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.errors, o.resources
}

func (o *observer) report(rule, where, format string, args ...any) {
	b := breach{rule, fmt.Sprintf(format, args...)}
	if _, known := o.breaches[b]; !known {
		o.breaches[b] = where
	}
}

func (o *observer) response(r response) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if bytes.Contains(r.body, o.secret) {
		o.report(ruleSecret, r.to, "the answer holds the API key")
	}
	switch {
	case strings.HasPrefix(r.to, "POST "+tokenPath): // RFC 6749 says how it answers
		return
	case r.status >= 400:
		o.errors++
		o.error(r)
		return
	}
	o.resource(r.to, r.doc)
	for _, doc := range r.data() {
		o.resource(r.to, doc)
	}
}

// frame looks at the Event of a stream's frame.
func (o *observer) frame(where string, data []byte, doc object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if bytes.Contains(data, o.secret) {
		o.report(ruleSecret, where, "an event holds the API key")
	}
	o.resource(where, doc)
}

// classes maps the error codes to their status and type (docs/protocol.md, 7). A code
// that is not in it is allowed: versions may add some.
var classes = map[string]struct {
	status int
	kind   string
}{
	"invalid_request":              {400, "request_error"},
	"invalid_state_transition":     {400, ""},
	"unauthenticated":              {401, "auth_error"},
	"permission_denied":            {403, "permission_error"},
	"resource_not_found":           {404, "not_found_error"},
	"conflict":                     {409, "conflict_error"},
	"idempotency_key_reused":       {409, ""},
	"cursor_expired":               {410, ""},
	"payload_too_large":            {413, ""},
	"policy_violation":             {422, ""},
	"resource_locked":              {423, ""},
	"unsupported_protocol_version": {426, ""},
	"rate_limited":                 {429, "rate_limit_error"},
	"client_closed_request":        {499, ""},
	"internal_error":               {500, "server_error"},
	"upstream_unavailable":         {502, ""},
	"service_unavailable":          {503, ""},
	"deadline_exceeded":            {504, ""},
}

var errorTypes = []string{"request_error", "auth_error", "permission_error", "not_found_error", "conflict_error",
	"rate_limit_error", "runtime_error", "upstream_error", "server_error"}

func (o *observer) error(r response) {
	e := r.error()
	if e == nil {
		o.report(ruleEnvelope, r.to, "status %d without an error object: %s", r.status, answers.Excerpt(r.body))
		return
	}
	for _, member := range []string{"code", "message", "type"} {
		if s, ok := e[member].(string); !ok || s == "" {
			o.report(ruleEnvelope, r.to, "error.%s is %s, want a string", member, answers.Show(e[member]))
		}
	}
	if kind, _ := e["type"].(string); !slices.Contains(errorTypes, kind) {
		o.report(ruleEnvelope, r.to, "error.type %q is none of the nine", kind)
	}
	if id, ok := e["request_id"].(string); !ok || id == "" {
		o.report(ruleRequestID, r.to, "error.request_id is %s", answers.Show(e["request_id"]))
	}
	o.errorCode(r, e)
}

// errorCode compares status, code and type with the protocol's table. A status
// for which the table has no code (405, 415, …) may come with invalid_request.
func (o *observer) errorCode(r response, e object) {
	code := r.errorCode()
	class, known := classes[code]
	if !known {
		return
	}
	if class.status != r.status && tabled(r.status) {
		o.report(ruleCodes, r.to, "code %s came with status %d, want %d", code, r.status, class.status)
	}
	if kind, ok := e["type"].(string); ok && class.kind != "" && kind != class.kind {
		o.report(ruleCodes, r.to, "code %s came with type %s, want %s", code, kind, class.kind)
	}
}

// tabled reports whether the protocol has a code for a status.
func tabled(status int) bool {
	for _, class := range classes {
		if class.status == status {
			return true
		}
	}
	return false
}

// enveloped are the resources that share the common envelope.
var enveloped = []string{"persona", "workspace", "session", "task", "branch", "message", "artifact", "event",
	"memory", "vault", "connector", "skill", "outcome", "quota", "receipt", "harn_agent_card"}

func (o *observer) resource(where string, doc object) {
	kind, _ := doc["object"].(string)
	if !slices.Contains(enveloped, kind) {
		return
	}
	o.resources++
	if id, ok := doc["id"].(string); !ok || id == "" {
		o.report(ruleResource, where, "%s: id is %s", kind, answers.Show(doc["id"]))
	}
	for _, member := range []string{"created_at", "updated_at"} {
		if text, ok := doc[member].(string); !ok || !utcTime(text) {
			o.report(ruleResource, where, "%s: %s is %s, want an RFC 3339 time in UTC", kind, member, answers.Show(doc[member]))
		}
	}
	if _, ok := doc["metadata"].(object); !ok {
		o.report(ruleResource, where, "%s: metadata is %s, want an object", kind, answers.Show(doc["metadata"]))
	}
}

// utcTime reports whether text is an RFC 3339 time with a zero offset.
func utcTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && (strings.HasSuffix(text, "Z") || strings.HasSuffix(text, "+00:00"))
}
