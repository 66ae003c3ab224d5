// Package plugins holds the plugins that ship with Wharf and the Personas that
// they serve.
//
// The modules in the folder bundled are embedded. Their sources are the folders
// beside it: echo in C, agent, connectors and digest in Go with the guest SDK. bundled.lock records what
// each module was built from and with, and tests hold that the two belong together.
// To build them again:
//
//	go generate ./plugins
package plugins
