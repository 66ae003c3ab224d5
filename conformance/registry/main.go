// Command registry is the registry of the CNCF's distribution project, with files and passwords and
// nothing else: what tests push packages to, and pull them from. It is a module of its own, so that the program
// needs nothing of it.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if err := registry.RootCmd.Execute(); err != nil {
		os.Exit(1)
	}
}
