package api

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

const fetchedSkill = "---\nname: pdf\ndescription: Reads PDFs.\n---\nDo it.\n"

// A skill is fetched over https alone, as a zip or a SKILL.md, wherever it is led to, and from no
// address of the node's own network.
func TestFetchSkill(t *testing.T) {
	var archive bytes.Buffer
	tree, err := SkillTree(func(yield func(SkillFile, error) bool) {
		_ = yield(SkillFile{Path: "SKILL.md", Content: strings.NewReader(fetchedSkill)}, nil) && yield(SkillFile{Path: "b.md", Content: strings.NewReader("b")}, nil)
	})
	if err == nil {
		err = tree.WriteZip(&archive, "pdf")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pdf.zip":
			_, _ = w.Write(archive.Bytes())
		case "/SKILL.md":
			_, _ = w.Write([]byte(fetchedSkill))
		case "/led":
			http.Redirect(w, r, "/pdf.zip", http.StatusFound)
		case "/down":
			http.Redirect(w, r, "http://"+r.Host+"/pdf.zip", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/bad.zip":
			_, _ = w.Write([]byte("PK no zip"))
		case "/large":
			_, _ = w.Write(make([]byte, MaxSkillArchive+1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for path, files := range map[string]int{"/pdf.zip": 2, "/SKILL.md": 1, "/led": 2} {
		got, err := fetchSkill(t.Context(), s.Client().Transport, s.URL+path)
		if err != nil || len(got.Files) != files || got.File("SKILL.md") == nil {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	for path, code := range map[string]abi.ErrorCode{"/none": abi.CodeInvalidRequest, "/down": abi.CodeInvalidRequest, "/round": abi.CodeInvalidRequest,
		"/bad.zip": abi.CodeInvalidRequest, "/large": abi.CodePayloadTooLarge} {
		_, err := fetchSkill(t.Context(), s.Client().Transport, s.URL+path)
		if shown, ok := errors.AsType[*abi.Error](err); !ok || shown.Code != code {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
	for _, from := range []string{s.URL + "/pdf.zip", "http://example.com/pdf.zip", "https://user:word@example.com/", "file:///etc/passwd", "https://[::1]/", ""} {
		_, err := FetchSkill(t.Context(), from)
		shown, ok := errors.AsType[*abi.Error](err)
		if !ok || shown.Param != "url" || strings.Contains(shown.Message, "127.0.0.1") {
			t.Errorf("%s: %v", from, err)
		}
	}
}
