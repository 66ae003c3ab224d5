package manifest_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

func TestTrialsOfAVersion(t *testing.T) {
	for of, want := range map[string]string{"1.2.0": "1.2.0-dev.3", "1.2.0-beta.1": "1.2.0-beta.1.dev.3", "1.2.0-dev.7": "1.2.0-dev.7.dev.3"} {
		made := manifest.Trial(of, 3)
		if made != want {
			t.Errorf("of %s it is %s, want %s", of, made, want)
		}
		if got, n, ok := manifest.TrialOf(made); got != of || n != 3 || !ok {
			t.Errorf("%s is trial %d of %s, %t", made, n, got, ok)
		}
	}
	for _, none := range []string{"", "1.2.0", "1.2.0-dev", "1.2.0-dev.x", "1.2.0-dev.99999999999999999999", "dev.1"} {
		if of, n, ok := manifest.TrialOf(none); ok {
			t.Errorf("%q is trial %d of %q", none, n, of)
		}
	}
}

// However a version is written, another takes its place and nothing else changes.
func TestAManifestWithAnotherVersion(t *testing.T) {
	const rest = "# version = \"9.9.9\"\nname = \"triage\"  # é\nkind = \"persona\"\nlanguage = \"c\"\nentry = \"a.c\"\n"
	for _, line := range []string{
		`version = "0.1.0"`, `version="0.1.0" # "the" first`, `version = '0.1.0'`, `"version" = "0.1.0"`, `'version' = '''0.1.0'''`,
		`version = """0.1.0"""`, `version = "\u0030.1.0"`, "version\t=\t\"0.1.0\"",
	} {
		for _, text := range []string{rest + line + "\n", line + "\r\n" + rest, "\xef\xbb\xbf" + line + "\n" + rest} {
			m, problems := manifest.Parse([]byte(text))
			if m == nil {
				t.Fatalf("%q: %v", text, problems)
			}
			changed, err := m.WithVersion("0.1.0-dev.1")
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			is, _ := manifest.Parse(changed)
			if is == nil || is.Version != "0.1.0-dev.1" || !strings.Contains(string(changed), strings.TrimSpace(rest)) {
				t.Errorf("%q becomes %q", text, changed)
			}
		}
	}
}

func TestAVersionThatIsNone(t *testing.T) {
	m, _ := manifest.Parse([]byte("name = \"triage\"\nversion = \"0.1.0\"\nkind = \"persona\"\n"))
	if m == nil {
		t.Fatal("the manifest is not valid")
	}
	if changed, err := m.WithVersion("one"); err == nil {
		t.Errorf("it becomes %q", changed)
	}
}
