package abi

import "github.com/go-json-experiment/json/jsontext"

// SkillCategory says where a SkillBundle comes from, for people.
type SkillCategory string

// The categories.
const (
	SkillUser         SkillCategory = "user"
	SkillPlugin       SkillCategory = "plugin"
	SkillBuiltin      SkillCategory = "builtin"
	SkillOrganization SkillCategory = "organization"
)

// SkillBundle is a skill that is installed in a Workspace: files that teach a model something,
// among them a SKILL.md (docs/skills-bundles.md). It is no [Skill], which is a Persona that can be
// called. Its Name is its own within the Workspace.
type SkillBundle struct {
	Envelope           `json:",inline"`
	WorkspaceID        string               `json:"workspace_id"`
	Name               string               `json:"name"`
	DisplayTitle       string               `json:"display_title"` // for people
	Category           SkillCategory        `json:"category"`
	SkillBundleVersion `json:",inline"`     // the version that Tasks are given
	Versions           []SkillBundleVersion `json:"versions,omitzero"` // all that are kept, newest first
	DeletedAt          Time                 `json:"deleted_at,omitzero"`
}

// SkillBundleVersion is what one version of a SkillBundle says of itself in its SKILL.md, and where
// its files are.
type SkillBundleVersion struct {
	Version     string `json:"version"`
	Description string `json:"description"`
	// When to use it: in words, and the files that it is for, as patterns. Which tools it asks for.
	WhenToUse     string   `json:"when_to_use,omitzero"`
	Paths         []string `json:"paths,omitzero"`
	AllowedTools  []string `json:"allowed_tools,omitzero"`
	License       string   `json:"license,omitzero"`
	Compatibility string   `json:"compatibility,omitzero"`
	Vendor        string   `json:"vendor,omitzero"`    // metadata.vendor, else metadata.author
	Changelog     string   `json:"changelog,omitzero"` // what whoever installed it said of the change
	Files         int      `json:"files"`              // how many there are
	Bytes         int64    `json:"bytes"`              // of all of them, unpacked
	Digest        string   `json:"digest"`             // of its files
	Archive       string   `json:"archive"`            // "sha256:" and hex, of the zip with them
	InstalledAt   Time     `json:"installed_at"`
}

// InstallSkillBundleRequest is the body of POST /wharf/v1/skill-bundles. Content is absent where the
// files come beside it.
type InstallSkillBundleRequest struct {
	WorkspaceID  string         `json:"workspace_id"`
	DisplayTitle string         `json:"display_title,omitzero"` // its name if it is absent
	Category     SkillCategory  `json:"category,omitzero"`      // user if it is absent
	Changelog    string         `json:"changelog,omitzero"`
	Content      []byte         `json:"content,omitzero"` // the zip, in base64
	Metadata     jsontext.Value `json:"metadata,omitzero"`
}

// UpgradeSkillBundleRequest is the body of POST /wharf/v1/skill-bundles/{id}/versions. Content is
// absent where the files come beside it.
type UpgradeSkillBundleRequest struct {
	Changelog string `json:"changelog,omitzero"`
	Content   []byte `json:"content,omitzero"` // the zip, in base64
}

// UpdateSkillBundleRequest is the body of PATCH /wharf/v1/skill-bundles/{id}. Nil members stay as
// they are.
type UpdateSkillBundleRequest struct {
	DisplayTitle *string        `json:"display_title,omitzero"`
	Category     *SkillCategory `json:"category,omitzero"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
}

// RollbackSkillBundleRequest is the body of POST /wharf/v1/skill-bundles/{id}/rollback.
type RollbackSkillBundleRequest struct {
	Version string `json:"version"` // one of those that are kept
}

// SkillBundleVersions are the versions of a SkillBundle.
type SkillBundleVersions struct {
	SkillBundleID  string               `json:"skill_bundle_id"`
	CurrentVersion string               `json:"current_version"` // that Tasks are given
	Versions       []SkillBundleVersion `json:"versions"`        // newest first
}

// SkillChange tells of a version that is used from then on, or of the bundle's end.
type SkillChange struct {
	Name            string `json:"name"`
	Version         string `json:"version"`                   // that is used, or was at the end
	PreviousVersion string `json:"previous_version,omitzero"` // that was used before; absent for the first
}

// InputSkill is a skill as a plugin is told of it.
type InputSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     string `json:"version"`
	// What its SKILL.md says of when to use it, and which tools it asks for.
	WhenToUse    string   `json:"when_to_use,omitzero"`
	Paths        []string `json:"paths,omitzero"`
	AllowedTools []string `json:"allowed_tools,omitzero"`
}

// TaskSkill is a skill that a Task has, as it was when the Task was started.
type TaskSkill struct {
	InputSkill `json:",inline"`
	Digest     string `json:"digest"`  // of its files
	Archive    string `json:"archive"` // "sha256:" and hex, of the zip with them
}
