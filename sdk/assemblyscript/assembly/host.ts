// Generated from package abi by go generate ./abi. Do not edit.

// The imports of the host's module. The compiler leaves out those that are not used.

@external("wharf", "input")
export declare function hostInput(request: usize, length: usize): u64;

@external("wharf", "output")
export declare function hostOutput(request: usize, length: usize): u64;

@external("wharf", "clock")
export declare function hostClock(request: usize, length: usize): u64;

@external("wharf", "random")
export declare function hostRandom(request: usize, length: usize): u64;

@external("wharf", "id")
export declare function hostId(request: usize, length: usize): u64;

@external("wharf", "log")
export declare function hostLog(request: usize, length: usize): u64;

@external("wharf", "progress")
export declare function hostProgress(request: usize, length: usize): u64;

@external("wharf", "plan")
export declare function hostPlan(request: usize, length: usize): u64;

@external("wharf", "agent.event")
export declare function hostAgentEvent(request: usize, length: usize): u64;

@external("wharf", "plan.set")
export declare function hostPlanSet(request: usize, length: usize): u64;

@external("wharf", "plan.get")
export declare function hostPlanGet(request: usize, length: usize): u64;

@external("wharf", "inbox.take")
export declare function hostInboxTake(request: usize, length: usize): u64;

@external("wharf", "message.append")
export declare function hostMessageAppend(request: usize, length: usize): u64;

@external("wharf", "message.delta")
export declare function hostMessageDelta(request: usize, length: usize): u64;

@external("wharf", "transcript.read")
export declare function hostTranscriptRead(request: usize, length: usize): u64;

@external("wharf", "llm.complete")
export declare function hostLlmComplete(request: usize, length: usize): u64;

@external("wharf", "tool.list")
export declare function hostToolList(request: usize, length: usize): u64;

@external("wharf", "tool.call")
export declare function hostToolCall(request: usize, length: usize): u64;

@external("wharf", "resource.list")
export declare function hostResourceList(request: usize, length: usize): u64;

@external("wharf", "resource.read")
export declare function hostResourceRead(request: usize, length: usize): u64;

@external("wharf", "prompt.get")
export declare function hostPromptGet(request: usize, length: usize): u64;

@external("wharf", "http.fetch")
export declare function hostHttpFetch(request: usize, length: usize): u64;

@external("wharf", "secret.use")
export declare function hostSecretUse(request: usize, length: usize): u64;

@external("wharf", "memory.query")
export declare function hostMemoryQuery(request: usize, length: usize): u64;

@external("wharf", "memory.write")
export declare function hostMemoryWrite(request: usize, length: usize): u64;

@external("wharf", "block.list")
export declare function hostBlockList(request: usize, length: usize): u64;

@external("wharf", "block.write")
export declare function hostBlockWrite(request: usize, length: usize): u64;

@external("wharf", "artifact.put")
export declare function hostArtifactPut(request: usize, length: usize): u64;

@external("wharf", "artifact.get")
export declare function hostArtifactGet(request: usize, length: usize): u64;

@external("wharf", "file.read")
export declare function hostFileRead(request: usize, length: usize): u64;

@external("wharf", "file.write")
export declare function hostFileWrite(request: usize, length: usize): u64;

@external("wharf", "file.edit")
export declare function hostFileEdit(request: usize, length: usize): u64;

@external("wharf", "file.list")
export declare function hostFileList(request: usize, length: usize): u64;

@external("wharf", "file.remove")
export declare function hostFileRemove(request: usize, length: usize): u64;

@external("wharf", "file.search")
export declare function hostFileSearch(request: usize, length: usize): u64;

@external("wharf", "skill.read")
export declare function hostSkillRead(request: usize, length: usize): u64;

@external("wharf", "skill.match")
export declare function hostSkillMatch(request: usize, length: usize): u64;

@external("wharf", "composition.begin")
export declare function hostCompositionBegin(request: usize, length: usize): u64;

@external("wharf", "composition.end")
export declare function hostCompositionEnd(request: usize, length: usize): u64;

@external("wharf", "state.get")
export declare function hostStateGet(request: usize, length: usize): u64;

@external("wharf", "state.set")
export declare function hostStateSet(request: usize, length: usize): u64;

@external("wharf", "sleep")
export declare function hostSleep(request: usize, length: usize): u64;

@external("wharf", "input.request")
export declare function hostInputRequest(request: usize, length: usize): u64;

@external("wharf", "auth.request")
export declare function hostAuthRequest(request: usize, length: usize): u64;

@external("wharf", "approval.request")
export declare function hostApprovalRequest(request: usize, length: usize): u64;

@external("wharf", "task.spawn")
export declare function hostTaskSpawn(request: usize, length: usize): u64;

@external("wharf", "task.await")
export declare function hostTaskAwait(request: usize, length: usize): u64;

@external("wharf", "handoff")
export declare function hostHandoff(request: usize, length: usize): u64;

@external("wharf", "agent.delegate")
export declare function hostAgentDelegate(request: usize, length: usize): u64;

@external("wharf", "event.emit")
export declare function hostEventEmit(request: usize, length: usize): u64;

@external("wharf", "config.get")
export declare function hostConfigGet(request: usize, length: usize): u64;

@external("wharf", "host.fact")
export declare function hostHostFact(request: usize, length: usize): u64;

@external("wharf", "connector.deliveries")
export declare function hostConnectorDeliveries(request: usize, length: usize): u64;

@external("wharf", "connector.normalized")
export declare function hostConnectorNormalized(request: usize, length: usize): u64;

@external("wharf", "connector.deliver")
export declare function hostConnectorDeliver(request: usize, length: usize): u64;
