package acp_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Where two have to approve, and not who has asked: each editor is asked when it controls the session, one
// yes settles nothing, and the others may say theirs elsewhere.
func TestQuorum(t *testing.T) {
	n := newNode(t, asking)
	made := must(n.CreatePersona(t.Context(), n.Root, nil, abi.CreatePersonaRequest{Name: "careful", Version: "1", EntryWorkflow: "pay", Description: new("d"),
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Tools: []string{"*"}, Capabilities: []string{"*"},
		Approvals: &abi.ApprovalPolicy{Quorum: 2, SelfApproval: false}}))(t)
	editorOf := func(actor string) (*editor, <-chan jsontext.Value) {
		e := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: abi.DefaultScopes(), Actor: actor}), stock)
		return e, answers(e, `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`)
	}
	ann, askedAnn := editorOf("ann")
	var of struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(ann.ok("session/new", `{"cwd":"/x","mcpServers":[],"_meta":{"harn":{"personaId":"`+made.ID+`"}}}`), &of); err != nil {
		t.Fatal(err)
	}
	s := of.SessionID
	ann.ask("session/prompt", promptOf(s, "go"))
	if first := receive(t, askedAnn); !strings.Contains(string(first), `"approvers_required":2`) {
		t.Errorf("asked: %s", first)
	}
	ann.until("why her decision was not taken", func() bool { return strings.Contains(ann.said(), "was not taken") })
	bob, askedBob := editorOf("bob")
	bob.ok("session/load", loadOf(s))
	if len(askedBob) != 0 {
		t.Error("one who looks on is asked")
	}
	watcher := n.watching(t, s)
	bob.ok("_harn/session/takeover", `{"sessionId":"`+s+`","clientId":"bob"}`)
	receive(t, askedBob)
	n.decided(t, s)
	if all := n.pending(t); len(all) != 1 || len(all[0].Decisions) != 1 {
		t.Fatalf("after one yes: %+v", all)
	}
	n.decide(t, n.pending(t)[0].ID, "approved")
	for name, e := range map[string]*editor{"ann": ann, "bob": bob} {
		e.until("the end for "+name, func() bool { return strings.Contains(e.said(), `"approved"`) })
	}
	watcher.until("the decision", func() bool { return watcher.told("hitl_resolved", "") == 1 })
}

// decided waits until a request of a session has its first decision.
func (n *node) decided(t testing.TB, session string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sub := must(n.Subscribe(ctx, n.Root, desk.Filter{SessionID: session}, 0))(t)
	defer sub.Close()
	for {
		for _, ev := range must(sub.Next(ctx))(t) {
			if ev.Record().Kind == abi.EventPermissionDecided {
				return
			}
		}
	}
}

// Images and sounds are parts of the Message that a prompt is, and shown again as what they were.
func TestImagesInPrompts(t *testing.T) {
	n := newNode(t, nil)
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	image, sound := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nimage")), base64.StdEncoding.EncodeToString([]byte("RIFFsound"))
	e.ok("session/prompt", `{"sessionId":"`+s+`","prompt":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"`+image+`"},{"type":"audio","mimeType":"audio/wav","data":"`+sound+`"}]}`)
	list, err := n.Messages(t.Context(), n.Root, s, desk.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	m := enginetest.As[abi.Message](t, list.Docs[0])
	if len(m.Parts) != 3 || m.Parts[1].Type != abi.PartImageRef || m.Parts[2].Type != abi.PartArtifactRef || m.Parts[1].ArtifactID == "" || m.Parts[2].ArtifactID == "" {
		t.Errorf("the message: %+v", m.Parts)
	}
	other := n.connect(t, enginetest.RootKey, stock)
	other.ok("session/load", loadOf(s))
	for _, want := range []string{`"data":"` + image + `"`, `"data":"` + sound + `"`, `"look"`} {
		if other.told("user_message_chunk", want) != 1 {
			t.Errorf("loaded without %s: %v", want, other.updates())
		}
	}
}

// Text that is told as it comes is told once, wherever the connection of a pipe breaks, and all of it.
func TestTextOnceAcrossReconnects(t *testing.T) {
	pieces, on := []string{"one ", "two ", "three"}, make(chan struct{})
	writes := func(ctx context.Context, h sandbox.Host) error {
		for _, piece := range pieces {
			if err := enginetest.Call(ctx, h, abi.CallMessageDelta, `{"text":"`+piece+`"}`); err != nil {
				return err
			}
			select {
			case <-on:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return say(ctx, h, strings.Join(pieces, ""))
	}
	n := newNode(t, enginetest.Guests{"writes": writes})
	pipe := func() *editor {
		e := n.dial(t, enginetest.RootKey)
		e.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{},"_meta":{"harn":{"pipe":{"id":"a-pipe"}}}}`)
		return e
	}
	e := pipe()
	s := e.open("writes")
	turn := e.askAs("7", "session/prompt", promptOf(s, "go"))
	all, last := "", ""
	told := func() {
		for _, u := range e.updates() {
			if u.kind == "agent_message_chunk" {
				all += u.text
			}
			if u.event != "" {
				last = u.event
			}
		}
	}
	for range pieces {
		e.until("a piece", func() bool { return e.told("agent_message_chunk", "") > 0 })
		_ = e.ws.Close()
		e.until("the end of the connection", func() bool { return e.isClosed() })
		told()
		on <- struct{}{}
		e = pipe()
		e.ok("session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[],"_meta":{"harn":{"after":"`+last+`"}}}`)
		turn = e.askAs("7", "session/prompt", strings.TrimSuffix(promptOf(s, "go"), "}")+`,"_meta":{"harn":{"again":true}}}`)
	}
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" {
		t.Errorf("the turn: %s", got)
	}
	told()
	if all != "one two three" {
		t.Errorf("told in all: %q", all)
	}
	if got := strings.ReplaceAll(n.loaded(t, s), "][", ""); got != "<go>[one two three]" {
		t.Errorf("loaded: %s", got)
	}
}

// isClosed reports whether the connection is over.
func (e *editor) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed != nil
}
