package receipt

import (
	"cmp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// delegation notes work that an agent outside was to do: whom, at what price, and what became of it.
func (t *Tally) delegation(e *journal.Entry) {
	d, err := journal.ReadDelegation(e)
	if err != nil || refused(e.Status) || d.Agent == "" {
		return
	}
	t.toolCalls++
	t.spend.delegated(&d)
	told := Delegation{Agent: d.Agent, CallID: callID(e, "host:agent.delegate:"), Status: string(d.Answer.Status), Budget: agentBudget(d.Allowed), Used: agentBudget(d.Used)}
	told.Status = cmp.Or(told.Status, statusNames[e.Status])
	if p := d.Answer.Peer; p != nil {
		told.PeerURL, told.CardSHA256 = p.URL, p.CardSHA256
	}
	if p := d.Answer.Peer; p != nil && d.Answer.Status != abi.DelegationReplayed { // then nobody was asked
		t.egress(Egress{Destination: cmp.Or(hostOf(p.URL), d.Agent), Purpose: abi.CallAgentDelegate})
	}
	if len(t.delegated) == maxListed {
		t.omitted.Delegations++
		return
	}
	t.delegated = append(t.delegated, told)
	t.handedOver(&d)
}

// handedOver lists work that was done as a handoff, by the agent's own name for it.
func (t *Tally) handedOver(d *journal.Delegation) {
	h := d.Answer.Handoff
	if !d.Dispatched() || h == nil {
		return
	}
	if len(t.effects.A2AHandoffs) == maxListed {
		t.omitted.Handoffs++
		return
	}
	t.effects.A2AHandoffs = append(t.effects.A2AHandoffs, Handoff{TargetAgent: d.Agent, TaskID: cmp.Or(h.TaskID, h.IdempotencyKey), Status: "completed"})
}

// delegated adds what an agent outside has used. Its tokens are output: it does not tell them apart.
func (s *spend) delegated(d *journal.Delegation) {
	cost := toNanos(d.Used.USD)
	if !s.charge(cost, "USD") {
		cost = 0
	}
	s.output = add(s.output, d.Used.Tokens)
	name := "agent:" + d.Agent
	for i := range s.agents {
		if a := &s.agents[i]; a.provider == name {
			a.cost, a.output = add(a.cost, cost), add(a.output, d.Used.Tokens)
			return
		}
	}
	if d.Used != (abi.DelegationBudget{}) && len(s.agents) < maxModels {
		s.agents = append(s.agents, model{provider: name, cost: cost, output: add(0, d.Used.Tokens)})
	}
}

func agentBudget(b abi.DelegationBudget) AgentBudget {
	return AgentBudget{Seconds: b.Seconds, Tokens: add(0, b.Tokens), ToolCalls: add(0, b.ToolCalls), USD: b.USD}
}

func appendDelegation(b []byte, d *Delegation) []byte {
	o := jsonw.Begin(b)
	o.Text("agent", d.Agent)
	o.Member("budget", d.Budget.append)
	o.Text("call_id", d.CallID)
	o.Optional("card_sha256", d.CardSHA256)
	o.Optional("peer_url", d.PeerURL)
	o.Text("status", d.Status)
	o.Member("used", d.Used.append)
	return o.End()
}

func (a *AgentBudget) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Number("seconds", a.Seconds)
	o.Rounded("tokens", a.Tokens)
	o.Rounded("tool_calls", a.ToolCalls)
	o.Number("usd", a.USD)
	return o.End()
}
