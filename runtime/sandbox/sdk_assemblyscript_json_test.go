package sandbox

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// TestAssemblyScriptJSON holds that the SDK reads and writes JSON as the host does: the same is valid, and
// what it writes of numbers, texts and bytes is the same.
func TestAssemblyScriptJSON(t *testing.T) {
	type values struct {
		Texts   []string         `json:"texts"` // each a JSON value, or none
		Numbers []jsontext.Value `json:"numbers"`
		Quoted  []string         `json:"quoted"`
		Bytes   [][]byte         `json:"bytes"`
	}
	given := values{Texts: jsonTexts(), Numbers: jsonNumbers(), Quoted: []string{"", "a\"\\/\b\f\n\r\t\x00\x1f\x7f", "é€😀\u2028\ufffd", strings.Repeat("ab€", 500)}}
	for n := range 10 {
		given.Bytes = append(given.Bytes, []byte("\x00\xff\x80abc\xfe\x01\x02\x03")[:n])
	}
	input, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	h := newTask(t, string(input))
	m := compile(t, newRuntime(t, Config{}), buildAssemblyScript(t, assemblyScriptJSON))
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatalf("%v: %+v", err, h.output.Failure)
	}
	var got struct {
		Valid   []bool           `json:"valid"`
		Numbers []jsontext.Value `json:"numbers"`
		Quoted  []string         `json:"quoted"`
		Bytes   []string         `json:"bytes"`
	}
	if err := json.Unmarshal([]byte(h.output.Summary), &got); err != nil || len(got.Valid) != len(given.Texts) || len(got.Numbers) != len(given.Numbers) {
		t.Fatalf("%v: %.300s", err, h.output.Summary)
	}
	for i, text := range given.Texts {
		if want := jsontext.Value(text).IsValid(); got.Valid[i] != want {
			t.Errorf("%q is valid: %t, want %t", text, got.Valid[i], want)
		}
	}
	for i, number := range given.Numbers {
		v, err := strconv.ParseFloat(string(number), 64)
		want := string(jsontext.AppendFloat(nil, v, 64))
		switch {
		case math.IsInf(v, 0):
			want = "null"
		case v == 0:
			want = "0"
		}
		if string(got.Numbers[i]) != want {
			t.Errorf("%s is written as %s, want %s (%v)", number, got.Numbers[i], want, err)
		}
	}
	for i, text := range given.Quoted {
		if got.Quoted[i] != text {
			t.Errorf("%q has become %q", text, got.Quoted[i])
		}
	}
	for i, bytes := range given.Bytes {
		if want := base64.StdEncoding.EncodeToString(bytes); got.Bytes[i] != want {
			t.Errorf("%x is written as %s, want %s", bytes, got.Bytes[i], want)
		}
	}
}

// jsonTexts are JSON values, and what is none.
func jsonTexts() []string {
	texts := []string{
		"", " ", "null", " true ", "false", "nul", "nulll", "tru", "0", "-0", "-", "01", "1.", ".5", "1.5e", "1e+", "1E5", "1e-05", "+1", "0x1", "1 2", "NaN",
		`""`, `"a`, `"\"`, `"\\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u00e9"`, `"\ud83d\ude00"`, "\"\t\"", "\"\x00\"", "'a'", `"a" "b"`,
		"[]", "[ ]", "[1]", "[1,]", "[,1]", "[1,2", "[1 2]", "[[]]", "]", "[1}", "{}", `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`,
		`{"a":{"b":[{}]}}`, "{", `{"a`, `{"a":`, "{]", "\ufeff1", "\u00a01", "[1]\n", "//", strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("[", 5000),
	}
	for n := range 12 { // each prefix of a value
		texts = append(texts, `{"a":[1.5e3,"b"`[:n])
	}
	return texts
}

// jsonNumbers are the numbers at the borders of doubles and of how they are written, and some at random.
func jsonNumbers() []jsontext.Value {
	numbers := []jsontext.Value{}
	for _, text := range []string{
		"0", "-0", "0.0", "0e5", "1", "-1.5", "0.1", "0.30000000000000004", "1e20", "1e21", "123456789012345680000", "1e-6", "1.5e-7", "9.5e-7", "5e-324", "2.5e-324", "2e-324",
		"2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308", "1.7976931348623159e308", "0.99999999999999999999999", "8388607.99999999999999999999", "4.99999999999999999999999e-324", "2.22507385850720138e-308", "1e400", "-1e400", "1e-400", "1e999999999999", "1e-999999999999",
		"9007199254740993", "9007199254740992.5", "9007199254740993.0000000000000000000000001", "1000000000000000128", "1.00000000000000011102230246251565", "1.0000000000000001110223024625156541",
		"123456789012345678901234567890", "0.000001234567890123456789", "4.35", "0.000001", "999999999999999", "1e23", "8.41e21", "9.109383632e-31", "179769313486231580793728971405301e276",
		"0." + strings.Repeat("0", 400) + "1", strings.Repeat("9", 400), "1" + strings.Repeat("0", 700) + "e-700", "0." + strings.Repeat("3", 1000), "2.5" + strings.Repeat("0", 1000) + "1e-324",
	} {
		numbers = append(numbers, jsontext.Value(text))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		if v := math.Float64frombits(random.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			numbers = append(numbers, strconv.AppendFloat(nil, v, 'g', -1, 64))
		}
		numbers = append(numbers, strconv.AppendFloat(nil, random.Float64()*1000, 'g', 17, 64), strconv.AppendFloat(nil, math.Round(random.Float64()*1e6)/1e4, 'g', -1, 64))
	}
	return numbers
}

// assemblyScriptJSON is a plugin that tells what it reads of its input.
const assemblyScriptJSON = `import { Json, main, Outcome, Reader, Task, Writer } from "../wharf";

export function run(): i32 { return main(echo); }

class Bytes {
  value: Uint8Array = new Uint8Array(0);
  write(w: Writer): void { w.base64(this.value); }
  read(r: Reader): void { this.value = r.base64(); }
}

function echo(task: Task): Outcome {
  const w = new Writer();
  w.object();
  w.name("valid");
  w.array();
  const texts = task.input.get("texts").items;
  for (let i = 0; i < texts.length; i++) w.bool(Json.parse(texts[i].text) !== null);
  w.endArray();
  w.name("numbers");
  w.array();
  const numbers = task.input.get("numbers").items;
  for (let i = 0; i < numbers.length; i++) w.json(Json.number(numbers[i].number));
  w.endArray();
  w.name("quoted");
  w.array();
  const quoted = task.input.get("quoted").items;
  for (let i = 0; i < quoted.length; i++) w.text(quoted[i].text);
  w.endArray();
  w.name("bytes");
  w.array();
  const bytes = task.input.get("bytes").items;
  for (let i = 0; i < bytes.length; i++) w.json(Json.of(bytes[i].to<Bytes>()));
  w.endArray();
  w.endObject();
  return { summary: w.toString() };
}
`
