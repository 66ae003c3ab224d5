package manifest

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Editor is a JSON Schema of the draft 7, which is what editors know of TOML files.
type Editor struct {
	Version       string             `json:"$schema,omitzero"`
	Title         string             `json:"title,omitzero"`
	Description   string             `json:"description,omitzero"`
	Type          any                `json:"type,omitzero"` // a name, or a list of names
	Enum          []string           `json:"enum,omitzero"`
	Pattern       string             `json:"pattern,omitzero"`
	Minimum       *int64             `json:"minimum,omitzero"`
	Maximum       *int64             `json:"maximum,omitzero"`
	MaxLength     int                `json:"maxLength,omitzero"`
	Items         *Editor            `json:"items,omitzero"`
	MaxItems      int                `json:"maxItems,omitzero"`
	UniqueItems   bool               `json:"uniqueItems,omitzero"`
	Properties    map[string]*Editor `json:"properties,omitzero"`
	Required      []string           `json:"required,omitzero"`
	Additional    any                `json:"additionalProperties,omitzero"` // false, or an *Editor
	MaxProperties int                `json:"maxProperties,omitzero"`
}

// described is the schema of a field, with what is said of it.
func (m *member) described() *Editor {
	s := *m.schema
	s.Description = m.doc
	if m.preset != "" {
		s.Description += " If it is not set: " + m.preset + "."
	}
	return &s
}

// Schema is the JSON Schema of manifests, for editors, as it is in docs/manifest.schema.json. What a
// manifest says of several fields together it does not hold.
func Schema() (jsontext.Value, error) {
	s := *manifests().schema
	s.Version, s.Title = "http://json-schema.org/draft-07/schema#", FileName
	text, err := json.Marshal(&s, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the schema of manifests: %w", err)
	}
	return append(text, '\n'), nil
}
