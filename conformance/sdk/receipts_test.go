package sdk

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// signer makes receipts as a node does.
type signer struct {
	private ed25519.PrivateKey
	key     map[string]any // as a node publishes it
}

func newSigner(seed byte) *signer {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	public := private.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	return &signer{private, map[string]any{
		"algorithm": "ed25519", "key_id": "sig_" + hex.EncodeToString(sum[:10]), "created_at": "2026-04-25T19:00:00Z",
		"public_key": base64.StdEncoding.EncodeToString(public),
	}}
}

// sign signs a receipt that has these members, beside those that each has.
func (s *signer) sign(t *testing.T, members map[string]any) []byte {
	t.Helper()
	chain := map[string]any{"previous_receipt_hash": nil}
	receipt := map[string]any{
		"schema": "receipt-2026-04-25", "receipt_id": "rcpt_1", "issued_at": "2026-04-25T19:17:30Z", "chain": chain,
		"issuer": map[string]any{"id": "wharf", "public_key_id": s.key["key_id"]}, "subject": map[string]any{"id": "task_1", "object": "task"},
	}
	for name, member := range members {
		receipt[name] = member
	}
	sum := sha256.Sum256(canonical(t, receipt))
	hash := "sha256:" + hex.EncodeToString(sum[:])
	chain["receipt_hash"] = hash
	receipt["signatures"] = []any{map[string]any{
		"algorithm": "ed25519", "key_id": s.key["key_id"], "signature": "base64:" + base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, []byte(hash))),
	}}
	return canonical(t, receipt)
}

func canonical(t *testing.T, members map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	if err := (*jsontext.Value)(&text).Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return text
}

// documented returns the receipt of docs/receipt.md, and its key.
func documented(t *testing.T) (wire []byte, key map[string]any) {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/receipt.md"))
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) string {
		_, rest, _ := strings.Cut(string(page), "```example-"+name+"\n")
		text, _, _ := strings.Cut(rest, "\n```")
		return text
	}
	wire = []byte(part("receipt"))
	if err := (*jsontext.Value)(&wire).Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return wire, map[string]any{"algorithm": "ed25519", "key_id": "sig_34750f98bd59fcfc946d", "created_at": "2026-04-25T19:00:00Z", "public_key": part("public")}
}

// TestReceiptsThatHold has each client verify receipts that hold, with all that canonical JSON may have.
func TestReceiptsThatHold(t *testing.T) {
	example, exampleKey := documented(t)
	s, other := newSigner(1), newSigner(2)
	numbers := []any{0, 1, -1, 1.5, 1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 9007199254740993, 0.1, -2.5e-10, 1e100, 333333333.33333329}
	words := map[string]any{"": "", "\U0001F600": "\u2028 \" \\ \b\f\n\r\t\x01\x1f\x7f", "\ufb33": "é", "z": "</script>", "A": []any{nil, true, false, map[string]any{}, []any{}}}
	retired := map[string]any{}
	for name, member := range s.key {
		retired[name] = member
	}
	retired["retired_at"] = "2026-04-25T19:17:00Z" // within the minute of grace
	inEach(t, func(t *testing.T, c *client) {
		for name, r := range map[string]struct {
			wire []byte
			keys []any
		}{
			"the example of the documentation": {example, []any{exampleKey}},
			"with a key more":                  {example, []any{s.key, exampleKey}},
			"numbers":                          {s.sign(t, map[string]any{"metadata": numbers}), []any{s.key}},
			"words":                            {s.sign(t, map[string]any{"metadata": words}), []any{other.key, s.key}},
			"a key that was just retired":      {s.sign(t, nil), []any{retired}},
		} {
			c.start(t, "verify", command{"wire": r.wire, "keys": r.keys})
			if got := c.next(t); got.Error != nil {
				t.Errorf("%s: %s\n%s", name, got.Error.Text, r.wire)
			} else if hash, _ := got.Done.(string); !strings.Contains(string(r.wire), fmt.Sprintf(`"receipt_hash":%q`, hash)) {
				t.Errorf("%s has the hash %s", name, hash)
			}
		}
	})
}

// TestReceiptsThatDoNotHold has each client refuse what is no receipt, or not the one that was signed.
func TestReceiptsThatDoNotHold(t *testing.T) {
	wire, key := documented(t)
	s, other := newSigner(1), newSigner(2)
	changed := func(from, to string) []byte {
		text := strings.Replace(string(wire), from, to, 1)
		if text == string(wire) {
			t.Fatalf("the receipt does not have %s", from)
		}
		return []byte(text)
	}
	with := func(name string, member any) []any {
		k := map[string]any{}
		for n, m := range key {
			k[n] = m
		}
		k[name] = member
		return []any{k}
	}
	unsigned := func() []byte {
		var members map[string]any
		if err := json.Unmarshal(wire, &members); err != nil {
			t.Fatal(err)
		}
		members["signatures"] = []any{}
		return canonical(t, members)
	}
	mine := []any{key}
	cases := map[string]struct {
		wire []byte
		keys []any
	}{
		"a word of it changed":              {changed("plugin_exit", "plugin_fine"), mine},
		"a number of it changed":            {changed(`"tool_calls":1`, `"tool_calls":2`), mine},
		"a member more":                     {changed(`"subject":`, `"state":"fine","subject":`), mine},
		"its hash changed":                  {changed("28f4eb60", "28f4eb61"), mine},
		"its signature changed":             {changed("base64:LRey", "base64:LReY"), mine},
		"its signature without a prefix":    {changed("base64:LRey", "LRey"), mine},
		"another algorithm":                 {changed(`"algorithm":"ed25519","key_id"`, `"algorithm":"ed448","key_id"`), mine},
		"no signature":                      {unsigned(), mine},
		"no keys":                           {wire, []any{}},
		"another key":                       {wire, []any{other.key}},
		"another key by its id":             {wire, with("public_key", other.key["public_key"])},
		"a key of no bytes":                 {wire, with("public_key", "")},
		"a key of zeros":                    {wire, with("public_key", base64.StdEncoding.EncodeToString(make([]byte, 32)))},
		"a key made later":                  {wire, with("created_at", "2026-04-25T19:30:00Z")},
		"a key retired before":              {wire, with("retired_at", "2026-04-25T19:10:00Z")},
		"another format, signed":            {s.sign(t, map[string]any{"schema": "receipt-2027-01-01"}), []any{s.key}},
		"a name that the issuer has not":    {s.sign(t, map[string]any{"issuer": map[string]any{"public_key_id": other.key["key_id"]}}), []any{s.key, other.key}},
		"white space":                       {changed(`{"autonomy_budget"`, `{ "autonomy_budget"`), mine},
		"a line end behind it":              {append([]byte(string(wire)), '\n'), mine},
		"something behind it":               {append([]byte(string(wire)), "{}"...), mine},
		"a mark of UTF-8 before it":         {append([]byte("\ufeff"), wire...), mine},
		"a number in another form":          {changed(`"tool_calls":1`, `"tool_calls":1.0`), mine},
		"a text in another form":            {changed("plugin_exit", `plugin\u005fexit`), mine},
		"a name twice":                      {changed(`"receipt_id":"rcpt_1"`, `"receipt_id":"rcpt_1","receipt_id":"rcpt_1"`), mine},
		"members in another order":          {changed(`"end_tier":"act_auto","start_tier":"act_auto"`, `"start_tier":"act_auto","end_tier":"act_auto"`), mine},
		"half a character":                  {changed("plugin_exit", `plugin\ud800exit`), mine},
		"bytes that are no UTF-8":           {changed("plugin_exit", "plugin\xffexit"), mine},
		"a number that is none":             {changed(`"tool_calls":1`, `"tool_calls":NaN`), mine},
		"a number that is too large":        {changed(`"tool_calls":1`, `"tool_calls":1e999`), mine},
		"nothing":                           {[]byte{}, mine},
		"half of it":                        {wire[:len(wire)/2], mine},
		"a list":                            {[]byte("[]"), mine},
		"null":                              {[]byte("null"), mine},
		"members of other kinds":            {[]byte(`{"chain":[],"issuer":1,"schema":"receipt-2026-04-25","signatures":{},"subject":null}`), mine},
		"lists in lists, ten thousand deep": {[]byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), mine},
	}
	inEach(t, func(t *testing.T, c *client) {
		for name, r := range cases {
			c.start(t, "verify", command{"wire": r.wire, "keys": r.keys})
			if got := c.next(t); got.Error == nil || !got.Error.Receipt {
				t.Errorf("%s: %v %+v", name, got.Done, got.Error)
			}
		}
	})
}

// TestReceiptsOfANode takes a receipt of a node in both of its forms. That in CBOR is signed as well, and is
// no canonical JSON.
func TestReceiptsOfANode(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		task := c.text(t, "submit", command{"session": c.text(t, "session", nil), "persona": "persona_echo", "text": "slack water"})
		c.text(t, "wait", command{"task": task})
		c.text(t, "receipt", command{"task": task})
		var about struct {
			ReceiptID string `json:"receipt_id"`
		}
		get(t, n, "/v1/tasks/"+task, &about)
		var published struct{ Keys []any }
		get(t, n, "/.well-known/wharf-keys.json", &published)
		for media, holds := range map[string]bool{
			"application/vnd.harn.receipt+json": true, "application/vnd.harn.receipt+cbor; schema=receipt-2026-04-25": false, "application/json": false,
		} {
			wire := receiptAs(t, n, about.ReceiptID, media)
			c.start(t, "verify", command{"wire": wire, "keys": published.Keys})
			if got := c.next(t); (got.Error == nil) != holds {
				t.Errorf("as %s: %+v", media, got)
			}
		}
	})
}

func receiptAs(t *testing.T, n *nodetest.Node, id, media string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", n.URL+"/v1/receipts/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", media)
	return body(t, req)
}
