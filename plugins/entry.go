package plugins

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// maxEntry is the longest plugin or export name, in bytes.
const maxEntry = 128

// ParseEntry reads a Persona's entry_workflow: "plugin", or "plugin#export". Without
// an export it is [abi.DefaultExport]. What is malformed is an *abi.Failure of the
// code plugin_missing. Whether the plugin exists is not checked.
func ParseEntry(entry string) (plugin, export string, err error) {
	plugin, export, named := strings.Cut(entry, "#")
	if !named {
		export = abi.DefaultExport
	}
	if !validName(plugin) || export == "" || len(export) > maxEntry || strings.Contains(export, "#") {
		return "", "", &abi.Failure{
			Code:    abi.FailurePluginMissing,
			Message: fmt.Sprintf("the entry_workflow %q is neither \"plugin\" nor \"plugin#export\"", entry),
		}
	}
	return plugin, export, nil
}

// validName reports whether a plugin can have the name: letters, digits and _ - . /
func validName(name string) bool {
	if name == "" || len(name) > maxEntry {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_-./", c) >= 0:
		default:
			return false
		}
	}
	return true
}
