package wharf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// A handler is an ordinary function: a test runs it natively.
func ExampleRun() {
	greet := func(task *wharf.Task) (wharf.Result, error) {
		_, err := wharf.Reply("Hello, " + task.Text() + "!")
		return wharf.Result{Summary: "greeted"}, err
	}

	// In a plugin:
	//
	//	//go:wasmexport run
	//	func run() int32 { return wharf.Run(greet) }

	var host wharftest.Host
	outcome := host.Text(greet, "Ada")
	fmt.Println(outcome.Summary)
	fmt.Println(host.Messages[0].Text())
	// Output:
	// greeted
	// Hello, Ada!
}

// A *Failure chooses the code that the Task fails with.
func ExampleFailure() {
	handler := func(task *wharf.Task) (wharf.Result, error) {
		var order struct{ Sandwiches int }
		if err := task.Decode(&order); err != nil || order.Sandwiches > 10 {
			return wharf.Result{}, &wharf.Failure{Code: "too_hungry", Message: "ten sandwiches at most"}
		}
		return wharf.Result{Summary: "coming up"}, nil
	}
	var host wharftest.Host
	outcome := host.Run(handler, map[string]int{"sandwiches": 12})
	fmt.Println(outcome.Failure)
	// Output: too_hungry: ten sandwiches at most
}

// Content of any size is read in pieces.
func ExampleOpenArtifact() {
	handler := func(task *wharf.Task) (wharf.Result, error) {
		m, _ := task.Message()
		text, err := io.ReadAll(wharf.OpenArtifact(m.Parts[0].ArtifactID))
		if err != nil {
			return wharf.Result{}, err
		}
		return wharf.Result{
			Summary: fmt.Sprintf("%d words", len(strings.Fields(string(text)))),
			Metrics: map[string]float64{"bytes": float64(len(text))},
		}, nil
	}
	host := wharftest.Host{Artifacts: map[string][]byte{"art_poem": []byte("so much depends upon")}}
	outcome := host.Run(handler, wharf.Message{Role: "user", Parts: []wharf.Part{wharf.ArtifactPart("art_poem")}})
	fmt.Println(outcome.Summary, outcome.Metrics["bytes"])
	// Output: 4 words 20
}

// What a plugin stores is there for a test to look at.
func ExamplePutArtifact() {
	handler := func(*wharf.Task) (wharf.Result, error) {
		stored, err := wharf.PutArtifact(wharf.Artifact{Kind: "file", MimeType: "text/plain", Name: "note.txt"}, []byte("hi"))
		return wharf.Result{Summary: "stored " + stored.ID}, err
	}
	var host wharftest.Host
	fmt.Println(host.Text(handler, "").Summary, string(host.Stored[0].Content))
	// Output: stored art_1 hi
}

// Host calls fail with an *Error; a test can make them fail.
func ExampleError() {
	handler := func(*wharf.Task) (wharf.Result, error) {
		_, err := wharf.Reply("anyone there?")
		return wharf.Result{}, err
	}
	host := wharftest.Host{Refuse: map[string]*wharf.Error{
		"message.append": {Status: wharf.StatusDenied, Code: "policy_violation", Message: "this plugin may not speak"},
	}}
	fmt.Println(host.Text(handler, "").Failure.Message)
	// Output: message.append: this plugin may not speak (policy_violation)
}

// A test plays the model, and what else is beyond the node.
func ExampleComplete() {
	handler := func(task *wharf.Task) (wharf.Result, error) {
		answer, err := wharf.Complete(wharf.ModelRequest{
			CallID:   "summary", // a replay can replace the answer as llm:summary
			System:   "Answer in one word.",
			Messages: []wharf.ModelMessage{{Role: "user", Text: task.Text()}},
		})
		return wharf.Result{Summary: answer.Text}, err
	}
	host := wharftest.Host{Complete: func(r wharf.ModelRequest) (wharf.ModelAnswer, error) {
		return wharf.ModelAnswer{Text: strings.ToUpper(r.Messages[0].Text), StopReason: wharf.StopEnd}, nil
	}}
	fmt.Println(host.Text(handler, "yes").Summary)
	// Output: YES
}

// A plugin that waits for somebody runs again from the start when the answer has
// come, with what it was told before. A handler does not notice.
func ExampleRequestApproval() {
	handler := func(*wharf.Task) (wharf.Result, error) {
		decision, err := wharf.RequestApproval(wharf.ApprovalRequest{
			Action: "invoice.pay", Prompt: "Pay 40 euros to Ada?", Timeout: 24 * time.Hour,
		})
		if err != nil || decision.Decision != wharf.DecisionApproved {
			return wharf.Result{Summary: "not paid: " + decision.Reason}, err
		}
		_, err = wharf.CallTool(wharf.ToolRequest{Server: "bank", Name: "pay", Arguments: json.RawMessage(`{"euros":40}`)})
		if errors.Is(err, wharf.StatusIndeterminate) {
			return wharf.Result{}, &wharf.Failure{Code: "unclear", Message: "look whether it was paid before trying again"}
		}
		return wharf.Result{Summary: "paid"}, err
	}
	host := wharftest.Host{
		Approve: func(wharf.ApprovalRequest) (wharf.Approval, error) {
			return wharf.Approval{Decision: wharf.DecisionDenied, Reason: "twice is enough"}, nil
		},
	}
	fmt.Println(host.Text(handler, "").Summary)
	// Output: not paid: twice is enough
}

// What the Tasks of a Session share is on disk when Set returns.
func ExampleState() {
	count := func(*wharf.Task) (wharf.Result, error) {
		n := 0
		if _, err := wharf.State("visits").Get(&n); err != nil {
			return wharf.Result{}, err
		}
		return wharf.Result{Summary: fmt.Sprintf("visit %d", n+1)}, wharf.State("visits").Set(n + 1)
	}
	var host wharftest.Host
	fmt.Println(host.Text(count, "").Summary)
	fmt.Println(host.Text(count, "").Summary)
	// Output:
	// visit 1
	// visit 2
}
