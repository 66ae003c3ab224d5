package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// taskAnswer is what the flags of "task answer" say.
type taskAnswer struct {
	text, value, reason, arguments string
	approve, deny                  bool
}

func (a *app) taskAnswerCommand() *cobra.Command {
	var t taskAnswer
	var task string
	return a.node(page{
		use:   "answer ID",
		short: "Give a waiting Task what it waits for",
		long: `Answer sends what a Task in INPUT_REQUIRED or AUTH_REQUIRED waits for, and the
Task goes on. "wharf task get ID" shows what that is.

A Task that asks for input, or that somebody authorizes something, is answered
with --text or with --value, which is JSON. A Task that asks for an approval is
answered with --approve or --deny; --arguments approves with other arguments
than those that it asked for.`,
		example: `  wharf task answer task_01K0... --text "the second one"
  wharf task answer task_01K0... --value '{"port": 8080}'
  wharf task answer task_01K0... --approve
  wharf task answer task_01K0... --deny --reason "not on a Friday"`,
		args: oneArg("the id of a Task"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&t.text, "text", "", "answer with text")
			f.StringVar(&t.value, "value", "", "answer with a JSON value")
			f.BoolVar(&t.approve, "approve", false, "approve what the Task means to do")
			f.BoolVar(&t.deny, "deny", false, "deny it")
			f.StringVar(&t.reason, "reason", "", "why, for the Task and for whoever reads the log")
			f.StringVar(&t.arguments, "arguments", "", "with --approve: a JSON object to go on with instead")
		},
	}, ask[abi.Message]{
		call: func(_ *cobra.Command, args []string) (client.Call, error) {
			req, err := t.request()
			task = args[0]
			return client.Post(req, "/v1/tasks/{}/messages", task), err
		},
		text: func(m *abi.Message) {
			a.out.Line(m.ID, " answers ", task)
			a.out.Pairs([2]string{"watch it", self() + " task tail " + task})
		},
		tips: tips{
			abi.CodeResourceNotFound:       "wharf task list --status INPUT_REQUIRED",
			abi.CodeInvalidStateTransition: "wharf task get {}, which shows what the Task waits for, if anything",
		},
	})
}

// decision is the value of the json part that answers an approval.
type decision struct {
	Decision  string         `json:"decision"`
	Reason    string         `json:"reason,omitzero"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

func (t *taskAnswer) request() (abi.AppendTaskMessageRequest, error) {
	given := 0
	for _, set := range []bool{t.text != "", t.value != "", t.approve, t.deny} {
		if set {
			given++
		}
	}
	decides := t.approve || t.deny
	switch {
	case given != 1:
		return abi.AppendTaskMessageRequest{}, usagef("answer with one of --text, --value, --approve and --deny")
	case t.reason != "" && !decides:
		return abi.AppendTaskMessageRequest{}, usagef("--reason belongs to --approve and --deny")
	case t.arguments != "" && !t.approve:
		return abi.AppendTaskMessageRequest{}, usagef("--arguments belongs to --approve")
	case t.text != "":
		return taskMessage(abi.TaskMessageInput, textPart(t.text)), nil
	case t.value != "":
		v, err := jsonFlag("--value", t.value)
		return taskMessage(abi.TaskMessageInput, jsonPart(v)), err
	}
	return t.confirmation()
}

func (t *taskAnswer) confirmation() (abi.AppendTaskMessageRequest, error) {
	d := decision{Decision: "denied", Reason: t.reason}
	if t.approve {
		d.Decision = "approved"
	}
	if t.arguments != "" {
		v, err := jsonFlag("--arguments", t.arguments)
		if err == nil && v.Kind() != '{' {
			err = usagef("--arguments: this is not a JSON object")
		}
		if err != nil {
			return abi.AppendTaskMessageRequest{}, err
		}
		d.Arguments = v
	}
	value, err := json.Marshal(d)
	if err != nil {
		return abi.AppendTaskMessageRequest{}, fmt.Errorf("encoding the decision: %w", err)
	}
	return taskMessage(abi.TaskMessageToolConfirmation, jsonPart(value)), nil
}

func jsonFlag(flag, text string) (jsontext.Value, error) {
	v := jsontext.Value(bytes.TrimSpace([]byte(text)))
	if !v.IsValid() {
		return nil, usagef("%s: %q is not JSON; a text needs double quotes around it, and the shell single ones around all", flag, text)
	}
	return v, nil
}

func jsonPart(v jsontext.Value) abi.Part {
	return abi.Part{Type: abi.PartJSON, Value: v, Visibility: abi.VisibilityPublic}
}

func taskMessage(kind abi.TaskMessageKind, part abi.Part) abi.AppendTaskMessageRequest {
	return abi.AppendTaskMessageRequest{Kind: kind, Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{part}}}
}

// howToAnswer returns the command that answers a waiting Task, "" when nobody can.
func howToAnswer(id string, w *abi.Waiting) string {
	if w == nil {
		return ""
	}
	start := self() + " task answer " + id
	switch {
	case w.Gate:
		return start + " --approve (or --deny)"
	case w.Requests != nil:
		return self() + " inbox list --task " + id + ", and then each of them"
	}
	switch asking(w) {
	case abi.CallInputRequest:
		if w.Schema != nil {
			return start + " --value JSON"
		}
		return start + " --text TEXT"
	case abi.CallAuthRequest:
		return start + ` --text done`
	case abi.CallApprovalRequest:
		return start + " --approve (or --deny)"
	}
	return ""
}

// showWaiting says what a Task waits for and how to answer it.
func (a *app) showWaiting(id string, w *abi.Waiting) {
	if w == nil {
		return
	}
	until := ""
	if !w.Until.IsZero() {
		until = stamp(w.Until)
	}
	schema := ""
	if w.Schema != nil {
		schema = string(w.Schema)
	}
	a.out.Title("waits for " + cmp.Or(waitName(w), w.Call))
	a.out.Pairs([2]string{"prompt", w.Prompt}, [2]string{"action", w.Action}, [2]string{"open", w.URL}, [2]string{"as", schema},
		[2]string{"task", w.TaskID}, [2]string{"until", until}, [2]string{"answer it", howToAnswer(id, w)})
	for _, q := range w.Requests {
		a.out.Pairs([2]string{string(q.Status), strings.TrimSpace(q.PermissionID + "  " + string(q.Kind) + " " + q.Key)})
	}
}

// asking returns the call that a Task waits by. A tool that asks is answered as a request for input is.
func asking(w *abi.Waiting) string {
	if w.Call == abi.CallToolCall && w.TaskID == "" {
		return abi.CallInputRequest
	}
	return w.Call
}

func waitName(w *abi.Waiting) string {
	switch {
	case w.Gate:
		return "an approval"
	case w.Requests != nil:
		return "several answers"
	}
	switch asking(w) {
	case abi.CallInputRequest:
		return "input"
	case abi.CallAuthRequest:
		return "an authorization"
	case abi.CallApprovalRequest:
		return "an approval"
	case abi.CallTaskAwait:
		return "another Task"
	case abi.CallSleep:
		return "a while"
	}
	return ""
}
