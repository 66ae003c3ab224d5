package jsonpath

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// store is the document that RFC 9535 explains itself with.
const store = `{"store":{"book":[
{"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},
{"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},
{"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
{"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99}],
"bicycle":{"color":"red","price":399}}}`

// all returns what an expression finds, as it stands.
func all(t testing.TB, expression, document string) string {
	t.Helper()
	p, err := Compile(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	var d tape.Doc
	root, err := d.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	if err := p.Select(root, root, func(v tape.Value) bool {
		found = append(found, v.Raw())
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

func TestSelect(t *testing.T) {
	const numbers = `{"a":[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}],"o":{"p":1,"q":2,"r":3,"s":5,"t":{"u":6}},"e":"f","n":null}`
	for _, test := range []struct{ expression, document, want string }{
		{"$.store.book[*].author", store, `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{"$..author", store, `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{"$.store..price", store, `8.95 12.99 8.99 22.99 399`},
		{"$..book[2].title", store, `"Moby Dick"`},
		{"$..book[-1].title", store, `"The Lord of the Rings"`},
		{"$..book[0,1].price", store, `8.95 12.99`},
		{"$..book[:2].price", store, `8.95 12.99`},
		{"$..book[?@.isbn].price", store, `8.99 22.99`},
		{"$..book[?@.price<10].title", store, `"Sayings of the Century" "Moby Dick"`},
		{"$..book[?(@.category == 'fiction' && !(@.price >= 20))].price", store, `12.99 8.99`},
		{"$.store.book[?@.price>$.store.bicycle.price || @.author==\"Nigel Rees\"].price", store, `8.95`},
		{"$['store']['bicycle'][\"color\"]", store, `"red"`},
		{"$", `7`, `7`},
		{"@.a", `{"a":1}`, `1`},
		{"$.a[1:3]", numbers, `5 1`}, {"$.a[5:]", numbers, `6 {"b":"j"} {"b":"k"} {"b":{}} {"b":"kilo"}`}, {"$.a[1:5:2]", numbers, `5 2`},
		{"$.a[5:1:-2]", numbers, `6 2`}, {"$.a[2::-1]", numbers, `1 5 3`}, {"$.a[-1:-3:-1]", numbers, `{"b":"kilo"} {"b":{}}`}, {"$.a[1:2:0]", numbers, ``}, {"$.a[99]", numbers, ``}, {"$.a[-99]", numbers, ``},
		{"$.a[?@.b == 'kilo']", numbers, `{"b":"kilo"}`}, {"$.a[?@>3.5]", numbers, `5 4 6`}, {"$.a[?@.b]", numbers, `{"b":"j"} {"b":"k"} {"b":{}} {"b":"kilo"}`},
		{"$.a[?@<2 || @.b == \"k\"]", numbers, `1 {"b":"k"}`}, {"$.a[?@.b == $.x]", numbers, `3 5 1 2 4 6`}, {"$.a[?@ == @]", `{"a":[{"x":[1]}]}`, `{"x":[1]}`},
		{"$.o[?@>1 && @<4]", numbers, `2 3`}, {"$.o[?@.u || @.x]", numbers, `{"u":6}`}, {"$.a[?$.e=='f'][0]", `{"a":[[1]],"e":"f"}`, `1`},
		{"$[?@==null]", `[null,0,false]`, `null`}, {"$[?@==true]", `[true,1]`, `true`}, {"$[?@==-1.5e1]", `[-15]`, `-15`}, {"$[?@!='a']", `["a","b",1]`, `"b" 1`},
		{"$[?@.a=='it\\'s']", `[{"a":"it's"}]`, `{"a":"it's"}`}, {`$["a\"b"]`, `{"a\"b":1}`, `1`}, {`$['\u0061']`, `{"a":1}`, `1`},
		{"$ .a [ 0 , 1 ]", `{"a":[1,2]}`, `1 2`}, {"$.é", `{"é":1}`, `1`}, {"$..*", `{"a":[1]}`, `[1] 1`}, {"$..[0]", `[[1],[2]]`, `[1] 1 2`},
		{"$.__proto__", `{"__proto__":1}`, `1`}, {"$.a.b.c", `{"a":"x"}`, ``}, {"$.n.x", numbers, ``},
	} {
		if got := all(t, test.expression, test.document); got != test.want {
			t.Errorf("%s: %s, want %s", test.expression, got, test.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, expression := range []string{"", "a", "$.", "$..", "$[", "$[]", "$[a]", "$.a b", "$['a", "$[01]", "$[-0]", "$[99999999999999]", "$[1:2:3:4]", "$[?]", "$[?@.a==]",
		"$[?1]", "$[?@.*==1]", "$[?@..a==1]", "$[?length(@)>1]", "$[?!@.a==1]", "$[?(@.a]", "$.1a", "$[\"\\q\"]", "$[?@.a = 1]", "$[?@==01]",
		"$[?" + strings.Repeat("(", 30) + "@.a" + strings.Repeat(")", 30) + "]", "$" + strings.Repeat(".a", 600)} {
		if p, err := Compile(expression); err == nil {
			t.Errorf("%.60s: compiled to %v", expression, p)
		}
	}
}

// TestCost holds that an expression that would look at everything in everything ends.
func TestCost(t *testing.T) {
	p, err := Compile("$..[?@..[?@..[?@..[?@.x]]]]")
	if err != nil {
		t.Fatal(err)
	}
	var d tape.Doc
	root, err := d.Parse(strings.Repeat(`[[1,2,3,4,5,6,7,8,9],`, 60) + "0" + strings.Repeat("]", 60))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Select(root, root, func(tape.Value) bool { return true }); !errors.Is(err, ErrCost) {
		t.Errorf("%v, want that it costs too much", err)
	}
}

// FuzzPath holds that no expression panics or goes on without end, and that what is
// compiled finds what it finds when it is compiled again.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"$.store.book[*].author", "$..book[?(@.price < 10 && @.isbn)]['title','price']", "$..[1:5:-2]", "$[?@.a=='\\u0041']", "@['x'][-1]"} {
		f.Add(seed, store)
	}
	f.Fuzz(func(t *testing.T, expression, document string) {
		p, err := Compile(expression)
		if err != nil {
			return
		}
		var d tape.Doc
		root, err := d.Parse(document)
		if err != nil {
			return
		}
		found := 0
		err = p.Select(root, root, func(v tape.Value) bool {
			found += len(v.Raw())
			return true
		})
		if err != nil && !errors.Is(err, ErrCost) {
			t.Fatal(err)
		}
	})
}
