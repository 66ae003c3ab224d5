package normalize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// polling returns the input of a poll with the given settings.
func polling(poll string) map[string]any {
	return map[string]any{"connector": map[string]any{"settings": map[string]any{"poll": json.RawMessage(poll)}}}
}

// list serves the numbers from 1 to all, three on a page.
func list(all *int, asked *[]string) func(wharf.FetchRequest) (wharf.FetchAnswer, error) {
	return func(r wharf.FetchRequest) (wharf.FetchAnswer, error) {
		*asked = append(*asked, r.URL+" "+r.Header["authorization"])
		after := 0
		_, _ = fmt.Sscanf(r.URL, "https://list.example/?after=%d", &after)
		var items []string
		for range min(3, *all-after) {
			after++
			items = append(items, fmt.Sprintf(`{"n":%d}`, after))
		}
		return wharf.FetchAnswer{Status: 200, Text: fmt.Sprintf(`{"items":[%s],"last":%d}`, strings.Join(items, ","), after)}, nil
	}
}

const settingsOfList = `{"url":"https://list.example/?after={cursor}","header":{"Authorization":"Bearer {secret:token}"},"items":"$.items[*]","id":"@.n","cursor":"$.last","max_pages":2}`

// TestPoll holds that a poll goes on where the last one ended, and finds each thing
// once.
func TestPoll(t *testing.T) {
	all, asked := 4, []string(nil)
	host := wharftest.Host{Secrets: []string{"token"}, Fetch: list(&all, &asked)}
	for _, step := range []struct {
		all   int
		found string
	}{{4, "1 2 3 4"}, {4, "1 2 3 4"}, {12, "1 2 3 4 5 6 7 8 9 10"}, {12, "1 2 3 4 5 6 7 8 9 10 11 12"}} {
		all = step.all
		if outcome := host.Run(Poll, polling(settingsOfList)); outcome.Failure != nil {
			t.Fatal(outcome.Failure)
		}
		var found []string
		for _, f := range host.Found {
			found = append(found, f.ID)
		}
		if got := strings.Join(found, " "); got != step.found {
			t.Errorf("found %s, want %s", got, step.found)
		}
	}
	if host.Found[0].Text != `{"n":1}` || asked[0] != "https://list.example/?after= Bearer {{secret:token}}" {
		t.Errorf("%+v, asked %q", host.Found[0], asked[0])
	}
}

func TestPollFails(t *testing.T) {
	answer := func(status int, text string) func(wharf.FetchRequest) (wharf.FetchAnswer, error) {
		return func(wharf.FetchRequest) (wharf.FetchAnswer, error) {
			return wharf.FetchAnswer{Status: status, Text: text}, nil
		}
	}
	const poll = `{"url":"https://list.example/","items":"$[*]","id":"@.id"}`
	for _, test := range []struct {
		settings string
		fetch    func(wharf.FetchRequest) (wharf.FetchAnswer, error)
		want     string
	}{
		{`{}`, nil, wharf.CodeSettings}, {`[]`, nil, wharf.CodeSettings}, {`{"url":"https://x","items":"$[","id":"@"}`, nil, wharf.CodeSettings},
		{`{"url":"https://x","items":"$","id":"@","max_pages":1000}`, nil, wharf.CodeSettings}, {`{"urls":"https://x"}`, nil, wharf.CodeSettings},
		{poll, nil, wharf.CodeError}, {poll, answer(500, ``), codePoll}, {poll, answer(302, ``), codePoll}, {poll, answer(200, `<html>`), codePoll},
		{poll, answer(200, `[{"id":1},{}]`), codePoll}, {poll, answer(200, `[`+strings.Repeat(`{"id":1},`, maxFound)+`{"id":2}]`), codePoll},
	} {
		host := wharftest.Host{Fetch: test.fetch}
		outcome := host.Run(Poll, polling(test.settings))
		if outcome.Failure == nil || outcome.Failure.Code != test.want || len(host.Found) > 0 {
			t.Errorf("%s: %+v, found %v; want %s", test.settings, outcome.Failure, host.Found, test.want)
		}
	}
}
