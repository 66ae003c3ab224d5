// Package bundle writes, reads and verifies run bundles (docs/bundle-format.md):
// one file with all that a stranger needs to check a Task's receipts and to run
// the Task again.
//
// A bundle is a zip archive in the one form that [Write] gives it, so that every
// one of its bytes is either prescribed or covered by a hash: [Verify] finds any
// that was changed. What a bundle says is only as good as the keys that signed it:
// [Options.TrustKeys] says which ones count.
package bundle
