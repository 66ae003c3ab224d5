package acp

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
)

// catalog lists the models that the node has.
func (a *Adapter) catalog() feature {
	return feature{
		"providerCatalog": takes("sessions:read", a.providerCatalog).meant("Return the normalized catalogue of providers and models that this node uses."),
	}
}

// catalogVersion is that of the catalogue's shape.
const catalogVersion = 2

type providerCatalog struct {
	SchemaVersion int `json:"schemaVersion"`
	*abi.ModelCatalog
}

func (a *Adapter) providerCatalog(ctx context.Context, q *request, _ *struct{}) (any, error) {
	all, err := a.core.Models(ctx, q.caller)
	if err != nil {
		return nil, err
	}
	return providerCatalog{catalogVersion, all}, nil
}
