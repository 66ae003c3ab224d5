// Package tooluse says what people see of a tool call: which tool it is, who runs it, how long it took
// and in which way it failed; and under which names a tracer finds it. The engine adds it to the
// events that tell the call; whoever shows an event reads it from there.
//
// Its invariants:
//
//   - What is told follows from the request, the tool's definition, the Persona and the clock. Neither
//     arguments nor answers are part of it.
//   - It is decided here, once, what a reader without events:internal may know: [Use] carries the
//     Persona's decision with it, and package redact follows that.
//   - A replay is told none of it: durations are not part of a record.
//
// It is pure, and may import abi and runtime/hosttools.
package tooluse
