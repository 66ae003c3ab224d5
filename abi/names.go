package abi

// What begins the names by which the log has what a node holds; the id of the resource follows.
// They are no places: whoever speaks a protocol shows them as the paths that it has for them.
const (
	TranscriptName = "wharf:transcript/" // of a Session
	ArtifactName   = "wharf:artifact/"   // the content of an Artifact
)
