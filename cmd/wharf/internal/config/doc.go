// Package config holds every setting of a node. A setting is declared once, in
// [Settings]; parsing, validation, the commented file, the effective values with
// where they came from, and docs/configuration.md follow from that declaration.
//
// A value is taken from the first of these that states it: a flag, an
// environment variable, the file, the default.
package config
