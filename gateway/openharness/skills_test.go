package openharness_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/files"
)

func skillMD(name, version string) string {
	front := "---\nname: " + name + "\ndescription: Does " + name + ".\nmetadata:\n  vendor: acme\n"
	if version != "" {
		front += "  version: \"" + version + "\"\n"
	}
	return front + "---\nDo it.\n"
}

var titled = part{"metadata", "", `{"display_title":"PDF forms","category":"organization"}`}

// registered installs a skill in a harness and returns its id.
func (n *node) registered(t testing.TB, harness, name, version string) string {
	t.Helper()
	body, form := formOf(t, part{"files", name + "/SKILL.md", skillMD(name, version)}, part{"files", name + "/lib/fill.py", "print(1)"}, titled)
	return n.do(t, "POST", "/"+harness+"/skills", body, form).want(201).text("skill.id")
}

func TestSkills(t *testing.T) {
	n := newNode(t, nil)
	const skills = "/wharf/skills"
	body, form := formOf(t, part{"files", "pdf/SKILL.md", skillMD("pdf", "")}, part{"files", "pdf/lib/fill.py", "print(1)"}, titled) // fields may come after files
	key := header("Idempotency-Key", "k")
	made := n.do(t, "POST", skills, body, form, key).want(201)
	id := made.text("skill.id")
	if made.text("skill.name") != "pdf" || made.text("skill.version") != "1.0.0" || made.text("skill.vendor") != "acme" || made.text("skill.category") != "organization" ||
		made.text("skill.display_title") != "PDF forms" {
		t.Errorf("%s", made.body)
	}
	if again := n.do(t, "POST", skills, body, form, key).want(201); again.header.Get("Idempotent-Replayed") != "true" || again.text("skill.id") != id {
		t.Errorf("%s", again.body)
	}
	n.do(t, "POST", skills, body, form).fails(409, "CONFLICT")
	for _, one := range []string{id, "pdf"} {
		if got := n.do(t, "GET", skills+"/"+one, nil).want(200); got.text("skill.id") != id {
			t.Errorf("%s", got.body)
		}
	}
	up, upForm := formOf(t, part{"changelog", "", "Faster."}, part{"files", "pdf/SKILL.md", skillMD("pdf", "")})
	if got := n.do(t, "POST", skills+"/"+id+"/upgrade", up, upForm).want(200); got.text("previous_version") != "1.0.0" || got.text("skill.version") != "1.1.0" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", skills+"/"+id+"/versions", nil).want(200); got.text("current_version") != "1.1.0" || got.text("versions.0.changelog") != "Faster." || got.text("versions.1.version") != "1.0.0" {
		t.Errorf("%s", got.body)
	}
	for query, want := range map[string]string{"": "pdf/SKILL.md", "?version=latest": "pdf/SKILL.md", "?version=1.0.0": "pdf/SKILL.md pdf/lib/fill.py"} {
		got := n.do(t, "GET", skills+"/"+id+"/download"+query, nil).want(200)
		if names := namesIn(t, got.body); names != want || got.header.Get("Content-Disposition") != "attachment; filename=pdf.zip" || got.header.Get("Content-Type") != "application/zip" {
			t.Errorf("%s holds %s, %v", query, names, got.header)
		}
	}
	if got := n.do(t, "POST", skills+"/"+id+"/rollback", `{"version":"1.0.0"}`).want(200); got.text("previous_version") != "1.1.0" || got.text("skill.version") != "1.0.0" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "PATCH", skills+"/"+id, `{"display_title":"Forms","category":"plugin"}`).want(200); got.text("skill.display_title") != "Forms" || got.text("skill.category") != "plugin" {
		t.Errorf("%s", got.body)
	}
	n.registered(t, "wharf", "other", "2.0.0")
	if got := n.do(t, "GET", skills+"?category=plugin", nil).want(200); got.get("total") != 1.0 || got.text("data.0.name") != "pdf" || got.text("skills.0.name") != "pdf" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", skills+"?limit=1&offset=1", nil).want(200); got.get("total") != 2.0 || got.text("items.0.name") != "pdf" || got.get("has_more") != false {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/wharf/diagnostics", nil).want(200); got.get("installed_skills") != 2.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", skills+"/"+id, nil).want(204)
	n.do(t, "GET", skills+"/"+id, nil).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", skills+"/"+id, nil).fails(404, "NOT_FOUND")
}

func namesIn(t testing.TB, archive []byte) string {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range in.File {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// A skill comes as JSON, too: from the files of the harness, or as it is.
func TestSkillsAsJSON(t *testing.T) {
	n := newNode(t, nil)
	h, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, content string) {
		t.Helper()
		if _, _, err := n.WriteFile(t.Context(), n.Root, h.WorkspaceID, path, strings.NewReader(content), files.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	put("skills/a/SKILL.md", skillMD("a", ""))
	put("skills/a/lib/x.py", "x")
	put("elsewhere/deep/b/SKILL.md", skillMD("b", ""))
	put("skills/broken/SKILL.md", "no front matter")
	for name, source := range map[string]string{
		"a": `{"source":"skills/a"}`,
		"b": `{"source":{"type":"file","path":"elsewhere/deep/b/SKILL.md"},"category":"plugin"}`,
		"c": `{"source":{"type":"inline","content":` + quoted(skillMD("c", "3.0.0")) + `}}`,
		"d": `{"files":{"SKILL.md":` + quoted(skillMD("d", "")) + `,"more.md":"more"}}`,
		"e": `{"source":{"files":[{"path":"e/SKILL.md","content":` + quoted(skillMD("e", "")) + `}]},"display_title":"E"}`,
	} {
		if got := n.do(t, "POST", "/wharf/skills", source).want(201); got.text("skill.name") != name {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := n.do(t, "GET", "/wharf/skills/a/download", nil).want(200); namesIn(t, got.body) != "a/SKILL.md a/lib/x.py" {
		t.Errorf("a folder holds %s", namesIn(t, got.body))
	}
	if got := n.do(t, "POST", "/wharf/skills/c/upgrade", `{"content":`+quoted(skillMD("c", "3.1.0"))+`,"changelog":"x"}`).want(200); got.text("previous_version") != "3.0.0" {
		t.Errorf("%s", got.body)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"nothing":       {`{}`, 400, "VALIDATION_ERROR"},
		"no such file":  {`{"source":"skills/none"}`, 404, "NOT_FOUND"},
		"out of it":     {`{"source":"../x"}`, 400, "VALIDATION_ERROR"},
		"plain http":    {`{"source":{"url":"http://example.com/a.zip"}}`, 400, "VALIDATION_ERROR"},
		"this machine":  {`{"source":"https://127.0.0.1/a.zip"}`, 400, "VALIDATION_ERROR"},
		"odd files":     {`{"files":3}`, 400, "VALIDATION_ERROR"},
		"files of them": {`{"files":[3]}`, 400, "VALIDATION_ERROR"},
		"broken":        {`{"source":"skills/broken"}`, 422, "INVALID_BUNDLE"},
	} {
		if got := n.do(t, "POST", "/wharf/skills", c.body); got.status != c.status || got.text("error.code") != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	n.do(t, "DELETE", "/wharf/skills/b", nil).want(204)
	for _, ask := range []func() answer{
		func() answer {
			return n.do(t, "POST", "/wharf/skills/discover", `{"search_paths":["elsewhere","nowhere"]}`)
		},
		func() answer {
			return n.at(t, "GET", "/v1/harnesses/wharf/skills/discover?search_paths=elsewhere&search_paths=skills", nil)
		},
	} {
		var found struct {
			Discovered []struct {
				Name       string `json:"name"`
				Path       string `json:"path"`
				Registered bool   `json:"already_registered"`
			} `json:"discovered"`
		}
		ask().want(200).into(&found)
		if got := fmt.Sprint(found.Discovered); got != "[{a skills/a true} {broken skills/broken false} {b elsewhere/deep/b false}]" {
			t.Errorf("there are %s", got)
		}
	}
	if got := n.do(t, "POST", "/wharf/skills/discover", nil).want(200); len(got.get("discovered").([]any)) != 2 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", "/wharf/skills/discover", map[string]any{"search_paths": make([]string, 21)}).fails(400, "VALIDATION_ERROR")
	reads := n.key(t, []string{"skills:read", "skills:write"})
	n.do(t, "POST", "/wharf/skills/discover", `{}`, by(reads)).fails(403, "FORBIDDEN")
	n.do(t, "POST", "/wharf/skills", `{"source":"skills/a"}`, by(reads)).fails(403, "FORBIDDEN")
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text) + `"`
}

// Validating answers with what is wrong, and where; and keeps nothing.
func TestValidatingSkills(t *testing.T) {
	n := newNode(t, nil)
	for name, c := range map[string]struct {
		parts []part
		valid bool
		want  string // FILE:LINE CODE of the first error, or of the first warning
	}{
		"valid":         {[]part{{"files", "pdf/SKILL.md", skillMD("pdf", "")}}, true, ""},
		"a warning":     {[]part{{"files", "pdf/SKILL.md", skillMD("pdf", "")}, {"files", "pdf/run.sh", "x"}}, true, "run.sh:0 FILE_TYPE_RARE"},
		"another name":  {[]part{{"files", "doc/SKILL.md", skillMD("pdf", "")}}, false, "SKILL.md:2 NAME_NOT_FOLDER"},
		"no SKILL.md":   {[]part{{"files", "pdf/a.md", "x"}}, false, "SKILL.md:0 SKILL_MISSING"},
		"a program":     {[]part{{"files", "SKILL.md", skillMD("pdf", "")}, {"files", "a.exe", "x"}}, false, "a.exe:0 FILE_TYPE_UNKNOWN"},
		"out of it":     {[]part{{"files", "pdf/../../a.md", "x"}}, false, "pdf/../../a.md:0 PATH_TRAVERSAL"},
		"from the root": {[]part{{"files", "/etc/a.md", "x"}}, false, "/etc/a.md:0 PATH_ABSOLUTE"},
		"backslashes":   {[]part{{"files", `a\\b.md`, "x"}}, false, `a\b.md:0 PATH_BACKSLASH`},
		"no zip":        {[]part{{"files", "a.zip", "x"}}, false, ":0 NO_ARCHIVE"},
	} {
		body, form := formOf(t, c.parts...)
		got := n.do(t, "POST", "/wharf/skills/validate", body, form).want(200)
		type issue struct {
			File string `json:"file"`
			Line int    `json:"line"`
			Code string `json:"code"`
		}
		var told struct {
			Valid    bool    `json:"valid"`
			Errors   []issue `json:"errors"`
			Warnings []issue `json:"warnings"`
		}
		got.into(&told)
		first := ""
		if all := slices.Concat(told.Errors, told.Warnings); len(all) > 0 {
			first = fmt.Sprintf("%s:%d %s", all[0].File, all[0].Line, all[0].Code)
		}
		if told.Valid != c.valid || first != c.want {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := n.do(t, "GET", "/wharf/skills", nil).want(200); got.get("total") != 0.0 {
		t.Errorf("something is kept: %s", got.body)
	}
	body, form := formOf(t, titled)
	n.do(t, "POST", "/wharf/skills/validate", body, form).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/wharf/skills/validate", "x", header("Content-Type", "text/plain")).fails(415, "UNSUPPORTED_MEDIA_TYPE")
}

// What is hostile is refused whole, and of what is a limit, one beyond is refused.
func TestLimitsOfSkills(t *testing.T) {
	n := newNode(t, nil)
	skill := part{"files", "pdf/SKILL.md", skillMD("pdf", "")}
	many := []part{titled, skill}
	for i := range 500 {
		many = append(many, part{"files", fmt.Sprintf("pdf/%d.md", i), ""})
	}
	bomb := zipped(t, "pdf/SKILL.md", skillMD("pdf", ""), "pdf/a.md", strings.Repeat("0", 9<<20))
	title := func(n int) part { return part{"metadata", "", `{"display_title":"` + strings.Repeat("é", n) + `"}`} }
	for name, c := range map[string]struct {
		parts  []part
		status int
		code   string
	}{
		"501 files":       {many, 422, "INVALID_BUNDLE"},
		"too many bytes":  {[]part{titled, skill, {"files", "pdf/a.md", strings.Repeat("0", 10<<20)}}, 413, "PAYLOAD_TOO_LARGE"},
		"a bomb":          {[]part{titled, {"files", "pdf.zip", bomb}}, 422, "INVALID_BUNDLE"},
		"a long title":    {[]part{title(101), skill}, 400, "VALIDATION_ERROR"},
		"no title":        {[]part{{"metadata", "", `{}`}, skill}, 400, "VALIDATION_ERROR"},
		"no metadata":     {[]part{skill}, 400, "VALIDATION_ERROR"},
		"odd metadata":    {[]part{{"metadata", "", `[]`}, skill}, 400, "VALIDATION_ERROR"},
		"odd category":    {[]part{{"metadata", "", `{"display_title":"x","category":"y"}`}, skill}, 400, "VALIDATION_ERROR"},
		"no files":        {[]part{titled}, 400, "VALIDATION_ERROR"},
		"another field":   {[]part{titled, {"bundle", "pdf/SKILL.md", "x"}}, 400, "VALIDATION_ERROR"},
		"equal but case":  {[]part{titled, skill, {"files", "pdf/a.md", ""}, {"files", "pdf/A.md", ""}}, 422, "INVALID_BUNDLE"},
		"a control sign":  {[]part{titled, {"files", "a.zip", zipped(t, "pdf/SKILL.md", skill.content, "pdf/a\x00.md", "")}}, 422, "INVALID_BUNDLE"},
		"aliases in YAML": {[]part{titled, {"files", "pdf/SKILL.md", "---\nname: &a pdf\ndescription: *a\n---\nx\n"}}, 422, "INVALID_BUNDLE"},
	} {
		body, form := formOf(t, c.parts...)
		if got := n.do(t, "POST", "/wharf/skills", body, form); got.status != c.status || got.text("error.code") != c.code {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
	}
	if got := n.do(t, "GET", "/wharf/skills", nil).want(200); got.get("total") != 0.0 {
		t.Errorf("something is kept: %s", got.body)
	}
	body, form := formOf(t, title(100), many[1], part{"files", "pdf/a.md", strings.Repeat("0", 9<<20)})
	n.do(t, "POST", "/wharf/skills", body, form).want(201)
	change := func(log string) answer {
		body, form := formOf(t, part{"changelog", "", log}, skill)
		return n.do(t, "POST", "/wharf/skills/pdf/upgrade", body, form)
	}
	change(strings.Repeat("é", 1001)).fails(400, "VALIDATION_ERROR")
	change(strings.Repeat("é", 1000)).want(200)
	lower, form := formOf(t, part{"files", "pdf/SKILL.md", skillMD("pdf", "0.1.0")})
	n.do(t, "POST", "/wharf/skills/pdf/upgrade", lower, form).fails(409, "CONFLICT")
	other, form := formOf(t, part{"files", "doc/SKILL.md", skillMD("doc", "9.0.0")})
	n.do(t, "POST", "/wharf/skills/pdf/upgrade", other, form).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/wharf/skills/pdf/rollback", `{"version":"7.0.0"}`).fails(404, "NOT_FOUND")
	n.do(t, "POST", "/wharf/skills/pdf/rollback", `{}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "PATCH", "/wharf/skills/pdf", `{"display_title":"`+strings.Repeat("é", 101)+`"}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "PATCH", "/wharf/skills/pdf", `{"category":"mine"}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/wharf/skills?category=mine", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/wharf/skills/pdf/download?version=7.0.0", nil).fails(404, "NOT_FOUND")
}

func zipped(t testing.TB, pairs ...string) string {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for pair := range slices.Chunk(pairs, 2) {
		out, err := w.Create(pair[0])
		if err == nil {
			_, err = out.Write([]byte(pair[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.String()
}

// A zip alone is unpacked.
func TestSkillsAsZips(t *testing.T) {
	n := newNode(t, nil)
	body, form := formOf(t, titled, part{"files", "any.zip", zipped(t, "pdf/SKILL.md", skillMD("pdf", "2.0.0"), "pdf/b.md", "b")})
	if got := n.do(t, "POST", "/wharf/skills", body, form).want(201); got.text("skill.version") != "2.0.0" {
		t.Errorf("%s", got.body)
	}
}

// Each route with a key that may not, of another tenant, bound elsewhere, and for a skill of
// another harness.
func TestWhoSeesSkills(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	id := n.registered(t, "mine", "pdf", "")
	reads, writes := n.key(t, []string{"skills:read"}), n.key(t, []string{"skills:write"})
	own, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, bound, stranger := n.key(t, []string{"*"}, own.WorkspaceID), n.key(t, []string{"*"}, h.WorkspaceID), n.stranger(t)
	body, form := formOf(t, titled, part{"files", "pdf/SKILL.md", skillMD("pdf", "")})
	plain := header("Content-Type", "application/json")
	for _, c := range []struct {
		method, path string
		writes       bool
		body         any
		as           option
	}{
		{"GET", "", false, nil, plain}, {"POST", "", true, body, form}, {"GET", "/ID", false, nil, plain}, {"PATCH", "/ID", true, `{}`, plain},
		{"GET", "/ID/versions", false, nil, plain}, {"POST", "/ID/rollback", true, `{"version":"1.0.0"}`, plain},
		{"POST", "/discover", false, `{}`, plain}, {"POST", "/validate", false, body, form}, {"GET", "/ID/download", false, nil, plain},
		{"POST", "/ID/upgrade", true, body, form}, {"DELETE", "/ID", true, nil, plain},
	} {
		path := "/skills" + strings.Replace(c.path, "ID", id, 1)
		lacks := writes
		if c.writes {
			lacks = reads
		}
		n.do(t, c.method, "/mine"+path, c.body, c.as, by("")).fails(401, "UNAUTHORIZED")
		n.do(t, c.method, "/mine"+path, c.body, c.as, by(lacks)).fails(403, "FORBIDDEN")
		n.do(t, c.method, "/mine"+path, c.body, c.as, by(elsewhere)).fails(404, "NOT_FOUND")
		n.do(t, c.method, "/mine"+path, c.body, c.as, by(stranger)).fails(404, "NOT_FOUND")
		if strings.Contains(c.path, "ID") {
			n.do(t, c.method, "/wharf"+path, c.body, c.as).fails(404, "NOT_FOUND")
			n.do(t, c.method, "/mine"+strings.Replace(path, id, "skb_none", 1), c.body, c.as).fails(404, "NOT_FOUND")
		}
	}
	if got := n.do(t, "GET", "/mine/skills", nil, by(bound)).want(200); got.get("total") != 1.0 {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/wharf/skills", nil, by(elsewhere)).want(200); got.get("total") != 0.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", "/mine/skills/"+id, nil, by(bound)).want(204)
}
