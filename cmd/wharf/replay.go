package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// replayFlags is what the flags of "task replay" say.
type replayFlags struct {
	mode, file, checkpoint, reason string
	override                       []string
	wait                           time.Duration
}

func (a *app) taskReplayCommand() *cobra.Command {
	var f replayFlags
	return a.node(page{
		use:   "replay ID",
		short: "Run a Task again from its record",
		long: `Replay submits a Task that runs the plugin of another again and answers each of
its host calls from the record: no model, tool or host is asked. An exact replay
that is told the same asks the same, so it ends with the receipt that it ended
with before; the first call that differs ends it with replay_divergence.

--override KEY=VALUE answers one call otherwise. VALUE is JSON, or @FILE for the
JSON in a file, which keeps a secret out of the shell's history. KEY is like
llm:1, mcp:SERVER:1, time:1, secret:NAME or host:CAPABILITY:1; a key that the
record does not have is refused with a list of those that it has. --overrides
reads a file with a JSON object of such keys, each with all that the protocol
lets one say about it (kind, value, artifact_id, sha256, reason).

--checkpoint-event starts at a recorded boundary. Without --mode, the mode
follows from these flags, and is exact when there are none.`,
		example: `  wharf task replay task_01K0...
  wharf task replay task_01K0... --wait
  wharf task replay task_01K0... --override 'llm:1={"text": "No."}'
  wharf task replay task_01K0... --override secret:token=@token.json --reason "after the leak"`,
		args: oneArg("the id of a Task that has ended"),
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&f.mode, "mode", "", "exact, with_overrides or from_checkpoint")
			flags.StringArrayVar(&f.override, "override", nil, "KEY=JSON or KEY=@FILE: answer a call otherwise; may be repeated")
			flags.StringVar(&f.file, "overrides", "", "file with a JSON object of overrides by key")
			flags.StringVar(&f.checkpoint, "checkpoint-event", "", "id of the event to start after")
			flags.StringVar(&f.reason, "reason", "", "why, for whoever reads the log")
			waitFlag(flags, &f.wait)
		},
	}, taskFrom{&f.wait, func(_ *cobra.Command, args []string) (client.Call, error) {
		req, err := f.request()
		return client.Post(req, "/v1/tasks/{}/replay", args[0]), err
	}})
}

// defaultWait is how long --wait waits that is given without a time.
const defaultWait = "30s"

func waitFlag(flags *pflag.FlagSet, wait *time.Duration) {
	flags.DurationVar(wait, "wait", 0, "wait so long for the Task to end (--wait alone: 30s), then show its Outcome")
	flags.Lookup("wait").NoOptDefVal = defaultWait
}

func (f *replayFlags) request() (abi.ReplayTaskRequest, error) {
	req := abi.ReplayTaskRequest{Mode: abi.ReplayMode(f.mode), CheckpointEventID: f.checkpoint, Reason: f.reason}
	modes := []string{string(abi.ReplayExact), string(abi.ReplayWithOverrides), string(abi.ReplayFromCheckpoint)}
	if f.mode != "" {
		if err := checkChoice("--mode", f.mode, modes); err != nil {
			return req, err
		}
	}
	if f.wait < 0 {
		return req, usagef("--wait cannot be negative")
	}
	var err error
	if req.Override, err = f.overrides(); err != nil {
		return req, err
	}
	switch {
	case req.Mode != "":
	case req.CheckpointEventID != "":
		req.Mode = abi.ReplayFromCheckpoint
	case len(req.Override) > 0:
		req.Mode = abi.ReplayWithOverrides
	default:
		req.Mode = abi.ReplayExact
	}
	return req, nil
}

// overrides joins the file's with those of the command line, which win.
func (f *replayFlags) overrides() (map[string]abi.ReplayOverride, error) {
	all := map[string]abi.ReplayOverride{}
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("reading the overrides: %w", err)
		}
		if err := json.Unmarshal(text, &all, json.RejectUnknownMembers(true)); err != nil {
			return nil, usagef("--overrides: %s: %w", f.file, err)
		}
	}
	for _, one := range f.override {
		key, o, err := parseOverride(one)
		if err != nil {
			return nil, err
		}
		all[key] = o
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// parseOverride reads KEY=JSON or KEY=@FILE.
func parseOverride(text string) (key string, o abi.ReplayOverride, err error) {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return "", o, usagef("--override: %q is not KEY=JSON or KEY=@FILE", text)
	}
	if file, ok := strings.CutPrefix(value, "@"); ok {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", o, fmt.Errorf("reading the override %s: %w", key, err)
		}
		value = string(content)
	}
	o.Kind = overrideKind(key)
	o.Value, err = jsonFlag("--override "+key, value)
	return key, o, err
}

// overrideKind is what the form of a key says that it overrides.
func overrideKind(key string) abi.OverrideKind {
	family, _, _ := strings.Cut(key, ":")
	switch family {
	case "llm":
		return abi.OverrideModel
	case "mcp":
		return abi.OverrideMCP
	case "secret":
		return abi.OverrideSecret
	case "time":
		return abi.OverrideTime
	case "host":
		return abi.OverrideHostFact
	}
	return abi.OverrideTool
}

// taskFrom submits a Task that is made from another, and may wait for its end.
type taskFrom struct {
	wait *time.Duration
	call caller
}

func (t taskFrom) run(a *app, cmd *cobra.Command, args []string) error {
	call, c, err := t.call.ready(a, cmd, args)
	if err != nil {
		return err
	}
	sent := time.Now()
	task, err := client.Do[abi.Task](cmd.Context(), c, call)
	if err != nil {
		return hint(err, abi.CodeResourceNotFound, "wharf task list")
	}
	return a.begun(cmd.Context(), c, task, *t.wait, sent)
}

// begun shows a Task that was accepted, or waits for its end.
func (a *app) begun(ctx context.Context, c *client.Client, task client.Doc[abi.Task], wait time.Duration, sent time.Time) error {
	if wait > 0 {
		return a.waitForEnd(ctx, c, task, sent.Add(wait))
	}
	return a.print(task.JSON, func() {
		a.showTask(&task.Value, [2]string{"watch it", self() + " task tail " + task.Value.ID})
	})
}

func (a *app) taskForkCommand() *cobra.Command {
	var req abi.ForkTaskRequest
	var wait time.Duration
	return a.node(page{
		use:   "fork ID",
		short: "Go on from the middle of a Task, live",
		long: `Fork submits a Task that shares the record of another up to and including the
event that --at names, and is live from there: what was recorded is not done
again, what comes after is done anew. --at 0 shares nothing; without --at the
whole record is shared, which lets a Task that failed at its end go on.

The new Task gets a fork of the Session, so that the Messages of the first stay
as they are; --same-session stays in the Session.`,
		example: `  wharf task tail task_01K0... --json | jq -r '.id + " " + .event'
  wharf task fork task_01K0... --at 1042
  wharf task fork task_01K0... --at 1042 --same-session --wait=1m`,
		args: oneArg("the id of a Task"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.AtEventID, "at", "", "id of the last event whose record is shared (default: all of it)")
			f.BoolVar(&req.SameSession, "same-session", false, "stay in the Session instead of a fork of it")
			waitFlag(f, &wait)
		},
	}, taskFrom{&wait, func(_ *cobra.Command, args []string) (client.Call, error) {
		if wait < 0 {
			return client.Call{}, usagef("--wait cannot be negative")
		}
		return client.Post(req, "/wharf/v1/tasks/{}/fork", args[0]), nil
	}})
}
