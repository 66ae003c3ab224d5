package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

const aWorkspace = "the id of a Workspace (see \"wharf workspace list\")"

func (a *app) workspaceCommand() *cobra.Command {
	return family(page{
		use:   "workspace",
		short: "List, make and change Workspaces: what Sessions, Tasks and files are in",
		long: `A Workspace holds Sessions with their Tasks, files, and what is for it alone: Personas,
vaults, servers of tools. Keys can be bound to Workspaces. docs/workspaces.md has the
rest.`,
		example: `  wharf workspace list
  wharf workspace create shop
  wharf workspace update ws_01K0... --quota quota_01K0...`,
	}, a.workspaceListCommand(), a.workspaceShowCommand(), a.workspaceCreateCommand(), a.workspaceUpdateCommand())
}

func (a *app) workspaceListCommand() *cobra.Command {
	return a.node(page{
		use:     "list",
		short:   "List the Workspaces",
		long:    "List shows the Workspaces that the key sees, newest first. The last is the one that\nSessions are in whose maker names none.",
		example: "  wharf workspace list\n  wharf workspace list --json",
	}, list[abi.Workspace]{
		call:   gets("/v1/workspaces"),
		titles: []string{"WORKSPACE", "NAME", "ROOT", "CHANGED"},
		row: func(w *abi.Workspace) []show.Cell {
			return []show.Cell{{Text: w.ID}, {Text: w.Name}, {Text: w.Root}, {Text: show.Ago(w.UpdatedAt, time.Now())}}
		},
	})
}

// workspace is a request that a Workspace answers.
func (a *app) workspace(call caller) ask[abi.Workspace] {
	return ask[abi.Workspace]{call: call, text: a.showWorkspace, tips: absent("wharf workspace list")}
}

func (a *app) showWorkspace(w *abi.Workspace) {
	a.out.Line(w.ID, "  ", w.Name)
	a.out.Pairs([2]string{"root", w.Root}, [2]string{"host", w.Host}, [2]string{"repository", w.Repository}, [2]string{"quota", w.QuotaID},
		[2]string{"capabilities", strings.Join(w.Capabilities, " ")}, [2]string{"connectors", strings.Join(w.Connectors, " ")},
		[2]string{"takes", takes(w)}, [2]string{"made", stamp(w.CreatedAt)}, [2]string{"changed", stamp(w.UpdatedAt)})
}

// takes says how much room a Workspace takes, and may; "" where that is not known.
func takes(w *abi.Workspace) string {
	if w.UsedBytes == nil {
		return ""
	}
	text := show.Bytes(*w.UsedBytes)
	if w.Retention != nil && w.Retention.MaxBytes != nil {
		text += " of " + show.Bytes(*w.Retention.MaxBytes)
	}
	return text
}

func (a *app) workspaceShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a Workspace",
		long:    "Show shows what is said of a Workspace, which quota bounds its Tasks, and how much room its\nevents and their content take.",
		example: "  wharf workspace show ws_default\n  wharf workspace show ws_default --json",
		args:    oneArg(aWorkspace),
	}, a.workspace(gets("/v1/workspaces/{}")))
}

func (a *app) workspaceCreateCommand() *cobra.Command {
	var req abi.CreateWorkspaceRequest
	return a.node(page{
		use:   "create NAME",
		short: "Make a Workspace",
		long: `Create makes a Workspace and shows it. A key that is bound to Workspaces makes none, and
sees none that is made later.`,
		example: "  wharf workspace create shop\n  wharf workspace create shop --root /srv/shop --json",
		args:    oneArg("a name for the Workspace"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Root, "root", "/", "the folder that its plugins are told they work in")
		},
	}, a.workspace(sends(func(args []string) client.Call {
		req.Name = args[0]
		return client.Post(req, "/v1/workspaces")
	})))
}

func (a *app) workspaceUpdateCommand() *cobra.Command {
	var name, host, repository, quota string
	var keeps retentionFlags
	return a.node(page{
		use:   "update ID",
		short: "Change a Workspace",
		long: `Update changes what the flags name, and leaves the rest. An empty value takes away what was
there. The flags --keep-... say together how long things of the Workspace are kept, where
that is not as the node has it, and how much room they may take: beyond it the oldest Tasks
that have ended go. What is not among them is taken away. They need the scope admin.`,
		example: `  wharf workspace update ws_01K0... --name shop
  wharf workspace update ws_01K0... --quota ""
  wharf workspace update ws_01K0... --keep-tasks 30d --keep-sessions forever
  wharf workspace update ws_01K0... --keep-size 10GiB
  wharf workspace update ws_01K0... --keep-as-the-node`,
		args: oneArg(aWorkspace),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "a name for people")
			f.StringVar(&host, "host", "", "the machine that it stands for")
			f.StringVar(&repository, "repository", "", "the repository that it stands for")
			f.StringVar(&quota, "quota", "", "the quota that bounds its Tasks (see \"wharf quota list\")")
			keeps.add(f)
		},
		check: someFlag("name", "host", "repository", "quota", "keep-tasks", "keep-sessions", "keep-artifacts", "keep-size", "keep-as-the-node"),
	}, a.workspace(func(cmd *cobra.Command, args []string) (call client.Call, err error) {
		req := abi.UpdateWorkspaceRequest{Name: given(cmd, "name", &name), Host: changed(cmd, "host", host), Repository: changed(cmd, "repository", repository)}
		if cmd.Flags().Changed("quota") {
			req.QuotaID, err = json.Marshal(orNull(quota))
		}
		if err == nil {
			req.Retention, err = keeps.change(cmd)
		}
		return client.Patch(req, "/v1/workspaces/{}", args[0]), err
	}))
}

// retentionFlags say how long things of a Workspace are kept.
type retentionFlags struct {
	tasks, sessions, artifacts, size string
	asNode                           bool
}

func (r *retentionFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.tasks, "keep-tasks", "", "how long Tasks are kept after they have ended, such as 30d, or forever")
	f.StringVar(&r.sessions, "keep-sessions", "", "how long Sessions are kept after they were closed, or forever")
	f.StringVar(&r.artifacts, "keep-artifacts", "", "how long Artifacts of no Task are kept, or forever")
	f.StringVar(&r.size, "keep-size", "", "how much room they may take, such as 10GiB, or unlimited")
	f.BoolVar(&r.asNode, "keep-as-the-node", false, "keep everything as long as the node keeps it")
}

// change returns what the flags change; nothing where there are none.
func (r *retentionFlags) change(cmd *cobra.Command) (c abi.Change[abi.WorkspaceRetention], err error) {
	for _, flag := range []struct {
		name, value string
		days        **float64
	}{{"keep-tasks", r.tasks, &c.To.TaskDays}, {"keep-sessions", r.sessions, &c.To.SessionDays}, {"keep-artifacts", r.artifacts, &c.To.ArtifactDays}} {
		if !cmd.Flags().Changed(flag.name) {
			continue
		}
		var age time.Duration
		if flag.value != "forever" {
			if age, err = spelling.ParseDuration(flag.value); err != nil || age <= 0 {
				return c, usagef("--%s: %q is not a time such as 30d or 12h, nor forever", flag.name, flag.value)
			}
		}
		days := age.Hours() / 24
		c.Given, *flag.days = true, &days
	}
	if cmd.Flags().Changed("keep-size") {
		c.Given = true
		if c.To.MaxBytes, err = room(r.size); err != nil {
			return c, err
		}
	}
	if r.asNode && c.Given {
		return c, usagef("--keep-as-the-node takes away what the other --keep-... flags say: give one or the others")
	}
	c.Given = c.Given || r.asNode
	return c, nil
}

// room reads how much room there is; nil for any.
func room(text string) (*int64, error) {
	if text == "unlimited" {
		return nil, nil
	}
	n, err := spelling.ParseSize(text)
	if err == nil && n == 0 {
		err = errors.New("0 leaves no room at all")
	}
	if err != nil {
		return nil, usagef("--keep-size: %s; give unlimited for no limit", err)
	}
	return &n, nil
}

// orNull returns a text as JSON has it that takes it away where it is empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// given returns the value of a flag that the command line has; nil leaves what it is about as it is.
func given[T any](cmd *cobra.Command, flag string, value *T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

// changed is [given] for what can be taken away.
func changed(cmd *cobra.Command, flag, value string) abi.Change[string] {
	if !cmd.Flags().Changed(flag) {
		return abi.Change[string]{}
	}
	return abi.ChangeTo(value)
}

// someFlag refuses a command line that has none of some flags: it would change nothing.
func someFlag(names ...string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				return nil
			}
		}
		return usagef("%s changes nothing without one of --%s", cmd.CommandPath(), strings.Join(names, ", --"))
	}
}

// gone deletes what is at a path, and says so.
func (a *app) gone(path, word, try string) steps {
	return func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete(path, args...)); err != nil {
			return hint(err, abi.CodeResourceNotFound, try)
		}
		if !a.json {
			a.out.Line(fmt.Sprintf("%s is %s", args[len(args)-1], word))
		}
		return nil
	}
}
