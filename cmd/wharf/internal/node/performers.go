package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/model"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

// closers closes several things.
type closers []io.Closer

// Close implements io.Closer.
func (c closers) Close() error {
	var err error
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// performers returns what answers the host calls that reach beyond the log, by
// call. Nothing is connected to yet. Close the closer when no Task runs any more.
func performers(c *config.Config, personas []abi.Persona, clients *tool.Clients, asked *hosts.Hosts, added *tool.Added, agents *agent.Agents, remote *harnesses.Remote, secrets *secret.Store, counts *figures.Book, version string, log *slog.Logger) (map[string]provider.Performer, io.Closer, error) {
	set, err := pluginSettings(c)
	if err != nil {
		return nil, nil, err
	}
	ofModels := modelConfig(c, secrets)
	ofModels.Figures = counts
	models, err := model.New(ofModels)
	if err != nil {
		return nil, nil, &StartError{What: err.Error(), Try: "\"wharf config check\", and the file that models.script names", Err: err}
	}
	tools := newTools(c, personas, clients, asked, added, agents, remote, secrets, version, log)
	fetch := newWeb(c, secrets, version)
	return map[string]provider.Performer{
		abi.CallLLMComplete:  models,
		abi.CallToolList:     tools,
		abi.CallToolCall:     tools,
		abi.CallResourceList: tools,
		abi.CallResourceRead: tools,
		abi.CallPromptGet:    tools,
		abi.CallHTTPFetch:    fetch,
		abi.CallSecretUse:    secrets,
		abi.CallConfigGet:    set,
	}, closers{models, tools, fetch}, nil
}

func newSecrets(c *config.Config, log *slog.Logger) *secret.Store {
	all := secret.Config{Sources: map[string]secret.Source{}, Grants: secretGrants(c), Log: log}
	for name, s := range c.Secrets {
		all.Sources[name] = secret.Source{Env: s.Env, File: s.File, Command: s.Command, Hosts: s.Hosts}
	}
	return secret.New(all)
}

func modelConfig(c *config.Config, secrets *secret.Store) model.Config {
	all := model.Config{Models: map[string]model.Model{}, Prices: map[string]model.Price{},
		Default: c.Model.Default, Script: c.Model.Script, Allow: modelGrants(c)}
	for name, m := range c.Models {
		all.Models[name] = model.Model{Provider: m.Provider, BaseURL: m.BaseURL, Model: m.Model, APIKey: apiKey(m, secrets),
			Timeout: m.Timeout, Retries: m.Retries, MaxTokens: m.MaxTokens, Thinking: m.Thinking, Fallbacks: m.Fallbacks}
	}
	for name, p := range c.Prices {
		all.Prices[name] = model.Price{InputPerMillion: p.Input, OutputPerMillion: p.Output, Currency: p.Currency}
	}
	return all
}

// apiKey returns how a model's key is read; nil when it has none.
func apiKey(m config.Model, secrets *secret.Store) func(context.Context) (model.Secret, error) {
	switch {
	case m.APIKey != "":
		return func(ctx context.Context) (model.Secret, error) {
			v, err := secrets.Lookup(ctx, m.APIKey)
			return model.NewSecret(v.Reveal()), err
		}
	case m.APIKeyEnv != "":
		return func(context.Context) (model.Secret, error) {
			key := os.Getenv(m.APIKeyEnv)
			if key == "" {
				return model.Secret{}, errors.New("the environment variable " + m.APIKeyEnv + " is not set")
			}
			return model.NewSecret(key), nil
		}
	}
	return nil
}

// newClients returns the server of what clients offer, as far as the configuration
// knows what that is.
func newClients(servers map[string]config.ToolServer) *tool.Clients {
	s := servers[tool.ServerClient]
	return tool.NewClients(tool.Limits{Timeout: s.Timeout, Answer: s.Answer},
		tool.Hints{ReadOnly: s.ReadOnly, Idempotent: s.Idempotent, Writes: s.Writes})
}

// newHosts returns the clients that are asked what they have, as far as the configuration knows what
// that is.
func newHosts(servers map[string]config.ToolServer, log *slog.Logger) *hosts.Hosts {
	s := servers[tool.ServerClient]
	return hosts.New(hosts.Config{Hints: tool.Hints{ReadOnly: s.ReadOnly, Idempotent: s.Idempotent, Writes: s.Writes}, Returning: returning, Log: log})
}

// returning is how long the clients that were there before the node was started again are waited for. "wharf acp"
// tries every second or two.
const returning = 10 * time.Second

// pluginAgent is the bundled plugin that runs agents.
const pluginAgent = plugins.WorkflowAgent

// ownTools are the tools that the bundled agent may use where nobody has said which: those of the
// node itself, which reach nothing but the Task's own Workspace.
func ownTools() []string { return []string{engine.ServerHost + ":*"} }

// newAgents returns the agents outside that the configuration names.
func newAgents(c *config.Config, secrets *secret.Store, version string) (*agent.Agents, error) {
	all := &agent.Agents{Peers: map[string]*agent.Peer{}, Grants: agentGrants(c)}
	budget := provider.NewBudget(256 << 20)
	for name, s := range c.Tools {
		if s.A2A == "" {
			continue
		}
		peer, err := agent.NewPeer(agent.Config{Name: name, URL: s.A2A, Headers: s.Headers, Hosts: s.Hosts, Private: s.Private,
			Limits: tool.Limits{Timeout: s.Timeout, Answer: s.Answer}, Hints: tool.Hints{ReadOnly: s.ReadOnly, Idempotent: s.Idempotent, Writes: s.Writes},
			Secrets: secrets, Budget: budget, Version: version})
		if err != nil {
			return nil, &StartError{What: err.Error(), Try: "\"wharf config check\"", Err: err}
		}
		all.Peers[name] = peer
	}
	return all, nil
}

func newTools(c *config.Config, personas []abi.Persona, clients *tool.Clients, asked *hosts.Hosts, added *tool.Added, agents *agent.Agents, remote *harnesses.Remote, secrets *secret.Store, version string, log *slog.Logger) *tool.Tools {
	all := tool.Config{Servers: map[string]tool.Server{tool.ServerClient: clients}, Grants: toolGrants(c), Added: added, Log: log}
	for name, own := range owntools.All(personas) {
		all.Servers[name] = own
	}
	all.Servers[abi.ToolServerProcess] = hosts.NewProcess(asked, hosts.ProcessConfig{System: hosts.ThisSystem, Exec: c.Process.Exec, Timeout: c.Process.Timeout})
	var largest int64
	for _, s := range c.Tools {
		largest = max(largest, s.Answer)
	}
	budget := tool.NewBudget(largest)
	for name, s := range c.Tools {
		if name == tool.ServerClient {
			continue // newClients has read it
		}
		if peer := agents.Peers[name]; peer != nil {
			all.Servers[name] = agent.Server{Peer: peer}
			continue
		}
		all.Servers[name] = tool.NewMCP(tool.MCPConfig{
			Name: name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL, Headers: s.Headers,
			Limits:  tool.Limits{Timeout: s.Timeout, Answer: s.Answer},
			Hints:   tool.Hints{ReadOnly: s.ReadOnly, Idempotent: s.Idempotent, Writes: s.Writes},
			Secrets: secrets, Budget: budget, Version: version, Log: log,
		})
	}
	all.Servers[harnesses.ServerRemote] = remote
	return tool.New(all)
}

func newWeb(c *config.Config, secrets *secret.Store, version string) *web.Web {
	all := web.Config{Grants: webGrants(c), Secrets: secrets, Agent: "wharf/" + version,
		Timeout: c.HTTP.Timeout, Request: c.HTTP.Request, Response: c.HTTP.Response}
	return web.New(all)
}
