package openharness

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"
)

// Bundles are folders of files, sent as forms or as archives that are made in memory.

// files are the files of a bundle, by their paths.
type files map[string]string

// zipped returns files as an archive.
func (f files) zipped() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, path := range slices.Sorted(maps.Keys(f)) {
		to, err := w.Create(path)
		if err != nil {
			break // a buffer takes everything
		}
		_, _ = io.WriteString(to, f[path])
	}
	_ = w.Close()
	return b.Bytes()
}

// part is a part of a form: a field, or a file when it has a file name.
type part struct {
	name, file, media string
	content           []byte
}

func field(name, value string) part { return part{name: name, content: []byte(value)} }

// parts returns the files of a bundle as parts of a form, whose file names are their paths.
func (f files) parts(name string) (all []part) {
	for _, path := range slices.Sorted(maps.Keys(f)) {
		all = append(all, part{name: name, file: path, media: mediaOf(path), content: []byte(f[path])})
	}
	return all
}

func mediaOf(path string) string {
	if strings.HasSuffix(path, ".md") {
		return "text/markdown"
	}
	return "application/octet-stream"
}

var quotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// form returns parts as a body. Fields come first, as many servers want it.
func form(parts ...part) content {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, one := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, quotes.Replace(one.name))
		if one.file != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, quotes.Replace(one.file))
		}
		h.Set("Content-Disposition", disposition)
		if one.media != "" {
			h.Set("Content-Type", one.media)
		}
		if to, err := w.CreatePart(h); err == nil { // a buffer takes everything
			_, _ = to.Write(one.content)
		}
	}
	_ = w.Close()
	return content{w.FormDataContentType(), b.Bytes()}
}

// archive reads an archive that was answered, and fails the check when it is none. Folders are
// left out.
func (p *probe) archive(a answer) files {
	if media := a.header.Get("Content-Type"); !strings.HasPrefix(media, "application/zip") {
		p.fail("%s answered with %q, want application/zip", a.to, media)
	}
	r, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		p.fail("%s answered no archive: %v", a.to, err)
	}
	found := files{}
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") {
			found[f.Name] = p.entry(a.to, f)
		}
	}
	return found
}

func (p *probe) entry(to string, f *zip.File) string {
	r, err := f.Open()
	if err != nil {
		p.fail("%s: %s of the archive cannot be read: %v", to, f.Name, err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		p.fail("%s: %s of the archive cannot be read: %v", to, f.Name, err)
	}
	return string(text)
}

// named returns the file of a bundle with a name, wherever it lies.
func (f files) named(name string) (string, bool) {
	for path, text := range f {
		if path == name || strings.HasSuffix(path, "/"+name) {
			return text, true
		}
	}
	return "", false
}
