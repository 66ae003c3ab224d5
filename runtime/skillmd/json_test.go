package skillmd

import "testing"

// A front matter is the same JSON that any other reader of YAML makes of it.
func TestFrontMatterAsJSON(t *testing.T) {
	text := "---\nname: pdf-forms\ndescription: >-\n  Fills in\n  forms.\nversion: 1.0\nempty:\nquoted: \"1\"\nmetadata:\n  author: \"a\\\"b\"\n  n: 7\n  yes: true\n" +
		"  big: .inf\nallowed-tools:\n  - Read\n  - 'Bash(git add:*)'\nflow: [1, {a: b}]\nblock: |\n  one\n  two\nhex: 0x1F\n---\nText.\n"
	want := `{"name":"pdf-forms","description":"Fills in forms.","version":1,"empty":null,"quoted":"1","metadata":{"author":"a\"b","n":7,"yes":true,"big":null},` +
		`"allowed-tools":["Read","Bash(git add:*)"],"flow":[1,{"a":"b"}],"block":"one\ntwo\n","hex":31}`
	got, err := FrontJSON([]byte(text))
	if err != nil || string(got) != want {
		t.Errorf("the front matter is\n%s (%v), want\n%s", got, err, want)
	}
}

func TestNoFrontMatterIsNoJSON(t *testing.T) {
	for _, text := range []string{"", "no front matter", "---\nname: [\n---\n", "---\na: &x 1\n---\n", "---\n- a list\n---\n", "---\nname: x\n"} {
		if got, err := FrontJSON([]byte(text)); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
