// Package enginetest sets up a node for tests: an engine on a disk in memory that can lose its
// power, with plugins that are written in Go.
//
// It is for tests alone, and package arch holds that: those of the engine, of the adapters, and of
// whatever stands on an engine. A test of an adapter adds the adapter. What [Boot] makes is as a
// node makes it: a root key, a tenant, a Persona for each plugin. When a node stops, the events
// that it wrote are held against their documentation.
//
// It opens stores, and touches nothing else outside of the process but a folder of the test's own.
package enginetest
