package harn

import (
	"github.com/wharf-dev/wharf/gateway"
)

// tokenCore is what the routes of OAuth ask of the engine.
type tokenCore interface{}

func (a *Adapter) tokenRoutes() []gateway.Route { return nil }

func tokenSchemas() map[string]schema {
	return map[string]schema{}
}
