package filetree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

// folder makes a folder with the given files. A name that ends in / is a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my-skill")
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o700)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadFolder(t *testing.T) {
	dir := folder(t, map[string]string{"SKILL.md": "one", "lib/b.py": "two", "lib-x.md": "", "empty/": "", ".DS_Store": "x", ".git/HEAD": "x", "assets/a.bin": "\x00"})
	tree, err := filetree.ReadFolder(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, tree, limits)
	var names []string
	for _, f := range tree.Files {
		names = append(names, f.Path)
	}
	if got := strings.Join(names, " "); tree.Root != "my-skill" || got != "SKILL.md assets/a.bin lib-x.md lib/b.py" {
		t.Errorf("%s has %s", tree.Root, got)
	}
	t.Chdir(dir)
	if here, err := filetree.ReadFolder(".", limits); err != nil || here.Root != "my-skill" {
		t.Errorf("the folder where one is: %+v, %v", here, err)
	}
	if _, err := filetree.ReadFolder("absent", limits); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Links are not followed, wherever they lead; the folder itself may be named by one.
func TestLinksInFolders(t *testing.T) {
	for name, to := range map[string]string{"out": "/etc/hostname", "in": "SKILL.md", "up": "..", "loop": "loop", "lib/deep": "../SKILL.md"} {
		dir := folder(t, map[string]string{"SKILL.md": "one", "lib/b.py": "two"})
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("this system has no symbolic links:", err)
		}
		_, err := filetree.ReadFolder(dir, limits)
		wantRefusal(t, err, filetree.Symlink, name)
	}
	dir := folder(t, map[string]string{"SKILL.md": "one"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if tree, err := filetree.ReadFolder(link, limits); err != nil || tree.Root != "link" {
		t.Errorf("a folder that a link names: %+v, %v", tree, err)
	}
}

func TestFoldersAreHeldToLimits(t *testing.T) {
	files := map[string]string{}
	for i := range limits.Files {
		files[fmt.Sprintf("%d.md", i)] = ""
	}
	if _, err := filetree.ReadFolder(folder(t, files), limits); err != nil {
		t.Error("as many files as there may be:", err)
	}
	files["more.md"] = ""
	_, err := filetree.ReadFolder(folder(t, files), limits)
	wantRefusal(t, err, filetree.TooManyFiles, "")
	files, folders := map[string]string{}, map[string]string{}
	for i := range 4*limits.Files + 1 {
		files[fmt.Sprint(i)], folders[fmt.Sprintf("%d/%d/", i%7, i)] = "", ""
	}
	for _, many := range []map[string]string{files, folders} {
		_, err = filetree.ReadFolder(folder(t, many), limits)
		wantRefusal(t, err, filetree.TooManyFiles, "")
	}
	_, err = filetree.ReadFolder(folder(t, map[string]string{"a": long(int(limits.FileBytes) + 1)}), limits)
	wantRefusal(t, err, filetree.FileTooLarge, "a")
	third := long(3 << 20)
	_, err = filetree.ReadFolder(folder(t, map[string]string{"a": third, "b": third, "c": third}), limits)
	wantRefusal(t, err, filetree.TooLarge, "")
	_, err = filetree.ReadFolder(folder(t, map[string]string{"empty/": ""}), limits)
	wantRefusal(t, err, filetree.Empty, "")
}

// Names that a disk takes and another one does not.
func TestNamesOnDisk(t *testing.T) {
	for name, code := range map[string]filetree.Code{
		"a:b.md":                       filetree.PathColon,
		`a\b.md`:                       filetree.PathBackslash,
		"a\nb.md":                      filetree.PathControl,
		long(201):                      filetree.PathTooLong,
		strings.Repeat("a/", 16) + "b": filetree.PathTooDeep,
	} {
		_, err := filetree.ReadFolder(folder(t, map[string]string{name: ""}), limits)
		refusal, ok := errors.AsType[*filetree.Refusal](err)
		if !ok || refusal.Code != code {
			t.Errorf("%q: got %v, want %s", name, err, code)
		}
	}
	_, err := filetree.ReadFolder(folder(t, map[string]string{"a.md": "", "A.md": ""}), limits)
	if err != nil { // a disk that takes both for one has one
		wantRefusal(t, err, filetree.PathCollision, "a.md")
	}
}

func TestReadFile(t *testing.T) {
	tree, err := filetree.ReadFile("SKILL.md", strings.NewReader("one"), limits)
	if err != nil || tree.Root != "" || string(tree.File("SKILL.md").Content) != "one" {
		t.Errorf("%+v, %v", tree, err)
	}
	_, err = filetree.ReadFile("SKILL.md", strings.NewReader(long(int(limits.FileBytes)+1)), limits)
	wantRefusal(t, err, filetree.FileTooLarge, "SKILL.md")
}

func TestSocketsAreNoFiles(t *testing.T) {
	dir := folder(t, map[string]string{"SKILL.md": "one"})
	t.Chdir(dir) // names of sockets are short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Skip("this system has no sockets in folders:", err)
	}
	defer l.Close()
	_, err = filetree.ReadFolder(dir, limits)
	wantRefusal(t, err, filetree.SpecialFile, "socket")
}
