// Generated from package abi by go generate ./abi. Do not edit.

//! A function for each host call of wharf-abi-1, with its request as the host takes it.
//!
//! The examples are a plugin, which the project's tests compile and run on a node.

use crate::call::*;
use crate::error::Result;
use crate::sys;
use crate::types::*;

/// What the Task was submitted with, the Task as it was accepted, and the Persona it runs as.
///
/// ```ignore
/// fn example_run(task: &Task) -> Result<Outcome> {
///     Ok(Outcome {
///         summary: format!("done: {}", task.text()),
///         metrics: BTreeMap::from([("orders".into(), 1.0)]),
///         ..Default::default()
///     })
/// }
/// ```
pub fn input() -> Result<InputAnswer> {
    given("input", sys::input)
}

/// What the Task results in. Called once; a second call is answered with `invalid`.
///
/// ```ignore
/// fn example_run(task: &Task) -> Result<Outcome> {
///     Ok(Outcome {
///         summary: format!("done: {}", task.text()),
///         metrics: BTreeMap::from([("orders".into(), 1.0)]),
///         ..Default::default()
///     })
/// }
/// ```
pub fn output(request: &OutputRequest) -> Result<()> {
    tell("output", sys::output, request)
}

/// Reads the wall clock.
///
/// A replay can give another answer under the key `time:<call_id>`.
///
/// ```ignore
/// let now = clock(&Label::default())?.unix_nano;
/// wharf::log("info", &format!("it is {now}"))
/// ```
pub fn clock(request: &Label) -> Result<ClockAnswer> {
    ask("clock", sys::clock, request)
}

/// Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data
/// folder.
///
/// Limit: 65,536 bytes.
///
/// A replay can give another answer under the key `host:random:<call_id>`.
///
/// ```ignore
/// let key = random(16)?;
/// assert_eq!(key.len(), 16);
/// Ok(())
/// ```
pub fn random(bytes: u32) -> Result<Vec<u8>> {
    raw("random", sys::random, &bytes.to_le_bytes())
}

/// Makes an id that is unique and sorts by time: a ULID.
///
/// A replay can give another answer under the key `host:id:<call_id>`.
///
/// ```ignore
/// let order = id(&Label::default())?.id;
/// wharf::log("info", &format!("this is order {order}"))
/// ```
pub fn id(request: &Label) -> Result<IDAnswer> {
    ask("id", sys::id, request)
}

/// Writes a line to the Task's event stream.
///
/// Limit: 10,000 hints of a Task; more are dropped.
///
/// ```ignore
/// wharf::log("warn", "the pot is half empty")
/// ```
pub fn log(request: &LogRequest) -> Result<()> {
    tell("log", sys::log, request)
}

/// Tells watchers how far the Task is.
///
/// Limit: 10,000 hints of a Task; more are dropped.
///
/// ```ignore
/// progress(&ProgressRequest { fraction: 0.5, message: "half of the orders are in".into() })
/// ```
pub fn progress(request: &ProgressRequest) -> Result<()> {
    tell("progress", sys::progress, request)
}

/// Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set does.
///
/// Limit: 10,000 hints of a Task; more are dropped.
///
/// ```ignore
/// plan(&PlanRequest {
///     steps: vec![
///         PlanStep { title: "Ask for the order".into(), status: "completed".into() },
///         PlanStep { title: "Place it".into(), status: "pending".into() },
///     ],
/// })
/// ```
pub fn plan(request: &PlanRequest) -> Result<()> {
    tell("plan", sys::plan, request)
}

/// Tells watchers what an agent does with its skills, its tools and its conversation. The data is
/// an object that has members of its kind alone: skill_activated, skill_deactivated,
/// skill_scope_tools, skill_narrow, tool_search_query, tool_search_result, transcript_compacted,
/// transcript_projected, turn_started or turn_ended.
///
/// Limit: 32 KiB; 10,000 hints of a Task, more are dropped.
///
/// ```ignore
/// agent_event(&AgentEventRequest { kind: AgentEventKind::TURN_STARTED, data: Json::parse(r#"{"iteration":1}"#)? })
/// ```
pub fn agent_event(request: &AgentEventRequest) -> Result<()> {
    tell("agent.event", sys::agent_event, request)
}

/// Sets the Task's plan, which people see and may change. A step without an id gets one that
/// follows from the call.
///
/// Limit: 200 steps of 2,000 characters.
///
/// ```ignore
/// let version = plan_get(&PlanGetRequest::default())?.version;
/// // It fails when somebody has changed the plan since it was read.
/// plan_set(&PlanSetRequest {
///     steps: vec![PlannedStep { id: "order".into(), content: "Place the order".into(), status: "in_progress".into() }],
///     version: Some(version),
/// })?;
/// Ok(())
/// ```
pub fn plan_set(request: &PlanSetRequest) -> Result<PlanAnswer> {
    match ask("plan.set", sys::plan_set, request) {
        Err(e) => e.withheld().map(|w| PlanAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Reads the Task's plan as it is now, with what people have changed.
///
/// A replay can give another answer under the key `host:plan.get:<call_id>`.
///
/// ```ignore
/// let version = plan_get(&PlanGetRequest::default())?.version;
/// // It fails when somebody has changed the plan since it was read.
/// plan_set(&PlanSetRequest {
///     steps: vec![PlannedStep { id: "order".into(), content: "Place the order".into(), status: "in_progress".into() }],
///     version: Some(version),
/// })?;
/// Ok(())
/// ```
pub fn plan_get(request: &PlanGetRequest) -> Result<PlanAnswer> {
    ask("plan.get", sys::plan_get, request)
}

/// Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered once: its
/// Messages are in the transcript and the answer is on disk before it is given. With wait the Task
/// is parked until something comes.
///
/// Limit: 100 that wait in a Session, 4 MB of them.
///
/// A replay can give another answer under the key `host:inbox.take:<call_id>`.
///
/// ```ignore
/// let taken = inbox_take(&InboxTakeRequest { checkpoint: Checkpoint::TURN, wait: true, timeout_ms: 60_000, ..Default::default() })?;
/// for message in taken.messages {
///     let text = message.parts[0].text.clone().unwrap_or_default();
///     wharf::log("info", &format!("somebody says: {text}"))?;
/// }
/// Ok(())
/// ```
pub fn inbox_take(request: &InboxTakeRequest) -> Result<InboxTakeAnswer> {
    ask("inbox.take", sys::inbox_take, request)
}

/// Appends a Message to the Session's transcript. It becomes visible with the next call that
/// reaches outside the Task, at the latest when the Task ends.
///
/// ```ignore
/// reply("Your tea is coming.")?;
/// Ok(())
/// ```
pub fn message_append(request: &MessageInput) -> Result<MessageAppendAnswer> {
    match ask("message.append", sys::message_append, request) {
        Err(e) => e.withheld().map(|w| MessageAppendAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Streams a piece of a Message that is being written. The Message itself is appended when it is
/// whole.
///
/// Limit: 20 events a second of a Task: pieces that come faster are put together.
///
/// ```ignore
/// message_delta(&MessageDeltaRequest { text: "Your tea".into() })
/// ```
pub fn message_delta(request: &MessageDeltaRequest) -> Result<()> {
    tell("message.delta", sys::message_delta, request)
}

/// Reads Messages of the Session, oldest first: what was appended before the Task was submitted,
/// and what it appended itself.
///
/// Limit: 200 Messages.
///
/// A replay can give another answer under the key `host:transcript.read:<call_id>`.
///
/// ```ignore
/// for message in transcript_read(&TranscriptReadRequest { last: 5, ..Default::default() })?.messages {
///     wharf::log("info", &format!("{} has spoken", message.role.as_str()))?;
/// }
/// Ok(())
/// ```
pub fn transcript_read(request: &TranscriptReadRequest) -> Result<TranscriptReadAnswer> {
    ask("transcript.read", sys::transcript_read, request)
}

/// Asks a model. The answer never holds hidden reasoning. With stream set, text is told to watchers
/// as it comes.
///
/// A replay can give another answer under the key `llm:<call_id>`.
///
/// ```ignore
/// let answer = llm_complete(&ModelRequest {
///     system: "You know teas.".into(),
///     messages: vec![ModelMessage { role: "user".into(), text: "Name one.".into(), ..Default::default() }],
///     max_tokens: 20,
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the model says: {}", answer.text))
/// ```
pub fn llm_complete(request: &ModelRequest) -> Result<ModelAnswer> {
    ask("llm.complete", sys::llm_complete, request)
}

/// Lists the tools that the plugin may call.
///
/// A replay can give another answer under the key `host:tool.list:<call_id>`.
///
/// ```ignore
/// for tool in tool_list(&ToolListRequest { server: "desk".into(), ..Default::default() })?.tools {
///     wharf::log("info", &format!("there is a tool {}", tool.name))?;
/// }
/// Ok(())
/// ```
pub fn tool_list(request: &ToolListRequest) -> Result<ToolListAnswer> {
    ask("tool.list", sys::tool_list, request)
}

/// Calls a tool. It is a read when the tool says that it is read-only, else a write: then the
/// intent is on disk before the tool is called, and after a crash a tool that is not idempotent is
/// not called again.
///
/// A replay can give another answer under the key `mcp:<server>:<call_id>`.
///
/// ```ignore
/// let answer = tool_call(&ToolCallRequest {
///     server: "desk".into(),
///     name: "look".into(),
///     arguments: Some(Json::parse(r#"{"where":"harbour"}"#)?),
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the tool says: {}", answer.content[0].text))
/// ```
pub fn tool_call(request: &ToolCallRequest) -> Result<ToolCallAnswer> {
    match ask("tool.call", sys::tool_call, request) {
        Err(e) => e.withheld().map(|w| ToolCallAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Lists the resources, the templates of resources, or the prompts of a server of tools. A server
/// that has none lists none.
///
/// Limit: 1,000 entries, 1 MiB.
///
/// A replay can give another answer under the key `mcp:<server>:resource.list:<call_id>`.
///
/// ```ignore
/// let list = resource_list(&ResourceListRequest { server: "desk".into(), kind: "resource".into(), ..Default::default() })?;
/// for resource in list.resources {
///     wharf::log("info", &format!("there is {}", resource.uri))?;
/// }
/// Ok(())
/// ```
pub fn resource_list(request: &ResourceListRequest) -> Result<ResourceListAnswer> {
    ask("resource.list", sys::resource_list, request)
}

/// Reads a resource of a server of tools. It counts as a call of a tool.
///
/// Limit: what the server's `answer` says, 4 MiB unless it is set.
///
/// A replay can give another answer under the key `mcp:<server>:resource.read:<call_id>`.
///
/// ```ignore
/// let note = resource_read(&ResourceReadRequest { server: "desk".into(), uri: "notes://teas".into(), ..Default::default() })?;
/// wharf::log("info", &format!("the note says: {}", note.contents[0].text))
/// ```
pub fn resource_read(request: &ResourceReadRequest) -> Result<ResourceReadAnswer> {
    ask("resource.read", sys::resource_read, request)
}

/// Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a tool.
///
/// Limit: what the server's `answer` says, 4 MiB unless it is set.
///
/// A replay can give another answer under the key `mcp:<server>:prompt.get:<call_id>`.
///
/// ```ignore
/// let prompt = prompt_get(&PromptGetRequest {
///     server: "desk".into(),
///     name: "greet".into(),
///     arguments: BTreeMap::from([("name".into(), "Ada".into())]),
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the prompt says: {}", prompt.messages[0].content.text))
/// ```
pub fn prompt_get(request: &PromptGetRequest) -> Result<PromptGetAnswer> {
    ask("prompt.get", sys::prompt_get, request)
}

/// Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the rest are
/// writes. Secrets are put in by the host.
///
/// A replay can give another answer under the key `host:http.fetch:<call_id>`.
///
/// ```ignore
/// let shop = config::<String>("shop")?.unwrap_or_default(); // where it is, by the node's configuration
/// // The handle stands for the key. The host puts the key in its place.
/// let key = secret_use(&SecretUseRequest { name: "shop-key".into() })?.handle;
/// let answer = http_fetch(&HTTPFetchRequest {
///     method: "POST".into(),
///     url: format!("{shop}/orders"),
///     header: BTreeMap::from([
///         ("Authorization".into(), format!("Bearer {key}")),
///         ("Content-Type".into(), "application/json".into()),
///     ]),
///     text: r#"{"tea":"green"}"#.into(),
///     purpose: "to order tea".into(),
///     idempotency_header: "Idempotency-Key".into(),
///     timeout_ms: 30_000,
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the shop says: {}", answer.text))
/// ```
pub fn http_fetch(request: &HTTPFetchRequest) -> Result<HTTPFetchAnswer> {
    match ask("http.fetch", sys::http_fetch, request) {
        Err(e) => e.withheld().map(|w| HTTPFetchAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Asks for a handle of a secret that the plugin is allowed. The value is never told: the host puts
/// it where the handle stands in an outgoing request.
///
/// A replay can give another answer under the key `secret:<name>`.
///
/// ```ignore
/// let shop = config::<String>("shop")?.unwrap_or_default(); // where it is, by the node's configuration
/// // The handle stands for the key. The host puts the key in its place.
/// let key = secret_use(&SecretUseRequest { name: "shop-key".into() })?.handle;
/// let answer = http_fetch(&HTTPFetchRequest {
///     method: "POST".into(),
///     url: format!("{shop}/orders"),
///     header: BTreeMap::from([
///         ("Authorization".into(), format!("Bearer {key}")),
///         ("Content-Type".into(), "application/json".into()),
///     ]),
///     text: r#"{"tea":"green"}"#.into(),
///     purpose: "to order tea".into(),
///     idempotency_header: "Idempotency-Key".into(),
///     timeout_ms: 30_000,
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the shop says: {}", answer.text))
/// ```
pub fn secret_use(request: &SecretUseRequest) -> Result<SecretUseAnswer> {
    ask("secret.use", sys::secret_use, request)
}

/// Finds Memories that the Task may read and that have every word of the query, newest first. Words
/// are whole; `word*` stands for all that begin so. A query has at most 32. Expired and redacted
/// Memories are left out.
///
/// Limit: 100 Memories.
///
/// A replay can give another answer under the key `host:memory.query:<call_id>`.
///
/// ```ignore
/// let found = memory_query(&MemoryQueryRequest { scope: MemoryScope::SESSION, text: "tea".into(), limit: 3, ..Default::default() })?;
/// for memory in found.memories {
///     wharf::log("info", &format!("I remember: {}", memory.content.to::<String>()?))?;
/// }
/// Ok(())
/// ```
pub fn memory_query(request: &MemoryQueryRequest) -> Result<MemoryQueryAnswer> {
    ask("memory.query", sys::memory_query, request)
}

/// Keeps a Memory for later Tasks. Its provenance names the Task.
///
/// ```ignore
/// memory_write(&MemoryWriteRequest {
///     scope: MemoryScope::SESSION,
///     content: Json::of("Ada likes green tea")?,
///     confidence: 0.75,
///     ..Default::default()
/// })?;
/// Ok(())
/// ```
pub fn memory_write(request: &MemoryWriteRequest) -> Result<MemoryWriteAnswer> {
    match ask("memory.write", sys::memory_write, request) {
        Err(e) => e.withheld().map(|w| MemoryWriteAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Reads the blocks of memory of the Task's agent as they are now, whoever has changed them. A
/// Persona that is no agent of a Workspace is answered with `not_found` and the code `no_blocks`.
///
/// A replay can give another answer under the key `host:block.list:<call_id>`.
///
/// ```ignore
/// for block in block_list(&BlockListRequest::default())?.blocks {
///     wharf::log("info", &format!("{}: {}", block.label, block.value))?;
/// }
/// Ok(())
/// ```
pub fn block_list(request: &BlockListRequest) -> Result<BlockListAnswer> {
    ask("block.list", sys::block_list, request)
}

/// Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent have it,
/// too. It happens once. A block that is read-only is answered with `denied` and the code
/// `block_read_only`, and a Persona that is no agent of a Workspace with `not_found` and
/// `no_blocks`.
///
/// Limit: 64 blocks of 100,000 characters, 400,000 characters together.
///
/// ```ignore
/// block_write(&BlockWriteRequest { label: "customer".into(), value: "Ada, who likes green tea.".into(), ..Default::default() })?;
/// Ok(())
/// ```
pub fn block_write(request: &BlockWriteRequest) -> Result<BlockWriteAnswer> {
    match ask("block.write", sys::block_write, request) {
        Err(e) => e.withheld().map(|w| BlockWriteAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Stores an Artifact of this Task. It becomes visible with the next call that reaches outside the
/// Task, at the latest when the Task ends.
///
/// ```ignore
/// let request = ArtifactPutRequest {
///     kind: ArtifactKind::DATASET,
///     mime_type: "text/csv".into(),
///     name: "orders.csv".into(),
///     ..Default::default()
/// };
/// let artifact_id = artifact_put(&request, b"tea,10\n")?.artifact_id;
/// let first = artifact_get(&ArtifactGetRequest { artifact_id, length: 3, ..Default::default() })?;
/// wharf::log("info", &format!("it begins with {}", String::from_utf8_lossy(&first)))
/// ```
pub fn artifact_put(request: &ArtifactPutRequest, content: &[u8]) -> Result<ArtifactPutAnswer> {
    with_content("artifact.put", sys::artifact_put, request, content)
}

/// Reads a range of an Artifact's content that the Task's tenant and Workspace may see.
///
/// A replay can give another answer under the key `host:artifact.get:<call_id>`.
///
/// ```ignore
/// let request = ArtifactPutRequest {
///     kind: ArtifactKind::DATASET,
///     mime_type: "text/csv".into(),
///     name: "orders.csv".into(),
///     ..Default::default()
/// };
/// let artifact_id = artifact_put(&request, b"tea,10\n")?.artifact_id;
/// let first = artifact_get(&ArtifactGetRequest { artifact_id, length: 3, ..Default::default() })?;
/// wharf::log("info", &format!("it begins with {}", String::from_utf8_lossy(&first)))
/// ```
pub fn artifact_get(request: &ArtifactGetRequest) -> Result<Vec<u8>> {
    bytes("artifact.get", sys::artifact_get, request)
}

/// Reads a file of the Task's Workspace, or a range of it.
///
/// Limit: 8 MiB of a file at once, and half of what one call may pass.
///
/// A replay can give another answer under the key `host:file.read:<call_id>`.
///
/// ```ignore
/// let file = file_read(&FileReadRequest { path: "orders/today.md".into(), ..Default::default() })?;
/// wharf::log("info", &format!("the file says: {}", file.text))
/// ```
pub fn file_read(request: &FileReadRequest) -> Result<FileReadAnswer> {
    ask("file.read", sys::file_read, request)
}

/// Writes a file of the Task's Workspace, whole or not at all. It happens once, also when the node
/// dies meanwhile.
///
/// Limit: files of 8 MiB, 1 GiB in a Workspace.
///
/// ```ignore
/// file_write(&FileWriteRequest { path: "orders/today.md".into(), text: "green tea, ten times".into(), ..Default::default() })?;
/// Ok(())
/// ```
pub fn file_write(request: &FileWriteRequest) -> Result<FileWriteAnswer> {
    match ask("file.write", sys::file_write, request) {
        Err(e) => e.withheld().map(|w| FileWriteAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Replaces a text within a file of the Task's Workspace, by one change that happens once. A text
/// that is not there, or more than once without `all`, is answered with `invalid` and the code
/// conflict.
///
/// Limit: files of 8 MiB, before and after.
///
/// ```ignore
/// file_edit(&FileEditRequest {
///     path: "orders/today.md".into(),
///     old: "green tea".into(),
///     new: "black tea".into(),
///     ..Default::default()
/// })?;
/// Ok(())
/// ```
pub fn file_edit(request: &FileEditRequest) -> Result<FileEditAnswer> {
    match ask("file.edit", sys::file_edit, request) {
        Err(e) => e.withheld().map(|w| FileEditAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Lists a folder of the Task's Workspace, or all files below it, in the order of their paths'
/// names.
///
/// Limit: 1,000 entries.
///
/// A replay can give another answer under the key `host:file.list:<call_id>`.
///
/// ```ignore
/// let page = file_list(&FileListRequest { path: "orders".into(), recursive: true, limit: 10, ..Default::default() })?;
/// for file in page.entries {
///     wharf::log("info", &format!("there is a file {}", file.path))?;
/// }
/// Ok(())
/// ```
pub fn file_list(request: &FileListRequest) -> Result<FileListAnswer> {
    ask("file.list", sys::file_list, request)
}

/// Removes a file of the Task's Workspace, or a folder: one that is not empty only with
/// `recursive`. A folder goes with its last file, unless somebody has made it by itself.
///
/// Limit: 1,000 files and folders in a folder.
///
/// ```ignore
/// file_remove(&FileRemoveRequest { path: "orders/today.md".into(), ..Default::default() })?;
/// Ok(())
/// ```
pub fn file_remove(request: &FileRemoveRequest) -> Result<FileRemoveAnswer> {
    match ask("file.remove", sys::file_remove, request) {
        Err(e) => e.withheld().map(|w| FileRemoveAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Finds lines, or only names, in the files of the Task's Workspace. Content that is no text is
/// left out, and so are files of more than 8 MiB. A search that takes more than 10 seconds goes on
/// with `next`, too.
///
/// Limit: 1,000 matches, 32 MiB of content and 20,000 files at once.
///
/// A replay can give another answer under the key `host:file.search:<call_id>`.
///
/// ```ignore
/// let found = file_search(&FileSearchRequest {
///     glob: "*.md".into(),
///     text: "TEA".into(),
///     ignore_case: true,
///     limit: 10,
///     ..Default::default()
/// })?;
/// for found in found.matches {
///     wharf::log("info", &format!("{}: {}", found.path, found.text))?;
/// }
/// Ok(())
/// ```
pub fn file_search(request: &FileSearchRequest) -> Result<FileSearchAnswer> {
    ask("file.search", sys::file_search, request)
}

/// Reads a file of a skill that the Task has, as it was when the Task started, or the instructions
/// of one that a client of its Session has. A file that is no text is not read.
///
/// Limit: half of what one call may pass.
///
/// A replay can give another answer under the key `host:skill.read:<call_id>`.
///
/// ```ignore
/// let file = skill_read(&SkillReadRequest { skill: "brewing".into(), path: "times.md".into(), ..Default::default() })?;
/// wharf::log("info", &format!("the skill says: {}", file.text))
/// ```
pub fn skill_read(request: &SkillReadRequest) -> Result<SkillReadAnswer> {
    ask("skill.read", sys::skill_read, request)
}

/// Ranks skills by how well they fit a prompt and the files that are worked on: the node does, or a
/// client of the Session when it is asked for and there is one. Without candidates it also lists
/// the skills that the Task can read.
///
/// Limit: 1,000 candidates.
///
/// A replay can give another answer under the key `host:skill.match:<call_id>`.
///
/// ```ignore
/// let ranked = skill_match(&SkillMatchRequest {
///     prompt: "How long does tea take?".into(),
///     working_files: vec!["orders/today.md".into()],
///     ..Default::default()
/// })?;
/// for found in ranked.matches {
///     wharf::log("info", &format!("the skill {} fits", found.name))?;
/// }
/// Ok(())
/// ```
pub fn skill_match(request: &SkillMatchRequest) -> Result<SkillMatchAnswer> {
    ask("skill.match", sys::skill_match, request)
}

/// Begins a composition: the run of a snippet whose effects are tool calls. Until it ends, every
/// call is held to its ceiling, and every tool call is told as a child of it. While one is open,
/// another is refused with `invalid` and the code `composition_open`; a call beyond the ceiling is
/// refused with `denied` and `composition_ceiling`.
///
/// Limit: one at a time.
///
/// ```ignore
/// let composition_id = composition_begin(&CompositionBeginRequest {
///     name: "what time it is".into(),
///     language: "javascript".into(),
///     snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae".into(),
///     manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9".into(),
///     side_effect_ceiling: SideEffectLevel::READ_ONLY,
/// })?
/// .composition_id;
/// tool_call(&ToolCallRequest {
///     server: "host".into(),
///     name: "time_now".into(),
///     composition_id: composition_id.clone(),
///     ..Default::default()
/// })?;
/// composition_end(&CompositionEndRequest { composition_id, stdout: "tea time".into(), ..Default::default() })
/// ```
pub fn composition_begin(request: &CompositionBeginRequest) -> Result<CompositionBeginAnswer> {
    match ask("composition.begin", sys::composition_begin, request) {
        Err(e) => e.withheld().map(|w| CompositionBeginAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Ends the composition that is open, with what came of it. One that is not open is answered with
/// `not_found` and the code `unknown_composition`. When the Task ends before, the host ends it with
/// an error.
///
/// Limit: 256 KiB, 100 Artifacts.
///
/// ```ignore
/// let composition_id = composition_begin(&CompositionBeginRequest {
///     name: "what time it is".into(),
///     language: "javascript".into(),
///     snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae".into(),
///     manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9".into(),
///     side_effect_ceiling: SideEffectLevel::READ_ONLY,
/// })?
/// .composition_id;
/// tool_call(&ToolCallRequest {
///     server: "host".into(),
///     name: "time_now".into(),
///     composition_id: composition_id.clone(),
///     ..Default::default()
/// })?;
/// composition_end(&CompositionEndRequest { composition_id, stdout: "tea time".into(), ..Default::default() })
/// ```
pub fn composition_end(request: &CompositionEndRequest) -> Result<()> {
    tell("composition.end", sys::composition_end, request)
}

/// Reads a value that this Session's Tasks have kept.
///
/// A replay can give another answer under the key `host:state.get:<call_id>`.
///
/// ```ignore
/// let orders = state::<i64>("orders")?.unwrap_or(0); // None when nothing is kept
/// set_state("orders", &(orders + 1))
/// ```
pub fn state_get(request: &StateGetRequest) -> Result<StateGetAnswer> {
    ask("state.get", sys::state_get, request)
}

/// Keeps a value for this Session's Tasks; null removes it. When the call returns, the value is on
/// disk.
///
/// Limit: keys of 1 to 128 characters A-Z a-z 0-9 _ - ..
///
/// ```ignore
/// let orders = state::<i64>("orders")?.unwrap_or(0); // None when nothing is kept
/// set_state("orders", &(orders + 1))
/// ```
pub fn state_set(request: &StateSetRequest) -> Result<()> {
    tell("state.set", sys::state_set, request)
}

/// Waits. The Task is parked meanwhile, also over a restart of the node.
///
/// ```ignore
/// sleep(&SleepRequest { ms: 100 })
/// ```
pub fn sleep(request: &SleepRequest) -> Result<()> {
    tell("sleep", sys::sleep, request)
}

/// Asks the user for input, or several questions at once: inputs, authorizations, approvals,
/// samplings and roots. The Task is INPUT_REQUIRED until the answer comes.
///
/// A replay can give another answer under the key `host:input.request:<call_id>`.
///
/// ```ignore
/// let answer = input_request(&InputRequestRequest {
///     prompt: "Which tea?".into(),
///     schema: Some(Json::parse(r#"{"type":"object","required":["tea"]}"#)?),
///     timeout_seconds: 3600.0,
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("{} has answered", answer.actor))
/// ```
pub fn input_request(request: &InputRequestRequest) -> Result<InputRequestAnswer> {
    ask("input.request", sys::input_request, request)
}

/// Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered.
/// Credentials do not belong into the answer: the plugin and the record see it.
///
/// A replay can give another answer under the key `host:auth.request:<call_id>`.
///
/// ```ignore
/// let answer = auth_request(&AuthRequestRequest {
///     provider: "calendar".into(),
///     prompt: "May I see when you are at home?".into(),
///     url: "https://calendar.example.com/authorize".into(),
///     timeout_seconds: 3600.0,
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("{} has authorized it", answer.actor))
/// ```
pub fn auth_request(request: &AuthRequestRequest) -> Result<InputRequestAnswer> {
    ask("auth.request", sys::auth_request, request)
}

/// Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided. The receipt
/// names who decided.
///
/// A replay can give another answer under the key `host:approval.request:<call_id>`.
///
/// ```ignore
/// let approval = approval_request(&ApprovalRequestRequest {
///     action: "order.place".into(),
///     prompt: "Order ten teas?".into(),
///     arguments: Some(Json::parse(r#"{"count":10}"#)?),
///     timeout_seconds: 3600.0,
///     ..Default::default()
/// })?;
/// if approval.decision != "approved" {
///     return Err(Failure::new("no_order", "nobody wants tea"));
/// }
/// Ok(())
/// ```
pub fn approval_request(request: &ApprovalRequestRequest) -> Result<ApprovalAnswer> {
    ask("approval.request", sys::approval_request, request)
}

/// Submits a child Task in the same Session. A crash does not submit it twice.
///
/// Limit: 1,000 children of a Task, 8 generations.
///
/// ```ignore
/// let child = task_spawn(&TaskSpawnRequest {
///     persona_id: "persona_echo".into(),
///     input: Json::parse(r#"{"text":"Boil water."}"#)?,
///     ..Default::default()
/// })?;
/// let outcome = task_await(&TaskAwaitRequest { task_id: child.task_id, timeout_seconds: 60.0, ..Default::default() })?;
/// wharf::log("info", &format!("the child says: {}", outcome.summary))
/// ```
pub fn task_spawn(request: &TaskSpawnRequest) -> Result<TaskSpawnAnswer> {
    match ask("task.spawn", sys::task_spawn, request) {
        Err(e) => e.withheld().map(|w| TaskSpawnAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Waits for a child Task to end.
///
/// A replay can give another answer under the key `host:task.await:<call_id>`.
///
/// ```ignore
/// let child = task_spawn(&TaskSpawnRequest {
///     persona_id: "persona_echo".into(),
///     input: Json::parse(r#"{"text":"Boil water."}"#)?,
///     ..Default::default()
/// })?;
/// let outcome = task_await(&TaskAwaitRequest { task_id: child.task_id, timeout_seconds: 60.0, ..Default::default() })?;
/// wharf::log("info", &format!("the child says: {}", outcome.summary))
/// ```
pub fn task_await(request: &TaskAwaitRequest) -> Result<TaskAwaitAnswer> {
    ask("task.await", sys::task_await, request)
}

/// Hands work to another Persona: a child Task that the receipt names as a handoff.
///
/// ```ignore
/// let successor = handoff(&HandoffRequest {
///     persona_id: "persona_echo".into(),
///     input: Json::parse(r#"{"text":"Serve the tea."}"#)?,
///     reason: "it has the cups".into(),
/// })?;
/// wharf::log("info", &format!("{} goes on", successor.task_id))
/// ```
pub fn handoff(request: &HandoffRequest) -> Result<TaskSpawnAnswer> {
    match ask("handoff", sys::handoff, request) {
        Err(e) => e.withheld().map(|w| TaskSpawnAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Has an agent outside do paid work, in the order that docs/delegation.md tells: its card proves
/// that it keeps to a budget, its plan is approved, and then it is dispatched, once. The Task is
/// INPUT_REQUIRED until that is decided. Work that was done before by the same key is not
/// dispatched again. It counts as a call of a tool.
///
/// Limit: 1 MiB of a request, and what the agent's `answer` says, 4 MiB unless it is set.
///
/// A replay can give another answer under the key `host:agent.delegate:<call_id>`.
///
/// ```ignore
/// let work = agent_delegate(&AgentDelegateRequest {
///     agent: "coder".into(),
///     task: "Mend the kettle's firmware".into(),
///     budget: DelegationBudget { usd: 2.0, seconds: 60.0, ..Default::default() },
///     checkpoint: Some(DelegationCheckpoint { approved: true, ..Default::default() }),
///     ..Default::default()
/// })?;
/// wharf::log("info", &format!("the work is {}", work.status.as_str()))
/// ```
pub fn agent_delegate(request: &AgentDelegateRequest) -> Result<AgentDelegateAnswer> {
    match ask("agent.delegate", sys::agent_delegate, request) {
        Err(e) => e.withheld().map(|w| AgentDelegateAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}

/// Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS name.
/// "vendor.wharf." is the host's.
///
/// ```ignore
/// event_emit(&EventEmitRequest { kind: "vendor.shop.ordered".into(), payload: Some(Json::parse(r#"{"count":10}"#)?) })
/// ```
pub fn event_emit(request: &EventEmitRequest) -> Result<()> {
    tell("event.emit", sys::event_emit, request)
}

/// Reads what the operator has configured for this plugin.
///
/// A replay can give another answer under the key `host:config.get:<name>`.
///
/// ```ignore
/// if let Some(currency) = config::<String>("currency")? {
///     wharf::log("info", &format!("prices are in {currency}"))?;
/// }
/// Ok(())
/// ```
pub fn config_get(request: &ConfigGetRequest) -> Result<ConfigGetAnswer> {
    ask("config.get", sys::config_get, request)
}

/// Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace, session,
/// task, deadline; and of the client that submitted the Task: client.protocol, client.name,
/// client.version, and client.capabilities, with commas between them. Each is empty where it is not
/// known.
///
/// A replay can give another answer under the key `host:host.fact:<name>`.
///
/// ```ignore
/// let version = host_fact(&HostFactRequest { name: "abi.version".into() })?.value;
/// wharf::log("info", &format!("the host speaks {version}"))
/// ```
pub fn host_fact(request: &HostFactRequest) -> Result<HostFactAnswer> {
    ask("host.fact", sys::host_fact, request)
}

/// The deliveries that a Connector's plugin is to normalize, and the Connector. In a Task there are
/// none: `not_found`.
///
/// ```ignore
/// #[wharf::connector("normalize")]
/// ```
pub fn connector_deliveries() -> Result<DeliveriesAnswer> {
    given("connector.deliveries", sys::connector_deliveries)
}

/// What the deliveries mean: Tasks, Messages, events, nothing, or a failure. Called once, outside
/// of Tasks.
///
/// ```ignore
/// #[wharf::connector("normalize")]
/// ```
pub fn connector_normalized(request: &NormalizedRequest) -> Result<()> {
    tell("connector.normalized", sys::connector_normalized, request)
}

/// Hands what a poll has found to the Task's Connector, which takes it as if it had been sent. What
/// was found before is left out.
///
/// Limit: 1,000 deliveries.
///
/// ```ignore
/// connector_deliver(&DeliverRequest {
///     deliveries: vec![PolledDelivery {
///         id: "order-1".into(),
///         header: BTreeMap::from([("content-type".into(), "text/plain".into())]),
///         text: "two green teas".into(),
///         ..Default::default()
///     }],
/// })?;
/// Ok(())
/// ```
pub fn connector_deliver(request: &DeliverRequest) -> Result<DeliverAnswer> {
    match ask("connector.deliver", sys::connector_deliver, request) {
        Err(e) => e.withheld().map(|w| DeliverAnswer { withheld: Some(w), ..Default::default() }).ok_or(e),
        done => done,
    }
}
