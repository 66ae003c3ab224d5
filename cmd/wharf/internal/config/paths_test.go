package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Paths of the file are those from its own folder, whatever folder a node runs in. What was found in the
// current folder before is found there still.
func TestPathsAreThoseOfTheFile(t *testing.T) {
	here, etc := t.TempDir(), filepath.Join(t.TempDir(), "etc")
	t.Chdir(here)
	put := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	both, only := put(filepath.Join(etc, "script.json"), "[]"), put(filepath.Join(etc, "crm"), "x")
	for _, name := range []string{"script.json", "old", "env.json", "keys.json"} {
		put(filepath.Join(here, name), "[]")
	}
	watched := filepath.Join(etc, "watched")
	put(filepath.Join(watched, "README"), "")
	file := put(filepath.Join(etc, "wharf.yaml"), `
data: data
models.script: script.json
plugins:
  dir: plugins
  watch: watched, /abs
  trust: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,keys.json
secrets:
  crm: {file: crm}
  old: {file: old}
  later: {file: ./run/later}
  abs: {file: /run/secrets/abs}
  env: {env: X}
`)
	eff, err := Load(Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	c := &eff.Config
	for name, is := range map[string][2]string{
		"a file that is in both":           {c.Model.Script, both},
		"a file beside it":                 {c.Secrets["crm"].File, only},
		"one in the current folder":        {c.Secrets["old"].File, "old"},
		"one that is not there":            {c.Secrets["later"].File, filepath.Join(etc, "run", "later")},
		"one by its whole path":            {c.Secrets["abs"].File, "/run/secrets/abs"},
		"none":                             {c.Secrets["env"].File, ""},
		"a folder that is not there":       {c.Plugins.Dir, filepath.Join(etc, "plugins")},
		"several":                          {c.Plugins.Watch, watched + ",/abs"},
		"a key, and a file of before":      {c.Plugins.Trust, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,keys.json"},
		"what the node makes":              {c.Data, "data"},
		"what nobody has said":             {c.TLS.Cert, ""},
		"as it is shown":                   {shown(eff, "models.script"), both},
		"a member of a name, as it is too": {shown(eff, "secrets.crm.file"), only},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %q, want %q", name, is[0], is[1])
		}
	}
	if said := strings.Join(eff.Warnings, "\n"); len(eff.Warnings) != 2 || !strings.Contains(said, "secrets.old.file: old is not in "+etc) || !strings.Contains(said, "plugins.trust: keys.json") {
		t.Errorf("the warnings are %q", eff.Warnings)
	}

	// What the environment and flags say is from where they are said.
	eff, err = Load(Sources{File: file, Environ: []string{"WHARF_MODELS_SCRIPT=script.json"}, Flags: map[string]string{"plugins.dir": "here"}})
	if err != nil || eff.Config.Model.Script != "script.json" || eff.Config.Plugins.Dir != "here" {
		t.Errorf("%q and %q, %v", eff.Config.Model.Script, eff.Config.Plugins.Dir, err)
	}

	// And a file of the current folder changes nothing.
	put("wharf.yaml", "models.script: ./nothing\nsecrets: {a: {file: ./b}}\n")
	eff, err = Load(Sources{})
	if err != nil || eff.Config.Model.Script != "./nothing" || eff.Config.Secrets["a"].File != "./b" || eff.Warnings != nil {
		t.Errorf("%q, %q, %q, %v", eff.Config.Model.Script, eff.Config.Secrets["a"].File, eff.Warnings, err)
	}
}

func shown(e *Effective, name string) string {
	for _, v := range e.Values {
		if v.Setting.Name == name {
			return v.Text
		}
	}
	return ""
}
