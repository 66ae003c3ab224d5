package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/deltas"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/secrets"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// run is one run of a Task's plugin. It answers host calls from the record as far
// as that goes, and then performs and records them. It is used by the goroutine
// of the guest; what a cancel or deadline also needs is guarded by the Task's mu. It has a
// field for each thing that a call may read or change.
type run struct {
	engine  *Engine
	task    *task
	persona *personas.Persona
	input   jsontext.Value // the answer of abi.CallInput
	began   time.Time
	usage   sandbox.Usage
	hand    *inhand.Hand // of the Task's large documents; nil for none

	recorded []journal.Entry // the calls that the record answers
	cursor   *journal.Cursor
	keys     journal.Keys
	ground   *journal.Ground
	hints    int            // that the plugin gave, those of a re-run included
	made     map[string]int // calls by name, the one being answered included
	children []string       // ids of those that the record tells

	outputs replay.Outputs
	gave    skill.Result // of a Task of a Skill
	held    policy.Held

	// Guarded by task.mu.
	index        int             // of the next call
	pending      []ledger.Record // told with the next batch that is handed over
	pendingBytes int
	facts        proofs.Facts
	text         deltas.Teller // tells watchers what is being written
	textTimer    bool          // what waits of it is told soon
	performed    int           // hints that performers gave
	using        *liveCall     // a tool call whose beginning was told, and whose end was not

	last *handed // handed over last, and not waited for; nil when nothing is
}

// maxHints bounds the hints that a run may give, but for text, and those of its performers.
const maxHints = 10_000

// maxPending is how many bytes of records wait for a reason to be written.
const maxPending = 256 << 10

var _ sandbox.Host = (*run)(nil)

// Now implements [sandbox.Host].
func (r *run) Now() time.Time { return r.ground.Now() }

// Random implements [sandbox.Host].
func (r *run) Random(p []byte) { r.ground.Random(p) }

// Sleep implements [sandbox.Host]. A guest that sleeps by itself, and not with
// abi.CallSleep, keeps its instance; while the record is re-run it does not wait.
func (r *run) Sleep(ctx context.Context, d time.Duration) {
	r.ground.Sleep(d)
	if !r.cursor.Done() {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Call implements [sandbox.Host].
func (r *run) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	def := r.engine.calls[call]
	switch {
	case def == nil:
		return 0, nil, fmt.Errorf("there is no host call %q", call)
	case def.Effect == abi.EffectHint:
		return r.answer(nil, r.hint(call, request))
	case def.Effect == abi.EffectGiven:
		status, answer := replay.Given(call, r.input)
		return status, answer, nil
	}
	key := r.keys.Next(def, request)
	r.made[call]++
	hooks, gate, err := r.passGates()
	if err != nil {
		return 0, nil, err
	}
	if r.cursor.Done() {
		return r.live(ctx, &liveCall{def: def, request: request, hooks: hooks, gate: gate, entry: journal.Entry{
			Index: r.index, Call: call, Key: key, Effect: journal.Variable(def),
		}})
	}
	var asked []byte
	err = r.engine.turns.Do(ctx, len(request), func() error { asked = journal.Canonical(call, request); return nil })
	if err != nil {
		return 0, nil, err
	}
	recorded, diverged := r.cursor.Match(call, asked)
	if diverged != nil {
		return 0, nil, r.engine.divergence(r.task, diverged)
	}
	if !recorded.Open {
		err := r.recall(recorded)
		return recorded.Status, recorded.Answer, err
	}
	// Its intent stands, and no result.
	return r.live(ctx, &liveCall{def: def, request: request, hooks: hooks, gate: gate, intent: recorded, entry: journal.Entry{
		Index: r.index, Call: call, Key: key, Request: recorded.Request, Effect: recorded.Effect,
	}})
}

// recall takes over a call that the record answers.
func (r *run) recall(e *journal.Entry) error {
	before := r.ground.At()
	r.ground.Reach(e.At)
	r.task.mu.Lock()
	err := r.take(e)
	r.task.mu.Unlock()
	if err != nil {
		return err
	}
	return r.remember(e, before, func() bool { return deltas.Streamed(e.Request) })
}

// take adds a call that is recorded to what the receipt is made from. The caller holds
// task.mu.
func (r *run) take(e *journal.Entry) error {
	if e.Index < r.index {
		return nil // by takeRest
	}
	r.index++
	return r.facts.Take(e)
}

// takeRest adds what the record has and the run has not come to again: a Task may end
// while it is brought back to where it was. The caller holds task.mu.
func (r *run) takeRest() error {
	for r.index < len(r.recorded) {
		if err := r.take(&r.recorded[r.index]); err != nil {
			return err
		}
	}
	return nil
}

// recallRest takes over all that the record has and the run, which has ended, has not
// come to again.
func (r *run) recallRest() error {
	if r.cursor == nil {
		return nil
	}
	for i := r.cursor.Index(); i < len(r.recorded); i++ {
		if err := r.recall(&r.recorded[i]); err != nil {
			return err
		}
	}
	return nil
}

// remember takes over what a call means for the end of the Task. before is the time that the record
// had reached when it was made.
func (r *run) remember(e *journal.Entry, before time.Time, streamed func() bool) error {
	if e.Status != abi.CallOK {
		r.noteHeldBack(e)
		return nil
	}
	if err := r.noteText(e, before, streamed); err != nil {
		return err
	}
	if err := r.noteChild(e); err != nil {
		return err
	}
	if p := r.task.program; p != nil && p.Skill != nil {
		r.gave.Note(e.Call, e.Request)
	}
	return r.outputs.Take(e)
}

// liveCall is a host call that is being performed.
type liveCall struct {
	def      *abi.HostCall
	request  []byte          // in guest memory
	asked    any             // request, decoded: a pointer to what the definition says; nil when [liveCall.read] has not
	entry    journal.Entry   // without its answer
	intent   *journal.Entry  // recorded by an earlier life that did not get to the result
	hooks    *journal.Entry  // what hooks have said before; nil for nothing
	gate     *journal.Entry  // the approval that was asked for before; nil for none
	states   *ledger.Record  // what the call's event states; nil for nothing
	extra    []ledger.Record // further events, told before the call's own
	durable  bool            // the answer waits for the disk, whatever def says
	streamed bool            // its text was told as it came
	release  func(error)     // called when the call is recorded, or failed; may be nil
	use      *tooluse.Use    // of a tool.call: what people see of it
}

// live performs a call and records its answer.
func (r *run) live(ctx context.Context, c *liveCall) (abi.CallStatus, []byte, error) {
	if err := r.engine.disk.AwaitCall(ctx); err != nil {
		return 0, nil, err
	}
	err := r.check(ctx, c)
	c.use = r.toolUse(c)
	if err != nil {
		c.canonicalRequest()
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if c.entry.Call != abi.CallMessageAppend { // that one knows its form best itself
		err := r.engine.turns.Do(ctx, len(c.request), func() error { c.canonicalRequest(); return nil })
		if err != nil {
			return 0, nil, err
		}
	}
	switch c.def.Effect {
	case abi.EffectWait:
		return r.wait(ctx, c, waiting.Call{Name: c.entry.Call, Request: c.request, Asked: c.asked})
	case abi.EffectLocal, abi.EffectRead, abi.EffectWrite:
	default:
		return 0, nil, fmt.Errorf("host call %s has the effect %q", c.entry.Call, c.def.Effect)
	}
	perform, child := r.engine.immediately(c.entry.Call), c.entry.Call == abi.CallTaskSpawn || c.entry.Call == abi.CallHandoff
	if perform == nil && !child {
		return r.reach(ctx, c)
	}
	if err := r.admit(ctx, c, &provider.Plan{Effect: c.def.Effect}); err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if child {
		return r.spawn(ctx, c)
	}
	answer, err := perform(r, ctx, c)
	if errors.Is(err, hostcall.ErrWait) {
		return r.wait(ctx, c, waiting.Call{Name: c.entry.Call, Request: c.request, Asked: c.asked})
	}
	return r.closeAndRelease(ctx, c, journal.Whole, answer, err)
}

// closeAndRelease closes a call that was made, and lets go of what it holds until then.
func (r *run) closeAndRelease(ctx context.Context, c *liveCall, phase journal.Phase, answer []byte, failed error) (abi.CallStatus, []byte, error) {
	status, answer, err := r.close(ctx, c, phase, answer, failed)
	if c.release != nil {
		if errors.Is(err, errEndedMeanwhile) {
			r.task.endDurable() // with what the call states
		}
		c.release(cmp.Or(err, failed))
	}
	return status, answer, err
}

// check refuses a call that is malformed, and one that the Task may not make at all.
func (r *run) check(ctx context.Context, c *liveCall) error {
	if err := c.revise(); err != nil {
		return err
	}
	if err := r.engine.turns.Do(ctx, len(c.request), c.read); err != nil {
		return err
	}
	return r.permit(ctx, c)
}

// read decodes a call's request before policy looks at it and before anything of it
// is recorded: what is malformed is answered alike whatever the Persona may do. A call
// whose intent stands was read by an earlier life.
func (c *liveCall) read() error {
	text := c.request
	switch {
	case c.def.RequestType == nil || c.intent != nil:
		return nil
	case c.entry.Call == abi.CallArtifactPut:
		text, _, _ = bytes.Cut(text, []byte("\n"))
	case len(text) == 0 && c.def.MayBeEmpty():
		return nil
	}
	of := reflect.TypeOf(c.def.RequestType)
	if refused := provider.Readable(text, of); refused != nil {
		return refused
	}
	asked := reflect.New(of).Interface()
	if err := json.Unmarshal(text, asked); err != nil {
		return provider.Malformed(err)
	}
	c.asked = asked
	return nil
}

// reach performs a call that leaves the node.
func (r *run) reach(ctx context.Context, c *liveCall) (abi.CallStatus, []byte, error) {
	performer := r.engine.performers[c.entry.Call]
	if performer == nil {
		return r.close(ctx, c, journal.Whole, nil, provider.Refuse(abi.CallUnavailable, "not_configured", "this node does not offer "+c.entry.Call))
	}
	if err := r.bound(c); err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if err := r.setAside(ctx, c); err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if there, err := r.delegated(ctx, c); there || err != nil {
		return r.awaitChild(ctx, c, err)
	}
	plan, err := performer.Prepare(ctx, r.providerCall(c))
	asked, said := false, error(nil)
	if err == nil {
		asked, said = r.askHooks(ctx, c, plan.Tool)
	}
	if asked { // it is another call by now
		plan, err = performer.Prepare(ctx, r.providerCall(c))
	}
	if plan.Request != nil {
		c.request, c.asked = plan.Request, nil
	}
	if err = cmp.Or(said, err); err == nil {
		err = r.admit(ctx, c, &plan)
	}
	c.use.Define(plan.Tool, plan.By)
	if own := ownTool(c); own != nil && err == nil {
		if c.entry.Effect = plan.Effect; own.Server == ServerSkills {
			c.entry.Effect = abi.EffectWrite
		}
		return r.own(ctx, c, own)
	}
	if plan.Delegate != nil && err == nil {
		c.entry.Effect = plan.Effect
		return r.work(ctx, c, r.delegate(plan.Delegate))
	}
	if plan.Ask != nil && err == nil {
		return r.wait(ctx, c, waiting.Call{Name: abi.CallInputRequest, Asked: plan.Ask})
	}
	if c.intent != nil {
		return r.repeat(ctx, c, plan, err)
	}
	if err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if c.def.Varies {
		c.entry.Effect = plan.Effect
	}
	if plan.Effect != abi.EffectWrite {
		if err := r.begins(ctx, c, true); err != nil {
			return 0, nil, err
		}
		answer, err := r.told(ctx, c, plan)
		if err == nil && c.entry.Call == abi.CallToolList {
			answer, err = r.offer(ctx, answer)
		}
		return r.close(ctx, c, journal.Whole, answer, err)
	}
	if err := r.intend(ctx, c); err != nil {
		return 0, nil, err
	}
	return r.do(ctx, c, plan)
}

// do performs a write whose intent stands.
func (r *run) do(ctx context.Context, c *liveCall, plan provider.Plan) (abi.CallStatus, []byte, error) {
	answer, err := r.told(ctx, c, plan)
	if plan.Extra != nil && err == nil {
		c.extra = plan.Extra()
	}
	c.release = func(failed error) { r.forget(plan, failed) }
	c.durable = c.durable || plan.Forget != nil // what is forgotten is not done again
	return r.closeAndRelease(ctx, c, journal.Result, answer, err)
}

// forget has a performer forget a call that will not be made again. What it does not forget
// takes room, and harms nothing.
func (r *run) forget(plan provider.Plan, failed error) {
	if plan.Forget == nil || failed != nil && !errors.Is(failed, errEndedMeanwhile) {
		return
	}
	if err := plan.Forget(); err != nil {
		r.engine.log.Warn("a call that was made could not be forgotten", "task", r.task.id, "error", err)
	}
}

// withOwn returns performers with those of a room among them.
func withOwn(brought map[string]provider.Performer, room interface {
	Performers() map[string]provider.Performer
}) map[string]provider.Performer {
	all := room.Performers()
	maps.Copy(all, brought)
	return all
}

// tenantOf returns the number of a tenant that performers name.
func (e *Engine) tenantOf(id string) (storage.Tenant, error) {
	t, err := e.tenants.Tenant(id)
	if err != nil {
		return 0, err
	}
	return storage.Tenant(t.Number), nil
}

// repeat finishes a write whose intent stands without a result: the node died in
// between. It is done again only where the target tells a repetition from a
// second call.
func (r *run) repeat(ctx context.Context, c *liveCall, plan provider.Plan, err error) (abi.CallStatus, []byte, error) {
	if err != nil || !plan.Repeatable {
		return r.close(ctx, c, journal.Result, nil, provider.Refuse(abi.CallIndeterminate, "indeterminate",
			"the node died while this call was under way, and it cannot be repeated safely: it may have happened or not"))
	}
	return r.do(ctx, c, plan)
}

func (r *run) providerCall(c *liveCall) *provider.Call {
	t := &r.task.about
	user := &secrets.User{Tenant: r.task.tenant, Workspace: t.WorkspaceID, Persona: t.PersonaID, Task: t.ID, Session: t.SessionID,
		Call: c.entry.Call, Vaults: func() []string { return r.task.session.State().VaultIDs }}
	return &provider.Call{
		Name: c.entry.Call, Number: r.made[c.entry.Call], Request: c.request, Tenant: r.engine.tenants.IDOf(r.task.tenant),
		WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID, PersonaID: t.PersonaID, Client: t.Client,
		Plugin: r.task.program.Plugin, IdempotencyKey: requestID(t.ID, c.entry.Index), Approved: c.gate != nil && !c.gate.Open, Again: c.intent != nil,
		Vault: r.engine.SecretsFor(user), NodeSecret: r.engine.TellNodeSecrets(user), AllowModel: r.allowModel,
		Progress: func(p abi.Progress) { r.performing(abi.EventProgress, tooluse.Shown(p, r.persona.ToolsVisibility)) },
		Thinks:   func(says string) { _ = r.handOver(); r.performing(abi.EventReasoningDelta, abi.ReasoningOf(says)) },
	}
}

// answer turns the outcome of a call into what the guest is told. An error that is
// no refusal ends the run.
func (r *run) answer(answer []byte, err error) (abi.CallStatus, []byte, error) {
	if err == nil {
		return abi.CallOK, answer, nil
	}
	var refused *provider.Refusal
	if errors.As(err, &refused) {
		return refused.Status, refused.Answer(), nil
	}
	return 0, nil, err
}

// setAside reserves what a call can use of Quotas. A call whose intent stands has counted
// already.
func (r *run) setAside(ctx context.Context, c *liveCall) (err error) {
	if c.intent == nil {
		c.request, err = r.engine.book.SetAside(ctx, &r.task.account, c.entry.Call, c.request)
	}
	return err
}

// ask returns a request as [liveCall.read] has decoded it, or decodes it.
func ask[T any](c *liveCall) (T, error) {
	return provider.Asked[T](c.asked, c.request)
}
