package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const (
	aSkillBundle = "the name or the id of a skill bundle (see \"wharf skill list\")"
	// skillBundles is where a node has them.
	skillBundles   = "/wharf/v1/skill-bundles"
	oneSkillBundle = skillBundles + "/{}"
)

func (a *app) skillListCommand() *cobra.Command {
	var workspace, category string
	return a.node(page{
		use:   "list",
		short: "List the skill bundles that are installed",
		long: `List shows the skill bundles that are installed in the workspaces that the key sees,
newest first, each with the version that Tasks are given.`,
		example: "  wharf skill list\n  wharf skill list --workspace ws_01K0... --json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "only those of this workspace")
			f.StringVar(&category, "category", "", "only those of a category: user, plugin, builtin or organization")
		},
	}, list[abi.SkillBundle]{
		call: sends(func([]string) client.Call {
			return client.Get(skillBundles).Narrow("workspace_id", workspace).Narrow("category", category)
		}),
		titles: []string{"BUNDLE", "NAME", "VERSION", "CATEGORY", "WORKSPACE", "DESCRIPTION"},
		row: func(b *abi.SkillBundle) []show.Cell {
			return []show.Cell{{Text: b.ID}, {Text: b.Name}, {Text: b.Version}, {Text: string(b.Category)}, {Text: b.WorkspaceID}, {Text: show.OneLine(b.Description)}}
		},
	})
}

func (a *app) skillInstallCommand() *cobra.Command {
	var workspace, title, category string
	return a.node(page{
		use:   "install PATH",
		short: "Install a skill bundle in a workspace",
		long: `Install checks a folder or a zip as "wharf skill validate" does, installs it in a
workspace, and prints its id. Tasks have it that name it: by --skill-bundle, by their
session, or by the agent that they run as.`,
		example: "  wharf skill install my-skill\n  wharf skill install my-skill.zip --workspace ws_01K0... --title \"My skill\"",
		args:    oneArg("a folder or a zip"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "the workspace that it is installed in (default the first that the key sees)")
			f.StringVar(&title, "title", "", "what people call it (default its name)")
			f.StringVar(&category, "category", "", "where it comes from: user, plugin, builtin or organization (default user)")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		zip, err := a.packSkill(args[0])
		if err != nil {
			return err
		}
		in, err := workspaceOr(ctx, c, workspace)
		if err != nil {
			return err
		}
		call := client.Post(nil, skillBundles).Narrow("workspace_id", in).Narrow("display_title", title).Narrow("category", category)
		doc, err := client.UploadZip[abi.SkillBundle](ctx, c, call, zip)
		if err != nil {
			return hint(err, abi.CodeConflict, "wharf skill upgrade NAME "+args[0])
		}
		return a.print(doc.JSON, func() { a.out.Line(doc.Value.ID, "  ", doc.Value.Name, " ", doc.Value.Version) })
	}))
}

// workspaceOr returns the workspace that is named, or the first that the key sees.
func workspaceOr(ctx context.Context, c *client.Client, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	all, err := c.Workspaces(ctx)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", fmt.Errorf("this key sees no workspace")
	}
	return all[len(all)-1].Value.ID, nil
}

// packSkill returns the zip of a skill that is valid. What is wrong with another one is shown.
func (a *app) packSkill(path string) ([]byte, error) {
	report, err := validateSkill(path)
	if err != nil {
		return nil, err
	}
	if !report.Valid {
		v := validated{path, report}
		if err := a.print(v, func() { a.showValidated(v, false) }); err != nil {
			return nil, err
		}
		return nil, &silentError{exitFailed}
	}
	tree, err := readSkill(path)
	if err != nil {
		return nil, fmt.Errorf("reading the skill: %w", err)
	}
	var zip bytes.Buffer
	err = tree.WriteZip(&zip, report.Skill.Name)
	return zip.Bytes(), err
}

// bundleID returns the id of the bundle that somebody names.
func bundleID(ctx context.Context, c *client.Client, named, workspace string) (string, error) {
	if strings.HasPrefix(named, abi.IDPrefix(abi.ObjectSkillBundle)) {
		return named, nil
	}
	all, err := client.List[abi.SkillBundle](ctx, c, client.Get(skillBundles).Narrow("workspace_id", workspace))
	if err != nil {
		return "", err
	}
	var ids []string
	for _, b := range all {
		if b.Value.Name == named {
			ids = append(ids, b.Value.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", advise(fmt.Errorf("no skill bundle %q is installed", named), "wharf skill list")
	case 1:
		return ids[0], nil
	}
	return "", usagef("%q is installed in several workspaces: name one with --workspace, or give the id", named)
}

// bundled makes a command about a bundle that its first argument names.
func (a *app) bundled(p page, do func(ctx context.Context, c *client.Client, id string, args []string) error) *cobra.Command {
	var workspace string
	own := p.flags
	p.flags = func(f *pflag.FlagSet) {
		if own != nil {
			own(f)
		}
		f.StringVar(&workspace, "workspace", "", "the workspace in which a name is looked for")
	}
	return a.node(p, steps(func(ctx context.Context, c *client.Client, args []string) error {
		id, err := bundleID(ctx, c, args[0], workspace)
		if err != nil {
			return err
		}
		return hint(do(ctx, c, id, args), abi.CodeResourceNotFound, "wharf skill list")
	}))
}

// changedSkill is a bundle of which another version is used.
type changedSkill struct {
	abi.SkillBundle `json:",inline"`
	PreviousVersion string `json:"previous_version"`
}

func (a *app) showChangedSkill(doc client.Doc[changedSkill], err error) error {
	if err != nil {
		return err
	}
	return a.print(doc.JSON, func() {
		a.out.Line(doc.Value.ID, "  ", doc.Value.Name, " ", doc.Value.Version, ", after ", doc.Value.PreviousVersion)
	})
}

func (a *app) showBundle(doc client.Doc[abi.SkillBundle], err error) error {
	if err != nil {
		return err
	}
	b := &doc.Value
	return a.print(doc.JSON, func() {
		a.out.Line(b.ID, "  ", b.Name, " ", b.Version)
		a.out.Pairs([2]string{"title", b.DisplayTitle}, [2]string{"description", show.OneLine(b.Description)}, [2]string{"category", string(b.Category)},
			[2]string{"workspace", b.WorkspaceID}, [2]string{"changed", stamp(b.UpdatedAt)})
	})
}

func (a *app) skillShowCommand() *cobra.Command {
	return a.bundled(page{
		use:     "show BUNDLE",
		short:   "Show a skill bundle that is installed",
		long:    "Show shows what a bundle is for, and the version of it that Tasks are given.",
		example: "  wharf skill show pdf-forms\n  wharf skill show pdf-forms --json",
		args:    oneArg(aSkillBundle),
	}, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		return a.showBundle(client.Do[abi.SkillBundle](ctx, c, client.Get(oneSkillBundle, id)))
	})
}

func (a *app) skillUpdateCommand() *cobra.Command {
	var title, category string
	return a.bundled(page{
		use:     "update BUNDLE",
		short:   "Change what people are told of a skill bundle",
		long:    "Update changes what a bundle is called and where it is said to come from. \"wharf skill upgrade\"\ninstalls another version of what is in it.",
		example: "  wharf skill update pdf-forms --title \"Forms in PDF\"",
		args:    oneArg(aSkillBundle),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&title, "title", "", "what people call it")
			f.StringVar(&category, "category", "", "where it comes from: user, plugin, builtin or organization")
		},
		check: someFlag("title", "category"),
	}, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		var req abi.UpdateSkillBundleRequest
		if title != "" {
			req.DisplayTitle = &title
		}
		if category != "" {
			req.Category = (*abi.SkillCategory)(&category)
		}
		return a.showBundle(client.Do[abi.SkillBundle](ctx, c, client.Patch(req, oneSkillBundle, id)))
	})
}

func (a *app) skillUpgradeCommand() *cobra.Command {
	var changelog string
	return a.bundled(page{
		use:   "upgrade BUNDLE PATH",
		short: "Install another version of a skill bundle",
		long: `Upgrade checks a folder or a zip and installs it as another version of a bundle. The
version has to be above the one that is used; a SKILL.md that states none becomes the
next minor version. Tasks that have begun keep theirs.`,
		example: "  wharf skill upgrade pdf-forms pdf-forms --changelog \"Reads tables, too.\"",
		args:    twoArgs(aSkillBundle + ", and a folder or a zip"),
		flags:   func(f *pflag.FlagSet) { f.StringVar(&changelog, "changelog", "", "what is new") },
	}, func(ctx context.Context, c *client.Client, id string, args []string) error {
		zip, err := a.packSkill(args[1])
		if err != nil {
			return err
		}
		return a.showChangedSkill(client.UploadZip[changedSkill](ctx, c, client.Post(nil, oneSkillBundle+"/versions", id).Narrow("changelog", changelog), zip))
	})
}

func (a *app) skillRollbackCommand() *cobra.Command {
	return a.bundled(page{
		use:     "rollback BUNDLE VERSION",
		short:   "Use a version of a skill bundle again",
		long:    "Rollback has Tasks given a version that was installed before. Tasks that have begun keep\ntheirs. \"wharf skill versions\" lists what there is.",
		example: "  wharf skill rollback pdf-forms 1.0.0",
		args:    twoArgs(aSkillBundle + ", and a version"),
	}, func(ctx context.Context, c *client.Client, id string, args []string) error {
		return a.showChangedSkill(client.Do[changedSkill](ctx, c, client.Post(abi.RollbackSkillBundleRequest{Version: args[1]}, oneSkillBundle+"/rollback", id)))
	})
}

func (a *app) skillVersionsCommand() *cobra.Command {
	return a.bundled(page{
		use:     "versions BUNDLE",
		short:   "List the versions of a skill bundle",
		long:    "Versions lists what is kept of a bundle, newest first, and marks the version that Tasks are\ngiven.",
		example: "  wharf skill versions pdf-forms",
		args:    oneArg(aSkillBundle),
	}, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		doc, err := client.Do[abi.SkillBundleVersions](ctx, c, client.Get(oneSkillBundle+"/versions", id))
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() {
			var rows [][]show.Cell
			for _, v := range doc.Value.Versions {
				used := ""
				if v.Version == doc.Value.CurrentVersion {
					used = "used"
				}
				rows = append(rows, []show.Cell{{Text: v.Version}, {Text: used}, {Text: stamp(v.InstalledAt)}, {Text: fmt.Sprint(v.Files)}, {Text: show.Bytes(v.Bytes)}, {Text: show.OneLine(v.Changelog)}})
			}
			a.out.Table([]string{"VERSION", "", "INSTALLED", "FILES", "SIZE", "CHANGELOG"}, rows)
		})
	})
}

func (a *app) skillUninstallCommand() *cobra.Command {
	return a.bundled(page{
		use:     "uninstall BUNDLE",
		short:   "Uninstall a skill bundle",
		long:    "Uninstall takes a bundle away with all its versions. It is refused while an agent of the\nworkspace names it. Tasks that have begun keep it.",
		example: "  wharf skill uninstall pdf-forms",
		args:    oneArg(aSkillBundle),
	}, func(ctx context.Context, c *client.Client, id string, args []string) error {
		if err := c.Send(ctx, client.Delete(oneSkillBundle, id)); err != nil {
			return err
		}
		if !a.json {
			a.out.Line(args[0], " is uninstalled")
		}
		return nil
	})
}

func (a *app) skillDownloadCommand() *cobra.Command {
	var file, version string
	return a.bundled(page{
		use:     "download BUNDLE",
		short:   "Download a skill bundle as a zip",
		long:    "Download writes the zip of a bundle to BUNDLE.zip, or to the file that --output names.",
		example: "  wharf skill download pdf-forms\n  wharf skill download pdf-forms --version 1.0.0 -o old.zip",
		args:    oneArg(aSkillBundle),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "output", "o", "", "the file to write (default BUNDLE.zip)")
			f.StringVar(&version, "version", "", "the version (default that which is used)")
		},
	}, func(ctx context.Context, c *client.Client, id string, args []string) error {
		zip, err := c.Download(ctx, client.Get(oneSkillBundle+"/content", id).Narrow("version", version))
		if err != nil {
			return err
		}
		defer zip.Close()
		to := file
		if to == "" {
			to = args[0] + ".zip"
		}
		before := replaced(to)
		if err := writeWhole(to, zip); err != nil {
			return err
		}
		if !a.json {
			a.out.Line(to, before)
		}
		return nil
	})
}
