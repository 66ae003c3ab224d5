package config

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated documents and golden files")

// load writes content as a file and loads it together with the other sources.
func load(t *testing.T, content string, s Sources) (*Effective, error) {
	t.Helper()
	s.File = filepath.Join(t.TempDir(), "wharf.yaml")
	if err := os.WriteFile(s.File, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	eff, err := Load(s)
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), s.File, "FILE"))
	}
	return eff, err
}

func TestDefaultsWorkWithNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	eff, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	c := eff.Config
	if c.Listen != "127.0.0.1:8080" || c.Data != "./wharf-data" || c.Limits.Body != 32<<20 ||
		c.Tasks.Persona != "persona_digest" || c.Log.Level != slog.LevelInfo || c.Retention.Events != 0 {
		t.Errorf("unexpected defaults: %+v", c)
	}
	for _, v := range eff.Values {
		if v.Origin != "default" || v.Text != v.Setting.Default {
			t.Errorf("%s = %q from %s, want %q from default", v.Setting.Name, v.Text, v.Origin, v.Setting.Default)
		}
	}
}

func TestFileInTheCurrentFolderIsFound(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(DefaultFile, []byte("listen: 127.0.0.1:9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eff, err := Load(Sources{})
	if err != nil || eff.Config.Listen != "127.0.0.1:9" || eff.File != DefaultFile {
		t.Fatalf("got %+v, %v", eff, err)
	}
}

func TestNamedFileMustExist(t *testing.T) {
	_, err := Load(Sources{File: filepath.Join(t.TempDir(), "absent.yaml")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
}

func TestTheNearestSourceWins(t *testing.T) {
	file := "listen: 127.0.0.1:1\nlog:\n  level: warn\nlimits: {body: 1MiB, header: 9KiB}\n"
	eff, err := load(t, file, Sources{
		Environ: []string{"WHARF_LISTEN=127.0.0.1:2", "WHARF_LIMITS_BODY=2MiB", "PATH=/bin"},
		Flags:   map[string]string{"listen": "127.0.0.1:3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"listen":        {"127.0.0.1:3", "--listen"},
		"limits.body":   {"2MiB", "WHARF_LIMITS_BODY"},
		"limits.header": {"9KiB", eff.File + ":4"},
		"log.level":     {"warn", eff.File + ":3"},
		"tasks.queue":   {"10000", "default"},
	}
	for _, v := range eff.Values {
		if w, ok := want[v.Setting.Name]; ok && (v.Text != w[0] || v.Origin != w[1]) {
			t.Errorf("%s = %q from %q, want %q from %q", v.Setting.Name, v.Text, v.Origin, w[0], w[1])
		}
	}
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"misspelt", "log:\n  levle: info\n", `FILE:2: there is no setting "log.levle": did you mean "log.level"?`},
		{"misspelt group", "\nlimit:\n  body: 1MiB\n", `FILE:2: there is no setting "limit": did you mean "limits"?`},
		{"wrong group", "log:\n  heartbeat: 5s\n", `FILE:2: there is no setting "log.heartbeat": did you mean "sse.heartbeat"?`},
		{"nothing like it", "zzzzzzzzzzzzzzz: 1\n", `"wharf config init" lists them all`},
		{"twice", "listen: a:1\nlisten: b:2\n", `FILE:2: "listen" is there twice: first in line 1`},
		{"twice, dotted", "log.level: info\nlog:\n  level: warn\n", "FILE:3: log.level: was set before, at FILE:1"},
		{"size", "limits:\n  body: lots\n", `FILE:2: limits.body: "lots" is not a size such as 64MiB, 10MB or 4096`},
		{"size range", "limits:\n  body: 3\n", `FILE:2: limits.body: 3 is not within 1KiB to 1GiB`},
		{"duration", "sse:\n  heartbeat: 5\n", `FILE:2: sse.heartbeat: "5" is not a duration such as`},
		{"duration range", "retention:\n  idempotency: 1h\n", "1h is not within 24h to 30d"},
		{"number", "tasks:\n  queue: many\n", `FILE:2: tasks.queue: "many" is not a whole number`},
		{"number range", "tasks:\n  queue: 0\n", "0 is not within 1 to 10000000"},
		{"choice", "log:\n  format: xml\n", `"xml" is not one of auto, text, json`},
		{"address", "listen: 8080\n", `"8080" is not HOST:PORT`},
		{"port", "listen: localhost:99999\n", `has no port from 0 to 65535`},
		{"url", "public_url: wharf.example.com\n", "is not a URL such as"},
		{"list", "listen: [a, b]\n", "FILE:1: listen: has to be a single value"},
		{"group with a value", "log: 3\n", "FILE:1: log: is a group of settings"},
		{"value with members", "listen:\n  host: a\n", `there is no setting "listen.host"`},
		{"no mapping", "hello\n", "FILE:1: is not a mapping of settings"},
		{"two documents", "listen: a:1\n---\nlisten: b:1\n", "more than one YAML document"},
		{"not YAML", "listen: \"127\n", "FILE:"},
		{"together", "limits:\n  body: 64MiB\n  in_flight: 32MiB\n", "FILE:3: limits.in_flight: 32MiB is less than limits.body (64MiB)"},
		{"retention", "retention:\n  events: 1h\n", "FILE:2: retention.events: 1h is less than retention.idempotency (24h)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, test.file, Sources{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := load(t, "limits:\n  body: x\n  header: y\nfoo: 1\n", Sources{
		Environ: []string{"WHARF_TASKS_QUEUE=z"},
		Flags:   map[string]string{"log.level": "loud", "no.such": "1"},
		Set:     map[string]string{"tasks.concurrency": "many"},
	})
	for _, want := range []string{"limits.body", "limits.header", `"foo"`, "WHARF_TASKS_QUEUE: tasks.queue",
		"--log-level: log.level", `--set tasks.concurrency: "many" is not a whole number`, `there is no setting "no.such"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %s", err, want)
		}
	}
}

func TestUnknownVariablesAreReportedAndHarmless(t *testing.T) {
	eff, err := load(t, "", Sources{Environ: []string{"WHARF_PORT=tcp://10.0.0.1:80", "WHARF_SERVER=x"}})
	if err != nil || len(eff.Unknown) != 1 || eff.Unknown[0] != "WHARF_PORT" {
		t.Errorf("got %+v, %v", eff, err)
	}
}

// uncomment turns the template's examples into settings.
func uncomment(template string) string {
	return regexp.MustCompile(`(?m)^( *)# ([a-z_]+: \S+)$`).ReplaceAllString(template, "$1$2")
}

func TestTemplate(t *testing.T) {
	if eff, err := load(t, Template(), Sources{}); err != nil || eff.Config.Listen == "" {
		t.Fatalf("the template as printed: %v", err)
	}
	eff, err := load(t, uncomment(Template()), Sources{})
	if err != nil {
		t.Fatalf("the template with every example uncommented: %v", err)
	}
	for _, v := range eff.Values {
		if v.Origin == "default" || v.Text != v.Setting.Default {
			t.Errorf("%s = %q from %s: the template does not set it to its default", v.Setting.Name, v.Text, v.Origin)
		}
	}
}

func TestReferenceIsUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(path, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Reference() {
		t.Error("docs/configuration.md is not what the settings declare: run go test ./cmd/wharf/internal/config -update")
	}
}

func TestEverySettingIsDocumentedAndInAGroup(t *testing.T) {
	for _, s := range Settings() {
		if s.Doc == "" || s.Kind == "" || (s.Group() != "" && !isGroup(s.Group())) {
			t.Errorf("%s: incomplete declaration", s.Name)
		}
		if _, err := s.apply(&Config{}, s.Default); err != nil {
			t.Errorf("%s: its default is invalid: %v", s.Name, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(Template())
	f.Add(uncomment(Template()))
	f.Add("log: &a\n  level: *a\n")
	f.Add("? [x]\n: y\n")
	f.Add("<<: {listen: a}\n")
	f.Fuzz(func(t *testing.T, content string) {
		l, problems := parseFile("f", []byte(content))
		for name := range l.texts {
			if lookup(name) == nil {
				t.Errorf("%q was accepted as a setting", name)
			}
		}
		for _, p := range problems {
			if p.Message == "" || p.Origin == "" {
				t.Errorf("a problem that says nothing: %+v", p)
			}
		}
	})
}

// A file that would take long to read is refused with the limit.
func TestLargeFile(t *testing.T) {
	_, err := load(t, strings.Repeat("# nothing\n", maxFile/10+1), Sources{})
	if err == nil || !strings.Contains(err.Error(), "more than the 262144") {
		t.Errorf("%v", err)
	}
}
