package harn_test

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// Clients page through a list in both directions, by cursor and by offset, and narrow it by
// time. Who asks for none of it is answered as before.
func TestListsInBothDirections(t *testing.T) {
	n := newNode(t)
	for range 5 {
		n.session(t)
	}
	all := n.do(t, "GET", "/v1/sessions", nil).want(200)
	if page := all.get("page").(map[string]any); len(page) != 2 {
		t.Errorf("a page that nobody asked more of has %v", page)
	}
	newest := all.ids()
	oldest := slices.Clone(newest)
	slices.Reverse(oldest)
	get := func(query string) *answer {
		return n.do(t, "GET", "/v1/sessions?workspace_id=ws_default&limit=2&"+query, nil).want(200)
	}
	at := func(a *answer, name string) string {
		cursor, _ := a.get("page", name).(string)
		return url.QueryEscape(cursor)
	}
	for order, want := range map[string][]string{"asc": oldest, "desc": newest} {
		first := get("order=" + order)
		second := get("order=" + order + "&cursor=" + at(first, "next_cursor"))
		third := get("order=" + order + "&cursor=" + at(second, "next_cursor"))
		if got := slices.Concat(first.ids(), second.ids(), third.ids()); !slices.Equal(got, want) || at(third, "next_cursor") != "" {
			t.Errorf("%s: %v, want %v", order, got, want)
		}
		back := get("order=" + order + "&before=" + at(third, "previous_cursor"))
		start := get("order=" + order + "&before=" + at(back, "previous_cursor"))
		if !slices.Equal(back.ids(), second.ids()) || !slices.Equal(start.ids(), first.ids()) {
			t.Errorf("%s: back again %v %v", order, start.ids(), back.ids())
		}
		if at(first, "previous_cursor") != "" || at(start, "previous_cursor") != "" || start.get("page", "has_more") != false {
			t.Errorf("%s: before the first page lies %s, %s", order, first.body, start.body)
		}
		if got := get("order=" + order + "&cursor=" + at(start, "next_cursor")).ids(); !slices.Equal(got, second.ids()) {
			t.Errorf("%s: forth again %v", order, got)
		}
		for offset := range 7 {
			rest := want[min(offset, len(want)):]
			if got := get("order=" + order + "&offset=" + strconv.Itoa(offset)).ids(); !slices.Equal(got, rest[:min(2, len(rest))]) {
				t.Errorf("%s from %d: %v", order, offset, got)
			}
		}
	}
	made := n.do(t, "GET", "/v1/sessions/"+oldest[2], nil).get("created_at").(string)
	before := get("order=asc&created_before=" + url.QueryEscape(made)).ids()
	after := get("order=asc&created_after=" + url.QueryEscape(made)).ids()
	if slices.Contains(before, oldest[4]) || slices.Contains(after, oldest[0]) {
		t.Errorf("before %s: %v, after: %v", made, before, after)
	}
	other := at(get("created_after=2020-01-01T00:00:00Z"), "next_cursor")
	for query, param := range map[string]string{
		"order=newest": "order", "order=": "order", "offset=-1": "offset", "offset=10001": "offset", "offset=x": "offset", "offset=": "offset",
		"offset=1&cursor=" + at(all, "next_cursor") + at(get(""), "next_cursor"): "offset", "before=x": "before", "cursor=x": "cursor",
		"cursor=" + at(get(""), "next_cursor") + "&before=" + at(get(""), "next_cursor"): "before",
		"created_after=yesterday": "created_after", "created_before=": "created_before", "cursor=" + other: "cursor",
	} {
		if got := n.do(t, "GET", "/v1/sessions?workspace_id=ws_default&limit=2&"+query, nil).wantError(400, abi.CodeInvalidRequest); got.Param != param {
			t.Errorf("%s: names %s, want %s", query, got.Param, param)
		}
	}
	session := oldest[0]
	for _, words := range []string{"one", "two", "three"} {
		n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message(words)}).want(201)
	}
	said := n.do(t, "GET", "/v1/sessions/"+session+"/messages", nil).ids()
	turned := n.do(t, "GET", "/v1/sessions/"+session+"/messages?order=desc", nil).ids()
	if slices.Reverse(turned); !slices.Equal(said, turned) || len(said) != 3 {
		t.Errorf("the transcript is %v, and from its end %v", said, turned)
	}
}

// Clients narrow Tasks and Sessions by status and Persona, and learn how many there are.
func TestListsByStatusAndTotals(t *testing.T) {
	n := newNode(t)
	sessions := []string{n.session(t), n.session(t), n.session(t)}
	n.do(t, "POST", "/v1/sessions/"+sessions[1]+"/close", nil).want(200)
	n.do(t, "POST", "/v1/sessions/"+sessions[2]+"/messages", object{"message": message("hi")}).want(201)
	done := n.finished(t, sessions[0])
	get := func(path string) *answer { return n.do(t, "GET", path, nil).want(200) }
	for path, want := range map[string][]string{
		"/v1/sessions?status=CLOSED": {sessions[1]}, "/v1/sessions?status=ACTIVE&order=asc": {sessions[0], sessions[2]}, "/v1/sessions?status=PAUSED": nil,
		"/v1/sessions?persona_id=persona_none": nil, "/v1/tasks?status=COMPLETED": {done}, "/v1/tasks?status=FAILED": nil,
		"/v1/tasks?persona_id=persona_echo&status=COMPLETED": {done}, "/v1/tasks?persona_id=persona_digest": nil,
		"/v1/sessions/" + sessions[0] + "/tasks?status=COMPLETED": {done}, "/v1/sessions/" + sessions[0] + "/tasks?status=WORKING": nil,
	} {
		if got := get(path).ids(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]float64{
		"/v1/sessions?workspace_id=ws_default&include_total=true&limit=1": 3, "/v1/sessions?workspace_id=ws_default&include_total=true&offset=3": 3, "/v1/tasks?include_total=true": 1,
		"/v1/tasks?include_total=true&workspace_id=ws_default": 1, "/v1/tasks?include_total=true&workspace_id=ws_none": 0,
		"/v1/sessions/" + sessions[2] + "/messages?include_total=true": 1, "/v1/sessions/" + sessions[1] + "/tasks?include_total=true": 0,
		"/v1/sessions?workspace_id=ws_default&include_total=true&created_before=2020-01-01T00:00:00Z": 0,
	} {
		if got := get(path).get("page", "total"); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := get("/v1/sessions?include_total=false").get("page").(map[string]any); len(got) != 2 {
		t.Errorf("nobody asked for %v", got)
	}
	counts := map[any]any{}
	for _, s := range get("/v1/sessions?include_message_count=true").get("data").([]any) {
		counts[s.(object)["id"]] = s.(object)["message_count"]
	}
	if counts[sessions[1]] != 0. || counts[sessions[2]] != 1. {
		t.Errorf("the messages are %v", counts)
	}
	for path, param := range map[string]string{
		"/v1/tasks?status=DONE": "status", "/v1/tasks?status=": "status", "/v1/sessions?status=COMPLETED": "status", "/v1/tasks?include_total=1": "include_total",
		"/v1/tasks?include_total=true&status=FAILED": "include_total", "/v1/tasks?offset=1&persona_id=persona_echo": "offset",
	} {
		if got := n.do(t, "GET", path, nil).wantError(400, abi.CodeInvalidRequest); got.Param != param {
			t.Errorf("%s: names %s, want %s", path, got.Param, param)
		}
	}
}
