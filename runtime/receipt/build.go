package receipt

import (
	"errors"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// The URIs by which receipts name what a Wharf node holds.
const (
	recordURI = "wharf:record/"
	moduleURI = "wharf:module/"
	inputURI  = "wharf:input/"
)

// ArtifactURI returns the URI by which receipts name an Artifact.
func ArtifactURI(id string) string { return abi.ArtifactName + id }

// issuerKind is what Wharf is in the protocol's terms.
const issuerKind = "harness"

// subjectReplay is what the receipt of a replay is about.
const subjectReplay = "replay_segment"

// replayIssuer issues the receipts of replays: their signature tells the node.
const replayIssuer = "wharf"

// Facts are what the host knows of a Task besides its record: a field for each that a
// receipt states.
type Facts struct {
	ReceiptID     string // "" in a replay: it is derived from the replay id
	IssuerID      string
	IssuerName    string
	IssuerVersion string

	TenantID    string
	PersonaRef  string // id@version
	WorkspaceID string
	SessionID   string
	TaskID      string
	BranchID    string

	CreatedAt   time.Time
	StartedAt   time.Time // zero for a Task that never started
	CompletedAt time.Time
	IssuedAt    time.Time
	Status      abi.TaskStatus // terminal
	Failure     *abi.Failure
	Gas         uint64 // as journal.End has it

	StartTier, EndTier abi.AutonomyTier
	PolicyRef          string
	Limit              *Budget // nil when nothing was limited
	Artifacts          []ArtifactRef
	Redactions         []Redaction
	NodeVersion        string

	// Irreproducible says why the run cannot be repeated; "" when it can.
	Irreproducible string
	// Replay is set for a replay. Nothing in the facts may then differ between two
	// identical replays: times are those of the record. What names the issuing node
	// is left out of the receipt.
	Replay *Replay
}

// Replay is what makes a replay's receipt differ from that of its source.
type Replay struct {
	ID           string // derived from the source, the module, the mode and the overrides
	SourceTaskID string
	Mode         abi.ReplayMode
	Deltas       []Delta
}

// Build makes the receipt of a Task. It lacks its place in a chain, its hash and
// its signature: see [Seal] and [Chain.Seal]. The same facts and records give the
// same receipt.
func Build(f *Facts, t *Tally) (*Receipt, error) {
	state, ok := finalStates[f.Status]
	if !ok {
		return nil, fmt.Errorf("building a receipt: the Task is %s and has not ended", f.Status)
	}
	r := &Receipt{
		Schema:         abi.ReceiptSchema,
		ReceiptID:      f.ReceiptID,
		Subject:        Subject{Object: string(abi.ObjectTask), ID: f.TaskID},
		Issuer:         Issuer{ID: f.IssuerID, Kind: issuerKind, Name: f.IssuerName, Version: f.IssuerVersion},
		IssuedAt:       f.IssuedAt,
		Identifiers:    f.identifiers(),
		Lifecycle:      f.lifecycle(state),
		Approvals:      t.approvals,
		Trust:          TrustTiers{StartTier: f.StartTier, EndTier: f.EndTier, PolicyRef: f.PolicyRef},
		ReplayInput:    t.replayInput(f.Irreproducible),
		ModelRoute:     t.spend.route(),
		Cost:           t.spend.cost(),
		SideEffects:    t.effects,
		FinalArtifacts: f.Artifacts,
		Redactions:     f.Redactions,
		Metadata:       t.metadata(),
	}
	r.AutonomyBudget = AutonomyBudget{Limit: f.Limit, Consumed: t.consumed(&r.Cost, &r.Lifecycle)}
	r.Metadata.NodeVersion, r.Metadata.Gas = f.NodeVersion, f.Gas
	if t.length > 0 {
		r.Chain.MerkleRoot = journal.FormatHash(t.tree.root())
	}
	if f.Replay != nil {
		r.replayed(f.Replay)
	}
	return r, r.complete()
}

var finalStates = map[abi.TaskStatus]string{
	abi.TaskCompleted: Succeeded, abi.TaskFailed: Failed, abi.TaskCanceled: Canceled,
}

func (f *Facts) identifiers() Identifiers {
	return Identifiers{TenantID: f.TenantID, PersonaRef: f.PersonaRef, WorkspaceRef: f.WorkspaceID,
		SessionID: f.SessionID, TaskID: f.TaskID, BranchID: f.BranchID}
}

// lifecycle says of a Task that never started that it did so when it ended: the
// schema wants a time, and this one claims no run.
func (f *Facts) lifecycle(state string) Lifecycle {
	l := Lifecycle{CreatedAt: f.CreatedAt, StartedAt: f.StartedAt, CompletedAt: f.CompletedAt, FinalState: state}
	if l.StartedAt.IsZero() {
		l.StartedAt = l.CompletedAt
	}
	if f.Failure != nil {
		l.Failure = &Failure{Code: f.Failure.Code, Message: f.Failure.Message}
	}
	return l
}

// replayed turns the receipt of a run into that of a replay: nothing was spent and
// nothing touched, and nothing varies between two identical replays.
func (r *Receipt) replayed(p *Replay) {
	r.Subject = Subject{Object: subjectReplay, ID: p.ID}
	r.Identifiers.TaskID = p.ID
	if r.ReceiptID == "" {
		r.ReceiptID = abi.IDPrefix(abi.ObjectReceipt) + p.ID
	}
	r.Issuer = Issuer{ID: replayIssuer, Kind: issuerKind}
	r.IssuedAt = r.Lifecycle.CompletedAt
	r.Approvals, r.SideEffects = nil, SideEffects{}
	r.Cost = Cost{Currency: r.Cost.Currency}
	r.AutonomyBudget = AutonomyBudget{Consumed: consumption(&r.Cost, 0, 0, 0, 0)}
	if r.ModelRoute.ChosenModel.Provider != "none" {
		r.ModelRoute.AlternativesConsidered = nil
		r.ModelRoute.RoutePolicyReason = "answered from the record"
	}
	r.Deltas = p.Deltas
	r.Metadata.NodeVersion, r.Metadata.OtherCosts, r.Metadata.Gas, r.Metadata.Approvals, r.Metadata.Delegations = "", nil, 0, nil, nil
	if o := r.Metadata.Omitted; o != nil {
		*o = Omitted{Materials: o.Materials}
	}
	r.Metadata.SourceTaskID, r.Metadata.ReplayMode = p.SourceTaskID, p.Mode
}

// complete reports what a receipt lacks that only its caller knows.
func (r *Receipt) complete() error {
	for _, m := range []struct{ name, value string }{
		{"receipt id", r.ReceiptID}, {"issuer", r.Issuer.ID}, {"Workspace", r.Identifiers.WorkspaceRef},
		{"Session", r.Identifiers.SessionID}, {"Task", r.Identifiers.TaskID},
		{"start tier", string(r.Trust.StartTier)}, {"end tier", string(r.Trust.EndTier)},
	} {
		if m.value == "" {
			return fmt.Errorf("building a receipt: the %s is missing", m.name)
		}
	}
	if r.IssuedAt.IsZero() || r.Lifecycle.CompletedAt.IsZero() {
		return errors.New("building a receipt: the time when the Task ended, or the receipt was issued, is missing")
	}
	return nil
}

func (t *Tally) replayInput(irreproducible string) ReplayInput {
	if t.program == nil {
		return ReplayInput{Determinism: Unavailable, UnavailableReason: "the Task never ran"}
	}
	in := ReplayInput{Determinism: ByteDeterministic, Materials: append(t.basics(), t.materials...)}
	if irreproducible != "" {
		in.Determinism, in.UnavailableReason = Unavailable, irreproducible
	}
	return in
}

// basics are the materials of every replay: the record, the module and the input.
func (t *Tally) basics() []Material {
	var log [32]byte
	t.log.Sum(log[:0])
	var rewritten *MaterialMetadata
	if t.program.Rewriter != "" {
		rewritten = &MaterialMetadata{Rewriter: t.program.Rewriter}
	}
	return []Material{
		{Kind: MaterialEventLog, ID: t.taskID, URI: recordURI + t.taskID, SHA256: journal.FormatHash(log)},
		{Kind: MaterialArtifact, ID: "module", URI: moduleURI + t.program.Plugin, SHA256: t.program.Module, ContentType: "application/wasm", Metadata: rewritten},
		{Kind: MaterialArtifact, ID: "input", URI: inputURI + t.taskID, SHA256: journal.FormatHash(t.input), ContentType: "application/json"},
	}
}

func (t *Tally) metadata() Metadata {
	m := Metadata{Approvals: t.grounds, Delegations: t.delegated, RecordLength: t.length, ModelCallsFailed: t.spend.failed, OtherCosts: t.spend.otherCosts()}
	if t.omitted != (Omitted{}) {
		omitted := t.omitted
		m.Omitted = &omitted
	}
	if p := t.program; p != nil {
		m.ABI, m.Arch, m.Engine, m.Module, m.Plugin, m.Rewriter = p.ABI, p.Arch, p.Engine, p.Module, p.Plugin, p.Rewriter
		m.ProgramSHA256 = ProgramHash(p)
	}
	return m
}

func (t *Tally) consumed(c *Cost, l *Lifecycle) Budget {
	wall := max(0, l.CompletedAt.Sub(l.StartedAt).Milliseconds())
	return consumption(c, t.spend.input, t.spend.output, t.toolCalls, wall)
}

// consumption states what was used. US dollars are left out where the cost is in
// another currency.
func consumption(c *Cost, input, output, tools, wall int64) Budget {
	b := Budget{InputTokens: &input, OutputTokens: &output, ToolCalls: &tools, WallTimeMS: &wall}
	if c.Currency == defaultCurrency {
		total := c.Total
		b.USD = &total
	}
	return b
}
