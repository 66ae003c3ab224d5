package journal

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Divergence says that a run asked for something else than its record says. It
// is found at the first call that differs.
type Divergence struct {
	Index   int    `json:"index"`
	EventID string `json:"event_id,omitzero"` // of the recorded call
	// RecordedCall is "" when the record ends before, and ActualCall is "" when the
	// run ended before.
	RecordedCall string `json:"recorded_call"`
	Recorded     Text   `json:"recorded_request"`
	ActualCall   string `json:"actual_call"`
	Actual       Text   `json:"actual_request"`
	Diff         string `json:"diff"`
	// Modules and ABI versions on both sides.
	RecordedModule string `json:"recorded_module,omitzero"`
	ActualModule   string `json:"actual_module,omitzero"`
	RecordedABI    string `json:"recorded_abi,omitzero"`
	ActualABI      string `json:"actual_abi,omitzero"`
	// Rewriters on both sides: see Program. Another one may count gas otherwise.
	RecordedRewriter string `json:"recorded_rewriter,omitzero"`
	ActualRewriter   string `json:"actual_rewriter,omitzero"`
}

// CallEnd stands for the end of a run where a divergence names a call.
const CallEnd = "(end)"

// Error implements the error interface.
func (d *Divergence) Error() string {
	if d.RecordedRewriter == d.ActualRewriter {
		return d.what()
	}
	return fmt.Sprintf("%s; the record was made with %s, and the run with %s", d.what(), rewriterName(d.RecordedRewriter), rewriterName(d.ActualRewriter))
}

func rewriterName(version string) string {
	if version == "" {
		return "no rewriter"
	}
	return "the rewriter " + version
}

func (d *Divergence) what() string {
	switch {
	case d.ActualCall == CallEnd:
		return fmt.Sprintf("call %d: the run ended here, otherwise than recorded", d.Index)
	case d.RecordedCall == "":
		return fmt.Sprintf("call %d: the record ends here, and the run calls %s", d.Index, d.ActualCall)
	case d.ActualCall == "":
		return fmt.Sprintf("call %d: the record has %s here, and the run has ended", d.Index, d.RecordedCall)
	case d.RecordedCall != d.ActualCall:
		return fmt.Sprintf("call %d: the record has %s here, and the run calls %s", d.Index, d.RecordedCall, d.ActualCall)
	}
	return fmt.Sprintf("call %d: %s was asked something else than recorded", d.Index, d.ActualCall)
}

// divergenceDetails is a divergence as the details of a failure.
type divergenceDetails struct {
	Type       string         `json:"type"`
	Visibility abi.Visibility `json:"visibility"`
	Divergence `json:",inline"`
}

// Failure returns how a Task fails whose run has left its record. What was asked is internal.
func (d *Divergence) Failure() *abi.Failure {
	f := &abi.Failure{Code: abi.FailureDivergence, Message: d.Error()}
	details, err := json.Marshal(divergenceDetails{Type: "divergence", Visibility: abi.VisibilityInternal, Divergence: *d})
	if err == nil { // requests that are not UTF-8 are told as base64
		f.Details = details
	}
	return f
}

// Cursor answers calls from a record, in order. It is used by one goroutine.
type Cursor struct {
	entries []Entry
	next    int
	hooks   *Entry // of the next call
	gate    *Entry // of the next call
}

// NewCursor returns a cursor at the start of entries, which it does not change.
func NewCursor(entries []Entry) *Cursor { return &Cursor{entries: entries} }

// Done reports whether the whole record has been walked.
func (c *Cursor) Done() bool { return c.next == len(c.entries) }

// Index returns the index of the next call.
func (c *Cursor) Index() int { return c.next }

// Peek returns the entry of the next call; nil at the end.
func (c *Cursor) Peek() *Entry {
	if c.Done() {
		return nil
	}
	return &c.entries[c.next]
}

// Gates returns the entry of what hooks have said before the next call, and that of the approval
// that it needed, and moves on to the call; each is nil when there is none. It is called before
// each call.
func (c *Cursor) Gates() (hooks, gate *Entry) {
	c.hooks = c.pass(abi.CallHooks)
	c.gate = c.pass(abi.CallGate)
	return c.hooks, c.gate
}

// pass moves over the next entry if it is one of a kind, and returns it.
func (c *Cursor) pass(call string) *Entry {
	e := c.Peek()
	if e == nil || e.Call != call {
		return nil
	}
	c.next++
	return e
}

// Match returns the entry of the next call and moves on, or says that the run has
// left its record. The request is in the form of [Canonical]. At the end of the
// record, both are nil.
func (c *Cursor) Match(call string, request []byte) (*Entry, *Divergence) {
	e := c.Peek()
	if e == nil {
		return nil, nil
	}
	if !c.Fits(call, request) {
		return nil, Diverge(e, e.Index, call, request)
	}
	c.next++
	return e, nil
}

// Fits reports whether the next entry is that of a call. An entry behind a gate may
// tell what an approver has made of it, or a hook: what the plugin asked, the gate tells.
func (c *Cursor) Fits(call string, request []byte) bool {
	e := c.Peek()
	switch {
	case e == nil || e.Call != call:
		return false
	case c.gate == nil && c.hooks == nil:
		return bytes.Equal(e.Request, request)
	}
	asked, err := ReadGate(cmp.Or(c.hooks, c.gate)) // hooks come first
	return err == nil && asked.Asked == HashOf(request)
}

// Skip moves over the next entry without comparing it.
func (c *Cursor) Skip() { c.next++ }

// Diverge describes how a call differs from a recorded one; e is nil when the
// record has ended, and call is "" when the run has.
func Diverge(e *Entry, index int, call string, request []byte) *Divergence {
	d := &Divergence{Index: index, ActualCall: call, Actual: bytes.Clone(request)}
	if e != nil {
		d.EventID, d.RecordedCall, d.Recorded = e.EventID, e.Call, e.Request
	}
	d.Diff = strings.ToValidUTF8(Diff(label(d.RecordedCall, d.Recorded), label(d.ActualCall, d.Actual)), "\ufffd") // it is told as JSON
	return d
}

func label(call string, request []byte) string {
	if call == "" {
		return ""
	}
	return call + "\n" + Pretty(request)
}
