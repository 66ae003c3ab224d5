package intake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/connector"
)

// takeOffered puts what an installed plugin says of its Connector in the place of what a request leaves out: of the plugin
// that is named without an export, or, where none is named, of the one whose provider it is. A provider that the
// node knows by itself stays what it is.
func (i *Intake) takeOffered(req *abi.CreateConnectorRequest) error {
	_, known := connector.Lookup(req.Provider)
	if i.parts.Offered == nil || strings.Contains(req.Plugin, "#") || req.Plugin == "" && known {
		return nil
	}
	var found []*abi.Connector
	for _, about := range i.parts.Offered() {
		if name, _, _ := strings.Cut(about.Plugin, "#"); name == req.Plugin || req.Plugin == "" && about.Provider == req.Provider {
			found = append(found, about)
		}
	}
	switch len(found) {
	case 0:
		return nil
	case 1:
		complete(req, found[0])
		return nil
	}
	return abi.InvalidParam("plugin", "the provider %s is that of the plugins %s: name one of them", req.Provider, pluginsOf(found))
}

// complete puts what a plugin says in the place of what a request leaves out.
func complete(req *abi.CreateConnectorRequest, about *abi.Connector) {
	req.Provider, req.Plugin, req.Ordered = cmp.Or(req.Provider, about.Provider), about.Plugin, req.Ordered || about.Ordered
	if req.EventKinds == nil {
		req.EventKinds = about.EventKinds
	}
	if req.Polling == nil && about.Polling != nil {
		polling := *about.Polling
		req.Polling = &polling
	}
}

// providersMeant says which provider may have been meant by a name, or which there are: those that come
// with the node, and those of installed plugins.
func (i *Intake) providersMeant(name string) string {
	all := connector.Names()
	if i.parts.Offered != nil {
		for _, about := range i.parts.Offered() {
			all = append(all, about.Provider)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if near := plainly.Nearest(name, slices.Values(all)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "there are " + plainly.List(all, "and")
}

func pluginsOf(all []*abi.Connector) string {
	var names []string
	for _, about := range all {
		names = append(names, about.Plugin)
	}
	return plainly.List(names, "and")
}
