package wharf

import (
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// FetchRequest is an HTTP request to a host that the plugin is allowed. Header
// values and the URL's query may hold handles of secrets ([UseSecret]).
type FetchRequest struct {
	CallID string            `json:"call_id,omitempty"`
	Method string            `json:"method,omitempty"` // default GET
	URL    string            `json:"url"`
	Header map[string]string `json:"header,omitempty"`
	Text   string            `json:"text,omitempty"` // the body as text
	Body   []byte            `json:"body,omitempty"` // the body as bytes; not with Text
	// Purpose is what the receipt says that the request was for.
	Purpose string `json:"purpose,omitempty"`
	// IdempotencyHeader names the header by which the target recognizes a repeated
	// write, such as Idempotency-Key. The host fills it in, and repeats the request
	// after a crash. Without it such a write can end in [StatusIndeterminate].
	IdempotencyHeader string `json:"idempotency_header,omitempty"`
	TimeoutMS         int64  `json:"timeout_ms,omitempty"`
}

// FetchAnswer answers a [FetchRequest]. A status of 400 and more is an answer, and
// no error.
type FetchAnswer struct {
	Status    int               `json:"status"`
	URL       string            `json:"url"` // after redirects, without secrets
	Header    map[string]string `json:"header"`
	Text      string            `json:"text,omitempty"` // the body, when it is UTF-8
	Body      []byte            `json:"body,omitempty"` // the body otherwise
	BytesSent int64             `json:"bytes_sent"`
}

// Bytes returns the body.
func (a FetchAnswer) Bytes() []byte {
	if a.Body != nil {
		return a.Body
	}
	return []byte(a.Text)
}

// Fetch makes an HTTP request.
func Fetch(r FetchRequest) (FetchAnswer, error) {
	var answer FetchAnswer
	err := ask(hostcall.NameHTTPFetch, hostcall.HTTPFetch, r, &answer)
	return answer, err
}

// UseSecret returns the handle of a secret that the plugin is allowed: what to write
// where the secret belongs in a [FetchRequest]. The value itself is never told.
func UseSecret(name string) (handle string, err error) {
	var answer struct {
		Handle string `json:"handle"`
	}
	err = ask(hostcall.NameSecretUse, hostcall.SecretUse, named{name}, &answer)
	return answer.Handle, err
}

// named is the request of calls that take a name.
type named struct {
	Name string `json:"name"`
}

// Sleep waits. The Task is parked meanwhile and survives a restart of the node;
// time.Sleep keeps the instance, and counts against its wall time.
func Sleep(d time.Duration) error {
	return ask(hostcall.NameSleep, hostcall.Sleep, struct {
		MS int64 `json:"ms"`
	}{d.Milliseconds()}, nil)
}
