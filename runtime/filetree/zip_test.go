package filetree_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

var limits = filetree.Limits{Files: 20, FileBytes: 4 << 20, Bytes: 8 << 20, Ratio: 100}

// entry is a member of an archive that is made byte by byte, so that it can say what is not true.
type entry struct {
	name    string // in the directory
	own     string // in the file's own header; "" for the same
	content []byte // as it is packed
	method  uint16
	flags   uint16
	secret  bool // says its own header alone: it is encrypted
	crc     uint32
	size    uint32 // that it states
	packed  uint32 // that it states; 0 for the truth
	mode    uint32 // of a Unix
	at      *uint32
}

// plain returns a member that says the truth.
func plain(name, content string) entry {
	return entry{name: name, content: []byte(content), crc: crc32.ChecksumIEEE([]byte(content)), size: uint32(len(content))}
}

// with returns a member with something changed.
func (e entry) with(change func(*entry)) entry {
	change(&e)
	return e
}

// deflate packs a member.
func (e entry) deflate() entry {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level is one that there is
	_, _ = w.Write(e.content)
	_ = w.Close()
	e.content, e.method = packed.Bytes(), zip.Deflate
	return e
}

func (e entry) common(b []byte, name string) []byte {
	packed := e.packed
	if packed == 0 {
		packed = uint32(len(e.content))
	}
	for _, v := range []uint16{20, e.flags, e.method, 0, 33} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	for _, v := range []uint32{e.crc, packed, e.size} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	return binary.LittleEndian.AppendUint16(b, 0)
}

// pack makes an archive. count is added to how many files its end states.
func pack(count int, entries ...entry) []byte {
	var b, directory []byte
	for _, e := range entries {
		offset := uint32(len(b))
		own := e.name
		if e.own != "" {
			own = e.own
		}
		b = binary.LittleEndian.AppendUint32(b, 0x04034b50)
		header := e
		if e.secret {
			header.flags |= 1
		}
		b = append(append(header.common(b, own), own...), e.content...)
		if e.at != nil {
			offset = *e.at
		}
		directory = binary.LittleEndian.AppendUint32(directory, 0x02014b50)
		directory = append(e.common(append(directory, 20, 3), e.name), make([]byte, 6)...)
		directory = binary.LittleEndian.AppendUint32(directory, e.mode<<16)
		directory = append(binary.LittleEndian.AppendUint32(directory, offset), e.name...)
	}
	return finish(b, directory, len(entries)+count)
}

func finish(b, directory []byte, count int) []byte {
	start := uint32(len(b))
	b = append(b, directory...)
	b = binary.LittleEndian.AppendUint32(b, 0x06054b50)
	b = append(b, 0, 0, 0, 0)
	for range 2 {
		b = binary.LittleEndian.AppendUint16(b, uint16(count))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(directory)))
	b = binary.LittleEndian.AppendUint32(b, start)
	return append(b, 0, 0)
}

func read(b []byte) (*filetree.Tree, error) {
	return filetree.ReadZip(bytes.NewReader(b), int64(len(b)), limits)
}

// wantRefusal checks why something was refused, and about which file.
func wantRefusal(t *testing.T, err error, code filetree.Code, file string) {
	t.Helper()
	refusal, ok := errors.AsType[*filetree.Refusal](err)
	if !ok || refusal.Code != code || refusal.File != file {
		t.Errorf("got %#v, want %s of %q", err, code, file)
	}
	if ok && (refusal.Reason == "" || refusal.Error() == "") {
		t.Errorf("%s: nothing is said", code)
	}
}

func TestNamesAreRefused(t *testing.T) {
	deep := strings.Repeat("a/", 16) + "b"
	for name, code := range map[string]filetree.Code{
		"../a":           filetree.PathTraversal,
		"a/../../b":      filetree.PathTraversal,
		"a/..":           filetree.PathTraversal,
		"/etc/passwd":    filetree.PathAbsolute,
		"C:/a":           filetree.PathColon,
		"a.md:hidden":    filetree.PathColon,
		`..\a`:           filetree.PathBackslash,
		`C:\a`:           filetree.PathBackslash,
		"a\x00.md":       filetree.PathControl,
		"a\n.md":         filetree.PathControl,
		"a\x1b[2J":       filetree.PathControl,
		"a\u202egpj.exe": filetree.PathControl,
		"a\u2028b":       filetree.PathControl,
		"":               filetree.PathMalformed,
		"a//b":           filetree.PathMalformed,
		"./a":            filetree.PathMalformed,
		deep:             filetree.PathTooDeep,
		"a/" + long(201): filetree.PathTooLong,
	} {
		_, err := read(pack(0, plain("ok.md", ""), plain(name, "x")))
		wantRefusal(t, err, code, name)
	}
	_, err := read(pack(0, plain("a\xff.md", "x")))
	wantRefusal(t, err, filetree.PathEncoding, "a\ufffd.md")
	path := strings.Repeat(long(100)+"/", 6) + "a"
	_, err = read(pack(0, plain(path, "x")))
	wantRefusal(t, err, filetree.PathTooLong, path[:512])
}

func long(n int) string { return strings.Repeat("a", n) }

// What is one name to some systems and two to others is unpacked as one there.
func TestNamesCollide(t *testing.T) {
	for _, c := range []struct {
		first, second string
		code          filetree.Code
	}{
		{"a.md", "a.md", filetree.PathDuplicate},
		{"a.md", "A.md", filetree.PathCollision},
		{"straße.md", "STRASSE.md", filetree.PathCollision},
		{"K.md", "\u212a.md", filetree.PathDuplicate}, // KELVIN SIGN, which is a K when composed
		{"caf\u00e9.md", "cafe\u0301.md", filetree.PathDuplicate},
		{"caf\u00e9.md", "CAFE\u0301.md", filetree.PathCollision},
		{"\u0390.md", "\u03aa\u0301.md", filetree.PathCollision}, // equal when they are composed after folding
		{"a", "a/b", filetree.PathConflict},
		{"a/b", "a", filetree.PathConflict},
		{"a/b", "A/c", filetree.PathCollision},
		{"a/b", "A", filetree.PathCollision},
	} {
		_, err := read(pack(0, plain(c.first, ""), plain(c.second, "")))
		refusal, ok := errors.AsType[*filetree.Refusal](err)
		if !ok || refusal.Code != c.code {
			t.Errorf("%q and %q: got %v, want %s", c.first, c.second, err, c.code)
		}
	}
	if _, err := read(pack(0, plain("a/", ""), plain("a/", ""), plain("a/b", ""), plain("b", ""))); err != nil {
		t.Errorf("a folder that is named twice: %v", err)
	}
}

func TestHostileArchives(t *testing.T) {
	a := plain("a.md", strings.Repeat("content ", 10))
	zero := uint32(0)
	whole := pack(0, a, a.with(func(e *entry) { e.name = "b.md" }))
	for name, c := range map[string]struct {
		archive []byte
		code    filetree.Code
		file    string
	}{
		"nothing":                 {nil, filetree.NoArchive, ""},
		"a text":                  {[]byte(strings.Repeat("no zip", 100)), filetree.NoArchive, ""},
		"truncated":               {whole[:len(whole)-30], filetree.Damaged, ""},
		"only its end":            {whole[len(whole)-22:], filetree.Damaged, ""},
		"no files":                {pack(0), filetree.Empty, ""},
		"ignored files":           {pack(0, plain("__MACOSX/a", "x"), plain("b/.DS_Store", "x")), filetree.Empty, ""},
		"more than counted":       {pack(-1, a, plain("b", "")), filetree.Damaged, ""},
		"fewer than counted":      {pack(1, a), filetree.Damaged, ""},
		"something in front":      {append([]byte("#!/bin/sh\n"), whole...), filetree.Damaged, ""},
		"before its end":          {slices.Insert(slices.Clone(whole), len(whole)-22, 'g', 'a', 'p'), filetree.Damaged, ""},
		"symlink":                 {pack(0, a.with(func(e *entry) { e.mode = 0o120777 })), filetree.Symlink, "a.md"},
		"device":                  {pack(0, a.with(func(e *entry) { e.mode = 0o020666 })), filetree.SpecialFile, "a.md"},
		"pipe":                    {pack(0, a.with(func(e *entry) { e.mode = 0o010666 })), filetree.SpecialFile, "a.md"},
		"encrypted":               {pack(0, a.with(func(e *entry) { e.flags = 1 })), filetree.Encrypted, "a.md"},
		"encrypted in secret":     {pack(0, a.with(func(e *entry) { e.secret = true })), filetree.Encrypted, "a.md"},
		"names encrypted":         {pack(0, a.with(func(e *entry) { e.flags = 1 << 13 })), filetree.Encrypted, "a.md"},
		"bzip2":                   {pack(0, a.with(func(e *entry) { e.method = 12 })), filetree.Compression, "a.md"},
		"wrong checksum":          {pack(0, a.with(func(e *entry) { e.crc++ })), filetree.Checksum, "a.md"},
		"another name":            {pack(0, a.with(func(e *entry) { e.own = "b.md" })), filetree.Damaged, "a.md"},
		"a longer name":           {pack(0, a.with(func(e *entry) { e.own = "../../a.md" })), filetree.Damaged, "a.md"},
		"stored, of another size": {pack(0, a.with(func(e *entry) { e.size++ })), filetree.Damaged, "a.md"},
		"more than it states":     {pack(0, a.deflate().with(func(e *entry) { e.size-- })), filetree.Damaged, "a.md"},
		"less than it states":     {pack(0, a.deflate().with(func(e *entry) { e.size++ })), filetree.Damaged, "a.md"},
		"cut in the middle":       {pack(0, a.deflate().with(func(e *entry) { e.content = e.content[:5] })), filetree.Damaged, "a.md"},
		"no deflate":              {pack(0, a.with(func(e *entry) { e.method = 8; e.content = []byte{7, 7, 7} })), filetree.Damaged, "a.md"},
		"folder with content":     {pack(0, plain("a/", "x")), filetree.Damaged, "a"},
		"behind the end":          {pack(0, a.with(func(e *entry) { at := uint32(1 << 30); e.at = &at })), filetree.Damaged, ""},
		"no header there":         {pack(0, plain("b", ""), a.with(func(e *entry) { at := uint32(3); e.at = &at })), filetree.Damaged, "a.md"},
		"packed beyond the end":   {pack(0, a.with(func(e *entry) { e.packed = 1 << 20; e.size = 1 << 20 })), filetree.Overlap, "a.md"},
		"zip64 size":              {pack(0, a.with(func(e *entry) { e.size = 1<<32 - 1 })), filetree.Zip64, "a.md"},
		"a name of bytes":         {pack(0, plain("a\xff", "").with(func(e *entry) { e.size = 1<<32 - 1 })), filetree.Zip64, "a\ufffd"},
		"zip64 offset":            {pack(0, a.with(func(e *entry) { at := uint32(1<<32 - 1); e.at = &at })), filetree.Zip64, "a.md"},
		"zip64 count":             {finish(nil, nil, 1<<16-1), filetree.Zip64, ""},
		"twice the same bytes":    {pack(0, a, a.with(func(e *entry) { e.at = &zero })), filetree.Overlap, "a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.archive)
			wantRefusal(t, err, c.code, c.file)
		})
	}
}

func TestLimits(t *testing.T) {
	var files []entry
	for i := range limits.Files {
		files = append(files, plain(fmt.Sprintf("%d.md", i), ""), plain(fmt.Sprintf("__MACOSX/._%d.md", i), ""))
	}
	if tree, err := read(pack(0, files...)); err != nil || len(tree.Files) != limits.Files {
		t.Errorf("as many files as there may be: %v", err)
	}
	_, err := read(pack(0, append(files, plain("more.md", ""))...))
	wantRefusal(t, err, filetree.TooManyFiles, "")
	_, err = read(pack(0, plain("a", long(int(limits.FileBytes)))))
	if err != nil {
		t.Error("a file as large as one may be:", err)
	}
	_, err = read(pack(0, plain("a", long(int(limits.FileBytes)+1))))
	wantRefusal(t, err, filetree.FileTooLarge, "a")
	third := long(3 << 20)
	_, err = read(pack(0, plain("a", third), plain("b", third), plain("c", third)))
	wantRefusal(t, err, filetree.TooLarge, "")
	_, err = read(pack(0, plain("a", third).deflate()))
	wantRefusal(t, err, filetree.RatioTooHigh, "a")
	if _, err = read(pack(0, plain("a", long(1<<20)).deflate())); err != nil {
		t.Error("a MiB may be packed as well as it can be:", err)
	}
}

// A directory of 65,000 names, or of 8 MiB for one, costs no more than looking at its end.
func TestDirectoriesAreCountedFirst(t *testing.T) {
	wantCheap(t, "many names", finish(nil, make([]byte, 65_000*46), 65_000), limits, filetree.TooManyFiles)
	wantCheap(t, "a large one", finish(nil, make([]byte, 8<<20), 1), limits, filetree.Damaged)
}

// wantCheap checks that an archive is refused within little memory.
func wantCheap(t *testing.T, name string, b []byte, l filetree.Limits, code filetree.Code) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := filetree.ReadZip(bytes.NewReader(b), int64(len(b)), l)
	runtime.ReadMemStats(&after)
	if refusal, ok := errors.AsType[*filetree.Refusal](err); !ok || refusal.Code != code {
		t.Errorf("%s: got %v, want %s", name, err, code)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%s: it took %d bytes", name, took)
	}
}

// Bombs take no memory: those that say so are refused by what they state, and those that lie when
// they unpack to more.
func TestBombs(t *testing.T) {
	generous := filetree.Limits{Files: 20, FileBytes: 1 << 30, Bytes: 2 << 30}
	zeros := plain("a", long(4<<20)).deflate() // some KB
	var many []entry
	for i := range 16 { // they state 10 GB together
		many = append(many, zeros.with(func(e *entry) { e.name, e.size = fmt.Sprint(i), 640<<20 }))
	}
	wantCheap(t, "a liar", pack(0, zeros.with(func(e *entry) { e.size = 1 })), generous, filetree.Damaged)
	wantCheap(t, "one file", pack(0, zeros.with(func(e *entry) { e.size = 1<<32 - 2 })), generous, filetree.FileTooLarge)
	wantCheap(t, "many files", pack(0, many...), generous, filetree.TooLarge)
}

// What the usual tools write is read: folders, comments, sizes behind the content, and one folder
// around everything.
func TestUsualArchives(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"my-skill/", "my-skill/lib/", "my-skill/SKILL.md", "my-skill/lib/b.py", "my-skill/.DS_Store", "__MACOSX/my-skill/._SKILL.md"} {
		f, err := w.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(f, "of "+name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.SetComment("a commit, PK\x05\x06"), w.Close()); err != nil {
		t.Fatal(err)
	}
	tree, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if tree.Root != "my-skill" || len(tree.Files) != 2 || tree.Files[0].Path != "SKILL.md" || tree.Files[1].Path != "lib/b.py" {
		t.Errorf("got %+v", tree)
	}
	if f := tree.File("SKILL.md"); f == nil || string(f.Content) != "of my-skill/SKILL.md" {
		t.Errorf("SKILL.md is %+v", f)
	}
	if tree.File("absent") != nil || tree.Bytes() != int64(len("of my-skill/SKILL.md")+len("of my-skill/lib/b.py")) {
		t.Error("a file that is not there, or another size")
	}
}

// Two folders, or a file beside a folder, are no folder around everything.
func TestRoots(t *testing.T) {
	for _, names := range [][]string{{"a/x", "b/x"}, {"a/x", "x"}, {"x"}} {
		var entries []entry
		for _, name := range names {
			entries = append(entries, plain(name, ""))
		}
		tree, err := read(pack(0, entries...))
		if err != nil || tree.Root != "" || tree.Files[0].Path != names[0] {
			t.Errorf("%v: %+v, %v", names, tree, err)
		}
	}
}

// An error of the disk is none of the archive.
func TestReadingFails(t *testing.T) {
	b := pack(0, plain("a.md", "content"))
	_, err := filetree.ReadZip(broken{bytes.NewReader(b)}, int64(len(b)), limits)
	if _, refused := errors.AsType[*filetree.Refusal](err); refused || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// broken fails where the first content is, and gives headers.
type broken struct{ *bytes.Reader }

func (b broken) ReadAt(p []byte, offset int64) (int, error) {
	if offset == 30+int64(len("a.md")) {
		return 0, fs.ErrClosed
	}
	return b.Reader.ReadAt(p, offset)
}

func FuzzReadZip(f *testing.F) {
	a := plain("a/SKILL.md", "content")
	f.Add(pack(0, a, a.deflate().with(func(e *entry) { e.name = "a/b.py" })))
	f.Add(pack(1, a))
	f.Add(pack(0, plain("../a", "x")))
	f.Add([]byte("PK"))
	small := filetree.Limits{Files: 8, FileBytes: 1 << 16, Bytes: 1 << 17, Ratio: 50}
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := filetree.ReadZip(bytes.NewReader(b), int64(len(b)), small)
		if _, refused := errors.AsType[*filetree.Refusal](err); err != nil && !refused {
			t.Fatalf("no refusal: %v", err)
		}
		if err == nil {
			checkTree(t, tree, small)
		}
	})
}

// checkTree checks what holds of every tree.
func checkTree(t *testing.T, tree *filetree.Tree, l filetree.Limits) {
	if len(tree.Files) == 0 || len(tree.Files) > l.Files || tree.Bytes() > l.Bytes {
		t.Errorf("%d files with %d bytes", len(tree.Files), tree.Bytes())
	}
	for i, f := range tree.Files {
		if !fs.ValidPath(f.Path) || strings.ContainsAny(f.Path, "\\:\x00") || int64(len(f.Content)) > l.FileBytes {
			t.Errorf("%q with %d bytes", f.Path, len(f.Content))
		}
		if i > 0 && tree.Files[i-1].Path >= f.Path {
			t.Errorf("%q comes after %q", f.Path, tree.Files[i-1].Path)
		}
	}
}

// Many small files take little more than what is in them: an archive of 50 MB is read on nodes that
// have not much more.
func TestManyFilesTakeWhatTheyHave(t *testing.T) {
	const count, size = 500, 20_000
	var entries []entry
	for i := range count {
		entries = append(entries, plain(fmt.Sprintf("%d.txt", i), strings.Repeat("a", size)).deflate())
	}
	archive := pack(0, entries...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tree, err := filetree.ReadZip(bytes.NewReader(archive), int64(len(archive)), filetree.Limits{Files: count, FileBytes: size, Bytes: count * size})
	runtime.ReadMemStats(&after)
	if err != nil || len(tree.Files) != count {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > count*size*3/2 {
		t.Errorf("%d files of %d bytes took %d bytes", count, size, took)
	}
}
