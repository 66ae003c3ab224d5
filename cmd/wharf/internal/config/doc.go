// Package config holds every setting of a node. A setting is declared once, in
// [Settings]; parsing, validation, the commented file, the effective values with
// where they came from, and docs/configuration.md follow from that declaration. What the
// file names freely is declared in [Sections]; both are made of the same kinds of values
// (kind.go).
//
// A value is taken from the first of these that states it: a flag, an
// environment variable, the file, the default.
package config
