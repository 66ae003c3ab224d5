package quotas_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a book by itself, and what serves its Quotas.
type room struct {
	*roomtest.House
	*quotas.Resources
	book    *quotas.Book
	leftOut []string
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.State(t, "", "", abi.EventPersonaCreated, abi.ObjectPersona, roomtest.Persona, &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, roomtest.Persona, r.Now(), nil)})
	r.start(t)
	return r
}

// start makes the book anew, as a start of the node does.
func (r *room) start(t testing.TB) {
	t.Helper()
	r.leftOut = nil
	r.book = quotas.NewBook(quotas.Parts{Parts: r.Parts, Tenants: tenants{},
		Persona:  func(context.Context, storage.Tenant, string) (*abi.Persona, error) { return &abi.Persona{}, nil },
		LeaveOut: func(_ storage.Tenant, _ abi.Object, id string, _ error) { r.leftOut = append(r.leftOut, id) },
		Owned:    func(do func()) func() { return do },
		Overtime: func(ledger.Key, *abi.Failure) {},
	})
	r.Resources = quotas.NewResources(r.book)
	if err := r.book.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

type tenants struct{}

func (tenants) All() []*abi.Tenant {
	return []*abi.Tenant{{Envelope: abi.Envelope{ID: roomtest.TenantID}, Number: uint32(roomtest.Tenant)}}
}
func (tenants) IDOf(storage.Tenant) string { return roomtest.TenantID }
func (tenants) Tenant(id string) (*abi.Tenant, error) {
	if id != roomtest.TenantID {
		return nil, abi.NotFound(abi.ObjectTenant, id)
	}
	return tenants{}.All()[0], nil
}

func (r *room) make(t testing.TB, req abi.CreateQuotaRequest) string {
	t.Helper()
	doc, err := r.CreateQuota(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (r *room) usage(t testing.TB, id, of string) float64 {
	t.Helper()
	doc, err := r.Quota(t.Context(), r.Root(), id)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Quota](t, doc).Usage[of]
}

func (r *room) task(id string) *abi.Task {
	task := r.Task()
	task.ID = id
	return task
}

// accept accepts a Task as the engine does: it is checked, and enrolled with its batch.
func (r *room) accept(id string) error {
	a, err := r.book.Check(context.Background(), roomtest.Tenant, r.task(id))
	if err != nil {
		return err
	}
	return r.told(id, func(b *storage.Batch, hand func()) error { return r.book.Enroll(&a, b, hand) })
}

// told has a batch about a Task handed over by what counts it.
func (r *room) told(id string, by func(*storage.Batch, func()) error) error {
	b := &storage.Batch{Frame: storage.Frame{Tenant: roomtest.Tenant, Time: r.Now(), WorkspaceID: roomtest.Workspace, TaskID: id}}
	var commit storage.Commit
	err := by(b, func() {
		if len(b.Frame.Records) > 0 {
			commit = r.Ledger.Append(b)
		}
	})
	if err == nil && commit != nil {
		_, err = commit.Wait(context.Background())
	}
	return err
}

func limits(name string, n float64) map[string]float64 { return map[string]float64{name: n} }

func ofTenant(name string, n float64) abi.CreateQuotaRequest {
	return abi.CreateQuotaRequest{Scope: abi.QuotaTenant, Limits: limits(name, n)}
}

// Work that is done at once cannot pass a hard limit, and what was used is there after a crash.
func TestTasksAtOnceDoNotPassALimit(t *testing.T) {
	r := newRoom(t)
	id := r.make(t, ofTenant("tasks", 3))
	var all, checked sync.WaitGroup
	errs := make([]error, 12)
	checked.Add(len(errs))
	for i := range errs {
		all.Go(func() {
			task := r.task(fmt.Sprint("task_", i))
			a, err := r.book.Check(context.Background(), roomtest.Tenant, task)
			if err != nil {
				t.Error("there is room when they are checked: ", err)
			}
			checked.Done()
			checked.Wait()
			errs[i] = r.told(task.ID, func(b *storage.Batch, hand func()) error { return r.book.Enroll(&a, b, hand) })
		})
	}
	all.Wait()
	accepted := 0
	for _, err := range errs {
		if err == nil {
			accepted++
		}
	}
	if accepted != 3 || r.usage(t, id, "tasks") != 3 || r.book.Refused() != 9 {
		t.Errorf("%d were accepted, %v are counted, %d were refused", accepted, r.usage(t, id, "tasks"), r.book.Refused())
	}
	r.Crash()
	r.start(t)
	if r.usage(t, id, "tasks") != 3 || r.accept("task_late") == nil {
		t.Errorf("after the crash %v are counted", r.usage(t, id, "tasks"))
	}
	more := limits("tasks", 4)
	if _, err := r.UpdateQuota(t.Context(), r.Root(), nil, id, abi.UpdateQuotaRequest{Limits: more}); err != nil {
		t.Fatal(err)
	}
	if err := r.accept("task_later"); err != nil {
		t.Error("there is room again: ", err)
	}
}

// A Task that has not ended counts as one that is there at the same time, until it leaves.
func TestTasksThatAreThereAtOnce(t *testing.T) {
	r := newRoom(t)
	r.make(t, ofTenant("concurrent", 1))
	if err := r.accept("task_a"); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t)
	for range 2 { // more than once is as once
		if err := r.book.Reenroll(t.Context(), roomtest.Tenant, r.task("task_a")); err != nil {
			t.Fatal(err)
		}
	}
	if r.accept("task_b") == nil {
		t.Error("a second one is accepted")
	}
	key := ledger.Key{Tenant: roomtest.Tenant, ID: "task_a"}
	r.book.Leave(key)
	r.book.Leave(key)
	if err := r.accept("task_b"); err != nil {
		t.Error(err)
	}
	if r.accept("task_c") == nil {
		t.Error("a third one is accepted")
	}
}

// A call sets aside what it can use: another waits for that, is made when it is given back, and
// is refused when it is used.
func TestCallsSetAside(t *testing.T) {
	for name, used := range map[string]bool{"given back": false, "used": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t)
				id := r.make(t, ofTenant("tool_calls", 1))
				var accounts [2]quotas.Account
				for i := range accounts {
					if err := r.accept(fmt.Sprint("task_", i)); err != nil {
						t.Fatal(err)
					}
					accounts[i] = r.book.Account(ledger.Key{Tenant: roomtest.Tenant, ID: fmt.Sprint("task_", i)})
					r.book.Begin(&accounts[i])
				}
				if _, err := r.book.SetAside(t.Context(), &accounts[0], abi.CallToolCall, nil); err != nil {
					t.Fatal(err)
				}
				second := make(chan error, 1)
				go func() {
					_, err := r.book.SetAside(t.Context(), &accounts[1], abi.CallToolCall, nil)
					second <- err
				}()
				synctest.Wait()
				if len(second) > 0 {
					t.Fatal("it does not wait")
				}
				if used {
					accounts[0].Use(&journal.Entry{Call: abi.CallToolCall, Status: abi.CallOK}, journal.Whole)
				}
				err := r.told("task_0", func(b *storage.Batch, hand func()) error { return r.book.Count(&accounts[0], b, "", false, hand) })
				if err != nil {
					t.Fatal(err)
				}
				refused, is := (<-second).(*provider.Refusal)
				if is != used || is && refused.Status != abi.CallDenied {
					t.Errorf("the second is refused: %v", refused)
				}
				want := map[bool]float64{true: 1}[used]
				r.Crash()
				r.start(t)
				if got := r.usage(t, id, "tool_calls"); got != want {
					t.Errorf("%v are counted", got)
				}
			})
		})
	}
}

// Who sees some Workspaces only sees what bounds these, and makes and changes no Quota; nobody
// sees another tenant's.
func TestWhoSeesAndChangesQuotas(t *testing.T) {
	r := newRoom(t)
	wide := r.make(t, ofTenant("tasks", 1))
	own := r.make(t, abi.CreateQuotaRequest{Scope: abi.QuotaWorkspace, OwnerID: roomtest.Workspace, Limits: limits("tasks", 1)})
	bound, ctx := r.Bound(roomtest.Workspace), t.Context()
	if _, err := r.Quota(ctx, bound, own); err != nil {
		t.Error(err)
	}
	_, err := r.Quota(ctx, bound, wide)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	if list, err := r.Quotas(ctx, bound, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 1 || list.Docs[0].ID != own {
		t.Errorf("it sees %d, %v", len(list.Docs), err)
	}
	_, err = r.UpdateQuota(ctx, bound, nil, own, abi.UpdateQuotaRequest{})
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	_, err = r.CreateQuota(ctx, bound, nil, ofTenant("tasks", 1))
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	for who, c := range r.Strangers() {
		for _, id := range []string{wide, own} {
			_, err := r.Quota(ctx, c, id)
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			_, err = r.UpdateQuota(ctx, c, nil, id, abi.UpdateQuotaRequest{})
			roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		}
		if list, err := r.Quotas(ctx, c, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
			t.Errorf("one %s sees %d, %v", who, len(list.Docs), err)
		}
	}
	node := abi.CreateQuotaRequest{Scope: abi.QuotaOrganization, Limits: limits("tasks", 1)}
	_, err = r.CreateQuota(ctx, r.With("quotas:write"), nil, node)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	id := r.make(t, node)
	_, err = r.Quota(ctx, r.With("quotas:read"), id)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	other := ofTenant("tasks", 1)
	other.OwnerID = "tenant_other"
	_, err = r.CreateQuota(ctx, r.With("quotas:write"), nil, other)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
}

func TestQuotasThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for name, test := range map[string]struct {
		change func(*abi.CreateQuotaRequest)
		param  string
	}{
		"scope":               {func(q *abi.CreateQuotaRequest) { q.Scope = "galaxy" }, "scope"},
		"no limits":           {func(q *abi.CreateQuotaRequest) { q.Limits = nil }, "limits"},
		"what is not counted": {func(q *abi.CreateQuotaRequest) { q.Limits = limits("joy", 1) }, "limits"},
		"a negative limit":    {func(q *abi.CreateQuotaRequest) { q.Limits = limits("tasks", -1) }, "limits"},
		"too large a limit":   {func(q *abi.CreateQuotaRequest) { q.Limits = limits("tasks", 2e15) }, "limits"},
		"a negative window":   {func(q *abi.CreateQuotaRequest) { q.WindowSeconds = -1 }, "window_seconds"},
		"too long a window":   {func(q *abi.CreateQuotaRequest) { q.WindowSeconds = 367 * 24 * 3600 }, "window_seconds"},
		"metadata":            {func(q *abi.CreateQuotaRequest) { q.Metadata = jsontext.Value(`7`) }, "metadata"},
		"an owner of a node":  {func(q *abi.CreateQuotaRequest) { q.Scope, q.OwnerID = abi.QuotaOrganization, "x" }, "owner_id"},
	} {
		t.Run(name, func(t *testing.T) {
			req := ofTenant("tasks", 1)
			test.change(&req)
			_, err := r.CreateQuota(t.Context(), r.Root(), nil, req)
			roomtest.WantParam(t, err, test.param)
		})
	}
	for scope, owner := range map[abi.QuotaScope]string{abi.QuotaWorkspace: "ws_none", abi.QuotaPersona: "persona_none", abi.QuotaTenant: "tenant_none"} {
		_, err := r.CreateQuota(t.Context(), r.Root(), nil, abi.CreateQuotaRequest{Scope: scope, OwnerID: owner, Limits: limits("tasks", 1)})
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	}
	id := r.make(t, ofTenant("tasks", 1))
	_, err := r.UpdateQuota(t.Context(), r.Root(), nil, id, abi.UpdateQuotaRequest{Limits: map[string]float64{}})
	roomtest.WantParam(t, err, "limits")
}

// A Quota that cannot be read counts as used up, until its limits are stated anew.
func TestAQuotaThatCannotBeRead(t *testing.T) {
	r := newRoom(t)
	id := r.make(t, ofTenant("tasks", 5))
	_, _, err := r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant}, nil, 0,
		ledger.Record{Kind: abi.EventQuotaUpdated, Object: abi.ObjectQuota, ID: id, Sequence: 1, State: jsontext.Value(`{"id":7}`)})
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.start(t)
	if len(r.leftOut) != 1 || r.leftOut[0] != id {
		t.Errorf("left out: %v", r.leftOut)
	}
	if r.accept("task_a") == nil {
		t.Error("a task is accepted under it")
	}
	if _, err := r.UpdateQuota(t.Context(), r.Root(), nil, id, abi.UpdateQuotaRequest{Limits: limits("tasks", 100)}); err != nil {
		t.Fatal(err)
	}
	if err := r.accept("task_a"); err != nil {
		t.Error("after it was stated anew: ", err)
	}
}
