package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// trial is a version that was tried out, on the way to another.
var trial = regexp.MustCompile(`^(.+)[-.]dev\.([0-9]+)$`)

// Trial returns the name of the n-th version that is tried out on the way to a version: 1.2.0-dev.3.
func Trial(version string, n int) string {
	if strings.Contains(version, "-") { // a pre-release already, of which this is another part
		return fmt.Sprintf("%s.dev.%d", version, n)
	}
	return fmt.Sprintf("%s-dev.%d", version, n)
}

// TrialOf returns what a version is a trial of, and its number. ok is false of one that is none.
func TrialOf(version string) (of string, n int, ok bool) {
	found := trial.FindStringSubmatch(version)
	if found == nil {
		return "", 0, false
	}
	n, err := strconv.Atoi(found[2])
	return found[1], n, err == nil
}

// WithVersion returns the text of a manifest with another version, and all else as it is.
func (m *Manifest) WithVersion(version string) ([]byte, error) {
	text := m.text.text
	at := m.At("version")
	begin := m.text.lines[at.Line-1]
	for range at.Column - 1 {
		_, size := utf8.DecodeRune(text[begin:])
		begin += size
	}
	end := begin + literal(text[begin:])
	if end == begin {
		return nil, fmt.Errorf("the version in line %d of the manifest cannot be replaced: write it as \"%s\"", at.Line, m.Version)
	}
	changed := append(append(append([]byte{}, text[:begin]...), strconv.Quote(version)...), text[end:]...)
	is, problems := Parse(changed)
	if is == nil {
		return nil, fmt.Errorf("the manifest with the version %s: %s", version, problems[0].String())
	}
	if is.Version != version {
		return nil, fmt.Errorf("the version in line %d of the manifest cannot be replaced: write it as \"%s\"", at.Line, m.Version)
	}
	return changed, nil
}

// literal returns how many bytes the text at the beginning of what is given takes, with its quotes; 0 for none.
func literal(text []byte) int {
	s := string(text)
	for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
		within, ok := strings.CutPrefix(s, quote)
		if !ok {
			continue
		}
		for i := 0; i < len(within); i++ {
			if quote[0] == '"' && within[i] == '\\' {
				i++
				continue
			}
			if strings.HasPrefix(within[i:], quote) {
				return len(quote) + i + len(quote)
			}
		}
		return 0
	}
	return 0
}
