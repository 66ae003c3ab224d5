package gateway

import "testing"

func TestClearlyFramed(t *testing.T) {
	for headers, want := range map[string]bool{
		"":                                     true,
		"Host: x\r\nContent-Length: 5\r\n\r\n": true,
		"Transfer-Encoding: chunked\r\n\r\n":   true,
		"transfer-encoding:CHUNKED\n\n":        true,
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n":    false,
		"transfer-encoding: chunked\r\ncontent-LENGTH: 5\r\n\r\n":    false,
		"Transfer-Encoding: identity\r\n\r\n":                        false,
		"Transfer-Encoding: chunked, identity\r\n\r\n":               false,
		"Transfer-Encoding:\r\n\r\n":                                 false,
		"Transfer-Encoding:\r\n chunked\r\n\r\n":                     false,
		"Content-Length:\r\n\t5\r\n\r\n":                             false,
		"X: a\r\n b\r\n\r\n":                                         false,
		"X-Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\n": true,
		"Trailer: x\r\nTransfer-Encoding: chunked\r\n\r\n":           true,
	} {
		if got := clearlyFramed([]byte(headers)); got != want {
			t.Errorf("%q: %v, want %v", headers, got, want)
		}
	}
}
