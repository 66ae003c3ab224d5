package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func (n *node) fork(t testing.TB, session string, req abi.ForkSessionRequest) abi.Session {
	t.Helper()
	doc, err := n.ForkSession(t.Context(), n.Root, nil, session, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Session](t, doc)
}

func (n *node) merge(t testing.TB, branch string, strategy abi.MergeStrategy) abi.Branch {
	t.Helper()
	doc, err := n.MergeBranch(t.Context(), n.Root, nil, branch, abi.MergeBranchRequest{Strategy: strategy})
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Branch](t, doc)
}

func (n *node) wantTranscript(t testing.TB, session string, want ...string) {
	t.Helper()
	if got := n.transcript(t, session); !slices.Equal(got, want) {
		t.Errorf("the transcript is %q, want %q", got, want)
	}
}

func TestMergeBranch(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	ctx, session := t.Context(), n.Session(t)
	n.say(t, session, "one")
	fork := n.fork(t, session, abi.ForkSessionRequest{})
	for i := range 5 {
		n.say(t, fork.ID, fmt.Sprint("f", i))
	}
	b := n.merge(t, fork.BranchID, "")
	if b.MergedInto != "session:"+session || b.MergedAt.IsZero() {
		t.Errorf("%+v", b)
	}
	merged := []string{"one", "f0", "f1", "f2", "f3", "f4"}
	n.wantTranscript(t, session, merged...)
	n.wantTranscript(t, fork.ID, merged...)
	_, err := n.MergeBranch(ctx, n.Root, nil, fork.BranchID, abi.MergeBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
	_, err = n.AbandonBranch(ctx, n.Root, nil, fork.BranchID, abi.AbandonBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
	kinds := strings.Join(n.Kinds(t, desk.Filter{SessionID: session}), " ")
	want := string(abi.EventBranchMerged) + strings.Repeat(" "+string(abi.EventSessionMessageAppended), 5) + " " + string(abi.EventSessionThreadMerged)
	if !strings.HasSuffix(kinds, want) {
		t.Errorf("the events are %s", kinds)
	}
	// What was merged is part of the Session as what was said in it: it can be gone on
	// with, forked and cut.
	n.say(t, session, "two")
	again := n.fork(t, session, abi.ForkSessionRequest{})
	n.wantTranscript(t, again.ID, append(merged, "two")...)
	keep := 3
	if _, err := n.TruncateSession(ctx, n.Root, nil, session, abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
		t.Fatal(err)
	}
	n.wantTranscript(t, session, merged[:3]...)
}

// A Session that went on is merged into only where that was asked for.
func TestMergeConflict(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	n.say(t, session, "one")
	fork := n.fork(t, session, abi.ForkSessionRequest{})
	n.say(t, fork.ID, "theirs")
	n.say(t, session, "ours")
	_, err := n.MergeBranch(t.Context(), n.Root, nil, fork.BranchID, abi.MergeBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
	if !strings.Contains(string(err.(*abi.Error).Details), `"forked_session_id":"`+fork.ID) {
		t.Errorf("%s", err.(*abi.Error).Details)
	}
	_, err = n.MergeBranch(t.Context(), n.Root, nil, fork.BranchID, abi.MergeBranchRequest{Strategy: "theirs"})
	enginetest.WantCode(t, err, abi.CodeInvalidRequest)
	n.wantTranscript(t, session, "one", "ours")
	n.merge(t, fork.BranchID, abi.MergeAppend)
	n.wantTranscript(t, session, "one", "ours", "theirs")
}

// A fork at an earlier event leaves the Session with more than it has.
func TestMergeEarlierFork(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	n.say(t, session, "one")
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: session}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	n.say(t, session, "two")
	fork := n.fork(t, session, abi.ForkSessionRequest{AtEventID: events[len(events)-1].Position().String()})
	n.say(t, fork.ID, "other")
	n.wantTranscript(t, fork.ID, "one", "other")
	_, err = n.MergeBranch(t.Context(), n.Root, nil, fork.BranchID, abi.MergeBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
	n.merge(t, fork.BranchID, abi.MergeAppend)
	n.wantTranscript(t, session, "one", "two", "other")
}

// A Branch that was recorded first is that of one fork, and merges what that said.
// Another Branch of the fork merges what is new since.
func TestMergeNamedBranches(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	ctx, session := t.Context(), n.Session(t)
	branch := func(session string, req abi.CreateBranchRequest) string {
		t.Helper()
		req.BaseRef = "main"
		doc, err := n.CreateBranch(ctx, n.Root, nil, session, req)
		if err != nil {
			t.Fatal(err)
		}
		return doc.ID
	}
	named := branch(session, abi.CreateBranchRequest{Kind: abi.BranchSession})
	fork := n.fork(t, session, abi.ForkSessionRequest{BranchID: named})
	_, err := n.ForkSession(ctx, n.Root, nil, session, abi.ForkSessionRequest{BranchID: named})
	enginetest.WantCode(t, err, abi.CodeConflict)
	n.say(t, fork.ID, "a")
	n.merge(t, named, "")
	n.wantTranscript(t, session, "a")
	_, err = n.ForkSession(ctx, n.Root, nil, session, abi.ForkSessionRequest{BranchID: named})
	enginetest.WantCode(t, err, abi.CodeConflict)

	second := branch(fork.ID, abi.CreateBranchRequest{Kind: abi.BranchSession})
	n.say(t, fork.ID, "b")
	n.merge(t, second, "")
	n.wantTranscript(t, session, "a", "b")

	marked := branch(session, abi.CreateBranchRequest{Kind: abi.BranchSandbox})
	if b := n.merge(t, marked, ""); b.MergedInto != "main" {
		t.Errorf("%+v", b)
	}
	given := branch(fork.ID, abi.CreateBranchRequest{Kind: abi.BranchTask})
	if _, err := n.AbandonBranch(ctx, n.Root, nil, given, abi.AbandonBranchRequest{Reason: "dead end"}); err != nil {
		t.Fatal(err)
	}
	_, err = n.MergeBranch(ctx, n.Root, nil, given, abi.MergeBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeConflict)
	stranger := *n.Root
	stranger.Workspaces = []string{"ws_other"}
	_, err = n.MergeBranch(ctx, &stranger, nil, second, abi.MergeBranchRequest{})
	enginetest.WantCode(t, err, abi.CodeResourceNotFound)
}

func TestBranchLineage(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	var want []string
	for range 5 {
		fork := n.fork(t, session, abi.ForkSessionRequest{})
		session, want = fork.ID, append([]string{fork.BranchID}, want...)
	}
	var got []string
	for page := (desk.Page{Limit: 2}); ; {
		list, err := n.BranchLineage(t.Context(), n.Root, want[0], page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			got = append(got, doc.ID)
		}
		if page.After = list.Next; !list.More {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A merge that is tried again appends nothing twice, and one at a time merges.
func TestMergeOnce(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	fork := n.fork(t, session, abi.ForkSessionRequest{})
	n.say(t, fork.ID, "a")
	retry := func() *desk.Retry {
		return &desk.Retry{Key: "k", Scope: "POST /merge", Fingerprint: ledger.CanonicalHash([]byte(`{}`))}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := n.MergeBranch(t.Context(), n.Root, retry(), fork.BranchID, abi.MergeBranchRequest{}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { n.say(t, fork.ID, "b") })
	}
	wg.Wait()
	if got := n.transcript(t, session); got[0] != "a" || len(got) > 5 || slices.Contains(got[1:], "a") {
		t.Errorf("%q", got)
	}
}

// Whatever is said, forked, cut and merged, and after a loss of power: a Session has
// what a list of texts would have, and each merge is there as a whole or not at all.
func TestMergesAtRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := enginetest.Guests{"echo": enginetest.Echo}
		n := boot(t, crashtest.NewDisk(), g)
		defer func() { n.Stop(t) }()
		root := n.Session(t)
		texts := map[string][]string{root: nil}
		parents, branches, said, merged := map[string]string{}, map[string]string{}, map[string][]string{}, map[string]int{}
		sessions := []string{root}
		number := 0
		any := func() string { return rapid.SampledFrom(sessions).Draw(rt, "session") }
		rt.Repeat(map[string]func(*rapid.T){
			"say": func(*rapid.T) {
				s := any()
				number++
				words := fmt.Sprint(number)
				n.say(t, s, words)
				texts[s], said[s] = append(texts[s], words), append(said[s], words)
			},
			"fork": func(rt *rapid.T) {
				s := any()
				f := n.fork(t, s, abi.ForkSessionRequest{})
				sessions = append(sessions, f.ID)
				texts[f.ID], parents[f.ID], branches[f.ID] = slices.Clone(texts[s]), s, f.BranchID
			},
			"merge": func(rt *rapid.T) {
				s := any()
				b, parent := branches[s], parents[s]
				if b == "" {
					return
				}
				n.merge(t, b, abi.MergeAppend)
				fresh := said[s][merged[s]:]
				texts[parent], said[parent] = append(texts[parent], fresh...), append(said[parent], fresh...)
				merged[s] = len(said[s])
				delete(branches, s)
			},
			"crash": func(rt *rapid.T) {
				disk := n.Disk.Crash(rapid.Uint64().Draw(rt, "seed"), rapid.Float64Range(0, 1).Draw(rt, "kept"))
				n.abandon()
				n = boot(t, disk, g)
			},
			"": func(rt *rapid.T) {
				if got := n.transcript(t, root); !slices.Equal(got, texts[root]) {
					rt.Fatalf("the root holds %q, want %q", got, texts[root])
				}
			},
		})
		for s, want := range texts {
			n.wantTranscript(t, s, want...)
		}
		n.wantSound(t)
	})
}
