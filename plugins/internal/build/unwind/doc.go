// Package unwind gives a module exceptions, as its compiler left them to do: clang's
// -enable-emscripten-sjlj makes of setjmp and longjmp calls of functions "invoke", which are for the host to
// have and cannot be written in C.
//
// Its invariants:
//
//   - A function that something is thrown through returns at once: after each call that can throw stands a look
//     at __THREW__, the variable that says so.
//   - A function "invoke" calls what it is given, and puts the stack pointer back when that threw. The caller looks
//     at __THREW__ itself, so that nothing is looked at after it.
//   - What cannot throw is left as it is: functions that call none that can, and nothing by a pointer.
package unwind
