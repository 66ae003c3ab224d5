package gateway

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// MediaForm is the media type of a [BodyForm].
const MediaForm = "application/x-www-form-urlencoded"

// formLimit is the largest form, in bytes: forms hold credentials, and no content.
const formLimit = 64 << 10

// Form returns the fields of the request's body. They must not be used after the
// handler has returned.
func (r *Request) Form() (*fasthttp.Args, error) {
	if err := r.checkEncoding(); err != nil {
		return nil, err
	}
	media, _, _ := bytes.Cut(r.HTTP.Request.Header.ContentType(), []byte(";"))
	if string(bytes.ToLower(bytes.TrimSpace(media))) != MediaForm {
		return nil, unsupportedMedia("Content-Type", "the request's Content-Type must be "+MediaForm)
	}
	body, err := r.readAll(formLimit, 1)
	if err != nil {
		return nil, err
	}
	fields := &fasthttp.Args{}
	fields.ParseBytes(body)
	return fields, nil
}
