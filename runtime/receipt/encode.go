package receipt

import (
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
)

// The members are written in the order of their names, as RFC 8785 has it: parsing and
// sorting the JSON again took more time than hashing and signing it. A test holds the
// result against two other implementations.

// AppendCanonical appends the canonical JSON (RFC 8785) of r to b.
func (r *Receipt) AppendCanonical(b []byte) []byte {
	b, gaps := r.appendHashed(b)
	return r.appendSeal(b, gaps)
}

// AppendHashed appends what the hash of r is over: its canonical JSON without
// chain.receipt_hash and signatures.
func (r *Receipt) AppendHashed(b []byte) []byte {
	b, _ = r.appendHashed(b)
	return b
}

// gaps are the offsets in the text that a receipt's hash is over at which it lacks
// chain.receipt_hash and signatures.
type gaps struct{ hash, signatures int }

// appendSeal puts what a receipt's hash is not over into the text that it is over, which
// is the end of b.
func (r *Receipt) appendSeal(b []byte, g gaps) []byte {
	o := jsonw.Object{B: make([]byte, 0, 256)}
	jsonw.OptionalList(&o, "signatures", r.Signatures, appendSignature)
	b = slices.Insert(b, g.signatures, o.B...)
	hash := jsonw.Object{B: append(o.B[:0], ',')}
	hash.Text("receipt_hash", r.Chain.ReceiptHash)
	return slices.Insert(b, g.hash, hash.B[:len(hash.B)-1]...)
}

func (r *Receipt) appendHashed(b []byte) ([]byte, gaps) {
	var g gaps
	o := jsonw.Begin(b)
	jsonw.OptionalList(&o, "approvals", r.Approvals, appendApproval)
	o.Member("autonomy_budget", r.AutonomyBudget.append)
	o.Member("chain", r.Chain.append)
	g.hash = len(o.B) - len("},")
	o.Member("cost", r.Cost.append)
	jsonw.OptionalList(&o, "deltas", r.Deltas, appendDelta)
	jsonw.List(&o, "final_artifacts", r.FinalArtifacts, appendArtifact)
	o.Member("identifiers", r.Identifiers.append)
	o.Time("issued_at", r.IssuedAt)
	o.Member("issuer", r.Issuer.append)
	o.Member("lifecycle", r.Lifecycle.append)
	o.Member("metadata", r.Metadata.append)
	o.Member("model_route", r.ModelRoute.append)
	o.Text("receipt_id", r.ReceiptID)
	jsonw.OptionalList(&o, "redactions", r.Redactions, appendRedaction)
	o.Member("replay_input", r.ReplayInput.append)
	o.Text("schema", r.Schema)
	o.Member("side_effects", r.SideEffects.append)
	g.signatures = len(o.B)
	o.Member("subject", r.Subject.append)
	o.Member("trust", r.Trust.append)
	return o.End(), g
}

func appendApproval(b []byte, a *Approval) []byte {
	o := jsonw.Begin(b)
	o.Text("action", a.Action)
	o.Text("actor", a.Actor)
	o.Optional("approval_id", a.ApprovalID)
	o.Time("decided_at", a.DecidedAt)
	o.Text("decision", a.Decision)
	o.Optional("evidence_hash", a.EvidenceHash)
	if a.QuorumProof != nil {
		o.Member("quorum_proof", a.QuorumProof.append)
	}
	return o.End()
}

func appendGrounds(b []byte, g *ApprovalGrounds) []byte {
	o := jsonw.Begin(b)
	if g.DeclaredPaths != nil {
		jsonw.List(&o, "declared_paths", g.DeclaredPaths, func(b []byte, path *string) []byte { return jsonw.String(b, *path) })
	}
	o.Optional("matched_rule", g.MatchedRule)
	o.Rounded("place", int64(g.Place))
	if g.RiskLabels != nil {
		jsonw.List(&o, "risk_labels", g.RiskLabels, func(b []byte, label *abi.RiskLabel) []byte { return jsonw.String(b, string(*label)) })
	}
	o.Optional("tool_call_id", g.ToolCallID)
	return o.End()
}

func (p *QuorumProof) append(b []byte) []byte {
	o := jsonw.Begin(b)
	jsonw.List(&o, "approved_by", p.ApprovedBy, func(b []byte, actor *string) []byte { return jsonw.String(b, *actor) })
	o.Rounded("quorum", int64(p.Quorum))
	return o.End()
}

func (a *AutonomyBudget) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Member("consumed", a.Consumed.append)
	if a.Limit != nil {
		o.Member("limit", a.Limit.append)
	}
	return o.End()
}

func (u *Budget) append(b []byte) []byte {
	o := jsonw.Begin(b)
	optionalInt(&o, "input_tokens", u.InputTokens)
	optionalInt(&o, "output_tokens", u.OutputTokens)
	optionalInt(&o, "tool_calls", u.ToolCalls)
	if u.USD != nil {
		o.Number("usd", *u.USD)
	}
	optionalInt(&o, "wall_time_ms", u.WallTimeMS)
	return o.End()
}

// append leaves out receipt_hash, which comes last: see [Receipt.appendSeal].
func (c *ChainLink) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Optional("merkle_root", c.MerkleRoot)
	o.Nullable("previous_receipt_hash", c.PreviousReceiptHash)
	return o.End()
}

func (c *Cost) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("currency", c.Currency)
	jsonw.List(&o, "provider_breakdown", c.ProviderBreakdown, appendProviderCost)
	o.Number("total", c.Total)
	return o.End()
}

func appendProviderCost(b []byte, c *ProviderCost) []byte {
	o := jsonw.Begin(b)
	o.Number("amount", c.Amount)
	o.Rounded("input_tokens", c.InputTokens)
	o.Optional("model", c.Model)
	o.Rounded("output_tokens", c.OutputTokens)
	o.Text("provider", c.Provider)
	return o.End()
}

func appendDelta(b []byte, d *Delta) []byte {
	o := jsonw.Begin(b)
	o.Optional("after_sha256", d.AfterSHA256)
	o.Optional("artifact_id", d.ArtifactID)
	o.Optional("before_sha256", d.BeforeSHA256)
	o.Optional("delta_id", d.DeltaID)
	o.Optional("event_id", d.EventID)
	o.Text("operation", d.Operation)
	o.Optional("override_key", d.OverrideKey)
	o.Text("path", d.Path)
	o.Optional("reason", d.Reason)
	return o.End()
}

func appendArtifact(b []byte, a *ArtifactRef) []byte {
	o := jsonw.Begin(b)
	o.Text("artifact_id", a.ArtifactID)
	o.Text("kind", a.Kind)
	o.Optional("sha256", a.SHA256)
	o.Optional("uri", a.URI)
	return o.End()
}

func (i *Identifiers) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Optional("branch_id", i.BranchID)
	o.Optional("persona_ref", i.PersonaRef)
	o.Text("session_id", i.SessionID)
	o.Text("task_id", i.TaskID)
	o.Optional("tenant_id", i.TenantID)
	o.Optional("trace_id", i.TraceID)
	o.Text("workspace_ref", i.WorkspaceRef)
	return o.End()
}

func (i *Issuer) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("id", i.ID)
	o.Text("kind", i.Kind)
	o.Optional("name", i.Name)
	o.Optional("public_key_id", i.PublicKeyID)
	o.Optional("version", i.Version)
	return o.End()
}

func (l *Lifecycle) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Time("completed_at", l.CompletedAt)
	o.OptionalTime("created_at", l.CreatedAt)
	if l.Failure != nil {
		o.Member("failure", l.Failure.append)
	}
	o.Text("final_state", l.FinalState)
	o.Time("started_at", l.StartedAt)
	return o.End()
}

func (f *Failure) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("code", f.Code)
	o.Text("message", f.Message)
	return o.End()
}

func (m *Metadata) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Optional("abi", m.ABI)
	jsonw.OptionalList(&o, "approvals", m.Approvals, appendGrounds)
	o.Optional("arch", m.Arch)
	jsonw.OptionalList(&o, "delegations", m.Delegations, appendDelegation)
	o.Optional("engine", m.Engine)
	if m.Gas != 0 {
		o.Number("gas", float64(m.Gas))
	}
	count(&o, "model_calls_failed", m.ModelCallsFailed)
	o.Optional("module", m.Module)
	o.Optional("node_version", m.NodeVersion)
	if m.Omitted != nil {
		o.Member("omitted", m.Omitted.append)
	}
	if len(m.OtherCosts) > 0 {
		o.Member("other_costs", m.appendOtherCosts)
	}
	o.Optional("plugin", m.Plugin)
	o.Optional("program_sha256", m.ProgramSHA256)
	o.Rounded("record_length", int64(m.RecordLength))
	o.Optional("replay_mode", string(m.ReplayMode))
	o.Optional("rewriter", m.Rewriter)
	o.Optional("source_task_id", m.SourceTaskID)
	return o.End()
}

// appendOtherCosts relies on currencies being ASCII, so that their order is that
// of RFC 8785 too.
func (m *Metadata) appendOtherCosts(b []byte) []byte {
	o := jsonw.Begin(b)
	for _, currency := range slices.Sorted(maps.Keys(m.OtherCosts)) {
		o.Number(currency, m.OtherCosts[currency])
	}
	return o.End()
}

func (n *Omitted) append(b []byte) []byte {
	o := jsonw.Begin(b)
	count(&o, "a2a_handoffs", n.Handoffs)
	count(&o, "approvals", n.Approvals)
	count(&o, "delegations", n.Delegations)
	count(&o, "fs_writes", n.FSWrites)
	count(&o, "materials", n.Materials)
	count(&o, "network_egress", n.NetworkEgress)
	count(&o, "tool_calls", n.ToolCalls)
	return o.End()
}

func (m *ModelRoute) append(b []byte) []byte {
	o := jsonw.Begin(b)
	jsonw.List(&o, "alternatives_considered", m.AlternativesConsidered, appendModel)
	o.Member("chosen_model", func(b []byte) []byte { return appendModel(b, &m.ChosenModel) })
	o.Text("route_policy_reason", m.RoutePolicyReason)
	return o.End()
}

func appendModel(b []byte, m *ModelRef) []byte {
	o := jsonw.Begin(b)
	o.Text("model", m.Model)
	o.Text("provider", m.Provider)
	o.Optional("reason", m.Reason)
	o.Optional("version", m.Version)
	return o.End()
}

func appendRedaction(b []byte, r *Redaction) []byte {
	o := jsonw.Begin(b)
	o.Text("field", r.Field)
	o.Optional("proof_hash", r.ProofHash)
	o.Text("reason", r.Reason)
	return o.End()
}

func (r *ReplayInput) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("determinism", r.Determinism)
	jsonw.List(&o, "materials", r.Materials, appendMaterial)
	o.Optional("unavailable_reason", r.UnavailableReason)
	return o.End()
}

func appendMaterial(b []byte, m *Material) []byte {
	o := jsonw.Begin(b)
	o.Optional("content_type", m.ContentType)
	o.Optional("id", m.ID)
	o.Text("kind", m.Kind)
	if m.Metadata != nil {
		o.Member("metadata", m.Metadata.append)
	}
	o.Optional("sha256", m.SHA256)
	o.Optional("uri", m.URI)
	return o.End()
}

func (m *MaterialMetadata) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("rewriter", m.Rewriter)
	return o.End()
}

func (s *SideEffects) append(b []byte) []byte {
	o := jsonw.Begin(b)
	jsonw.List(&o, "a2a_handoffs", s.A2AHandoffs, appendHandoff)
	jsonw.List(&o, "fs_writes", s.FSWrites, appendFileWrite)
	jsonw.List(&o, "network_egress", s.NetworkEgress, appendEgress)
	jsonw.List(&o, "tool_calls", s.ToolCalls, appendToolCall)
	return o.End()
}

func appendHandoff(b []byte, h *Handoff) []byte {
	o := jsonw.Begin(b)
	o.Optional("receipt_id", h.ReceiptID)
	o.Text("status", h.Status)
	o.Text("target_agent", h.TargetAgent)
	o.Text("task_id", h.TaskID)
	return o.End()
}

func appendFileWrite(b []byte, w *FileWrite) []byte {
	o := jsonw.Begin(b)
	o.Optional("after_sha256", w.AfterSHA256)
	o.Optional("before_sha256", w.BeforeSHA256)
	o.Text("operation", w.Operation)
	o.Text("path", w.Path)
	return o.End()
}

func appendEgress(b []byte, e *Egress) []byte {
	o := jsonw.Begin(b)
	optionalInt(&o, "bytes_sent", e.BytesSent)
	o.Text("destination", e.Destination)
	if e.Metadata != nil {
		o.Member("metadata", e.Metadata.append)
	}
	o.Text("purpose", e.Purpose)
	return o.End()
}

func appendToolCall(b []byte, c *ToolCall) []byte {
	o := jsonw.Begin(b)
	o.Text("call_id", c.CallID)
	o.Optional("input_hash", c.InputHash)
	if c.Metadata != nil {
		o.Member("metadata", c.Metadata.append)
	}
	o.Optional("output_hash", c.OutputHash)
	o.Text("status", c.Status)
	o.Text("tool", c.Tool)
	return o.End()
}

func (m *CallMetadata) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Optional("call_status", m.CallStatus)
	o.Optional("denied_by", m.DeniedBy)
	o.True("indeterminate", m.Indeterminate)
	o.Optional("redirected_to", m.RedirectedTo)
	return o.End()
}

func appendSignature(b []byte, s *Signature) []byte {
	o := jsonw.Begin(b)
	o.Text("algorithm", s.Algorithm)
	o.Text("key_id", s.KeyID)
	o.Text("signature", s.Signature)
	o.OptionalTime("signed_at", s.SignedAt)
	return o.End()
}

func (s *Subject) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("id", s.ID)
	o.Text("object", s.Object)
	return o.End()
}

func (t *TrustTiers) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Text("end_tier", string(t.EndTier))
	o.Optional("policy_ref", t.PolicyRef)
	o.Text("start_tier", string(t.StartTier))
	return o.End()
}

// optionalInt writes an integer that is left out when it is nil.
func optionalInt(o *jsonw.Object, name string, value *int64) {
	if value != nil {
		o.Rounded(name, *value)
	}
}

// count writes an integer that is left out when it is 0.
func count(o *jsonw.Object, name string, value int) {
	if value != 0 {
		o.Rounded(name, int64(value))
	}
}
