// Package jsonw writes JSON by hand, for what every Task writes: reflection took an
// eighth of a Task's processor time.
//
// An [Object] writes its members in the order of the calls and without white space. What
// comes out is what the JSON library writes for the same values, and, where the caller
// keeps to the order of RFC 8785, its canonical form; tests hold both.
package jsonw
