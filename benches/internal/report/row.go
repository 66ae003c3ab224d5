package report

import "fmt"

// Sense says which side of its goal a row should be on.
type Sense string

// The senses.
const (
	AtLeast Sense = "≥"
	AtMost  Sense = "≤"
	// Info marks a row that has no goal: it explains another one.
	Info Sense = ""
)

// Row is one line of the result: what was measured, its ceiling where it has
// one, and the goal. The goal is a ratio to the ceiling if there is one and the row
// is not Absolute; else it is in the figure's own unit.
type Row struct {
	Measurement string  `json:"measurement"` // name of the measurement, as --only takes it
	What        string  `json:"what"`
	Wharf       Figure  `json:"wharf"`
	CeilingName string  `json:"ceiling_name,omitzero"`
	Ceiling     *Figure `json:"ceiling,omitzero"`
	Ratio       *Figure `json:"ratio,omitzero"`
	Sense       Sense   `json:"sense"`
	Goal        float64 `json:"goal,omitzero"`
	Absolute    bool    `json:"absolute,omitzero"`   // the goal is for the figure, not for the ratio
	Difference  bool    `json:"difference,omitzero"` // of two figures, so that noise may take it below nothing
	Note        string  `json:"note,omitzero"`
}

// Against sets the row's ceiling and derives the ratio of each round.
func (r Row) Against(name string, ceiling Figure) Row {
	ratio := NewFigure("ratio", Ratios(r.Wharf.Samples, ceiling.Samples))
	r.CeilingName, r.Ceiling, r.Ratio = name, &ceiling, &ratio
	return r
}

// Must sets the row's goal.
func (r Row) Must(s Sense, goal float64) Row {
	r.Sense, r.Goal = s, goal
	return r
}

// MustBe sets a goal in the figure's own unit, whether there is a ceiling or not.
func (r Row) MustBe(s Sense, goal float64) Row {
	r.Absolute = true
	return r.Must(s, goal)
}

// judged is the figure that the goal speaks of.
func (r Row) judged() Figure {
	if r.Ratio != nil && !r.Absolute {
		return *r.Ratio
	}
	return r.Wharf
}

// Verdict says how the row stands to its goal: "met", "missed", or "" when it
// has none. The median decides.
func (r Row) Verdict() string {
	got := r.judged().Median
	switch {
	case r.Sense == Info:
		return ""
	case r.Sense == AtLeast && got >= r.Goal, r.Sense == AtMost && got <= r.Goal:
		return "met"
	}
	return "missed"
}

// goal renders the goal in the terms of the judged figure.
func (r Row) goal() string {
	if r.Sense == Info {
		return ""
	}
	if r.Ratio == nil || r.Absolute {
		return fmt.Sprintf("%s %s", r.Sense, quantity(r.Goal, r.Wharf.Unit))
	}
	return fmt.Sprintf("%s %s", r.Sense, r.ratio(r.Goal))
}

// ratio renders a share of the ceiling: a percentage, or a factor where less is
// better and where it is far more than the whole.
func (r Row) ratio(v float64) string {
	switch {
	case r.Sense == AtMost && v < farLess:
		return fmt.Sprintf("%.4f ×", v)
	case r.Sense == AtMost || v >= farMore:
		return fmt.Sprintf("%.1f ×", v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// farMore is from where on a share reads better as a factor.
const farMore = 1.5

// farLess is up to where a factor needs more digits.
const farLess = 0.1

// quantity renders v with its unit and about three digits.
func quantity(v float64, unit string) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%s %s", thousands(int64(v+0.5)), unit)
	case v >= 10:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.2f %s", v, unit)
}

// thousands renders n with a comma every three digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
