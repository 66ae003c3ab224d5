package skillmd_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// bundle is a skill as its author has it: paths and contents.
type bundle map[string]string

func bundles() *rapid.Generator[bundle] {
	// Names begin differently, so that no file is a folder too or equal but for case.
	names := rapid.StringMatching(`(lib/|assets/x/)?[a-zéß][a-z é+()-]{0,8}\.(md|py)`)
	return rapid.Custom(func(t *rapid.T) bundle {
		b := bundle{"SKILL.md": front(good)}
		for i, name := range rapid.SliceOfN(names, 0, 6).Draw(t, "names") {
			dir, base := filepath.Split(name)
			b[fmt.Sprintf("%s%d%s", dir, i, base)] = rapid.StringN(0, 300, -1).Draw(t, "content")
		}
		return b
	})
}

// write puts a bundle into a folder of the skill's name.
func (b bundle) write(t testing.TB, dir string) string {
	dir = filepath.Join(dir, "a")
	for path, content := range b {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pack makes a zip with archive/zip: in any order, as a map has none, with any times.
func (b bundle) pack(t testing.TB, root string, method uint16, day int) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for path, content := range b {
		f, err := w.CreateHeader(&zip.FileHeader{Name: root + path, Method: method, Modified: time.Unix(int64(day)*86400, 0)})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(content)) // told by Close
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// digest returns that of what was read, which has to be a skill.
func digest(t testing.TB, tree *filetree.Tree, err error) string {
	if err != nil {
		t.Fatal(err)
	}
	r := skillmd.Check(tree)
	if r.Skill == nil || r.Skill.Name != "a" {
		t.Fatalf("got %+v", r)
	}
	return r.Skill.Digest
}

func zipped(b []byte) (*filetree.Tree, error) {
	return filetree.ReadZip(bytes.NewReader(b), int64(len(b)), skillmd.Limits())
}

// A skill has one digest, whatever it comes in, and another one when anything in it changes.
func TestDigestIsOfContents(t *testing.T) {
	dirs := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		b := bundles().Draw(rt, "bundle")
		n++
		dir := b.write(t, filepath.Join(dirs, fmt.Sprint(n)))
		tree, err := filetree.ReadFolder(dir, skillmd.Limits())
		want := digest(t, tree, err)
		for day, root := range []string{"a/", ""} {
			for _, method := range []uint16{zip.Store, zip.Deflate} {
				tree, err := zipped(b.pack(t, root, method, day))
				if got := digest(t, tree, err); got != want {
					rt.Fatalf("the folder has %s, a zip %s", want, got)
				}
			}
		}
		b["more.md"] = ""
		tree, err = zipped(b.pack(t, "a/", zip.Store, 0))
		if digest(t, tree, err) == want {
			rt.Fatal("a file more makes no difference")
		}
	})
}

// Archives of other tools, and what anybody can compute with sha256sum, say the same.
func TestDigestOfOtherTools(t *testing.T) {
	b := bundle{"SKILL.md": front(good), "lib/é b.py": strings.Repeat("x", 5000), "assets/a.png": "\x89PNG", "lib-x.md": "1", "lib.md": "2"}
	dir := b.write(t, t.TempDir())
	tree, err := filetree.ReadFolder(dir, skillmd.Limits())
	want := digest(t, tree, err)
	for name, script := range map[string]string{
		"zip":            "zip -qr out.zip a",
		"zip, a stream":  "zip -qr - a >out.zip",
		"zip, no folder": "cd a && zip -qr ../out.zip .",
		"python3":        `python3 -c 'import shutil; shutil.make_archive("out", "zip", ".", "a")'`,
		"python3, stored": `python3 -c 'import zipfile, pathlib
with zipfile.ZipFile("out.zip", "w") as z:
    for p in pathlib.Path("a").rglob("*"): z.write(p)'`,
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(filepath.Dir(dir), "out.zip")
			defer os.Remove(out)
			sh(t, filepath.Dir(dir), script)
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := zipped(b)
			if got := digest(t, tree, err); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	t.Run("sha256sum", func(t *testing.T) {
		got := sh(t, dir, documentedDigest(t))
		if sum, _, _ := strings.Cut(got, " "); "sha256:"+sum != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// documentedDigest is the line of docs/skills-bundles.md that computes a digest.
func documentedDigest(t *testing.T) string {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/skills-bundles.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "find ") {
			return line
		}
	}
	t.Fatal("no line computes a digest")
	return ""
}

// sh runs a line in a folder, and skips the test where its first program is not there.
func sh(t *testing.T, dir, line string) string {
	t.Helper()
	program, _, _ := strings.Cut(strings.TrimPrefix(line, "cd a && "), " ")
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("this machine has no", program)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("%s does not do this here: %v", program, err)
	}
	return string(out)
}

// Every code is in the table of the page, and the table has no other.
func TestCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/skills-bundles.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range skillmd.Codes() {
		known[string(c)] = true
	}
	for _, c := range filetree.Codes() {
		if known[string(c)] {
			t.Errorf("%s means two things", c)
		}
		known[string(c)] = true
	}
	for line := range strings.Lines(string(page)) {
		if code, ok := strings.CutPrefix(line, "| `"); ok && strings.ToUpper(code) != "" {
			code, _, _ = strings.Cut(code, "`")
			if code == strings.ToUpper(code) && !known[code] {
				t.Errorf("%s is documented, or twice, and there is none", code)
			}
			delete(known, code)
		}
	}
	for code := range known {
		t.Errorf("%s is not documented", code)
	}
}
