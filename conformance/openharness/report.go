package openharness

import (
	"fmt"
	"io"
	"time"
)

// EventType says what an [Event] tells.
type EventType string

// The types of events, as the protocol names them.
const (
	EventStarted  EventType = "test.started"
	EventPassed   EventType = "test.passed"
	EventFailed   EventType = "test.failed"
	EventSkipped  EventType = "test.skipped"
	EventProgress EventType = "progress"
	EventDone     EventType = "done" // the last one, once
)

// Event is what a run tells while it goes on, in the shape that the protocol gives it. Which members
// it has follows from its type.
type Event struct {
	Type      EventType `json:"type"`
	TestID    string    `json:"test_id,omitzero"`
	TestName  string    `json:"test_name,omitzero"`
	Error     string    `json:"error,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	Completed int       `json:"completed,omitzero"`
	Total     int       `json:"total,omitzero"`
	Result    *Totals   `json:"result,omitzero"`
}

// Totals is how a run ended.
type Totals struct {
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Millis  float64 `json:"duration_ms"`
}

func (r *Result) event() Event {
	switch r.Status {
	case Pass:
		return Event{Type: EventPassed, TestID: r.ID}
	case Fail:
		return Event{Type: EventFailed, TestID: r.ID, Error: r.Seen}
	}
	return Event{Type: EventSkipped, TestID: r.ID, Reason: r.Seen}
}

// The verdicts on a run.
const (
	VerdictPass    = "pass"    // nothing failed, and nothing that the harness supports was left out
	VerdictPartial = "partial" // nothing failed, and something could not be checked
	VerdictFail    = "fail"    // something failed
)

// Report is what a run found.
type Report struct {
	Server    string    `json:"server"`
	Harness   string    `json:"harness"`
	Version   string    `json:"harness_version"`
	StartedAt time.Time `json:"started_at"`
	Millis    float64   `json:"duration_ms"`
	Results   []Result  `json:"results"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Skipped   int       `json:"skipped"`
	// Unchecked is how many of those that were skipped the harness has not declined by its manifest.
	Unchecked int `json:"unchecked"`
	// Violations is how many checks failed in domains that the harness says it supports. The golden
	// rule is that there are none.
	Violations int `json:"golden_rule_violations"`
}

// Verdict returns what is to be said of the run as a whole.
func (r *Report) Verdict() string {
	switch {
	case r.Failed > 0:
		return VerdictFail
	case r.Unchecked > 0:
		return VerdictPartial
	}
	return VerdictPass
}

func (r *Report) add(result Result) {
	r.Results = append(r.Results, result)
	switch result.Status {
	case Pass:
		r.Passed++
	case Skip:
		r.Skipped++
		if !result.declined {
			r.Unchecked++
		}
	case Fail:
		r.Failed++
		if result.Supported {
			r.Violations++
		}
	}
}

func (r *Report) done() Event {
	return Event{Type: EventDone, Result: &Totals{r.Passed, r.Failed, r.Skipped, r.Millis}}
}

// WriteText writes the report for a person: a line for each check, what was seen under those that
// did not pass, and a summary.
func (r *Report) WriteText(w io.Writer) error {
	domain := ""
	if _, err := fmt.Fprintf(w, "Open Harness API 0.2.0, harness %s at %s\n", r.Harness, r.Server); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	for i := range r.Results {
		one := &r.Results[i]
		if one.Domain != domain {
			domain = one.Domain
			fmt.Fprintf(w, "\n%s\n", domain)
		}
		fmt.Fprintf(w, "  %-4s  %-36s %s\n", one.Status, one.ID, one.Title)
		if one.Status != Pass {
			fmt.Fprintf(w, "        %s\n", one.Seen)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d passed, %d failed (%d of them break the golden rule), %d skipped in %.0f ms: %s\n",
		r.Passed, r.Failed, r.Violations, r.Skipped, r.Millis, r.Verdict())
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
