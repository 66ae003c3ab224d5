package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// servedTool is a tool as a server's list shows it.
type servedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
}

// servedTools are the tools of a server.
type servedTools struct {
	Tools []servedTool `json:"tools"`
}

func (a *app) toolServerToolsCommand() *cobra.Command {
	return a.node(page{
		use:     "tools ID",
		short:   "List the tools of a server of tools",
		long:    "Tools has the node ask a server what tools it has, for at most half a minute, and shows\nwhether each reads or writes, as policy takes it.",
		example: "  wharf tool-server tools tsrv_01K0...",
		args:    oneArg(aToolServer),
	}, ask[servedTools]{
		call: gets("/wharf/v1/tool-servers/{}/tools"),
		text: func(s *servedTools) {
			var rows [][]show.Cell
			for _, t := range s.Tools {
				does := "writes"
				if t.ReadOnly {
					does = "reads"
				}
				rows = append(rows, []show.Cell{{Text: t.Name}, {Text: does}, {Text: show.OneLine(t.Description)}})
			}
			a.out.Table([]string{"TOOL", "DOES", "DESCRIPTION"}, rows)
		},
		tips: absent("wharf tool-server list"),
	})
}

func (a *app) toolServerResourcesCommand() *cobra.Command {
	return a.node(page{
		use:     "resources ID",
		short:   "List the resources of a server of tools",
		long:    "Resources asks a server what resources it has, and shows their URIs. With \"templates\"\nafter the id it shows the templates of URIs.",
		example: "  wharf tool-server resources tsrv_01K0...\n  wharf tool-server resources tsrv_01K0... templates",
		args:    between(1, 2, aToolServer),
	}, ask[servedResources]{
		call: func(cmd *cobra.Command, args []string) (client.Call, error) {
			switch {
			case len(args) == 1:
				return client.Get("/wharf/v1/tool-servers/{}/resources", args[0]), nil
			case args[1] == "templates":
				return client.Get("/wharf/v1/tool-servers/{}/resource-templates", args[0]), nil
			}
			return client.Call{}, usagef("%s takes an id, and perhaps the word templates", cmd.CommandPath())
		},
		text: func(s *servedResources) {
			var rows [][]show.Cell
			for _, r := range s.Resources {
				rows = append(rows, resourceRow(r.URI, r.Name, r.MimeType, r.Title, r.Description))
			}
			for _, r := range s.Templates {
				rows = append(rows, resourceRow(r.URITemplate, r.Name, r.MimeType, r.Title, r.Description))
			}
			a.out.Table([]string{"URI", "NAME", "TYPE", "DESCRIPTION"}, rows)
		},
		tips: absent("wharf tool-server list"),
	})
}

// servedResources are the resources of a server, or the templates of them.
type servedResources struct {
	Resources []abi.Resource         `json:"resources,omitzero"`
	Templates []abi.ResourceTemplate `json:"templates,omitzero"`
}

func resourceRow(uri, name, mime, title, description string) []show.Cell {
	if description == "" {
		description = title
	}
	return []show.Cell{{Text: uri}, {Text: show.OneLine(name)}, {Text: show.OneLine(mime)}, {Text: show.OneLine(description)}}
}

func (a *app) toolServerPromptsCommand() *cobra.Command {
	return a.node(page{
		use:     "prompts ID",
		short:   "List the prompts of a server of tools",
		long:    "Prompts asks a server what prompts it has, and shows them with their arguments; those in\nbrackets may be left out.",
		example: "  wharf tool-server prompts tsrv_01K0...",
		args:    oneArg(aToolServer),
	}, ask[abi.ToolServerPrompts]{
		call: gets("/wharf/v1/tool-servers/{}/prompts"),
		text: func(s *abi.ToolServerPrompts) {
			var rows [][]show.Cell
			for _, p := range s.Prompts {
				rows = append(rows, []show.Cell{{Text: p.Name}, {Text: argumentNames(p.Arguments)}, {Text: show.OneLine(p.Description)}})
			}
			a.out.Table([]string{"PROMPT", "ARGUMENTS", "DESCRIPTION"}, rows)
		},
		tips: absent("wharf tool-server list"),
	})
}

func argumentNames(all []abi.PromptArgument) string {
	var names []string
	for _, one := range all {
		name := one.Name
		if !one.Required {
			name = "[" + name + "]"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (a *app) toolServerReadCommand() *cobra.Command {
	return a.node(page{
		use:   "read ID URI",
		short: "Read a resource of a server of tools",
		long: `Read has the node read a resource of a server, and prints its text behind a bar. Of bytes
it says how many they are; --json has them in base64. The key needs tools:write.`,
		example: "  wharf tool-server read tsrv_01K0... file:///readme",
		args:    twoArgs("the id of a server of tools and a URI"),
	}, ask[abi.CallResourceReadAnswer]{
		call: func(_ *cobra.Command, args []string) (client.Call, error) {
			return client.Post(abi.ReadResourceRequest{URI: args[1]}, "/wharf/v1/tool-servers/{}/resources/read", args[0]), nil
		},
		text: func(answer *abi.CallResourceReadAnswer) {
			for _, c := range answer.Contents {
				about := []string{"resource ", c.URI, " ", c.MimeType}
				if len(c.Data) > 0 {
					about = append(about, ", ", show.Bytes(int64(len(c.Data))))
				}
				a.out.Line(about...)
				if c.Text != "" {
					a.out.Block("| ", c.Text)
				}
			}
		},
		tips: absent("wharf tool-server resources {}"),
	})
}

func (a *app) toolServerPromptCommand() *cobra.Command {
	return a.node(page{
		use:     "prompt ID NAME [KEY=VALUE...]",
		short:   "Get a prompt of a server of tools",
		long:    "Prompt has the node get a prompt of a server, filled in with arguments, and prints its\nmessages. The key needs tools:write.",
		example: `  wharf tool-server prompt tsrv_01K0... greet who=Ada`,
		args:    between(2, anyNumber, aToolServer+", and the name of a prompt"),
	}, ask[abi.CallPromptGetAnswer]{
		call: func(cmd *cobra.Command, args []string) (client.Call, error) {
			arguments, err := keyValues(cmd, args[2:])
			req := abi.GetPromptRequest{Name: args[1], Arguments: arguments}
			return client.Post(req, "/wharf/v1/tool-servers/{}/prompts/get", args[0]), err
		},
		text: func(answer *abi.CallPromptGetAnswer) {
			for _, m := range answer.Messages {
				a.out.Line(strings.TrimSpace(strings.Join([]string{"from", m.Role, m.Content.MimeType, m.Content.URI}, " ")))
				if m.Content.Text != "" {
					a.out.Block("| ", m.Content.Text)
				}
			}
		},
		tips: absent("wharf tool-server prompts {}"),
	})
}

// keyValues reads arguments of the form KEY=VALUE; nil for none.
func keyValues(cmd *cobra.Command, args []string) (map[string]string, error) {
	var all map[string]string
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usagef("%s takes arguments as KEY=VALUE, not %q", cmd.CommandPath(), arg)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
	}
	return all, nil
}
