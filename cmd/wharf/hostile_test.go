package main

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// hostileText ends lines in every way, steers terminals, and turns the direction of writing.
const hostileText = "a\nFORGED\rFORGED\u2028FORGED\u2029FORGED\x1b[2J\x1b]0;t\x07\u009b2J\u202eb\u2066\x7f\u0085FORGED"

// fillHostile puts hostile texts into every field of a value, whatever fields there are.
func fillHostile(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillHostile(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			text, _ := json.Marshal(hostileText)
			v.SetBytes(text)
		} else if depth > 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fillHostile(v.Index(0), depth-1)
		}
	case reflect.Map:
		if depth > 0 && v.Type().Key().Kind() == reflect.String {
			of := reflect.New(v.Type().Elem()).Elem()
			fillHostile(of, depth-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("a").Convert(v.Type().Key()), of)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[abi.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillHostile(v.Field(i), depth-1)
			}
		}
	}
}

func hostileJSON[T any]() string {
	var v T
	fillHostile(reflect.ValueOf(&v).Elem(), 4)
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Whatever a node's resources hold, no command's output has a line that begins with it,
// and nothing of it steers a terminal; as JSON it stays JSON.
func TestCommandsAndTextsOfStrangers(t *testing.T) {
	for command, answer := range map[string]string{
		"task get x": hostileJSON[abi.Task](), "task list": hostileJSON[abi.Task](), "task receipts x": hostileJSON[abi.ReceiptResource](),
		"receipt get x": hostileJSON[abi.ReceiptResource](), "receipt verify x": hostileJSON[abi.ReceiptVerification](),
		"inbox list": hostileJSON[abi.PermissionRequest](), "inbox get x": hostileJSON[abi.PermissionRequest](),
		"connector list": hostileJSON[abi.Connector](), "connector get x": hostileJSON[abi.Connector](),
		"connector deadletters x": hostileJSON[abi.DeadLetter](), "connector deadletters x y": hostileJSON[abi.DeadLetter](),
		"webhook list": hostileJSON[abi.WebhookEndpoint](), "webhook show x": hostileJSON[abi.WebhookEndpoint](),
		"webhook deliveries x": hostileJSON[abi.WebhookDelivery](), "webhook test x": hostileJSON[abi.WebhookTrial](),
		"session list": hostileJSON[abi.Session](), "session show x": hostileJSON[abi.Session](), "session fork x": hostileJSON[abi.Session](),
		"artifact list": hostileJSON[abi.Artifact](), "artifact show x": hostileJSON[abi.Artifact](),
		"persona list": hostileJSON[abi.Persona](), "persona get x": hostileJSON[abi.Persona](),
		"tool-server tools x": hostileJSON[servedTools](), "tool-server resources x": hostileJSON[abi.ToolServerResources](), "tool-server resources x templates": hostileJSON[abi.ToolServerTemplates](),
		"tool-server prompts x": hostileJSON[abi.ToolServerPrompts](), "tool-server read x a:b": hostileJSON[abi.CallResourceReadAnswer](), "tool-server prompt x y": hostileJSON[abi.CallPromptGetAnswer](),
		"tool-server list": hostileJSON[abi.ToolServer](), "quota list": hostileJSON[abi.Quota](), "vault list": hostileJSON[abi.Vault](), "vault list x": hostileJSON[abi.VaultSecret](),
		"key list": hostileJSON[abi.APIKey](), "key published": hostileJSON[abi.SigningKeys](),
		"task get y": "",
	} {
		for _, form := range [][]string{nil, {"--json"}} {
			out := commandOutput(t, answer, append(strings.Fields(command), form...))
			t.Run(strings.Join(append([]string{command}, form...), " "), func(t *testing.T) { harmless(t, out, form != nil) })
		}
	}
}

// commandOutput runs a command against a node that gives the same answer to all requests,
// or a hostile error for none.
func commandOutput(t *testing.T, answer string, args []string) string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answer == "" {
			text, _ := json.Marshal(hostileText)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":`+string(text)+`,"message":`+string(text)+`,"param":`+string(text)+`,"request_id":`+string(text)+`}}`)
			return
		}
		list := `{"object":"list","data":[` + answer + `],"page":{"has_more":false}`
		_, _ = io.WriteString(w, list+","+strings.TrimPrefix(answer, "{"))
	}))
	defer h.Close()
	var out bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out,
		env: func(name string) string { return map[string]string{"WHARF_SERVER": h.URL, "WHARF_API_KEY": "k"}[name] }}
	a.execute(t.Context(), args)
	return out.String()
}

func harmless(t *testing.T, out string, asJSON bool) {
	if !strings.Contains(out, "FORGED") {
		t.Errorf("it shows none of it: %q", out)
	}
	for _, r := range out {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%U reaches the terminal: %q", r, out)
			break
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "FORGED") {
			t.Errorf("a stranger's line: %q", line)
		}
		if asJSON && !stdjson.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
}
