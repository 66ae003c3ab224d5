package harn

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) fileRoutes() []gateway.Route {
	const tag, reads, writes, at = "Workspaces", "workspaces:read", "workspaces:write", "/v1/workspaces/{workspace_id}/files"
	name := gateway.Param{Name: "path", In: "query", Doc: "The file's path within the Workspace.", Schema: text()}
	match := gateway.Param{Name: "If-Match", In: "header", Doc: "The ETag that the file must have.", Schema: text()}
	get := read(at, "getFile", tag, reads, "", "Get a file of a Workspace, or list a folder", a.getFile).
		with(name, gateway.Param{Name: "Range", In: "header", Doc: "One range of bytes.", Schema: text()}).
		also(statusPartial, "The range that was asked for.", false).
		doc("A path that is empty or ends in `/` lists the folder, with `limit` and `cursor`. A file's content has at most 100 MiB; `Range` asks for a part of it.")
	get.Media = mediaBytes
	put := write(fasthttp.MethodPut, at, "putFile", tag, writes, "", "File", "Write a file of a Workspace", statusOK, a.putFile).with(name, match).
		doc("A JSON body is `{\"content\": TEXT}` or `{\"content_base64\": …}`; any other media type is the content itself, of at most 100 MiB. Writing the same again changes nothing.").
		also(statusCreated, "The file was not there before.", false)
	put.Body, put.Idempotent = gateway.BodyRaw, false
	remove := write(fasthttp.MethodDelete, at, "deleteFile", tag, writes, "", "", "Remove a file of a Workspace", statusNoContent, a.deleteFile).
		with(name, match).bodyless()
	remove.Idempotent = false
	return routes(get, put, remove)
}

func fileSchemas() map[string]schema {
	return map[string]schema{
		"File": of[abi.File]("A file of a Workspace.", but(schema{"object": enum("file", "folder"), "sha256": hexHash()})),
	}
}

func (a *Adapter) getFile(r *gateway.Request) error {
	workspace, path := r.PathValue("workspace_id"), r.Query("path")
	if path == "" || strings.HasSuffix(path, "/") {
		return a.sendPage(r, func(p api.Page) (api.List, error) {
			return a.core.ListFiles(r.Context(), r.Caller, workspace, path, p)
		})
	}
	f, content, err := a.core.OpenFile(r.Context(), r.Caller, workspace, path)
	if err != nil {
		return err
	}
	if err := a.sendFile(r, &f, content); err != nil {
		return errors.Join(err, content.Close())
	}
	return nil
}

// sendFile owns the content when it returns nil.
func (a *Adapter) sendFile(r *gateway.Request, f *abi.File, content api.FileContent) error {
	etag := `"` + f.SHA256 + `"`
	r.SetHeader("ETag", etag)
	if hasCurrent(r, etag) {
		r.HTTP.SetStatusCode(statusNotModified)
		return content.Close()
	}
	r.SetHeader("Accept-Ranges", "bytes")
	part, partial, outside := r.WantedRange(etag, f.Size)
	if outside != nil {
		return outside
	}
	if partial {
		r.Partial(part, f.Size)
	}
	// What a client has written is never run by a browser as if the node had.
	r.SetHeader("Content-Type", mediaBytes)
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("Content-Disposition", "attachment")
	body := &download{Reader: io.NewSectionReader(content, part.Start, part.Length), content: content,
		conn: r.HTTP.Conn(), patience: a.cfg.WriteTimeout, report: r.Reporter()}
	r.HTTP.SetBodyStream(body, int(part.Length))
	return nil
}

func (a *Adapter) putFile(r *gateway.Request) error {
	// Whoever may not see the Workspace learns nothing of what a request should be.
	if _, err := a.core.Get(r.Context(), r.Caller, abi.ObjectWorkspace, r.PathValue("workspace_id")); err != nil {
		return err
	}
	content, err := fileContent(r)
	if err != nil {
		return err
	}
	f, created, err := a.core.WriteFile(r.Context(), r.Caller, r.PathValue("workspace_id"), r.Query("path"), content, conditionOf(r))
	if err != nil {
		return err
	}
	r.SetHeader("ETag", `"`+f.SHA256+`"`)
	if created {
		return sendValue(r, statusCreated, f)
	}
	return sendValue(r, statusOK, f)
}

// fileContent returns what a PUT brings.
func fileContent(r *gateway.Request) (io.Reader, error) {
	media, _, _ := strings.Cut(r.Header("Content-Type"), ";")
	if media != "" && strings.TrimSpace(media) != gateway.MediaJSON {
		return r.Upload()
	}
	var req struct {
		Content *string `json:"content"`
		Base64  *string `json:"content_base64"`
	}
	if _, err := r.Decode(&req); err != nil {
		return nil, err
	}
	switch {
	case (req.Content == nil) == (req.Base64 == nil):
		return nil, abi.InvalidParam("content", `the body has "content" or "content_base64"`)
	case req.Content != nil:
		return strings.NewReader(*req.Content), nil
	}
	content, err := base64.StdEncoding.DecodeString(*req.Base64)
	if err != nil {
		return nil, abi.InvalidParam("content_base64", "content_base64 is not base64")
	}
	return bytes.NewReader(content), nil
}

func (a *Adapter) deleteFile(r *gateway.Request) error {
	if err := a.core.RemoveFile(r.Context(), r.Caller, r.PathValue("workspace_id"), r.Query("path"), conditionOf(r)); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func conditionOf(r *gateway.Request) api.FileCondition {
	return api.FileCondition{Match: r.Header("If-Match"), Absent: r.Header("If-None-Match") == "*"}
}
