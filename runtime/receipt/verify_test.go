package receipt

import (
	"bytes"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	json "github.com/go-json-experiment/json"
	"github.com/gowebpki/jcs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// known are the public halves of the keys of these tests.
func known(keys ...*Key) (public []abi.SigningKey) {
	for _, k := range keys {
		public = append(public, k.Public(start))
	}
	return public
}

// fullTrust is all that there is to know of the sealed receipt.
func fullTrust() Trust {
	none := ""
	return Trust{Keys: known(testKey(1)), Anchor: testKey(1).ID, At: start.Add(time.Hour), Previous: &none, Leaves: Leaves(agentRun())}
}

func TestVerifyGoodReceipt(t *testing.T) {
	report := Verify(sealed(t).AppendCanonical(nil), fullTrust())
	for _, c := range report.Checks {
		if c.Status != CheckOK {
			t.Errorf("%s: %s (%s)", c.Name, c.Status, c.Reason)
		}
	}
	if !report.Valid || report.Reason() != "" || len(report.Checks) != 8 {
		t.Errorf("%+v", report)
	}
}

// TestEveryChangedByteIsFound flips a bit of every byte of a receipt. What is signed at issue
// has no byte that is not covered.
func TestEveryChangedByteIsFound(t *testing.T) {
	wire := sealed(t).AppendCanonical(nil)
	trust := Trust{Keys: known(testKey(1))}
	if r := Verify(wire, trust); !r.Valid {
		t.Fatal(r.Reason())
	}
	for i := range wire {
		bit := byte(1) << (i % 8)
		wire[i] ^= bit
		if r := Verify(wire, trust); r.Valid {
			t.Errorf("bit %#x of byte %d: ...%s...", bit, i, wire[max(0, i-30):min(len(wire), i+30)])
		}
		wire[i] ^= bit
	}
}

// TestVerifySaysWhatIsWrong holds the check that fails and its reason, by fault.
func TestVerifySaysWhatIsWrong(t *testing.T) {
	other := journal.HashOf([]byte("other"))
	for name, c := range map[string]struct {
		receipt func(*Receipt)
		trust   func(*Trust)
		check   string
		reason  string
	}{
		"a changed cost":       {func(r *Receipt) { r.Cost.Total = 9 }, nil, CheckNameHash, "its content gives sha256:"},
		"a changed chain":      {func(r *Receipt) { Seal(r, other, testKey(1), r.IssuedAt) }, nil, CheckNameChain, "the receipt before is none"},
		"another previous":     {nil, func(t *Trust) { t.Previous = &other }, CheckNameChain, "it follows none"},
		"a removed signature":  {func(r *Receipt) { r.Signatures = nil }, nil, CheckNameSignatures, "has not signed it"},
		"another signer":       {func(r *Receipt) { Seal(r, "", testKey(2), r.IssuedAt) }, nil, CheckNameSignatures, "not known"},
		"a replaced signature": {func(r *Receipt) { r.Signatures[0].Signature = testKey(2).Sign(r.Chain.ReceiptHash) }, nil, CheckNameSignatures, "does not hold"},
		"a short signature":    {func(r *Receipt) { r.Signatures[0].Signature = "base64:AAAA" }, nil, CheckNameSignatures, "64 bytes"},
		"another algorithm":    {func(r *Receipt) { r.Signatures[0].Algorithm = "none" }, nil, CheckNameSignatures, `algorithm "none"`},
		"a retired key":        {nil, func(t *Trust) { t.Keys[0].RetiredAt = start }, CheckNameSignatures, "retired"},
		"a key from later":     {nil, func(t *Trust) { t.Keys[0].CreatedAt = start.Add(time.Hour) }, CheckNameSignatures, "before the key"},
		"asked too early":      {nil, func(t *Trust) { t.At = start }, CheckNameTime, "issued at"},
		"another anchor":       {nil, func(t *Trust) { t.Anchor = known(testKey(2))[0].PublicKey }, CheckNameAnchor, "has not signed"},
		"no anchor":            {nil, func(t *Trust) { t.Anchor = "???" }, CheckNameAnchor, "neither the id"},
		"another record":       {nil, func(t *Trust) { t.Leaves = t.Leaves[1:] }, CheckNameMerkle, "record of 6 calls"},
		"no record":            {nil, func(t *Trust) { t.Leaves = t.Leaves[:0] }, CheckNameMerkle, "gives none"},
	} {
		t.Run(name, func(t *testing.T) {
			r, trust := sealed(t), fullTrust()
			if c.receipt != nil {
				c.receipt(r)
			}
			if c.trust != nil {
				c.trust(&trust)
			}
			report := Verify(r.AppendCanonical(nil), trust)
			wantStatus(t, report, map[string]CheckStatus{c.check: CheckFailed})
			if report.Valid || !strings.Contains(reasonOf(report, c.check), c.reason) {
				t.Errorf("valid %t; %s: %q, want %q", report.Valid, c.check, reasonOf(report, c.check), c.reason)
			}
		})
	}
}

func reasonOf(r Report, check string) string {
	for _, c := range r.Checks {
		if c.Name == check {
			return c.Reason
		}
	}
	return ""
}

func TestVerifySaysWhatItDidNotCheck(t *testing.T) {
	report := Verify(sealed(t).AppendCanonical(nil), Trust{})
	wantStatus(t, report, map[string]CheckStatus{CheckNameHash: CheckOK, CheckNameChain: CheckNotChecked, CheckNameSignatures: CheckNotChecked,
		CheckNameTime: CheckNotChecked, CheckNameAnchor: CheckNotChecked, CheckNameMerkle: CheckNotChecked})
	for _, c := range report.Checks {
		if c.Status == CheckNotChecked && c.Reason == "" {
			t.Errorf("%s is not checked, for no reason", c.Name)
		}
	}
	if !report.Valid {
		t.Error(report.Reason())
	}
}

func TestVerifyByRawKey(t *testing.T) {
	trust := Trust{Anchor: known(testKey(1))[0].PublicKey}
	wantStatus(t, Verify(sealed(t).AppendCanonical(nil), trust), map[string]CheckStatus{CheckNameAnchor: CheckOK})
}

func TestRotationHasGrace(t *testing.T) {
	trust := fullTrust()
	trust.Keys[0].RetiredAt = sealed(t).IssuedAt.Add(-time.Second) // fetched before, used after
	wantStatus(t, Verify(sealed(t).AppendCanonical(nil), trust), map[string]CheckStatus{CheckNameSignatures: CheckOK})
}

func TestVerifyWantsTheCanonicalForm(t *testing.T) {
	spaced := append([]byte(" "), sealed(t).AppendCanonical(nil)...)
	report := Verify(spaced, fullTrust())
	wantStatus(t, report, map[string]CheckStatus{CheckNameCanonical: CheckFailed, CheckNameHash: CheckOK})
	twice := bytes.Replace(sealed(t).AppendCanonical(nil), []byte(`"cost":`), []byte(`"trust":1,"cost":`), 1)
	if Verify(twice, fullTrust()).Valid {
		t.Error("a name that is there twice was accepted")
	}
}

// TestReplaySignature holds that a replay's receipt is signed later than issued.
func TestReplaySignature(t *testing.T) {
	r := build(t, replayFacts(), tallyOf(t, agentRun()))
	source := sealed(t).Chain.ReceiptHash
	Seal(r, source, testKey(1), start.Add(24*time.Hour))
	if r.Issuer.PublicKeyID != "" || r.Signatures[0].SignedAt.IsZero() {
		t.Errorf("issuer %+v, signature %+v", r.Issuer, r.Signatures[0])
	}
	trust := Trust{Keys: []abi.SigningKey{testKey(1).Public(start.Add(23 * time.Hour))}, Previous: &source, Anchor: testKey(1).ID}
	if report := Verify(r.AppendCanonical(nil), trust); !report.Valid {
		t.Error(report.Reason())
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(sealed(f).AppendCanonical(nil))
	for _, name := range []string{"valid-shape.json", "invalid-no-hash.json", "replay.json", "canceled.json"} {
		f.Add(readFile(f, "testdata", name))
	}
	for _, text := range []string{"", "null", "[]", `{"chain":null}`, `{"schema":1e400}`, "\xff", strings.Repeat("[", 20000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		report := Verify(wire, fullTrust())
		if _, err := json.Marshal(report); err != nil && report.Valid {
			t.Error(err)
		}
		if !report.Valid {
			return
		}
		if hash, err := HashWire(wire); err != nil || hash != sealed(t).Chain.ReceiptHash { // nobody else has the key
			t.Errorf("accepted %s", wire)
		}
	})
}

// TestCBORKeepsTheHash holds that the archive form leads back to the canonical bytes.
func TestCBORKeepsTheHash(t *testing.T) {
	for _, name := range []string{"task.json", "replay.json", "valid-shape.json"} {
		wire, err := Canonicalize(readFile(t, "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		archive, err := ToCBOR(wire)
		if err != nil {
			t.Fatal(err)
		}
		back, err := fromCBOR(archive)
		if err != nil || !bytes.Equal(back, wire) {
			t.Errorf("%s came back as %s (%v)", wire, back, err)
		}
		if len(archive) >= len(wire) {
			t.Errorf("%s: %d bytes of CBOR for %d of JSON", name, len(archive), len(wire))
		}
	}
}

func fromCBOR(archive []byte) ([]byte, error) {
	mode, err := cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		return nil, err
	}
	var doc any
	if err := mode.Unmarshal(archive, &doc); err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}

// TestCBORBytes holds the encoding against examples of RFC 8949, appendix A.
func TestCBORBytes(t *testing.T) {
	for text, want := range map[string]string{
		`0`: "\x00", `-1`: "\x20", `1000000`: "\x1a\x00\x0f\x42\x40", `1.5`: "\xf9\x3e\x00", `100000.5`: "\xfa\x47\xc3\x50\x40",
		`1.1`: "\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", `"ü"`: "\x62\xc3\xbc", `[1,[2]]`: "\x82\x01\x81\x02",
		`9007199254740992`: "\x1b\x00\x20\x00\x00\x00\x00\x00\x00", `100000000000000000000`: "\xfb\x44\x15\xaf\x1d\x78\xb5\x8c\x40",
		`{"b":[2,3],"aa":1,"a":null}`: "\xa3\x61\x61\xf6\x61\x62\x82\x02\x03\x62\x61\x61\x01",
	} {
		if got, err := ToCBOR([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s is %x, want %x (%v)", text, got, want, err)
		}
	}
}

func TestSignatureForm(t *testing.T) {
	r := sealed(t)
	encoded, ok := strings.CutPrefix(r.Signatures[0].Signature, "base64:")
	if raw, err := base64.StdEncoding.DecodeString(encoded); !ok || err != nil || len(raw) != 64 {
		t.Errorf("signature %q", r.Signatures[0].Signature)
	}
}
