package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

// personaNames are the names of Personas by their ids, where no other has the name: what people know them
// by. There are none for a key that may not see them.
func personaNames(ctx context.Context, c *client.Client) map[string]string {
	all, err := client.List[abi.Persona](ctx, c, client.Get("/v1/personas"))
	if err != nil {
		return nil
	}
	count, names := map[string]int{}, map[string]string{}
	for i := range all {
		count[all[i].Value.Name]++
	}
	for i := range all {
		if p := &all[i].Value; count[p.Name] == 1 && isName(p.Name) {
			names[p.ID] = p.Name
		}
	}
	return names
}

// isName reports whether a text names a Persona, and is neither an id nor a pattern of some.
func isName(text string) bool {
	return text != "" && !strings.HasPrefix(text, abi.IDPrefix(abi.ObjectPersona)) && !strings.Contains(text, "*")
}

// personaID returns the id of a Persona that is given by its name; an id, or none, stays what it is. The
// protocol takes ids alone.
func personaID(ctx context.Context, c *client.Client, name string) (string, error) {
	if !isName(name) {
		return name, nil
	}
	all, err := client.List[abi.Persona](ctx, c, client.Get("/v1/personas"))
	if err != nil {
		return "", err
	}
	var found, retired, names []string
	for i := range all {
		switch p := &all[i].Value; {
		case p.Name != name:
			names = append(names, p.Name)
		case p.RetiredAt.IsZero(): // a retired one may have given its name away
			found = append(found, p.ID)
		default:
			retired = append(retired, p.ID)
		}
	}
	if len(found) == 0 {
		found = retired
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(names)
		return "", advise(usagef("there is no Persona %q", name), personaMeant(name, slices.Compact(names)))
	}
	return "", advise(usagef("%d Personas are called %q", len(found), name), "the id of one: "+plainly.Or(found))
}

func personaMeant(name string, names []string) string {
	if near := plainly.Nearest(name, slices.Values(names)); near != "" {
		return near
	}
	if len(names) == 0 {
		return "wharf persona list"
	}
	return "one of " + plainly.Or(names[:min(len(names), 12)])
}

// namedPersona is [personaID] for commands that say what they send before they ask.
func (a *app) namedPersona(ctx context.Context, name *string) error {
	if !isName(*name) {
		return nil
	}
	c, err := a.client()
	if err == nil {
		*name, err = personaID(ctx, c, *name)
	}
	return err
}

// ofPersona makes a caller take a Persona's name, too, as its first argument.
func (a *app) ofPersona(call caller) caller {
	return func(cmd *cobra.Command, args []string) (client.Call, error) {
		args = slices.Clone(args)
		if err := a.namedPersona(cmd.Context(), &args[0]); err != nil {
			return client.Call{}, err
		}
		return call(cmd, args)
	}
}
