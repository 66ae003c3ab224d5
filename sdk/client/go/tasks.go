package wharf

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Text is a part of a Message that is text.
func Text(text string) PartInput { return PartInput{Type: "text", Text: &text} }

// Say is a Message of a user.
func Say(text string) *MessageInput {
	return &MessageInput{Role: "user", Parts: []PartInput{Text(text)}}
}

// Ended reports whether a Task has ended, well or not.
func (t *Task) Ended() bool {
	return t.Status == TaskStatusCompleted || t.Status == TaskStatusFailed || t.Status == TaskStatusCanceled
}

// NeedsAnswer reports whether a Task waits for somebody's answer: see its [TasksResource.Permissions].
func (t *Task) NeedsAnswer() bool {
	return t.Status == TaskStatusInputRequired || t.Status == TaskStatusAuthRequired
}

// Wait returns a Task when it has ended, well or not, over restarts of the node.
func (r TasksResource) Wait(ctx context.Context, taskID string) (*Task, error) {
	for _, err := range r.Stream(ctx, taskID, "") {
		if err != nil {
			return nil, fmt.Errorf("waiting for the Task %s: %w", taskID, err)
		}
	}
	return r.Get(ctx, taskID)
}

// WaitOrAsked is as Wait, and returns the Task also when it waits for an answer.
func (r TasksResource) WaitOrAsked(ctx context.Context, taskID string) (*Task, error) {
	for event, err := range r.Stream(ctx, taskID, "") {
		if err != nil {
			return nil, fmt.Errorf("waiting for the Task %s: %w", taskID, err)
		}
		if event.Event != "task.input_required" && event.Event != "task.auth_required" {
			continue
		}
		task, err := r.Get(ctx, taskID) // it may have been answered since
		if err != nil || task.NeedsAnswer() {
			return task, err
		}
	}
	return r.Get(ctx, taskID)
}

// Outcome returns what a Task that has ended resulted in, with its Messages and Artifacts.
func (r TasksResource) Outcome(ctx context.Context, taskID string) (*Outcome, error) {
	task, err := r.Get(ctx, taskID)
	if err != nil {
		return nil, err
	}
	if task.OutcomeID == nil {
		return nil, fmt.Errorf("wharf: the Task %s is %s, and has no Outcome yet", taskID, task.Status)
	}
	return r.c.Outcomes().Get(ctx, *task.OutcomeID)
}

// Approve lets a Task do what it has asked for.
func (r PermissionsResource) Approve(ctx context.Context, requestID string, options ...Option) (*PermissionRequest, error) {
	decision := "approved"
	return r.Respond(ctx, requestID, &PermissionResponse{Decision: &decision}, options...)
}

// Deny refuses what a Task has asked for. reason is for people, and may be "".
func (r PermissionsResource) Deny(ctx context.Context, requestID, reason string, options ...Option) (*PermissionRequest, error) {
	decision := "denied"
	return r.Respond(ctx, requestID, &PermissionResponse{Decision: &decision, Reason: &reason}, options...)
}

// Wire returns the bytes of a receipt, for [VerifyReceipt].
func (r ReceiptsResource) Wire(ctx context.Context, receiptID string) ([]byte, error) {
	response, err := r.c.send(ctx, OpGetReceipt, []string{receiptID}, nil, nil,
		http.Header{"Accept": {"application/vnd.harn.receipt+json"}}, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	wire, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("wharf: reading the receipt %s: %w", url.PathEscape(receiptID), err)
	}
	return wire, nil
}

// Verify fetches a receipt and checks it here, with keys that the caller trusts. See [VerifyReceipt].
func (r ReceiptsResource) Verify(ctx context.Context, receiptID string, keys []SigningKey) (*VerifiedReceipt, error) {
	wire, err := r.Wire(ctx, receiptID)
	if err != nil {
		return nil, err
	}
	return VerifyReceipt(wire, keys)
}
