package conformance

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Report is what a run found.
type Report struct {
	Server    string    `json:"server"`
	Level     Level     `json:"level"`
	StartedAt time.Time `json:"started_at"`
	Millis    float64   `json:"duration_ms"`
	Results   []Result  `json:"results"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Skipped   int       `json:"skipped"`
	// FailedMust is how many of the failed checks are MUSTs.
	FailedMust int `json:"failed_must"`
}

// Conforms reports whether the server keeps every MUST that could be checked;
// strict asks for every SHOULD too.
func (r *Report) Conforms(strict bool) bool {
	if strict {
		return r.Failed == 0
	}
	return r.FailedMust == 0
}

func (r *Report) add(result Result) {
	r.Results = append(r.Results, result)
	switch result.Status {
	case Pass:
		r.Passed++
	case Skip:
		r.Skipped++
	case Fail:
		r.Failed++
		if result.Strength == Must {
			r.FailedMust++
		}
	}
}

// WriteText writes the report for a person: a line for each check, what was seen
// under those that did not pass, and a summary.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Harn Agents Protocol, level %s, at %s\n", r.Level, r.Server)
	for _, section := range r.sections() {
		fmt.Fprintf(&b, "\n%s\n", section)
		for _, result := range r.Results {
			if result.Section == section {
				result.writeText(&b)
			}
		}
	}
	fmt.Fprintf(&b, "\n%d passed, %d failed (%d of them a MUST), %d skipped in %.0f ms\n",
		r.Passed, r.Failed, r.FailedMust, r.Skipped, r.Millis)
	_, err := io.WriteString(w, b.String())
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// sections lists the sections of the documents, in the order of the checks.
func (r *Report) sections() []string {
	var all []string
	for _, result := range r.Results {
		if !slices.Contains(all, result.Section) {
			all = append(all, result.Section)
		}
	}
	return all
}

func (r *Result) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "  %-4s  %-6s  %-24s %s\n", r.Status, r.Strength, r.ID, r.Title)
	if r.Status != Pass {
		fmt.Fprintf(b, "                %s\n", r.Seen)
	}
}
