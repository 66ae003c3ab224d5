package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"slices"

	"github.com/wharf-dev/wharf/abi"
)

// UploadModule makes a call whose body is a module, and returns the plugin that answers it. With a
// manifest the body is a form of both.
func (c *Client) UploadModule(ctx context.Context, call Call, module io.Reader, size int64, manifest *abi.PluginManifest) (doc Doc[abi.Plugin], err error) {
	r := call.request()
	r.header, r.body, r.size, r.patience = map[string]string{"Content-Type": "application/wasm"}, module, size, -1
	if manifest != nil {
		var ends [2][]byte
		if r.header["Content-Type"], ends, err = pluginForm(manifest); err != nil {
			return doc, fmt.Errorf("making the form: %w", err)
		}
		r.body = io.MultiReader(bytes.NewReader(ends[0]), module, bytes.NewReader(ends[1]))
		r.size += int64(len(ends[0]) + len(ends[1]))
	}
	err = c.call(ctx, r, nil, &doc)
	return doc, err
}

// UploadPackage makes a call whose body is a package of a plugin, and returns the plugin that answers it.
func (c *Client) UploadPackage(ctx context.Context, call Call, packed io.Reader, size int64) (doc Doc[abi.Plugin], err error) {
	r := call.request()
	r.header, r.body, r.size, r.patience = map[string]string{"Content-Type": "application/zip"}, packed, size, -1
	err = c.call(ctx, r, nil, &doc)
	return doc, err
}

// pluginForm returns what stands before and after the module in a form, so that it can be sent as it is read.
func pluginForm(manifest *abi.PluginManifest) (media string, ends [2][]byte, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	put := func(field, name, text string) {
		part, failed := form.CreateFormFile(field, name)
		if failed == nil {
			_, failed = io.WriteString(part, text)
		}
		if err == nil {
			err = failed
		}
	}
	put("manifest", "wharf.toml", manifest.Text)
	for _, name := range slices.Sorted(maps.Keys(manifest.Files)) {
		put("files", name, manifest.Files[name])
	}
	put("module", "module.wasm", "")
	before := body.Len()
	if err == nil {
		err = form.Close()
	}
	all := body.Bytes()
	return form.FormDataContentType(), [2][]byte{all[:before], all[before:]}, err
}
