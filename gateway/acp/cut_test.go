package acp_test

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// truncated cuts a session off after so many messages.
func (n *node) truncated(t testing.TB, session string, keep int) {
	t.Helper()
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, session, abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
		t.Fatal(err)
	}
}

// loaded is what is told to who loads a session.
func (n *node) loaded(t testing.TB, session string) string {
	t.Helper()
	e := n.connect(t, enginetest.RootKey, aware)
	e.ok("session/load", loadOf(session))
	return e.said()
}

// What was cut off from a Session is not told when it is loaded, nor is what a fork has not got; what it is
// called and its settings are, and all of what came after.
func TestLoadAfterTruncation(t *testing.T) {
	n := newNode(t, enginetest.Guests{"other": says("I am other")})
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.prompt(s, "one")
	e.prompt(s, "two")
	fork := enginetest.As[abi.Session](t, must(n.ForkSession(t.Context(), n.Root, nil, s, abi.ForkSessionRequest{}))(t)).ID
	e.ok("session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_other"}`)
	n.truncated(t, s, 3)
	e.prompt(s, "three")
	n.truncated(t, s, 9)
	for session, want := range map[string]string{s: "<one>[hello]<two><three>[I am other]", fork: "<one>[hello]<two>[hello]"} {
		if got := n.loaded(t, session); got != want {
			t.Errorf("loaded: %s, want %s", got, want)
		}
	}
	late := n.connect(t, enginetest.RootKey, stock)
	if late.ok("session/load", loadOf(s)); late.told("current_mode_update", `"persona_other"`) != 1 {
		t.Error("the mode that was set within what was cut off is not told")
	}
	n.truncated(t, s, 1)
	n.truncated(t, fork, 1) // within what it has of the other
	e.prompt(s, "four")
	for session, want := range map[string]string{s: "<one><four>[I am other]", fork: "<one>"} {
		if got := n.loaded(t, session); got != want {
			t.Errorf("loaded after more cuts: %s, want %s", got, want)
		}
	}
	n.truncated(t, s, 0)
	if got := n.loaded(t, s); got != "" {
		t.Errorf("loaded after all was cut off: %s", got)
	}
}

// What was merged from a fork is told as what it is.
func TestLoadAfterMerge(t *testing.T) {
	n := newNode(t, nil)
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.prompt(s, "one")
	fork := enginetest.As[abi.Session](t, must(n.ForkSession(t.Context(), n.Root, nil, s, abi.ForkSessionRequest{}))(t))
	e.ok("session/load", loadOf(fork.ID))
	e.prompt(fork.ID, "two")
	must(n.MergeBranch(t.Context(), n.Root, nil, fork.BranchID, abi.MergeBranchRequest{}))(t)
	for _, session := range []string{s, fork.ID} {
		if got := n.loaded(t, session); got != "<one>[hello]<two>[hello]" {
			t.Errorf("loaded: %s", got)
		}
	}
}

// must returns what there is no error for.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
