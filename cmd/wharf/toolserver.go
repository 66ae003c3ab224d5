package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const aToolServer = "the id of a server of tools (see \"wharf tool-server list\")"

func (a *app) toolServerCommand() *cobra.Command {
	return family(page{
		use:   "tool-server",
		short: "Add servers of tools while the node runs",
		long: `A server of tools speaks the Model Context Protocol: over HTTP, or as a program that the
node starts and its setting openharness.commands names. Its tools are NAME:TOOL, beside
those of the node's configuration, for the Tasks of the tenant or of one workspace.
docs/tools.md has the rest.`,
		example: `  wharf tool-server create weather --url https://tools.example/mcp --header "X-Key: $KEY"
  wharf tool-server ping tsrv_01K0...
  wharf tool-server list`,
	}, a.toolServerListCommand(), a.toolServerShowCommand(), a.toolServerCreateCommand(), a.toolServerUpdateCommand(), a.toolServerPingCommand(),
		a.toolServerToolsCommand(), a.toolServerResourcesCommand(), a.toolServerPromptsCommand(), a.toolServerReadCommand(), a.toolServerPromptCommand(),
		a.toolServerRemoveCommand())
}

func (a *app) toolServerListCommand() *cobra.Command {
	return a.node(page{
		use:     "list",
		short:   "List the servers of tools that were added",
		long:    "List shows the servers that the key sees, newest first. Of a URL the host alone is shown\nto keys that may not write servers.",
		example: "  wharf tool-server list\n  wharf tool-server list --json",
	}, list[abi.ToolServer]{
		call:   gets("/wharf/v1/tool-servers"),
		titles: []string{"SERVER", "NAME", "WORKSPACE", "URL", "HEADERS", "PLUGINS"},
		row: func(s *abi.ToolServer) []show.Cell {
			return []show.Cell{{Text: s.ID}, {Text: s.Name}, {Text: s.WorkspaceID}, {Text: s.URL},
				{Text: strings.Join(s.Headers, ", ")}, {Text: strings.Join(s.Plugins, " ")}}
		},
	})
}

func (a *app) toolServerShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a server of tools that was added",
		long:    "Show shows where a server is, who may use its tools, and what is said of them. The values of\nheaders are shown to nobody.",
		example: "  wharf tool-server show tsrv_01K0...\n  wharf tool-server show tsrv_01K0... --json",
		args:    oneArg(aToolServer),
	}, ask[abi.ToolServer]{call: gets("/wharf/v1/tool-servers/{}"), tips: absent("wharf tool-server list"), text: func(s *abi.ToolServer) {
		a.out.Line(s.ID, "  ", s.Name)
		a.out.Pairs([2]string{"url", s.URL}, [2]string{"workspace", s.WorkspaceID}, [2]string{"description", show.OneLine(s.Description)},
			[2]string{"headers", strings.Join(s.Headers, ", ")}, [2]string{"plugins", strings.Join(s.Plugins, " ")}, [2]string{"made", stamp(s.CreatedAt)})
	}})
}

// serverFlags are the flags of what is said of a server.
type serverFlags struct {
	url, description           string
	transport, command         string
	args                       []string
	headers                    []string
	plugins, readOnly, repeats []string
	writes                     []string
}

func (s *serverFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.url, "url", "", "where it is")
	f.StringVar(&s.transport, "transport", "", "http, sse or stdio (default stdio with --command, else http)")
	f.StringVar(&s.command, "command", "", "the name that the node's configuration has for the program to start")
	f.StringArrayVar(&s.args, "arg", nil, "an argument of the program, after those of the configuration")
	f.StringVar(&s.description, "description", "", "what it is for")
	f.StringArrayVar(&s.headers, "header", nil, "a header of each request, NAME: VALUE; the value is kept like a secret")
	f.StringSliceVar(&s.plugins, "plugin", nil, "patterns of the plugins that may use its tools (default all)")
	f.StringSliceVar(&s.readOnly, "read-only", nil, "patterns of tools that change nothing")
	f.StringSliceVar(&s.repeats, "idempotent", nil, "patterns of tools of which the same call again changes nothing more")
	f.StringSliceVar(&s.writes, "writes", nil, "patterns of tools that do change something")
}

// header reads the headers; nil for none.
func (s *serverFlags) header(cmd *cobra.Command) (map[string]string, error) {
	var all map[string]string
	for _, h := range s.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, usagef("%s needs --header \"NAME: VALUE\"", cmd.CommandPath())
		}
		if all == nil {
			all = map[string]string{}
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}

func (a *app) toolServerCreateCommand() *cobra.Command {
	var s serverFlags
	var workspace string
	return a.node(page{
		use:   "create NAME",
		short: "Add a server of tools",
		long: `Create adds a server and prints its id. Its tools can be called from then on, as
NAME:TOOL, by plugins that --plugin names, as far as the persona of a Task allows.`,
		example: `  wharf tool-server create weather --url https://tools.example/mcp --header "X-Key: $KEY"
  wharf tool-server create notes --url https://notes.example --workspace ws_01K0... --plugin agent`,
		args: oneArg("the name of the server, as tools are called by"),
		flags: func(f *pflag.FlagSet) {
			s.add(f)
			f.StringVar(&workspace, "workspace", "", "the workspace whose Tasks may use it (default all of the tenant)")
		},
	}, ask[abi.ToolServer]{
		call: func(cmd *cobra.Command, args []string) (client.Call, error) {
			header, err := s.header(cmd)
			req := abi.CreateToolServerRequest{WorkspaceID: workspace, Name: args[0], Transport: abi.ToolTransport(s.transport), URL: s.url, Command: s.command, Args: s.args, Description: s.description, Headers: header,
				Plugins: s.plugins, ReadOnly: s.readOnly, Idempotent: s.repeats, Writes: s.writes}
			return client.Post(req, "/wharf/v1/tool-servers"), err
		},
		text: func(s *abi.ToolServer) { a.out.Line(s.ID) },
	})
}

func (a *app) toolServerUpdateCommand() *cobra.Command {
	var s serverFlags
	return a.node(page{
		use:     "update ID",
		short:   "Change a server of tools",
		long:    "Update changes what the flags say, and nothing else. Headers are replaced all together.\nCalls that are under way fail.",
		example: "  wharf tool-server update tsrv_01K0... --header \"X-Key: $KEY\"",
		args:    oneArg(aToolServer),
		flags:   s.add,
	}, ask[abi.ToolServer]{
		call: func(cmd *cobra.Command, args []string) (client.Call, error) {
			header, err := s.header(cmd)
			req := abi.UpdateToolServerRequest{Transport: abi.ToolTransport(s.transport), Args: s.args, Headers: header, Plugins: s.plugins, ReadOnly: s.readOnly, Idempotent: s.repeats, Writes: s.writes}
			if cmd.Flags().Changed("url") {
				req.URL = &s.url
			}
			if cmd.Flags().Changed("command") {
				req.Command = &s.command
			}
			if cmd.Flags().Changed("description") {
				req.Description = &s.description
			}
			return client.Patch(req, "/wharf/v1/tool-servers/{}", args...), err
		},
		text: func(s *abi.ToolServer) { a.out.Line(s.ID, " is changed") },
		tips: absent("wharf tool-server list"),
	})
}

func (a *app) toolServerPingCommand() *cobra.Command {
	return a.node(page{
		use:   "ping ID",
		short: "Ask a server of tools whether it is there",
		long: `Ping has the node connect to a server, if need be, and ask what tools it has. It says
how many these are, or why the server does not answer. The node connects to no address
in its own network, unless tool_servers.private says so.`,
		example: "  wharf tool-server ping tsrv_01K0...",
		args:    oneArg(aToolServer),
	}, ask[abi.ToolServerPing]{
		call: func(_ *cobra.Command, args []string) (client.Call, error) {
			return client.Post(nil, "/wharf/v1/tool-servers/{}/ping", args...), nil
		},
		text: func(p *abi.ToolServerPing) {
			if p.Failure != nil {
				a.out.Line(a.out.Paint(show.Red, "it does not answer"), ": ", p.Failure.Message)
				return
			}
			a.out.Line(a.out.Paint(show.Green, "it answers"), fmt.Sprintf(": %d tools, in %d ms", p.Tools, p.DurationMS))
		},
		tips: absent("wharf tool-server list"),
	})
}

func (a *app) toolServerRemoveCommand() *cobra.Command {
	return a.node(page{
		use:     "rm ID",
		short:   "Delete a server of tools",
		long:    "Rm deletes a server and destroys the values of its headers. Calls that are under way\nfail, and its name is free.",
		example: "  wharf tool-server rm tsrv_01K0...",
		args:    oneArg(aToolServer),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete("/wharf/v1/tool-servers/{}", args[0])); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf tool-server list")
		}
		if !a.json {
			a.out.Line(args[0], " is deleted")
		}
		return nil
	}))
}
