package node

import "testing"

// TestPluginsLeaveRoom holds that running plugins, with the one that never waits, take no
// more than their part of a node's memory, as long as that one may not take it alone.
func TestPluginsLeaveRoom(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct{ configured, memory, largest, want int64 }{
		{0, 0, gib / 4, 0},
		{5, gib, gib / 4, 5},
		{0, gib, gib / 4, gib / 8},
		{0, 16 * gib, gib / 4, 6*gib - gib/4},
		{0, gib, 4 * gib, gib / 8},
	} {
		if got := guestBytes(test.configured, test.memory, test.largest); got != test.want {
			t.Errorf("configured %d of %d with plugins of %d: %d, want %d", test.configured, test.memory, test.largest, got, test.want)
		}
	}
}
