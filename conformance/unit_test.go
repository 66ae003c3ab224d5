package conformance

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestStreamParsing(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []frame
	}{
		"one frame":               {"id: 1\nevent: a\ndata: {\"x\":1}\n\n", []frame{{id: "1", event: "a", data: `{"x":1}`}}},
		"comments and heartbeats": {": hello\n\nid: 1\ndata: x\n\n: beat\n\nid: 2\ndata: y\n\n", []frame{{id: "1", data: "x"}, {id: "2", data: "y"}}},
		"several data lines":      {"data: a\ndata: b\n\n", []frame{{data: "a\nb"}}},
		"carriage returns":        {"id: 1\r\ndata: x\r\n\r\n", []frame{{id: "1", data: "x"}}},
		"no space after colon":    {"id:1\ndata:x\n\n", []frame{{id: "1", data: "x"}}},
		"an id is not inherited":  {"id: 1\n\ndata: x\n\n", []frame{{data: "x"}}},
		"an unfinished frame":     {"data: x\n\ndata: y\n", []frame{{data: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := readStream(t, c.text)
			if len(got) != len(c.want) {
				t.Fatalf("read %d frames, want %d: %+v", len(got), len(c.want), got)
			}
			for i, f := range got {
				f.doc = nil
				if f.id != c.want[i].id || f.event != c.want[i].event || f.data != c.want[i].data {
					t.Errorf("frame %d is %+v, want %+v", i, f, c.want[i])
				}
			}
		})
	}
}

func readStream(t *testing.T, text string) []frame {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	c := &client{base: server.URL, key: "k", http: server.Client(), seen: newObserver("secret")}
	s, err := c.openStream(t.Context(), "/stream", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var frames []frame
	for {
		f, err := s.next()
		if errors.Is(err, io.EOF) {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
}

func TestObserver(t *testing.T) {
	const fine = `{"id":"a","object":"task","created_at":"2026-04-25T19:00:00Z","updated_at":"2026-04-25T19:00:00.5+00:00","metadata":{}}`
	for name, c := range map[string]struct {
		status int
		body   string
		rule   string // the rule that is broken, "" for none
	}{
		"a fine resource":         {200, fine, ""},
		"a fine list":             {200, `{"object":"list","data":[` + fine + `]}`, ""},
		"a time that is not UTC":  {200, strings.Replace(fine, "00Z", "00+02:00", 1), ruleResource},
		"metadata that is null":   {200, strings.Replace(fine, `{}`, `null`, 1), ruleResource},
		"a bad one in a list":     {200, `{"object":"list","data":[` + strings.Replace(fine, `"a"`, `""`, 1) + `]}`, ruleResource},
		"a fine error":            {404, `{"error":{"code":"resource_not_found","message":"m","type":"not_found_error","request_id":"r"}}`, ""},
		"an error in plain text":  {500, `oops`, ruleEnvelope},
		"an error without a type": {404, `{"error":{"code":"resource_not_found","message":"m","request_id":"r"}}`, ruleEnvelope},
		"code and status differ":  {400, `{"error":{"code":"resource_not_found","message":"m","type":"not_found_error","request_id":"r"}}`, ruleCodes},
		"code and type differ":    {404, `{"error":{"code":"resource_not_found","message":"m","type":"server_error","request_id":"r"}}`, ruleCodes},
		"405 has no code":         {405, `{"error":{"code":"invalid_request","message":"m","type":"request_error","request_id":"r"}}`, ""},
		"no request id":           {404, `{"error":{"code":"resource_not_found","message":"m","type":"not_found_error"}}`, ruleRequestID},
		"the key in a message":    {400, `{"error":{"code":"invalid_request","message":"bad key s3cret","type":"request_error","request_id":"r"}}`, ruleSecret},
	} {
		t.Run(name, func(t *testing.T) {
			o := newObserver("s3cret")
			r := response{to: "GET /x", status: c.status, body: []byte(c.body)}
			_ = json.Unmarshal(r.body, &r.doc)
			o.response(r)
			for _, rule := range []string{ruleEnvelope, ruleCodes, ruleRequestID, ruleResource, ruleSecret} {
				if broken := len(o.found(rule)) > 0; broken != (rule == c.rule) {
					t.Errorf("%s: reported %v", rule, o.found(rule))
				}
			}
		})
	}
}

func TestChecksAreWellFormed(t *testing.T) {
	checks, err := Checks(LevelAll)
	if err != nil {
		t.Fatal(err)
	}
	seen, levels := map[string]bool{}, map[Level]int{}
	for _, c := range checks {
		levels[c.Level]++
		if seen[c.ID] {
			t.Errorf("two checks are called %s", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || c.Section == "" || c.Level == "" || (c.Strength != Must && c.Strength != Should) {
			t.Errorf("check %s says too little of itself: %+v", c.ID, c)
		}
	}
	for level, n := range levels {
		if own, err := Checks(level); err != nil || len(own) != n {
			t.Errorf("%d checks of level %s, %d of them among all (%v)", len(own), level, n, err)
		}
	}
	if _, err := Checks("no-such-level"); err == nil {
		t.Error("an unknown level was taken")
	}
}

// TestBrokenServer runs every check against a server that answers everything
// with the same page: nothing may pass for want of looking.
func TestBrokenServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>It works!</html>")
	}))
	defer server.Close()
	report, err := Run(t.Context(), Config{BaseURL: server.URL, APIKey: "key", WorkspaceID: "ws_1"}, LevelAll)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Status == Pass && r.ID != "version.public" { // which asks for a 200 only
			t.Errorf("%s passes: %s", r.ID, r.Seen)
		}
	}
	if report.Conforms(false) || report.FailedMust == 0 {
		t.Error("a web page conforms")
	}
	var text bytes.Buffer
	if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), "fail  MUST    task.submit") {
		t.Errorf("the report does not show the failures (%v):\n%s", err, &text)
	}
}
