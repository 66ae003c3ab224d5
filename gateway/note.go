package gateway

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
)

// note logs what an operator is told of requests without asking: who was refused, and who has
// changed what the node does.
func (s *Server) note(r *Request) {
	status := r.HTTP.Response.StatusCode()
	switch {
	case status == fasthttp.StatusUnauthorized || status == fasthttp.StatusForbidden:
		s.refusals.note(r.HTTP.RemoteIP(), func() []slog.Attr { return r.refusalAttrs(status) })
	case r.Route.changes && status < fasthttp.StatusMultipleChoices:
		s.log.LogAttrs(s.ctx, slog.LevelInfo, "configuration changed", r.changeAttrs()...)
	}
}

// maxReason bounds what a line says of why somebody was refused, and who the issuer is said to be.
const maxReason = 200

// refusalAttrs tell who was refused, as far as that is known, and never by what.
func (r *Request) refusalAttrs(status int) []slog.Attr {
	attrs := []slog.Attr{slog.Int("status", status), slog.String("operation", r.operation()), slog.String("request_id", r.ID)}
	if r.refusal != nil {
		attrs = append(attrs, slog.String("reason", strings.ToValidUTF8(r.refusal.Message[:min(len(r.refusal.Message), maxReason)], "")))
	}
	if c := r.Caller; c != nil {
		return append(attrs, slog.String("actor", c.Actor), slog.String("key", c.KeyID), slog.String("tenant", c.TenantID))
	}
	credential, _ := r.credential()
	switch {
	case identity.LooksLikeToken(credential):
		attrs = append(attrs, slog.String("claimed_issuer", identity.ClaimedIssuer(credential, maxReason)))
	case abi.MadeByNode(credential):
		attrs = append(attrs, slog.String("key", abi.APIKeyID(credential)))
	}
	return attrs
}

// changeAttrs tell who has changed what: ids, and never contents.
func (r *Request) changeAttrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("operation", r.operation())}
	for _, name := range r.Route.pathParams() {
		attrs = append(attrs, slog.String(name, r.PathValue(name)))
	}
	if id := r.answeredID(); id != "" {
		attrs = append(attrs, slog.String("id", id))
	}
	if c := r.Caller; c != nil {
		attrs = append(attrs, slog.String("actor", c.Actor), slog.String("key", c.KeyID), slog.String("tenant", c.TenantID))
	}
	return append(attrs, slog.String("request_id", r.ID))
}

// answeredID returns the id of what the answer shows, "" when it shows nothing that has one.
func (r *Request) answeredID() string {
	if r.HTTP.Response.IsBodyStream() {
		return ""
	}
	var shown struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(r.HTTP.Response.Body(), &shown); err != nil {
		return "" // not every answer is an object
	}
	return shown.ID
}

// changesConfiguration reports whether a route changes what the node does for others: keys, grants,
// quotas, Personas, Connectors and their like, and not what a Task or a Session is about.
func changesConfiguration(rt *Route) bool {
	if rt.Method == fasthttp.MethodGet || rt.Public {
		return false
	}
	if !slices.Contains([]string{"Administration", "Connectors", "Personas", "Plugins", "Quotas", "Skills", "Tools", "Vaults", "Webhooks",
		"agents", "harnesses", "hooks", "mcp", "skills", "tools", "webhooks"}, rt.Tag) || rt.mount.Name == "mcp" {
		return false
	}
	return !slices.Contains([]string{"deliver", "redriveDeadLetter", "redriveDeadLetters", "redriveWebhookDelivery", "redriveWebhookDeliveries", "testWebhook",
		"pingToolServer", "getToolServerPrompt", "readToolServerResource",
		"mcp.health", "skills.discover", "skills.validate", "tools.invoke", "tools.invokeStream"}, rt.Operation)
}
