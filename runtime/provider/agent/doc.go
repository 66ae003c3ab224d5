// Package agent speaks to agents outside by the A2A protocol, as a client: it reads their cards,
// offers their skills as tools ([Server]), and has them do paid work by the contract
// harn.external_agent.v1 ([Peer.Plan], [Peer.Dispatch]). It speaks JSON-RPC, of the versions 1.0 and
// 0.3, whichever the card says.
//
// An agent outside is a stranger, whatever its card says. So nothing follows a redirect; requests go
// to the configured host, and elsewhere only where the configuration names that host; an answer is
// no longer than it may be, nests no deeper, and comes within its time; and what is secret in the
// requests' headers is replaced in all that comes back.
package agent
