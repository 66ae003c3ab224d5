package engine_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/memories"
)

// What a client keeps is found by plugins, and the other way round.
func TestClientsAndPluginsShareMemories(t *testing.T) {
	p := newProgram(op{abi.CallMemoryQuery, `{"scope":"session","text":"sk* BLUE"}`}, op{abi.CallMemoryWrite, `{"scope":"session","content":{"fact":"grass is green"},"visibility":"public"}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	session := n.Session(t)
	for _, content := range []string{`"the sky is blue"`, `"the sea is blue"`} {
		if _, err := n.CreateMemory(t.Context(), n.Root, nil, abi.CreateMemoryRequest{Scope: abi.MemorySession, OwnerID: session,
			Content: jsontext.Value(content), Provenance: abi.EmptyObject()}); err != nil {
			t.Fatal(err)
		}
	}
	id := n.Submit(t, session, "persona_program")
	n.Wait(t, id)
	if told := p.runs()[0][0]; !strings.Contains(told, "the sky is blue") || strings.Contains(told, "sea") {
		t.Errorf("the plugin was told %s", told)
	}
	list, err := n.ListMemories(t.Context(), n.Root, memories.Filter{OwnerID: session, Text: "green"}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || !strings.Contains(string(list.Docs[0].JSON), id) {
		t.Errorf("%v, %v", list, err)
	}
	n.wantReplay(t, id)
}
