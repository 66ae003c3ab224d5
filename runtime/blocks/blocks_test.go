package blocks_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/blocks"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const persona = "persona_one"

// room is a keeper by itself, with a Persona of Workspace and one of the tenant.
type room struct {
	*roomtest.House
	*blocks.Keeper
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.furnish()
	r.persona(t, persona, roomtest.Workspace)
	r.persona(t, roomtest.Persona, "")
	return r
}

func (r *room) furnish() {
	r.Keeper = blocks.NewKeeper(blocks.Parts{Parts: r.Parts, TenantID: func(storage.Tenant) string { return roomtest.TenantID },
		Persona: func(ctx context.Context, t storage.Tenant, id string) (*personas.Persona, error) {
			res, err := r.Ledger.Find(ctx, t, abi.ObjectPersona, id)
			p := &personas.Persona{}
			if err == nil {
				err = ledger.Decode(res.State, &p.Persona)
			}
			return p, err
		}})
}

func (r *room) persona(t testing.TB, id, workspace string) {
	t.Helper()
	r.State(t, workspace, "", abi.EventPersonaCreated, abi.ObjectPersona, id, &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, id, r.Now(), nil), WorkspaceID: workspace})
}

func (r *room) make(t testing.TB, label, value string, readOnly bool) {
	t.Helper()
	if _, err := r.CreateBlock(t.Context(), r.Root(), nil, persona, abi.CreateBlockRequest{Label: label, Value: value, ReadOnly: readOnly}); err != nil {
		t.Fatal(err)
	}
}

// has says what a Persona has in mind, in short.
func (r *room) has(t testing.TB, id string) string {
	t.Helper()
	m, err := r.AgentMemory(t.Context(), r.Root(), id)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(m.Version)
	for _, b := range m.Blocks {
		text += fmt.Sprintf(" %s=%s/%d", b.Label, b.Value, b.Version)
	}
	return text
}

// Blocks are in order of label, each change is a version, and all are there after a crash.
func TestBlocks(t *testing.T) {
	r := newRoom(t)
	if got := r.has(t, persona); got != "0" {
		t.Errorf("nobody has said anything: %s", got)
	}
	r.make(t, "b", "two", false)
	r.make(t, "a", "law", true)
	seen, stale := int64(1), int64(7)
	change := func(label string, version *int64) error {
		_, err := r.UpdateBlock(t.Context(), r.Root(), nil, persona, label, abi.UpdateBlockRequest{Value: "new", Version: version})
		return err
	}
	roomtest.WantCode(t, change("b", &stale), abi.CodeConflict)
	roomtest.WantCode(t, change("a", nil), abi.CodeConflict)
	roomtest.WantCode(t, change("c", nil), abi.CodeResourceNotFound)
	roomtest.WantCode(t, r.DeleteBlock(t.Context(), r.Root(), nil, persona, "a"), abi.CodeConflict)
	if err := change("b", &seen); err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.furnish()
	if got := r.has(t, persona); got != "3 a=law/2 b=new/3" {
		t.Error(got)
	}
	if err := r.DropBlocks(t.Context(), r.Root(), persona); err != nil {
		t.Fatal(err)
	}
	if got := r.has(t, persona); got != "4" {
		t.Errorf("forgotten: %s", got)
	}
}

// Of changes that come at once none is lost, and a label is there once.
func TestBlocksAtOnce(t *testing.T) {
	r := newRoom(t)
	var wg sync.WaitGroup
	made := make(chan error, 16)
	for i := range cap(made) {
		wg.Go(func() {
			_, err := r.CreateBlock(t.Context(), r.Root(), nil, persona, abi.CreateBlockRequest{Label: fmt.Sprint("l", i/2), Value: "x"})
			made <- err
		})
	}
	wg.Wait()
	close(made)
	failed := 0
	for err := range made {
		if err != nil {
			roomtest.WantCode(t, err, abi.CodeConflict)
			failed++
		}
	}
	if m, err := r.AgentMemory(t.Context(), r.Root(), persona); err != nil || len(m.Blocks) != 8 || m.Version != 8 || failed != 8 {
		t.Errorf("%+v, %v, %d refused", m, err, failed)
	}
}

// A retry makes nothing twice; strangers see no Persona, and who is bound changes none of the tenant.
func TestWhoseBlocks(t *testing.T) {
	r := newRoom(t)
	req := abi.CreateBlockRequest{Label: "a", Value: "x"}
	for range 2 {
		if _, err := r.CreateBlock(t.Context(), r.Root(), roomtest.Retry("k", "{}"), persona, req); err != nil {
			t.Fatal(err)
		}
	}
	for who, c := range r.Strangers() {
		_, err := r.AgentMemory(t.Context(), c, persona)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, err = r.CreateBlock(t.Context(), c, nil, persona, abi.CreateBlockRequest{Label: "b", Value: who})
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	}
	_, err := r.CreateBlock(t.Context(), r.Bound(roomtest.Workspace), nil, roomtest.Persona, req)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	if got := r.has(t, persona); got != "1 a=x/1" {
		t.Error(got)
	}
}

func TestLimitsOfBlocks(t *testing.T) {
	r := newRoom(t)
	long := strings.Repeat("ä", abi.MaxBlockValue)
	create := func(label, value string) error {
		_, err := r.CreateBlock(t.Context(), r.Root(), nil, persona, abi.CreateBlockRequest{Label: label, Value: value})
		return err
	}
	for i := range 4 {
		if err := create(fmt.Sprint("long", i), long); err != nil {
			t.Fatal(err)
		}
	}
	roomtest.WantParam(t, create("more", "x"), "value")
	if err := r.DeleteBlock(t.Context(), r.Root(), nil, persona, "long0"); err != nil {
		t.Fatal(err)
	}
	for i := range abi.MaxBlocks - 3 {
		if err := create(fmt.Sprint("s", i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	roomtest.WantParam(t, create("more", "x"), "label")
}

// What a snapshot does with blocks that are there, by strategy.
func TestSnapshots(t *testing.T) {
	for merge, want := range map[abi.MemoryMerge]string{
		abi.MemoryOverwrite: "5 fixed=law/1 new=n/5 same=s/2 text=one/5 wide=wi/5 conflicts 3",
		abi.MemorySkip:      "5 fixed=law/1 new=n/5 same=s/2 text=two/3 wide=wide/4 conflicts 3",
		abi.MemoryMergeBoth: "5 fixed=law/1 new=n/5 same=s/2 text=two\none/5 wide=wide/4 conflicts 3",
	} {
		r := newRoom(t)
		r.make(t, "fixed", "law", true)
		r.make(t, "same", "s", false)
		r.make(t, "text", "two", false)
		r.make(t, "wide", "wide", false)
		files := []filetree.File{{Path: "blocks.json", Content: []byte(`[{"label":"fixed","value":"f"},{"label":"new","value":"n"},{"label":"same","value":"s"},` +
			`{"label":"text","value":"one"},{"label":"wide","value":"wi"}]`)}, {Path: "archive.json", Content: []byte(`[{"content":"e"},{"content":"e"},{"content":""}]`)}}
		doc, err := r.ImportMemory(t.Context(), r.Root(), roomtest.Retry("k", "{}"), persona, merge, files)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.ImportMemory(t.Context(), r.Root(), roomtest.Retry("k", "{}"), persona, merge, files)
		did := roomtest.As[abi.AgentMemory](t, again).Imported
		if err != nil || !again.Replayed || doc.Replayed || did.Entries != 1 || len(did.Warnings) != 2 {
			t.Errorf("%s: %+v, %v", merge, did, err)
		}
		if got := fmt.Sprintf("%s conflicts %d", r.has(t, persona), did.Conflicts); got != want {
			t.Errorf("%s: %s, want %s", merge, got, want)
		}
		if all, err := r.ArchiveOf(t.Context(), r.Root(), persona); err != nil || len(all) != 1 {
			t.Errorf("%s: the archive has %d entries, %v", merge, len(all), err)
		}
	}
}

// What an agent is given of a bundle stays what it has; a clone knows what its source does.
func TestAgentsAreGivenBlocks(t *testing.T) {
	r := newRoom(t)
	r.make(t, "a", "mine", false)
	if err := r.FillBlocks(t.Context(), r.Root(), persona, []oaf.Block{{Label: "a", Value: "theirs"}, {Label: "b", Value: "b"}}, true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddToArchive(t.Context(), r.Root(), nil, persona, abi.ArchiveRequest{Content: "kept"}); err != nil {
		t.Fatal(err)
	}
	if err := r.CopyBlocks(t.Context(), r.Root(), persona, roomtest.Persona); err != nil {
		t.Fatal(err)
	}
	if got := r.has(t, roomtest.Persona); got != "1 a=mine/1 b=b/1" {
		t.Error(got)
	}
	roomtest.WantCode(t, r.DeleteBlock(t.Context(), r.Root(), nil, roomtest.Persona, "b"), abi.CodeConflict)
	if all, err := r.ArchiveOf(t.Context(), r.Root(), roomtest.Persona); err != nil || len(all) != 1 || memories.TextOf(&all[0]) != "kept" {
		t.Errorf("%v, %v", all, err)
	}
}

// An event tells that blocks have changed, not what is in them, and a search finds by any word.
func TestFoundByItsWords(t *testing.T) {
	r := newRoom(t)
	r.make(t, "home", "lives in Bern", false)
	if _, err := r.AddToArchive(t.Context(), r.Root(), nil, persona, abi.ArchiveRequest{Content: "likes tea in the morning"}); err != nil {
		t.Fatal(err)
	}
	found, err := r.SearchMemory(t.Context(), r.Root(), persona, blocks.Search{Query: "Bern tea", Archive: true})
	if err != nil || len(found) != 2 || found[0].Label != "home" {
		t.Errorf("%+v, %v", found, err)
	}
	if kinds := r.Kinds(t, desk.Filter{WorkspaceID: roomtest.Workspace}); !strings.Contains(fmt.Sprint(kinds), string(abi.EventAgentMemoryChanged)) {
		t.Error(kinds)
	}
}
