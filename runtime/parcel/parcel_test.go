package parcel_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

const (
	sound = `name = "triage"
version = "1.2.0"
kind = "skill"
description = "Says which team a ticket belongs to."
module = "triage.wasm"

[schemas]
input = "schemas/input.json"
output = { type = "string" }
`
	module = "\x00asm\x01\x00\x00\x00"
	schema = `{"type":"object"}`
)

// folder lays files down, beside those of a sound plugin.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range map[string]string{"wharf.toml": sound, "triage.wasm": module, "schemas/input.json": schema} {
		if _, set := files[path]; !set {
			lay(t, dir, path, content)
		}
	}
	for path, content := range files {
		if content != "" {
			lay(t, dir, path, content)
		}
	}
	return dir
}

func lay(t testing.TB, dir, path, content string) {
	t.Helper()
	path = filepath.Join(dir, filepath.FromSlash(path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func pack(t testing.TB, dir string) (*parcel.Package, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return parcel.Pack(root)
}

func packed(t testing.TB, dir string) *parcel.Package {
	t.Helper()
	p, err := pack(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t testing.TB, p *parcel.Package) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (*parcel.Package, error) {
	return parcel.Read(bytes.NewReader(b), int64(len(b)))
}

func paths(p *parcel.Package) (list []string) {
	for _, f := range p.Files {
		list = append(list, f.Path)
	}
	return list
}

func TestWhatIsPackedIsRead(t *testing.T) {
	p := packed(t, folder(t, map[string]string{"README.md": "# Triage", "LICENSE": "MIT", "notes.txt": "not named", "src/main.ts": "source"}))
	want := []string{"LICENSE", "README.md", "schemas/input.json", "triage.wasm", "wharf.toml"}
	if !slices.Equal(paths(p), want) {
		t.Errorf("packed %q, want %q", paths(p), want)
	}
	got, err := read(write(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != p.Digest || got.Manifest.Name != "triage" || string(got.Module) != module || !slices.Equal(paths(got), want) {
		t.Errorf("read %s, %+v", got.Digest, got.Manifest)
	}
	if string(got.Manifest.Schemas.Input.Text) != schema || string(got.File("README.md")) != "# Triage" {
		t.Errorf("read the schema %q and %q", got.Manifest.Schemas.Input.Text, got.File("README.md"))
	}
	if got.Name() != "triage-1.2.0.wharf" {
		t.Errorf("it is called %q", got.Name())
	}
}

// A package is the same bytes wherever and whenever it is packed. These are its digests: when one changes,
// what was signed and pushed before is another package now.
func TestTheSameFilesAreTheSameBytes(t *testing.T) {
	one := folder(t, map[string]string{"README.md": "# Triage"})
	other := folder(t, map[string]string{"README.md": "# Triage", ".DS_Store": "x"})
	if err := errors.Join(os.Chmod(filepath.Join(other, "triage.wasm"), 0o755), os.Chtimes(filepath.Join(other, "wharf.toml"), time.Unix(1, 0), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	a, b := packed(t, one), packed(t, other)
	if !bytes.Equal(write(t, a), write(t, b)) {
		t.Error("two folders with the same files make other bytes")
	}
	if want := "sha256:f4f167d7eefa52eba78b5fd95281680c97ce604ed35e89b579c9038fa3b506c1"; a.Digest != want {
		t.Errorf("the digest is %s, and was %s", a.Digest, want)
	}
	if got, want := parcel.Digest(write(t, a)), "sha256:6834f0fac97f10cc4605ff914f4dcbff588e2b9b0c91c8b20b8f6362f0e12eb6"; got != want {
		t.Errorf("the archive is %s, and was %s", got, want)
	}
	again, err := read(write(t, a))
	if err != nil || !bytes.Equal(write(t, again), write(t, a)) {
		t.Errorf("written again it is something else: %v", err)
	}
}

// wantRefused checks why something was refused.
func wantRefused(t *testing.T, err error, words string) {
	t.Helper()
	refused, ok := errors.AsType[*parcel.Refused](err)
	if !ok || !strings.Contains(refused.Reason, words) {
		t.Errorf("got %v, want %q", err, words)
	}
}

func TestFoldersThatAreNotPacked(t *testing.T) {
	for words, files := range map[string]map[string]string{
		`there is no file "wharf.toml"`:                {"wharf.toml": ""},
		`there is no file "triage.wasm": build`:        {"triage.wasm": ""},
		`there is no file "schemas/input.json"`:        {"schemas/input.json": ""},
		`"triage.wasm" is no WebAssembly module`:       {"triage.wasm": "hello"},
		`wharf.toml:1:`:                                {"wharf.toml": "name = \"UPPER\"\n" + strings.Split(sound, "\n")[1]},
		`no JSON Schema`:                               {"schemas/input.json": `{"type":1}`},
		`that folder is kept for what packing adds`:    {"wharf.toml": strings.Replace(sound, "triage.wasm", ".Wharf/x.wasm", 1), ".Wharf/x.wasm": module},
		`it lacks the module ".git/x.wasm"`:            {"wharf.toml": strings.Replace(sound, "triage.wasm", ".git/x.wasm", 1), ".git/x.wasm": module},
		`the 262144 of a manifest`:                     {"wharf.toml": sound + "#" + strings.Repeat("x", 256<<10)},
		`"README.md" is no file: put the file itself`:  {"README.md/x": "x"},
		`are the same where upper and lower case are`:  {"wharf.toml": strings.Replace(sound, "schemas/input.json", "TRIAGE.wasm", 1), "TRIAGE.wasm": schema},
		`more than 67108864 bytes, which one file may`: {"README.md": strings.Repeat("x", parcel.MaxModule+1)},
	} {
		_, err := pack(t, folder(t, files))
		wantRefused(t, err, words)
	}
}

func TestNothingOutsideOfTheFolderIsPacked(t *testing.T) {
	dir := folder(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "README.md")); err != nil {
		t.Skip("this system has no links: ", err)
	}
	_, err := pack(t, dir)
	wantRefused(t, err, "README.md")
}

// archive packs members as they are.
func archive(t *testing.T, members ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		content := m.Comment
		m.Comment, m.Method = "", zip.Deflate
		f, err := w.CreateHeader(&m)
		if err == nil {
			_, err = io.WriteString(f, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// members are those of a package, each with its content as its comment.
func members(p *parcel.Package) (list []zip.FileHeader) {
	for _, f := range p.Files {
		list = append(list, member(f.Path, string(f.Content)))
	}
	return append(list, member(parcel.ContentsPath, string(p.Contents)))
}

func member(name, content string) zip.FileHeader { return zip.FileHeader{Name: name, Comment: content} }

// with changes the content of one of the members; "" removes it.
func with(list []zip.FileHeader, name, content string) []zip.FileHeader {
	list = slices.Clone(list)
	i := slices.IndexFunc(list, func(m zip.FileHeader) bool { return m.Name == name })
	if content == "" {
		return slices.Delete(list, i, i+1)
	}
	list[i].Comment = content
	return list
}

func mode(m zip.FileHeader, mode os.FileMode) zip.FileHeader {
	m.SetMode(mode)
	return m
}

func TestHostilePackages(t *testing.T) {
	p := packed(t, folder(t, map[string]string{"README.md": "# Triage"}))
	good := members(p)
	add := func(m ...zip.FileHeader) []zip.FileHeader { return append(slices.Clone(good), m...) }
	for name, c := range map[string]struct {
		members []zip.FileHeader
		words   string
	}{
		"leads out of the folder":      {add(member("../x", "x")), "leads out of the folder"},
		"leads out and in":             {add(member("a/../../x", "x")), "leads out of the folder"},
		"absolute":                     {add(member("/etc/passwd", "x")), "its name begins with a /"},
		"a drive":                      {add(member("C:/x", "x")), "names a drive"},
		"a backslash":                  {add(member(`..\x`, "x")), "writes / between folders"},
		"a symbolic link":              {add(mode(member("x", "/etc/passwd"), os.ModeSymlink|0o777)), "symbolic link"},
		"a device":                     {add(mode(member("x", ""), os.ModeDevice|0o600)), "neither a file nor a folder"},
		"a pipe":                       {add(mode(member("x", ""), os.ModeNamedPipe|0o600)), "neither a file nor a folder"},
		"twice":                        {add(member("README.md", "x")), "there twice"},
		"in another case":              {add(member("readme.MD", "x")), "upper and lower case"},
		"in another form of Unicode":   {add(member("caf\u00e9", "x"), member("cafe\u0301", "x")), "there twice"},
		"a file in a file":             {add(member("README.md/x", "x")), "a file and a folder"},
		"added":                        {add(member("x.md", "x")), `"x.md" is not in the table of contents`},
		"removed":                      {with(good, "README.md", ""), `"README.md" is missing`},
		"changed":                      {with(good, "README.md", "# Triumph"), `"README.md" has another digest`},
		"another module":               {with(good, "triage.wasm", module+"\x00"), `"triage.wasm" has another digest`},
		"no module":                    {with(good, "triage.wasm", ""), `lacks the module "triage.wasm"`},
		"a module that is none":        {with(good, "triage.wasm", "#!/bin/sh"), "no WebAssembly"},
		"no schema":                    {with(good, "schemas/input.json", ""), "there is no file"},
		"no manifest":                  {with(good, "wharf.toml", ""), "has no wharf.toml"},
		"a manifest that is none":      {with(good, "wharf.toml", "name ="), "wharf.toml:1:"},
		"a huge manifest":              {with(good, "wharf.toml", sound+"#"+strings.Repeat("x", 300<<10)), "262144"},
		"no contents":                  {with(good, parcel.ContentsPath, ""), "no table of contents"},
		"contents of nothing":          {with(good, parcel.ContentsPath, "{}"), "format"},
		"contents that are none":       {with(good, parcel.ContentsPath, "[1"), "no table of contents"},
		"contents of a newer format":   {with(good, parcel.ContentsPath, strings.Replace(string(p.Contents), "package-1", "package-2", 1)), "a newer one"},
		"contents in another form":     {with(good, parcel.ContentsPath, string(p.Contents)+"\n"), "canonical form"},
		"contents of another version":  {with(good, parcel.ContentsPath, strings.Replace(string(p.Contents), "1.2.0", "9.0.0", 1)), "does not say what wharf.toml says"},
		"more of its own":              {add(member(".wharf/extra", "x")), "nothing else than"},
		"more of its own, in capitals": {add(member(".WHARF/extra", "x")), "upper and lower case"},
		"all in a folder":              {[]zip.FileHeader{member("a/wharf.toml", sound)}, "has wharf.toml at its top"},
		"empty":                        {nil, "holds no file"},
		"signatures that are none":     {add(member(parcel.SignaturesPath, "yes")), "no signatures"},
		"a bomb":                       {add(member("zeros", strings.Repeat("\x00", parcel.MaxModule+1))), "67108864 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(archive(t, c.members...))
			wantRefused(t, err, c.words)
		})
	}
}

func TestPackagesThatAreCutOff(t *testing.T) {
	p := packed(t, folder(t, nil))
	whole := write(t, p)
	for n := range whole {
		if _, err := read(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a package", n, len(whole))
		}
	}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 0x41
		got, err := read(changed)
		if err == nil && got.Digest != p.Digest { // dates and the like say nothing of the files
			t.Fatalf("with byte %d changed it is another package", i)
		}
	}
}

func TestManyFiles(t *testing.T) {
	list := members(packed(t, folder(t, nil)))
	for i := range parcel.MaxFiles {
		list = append(list, member(strings.Repeat("x", i%100+1)+string(rune('a'+i/100)), "x"))
	}
	_, err := read(archive(t, list...))
	wantRefused(t, err, "more than 1000 files")
}

func key(n byte) *receipt.Key { return receipt.NewKey(bytes.Repeat([]byte{n}, 32)) }

func public(keys ...*receipt.Key) (trust parcel.Trust) {
	for _, k := range keys {
		trust = append(trust, k.Public(time.Unix(0, 0)))
	}
	return trust
}

func TestSignatures(t *testing.T) {
	p := packed(t, folder(t, nil))
	unsigned := write(t, p)
	p.Sign(key(1))
	p.Sign(key(2))
	signed := write(t, p)
	p.Sign(key(1))
	if !bytes.Equal(write(t, p), signed) {
		t.Error("signing again makes other bytes")
	}
	got, err := read(signed)
	if err != nil {
		t.Fatal(err)
	}
	for name, trust := range map[string]parcel.Trust{"nobody": nil, "the first": public(key(1)), "the second": public(key(3), key(2))} {
		if err := trust.Check(got); err != nil {
			t.Errorf("trusting %s: %v", name, err)
		}
	}
	err = public(key(3)).Check(got)
	if u, ok := errors.AsType[*parcel.Untrusted](err); !ok || len(u.Signed) != 2 || !strings.Contains(err.Error(), key(1).ID) {
		t.Errorf("trusting somebody else: %v", err)
	}
	plain, err := read(unsigned)
	if err != nil || plain.Digest != got.Digest {
		t.Errorf("a signature changes the digest: %v", err)
	}
	if err := public(key(1)).Check(plain); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("unsigned: %v", err)
	}
}

func TestWrongSignatures(t *testing.T) {
	p := packed(t, folder(t, nil))
	p.Sign(key(1))
	other := packed(t, folder(t, map[string]string{"README.md": "other"}))
	other.Sign(key(1))
	foreign := func(change func(*parcel.Signature)) string {
		copied := *p
		copied.Signatures = slices.Clone(p.Signatures)
		change(&copied.Signatures[0])
		text, err := copied.SignaturesJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, c := range map[string]struct{ text, words string }{
		"of another package":     {foreign(func(s *parcel.Signature) { s.Value = other.Signatures[0].Value }), "not right"},
		"of a receipt":           {foreign(func(s *parcel.Signature) { s.Value = key(1).Sign(string(p.Contents)) }), "not right"},
		"of another key":         {foreign(func(s *parcel.Signature) { s.PublicKey = public(key(2))[0].PublicKey }), "that key is"},
		"under another name":     {foreign(func(s *parcel.Signature) { s.KeyID = key(2).ID }), "that key is"},
		"by another algorithm":   {foreign(func(s *parcel.Signature) { s.Algorithm = "none" }), "not right"},
		"in another spelling":    {foreign(func(s *parcel.Signature) { s.PublicKey = "\n" + s.PublicKey }), "32 bytes in base64"},
		"of no bytes":            {foreign(func(s *parcel.Signature) { s.Value = "" }), "not right"},
		"of no key":              {foreign(func(s *parcel.Signature) { s.PublicKey = "" }), "32 bytes in base64"},
		"with members beside it": {`{"signatures":[],"x":1}`, "no signatures"},
		"twice":                  {`{"signatures":[` + between(foreign(func(*parcel.Signature) {})) + "," + between(foreign(func(*parcel.Signature) {})) + "]}", "two signatures"},
		"a thousand":             {`{"signatures":[` + strings.Repeat("{},", 999) + "{}]}", "at most 16"},
	} {
		_, err := read(archive(t, append(members(p), member(parcel.SignaturesPath, c.text))...))
		t.Run(name, func(t *testing.T) { wantRefused(t, err, c.words) })
	}
}

// between returns the only signature of a file of signatures.
func between(text string) string {
	return text[strings.Index(text, "[")+1 : strings.LastIndex(text, "]")]
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.wharf")
	p := packed(t, folder(t, nil))
	if err := os.WriteFile(path, write(t, p), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := parcel.Open(path)
	if err != nil || got.Digest != p.Digest {
		t.Errorf("%v", err)
	}
	if _, err := parcel.Open(filepath.Dir(path)); err == nil {
		t.Error("a folder is a package")
	}
	if _, err := parcel.Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if !parcel.IsPackage(write(t, p)) || parcel.IsPackage([]byte(module)) {
		t.Error("a package and a module are not told apart")
	}
}

func FuzzRead(f *testing.F) {
	p := packed(f, folder(f, nil))
	f.Add(write(f, p))
	p.Sign(key(1))
	signed := write(f, p)
	f.Add(signed)
	f.Add(signed[:len(signed)/2])
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if _, refused := errors.AsType[*parcel.Refused](err); err != nil && !refused {
			t.Fatalf("no refusal: %v", err)
		}
		if err != nil {
			return
		}
		again, err := read(write(t, got))
		if err != nil || again.Digest != got.Digest || len(again.Signatures) != len(got.Signatures) {
			t.Errorf("written again it is something else: %v", err)
		}
	})
}

// FuzzFiles is about what lies in a package, which a fuzzer of archives seldom gets to.
func FuzzFiles(f *testing.F) {
	p := packed(f, folder(f, nil))
	p.Sign(key(1))
	signatures, err := p.SignaturesJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound, string(p.Contents), string(signatures), "README.md")
	f.Add(sound, "{}", "{}", ".wharf/x")
	f.Fuzz(func(t *testing.T, manifest, contents, signatures, path string) {
		files := []string{"wharf.toml", manifest, "triage.wasm", module, "schemas/input.json", schema,
			parcel.ContentsPath, contents, parcel.SignaturesPath, signatures, path, "x"}
		got, err := parcel.New(func(yield func(filetree.Named, error) bool) {
			for pair := range slices.Chunk(files, 2) {
				if !yield(filetree.Named{Path: pair[0], Content: strings.NewReader(pair[1])}, nil) {
					return
				}
			}
		})
		if _, refused := errors.AsType[*parcel.Refused](err); err != nil && !refused {
			t.Fatalf("no refusal: %v", err)
		}
		if err == nil && string(got.Contents) != contents {
			t.Error("the table of contents is not the one that it stated")
		}
	})
}
