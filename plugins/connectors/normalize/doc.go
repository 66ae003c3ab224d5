// Package normalize says what the deliveries of the bundled connectors mean. Each of
// its functions is an export of the plugin: see docs/connectors.md for what they take
// and make of it.
package normalize
