package manifest

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzParse holds what is taken against what the library takes, and each place against the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", sound, minimal, byteOrderMark + minimal, strings.ReplaceAll(sound, "\n", "\r\n"),
		minimal + "a.b.c = 1\na.b.d = [1, {x = 2}]\n[[t]]\n[[t.u]]\n[t.v]\n", minimal + "[config.\"a b\"]\ntype = \"x\"\ndefault = 1979-05-27T07:32:00Z\n",
		minimal + "hosts = [[], [[]]]\n[limits]\n[limits]\n", "name = '''\nx'''\nname.a = 1\n[name]\n", "a = {b = 1, b.c = 2}\n[a.d]\n", minimal + "limits.gas = 0x_1\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, problems := Parse(text)
		if (m == nil) == Sound(problems) {
			t.Fatalf("a manifest: %v, problems: %s", m != nil, said(problems))
		}
		lines := strings.Split(strings.TrimPrefix(string(text), byteOrderMark), "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len([]rune(lines[p.Line-1]))+1 {
				t.Fatalf("%s is no place in the text", p.String())
			}
		}
		if m == nil {
			return
		}
		var all map[string]any
		if err := toml.Unmarshal([]byte(strings.TrimPrefix(string(text), byteOrderMark)), &all); err != nil {
			t.Fatalf("it is no TOML: %v", err)
		}
		if m.Schemas.Input.File != "" || m.Schemas.Output.File != "" {
			return
		}
		if _, err := m.Resources(); err != nil {
			t.Fatal(err)
		}
	})
}
