// Package reference writes what authors of plugins read about host calls: the page
// docs/host-calls.md and the JSON Schemas in docs/host-calls.schema.json. Both are
// made of the definitions in package abi: its types by reflection, and its comments,
// which it reads from the sources.
package reference
