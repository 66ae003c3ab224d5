//! Makes each host call once, as the plugins in the other languages do.

use std::collections::BTreeMap;
use wharf::*;

#[wharf::main]
fn everything(_: &Task) -> Result<Outcome> {
    first()?;
    compose()?;
    session()?;
    model()?;
    resources()?;
    stored()?;
    files()?;
    people()?;
    others()?;
    deliveries()?;
    Ok(Outcome { summary: "done".into(), metrics: BTreeMap::from([("n".into(), 1.0)]), ..Default::default() })
}

fn object() -> Json {
    Json::parse(r#"{"a":1}"#).unwrap()
}

fn empty() -> Json {
    Json::parse("{}").unwrap()
}

fn map() -> BTreeMap<String, String> {
    BTreeMap::from([("a".into(), "b".into())])
}

fn one() -> Bytes {
    vec![1].into()
}

fn first() -> Result<()> {
    clock(&Label { call_id: "begin".into() })?;
    random(3)?;
    id(&Label::default())?;
    sleep(&SleepRequest { ms: 1000 })?;
    wharf::log("info", "hi")?;
    progress(&ProgressRequest { fraction: 0.5, message: "half".into() })?;
    plan(&PlanRequest { steps: vec![PlanStep { title: "a".into(), status: "pending".into() }] })?;
    agent_event(&AgentEventRequest { kind: AgentEventKind::TURN_STARTED, data: Json::parse(r#"{"iteration":1}"#)? })
}

fn compose() -> Result<()> {
    let begun = composition_begin(&CompositionBeginRequest {
        name: "n".into(),
        language: "l".into(),
        snippet_hash: "s".into(),
        manifest_hash: "m".into(),
        side_effect_ceiling: SideEffectLevel::READ_ONLY,
    })?;
    tool_call(&ToolCallRequest { server: "s".into(), name: "n".into(), composition_id: begun.composition_id.clone(), ..Default::default() })?;
    composition_end(&CompositionEndRequest {
        composition_id: begun.composition_id,
        stdout: "o".into(),
        stderr: "e".into(),
        artifacts: vec!["art_1".into()],
        result: Some(object()),
        failure_category: "tool_error".into(),
        message: "m".into(),
    })
}

fn session() -> Result<()> {
    plan_set(&PlanSetRequest { steps: vec![PlannedStep { id: "a".into(), content: "b".into(), status: "pending".into() }], version: Some(2) })?;
    plan_get(&PlanGetRequest::default())?;
    inbox_take(&InboxTakeRequest { checkpoint: Checkpoint::STEP, ..Default::default() })?;
    inbox_take(&InboxTakeRequest { checkpoint: Checkpoint::TURN, wait: true, timeout_ms: 1000, ..Default::default() })?;
    reply("hi")?;
    message_delta(&MessageDeltaRequest { text: "h".into() })?;
    transcript_read(&TranscriptReadRequest { last: 3, ..Default::default() })?;
    Ok(())
}

fn model() -> Result<()> {
    llm_complete(&ModelRequest {
        call_id: "main:1".into(),
        model: "m".into(),
        system: "s".into(),
        messages: vec![
            ModelMessage {
                role: "assistant".into(),
                text: "t".into(),
                tool_calls: vec![ModelToolCall { id: "c".into(), name: "n".into(), arguments: object() }],
                ..Default::default()
            },
            ModelMessage { role: "tool".into(), tool_call_id: "c".into(), is_error: true, ..Default::default() },
        ],
        tools: vec![ModelTool { name: "n".into(), description: "d".into(), input_schema: Some(object()) }],
        tool_choice: "auto".into(),
        max_tokens: 1,
        temperature: None,
        stop: vec![".".into()],
        stream: true,
    })?;
    tool_list(&ToolListRequest { server: "s".into(), ..Default::default() })?;
    tool_call(&ToolCallRequest { call_id: "c".into(), server: "s".into(), name: "n".into(), arguments: Some(object()), ..Default::default() })?;
    Ok(())
}

fn resources() -> Result<()> {
    for kind in ["resource", "template", "prompt"] {
        resource_list(&ResourceListRequest { server: "s".into(), kind: kind.into(), ..Default::default() })?;
    }
    resource_read(&ResourceReadRequest { call_id: "c".into(), server: "s".into(), uri: "file:///a".into() })?;
    prompt_get(&PromptGetRequest { call_id: "c".into(), server: "s".into(), name: "n".into(), arguments: map() })?;
    Ok(())
}

fn stored() -> Result<()> {
    http_fetch(&HTTPFetchRequest {
        call_id: "c".into(),
        method: "POST".into(),
        url: "https://x".into(),
        header: map(),
        body: one(),
        purpose: "p".into(),
        idempotency_header: "Idempotency-Key".into(),
        timeout_ms: 5,
        ..Default::default()
    })?;
    secret_use(&SecretUseRequest { name: "s".into() })?;
    memory_query(&MemoryQueryRequest { call_id: "c".into(), scope: MemoryScope::SESSION, text: "t".into(), limit: 3 })?;
    memory_write(&MemoryWriteRequest {
        scope: MemoryScope::TENANT,
        content: Json::of("c")?,
        expires_in_seconds: 1.0,
        visibility: Visibility::INTERNAL,
        confidence: 0.5,
        metadata: Some(object()),
    })?;
    block_list(&BlockListRequest::default())?;
    block_write(&BlockWriteRequest { label: "l".into(), value: "v".into(), append: true, version: Some(0) })?;
    artifact_put(&ArtifactPutRequest { kind: ArtifactKind::FILE, mime_type: "text/plain".into(), visibility: Visibility::PUBLIC, name: "n".into() }, b"x")?;
    artifact_get(&ArtifactGetRequest { artifact_id: "art_1".into(), offset: 1, length: 2, ..Default::default() })?;
    Ok(())
}

fn files() -> Result<()> {
    file_read(&FileReadRequest { call_id: "c".into(), path: "p".into(), offset: 1, length: 2 })?;
    file_remove(&FileRemoveRequest { path: "p".into(), sha256: "s".into(), ..Default::default() })?;
    file_edit(&FileEditRequest { path: "p".into(), old: "o".into(), new: "n".into(), all: true, ..Default::default() })?;
    skill_read(&SkillReadRequest { skill: "s".into(), path: "p".into(), ..Default::default() })?;
    skill_match(&SkillMatchRequest {
        call_id: "c".into(),
        prompt: "p".into(),
        working_files: vec!["f".into()],
        candidates: vec![SkillCandidate { name: "n".into(), description: "d".into(), when_to_use: "w".into(), paths: vec!["p".into()] }],
        strategy: "host".into(),
    })?;
    file_write(&FileWriteRequest { path: "p".into(), body: one(), mode: FileMode::APPEND, sha256: "s".into(), ..Default::default() })?;
    file_list(&FileListRequest { call_id: "c".into(), path: "p".into(), recursive: true, after: "a".into(), limit: 3 })?;
    file_search(&FileSearchRequest {
        call_id: "c".into(),
        path: "p".into(),
        glob: "*".into(),
        text: "t".into(),
        pattern: "p".into(),
        ignore_case: true,
        after: "a".into(),
        limit: 3,
    })?;
    Ok(())
}

fn people() -> Result<()> {
    state::<Json>("k")?;
    set_state("k", &object())?;
    input_request(&InputRequestRequest { call_id: "c".into(), prompt: "p".into(), schema: Some(object()), timeout_seconds: 60.0, ..Default::default() })?;
    auth_request(&AuthRequestRequest { call_id: "c".into(), provider: "p".into(), prompt: "p".into(), url: "https://x".into(), timeout_seconds: 60.0 })?;
    approval_request(&ApprovalRequestRequest {
        call_id: "c".into(),
        action: "a".into(),
        prompt: "p".into(),
        arguments: Some(object()),
        timeout_seconds: 60.0,
        ..Default::default()
    })?;
    Ok(())
}

fn others() -> Result<()> {
    task_spawn(&TaskSpawnRequest { persona_id: "p".into(), input: object(), metadata: Some(object()), deadline_seconds: 1.0 })?;
    task_await(&TaskAwaitRequest { task_id: "task_1".into(), timeout_seconds: 1.0, ..Default::default() })?;
    handoff(&HandoffRequest { persona_id: "p".into(), input: object(), reason: "r".into() })?;
    agent_delegate(&AgentDelegateRequest {
        call_id: "c".into(),
        agent: "a".into(),
        task: "t".into(),
        expected_scope: Some(object()),
        context: Some(object()),
        budget: DelegationBudget { usd: 1.0, tokens: 1, seconds: 1.0, tool_calls: 1 },
        idempotency_key: "k".into(),
        checkpoint: Some(DelegationCheckpoint {
            approved: true,
            checkpoint_id: "c".into(),
            allow_local_fallback: true,
            plan: Some(empty()),
            ..Default::default()
        }),
    })?;
    Ok(())
}

fn deliveries() -> Result<()> {
    event_emit(&EventEmitRequest { kind: "vendor.x.y".into(), payload: Some(object()) })?;
    config::<Json>("n")?;
    host_fact(&HostFactRequest { name: "os".into() })?;
    connector_deliver(&DeliverRequest {
        deliveries: vec![
            PolledDelivery { id: "i".into(), header: map(), text: "t".into(), ..Default::default() },
            PolledDelivery { id: "j".into(), body: one(), ..Default::default() },
        ],
    })?;
    match wharf::connect(prepare) {
        0 => Ok(()),
        _ => Err(Failure::new("plugin_error", "normalizing")),
    }
}

fn prepare(_: &Connector, delivery: &Delivery) -> Result<NormalizedDelivery> {
    let message = MessageInput { role: Role::USER, parts: vec![Part::text(delivery.text.clone())], ..Default::default() };
    Ok(NormalizedDelivery {
        ignored: "i".into(),
        tasks: vec![ConnectorTask {
            input: Json::of(&message)?,
            persona_id: "p".into(),
            thread: "t".into(),
            order_key: "o".into(),
            metadata: Some(empty()),
        }],
        messages: vec![ConnectorMessage { message, thread: "t".into() }],
        events: vec![ConnectorEvent { kind: "vendor.x".into(), payload: Some(empty()) }],
        ..Default::default()
    })
}
