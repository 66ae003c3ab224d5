// Command wharf is an edge gateway for agents whose Personas are sandboxed Wasm
// plugins, and the client to speak to one.
//
// One file holds one command, or one family of commands. They parse, call and
// print; what they call is in the packages below internal and in the rest of
// the module.
package main
