package api

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The log names what the node holds. Clients of an adapter that has paths for it get those. What older
// builds have recorded are paths already, and is shown as it is.

// Links are the paths at which clients of an adapter find what the log names. The zero value has none: what is
// named is shown by its name.
type Links struct {
	Transcript Path // of a Session
	Content    Path // of an Artifact
}

// Path is a path with an id in it.
type Path struct{ Before, After string }

// link is a member that holds such a name, and the path that is shown in its place.
type link struct {
	member, name string
	path         Path
}

// objectOf returns the kind of a document that may hold names, "" for any other.
func objectOf(id string) abi.Object {
	for _, o := range [...]abi.Object{abi.ObjectSession, abi.ObjectArtifact, abi.ObjectOutcome} {
		if strings.HasPrefix(id, abi.IDPrefix(o)) {
			return o
		}
	}
	return ""
}

// linked returns a resource with paths for names. The bytes around them stay as they are.
func (l Links) linked(o abi.Object, resource []byte) []byte {
	switch {
	case l == Links{}:
	case o == abi.ObjectSession:
		return (&link{"transcript", abi.TranscriptName, l.Transcript}).in(resource)
	case o == abi.ObjectArtifact:
		return (&link{"uri", abi.ArtifactName, l.Content}).in(resource)
	case o == abi.ObjectOutcome:
		return l.linkedOutcome(resource)
	}
	return resource
}

// in returns a resource whose name, if it has one of its own, is the path. A client may have written
// that of another into an Artifact whose content is elsewhere.
func (l *link) in(resource []byte) []byte {
	if !bytes.Contains(resource, []byte(l.name)) {
		return resource
	}
	id, name := memberOf(resource, "id"), memberOf(resource, l.member)
	own := id.text(resource)
	if own == "" || name.text(resource) != l.name+own {
		return resource
	}
	path := `"` + l.path.Before + own + l.path.After + `"`
	return name.replaced(resource, []byte(path))
}

// linkedOutcome returns an Outcome with paths in its Artifacts.
func (l Links) linkedOutcome(outcome []byte) []byte {
	if !bytes.Contains(outcome, []byte(abi.ArtifactName)) {
		return outcome
	}
	at := memberOf(outcome, "artifacts")
	list := jsontext.NewDecoder(bytes.NewReader(outcome[at.from:at.to]))
	if at.to == 0 || list.PeekKind() != '[' {
		return outcome
	}
	_, _ = list.ReadToken()
	shown := []byte{'['}
	for list.PeekKind() == '{' {
		artifact, err := list.ReadValue()
		if err != nil {
			return outcome
		}
		if len(shown) > 1 {
			shown = append(shown, ',')
		}
		shown = append(shown, l.linked(abi.ObjectArtifact, artifact)...)
	}
	return at.replaced(outcome, append(shown, ']'))
}

// place is where a member's value stands in a text; the zero place is nowhere.
type place struct{ from, to int64 }

// memberOf finds a member of a JSON object itself, and of none within it.
func memberOf(object []byte, name string) (at place) {
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return at
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return at
		}
		found := key.String() == name
		value, err := dec.ReadValue()
		if err != nil {
			return at
		}
		if found {
			to := dec.InputOffset()
			return place{to - int64(len(value)), to}
		}
	}
	return at
}

// text returns the string that stands at a place, "" for none. Names are written plainly.
func (p place) text(in []byte) string {
	v := in[p.from:p.to]
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	return string(v[1 : len(v)-1])
}

func (p place) replaced(in, by []byte) []byte {
	out := make([]byte, 0, len(in)+len(by))
	return append(append(append(out, in[:p.from]...), by...), in[p.to:]...)
}
