package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// elsewhere is a host whose server of harnesses answers so, call by call.
func elsewhere(answers ...string) (*wharftest.Host, *[]string) {
	var asked []string
	h := &wharftest.Host{CallTool: func(r wharf.ToolRequest) (wharf.ToolAnswer, error) {
		asked = append(asked, r.Server+":"+r.Name+" "+string(r.Arguments))
		if len(asked) > len(answers) {
			return wharf.ToolAnswer{}, errors.New("asked too often")
		}
		return wharf.ToolAnswer{Structured: json.RawMessage(answers[len(asked)-1])}, nil
	}}
	return h, &asked
}

// Another server does the work, however long it takes and however it wraps its answers.
func TestRemote(t *testing.T) {
	for _, result := range []string{`{"result":{"execution_id":"e","output":"It is done.\nAll of it."}}`, `{"output":"It is done.\nAll of it."}`} {
		h, asked := elsewhere(`{"execution_id":"e","status":"pending"}`, `{"status":"running"}`, `{"status":"completed"}`, result)
		outcome := h.Run(remote, wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart("do it")}})
		if outcome.Failure != nil || outcome.Summary != "It is done." || len(h.Messages) != 1 || h.Messages[0].Text() != "It is done.\nAll of it." {
			t.Errorf("%+v, %+v", outcome, h.Messages)
		}
		want := []string{`remote:run {"message":"do it"}`, `remote:wait {"execution_id":"e"}`, `remote:wait {"execution_id":"e"}`, `remote:result {"execution_id":"e"}`}
		if fmt.Sprint(*asked) != fmt.Sprint(want) {
			t.Errorf("it asked %q", *asked)
		}
	}
}

func TestRemoteFails(t *testing.T) {
	for name, answers := range map[string][]string{
		"failed there": {`{"execution_id":"e"}`, `{"status":"failed"}`}, "canceled there": {`{"execution_id":"e"}`, `{"status":"cancelled"}`},
		"no name": {`{}`}, "nonsense": {`[3]`},
	} {
		h, _ := elsewhere(answers...)
		if failure := h.Text(remote, "go").Failure; failure == nil || failure.Code != codeRemote {
			t.Errorf("%s: %v", name, failure)
		}
	}
	h, asked := elsewhere()
	if failure := h.Run(remote, wharf.Message{Role: "user", Parts: []wharf.Part{}}).Failure; failure == nil || len(*asked) != 0 {
		t.Errorf("it asked about nothing: %v", *asked)
	}
}
