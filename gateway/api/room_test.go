package api_test

import (
	"errors"
	"reflect"
	"regexp"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/disk"
)

// removes are the names of what takes something away or shuts somebody out: all of it is let through.
var removes = regexp.MustCompile(`^(Delete|Remove|Revoke|Redact|Uninstall|Truncate|Abandon|Close|Cancel)`)

// operations says of everything else that an adapter can ask of the engine whether it is new work, which a disk
// that is nearly full refuses.
var operations = map[string]bool{
	// New work.
	"SubmitTask": true, "ReplayTask": true, "ReplaySession": true, "ForkTask": true, "CreateSession": true, "UpdateSession": true,
	"ForkSession": true, "AppendMessage": true, "MergeBranch": true, "CreateBranch": true, "CreateWorkspace": true, "UpdateWorkspace": true,
	"RegisterArtifact": true, "CreatePersona": true, "ClonePersona": true, "UpdatePersona": true, "CreateSkill": true, "UpdateSkill": true,
	"CreateMemory": true, "CreateQuota": true, "CreateVault": true, "UpdateVault": true, "StoreSecret": true, "CreateConnector": true,
	"ReceiveDelivery": true, "ReceiveHook": true, "RedriveDeadLetter": true, "RedriveDeadLetters": true, "CreateWebhook": true,
	"RedriveWebhookDelivery": true, "RedriveWebhookDeliveries": true, "CreateHook": true, "UpdatePlan": true, "UpdatePlanStep": true,
	"Inject": true, "ReplaceInjection": true, "Remind": true, "CreateBlock": true, "UpdateBlock": true, "AddToArchive": true,
	"ImportMemory": true, "CreateToolServer": true, "UpdateToolServer": true, "InstallSkillBundle": true, "UpgradeSkillBundle": true,
	"RollbackSkillBundle": true, "UpdateSkillBundle": true, "CreateCustomTool": true, "CreateHarness": true, "UpdateHarness": true,
	"ValidateHarnessKey": true, "ImportAgents": true, "CreateAgent": true, "UpdateAgent": true, "CloneAgent": true, "InstallPlugin": true,
	"InstallPackage": true, "RollbackPlugin": true, "EnablePlugin": true, "CreateKey": true, "VerifyReceipt": true, "WriteFile": true,
	"WriteFiles": true, "MakeFolder": true,
	// What has to be kept, and what may go.
	"PlaceHold": false, "ReleaseHold": false,

	// What lets running work go on and end: inputs, answers, clients that say that they are there.
	"AppendTaskMessage": false, "RespondPermission": false, "ResumeSession": false, "WakeSession": false,
	"AttachClient": false, "DetachClient": false, "HeartbeatClient": false, "TakeoverSession": false,
	// What stops work, or can: an operator gets out of it by these.
	"PauseSession": false, "DisablePlugin": false, "UpdateConnector": false, "UpdateWebhook": false, "UpdateHook": false, "UpdateQuota": false,
	// Who gets in, and with which keys.
	"IssueToken": false, "RotateSigningKey": false, "RotateVaultKey": false, "RotateWebhook": false, "HookTenant": false, "TokenIssuer": false, "TokenKeys": false,
	// A copy that lies elsewhere.
	"Backup": false,
	// Reading, and asking others.
	"Agent": false, "AgentMemory": false, "Agents": false, "ArchiveOf": false, "BranchLineage": false, "CheckWebhook": false, "Controls": false,
	"CustomTools": false, "DeadLetter": false, "DeadLetters": false, "DefaultWorkspaceOf": false, "Event": false, "Events": false,
	"ExportAgent": false, "ExportTask": false, "FindEntry": false, "FindFiles": false, "Get": false, "GetConnector": false, "GetWorkspace": false,
	"GetToolServerPrompt": false, "Harness": false, "HarnessCalls": false, "HarnessRunning": false, "Harnesses": false, "Hook": false,
	"Hooks": false, "List": false, "ListConnectors": false, "ListFiles": false, "ListKeys": false, "ListMemories": false, "ListSecrets": false,
	"LiveClients": false, "MemorySnapshot": false, "Messages": false, "Models": false, "OpenArtifact": false, "OpenFile": false,
	"OpenSkillBundle": false, "PackFiles": false, "PendingInjections": false, "Permissions": false, "PersonaVersions": false,
	"PingToolServer": false, "Plan": false, "Plugin": false, "PluginManifest": false, "Plugins": false, "PublicSkills": false, "Quota": false,
	"Quotas": false, "ReadToolServerResource": false, "ReceiptWire": false, "SearchMemory": false, "SessionsCalled": false, "SignDocument": false,
	"SigningKeys": false, "SkillBundle": false, "SkillBundleFile": false, "SkillBundleVersions": false, "SkillBundles": false, "Stats": false,
	"Subagents": false, "Subscribe": false, "TaskReceipts": false, "TaskRecord": false, "ToolServer": false, "ToolServerPrompts": false,
	"ToolServerResources": false, "ToolServerTemplates": false, "ToolServerTools": false, "ToolServers": false, "ToolServersIn": false,
	"TryWebhook": false, "WaitSettled": false, "WaitTask": false, "WalkFiles": false, "Webhook": false, "WebhookDeliveries": false, "Webhooks": false,
}

// TestWhatANearlyFullDiskRefuses asks for every operation that there is while the disk is nearly full, and when there is
// room again. No core stands behind: what is let through panics.
func TestWhatANearlyFullDiskRefuses(t *testing.T) {
	free := uint64(10 << 20)
	w := disk.New(disk.Config{Read: func() (disk.Space, bool) { return disk.Space{Free: free, Total: 1 << 40}, true },
		Reserve: func(uint64) uint64 { return 100 << 20 }})
	core := api.Sparing(nil, w)
	of := reflect.TypeFor[api.Core]()
	for i := range of.NumMethod() {
		m := of.Method(i)
		refused, known := operations[m.Name]
		if removes.MatchString(m.Name) {
			if known {
				t.Errorf("%s removes something, and is let through: it stands in no list", m.Name)
			}
		} else if !known {
			t.Errorf("%s is new: say in operations whether a disk that is nearly full refuses it, and have sparing refuse it if so", m.Name)
			continue
		}
		if got := refuses(t, core, m); got != refused {
			t.Errorf("%s is refused: %v, want %v", m.Name, got, refused)
		}
	}
	for name := range operations {
		if _, there := of.MethodByName(name); !there {
			t.Errorf("%s is no operation any more", name)
		}
	}
	free = 1 << 30
	w.Look()
	for name, refused := range operations {
		if m, there := of.MethodByName(name); there && refused && refuses(t, core, m) {
			t.Errorf("%s is refused though there is room", name)
		}
	}
}

// refuses calls a method with zero values, and true for a bool, and reports whether that was refused. It
// fails the test where a refusal says too little.
func refuses(t *testing.T, core api.Core, m reflect.Method) (refused bool) {
	t.Helper()
	defer func() {
		if recover() != nil {
			refused = false
		}
	}()
	f := reflect.ValueOf(core).MethodByName(m.Name)
	var args []reflect.Value
	for i := range m.Type.NumIn() {
		v := reflect.New(m.Type.In(i)).Elem()
		if v.Kind() == reflect.Bool {
			v.SetBool(true)
		}
		args = append(args, v)
	}
	results := f.Call(args)
	err, _ := results[len(results)-1].Interface().(error)
	told, ok := errors.AsType[*abi.Error](err)
	if !ok || told.Code != abi.CodeServiceUnavailable || told.RetryAfter == 0 {
		t.Errorf("%s is answered with %v", m.Name, err)
	}
	public := m.Name == "ReceiveDelivery" || m.Name == "ReceiveHook"
	if figures := regexp.MustCompile(`10(,240)? [KM]iB are free`).MatchString(told.Message) && told.Details != nil; figures == public {
		t.Errorf("%s: figures: %v, public: %v: %s", m.Name, figures, public, told.Message)
	}
	return true
}
