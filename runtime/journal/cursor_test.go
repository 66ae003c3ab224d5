package journal

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

func tape() []Entry {
	return []Entry{
		{Index: 0, Call: abi.CallClock, EventID: "evt_0", Answer: Text("0")},
		{Index: 1, Call: abi.CallLLMComplete, EventID: "evt_1", Request: Text(`{"model":"m","n":1}`), Answer: Text("1")},
		{Index: 2, Call: abi.CallOutput, EventID: "evt_2", Request: Text(`{"summary":"s"}`)},
	}
}

func TestCursor(t *testing.T) {
	entries := tape()
	c := NewCursor(entries)
	for i := range entries {
		if c.Done() || c.Index() != i || c.Peek() != &entries[i] {
			t.Fatalf("at call %d: done %t, index %d", i, c.Done(), c.Index())
		}
		e, d := c.Match(entries[i].Call, entries[i].Request)
		if d != nil || e != &entries[i] {
			t.Fatalf("call %d: %+v, %v", i, e, d)
		}
	}
	if !c.Done() || c.Index() != len(entries) || c.Peek() != nil {
		t.Errorf("at the end: done %t, index %d", c.Done(), c.Index())
	}
	if e, d := c.Match(abi.CallClock, nil); e != nil || d != nil {
		t.Errorf("past the end: %+v, %v", e, d)
	}
	c = NewCursor(entries)
	c.Skip()
	if e, d := c.Match(abi.CallLLMComplete, entries[1].Request); d != nil || e == nil {
		t.Errorf("after a skip: %v", d)
	}
	if !NewCursor(nil).Done() {
		t.Error("an empty record is not done")
	}
}

// A cursor tells the first call that differs and stays there.
func TestCursorDiverges(t *testing.T) {
	for _, c := range []struct {
		at            int
		call, request string
		says, diff    string
	}{
		{0, abi.CallRandom, "", "call 0: the record has clock here, and the run calls random", "-clock\n+random\n \n"},
		{0, abi.CallClock, `{}`, "call 0: clock was asked something else than recorded", " clock\n-\n+{}\n"},
		{1, abi.CallLLMComplete, `{"model":"m","n":2}`, "call 1: llm.complete was asked something else than recorded",
			" llm.complete\n {\n   \"model\": \"m\",\n-  \"n\": 1\n+  \"n\": 2\n }\n"},
		{2, abi.CallOutput, `not JSON`, "call 2: output was asked something else than recorded",
			" output\n-{\n-  \"summary\": \"s\"\n-}\n+not JSON\n"},
	} {
		cursor := NewCursor(tape())
		for range c.at {
			cursor.Skip()
		}
		request := []byte(c.request)
		e, d := cursor.Match(c.call, request)
		if e != nil || d == nil {
			t.Fatalf("call %d matched", c.at)
		}
		for i := range request {
			request[i] = '!' // guest memory is used again
		}
		was := tape()[c.at]
		if d.Index != c.at || d.EventID != was.EventID || d.RecordedCall != was.Call || string(d.Recorded) != string(was.Request) ||
			d.ActualCall != c.call || string(d.Actual) != c.request || d.Error() != c.says || d.Diff != c.diff {
			t.Errorf("call %d: %+v\n%s\n%s", c.at, d, d.Error(), d.Diff)
		}
		if cursor.Index() != c.at {
			t.Errorf("the cursor moved on to %d", cursor.Index())
		}
	}
}

// Either side may end first.
func TestDivergeAtTheEnd(t *testing.T) {
	d := Diverge(nil, 3, abi.CallClock, nil)
	if d.RecordedCall != "" || d.EventID != "" || d.Error() != "call 3: the record ends here, and the run calls clock" || d.Diff != "+clock\n+\n" {
		t.Errorf("%+v %s", d, d)
	}
	d = Diverge(&tape()[2], 2, "", nil)
	if d.ActualCall != "" || d.Error() != "call 2: the record has output here, and the run has ended" || !strings.HasPrefix(d.Diff, "-output\n-{\n") || strings.Contains(d.Diff, "+") {
		t.Errorf("%+v %s", d, d)
	}
}

// A divergence names the rewriters where they differ, and how the run ended otherwise.
func TestDivergenceNamesRewriters(t *testing.T) {
	for _, c := range []struct{ recorded, actual, want string }{
		{"", "", ""}, {"w1", "w1", ""},
		{"w1", "w2", "; the record was made with the rewriter w1, and the run with the rewriter w2"},
		{"", "w1", "; the record was made with no rewriter, and the run with the rewriter w1"},
	} {
		d := Diverge(nil, 3, CallEnd, nil)
		d.RecordedRewriter, d.ActualRewriter = c.recorded, c.actual
		if want := "call 3: the run ended here, otherwise than recorded" + c.want; d.Error() != want {
			t.Errorf("%s, want %s", d.Error(), want)
		}
	}
}
