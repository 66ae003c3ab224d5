package storagetest

import (
	"errors"
	"reflect"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func resourceTests() []test {
	return []test{
		{"a resource is as it was last stated", lastStated},
		{"several resources are read in the order of their ids", severalStated},
		{"a sequence is the highest of any event", sequences},
		{"lists are newest first, and in pages", listed},
		{"Personas and Skills are listed by the Workspace that they are of", listedByWorkspace},
		{"what is deleted is out of the lists of its owners", unlisted},
		{"lists are read from either end, from any place on", listedAnyhow},
		{"Tasks are active until they end", active},
	}
}

func lastStated(h *harness) {
	task := id(abi.ObjectTask, 1)
	h.append(submit(1))
	h.append(note(1, 1, 5)) // states nothing
	want := storage.Resource{ID: task, State: state(task, 0), Position: 2, Origin: 2}
	for range 2 {
		got, err := h.store.Get(ctx, 1, abi.ObjectTask, task)
		if err != nil || !reflect.DeepEqual(got, want) {
			h.Fatalf("Get = %+v, %v, want %+v", got, err, want)
		}
		b := finish(1)
		b.Frame.Records[0].Restricted = true
		want.Position, want.Sequence, want.Restricted, want.State = h.append(b), 1, true, state(task, 1)
		h.crash()
		if got, err = h.store.Get(ctx, 1, abi.ObjectTask, task); err != nil || !reflect.DeepEqual(got, want) {
			h.Fatalf("Get = %+v, %v, want %+v", got, err, want)
		}
	}
	_, err := h.store.Get(ctx, 2, abi.ObjectTask, task)
	h.want("another tenant's resource", err, storage.ErrNotFound)
	_, err = h.store.Get(ctx, 1, abi.ObjectSession, task)
	h.want("a resource of another kind", err, storage.ErrNotFound)
}

func severalStated(h *harness) {
	h.append(saidAtOnce(1, 2, 3))
	h.append(saidAtOnce(4))
	ids := func(numbers ...int) (all []string) {
		for _, n := range numbers {
			all = append(all, id(abi.ObjectMessage, n))
		}
		return all
	}
	for _, test := range []struct {
		ids []string
		n   int // how many are read
	}{{ids(), 0}, {ids(3, 4, 1, 1), 4}, {ids(2, 9, 3), 1}, {ids(9), 0}} {
		all, err := h.store.GetAll(ctx, 1, abi.ObjectMessage, test.ids)
		if test.n < len(test.ids) {
			h.want("one that is not there", err, storage.ErrNotFound)
		} else if err != nil {
			h.Fatalf("GetAll %v: %v", test.ids, err)
		}
		if len(all) != test.n {
			h.Fatalf("GetAll %v has read %d, want %d", test.ids, len(all), test.n)
		}
		for i, got := range all {
			if want, err := h.store.Get(ctx, 1, abi.ObjectMessage, test.ids[i]); err != nil || !reflect.DeepEqual(got, want) {
				h.Errorf("GetAll %v, number %d = %+v, want %+v, %v", test.ids, i, got, want, err)
			}
		}
	}
	_, err := h.store.GetAll(ctx, 2, abi.ObjectMessage, ids(1))
	h.want("another tenant's resource", err, storage.ErrNotFound)
}

func sequences(h *harness) {
	r := pointer(abi.ObjectTask, id(abi.ObjectTask, 1))
	want := func(n uint64, found bool) {
		h.Helper()
		if got, ok, err := h.store.Sequence(ctx, 1, r); got != n || ok != found || err != nil {
			h.Errorf("Sequence = %d, %v, %v, want %d, %v", got, ok, err, n, found)
		}
	}
	want(0, false)
	h.append(submit(1))
	want(0, true)
	h.append(note(1, 1, 2)) // 5 and 6, and no statement
	want(6, true)
	h.crash()
	want(6, true)
	b := finish(1)
	b.Frame.Records[0].Sequence = 7
	h.append(b)
	want(7, true)
	if _, ok, err := h.store.Sequence(ctx, 2, r); ok || err != nil {
		h.Errorf("another tenant's sequence: %v, %v", ok, err)
	}
}

// listAll returns the ids of a list, read in pages.
func (h *harness) listAll(o abi.Object, s storage.Scope, limit int) (all []string) {
	h.Helper()
	p := storage.Page{Limit: limit}
	for more := true; more; {
		var list []storage.Resource
		var err error
		if list, more, err = h.store.List(ctx, 1, o, s, p); err != nil || len(list) > limit || more && len(list) == 0 {
			h.Fatalf("List: %d, %v, %v", len(list), more, err)
		}
		for _, r := range list {
			p.After = r.ID
			all = append(all, r.ID)
		}
	}
	return all
}

func listed(h *harness) {
	want := map[storage.Scope][]string{}
	for _, n := range []int{3, 1, 4, 9, 2, 6} {
		b := submit(n)
		if n > 4 {
			b.Frame.SessionID = id(abi.ObjectSession, 2)
		}
		h.append(b)
		h.append(finish(n)) // stated anew, it keeps its place
		for _, s := range scopes()[:3] {
			if s.Object == "" || b.Frame.Owner(s.Object) == s.ID {
				want[s] = append(want[s], b.Frame.TaskID)
			}
		}
	}
	for s, all := range want {
		slices.Sort(all)
		slices.Reverse(all)
		for _, limit := range []int{1, 2, 50} {
			if got := h.listAll(abi.ObjectTask, s, limit); !slices.Equal(got, all) {
				h.Errorf("the Tasks of %v, %d at a time: %v, want %v", s, limit, got, all)
			}
		}
	}
	if got := h.listAll(abi.ObjectReceipt, storage.Scope{}, 9); got != nil {
		h.Errorf("a list of nothing has %v", got)
	}
	_, _, err := h.store.List(ctx, 1, abi.ObjectOutcome, storage.Scope{Object: abi.ObjectSession, ID: "s"}, storage.Page{Limit: 1})
	if scope, ok := errors.AsType[*storage.ScopeError](err); !ok || scope.Object != abi.ObjectOutcome {
		h.Errorf("a list that does not exist is taken for an empty one: %v", err)
	}
}

// listedByWorkspace makes some of each that are of no Workspace besides.
func listedByWorkspace(h *harness) {
	owners := []string{"", id(abi.ObjectWorkspace, 1), id(abi.ObjectWorkspace, 2), id(abi.ObjectWorkspace, 1)}
	for o, kind := range map[abi.Object]abi.EventKind{abi.ObjectPersona: abi.EventPersonaCreated, abi.ObjectSkill: abi.EventSkillCreated} {
		want := map[string][]string{}
		for n, owner := range owners {
			made := id(o, n)
			h.append(&storage.Batch{Frame: storage.Frame{Tenant: 1, Time: at(n), WorkspaceID: owner, Actor: "user_1",
				Records: []storage.Record{{Kind: kind, Resource: pointer(o, made), Created: true, State: state(made, 0)}}}})
			want[""] = append([]string{made}, want[""]...)
			if owner != "" {
				want[owner] = append([]string{made}, want[owner]...)
			}
		}
		for range 2 {
			for owner, all := range want {
				s := storage.Scope{}
				if owner != "" {
					s = storage.Scope{Object: abi.ObjectWorkspace, ID: owner}
				}
				if got := h.listAll(o, s, 1); !slices.Equal(got, all) {
					h.Errorf("the %ss of %q: %v, want %v", o, owner, got, all)
				}
			}
			h.crash()
		}
	}
}

// listedAnyhow asks for every part of a list, however it is asked for.
func listedAnyhow(h *harness) {
	const n = 7
	all := []string{}
	for i := range n {
		h.append(submit(i))
		all = append(all, id(abi.ObjectTask, i))
	}
	h.append(finish(3))
	for s, scope := range scopes()[:3] {
		for _, p := range everyPage(all) {
			want := slices.Clone(all)
			want = slices.DeleteFunc(want, func(id string) bool {
				return p.Least != "" && id < p.Least || p.Below != "" && id >= p.Below ||
					p.After != "" && (p.Oldest && id <= p.After || !p.Oldest && id >= p.After)
			})
			if !p.Oldest {
				slices.Reverse(want)
			}
			want = want[min(p.Offset, len(want)):]
			if p.After == "" && p.Offset == 0 {
				n, more, err := h.store.Count(ctx, 1, abi.ObjectTask, scope, p)
				if n != min(len(want), p.Limit) || more != (len(want) > p.Limit) || err != nil {
					h.Fatalf("scope %d, %+v: counted %d, %v, %v, want %d", s, p, n, more, err, len(want))
				}
			}
			rest := len(want) > p.Limit
			want = want[:min(p.Limit, len(want))]
			list, more, err := h.store.List(ctx, 1, abi.ObjectTask, scope, p)
			got := []string{}
			for _, r := range list {
				got = append(got, r.ID)
			}
			if err != nil || more != rest || !slices.Equal(got, want) {
				h.Fatalf("scope %d, %+v: %v, %v, %v, want %v, %v", s, p, got, more, err, want, rest)
			}
		}
	}
}

func unlisted(h *harness) {
	made := func(n int, kind abi.EventKind, sequence uint64) *storage.Batch {
		session := id(abi.ObjectSession, n)
		return &storage.Batch{Frame: storage.Frame{Tenant: 1, WorkspaceID: id(abi.ObjectWorkspace, 1), SessionID: session, Records: []storage.Record{{
			Kind: kind, Resource: pointer(abi.ObjectSession, session), Created: sequence == 0, Sequence: sequence, State: state(session, int(sequence))}}}}
	}
	scope := storage.Scope{Object: abi.ObjectWorkspace, ID: id(abi.ObjectWorkspace, 1)}
	for n := range 3 {
		h.append(made(n, abi.EventSessionCreated, 0))
	}
	h.append(made(1, abi.EventSessionDeleted, 1))
	atOnce := made(3, abi.EventSessionCreated, 0)
	atOnce.Frame.Records = append(atOnce.Frame.Records, made(3, abi.EventSessionHidden, 1).Frame.Records...)
	h.append(atOnce)
	for range 2 {
		if got := h.listAll(abi.ObjectSession, scope, 9); !slices.Equal(got, []string{id(abi.ObjectSession, 2), id(abi.ObjectSession, 0)}) {
			h.Errorf("the Workspace has %v", got)
		}
		if n, _, err := h.store.Count(ctx, 1, abi.ObjectSession, scope, storage.Page{Limit: 9}); n != 2 || err != nil {
			h.Errorf("the Workspace has %d, %v", n, err)
		}
		if got := h.listAll(abi.ObjectSession, storage.Scope{}, 9); len(got) != 4 {
			h.Errorf("the tenant has %v", got)
		}
		for _, n := range []int{1, 3} {
			if res, err := h.store.Get(ctx, 1, abi.ObjectSession, id(abi.ObjectSession, n)); err != nil || res.Sequence != 1 {
				h.Errorf("by its id: %+v, %v", res, err)
			}
		}
		h.crash()
	}
}

// everyPage returns pages of a list from and to every place, in both directions.
func everyPage(all []string) (pages []storage.Page) {
	places := []string{"", all[0], all[3], all[len(all)-1], id(abi.ObjectTask, len(all)+5)}
	for _, after := range places {
		for _, least := range places {
			for _, below := range places {
				for _, offset := range []int{0, 1, len(all), storage.MaxOffset} {
					for _, oldest := range []bool{false, true} {
						for _, limit := range []int{1, 3, 50} {
							pages = append(pages, storage.Page{After: after, Least: least, Below: below, Offset: offset, Oldest: oldest, Limit: limit})
						}
					}
				}
			}
		}
	}
	return pages
}

func active(h *harness) {
	for n := range 5 {
		b := submit(n)
		b.Frame.Tenant = storage.Tenant(n%2 + 1)
		h.append(b)
	}
	for n, kind := range map[int]abi.EventKind{0: abi.EventTaskCompleted, 1: abi.EventTaskCanceled, 4: abi.EventTaskStarted} {
		b := finish(n)
		b.Frame.Tenant, b.Frame.Records[0].Kind = storage.Tenant(n%2+1), kind
		h.append(b)
	}
	want := map[storage.Tenant][]string{1: {id(abi.ObjectTask, 2), id(abi.ObjectTask, 4)}, 2: {id(abi.ObjectTask, 3)}}
	for range 2 {
		got := map[storage.Tenant][]string{}
		h.must(h.store.Active(ctx, func(t storage.Tenant, task string) error {
			got[t] = append(got[t], task)
			return nil
		}))
		if !reflect.DeepEqual(got, want) {
			h.Errorf("active are %v, want %v", got, want)
		}
		h.crash()
	}
	enough := errors.New("enough")
	h.want("Active with a caller that has enough", h.store.Active(ctx, func(storage.Tenant, string) error { return enough }), enough)
}
