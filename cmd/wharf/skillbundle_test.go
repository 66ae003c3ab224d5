package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// A folder is sent as a zip when it is a skill, and what comes back is written to a file; what is no
// skill is sent nowhere.
func TestSkillFilesOnTheirWay(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs.\n---\nDo it.\n")
	write("pdf/more.md", "more")
	write("bad/SKILL.md", "none")
	const answer = `{"id":"skb_1","name":"pdf","version":"1.1.0","previous_version":"1.0.0"}`
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		if r.Method == "GET" {
			_, _ = w.Write([]byte("PK the zip"))
			return
		}
		tree, bad := filetree.ReadZip(bytes.NewReader(body), int64(len(body)), skillmd.Limits())
		if err != nil || bad != nil || tree.Root != "pdf" || len(tree.Files) != 2 || r.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("it was sent %+v, %v %v", tree, err, bad)
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	for _, c := range []struct {
		line, out string
		code      int
	}{
		{"skill install pdf --workspace ws_1 --title Forms", "skb_1  pdf 1.1.0", 0},
		{"skill upgrade skb_1 pdf --changelog x", "skb_1  pdf 1.1.0, after 1.0.0", 0},
		{"skill download skb_1 --version 1.0.0 -o a.zip", "a.zip", 0},
		{"skill install bad --workspace ws_1", "FRONT_MATTER_MISSING", exitFailed},
		{"skill upgrade skb_1 bad", "FRONT_MATTER_MISSING", exitFailed},
	} {
		var out, errs bytes.Buffer
		env := map[string]string{"WHARF_SERVER": s.URL, "WHARF_API_KEY": "k"}
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }}
		if code := a.execute(t.Context(), strings.Fields(c.line)); code != c.code || !strings.Contains(out.String(), c.out) {
			t.Errorf("%s: code %d, %s%s", c.line, code, &out, &errs)
		}
	}
	if got := strings.Join(asked, ", "); got != "POST /wharf/v1/skill-bundles?display_title=Forms&workspace_id=ws_1, POST /wharf/v1/skill-bundles/skb_1/versions?changelog=x, GET /wharf/v1/skill-bundles/skb_1/content?version=1.0.0" {
		t.Errorf("it was asked %s", got)
	}
	if content, err := os.ReadFile("a.zip"); err != nil || string(content) != "PK the zip" {
		t.Errorf("%q, %v", content, err)
	}
}
