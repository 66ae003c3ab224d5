package bundle

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// forged is a bundle, signed with key 1, in which a file has another content.
func forged(t testing.TB, name, content string) []byte {
	t.Helper()
	c := sampleContents(t)
	c.Proof = &receipt.Inclusion{}
	sources, err := c.sources()
	if err != nil {
		t.Fatal(err)
	}
	m := manifest{Format: Format, TaskID: c.Record.TaskID}
	for i := range sources {
		if sources[i].name == name {
			sources[i] = inMemory(name, []byte(content))
		}
		f, err := describe(&sources[i])
		if err != nil {
			t.Fatal(err)
		}
		m.Files = append(m.Files, f)
	}
	head, err := m.sign(testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if name == nameManifest {
		head[0] = inMemory(name, []byte(content))
	}
	return rawArchive(append(head, sources...))
}

// fill is how many bytes of members a file gets.
const fill = 256 << 10

// dense are the contents of files that are full of as many members as they hold: @
// stands for what fills them, up to so many bytes.
var dense = map[string]struct {
	places []string
	bytes  int
}{
	nameRecord: {[]string{`{"task_id":"task_1","program":{"plugin":"","module":"","export":"","abi":"","persona":"","seed":"","limits":{},"engine":""},"input":"","created_at":"2026-01-01T00:00:00Z","started_at":"2026-01-01T00:00:00Z","entries":[@]}`},
		fill},
	nameKeys:     {[]string{`{"issuer":"i","keys":[@]}`}, fill},
	nameProof:    {[]string{`{"path":[@]}`, `[@]`}, 60 << 10},
	nameManifest: {[]string{`{"format":"wharf-run-bundle-1","task_id":"task_1","files":[@]}`}, fill},
	nameTask:     {[]string{`{"id":"task_1","x":[@]}`}, fill},
	namePersona:  {[]string{`{"id":"persona_1","x":[@]}`}, fill},
	nameOfReceipt(0): {[]string{`{"approvals":[@]}`, `{"final_artifacts":[@]}`, `{"metadata":[@]}`, `{"metadata":{"x":[@]}}`, `{"x":[@],"signatures":[@]}`,
		`{"approvals":[{"action":"a","actor":"b","decided_at":"2026-01-01T00:00:00Z","decision":"approved","quorum_proof":{"approved_by":[@]}}]}`}, fill},
}

var smallest = []string{`{}`, `""`, `0`, `[]`, `null`, `{"a":0}`, `{"index":0,"call":"x","at":"2026-01-01T00:00:00Z"      }`,
	`{"index":0,"call":"clock","effect":"read","at":"2026-01-01T00:00:00Z","status":0,"request":"","answer":""}`}

// Whatever list of whatever file a stranger fills, verifying the bundle takes at most
// eight times its bytes, and a few megabytes of its own.
func TestBundlesOfManyMembers(t *testing.T) {
	share.Alone(t)
	for name, file := range dense {
		for _, place := range file.places {
			for _, filler := range smallest {
				times := file.bytes / strings.Count(place, "@") / (len(filler) + 1)
				b := forged(t, name, strings.ReplaceAll(place, "@", strings.TrimSuffix(strings.Repeat(filler+",", times), ",")))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r := verify(t, b, Options{})
				runtime.ReadMemStats(&after)
				most := 8*len(b) + 4<<20
				if took := after.TotalAlloc - before.TotalAlloc; took > uint64(most) {
					t.Errorf("%s: %.60s with %s: %d bytes took %d", name, place, filler, len(b), took)
				}
				if r.Valid && name != nameTask {
					t.Errorf("%s with %s is valid", name, filler)
				}
			}
		}
	}
}

// What nobody who is trusted has signed is not looked into.
func TestAStrangersBundleIsLeftAlone(t *testing.T) {
	b := forged(t, nameRecord, `{"entries":[`+strings.Repeat(`{},`, 100)+`{}]}`)
	r := verify(t, b, Options{TrustKeys: []abi.SigningKey{testKey(3).Public(start)}})
	if n := len(r.Checks); r.Valid || n != 2 || r.Checks[1].Name != CheckNameSignature || r.Checks[1].Status != receipt.CheckFailed {
		t.Errorf("%+v", r.Checks)
	}
}

// What nodes write is far from what is refused as too dense.
func TestRealFilesAreSparse(t *testing.T) {
	share.Alone(t)
	c := sampleContents(t)
	for i := range 30_000 {
		key := testKey(byte(i)).Public(start)
		key.KeyID = fmt.Sprint("sig_", i)
		c.Keys.Keys = append(c.Keys.Keys, key)
	}
	text, err := json.Marshal(c.Keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSparse(text); err != nil {
		t.Error(err)
	}
	for _, r := range c.Receipts {
		if n := abi.Values(r); 2*n > len(r)/bytesForValue+freeValues {
			t.Errorf("a receipt of %d bytes has %d values", len(r), n)
		}
	}
}

// The smallest members of the lists of a receipt that its schema takes.
var smallestOfReceipts = map[string]string{
	"approvals":                           `{"action":"a","actor":"b","decided_at":"2026-01-01T00:00:00Z","decision":"approved"}`,
	"final_artifacts":                     `{"artifact_id":"a","kind":"b"}`,
	"deltas":                              `{"operation":"add","path":"p"}`,
	"redactions":                          `{"field":"f","reason":"r"}`,
	"model_route/alternatives_considered": `{"model":"m","provider":"p"}`,
	"replay_input/materials":              `{"kind":"host_fact","metadata":{}}`,
	"side_effects/fs_writes":              `{"operation":"create","path":"p"}`,
	"side_effects/tool_calls":             `{"call_id":"c","status":"failed","tool":"t"}`,
	"side_effects/network_egress":         `{"destination":"d","purpose":"p"}`,
	"cost/provider_breakdown":             `{"amount":0,"input_tokens":0,"output_tokens":0,"provider":"p"}`,
}

// holds returns the most memory that f held at once. What is more than limit is measured
// again, and the least counts: what f allocates while a collection marks counts as held, and
// on a busy machine that takes long.
func holds(limit uint64, f func()) (took uint64) {
	took = most(f)
	for range 4 {
		if took <= limit {
			break
		}
		took = min(took, most(f))
	}
	return took
}

// most returns the most memory that f held, as far as one collection after another tells.
// Garbage does not count: how much of it waits says how busy the machine is.
func most(f func()) (took uint64) {
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	live := func() uint64 {
		runtime.GC()
		metrics.Read(held)
		return held[0].Value.Uint64()
	}
	before := live()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		select {
		case <-done:
			return took
		default:
		}
		if now := live(); now > before {
			took = max(took, now-before)
		}
	}
}

// A receipt that its schema takes, with a list as long as can be, takes no more either. What
// is held against the schema and dropped again does not count.
func TestReceiptsOfManyMembers(t *testing.T) {
	share.Alone(t)
	const bytes = 1 << 20
	for at, member := range smallestOfReceipts {
		member += strings.Repeat(" ", max(0, bytesForValue*(abi.Values([]byte(member))+1)-len(member))) // as dense as may be
		var doc map[string]any
		if err := json.Unmarshal(sampleContents(t).Receipts[0], &doc); err != nil {
			t.Fatal(err)
		}
		in := doc
		list := at
		if outer, inner, nested := strings.Cut(at, "/"); nested {
			in, list = doc[outer].(map[string]any), inner
		}
		in[list] = []string{"@"}
		text, err := json.Marshal(doc, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		filled := strings.Replace(string(text), `["@"]`, "["+strings.TrimSuffix(strings.Repeat(member+",", bytes/(len(member)+1)), ",")+"]", 1)
		b := forged(t, nameOfReceipt(0), filled)
		var r receipt.Report
		limit := uint64(8*len(b) + 4<<20)
		if took := holds(limit, func() { r = verify(t, b, Options{}) }); took > limit {
			t.Errorf("%s: %d bytes took %d", at, len(b), took)
		}
		if r.Valid {
			t.Errorf("%s: it is valid", at)
		}
		for _, c := range r.Checks {
			if c.Name == nameOfReceipt(0)+": "+receipt.CheckNameSchema && c.Status != receipt.CheckOK {
				t.Errorf("%s: the schema does not take it: %s", at, c.Reason)
			}
		}
	}
}
