// Package tape reads JSON in one pass into a flat list of values, without reflection
// and with room that is used again for the next document. It is strict where strictness
// keeps two readers from seeing two documents: no duplicate names, no broken Unicode,
// no numbers that no double can hold, no nesting without end.
package tape
