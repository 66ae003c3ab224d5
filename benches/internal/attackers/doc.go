// Package attackers is hostile to a node: strangers with a key of a tenant of their own, or
// without any, and everything that the node asks of others ([Outside]).
//
// An attack does one thing again and again until it is told to stop. Nothing here measures:
// the suite has another tenant's Tasks run meanwhile, and looks at those. Whatever is sent
// stays on loopback.
package attackers
