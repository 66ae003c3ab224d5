package plainly

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitzero"`
}

type told struct {
	Name     string                    `json:"name"`
	Tools    []string                  `json:"tools,omitzero"`
	Parts    []part                    `json:"parts,omitzero"`
	Limits   map[string]float64        `json:"limits,omitzero"`
	Retries  uint8                     `json:"retries,omitzero"`
	Offset   int32                     `json:"offset,omitzero"`
	Enabled  *bool                     `json:"enabled,omitzero"`
	Body     []byte                    `json:"body,omitzero"`
	At       time.Time                 `json:"at,omitzero"`
	Own      colour                    `json:"own,omitzero"`
	Anything jsontext.Value            `json:"anything,omitzero"`
	Nested   struct{ A, B, C *string } `json:"nested,omitzero"`
	embedded
}

type embedded struct {
	Within string `json:"within,omitzero"`
}

// colour says itself what it does not take.
type colour struct{}

func (*colour) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	_ = d.SkipValue()
	return errors.New("a colour is red or blue")
}

func TestWhatIsWrongWithAText(t *testing.T) {
	for text, want := range map[string]string{
		`{"tols":["a"]}`:              `there is no member "tols": did you mean "tools"?`,
		`{"withn":"a"}`:               `there is no member "withn": did you mean "within"?`,
		`{"parts":[{"content":"a"}]}`: `there is no member "content" in /parts/0: there is text and type`,
		`{"qqqqqqqqqq":1}`:            `there is no member "qqqqqqqqqq": there is anything, at, body, enabled, limits, name, nested, offset, own, parts, retries, tools and within`,
		`{"nested":{"zzzz":1}}`:       `there is no member "zzzz" in /nested: there is A, B and C`,
		`{"name":1}`:                  `/name has to be a text, not a number: put it in quotes`,
		`{"name":true}`:               `/name has to be a text, not true: put it in quotes`,
		`{"name":{}}`:                 `/name has to be a text, not an object`,
		`{"tools":"a"}`:               `/tools has to be a list, not a text`,
		`{"tools":[1]}`:               `/tools/0 has to be a text, not a number: put it in quotes`,
		`{"parts":[[]]}`:              `/parts/0 has to be an object, not a list`,
		`{"limits":[]}`:               `/limits has to be an object, not a list`,
		`{"limits":{"a":"1.5"}}`:      `/limits/a has to be a number, not a text`,
		`{"limits":{"a":"many"}}`:     `/limits/a has to be a number, not a text`,
		`{"limits":{"a":1e999}}`:      `/limits/a is out of range: it has to be a number`,
		`{"retries":256}`:             `/retries is out of range: it has to be a whole number, 0 or more, at most 255`,
		`{"retries":-1}`:              `/retries has to be a whole number, 0 or more`,
		`{"retries":1.5}`:             `/retries has to be a whole number, 0 or more`,
		`{"offset":3000000000}`:       `/offset is out of range: it has to be a whole number from -2147483648 to 2147483647`,
		`{"offset":1.5}`:              `/offset has to be a whole number`,
		`{"offset":"12"}`:             `/offset has to be a whole number, not a text`,
		`{"enabled":"true"}`:          `/enabled has to be true or false, not a text`,
		`{"enabled":1}`:               `/enabled has to be true or false, not a number`,
		`{"body":"*"}`:                `/body has to be a text in base64`,
		`{"body":7}`:                  `/body has to be a text in base64, not a number`,
		`{"at":"yesterday"}`:          `/at has to be a time, such as 2026-01-31T08:00:00Z`,
		`{"at":5}`:                    `/at has to be a time, such as 2026-01-31T08:00:00Z, not a number`,
		`{"own":1}`:                   `/own: a colour is red or blue`,
		`[]`:                          `the JSON text has to be an object, not a list`,
		`"x"`:                         `the JSON text has to be an object, not a text`,
		`{"name":"a","name":"b"}`:     `/name is given twice`,
		`{"name":"a"`:                 `the JSON ends before it is whole`,
		`{"name":"a}`:                 `the JSON ends before it is whole in /name`,
		``:                            `the JSON ends before it is whole`,
		`{"name":nope}`:               `it is no JSON in /name: invalid character 'o' in literal null (expecting 'u')`,
		`{"name":"a",}`:               `it is no JSON: invalid character ',' at start of value`,
		"{\"name\":\"\xff\"}":         `it is no JSON in /name: invalid UTF-8`,
		`{"name":"a"} x`:              `it is no JSON: invalid character 'x' after top-level value`,
	} {
		err := json.Unmarshal([]byte(text), &told{}, json.RejectUnknownMembers(true))
		if err == nil {
			t.Errorf("%s is read", text)
			continue
		}
		if got := Say(err); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
		if got := Say(fmt.Errorf("reading file.json: %w", err)); got != "reading file.json: "+want {
			t.Errorf("%s within another error: %s", text, got)
		}
	}
}

func TestWhatIsLongIsCut(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for _, text := range []string{`{"` + long + `":1}`, `{"limits":{"` + long + `":[]}}`} {
		err := json.Unmarshal([]byte(text), &told{}, json.RejectUnknownMembers(true))
		if got := Say(err); len(got) > 600 {
			t.Errorf("%d bytes: %.100s", len(got), got)
		}
	}
}

func TestOtherErrorsSayWhatTheySay(t *testing.T) {
	if got := Say(errors.New("no room")); got != "no room" {
		t.Errorf("got %q", got)
	}
}

func TestListsAreWrittenAsPeopleDo(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Or(names); got != want {
			t.Errorf("%q: got %q, want %q", names, got, want)
		}
	}
	args := []any{3, []string{"a", "b"}, errors.New("x"), []byte("raw"), nil}
	Put(args)
	if got := fmt.Sprintf("%d %s %v %s %v", args...); got != "3 a or b x raw <nil>" {
		t.Errorf("got %q", got)
	}
}
