package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/oaf"
)

const (
	anAgent   = "the id, the key or the name of an agent (see \"wharf agent list\")"
	agents    = "/v1/harnesses/{}/agents"
	oneAgent  = agents + "/{}"
	ourselves = "wharf" // the harness that every tenant has
)

// noSuch is the code that the Open Harness API has for what is not there.
const noSuch abi.ErrorCode = "NOT_FOUND"

// agentShown is an agent as the Open Harness API has it.
type agentShown struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Key         string `json:"agentKey"`
	Version     string `json:"version"`
	Slug        string `json:"slug"`
	Description string `json:"description"`
	Prompt      string `json:"system_prompt"`
}

type agentAnswer struct {
	Agent agentShown `json:"agent"`
}

func (a *app) agentCommand() *cobra.Command {
	return family(page{
		use:   "agent",
		short: "Run agents, bring them in and give them out",
		long: `An agent is instructions with what belongs to them: a folder with an AGENTS.md, or a
zip of it. It belongs to a harness; every tenant has the harness "wharf".
docs/agents.md and docs/open-harness.md have the rest.`,
		example: `  wharf agent run ./my-agent "What is new?"
  wharf agent list
  wharf agent export my-agent > my-agent.zip`,
	}, a.agentRunCommand(), a.agentListCommand(), a.agentShowCommand(), a.agentImportCommand(), a.agentExportCommand(),
		a.agentCloneCommand(), a.agentDeleteCommand())
}

// harnessFlag names the harness that an agent belongs to.
func harnessFlag(f *pflag.FlagSet, harness *string) {
	f.StringVar(harness, "harness", ourselves, "the harness of the agent")
}

func (a *app) agentListCommand() *cobra.Command {
	var harness string
	return a.node(page{
		use: "list", short: "List the agents of a harness",
		long:    "List shows the agents of a harness, by their ids and keys.",
		example: "  wharf agent list\n  wharf agent list --harness desk --json",
		flags:   func(f *pflag.FlagSet) { harnessFlag(f, &harness) },
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		docs, err := client.OpenHarnessList[agentShown](ctx, c, agents, harness)
		if err != nil {
			return hint(err, noSuch, "wharf harness list")
		}
		return a.printRows([]string{"AGENT", "KEY", "NAME", "VERSION", "DESCRIPTION"}, "", rowsOf(docs, func(g *agentShown) []show.Cell {
			return []show.Cell{{Text: g.ID}, {Text: g.Key}, {Text: show.OneLine(g.Name)}, {Text: g.Version}, {Text: show.OneLine(g.Description)}}
		}))
	}))
}

func (a *app) agentShowCommand() *cobra.Command {
	var harness string
	return a.node(page{
		use: "show AGENT", short: "Show an agent",
		long:    "Show prints what an agent is, and its instructions.",
		example: "  wharf agent show my-agent",
		args:    oneArg(anAgent),
		flags:   func(f *pflag.FlagSet) { harnessFlag(f, &harness) },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		doc, err := withAgent[agentAnswer](ctx, c, harness, args[0], func(id string) client.Call { return client.Get(oneAgent, harness, id) })
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() { a.showAgent(&doc.Value.Agent) })
	}))
}

func (a *app) showAgent(g *agentShown) {
	a.out.Line(g.ID)
	a.out.Pairs([2]string{"name", g.Name}, [2]string{"slug", g.Slug}, [2]string{"version", g.Version}, [2]string{"about", g.Description})
	if g.Prompt != "" {
		a.out.Block("  ", g.Prompt)
	}
}

func (a *app) agentImportCommand() *cobra.Command {
	var harness, rename, merge string
	return a.node(page{
		use: "import PATH", short: "Bring an agent in from a folder or a zip",
		long: `Import sends a folder with an AGENTS.md, or a zip of it, and prints the agent's id.
--merge says what becomes of an agent that is there already: fail, overwrite or skip.`,
		example: "  wharf agent import ./my-agent\n  wharf agent import my-agent.zip --merge overwrite",
		args:    oneArg("a folder or a zip"),
		flags: func(f *pflag.FlagSet) {
			harnessFlag(f, &harness)
			f.StringVar(&rename, "rename-to", "", "another name for the agent")
			f.StringVar(&merge, "merge", "fail", "what becomes of one that is there: fail, overwrite or skip")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		doc, err := importAgent(ctx, c, harness, args[0], map[string]string{"rename_to": rename, "merge_strategy": merge})
		if err != nil {
			return hint(err, "CONFLICT", "again with --merge overwrite, or --rename-to NAME")
		}
		return a.print(doc.JSON, func() { a.out.Line(doc.Value.Agent.ID) })
	}))
}

func importAgent(ctx context.Context, c *client.Client, harness, path string, fields map[string]string) (doc client.Doc[agentAnswer], err error) {
	zip, err := packAgent(path)
	if err != nil {
		return doc, err
	}
	return client.UploadForm[agentAnswer](ctx, c, client.Post(nil, agents+"/import", harness), "bundle", zip, fields)
}

// packAgent returns the zip of a folder, or a zip as it is. What is in it the node checks.
func packAgent(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		return os.ReadFile(path)
	}
	var tree *filetree.Tree
	if err == nil {
		tree, err = filetree.ReadFolder(path, oaf.Limits())
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agent: %w", err)
	}
	var zip bytes.Buffer
	err = tree.WriteZip(&zip, "agent")
	return zip.Bytes(), err
}

func (a *app) agentExportCommand() *cobra.Command {
	var harness, to string
	return a.node(page{
		use: "export AGENT", short: "Give an agent out as a zip",
		long:    "Export writes the zip of an agent to standard output, or to the file that --output names.",
		example: "  wharf agent export my-agent --output my-agent.zip",
		args:    oneArg(anAgent),
		flags: func(f *pflag.FlagSet) {
			harnessFlag(f, &harness)
			f.StringVarP(&to, "output", "o", "", "the file to write (default standard output)")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		id, err := agentID(ctx, c, harness, args[0])
		if err != nil {
			return err
		}
		body, err := c.Download(ctx, client.Get(oneAgent+"/export", harness, id).Patiently())
		if err != nil {
			return hint(err, noSuch, "wharf agent list")
		}
		defer body.Close()
		zip, err := io.ReadAll(body)
		if err != nil {
			return fmt.Errorf("reading the agent: %w", err)
		}
		if to == "" {
			_, err = a.out.Write(zip)
			return err
		}
		return os.WriteFile(filepath.Clean(to), zip, 0o644)
	}))
}

func (a *app) agentCloneCommand() *cobra.Command {
	var harness string
	var memory bool
	return a.node(page{
		use: "clone AGENT NAME", short: "Make another agent of one",
		long:    "Clone makes an agent with a new name that is as the first is now, and prints its id.",
		example: "  wharf agent clone my-agent \"My other agent\"",
		args:    twoArgs("the id of an agent, and a name for the other"),
		flags: func(f *pflag.FlagSet) {
			harnessFlag(f, &harness)
			f.BoolVar(&memory, "memory", false, "with what the agent remembers")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		req := map[string]any{"new_name": args[1], "include_memory": memory}
		doc, err := withAgent[agentAnswer](ctx, c, harness, args[0], func(id string) client.Call { return client.Post(req, oneAgent+"/clone", harness, id) })
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() { a.out.Line(doc.Value.Agent.ID) })
	}))
}

func (a *app) agentDeleteCommand() *cobra.Command {
	var harness string
	return a.node(page{
		use: "delete AGENT", short: "Delete an agent",
		long:    "Delete removes an agent. What was recorded of its work stays.",
		example: "  wharf agent delete my-agent",
		args:    oneArg(anAgent),
		flags:   func(f *pflag.FlagSet) { harnessFlag(f, &harness) },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		id, err := agentID(ctx, c, harness, args[0])
		if err == nil {
			err = c.Send(ctx, client.Delete(oneAgent, harness, id))
		}
		if err != nil {
			return hint(err, noSuch, "wharf agent list")
		}
		if !a.json {
			a.out.Line(id, " is deleted")
		}
		return nil
	}))
}

// withAgent makes a call of an agent that somebody names.
func withAgent[T any](ctx context.Context, c *client.Client, harness, named string, call func(id string) client.Call) (doc client.Doc[T], err error) {
	id, err := agentID(ctx, c, harness, named)
	if err == nil {
		doc, err = client.Do[T](ctx, c, call(id))
	}
	return doc, hint(err, noSuch, "wharf agent list")
}

// agentID returns the id of the agent that somebody names.
func agentID(ctx context.Context, c *client.Client, harness, named string) (string, error) {
	all, err := client.OpenHarnessList[agentShown](ctx, c, agents, harness)
	if err != nil {
		return "", hint(err, noSuch, "wharf harness list")
	}
	var found []string
	for i := range all {
		switch g := &all[i].Value; named {
		case g.ID:
			return g.ID, nil
		case g.Key, g.Name, g.Slug:
			found = append(found, g.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", advise(fmt.Errorf("the harness %q has no agent %q", harness, named), "wharf agent list --harness "+harness)
	case 1:
		return found[0], nil
	}
	return "", usagef("%q is the name of several agents: give the id", named)
}

// agentOf returns the id of the agent that a path or a name stands for. What is at a path is brought
// in, and takes the place of what was brought in before.
func agentOf(ctx context.Context, c *client.Client, harness, target string) (string, error) {
	if _, err := os.Stat(target); errors.Is(err, os.ErrNotExist) {
		return agentID(ctx, c, harness, target)
	}
	doc, err := importAgent(ctx, c, harness, target, map[string]string{"merge_strategy": "overwrite"})
	return doc.Value.Agent.ID, err
}
