// Package policy decides what a Task may do: by its Persona's capabilities, tools,
// handoffs and models, and by its autonomy tier. It decides and does nothing else:
// it reads no clock, keeps no state, and of the same Persona and [Action] always
// says the same. docs/policy.md has the rules as tables.
package policy
