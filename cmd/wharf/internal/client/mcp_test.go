package client

import "testing"

// What is no message passes the pipe as it is: it is the node's to refuse.
func TestMCPLines(t *testing.T) {
	for _, text := range []string{`null`, `[]`, `1`, `{"id":1,"id":2,"method":"ping"}`, `{"params":null}`} {
		m, ok := readLine([]byte(text))
		if !ok || string(m.text) != text {
			t.Errorf("%s is read as %q, valid %v", text, m.text, ok)
		}
	}
	if _, ok := readLine([]byte(`{"id":`)); ok {
		t.Error("half a message is taken for one")
	}
}
