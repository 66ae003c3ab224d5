package client

import (
	"bytes"
	"context"
	"io"
)

// UploadZip makes a call whose body is a zip, and returns the resource that answers it.
func UploadZip[T any](ctx context.Context, c *Client, call Call, zip []byte) (doc Doc[T], err error) {
	r := call.request()
	r.header, r.body, r.size, r.patience = map[string]string{"Content-Type": "application/zip"}, bytes.NewReader(zip), int64(len(zip)), -1
	err = c.call(ctx, r, nil, &doc)
	return doc, err
}

// UploadBytes makes a call whose body is content of so many bytes, 0 for an unknown number, and
// returns the resource that answers it.
func UploadBytes[T any](ctx context.Context, c *Client, call Call, content io.Reader, size int64) (doc Doc[T], err error) {
	r := call.request()
	r.header, r.body, r.size, r.patience = map[string]string{"Content-Type": "application/octet-stream"}, content, size, -1
	err = c.call(ctx, r, nil, &doc)
	return doc, err
}

// Download returns what answers a call, as it comes. The caller closes it.
func (c *Client) Download(ctx context.Context, call Call) (io.ReadCloser, error) {
	resp, err := c.send(ctx, call.request())
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
