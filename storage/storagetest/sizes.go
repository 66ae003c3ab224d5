package storagetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	plain "github.com/wharf-dev/wharf/storage/memory"
)

func sizeTests() []test {
	return []test{
		{"a Workspace takes what its events and their content do", weighed},
		{"what is erased is taken no more", unweighed},
	}
}

// call returns a record of a Task that names content.
func call(task string, sequence uint64, h storage.Hash) storage.Record {
	return storage.Record{Kind: abi.EventCall, Resource: pointer(abi.ObjectTask, task), Sequence: sequence,
		Payload: fmt.Appendf(nil, `{"call":"tool.call","answer_blob":"sha256:%x"}`, h)}
}

// sizes holds what Workspaces take against the events that a model has.
func (h *harness) sizes(model *plain.Store) {
	h.Helper()
	sizer, ok := h.store.(storage.Sizer)
	weigher, weighs := h.engine.(Weigher)
	if !ok || !weighs {
		return
	}
	for _, t := range []storage.Tenant{1, 2} {
		w := id(abi.ObjectWorkspace, 1)
		want, frames := int64(0), map[*storage.Frame]bool{}
		for after, more := storage.Position(0), true; more; {
			var events []storage.Event
			var err error
			events, more, err = model.Events(ctx, t, storage.Scope{Object: abi.ObjectWorkspace, ID: w}, after, 1000)
			h.must(err)
			for _, ev := range events {
				if after = ev.Position(); !frames[ev.Frame] {
					frames[ev.Frame] = true
					want += weigher.Weigh(ev.Frame) + contentOf(model, ev.Frame)
				}
			}
		}
		if got, known, err := sizer.SizeOf(ctx, t, w); err != nil || !known || got != want {
			h.Fatalf("the Workspace of tenant %d takes %d, known %t, %v; want %d", t, got, known, err, want)
		}
	}
}

// contentOf returns what the content of a frame takes.
func contentOf(s storage.Store, f *storage.Frame) (n int64) {
	for i := range f.Records {
		n += storage.ContentSize(&f.Records[i])
	}
	for _, hash := range storage.Named(f) {
		if b, err := s.Blobs().Open(ctx, hash); err == nil {
			n += b.Size()
			_ = b.Close() // of memory
		}
	}
	return n
}

// twice appends batches to the store and to a model.
func (h *harness) twice(model *plain.Store, batches ...*storage.Batch) {
	h.Helper()
	for _, b := range batches {
		_, err := model.Append(cloned(b)).Wait(ctx)
		h.must(err)
		h.append(b)
	}
}

// content stores a blob in both.
func (h *harness) content(model *plain.Store, text string) (hash storage.Hash) {
	h.Helper()
	for _, s := range []storage.Store{h.store, model} {
		var err error
		hash, _, err = s.Blobs().Put(ctx, strings.NewReader(text), nil)
		h.must(err)
	}
	return hash
}

func worked(h *harness, model *plain.Store, n int) (task string) {
	h.Helper()
	task = id(abi.ObjectTask, n)
	answer := h.content(model, strings.Repeat("an answer", n))
	artifact := id(abi.ObjectArtifact, n)
	h.twice(model, submit(n),
		frame(0, task, call(task, 1, answer), call(task, 2, storage.Hash{9})),
		frame(0, task, storage.Record{Kind: abi.EventArtifactCreated, Resource: pointer(abi.ObjectArtifact, artifact), Created: true,
			State: fmt.Appendf(nil, `{"id":%q,"sha256":"%x","size_bytes":%d}`, artifact, answer, 1000+n)}),
		frame(0, task, storage.Record{Kind: abi.EventTaskCompleted, Resource: pointer(abi.ObjectTask, task), Sequence: 3,
			State: fmt.Appendf(nil, `{"id":%q,"padding":"%0*d"}`, task, 100_000, n)}))
	return task
}

func weighed(h *harness) {
	model := plain.New(func() time.Time { return Epoch })
	for n := range 5 {
		worked(h, model, n+1)
		h.sizes(model)
	}
	h.crash()
	h.sizes(model)
	h.restart()
	h.sizes(model)
	h.sound()
	if sizer, ok := h.store.(storage.Sizer); ok {
		if n, known, err := sizer.SizeOf(ctx, 1, "ws_nobody"); n != 0 || !known || err != nil {
			h.Errorf("what is not there takes %d, %t, %v", n, known, err)
		}
	}
}

func unweighed(h *harness) {
	if _, ok := h.store.(storage.Eraser); !ok {
		h.Skip("the engine erases nothing")
	}
	model := plain.New(func() time.Time { return Epoch })
	var tasks []string
	for n := range 5 {
		tasks = append(tasks, worked(h, model, n+1))
	}
	for n, task := range tasks {
		b := frame(0, "", storage.Record{Kind: "test.erased", Resource: pointer(abi.ObjectTask, task), Sequence: 9,
			Erase: &storage.Erasure{Session: id(abi.ObjectSession, 1)}})
		b.Frame.SessionID = ""
		h.twice(model, b)
		h.sizes(model)
		if n%2 == 0 {
			h.crash()
			h.sizes(model)
		}
	}
	h.sound()
}
