// Package skillmd reads skill bundles (docs/skills-bundles.md): a folder with a SKILL.md, whose
// front matter says what the skill is, and the files that it needs. [Check] says everything that
// is wrong with one, each with the file, the line and a code, and what the skill is.
package skillmd
