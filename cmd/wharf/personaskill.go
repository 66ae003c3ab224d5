package main

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const aSkill = "the id of a Skill (see \"wharf persona skills\")"

func (a *app) personaSkillsCommand() *cobra.Command {
	var workspace string
	all := list[abi.Skill]{
		call:   sends(func([]string) client.Call { return client.Get("/v1/skills").Narrow("workspace_id", workspace) }),
		titles: []string{"SKILL", "NAME", "VERSION", "", "WHAT FOR"},
		row: func(s *abi.Skill) []show.Cell {
			state := show.Cell{}
			if s.Deprecated {
				state = show.Cell{Text: "deprecated", Style: show.Yellow}
			}
			return []show.Cell{{Text: s.ID}, {Text: s.Name}, {Text: s.Version}, state, {Text: show.OneLine(s.Description)}}
		},
	}
	return a.node(page{
		use:   "skills [SKILL]",
		short: "List the Skills that Personas are offered as, or show one",
		long: `Skills lists what Personas are offered as to those who call them: each has a name, and a
schema of what it takes. "wharf task submit --skill" calls one. With the id of a Skill it
shows that alone. (A skill bundle is another thing: "wharf skill".)`,
		example: "  wharf persona skills\n  wharf persona skills skill_digest --json",
		args:    optionalArg,
		flags:   func(f *pflag.FlagSet) { f.StringVar(&workspace, "workspace", "", "only Skills of this Workspace") },
	}, byArgs{0: all, 1: a.skillOf(gets("/v1/skills/{}"), "wharf persona skills")})
}

// skillOf is a request that a Skill answers.
func (a *app) skillOf(call caller, tip string) ask[abi.Skill] {
	return ask[abi.Skill]{call: call, text: a.showSkill, tips: absent(tip)}
}

func (a *app) showSkill(s *abi.Skill) {
	state := ""
	if s.Deprecated {
		state = "deprecated"
	}
	a.out.Line(s.ID, "  ", s.Name, "  ", state)
	approval := ""
	if s.RequiresApproval {
		approval = "is asked for before each call"
	}
	a.out.Pairs([2]string{"what for", show.OneLine(s.Description)}, [2]string{"version", s.Version}, [2]string{"persona", s.PersonaID}, [2]string{"from", s.Source},
		[2]string{"takes", show.OneLine(string(s.InputSchema))}, [2]string{"gives", show.OneLine(string(s.OutputSchema))}, [2]string{"approval", approval},
		[2]string{"workspace", s.WorkspaceID})
}

// skillFlags are the flags of what is said of a Skill.
type skillFlags struct {
	description, version, takes, gives string
	approval                           bool
}

func (s *skillFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.description, "description", "", "what it is for")
	f.StringVar(&s.version, "version", "", "its version, for those who call it")
	f.StringVar(&s.takes, "takes", "", "a JSON Schema of what it takes")
	f.StringVar(&s.gives, "gives", "", "a JSON Schema of what it gives")
	f.BoolVar(&s.approval, "approval", false, "ask for an approval before each call of it as a tool")
}

// schemas reads the schemas; nil for those that are not given.
func (s *skillFlags) schemas() (takes, gives jsontext.Value, err error) {
	if s.takes != "" {
		takes, err = jsonFlag("--takes", s.takes)
	}
	if s.gives != "" && err == nil {
		gives, err = jsonFlag("--gives", s.gives)
	}
	return takes, gives, err
}

func (a *app) personaOfferCommand() *cobra.Command {
	var s skillFlags
	return a.node(page{
		use:     "offer PERSONA NAME",
		short:   "Offer a Persona as a Skill",
		long:    "Offer gives those who may use a Persona a Skill to call: a name, words for a model or a person,\nand schemas that what it takes and gives is held against.",
		example: "  wharf persona offer persona_01K0... units --description \"Converts units\"",
		args:    twoArgs(aPersonaAndName),
		flags:   s.flags,
		check: func(cmd *cobra.Command, _ []string) error {
			if s.description == "" {
				return usagef("%s needs --description, what the Skill is for", cmd.CommandPath())
			}
			return nil
		},
	}, a.skillOf(func(_ *cobra.Command, args []string) (client.Call, error) {
		takes, gives, err := s.schemas()
		return client.Post(abi.CreateSkillRequest{PersonaID: args[0], Name: args[1], Description: s.description, InputSchema: takes, OutputSchema: gives,
			Version: s.version, RequiresApproval: s.approval}, "/wharf/v1/skills"), err
	}, "wharf persona list"))
}

func (a *app) personaUpdateOfferCommand() *cobra.Command {
	var s skillFlags
	var deprecated bool
	return a.node(page{
		use:     "update-offer SKILL",
		short:   "Change a Skill, or say that it is not to be called any more",
		long:    "Update-offer changes what the flags name of a Skill that clients have made, and leaves the rest.\nOne with --deprecated is no tool of Tasks any more, and does not keep its Persona from being\ndeleted.",
		example: "  wharf persona update-offer skill_01K0... --deprecated\n  wharf persona update-offer skill_01K0... --version 2 --description \"Converts more units\"",
		args:    oneArg(aSkill),
		flags: func(f *pflag.FlagSet) {
			s.flags(f)
			f.BoolVar(&deprecated, "deprecated", false, "it is not to be called any more; --deprecated=false takes that back")
		},
		check: someFlag("description", "version", "takes", "gives", "approval", "deprecated"),
	}, a.skillOf(func(cmd *cobra.Command, args []string) (client.Call, error) {
		takes, gives, err := s.schemas()
		return client.Patch(abi.UpdateSkillRequest{Description: given(cmd, "description", &s.description), Version: given(cmd, "version", &s.version),
			InputSchema: takes, OutputSchema: gives, RequiresApproval: given(cmd, "approval", &s.approval), Deprecated: given(cmd, "deprecated", &deprecated)}, "/wharf/v1/skills/{}", args[0]), err
	}, "wharf persona skills"))
}
