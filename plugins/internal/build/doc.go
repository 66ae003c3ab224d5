// Package build builds the bundled plugins from their sources, and records in a
// lock file what each was built from and with. The same sources and the same tools
// give the same bytes.
package build
