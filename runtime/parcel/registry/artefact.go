package registry

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

// The media types of an artefact: the layout for Wasm of the CNCF has a config and one layer with the
// module. What else a package has are further layers, each with its path as its title.
const (
	TypeConfig     = "application/vnd.wasm.config.v0+json"
	TypeModule     = "application/wasm"
	TypeManifest   = "application/vnd.wharf.plugin.manifest.v1+toml"
	TypeContents   = "application/vnd.wharf.plugin.contents.v1+json"
	TypeSignatures = "application/vnd.wharf.plugin.signatures.v1+json"
	TypeFile       = "application/vnd.wharf.plugin.file.v1"
)

// maxManifest is the size of the largest manifest and config of an artefact that are read: each
// file of a package takes some hundred bytes there.
const maxManifest = 1 << 20

// config is that of a Wasm artefact. It states no time, so that a package is the same artefact each time.
type config struct {
	Created      string   `json:"created"`
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"`
	LayerDigests []string `json:"layerDigests"`
}

// epoch is when all artefacts say that they were made.
const epoch = "1970-01-01T00:00:00Z"

// blob is content that an artefact consists of.
type blob struct {
	ocispec.Descriptor
	content []byte
}

func newBlob(mediaType, title string, content []byte) blob {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	if title != "" {
		d.Annotations = map[string]string{ocispec.AnnotationTitle: title}
	}
	return blob{d, content}
}

// artefact returns the blobs of a package, the config first and the module next, and the manifest
// that names them.
func artefact(p *parcel.Package) (blobs []blob, top blob, err error) {
	layers, err := layersOf(p)
	if err != nil {
		return nil, blob{}, err
	}
	c := config{Created: epoch, Architecture: "wasm", OS: "wasip1"}
	m := ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Annotations: map[string]string{ocispec.AnnotationCreated: epoch, ocispec.AnnotationTitle: p.Manifest.Name,
			ocispec.AnnotationVersion: p.Manifest.Version, ocispec.AnnotationDescription: p.Manifest.Description}}
	for _, l := range layers {
		c.LayerDigests = append(c.LayerDigests, l.Digest.String())
		m.Layers = append(m.Layers, l.Descriptor)
	}
	text, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return nil, blob{}, fmt.Errorf("writing the config of the artefact: %w", err)
	}
	head := newBlob(TypeConfig, "", text)
	m.Config = head.Descriptor
	if text, err = json.Marshal(m, json.Deterministic(true)); err != nil {
		return nil, blob{}, fmt.Errorf("writing the manifest of the artefact: %w", err)
	}
	return append([]blob{head}, layers...), newBlob(ocispec.MediaTypeImageManifest, "", text), nil
}

func layersOf(p *parcel.Package) ([]blob, error) {
	var module, layers []blob
	for _, f := range p.Files {
		switch {
		case f.Path == manifest.FileName:
			layers = append(layers, newBlob(TypeManifest, f.Path, f.Content))
		case f.Path == p.ModulePath():
			module = append(module, newBlob(TypeModule, f.Path, f.Content))
		default:
			layers = append(layers, newBlob(TypeFile, f.Path, f.Content))
		}
	}
	layers = append(append(module, layers...), newBlob(TypeContents, parcel.ContentsPath, p.Contents))
	if len(p.Signatures) == 0 {
		return layers, nil
	}
	text, err := p.SignaturesJSON()
	return append(layers, newBlob(TypeSignatures, parcel.SignaturesPath, text)), err
}

// layers returns what an artefact is made of, as its manifest states it. Sizes are bounded together
// before any of them is fetched.
func layers(text []byte) ([]ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, refuse("its manifest is no JSON")
	}
	switch {
	case m.MediaType != "" && m.MediaType != ocispec.MediaTypeImageManifest:
		return nil, refuse("its manifest is a %s, and none of a plugin", clip(m.MediaType))
	case m.Config.MediaType != TypeConfig:
		return nil, refuse("it is no WebAssembly: its config is a %s, not a %s", clip(m.Config.MediaType), TypeConfig)
	case len(m.Layers) == 0 || m.Layers[0].MediaType != TypeModule:
		return nil, refuse("its first layer is no %s", TypeModule)
	case len(m.Layers) > parcel.MaxFiles+2:
		return nil, refuse("it has %d layers, and a package at most %d", len(m.Layers), parcel.MaxFiles+2)
	}
	sum, contents := int64(0), false
	for _, l := range m.Layers {
		if l.Size < 0 || l.Size > parcel.MaxModule {
			return nil, refuse("a layer of it has %d bytes, and a file of a package at most %d", l.Size, parcel.MaxModule)
		}
		if err := l.Digest.Validate(); err != nil || l.Digest.Algorithm() != digest.SHA256 {
			return nil, refuse("a layer of it has the digest %q, which is no sha256", clip(l.Digest.String()))
		}
		sum += l.Size
		contents = contents || l.Annotations[ocispec.AnnotationTitle] == parcel.ContentsPath
	}
	if sum > parcel.MaxBytes {
		return nil, refuse("it has %d bytes, and a package at most %d", sum, parcel.MaxBytes)
	}
	if !contents {
		return nil, refuse("it is WebAssembly, but no package of a plugin: it lacks %s", parcel.ContentsPath)
	}
	return m.Layers, nil
}

// named gives each layer its path; a layer that states none is refused by the name "".
func named(list []ocispec.Descriptor, fetch func(ocispec.Descriptor) ([]byte, error)) iter.Seq2[filetree.Named, error] {
	return func(yield func(filetree.Named, error) bool) {
		for _, l := range list {
			content, err := fetch(l)
			if !yield(filetree.Named{Path: l.Annotations[ocispec.AnnotationTitle], Content: bytes.NewReader(content)}, err) {
				return
			}
		}
	}
}

func refuse(words string, args ...any) error {
	return &parcel.Refused{Reason: fmt.Sprintf(words, args...)}
}

// clip cuts what a registry says to what an error can hold.
func clip(s string) string {
	const most = 100
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
