// Package spelling reads what people write by hand, in configurations and manifests alike: sizes,
// durations and hosts, each in one way.
//
// It is pure, and imports nothing of Wharf.
package spelling
