package shapes

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The types of content blocks.
const (
	blockText     = "text"
	blockImage    = "image"
	blockAudio    = "audio"
	blockLink     = "resource_link"
	blockResource = "resource"
)

// Block is a content block as it is sent. Its members follow from its Type.
type Block struct {
	Type        string    `json:"type"`
	Text        *string   `json:"text,omitzero"`
	Data        []byte    `json:"data,omitzero"` // of an image or a sound
	MimeType    string    `json:"mimeType,omitzero"`
	URI         string    `json:"uri,omitzero"`
	Name        string    `json:"name,omitzero"`
	Description string    `json:"description,omitzero"`
	Size        *int64    `json:"size,omitzero"`
	Resource    *Embedded `json:"resource,omitzero"`
	Meta        *Meta     `json:"_meta,omitzero"`
}

// Embedded is a resource that comes whole.
type Embedded struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitzero"`
	Text     *string `json:"text,omitzero"`
	Blob     []byte  `json:"blob,omitzero"`
}

// Meta is what Wharf says beside the members that the protocol has.
type Meta struct {
	Harn any `json:"harn"`
}

// Text returns a block of text.
func Text(s string) Block { return Block{Type: blockText, Text: &s} }

// Contents reads the content of an Artifact that may be sent within a Message; false for one that
// is not there for this reader, or too large.
type Contents func(artifactID string) ([]byte, bool)

// BlockOf returns a Part as a content block; false for one that has nothing for people: what was
// withheld, what is not public, and the calls of tools, which are told as such. Contents may be nil:
// then everything is linked to.
func BlockOf(p *abi.Part, contents Contents) (Block, bool) {
	if p.Redacted || p.Visibility != "" && p.Visibility != abi.VisibilityPublic {
		return Block{}, false
	}
	switch p.Type {
	case abi.PartText:
		return Block{Type: blockText, Text: p.Text}, p.Text != nil
	case abi.PartJSON:
		return jsonBlock(p.Value)
	case abi.PartFileRef:
		return Block{Type: blockLink, URI: p.URI, Name: cmp.Or(p.Name, baseOf(p.URI)), MimeType: p.MimeType}, p.URI != ""
	case abi.PartArtifactRef, abi.PartImageRef:
		return artifactBlock(p, contents), p.ArtifactID != ""
	}
	return Block{}, false
}

// jsonBlock returns a value: an embedded text as what it was, any other as JSON for people.
func jsonBlock(v jsontext.Value) (Block, bool) {
	if e := embeddedOf(v); e != nil {
		return Block{Type: blockResource, Resource: e}, true
	}
	v = v.Clone()
	if len(v) == 0 || v.Indent(jsontext.WithIndent("  ")) != nil {
		return Block{}, false
	}
	return Text("```json\n" + string(v) + "\n```"), true
}

// embeddedOf reads a value that [Read] has made of an embedded text; nil for any other.
func embeddedOf(v jsontext.Value) *Embedded {
	if !bytes.Contains(v, []byte(`"resource"`)) {
		return nil
	}
	var read embeddedText
	if json.Unmarshal(v, &read, json.RejectUnknownMembers(true)) != nil || read.Resource == nil || read.Resource.URI == "" || read.Resource.Text == nil {
		return nil
	}
	return &Embedded{URI: read.Resource.URI, MimeType: read.Resource.MimeType, Text: read.Resource.Text}
}

// embeddedText is an embedded text as a Message keeps it. Its members are those of the protocol, so
// that a model is shown where the text is from.
type embeddedText struct {
	Resource *struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType,omitzero"`
		Text     *string `json:"text"`
	} `json:"resource"`
}

// ArtifactURI names an Artifact to clients.
func ArtifactURI(id string) string { return "wharf://artifacts/" + id }

func artifactBlock(p *abi.Part, contents Contents) Block {
	kind, _, _ := strings.Cut(p.MimeType, "/")
	if contents != nil && (kind == blockImage || kind == blockAudio) {
		if data, ok := contents(p.ArtifactID); ok && len(data) > 0 {
			return Block{Type: kind, Data: data, MimeType: p.MimeType}
		}
	}
	return Block{Type: blockLink, URI: ArtifactURI(p.ArtifactID), Name: cmp.Or(p.Name, p.ArtifactID), MimeType: p.MimeType}
}

// ToolBlock returns a piece of what a tool has answered as a content block; false for one that has no
// content.
func ToolBlock(c *abi.ToolContent) (Block, bool) {
	switch c.Type {
	case blockText:
		return Text(c.Text), true
	case blockImage, blockAudio:
		return Block{Type: c.Type, Data: c.Data, MimeType: c.MimeType}, len(c.Data) > 0 && c.MimeType != ""
	}
	if c.URI == "" {
		return Text(c.Text), c.Text != ""
	}
	switch {
	case len(c.Data) > 0:
		return Block{Type: blockResource, Resource: &Embedded{URI: c.URI, MimeType: c.MimeType, Blob: c.Data}}, true
	case c.Text != "":
		return Block{Type: blockResource, Resource: &Embedded{URI: c.URI, MimeType: c.MimeType, Text: &c.Text}}, true
	}
	return Block{Type: blockLink, URI: c.URI, Name: baseOf(c.URI), MimeType: c.MimeType}, true
}

// baseOf is what a link is called that has no name.
func baseOf(uri string) string {
	if base := uri[strings.LastIndexByte(strings.TrimRight(uri, "/"), '/')+1:]; base != "" {
		return base
	}
	return cmp.Or(uri, "resource")
}

// Content is what content blocks say. Parts are in their order; each of Files is one that the node has
// to keep, and the Part of it names no Artifact yet.
type Content struct {
	Parts []abi.Part
	Files []File
}

// File is content to be kept as an Artifact. Part is the index of its Part, whose ArtifactID whoever
// keeps it sets.
type File struct {
	Part     int
	Kind     abi.ArtifactKind
	Name     string // for people; may be ""
	MimeType string
	Data     []byte
}

// Limits bound what content blocks may hold. 0 is no bound.
type Limits struct {
	Blocks int // how many there are
	Bytes  int // of all the content of images, sounds and embedded resources, decoded
}

// given is a content block as it comes.
type given struct {
	Type     string         `json:"type"`
	Text     *string        `json:"text"`
	Data     *string        `json:"data"`
	MimeType string         `json:"mimeType"`
	URI      string         `json:"uri"`
	Name     string         `json:"name"`
	Resource jsontext.Value `json:"resource"`
}

// Read returns what content blocks say. at names them in errors, such as "prompt". The error is an
// [*abi.Error], which says where.
func Read(at string, blocks jsontext.Value, l Limits) (*Content, error) {
	if blocks.Kind() != '[' {
		return nil, abi.InvalidParam(at, "%s is a list of content blocks", at)
	}
	var list []jsontext.Value
	if err := json.Unmarshal(blocks, &list); err != nil {
		return nil, abi.InvalidParam(at, "it cannot be read: %v", err)
	}
	switch {
	case len(list) == 0:
		return nil, abi.InvalidParam(at, "it has no content block")
	case l.Blocks > 0 && len(list) > l.Blocks:
		return nil, abi.InvalidParam(at, "it has %d content blocks; at most %d may be", len(list), l.Blocks)
	}
	r := reader{left: l.Bytes, bounded: l.Bytes > 0}
	for i, one := range list {
		if err := r.block(fmt.Sprintf("%s.%d", at, i), one); err != nil {
			return nil, err
		}
	}
	return &r.Content, nil
}

// reader is what was read by now.
type reader struct {
	Content
	left    int // bytes
	bounded bool
}

func (r *reader) block(at string, text jsontext.Value) error {
	if text.Kind() != '{' {
		return abi.InvalidParam(at, "a content block is an object")
	}
	var b given
	if err := json.Unmarshal(text, &b); err != nil {
		return abi.InvalidParam(at, "a content block of other members than the protocol has: %v", err)
	}
	switch b.Type {
	case blockText:
		if b.Text == nil {
			return missing(at, "text")
		}
		r.add(abi.Part{Type: abi.PartText, Text: b.Text})
		return nil
	case blockLink:
		return r.link(at, &b)
	case blockImage, blockAudio:
		return r.media(at, &b)
	case blockResource:
		return r.resource(at+".resource", b.Resource)
	}
	return abi.InvalidParam(at+".type", "%q is not a type of content: one of text, image, audio, resource_link, resource", b.Type)
}

func (r *reader) add(p abi.Part) {
	p.Visibility = abi.VisibilityPublic
	r.Parts = append(r.Parts, p)
}

func (r *reader) keep(p abi.Part, f File) {
	f.Part = len(r.Parts)
	r.add(p)
	r.Files = append(r.Files, f)
}

func (r *reader) link(at string, b *given) error {
	switch {
	case b.URI == "":
		return missing(at, "uri")
	case b.Name == "":
		return missing(at, "name")
	}
	r.add(abi.Part{Type: abi.PartFileRef, URI: b.URI, Name: b.Name, MimeType: cmp.Or(b.MimeType, mediaBytes)})
	return nil
}

// mediaBytes is the type of content of which no type is known.
const mediaBytes = "application/octet-stream"

func (r *reader) media(at string, b *given) error {
	switch {
	case b.Data == nil:
		return missing(at, "data")
	case !strings.HasPrefix(b.MimeType, b.Type+"/"):
		return abi.InvalidParam(at+".mimeType", "%q is no type of %s content", b.MimeType, b.Type)
	}
	data, err := r.decode(at+".data", *b.Data)
	if err != nil {
		return err
	}
	f := File{Kind: abi.ArtifactImage, MimeType: b.MimeType, Data: data}
	if b.URI != "" {
		f.Name = baseOf(b.URI)
	}
	if b.Type == blockImage {
		r.keep(abi.Part{Type: abi.PartImageRef, MimeType: b.MimeType}, f)
		return nil
	}
	f.Kind = abi.ArtifactFile
	r.keep(abi.Part{Type: abi.PartArtifactRef, MimeType: b.MimeType, Name: f.Name}, f)
	return nil
}

// resource reads an embedded resource. A text becomes part of the Message, so that a model reads it; bytes are kept.
func (r *reader) resource(at string, text jsontext.Value) error {
	var e struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     *string `json:"blob"`
	}
	if text.Kind() != '{' {
		return abi.InvalidParam(at, "a resource is an object")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return abi.InvalidParam(at, "a resource of other members than the protocol has: %v", err)
	}
	switch {
	case e.URI == "":
		return missing(at, "uri")
	case e.Text != nil && e.Blob != nil:
		return abi.InvalidParam(at, "a resource has a text or a blob, and not both")
	case e.Text != nil:
		return r.embed(at, e.URI, e.MimeType, *e.Text)
	case e.Blob == nil:
		return missing(at, "text")
	}
	data, err := r.decode(at+".blob", *e.Blob)
	if err != nil {
		return err
	}
	media := cmp.Or(e.MimeType, mediaBytes)
	name := baseOf(e.URI)
	r.keep(abi.Part{Type: abi.PartArtifactRef, MimeType: media, Name: name}, File{Kind: abi.ArtifactFile, Name: name, MimeType: media, Data: data})
	return nil
}

func (r *reader) embed(at, uri, media, text string) error {
	if err := r.take(at+".text", len(text)); err != nil {
		return err
	}
	value, err := json.Marshal(map[string]any{"resource": &Embedded{URI: uri, MimeType: media, Text: &text}})
	if err != nil {
		return abi.InvalidParam(at, "it cannot be kept: %v", err)
	}
	r.add(abi.Part{Type: abi.PartJSON, Value: value})
	return nil
}

func (r *reader) decode(at, text string) ([]byte, error) {
	if err := r.take(at, base64.StdEncoding.DecodedLen(len(text))-padding(text)); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, abi.InvalidParam(at, "it is not base64 of the standard alphabet, padded and on one line")
	}
	if len(data) == 0 {
		return nil, abi.InvalidParam(at, "it holds nothing")
	}
	return data, nil
}

func padding(text string) int { return min(2, len(text)-len(strings.TrimRight(text, "="))) }

// take counts content.
func (r *reader) take(at string, n int) error {
	if r.left -= n; r.bounded && r.left < 0 {
		return abi.InvalidParam(at, "with this, the content is larger than may be sent at once")
	}
	return nil
}

func missing(at, name string) *abi.Error { return abi.InvalidParam(at+"."+name, "it is missing") }
