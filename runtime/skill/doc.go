// Package skill checks what goes into a Skill and what comes out of it against its
// schemas. It says the same of the same values everywhere, so that a replay ends as
// its source did.
package skill
