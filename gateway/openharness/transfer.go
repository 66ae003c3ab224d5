package openharness

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net"
	"regexp"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// wrapped is how JSON begins that may hold a file's content as its only member: so one kind of
// clients sends all files.
const (
	wrapped  = `^\s*\{\s*"content(_base64)?"\s*:`
	lookedAt = 512 // bytes that show it
)

// fileContent returns what a PUT brings. Of JSON whose only member is content or content_base64 that
// is what is in it; anything else is the content itself, JSON too.
func (a *Adapter) fileContent(r *gateway.Request) (io.Reader, error) {
	body, err := r.Upload()
	if err != nil {
		return nil, err
	}
	if media, _, err := mime.ParseMediaType(r.Header("Content-Type")); err != nil || media != gateway.MediaJSON {
		return body, nil
	}
	head, err := io.ReadAll(io.LimitReader(body, lookedAt))
	if err != nil {
		return nil, err
	}
	if may, err := regexp.Match(wrapped, head); err != nil || !may {
		return io.MultiReader(bytes.NewReader(head), body), err
	}
	rest, err := r.Whole(a.cfg.BodyLimit - int64(len(head)))
	if large, ok := errors.AsType[*abi.Error](err); ok && large.Code == abi.CodePayloadTooLarge {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "JSON with the content of a file has at most %d bytes: send the content itself, with another media type", a.cfg.BodyLimit)
	}
	if err != nil {
		return nil, err
	}
	return unwrapped(append(head, rest...))
}

func unwrapped(text []byte) (io.Reader, error) {
	var req struct {
		Content *string `json:"content"`
		Base64  *string `json:"content_base64"`
	}
	err := json.Unmarshal(text, &req, json.RejectUnknownMembers(true))
	switch {
	case err != nil, (req.Content == nil) == (req.Base64 == nil):
		return bytes.NewReader(text), nil
	case req.Content != nil:
		return strings.NewReader(*req.Content), nil
	}
	content, err := base64.StdEncoding.DecodeString(*req.Base64)
	if err != nil {
		return nil, abi.InvalidParam("content_base64", "content_base64 is not base64")
	}
	return bytes.NewReader(content), nil
}

// field returns a field of a form; "" when it is not there.
func field(form *gateway.Multipart, name string) (string, error) {
	switch values := form.Fields[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return "", abi.InvalidParam(name, "%s is given more than once", name)
}

// overwrites reads the field that says what becomes of files that are there.
func overwrites(form *gateway.Multipart) (bool, error) {
	switch text, err := field(form, "overwrite"); {
	case err != nil:
		return false, err
	case text == "true" || text == "1":
		return true, nil
	case text == "" || text == "false" || text == "0":
		return false, nil
	}
	return false, abi.InvalidParam("overwrite", "overwrite is true or false")
}

// uploadFile puts the file of a form at the path that the form names; a path that ends in / is the
// folder that it goes into under its own name.
func (a *Adapter) uploadFile(r *gateway.Request, h *abi.Harness) error {
	form, err := r.Multipart()
	if err != nil {
		return err
	}
	at, err := field(form, "path")
	if err != nil {
		return err
	}
	overwrite, err := overwrites(form)
	if err != nil {
		return err
	}
	switch {
	case len(form.Files) != 1:
		return abi.InvalidParam("file", "the form has one file, and not %d", len(form.Files))
	case at == "":
		return abi.InvalidParam("path", "the form has a field path, which says where the file goes")
	case strings.HasSuffix(at, "/"):
		at += form.Files[0].Name
	}
	f, created, err := a.core.WriteFile(r.Context(), r.Caller, h.WorkspaceID, inWorkspace(at), form.Files[0], api.FileCondition{Absent: !overwrite})
	if err != nil {
		return thereAlready(err, at, overwrite)
	}
	return wrote(r, &f, created)
}

// thereAlready says of a file that was not to be replaced that it is there.
func thereAlready(err error, at string, overwrite bool) error {
	if own, ok := errors.AsType[*abi.Error](err); ok && own.Code == abi.CodeConflict && !overwrite {
		return abi.Errorf(abi.CodeConflict, "there is a file %q: with overwrite it is replaced", at)
	}
	return err
}

type uploadFilesAnswer struct {
	Uploaded []fileInfo  `json:"uploaded"`
	Skipped  []string    `json:"skipped"`
	Errors   []fileError `json:"errors"`
}

type fileError struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// uploadFiles puts the files of a form into a folder, each at the path that its name is.
func (a *Adapter) uploadFiles(r *gateway.Request, h *abi.Harness) error {
	if length := r.HTTP.Request.Header.ContentLength(); length > api.MaxFilesTogether+int(a.cfg.BodyLimit) {
		return abi.Errorf(abi.CodePayloadTooLarge, "the files of one request have at most %d bytes together", api.MaxFilesTogether)
	}
	form, err := r.Multipart()
	if err != nil {
		return err
	}
	base, err := field(form, "base_path")
	if err != nil {
		return err
	}
	overwrite, err := overwrites(form)
	if err != nil {
		return err
	}
	if len(form.Files) == 0 {
		return abi.InvalidParam("files", "the form has 1 to %d files", api.MaxFilesWritten)
	}
	var all []api.FileUpload
	for i := range form.Files {
		f := &form.Files[i]
		all = append(all, api.FileUpload{Path: joined(base, f.Path), Size: f.Size, Content: f})
	}
	written, err := a.core.WriteFiles(r.Context(), r.Caller, h.WorkspaceID, all, overwrite)
	if err != nil {
		return err
	}
	answer := uploadFilesAnswer{Uploaded: []fileInfo{}, Skipped: append([]string{}, written.Skipped...), Errors: []fileError{}}
	for i := range written.Files {
		answer.Uploaded = append(answer.Uploaded, fileInfoOf(&written.Files[i]))
	}
	for _, f := range written.Failed {
		answer.Errors = append(answer.Errors, fileError{f.Path, f.Err.Message})
	}
	return send(r, statusOK, answer)
}

// joined puts a folder before a name, which is not cleaned: one that leads out is refused.
func joined(base, name string) string {
	if base = strings.TrimSuffix(inWorkspace(base), "/"); base == "" {
		return name
	}
	return base + "/" + name
}

type downloadFilesRequest struct {
	Paths []string `json:"paths"`
}

// downloadFiles sends a zip while it is made. What goes wrong later breaks the connection, so that
// nobody takes part of it for the whole.
func (a *Adapter) downloadFiles(r *gateway.Request, h *abi.Harness) error {
	req, _, err := decode[downloadFilesRequest](r)
	if err != nil {
		return err
	}
	for i, p := range req.Paths {
		req.Paths[i] = inWorkspace(p)
	}
	archive, err := a.core.PackFiles(r.Context(), r.Caller, h.WorkspaceID, req.Paths)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	out, in := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = in.CloseWithError(archive.Write(ctx, in))
	}()
	r.SetHeader("Content-Type", mediaZip)
	r.SetHeader("Content-Disposition", disposition(h.Name+".zip"))
	a.sendStream(r, out, closing(func() error {
		cancel()
		err := out.Close()
		<-done
		return errors.Join(err, archive.Close())
	}), -1)
	return nil
}

// closing is what is done when an answer is over.
type closing func() error

// Close implements io.Closer.
func (c closing) Close() error { return c() }

// sendStream answers with content, which is closed at the end; size is -1 when nobody knows it. What
// somebody has stored is never run by a browser as if the node had said it.
func (a *Adapter) sendStream(r *gateway.Request, content io.Reader, end io.Closer, size int64) {
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("Content-Security-Policy", "default-src 'none'; sandbox")
	r.HTTP.SetBodyStream(&streamed{Reader: content, Closer: end, conn: r.HTTP.Conn(), patience: a.cfg.WriteTimeout, report: r.Reporter()}, int(size))
}

// streamed is an answer that gives its client as long for each piece as for a whole short one.
type streamed struct {
	io.Reader
	io.Closer
	conn     net.Conn
	patience time.Duration
	extended time.Time
	report   func(error)
}

// Read implements io.Reader.
func (s *streamed) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(s.extended) > time.Second {
		s.extended = now
		if err := s.conn.SetWriteDeadline(now.Add(s.patience)); err != nil {
			return 0, err
		}
	}
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.report(err)
	}
	return n, err
}
