package journal

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Keys gives the calls of one run their override keys. The zero value is ready.
// Calls are to be given in order, each once.
type Keys struct {
	counts map[string]int
}

// Next returns the override key of the next call: "" when def has none. It
// depends on the calls before and on the request alone.
func (k *Keys) Next(def *abi.HostCall, request []byte) string {
	if def.Key == "" {
		return ""
	}
	var names struct {
		CallID string `json:"call_id"`
		Name   string `json:"name"`
		Server string `json:"server"`
	}
	if def.RequestType != nil && len(request) > 0 && canName(def.Key, request) && readable(request) {
		_ = json.Unmarshal(request, &names) // a malformed request has no names, and is answered as such
	}
	form := strings.Replace(def.Key, "<server>", names.Server, 1)
	form = strings.Replace(form, "<name>", names.Name, 1)
	base, labeled := strings.CutSuffix(form, "<call_id>")
	if !labeled {
		return form
	}
	if names.CallID != "" {
		return base + names.CallID
	}
	if k.counts == nil {
		k.counts = map[string]int{}
	}
	k.counts[base]++
	return base + strconv.Itoa(k.counts[base])
}

// readable reports whether there is no more in a request than is decoded.
func readable(request []byte) bool {
	_, err := abi.Weigh(request, reflect.TypeFor[jsontext.Value]())
	return err == nil
}

// canName reports whether a request can name anything that a key of the given form
// is made from: most do not, and are not decoded for it.
func canName(form string, request []byte) bool {
	return bytes.Contains(request, []byte("call_id")) || strings.Contains(form, "<name>") || strings.Contains(form, "<server>") ||
		bytes.IndexByte(request, '\\') >= 0 // a member's name may be written with escapes
}
