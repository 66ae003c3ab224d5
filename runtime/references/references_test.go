package references_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/references"
	"github.com/wharf-dev/wharf/storage/memory"
)

// What cannot be written to a log, shown in a line or told from another is no reference.
func TestWhatIsAReference(t *testing.T) {
	many := func(n int) (refs []abi.OutsideRef) {
		for i := range n {
			refs = append(refs, abi.OutsideRef{Kind: "k", Ref: strings.Repeat("x", i+1)})
		}
		return refs
	}
	for param, refs := range map[string][]abi.OutsideRef{
		"refs[0].kind": {{Kind: "", Ref: "r"}},
		"refs[1].kind": {{Kind: "k", Ref: "r"}, {Kind: "a folder", Ref: "r"}},
		"refs[0].ref":  {{Kind: "k", Ref: ""}},
		"refs[1].ref":  {{Kind: "k", Ref: "r"}, {Kind: "k", Ref: "a\nb"}},
		"refs[2].ref":  {{Kind: "k", Ref: "r"}, {Kind: "k", Ref: "s"}, {Kind: "k", Ref: "\xff"}},
		"refs[3].ref":  append(many(3), abi.OutsideRef{Kind: "k", Ref: strings.Repeat("x", 2049)}),
		"refs[1]":      {{Kind: "k", Ref: "r"}, {Kind: "k", Ref: "r"}},
		"refs":         many(17),
	} {
		t.Run(param, func(t *testing.T) { roomtest.WantParam(t, references.Check(refs), param) })
	}
	for _, refs := range [][]abi.OutsideRef{nil, many(16), {{Kind: "k", Ref: "r"}, {Kind: "K", Ref: "r"}, {Kind: "k", Ref: "R "}},
		{{Kind: strings.Repeat("k", 64), Ref: strings.Repeat("x", 2048)}}, {{Kind: "k", Ref: "/home/ä b/ü"}}} {
		if err := references.Check(refs); err != nil {
			t.Errorf("%v: %v", refs, err)
		}
	}
}

// Neither the parts of references nor their Workspaces are mixed up.
func TestReferencesAreTakenByTheLetter(t *testing.T) {
	h := roomtest.New(t, memory.New(time.Now))
	k := references.NewKeeper(h.Parts)
	h.NewWorkspace(t, "ws_2")
	take := func(workspace string, refs ...abi.OutsideRef) error {
		s := &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, h.IDs.New(abi.ObjectSession), h.Now(), nil), WorkspaceID: workspace, Refs: refs}
		records, err := k.Take(t.Context(), roomtest.Tenant, s)
		if err != nil {
			return err
		}
		made := ledger.Record{Kind: abi.EventSessionCreated, Object: abi.ObjectSession, ID: s.ID, Created: true, State: s}
		_, err = h.Desk.Commit(h.Root(), s.ID, workspace, nil, 0, append([]ledger.Record{made}, records...)...)
		return err
	}
	all := []abi.OutsideRef{{Kind: "ab", Ref: "c"}, {Kind: "a", Ref: "bc"}, {Kind: "ab", Ref: "C"}, {Kind: "ab", Ref: "c "}, {Kind: "ab", Ref: "é"}, {Kind: "ab", Ref: "e\u0301"}}
	for _, workspace := range []string{roomtest.Workspace, "ws_2"} {
		for _, ref := range all {
			if err := take(workspace, ref); err != nil {
				t.Errorf("%s %v: %v", workspace, ref, err)
			}
		}
	}
	for _, ref := range all {
		roomtest.WantCode(t, take("ws_2", abi.OutsideRef{Kind: "new", Ref: "x"}, ref), abi.CodeConflict)
	}
	for who, want := range map[*desk.Caller]bool{h.Root(): true, h.Bound("ws_2"): true, h.Bound(roomtest.Workspace): false, h.Strangers()["of another tenant"]: false} {
		id, err := k.FindSession(t.Context(), who, "ws_2", all[0])
		if (id != "") != want || err != nil {
			t.Errorf("%v: %q, %v", who, id, err)
		}
	}
	if id, err := k.FindSession(t.Context(), h.Root(), "ws_2", abi.OutsideRef{Kind: "new", Ref: "x"}); id != "" || err != nil {
		t.Errorf("a refused reference is there: %s %v", id, err)
	}
}
