package harn_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// A receiver gets each event as those read it who may see what is public, signed so that it can
// tell from whom it is.
func TestWebhooksGetWhatThePublicSees(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	public := n.do(t, "POST", "/wharf/v1/keys", object{"name": "public", "scopes": []string{"events:read"}}).want(201).get("key").(string)
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of the receiver's own"))
	verifier, err := signature.New(abi.WebhookAuth{Scheme: abi.SchemeStandard}, [][]byte{[]byte(secret)})
	if err != nil {
		t.Fatal(err)
	}
	bodies := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if _, err := verifier.Verify(sent(req.Header), body, time.Now()); err != nil {
			t.Error(err)
		}
		bodies <- string(body)
	}))
	defer receiver.Close()
	session := n.session(t)
	hook := "/wharf/v1/webhooks/" + n.do(t, "POST", "/wharf/v1/webhooks", object{"url": receiver.URL, "events": []string{"*"}, "secret": secret, "session_id": session}).want(201).id()
	withheld := object{"role": "user", "parts": []object{{"type": "text", "text": "open"},
		{"type": "text", "text": "CANARY-1", "visibility": "internal"}, {"type": "text", "text": "CANARY-2", "visibility": "receipt_only"}}}
	n.waitEnded(t, n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": withheld}).want(202).id())
	ended := ""
	for !strings.Contains(ended, `"event":"task.completed"`) {
		ended = <-bodies
		id := strings.Split(ended, `"`)[3]
		if read := string(n.do(t, "GET", "/v1/events/"+id, nil, key(public)).want(200).body); read != ended {
			t.Errorf("sent %s\nread %s", ended, read)
		}
		if strings.Contains(ended, "CANARY") {
			t.Errorf("sent %s", ended)
		}
	}
	events := n.do(t, "GET", "/v1/events?limit=200", nil).body
	for _, hidden := range []string{secret, receiver.URL + "/"} {
		if strings.Contains(string(events), hidden) {
			t.Errorf("an event tells %s", hidden)
		}
	}
	n.do(t, "POST", hook+"/test", nil).want(200)
	for tried := ""; !strings.Contains(tried, `"object":"webhook_trial"`); {
		tried = <-bodies
	}
	metrics := string(n.do(t, "GET", "/metrics", nil).body)
	for _, name := range []string{"wharf_webhooks 1", "wharf_webhook_deliveries_taken_total"} {
		if !strings.Contains(metrics, name) {
			t.Errorf("the metrics lack %s", name)
		}
	}
}

// sent is a header as who checks a signature reads it.
type sent http.Header

func (h sent) Get(name string) []byte { return []byte(http.Header(h).Get(name)) }
