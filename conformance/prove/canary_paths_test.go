package prove_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// token gets an access token for a key, uses it, and has others refused. The token is
// a secret as the key is.
func token(t *testing.T, root *client, key string, met told) string {
	t.Helper()
	sum := sha256.Sum256([]byte(key))
	id := "key_" + hex.EncodeToString(sum[:16])
	status, body := grant(t, root, id, key)
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &granted); status != 200 || err != nil || granted.AccessToken == "" {
		t.Fatalf("no token: %d %s", status, body)
	}
	if a, err := root.with(granted.AccessToken).try(t.Context(), "GET", "/v1/tasks", nil); err != nil || a.status != 200 {
		t.Errorf("the token does not open: %v %v", a, err)
	}
	for what, bad := range map[string]string{"a key that is none": wrongKey, "the key of another client": nodeKey + wrongKey} {
		if status, body = grant(t, root, id, bad); status == 200 {
			t.Errorf("%s gets a token", what)
		}
		forms(wrongKey, nodeKey).search(t, met, "the refusal of "+what, body)
	}
	changed := granted.AccessToken[:len(granted.AccessToken)-4] + "AAAA"
	a, err := root.with(changed).try(t.Context(), "GET", "/v1/tasks", nil)
	if err != nil || a.status != 401 {
		t.Errorf("a changed token: %v %v", a, err)
	}
	forms(changed).search(t, met, "the refusal of a changed token", a.body)
	return granted.AccessToken
}

func grant(t *testing.T, root *client, id, secret string) (status int, body []byte) {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	r, err := http.NewRequestWithContext(t.Context(), "POST", root.url+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}

// socket reads what a WebSocket is sent, to the event with the given id.
func (c *client) socket(t *testing.T, path, last string) []byte {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, _, err := websocket.DefaultDialer.DialContext(ctx, "ws"+strings.TrimPrefix(c.url, "http")+path,
		http.Header{"Authorization": {"Bearer " + c.key}, "Harn-Agents-Protocol-Version": {nodetest.Version}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	end, err := strconv.Atoi(last)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		all.Write(append(text, '\n'))
		var frame struct {
			Event struct {
				ID string `json:"id"`
			} `json:"event"`
		}
		if err := json.Unmarshal(text, &frame); err != nil {
			t.Fatalf("a frame that is no JSON: %s", text)
		}
		if at, err := strconv.Atoi(frame.Event.ID); err == nil && at >= end {
			return all.Bytes()
		}
	}
}
