package installs_test

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
	"time"

	"crypto/rand"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// watched tells when a batch is handed over.
type watched struct {
	storage.Store
	at func(step string)
}

func (w watched) Append(b *storage.Batch) storage.Commit {
	w.at("before the event")
	commit := w.Store.Append(b)
	w.at("after the event was handed over")
	return commit
}

// slowly tells of each part of an upload.
type slowly struct {
	from io.Reader
	at   func(step string)
}

func (s slowly) Read(p []byte) (int, error) {
	s.at("while the module comes")
	return s.from.Read(p[:min(len(p), 1024)])
}

// keeperOn makes a keeper over a disk, as a start of a node does.
func keeperOn(t *testing.T, disk *crashtest.Disk, l *loader, at func(string)) (*installs.Keeper, storage.Store) {
	t.Helper()
	opened, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	store := watched{opened, at}
	log := slog.New(slog.DiscardHandler)
	led := ledger.New(ledger.Config{Store: store, Now: time.Now, Log: log, IdleSessions: 10, KeepKeys: 24 * time.Hour})
	k := installs.NewKeeper(installs.Parts{Modules: l, Tenants: func() []*abi.Tenant { return nil }, Parts: desk.Parts{
		Store: store, Ledger: led, Desk: desk.New(store, led, time.Now, nil), IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now, Log: log}})
	if err := k.LoadPlugins(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k, store
}

// The power is cut at each step of an install: the node comes back with the version of before or the new
// one, and with all of its module.
func TestACrashAtEachStepLeavesTheOldOrTheNew(t *testing.T) {
	disk, l := crashtest.NewDisk(), &loader{}
	type cut struct {
		step string
		disk *crashtest.Disk
	}
	var cuts []cut
	steps, on := map[string]int{}, false
	at := func(step string) {
		if !on {
			return
		}
		if steps[step]++; step == "while the module comes" && steps[step] > 3 {
			return
		}
		for i, kept := range []float64{0, 0.5, 1} {
			cuts = append(cuts, cut{step, disk.Crash(uint64(len(cuts)+i), kept)})
		}
	}
	k, _ := keeperOn(t, disk, l, at)
	l.tried = func(string) { at("while it is compiled") }
	root := &desk.Caller{Tenant: roomtest.Tenant, TenantID: roomtest.TenantID, Actor: "root", Scopes: []string{abi.ScopeAll}}
	old, next := bytes.Repeat([]byte("old "), 50_000), bytes.Repeat([]byte("next"), 50_000)
	for _, module := range [][]byte{old, next} {
		if _, err := k.InstallPlugin(t.Context(), root, nil, abi.InstallPluginRequest{Name: "triage"}, slowly{bytes.NewReader(module), at}); err != nil {
			t.Fatal(err)
		}
		on = true
	}
	at("after it was answered")
	found := map[string]int{}
	for _, c := range cuts {
		k, store := keeperOn(t, c.disk, &loader{}, func(string) {})
		digest, known, err := k.Installed("triage")
		if !known || err != nil {
			t.Fatalf("%s: the plugin is gone: %v", c.step, err)
		}
		want := old
		switch digest {
		case digestOf(string(old)):
			if c.step == "after it was answered" {
				t.Errorf("%s: new tasks run the version of before", c.step)
			}
		case digestOf(string(next)):
			if want = next; c.step != "after it was answered" && c.step != "after the event was handed over" {
				t.Errorf("%s: new tasks run the new version", c.step)
			}
		default:
			t.Fatalf("%s: new tasks run %s", c.step, digest)
		}
		found[c.step]++
		hash, err := journal.ParseHash(digest)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := journal.Content(t.Context(), store.Blobs(), hash); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the module is not whole: %d bytes, %v", c.step, len(got), err)
		}
		if _, err := k.InstallPlugin(t.Context(), root, nil, abi.InstallPluginRequest{Name: "triage"}, bytes.NewReader(next)); err != nil {
			t.Errorf("%s: it cannot be installed again: %v", c.step, err)
		}
	}
	if len(found) != 5 {
		t.Errorf("the power was cut at %v", found)
	}
}
