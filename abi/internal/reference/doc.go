// Package reference writes what authors of plugins and of clients read: the host calls
// (docs/host-calls.md, docs/host-calls.schema.json) and what events tell (docs/events.md,
// docs/events.schema.json). All are made of the definitions in package abi: its types by
// reflection, and its comments, which it reads from the sources.
package reference
