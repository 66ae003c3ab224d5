package main

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// liveClients is where a node has the clients that are attached to a Session.
const liveClients = "/wharf/v1/sessions/{}/clients"

const aLiveClient = aSession + " and the id that the client has for itself"

// sessionLiveCommands attach clients to a Session, and say who controls it.
func (a *app) sessionLiveCommands() []*cobra.Command {
	return []*cobra.Command{a.sessionClientsCommand(), a.sessionAttachCommand(), a.sessionTakeoverCommand(), a.sessionHeartbeatCommand(), a.sessionDetachCommand()}
}

// attached is a request that the clients of a Session answer.
func (a *app) attached(call caller) ask[abi.LiveClients] {
	return ask[abi.LiveClients]{call: call, text: a.showClients, tips: tips{
		abi.CodeResourceNotFound: "wharf session list, or wharf session clients {}",
		abi.CodeConflict:         "wharf session clients {}, which shows who controls it, and wharf session takeover",
	}}
}

func (a *app) showClients(l *abi.LiveClients) {
	if len(l.Clients) == 0 {
		a.out.Line("no client is attached")
		return
	}
	rows := make([][]show.Cell, len(l.Clients))
	for n := range l.Clients {
		c := &l.Clients[n]
		var style show.Style
		if c.Mode == abi.LiveController {
			style = show.Green
		}
		rows[n] = []show.Cell{{Text: c.ClientID}, {Text: string(c.Mode), Style: style}, {Text: sinceUnix(c.AttachedAt)}, {Text: sinceUnix(c.LastSeenAt)},
			{Text: show.OneLine(string(c.Metadata))}}
	}
	a.out.Table([]string{"CLIENT", "MODE", "ATTACHED", "SEEN", "SAYS OF ITSELF"}, rows)
}

// sinceUnix says how long ago a number of seconds since 1970 is.
func sinceUnix(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return seconds
	}
	return show.Ago(time.Unix(n, 0), time.Now())
}

// ofItself is the flag for what a client says of itself, read by the function that is returned.
func ofItself(f *pflag.FlagSet) func() (jsontext.Value, error) {
	text := f.String("metadata", "", "what the client says of itself: a JSON object")
	return func() (jsontext.Value, error) {
		if *text == "" {
			return nil, nil
		}
		v, err := jsonFlag("--metadata", *text)
		if err == nil && v.Kind() != '{' {
			err = usagef("--metadata: this is not a JSON object")
		}
		return v, err
	}
}

func (a *app) sessionClientsCommand() *cobra.Command {
	return a.node(page{
		use:   "clients ID",
		short: "List the clients that are attached to a Session",
		long: `Clients lists who watches a Session, and which client controls it: only that one submits
Tasks, answers and cancels, of those that are attached.`,
		example: "  wharf session clients sess_01K0...\n  wharf session clients sess_01K0... --json",
		args:    oneArg(aSession),
	}, a.attached(gets(liveClients)))
}

func (a *app) sessionAttachCommand() *cobra.Command {
	var control, takeover bool
	var metadata func() (jsontext.Value, error)
	return a.node(page{
		use:   "attach ID CLIENT",
		short: "Attach a client to a Session",
		long: `Attach has a client watch a Session, or with --control be the one that controls it. When
there is a controller it stays that, unless --takeover is given. A client that is attached
already is taken in again. It is to be heard of every two minutes (see "wharf session
heartbeat"); one that is silent for longer counts as gone.`,
		example: `  wharf session attach sess_01K0... script
  wharf session attach sess_01K0... script --control --metadata '{"surface":"terminal"}'`,
		args: twoArgs(aLiveClient),
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&control, "control", false, "control the Session")
			f.BoolVar(&takeover, "takeover", false, "with --control: also where another client controls it")
			metadata = ofItself(f)
		},
		check: func(*cobra.Command, []string) error {
			if takeover && !control {
				return usagef("--takeover belongs to --control")
			}
			return nil
		},
	}, a.attached(func(_ *cobra.Command, args []string) (client.Call, error) {
		said, err := metadata()
		req := abi.AttachClientRequest{ClientID: args[1], Takeover: takeover, Metadata: said}
		if control {
			req.Mode = abi.LiveController
		}
		return client.Post(req, liveClients, args[0]), err
	}))
}

func (a *app) sessionTakeoverCommand() *cobra.Command {
	var metadata func() (jsontext.Value, error)
	return a.node(page{
		use:   "takeover ID CLIENT",
		short: "Have a client control a Session",
		long: `Takeover has a client control a Session from now on, attached before or not. A controller
that there is becomes an observer, and what Tasks ask is asked of the new one.`,
		example: `  wharf session takeover sess_01K0... script`,
		args:    twoArgs(aLiveClient),
		flags:   func(f *pflag.FlagSet) { metadata = ofItself(f) },
	}, a.attached(func(_ *cobra.Command, args []string) (client.Call, error) {
		said, err := metadata()
		return client.Post(abi.TakeoverSessionRequest{ClientID: args[1], Metadata: said}, liveClients+"/takeover", args[0]), err
	}))
}

func (a *app) sessionHeartbeatCommand() *cobra.Command {
	var metadata func() (jsontext.Value, error)
	return a.node(page{
		use:   "heartbeat ID CLIENT",
		short: "Say that a client of a Session is still there",
		long: `Heartbeat keeps a client attached, of which nothing else is heard. With --metadata it says
something else of itself than before. It changes nothing of who controls the Session.`,
		example: `  wharf session heartbeat sess_01K0... script`,
		args:    twoArgs(aLiveClient),
		flags:   func(f *pflag.FlagSet) { metadata = ofItself(f) },
	}, a.attached(func(_ *cobra.Command, args []string) (client.Call, error) {
		said, err := metadata()
		return client.Post(abi.HeartbeatClientRequest{ClientID: args[1], Metadata: said}, liveClients+"/heartbeat", args[0]), err
	}))
}

func (a *app) sessionDetachCommand() *cobra.Command {
	var req abi.DetachClientRequest
	return a.node(page{
		use:   "detach ID CLIENT",
		short: "Detach a client from a Session",
		long: `Detach has a client leave a Session. When it was the controller nobody is from then on,
until another client takes the Session over.`,
		example: `  wharf session detach sess_01K0... script
  wharf session detach sess_01K0... script --reason "end of shift"`,
		args:  twoArgs(aLiveClient),
		flags: func(f *pflag.FlagSet) { f.StringVar(&req.Reason, "reason", "", "why it leaves") },
	}, a.attached(sends(func(args []string) client.Call {
		req.ClientID = args[1]
		return client.Post(req, liveClients+"/detach", args[0])
	})))
}
