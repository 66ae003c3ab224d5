package client

import "testing"

// TestArgumentsStayInTheirSegment holds that what a user types for an id leads to no other
// route, whatever is in it.
func TestArgumentsStayInTheirSegment(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"conn_1", "dead_1", "/v1/a/conn_1/b/dead_1"},
		{"x/../y", "?limit=1", "/v1/a/x%2F..%2Fy/b/%3Flimit=1"},
		{"{}", "z", "/v1/a/%7B%7D/b/z"},
	} {
		if got := Get("/v1/a/{}/b/{}", c.first, c.second).path; got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}
