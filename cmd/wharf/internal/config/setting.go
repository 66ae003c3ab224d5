package config

import (
	"strings"
)

// Member is the declaration of one value: of a setting, or of a member of what a [Section]
// names.
type Member struct {
	Name  string // of a setting dotted, as in the file
	Kind  string // what a value is, in a word
	Range string // what values are allowed, in words; "" when Kind says it all
	Doc   string
}

// Setting is the declaration of one setting.
type Setting struct {
	Member
	Default string
	// apply parses text into its place in c and returns its canonical form.
	apply func(c *Config, text string) (string, error)
}

// EnvPrefix starts the environment variable of every setting.
const EnvPrefix = "WHARF_"

// Env returns the name of the setting's environment variable.
func (s *Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Group returns the setting's group: what precedes the dot, or "".
func (s *Setting) Group() string {
	group, _, dotted := strings.Cut(s.Name, ".")
	if !dotted {
		return ""
	}
	return group
}

// Key returns the setting's name within its group.
func (s *Setting) Key() string { return s.Name[strings.LastIndexByte(s.Name, '.')+1:] }

// set declares a setting of a kind.
func set[V any](name, preset string, k kind[V], at func(*Config) *V, doc string) Setting {
	return Setting{Member: Member{name, k.name, k.bounds, doc}, Default: preset,
		apply: func(c *Config, text string) (string, error) { return k.into(at(c), text) }}
}
