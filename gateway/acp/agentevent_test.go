package acp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// composes is a guest that runs a composition of no calls, between two texts.
func composes(ctx context.Context, h sandbox.Host) error {
	if err := say(ctx, h, "before"); err != nil {
		return err
	}
	hash := strings.Repeat("ab", 32)
	status, answer, err := h.Call(ctx, abi.CallCompositionBegin, fmt.Appendf(nil, `{"language":"javascript","snippet_hash":%q,"manifest_hash":%q,"side_effect_ceiling":"read_only"}`, hash, hash))
	var begun abi.CallCompositionBeginAnswer
	if err != nil || status != abi.CallOK || json.Unmarshal(answer, &begun) != nil {
		return fmt.Errorf("not begun: %d %s %w", status, answer, err)
	}
	if err := enginetest.Call(ctx, h, abi.CallCompositionEnd, fmt.Sprintf(`{"composition_id":%q,"stdout":"42"}`, begun.CompositionID)); err != nil {
		return err
	}
	return say(ctx, h, "after")
}

// The steps of a composition are told in their place to who knows of them, each once, and to nobody else.
func TestAgentEvents(t *testing.T) {
	n := newNode(t, enginetest.Guests{"composes": composes})
	told := func(e *editor) (kinds []string) {
		for _, u := range agentEvents(e) {
			kinds = append(kinds, u.kind+u.text)
		}
		return kinds
	}
	e := n.connect(t, enginetest.RootKey, aware)
	s := e.open("composes")
	e.prompt(s, "go")
	all := []string{"agent_message_chunkbefore", "composition_start", "composition_finish", "agent_message_chunk\n\nafter"}
	if got := told(e); !slices.Equal(got, all) {
		t.Errorf("live: told %q, want %q", got, all)
	}

	loaded := n.connect(t, enginetest.RootKey, aware)
	loaded.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/ann/project","mcpServers":[]}`)
	if got := told(loaded); !slices.Equal(got, all) {
		t.Errorf("loaded: told %q, want %q", got, all)
	}
	for i, u := range agentEvents(loaded) {
		back := n.connect(t, enginetest.RootKey, aware)
		back.ok("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[],"_meta":{"harn":{"after":%q}}}`, s, u.event))
		if got := told(back); !slices.Equal(got, all[i+1:]) {
			t.Errorf("after %s: told %q, want %q", u.kind, got, all[i+1:])
		}
	}

	plain := n.connect(t, enginetest.RootKey, stock)
	plain.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/ann/project","mcpServers":[]}`)
	if got := told(plain); !slices.Equal(got, []string{all[0], all[3]}) {
		t.Errorf("a stock client is told %q", got)
	}
}

// agentEvents returns what was told of an agent's work.
func agentEvents(e *editor) []update {
	return slices.DeleteFunc(e.updates(), func(u update) bool {
		return u.kind != "agent_message_chunk" && !strings.HasPrefix(u.kind, "composition_")
	})
}
