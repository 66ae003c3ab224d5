package receipt

import (
	"maps"
	"slices"
)

// AppendCanonical appends the canonical JSON (RFC 8785) of r to b.
func (r *Receipt) AppendCanonical(b []byte) []byte { return r.appendCanonical(b, true) }

// AppendHashed appends what the hash of r is over: its canonical JSON without
// chain.receipt_hash and signatures.
func (r *Receipt) AppendHashed(b []byte) []byte { return r.appendCanonical(b, false) }

func (r *Receipt) appendCanonical(b []byte, sealed bool) []byte {
	o := begin(b)
	optionalList(&o, "approvals", r.Approvals, appendApproval)
	o.member("autonomy_budget", r.AutonomyBudget.append)
	o.member("chain", func(b []byte) []byte { return r.Chain.append(b, sealed) })
	o.member("cost", r.Cost.append)
	optionalList(&o, "deltas", r.Deltas, appendDelta)
	list(&o, "final_artifacts", r.FinalArtifacts, appendArtifact)
	o.member("identifiers", r.Identifiers.append)
	o.time("issued_at", r.IssuedAt)
	o.member("issuer", r.Issuer.append)
	o.member("lifecycle", r.Lifecycle.append)
	o.member("metadata", r.Metadata.append)
	o.member("model_route", r.ModelRoute.append)
	o.text("receipt_id", r.ReceiptID)
	optionalList(&o, "redactions", r.Redactions, appendRedaction)
	o.member("replay_input", r.ReplayInput.append)
	o.text("schema", r.Schema)
	o.member("side_effects", r.SideEffects.append)
	if sealed {
		optionalList(&o, "signatures", r.Signatures, appendSignature)
	}
	o.member("subject", r.Subject.append)
	o.member("trust", r.Trust.append)
	return o.end()
}

func appendApproval(b []byte, a *Approval) []byte {
	o := begin(b)
	o.text("action", a.Action)
	o.text("actor", a.Actor)
	o.optional("approval_id", a.ApprovalID)
	o.time("decided_at", a.DecidedAt)
	o.text("decision", a.Decision)
	o.optional("evidence_hash", a.EvidenceHash)
	if a.QuorumProof != nil {
		o.member("quorum_proof", a.QuorumProof.append)
	}
	return o.end()
}

func (p *QuorumProof) append(b []byte) []byte {
	o := begin(b)
	list(&o, "approved_by", p.ApprovedBy, func(b []byte, actor *string) []byte { return appendString(b, *actor) })
	o.integer("quorum", int64(p.Quorum))
	return o.end()
}

func (a *AutonomyBudget) append(b []byte) []byte {
	o := begin(b)
	o.member("consumed", a.Consumed.append)
	if a.Limit != nil {
		o.member("limit", a.Limit.append)
	}
	return o.end()
}

func (u *Budget) append(b []byte) []byte {
	o := begin(b)
	o.optionalInteger("input_tokens", u.InputTokens)
	o.optionalInteger("output_tokens", u.OutputTokens)
	o.optionalInteger("tool_calls", u.ToolCalls)
	if u.USD != nil {
		o.number("usd", *u.USD)
	}
	o.optionalInteger("wall_time_ms", u.WallTimeMS)
	return o.end()
}

func (c *ChainLink) append(b []byte, sealed bool) []byte {
	o := begin(b)
	o.optional("merkle_root", c.MerkleRoot)
	o.nullable("previous_receipt_hash", c.PreviousReceiptHash)
	if sealed {
		o.text("receipt_hash", c.ReceiptHash)
	}
	return o.end()
}

func (c *Cost) append(b []byte) []byte {
	o := begin(b)
	o.text("currency", c.Currency)
	list(&o, "provider_breakdown", c.ProviderBreakdown, appendProviderCost)
	o.number("total", c.Total)
	return o.end()
}

func appendProviderCost(b []byte, c *ProviderCost) []byte {
	o := begin(b)
	o.number("amount", c.Amount)
	o.integer("input_tokens", c.InputTokens)
	o.optional("model", c.Model)
	o.integer("output_tokens", c.OutputTokens)
	o.text("provider", c.Provider)
	return o.end()
}

func appendDelta(b []byte, d *Delta) []byte {
	o := begin(b)
	o.optional("after_sha256", d.AfterSHA256)
	o.optional("artifact_id", d.ArtifactID)
	o.optional("before_sha256", d.BeforeSHA256)
	o.optional("delta_id", d.DeltaID)
	o.optional("event_id", d.EventID)
	o.text("operation", d.Operation)
	o.optional("override_key", d.OverrideKey)
	o.text("path", d.Path)
	o.optional("reason", d.Reason)
	return o.end()
}

func appendArtifact(b []byte, a *ArtifactRef) []byte {
	o := begin(b)
	o.text("artifact_id", a.ArtifactID)
	o.text("kind", a.Kind)
	o.optional("sha256", a.SHA256)
	o.optional("uri", a.URI)
	return o.end()
}

func (i *Identifiers) append(b []byte) []byte {
	o := begin(b)
	o.optional("branch_id", i.BranchID)
	o.optional("persona_ref", i.PersonaRef)
	o.text("session_id", i.SessionID)
	o.text("task_id", i.TaskID)
	o.optional("tenant_id", i.TenantID)
	o.optional("trace_id", i.TraceID)
	o.text("workspace_ref", i.WorkspaceRef)
	return o.end()
}

func (i *Issuer) append(b []byte) []byte {
	o := begin(b)
	o.text("id", i.ID)
	o.text("kind", i.Kind)
	o.optional("name", i.Name)
	o.optional("public_key_id", i.PublicKeyID)
	o.optional("version", i.Version)
	return o.end()
}

func (l *Lifecycle) append(b []byte) []byte {
	o := begin(b)
	o.time("completed_at", l.CompletedAt)
	o.optionalTime("created_at", l.CreatedAt)
	if l.Failure != nil {
		o.member("failure", l.Failure.append)
	}
	o.text("final_state", l.FinalState)
	o.time("started_at", l.StartedAt)
	return o.end()
}

func (f *Failure) append(b []byte) []byte {
	o := begin(b)
	o.text("code", f.Code)
	o.text("message", f.Message)
	return o.end()
}

func (m *Metadata) append(b []byte) []byte {
	o := begin(b)
	o.optional("abi", m.ABI)
	o.optional("arch", m.Arch)
	o.optional("engine", m.Engine)
	if m.Gas != 0 {
		o.number("gas", float64(m.Gas))
	}
	o.count("model_calls_failed", m.ModelCallsFailed)
	o.optional("module", m.Module)
	o.optional("node_version", m.NodeVersion)
	if m.Omitted != nil {
		o.member("omitted", m.Omitted.append)
	}
	if len(m.OtherCosts) > 0 {
		o.member("other_costs", m.appendOtherCosts)
	}
	o.optional("plugin", m.Plugin)
	o.optional("program_sha256", m.ProgramSHA256)
	o.integer("record_length", int64(m.RecordLength))
	o.optional("replay_mode", string(m.ReplayMode))
	o.optional("rewriter", m.Rewriter)
	o.optional("source_task_id", m.SourceTaskID)
	return o.end()
}

// appendOtherCosts relies on currencies being ASCII, so that their order is that
// of RFC 8785 too.
func (m *Metadata) appendOtherCosts(b []byte) []byte {
	o := begin(b)
	for _, currency := range slices.Sorted(maps.Keys(m.OtherCosts)) {
		o.number(currency, m.OtherCosts[currency])
	}
	return o.end()
}

func (n *Omitted) append(b []byte) []byte {
	o := begin(b)
	o.count("a2a_handoffs", n.Handoffs)
	o.count("approvals", n.Approvals)
	o.count("materials", n.Materials)
	o.count("network_egress", n.NetworkEgress)
	o.count("tool_calls", n.ToolCalls)
	return o.end()
}

func (m *ModelRoute) append(b []byte) []byte {
	o := begin(b)
	list(&o, "alternatives_considered", m.AlternativesConsidered, appendModel)
	o.member("chosen_model", func(b []byte) []byte { return appendModel(b, &m.ChosenModel) })
	o.text("route_policy_reason", m.RoutePolicyReason)
	return o.end()
}

func appendModel(b []byte, m *ModelRef) []byte {
	o := begin(b)
	o.text("model", m.Model)
	o.text("provider", m.Provider)
	o.optional("reason", m.Reason)
	o.optional("version", m.Version)
	return o.end()
}

func appendRedaction(b []byte, r *Redaction) []byte {
	o := begin(b)
	o.text("field", r.Field)
	o.optional("proof_hash", r.ProofHash)
	o.text("reason", r.Reason)
	return o.end()
}

func (r *ReplayInput) append(b []byte) []byte {
	o := begin(b)
	o.text("determinism", r.Determinism)
	list(&o, "materials", r.Materials, appendMaterial)
	o.optional("unavailable_reason", r.UnavailableReason)
	return o.end()
}

func appendMaterial(b []byte, m *Material) []byte {
	o := begin(b)
	o.optional("content_type", m.ContentType)
	o.optional("id", m.ID)
	o.text("kind", m.Kind)
	if m.Metadata != nil {
		o.member("metadata", m.Metadata.append)
	}
	o.optional("sha256", m.SHA256)
	o.optional("uri", m.URI)
	return o.end()
}

func (m *MaterialMetadata) append(b []byte) []byte {
	o := begin(b)
	o.text("rewriter", m.Rewriter)
	return o.end()
}

func (s *SideEffects) append(b []byte) []byte {
	o := begin(b)
	list(&o, "a2a_handoffs", s.A2AHandoffs, appendHandoff)
	list(&o, "fs_writes", s.FSWrites, appendFileWrite)
	list(&o, "network_egress", s.NetworkEgress, appendEgress)
	list(&o, "tool_calls", s.ToolCalls, appendToolCall)
	return o.end()
}

func appendHandoff(b []byte, h *Handoff) []byte {
	o := begin(b)
	o.optional("receipt_id", h.ReceiptID)
	o.text("status", h.Status)
	o.text("target_agent", h.TargetAgent)
	o.text("task_id", h.TaskID)
	return o.end()
}

func appendFileWrite(b []byte, w *FileWrite) []byte {
	o := begin(b)
	o.optional("after_sha256", w.AfterSHA256)
	o.optional("before_sha256", w.BeforeSHA256)
	o.text("operation", w.Operation)
	o.text("path", w.Path)
	return o.end()
}

func appendEgress(b []byte, e *Egress) []byte {
	o := begin(b)
	o.optionalInteger("bytes_sent", e.BytesSent)
	o.text("destination", e.Destination)
	if e.Metadata != nil {
		o.member("metadata", e.Metadata.append)
	}
	o.text("purpose", e.Purpose)
	return o.end()
}

func appendToolCall(b []byte, c *ToolCall) []byte {
	o := begin(b)
	o.text("call_id", c.CallID)
	o.optional("input_hash", c.InputHash)
	if c.Metadata != nil {
		o.member("metadata", c.Metadata.append)
	}
	o.optional("output_hash", c.OutputHash)
	o.text("status", c.Status)
	o.text("tool", c.Tool)
	return o.end()
}

func (m *CallMetadata) append(b []byte) []byte {
	o := begin(b)
	o.optional("call_status", m.CallStatus)
	if m.Indeterminate {
		o.name("indeterminate")
		o.b = append(o.b, "true,"...)
	}
	o.optional("redirected_to", m.RedirectedTo)
	return o.end()
}

func appendSignature(b []byte, s *Signature) []byte {
	o := begin(b)
	o.text("algorithm", s.Algorithm)
	o.text("key_id", s.KeyID)
	o.text("signature", s.Signature)
	o.optionalTime("signed_at", s.SignedAt)
	return o.end()
}

func (s *Subject) append(b []byte) []byte {
	o := begin(b)
	o.text("id", s.ID)
	o.text("object", s.Object)
	return o.end()
}

func (t *TrustTiers) append(b []byte) []byte {
	o := begin(b)
	o.text("end_tier", string(t.EndTier))
	o.optional("policy_ref", t.PolicyRef)
	o.text("start_tier", string(t.StartTier))
	return o.end()
}
