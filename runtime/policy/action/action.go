package action

import (
	"cmp"
	"net/url"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Call is a host call.
type Call struct {
	Name    string
	Index   int    // its place in the record
	Asked   any    // the request, where somebody has decoded it before
	Request []byte // and as it is written
}

func ask[T any](c *Call) (T, error) { return provider.Asked[T](c.Asked, c.Request) }

// Action describes the call to policy, as far as its request tells. effect is what this very call
// is, where that is known. The error is a *provider.Refusal.
func (c *Call) Action(effect abi.Effect) (*policy.Action, error) {
	a := &policy.Action{Call: c.Name, Effect: effect}
	describe := describers[a.Call]
	if describe == nil {
		return a, nil
	}
	return a, describe(c, a)
}

// Arguments returns what the call does it with: a tool's arguments, or the whole request of any
// other call.
func (c *Call) Arguments() (jsontext.Value, error) {
	arguments := jsontext.Value(c.Request)
	if c.Name == abi.CallToolCall {
		req, err := ask[abi.CallToolCallRequest](c)
		if err != nil {
			return nil, err
		}
		arguments = req.Arguments
	}
	if len(arguments) == 0 {
		return abi.EmptyObject(), nil
	}
	return abi.Plain(arguments)
}

// Withheld describes the call as one that is not made.
func (c *Call) Withheld(a *policy.Action) abi.WithheldCall {
	arguments, err := c.Arguments()
	if err != nil {
		arguments = nil // the call is malformed, and is told without
	}
	return abi.WithheldCall{Index: c.Index, Call: c.Name, Action: a.String(), Arguments: arguments}
}

// clientFile returns the file of a client's that a call writes.
func clientFile(req *abi.CallToolCallRequest) []string {
	var a struct {
		Path string `json:"path"`
	}
	if req.Name != abi.ToolWriteFile || json.Unmarshal(req.Arguments, &a) != nil || a.Path == "" {
		return nil
	}
	return []string{a.Path}
}

// describers fill in what policy looks at in a request.
var describers = map[string]func(*Call, *policy.Action) error{
	abi.CallToolCall: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallToolCallRequest](c)
		a.Tool, a.Composition = req.Server+":"+req.Name, req.CompositionID
		switch req.Server {
		case abi.ToolServerSkills:
			a.Persona, a.Effect = req.Name, abi.EffectWrite
		case abi.ToolServerHost: // it changes nothing beyond the Session, unless its host call does
			if a.Stands = hosttools.StandsFor(req.Server, req.Name); a.Stands == "" {
				a.Effect = abi.EffectRead
			}
			a.Paths = hosttools.Changes(req.Name, req.Arguments)
		case abi.ToolServerClient:
			a.Paths = clientFile(&req)
		}
		return err
	},
	abi.CallResourceList: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallResourceListRequest](c)
		a.Tool = req.Server + ":" + policy.Reads(req.Kind)
		return err
	},
	abi.CallResourceRead: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallResourceReadRequest](c)
		a.Tool = req.Server + ":" + policy.ReadsResources
		return err
	},
	abi.CallPromptGet: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallPromptGetRequest](c)
		a.Tool = req.Server + ":" + policy.ReadsPrompts
		return err
	},
	abi.CallHandoff: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallHandoffRequest](c)
		a.Persona = req.PersonaID
		return err
	},
	abi.CallAgentDelegate: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallAgentDelegateRequest](c)
		a.Tool, a.Budget = req.Agent+":"+policy.Delegates, req.Budget
		return err
	},
	abi.CallTaskSpawn: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallTaskSpawnRequest](c)
		a.Persona = req.PersonaID
		return err
	},
	abi.CallMemoryWrite: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallMemoryWriteRequest](c)
		a.Scope = req.Scope
		return err
	},
	abi.CallBlockWrite: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallBlockWriteRequest](c)
		a.Target = req.Label
		return err
	},
	abi.CallFileWrite: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallFileWriteRequest](c)
		a.Target, a.Paths = req.Path, []string{req.Path}
		return err
	},
	abi.CallFileEdit: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallFileEditRequest](c)
		a.Target, a.Paths = req.Path, []string{req.Path}
		return err
	},
	abi.CallFileRemove: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallFileRemoveRequest](c)
		a.Target, a.Paths = req.Path, []string{req.Path}
		return err
	},
	abi.CallHTTPFetch: func(c *Call, a *policy.Action) error {
		req, err := ask[abi.CallHTTPFetchRequest](c)
		if target, bad := url.Parse(req.URL); bad == nil {
			a.Target = cmp.Or(req.Method, "GET") + " " + target.Scheme + "://" + target.Host + target.EscapedPath()
		}
		return err
	},
}
