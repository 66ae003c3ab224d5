package openharness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) memoryRoutes() []gateway.Route {
	const reads, writes, below = "memories:read", "memories:write", "agents/{agentId}/memory"
	export := read(below+"/export", "memory.export", reads, "Export what an agent knows", a.with(a.exportMemory))
	export.Media, export.Or = mediaZip, fasthttp.MethodPost
	export.Body, export.Tolerant = gateway.BodyOptionalJSON, true
	take := post(below+"/import", "memory.import", writes, "Import what an agent knows", statusOK, a.with(a.importMemory))
	take.Body = gateway.BodyRaw
	search := post(below+"/search", "memory.search", reads, "Search what an agent knows", statusOK, a.with(a.searchMemory))
	search.Idempotent = false
	return []gateway.Route{
		read(below, "memory.get", reads, "Get what an agent knows", a.with(a.getMemory)),
		read(below+"/blocks", "memory.listBlocks", reads, "List blocks of memory", a.with(a.listBlocks)),
		post(below+"/blocks", "memory.createBlock", writes, "Create a block of memory", statusCreated, a.with(a.createBlock)),
		read(below+"/blocks/{label}", "memory.getBlock", reads, "Get a block of memory", a.with(a.getBlock)),
		write(fasthttp.MethodPut, below+"/blocks/{label}", "memory.updateBlock", writes, "Change a block of memory", statusOK, a.with(a.updateBlock)),
		remove(below+"/blocks/{label}", "memory.deleteBlock", writes, "Delete a block of memory", a.with(a.deleteBlock)),
		search,
		read(below+"/archive", "memory.getArchive", reads, "List the archive", a.with(a.getArchive)),
		post(below+"/archive", "memory.addToArchive", writes, "Add to the archive", statusCreated, a.with(a.addToArchive)),
		export,
		take,
	}
}

// with calls a handler with the agent of the harness that the path names.
func (a *Adapter) with(serve func(r *gateway.Request, agent *abi.Persona) error) gateway.Handler {
	return a.at(func(r *gateway.Request, h *abi.Harness) error {
		view, err := a.core.Agent(r.Context(), r.Caller, h.WorkspaceID, r.PathValue("agentId"))
		if err != nil {
			return err
		}
		agent, err := as[abi.Persona](view)
		if err != nil {
			return err
		}
		return serve(r, &agent)
	})
}

// blockView is a block as the protocol shows it.
type blockView struct {
	Label     string   `json:"label"`
	Value     string   `json:"value"`
	ReadOnly  bool     `json:"read_only"`
	UpdatedAt abi.Time `json:"updated_at"`
	Version   int64    `json:"version"` // ours: for a change that states it
}

func blockOf(b abi.MemoryBlock) blockView {
	return blockView{b.Label, b.Value, b.ReadOnly, b.UpdatedAt, b.Version}
}

type blockAnswer struct {
	Block blockView `json:"block"`
}

type blocksAnswer struct {
	Blocks []blockView `json:"blocks"`
}

// memoryState is what an agent has in mind, and how many entries its archive has.
type memoryState struct {
	AgentID string      `json:"agent_id"`
	Blocks  []blockView `json:"blocks"`
	Size    int         `json:"archive_size"`
}

type memoryAnswer struct {
	Memory memoryState `json:"memory"`
}

// blocks returns the blocks of an agent.
func (a *Adapter) blocks(r *gateway.Request, agent *abi.Persona) ([]blockView, error) {
	m, err := a.core.AgentMemory(r.Context(), r.Caller, agent.ID)
	if err != nil {
		return nil, err
	}
	all := []blockView{}
	for _, b := range m.Blocks {
		all = append(all, blockOf(b))
	}
	return all, nil
}

func (a *Adapter) getMemory(r *gateway.Request, agent *abi.Persona) error {
	all, err := a.blocks(r, agent)
	if err != nil {
		return err
	}
	entries, err := a.core.ArchiveOf(r.Context(), r.Caller, agent.ID)
	if err != nil {
		return err
	}
	return send(r, statusOK, memoryAnswer{memoryState{agent.ID, all, len(entries)}})
}

func (a *Adapter) listBlocks(r *gateway.Request, agent *abi.Persona) error {
	all, err := a.blocks(r, agent)
	if err != nil {
		return err
	}
	return send(r, statusOK, blocksAnswer{all})
}

func (a *Adapter) getBlock(r *gateway.Request, agent *abi.Persona) error {
	all, err := a.blocks(r, agent)
	if err != nil {
		return err
	}
	label := r.PathValue("label")
	i := slices.IndexFunc(all, func(b blockView) bool { return b.Label == label })
	if i < 0 {
		return abi.Errorf(abi.CodeResourceNotFound, "agent %s has no block %.100q", agent.ID, label)
	}
	return send(r, statusOK, blockAnswer{all[i]})
}

// sentBlock answers with one block of what a write has left.
func sentBlock(r *gateway.Request, status int, written api.View, label string) error {
	m, err := as[abi.AgentMemory](written)
	if err != nil {
		return err
	}
	var answer blockAnswer
	for _, b := range m.Blocks {
		if b.Label == label {
			answer.Block = blockOf(b)
		}
	}
	return sent(r, status, written, answer)
}

func (a *Adapter) createBlock(r *gateway.Request, agent *abi.Persona) error {
	req, retry, err := decode[abi.CreateBlockRequest](r)
	if err != nil {
		return err
	}
	view, err := a.core.CreateBlock(r.Context(), r.Caller, retry, agent.ID, req)
	if err != nil {
		return err
	}
	return sentBlock(r, statusCreated, view, req.Label)
}

func (a *Adapter) updateBlock(r *gateway.Request, agent *abi.Persona) error {
	req, retry, err := decode[abi.UpdateBlockRequest](r)
	if err != nil {
		return err
	}
	label := r.PathValue("label")
	view, err := a.core.UpdateBlock(r.Context(), r.Caller, retry, agent.ID, label, req)
	if err != nil {
		return err
	}
	return sentBlock(r, statusOK, view, label)
}

func (a *Adapter) deleteBlock(r *gateway.Request, agent *abi.Persona) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteBlock(r.Context(), r.Caller, retry, agent.ID, r.PathValue("label")); err != nil {
		return err
	}
	return empty(r)
}

// foundView is a block or an entry that fits a query.
type foundView struct {
	Source  string  `json:"source"`
	Label   string  `json:"label,omitzero"`
	Content string  `json:"content"`
	Score   float64 `json:"relevance_score"`
}

type searchAnswer struct {
	Results []foundView `json:"results"`
}

func (a *Adapter) searchMemory(r *gateway.Request, agent *abi.Persona) error {
	req, _, err := decode[struct {
		Query   string `json:"query"`
		Archive *bool  `json:"include_archive"`
		Limit   *int   `json:"limit"`
	}](r)
	if err != nil {
		return err
	}
	s := api.MemorySearch{Query: req.Query, Archive: req.Archive == nil || *req.Archive}
	if req.Limit != nil {
		if s.Limit = *req.Limit; s.Limit == 0 {
			return abi.InvalidParam("limit", "limit is at least 1")
		}
	}
	found, err := a.core.SearchMemory(r.Context(), r.Caller, agent.ID, s)
	if err != nil {
		return err
	}
	answer := searchAnswer{[]foundView{}}
	for _, f := range found {
		source := "block"
		if f.Label == "" {
			source = "archive"
		}
		answer.Results = append(answer.Results, foundView{source, f.Label, f.Text, f.Score})
	}
	return send(r, statusOK, answer)
}

// entryView is an entry of an archive.
type entryView struct {
	ID        string         `json:"id"`
	Content   string         `json:"content"`
	CreatedAt abi.Time       `json:"created_at"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

func entryOf(m *abi.Memory) entryView {
	return entryView{m.ID, api.MemoryText(m), m.CreatedAt, m.Metadata}
}

type entryAnswer struct {
	Entry entryView `json:"entry"`
}

func (a *Adapter) getArchive(r *gateway.Request, agent *abi.Persona) error {
	list, err := a.core.ArchiveOf(r.Context(), r.Caller, agent.ID)
	if err != nil {
		return err
	}
	all := make([]entryView, len(list))
	for i := range list {
		all[i] = entryOf(&list[i])
	}
	return page(r, all)
}

func (a *Adapter) addToArchive(r *gateway.Request, agent *abi.Persona) error {
	req, retry, err := decode[abi.ArchiveRequest](r)
	if err != nil {
		return err
	}
	view, err := a.core.AddToArchive(r.Context(), r.Caller, retry, agent.ID, req)
	if err != nil {
		return err
	}
	m, err := as[abi.Memory](view)
	if err != nil {
		return err
	}
	return sent(r, statusCreated, view, entryAnswer{entryOf(&m)})
}

func (a *Adapter) exportMemory(r *gateway.Request, agent *abi.Persona) error {
	archive, err := flag(r, "include_archive", true)
	if err != nil {
		return err
	}
	var req struct {
		Archive *bool `json:"include_archive"`
	}
	if _, err := r.Decode(&req); err != nil {
		return err
	}
	abi.Replace(&archive, req.Archive)
	zipped, err := a.core.MemorySnapshot(r.Context(), r.Caller, agent.ID, archive)
	if err != nil {
		return err
	}
	name := cmp.Or(agent.Agent.AgentKey, agent.ID)
	r.SetHeader("Content-Type", mediaZip)
	r.SetHeader("Content-Disposition", disposition(fmt.Sprintf("%s-memory-%s.zip", name, time.Now().UTC().Format("20060102T150405Z"))))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.HTTP.SetBodyStream(bytes.NewReader(zipped), len(zipped))
	return nil
}

type memoryImported struct {
	Blocks    int      `json:"blocks_imported"`
	Entries   int      `json:"archive_entries_imported"`
	Conflicts int      `json:"conflicts"`
	Warnings  []string `json:"warnings"`
}

func (a *Adapter) importMemory(r *gateway.Request, agent *abi.Persona) error {
	form, err := readAgentForm(r, "snapshot", "file")
	if err != nil {
		return err
	}
	if len(form.files) != 1 {
		return abi.InvalidParam("snapshot", "the form has %d snapshots, and should have one", len(form.files))
	}
	f, sum := &form.files[0], sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, f.Size)); err != nil {
		return err
	}
	retry, err := r.Retry(fmt.Appendf(nil, "{%q:%q,%q:\"%x\"}", "merge", form.fields["merge_strategy"], "snapshot", sum.Sum(nil)))
	if err != nil {
		return err
	}
	view, err := a.core.ImportMemory(r.Context(), r.Caller, retry, agent.ID, abi.MemoryMerge(form.fields["merge_strategy"]), f, f.Size)
	if err != nil {
		return err
	}
	m, err := as[abi.AgentMemory](view)
	if err != nil {
		return err
	}
	answer := memoryImported{Warnings: []string{}}
	if did := m.Imported; did != nil {
		answer = memoryImported{did.Blocks, did.Entries, did.Conflicts, orNone(did.Warnings)}
	}
	return sent(r, statusOK, view, answer)
}
