package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/explain"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) explainCommand() *cobra.Command {
	return page{
		use:   "explain [CODE]",
		short: "Say what an error code means, and what to do",
		long: `Explain has a page for each code that a node answers, a Task fails with, a host call
returns to a plugin, and this program ends with. Without a code it lists them. It
needs no node. docs/errors.md has the same pages.

A plugin can fail with codes of its own, which its author explains.`,
		example: `  wharf explain
  wharf explain plugin_trap
  wharf explain exit 3
  wharf explain policy_violation --json`,
		args: between(0, 2, ""),
	}.command(func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.listCodes()
		}
		return a.explainCode(strings.Join(args, " "))
	})
}

func (a *app) listCodes() error {
	return a.printRows([]string{"CODE", "WHERE", "MEANS"}, "", func(yield func(any, []show.Cell) bool) {
		for _, p := range explain.Pages() {
			if !yield(p, []show.Cell{{Text: p.Code, Style: show.Bold}, {Text: string(p.Kind), Style: show.Dim}, {Text: p.Short}}) {
				return
			}
		}
	})
}

func (a *app) explainCode(code string) error {
	pages := explain.Find(code)
	if len(pages) == 0 {
		return noPage(code)
	}
	for i, p := range pages {
		if i > 0 && !a.json {
			a.out.Gap()
		}
		if err := a.print(p, func() { a.showPage(&p) }); err != nil {
			return err
		}
	}
	return nil
}

func noPage(code string) error {
	err := usagef("there is no page about %q: it is spelled otherwise, or a plugin has chosen it", code)
	if near := explain.Near(code); near != "" {
		return advise(err, "wharf explain "+near)
	}
	return advise(err, "wharf explain, which lists the codes")
}

func (a *app) showPage(p *explain.Page) {
	where := p.Kind.Title()
	if p.HTTP != 0 {
		where += fmt.Sprintf(" (HTTP %d)", p.HTTP)
	}
	a.out.Line(a.out.Paint(show.Bold, p.Code), "  ", a.out.Paint(show.Dim, where))
	a.out.Paragraph(p.Short + ".")
	a.out.Title("what it means")
	a.out.Paragraph(p.Means)
	a.out.Title("what to do")
	a.out.Paragraph(p.Do)
	if p.Example != "" {
		a.out.Title("for example")
		a.out.Block("  ", strings.Trim(p.Example, "\n"))
	}
}

// moreAbout says where there is a page about a code, "" where there is none.
func moreAbout(code string) string {
	if code == "" || len(explain.Find(code)) == 0 {
		return ""
	}
	return self() + " explain " + code
}
