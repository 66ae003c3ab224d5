package oaf

import (
	_ "embed"
	"strings"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// licenses are the ids of licenses that SPDX knows, one a line, those too that it advises against
// (spdx.org/licenses).
//
//go:embed licenses.txt
var licenses string

// unknownLicense returns what of a license SPDX does not know, "" if it knows all of it.
func unknownLicense(text string) string {
	if !skillmd.SPDX(text) {
		return text
	}
	exception := false
	for _, word := range strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(text)) {
		switch {
		case word == "AND" || word == "OR":
		case word == "WITH":
			exception = true
			continue
		case !exception && !knownLicense(strings.TrimSuffix(word, "+")):
			return word
		}
		exception = false
	}
	return ""
}

func knownLicense(id string) bool {
	if strings.Contains(id, "LicenseRef-") { // one of the author's own
		return true
	}
	return strings.Contains("\n"+licenses, "\n"+id+"\n")
}
