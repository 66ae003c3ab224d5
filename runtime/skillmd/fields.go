package skillmd

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// The bounds of what a skill says of itself, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

var (
	nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	// versionForm is that of semver.org.
	versionForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
)

const knownKeys = "name, description, license, compatibility, metadata, allowed-tools, when_to_use, paths, version"

// reading is a skill that is read from the fields of a front matter.
type reading struct {
	*Report
	skill       Skill
	mistyped    map[string]bool // keys that hold something else than a text
	versionLine int             // of the version that counts, 0 for none
	inMetadata  bool            // which is where that one is
}

// read takes the fields into a skill that lies in a folder of the given name, "" for none.
func (r *Report) read(fields []field, folder string) *Skill {
	s := &reading{Report: r, skill: Skill{Version: DefaultVersion}, mistyped: map[string]bool{}}
	lines := map[string]int{}
	for _, f := range fields {
		lines[f.key] = f.line
		s.field(&f)
	}
	s.checkName(lines["name"], folder)
	s.checkDescription(lines["description"])
	if s.versionLine > 0 && !versionForm.MatchString(s.skill.Version) {
		r.fail(VersionInvalid, FileName, s.versionLine, "the version %q is not like 1.2.3 (semver.org): write it so, in quotes", s.skill.Version)
	}
	s.skill.HasVersion = s.versionLine > 0
	return &s.skill
}

func (s *reading) field(f *field) {
	switch f.key {
	case "name":
		s.skill.Name = s.text(f)
	case "description":
		s.skill.Description = s.text(f)
	case "license":
		s.skill.License = s.text(f)
		s.checkLicense(f)
	case "compatibility":
		s.skill.Compatibility = s.text(f)
		s.checkLength(CompatibilityTooLong, f, s.skill.Compatibility, maxCompatibility)
	case "metadata":
		s.metadata(f)
	case "allowed-tools":
		s.allowedTools(f)
	case "paths":
		s.paths(f)
	case "when_to_use":
		s.whenToUse(f)
	case "version":
		s.version(f)
	default:
		s.warn(KeyUnknown, FileName, f.line, "%q is no key that is read: leave it out, or put it under metadata. There are %s", f.key, knownKeys)
	}
}

func empty(n ast.Node) bool {
	_, is := n.(*ast.NullNode)
	return is
}

// text reads a field that has to be a string. One that is empty says nothing, and is none.
func (s *reading) text(f *field) string {
	value, ok := text(f.value)
	if !ok && !empty(f.value) {
		s.mistyped[f.key] = true
		s.fail(FieldType, FileName, f.line, "%s has to be a text: write one, and put quotes around what looks like a number, a list or yes and no", f.key)
	}
	return strings.TrimRight(value, "\n") // which the forms of several lines end with
}

func (s *reading) checkLength(code Code, f *field, value string, most int) {
	if n := utf8.RuneCountInString(value); n > most {
		s.fail(code, FileName, f.line, "%s has %d characters, and at most %d are taken: make it shorter", f.key, n, most)
	}
}

func (s *reading) checkName(line int, folder string) {
	name := s.skill.Name
	switch {
	case s.mistyped["name"]:
		return
	case name == "":
		s.fail(NameMissing, FileName, max(line, 1), "the skill has no name: add a line name: my-skill")
		return
	case len(name) > maxName:
		s.checkLength(NameTooLong, &field{key: "name", line: line}, name, maxName)
	}
	if !nameForm.MatchString(name) {
		s.fail(NameInvalid, FileName, line, "the name %q may hold a-z, 0-9 and single - between them: rename the skill, and its folder", name)
	}
	if folder != "" && folder != name {
		s.fail(NameNotFolder, FileName, line, "the name %q is not that of the folder, %q: rename one", name, folder)
	}
}

func (s *reading) checkDescription(line int) {
	switch {
	case s.mistyped["description"]:
	case strings.TrimSpace(s.skill.Description) == "":
		s.fail(DescriptionMissing, FileName, max(line, 1), "the skill has no description: add a line description: that says what it does and when to use it")
	default:
		s.checkLength(DescriptionTooLong, &field{key: "description", line: line}, s.skill.Description, maxDescription)
	}
}

// version reads the version that counts when metadata has none. Most write 1.0 as a number.
func (s *reading) version(f *field) {
	value, ok := text(f.value)
	if !ok {
		value, ok = scalar(f.value)
	}
	switch {
	case !ok:
		s.text(f)
	case value != "" && !s.inMetadata:
		s.skill.Version, s.versionLine = value, f.line
	}
}

func (s *reading) metadata(f *field) {
	if empty(f.value) {
		return
	}
	entries, ok := s.mapping(f.value)
	if !ok {
		s.fail(FieldType, FileName, f.line, "metadata has to hold lines like author: Ada, each indented")
		return
	}
	s.skill.Metadata = map[string]string{}
	for _, e := range entries {
		value, ok := s.metadatum(&e)
		if !ok {
			continue
		}
		s.skill.Metadata[e.key] = value
		if e.key == "version" && value != "" {
			s.skill.Version, s.versionLine, s.inMetadata = value, e.line, true
		}
	}
}

// metadatum reads a value of metadata. What is no text is taken as it is written.
func (s *reading) metadatum(f *field) (string, bool) {
	if value, ok := text(f.value); ok {
		return value, true
	}
	value, ok := scalar(f.value)
	if ok {
		s.warn(MetadataNotText, FileName, f.line, "metadata.%s is no text, and is taken as %q: put quotes around it", f.key, value)
		return value, true
	}
	s.fail(MetadataNotText, FileName, f.line, "metadata.%s has to be a text: put it into one, in quotes", f.key)
	return "", false
}

// allowedTools reads names of tools: a list of them, or a text with spaces or commas between.
func (s *reading) allowedTools(f *field) {
	if line, ok := text(f.value); ok {
		s.skill.AllowedTools = splitTools(line)
		return
	}
	if empty(f.value) {
		return
	}
	tools, ok := f.value.(*ast.SequenceNode)
	if !ok {
		s.fail(FieldType, FileName, f.line, "allowed-tools has to be a list of names, or names with spaces between them")
		return
	}
	for _, n := range tools.Values {
		name, ok := text(n)
		if !ok || strings.TrimSpace(name) == "" {
			s.fail(FieldType, FileName, fileLine(n.GetToken().Position.Line), "allowed-tools has to be a list of names: put quotes around each")
			continue
		}
		s.skill.AllowedTools = append(s.skill.AllowedTools, name)
	}
}

// whenToUse reads in which cases a skill helps. What cannot be read is a warning, as unknown keys are:
// a skill does without.
func (s *reading) whenToUse(f *field) {
	value, ok := text(f.value)
	switch {
	case !ok && !empty(f.value):
		s.warn(FieldType, FileName, f.line, "when_to_use is left out: it has to be a text")
	case utf8.RuneCountInString(value) > maxDescription:
		s.warn(FieldType, FileName, f.line, "when_to_use is left out: it has more than %d characters", maxDescription)
	default:
		s.skill.WhenToUse = strings.TrimSpace(value)
	}
}

// maxPaths is how many patterns of files a skill may have, and maxPath how long each is, in bytes.
const (
	maxPaths = 100
	maxPath  = 256
)

// paths reads patterns of files: a list of them, or a text with spaces or commas between. What cannot be
// read is a warning.
func (s *reading) paths(f *field) {
	var all []string
	line, ok := text(f.value)
	if ok {
		all = splitTools(line)
	}
	if list, is := f.value.(*ast.SequenceNode); is {
		ok = true
		for _, n := range list.Values {
			one, isText := text(n)
			ok = ok && isText
			all = append(all, one)
		}
	}
	for _, one := range all {
		ok = ok && one != "" && len(one) <= maxPath
	}
	if (!ok || len(all) > maxPaths) && !empty(f.value) {
		s.warn(FieldType, FileName, f.line, "paths is left out: it has to be a list of at most %d patterns like docs/**, of at most %d bytes each", maxPaths, maxPath)
		return
	}
	s.skill.Paths = all
}

// splitTools splits at spaces and commas, but for those in parentheses: Bash(git add:*) is one.
func splitTools(line string) []string {
	depth := 0
	return strings.FieldsFunc(line, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ' ', '\t', '\n', ',':
			return depth <= 0
		}
		return false
	})
}
