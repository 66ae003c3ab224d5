package node

import "testing"

// TestConnectionsFitTheFiles holds that clients never get the files that the node needs
// for itself, and that as many connections as configured are accepted where they fit.
func TestConnectionsFitTheFiles(t *testing.T) {
	for _, test := range []struct {
		configured, want int
		files            uint64
	}{
		{8192, 8192, 1 << 62},
		{8192, 8192, 20_000},
		{8192, 8192, 8192 + ownFiles},
		{8192, 8191, 8191 + ownFiles},
		{8192, 1500, 3000},
		{8192, 512, 1024},
		{8192, 128, 256},
		{100, 100, 256},
		{8192, 1, 1},
		{8192, 1, 0},
	} {
		if got := connectionsWithin(test.configured, test.files); got != test.want {
			t.Errorf("%d configured and %d files: %d connections, want %d", test.configured, test.files, got, test.want)
		}
	}
}
