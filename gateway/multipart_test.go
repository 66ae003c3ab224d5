package gateway

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"
)

// form makes a body of parts: a name that ends in ! is a file's.
func form(parts ...[2]string) (media, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		name, file := strings.CutSuffix(p[0], "!")
		var to io.Writer
		if file {
			to, _ = w.CreateFormFile(name, "../"+name+".bin")
		} else {
			to, _ = w.CreateFormField(name)
		}
		_, _ = io.WriteString(to, p[1])
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

// Fields are read before and after files, files lie on the disk as long as their request runs,
// and what is too much or malformed leaves nothing there.
func TestMultipart(t *testing.T) {
	dir := t.TempDir() + "/spool"
	_, url := startWith(t, Config{SpoolDir: dir, BodyLimit: 1000, UploadLimit: 1 << 20}, func(r *Request) error {
		form, err := r.Multipart()
		if err != nil {
			return err
		}
		said := fmt.Appendf(nil, `"%v`, form.Fields)
		for _, f := range form.Files {
			content, err := io.ReadAll(f)
			if err != nil {
				return err
			}
			said = fmt.Appendf(said, " %s=%s/%s/%d/%.4s", f.Field, f.Name, f.Path, f.Size, content)
		}
		r.Send(200, append(said, '"'))
		return nil
	})
	large := strings.Repeat("data", 100_000)
	many := make([][2]string, maxParts+1)
	for i := range many {
		many[i] = [2]string{"f", "x"}
	}
	usual, body := form([2]string{"a", "1"}, [2]string{"file!", large}, [2]string{"b", "2"}, [2]string{"b", "3"}, [2]string{"empty!", ""})
	for name, test := range map[string]struct {
		media, body string
		status      int
		want        string
	}{
		"fields around files": {usual, body, 200, `"map[a:[1] b:[2 3]] file=file.bin/../file.bin/400000/data empty=empty.bin/../empty.bin/0/"`},
		"nothing":             {usual, "--" + strings.TrimPrefix(usual, "multipart/form-data; boundary=") + "--\r\n", 200, `"map[]"`},
		"cut off":             {usual, body[:len(body)/2], 400, "ended early"},
		"no boundary":         {"multipart/form-data", body, 415, "boundary"},
		"another type":        {"application/json", "{}", 415, "multipart/form-data"},
		"not a form":          {usual, "{}", 400, "malformed"},
	} {
		answer, err := http.Post(url+"/x", test.media, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != test.status || !strings.Contains(string(said), test.want) {
			t.Errorf("%s: %d %.300s", name, answer.StatusCode, said)
		}
	}
	for name, parts := range map[string][][2]string{
		"a field too large": {{"a", strings.Repeat("x", 1001)}}, "fields too large": {{"a", strings.Repeat("x", 600)}, {"f!", large}, {"b", strings.Repeat("x", 600)}},
		"too many": many, "a file too large": {{"f!", large + large + large}},
	} {
		media, body := form(parts...)
		answer, err := http.Post(url+"/x", media, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != 413 {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left on the disk, %v", left, err)
	}
}
