package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// placeOf is where the models of a kind of provider run that says nothing else.
func placeOf(kind string) abi.ModelPlace {
	switch kind {
	case "script":
		return abi.ModelLocal
	case "client":
		return abi.ModelClient
	}
	return abi.ModelCloud
}

// Models returns the node's catalogue of models. It is the same for every caller.
func (k *Keeper) Models(context.Context, *desk.Caller) (*abi.ModelCatalog, error) {
	all := &abi.ModelCatalog{Providers: []abi.ModelProvider{}, Models: k.models()}
	for i := range all.Models {
		m := &all.Models[i]
		m.Provider = m.Kind
		if m.Place != placeOf(m.Kind) {
			m.Provider += "-" + string(m.Place)
		}
		if m.Default {
			all.Default = m.Name
		}
		provided(all, m)
	}
	return all, nil
}

// provided adds a model to those of its provider.
func provided(all *abi.ModelCatalog, m *abi.NodeModel) {
	i, found := slices.BinarySearchFunc(all.Providers, m.Provider, func(p abi.ModelProvider, id string) int { return strings.Compare(p.ID, id) })
	if !found {
		all.Providers = slices.Insert(all.Providers, i, abi.ModelProvider{ID: m.Provider, Kind: m.Kind, Place: m.Place, Auth: abi.ModelAuth{Env: []string{}}})
	}
	p := &all.Providers[i]
	p.Models, p.Available, p.Auth.Required = append(p.Models, m.Name), p.Available || m.Available, p.Auth.Required || m.Auth.Required
	for _, env := range m.Auth.Env {
		if !slices.Contains(p.Auth.Env, env) {
			p.Auth.Env = append(p.Auth.Env, env)
		}
	}
}

// models returns the node's models, by name.
func (k *Keeper) models() []abi.NodeModel {
	if k.parts.Models == nil {
		return []abi.NodeModel{}
	}
	return k.parts.Models()
}

// modelNamed returns the name of the model that a Session is to have: that which plugins ask for. "" is none.
func (k *Keeper) modelNamed(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var there []string
	for _, m := range k.models() {
		if m.Name == name || slices.Contains(m.Aliases, name) {
			return m.Name, nil
		}
		there = append(there, m.Name)
	}
	if there == nil {
		return "", abi.InvalidParam("model", "this node has no models")
	}
	return "", abi.InvalidParam("model", "this node has no model %.100q: it has %s", name, strings.Join(there, ", "))
}
