package model

import (
	"cmp"
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/askclient"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// askClient returns what a Task asks its client in the place of a model; nil when the client has none
// and there are fallbacks to ask. Once the client was asked no fallback is: what it says may take days.
func (m *Models) askClient(c *provider.Call, r *abi.ModelRequest, name string) (*abi.CallInputRequestRequest, error) {
	model := m.config.Models[name]
	wire, names := wireNames(r)
	ask, err := askclient.Sampling(c.Client, wire, askclient.Model{MaxTokens: cmp.Or(m.maxTokens(name, r), anthropicTokens), Hint: model.Model, Names: names,
		Seconds: model.Timeout.Seconds()})
	if err != nil && len(model.Fallbacks) > 0 {
		return nil, nil
	}
	return ask, err
}

// absent stands for a client's model where the client has none: its fallbacks are asked.
type absent struct{}

func (absent) complete(context.Context, *ask) (*reply, error) { return nil, errAbsent }
