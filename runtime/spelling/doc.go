// Package spelling reads what people write by hand, in configurations and manifests alike: sizes,
// durations and hosts, each in one way. It says which name somebody may have meant who wrote another.
//
// It is pure, and imports nothing of Wharf.
package spelling
