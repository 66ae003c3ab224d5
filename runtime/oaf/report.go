package oaf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// Finding is one thing that is wrong. Codes are those below, those of a SKILL.md's front matter
// and those of [filetree.Code].
type Finding = skillmd.Finding

// The codes.
const (
	AgentMissing      skillmd.Code = "AGENT_MISSING"
	AgentsSeveral     skillmd.Code = "AGENTS_WITHOUT_PACKAGE"
	PackageInvalid    skillmd.Code = "PACKAGE_INVALID"
	FieldMissing      skillmd.Code = "FIELD_MISSING"
	FieldInvalid      skillmd.Code = "FIELD_INVALID"
	FieldTooLong      skillmd.Code = "FIELD_TOO_LONG"
	LicenseUnknown    skillmd.Code = "LICENSE_UNKNOWN"
	SlugUnusual       skillmd.Code = "SLUG_UNUSUAL"
	DescriptionLength skillmd.Code = "DESCRIPTION_LENGTH"
	ToolUnknown       skillmd.Code = "TOOL_UNKNOWN"
	SkillMissing      skillmd.Code = "SKILL_MISSING"
	ServerInvalid     skillmd.Code = "SERVER_CONFIG_INVALID"
	NotSupported      skillmd.Code = "NOT_SUPPORTED"
)

// findings are what was found so far.
type findings struct{ errors, warnings []Finding }

func (f *findings) fail(code skillmd.Code, file string, line int, format string, args ...any) {
	f.errors = append(f.errors, Finding{Severity: skillmd.Error, Code: code, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (f *findings) warn(code skillmd.Code, file string, line int, format string, args ...any) {
	f.warnings = append(f.warnings, Finding{Severity: skillmd.Warning, Code: code, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// sorted returns findings in the order of files and lines.
func sorted(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return list
}
