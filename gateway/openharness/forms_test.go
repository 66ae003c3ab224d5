package openharness_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"testing"
)

// part is one of a form: a field, or a file when it has a file name.
type part struct{ field, file, content string }

// formOf returns a multipart body, and the option that says so. Names of files are sent as they are.
func formOf(t testing.TB, parts ...part) ([]byte, option) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		disposition := fmt.Sprintf(`form-data; name=%q`, p.field)
		if p.file != "" {
			disposition += `; filename="` + p.file + `"`
		}
		out, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}})
		if err == nil {
			_, err = io.WriteString(out, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body.Bytes(), header("Content-Type", w.FormDataContentType())
}
