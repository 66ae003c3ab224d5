package api

import (
	"context"
	"io"
	"iter"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/agents"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/oaf"
)

type (
	// AgentFiles are the files of a bundle of agents.
	AgentFiles = filetree.Tree
	// AgentFile is one of them, as it comes.
	AgentFile = filetree.Named
	// AgentBundle is an agent that is given out.
	AgentBundle = agents.Export
)

// MaxAgentBundle is how many bytes a bundle of agents has at most, packed and unpacked.
const MaxAgentBundle = 50 << 20

// agentsCore serves agents.
type agentsCore interface {
	Agent(ctx context.Context, c *desk.Caller, workspace, id string) (desk.Doc, error)
	Agents(ctx context.Context, c *desk.Caller, workspace string, p desk.Page) (desk.DocList, error)
	Subagents(ctx context.Context, c *desk.Caller, workspace, parent string, p desk.Page) (desk.DocList, error)
	CreateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.NewAgent) (desk.Doc, error)
	ImportAgents(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.AgentImport, files *filetree.Tree) (*agents.Written, error)
	UpdateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string, change abi.AgentChange) (desk.Doc, error)
	CloneAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id, name string, memory bool) (desk.Doc, error)
	DeleteAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string) error
	ExportAgent(ctx context.Context, c *desk.Caller, workspace, id string, how abi.AgentExport) (*agents.Export, error)
}

// AgentsWritten is what became of the agents of a bundle, in its order.
type AgentsWritten struct {
	Agents   []View
	Skipped  bool // the first was there, and stays as it was
	Warnings []string
}

// AgentZip reads a bundle that is a zip. An error about what it is has the param "bundle".
func AgentZip(r io.ReaderAt, size int64) (*AgentFiles, error) {
	files, err := filetree.ReadZip(r, size, oaf.Limits())
	return files, badAgent(err)
}

// AgentTree reads the files of a bundle one by one. An error about what they are has the param
// "bundle".
func AgentTree(files iter.Seq2[AgentFile, error]) (*AgentFiles, error) {
	tree, err := filetree.ReadFiles(files, oaf.Limits())
	return tree, badAgent(err)
}

func badAgent(err error) error {
	if report, ok := oaf.Refused(err); ok {
		return agents.Invalid(report)
	}
	return err
}

// ImportAgents takes in the agents of a bundle. An error about the bundle has the param "bundle".
func (a *API) ImportAgents(ctx context.Context, c *Caller, r *Write, workspace string, req abi.AgentImport, files *AgentFiles) (*AgentsWritten, error) {
	written, err := a.core.ImportAgents(ctx, c, r, workspace, req, files)
	if err != nil {
		return nil, err
	}
	out := &AgentsWritten{Skipped: written.Skipped, Warnings: written.Warnings}
	for _, doc := range written.Agents {
		view, err := a.to(ctx, c).view(doc, nil)
		if err != nil {
			return nil, err
		}
		out.Agents = append(out.Agents, view)
	}
	return out, nil
}

// Agent returns an agent of a Workspace.
func (a *API) Agent(ctx context.Context, c *Caller, workspace, id string) (View, error) {
	return a.to(ctx, c).view(a.core.Agent(ctx, c, workspace, id))
}

// Agents lists the agents of a Workspace that are nobody's subagents, newest first.
func (a *API) Agents(ctx context.Context, c *Caller, workspace string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Agents(ctx, c, workspace, p))
}

// Subagents lists the subagents of an agent, newest first.
func (a *API) Subagents(ctx context.Context, c *Caller, workspace, parent string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Subagents(ctx, c, workspace, parent, p))
}

// CreateAgent makes an agent that comes without a bundle.
func (a *API) CreateAgent(ctx context.Context, c *Caller, r *Write, workspace string, req abi.NewAgent) (View, error) {
	return a.to(ctx, c).view(a.core.CreateAgent(ctx, c, r, workspace, req))
}

// UpdateAgent changes an agent.
func (a *API) UpdateAgent(ctx context.Context, c *Caller, r *Write, workspace, id string, change abi.AgentChange) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateAgent(ctx, c, r, workspace, id, change))
}

// CloneAgent makes an agent like another one, under another name.
func (a *API) CloneAgent(ctx context.Context, c *Caller, r *Write, workspace, id, name string, memory bool) (View, error) {
	return a.to(ctx, c).view(a.core.CloneAgent(ctx, c, r, workspace, id, name, memory))
}
