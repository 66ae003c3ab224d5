package storagetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func wordTests() []test {
	return []test{
		{"Memories are found by their words", search},
		{"a redacted Memory is not found", redacted},
	}
}

// searchAll returns the ids that a search yields over all its pages.
func (h *harness) searchAll(text string, limit int) (all []string) {
	h.Helper()
	q := storage.Query{Owner: id(abi.ObjectSession, 1), Terms: storage.Terms(text), Limit: limit}
	for {
		found, next, err := h.store.Search(ctx, 1, q)
		if err != nil || len(found) > limit {
			h.Fatalf("searching %q: %d found, %v", text, len(found), err)
		}
		all = append(all, ids(found)...)
		if next == "" {
			return all
		}
		q.After = next
	}
}

func (h *harness) wantFound(text string, numbers ...int) {
	h.Helper()
	var want []string
	for _, n := range numbers {
		want = append(want, id(abi.ObjectMemory, n))
	}
	for _, limit := range []int{1, 2, 9} {
		if got := h.searchAll(text, limit); !slices.Equal(got, want) {
			h.Errorf("%q, %d at a time: %v, want %v", text, limit, got, want)
		}
	}
}

func search(h *harness) {
	for n, content := range []string{"the sky is blue", "the sea is blue, too", "skylarks sing", "The SKY again", strings.Repeat("sky ", 2000)} {
		h.append(memory(n+1, content))
	}
	hidden, other := memory(6, "sky"), memory(7, "sky")
	hidden.Frame.Records[0].State = fmt.Appendf(nil, `{"owner_id":%q,"content":"sky","visibility":"receipt_only"}`, id(abi.ObjectSession, 1))
	other.Frame.Records[0].State = []byte(`{"owner_id":"somebody else","content":"sky"}`)
	h.append(hidden)
	h.append(other)
	for range 2 {
		h.wantFound("", 6, 5, 4, 3, 2, 1)
		h.wantFound("sky", 5, 4, 1)
		h.wantFound("SKY blue", 1)
		h.wantFound("sk*", 5, 4, 3, 1)
		h.wantFound("sky* is", 1)
		h.wantFound("blue too", 2)
		h.wantFound("ky")
		h.wantFound("sea again")
		if found, next, err := h.store.Search(ctx, 2, storage.Query{Owner: id(abi.ObjectSession, 1), Limit: 9}); err != nil || len(found) != 0 || next != "" {
			h.Errorf("another tenant finds %v, %v", found, err)
		}
		h.crash()
	}
}

func redacted(h *harness) {
	h.append(memory(1, "the sky is blue"))
	h.append(memory(2, "blue"))
	h.store.Append(memory(3, "blue again"))
	h.append(redact(3)) // sees what was handed over just before
	h.append(redact(1))
	for range 2 {
		h.wantFound("blue", 2)
		h.wantFound("sky")
		h.wantFound("", 2)
		h.sound()
		h.crash()
	}
}
