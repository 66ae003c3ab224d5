package harn

import (
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// FuzzCursor: no text opens as a cursor of a list that it was not made for.
func FuzzCursor(f *testing.F) {
	f.Add("tenant", "/v1/tasks", "task_01", "AAAAAAAAAAAAAAAA")
	f.Add("", "", "", "")
	f.Add("t", "/v1/sessions/a/messages", "12", "!")
	f.Fuzz(func(t *testing.T, tenant, path, after, text string) {
		list := listHash(tenant, path)
		if after != "" {
			cursor := sealCursor(list, after)
			if got, err := openCursor(list, cursor); err != nil || got != after {
				t.Fatalf("%q: %q %v", cursor, got, err)
			}
			if got, err := openCursor(listHash(tenant, path+"x"), cursor); err == nil {
				t.Fatalf("another list's cursor opens as %q", got)
			}
		}
		if got, err := openCursor(list, text); err == nil && text != "" && sealCursor(list, got) != text {
			t.Fatalf("%q opens as %q, which is %q", text, got, sealCursor(list, got))
		}
	})
}

// FuzzNegotiate: whatever a client accepts, it gets one of the offers or a refusal,
// and what it names alone it gets.
func FuzzNegotiate(f *testing.F) {
	offers := []string{"application/json", abi.MediaReceiptJSON, mediaCBOR}
	f.Add("*/*;q=0.1, application/json;q=0")
	f.Add("application/vnd.harn.receipt+cbor; schema=x; q=1.0")
	f.Add(";q=NaN,,a/b;q=-1")
	f.Fuzz(func(t *testing.T, accept string) {
		got, err := negotiate(accept, offers...)
		if (err == nil) != slices.Contains(offers, got) {
			t.Fatalf("%q: %q %v", accept, got, err)
		}
		for _, offer := range offers {
			if got, err := negotiate(offer+";q=0.001", offers...); err != nil || got != offer {
				t.Fatalf("%q: %q %v", offer, got, err)
			}
		}
	})
}

func TestListHashKeepsPartsApart(t *testing.T) {
	if listHash("a", "bc") == listHash("ab", "c") || listHash("a", "") == listHash("a") || listHash("1:a") == listHash("", "a") {
		t.Error("two lists share their cursors")
	}
}
