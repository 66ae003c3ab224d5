package harn

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

const mediaBytes = "application/octet-stream"

// registerArtifact serves the three ways in which an Artifact comes to be: a JSON
// description, the bare content, or a form with one file.
func (a *Adapter) registerArtifact(r *gateway.Request) error {
	media, params, err := mime.ParseMediaType(r.Header("Content-Type"))
	switch {
	case r.Header("Content-Type") != "" && err != nil:
		return abi.InvalidParam("Content-Type", "the request's Content-Type is malformed")
	case media == "multipart/form-data":
		return a.uploadForm(r, params["boundary"])
	case media == "" || media == gateway.MediaJSON || strings.HasSuffix(media, "+json"):
		return a.describeArtifact(r)
	}
	return a.uploadContent(r)
}

func (a *Adapter) describeArtifact(r *gateway.Request) error {
	var req abi.RegisterArtifactRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	content, err := describedContent(&req)
	if err != nil {
		return err
	}
	return a.storeArtifact(r, retry, req, content)
}

// describedContent returns the content that a description brings, nil for none. It has
// one of two names.
func describedContent(req *abi.RegisterArtifactRequest) (io.Reader, error) {
	switch {
	case req.Content != nil && req.ContentBase64 != nil:
		return nil, abi.InvalidParam("content_base64", "content and content_base64 are two names for one thing: give one")
	case req.ContentBase64 != nil:
		req.Content, req.ContentBase64 = req.ContentBase64, nil
	}
	switch {
	case req.Content == nil:
		return nil, nil
	case req.URI != nil:
		return nil, abi.InvalidParam("uri", "an artifact has its content here, or at a uri elsewhere, not both")
	}
	return bytes.NewReader(req.Content), nil
}

func (a *Adapter) storeArtifact(r *gateway.Request, retry *api.Write, req abi.RegisterArtifactRequest, content io.Reader) error {
	doc, err := a.core.RegisterArtifact(r.Context(), r.Caller, retry, req, content)
	if err != nil {
		return err
	}
	return a.send(r, statusCreated, doc)
}

// uploadContent takes the body as the content and the query as its description.
func (a *Adapter) uploadContent(r *gateway.Request) error {
	if err := checkUploadQuery(r); err != nil {
		return err
	}
	req := describedBy(r.Query)
	if req.MimeType == "" {
		req.MimeType = r.Header("Content-Type")
	}
	content, err := r.Upload()
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil) // the engine judges by the description and the content's hash
	if err != nil {
		return err
	}
	return a.storeArtifact(r, retry, req, content)
}

// uploadParams are the query parameters, or form fields, that describe an upload.
func uploadParams() []gateway.Param {
	param := func(name, doc string, schema gateway.Schema) gateway.Param {
		return gateway.Param{Name: name, In: "query", Doc: doc + " Used for uploads only.", Schema: schema}
	}
	return []gateway.Param{
		param("kind", "What the content is; a file unless said otherwise.", enum(valuesOf[abi.ArtifactKind]()...)),
		param("visibility", "Who may see it; public unless said otherwise.", enum(valuesOf[abi.Visibility]()...)),
		param("name", "A file name.", text()),
		param("mime_type", "The media type, when it differs from the request's Content-Type.", text()),
		param("sha256", "The hash that the content must have, in hexadecimal.", text()),
		param("workspace_id", "The Workspace that it belongs to.", text()),
		param("session_id", "The Session that it belongs to.", text()),
		param("task_id", "The Task that it belongs to.", text()),
	}
}

// describesUpload refuses a name that describes nothing: a misspelt visibility must not
// pass for none.
func describesUpload(name string) error {
	for _, p := range uploadParams() {
		if p.Name == name {
			return nil
		}
	}
	return abi.InvalidParam(name, "an upload is described by kind, visibility, name, mime_type, sha256, workspace_id, session_id and task_id")
}

func checkUploadQuery(r *gateway.Request) error {
	for name := range r.HTTP.QueryArgs().All() {
		if err := describesUpload(string(name)); err != nil {
			return err
		}
	}
	return nil
}

func describedBy(value func(string) string) abi.RegisterArtifactRequest {
	req := abi.RegisterArtifactRequest{
		Kind: abi.ArtifactKind(value("kind")), Visibility: abi.Visibility(value("visibility")),
		Name: value("name"), MimeType: value("mime_type"),
		WorkspaceID: value("workspace_id"), SessionID: value("session_id"), TaskID: value("task_id"),
	}
	if req.Kind == "" {
		req.Kind = abi.ArtifactFile
	}
	if req.Visibility == "" {
		req.Visibility = abi.VisibilityPublic
	}
	if sum := value("sha256"); sum != "" {
		req.SHA256 = &sum
	}
	return req
}

// maxField bounds a form field, in bytes.
const maxField = 4 << 10

// uploadForm takes the one file of a form as the content. Fields come before the
// file, for the file is not held in memory.
func (a *Adapter) uploadForm(r *gateway.Request, boundary string) error {
	if err := checkUploadQuery(r); err != nil {
		return err
	}
	body, err := r.Upload()
	if err != nil {
		return err
	}
	form := multipart.NewReader(body, boundary)
	fields := map[string]string{}
	for {
		part, err := form.NextPart()
		if err != nil {
			return formError(err)
		}
		if part.FileName() != "" {
			return a.uploadPart(r, fields, &onlyFile{Part: part, form: form})
		}
		if err := describesUpload(part.FormName()); err != nil {
			return err
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return formError(err)
		}
		fields[part.FormName()] = string(value)
	}
}

func formError(err error) error {
	if shown, ok := errors.AsType[*abi.Error](err); ok {
		return shown
	}
	if errors.Is(err, io.EOF) {
		return abi.Errorf(abi.CodeInvalidRequest, "the form holds no file")
	}
	return abi.Errorf(abi.CodeInvalidRequest, "the form is malformed")
}

// onlyFile is a form's file. It ends well only when the form ends with it: what came
// after would be lost.
type onlyFile struct {
	*multipart.Part
	form *multipart.Reader
	end  error // once it was read
}

// Read implements [io.Reader].
func (f *onlyFile) Read(p []byte) (int, error) {
	if f.end != nil {
		return 0, f.end
	}
	n, err := f.Part.Read(p)
	if errors.Is(err, io.EOF) {
		err = f.after()
	}
	f.end = err
	return n, err
}

// after returns io.EOF at the form's end.
func (f *onlyFile) after() error {
	switch part, err := f.form.NextPart(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return formError(err)
	default:
		return abi.InvalidParam(part.FormName(), "a form has one file, and the fields that describe it before it")
	}
}

func (a *Adapter) uploadPart(r *gateway.Request, fields map[string]string, part *onlyFile) error {
	req := describedBy(func(name string) string {
		if value, ok := fields[name]; ok {
			return value
		}
		return r.Query(name)
	})
	if req.Name == "" {
		req.Name = part.FileName()
	}
	if req.MimeType == "" {
		req.MimeType = part.Header.Get("Content-Type")
	}
	retry, err := r.Retry(nil) // the engine judges by the description and the content's hash
	if err != nil {
		return err
	}
	return a.storeArtifact(r, retry, req, part)
}

// artifactContent answers with the bytes, or one range of them.
func (a *Adapter) artifactContent(r *gateway.Request) error {
	id := r.PathValue("artifact_id")
	doc, blob, err := a.core.OpenArtifact(r.Context(), r.Caller, id)
	if err != nil {
		return err
	}
	err = a.sendContent(r, doc, blob)
	if err != nil && blob != nil {
		return errors.Join(err, blob.Close())
	}
	return err
}

// verifiedFirst is up to how many bytes content is looked at before any of it is sent,
// so that damage is an error envelope. Larger content is hashed while it is sent, and
// the connection breaks off before its end.
const verifiedFirst = 1 << 20

// sendContent owns blob when it returns nil.
func (a *Adapter) sendContent(r *gateway.Request, doc api.View, blob api.Content) error {
	var artifact abi.Artifact
	if err := json.Unmarshal(doc.JSON, &artifact); err != nil {
		return err
	}
	if blob == nil {
		return errElsewhere(&artifact)
	}
	etag := tagOf(&artifact)
	if hasCurrent(r, etag) {
		setContentHeaders(r, &artifact, etag)
		r.HTTP.SetStatusCode(statusNotModified)
		return blob.Close()
	}
	part, partial, outside := r.WantedRange(etag, blob.Size())
	if outside == nil && (part.Length < blob.Size() || blob.Size() <= verifiedFirst) {
		if err := blob.Verify(r.Context()); err != nil {
			return err
		}
	}
	setContentHeaders(r, &artifact, etag)
	if outside != nil {
		return outside
	}
	if partial {
		r.Partial(part, blob.Size())
	}
	body := &download{Reader: blob, content: blob, conn: r.HTTP.Conn(), patience: a.cfg.WriteTimeout, report: r.Reporter()}
	if part.Length < blob.Size() {
		body.Reader = io.NewSectionReader(blob, part.Start, part.Length)
	}
	r.HTTP.SetBodyStream(body, int(part.Length))
	return nil
}

// errElsewhere says where the content is, for Wharf does not hold it.
func errElsewhere(artifact *abi.Artifact) error {
	err := abi.Errorf(abi.CodeResourceNotFound, "this node does not hold the content of artifact %s", artifact.ID)
	if artifact.URI != nil {
		details := jsonw.Begin(nil)
		details.Text("uri", *artifact.URI)
		err.Details = details.End()
	}
	return err
}

// tagOf returns the entity tag of an Artifact's content, "" when it has none.
func tagOf(artifact *abi.Artifact) string {
	if artifact.SHA256 == nil {
		return ""
	}
	return `"` + *artifact.SHA256 + `"`
}

// setContentHeaders makes sure that a browser shows nothing of the content as if
// it were a page of this node.
func setContentHeaders(r *gateway.Request, artifact *abi.Artifact, etag string) {
	name := artifact.Name
	if name == "" {
		name = artifact.ID
	}
	media := artifact.MimeType
	if _, _, err := mime.ParseMediaType(media); err != nil {
		media = mediaBytes
	}
	r.HTTP.SetContentType(media)
	r.SetHeader("Content-Disposition", disposition(name))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("Content-Security-Policy", "sandbox; default-src 'none'")
	r.SetHeader("Accept-Ranges", "bytes")
	if etag != "" {
		r.SetHeader("ETag", etag)
		r.SetHeader("Cache-Control", "private, max-age=31536000, immutable")
	}
}

// hasCurrent reports whether If-None-Match names what is there now (RFC 9110, section
// 13.1.2): by any of its entity tags, whether weak or not, or by *.
func hasCurrent(r *gateway.Request, etag string) bool {
	for _, value := range r.HTTP.Request.Header.PeekAll("If-None-Match") {
		list := strings.TrimSpace(string(value))
		if list == "*" || etag != "" && listsTag(list, etag) {
			return true
		}
	}
	return false
}

// listsTag reports whether a list of entity tags has the one given. A tag may hold a
// comma, but no quote. What follows something malformed does not count.
func listsTag(list, etag string) bool {
	for {
		list = strings.TrimPrefix(strings.TrimLeft(list, ", \t"), "W/")
		if !strings.HasPrefix(list, `"`) {
			return false
		}
		end := strings.IndexByte(list[1:], '"')
		if end < 0 {
			return false
		}
		if list[:end+2] == etag {
			return true
		}
		list = list[end+2:]
	}
}

func disposition(name string) string {
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" {
		return value
	}
	return "attachment"
}

// download is a body that keeps the write deadline ahead of a client that keeps
// reading, and closes the content at the end.
type download struct {
	io.Reader
	content  io.Closer
	conn     net.Conn
	patience time.Duration
	extended time.Time
	report   func(error)
}

func (d *download) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(d.extended) > time.Second {
		d.extended = now
		if err := d.conn.SetWriteDeadline(now.Add(d.patience)); err != nil {
			return 0, err
		}
	}
	n, err := d.Reader.Read(p)
	if err != nil && err != io.EOF {
		d.report(err)
	}
	return n, err
}

func (d *download) Close() error { return d.content.Close() }
