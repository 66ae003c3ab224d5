package mcp_test

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

func TestClientCallsSkills(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, nil)
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
		s := n.connect(t, enginetest.RootKey, revision, nil)
		if revision == withSessions {
			if err := s.Ping(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		t.Log(names)
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "greet", Arguments: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, r); got != "said hello" || r.IsError {
			t.Errorf("the call gave %q, error %v", got, r.IsError)
		}
	})
}
