// Command connectors is the Wharf plugin with the connectors that ship with Wharf: an
// export for each kind of provider, and one that polls.
package main

import (
	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/normalize"
)

//go:wasmexport cloudevents
func cloudevents() int32 { return wharf.Normalize(normalize.CloudEvents) }

//go:wasmexport cron
func cron() int32 { return wharf.Normalize(normalize.Cron) }

//go:wasmexport generic
func generic() int32 { return wharf.Normalize(normalize.Generic) }

//go:wasmexport github
func github() int32 { return wharf.Normalize(normalize.GitHub) }

//go:wasmexport slack
func slack() int32 { return wharf.Normalize(normalize.Slack) }

//go:wasmexport poll
func poll() int32 { return wharf.Run(normalize.Poll) }

// main is never called: a plugin has exports instead.
func main() {}
