package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/agents"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/files"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/intake"
)

// Sparing returns a core that refuses new work while w does. It is the one place where that is decided, for all
// adapters. What reads goes through, and so does what removes something, what lets work that runs go on or end,
// what stops it, and what shuts somebody out or lets somebody in.
func Sparing(core Core, w *disk.Watch) Core { return sparing{core, w} }

type sparing struct {
	Core
	disk *disk.Watch
}

// ValidateHarnessKey writes something when it is to keep the key.
func (s sparing) ValidateHarnessKey(ctx context.Context, c *desk.Caller, h *abi.Harness, key, baseURL string, store bool) (harnesses.Validation, error) {
	if err := s.disk.NewWork(); store && err != nil {
		return harnesses.Validation{}, err
	}
	return s.Core.ValidateHarnessKey(ctx, c, h, key, baseURL, store)
}

func (s sparing) SubmitTask(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.SubmitTaskRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.SubmitTask(ctx, c, r, req)
}

func (s sparing) ReplayTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ReplayTask(ctx, c, r, id, req)
}

func (s sparing) ReplaySession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplaySessionRequest, after string) (desk.DocList, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.DocList{}, err
	}
	return s.Core.ReplaySession(ctx, c, r, id, req, after)
}

func (s sparing) ForkTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ForkTask(ctx, c, r, id, req)
}

func (s sparing) CreateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSessionRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateSession(ctx, c, r, req)
}

func (s sparing) UpdateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSessionRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateSession(ctx, c, r, id, req)
}

func (s sparing) ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ForkSession(ctx, c, r, id, req)
}

func (s sparing) AppendMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.AppendMessageRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.AppendMessage(ctx, c, r, sessionID, req)
}

func (s sparing) MergeBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.MergeBranchRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.MergeBranch(ctx, c, r, id, req)
}

func (s sparing) CreateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWorkspaceRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateWorkspace(ctx, c, r, req)
}

func (s sparing) UpdateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWorkspaceRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateWorkspace(ctx, c, r, id, req)
}

func (s sparing) CreateBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.CreateBranchRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateBranch(ctx, c, r, sessionID, req)
}

func (s sparing) RegisterArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.RegisterArtifactRequest, content io.Reader) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.RegisterArtifact(ctx, c, r, req, content)
}

func (s sparing) CreatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreatePersonaRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreatePersona(ctx, c, r, req)
}

func (s sparing) ClonePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ClonePersonaRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ClonePersona(ctx, c, r, id, req)
}

func (s sparing) UpdatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdatePersonaRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdatePersona(ctx, c, r, id, req)
}

func (s sparing) CreateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSkillRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateSkill(ctx, c, r, req)
}

func (s sparing) UpdateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateSkill(ctx, c, r, id, req)
}

func (s sparing) CreateMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateMemoryRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateMemory(ctx, c, r, req)
}

func (s sparing) CreateQuota(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateQuotaRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateQuota(ctx, c, r, req)
}

func (s sparing) CreateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateVaultRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateVault(ctx, c, r, req)
}

func (s sparing) UpdateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateVaultRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateVault(ctx, c, r, id, req)
}

func (s sparing) StoreSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string, req abi.StoreSecretRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.StoreSecret(ctx, c, r, vaultID, name, req)
}

func (s sparing) CreateConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateConnectorRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateConnector(ctx, c, r, req)
}

func (s sparing) ReceiveDelivery(ctx context.Context, c *desk.Caller, id string, in *intake.Incoming) (intake.Received, error) {
	if err := s.disk.Delivery(); err != nil {
		return intake.Received{}, err
	}
	return s.Core.ReceiveDelivery(ctx, c, id, in)
}

func (s sparing) ReceiveHook(ctx context.Context, token string, in *intake.Incoming) (intake.Received, error) {
	if err := s.disk.Delivery(); err != nil {
		return intake.Received{}, err
	}
	return s.Core.ReceiveHook(ctx, token, in)
}

func (s sparing) RedriveDeadLetter(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID, id string) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.RedriveDeadLetter(ctx, c, r, connectorID, id)
}

func (s sparing) RedriveDeadLetters(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID string, p desk.Page) (desk.DocList, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.DocList{}, err
	}
	return s.Core.RedriveDeadLetters(ctx, c, r, connectorID, p)
}

func (s sparing) CreateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWebhookRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateWebhook(ctx, c, r, req)
}

func (s sparing) RedriveWebhookDelivery(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook, id string) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.RedriveWebhookDelivery(ctx, c, r, webhook, id)
}

func (s sparing) RedriveWebhookDeliveries(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook string, p desk.Page) (desk.DocList, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.DocList{}, err
	}
	return s.Core.RedriveWebhookDeliveries(ctx, c, r, webhook, p)
}

func (s sparing) CreateHook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateHookRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateHook(ctx, c, r, req)
}

func (s sparing) UpdatePlan(ctx context.Context, c *desk.Caller, r *desk.Retry, task string, req abi.UpdatePlanRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdatePlan(ctx, c, r, task, req)
}

func (s sparing) UpdatePlanStep(ctx context.Context, c *desk.Caller, r *desk.Retry, task, step string, req abi.UpdatePlanStepRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdatePlanStep(ctx, c, r, task, step, req)
}

func (s sparing) Inject(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.InjectRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.Inject(ctx, c, r, session, req)
}

func (s sparing) ReplaceInjection(ctx context.Context, c *desk.Caller, r *desk.Retry, session, id string, req abi.ReplaceInjectionRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ReplaceInjection(ctx, c, r, session, id, req)
}

func (s sparing) Remind(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, req abi.RemindRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.Remind(ctx, c, r, session, req)
}

func (s sparing) CreateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.CreateBlockRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateBlock(ctx, c, r, persona, req)
}

func (s sparing) UpdateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona, label string, req abi.UpdateBlockRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateBlock(ctx, c, r, persona, label, req)
}

func (s sparing) AddToArchive(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.ArchiveRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.AddToArchive(ctx, c, r, persona, req)
}

func (s sparing) ImportMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, merge abi.MemoryMerge, files []filetree.File) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.ImportMemory(ctx, c, r, persona, merge, files)
}

func (s sparing) CreateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateToolServerRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateToolServer(ctx, c, r, req)
}

func (s sparing) UpdateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateToolServerRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateToolServer(ctx, c, r, id, req)
}

func (s sparing) InstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallSkillBundleRequest, files *filetree.Tree) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.InstallSkillBundle(ctx, c, r, req, files)
}

func (s sparing) UpgradeSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpgradeSkillBundleRequest, files *filetree.Tree) (desk.Doc, string, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, "", err
	}
	return s.Core.UpgradeSkillBundle(ctx, c, r, id, req, files)
}

func (s sparing) RollbackSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RollbackSkillBundleRequest) (desk.Doc, string, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, "", err
	}
	return s.Core.RollbackSkillBundle(ctx, c, r, id, req)
}

func (s sparing) UpdateSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillBundleRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateSkillBundle(ctx, c, r, id, req)
}

func (s sparing) CreateCustomTool(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateCustomToolRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateCustomTool(ctx, c, r, req)
}

func (s sparing) CreateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.NewHarness) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateHarness(ctx, c, r, req)
}

func (s sparing) UpdateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.HarnessChange) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateHarness(ctx, c, r, name, req)
}

func (s sparing) ImportAgents(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.AgentImport, files *filetree.Tree) (*agents.Written, error) {
	if err := s.disk.NewWork(); err != nil {
		return nil, err
	}
	return s.Core.ImportAgents(ctx, c, r, workspace, req, files)
}

func (s sparing) CreateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.NewAgent) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateAgent(ctx, c, r, workspace, req)
}

func (s sparing) UpdateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string, change abi.AgentChange) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.UpdateAgent(ctx, c, r, workspace, id, change)
}

func (s sparing) CloneAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id, name string, memory bool) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CloneAgent(ctx, c, r, workspace, id, name, memory)
}

func (s sparing) InstallPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, module io.Reader) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.InstallPlugin(ctx, c, r, req, module)
}

func (s sparing) InstallPackage(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, at io.ReaderAt, size int64) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.InstallPackage(ctx, c, r, req, at, size)
}

func (s sparing) RollbackPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.RollbackPluginRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.RollbackPlugin(ctx, c, r, name, req)
}

func (s sparing) EnablePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.EnablePlugin(ctx, c, r, name)
}

func (s sparing) CreateKey(ctx context.Context, c *desk.Caller, req abi.CreateKeyRequest) (desk.Doc, error) {
	if err := s.disk.NewWork(); err != nil {
		return desk.Doc{}, err
	}
	return s.Core.CreateKey(ctx, c, req)
}

func (s sparing) VerifyReceipt(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	if err := s.disk.NewWork(); err != nil {
		return abi.ReceiptVerification{}, err
	}
	return s.Core.VerifyReceipt(ctx, c, r, id, req)
}

func (s sparing) WriteFile(ctx context.Context, c *desk.Caller, workspace, path string, content io.Reader, when files.Condition) (abi.File, bool, error) {
	if err := s.disk.NewWork(); err != nil {
		return abi.File{}, false, err
	}
	return s.Core.WriteFile(ctx, c, workspace, path, content, when)
}

func (s sparing) WriteFiles(ctx context.Context, c *desk.Caller, workspace string, all []files.Upload, overwrite bool) (*files.Written, error) {
	if err := s.disk.NewWork(); err != nil {
		return nil, err
	}
	return s.Core.WriteFiles(ctx, c, workspace, all, overwrite)
}

func (s sparing) MakeFolder(ctx context.Context, c *desk.Caller, workspace, dir string) (abi.File, bool, error) {
	if err := s.disk.NewWork(); err != nil {
		return abi.File{}, false, err
	}
	return s.Core.MakeFolder(ctx, c, workspace, dir)
}
