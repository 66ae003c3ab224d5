// Package cargotest is what tests need that build plugins in Rust: the crates that Debian's packages have, so that
// no registry is asked, and crates as they are packed.
package cargotest
