package secret

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func refused(t *testing.T, err error, status abi.CallStatus, want string) {
	t.Helper()
	r, ok := errors.AsType[*provider.Refusal](err)
	if !ok || r.Status != status || !strings.Contains(r.Message, want) {
		t.Errorf("got %v, want status %d and %q", err, status, want)
	}
}

func TestAValueIsNeverPrinted(t *testing.T) {
	v := NewValue("name", "c4n4ry")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", v, "in", struct{ V Value }{v}, "list", []Value{v})
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", v, "in", struct{ V Value }{v}, "pointer", &v)
	encoded, err := json.Marshal(map[string]any{"v": v, "list": []Value{v}, "p": &v})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(v), fmt.Sprintf("%v %+v %#v %s %q %x %d", v, v, v, v, v, v, v), fmt.Sprintf("%+v", struct{ V Value }{v}),
		fmt.Sprintf("%#v", []Value{v}), fmt.Sprintf("%x", v), string(encoded), log.String(),
	} {
		if strings.Contains(text, "c4n4ry") || strings.Contains(text, fmt.Sprintf("%x", "c4n4ry")) {
			t.Errorf("it prints as %s", text)
		}
	}
	if v.Reveal() != "c4n4ry" {
		t.Errorf("it reveals %q", v.Reveal())
	}
}

func TestValuesAreReadWhenTheyAreUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	env := "first"
	var log bytes.Buffer
	s := New(Config{
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
		Getenv: func(name string) (string, bool) { return env, name == "E" },
		Sources: map[string]Source{"env": {Env: "E"}, "file": {File: file}, "command": {Command: []string{"sh", "-c", "cat " + file + "; echo c4n4ry >&2"}},
			"fails": {Command: []string{"sh", "-c", "echo c4n4ry; exit 3"}}, "absent": {Command: []string{"/no/such/program"}},
			"nofile": {File: file + "x"}, "endless": {Command: []string{"sh", "-c", "yes | head -c 100000"}}, "nothing": {}},
	})
	for _, round := range []string{"first", "second value, with spaces"} {
		env = round
		for _, end := range []string{"", "\n", "\r\n"} {
			if err := os.WriteFile(file, []byte(round+end), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"env", "file", "command"} {
				if v, err := s.Lookup(t.Context(), name); err != nil || v.Reveal() != round || v.Name() != name {
					t.Errorf("%s is %q, %v", name, v.Reveal(), err)
				}
			}
		}
	}
	env = ""
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"env", "file", "command", "fails", "absent", "nofile", "endless", "nothing"} {
		_, err := s.Lookup(t.Context(), name)
		refused(t, err, abi.CallUnavailable, `the secret "`+name+`" cannot be read now`)
		if !strings.Contains(log.String(), "secret="+name) {
			t.Errorf("the log does not say why %s cannot be read", name)
		}
		if strings.Contains(err.Error(), file) {
			t.Errorf("the plugin learns where it is kept: %v", err)
		}
	}
	if strings.Contains(log.String(), "c4n4ry") {
		t.Errorf("the log has what a command wrote: %s", &log)
	}
	_, err := s.Lookup(t.Context(), "other")
	refused(t, err, abi.CallNotFound, `no secret "other"`)
}

func TestSecretUse(t *testing.T) {
	s := New(Config{Sources: map[string]Source{"a": {Env: "A", Hosts: []string{"h"}}, "b": {Env: "B"}},
		Grants: map[string][]string{"p": {"a", "gone"}},
		Getenv: func(string) (string, bool) { t.Error("a value is read for a handle"); return "", false }})
	ask := func(plugin, request string) (string, error) {
		plan, err := s.Prepare(t.Context(), &provider.Call{Name: abi.CallSecretUse, Plugin: plugin, Request: []byte(request)})
		if err != nil {
			return "", err
		}
		if plan.Effect != abi.EffectRead {
			t.Errorf("it is a %s", plan.Effect)
		}
		answer, err := plan.Do(t.Context(), nil)
		return string(answer), err
	}
	if got, err := ask("p", `{"name":"a"}`); err != nil || got != `{"handle":"{{secret:a}}"}` {
		t.Errorf("got %s, %v", got, err)
	}
	for _, test := range []struct {
		plugin, request, want string
		status                abi.CallStatus
	}{
		{"p", `{"name":"b"}`, "grants.p.secrets does not name it", abi.CallDenied},
		{"q", `{"name":"a"}`, "grants.q.secrets", abi.CallDenied},
		{"p", `{"name":"gone"}`, "secrets does not name it", abi.CallNotFound},
		{"p", `{"name":""}`, "secret.use takes", abi.CallInvalid},
		{"p", `nonsense`, "secret.use takes", abi.CallInvalid},
	} {
		_, err := ask(test.plugin, test.request)
		refused(t, err, test.status, test.want)
	}
	if _, err := s.Value(t.Context(), "q", "a"); err == nil {
		t.Error("a value without a grant")
	}
	if got := s.Hosts("a"); len(got) != 1 || s.Hosts("b") != nil {
		t.Errorf("hosts %v, %v", got, s.Hosts("b"))
	}
}

func TestExpand(t *testing.T) {
	s := New(Config{Sources: map[string]Source{"a": {Env: "A"}, "b.c": {Env: "B"}}, Log: slog.New(slog.DiscardHandler),
		Getenv: func(name string) (string, bool) { return "<" + name + "{{secret:a}}>", true }})
	got, values, err := s.Expand(t.Context(), "x {{secret:a}}{{secret:b.c}}{{secret:a}} {{secret:}} {{ secret:a }}")
	// A value that looks like a handle is not filled in again.
	if want := "x <A{{secret:a}}><B{{secret:a}}><A{{secret:a}}> {{secret:}} {{ secret:a }}"; err != nil || got != want || len(values) != 2 {
		t.Errorf("got %q, %v", got, err)
	}
	_, _, err = s.Expand(t.Context(), "{{secret:none}}")
	refused(t, err, abi.CallNotFound, "none")
	if text, values, err := s.Expand(t.Context(), "plain"); text != "plain" || values != nil || err != nil {
		t.Errorf("got %q, %v, %v", text, values, err)
	}
}

func TestACommandThatHangsIsGivenUp(t *testing.T) {
	s := New(Config{Sources: map[string]Source{"s": {Command: []string{"sleep", "100"}}}, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Lookup(ctx, "s")
	refused(t, err, abi.CallUnavailable, "cannot be read")
}

// TestWhatIsFilledInCanBeTakenOut holds for any value, in every form in which
// servers tend to give it back.
func TestWhatIsFilledInCanBeTakenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Values as they come: longer than what could be in the text by chance.
		text := rapid.StringMatching(`[ -~äö€]{12,40}`).Draw(t, "value")
		v := NewValue("n", text)
		scrub := NewScrub([]Value{v, NewValue("short", text[:6])})
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip("no UTF-8")
		}
		for _, form := range []string{Fill("{{secret:n}}", []Value{v}), FillQuery("{{secret:n}}", []Value{v}),
			FillQuery(url.QueryEscape("{{secret:n}}"), []Value{v}), url.PathEscape(text), string(quoted[1 : len(quoted)-1]),
			base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))} {
			if got := scrub.Text("#" + form + "#"); got != "#{{secret:n}}#" && got != "#{{secret:n}}=#" && got != "#{{secret:n}}==#" {
				t.Fatalf("%q is given back as %q", form, got)
			}
		}
	})
}

// A value is hidden in whichever of the usual ways a server writes it.
func TestDisguises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z0-9]{4}[ -~äö€]{8,40}[A-Za-z0-9/+&<]{4}`).Draw(t, "value")
		before := rapid.StringMatching(`[a-z:]{0,7}`).Draw(t, "before")
		behind := rapid.StringMatching(`[a-z:]{0,7}`).Draw(t, "behind")
		scrub := NewScrub([]Value{NewValue("n", text)})
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip("no UTF-8")
		}
		inner := string(quoted[1 : len(quoted)-1])
		everything, decimal, hexadecimal := "", "", ""
		for _, u := range utf16.Encode([]rune(text)) {
			everything += fmt.Sprintf(`\u%04X`, u)
		}
		for _, r := range text {
			decimal += fmt.Sprintf("&#%d;", r)
			hexadecimal += fmt.Sprintf("&#x%x;", r)
		}
		whole := []byte(before + text + behind)
		for _, form := range []string{strings.ReplaceAll(inner, "/", `\/`), everything, strings.ToLower(everything), decimal, hexadecimal, html.EscapeString(text),
			hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))), url.QueryEscape(text),
			base64.StdEncoding.EncodeToString(whole), base64.URLEncoding.EncodeToString(whole), base64.RawStdEncoding.EncodeToString(whole)} {
			if got := scrub.Text("#" + form + "#"); !strings.Contains(got, "{{secret:n}}") {
				t.Fatalf("%q is given back as %q", text, got)
			}
		}
	})
}
