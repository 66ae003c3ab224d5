package schema

import (
	"reflect"

	"github.com/wharf-dev/wharf/abi"
)

// Values returns the values of a closed enumeration of package abi; nil for any other
// type. A test holds that none of its constants is missing.
func Values(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[abi.ConnectorStatus]():
		return values(abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorFailed, abi.ConnectorDisabled)
	case reflect.TypeFor[abi.SignatureScheme]():
		return values(abi.SchemeNone, abi.SchemeStandard, abi.SchemeGitHub, abi.SchemeStripe, abi.SchemeSlack, abi.SchemeHMAC)
	case reflect.TypeFor[abi.MemoryScope]():
		return values(abi.MemoryPersona, abi.MemorySession, abi.MemoryWorkspace, abi.MemoryTenant)
	case reflect.TypeFor[abi.PermissionKind]():
		return values(abi.PermissionApproval, abi.PermissionInput, abi.PermissionAuthorization, abi.PermissionSampling, abi.PermissionRoots)
	case reflect.TypeFor[abi.DeclineCode]():
		return values(abi.Declined, abi.Dismissed, abi.Unsupported)
	case reflect.TypeFor[abi.PermissionStatus]():
		return values(abi.PermissionPending, abi.PermissionApproved, abi.PermissionDenied, abi.PermissionAnswered, abi.PermissionTimeout, abi.PermissionCanceled)
	case reflect.TypeFor[abi.RiskLabel]():
		return values(abi.RiskWrite, abi.RiskDestructive, abi.RiskOpenWorld, abi.RiskDelegation)
	case reflect.TypeFor[abi.MatchedBy]():
		return values(abi.MatchedByNode, abi.MatchedByHost)
	case reflect.TypeFor[abi.SkillSource]():
		return values(abi.SkillInstalled, abi.SkillOfHost)
	case reflect.TypeFor[abi.SkillCategory]():
		return values(abi.SkillUser, abi.SkillPlugin, abi.SkillBuiltin, abi.SkillOrganization)
	case reflect.TypeFor[abi.ToolKind]():
		return values(abi.ToolKindRead, abi.ToolKindEdit, abi.ToolKindDelete, abi.ToolKindMove, abi.ToolKindSearch, abi.ToolKindExecute, abi.ToolKindThink,
			abi.ToolKindFetch, abi.ToolKindMode, abi.ToolKindOther)
	case reflect.TypeFor[abi.ToolExecutor]():
		return values(abi.ExecutorHarn, abi.ExecutorClient, abi.ExecutorServer)
	case reflect.TypeFor[abi.ToolErrorCategory]():
		return values(abi.ToolErrorSchema, abi.ToolErrorDenied, abi.ToolErrorTimeout, abi.ToolErrorOwn, abi.ToolErrorServer, abi.ToolErrorHostBridge, abi.ToolErrorUnknown, abi.ToolErrorCancelled)
	case reflect.TypeFor[abi.ToolsVisibility]():
		return values(abi.ToolsInternal, abi.ToolsNamed, abi.ToolsPublic)
	case reflect.TypeFor[abi.ToolTransport]():
		return values(abi.TransportHTTP, abi.TransportSSE, abi.TransportStdio)
	case reflect.TypeFor[abi.ToolServerStatus]():
		return values(abi.ToolServerConnected, abi.ToolServerDisconnected, abi.ToolServerError)
	case reflect.TypeFor[abi.HarnessKind]():
		return values(abi.HarnessHosted, abi.HarnessSDK, abi.HarnessIDE)
	case reflect.TypeFor[abi.HarnessStatus]():
		return values(abi.HarnessActive, abi.HarnessBeta, abi.HarnessComingSoon, abi.HarnessMaintenance, abi.HarnessDeprecated)
	case reflect.TypeFor[abi.QuotaScope]():
		return values(abi.QuotaPersona, abi.QuotaWorkspace, abi.QuotaTenant, abi.QuotaOrganization)
	case reflect.TypeFor[abi.ReplayMode]():
		return values(abi.ReplayExact, abi.ReplayWithOverrides, abi.ReplayFromCheckpoint)
	case reflect.TypeFor[abi.OverrideKind]():
		return values(abi.OverrideModel, abi.OverrideMCP, abi.OverrideSecret, abi.OverrideTime, abi.OverrideHostFact, abi.OverrideTool, abi.OverridePayload, abi.OverrideCheckpoint)
	case reflect.TypeFor[abi.HookEvent]():
		return values(abi.HookPreTool, abi.HookPostTool, abi.HookStop, abi.HookError, abi.HookCustom)
	case reflect.TypeFor[abi.HookFailure]():
		return values(abi.HookOpen, abi.HookClosed)
	case reflect.TypeFor[abi.MemoryMerge]():
		return values(abi.MemoryOverwrite, abi.MemorySkip, abi.MemoryMergeBoth)
	case reflect.TypeFor[abi.StepStatus]():
		return values(abi.StepPending, abi.StepInProgress, abi.StepCompleted, abi.StepSkipped)
	case reflect.TypeFor[abi.TaskMessageKind]():
		return values(abi.TaskMessageInput, abi.TaskMessageInterrupt, abi.TaskMessageToolConfirmation)
	case reflect.TypeFor[abi.MergeStrategy]():
		return values(abi.MergeAppend)
	case reflect.TypeFor[abi.AutonomyTier]():
		return values(abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto)
	case reflect.TypeFor[abi.ReceiptPolicy]():
		return values(abi.ReceiptRequired, abi.ReceiptOptional, abi.ReceiptDisabled)
	case reflect.TypeFor[abi.BranchKind]():
		return values(abi.BranchWorkspace, abi.BranchSession, abi.BranchTask, abi.BranchSandbox)
	case reflect.TypeFor[abi.Role]():
		return values(abi.RoleUser, abi.RoleAssistant, abi.RoleSystem, abi.RoleTool, abi.RoleAgent)
	case reflect.TypeFor[abi.ArtifactKind]():
		return values(abi.ArtifactFile, abi.ArtifactPatch, abi.ArtifactImage, abi.ArtifactLog, abi.ArtifactDiff, abi.ArtifactReceipt, abi.ArtifactSnapshot, abi.ArtifactDataset, abi.ArtifactOther)
	case reflect.TypeFor[abi.KeySource]():
		return values(abi.KeyFromClient, abi.KeyFromStart, abi.KeyFromEnvironment, abi.KeyFromFormerEnvironment)
	case reflect.TypeFor[abi.Effect]():
		return values(abi.EffectLocal, abi.EffectRead, abi.EffectWrite, abi.EffectWait, abi.EffectHint, abi.EffectGiven)
	case reflect.TypeFor[abi.TaskStatus]():
		return values(abi.TaskStatuses()...)
	case reflect.TypeFor[abi.Visibility]():
		return values(abi.VisibilityPublic, abi.VisibilityInternal, abi.VisibilityReceiptOnly)
	case reflect.TypeFor[abi.PartType]():
		return values(abi.PartText, abi.PartJSON, abi.PartToolCall, abi.PartToolResult, abi.PartArtifactRef, abi.PartFileRef, abi.PartImageRef)
	case reflect.TypeFor[abi.ErrorCode]():
		var codes []string
		for _, class := range abi.ErrorClasses() {
			codes = append(codes, string(class.Code))
		}
		return codes
	case reflect.TypeFor[abi.ErrorType]():
		return values(abi.TypeRequest, abi.TypeAuth, abi.TypePermission, abi.TypeNotFound, abi.TypeConflict, abi.TypeRateLimit, abi.TypeRuntime, abi.TypeUpstream, abi.TypeServer)
	case reflect.TypeFor[abi.SessionState]():
		return values(abi.SessionActive, abi.SessionIdle, abi.SessionPaused, abi.SessionClosed, abi.SessionFailed)
	case reflect.TypeFor[abi.OutcomeStatus]():
		return values(abi.OutcomeSucceeded, abi.OutcomeFailed, abi.OutcomeCanceled)
	}
	return nil
}

func values[T ~string](all ...T) []string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = string(v)
	}
	return texts
}
