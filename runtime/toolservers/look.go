package toolservers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// lookTime is the longest that somebody who looks at a server waits for it.
const lookTime = 30 * time.Second

// ToolServerTools asks a server for its tools. plugins are patterns of those that may use them.
func (k *Keeper) ToolServerTools(ctx context.Context, c *desk.Caller, id string) (tools []abi.Tool, plugins []string, err error) {
	err = k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		plugins = s.Plugins
		tools, err = s.Tools(ctx)
		return err
	})
	return tools, plugins, err
}

// ToolServerResources asks a server for its resources.
func (k *Keeper) ToolServerResources(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerResources, error) {
	has := abi.ToolServerResources{ToolServerID: id}
	err := k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		has.Resources, err = s.MCP.Resources(ctx)
		return err
	})
	return has, err
}

// ToolServerTemplates asks a server for the templates of its resources.
func (k *Keeper) ToolServerTemplates(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerTemplates, error) {
	has := abi.ToolServerTemplates{ToolServerID: id}
	err := k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		has.Templates, err = s.MCP.Templates(ctx)
		return err
	})
	return has, err
}

// ToolServerPrompts asks a server for its prompts.
func (k *Keeper) ToolServerPrompts(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPrompts, error) {
	has := abi.ToolServerPrompts{ToolServerID: id}
	err := k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		has.Prompts, err = s.MCP.Prompts(ctx)
		return err
	})
	return has, err
}

// ReadToolServerResource reads a resource of a server. No log has it.
func (k *Keeper) ReadToolServerResource(ctx context.Context, c *desk.Caller, id string, req abi.ReadResourceRequest) (*abi.CallResourceReadAnswer, error) {
	if err := tool.CheckURI(req.URI); err != nil {
		return nil, abi.InvalidParam("uri", "%v", err)
	}
	var answer *abi.CallResourceReadAnswer
	err := k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		answer, err = s.MCP.ReadResource(ctx, k.parts.TenantID(c.Tenant), req.URI)
		return err
	})
	return answer, err
}

// GetToolServerPrompt gets a prompt of a server. No log has it.
func (k *Keeper) GetToolServerPrompt(ctx context.Context, c *desk.Caller, id string, req abi.GetPromptRequest) (*abi.CallPromptGetAnswer, error) {
	if err := tool.CheckPrompt(req.Name); err != nil {
		return nil, abi.InvalidParam("name", "%v", err)
	}
	var answer *abi.CallPromptGetAnswer
	err := k.look(ctx, c, id, func(ctx context.Context, s *tool.AddedServer) (err error) {
		answer, err = s.MCP.GetPrompt(ctx, k.parts.TenantID(c.Tenant), req.Name, req.Arguments)
		return err
	})
	return answer, err
}

// look asks a server that the caller may see for something, in time.
func (k *Keeper) look(ctx context.Context, c *desk.Caller, id string, ask func(context.Context, *tool.AddedServer) error) error {
	about, server, err := k.reach(c, id)
	if err != nil {
		return err
	}
	timeout := time.Duration(about.TimeoutMS) * time.Millisecond
	within, cancel := context.WithTimeout(ctx, min(lookTime, cmp.Or(timeout, lookTime)))
	defer cancel()
	err = ask(within, server)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return k.parts.Ledger.Failed("asking the tool server", ctx.Err())
	}
	return told(err)
}

// reach returns a server that the caller may see, and what it is reached by.
func (k *Keeper) reach(c *desk.Caller, id string) (*abi.ToolServer, *tool.AddedServer, error) {
	about, err := k.find(c, id)
	if err != nil {
		return nil, nil, err
	}
	server := k.parts.Added.Get(k.parts.TenantID(c.Tenant), about.Name)
	if server == nil {
		return nil, nil, abi.NotFound(abi.ObjectToolServer, id)
	}
	return about, server, nil
}

// told tells people what a plugin would be told.
func told(err error) error {
	refused, ok := errors.AsType[*provider.Refusal](err)
	if !ok {
		return abi.Errorf(abi.CodeDeadlineExceeded, "the tool server did not answer in time")
	}
	code := abi.CodeUpstreamUnavailable
	switch refused.Status {
	case abi.CallInvalid:
		code = abi.CodeInvalidRequest
	case abi.CallNotFound:
		code = abi.CodeResourceNotFound
	case abi.CallTimeout:
		code = abi.CodeDeadlineExceeded
	}
	return abi.Errorf(code, "%s", refused.Message)
}

// ToolServersIn returns the servers of a Workspace that the caller may see, oldest first, and how
// their connections are. With shared, those of the whole tenant are among them.
func (k *Keeper) ToolServersIn(_ context.Context, c *desk.Caller, workspace string, shared bool) (all []abi.ToolServer, err error) {
	for _, s := range slices.Backward(k.of(c.Tenant)) {
		if !sees(c, s) || s.WorkspaceID != workspace && !(shared && s.WorkspaceID == "") {
			continue
		}
		doc, err := k.describeNow(c, *s)
		if err != nil {
			return nil, err
		}
		var shown abi.ToolServer
		if err := ledger.Decode(doc.JSON, &shown); err != nil {
			return nil, err
		}
		all = append(all, shown)
	}
	return all, nil
}
