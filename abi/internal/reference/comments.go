package reference

import (
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
)

// Comments returns the comments of the fields of package abi as Go source of package
// schema: a node has no sources, and describes members with them too.
func Comments(s *Source) ([]byte, error) {
	var text strings.Builder
	text.WriteString("package schema\n\n// Code generated from package abi by go generate ./abi; DO NOT EDIT.\n\n" +
		"// comments are what the sources of abi say of fields, by TYPE.FIELD.\nvar comments = map[string]string{\n")
	for _, of := range slices.Sorted(maps.Keys(s.types)) {
		fields := s.types[of].fields
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if fields[name] != "" {
				fmt.Fprintf(&text, "%q: %q,\n", of+"."+name, fields[name])
			}
		}
	}
	text.WriteString("}\n")
	return format.Source([]byte(text.String()))
}
