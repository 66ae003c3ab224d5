package filetree

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The bounds of a path. Every file system that matters takes what is within them.
const (
	maxPath  = 512 // bytes
	maxPart  = 200 // bytes
	maxDepth = 16  // parts
)

// checkPath refuses a path that means something else on another system, or nothing good.
func checkPath(path string) error {
	switch {
	case !utf8.ValidString(path):
		return refuse(path, PathEncoding, "its name is not UTF-8: rename it, or pack it with a tool that writes UTF-8")
	case strings.ContainsFunc(path, steers):
		return refuse(path, PathControl, "its name holds a character that is none of a text: rename it")
	case strings.Contains(path, `\`):
		return refuse(path, PathBackslash, `its name holds a \: pack it with a tool that writes / between folders`)
	case strings.HasPrefix(path, "/"):
		return refuse(path, PathAbsolute, "its name begins with a /: pack it with names from the folder on")
	case strings.Contains(path, ":"):
		return refuse(path, PathColon, "its name holds a :, which names a drive on some systems: rename it")
	case len(path) > maxPath:
		return refuse(path, PathTooLong, "its name has %d bytes, and at most %d are read: use shorter names", len(path), maxPath)
	}
	return checkParts(path, strings.Split(path, "/"))
}

func checkParts(path string, parts []string) error {
	long := func(part string) bool { return len(part) > maxPart }
	switch {
	case slices.Contains(parts, ".."):
		return refuse(path, PathTraversal, "its name leads out of the folder: pack it without ..")
	case slices.Contains(parts, ""), slices.Contains(parts, "."):
		return refuse(path, PathMalformed, "a part of its name is empty or a dot: pack it with plain names")
	case len(parts) > maxDepth:
		return refuse(path, PathTooDeep, "it lies %d folders deep, and at most %d are read: use fewer", len(parts), maxDepth)
	case slices.ContainsFunc(parts, long):
		return refuse(path, PathTooLong, "a part of its name has more than %d bytes: use a shorter name", maxPart)
	}
	return nil
}

// steers reports whether a character does something to what shows it, instead of being seen.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// mostIgnored is how many names in one folder are ignored.
const mostIgnored = 3

// ignored reports whether systems and tools leave a file there without being asked.
func ignored(path string) bool {
	parts := strings.Split(path, "/")
	return parts[0] == "__MACOSX" || parts[len(parts)-1] == ".DS_Store" || slices.Contains(parts, ".git")
}

// occupied are the paths that are taken, so that a tree can be unpacked on any system: by their
// folded form, how they are spelled and whether they are folders.
type occupied map[string]place

type place struct {
	path   string
	folder bool
}

// take occupies a checked path and the folders above it, and returns the path in composed form.
func (o occupied) take(path string, folder bool) (string, error) {
	composed := norm.NFC.String(path)
	for i, r := range composed {
		if r == '/' {
			if err := o.put(place{composed[:i], true}); err != nil {
				return "", err
			}
		}
	}
	return composed, o.put(place{composed, folder})
}

func (o occupied) put(p place) error {
	key := fold(p.path)
	held, taken := o[key]
	switch {
	case !taken:
		o[key] = p
	case held.path != p.path:
		return refuse(p.path, PathCollision, "its name and %q are the same where upper and lower case are: rename one", held.path)
	case held.folder != p.folder:
		return refuse(p.path, PathConflict, "it is a file and a folder at once: rename one")
	case !p.folder:
		return refuse(p.path, PathDuplicate, "it is there twice: remove one")
	}
	return nil
}

// fold returns what two paths have in common that some system takes for the same.
func fold(path string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(path))) }
