package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// statedPath is a path of the configuration to something that has to be there, where it is stated.
type statedPath struct {
	name   string // of the setting
	at     *string
	listed bool // there may be several, separated by commas
	maybe  bool // it may be something else than a path
}

// settingPaths are the settings with such paths. Folders and files that the node makes, as its data, are none.
func settingPaths(c *Config) []statedPath {
	return []statedPath{
		{name: "tls.cert", at: &c.TLS.Cert}, {name: "tls.key", at: &c.TLS.Key}, {name: "tls.client_ca", at: &c.TLS.ClientCA}, {name: "acme.roots", at: &c.ACME.Roots},
		{name: "plugins.dir", at: &c.Plugins.Dir}, {name: "plugins.watch", at: &c.Plugins.Watch, listed: true},
		{name: "plugins.trust", at: &c.Plugins.Trust, listed: true, maybe: true},
		{name: "models.script", at: &c.Model.Script}, {name: "vaults.files", at: &c.Vaults.Files},
	}
}

// findFiles looks paths that the file states up in the file's own folder, wherever the node runs. One that is
// not there, but in the current folder, means that: so it was before.
func (e *Effective) findFiles() {
	folder := filepath.Dir(e.File)
	if e.File == "" || folder == "." {
		return
	}
	for _, p := range settingPaths(&e.Config) {
		if strings.HasPrefix(e.origin(p.name), e.File+":") {
			*p.at = e.findAll(folder, p)
			e.restate(p.name, *p.at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Secrets)) {
		s := e.Config.Secrets[name]
		p := statedPath{name: "secrets." + name + ".file", at: &s.File}
		*p.at = e.findAll(folder, p)
		e.Config.Secrets[name] = s
		e.restate(p.name, s.File)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Config.Tools)) {
		t := e.Config.Tools[name]
		p := statedPath{name: "tools." + name + ".cwd", at: &t.Dir}
		*p.at = e.findAll(folder, p)
		e.Config.Tools[name] = t
		e.restate(p.name, t.Dir)
	}
}

func (e *Effective) findAll(folder string, p statedPath) string {
	if !p.listed {
		return e.find(folder, *p.at, p)
	}
	var found []string
	for path := range strings.SplitSeq(*p.at, ",") {
		found = append(found, e.find(folder, strings.TrimSpace(path), p))
	}
	return strings.Join(found, ",")
}

func (e *Effective) find(folder, path string, p statedPath) string {
	beside := filepath.Join(folder, path)
	switch {
	case path == "" || filepath.IsAbs(path):
		return path
	case isThere(beside):
		return beside
	case isThere(path):
		e.Warnings = append(e.Warnings, fmt.Sprintf("%s: %s is not in %s, the folder of the configuration, but in the current folder: that is used. Move it, or write the path from there", p.name, path, folder))
		return path
	case p.maybe:
		return path
	}
	return beside
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// restate takes down what a value has become.
func (e *Effective) restate(name, text string) {
	for i := range e.Values {
		if e.Values[i].Setting.Name == name {
			e.Values[i].Text = text
		}
	}
}
