package skillmd

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a finding keeps a skill from being used.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Code says what a finding is about. Codes are stable. Those of [filetree.Code] are findings too.
type Code string

// The codes.
const (
	SkillMissing        Code = "SKILL_MISSING"
	SkillNotUTF8        Code = "SKILL_NOT_UTF8"
	FrontMatterMissing  Code = "FRONT_MATTER_MISSING"
	FrontMatterUnclosed Code = "FRONT_MATTER_UNCLOSED"
	FrontMatterTooLarge Code = "FRONT_MATTER_TOO_LARGE"
	BodyEmpty           Code = "BODY_EMPTY"

	YAMLInvalid  Code = "YAML_INVALID"
	YAMLAlias    Code = "YAML_ALIAS"
	YAMLTag      Code = "YAML_TAG"
	YAMLTooDeep  Code = "YAML_TOO_DEEP"
	KeyDuplicate Code = "KEY_DUPLICATE"
	KeyUnknown   Code = "KEY_UNKNOWN"
	FieldType    Code = "FIELD_TYPE"

	NameMissing          Code = "NAME_MISSING"
	NameTooLong          Code = "NAME_TOO_LONG"
	NameInvalid          Code = "NAME_INVALID"
	NameNotFolder        Code = "NAME_NOT_FOLDER"
	DescriptionMissing   Code = "DESCRIPTION_MISSING"
	DescriptionTooLong   Code = "DESCRIPTION_TOO_LONG"
	CompatibilityTooLong Code = "COMPATIBILITY_TOO_LONG"
	LicenseNotSPDX       Code = "LICENSE_NOT_SPDX"
	VersionInvalid       Code = "VERSION_INVALID"
	MetadataNotText      Code = "METADATA_NOT_TEXT"

	FileTypeUnknown Code = "FILE_TYPE_UNKNOWN"
	FileTypeRare    Code = "FILE_TYPE_RARE"
	FileBinary      Code = "FILE_BINARY"
)

// Codes returns all codes of this package.
func Codes() []Code {
	return []Code{SkillMissing, SkillNotUTF8, FrontMatterMissing, FrontMatterUnclosed, FrontMatterTooLarge, BodyEmpty, YAMLInvalid,
		YAMLAlias, YAMLTag, YAMLTooDeep, KeyDuplicate, KeyUnknown, FieldType, NameMissing, NameTooLong, NameInvalid, NameNotFolder,
		DescriptionMissing, DescriptionTooLong, CompatibilityTooLong, LicenseNotSPDX, VersionInvalid, MetadataNotText,
		FileTypeUnknown, FileTypeRare, FileBinary}
}

// Finding is one thing that is wrong.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	File     string   `json:"file"`          // from the skill's folder; "" for all of it. It may hold anything
	Line     int      `json:"line,omitzero"` // from 1; 0 where no line is to blame
	Message  string   `json:"message"`       // what is wrong, and what to do
}

// Report is what [Check] finds.
type Report struct {
	Valid    bool      `json:"valid"` // there is no error
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
	Skill    *Skill    `json:"skill,omitzero"` // what could be read; nil without a front matter
}

// Strict makes an error of each warning.
func (r *Report) Strict() {
	for _, f := range r.Warnings {
		f.Severity = Error
		r.Errors = append(r.Errors, f)
	}
	r.Warnings = []Finding{}
	r.sort()
}

// sort puts findings in the order of files and lines, and says whether the skill is valid.
func (r *Report) sort() {
	for _, list := range [][]Finding{r.Errors, r.Warnings} {
		slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	}
	r.Valid = len(r.Errors) == 0
}

func (r *Report) fail(code Code, file string, line int, format string, args ...any) {
	r.Errors = append(r.Errors, Finding{Error, code, file, line, fmt.Sprintf(format, args...)})
}

func (r *Report) warn(code Code, file string, line int, format string, args ...any) {
	r.Warnings = append(r.Warnings, Finding{Warning, code, file, line, fmt.Sprintf(format, args...)})
}
