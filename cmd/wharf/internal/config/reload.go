package config

import (
	"reflect"
	"slices"
)

// live are the settings that a node takes over while it runs, when it reads its configuration again. All
// others take effect at its next start.
func live() []string { return []string{"grants", "log.level"} }

// Live reports whether a node takes a setting over while it runs.
func Live(setting string) bool { return slices.Contains(live(), setting) }

// Changed returns the names of the settings that two configurations have otherwise, in order; what the
// file names counts as one each: models, prices, secrets, tools, grants and so on.
func Changed(a, b *Effective) (names []string) {
	for _, s := range Settings() {
		if a.text(s.Name) != b.text(s.Name) {
			names = append(names, s.Name)
		}
	}
	x, y := reflect.ValueOf(a.Config.Named), reflect.ValueOf(b.Config.Named)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, namedSection(x.Type().Field(i).Name))
		}
	}
	slices.Sort(names)
	return names
}

// text returns the value of a setting in canonical form.
func (e *Effective) text(name string) string {
	for i := range e.Values {
		if e.Values[i].Setting.Name == name {
			return e.Values[i].Text
		}
	}
	return ""
}

// namedSection is what the file calls a member of [Named].
func namedSection(member string) string {
	return map[string]string{"Models": "models", "Prices": "prices", "Secrets": "secrets", "Tools": "tools", "Grants": "grants", "Issuers": "oauth.issuers",
		"Commands": "openharness.commands", "ModelNames": "openharness.models", "PluginLimits": "plugins.limits", "Settings": "settings"}[member]
}
