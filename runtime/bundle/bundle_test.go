package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 4, 25, 19, 16, 10, 0, time.UTC)

func testKey(n byte) *receipt.Key { return receipt.NewKey(bytes.Repeat([]byte{n}, 32)) }

var module = []byte("\x00asm\x01\x00\x00\x00")

// sampleRecord is a run of three calls, one of them with an answer that is no text.
func sampleRecord() *journal.Record {
	entry := func(i int, call, key, request, answer string) journal.Entry {
		def, _ := abi.LookupHostCall(call)
		return journal.Entry{Index: i, Call: call, Effect: def.Effect, Key: key, At: start.Add(time.Duration(i+1) * 1500 * time.Millisecond),
			Request: journal.Text(request), Answer: journal.Text(answer)}
	}
	persona := []byte(`{"id":"persona_1"}`)
	return &journal.Record{TaskID: "task_1", Input: journal.Text(`{"input":{"n":1}}`), CreatedAt: start, StartedAt: start.Add(time.Second), EndedAt: start.Add(5 * time.Second),
		Program: journal.Program{Plugin: "echo", Module: journal.HashOf(module), Export: "run", ABI: abi.ABIVersion, Persona: journal.HashOf(persona),
			Seed: bytes.Repeat([]byte{7}, 16), Engine: "wazero", Rewriter: "wharf-1",
			Limits: journal.Limits{MemoryBytes: 1 << 24, HostCalls: 1000, PayloadBytes: 1 << 20, OutputBytes: 1 << 20, Gas: 1e11, Depth: 65536}},
		Entries: []journal.Entry{
			entry(0, abi.CallRandom, "host:random:1", "\x04\x00\x00\x00", "\xff\x00\xfe\x01"),
			entry(1, abi.CallToolCall, "mcp:files:1", `{"server":"files","name":"read","arguments":{"path":"ä"}}`, `{"content":[{"type":"text","text":"x"}]}`),
			entry(2, abi.CallArtifactPut, "", "{\"kind\":\"file\"}\nsha256:00 9 bytes", `{"artifact_id":"art_1","sha256":"00"}`)},
		End: &journal.End{Status: abi.TaskCompleted, Calls: 3, Gas: 1_234_567}}
}

func sampleFacts() *receipt.Facts {
	blob := []byte("artifact!")
	return &receipt.Facts{ReceiptID: "rcpt_1", IssuerID: "wharf", IssuerVersion: "0.2.0", TenantID: "tenant_1", PersonaRef: "persona_1@1",
		WorkspaceID: "ws_1", SessionID: "sess_1", TaskID: "task_1", CreatedAt: start, StartedAt: start.Add(time.Second),
		CompletedAt: start.Add(5 * time.Second), IssuedAt: start.Add(5 * time.Second), Status: abi.TaskCompleted,
		StartTier: abi.TierActAuto, EndTier: abi.TierActAuto, NodeVersion: "0.2.0",
		Artifacts: []receipt.ArtifactRef{{ArtifactID: "art_1", Kind: "file", SHA256: journal.HashOf(blob), URI: receipt.ArtifactURI("art_1")}}}
}

// sampleContents are those of a small bundle with every part, of a Task whose
// receipt follows another one.
func sampleContents(t testing.TB) *Contents {
	t.Helper()
	record := sampleRecord()
	previous := sealed(t, sampleFacts(), &journal.Record{TaskID: "task_0"}, "")
	mine := sealed(t, sampleFacts(), record, previous.Chain.ReceiptHash)
	batch, err := receipt.SealBatch("ws_1", 0, []string{previous.Chain.ReceiptHash, mine.Chain.ReceiptHash}, testKey(1), start)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := batch.Include(mine.Chain.ReceiptHash)
	if err != nil {
		t.Fatal(err)
	}
	return &Contents{Record: record, Module: module, Proof: &proof, Task: jsontext.Value(`{"id":"task_1","object":"task"}`),
		Outcome: jsontext.Value(`{"id":"out_1","task_id":"task_1"}`), Persona: jsontext.Value(`{"id":"persona_1"}`),
		Receipts: []jsontext.Value{previous.AppendCanonical(nil), mine.AppendCanonical(nil)},
		Keys:     abi.SigningKeys{Issuer: "wharf", Keys: []abi.SigningKey{testKey(1).Public(start)}},
		Blobs:    []Blob{blobOf("artifact!"), blobOf("")}}
}

func sealed(t testing.TB, f *receipt.Facts, record *journal.Record, previous string) *receipt.Receipt {
	t.Helper()
	f.TaskID = record.TaskID
	if record.End != nil {
		f.Gas = record.End.Gas
	}
	tally := receipt.NewTally(nil, nil, record.TaskID)
	if record.Program.Module != "" {
		tally = receipt.NewTally(&record.Program, record.Input, record.TaskID)
	}
	for i := range record.Entries {
		if record.Entries[i].Open {
			break
		}
		if err := tally.Add(&record.Entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := receipt.Build(f, tally)
	if err != nil {
		t.Fatal(err)
	}
	receipt.Seal(r, previous, testKey(1), r.IssuedAt)
	return r
}

func blobOf(content string) Blob {
	return Blob{Hash: sha256.Sum256([]byte(content)), Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func write(t testing.TB, c *Contents) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c, testKey(1)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func verify(t testing.TB, b []byte, o Options) receipt.Report {
	t.Helper()
	return Verify(t.Context(), bytes.NewReader(b), int64(len(b)), o)
}

func wantStatus(t *testing.T, r receipt.Report, want map[string]receipt.CheckStatus) {
	t.Helper()
	got := map[string]receipt.CheckStatus{}
	for _, c := range r.Checks {
		got[c.Name] = c.Status
	}
	for name, status := range want {
		if got[name] != status {
			t.Errorf("%s is %q, want %q: %+v", name, got[name], status, r.Checks)
		}
	}
}

func TestGoodBundle(t *testing.T) {
	rerun := func(_ context.Context, c *Contents) ([]receipt.Check, error) {
		return []receipt.Check{receipt.Passed("executed "+c.Record.TaskID, nil)}, nil
	}
	report := verify(t, write(t, sampleContents(t)), Options{TrustKeys: []abi.SigningKey{testKey(1).Public(start)}, Rerun: rerun})
	for _, c := range report.Checks {
		if c.Status != receipt.CheckOK && !(c.Name == "receipts/000.json: from_record" || c.Name == "receipts/000.json: merkle_root") {
			t.Errorf("%s: %s (%s)", c.Name, c.Status, c.Reason)
		}
	}
	wantStatus(t, report, map[string]receipt.CheckStatus{"executed task_1": receipt.CheckOK, "receipts/001.json: from_record": receipt.CheckOK,
		"receipts/001.json: merkle_root": receipt.CheckOK, "receipts/001.json: chain": receipt.CheckOK, "receipts/000.json: from_record": receipt.CheckNotChecked,
		CheckNameBatch: receipt.CheckOK, CheckNameArtifacts: receipt.CheckOK})
	if !report.Valid {
		t.Error(report.Reason())
	}
}

// TestEveryChangedByteIsFound flips a bit of every byte of a bundle in turn,
// without executing anything.
func TestEveryChangedByteIsFound(t *testing.T) {
	b := write(t, sampleContents(t))
	if r := verify(t, b, Options{}); !r.Valid {
		t.Fatal(r.Reason())
	}
	for i := range b {
		bit := byte(1) << (i % 8)
		b[i] ^= bit
		if verify(t, b, Options{}).Valid {
			t.Errorf("bit %#x of byte %d of %d: ...%q...", bit, i, len(b), b[max(0, i-20):min(len(b), i+20)])
		}
		b[i] ^= bit
	}
	for _, n := range []int{0, 1, endSize, len(b) / 2, len(b) - 1} {
		if verify(t, b[:n], Options{}).Valid {
			t.Errorf("%d of %d bytes are a valid bundle", n, len(b))
		}
	}
	if verify(t, append(b, 0), Options{}).Valid {
		t.Error("a byte was added")
	}
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	want := sampleContents(t)
	b := write(t, want)
	got, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if again := write(t, got); !bytes.Equal(again, b) {
		t.Error("written again, the bundle differs")
	}
	for _, blob := range want.Blobs {
		read, ok := got.Blob(blob.Hash)
		if !ok || content(t, read) != content(t, blob) {
			t.Errorf("blob %x: %q", blob.Hash, content(t, read))
		}
	}
	got.Blobs, want.Blobs = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func content(t *testing.T, b Blob) string {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnyZipReaderOpensIt is for people who look into a bundle with what they have.
func TestAnyZipReaderOpensIt(t *testing.T) {
	b := write(t, sampleContents(t))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err != nil { // checks the CRC
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if len(z.File) != 13 {
		t.Errorf("%d files", len(z.File))
	}
}

func TestSmallestBundle(t *testing.T) {
	c := &Contents{Record: &journal.Record{TaskID: "task_1", CreatedAt: start, End: &journal.End{Status: abi.TaskCanceled}},
		Task: jsontext.Value(`{"id":"task_1"}`), Keys: sampleContents(t).Keys}
	f := sampleFacts()
	f.StartedAt, f.Status, f.Artifacts = time.Time{}, abi.TaskCanceled, nil
	c.Receipts = []jsontext.Value{sealed(t, f, c.Record, "").AppendCanonical(nil)}
	report := verify(t, write(t, c), Options{})
	if !report.Valid {
		t.Error(report.Reason())
	}
	wantStatus(t, report, map[string]receipt.CheckStatus{"receipts/000.json: from_record": receipt.CheckOK, CheckNameModule: receipt.CheckNotChecked,
		CheckNameBatch: receipt.CheckNotChecked, CheckNameRerun: receipt.CheckNotChecked})
}

// TestForgedContents writes bundles whose parts do not fit together, signed by the
// right key: what a node that lies would export.
func TestForgedContents(t *testing.T) {
	for name, c := range map[string]struct {
		forge func(*testing.T, *Contents)
		check string
	}{
		"another answer":       {func(t *testing.T, c *Contents) { c.Record.Entries[1].Answer = journal.Text(`{"content":[]}`) }, "receipts/001.json: merkle_root"},
		"another time":         {func(t *testing.T, c *Contents) { c.Record.Entries[1].At = start }, "receipts/001.json: merkle_root"},
		"a call left out":      {func(t *testing.T, c *Contents) { c.Record.Entries = c.Record.Entries[:2] }, "receipts/001.json: from_record"},
		"a call twice":         {func(t *testing.T, c *Contents) { c.Record.Entries = append(c.Record.Entries, c.Record.Entries[2]) }, CheckNameRecord},
		"an open call inside":  {func(t *testing.T, c *Contents) { c.Record.Entries[0].Open = true }, CheckNameRecord},
		"another seed":         {func(t *testing.T, c *Contents) { c.Record.Program.Seed[0]++ }, "receipts/001.json: from_record"},
		"another input":        {func(t *testing.T, c *Contents) { c.Record.Input = journal.Text(`{}`) }, "receipts/001.json: from_record"},
		"another module":       {func(t *testing.T, c *Contents) { c.Module = []byte("x") }, CheckNameModule},
		"another Persona":      {func(t *testing.T, c *Contents) { c.Persona = jsontext.Value(`{}`) }, CheckNameModule},
		"another Task":         {func(t *testing.T, c *Contents) { c.Task = jsontext.Value(`{"id":"task_2"}`) }, CheckNameRecord},
		"another Outcome":      {func(t *testing.T, c *Contents) { c.Outcome = jsontext.Value(`{"task_id":"task_2"}`) }, CheckNameRecord},
		"another batch":        {func(t *testing.T, c *Contents) { c.Proof.First++ }, CheckNameBatch},
		"a receipt elsewhere":  {func(t *testing.T, c *Contents) { c.Receipts = c.Receipts[:1] }, CheckNameBatch},
		"effects left out":     {forgeReceipt(func(r *receipt.Receipt) { r.SideEffects.ToolCalls = nil }), "receipts/001.json: from_record"},
		"a cost made up":       {forgeReceipt(func(r *receipt.Receipt) { r.Cost.Total = 1 }), "receipts/001.json: from_record"},
		"metadata made up":     {forgeReceipt(func(r *receipt.Receipt) { r.Metadata.Engine = "other" }), "receipts/001.json: from_record"},
		"a receipt with marks": {func(t *testing.T, c *Contents) { c.Receipts[1] = append(c.Receipts[1], ' ') }, "receipts/001.json: canonical_form"},
	} {
		t.Run(name, func(t *testing.T) {
			contents := sampleContents(t)
			c.forge(t, contents)
			report := verify(t, write(t, contents), Options{})
			wantStatus(t, report, map[string]receipt.CheckStatus{c.check: receipt.CheckFailed, CheckNameArchive: receipt.CheckOK,
				CheckNameManifest: receipt.CheckOK, CheckNameSignature: receipt.CheckOK})
			if report.Valid {
				t.Error("valid")
			}
		})
	}
}

// forgeReceipt changes a receipt and seals it again.
func forgeReceipt(change func(*receipt.Receipt)) func(*testing.T, *Contents) {
	return func(t *testing.T, c *Contents) {
		r, err := receipt.Parse(c.Receipts[1])
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		receipt.Seal(r, *r.Chain.PreviousReceiptHash, testKey(1), r.IssuedAt)
		c.Receipts[1] = r.AppendCanonical(nil)
	}
}

// TestStrangersKey: a bundle that somebody signed anew is whole, and not trusted.
func TestStrangersKey(t *testing.T) {
	c := sampleContents(t)
	var b bytes.Buffer
	c.Keys.Keys = append(c.Keys.Keys, testKey(2).Public(start))
	if err := Write(&b, c, testKey(2)); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, verify(t, b.Bytes(), Options{}), map[string]receipt.CheckStatus{CheckNameSignature: receipt.CheckOK, CheckNameTrust: receipt.CheckNotChecked})
	trust := Options{TrustKeys: []abi.SigningKey{testKey(1).Public(start)}}
	// Whatever else it holds is not looked at: nobody who is trusted answers for it.
	wantStatus(t, verify(t, b.Bytes(), trust), map[string]receipt.CheckStatus{CheckNameSignature: receipt.CheckFailed, "receipts/001.json: signatures": ""})
	imposter := testKey(2).Public(start)
	imposter.KeyID = testKey(1).ID
	c = sampleContents(t)
	c.Keys.Keys = []abi.SigningKey{imposter}
	wantStatus(t, verify(t, write(t, c), trust), map[string]receipt.CheckStatus{CheckNameTrust: receipt.CheckFailed})
}

func TestRerun(t *testing.T) {
	good, bad := write(t, sampleContents(t)), sampleContents(t)
	bad.Module = []byte("x")
	called := false
	rerun := func(checks []receipt.Check, err error) func(context.Context, *Contents) ([]receipt.Check, error) {
		return func(context.Context, *Contents) ([]receipt.Check, error) { called = true; return checks, err }
	}
	for name, c := range map[string]struct {
		bundle []byte
		o      Options
		status receipt.CheckStatus
		called bool
	}{
		"an error":       {good, Options{Rerun: rerun(nil, errors.New("no memory"))}, receipt.CheckFailed, true},
		"nothing done":   {good, Options{Rerun: rerun(nil, nil)}, receipt.CheckNotChecked, true},
		"diverged":       {good, Options{Rerun: rerun([]receipt.Check{receipt.Passed(CheckNameRerun, errors.New("call 2"))}, nil)}, receipt.CheckFailed, true},
		"chain only":     {good, Options{Rerun: rerun(nil, nil), ChainOnly: true}, receipt.CheckNotChecked, false},
		"changed module": {write(t, bad), Options{Rerun: rerun(nil, nil)}, receipt.CheckNotChecked, false},
	} {
		t.Run(name, func(t *testing.T) {
			called = false
			report := verify(t, c.bundle, c.o)
			wantStatus(t, report, map[string]receipt.CheckStatus{CheckNameRerun: c.status})
			if called != c.called || report.Valid != (c.status != receipt.CheckFailed && name != "changed module") {
				t.Errorf("executed: %t; valid: %t", called, report.Valid)
			}
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Contents)
		reason string
	}{
		"no record":      {func(c *Contents) { c.Record = nil }, "needs a record"},
		"no keys":        {func(c *Contents) { c.Keys.Keys = nil }, "public keys"},
		"a wrong size":   {func(c *Contents) { c.Blobs[0].Size++ }, "announced"},
		"a wrong hash":   {func(c *Contents) { c.Blobs[0].Hash[0]++ }, "another hash"},
		"a large Task":   {func(c *Contents) { c.Task = make([]byte, 17<<20) }, "a bundle takes"},
		"a huge blob":    {func(c *Contents) { c.Blobs[0].Size = 1 << 40 }, "a bundle takes"},
		"no such blob":   {func(c *Contents) { c.Blobs[0].Open = func() (io.ReadCloser, error) { return nil, errors.New("gone") } }, "gone"},
		"1,001 receipts": {func(c *Contents) { c.Receipts = make([]jsontext.Value, 1001) }, "no place"},
	} {
		t.Run(name, func(t *testing.T) {
			contents := sampleContents(t)
			c.change(contents)
			var b bytes.Buffer
			if err := Write(&b, contents, testKey(1)); err == nil || !strings.Contains(err.Error(), c.reason) || b.Len() > 0 {
				t.Errorf("%v after %d bytes, want an error about %q", err, b.Len(), c.reason)
			}
		})
	}
	if err := Write(io.Discard, sampleContents(t), nil); err == nil {
		t.Error("written without a key")
	}
}

// TestStrangeArchives are zip files that are no bundles.
func TestStrangeArchives(t *testing.T) {
	empty := func(names ...string) (all []source) {
		for _, name := range append([]string{nameManifest, nameSignature}, names...) {
			all = append(all, inMemory(name, nil))
		}
		return all
	}
	for name, c := range map[string]struct {
		sources []source
		reason  string
	}{
		"nothing":          {nil, "does not begin"},
		"no manifest":      {empty()[1:], "does not begin"},
		"an odd name":      {empty("../etc/passwd"), "no file"},
		"an absolute name": {empty("/etc/passwd"), "no file"},
		"a folder":         {empty("blobs/"), "no file"},
		"a name twice":     {empty(nameTask, nameTask), "order of names"},
		"two manifests":    {empty(nameManifest), "no file"},
		"out of order":     {empty(nameTask, nameKeys), "order of names"},
		"receipt 1 alone":  {empty("receipts/001.json"), "receipts/000.json is not"},
		"a large file":     {append(empty(), inMemory(nameProof, make([]byte, 65<<10))), "more than 65536"},
		"another format":   {append([]source{inMemory(nameManifest, []byte(`{"files":[],"format":"x","task_id":""}`))}, empty()[1]), "its format"},
		"an empty one":     {empty(), "reading manifest.json"},
	} {
		t.Run(name, func(t *testing.T) {
			b := rawArchive(c.sources)
			if _, err := Read(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want an error about %q", err, c.reason)
			}
			report := verify(t, b, Options{})
			wantStatus(t, report, map[string]receipt.CheckStatus{CheckNameArchive: receipt.CheckFailed})
		})
	}
}

// TestRepackedArchives change a file or its checksum and make everything else of
// the archive fit.
func TestRepackedArchives(t *testing.T) {
	b := write(t, sampleContents(t))
	at := bytes.NewReader(b)
	o, err := open(at, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.members {
		contents := make([][]byte, len(o.members))
		for j := range o.members {
			if contents[j], err = o.read(&o.members[j]); err != nil {
				t.Fatal(err)
			}
		}
		checksum := repack(o.members, contents, func(m []member) { m[i].crc++ })
		if verify(t, checksum, Options{}).Valid {
			t.Errorf("%s: another checksum is accepted", o.members[i].name)
		}
		if len(contents[i]) < 10 {
			continue // an empty blob
		}
		contents[i][9] ^= 1 // within the name of a member, in JSON
		if verify(t, repack(o.members, contents, nil), Options{}).Valid {
			t.Errorf("%s: another content is accepted", o.members[i].name)
		}
	}
}

// TestManifestHasOneForm signs a manifest that says the same in other bytes.
func TestManifestHasOneForm(t *testing.T) {
	b := write(t, sampleContents(t))
	at := bytes.NewReader(b)
	o, err := open(at, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	contents := [][]byte{append(bytes.Clone(o.manifestText), ' ')}
	signature, err := canonical(manifestSignature{receipt.Algorithm, testKey(1).ID, testKey(1).Sign(signedText(contents[0]))})
	if err != nil {
		t.Fatal(err)
	}
	contents = append(contents, signature)
	for i := range o.members[2:] {
		content, err := o.read(&o.members[2+i])
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, content)
	}
	report := verify(t, repack(o.members, contents, nil), Options{})
	wantStatus(t, report, map[string]receipt.CheckStatus{CheckNameArchive: receipt.CheckFailed})
}

func repack(members []member, contents [][]byte, change func([]member)) (b []byte) {
	repacked := make([]member, len(members))
	for i := range members {
		repacked[i] = member{name: members[i].name, crc: crc32.ChecksumIEEE(contents[i]), size: int64(len(contents[i]))}
	}
	if change != nil {
		change(repacked)
	}
	for i := range repacked {
		repacked[i].offset = int64(len(b))
		b = append(append(b, repacked[i].local()...), contents[i]...)
	}
	return append(b, directory(repacked)...)
}

// rawArchive writes an archive in the right form, whatever is in it.
func rawArchive(sources []source) []byte {
	var members []member
	var contents [][]byte
	for i := range sources {
		var text bytes.Buffer
		if err := sources[i].copyTo(&text); err != nil {
			panic(err)
		}
		members, contents = append(members, member{name: sources[i].name}), append(contents, text.Bytes())
	}
	return repack(members, contents, nil)
}

// TestBombs are headers that promise more than there is.
func TestBombs(t *testing.T) {
	b := write(t, sampleContents(t))
	for name, at := range map[string]int{"compressed size": 18, "size": 22} {
		bomb := bytes.Clone(b)
		binary.LittleEndian.PutUint32(bomb[at:], 1<<31)
		if r := verify(t, bomb, Options{}); r.Valid {
			t.Errorf("%s: valid", name)
		}
	}
	both := bytes.Clone(b)
	binary.LittleEndian.PutUint32(both[18:], 1<<31)
	binary.LittleEndian.PutUint32(both[22:], 1<<31)
	wantStatus(t, verify(t, both, Options{}), map[string]receipt.CheckStatus{CheckNameArchive: receipt.CheckFailed})
	long := m(strings.Repeat("x", maxName+1))
	wantStatus(t, verify(t, append(long.local(), directory([]member{long})...), Options{}), map[string]receipt.CheckStatus{CheckNameArchive: receipt.CheckFailed})
}

func m(name string) member { return member{name: name} }

func FuzzVerify(f *testing.F) {
	f.Add(write(f, sampleContents(f)))
	before := beforeRewriting(f)
	f.Add(before)
	f.Add([]byte{})
	f.Add(rawArchive([]source{inMemory(nameManifest, []byte(`{"files":[],"format":"wharf-run-bundle-1","task_id":""}`)), inMemory(nameSignature, []byte(`{}`))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		report := verify(t, b, Options{TrustKeys: []abi.SigningKey{testKey(1).Public(start)}})
		if report.Valid && !bytes.Equal(b, write(t, sampleContents(t))) && !bytes.Equal(b, before) {
			t.Error("a forged bundle is valid")
		}
	})
}

// TestGoldenBundle holds the bytes of a whole bundle: a reader of another version,
// or in another language, has to read this one.
func TestGoldenBundle(t *testing.T) {
	path := filepath.Join("testdata", "bundle-1.zip")
	got := write(t, sampleContents(t))
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the bundle that is written differs from %s", path)
	}
	if r := verify(t, want, Options{}); !r.Valid {
		t.Error(r.Reason())
	}
}

// beforeRewriting is a bundle of a record that names no rewriter and was not
// metered, as it was written then.
func beforeRewriting(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "before.zip"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBundleOfBefore holds that bundles from before modules were rewritten are as
// valid as ever, and are read and written as the same bytes.
func TestBundleOfBefore(t *testing.T) {
	b := beforeRewriting(t)
	if r := verify(t, b, Options{TrustKeys: []abi.SigningKey{testKey(1).Public(start)}}); !r.Valid {
		t.Error(r.Reason())
	}
	c, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Record.Program; p.Rewriter != "" || p.Arch != "amd64" || p.Limits.Gas != 0 || p.Limits.Depth != 0 || c.Record.End.Gas != 0 {
		t.Errorf("read as %+v, %+v", p, c.Record.End)
	}
	if !bytes.Equal(write(t, c), b) {
		t.Error("written again, it differs")
	}
}

// TestGasIsUnderTheReceipt holds that nobody can change what a receipt says of the
// gas that a run used, nor what its record says.
func TestGasIsUnderTheReceipt(t *testing.T) {
	c := sampleContents(t)
	c.Record.End.Gas++
	r := verify(t, write(t, c), Options{})
	if r.Valid || !strings.Contains(r.Reason(), "another receipt") {
		t.Errorf("valid %t: %s", r.Valid, r.Reason())
	}
}

// TestReportIsJSON is what the command line prints.
func TestReportIsJSON(t *testing.T) {
	text, err := json.Marshal(verify(t, nil, Options{}))
	if err != nil || !strings.HasPrefix(string(text), `{"valid":false,"checks":[{"name":"archive","status":"failed","reason":`) {
		t.Errorf("%s, %v", text, err)
	}
}
