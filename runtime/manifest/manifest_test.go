package manifest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/go-json-experiment/json"
)

var update = flag.Bool("update", false, "rewrite generated documents")

const sound = `name = "triage"
version = "1.2.0"
kind = "skill"
description = "Says which team a ticket belongs to."
language = "typescript"
entry = "src/main.ts"
exports = ["run", "poll"]
capabilities = ["http.fetch", "llm.complete", "memory.*"]
hosts = ["crm.example.com", "*.example.org:8443"]
methods = ["GET", "POST"]
secrets = ["crm"]
models = ["fast"]

[limits]
gas = 5_000_000_000
memory = "64MiB"
time = "30s"
depth = 1000

[config.greeting]
type = "string"
default = "Hello"

[config.steps]
type = "array"
default = [{ name = "a", weight = 0.5 }, { name = "b" }]

[schemas]
input = { type = "object", required = ["ticket"] }
output = "output.json"

[build]
command = ["npm", "run", "build", "build"]

[persona]
autonomy_tier = "suggest"

[skill]
requires_approval = true
`

// minimal is the least that a manifest says, before what a test adds.
const minimal = "name = \"a\"\nversion = \"1.0.0\"\nkind = \"persona\"\n"

func TestAManifestIsRead(t *testing.T) {
	m, problems := Parse([]byte(sound))
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	if m.Module != "build/triage.wasm" || m.Limits.Memory != 64<<20 || m.Limits.Time.Seconds() != 30 || m.Exports[1] != "poll" ||
		m.Build.Command[3] != "build" || m.Schemas.Output.File != "output.json" {
		t.Errorf("got %+v", m)
	}
	if got := string(m.Config[1].Default); got != `[{"name":"a","weight":0.5},{"name":"b"}]` {
		t.Errorf("the default of steps is %s", got)
	}
	if got := string(m.Schemas.Input.Text); got != `{"type":"object","required":["ticket"]}` {
		t.Errorf("the schema of the input is %s", got)
	}
}

// Each manifest has the problems that are told, at their places, and no others.
func TestProblemsAreToldWhereTheyAre(t *testing.T) {
	for about, c := range map[string]struct{ text, want string }{
		"nothing at all":           {"", "1:1 key_missing name; 1:1 key_missing version; 1:1 key_missing kind"},
		"a key that is misspelled": {minimal + "capabilites = []\n", "4:1 key_unknown capabilites did you mean capabilities?"},
		"one within a table":       {minimal + "[limits]\n  gsa = 5000\n", "5:3 key_unknown limits.gsa did you mean limits.gas?"},
		"one that is quoted":       {minimal + "\"a b\" = 1\n", "4:1 key_unknown"},
		"a key twice":              {minimal + "  name = \"b\"\n", "4:3 key_duplicate line 1"},
		"a table twice":            {minimal + "[limits]\n[limits]\n", "5:2 key_duplicate line 4"},
		"a key of a value":         {minimal + "name.first = 1\n", "4:1 key_duplicate line 1"},
		"dotted into a heading":    {minimal + "limits.gas = 5000\n[limits]\ntime = \"1s\"\n", "toml_invalid"},
		"another type":             {minimal + "capabilities = [\"*\"]\nagents = [\"a\"]\nhosts = \"a.example\"\n", "6:9 value_type hosts"},
		"in a list":                {minimal + "capabilities = [\"http.*\"]\nhosts = [\"a.example\",\n  4]\n", "6:3 value_type hosts[1]"},
		"a date":                   {minimal + "[config.a]\ntype = \"string\"\ndefault = 2026-01-01\n", "6:11 value_invalid config.a.default"},
		"no number of JSON":        {minimal + "[config.a]\ntype = \"number\"\ndefault = inf\n", "6:11 value_invalid"},
		"a list of tables":         {minimal + "[[limits]]\ngas = 5000\n", "4:3 value_type limits"},
		"a name":                   {strings.Replace(minimal, `"a"`, `"../A"`, 1), "1:8 value_invalid name"},
		"a version":                {strings.Replace(minimal, "1.0.0", "v1", 1), "2:11 value_invalid 1.2.3"},
		"a version with a build":   {strings.Replace(minimal, "1.0.0", "1.0.0+7", 1), "2:11 value_invalid leave out the +"},
		"a kind":                   {strings.Replace(minimal, "persona", "person", 1), `3:8 value_invalid did you mean "persona"?`},
		"a host with a scheme":     {minimal + "capabilities = [\"http.fetch\"]\nhosts = [\"https://a.example\"]\n", "5:10 value_invalid hosts[0]"},
		"a host twice":             {minimal + "capabilities = [\"http.fetch\"]\nhosts = [\"a\", \"a\"]\n", "5:15 value_repeated hosts[1]"},
		"a secret":                 {minimal + "capabilities = [\"secret.use\"]\nsecrets = [\"a b\"]\n", "5:12 value_invalid secrets[0]"},
		"a call that is not there": {minimal + "capabilities = [\"http.fetsh\"]\n", `4:17 value_invalid did you mean "http.fetch"?`},
		"with the name of Extism":  {minimal + "capabilities = [\"llm_complete\"]\n", `did you mean "llm.complete"?`},
		"one among others":         {minimal + "capabilities = [\"http.fetsh\", \"http.fetch\"]\nhosts = [\"a\"]\n", "4:17 value_invalid capabilities[0]"},
		"hosts without the call":   {minimal + "hosts = [\"a.example\"]\n", "4:1 capability_not_granted hosts"},
		"the call without hosts":   {minimal + "capabilities = [\"http.fetch\"]\n", "4:1 reach_missing"},
		"too little gas":           {minimal + "limits.gas = 1\n", "4:14 value_invalid limits.gas"},
		"gas beyond all integers":  {minimal + "limits.gas = 99999999999999999999\n", "4:14 toml_invalid"},
		"a duration":               {minimal + "limits.time = \"1\"\n", "4:15 value_invalid limits.time"},
		"a default of other type":  {minimal + "[config.a]\ntype = \"integer\"\ndefault = \"1\"\n", "6:11 value_invalid is no integer"},
		"a setting without a type": {minimal + "[config.a]\n", "4:9 key_missing config.a.type"},
		"a schema that is none":    {minimal + "schemas.input = { type = \"objekt\" }\n", "4:17 schema_invalid schemas.input"},
		"a schema of elsewhere":    {minimal + "schemas.input = { \"$ref\" = \"file:///etc/passwd\" }\n", "schema_invalid"},
		"a path out of the folder": {minimal + "entry = \"../main.c\"\n", "4:9 value_invalid entry"},
		"a path of a disk":         {minimal + "module = \"C:/a.wasm\"\n", "4:10 value_invalid module"},
		"a table of another kind":  {minimal + "[hook]\nevent = \"stop\"\n", "4:2 key_misplaced hook"},
		"a skill without words":    {strings.Replace(minimal, "persona", "skill", 1), "key_missing description"},
		"a hook without an event":  {strings.Replace(minimal, "persona", "hook", 1), "key_missing hook.event"},
		"a hook that may fetch":    {strings.Replace(minimal, "persona", "hook", 1) + "capabilities = [\"http.fetch\"]\nhook.event = \"stop\"\n", "4:1 value_invalid apart from Tasks"},
		"a schedule":               {strings.Replace(minimal, "persona", "connector", 1) + "connector.schedule = \"daily\"\n", "4:22 value_invalid connector.schedule"},
		"a poll that is no export": {strings.Replace(minimal, "persona", "connector", 1) + "connector.schedule = \"@hourly\"\nconnector.poll = \"poll\"\n", "5:18 export_missing connector.poll"},
		"no TOML":                  {minimal + "hosts = [\n", "toml_invalid"},
		"after other letters":      {minimal + "hosts = [\"äöü\", nope]\n", "4:17 toml_invalid"},
		"a number after those":     {minimal + "hosts = [\"äöü\", 0x_1]\n", "4:17 toml_invalid"},
		"an end among them":        {minimal + "name2 = \"괉", "4:10 toml_invalid"},
		"no UTF-8":                 {minimal + "description = \"\xff\"\n", "4:16 toml_invalid UTF-8"},
		"a NUL":                    {minimal + "description = \"\x00\"\n", "4:16 toml_invalid NUL"},
		"an old line end":          {"name = \"a\"\rversion = \"1.0.0\"\r", "1:11 toml_invalid carriage return"},
		"another build":            {minimal + "language = \"other\"\nentry = \"a.zig\"\n", "key_missing build.command"},
	} {
		t.Run(about, func(t *testing.T) {
			_, problems := Parse([]byte(c.text))
			wants := strings.Split(c.want, "; ")
			if len(problems) != len(wants) {
				t.Fatalf("got %d problems: %s", len(problems), said(problems))
			}
			for i, want := range wants {
				p := problems[i]
				line := fmt.Sprintf("%d:%d %s %s %s", p.Line, p.Column, p.Code, p.Message, p.Try)
				for j, word := range strings.Split(want, " ") {
					if j == 0 && strings.Contains(word, ":") && !strings.HasPrefix(line, word+" ") || !strings.Contains(line, word) {
						t.Errorf("got %q, want %q", line, want)
					}
				}
			}
		})
	}
}

func said(problems []Problem) string {
	var b strings.Builder
	for i := range problems {
		b.WriteString("\n" + problems[i].String())
	}
	return b.String()
}

// An editor's mark at the beginning and its ends of lines change nothing, places included.
func TestEndsOfLinesAndMarksChangeNothing(t *testing.T) {
	wrong := sound + "[limits.more]\n"
	_, want := Parse([]byte(wrong))
	mixed := strings.Replace(wrong, "\n", "\r\n", 7)
	for about, text := range map[string]string{"CRLF": strings.ReplaceAll(wrong, "\n", "\r\n"), "both": mixed, "BOM": byteOrderMark + wrong} {
		if _, got := Parse([]byte(text)); said(got) != said(want) || len(got) == 0 {
			t.Errorf("%s: got %s, want %s", about, said(got), said(want))
		}
		if m, problems := Parse([]byte(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "[limits.more]"))); m == nil && about == "BOM" {
			t.Errorf("%s: %s", about, said(problems))
		}
	}
}

// What a stranger's manifest takes is bounded, and so is what is said of it.
func TestHostileManifests(t *testing.T) {
	many := func(n int, line func(int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	for about, text := range map[string]string{
		"a million keys":       many(1_000_000, func(i int) string { return fmt.Sprintf("k%d = 1\n", i) }),
		"as many as there can": many(25_000, func(i int) string { return fmt.Sprintf("k%d=1\n", i) }),
		"settings":             minimal + many(9000, func(i int) string { return fmt.Sprintf("[config.k%d]\n", i) }),
		"tables in a list":     minimal + strings.Repeat("[[a]]\n", 40_000),
		"a deep list":          minimal + "hosts = " + strings.Repeat("[", 100_000),
		"a closed deep list":   minimal + "hosts = " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"a deep default":       minimal + "[config.a]\ntype = \"array\"\ndefault = " + strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"a deep key":           minimal + "a" + strings.Repeat(".a", 100_000) + " = 1\n",
		"deep headings":        minimal + strings.Repeat("["+strings.Repeat("a.", 1000)+"b]\n", 100),
		"a long key":           minimal + strings.Repeat("a", 200_000) + " = 1\n",
		"a long text":          minimal + "description = \"" + strings.Repeat("é", 100_000) + "\"\n",
		"a long list":          minimal + "hosts = [" + strings.Repeat("\"a\",", 50_000) + "]\n",
		"numbers":              minimal + "hosts = [" + strings.Repeat("1,", 100_000) + "]\n",
		"a key again":          minimal + strings.Repeat("a = 1\n", 40_000),
	} {
		t.Run(about, func(t *testing.T) {
			m, problems := Parse([]byte(text))
			if m != nil || len(problems) == 0 || len(problems) > maxProblems {
				t.Errorf("there are %d problems", len(problems))
			}
			if said := said(problems); len(said) > maxProblems*2000 {
				t.Errorf("%d bytes are said", len(said))
			}
		})
	}
}

// What a long manifest takes is bounded by the number of its keys, too.
func TestManifestsOfManyKeys(t *testing.T) {
	of := func(n int) string {
		var b strings.Builder
		b.WriteString(minimal)
		for i := range n {
			fmt.Fprintf(&b, "config.k%d.default = 1\n", i)
		}
		return b.String()
	}
	if m, problems := Parse([]byte(of(maxKeys - 100))); slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == TooLarge }) {
		t.Errorf("%v, %s", m, said(problems))
	}
	m, problems := Parse([]byte(of(maxKeys + 1)))
	if m != nil || len(problems) != 1 || problems[0].Code != TooLarge {
		t.Errorf("%v, %s", m, said(problems))
	}
}

func TestTheReferenceIsUpToDate(t *testing.T) {
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"manifest.md": Reference(), "manifest.schema.json": string(schema)} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("docs/%s is not what the fields declare: run go test ./runtime/manifest -update (%v)", name, err)
		}
	}
}

// The example of the page is a manifest that is right.
func TestTheExampleIsRight(t *testing.T) {
	_, rest, _ := strings.Cut(Reference(), "```toml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, problems := Parse([]byte(example)); len(problems) > 0 {
		t.Error(said(problems))
	}
}

// Editors are told the same as lint tells, of what single fields hold.
func TestEditorsTakeWhatIsTaken(t *testing.T) {
	schema := editor(t)
	for about, c := range map[string]struct {
		text string
		fits bool
	}{
		"all":             {sound, true},
		"the least":       {minimal, true},
		"nothing":         {"", false},
		"an unknown key":  {minimal + "x = 1\n", false},
		"a kind":          {strings.Replace(minimal, "persona", "person", 1), false},
		"a name":          {strings.Replace(minimal, `"a"`, `"A"`, 1), false},
		"a number":        {minimal + "limits.gas = 1\n", false},
		"a type":          {minimal + "hosts = 1\n", false},
		"twice in a list": {minimal + "exports = [\"a\", \"a\"]\n", false},
		"a setting":       {minimal + "[config.a]\n", false},
	} {
		if got := schema.Validate(decoded(t, c.text)) == nil; got != c.fits {
			t.Errorf("%s: an editor takes it: %v", about, got)
		}
		if m, problems := Parse([]byte(c.text)); (m != nil) != c.fits {
			t.Errorf("%s: %s", about, said(problems))
		}
	}
}

func editor(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("manifest.json")
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestEveryFieldIsDeclaredInFull(t *testing.T) {
	var look func(prefix string, all []member)
	look = func(prefix string, all []member) {
		for _, m := range all {
			if m.doc == "" || m.words == "" || m.schema == nil || strings.ContainsAny(m.doc+m.bounds+m.preset, "|\n") {
				t.Errorf("%s%s: incomplete declaration", prefix, m.name)
			}
			look(prefix+m.name+".", m.members)
		}
	}
	look("", manifests().members)
}

// What is found beside a manifest.
func TestAManifestFitsWhatLiesBesideIt(t *testing.T) {
	files := fstest.MapFS{"src/main.ts": {Data: []byte("run()")}, "output.json": {Data: []byte(`{"type":"object"}`)}}
	built := &Module{Calls: []string{"clock", "http.fetch", "llm.complete", "memory.query"}, Exports: []string{"run", "poll"}}
	lint := func(text string, files fstest.MapFS, built *Module) string {
		_, problems, err := Lint([]byte(text), Beside{files, func(path string) (*Module, error) {
			if built == nil || path != "build/triage.wasm" {
				return nil, os.ErrNotExist
			}
			return built, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return said(problems)
	}
	if got := lint(sound, files, built) + lint(sound, files, nil); got != "" {
		t.Errorf("a manifest that fits: %s", got)
	}
	for about, c := range map[string]struct {
		text  string
		files fstest.MapFS
		built *Module
		want  string
	}{
		"no source":       {sound, fstest.MapFS{"output.json": files["output.json"]}, built, "6:9: error: entry: there is no file"},
		"no schema":       {sound, fstest.MapFS{"src/main.ts": files["src/main.ts"]}, built, "schemas.output: there is no file"},
		"a bad schema":    {sound, fstest.MapFS{"src/main.ts": files["src/main.ts"], "output.json": {Data: []byte("[]")}}, built, "is no JSON Schema"},
		"a huge schema":   {sound, fstest.MapFS{"src/main.ts": files["src/main.ts"], "output.json": {Data: make([]byte, 1<<20)}}, built, "more than 32768 bytes"},
		"another export":  {sound, files, &Module{Calls: built.Calls, Exports: []string{"run", "polls"}}, `7:19: error: exports[1]: the module exports no function "poll" that takes nothing and returns an i32; did you mean "polls"?`},
		"after a bad one": {strings.Replace(sound, `"run", "poll"`, `"r#n", "polls"`, 1), files, built, `did you mean "poll"?`},
		"a further call":  {sound, files, &Module{Calls: append(built.Calls, "agent.delegate"), Exports: built.Exports}, "8:1: warning: the module asks for agent.delegate"},
		"one call fewer":  {sound, files, &Module{Calls: []string{"http.fetch", "llm.complete"}, Exports: built.Exports}, `8:47: warning: capabilities[2]: "memory.*" is granted, and the module does not ask for it`},
		"a broken module": {sound, files, &Module{Refused: "no WebAssembly"}, "cannot be loaded: no WebAssembly"},
	} {
		if got := lint(c.text, c.files, c.built); !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1+strings.Count(c.text, "r#n") {
			t.Errorf("%s: got %s, want %s", about, got, c.want)
		}
	}
	m, _ := Parse([]byte(sound))
	var asked strings.Builder
	for _, a := range m.Asks(&Module{Calls: []string{"clock", "http.fetch", "agent.delegate"}}) {
		fmt.Fprintln(&asked, a.Call, a.Granted, a.Asked)
	}
	for _, want := range []string{"agent.delegate false true", "http.fetch true true", "llm.complete true false", "memory.write true false"} {
		if !strings.Contains(asked.String(), want+"\n") {
			t.Errorf("%q is not among\n%s", want, asked.String())
		}
	}
}
