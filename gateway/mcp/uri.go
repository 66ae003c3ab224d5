package mcp

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/gateway/api"
)

// The schemes of what the node itself has as resources. Skills that are resources have others.
const (
	schemeWharf = "wharf"
	schemeSkill = "skill"
)

// ownScheme reports whether a URI is one of the node's own, whether or not it names anything.
func ownScheme(uri string) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return strings.EqualFold(scheme, schemeWharf) || strings.EqualFold(scheme, schemeSkill)
}

// maxURI bounds the URI of a resource, in bytes.
const maxURI = 4 << 10

// place is what the URI of a resource names. Two spellings of one URI are one place.
type place struct {
	kind      placeKind
	workspace string // of a file, or of a skill
	id        string // of an Artifact or a receipt; the name of a skill
	path      string // of a file of a Workspace or of a skill; "" for the folder of a skill
}

type placeKind string

const (
	placeArtifact placeKind = "artifact"
	placeReceipt  placeKind = "receipt"
	placeFile     placeKind = "file"
	placeSkill    placeKind = "skill"
)

// The templates of the places, as RFC 6570 writes them.
const (
	templateArtifact = schemeWharf + "://artifacts/{artifact_id}"
	templateReceipt  = schemeWharf + "://receipts/{receipt_id}"
	templateFile     = schemeWharf + "://workspaces/{workspace_id}/files/{+path}"
	templateSkill    = schemeSkill + "://{workspace_id}/{skill}/{+path}"
)

// placeOf reads a URI. Schemes, and what follows them in the node's own, are the same in upper and in
// lower case; ids, names and paths are not. Each part may be escaped, once: "%2F" in the path of a file
// is the slash that an expanded template writes so. Nothing else is made of it: a path with "..",
// or with an empty name, names nothing.
func placeOf(uri string) (place, bool) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || len(uri) > maxURI || strings.ContainsAny(rest, "?#") {
		return place{}, false
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil || text == "" && i != len(parts)-1 || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return place{}, false
		}
		parts[i] = text
	}
	switch strings.ToLower(scheme) {
	case schemeWharf:
		return wharfPlace(parts)
	case schemeSkill:
		return skillPlace(parts)
	}
	return place{}, false
}

func wharfPlace(parts []string) (place, bool) {
	of := strings.ToLower(parts[0])
	switch {
	case of == "artifacts" && len(parts) == 2:
		return place{kind: placeArtifact, id: parts[1]}, parts[1] != ""
	case of == "receipts" && len(parts) == 2:
		return place{kind: placeReceipt, id: parts[1]}, parts[1] != ""
	case of == "workspaces" && len(parts) > 3 && parts[2] == "files":
		path := strings.Join(parts[3:], "/")
		return place{kind: placeFile, workspace: parts[1], path: path}, plain(path)
	}
	return place{}, false
}

func skillPlace(parts []string) (place, bool) {
	if len(parts) < 2 || strings.Contains(parts[1], "/") {
		return place{}, false
	}
	path := strings.Join(parts[2:], "/")
	at := place{kind: placeSkill, workspace: parts[0], id: parts[1], path: path}
	return at, parts[1] != "" && (path == "" || plain(path))
}

// plain reports whether a path leads down, name by name.
func plain(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return true
}

// uri is how the node itself writes a place.
func (p place) uri() string {
	switch p.kind {
	case placeArtifact:
		return schemeWharf + "://artifacts/" + url.PathEscape(p.id)
	case placeReceipt:
		return schemeWharf + "://receipts/" + url.PathEscape(p.id)
	case placeFile:
		return schemeWharf + "://workspaces/" + url.PathEscape(p.workspace) + "/files/" + escaped(p.path)
	}
	folder := schemeSkill + "://" + url.PathEscape(p.workspace) + "/" + url.PathEscape(p.id)
	if p.path == "" {
		return folder
	}
	return folder + "/" + escaped(p.path)
}

// escaped writes a path into a URI.
func escaped(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		names[i] = url.PathEscape(name)
	}
	return strings.Join(names, "/")
}

// scopeOf is what a caller needs to look at a place.
func (k placeKind) scope() string {
	switch k {
	case placeArtifact:
		return "artifacts:read"
	case placeReceipt:
		return "receipts:read"
	case placeFile:
		return "workspaces:read"
	}
	return scopeSkills
}

// scopeSkills is the scope of those who may look at Skills, and at skills that are installed.
const scopeSkills = "skills:read"

// mayLook reports whether a caller may look at places of a kind at all.
func (k placeKind) mayLook(c *api.Caller) bool { return c.Can(k.scope()) }
