package a2a

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The contract harn.external_agent.v1, by which others have this node do paid work: a plan is a dry
// run, a Task on the tier suggest, and its proposals; a dispatch is a Task with a budget. Of a key
// there is one of each, for good: the key is a reference of the Task's Session, which is made with it.

func (a *Adapter) externalMethods() map[string]method {
	return map[string]method{
		abi.MethodExternalPlan:     {scope: scopeWrites, do: (*call).planExternal},
		abi.MethodExternalDispatch: {scope: scopeWrites, do: (*call).dispatchExternal},
	}
}

// The kinds of references of Sessions that have work in them.
const (
	refPlan = "a2a_plan"
	refWork = "a2a_work"
)

// What of a piece of work is taken, in bytes.
const (
	mostExternalTask = 256 << 10
	mostExternalKey  = 256
	mostInlined      = 1 << 20 // of a patch
	mostListed       = 50      // Artifacts
)

// externalWork is what a client asks to plan, or to do.
type externalWork struct {
	Task           string               `json:"task"`
	ExpectedScope  jsontext.Value       `json:"expected_scope"`
	Context        jsontext.Value       `json:"context"`
	Budget         abi.DelegationBudget `json:"budget"`
	IdempotencyKey string               `json:"idempotency_key"`
	Metadata       jsontext.Value       `json:"metadata"`
	Checkpoint     *struct {
		Approved     bool           `json:"approved"`
		CheckpointID string         `json:"checkpoint_id"`
		Plan         jsontext.Value `json:"plan"`
	} `json:"checkpoint"`

	workspace, persona string
}

// readExternal reads the params, and refuses what cannot be meant.
func (c *call) readExternal() (*externalWork, error) {
	w := &externalWork{}
	if err := c.decode(w); err != nil {
		return nil, err
	}
	b := &w.Budget
	switch {
	case strings.TrimSpace(w.Task) == "" || len(w.Task) > mostExternalTask:
		return nil, invalid("task", "task is what to do, in 1 to %d bytes", mostExternalTask)
	case w.IdempotencyKey == "" || len(w.IdempotencyKey) > mostExternalKey:
		return nil, invalid("idempotency_key", "idempotency_key names the work, in 1 to %d bytes", mostExternalKey)
	case !isObject(w.Context):
		return nil, invalid("context", "context is an object")
	case !(b.USD >= 0) || !(b.Seconds >= 0) || b.Tokens < 0 || b.ToolCalls < 0 || b.Seconds > abi.MaxWaitSeconds || b.USD+b.Seconds == 0 && b.Tokens+b.ToolCalls == 0:
		return nil, invalid("budget", "budget bounds usd, tokens, seconds or tool_calls")
	}
	want, err := choiceOf(&sendParams{Message: &message{}, Metadata: w.Metadata})
	if err != nil {
		return nil, err
	}
	w.workspace, w.persona = cmp.Or(want.WorkspaceID, c.core.DefaultWorkspaceOf(c.r.Caller)), want.PersonaID
	return w, nil
}

// asked is the hash of the work: by one key it stays the same.
func (w *externalWork) asked() (string, error) {
	text, err := json.Marshal([]any{w.Task, orNull(w.ExpectedScope), orNull(w.Context), w.persona})
	sum := api.Fingerprint(text)
	return hex.EncodeToString(sum[:]), err
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

// externalMark is what the metadata of a Task says of the work that it does.
type externalMark struct {
	AskedSHA256  string               `json:"asked_sha256"`
	CheckpointID string               `json:"checkpoint_id,omitzero"`
	Budget       abi.DelegationBudget `json:"budget"`
}

type externalMarked struct {
	External *externalMark `json:"a2a_external,omitzero"`
}

// externalTask returns the Task of a kind that a key stands for, and makes it when there is none.
// there reports whether it was there.
func (c *call) externalTask(kind string, w *externalWork, mark externalMark, run *abi.RunOptions) (t *abi.Task, there bool, err error) {
	sum := sha256.Sum256([]byte(w.IdempotencyKey))
	ref := abi.OutsideRef{Kind: kind, Ref: hex.EncodeToString(sum[:])}
	if t, err = c.externalCalled(ref, w.workspace, mark.AskedSHA256); t != nil || err != nil {
		return t, true, err
	}
	for _, scope := range []string{"sessions:write", scopeReads} {
		if err := c.r.Require(scope); err != nil {
			return nil, false, err
		}
	}
	metadata, err := json.Marshal(externalMarked{&mark}, json.Deterministic(true))
	if err != nil {
		return nil, false, err
	}
	input, err := json.Marshal(&abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: &w.Task, Visibility: abi.VisibilityPublic}}}, json.Deterministic(true))
	if err != nil {
		return nil, false, err
	}
	view, err := c.core.SubmitTask(c.r.Context(), c.r.Caller, nil, abi.SubmitTaskRequest{PersonaID: w.persona, Input: input, Metadata: metadata, Run: run,
		Session: &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: w.workspace, PersonaID: w.persona, Refs: []abi.OutsideRef{ref}}}})
	if api.SessionTaken(err, ref) != "" { // by the same work, a moment ago
		t, err = c.externalCalled(ref, w.workspace, mark.AskedSHA256)
		return t, true, err
	}
	if err != nil {
		return nil, false, err
	}
	made, err := as[abi.Task](view)
	return &made, false, err
}

// externalCalled returns the Task that a key stands for; nil for none. Other work by the same key is
// refused.
func (c *call) externalCalled(ref abi.OutsideRef, workspace, asked string) (*abi.Task, error) {
	ctx := c.r.Context()
	sessions, err := c.core.SessionsCalled(ctx, c.r.Caller, workspace, ref)
	if err != nil || len(sessions.Views) == 0 {
		return nil, err
	}
	tasks, err := c.core.List(ctx, c.r.Caller, abi.ObjectTask, api.Filter{SessionID: sessions.Views[0].ID}, api.Page{Limit: 1, Reversed: true})
	if err != nil || len(tasks.Views) == 0 {
		return nil, err
	}
	t, err := as[abi.Task](tasks.Views[0])
	if err != nil {
		return nil, err
	}
	if mark := markedExternal(&t); mark == nil || mark.AskedSHA256 != asked {
		return nil, invalid("idempotency_key", "this key stands for other work")
	}
	return &t, nil
}

// markedExternal returns what a Task says of the work that it does; nil for a Task that does none.
func markedExternal(t *abi.Task) *externalMark {
	var m externalMarked
	if json.Unmarshal(t.Metadata, &m) != nil {
		return nil
	}
	return m.External
}

// run returns the options of a Task that does the work within its budget. plan is what was approved.
func (w *externalWork) run(tier abi.AutonomyTier, plan jsontext.Value) (*abi.RunOptions, error) {
	with := map[string]jsontext.Value{}
	for name, value := range map[string]jsontext.Value{"context": w.Context, "expected_scope": w.ExpectedScope, "approved_plan": plan} {
		if len(value) > 0 && value.Kind() != 'n' {
			with[name] = value
		}
	}
	run := &abi.RunOptions{}
	if len(with) > 0 {
		text, err := json.Marshal(with, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		if run, err = abi.ComesWith(text); err != nil {
			return nil, err
		}
	}
	b := &w.Budget
	run.AutonomyTier = tier
	run.Budget = &abi.Budget{USD: b.USD, InputTokens: b.Tokens, OutputTokens: b.Tokens, ToolCalls: b.ToolCalls, WallTimeMS: int64(math.Ceil(b.Seconds * 1000))}
	return run, nil
}

// await waits for the end of a Task as long as a client may wait; false when it goes on.
func (c *call) await(t *abi.Task) (*abi.Task, bool, error) {
	if t.Status.Terminal() {
		return t, true, nil
	}
	ended := t
	err := c.r.Await(c.wait, func(ctx context.Context) (bool, error) {
		view, err := c.core.WaitTask(ctx, c.r.Caller, t.ID)
		if err != nil || ctx.Err() != nil {
			return false, err
		}
		now, err := as[abi.Task](view)
		ended = &now
		return now.Status.Terminal(), err
	})
	return ended, err == nil && ended.Status.Terminal(), err
}

// planExternal says what would be done for a piece of work, by a dry run.
func (c *call) planExternal() (any, error) {
	w, err := c.readExternal()
	if err != nil {
		return nil, err
	}
	asked, err := w.asked()
	if err != nil {
		return nil, err
	}
	run, err := w.run(abi.TierSuggest, nil)
	if err != nil {
		return nil, asParams(err)
	}
	t, _, err := c.externalTask(refPlan, w, externalMark{AskedSHA256: asked, Budget: w.Budget}, run)
	if err != nil {
		return nil, err
	}
	t, over, err := c.await(t)
	if err != nil {
		return nil, err
	}
	if !over {
		return nil, refuse(reasonUnavailable, "the plan is being made: ask again by the same key")
	}
	plan, err := c.planOf(t)
	if err != nil {
		return nil, err
	}
	return map[string]any{"checkpoint_id": t.ID, "plan": plan, "expected_scope": orNull(w.ExpectedScope),
		"evidence_refs": []map[string]string{{"kind": "task", "ref": t.ID}}, "metadata": map[string]any{"wharf": map[string]string{"task_id": t.ID, "receipt_id": t.ReceiptID}}}, nil
}

// planOf is what a dry run proposes: the calls that it did not make, and what it said.
func (c *call) planOf(t *abi.Task) (map[string]any, error) {
	o, err := c.outcomeOf(t)
	if err != nil {
		return nil, err
	}
	if o.Failure != nil {
		return nil, refuse(reasonUnsupported, "there is no plan for this: %s (%s)", o.Failure.Message, o.Failure.Code)
	}
	var held struct {
		Proposals []abi.WithheldCall `json:"proposals"`
		Omitted   int                `json:"held_back_omitted"`
	}
	if len(o.Metrics) > 0 {
		if err := json.Unmarshal(o.Metrics, &held); err != nil {
			return nil, err
		}
	}
	steps := make([]map[string]any, 0, len(held.Proposals))
	for _, p := range held.Proposals {
		steps = append(steps, map[string]any{"call": p.Call, "action": p.Action, "arguments": orNull(p.Arguments)})
	}
	plan := map[string]any{"summary": o.Summary, "says": said(o), "proposals": steps}
	if held.Omitted > 0 {
		plan["proposals_omitted"] = held.Omitted
	}
	return plan, nil
}

// outcomeOf reads the Outcome of a Task that has ended.
func (c *call) outcomeOf(t *abi.Task) (*abi.Outcome, error) {
	view, err := c.core.Get(c.r.Context(), c.r.Caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	o, err := as[abi.Outcome](view)
	return &o, err
}

// said are the texts of an Outcome's Messages.
func said(o *abi.Outcome) string {
	var texts []string
	for _, text := range o.Messages {
		var m abi.Message
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		for _, p := range m.Parts {
			if p.Type == abi.PartText && p.Text != nil {
				texts = append(texts, *p.Text)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// dispatchExternal does a piece of work that was planned before, and answers with what came of it. A
// client that asks again by the same key learns of the same work, however far it is.
func (c *call) dispatchExternal() (any, error) {
	w, err := c.readExternal()
	if err != nil {
		return nil, err
	}
	asked, err := w.asked()
	if err != nil {
		return nil, err
	}
	plan, err := c.approvedPlan(w, asked)
	if err != nil {
		return nil, err
	}
	run, err := w.run("", plan)
	if err != nil {
		return nil, asParams(err)
	}
	t, there, err := c.externalTask(refWork, w, externalMark{AskedSHA256: asked, CheckpointID: w.Checkpoint.CheckpointID, Budget: w.Budget}, run)
	if err != nil {
		return nil, err
	}
	replayed := there && t.Status.Terminal()
	t, over, err := c.await(t)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"task_id": t.ID, "idempotency_key": w.IdempotencyKey, "checkpoint_id": markedExternal(t).CheckpointID, "status": "working"}
	if !over {
		return result, nil
	}
	return result, c.handOver(result, t, replayed)
}

// approvedPlan returns the plan that a client has approved: that of a dry run for this very work.
func (c *call) approvedPlan(w *externalWork, asked string) (jsontext.Value, error) {
	if w.Checkpoint == nil || !w.Checkpoint.Approved {
		return nil, invalid("checkpoint", "work is dispatched when its plan is approved: checkpoint.approved is not true")
	}
	t, err := c.taskOf(w.Checkpoint.CheckpointID, w.workspace)
	if err != nil {
		return nil, invalid("checkpoint.checkpoint_id", "there is no such checkpoint")
	}
	if mark := markedExternal(t); mark == nil || mark.AskedSHA256 != asked || mark.CheckpointID != "" || !t.Status.Terminal() {
		return nil, invalid("checkpoint.checkpoint_id", "this checkpoint is of other work")
	}
	plan, err := c.planOf(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plan, json.Deterministic(true))
}

// handOver adds to a result what came of a Task that has ended.
func (c *call) handOver(result map[string]any, t *abi.Task, replayed bool) error {
	o, err := c.outcomeOf(t)
	if err != nil {
		return err
	}
	handoff := map[string]any{"_type": "handoff_artifact", "summary": o.Summary, "says": said(o), "outcome": o.Status, "task_id": t.ID}
	if o.Failure != nil {
		handoff["failure"] = o.Failure
	}
	result["handoff"] = handoff
	used, err := c.usedBy(t)
	if err != nil {
		return err
	}
	if used != nil {
		result["budget_used"], result["receipts"] = used, []map[string]string{{"receipt_id": t.ReceiptID}}
	}
	if err := c.addArtifacts(result, t); err != nil {
		return err
	}
	result["status"] = externalStatus(o, replayed)
	return nil
}

// externalStatus says how work has ended.
func externalStatus(o *abi.Outcome, replayed bool) string {
	switch {
	case replayed:
		return string(abi.DelegationReplayed)
	case o.Failure != nil && strings.Contains(o.Failure.Code, "budget"):
		return string(abi.DelegationExceeded)
	case o.Status == abi.OutcomeSucceeded:
		return string(abi.DelegationCompleted)
	}
	return string(o.Status)
}

// usedBy says what a Task has used, by its receipt; nil for a Task that has none.
func (c *call) usedBy(t *abi.Task) (*abi.DelegationBudget, error) {
	if t.ReceiptID == "" {
		return nil, nil
	}
	wire, err := c.core.ReceiptWire(c.r.Context(), c.r.Caller, t.ReceiptID)
	if err != nil {
		return nil, err
	}
	var r struct {
		Budget struct {
			Consumed abi.Budget `json:"consumed"`
		} `json:"autonomy_budget"`
	}
	if err := json.Unmarshal(wire, &r); err != nil {
		return nil, fmt.Errorf("reading receipt %s: %w", t.ReceiptID, err)
	}
	b := &r.Budget.Consumed
	return &abi.DelegationBudget{USD: b.USD, Tokens: b.InputTokens + b.OutputTokens, Seconds: float64(b.WallTimeMS) / 1000, ToolCalls: b.ToolCalls}, nil
}

// addArtifacts adds to a result the Artifacts of a Task, and the first patch among them, as far as
// the caller may read it.
func (c *call) addArtifacts(result map[string]any, t *abi.Task) error {
	list, err := c.core.List(c.r.Context(), c.r.Caller, abi.ObjectArtifact, api.Filter{TaskID: t.ID}, api.Page{Limit: mostListed, Reversed: true})
	if err != nil {
		return err
	}
	all := make([]jsontext.Value, 0, len(list.Views))
	for _, view := range list.Views {
		all = append(all, jsontext.Value(view.JSON))
		of, err := as[abi.Artifact](view)
		if err != nil {
			return err
		}
		if patch := of.Kind == abi.ArtifactDiff || of.Kind == abi.ArtifactPatch; !patch || result["diff"] != nil || !c.r.Caller.Can("artifacts:read") {
			continue
		}
		if text := c.patch(of.ID); text != "" {
			result["diff"] = text
		}
	}
	result["artifacts"] = all
	return nil
}

// patch reads an Artifact that is a patch; "" for one that cannot be read, or is too long.
func (c *call) patch(id string) string {
	_, content, err := c.core.OpenArtifact(c.r.Context(), c.r.Caller, id)
	if err != nil || content == nil {
		return ""
	}
	defer content.Close()
	var text bytes.Buffer
	if n, err := io.CopyN(&text, content, mostInlined+1); err != nil && err != io.EOF || n > mostInlined {
		return ""
	}
	return text.String()
}
