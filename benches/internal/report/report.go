package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Machine describes where a run was made in words that name nobody's machine.
type Machine struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitzero"`
	CPU    string `json:"cpu,omitzero"`
	Go     string `json:"go"`
}

// Report is the result of a run.
type Report struct {
	Started  time.Time `json:"started"`
	Took     string    `json:"took"`
	Revision string    `json:"revision,omitzero"`
	Machine  Machine   `json:"machine"`
	Rounds   int       `json:"rounds"`
	Duration string    `json:"duration"`
	Note     string    `json:"note,omitzero"` // what whoever ran it has to say about the run
	Rows     []Row     `json:"rows"`
	// Checks are the statements that were verified about what was counted.
	Checks []string `json:"checks,omitzero"`
	// Failed are measurements that could not be made, and why.
	Failed []string `json:"failed,omitzero"`
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	if err := json.MarshalWrite(w, r, jsontext.WithIndent("  "), json.Deterministic(true)); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// WriteMarkdown writes the report as a Markdown document.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured on %s\n\n%s\n\n", r.Started.UTC().Format("2006-01-02"), r.preamble())
	cells := r.cells()
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(cells[0], " | "), strings.Repeat("---|", len(cells[0])))
	for _, row := range cells[1:] {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	r.appendix(&b, "- ")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteTable writes the report for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.preamble())
	cells := r.cells()
	widths := columnWidths(cells)
	for _, row := range cells {
		for i, cell := range row {
			fmt.Fprintf(&b, "%s%s  ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("\n")
	}
	r.appendix(&b, "  ")
	_, err := io.WriteString(w, b.String())
	return err
}

// preamble says where, when and how the figures were made.
func (r *Report) preamble() string {
	m := r.Machine
	where := fmt.Sprintf("%s/%s, %d cores", m.OS, m.Arch, m.Cores)
	for _, s := range []string{m.CPU, m.Memory, m.Go, r.Revision} {
		if s != "" {
			where += ", " + s
		}
	}
	text := fmt.Sprintf("%s. %d rounds of %s each; medians, with the smallest and largest round in brackets; everything on one machine, load generator included.",
		where, r.Rounds, r.Duration)
	if r.Note != "" {
		text += " " + r.Note
	}
	return text
}

// appendix writes notes, checks and failures.
func (r *Report) appendix(b *strings.Builder, bullet string) {
	section(b, "Notes", bullet, r.notes())
	section(b, "Checked", bullet, r.Checks)
	section(b, "Not measured", bullet, r.Failed)
}

func section(b *strings.Builder, title, bullet string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "%s%s\n", bullet, line)
	}
}

// notes collects the rows' notes.
func (r *Report) notes() []string {
	var out []string
	for _, row := range r.Rows {
		if row.Note != "" {
			out = append(out, row.What+": "+row.Note)
		}
	}
	return out
}

// cells is the table, header first.
func (r *Report) cells() [][]string {
	out := [][]string{{"what", "Wharf", "ceiling", "ratio", "goal", "result"}}
	for _, row := range r.Rows {
		out = append(out, row.cells())
	}
	return out
}

func (r Row) cells() []string {
	ceiling, ratio := "–", "–"
	if r.Ceiling != nil {
		ceiling = fmt.Sprintf("%s (%s)", quantity(r.Ceiling.Median, r.Ceiling.Unit), r.CeilingName)
		ratio = r.ratio(r.Ratio.Median) + ranged(*r.Ratio, r.ratio)
	}
	plain := func(v float64) string { return quantity(v, "") }
	return []string{
		r.What, quantity(r.Wharf.Median, r.Wharf.Unit) + ranged(r.Wharf, plain),
		ceiling, ratio, r.goal(), r.Verdict(),
	}
}

// ranged renders the smallest and largest sample of a figure that has several.
func ranged(f Figure, render func(float64) string) string {
	if len(f.Samples) < 2 {
		return ""
	}
	low, high := strings.TrimSpace(render(f.Min)), strings.TrimSpace(render(f.Max))
	return fmt.Sprintf(" [%s … %s]", low, high)
}

// columnWidths returns the width in characters of each column.
func columnWidths(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}
