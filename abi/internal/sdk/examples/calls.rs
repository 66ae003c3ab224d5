//! These are the examples of docs/host-calls-examples.md, as a plugin: it runs on a node, beside those in the
//! other languages. Each says which host calls it shows.

use std::collections::BTreeMap;
use wharf::*;

#[wharf::main]
fn all(task: &Task) -> Result<Outcome> {
    for example in [
        example_clock, example_random, example_id, example_log, example_progress, example_plan, example_agent_event,
        example_plan_set, example_inbox_take, example_message_append, example_message_delta, example_transcript_read,
        example_llm_complete, example_tool_list, example_tool_call, example_composition, example_resource_list,
        example_resource_read, example_prompt_get, example_config_get, example_http_fetch, example_memory_write,
        example_memory_query, example_block_write, example_block_list, example_artifact, example_file_write, example_file_edit,
        example_sleep, example_file_read, example_file_list, example_file_search, example_file_remove, example_skill_read, example_skill_match,
        example_state, example_input_request, example_auth_request, example_approval_request, example_task, example_handoff,
        example_agent_delegate, example_event_emit, example_host_fact,
    ] {
        example()?;
    }
    example_run(task)
}

#[wharf::export("poll")]
fn polled(_: &Task) -> Result<Outcome> {
    example_connector_deliver()?;
    Ok(Outcome::summary("polled"))
}

// Calls: input, output.
fn example_run(task: &Task) -> Result<Outcome> {
    Ok(Outcome {
        summary: format!("done: {}", task.text()),
        metrics: BTreeMap::from([("orders".into(), 1.0)]),
        ..Default::default()
    })
}

// Calls: clock.
fn example_clock() -> Result<()> {
    let now = clock(&Label::default())?.unix_nano;
    wharf::log("info", &format!("it is {now}"))
}

// Calls: random.
fn example_random() -> Result<()> {
    let key = random(16)?;
    assert_eq!(key.len(), 16);
    Ok(())
}

// Calls: id.
fn example_id() -> Result<()> {
    let order = id(&Label::default())?.id;
    wharf::log("info", &format!("this is order {order}"))
}

// Calls: sleep.
fn example_sleep() -> Result<()> {
    sleep(&SleepRequest { ms: 100 })
}

// Calls: log.
fn example_log() -> Result<()> {
    wharf::log("warn", "the pot is half empty")
}

// Calls: progress.
fn example_progress() -> Result<()> {
    progress(&ProgressRequest { fraction: 0.5, message: "half of the orders are in".into() })
}

// Calls: plan.
fn example_plan() -> Result<()> {
    plan(&PlanRequest {
        steps: vec![
            PlanStep { title: "Ask for the order".into(), status: "completed".into() },
            PlanStep { title: "Place it".into(), status: "pending".into() },
        ],
    })
}

// Calls: agent.event.
fn example_agent_event() -> Result<()> {
    agent_event(&AgentEventRequest { kind: AgentEventKind::TURN_STARTED, data: Json::parse(r#"{"iteration":1}"#)? })
}

// Calls: plan.get, plan.set.
fn example_plan_set() -> Result<()> {
    let version = plan_get(&PlanGetRequest::default())?.version;
    // It fails when somebody has changed the plan since it was read.
    plan_set(&PlanSetRequest {
        steps: vec![PlannedStep { id: "order".into(), content: "Place the order".into(), status: "in_progress".into() }],
        version: Some(version),
    })?;
    Ok(())
}

// Calls: inbox.take.
fn example_inbox_take() -> Result<()> {
    let taken = inbox_take(&InboxTakeRequest { checkpoint: Checkpoint::TURN, wait: true, timeout_ms: 60_000, ..Default::default() })?;
    for message in taken.messages {
        let text = message.parts[0].text.clone().unwrap_or_default();
        wharf::log("info", &format!("somebody says: {text}"))?;
    }
    Ok(())
}

// Calls: message.append.
fn example_message_append() -> Result<()> {
    reply("Your tea is coming.")?;
    Ok(())
}

// Calls: message.delta.
fn example_message_delta() -> Result<()> {
    message_delta(&MessageDeltaRequest { text: "Your tea".into() })
}

// Calls: transcript.read.
fn example_transcript_read() -> Result<()> {
    for message in transcript_read(&TranscriptReadRequest { last: 5, ..Default::default() })?.messages {
        wharf::log("info", &format!("{} has spoken", message.role.as_str()))?;
    }
    Ok(())
}

// Calls: llm.complete.
fn example_llm_complete() -> Result<()> {
    let answer = llm_complete(&ModelRequest {
        system: "You know teas.".into(),
        messages: vec![ModelMessage { role: "user".into(), text: "Name one.".into(), ..Default::default() }],
        max_tokens: 20,
        ..Default::default()
    })?;
    wharf::log("info", &format!("the model says: {}", answer.text))
}

// Calls: tool.list.
fn example_tool_list() -> Result<()> {
    for tool in tool_list(&ToolListRequest { server: "desk".into(), ..Default::default() })?.tools {
        wharf::log("info", &format!("there is a tool {}", tool.name))?;
    }
    Ok(())
}

// Calls: tool.call.
fn example_tool_call() -> Result<()> {
    let answer = tool_call(&ToolCallRequest {
        server: "desk".into(),
        name: "look".into(),
        arguments: Some(Json::parse(r#"{"where":"harbour"}"#)?),
        ..Default::default()
    })?;
    wharf::log("info", &format!("the tool says: {}", answer.content[0].text))
}

// Calls: composition.begin, composition.end.
fn example_composition() -> Result<()> {
    let composition_id = composition_begin(&CompositionBeginRequest {
        name: "what time it is".into(),
        language: "javascript".into(),
        snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae".into(),
        manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9".into(),
        side_effect_ceiling: SideEffectLevel::READ_ONLY,
    })?
    .composition_id;
    tool_call(&ToolCallRequest {
        server: "host".into(),
        name: "time_now".into(),
        composition_id: composition_id.clone(),
        ..Default::default()
    })?;
    composition_end(&CompositionEndRequest { composition_id, stdout: "tea time".into(), ..Default::default() })
}

// Calls: resource.list.
fn example_resource_list() -> Result<()> {
    let list = resource_list(&ResourceListRequest { server: "desk".into(), kind: "resource".into(), ..Default::default() })?;
    for resource in list.resources {
        wharf::log("info", &format!("there is {}", resource.uri))?;
    }
    Ok(())
}

// Calls: resource.read.
fn example_resource_read() -> Result<()> {
    let note = resource_read(&ResourceReadRequest { server: "desk".into(), uri: "notes://teas".into(), ..Default::default() })?;
    wharf::log("info", &format!("the note says: {}", note.contents[0].text))
}

// Calls: prompt.get.
fn example_prompt_get() -> Result<()> {
    let prompt = prompt_get(&PromptGetRequest {
        server: "desk".into(),
        name: "greet".into(),
        arguments: BTreeMap::from([("name".into(), "Ada".into())]),
        ..Default::default()
    })?;
    wharf::log("info", &format!("the prompt says: {}", prompt.messages[0].content.text))
}

// Calls: config.get.
fn example_config_get() -> Result<()> {
    if let Some(currency) = config::<String>("currency")? {
        wharf::log("info", &format!("prices are in {currency}"))?;
    }
    Ok(())
}

// Calls: secret.use, http.fetch.
fn example_http_fetch() -> Result<()> {
    let shop = config::<String>("shop")?.unwrap_or_default(); // where it is, by the node's configuration
    // The handle stands for the key. The host puts the key in its place.
    let key = secret_use(&SecretUseRequest { name: "shop-key".into() })?.handle;
    let answer = http_fetch(&HTTPFetchRequest {
        method: "POST".into(),
        url: format!("{shop}/orders"),
        header: BTreeMap::from([
            ("Authorization".into(), format!("Bearer {key}")),
            ("Content-Type".into(), "application/json".into()),
        ]),
        text: r#"{"tea":"green"}"#.into(),
        purpose: "to order tea".into(),
        idempotency_header: "Idempotency-Key".into(),
        timeout_ms: 30_000,
        ..Default::default()
    })?;
    wharf::log("info", &format!("the shop says: {}", answer.text))
}

// Calls: memory.write.
fn example_memory_write() -> Result<()> {
    memory_write(&MemoryWriteRequest {
        scope: MemoryScope::SESSION,
        content: Json::of("Ada likes green tea")?,
        confidence: 0.75,
        ..Default::default()
    })?;
    Ok(())
}

// Calls: memory.query.
fn example_memory_query() -> Result<()> {
    let found = memory_query(&MemoryQueryRequest { scope: MemoryScope::SESSION, text: "tea".into(), limit: 3, ..Default::default() })?;
    for memory in found.memories {
        wharf::log("info", &format!("I remember: {}", memory.content.to::<String>()?))?;
    }
    Ok(())
}

// Calls: block.write.
fn example_block_write() -> Result<()> {
    block_write(&BlockWriteRequest { label: "customer".into(), value: "Ada, who likes green tea.".into(), ..Default::default() })?;
    Ok(())
}

// Calls: block.list.
fn example_block_list() -> Result<()> {
    for block in block_list(&BlockListRequest::default())?.blocks {
        wharf::log("info", &format!("{}: {}", block.label, block.value))?;
    }
    Ok(())
}

// Calls: artifact.put, artifact.get.
fn example_artifact() -> Result<()> {
    let request = ArtifactPutRequest {
        kind: ArtifactKind::DATASET,
        mime_type: "text/csv".into(),
        name: "orders.csv".into(),
        ..Default::default()
    };
    let artifact_id = artifact_put(&request, b"tea,10\n")?.artifact_id;
    let first = artifact_get(&ArtifactGetRequest { artifact_id, length: 3, ..Default::default() })?;
    wharf::log("info", &format!("it begins with {}", String::from_utf8_lossy(&first)))
}

// Calls: file.write.
fn example_file_write() -> Result<()> {
    file_write(&FileWriteRequest { path: "orders/today.md".into(), text: "green tea, ten times".into(), ..Default::default() })?;
    Ok(())
}

// Calls: file.read.
fn example_file_read() -> Result<()> {
    let file = file_read(&FileReadRequest { path: "orders/today.md".into(), ..Default::default() })?;
    wharf::log("info", &format!("the file says: {}", file.text))
}

// Calls: file.edit.
fn example_file_edit() -> Result<()> {
    file_edit(&FileEditRequest {
        path: "orders/today.md".into(),
        old: "green tea".into(),
        new: "black tea".into(),
        ..Default::default()
    })?;
    Ok(())
}

// Calls: file.list.
fn example_file_list() -> Result<()> {
    let page = file_list(&FileListRequest { path: "orders".into(), recursive: true, limit: 10, ..Default::default() })?;
    for file in page.entries {
        wharf::log("info", &format!("there is a file {}", file.path))?;
    }
    Ok(())
}

// Calls: file.search.
fn example_file_search() -> Result<()> {
    let found = file_search(&FileSearchRequest {
        glob: "*.md".into(),
        text: "TEA".into(),
        ignore_case: true,
        limit: 10,
        ..Default::default()
    })?;
    for found in found.matches {
        wharf::log("info", &format!("{}: {}", found.path, found.text))?;
    }
    Ok(())
}

// Calls: file.remove.
fn example_file_remove() -> Result<()> {
    file_remove(&FileRemoveRequest { path: "orders/today.md".into(), ..Default::default() })?;
    Ok(())
}

// Calls: skill.read.
fn example_skill_read() -> Result<()> {
    let file = skill_read(&SkillReadRequest { skill: "brewing".into(), path: "times.md".into(), ..Default::default() })?;
    wharf::log("info", &format!("the skill says: {}", file.text))
}

// Calls: skill.match.
fn example_skill_match() -> Result<()> {
    let ranked = skill_match(&SkillMatchRequest {
        prompt: "How long does tea take?".into(),
        working_files: vec!["orders/today.md".into()],
        ..Default::default()
    })?;
    for found in ranked.matches {
        wharf::log("info", &format!("the skill {} fits", found.name))?;
    }
    Ok(())
}

// Calls: state.get, state.set.
fn example_state() -> Result<()> {
    let orders = state::<i64>("orders")?.unwrap_or(0); // None when nothing is kept
    set_state("orders", &(orders + 1))
}

// Calls: input.request.
fn example_input_request() -> Result<()> {
    let answer = input_request(&InputRequestRequest {
        prompt: "Which tea?".into(),
        schema: Some(Json::parse(r#"{"type":"object","required":["tea"]}"#)?),
        timeout_seconds: 3600.0,
        ..Default::default()
    })?;
    wharf::log("info", &format!("{} has answered", answer.actor))
}

// Calls: auth.request.
fn example_auth_request() -> Result<()> {
    let answer = auth_request(&AuthRequestRequest {
        provider: "calendar".into(),
        prompt: "May I see when you are at home?".into(),
        url: "https://calendar.example.com/authorize".into(),
        timeout_seconds: 3600.0,
        ..Default::default()
    })?;
    wharf::log("info", &format!("{} has authorized it", answer.actor))
}

// Calls: approval.request.
fn example_approval_request() -> Result<()> {
    let approval = approval_request(&ApprovalRequestRequest {
        action: "order.place".into(),
        prompt: "Order ten teas?".into(),
        arguments: Some(Json::parse(r#"{"count":10}"#)?),
        timeout_seconds: 3600.0,
        ..Default::default()
    })?;
    if approval.decision != "approved" {
        return Err(Failure::new("no_order", "nobody wants tea"));
    }
    Ok(())
}

// Calls: task.spawn, task.await.
fn example_task() -> Result<()> {
    let child = task_spawn(&TaskSpawnRequest {
        persona_id: "persona_echo".into(),
        input: Json::parse(r#"{"text":"Boil water."}"#)?,
        ..Default::default()
    })?;
    let outcome = task_await(&TaskAwaitRequest { task_id: child.task_id, timeout_seconds: 60.0, ..Default::default() })?;
    wharf::log("info", &format!("the child says: {}", outcome.summary))
}

// Calls: handoff.
fn example_handoff() -> Result<()> {
    let successor = handoff(&HandoffRequest {
        persona_id: "persona_echo".into(),
        input: Json::parse(r#"{"text":"Serve the tea."}"#)?,
        reason: "it has the cups".into(),
    })?;
    wharf::log("info", &format!("{} goes on", successor.task_id))
}

// Calls: agent.delegate.
fn example_agent_delegate() -> Result<()> {
    let work = agent_delegate(&AgentDelegateRequest {
        agent: "coder".into(),
        task: "Mend the kettle's firmware".into(),
        budget: DelegationBudget { usd: 2.0, seconds: 60.0, ..Default::default() },
        checkpoint: Some(DelegationCheckpoint { approved: true, ..Default::default() }),
        ..Default::default()
    })?;
    wharf::log("info", &format!("the work is {}", work.status.as_str()))
}

// Calls: event.emit.
fn example_event_emit() -> Result<()> {
    event_emit(&EventEmitRequest { kind: "vendor.shop.ordered".into(), payload: Some(Json::parse(r#"{"count":10}"#)?) })
}

// Calls: host.fact.
fn example_host_fact() -> Result<()> {
    let version = host_fact(&HostFactRequest { name: "abi.version".into() })?.value;
    wharf::log("info", &format!("the host speaks {version}"))
}

// Calls: connector.deliver.
fn example_connector_deliver() -> Result<()> {
    connector_deliver(&DeliverRequest {
        deliveries: vec![PolledDelivery {
            id: "order-1".into(),
            header: BTreeMap::from([("content-type".into(), "text/plain".into())]),
            text: "two green teas".into(),
            ..Default::default()
        }],
    })?;
    Ok(())
}

// Calls: connector.deliveries, connector.normalized.
#[wharf::connector("normalize")]
fn example_connector(_: &Connector, delivery: &Delivery) -> Result<NormalizedDelivery> {
    let message = MessageInput { role: Role::USER, parts: vec![Part::text(delivery.text.clone())], ..Default::default() };
    Ok(NormalizedDelivery {
        tasks: vec![ConnectorTask { input: Json::of(&message)?, thread: "orders".into(), ..Default::default() }],
        events: vec![ConnectorEvent { kind: "vendor.shop.order".into(), payload: Some(Json::parse(r#"{"count":2}"#)?) }],
        ..Default::default()
    })
}
