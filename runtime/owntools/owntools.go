package owntools

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// All describes the node's own servers by name. Calls of their tools never get there: the engine
// answers them itself, after their grants were checked.
func All(personas []abi.Persona) map[string]Server {
	return map[string]Server{abi.ToolServerHost: host(), abi.ToolServerSkills: skills(personas)}
}

// Server is one of the node's own servers of tools.
type Server []abi.Tool

// List returns the server's tools.
func (s Server) List(context.Context) ([]abi.Tool, error) { return s, nil }

// Call is never reached.
func (s Server) Call(context.Context, *provider.Call, string, jsontext.Value) (*abi.CallToolCallAnswer, error) {
	return nil, errors.New("this tool is answered by the engine")
}

func skills(bundled []abi.Persona) Server {
	tools := make(Server, 0, len(bundled))
	for i := range bundled {
		s := personas.SkillOfPersona(&bundled[i])
		tools = append(tools, abi.Tool{Name: s.PersonaID, Description: s.Description, InputSchema: s.InputSchema})
	}
	return tools
}

func host() Server {
	var tools Server
	for _, t := range hosttools.All() {
		tools = append(tools, t.Tool)
	}
	return tools
}
