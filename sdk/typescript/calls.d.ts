// Generated from package abi by go generate ./abi. Do not edit.
import type * as wharf from "./index.js";

/** The host calls that a test can answer, each with its request and its answer. */
export interface HostCalls {
	"clock": { request: wharf.Label | undefined; answer: wharf.ClockAnswer };
	"random": { request: number; answer: Uint8Array };
	"id": { request: wharf.Label | undefined; answer: wharf.IDAnswer };
	"plan.set": { request: wharf.PlanSetRequest; answer: wharf.PlanAnswer };
	"plan.get": { request: wharf.PlanGetRequest | undefined; answer: wharf.PlanAnswer };
	"inbox.take": { request: wharf.InboxTakeRequest; answer: wharf.InboxTakeAnswer };
	"message.append": { request: wharf.MessageInput; answer: wharf.MessageAppendAnswer };
	"transcript.read": { request: wharf.TranscriptReadRequest; answer: wharf.TranscriptReadAnswer };
	"llm.complete": { request: wharf.ModelRequest; answer: wharf.ModelAnswer };
	"tool.list": { request: wharf.ToolListRequest | undefined; answer: wharf.ToolListAnswer };
	"tool.call": { request: wharf.ToolCallRequest; answer: wharf.ToolCallAnswer };
	"resource.list": { request: wharf.ResourceListRequest; answer: wharf.ResourceListAnswer };
	"resource.read": { request: wharf.ResourceReadRequest; answer: wharf.ResourceReadAnswer };
	"prompt.get": { request: wharf.PromptGetRequest; answer: wharf.PromptGetAnswer };
	"http.fetch": { request: wharf.HTTPFetchRequest; answer: wharf.HTTPFetchAnswer };
	"secret.use": { request: wharf.SecretUseRequest; answer: wharf.SecretUseAnswer };
	"memory.query": { request: wharf.MemoryQueryRequest; answer: wharf.MemoryQueryAnswer };
	"memory.write": { request: wharf.MemoryWriteRequest; answer: wharf.MemoryWriteAnswer };
	"block.list": { request: wharf.BlockListRequest | undefined; answer: wharf.BlockListAnswer };
	"block.write": { request: wharf.BlockWriteRequest; answer: wharf.BlockWriteAnswer };
	"artifact.put": { request: wharf.ArtifactPutRequest; answer: wharf.ArtifactPutAnswer };
	"artifact.get": { request: wharf.ArtifactGetRequest; answer: Uint8Array };
	"file.read": { request: wharf.FileReadRequest; answer: wharf.FileReadAnswer };
	"file.write": { request: wharf.FileWriteRequest; answer: wharf.FileWriteAnswer };
	"file.edit": { request: wharf.FileEditRequest; answer: wharf.FileEditAnswer };
	"file.list": { request: wharf.FileListRequest | undefined; answer: wharf.FileListAnswer };
	"file.remove": { request: wharf.FileRemoveRequest; answer: wharf.FileRemoveAnswer };
	"file.search": { request: wharf.FileSearchRequest; answer: wharf.FileSearchAnswer };
	"skill.read": { request: wharf.SkillReadRequest; answer: wharf.SkillReadAnswer };
	"skill.match": { request: wharf.SkillMatchRequest; answer: wharf.SkillMatchAnswer };
	"composition.begin": { request: wharf.CompositionBeginRequest; answer: wharf.CompositionBeginAnswer };
	"composition.end": { request: wharf.CompositionEndRequest; answer: undefined };
	"state.get": { request: wharf.StateGetRequest; answer: wharf.StateGetAnswer };
	"state.set": { request: wharf.StateSetRequest; answer: undefined };
	"sleep": { request: wharf.SleepRequest; answer: undefined };
	"input.request": { request: wharf.InputRequestRequest; answer: wharf.InputRequestAnswer };
	"auth.request": { request: wharf.AuthRequestRequest; answer: wharf.InputRequestAnswer };
	"approval.request": { request: wharf.ApprovalRequestRequest; answer: wharf.ApprovalAnswer };
	"task.spawn": { request: wharf.TaskSpawnRequest; answer: wharf.TaskSpawnAnswer };
	"task.await": { request: wharf.TaskAwaitRequest; answer: wharf.TaskAwaitAnswer };
	"handoff": { request: wharf.HandoffRequest; answer: wharf.TaskSpawnAnswer };
	"agent.delegate": { request: wharf.AgentDelegateRequest; answer: wharf.AgentDelegateAnswer };
	"event.emit": { request: wharf.EventEmitRequest; answer: undefined };
	"config.get": { request: wharf.ConfigGetRequest; answer: wharf.ConfigGetAnswer };
	"host.fact": { request: wharf.HostFactRequest; answer: wharf.HostFactAnswer };
	"connector.deliveries": { request: undefined; answer: wharf.DeliveriesAnswer };
	"connector.normalized": { request: wharf.NormalizedRequest; answer: undefined };
	"connector.deliver": { request: wharf.DeliverRequest; answer: wharf.DeliverAnswer };
}
