package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func (n *node) quota(t testing.TB, req abi.CreateQuotaRequest) abi.Quota {
	t.Helper()
	doc, err := n.CreateQuota(context.Background(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Quota](t, doc)
}

func (n *node) usage(t testing.TB, id string) abi.Quota {
	t.Helper()
	doc, err := n.Quota(context.Background(), n.Root, id)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Quota](t, doc)
}

func limits(pairs ...any) map[string]float64 {
	m := map[string]float64{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = float64(pairs[i+1].(int))
	}
	return m
}

// oracle is a model that answers with as many tokens as it may, and remembers how
// many answers it was giving at once.
type oracle struct {
	spent, open, most atomic.Int64
	leave             chan struct{} // when it is not nil, answers wait for it
}

func (o *oracle) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.ModelRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		if n := o.open.Add(1); n > o.most.Load() {
			o.most.Store(n)
		}
		defer o.open.Add(-1)
		if o.leave != nil {
			<-o.leave
		}
		o.spent.Add(int64(req.MaxTokens))
		return json.Marshal(&abi.ModelAnswer{Provider: "p", Model: "m", Usage: abi.ModelUsage{InputTokens: 3, OutputTokens: int64(req.MaxTokens)},
			Cost: float64(req.MaxTokens) / 100, Currency: "USD"})
	}}, nil
}

func consulting(o *oracle) enginetest.Configure {
	return func(_ *engine.Config, p *engine.Parts) {
		p.Performers = map[string]provider.Performer{abi.CallLLMComplete: o, abi.CallToolCall: open{}, abi.CallHTTPFetch: &target{}}
	}
}

func completion(tokens int) op {
	return op{abi.CallLLMComplete, fmt.Sprintf(`{"messages":[{"role":"user","text":"hi"}],"max_tokens":%d}`, tokens)}
}

func TestSubmitUnderQuota(t *testing.T) {
	for _, test := range []struct {
		name  string
		req   abi.CreateQuotaRequest
		tasks int // that are accepted
		code  abi.ErrorCode
		retry bool
	}{
		{"tasks", abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 2)}, 2, abi.CodePolicyViolation, false},
		{"tasks in a window", abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 2), WindowSeconds: 3600}, 2, abi.CodeRateLimited, true},
		{"tokens", abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("output_tokens", 20)}, 2, abi.CodePolicyViolation, false},
		{"money", abi.CreateQuotaRequest{Scope: abi.QuotaOrganization, Limits: map[string]float64{"usd": 0.2}}, 2, abi.CodePolicyViolation, false},
		{"a persona", abi.CreateQuotaRequest{Scope: abi.QuotaPersona, OwnerID: "persona_program", Limits: limits("tasks", 1)}, 1, abi.CodePolicyViolation, false},
		{"each persona", abi.CreateQuotaRequest{Scope: abi.QuotaPersona, Limits: limits("tasks", 1)}, 1, abi.CodePolicyViolation, false},
		{"a workspace", abi.CreateQuotaRequest{Scope: abi.QuotaWorkspace, OwnerID: tenancy.DefaultWorkspace, Limits: limits("tasks", 1)}, 1, abi.CodePolicyViolation, false},
		{"nothing", abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("usd", 0)}, 0, abi.CodePolicyViolation, false},
		{"not hard", abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("tasks", 1), HardLimit: new(false), SoftLimit: true}, 4, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(completion(10))
			n := newNode(t, enginetest.Guests{"program": p.run}, consulting(&oracle{}))
			q := n.quota(t, test.req)
			session := n.Session(t)
			for i := range 4 {
				doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi")})
				if i < test.tasks {
					if err != nil {
						t.Fatal(i, err)
					}
					if task := n.Wait(t, doc.ID); task.QuotaID == "" {
						t.Error("the task does not name its quota")
					}
					continue
				}
				own := enginetest.WantCode(t, err, test.code)
				if (own.RetryAfter > 0) != test.retry || len(own.Details) == 0 {
					t.Errorf("retry after %d, details %s", own.RetryAfter, own.Details)
				}
			}
			if test.req.Scope == abi.QuotaPersona { // others are not bounded by it
				n.Wait(t, n.Submit(t, session, "persona_echo"))
			}
			if got := n.usage(t, q.ID); got.Scope != test.req.Scope {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What a Task that runs may not use any more it is refused, and is told so; its
// record replays without the Quota being asked.
func TestCallsUnderQuota(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits map[string]float64
		ops    []op
		want   []string // how each call is answered, in part
	}{
		{"tokens", limits("output_tokens", 15), []op{completion(10), completion(10), completion(1)}, []string{`"output_tokens":10`, `"output_tokens":5`, "2 {\"code\":\"quota_exhausted\""}},
		{"money", map[string]float64{"usd": 0.1}, []op{completion(10), completion(10)}, []string{`"cost":0.1`, "2 {\"code\":\"quota_exhausted\""}},
		{"input", limits("input_tokens", 100), []op{completion(1), completion(1)}, []string{"0 ", "0 "}},
		{"too long a request", limits("input_tokens", 10), []op{completion(1)}, []string{"2 {\"code\":\"quota_exhausted\""}},
		{"tools", limits("tool_calls", 1), []op{{abi.CallToolCall, `{"server":"host","name":"time_now","arguments":{}}`}, {abi.CallToolCall, `{"server":"host","name":"time_now","arguments":{}}`}},
			[]string{"0 ", "2 {\"code\":\"quota_exhausted\""}},
		{"what is not limited", limits("tool_calls", 0), nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(test.ops...)
			n := newNode(t, enginetest.Guests{"program": p.run}, consulting(&oracle{}))
			session := n.Session(t)
			q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: test.limits})
			if test.ops == nil {
				_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi")})
				enginetest.WantCode(t, err, abi.CodePolicyViolation)
				return
			}
			id := n.Submit(t, session, "persona_program")
			if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
				t.Fatalf("%+v", task.Failure)
			}
			for i, got := range p.runs()[0] {
				if !strings.Contains(got, test.want[i]) {
					t.Errorf("call %d was answered %q, want %q", i, got, test.want[i])
				}
			}
			got := n.usage(t, q.ID)
			for name, used := range got.Usage {
				if used > test.limits[name] {
					t.Errorf("%s: %v used of %v", name, used, test.limits[name])
				}
			}
			if got.LastReceiptID == nil || *got.LastReceiptID != n.task(t, id).ReceiptID {
				t.Errorf("%+v", got)
			}
			n.wantReplay(t, id)
			if again := n.usage(t, q.ID); fmt.Sprint(again.Usage) != fmt.Sprint(got.Usage) {
				t.Errorf("a replay used %v", again.Usage)
			}
		})
	}
}

// Many Tasks at once, and the death of the node in between: no hard limit is passed,
// and what is counted is what the log has.
func TestQuotasHoldUnderLoad(t *testing.T) {
	const limit = 100
	model := &oracle{}
	p := func(ctx context.Context, h sandbox.Host) error {
		for i := range 5 {
			if _, _, err := h.Call(ctx, abi.CallLLMComplete, []byte(completion(1+i*3).request)); err != nil {
				return err
			}
		}
		return nil
	}
	g := enginetest.Guests{"program": p, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, consulting(model))
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("output_tokens", limit, "usd", 1, "concurrent", 8)})
	session := n.Session(t)
	for round := range 4 {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 4 {
					doc, err := n.SubmitTask(context.Background(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi")})
					if err == nil {
						_, _ = n.WaitTask(context.Background(), n.Root, doc.ID)
					}
				}
			})
		}
		if round < 3 {
			wg.Wait()
			n = boot(t, n.Disk.Crash(uint64(round), 0), g, consulting(model))
		} else {
			wg.Wait()
		}
	}
	defer n.Stop(t)
	got := n.usage(t, q.ID)
	if got.Usage["output_tokens"] > limit || got.Usage["output_tokens"] != float64(model.spent.Load()) || got.Usage["concurrent"] != 0 {
		t.Errorf("%v, and the model has given %d", got.Usage, model.spent.Load())
	}
	if got.ExhaustionReason == nil || model.most.Load() > 8 {
		t.Errorf("%+v, %d at once", got, model.most.Load())
	}
	n.wantCounted(t, q.ID, "output_tokens")
}

// wantCounted compares a Quota with the receipts of the Tasks.
func (n *node) wantCounted(t testing.TB, id, what string) {
	t.Helper()
	var sum float64
	for page := (desk.Page{Limit: 200}); ; {
		list, err := n.List(context.Background(), n.Root, abi.ObjectReceipt, desk.Filter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range list.Docs {
			var r struct {
				Wire struct {
					Budget struct {
						Consumed map[string]float64 `json:"consumed"`
					} `json:"autonomy_budget"`
				} `json:"wire"`
			}
			if err := json.Unmarshal(doc.JSON, &r); err != nil {
				t.Fatal(err)
			}
			sum += r.Wire.Budget.Consumed[what]
		}
		if page.After = list.Next; !list.More {
			break
		}
	}
	if got := n.usage(t, id).Usage[what]; got != sum {
		t.Errorf("the quota says %v %s, the receipts %v", got, what, sum)
	}
}

// A window that ends gives everything back, and what is over is told once in each.
func TestQuotaWindow(t *testing.T) {
	var ahead atomic.Int64
	clock := func(_ *engine.Config, p *engine.Parts) {
		p.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	}
	p := newProgram(completion(10))
	n := newNode(t, enginetest.Guests{"program": p.run}, consulting(&oracle{}), clock)
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("output_tokens", 20), WindowSeconds: 86400, HardLimit: new(false), SoftLimit: true})
	session := n.Session(t)
	for window := range 2 {
		for range 4 {
			n.Wait(t, n.Submit(t, session, "persona_program"))
		}
		got := n.usage(t, q.ID)
		if got.Usage["output_tokens"] != 40 || got.ExhaustionReason == nil || *got.ExhaustionReason != "output_tokens" {
			t.Errorf("window %d: %+v", window, got)
		}
		told := 0
		for _, kind := range n.Kinds(t, desk.Filter{}) {
			if kind == string(abi.EventQuotaExhausted) {
				told++
			}
		}
		if told != window+1 {
			t.Errorf("exhaustion was told %d times in %d windows", told, window+1)
		}
		ahead.Add(int64(24 * time.Hour))
		if got := n.usage(t, q.ID); got.Usage["output_tokens"] != 0 || got.ExhaustionReason != nil || !got.ResetAt.After(time.Now().Add(time.Duration(ahead.Load()))) {
			t.Errorf("after window %d: %+v", window, got)
		}
	}
}

// A Task that waits counts among those at one time, over restarts too, until it ends.
func TestConcurrentOverRestart(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"?"}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("concurrent", 1)})
	session := n.Session(t)
	id := n.Submit(t, session, "persona_program")
	n.parked(t, id)
	n = boot(t, n.Disk.Crash(1, 0), g)
	defer n.Stop(t)
	refused := func() error {
		_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_echo", Input: enginetest.Text("hi")})
		return err
	}
	if own := enginetest.WantCode(t, refused(), abi.CodeRateLimited); own.RetryAfter == 0 {
		t.Error("no Retry-After")
	}
	if got := n.usage(t, q.ID).Usage["concurrent"]; got != 1 {
		t.Errorf("%v at one time", got)
	}
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := refused(); err != nil {
		t.Error(err)
	}
}

// The time that runs use together ends them when it is used up.
func TestTimeUnderQuota(t *testing.T) {
	busy := func(ctx context.Context, _ sandbox.Host) error { <-ctx.Done(); return context.Cause(ctx) }
	n := newNode(t, enginetest.Guests{"busy": busy})
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("wall_time_ms", 60)})
	session := n.Session(t)
	var ids []string
	for range 3 {
		ids = append(ids, n.Submit(t, session, "persona_busy"))
	}
	for _, id := range ids {
		if task := n.Wait(t, id); task.Status != abi.TaskFailed || task.Failure.Code != quotas.Code {
			t.Errorf("%s %+v", task.Status, task.Failure)
		}
	}
	if got := n.usage(t, q.ID); got.Usage["wall_time_ms"] < 60 {
		t.Errorf("%+v", got.Usage)
	}
	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_echo", Input: enginetest.Text("hi")})
	enginetest.WantCode(t, err, abi.CodePolicyViolation)
}

func TestQuotaAccess(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	plain, _ := n.newKey(t, abi.CreateKeyRequest{Name: "plain"})
	other, _ := n.newKey(t, abi.CreateKeyRequest{Name: "other", Tenant: "acme"})
	bound, _ := n.newKey(t, abi.CreateKeyRequest{Name: "bound", WorkspaceIDs: []string{tenancy.DefaultWorkspace}})
	org := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaOrganization, Limits: limits("usd", 5)})
	mine := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("usd", 5)})
	work := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaWorkspace, OwnerID: tenancy.DefaultWorkspace, Limits: limits("usd", 5)})
	theirs := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, OwnerID: other.TenantID, Limits: limits("usd", 5)})
	for _, test := range []struct {
		name string
		c    *desk.Caller
		sees []string
	}{{"root", n.Root, []string{work.ID, mine.ID, org.ID}}, {"plain", plain, []string{work.ID, mine.ID}}, {"other", other, []string{theirs.ID}}, {"bound", bound, []string{work.ID}}} {
		var got []string
		for page := (desk.Page{Limit: 1}); ; {
			list, err := n.Quotas(t.Context(), test.c, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range list.Docs {
				got = append(got, d.ID)
			}
			if page.After = list.Next; !list.More {
				break
			}
		}
		if !slices.Equal(got, test.sees) {
			t.Errorf("%s sees %q, want %q", test.name, got, test.sees)
		}
	}
	for _, test := range []struct {
		c    *desk.Caller
		req  abi.CreateQuotaRequest
		code abi.ErrorCode
	}{
		{plain, abi.CreateQuotaRequest{Scope: abi.QuotaOrganization, Limits: limits("usd", 5)}, abi.CodePermissionDenied},
		{plain, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, OwnerID: other.TenantID, Limits: limits("usd", 5)}, abi.CodeResourceNotFound},
		{plain, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, OwnerID: "tenant_no", Limits: limits("usd", 5)}, abi.CodeResourceNotFound},
		{bound, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("usd", 5)}, abi.CodePermissionDenied},
		{plain, abi.CreateQuotaRequest{Scope: abi.QuotaPersona, OwnerID: "persona_no", Limits: limits("usd", 5)}, abi.CodeResourceNotFound},
	} {
		_, err := n.CreateQuota(t.Context(), test.c, nil, test.req)
		enginetest.WantCode(t, err, test.code)
	}
	for c, id := range map[*desk.Caller]string{plain: org.ID, other: mine.ID} {
		_, err := n.UpdateQuota(t.Context(), c, nil, id, abi.UpdateQuotaRequest{Limits: limits("usd", 50)})
		enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	}
}

// A limit that is raised lets work go on, also work that waits; a retry makes no
// second Quota.
func TestRaisingALimit(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	req := abi.CreateQuotaRequest{Scope: abi.QuotaOrganization, Limits: limits("tasks", 1)}
	doc, err := n.CreateQuota(t.Context(), n.Root, retry("k", "{}"), req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.CreateQuota(t.Context(), n.Root, retry("k", "{}"), req)
	if err != nil || again.ID != doc.ID || !again.Replayed {
		t.Fatalf("%s, %s, %v, %v", doc.ID, again.ID, again.Replayed, err)
	}
	session := n.Session(t)
	n.Wait(t, n.Submit(t, session, ""))
	_, err = n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
	enginetest.WantCode(t, err, abi.CodePolicyViolation)
	if got := n.usage(t, doc.ID); got.ExhaustionReason == nil {
		t.Errorf("%+v", got)
	}
	changed, err := n.UpdateQuota(t.Context(), n.Root, retry("u", "{}"), doc.ID, abi.UpdateQuotaRequest{Limits: limits("tasks", 2)})
	if err != nil || enginetest.As[abi.Quota](t, changed).ExhaustionReason != nil {
		t.Fatalf("%s %v", changed.JSON, err)
	}
	n.Wait(t, n.Submit(t, session, ""))
}

// Of a random history of Tasks, crashes and changes, each hard limit holds at every
// moment, and the log agrees with what the node says.
func TestQuotaHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := &oracle{}
		limit := rapid.IntRange(0, 40).Draw(rt, "limit")
		p := func(ctx context.Context, h sandbox.Host) error {
			_, _, err := h.Call(ctx, abi.CallLLMComplete, []byte(completion(7).request))
			return err
		}
		g := enginetest.Guests{"program": p, "echo": enginetest.Echo}
		n := boot(t, crashtest.NewDisk(), g, consulting(model))
		q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits("output_tokens", limit, "tasks", 12)})
		session := n.Session(t)
		for step := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				n = boot(t, n.Disk.Crash(uint64(step), 0), g, consulting(model))
				continue
			}
			var wg sync.WaitGroup
			for range rapid.IntRange(1, 5).Draw(rt, "at once") {
				wg.Go(func() {
					doc, err := n.SubmitTask(context.Background(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_program", Input: enginetest.Text("hi")})
					if err == nil {
						_, _ = n.WaitTask(context.Background(), n.Root, doc.ID)
					}
				})
			}
			wg.Wait()
			if got := n.usage(t, q.ID).Usage; got["output_tokens"] > float64(limit) || got["tasks"] > 12 || got["output_tokens"] != float64(model.spent.Load()) {
				rt.Fatalf("%v, and the model has given %d", got, model.spent.Load())
			}
		}
		n.wantCounted(t, q.ID, "output_tokens")
		stored, err := n.Store.Get(context.Background(), n.Root.Tenant, abi.ObjectQuota, q.ID)
		if err != nil {
			t.Fatal(err)
		}
		var logged abi.Quota
		if err := json.Unmarshal(stored.State, &logged); err != nil || logged.Usage["output_tokens"] != n.usage(t, q.ID).Usage["output_tokens"] {
			t.Errorf("the log says %s, %v", stored.State, err)
		}
		n.Stop(t)
	})
}
