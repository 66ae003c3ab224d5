package acp

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// protocolVersion is the version of the protocol that is spoken, whichever is asked for.
const protocolVersion = 1

// beginning opens a connection.
func (a *Adapter) beginning() feature {
	initialize, authenticate := takes("", a.initialize).own(), takes("", a.authenticate).own()
	initialize.always, authenticate.always = true, true
	return feature{
		"initialize": initialize, "authenticate": authenticate,
		"$/cancel_request": takes("", a.cancelRequest).own().notified(),
	}
}

type initializeParams struct {
	ProtocolVersion    *int `json:"protocolVersion"`
	ClientCapabilities struct {
		Elicitation *struct {
			Form jsontext.Value `json:"form"`
			URL  jsontext.Value `json:"url"`
		} `json:"elicitation"`
		FS struct {
			Reads  bool `json:"readTextFile"`
			Writes bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"`
		Meta     struct {
			Harn *struct {
				Updates     []string `json:"sessionUpdateExtensions"`
				HostMethods []string `json:"hostMethods"`
			} `json:"harn"`
		} `json:"_meta"`
	} `json:"clientCapabilities"`
	ClientInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
	Meta struct {
		Harn struct {
			Pipe struct {
				ID          string   `json:"id"`
				HostMethods []string `json:"hostMethods"`
			} `json:"pipe"`
		} `json:"harn"`
	} `json:"_meta"`
}

func (p *initializeParams) check() error {
	switch {
	case p.ProtocolVersion == nil:
		return missing("protocolVersion")
	case *p.ProtocolVersion < 0 || *p.ProtocolVersion > 65535:
		return abi.InvalidParam("protocolVersion", "protocolVersion is a whole number from 0 to 65535")
	case len(p.Meta.Harn.Pipe.ID) > maxPipe:
		return abi.InvalidParam("_meta.harn.pipe.id", "_meta.harn.pipe.id has at most %d bytes", maxPipe)
	}
	return nil
}

// maxPipe is the longest id of a pipe, in bytes.
const maxPipe = 64

// client returns what the client says of itself.
func (p *initializeParams) client() *client {
	said := &client{name: clipped(p.ClientInfo.Name), version: clipped(p.ClientInfo.Version), pipe: p.Meta.Harn.Pipe.ID}
	has := &p.ClientCapabilities
	said.fs = api.HostDeclared{ReadsFiles: has.FS.Reads, WritesFiles: has.FS.Writes, Terminals: has.Terminal}
	if e := p.ClientCapabilities.Elicitation; e != nil {
		said.form, said.url = e.Form != nil || e.URL == nil, e.URL != nil
	}
	if h := p.ClientCapabilities.Meta.Harn; h != nil {
		said.harn, said.hostMethods = true, h.HostMethods
		if h.Updates != nil {
			said.takes = map[string]bool{}
			for _, name := range h.Updates {
				said.takes[name] = true
			}
		}
	}
	if pipe := &p.Meta.Harn.Pipe; pipe.ID != "" { // which answers itself where the client does not
		said.hostMethods = append(said.hostMethods, pipe.HostMethods...)
	}
	return said
}

type initialized struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
	AgentInfo         agentInfo         `json:"agentInfo"`
	AuthMethods       []authMethod      `json:"authMethods"`
}

type agentCapabilities struct {
	LoadSession        bool `json:"loadSession"`
	PromptCapabilities struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	} `json:"promptCapabilities"`
	MCPCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	} `json:"mcpCapabilities"`
	SessionCapabilities struct {
		List   struct{} `json:"list"`
		Close  struct{} `json:"close"`
		Resume struct{} `json:"resume"`
		Meta   struct {
			Harn struct {
				Fork struct{} `json:"fork"` // which the schema does not have
			} `json:"harn"`
		} `json:"_meta"`
	} `json:"sessionCapabilities"`
	Meta struct {
		Harn harnCapabilities `json:"harn"`
	} `json:"_meta"`
}

// harnCapabilities is what initialize says to a host that knows Harn's extensions.
type harnCapabilities struct {
	SchemaCompatibility          string               `json:"schemaCompatibility"`
	ExtensionContract            string               `json:"extensionContract"`
	SessionUpdateExtensions      []string             `json:"sessionUpdateExtensions"`
	ToolLifecycleExtensionFields []string             `json:"toolLifecycleExtensionFields"`
	ContentExtensionFields       []string             `json:"contentExtensionFields"`
	ExtensionMethods             map[string]described `json:"extensionMethods"`
	HostCapabilityOperations     map[string][]string  `json:"hostCapabilityOperations"`
}

// described says what a method is for.
type described struct {
	Description string `json:"description"`
}

type agentInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// keyMethod is the way to authenticate: the connection has to bring a key.
const keyMethod = "wharf-key"

// initialize answers with what the node speaks and can do. It is asked once a connection.
func (a *Adapter) initialize(_ context.Context, q *request, p *initializeParams) (any, error) {
	if err := q.conn.begin(p.client()); err != nil {
		return nil, err
	}
	res := initialized{ProtocolVersion: protocolVersion, AuthMethods: []authMethod{}}
	res.AgentInfo = agentInfo{Name: "wharf", Title: "Wharf", Version: a.has.Version}
	if res.AgentInfo.Version == "" {
		res.AgentInfo.Version = "0"
	}
	if _, err := q.conn.link.Authenticate(); err != nil {
		res.AuthMethods = append(res.AuthMethods, authMethod{keyMethod, "Key", "Start the connection with a key of the node, such as in WHARF_API_KEY"})
	}
	has := &res.AgentCapabilities
	has.LoadSession = true
	has.PromptCapabilities.Image, has.PromptCapabilities.Audio, has.PromptCapabilities.EmbeddedContext = true, true, true
	h := &has.Meta.Harn
	h.SchemaCompatibility, h.ExtensionContract = "agentclientprotocol/agent-client-protocol schema v0.12.2", "https://harnlang.com/spec/harn-extensions/v1"
	h.SessionUpdateExtensions = updates.Extensions()
	h.ToolLifecycleExtensionFields = []string{"audit", "durationMs", "error", "errorCategory", "executionDurationMs", "executor", "parsing", "rawInputPartial"}
	h.ContentExtensionFields = []string{"visible_delta", "visible_text"}
	h.ExtensionMethods = a.extensionMethods()
	h.HostCapabilityOperations = map[string][]string{"process": {"exec", "list_shells", "get_default_shell", "set_default_shell", "shell_invocation"}}
	return &res, nil
}

// begin keeps what the client has said of itself, once.
func (c *conn) begin(said *client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the connection is initialized already")
	}
	c.said = said
	return nil
}

type authenticateParams struct {
	MethodID string `json:"methodId"`
}

func (p *authenticateParams) check() error {
	if p.MethodID == "" {
		return missing("methodId")
	}
	return nil
}

// authenticate looks again whether the connection has a credential: the node takes none by a message.
func (a *Adapter) authenticate(_ context.Context, q *request, p *authenticateParams) (any, error) {
	if q.conn.client() == nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize comes first")
	}
	if p.MethodID != keyMethod {
		return nil, abi.InvalidParam("methodId", "there is no method %q to authenticate by", p.MethodID)
	}
	if _, err := q.conn.link.Authenticate(); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

type cancelRequestParams struct {
	RequestID jsontext.Value `json:"requestId"`
}

// cancelRequest calls a request of the client off.
func (a *Adapter) cancelRequest(_ context.Context, q *request, p *cancelRequestParams) (any, error) {
	if p.RequestID != nil {
		q.conn.peer.Cancel(p.RequestID)
	}
	return nil, nil
}

// clipped returns a text as the node keeps what a client says of itself.
func clipped(s string) string {
	const most = 64
	runes := slices.DeleteFunc([]rune(s), func(r rune) bool { return r < ' ' || r == 0x7f })
	return string(runes[:min(len(runes), most)])
}
