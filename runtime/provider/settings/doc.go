// Package settings answers abi.CallConfigGet from what the operator configured
// for each plugin.
package settings
