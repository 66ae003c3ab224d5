package rewrite

import "fmt"

// Version names what Rewrite does to a module. It changes whenever the same module
// would be rewritten in a way that a guest, its gas or its depth could tell.
const Version = "wharf-1"

// Transforms is a set of changes to a module.
type Transforms uint16

// The changes. Their order here is the order in which they are described in
// docs/rewriting.md; they can be combined in any way.
const (
	// Globals exports every mutable global as GlobalExport(i), and adds the global
	// ChangedExport, which becomes 1 when the guest changes what a snapshot cannot
	// hold: a table, a dropped segment, a global of type v128 or of a reference type.
	Globals Transforms = 1 << iota
	// Gas counts what the guest does in the global GasExport, an i64 that holds what
	// is left of a slice, and calls YieldName when it is spent.
	Gas
	// Depth counts what calls take of the stack in the global DepthExport, an i64 that
	// holds what is left, and calls YieldName when it is spent. The host sets it before
	// it calls an exported function, which leaves it as it was unless it traps.
	Depth
	// NaN replaces NaNs that arithmetic made by the canonical one wherever their bits
	// could be observed, and moves of floats that a compiler of the engine gets wrong.
	NaN
	// Restore takes out active data segments, the start function and the maximum of
	// the memory: the host applies the former, calls the second as StartExport, and
	// enforces the last.
	Restore
	// Remainders makes remainders of quotients, which every compiler of the engine gets
	// right.
	Remainders

	// All is what a sandbox uses.
	All = Globals | Gas | Depth | NaN | Restore | Remainders
)

// Names that are added to a module. A module that uses Prefix itself, in an import
// or an export, is refused.
const (
	Prefix        = "wharf:"
	GasExport     = Prefix + "gas"
	DepthExport   = Prefix + "depth"
	ChangedExport = Prefix + "changed"
	StartExport   = Prefix + "start"

	// YieldModule and YieldName are the import (gas i64, depth i64) -> (gas i64) that
	// a guest calls when its gas or its depth is below 0. It answers what the gas
	// slice holds from here on, or does not return. It has no other effect on the
	// guest: the host may write neither memory nor globals in it, save GasExport.
	YieldModule = Prefix + "sandbox"
	YieldName   = "yield"
)

// InitialDepth is what DepthExport holds before the host sets it: enough for a
// start function that runs while the module is instantiated.
const InitialDepth = 65_536

// GlobalExport is the name under which the i-th mutable global of a module is
// exported, counted over all that are mutable and not imported.
func GlobalExport(i int) string { return fmt.Sprintf("%sglobal:%d", Prefix, i) }

// Options say how a module is rewritten. The zero value copies it.
type Options struct {
	Transforms Transforms
	// MaxTableEntries bounds what all tables together can hold: each gets an equal
	// share as its maximum. 0 leaves tables as they are.
	MaxTableEntries uint32
	// Offsets has the engine tell, with each function of a trap's stack, at which offset of
	// the rewritten code section it was: see [Origins]. It does so for modules that come
	// with debug information, and changes nothing that a guest can tell.
	Offsets bool
}

// Module is a module that was rewritten, and what a host has to know of it.
type Module struct {
	Wasm    []byte
	Imports []Import // of the original
	Exports []Export // the functions that it exports, of the original, in its order
	// Memory is the memory that the module declares, nil without one.
	Memory *Memory
	// Globals are the mutable globals in the order of their exports, with Globals.
	Globals []Global
	// Data are the active data segments in their order, with Restore. They share the
	// bytes of the original.
	Data []Segment
	// Start says that the start function is exported as StartExport, with Restore.
	Start bool
	// Changes says that the module holds instructions that can set ChangedExport.
	Changes bool
}

// Import is something that a module imports.
type Import struct {
	Module, Name    string
	Kind            byte   // 0 function, 1 table, 2 memory, 3 global
	Params, Results string // of a function: value types as they are encoded
}

// Export is a function that a module exports.
type Export struct {
	Name string
	Signature
}

// Memory is what a module declares of its memory, in pages of 64 KiB.
type Memory struct {
	Min, Max uint32
	HasMax   bool // the module itself gives Max
}

// Global is a mutable global.
type Global struct {
	Type byte // the value type as it is encoded
}

// Segment is an active data segment.
type Segment struct {
	Offset uint32 // in memory
	Bytes  []byte
	Memory uint32
}

// Error says why a module cannot be rewritten.
type Error struct {
	Offset int    // in the module, where the trouble is
	Reason string // what is wrong
	Advice string // what its author can do, "" when nothing but mending it
}

func (e *Error) Error() string {
	if e.Advice == "" {
		return fmt.Sprintf("at offset %#x: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("at offset %#x: %s; %s", e.Offset, e.Reason, e.Advice)
}
