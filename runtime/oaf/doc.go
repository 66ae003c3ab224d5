// Package oaf reads and writes agents in the Open Agent Format: folders with an AGENTS.md, whose
// front matter says what an agent is, and whose text is what a model is told.
//
// Its invariants:
//
//   - What it reads is within the limits of a [filetree.Tree], and a front matter within those of
//     a SKILL.md: no text takes long because of what it holds.
//   - Whatever is wrong is said with the file, the line and a code.
//   - What is written anew of an AGENTS.md says what it is to say. All else in it, such as
//     comments and keys that are not known here, stays as it was.
//   - Equal agents are packed into equal bytes.
//
// It does no I/O. It may import filetree and skillmd.
package oaf
