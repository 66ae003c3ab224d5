package openharness_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// tooled gives a node a tool and two programs that hooks may name.
func tooled(c *engine.Config, p *engine.Parts) {
	p.Performers = map[string]provider.Performer{abi.CallToolCall: oneTool{}}
	c.Webhooks.Commands = map[string][]string{"deny": {"sh", "-c", `echo '{"decision":"deny","reason":"no"}'`}}
}

type oneTool struct{}

func (oneTool) Prepare(context.Context, *provider.Call) (provider.Plan, error) {
	return provider.Plan{Effect: abi.EffectRead, Tool: &abi.Tool{Server: "fs", Name: "get"}, Do: func(context.Context, func(string)) ([]byte, error) {
		return []byte(`{"content":[{"type":"text","text":"got"}]}`), nil
	}}, nil
}

// usesTool calls the tool, and gives what it is told away.
func usesTool(told chan string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		_, answer, err := h.Call(ctx, abi.CallToolCall, []byte(`{"server":"fs","name":"get","arguments":{"a":1}}`))
		told <- string(answer)
		return err
	}
}

// A hook is told of a tool, signed as webhooks are; a program denies one; and both are on the stream.
func TestHooks(t *testing.T) {
	url, got := receiver(t)
	told := make(chan string, 10)
	n := newNode(t, enginetest.Guests{"agent": usesTool(told)}, tooled)
	h, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	after := n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "tool.after", "handler": map[string]any{"type": "webhook", "url": url}}).want(201)
	if after.text("hook.event") != "post_tool" || after.get("hook.enabled") != true || after.text("hook.handler.url") != url {
		t.Errorf("%s", after.body)
	}
	session := n.sessionIn(t, h.WorkspaceID)
	task := n.Submit(t, session, h.PersonaID)
	n.Wait(t, task)
	r := next(t, got)
	mac := hmac.New(sha256.New, []byte(after.text("hook.secret")))
	mac.Write(r.body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); r.header.Get("X-OpenHarness-Signature") != want || r.header.Get("webhook-signature") == "" {
		t.Errorf("the signature is %q", r.header.Get("X-OpenHarness-Signature"))
	}
	if body := string(r.body); !strings.Contains(body, `"task_id":"`+task) || !strings.Contains(body, `"input":{"a":1}`) || !strings.Contains(body, `"got"`) {
		t.Errorf("it is told %s", body)
	}
	if got := <-told; !strings.Contains(got, "got") {
		t.Errorf("the tool says %s", got)
	}

	deny := n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "pre_tool", "handler": map[string]any{"type": "command", "command": "deny"}}).want(201).text("hook.id")
	s := n.streams(t, "GET", "/wharf/events/stream?events=hook.triggered", nil)
	n.Wait(t, n.Submit(t, session, h.PersonaID))
	if got := <-told; !strings.Contains(got, `a hook has denied this call: no`) {
		t.Errorf("the plugin is told %s", got)
	}
	ev := s.wants("hook.triggered")
	schema.fits(t, "HarnessEvent", []byte(ev.data))
	if !strings.Contains(ev.data, deny) || !strings.Contains(ev.data, `"decision":"deny"`) {
		t.Errorf("the stream tells %s", ev.data)
	}
	n.do(t, "PATCH", "/wharf/hooks/"+deny, map[string]any{"enabled": false}).want(200)
	n.Wait(t, n.Submit(t, session, h.PersonaID))
	if got := <-told; !strings.Contains(got, "got") {
		t.Errorf("a hook that is off has said %s", got)
	}
	list := n.do(t, "GET", "/wharf/hooks", nil).want(200)
	if list.text("hooks.0.id") != after.text("hook.id") || list.text("hooks.1.id") != deny || strings.Contains(string(list.body), "whsec_") {
		t.Errorf("%s", list.body)
	}
	if one := n.do(t, "GET", "/wharf/hooks?event=pre_tool", nil).want(200); one.text("hooks.0.id") != deny || one.get("hooks.1") != nil {
		t.Errorf("%s", one.body)
	}
	if w := n.do(t, "GET", "/wharf/webhooks", nil).want(200); w.get("webhooks.0") != nil {
		t.Errorf("a hook is among the webhooks: %s", w.body)
	}
	n.do(t, "DELETE", "/wharf/webhooks/"+deny, nil).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", "/wharf/hooks/"+deny, nil).want(204)
	n.do(t, "GET", "/wharf/hooks/"+deny, nil).fails(404, "NOT_FOUND")
	if a := n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "session.start", "handler": map[string]any{"type": "webhook", "url": url}}).want(201); a.text("hook.event") != "custom" || a.text("hook.name") != "session.start" {
		t.Errorf("%s", a.body)
	}
}

func TestHooksAreRefused(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": enginetest.Echo}, tooled)
	webhook := map[string]any{"type": "webhook", "url": "https://example.com/h"}
	id := n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "stop", "handler": webhook}).want(201).text("hook.id")
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "o", Root: "/o"})
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]any{"event": "stop", "handler": webhook}
	for _, test := range []struct{ method, path, scope string }{
		{"GET", "/wharf/hooks", "hooks:write"}, {"GET", "/wharf/hooks/" + id, "hooks:write"}, {"POST", "/wharf/hooks", "hooks:read"},
		{"PATCH", "/wharf/hooks/" + id, "hooks:read"}, {"DELETE", "/wharf/hooks/" + id, "hooks:read"},
	} {
		n.do(t, test.method, test.path, made, by("")).fails(401, "UNAUTHORIZED")
		n.do(t, test.method, test.path, made, by(n.key(t, []string{test.scope, "harnesses:read"}))).fails(403, "FORBIDDEN")
		n.do(t, test.method, test.path, made, by(n.key(t, []string{abi.ScopeAll}, other.ID))).fails(404, "NOT_FOUND")
		if strings.Contains(test.path, id) {
			n.do(t, test.method, test.path, made, by(n.stranger(t))).fails(404, "NOT_FOUND")
			n.do(t, test.method, test.path+"x", made).fails(404, "NOT_FOUND")
		}
	}
	for name, body := range map[string]any{
		"no event":      map[string]any{"handler": webhook},
		"no handler":    map[string]any{"event": "stop"},
		"another type":  map[string]any{"event": "stop", "handler": map[string]any{"type": "mail"}},
		"no url":        map[string]any{"event": "stop", "handler": map[string]any{"type": "webhook"}},
		"no URL at all": map[string]any{"event": "stop", "handler": map[string]any{"type": "webhook", "url": "ftp://x"}},
		"a wrong fail":  map[string]any{"event": "stop", "handler": webhook, "fail": "perhaps"},
		"too long":      map[string]any{"event": "stop", "handler": webhook, "timeout_ms": 60_001},
		"a wrong type":  map[string]any{"event": 5, "handler": webhook},
	} {
		if a := n.do(t, "POST", "/wharf/hooks", body); a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "stop", "handler": webhook, "timeout_ms": 60_000}).want(201)
	for command, says := range map[string]string{"rm": "openharness.commands", "wasm:none#run": "no plugin none", "wasm:agent#no": `no export \"no\"`, "wasm:agent": "wasm:PLUGIN#EXPORT"} {
		a := n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "pre_tool", "handler": map[string]any{"type": "command", "command": command}})
		if a.fails(422, "COMMAND_NOT_ALLOWED"); !strings.Contains(string(a.body), says) || a.text("error.details.param") != "handler.command" {
			t.Errorf("%s: %s", command, a.body)
		}
	}
	n.do(t, "GET", "/wharf/hooks?event=none", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/wharf/hooks", map[string]any{"event": "stop", "handler": map[string]any{"type": "command", "command": "rm -rf /"}}).fails(422, "COMMAND_NOT_ALLOWED")
	n.do(t, "PATCH", "/wharf/hooks/"+id, map[string]any{"handler": map[string]any{"type": "command", "command": "sh"}}).fails(422, "COMMAND_NOT_ALLOWED")
	for range 98 {
		n.do(t, "POST", "/wharf/hooks", made).want(201)
	}
	n.do(t, "POST", "/wharf/hooks", made).fails(409, "CONFLICT")
}
