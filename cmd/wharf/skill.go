package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

func (a *app) skillCommand() *cobra.Command {
	return family(page{
		use:   "skill",
		short: "Check skill bundles, and install them in workspaces",
		long: `A skill bundle is a folder with a SKILL.md, which says what the skill is and what
a model should do, and with the files that it needs; or a zip of it. It is installed in
a workspace, in versions. docs/skills-bundles.md has the rest.

(A Skill of the protocol, skill_..., is another thing: a persona that can be called.)`,
		example: `  wharf skill validate my-skill
  wharf skill install my-skill
  wharf task submit "Fill in the form" --persona persona_agent --skill-bundle my-skill
  wharf skill upgrade my-skill my-skill --changelog "Reads tables, too."
  wharf skill rollback my-skill 1.0.0`,
	}, a.skillValidateCommand(), a.skillInstallCommand(), a.skillListCommand(), a.skillShowCommand(), a.skillUpdateCommand(), a.skillVersionsCommand(), a.skillUpgradeCommand(), a.skillRollbackCommand(),
		a.skillDownloadCommand(), a.skillUninstallCommand())
}

func (a *app) skillValidateCommand() *cobra.Command {
	var strict bool
	cmd := page{
		use:   "validate PATH...",
		short: "Say what is wrong with skill bundles",
		long: `Validate checks skill bundles: folders, zips, or SKILL.md files alone. It needs no
node, and unpacks nothing to the disk. Each line says where something is wrong,
its code, and what to do; docs/skills-bundles.md lists the codes.

The exit code is 0 when all are valid, also with warnings, 1 when one is not, and
2 when a path cannot be read. With --json it prints a JSON object for each path.`,
		example: `  wharf skill validate my-skill
  wharf skill validate skills/* --strict
  wharf skill validate my-skill.zip --json | jq .skill.digest`,
		args: someArgs("a folder, a zip or a SKILL.md"),
	}.command(func(cmd *cobra.Command, args []string) error {
		return undecided(a.validateSkills(cmd.Context(), args, strict))
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return cmd
}

// validated is what was found out about a skill.
type validated struct {
	Path            string `json:"path"`
	*skillmd.Report `json:",inline"`
}

func (a *app) validateSkills(ctx context.Context, paths []string, strict bool) error {
	sound := true
	for i, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report, err := validateSkill(path)
		if err != nil {
			return err
		}
		if strict {
			report.Strict()
		}
		sound = sound && report.Valid
		v := validated{strings.ToValidUTF8(path, "\ufffd"), report}
		if err := a.print(v, func() { a.showValidated(v, i > 0) }); err != nil {
			return err
		}
	}
	if !sound {
		return &silentError{exitFailed}
	}
	return nil
}

func validateSkill(path string) (*skillmd.Report, error) {
	tree, err := readSkill(path)
	if err == nil {
		return skillmd.Check(tree), nil
	}
	if report, ok := skillmd.Refused(err); ok {
		return report, nil
	}
	return nil, fmt.Errorf("reading the skill: %w", err)
}

// readSkill reads a folder, a SKILL.md without what lies beside it, or a zip.
func readSkill(path string) (_ *filetree.Tree, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return filetree.ReadFolder(path, skillmd.Limits())
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for somebody who writes
		return nil, fmt.Errorf("%s is neither a folder nor a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if filepath.Base(path) == skillmd.FileName {
		return filetree.ReadFile(skillmd.FileName, f, skillmd.Limits())
	}
	return filetree.ReadZip(f, info.Size(), skillmd.Limits())
}

func (a *app) showValidated(v validated, another bool) {
	if another {
		a.out.Gap()
	}
	for _, f := range v.Errors {
		a.out.Line(v.place(&f), a.out.Paint(show.Red, string(f.Code)), ": ", show.OneLine(f.Message))
	}
	for _, f := range v.Warnings {
		a.out.Line(v.place(&f), a.out.Paint(show.Yellow, string(f.Code)), ": warning: ", show.OneLine(f.Message))
	}
	a.showSkillVerdict(v)
}

// place says where a finding is, in the path that the user gave.
func (v *validated) place(f *skillmd.Finding) string {
	at := v.Path
	if f.File != "" && filepath.Base(v.Path) != skillmd.FileName {
		at = strings.TrimSuffix(v.Path, "/") + "/" + f.File // not joined: a name that is refused may lead elsewhere
	}
	at = show.OneLine(at)
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	return at + ": "
}

func (a *app) showSkillVerdict(v validated) {
	counts := fmt.Sprintf("%s, %s", numbered(len(v.Errors), "error"), numbered(len(v.Warnings), "warning"))
	if !v.Valid {
		a.out.Line(show.OneLine(v.Path), ": ", a.out.Paint(show.Red, "not valid"), ": ", counts)
		return
	}
	s := v.Skill
	a.out.Line(show.OneLine(v.Path), ": ", a.out.Paint(show.Green, "valid"), ": ", s.Name, " ", s.Version, ", ",
		numbered(len(s.Files), "file"), " with ", show.Bytes(s.Bytes), ", ", counts)
	a.out.Pairs([2]string{"digest", s.Digest})
}

// numbered says how many there are of something.
func numbered(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
