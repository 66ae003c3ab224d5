package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// sessionMessages is where a node has the Messages of a Session.
const sessionMessages = "/v1/sessions/{}/messages"

// sessionTalkCommands are about what was said in a Session.
func (a *app) sessionTalkCommands() []*cobra.Command {
	return []*cobra.Command{a.sessionUpdateCommand(), a.sessionMessagesCommand(), a.sessionMessageCommand(), a.sessionSayCommand(), a.sessionTruncateCommand(),
		a.sessionReplayCommand()}
}

func (a *app) sessionUpdateCommand() *cobra.Command {
	var name, summary, words, persona, model string
	var skills []string
	return a.node(page{
		use:   "update ID",
		short: "Change a Session",
		long: `Update changes what the flags name, and leaves the rest; an empty value takes away what
was there. What Tasks run as, and what they are told, counts for those to come.`,
		example: "  wharf session update sess_01K0... --name \"Order 17\"\n  wharf session update sess_01K0... --persona persona_agent --model small",
		args:    oneArg(aSession),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "a name for people")
			f.StringVar(&summary, "summary", "", "what it is about")
			f.StringVar(&words, "context", "", "what each of its Tasks is told")
			f.StringVar(&persona, "persona", "", "the Persona that its Tasks run as")
			f.StringVar(&model, "model", "", "the model that its Tasks ask, by the node's name for it")
			f.StringSliceVar(&skills, "skill-bundle", nil, "skill bundles that its Tasks are to have, all of them anew")
		},
		check: someFlag("name", "summary", "context", "persona", "model", "skill-bundle"),
	}, a.session(func(cmd *cobra.Command, args []string) (client.Call, error) {
		return client.Patch(abi.UpdateSessionRequest{Name: changed(cmd, "name", name), Summary: changed(cmd, "summary", summary), Context: changed(cmd, "context", words),
			PersonaID: changed(cmd, "persona", persona), Model: changed(cmd, "model", model), Skills: skills}, "/v1/sessions/{}", args[0]), nil
	}))
}

func messageRow(m *abi.Message) []show.Cell {
	return []show.Cell{{Text: m.ID}, {Text: string(m.Role)}, {Text: show.Ago(m.CreatedAt, time.Now())}, {Text: show.OneLine(show.Parts(m.Parts))}}
}

func (a *app) sessionMessagesCommand() *cobra.Command {
	var limit int
	return a.node(page{
		use:     "messages ID",
		short:   "List the Messages of a Session, newest first",
		long:    "Messages shows what was said in a Session, newest first: at most --limit Messages.\n\"wharf session message\" shows one of them as a whole.",
		example: "  wharf session messages sess_01K0...\n  wharf session messages sess_01K0... --limit 1000 --json",
		args:    oneArg(aSession),
		flags:   func(f *pflag.FlagSet) { f.IntVar(&limit, "limit", 20, "the most Messages to show") },
		check: func(*cobra.Command, []string) error {
			if limit < 1 {
				return usagef("--limit: %d is less than 1", limit)
			}
			return nil
		},
	}, list[abi.Message]{
		call: sends(func(args []string) client.Call {
			return client.Get(sessionMessages, args[0]).Narrow("order", "desc").Most(limit)
		}),
		titles: []string{"MESSAGE", "BY", "SAID", "WHAT"},
		row:    messageRow,
		none:   "no messages",
		tips:   absent("wharf session list"),
	})
}

func (a *app) showMessage(m *abi.Message) {
	a.out.Line(m.ID, "  ", string(m.Role))
	a.out.Pairs([2]string{"session", m.SessionID}, [2]string{"task", m.TaskID}, [2]string{"said", stamp(m.CreatedAt)})
	a.out.Block("  ", show.Parts(m.Parts))
}

func (a *app) sessionMessageCommand() *cobra.Command {
	return a.node(page{
		use:     "message MESSAGE",
		short:   "Show a Message",
		long:    "Message shows who has said something, and all of what.",
		example: "  wharf session message msg_01K0...\n  wharf session message msg_01K0... --json",
		args:    oneArg("the id of a Message (see \"wharf session messages\")"),
	}, ask[abi.Message]{call: gets("/v1/messages/{}"), text: a.showMessage, tips: absent("wharf session messages SESSION")})
}

func (a *app) sessionSayCommand() *cobra.Command {
	var role string
	return a.node(page{
		use:   "say ID TEXT",
		short: "Put a Message into a Session, for the Tasks to come",
		long: `Say puts a Message into a Session and starts no Task: those to come find it among what was
said before. "wharf session inject" tells Tasks that work already.`,
		example: "  wharf session say sess_01K0... \"The customer has called\"\n  wharf session say sess_01K0... \"Speak French\" --role system",
		args:    twoArgs(aSession + " and what to say"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", string(abi.RoleUser), "who says it: user, assistant or system")
		},
	}, ask[abi.Message]{
		call: sends(func(args []string) client.Call {
			return client.Post(abi.AppendMessageRequest{Message: &abi.MessageInput{Role: abi.Role(role), Parts: []abi.Part{textPart(args[1])}}}, sessionMessages, args[0])
		}),
		text: a.showMessage,
		tips: tips{abi.CodeResourceNotFound: "wharf session list", abi.CodeInvalidStateTransition: "wharf session show {}"},
	})
}

func (a *app) sessionTruncateCommand() *cobra.Command {
	var keep int
	return a.node(page{
		use:   "truncate ID --keep N",
		short: "Have the Tasks to come see the first Messages of a Session alone",
		long: `Truncate cuts what was said in a Session behind the first --keep Messages: Tasks to come do
not see the rest. Events and receipts stay as they are, and so does a fork made before.`,
		example: "  wharf session truncate sess_01K0... --keep 4",
		args:    oneArg(aSession),
		flags:   func(f *pflag.FlagSet) { f.IntVar(&keep, "keep", 0, "how many Messages to keep, from the first on") },
		check: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("keep") || keep < 0 {
				return usagef("%s needs --keep N, how many Messages to keep", cmd.CommandPath())
			}
			return nil
		},
	}, a.session(sends(func(args []string) client.Call {
		return client.Post(abi.TruncateSessionRequest{KeepTurns: &keep}, "/v1/sessions/{}/truncate", args[0])
	})))
}

func (a *app) sessionReplayCommand() *cobra.Command {
	var req abi.ReplaySessionRequest
	return a.node(page{
		use:   "replay ID",
		short: "Run the Tasks of a Session again as they were recorded",
		long: `Replay makes a replay Task of each Task of a Session that has ended: its module is run again
on what was recorded, and reaches nothing outside. "wharf task get" shows how each ends.`,
		example: "  wharf session replay sess_01K0... --reason audit\n  wharf session replay sess_01K0... --json",
		args:    oneArg(aSession),
		flags:   func(f *pflag.FlagSet) { f.StringVar(&req.Reason, "reason", "", "why, for people") },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		docs, err := client.List[abi.Task](ctx, c, client.Post(req, "/wharf/v1/sessions/{}/replay", args[0]))
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf session list")
		}
		return a.printRows([]string{"TASK", "STATUS"}, "it has no tasks that have ended", rowsOf(docs, func(t *abi.Task) []show.Cell {
			return []show.Cell{{Text: t.ID}, {Text: string(t.Status)}}
		}))
	}))
}
