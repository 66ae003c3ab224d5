package skillmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// tree makes a tree. Its root is "", so that no name is held against it.
func tree(files map[string]string) *filetree.Tree {
	t := &filetree.Tree{}
	for path, content := range files {
		t.Files = append(t.Files, filetree.File{Path: path, Content: []byte(content)})
	}
	slices.SortFunc(t.Files, func(a, b filetree.File) int { return strings.Compare(a.Path, b.Path) })
	return t
}

// alone checks a SKILL.md that has nothing beside it.
func alone(text string) *skillmd.Report {
	return skillmd.Check(tree(map[string]string{"SKILL.md": text}))
}

// front is a SKILL.md with the given lines in its front matter.
func front(lines string) string { return "---\n" + lines + "\n---\nDo it.\n" }

// found lists findings in the order of the report, as "CODE:line".
func found(r *skillmd.Report) string {
	var all []string
	for _, f := range slices.Concat(r.Errors, r.Warnings) {
		all = append(all, fmt.Sprintf("%s:%d", f.Code, f.Line))
	}
	return strings.Join(all, " ")
}

const good = "name: a\ndescription: b\n"

func TestRules(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good":               {front(good), ""},
		"byte order mark":    {"\ufeff" + front(good), ""},
		"lines of Windows":   {strings.ReplaceAll(front(good+"metadata:\n  a: b"), "\n", "\r\n"), ""},
		"spaces behind ---":  {"--- \nname: a\ndescription: b\n---\t\nDo it.", ""},
		"no front matter":    {"# Title", "FRONT_MATTER_MISSING:1"},
		"nothing":            {"", "FRONT_MATTER_MISSING:1"},
		"a line before":      {"\n" + front(good), "FRONT_MATTER_MISSING:1"},
		"not closed":         {"---\nname: a\n# Title\n", "FRONT_MATTER_UNCLOSED:1"},
		"closed by more":     {"---\nname: a\n-----\n", "FRONT_MATTER_UNCLOSED:1"},
		"too large":          {front(good + "# " + strings.Repeat("x", 64<<10)), "FRONT_MATTER_TOO_LARGE:1"},
		"large, not closed":  {"---\n" + strings.Repeat("x", 65<<10), "FRONT_MATTER_TOO_LARGE:1"},
		"no text":            {"---\nname: a\nx: \xff\n---\n", "SKILL_NOT_UTF8:3"},
		"a NUL":              {"---\nname: a\x00", "SKILL_NOT_UTF8:2"},
		"empty front matter": {front(""), "NAME_MISSING:1 DESCRIPTION_MISSING:1"},
		"only a comment":     {front("# name: a"), "NAME_MISSING:1 DESCRIPTION_MISSING:1"},
		"no instructions":    {"---\n" + good + "---\n \n", "BODY_EMPTY:5"},

		"a list":          {front("- name"), "YAML_INVALID:2"},
		"a text":          {front("name"), "YAML_INVALID:2"},
		"a lone return":   {front("name: a\ndescription: b\rc"), "YAML_INVALID:3"},
		"no YAML":         {front("name: a\ndescription: \"b"), "YAML_INVALID:3"},
		"colon in a text": {front("name: a\ndescription: b: c"), "YAML_INVALID:3"},
		"two documents":   {front(good + "...\nname: b"), "YAML_INVALID:1"},
		"an anchor":       {front(good + "metadata:\n  a: &a b"), "YAML_ALIAS:5"},
		"an alias":        {front(good + "license: *a"), "YAML_ALIAS:4"},
		"a merge":         {front(good + "<<: {a: b}"), "YAML_ALIAS:4"},
		"a tag":           {front(good + "license: !!binary aGk="), "YAML_TAG:4"},
		"flow depth":      {front(good + "x: " + strings.Repeat("[", 9) + strings.Repeat("]", 9)), "YAML_TOO_DEEP:4"},
		"line depth":      {front(good + "x:\n  " + strings.Repeat("- ", 9) + "a"), "YAML_TOO_DEEP:5"},
		"many keys":       {front(strings.Repeat("a: b\n", 501)), "YAML_TOO_DEEP:502"},
		"key twice":       {front(good + "name: c"), "KEY_DUPLICATE:4"},
		"key twice below": {front(good + "metadata:\n  a: b\n  a: c"), "KEY_DUPLICATE:6"},
		"key in quotes":   {front(good + "\"name\": c"), "KEY_DUPLICATE:4"},
		"unknown keys":    {front(good + "colour: red\nmodel: {a: 1}"), "KEY_UNKNOWN:4 KEY_UNKNOWN:5"},

		"no name":             {front("description: b"), "NAME_MISSING:1"},
		"empty name":          {front("name:\ndescription: b"), "NAME_MISSING:2"},
		"name of 64":          {front("name: " + strings.Repeat("a", 64) + "\ndescription: b"), ""},
		"name of 65":          {front("name: " + strings.Repeat("a", 65) + "\ndescription: b"), "NAME_TOO_LONG:2"},
		"name of digits":      {front("name: '123'\ndescription: b"), ""},
		"name a number":       {front("name: 123\ndescription: b"), "FIELD_TYPE:2"},
		"upper case":          {front("name: A\ndescription: b"), "NAME_INVALID:2"},
		"underscore":          {front("name: a_b\ndescription: b"), "NAME_INVALID:2"},
		"two hyphens":         {front("name: a--b\ndescription: b"), "NAME_INVALID:2"},
		"hyphen first":        {front("name: -a\ndescription: b"), "NAME_INVALID:2"},
		"hyphen last":         {front("name: a-\ndescription: b"), "NAME_INVALID:2"},
		"another script":      {front("name: é\ndescription: b"), "NAME_INVALID:2"},
		"a line break":        {front("name: \"a\\nb\"\ndescription: b"), "NAME_INVALID:2"},
		"no description":      {front("name: a"), "DESCRIPTION_MISSING:1"},
		"description of 1024": {front("name: a\ndescription: " + strings.Repeat("é", 1024)), ""},
		"description of 1025": {front("name: a\ndescription: " + strings.Repeat("é", 1025)), "DESCRIPTION_TOO_LONG:3"},
		"blank description":   {front("name: a\ndescription: \"  \""), "DESCRIPTION_MISSING:3"},
		"a folded text":       {front("name: a\ndescription: >\n  b\n  c"), ""},
		"a list of texts":     {front("name: a\ndescription: [b]"), "FIELD_TYPE:3"},
		"yes":                 {front("name: a\ndescription: true"), "FIELD_TYPE:3"},

		"license":                {front(good + "license: MIT"), ""},
		"licenses":               {front(good + "license: (GPL-2.0+ WITH Classpath-exception-2.0 OR LicenseRef-mine) AND MIT"), ""},
		"license in words":       {front(good + "license: Complete terms in LICENSE.txt"), "LICENSE_NOT_SPDX:4"},
		"license, open":          {front(good + "license: (MIT"), "LICENSE_NOT_SPDX:4"},
		"license, one missing":   {front(good + "license: MIT AND"), "LICENSE_NOT_SPDX:4"},
		"license, no operand":    {front(good + "license: OR"), "LICENSE_NOT_SPDX:4"},
		"licenses in a row":      {front(good + "license: " + strings.Repeat("(MIT) OR ", 20) + "MIT"), ""},
		"licenses, 16 deep":      {front(good + "license: " + strings.Repeat("(", 16) + "MIT" + strings.Repeat(")", 16)), ""},
		"licenses, 17 deep":      {front(good + "license: " + strings.Repeat("(", 17) + "MIT" + strings.Repeat(")", 17)), "LICENSE_NOT_SPDX:4"},
		"license, deep":          {front(good + "license: \"" + strings.Repeat("(", 10_000) + "\""), "LICENSE_NOT_SPDX:4"},
		"license, no text":       {front(good + "license: [MIT]"), "FIELD_TYPE:4"},
		"compatibility of 500":   {front(good + "compatibility: " + strings.Repeat("é", 500)), ""},
		"compatibility of 501":   {front(good + "compatibility: " + strings.Repeat("é", 501)), "COMPATIBILITY_TOO_LONG:4"},
		"version":                {front(good + "version: 1.2.3-rc.1+build"), ""},
		"version of two parts":   {front(good + "version: 1.0"), "VERSION_INVALID:4"},
		"version with a v":       {front(good + "version: v1.0.0"), "VERSION_INVALID:4"},
		"version with a zero":    {front(good + "version: 01.0.0"), "VERSION_INVALID:4"},
		"version that counts":    {front(good + "version: x\nmetadata:\n  version: 1.0.0"), ""},
		"the same, before":       {front(good + "metadata:\n  version: 1.0.0\nversion: x"), ""},
		"metadata's version":     {front(good + "metadata:\n  version: x"), "VERSION_INVALID:5"},
		"metadata of numbers":    {front(good + "metadata:\n  a: 1\n  b: yes\n  c: true\n  d: 1.50"), "METADATA_NOT_TEXT:5 METADATA_NOT_TEXT:7 METADATA_NOT_TEXT:8"},
		"metadata of lists":      {front(good + "metadata:\n  a: [b]\n  c:\n    d: e\n  f:"), "METADATA_NOT_TEXT:5 METADATA_NOT_TEXT:6 METADATA_NOT_TEXT:8"},
		"metadata a text":        {front(good + "metadata: a"), "FIELD_TYPE:4"},
		"metadata of nothing":    {front(good + "metadata:"), ""},
		"tools a text":           {front(good + "allowed-tools: Bash(git add:*) Read,Grep"), ""},
		"tools a list":           {front(good + "allowed-tools:\n  - bash\n  - python"), ""},
		"when to use":            {front(good + "when_to_use: On Mondays.\npaths: [docs/**, '*.md']"), ""},
		"paths a text":           {front(good + "paths: docs/** *.md"), ""},
		"when in a list":         {front(good + "when_to_use: [a]"), "FIELD_TYPE:4"},
		"when, too long":         {front(good + "when_to_use: " + strings.Repeat("a", 1025)), "FIELD_TYPE:4"},
		"paths a number":         {front(good + "paths: 1"), "FIELD_TYPE:4"},
		"paths of lists":         {front(good + "paths: [[a]]"), "FIELD_TYPE:4"},
		"tools of nothing":       {front(good + "allowed-tools:"), ""},
		"tools a number":         {front(good + "allowed-tools: 1"), "FIELD_TYPE:4"},
		"tools with a number":    {front(good + "allowed-tools:\n  - bash\n  - 1\n  - ''"), "FIELD_TYPE:6 FIELD_TYPE:7"},
		"lines after a block":    {front("name: a\ndescription: |\n  b\n\n  c\n# why\nlicense: 'x y'"), "LICENSE_NOT_SPDX:8"},
		"lines after quotes":     {front("name: a\ndescription: \"b\n  c\"\nlicense: x y"), "LICENSE_NOT_SPDX:5"},
		"everything that can be": {front("name: A\nname: b\ndescription: 1\nversion: x\nwhat: d"), "NAME_INVALID:2 KEY_DUPLICATE:3 FIELD_TYPE:4 VERSION_INVALID:5 KEY_UNKNOWN:6"},
	} {
		t.Run(name, func(t *testing.T) {
			r := alone(c.text)
			if got := found(r); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if r.Valid != (len(r.Errors) == 0) {
				t.Errorf("valid is %v", r.Valid)
			}
		})
	}
}

func TestFileTypes(t *testing.T) {
	for path, want := range map[string]string{
		"a.md": "", "lib/a.py": "", "a.js": "", "a.ts": "", "a.json": "", "a.yaml": "", "t/a.jinja": "", "a.txt": "", "A.MD": "",
		"a.yml": "FILE_TYPE_RARE:0", "a.csv": "FILE_TYPE_RARE:0", "scripts/a.sh": "FILE_TYPE_RARE:0", "LICENSE": "FILE_TYPE_RARE:0", "lib/LICENSE": "FILE_TYPE_RARE:0",
		"a.png": "FILE_TYPE_UNKNOWN:0", "a": "FILE_TYPE_UNKNOWN:0", ".env": "FILE_TYPE_UNKNOWN:0", "a.md.exe": "FILE_TYPE_UNKNOWN:0", "lib/assets/a.png": "FILE_TYPE_UNKNOWN:0",
		"assets/a.png": "", "assets/b/c": "", "Assets/a.png": "FILE_TYPE_UNKNOWN:0",
	} {
		if got := found(skillmd.Check(tree(map[string]string{"SKILL.md": front(good), path: "text"}))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{"a.py": "FILE_BINARY:0", "a.sh": "FILE_BINARY:0", "a.bin": "FILE_TYPE_UNKNOWN:0", "assets/a.py": ""} {
		for _, content := range []string{"a\x00", "a\xff"} {
			if got := found(skillmd.Check(tree(map[string]string{"SKILL.md": front(good), path: content}))); got != want {
				t.Errorf("%s with %q: got %s, want %s", path, content, got, want)
			}
		}
	}
}

func TestWhereSkillIs(t *testing.T) {
	for path, at := range map[string]string{"a.md": "SKILL.md", "skill.md": "skill.md", "lib/SKILL.md": "lib/SKILL.md"} {
		r := skillmd.Check(tree(map[string]string{path: front(good)}))
		if found(r) != "SKILL_MISSING:0" || r.Errors[0].File != at || r.Skill != nil {
			t.Errorf("%s: got %+v", path, r)
		}
	}
	named := tree(map[string]string{"SKILL.md": front(good)})
	named.Root = "b"
	if got := found(skillmd.Check(named)); got != "NAME_NOT_FOLDER:2" {
		t.Errorf("in another folder: %s", got)
	}
	named.Root = "a"
	if got := found(skillmd.Check(named)); got != "" {
		t.Errorf("in its folder: %s", got)
	}
}

func TestWhatASkillIs(t *testing.T) {
	text := "---\nname: a\ndescription: >-\n  what\n  it does\nlicense: MIT\ncompatibility: all\nmetadata:\n  author: Ada\n  level: 3\n" +
		"version: 2.0.0\nallowed-tools: Bash(git add:*), Read\n---\n\n\n# Title\n"
	r := skillmd.Check(tree(map[string]string{"SKILL.md": text, "b.py": "two"}))
	s := r.Skill
	if !r.Valid || s.Name != "a" || s.Description != "what it does" || s.License != "MIT" || s.Compatibility != "all" || s.Version != "2.0.0" {
		t.Errorf("got %+v", s)
	}
	if s.Metadata["author"] != "Ada" || s.Metadata["level"] != "3" || !slices.Equal(s.AllowedTools, []string{"Bash(git add:*)", "Read"}) {
		t.Errorf("got %+v", s)
	}
	if line := strings.Split(text, "\n")[s.BodyLine-1]; line != "# Title" {
		t.Errorf("the instructions begin with %q", line)
	}
	if len(s.Files) != 2 || s.Files[1].Path != "b.py" || s.Files[1].Bytes != 3 || s.Bytes != int64(len(text)+3) {
		t.Errorf("the files are %+v", s.Files)
	}
	for text, want := range map[string]string{front(good): "1.0.0", front(good + "version:"): "1.0.0", front(good + "version: 3.0.0\nmetadata: {version: 4.0.0}"): "4.0.0"} {
		if got := alone(text).Skill.Version; got != want {
			t.Errorf("%q: version %s, want %s", text, got, want)
		}
	}
}

func TestStrict(t *testing.T) {
	r := alone(front(good + "colour: red"))
	if !r.Valid {
		t.Fatalf("not valid: %+v", r)
	}
	r.Strict()
	if r.Valid || len(r.Warnings) != 0 || len(r.Errors) != 1 || r.Errors[0].Severity != skillmd.Error {
		t.Errorf("got %+v", r)
	}
}

func TestRefused(t *testing.T) {
	_, err := filetree.ReadFile("SKILL.md", strings.NewReader(strings.Repeat("a", 10<<20+1)), skillmd.Limits())
	r, ok := skillmd.Refused(err)
	if !ok || r.Valid || found(r) != "FILE_TOO_LARGE:0" || r.Errors[0].File != "SKILL.md" {
		t.Errorf("got %+v", r)
	}
	if _, ok := skillmd.Refused(os.ErrNotExist); ok {
		t.Error("a folder that is not there says something of the skill")
	}
}

// Everything that is wrong with a skill is said at once, in the order in which its author reads it.
func TestManyMistakes(t *testing.T) {
	read, err := filetree.ReadFolder(filepath.Join("testdata", "many-mistakes"), skillmd.Limits())
	if err != nil {
		t.Fatal(err)
	}
	r := skillmd.Check(read)
	var got bytes.Buffer
	for _, f := range slices.Concat(r.Errors, r.Warnings) {
		fmt.Fprintf(&got, "%s %s:%d: %s: %s\n", f.Severity, f.File, f.Line, f.Code, f.Message)
	}
	golden := filepath.Join("testdata", "many-mistakes.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; got\n%s", err, &got)
	}
}
