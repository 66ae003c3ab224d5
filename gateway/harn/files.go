package harn

import (
	"github.com/wharf-dev/wharf/gateway"
)

// fileCore is what the routes of Workspaces' files ask of the engine.
type fileCore interface{}

func (a *Adapter) fileRoutes() []gateway.Route { return nil }

func fileSchemas() map[string]schema {
	return map[string]schema{}
}
