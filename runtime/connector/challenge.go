package connector

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// maxChallenge bounds a url_verification, in bytes: a genuine one is far smaller.
const maxChallenge = 8 << 10

// slackVerification answers the request by which Slack makes sure that a URL is
// served by whoever entered it.
func slackVerification(method string, _ Header, body []byte) (Answer, bool) {
	if method != http.MethodPost || len(body) > maxChallenge || !bytes.Contains(body, []byte("url_verification")) {
		return Answer{}, false
	}
	said := members(body, "type", "challenge")
	if said["type"] != "url_verification" || said["challenge"] == "" {
		return Answer{}, false
	}
	answer, err := json.Marshal(map[string]string{"challenge": said["challenge"]})
	if err != nil {
		return Answer{}, false
	}
	return Answer{Status: http.StatusOK, Header: map[string]string{"Content-Type": "application/json"}, Body: answer}, true
}

// cloudEventsHandshake answers the validation request of the HTTP webhook binding of
// CloudEvents: who asks may deliver, for the path itself is the permission.
func cloudEventsHandshake(method string, h Header, _ []byte) (Answer, bool) {
	origin := string(h.Get("WebHook-Request-Origin"))
	if method != http.MethodOptions || origin == "" || len(origin) > MaxDeliveryID || !printable(origin) {
		return Answer{}, false
	}
	header := map[string]string{"WebHook-Allowed-Origin": origin, "Allow": "POST, OPTIONS"}
	if len(h.Get("WebHook-Request-Rate")) > 0 {
		header["WebHook-Allowed-Rate"] = "*"
	}
	return Answer{Status: http.StatusOK, Header: header}, true
}

// cloudEventID joins what makes an event unique: its source and its id. A batch has
// neither.
func cloudEventID(h Header, body []byte) (id, from string) {
	source, own := string(h.Get("ce-source")), string(h.Get("ce-id"))
	from = "ce-id"
	if own == "" && structured(h) {
		said := members(body, "source", "id")
		source, own, from = said["source"], said["id"], ""
	}
	if own == "" {
		return "", ""
	}
	return source + "#" + own, from
}

func structured(h Header) bool {
	media := strings.ToLower(string(h.Get("Content-Type")))
	return strings.HasPrefix(media, "application/cloudevents") && !strings.HasPrefix(media, "application/cloudevents-batch")
}
