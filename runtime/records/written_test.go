package records

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// startedBefore is the payload that told the start of a Task before modules were
// rewritten, and programHashBefore what its receipt says of its program.
const (
	startedBefore = `{"program":{"type":"program","visibility":"internal","plugin":"echo","module":"sha256:50789ab7ac16c5bcc63069d5785e027947e9c21ddaf225126279da8aafbc7078","export":"run","abi":"wharf-abi-1","persona":"sha256:2caf914db317de4c5cd0282509c86e2c5701006bd95612b8fc4a827c58f8a991","seed":"MZaB/e7hBlGQl8L1VpHuVA==","limits":{"memory_bytes":268435456,"host_calls":100000,"payload_bytes":33554432,"output_bytes":67108864},"engine":"wazero-1.12.0","arch":"amd64"}}`

	programHashBefore = "sha256:776ff3468c154d3f1c2be6e0856700d0dc5ee2c4240fcee26bc8122914a22dac"
)

func TestProgramOfBefore(t *testing.T) {
	var h History
	if err := h.readStart(1, &storage.Record{Payload: []byte(startedBefore)}); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(Started(h.Program))
	if err != nil || string(again) != startedBefore {
		t.Errorf("written again: %s, %v", again, err)
	}
	if hash := receipt.ProgramHash(h.Program); hash != programHashBefore {
		t.Errorf("its hash is %s, and was %s", hash, programHashBefore)
	}
}

// What is withheld of an input is named by its place and proven by its hash, however it is
// spelled; what is not an input of parts has nothing to withhold.
func TestWithheld(t *testing.T) {
	secret := journal.HashOf([]byte(`{"text":"x","type":"text","visibility":"receipt_only"}`))
	for input, want := range map[string][]string{
		`{"parts":[{"type":"text","text":"x"},{"visibility":"receipt_only", "type":"text","text":"\u0078"}]}`:                                                                          {"/1"},
		`{"parts":[{"type":"text","text":"x","visibility":"receipt_only"},{"type":"text","text":"x","visibility":"internal"},{"text":"x","type":"text","visibility":"receipt_only"}]}`: {"/0", "/2"},
		`{"parts":[{"type":"text","text":"receipt_only"}]}`: nil,
		`{"parts":["receipt_only",null]}`:                   nil,
		`{"receipt_only":true}`:                             nil,
		`"receipt_only"`:                                    nil,
	} {
		got := withheld(jsontext.Value(input))
		if len(got) != len(want) {
			t.Errorf("of %s is withheld %+v", input, got)
			continue
		}
		for i, r := range got {
			if !strings.HasSuffix(r.Field, "/parts"+want[i]) || r.ProofHash != secret {
				t.Errorf("of %s is withheld %+v, want part %s with the hash %s", input, r, want[i], secret)
			}
		}
	}
}
