package files

import (
	"context"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Tools returns what answers tool.call when under does so for the tools of others: the tools of the
// node that work with files are made as the host calls that they stand for. nil stays nil.
func (k *Keeper) Tools(under provider.Performer) provider.Performer {
	if under == nil {
		return nil
	}
	calls := k.Performers()
	return performer(func(ctx context.Context, c *provider.Call) (provider.Plan, error) {
		plan, err := under.Prepare(ctx, c) // whether the plugin may use the tool at all
		if err != nil {
			return plan, err
		}
		req, tool := toolOf(c)
		if tool == nil {
			return plan, nil
		}
		inner, err := innerCall(c, tool, req)
		if err != nil {
			return provider.Plan{Tool: plan.Tool}, err
		}
		made, err := calls[tool.Call].Prepare(ctx, inner)
		made.Tool = plan.Tool
		if err == nil {
			made.Do = answered(tool, made.Do)
		}
		return made, err
	})
}

// toolOf returns the tool that a call is of; nil when it is none of these.
func toolOf(c *provider.Call) (*abi.CallToolCallRequest, *hosttools.Tool) {
	var req abi.CallToolCallRequest
	if json.Unmarshal(c.Request, &req) != nil || hosttools.InFiles(req.Server, req.Name) == "" {
		return nil, nil
	}
	return &req, hosttools.Find(req.Name)
}

// innerCall returns the host call that a tool's call stands for.
func innerCall(c *provider.Call, tool *hosttools.Tool, req *abi.CallToolCallRequest) (*provider.Call, error) {
	if len(req.Arguments) == 0 {
		req.Arguments = abi.EmptyObject()
	}
	asked, err := tool.Request(req.Arguments)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	inner := *c
	inner.Name = tool.Call
	inner.Request, err = json.Marshal(asked)
	return &inner, err
}

// answered puts the answer of a host call into that of the tool: as text for the model, and of a
// change as it is, for receipts.
func answered(tool *hosttools.Tool, do func(context.Context, func(string)) ([]byte, error)) func(context.Context, func(string)) ([]byte, error) {
	return func(ctx context.Context, emit func(string)) ([]byte, error) {
		answer, err := do(ctx, emit)
		if err != nil {
			return nil, err
		}
		told := &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: tool.Text(answer)}}}
		if !tool.ReadOnly {
			told.Structured = answer
		}
		return json.Marshal(told)
	}
}
