package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// Where a node has what waits for a Session's Tasks.
const (
	injections = "/wharf/v1/sessions/{}/injections"
	reminders  = "/wharf/v1/sessions/{}/reminders"
)

// sessionInboxCommands say something to the Tasks of a Session while they work.
func (a *app) sessionInboxCommands() []*cobra.Command {
	return []*cobra.Command{a.sessionInjectCommand(), a.sessionReplaceCommand(), a.sessionRevokeCommand(), a.sessionRemindCommand(),
		a.sessionRevokeReminderCommand(), a.sessionPendingCommand(), a.sessionWakeCommand()}
}

// injection is a request that an Injection answers.
func (a *app) injection(call caller) ask[abi.Injection] {
	return ask[abi.Injection]{call: call, text: a.showInjection, tips: tips{
		abi.CodeResourceNotFound:       "wharf session pending {}, or wharf session list",
		abi.CodeConflict:               "wharf session pending {}, which shows what still waits, or wharf session clients {}, which shows who controls it",
		abi.CodeInvalidStateTransition: "wharf session show {}",
	}}
}

func (a *app) showInjection(i *abi.Injection) {
	a.out.Line(i.ID, "  ", string(i.Kind), " ", string(i.Status))
	a.out.Pairs([2]string{"mode", string(i.Mode)}, [2]string{"says", show.OneLine(saidBy(i))}, [2]string{"message", i.MessageID}, [2]string{"session", i.SessionID},
		[2]string{"by", i.QueuedBy}, [2]string{"tags", strings.Join(i.Tags, ", ")}, [2]string{"key", i.DedupeKey}, [2]string{"task", i.TaskID},
		[2]string{"delivered", stamp(i.DeliveredAt)})
}

// saidBy is what an Injection says, in words.
func saidBy(i *abi.Injection) string {
	if i.Kind == abi.InjectionReminder {
		return i.Body
	}
	return show.Parts(i.Parts)
}

// fromClient is the flag that says from which live client something comes.
func fromClient(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "client", "", "the live client that this comes from, which has to control the Session")
}

func (a *app) sessionInjectCommand() *cobra.Command {
	var queue bool
	var from string
	return a.node(page{
		use:   "inject ID TEXT",
		short: "Say something to a Session while its Tasks work",
		long: `Inject says something to the Tasks of a Session without waiting for their end. They are
told when they look next: an agent does before each question to its model. With --queue
they are told when they are done with what they do. What no Task takes waits for the next
one of the Session, and starts none.`,
		example: `  wharf session inject sess_01K0... "Leave the tests alone"
  wharf session inject sess_01K0... "Then write a changelog" --queue`,
		args: twoArgs(aSession + " and what to say"),
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&queue, "queue", false, "say it when the agent is done with what it does")
			fromClient(f, &from)
		},
	}, a.injection(sends(func(args []string) client.Call {
		req := abi.InjectRequest{Mode: abi.InjectSteer, Parts: []abi.Part{textPart(args[1])}}
		if queue {
			req.Mode = abi.InjectQueue
		}
		return client.Post(req, injections, args[0]).From(from)
	})))
}

func (a *app) sessionReplaceCommand() *cobra.Command {
	var from string
	return a.node(page{
		use:   "replace ID INJECTION TEXT",
		short: "Say in other words what waits for a Session's Tasks",
		long: `Replace gives what was said with "wharf session inject" another text, while no Task has
taken it. It keeps its place. What another has said takes the scope sessions:write.`,
		example: `  wharf session replace sess_01K0... inj_01K0... "Leave the old tests alone"`,
		args:    threeArgs(aSession + ", the id of what waits, and what to say"),
		flags:   func(f *pflag.FlagSet) { fromClient(f, &from) },
	}, a.injection(sends(func(args []string) client.Call {
		return client.Patch(abi.ReplaceInjectionRequest{Parts: []abi.Part{textPart(args[2])}}, injections+"/{}", args[0], args[1]).From(from)
	})))
}

func (a *app) sessionRevokeCommand() *cobra.Command {
	var from string
	return a.node(page{
		use:   "revoke ID INJECTION",
		short: "Take back what waits for a Session's Tasks",
		long: `Revoke takes back what was said with "wharf session inject", while no Task has taken it.
Again, it changes nothing. What another has said takes the scope sessions:write.`,
		example: `  wharf session revoke sess_01K0... inj_01K0...`,
		args:    twoArgs(aSession + " and the id of what waits"),
		flags:   func(f *pflag.FlagSet) { fromClient(f, &from) },
	}, a.injection(sends(func(args []string) client.Call { return client.Delete(injections+"/{}", args[0], args[1]).From(from) })))
}

func (a *app) sessionRemindCommand() *cobra.Command {
	var req abi.RemindRequest
	var mode, role, from string
	var turns int
	return a.node(page{
		use:   "remind ID TEXT",
		short: "Remind a Session's Tasks of something that nobody says",
		long: `Remind has the model of a Session's Tasks be told something, such as that a file has
changed. It is in the next --turns requests to the model, and no Message of the
conversation. One that waits with the same --key gives way to it. --mode is finish_step,
interrupt_immediate (before all others), or audit_only, which is put on record and shown
to no model.`,
		example: `  wharf session remind sess_01K0... "The branch was rebased"
  wharf session remind sess_01K0... "2 tests fail" --key tests --tag ci --turns 3`,
		args: twoArgs(aSession + " and what to remind of"),
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&req.Tags, "tag", nil, "what it is about")
			f.StringVar(&req.DedupeKey, "key", "", "a reminder that waits with this key gives way")
			f.IntVar(&turns, "turns", 1, "in how many requests to a model it is")
			f.StringVar(&role, "role", "", "as whose words: system, developer or user (default system)")
			f.StringVar(&mode, "mode", "", "when: finish_step, interrupt_immediate or audit_only (default finish_step)")
			f.StringVar(&req.Source, "source", "", "what has made it (default client)")
			fromClient(f, &from)
		},
	}, a.injection(func(cmd *cobra.Command, args []string) (client.Call, error) {
		req.Body, req.Mode, req.RoleHint = args[1], abi.InjectionMode(mode), abi.ReminderRole(role)
		if cmd.Flags().Changed("turns") {
			req.TTLTurns = &turns
		}
		return client.Post(req, reminders, args[0]).From(from), nil
	}))
}

func (a *app) sessionRevokeReminderCommand() *cobra.Command {
	var from string
	return a.node(page{
		use:   "revoke-reminder ID REMINDER",
		short: "Take a reminder back that waits for a Session's Tasks",
		long: `Revoke-reminder takes back what was said with "wharf session remind", while no Task has
taken it. Again, it changes nothing. What another has said takes the scope sessions:write.`,
		example: `  wharf session revoke-reminder sess_01K0... inj_01K0...`,
		args:    twoArgs(aSession + " and the id of the reminder"),
		flags:   func(f *pflag.FlagSet) { fromClient(f, &from) },
	}, a.injection(sends(func(args []string) client.Call { return client.Delete(reminders+"/{}", args[0], args[1]).From(from) })))
}

func (a *app) sessionPendingCommand() *cobra.Command {
	return a.node(page{
		use:   "pending ID",
		short: "List what waits for a Session's Tasks",
		long: `Pending lists what was said to a Session, and the reminders, that no Task has taken yet,
in the order in which they came.`,
		example: "  wharf session pending sess_01K0...\n  wharf session pending sess_01K0... --json",
		args:    oneArg(aSession),
	}, ask[abi.PendingInjections]{call: gets(injections), text: a.showPending, tips: absent("wharf session list")})
}

func (a *app) showPending(p *abi.PendingInjections) {
	if len(p.Injections) == 0 {
		a.out.Line("nothing waits")
		return
	}
	rows := make([][]show.Cell, len(p.Injections))
	for n := range p.Injections {
		i := &p.Injections[n]
		rows[n] = show.Cells(i.ID, string(i.Kind), string(i.Mode), string(i.Status), show.OneLine(saidBy(i)), i.QueuedBy, show.Ago(i.CreatedAt, time.Now()))
	}
	a.out.Table([]string{"INJECTION", "KIND", "MODE", "STATUS", "SAYS", "BY", "SAID"}, rows)
}

func (a *app) sessionWakeCommand() *cobra.Command {
	return a.node(page{
		use:   "wake ID",
		short: "Have Tasks go on that wait for a Session's inbox",
		long: `Wake ends the waiting of Tasks for what is said in the Session, with nothing said: an
agent that stays for more goes on, and looks whether it is done.`,
		example: "  wharf session wake sess_01K0...",
		args:    oneArg(aSession),
	}, ask[abi.Woken]{
		call: sends(func(args []string) client.Call { return client.Post(nil, "/wharf/v1/sessions/{}/wake", args[0]) }),
		text: func(w *abi.Woken) { a.out.Line(fmt.Sprintf("%d woken", w.Woken)) },
		tips: absent("wharf session list"),
	})
}
