package agent

import (
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Agents are the agents outside that a node knows, by their names, and who may have them do paid
// work: patterns of names by plugin. Neither is changed; Regrant takes the place of Grants.
type Agents struct {
	Peers  map[string]*Peer
	Grants map[string][]string

	regrants provider.Regrants[string]
}

// Regrant says who may have agents do paid work from now on.
func (a *Agents) Regrant(grants map[string][]string) { a.regrants.Replace(grants) }

// Granted returns the agent that a plugin may have do paid work. The error is a *provider.Refusal.
// nil Agents are none.
func (a *Agents) Granted(plugin, name string) (*Peer, error) {
	if a == nil || !policy.MatchAny(a.regrants.Or(a.Grants)[plugin], name) {
		return nil, provider.Refuse(abi.CallDenied, "agent_denied",
			fmt.Sprintf("the plugin %q may not delegate to the agent %.100q: grants.%s.agents does not name it", plugin, name, plugin))
	}
	p := a.Peers[name]
	if p == nil {
		return nil, provider.Refuse(abi.CallNotFound, "agent_unknown", fmt.Sprintf("there is no agent %.100q", name))
	}
	return p, nil
}

// Close lets go of all connections.
func (a *Agents) Close() (err error) {
	for _, p := range a.Peers {
		err = errors.Join(err, p.Close())
	}
	return err
}
