// Package cargotest is what tests need that build plugins in Rust: the crates that Debian's packages have, so that
// no registry is asked.
package cargotest
