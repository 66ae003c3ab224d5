package pebble

import "github.com/wharf-dev/wharf/abi"

// kindCodes gives the event kinds their numbers in records, from 1. The order is
// part of the format: new kinds go to the end. Kinds that are not here are text.
var kindCodes = [...]abi.EventKind{
	abi.EventUserMessage, abi.EventUserInputSubmitted, abi.EventUserToolConfirmation,
	abi.EventUserCancelRequested, abi.EventAgentMessage, abi.EventAgentReasoningSummary,
	abi.EventAgentToolUse, abi.EventAgentToolResult, abi.EventAgentMCPToolUse, abi.EventAgentHandoff,
	abi.EventAgentMemoryRead, abi.EventAgentMemoryWrite, abi.EventTaskSubmitted, abi.EventTaskStarted,
	abi.EventTaskInputRequired, abi.EventTaskAuthRequired, abi.EventTaskCompleted, abi.EventTaskFailed,
	abi.EventTaskCanceled, abi.EventTaskStatusChanged, abi.EventSessionCreated, abi.EventSessionClosed,
	abi.EventSessionMessageAppended, abi.EventSessionCompacted, abi.EventSessionTruncated,
	abi.EventSessionThreadForked, abi.EventSessionThreadMerged, abi.EventSessionReplayed,
	abi.EventBranchCreated, abi.EventBranchUpdated, abi.EventBranchMerged, abi.EventBranchAbandoned,
	abi.EventArtifactCreated, abi.EventArtifactUpdated, abi.EventArtifactLinked, abi.EventArtifactRedacted,
	abi.EventSpanStarted, abi.EventSpanUpdated, abi.EventSpanCompleted, abi.EventSpanFailed,
	abi.EventToolRequested, abi.EventToolApprovalRequired, abi.EventToolApproved, abi.EventToolDenied,
	abi.EventToolCompleted, abi.EventToolFailed, abi.EventConnectorDeliveryReceived,
	abi.EventConnectorDeliveryDeduped, abi.EventConnectorNormalized, abi.EventConnectorTaskSubmitted,
	abi.EventConnectorFailed, abi.EventReceiptIssued, abi.EventReceiptVerified,
	abi.EventReceiptVerificationFailed, abi.EventReplayStarted, abi.EventReplayEventReplayed,
	abi.EventReplayCompleted, abi.EventReplayFailed, abi.EventLog, abi.EventProgress,
	abi.EventTenantCreated, abi.EventPersonaCreated, abi.EventWorkspaceCreated, abi.EventWorkspaceUpdated,
	abi.EventSessionUpdated, abi.EventKeyCreated, abi.EventKeyRevoked, abi.EventOutcomeCreated,
	abi.EventPlan, abi.EventMessageDelta, abi.EventCall, abi.EventCallIntent, abi.EventStateSet,
	abi.EventReceiptsSealed, abi.EventMemoryRedacted,
	abi.EventPersonaUpdated, abi.EventMemoryCreated, abi.EventQuotaCreated, abi.EventQuotaUpdated,
	abi.EventQuotaExhausted, abi.EventProposal, abi.EventShadowWrite, abi.EventPermissionRequested,
	abi.EventPermissionDecided, abi.EventPermissionSettled, abi.EventVaultCreated, abi.EventVaultUpdated,
	abi.EventSecretStored, abi.EventSecretRemoved, abi.EventSecretUsed, abi.EventConnectorCreated,
	abi.EventConnectorUpdated, abi.EventConnectorDeleted, abi.EventDeliveryDead, abi.EventDeliveryRedriven,
	abi.EventSkillCreated, abi.EventSkillUpdated, abi.EventFileWritten, abi.EventFileRemoved,
}

var codeOfKind = numberKinds()

func numberKinds() map[abi.EventKind]uint64 {
	codes := make(map[abi.EventKind]uint64, len(kindCodes))
	for i, k := range kindCodes {
		codes[k] = uint64(i + 1)
	}
	return codes
}
