package alone

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// DeviationKind says how a run left its record.
type DeviationKind string

// The kinds.
const (
	AskedOtherwise DeviationKind = "request" // the same call was asked something else
	NotRecorded    DeviationKind = "extra"   // the run made a call that the record does not have
	NotMade        DeviationKind = "missing" // the record has a call that the run did not make
	MadeElsewhere  DeviationKind = "order"   // the call was made before or after others than recorded
	EndedOtherwise DeviationKind = "end"     // the run failed otherwise than recorded, or did not, or did
)

// Deviation is a place in which a run left its record.
type Deviation struct {
	Kind        DeviationKind        `json:"kind"`
	Call        string               `json:"call,omitzero"`
	Recorded    int                  `json:"recorded_index"` // of the call in the record; -1 for none
	Made        int                  `json:"index"`          // of the call in the run; -1 for none
	Differences []journal.Difference `json:"differences,omitzero"`
	Request     jsontext.Value       `json:"request,omitzero"` // of a call that only one of them has
}

// recorded answers calls from a record. Of the calls of a name that are left it takes the first that
// was asked the same, else the first: so one call that is new or gone moves none of the others.
type recorded struct {
	entries []*journal.Entry // without gates
	gates   [][]*journal.Entry
	used    []bool
	last    int // the entry that was used last
	strict  bool
}

func newRecorded(rec *journal.Record, strict bool) *recorded {
	r := &recorded{last: -1, strict: strict}
	var gates []*journal.Entry
	for i := range rec.Entries {
		e := &rec.Entries[i]
		if e.Call == abi.CallGate || e.Call == abi.CallHooks {
			gates = append(gates, e)
			continue
		}
		r.entries, r.gates, gates = append(r.entries, e), append(r.gates, gates), nil
	}
	r.used = make([]bool, len(r.entries))
	return r
}

// take returns the entry that answers a call, and notes how it differs; nil when the record has none.
func (r *recorded) take(call string, request []byte, report *Report) *journal.Entry {
	asked := journal.Canonical(call, request)
	at, first := -1, -1
	for i, e := range r.entries {
		if r.used[i] || e.Call != call {
			continue
		}
		if first < 0 {
			first = i
		}
		if r.differ(i, asked) == nil {
			at = i
			break
		}
	}
	if at < 0 {
		at = first
	}
	made := len(report.Calls)
	if at < 0 {
		report.Deviations = append(report.Deviations, Deviation{Kind: NotRecorded, Call: call, Recorded: -1, Made: made, Request: Shown(call, request)})
		return nil
	}
	r.used[at] = true
	e := r.entries[at]
	if found := r.differ(at, asked); found != nil {
		report.Deviations = append(report.Deviations, Deviation{Kind: AskedOtherwise, Call: call, Recorded: e.Index, Made: made, Differences: found})
	}
	if at < r.last {
		report.Deviations = append(report.Deviations, Deviation{Kind: MadeElsewhere, Call: call, Recorded: e.Index, Made: made})
	}
	r.last = max(r.last, at)
	return e
}

// differ says how a request differs from a recorded one. One behind a gate may be what an approver has
// made of it: what the plugin asked, the gate tells by its hash.
func (r *recorded) differ(at int, asked []byte) []journal.Difference {
	for _, gate := range r.gates[at] {
		if was, err := journal.ReadGate(gate); err == nil && was.Asked == journal.HashOf(asked) {
			return nil
		}
	}
	return journal.Differences(r.entries[at].Request, asked, r.strict)
}

// rest are the calls that the run did not make.
func (r *recorded) rest() []Deviation {
	var left []Deviation
	for i, e := range r.entries {
		if !r.used[i] {
			left = append(left, Deviation{Kind: NotMade, Call: e.Call, Recorded: e.Index, Made: -1, Request: journal.AsJSON(e.Request)})
		}
	}
	return slices.Clip(left)
}

// compareEnds compares how a run ended with how its record did: whether it failed, and with which code.
// Messages are for people, and may be worded otherwise.
func compareEnds(was *journal.End, failure *abi.Failure) []Deviation {
	if was == nil || was.Stopped {
		return nil
	}
	code := func(f *abi.Failure) jsontext.Value {
		if f == nil {
			return jsontext.Value("null")
		}
		return quoted(f.Code)
	}
	found := journal.Differences(code(was.Failure), code(failure), false)
	if found == nil {
		return nil
	}
	return []Deviation{{Kind: EndedOtherwise, Recorded: -1, Made: -1, Differences: at("/failure/code", found)}}
}
