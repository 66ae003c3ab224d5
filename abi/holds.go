package abi

// Hold keeps something from being deleted, by anybody and by retention, until it is released: a
// legal hold. That of a Workspace or a Session is for all that is in it. It is a resource of its own, so that
// whoever may delete something cannot take it away with the same right.
type Hold struct {
	Envelope    `json:",inline"`
	WorkspaceID string          `json:"workspace_id"`
	Resource    ResourcePointer `json:"resource"`  // what is held
	Reason      string          `json:"reason"`    // why, for people
	PlacedBy    string          `json:"placed_by"` // the actor
	// ReleasedAt is set on a Hold that was released, by ReleasedBy.
	ReleasedAt Time   `json:"released_at,omitzero"`
	ReleasedBy string `json:"released_by,omitzero"`
}

// PlaceHoldRequest places a Hold.
type PlaceHoldRequest struct {
	ResourceID string `json:"resource_id"` // of a Workspace, a Session, a Task or an Artifact
	Reason     string `json:"reason"`
}
