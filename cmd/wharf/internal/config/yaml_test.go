package config

import "testing"

func TestWhatIsWrongWithYAMLIsSaidInWords(t *testing.T) {
	const columns = "lines of one level begin in the same column"
	const references = "anchors (&name), aliases (*name) and merges (<<) of YAML are not read here: write the value out where it is used, or put it in quotes"
	for text, want := range map[string]string{
		"grants:\n  digest: &g\n    http: [a.example]\n  triage: *g\n": "f.yaml:2: " + references + "\nf.yaml:4: " + references,
		"grants:\n  digest:\n    <<: {http: [x.example]}\n":            "f.yaml:3: " + references,
		"listen: &here 127.0.0.1:0\n":                                  "f.yaml:1: " + references,
		"plugins:\n    dir: /tmp\n   cache: /x\n":                      "f.yaml:3: the indentation of this line fits none above it: " + columns,
		"listen: 127.0.0.1:0\n  data: y\n":                             `f.yaml:1: the indentation of this line and the next does not fit together, or a value with ": " in it has no quotes: ` + columns,
		"plugins:\n\tdir: /tmp\n":                                      "f.yaml:2: a tab is in the indentation: YAML takes spaces alone",
		"listen: \"x\n":                                                "f.yaml:1: a quote is opened and not closed",
		"listen: 'it's'\n":                                             "f.yaml:1: something follows the value: put a value with quotes in it into quotes of the other kind",
		"listen: [1, 2\n":                                              "f.yaml:1: a bracket is opened and not closed",
		"{listen: x":                                                   "f.yaml:1: a bracket is opened and not closed",
		"listen: @x\n":                                                 "f.yaml:1: a value that begins with '@' needs quotes",
		"listen: a\n- item\n":                                          "f.yaml:2: this is not NAME: VALUE, as the lines around it are",
		"data: a\ndata: b\n":                                           `f.yaml:2: "data" is there twice: first in line 1`,
		"data: %x\n":                                                   "f.yaml:1: this is no YAML: unexpected directive value. document not started",
	} {
		if _, problems := parseFile("f.yaml", []byte(text)); problems.Error() != want {
			t.Errorf("%q:\n got %s\nwant %s", text, problems, want)
		}
	}
}
