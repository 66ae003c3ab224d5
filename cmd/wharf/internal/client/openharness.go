package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// OpenHarnessList returns all entries of a list of the Open Harness API, page by page.
func OpenHarnessList[T any](ctx context.Context, c *Client, path string, args ...string) ([]Doc[T], error) {
	call := Get(path, args...)
	call.query.Set("limit", "100")
	var all []Doc[T]
	for {
		var p struct {
			Data   []Doc[T] `json:"data"`
			Cursor string   `json:"cursor"`
		}
		if err := c.call(ctx, call.request(), nil, &p); err != nil {
			return nil, err
		}
		all = append(all, p.Data...)
		if p.Cursor == "" {
			return all, nil
		}
		call.query.Set("cursor", p.Cursor)
	}
}

// UploadForm makes a call whose body is a form with one file and with fields, of which those that are
// "" are left out, and returns the resource that answers it.
func UploadForm[T any](ctx context.Context, c *Client, call Call, file string, content []byte, fields map[string]string) (doc Doc[T], err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(file, file+".zip")
	if err == nil {
		_, err = part.Write(content)
	}
	for name, value := range fields {
		if err == nil && value != "" {
			err = form.WriteField(name, value)
		}
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return doc, fmt.Errorf("making the form: %w", err)
	}
	r := call.request()
	r.header, r.body, r.size, r.patience = map[string]string{"Content-Type": form.FormDataContentType()}, &body, int64(body.Len()), -1
	err = c.call(ctx, r, nil, &doc)
	return doc, err
}

// Told yields the events of an execution of the Open Harness API until the stream ends. One that
// breaks is opened again after the last event seen, as [Client.Follow] does it.
func (c *Client) Told(ctx context.Context, path string) iter.Seq2[jsontext.Value, error] {
	return func(yield func(jsontext.Value, error) bool) {
		after := ""
		for failures := 0; ; {
			seen, err := c.toldOnce(ctx, path, &after, yield)
			if err == nil {
				return
			}
			if failures++; seen {
				failures = 1
			}
			if !broken(err) || failures > maxFailures {
				yield(nil, err)
				return
			}
			if err := c.pause(ctx, failures); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// toldOnce reads what one connection brings; err is nil when there is no more to come.
func (c *Client) toldOnce(ctx context.Context, path string, after *string, yield func(jsontext.Value, error) bool) (seen bool, err error) {
	header := map[string]string{"Accept": "text/event-stream"}
	if *after != "" {
		header["Last-Event-ID"] = *after
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, path: path, header: header})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	for f, err := range frames(resp.Body) {
		if err != nil {
			return seen, c.unreachable(ctx, err)
		}
		if !jsontext.Value(f.data).IsValid() {
			return seen, &Stray{Server: c.base, Status: resp.StatusCode, Start: excerpt(f.data), Err: io.ErrUnexpectedEOF}
		}
		seen, *after = true, f.id
		if !yield(jsontext.Value(f.data).Clone(), nil) || f.event == "done" {
			return seen, nil
		}
	}
	return seen, nil
}
