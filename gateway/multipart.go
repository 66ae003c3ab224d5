package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"os"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

const (
	mediaMultipart = "multipart/form-data"
	mediaZip       = "application/zip"
	// maxParts is how many fields and files a form has at most.
	maxParts = 1000
)

// Multipart is a form with files. Fields may stand before and after files: files lie on the
// disk meanwhile. It is valid until the handler returns.
type Multipart struct {
	Fields map[string][]string
	Files  []UploadedFile
}

// UploadedFile is a file of a form. Its content is read from the beginning.
type UploadedFile struct {
	Field string // the name of the form's field
	Name  string // that the client gave the file: data, and no path
	Path  string // Name with the folders that the client wrote before it: data, and anything
	Media string // as the client says; "" when it does not
	Size  int64

	*os.File
}

// Multipart reads a form with files. All fields together have at most the bytes of a JSON body,
// which count against the server's budget; all of the form has at most those of an upload.
func (r *Request) Multipart() (*Multipart, error) {
	media, params, err := mime.ParseMediaType(r.Header("Content-Type"))
	if err != nil || media != mediaMultipart || params["boundary"] == "" {
		return nil, unsupportedMedia("Content-Type", "the request's Content-Type must be "+mediaMultipart+" with a boundary")
	}
	body, err := r.spoolable()
	if err != nil {
		return nil, err
	}
	form := &Multipart{Fields: map[string][]string{}}
	r.spooled = append(r.spooled, form)
	in := multipart.NewReader(body, params["boundary"])
	for n, left := 0, r.server.cfg.BodyLimit; ; n++ {
		part, err := in.NextRawPart()
		switch {
		case err == io.EOF: // itself: one that is wrapped says that the form's end is missing
			return form, nil
		case err != nil:
			return nil, formError(err)
		case part.FormName() == "":
			return nil, abi.Errorf(abi.CodeInvalidRequest, "part %d of the form has no name", n+1)
		case n == maxParts:
			return nil, abi.Errorf(abi.CodePayloadTooLarge, "a form has at most %d fields and files", maxParts)
		}
		if part.FileName() != "" {
			err = form.spool(r.server.cfg.SpoolDir, part, UploadedFile{Field: part.FormName(), Name: part.FileName(), Path: pathOf(part), Media: part.Header.Get("Content-Type")})
		} else {
			left, err = form.field(r, part, left)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Spooled reads an upload whole, onto the disk. It is valid until the handler returns.
func (r *Request) Spooled() (*UploadedFile, error) {
	body, err := r.spoolable()
	if err != nil {
		return nil, err
	}
	form := &Multipart{}
	r.spooled = append(r.spooled, form)
	if err := form.spool(r.server.cfg.SpoolDir, body, UploadedFile{Media: r.Header("Content-Type")}); err != nil {
		return nil, err
	}
	return &form.Files[0], nil
}

// spoolable returns an upload that is to lie on the disk, unless that is nearly full: what the request wants would be
// refused later, and the upload has taken the reserve meanwhile.
func (r *Request) spoolable() (io.Reader, error) {
	if err := r.server.cfg.Disk.NewWork(); err != nil {
		return nil, err
	}
	return r.Upload()
}

// field reads a field of at most so many bytes, and returns how many are left.
func (m *Multipart) field(r *Request, part *multipart.Part, left int64) (int64, error) {
	value, err := io.ReadAll(io.LimitReader(part, left+1))
	switch {
	case err != nil:
		return 0, formError(err)
	case int64(len(value)) > left:
		return 0, tooLarge(r.server.cfg.BodyLimit)
	case !r.charge(int64(len(value))):
		return 0, errCrowded()
	}
	m.Fields[part.FormName()] = append(m.Fields[part.FormName()], string(value))
	return left - int64(len(value)), nil
}

// spool puts a file on the disk.
func (m *Multipart) spool(dir string, content io.Reader, about UploadedFile) error {
	f, err := unnamedFile(dir)
	if err != nil {
		return fmt.Errorf("making room for an upload: %w", err)
	}
	about.File = f
	m.Files = append(m.Files, about)
	written, err := io.Copy(f, content)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		full := abi.Errorf(abi.CodeServiceUnavailable, "the node has no room for this upload")
		return errors.Join(full, pathErr)
	}
	if err != nil {
		return formError(err)
	}
	m.Files[len(m.Files)-1].Size = written
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// pathOf returns the name of a part's file as it was sent. The part's own method cuts it.
func pathOf(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return part.FileName()
	}
	return params["filename"]
}

// unnamedFile makes a file that is gone when it is closed, also by the end of the process where
// the system can remove what is open.
func unnamedFile(dir string) (*os.File, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // again when it is closed, on systems that cannot yet
	return f, nil
}

// close gives back the disk that the form's files take.
func (m *Multipart) close() {
	for _, f := range m.Files {
		_ = f.Close()
		_ = os.Remove(f.File.Name())
	}
}

// formError says what went wrong while a form was read.
func formError(err error) error {
	if shown, ok := errors.AsType[*abi.Error](err); ok {
		return shown
	}
	malformed := abi.Errorf(abi.CodeInvalidRequest, "the form is malformed or ended early")
	malformed.Status = fasthttp.StatusBadRequest
	return malformed
}
