# Generated from package abi by go generate ./abi. Do not edit.
"""What a plugin in Python imports as wharf, for editors: the module itself is in the engine."""

from typing import Any, Literal, NotRequired, TypedDict

class Task:
    """The Task that runs, as it was accepted: see the members of task in the answer of the host call input."""

    id: str
    input: Any
    persona: _Persona
    skills: list[_InputSkill]
    session_id: str
    def __init__(self, answer: _InputAnswer) -> None: ...
    @property
    def text(self) -> str:
        """What the input says: itself a text, its member text, or the text parts of a Message, joined by empty lines; else ""."""
    @property
    def value(self) -> Any:
        """The input as JSON: of a Message, the value of its first JSON part."""
    def __getattr__(self, name: str) -> Any: ...

class WharfError(Exception):
    """The host has refused a call, or could not do it."""

    call: str
    status: str
    code: str
    message: str

    def __init__(self, call: str, status: str, code: str, message: str) -> None: ...

class Denied(WharfError):
    """Policy forbids the call."""

class NotFound(WharfError):
    """What the call names does not exist, or not for this Task."""

class Unavailable(WharfError):
    """The host could not do it now."""

class TimedOut(WharfError):
    """Nobody answered, or nothing happened, in time."""

class Failure(Exception):
    """Fails the Task with a code of the plugin's own when it is raised."""

    code: str
    message: str
    details: dict[str, Any] | None
    def __init__(self, code: str, message: str = "", details: dict[str, Any] | None = None) -> None: ...

class Response:
    """The answer to a request over HTTP."""

    status: int
    """0 when the Persona's tier has held the request back."""
    ok: bool
    url: str | None
    headers: dict[str, str]
    def __init__(self, answer: _HTTPFetchAnswer) -> None: ...
    @property
    def content(self) -> bytes: ...
    @property
    def text(self) -> str: ...
    def json(self) -> Any: ...

def reply(content: str | list[_Part]) -> _MessageAppendAnswer:
    """Appends a Message of the assistant: a text, or parts."""

def fetch(url: str, method: str | None = None, headers: dict[str, str] | None = None, body: str | bytes | None = None,
          json: Any = None, **more: Any) -> Response:
    """Makes an HTTP request. The rest are members of the host call http.fetch: call_id, purpose, idempotency_header,
    timeout_ms."""

_AgentEventKind = Literal["skill_activated", "skill_deactivated", "skill_scope_tools", "skill_narrow", "tool_search_query", "tool_search_result", "transcript_compacted", "transcript_projected", "turn_started", "turn_ended"] | str

_ArtifactKind = Literal["file", "patch", "image", "log", "diff", "receipt", "snapshot", "dataset", "other"] | str

_AutonomyTier = Literal["shadow", "suggest", "act_with_approval", "act_auto"] | str

_Checkpoint = Literal["step", "turn", "loop_exit"] | str

_CompositionFailure = Literal["snippet_error", "tool_error", "ceiling_exceeded", "timeout", "limit", "not_ended", "task_failed", "task_canceled"] | str

_ConnectorStatus = Literal["ACTIVE", "PAUSED", "FAILED", "DISABLED"] | str

_DeclineCode = Literal["declined", "cancelled", "unsupported"] | str

_DelegationStatus = Literal["checkpoint_required", "completed", "replayed", "budget_exceeded", "refused"] | str

_FileMode = Literal["replace", "create", "append"] | str

_InboxWoken = Literal["resumed", "timeout", "never"] | str

_MatchedBy = Literal["node", "host"] | str

_MemoryScope = Literal["persona", "session", "workspace", "tenant"] | str

_OutcomeStatus = Literal["SUCCEEDED", "FAILED", "CANCELED"] | str

_PartType = Literal["text", "json", "tool_call", "tool_result", "artifact_ref", "file_ref", "image_ref"] | str

_PermissionKind = Literal["approval", "input", "authorization", "sampling", "roots"] | str

_PermissionStatus = Literal["pending", "approved", "denied", "answered", "timeout", "canceled"] | str

_ReceiptPolicy = Literal["required", "optional", "disabled"] | str

_ReminderRole = Literal["system", "developer", "user"] | str

_ReplayMode = Literal["exact", "with_overrides", "from_checkpoint"] | str

_ResourceKind = Literal["resource", "template", "prompt"] | str

_Role = Literal["user", "assistant", "system", "tool", "agent"] | str

_SideEffectLevel = Literal["read_only", "workspace_write", "process_exec", "network"] | str

_SignatureScheme = Literal["none", "standard-webhooks", "github", "stripe", "slack", "hmac"] | str

_SkillSource = Literal["installed", "host"] | str

_StepStatus = Literal["pending", "in_progress", "completed", "skipped"] | str

_StopReason = Literal["end", "tools", "length", "refusal"] | str

_TaskStatus = Literal["SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"] | str

_ToolErrorCategory = Literal["schema_validation", "permission_denied", "timeout", "tool_error", "mcp_server_error", "host_bridge_error", "unknown", "cancelled"] | str

_ToolExecutor = Literal["harn_builtin", "host_bridge", "mcp_server"] | str

_ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] | str

_ToolsVisibility = Literal["internal", "named", "public"] | str

_Visibility = Literal["public", "internal", "receipt_only"] | str

class _Failure(TypedDict):
    """Failure says why a Task failed. `code` is one of the Failure* constants or what the plugin reported."""
    code: str
    """For programs: one of the host, or of the plugin."""
    message: str
    """For people."""
    details: NotRequired[Any]
    """More about it, where there is more to say."""

class _Budget(TypedDict):
    """Budget bounds what a Task may spend. A member that is 0 bounds nothing."""
    usd: NotRequired[float]
    """In US dollars."""
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    tool_calls: NotRequired[int]
    host_calls: NotRequired[int]
    wall_time_ms: NotRequired[int]
    """How long it may run, in milliseconds."""

class _RunOptions(TypedDict):
    """RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its input, and
    follows them as it can; `budget`, `max_tokens` and `autonomy_tier` the host holds. They bound what the
    Persona may do, and never widen it."""
    skills: NotRequired[list[str]]
    """Names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and Session."""
    model: NotRequired[str]
    """The model to ask, by the name that the node has for it."""
    instructions: NotRequired[str]
    """In place of those that the plugin or its operator has; at most 16 KiB."""
    context: NotRequired[str]
    """Told to the model after the instructions; at most 16 KiB."""
    temperature: NotRequired[float]
    """Of the model, 0 to 1."""
    max_tokens: NotRequired[int]
    """Of one answer of a model, at most 200,000; 0: no bound."""
    budget: NotRequired[_Budget]
    """Of the Task, where it is less than the Persona's."""
    autonomy_tier: NotRequired[_AutonomyTier]
    """`autonomy_tier` is that of the Task and of those below it, where it allows less than the Persona's: with
    suggest, the Task is a dry run that proposes what it would change."""

class _TaskClient(TypedDict):
    """TaskClient is what a client says of itself when it submits a Task."""
    protocol: NotRequired[str]
    """That it speaks, and its revision, such as mcp/2025-11-25."""
    name: NotRequired[str]
    version: NotRequired[str]
    capabilities: NotRequired[list[str]]
    """`capabilities` are the kinds of questions that it can answer: at most 32 words without white space or
    commas, such as elicitation.form, elicitation.url, sampling, sampling.tools and roots."""

class _InboxWait(TypedDict):
    """InboxWait is what a Task that waits for its Session's inbox waits for."""
    session_id: str
    checkpoint: _Checkpoint

class _ToolUse(TypedDict):
    """ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and its end
    (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it a key without
    events:internal sees is up to the Persona's ToolsVisibility."""
    call_id: str
    """The call_id that it was made with, or else call- and its index in the record."""
    server: str
    name: str
    kind: NotRequired[_ToolKind]
    """Absent: not known."""
    read_only: NotRequired[bool]
    destructive: NotRequired[bool]
    """Its definition says that it can destroy something."""
    executor: _ToolExecutor
    started_at: str
    duration_us: NotRequired[int]
    """`duration_us` is how long the whole call took, of its end: with waiting for approval, and over a crash.
    `execution_us` is how long its server took of that, where it was asked."""
    execution_us: NotRequired[int]
    error_category: NotRequired[_ToolErrorCategory]
    """Of its end: why it failed."""
    started_event_id: NotRequired[str]
    """`started_event_id` is the event that told its beginning, of its end."""
    visibility: NotRequired[_ToolsVisibility]
    """`visibility` is the Persona's when the call was made; absent for named."""

class _CompositionChild(TypedDict):
    """CompositionChild is a child of a composition that waits."""
    composition_id: str
    call_id: str
    executor: NotRequired[_ToolExecutor]
    started_at: str
    visibility: NotRequired[_ToolsVisibility]
    """As in ToolUse."""

class _WaitingQuestion(TypedDict):
    """WaitingQuestion is one of several requests that a Task waits on."""
    key: str
    """The plugin's name for it."""
    permission_request_id: str
    kind: _PermissionKind
    status: _PermissionStatus

class _Waiting(TypedDict):
    """Waiting says what a parked Task waits for."""
    call: str
    """The host call that waits."""
    index: int
    """Of the call in the record, from 0."""
    request_id: str
    prompt: NotRequired[str]
    """What somebody is asked."""
    action: NotRequired[str]
    schema: NotRequired[Any]
    url: NotRequired[str]
    task_id: NotRequired[str]
    """The child that is awaited."""
    inbox: NotRequired[_InboxWait]
    """The inbox that is waited for."""
    tool: NotRequired[_ToolUse]
    """Of a tool that waits, such as a Skill."""
    until: NotRequired[str]
    """When it stops waiting."""
    composition: NotRequired[_CompositionChild]
    """`composition` is set when the tool is a child of one."""
    permission_id: NotRequired[str]
    """`permission_id` names the request that somebody is to answer. Of an approval: `arguments` are what is to be
    done with, `quorum` how many must approve, and `gate` says that policy asks, not the plugin: when it is
    approved the call itself is made."""
    arguments: NotRequired[Any]
    quorum: NotRequired[int]
    gate: NotRequired[bool]
    requests: NotRequired[list[_WaitingQuestion]]
    """`requests` are what is asked at once by one call, in the order of the call: those that are pending, and
    those that were settled before."""

class _TaskReplay(TypedDict):
    """TaskReplay says what a replay Task replays. Overrides are kept by their hash."""
    source_task_id: str
    """The Task that is replayed."""
    mode: _ReplayMode
    replay_id: str
    """`replay_id` is derived from the source, the module, the mode and the overrides: it is the same for the same
    replay, on any node, and the one id of a replay that its receipt holds."""
    request_sha256: str
    """The hash of the request that asked for the replay."""
    checkpoint: NotRequired[int]
    """Of from_checkpoint: how many calls come before the boundary."""
    session_run: NotRequired[str]
    """The replay of a Session that it belongs to."""

class _TaskFork(TypedDict):
    """TaskFork says where a forked Task came from: it shares the record of its source up to a number of host
    calls, and is live from there."""
    source_task_id: str
    """The Task that it was forked from."""
    at_event_id: NotRequired[str]
    """The last event whose record is shared; absent: all of them."""
    calls: int

class _Task(TypedDict):
    """Task is one unit of agent work. `input` is a Message or any JSON object, as it was submitted."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    session_id: str
    workspace_id: str
    status: _TaskStatus
    """Where it is in its life."""
    input: NotRequired[Any]
    created_by: str
    """The actor that submitted it."""
    persona_id: NotRequired[str]
    branch_id: NotRequired[str]
    """The Branch that it goes along."""
    parent_task_id: NotRequired[str]
    """The Task that it belongs to."""
    receipt_id: NotRequired[str]
    """Proves what it did, once it has ended; absent where its Persona asks for none."""
    outcome_id: NotRequired[str]
    """What it resulted in, once it has ended."""
    started_at: NotRequired[str]
    """When it started first."""
    completed_at: NotRequired[str]
    """When it ended, in success or failure."""
    canceled_at: NotRequired[str]
    """When it ended, if it was canceled."""
    failure: NotRequired[_Failure]
    """Why it failed, if it did."""
    input_message_id: NotRequired[str]
    """`input_message_id` is set when the input is a Message, which the log holds once."""
    deadline_at: NotRequired[str]
    """`deadline_at` is when the Task fails unless it has ended."""
    run: NotRequired[_RunOptions]
    """`run` is what the Task was submitted to do otherwise than its Persona."""
    client: NotRequired[_TaskClient]
    """`client` is what the client that submitted it has said of itself."""
    attempt: NotRequired[int]
    """`attempt` counts the starts of the Task: more than 1 after the node died in one."""
    module: NotRequired[str]
    """`module` is the digest of the plugin's module, "sha256:" and hex. The Task is pinned to it from its start
    on."""
    waiting: NotRequired[_Waiting]
    """`waiting` is set while the Task is parked."""
    replay: NotRequired[_TaskReplay]
    """`replay` is set on a Task that replays another."""
    fork: NotRequired[_TaskFork]
    """`fork` is set on a Task that was forked from another."""
    persona_version: NotRequired[str]
    """`persona_version` is the version of the Persona that the Task is pinned to, and `quota_id` the Quota that
    bounds it most narrowly."""
    quota_id: NotRequired[str]
    connector_id: NotRequired[str]
    """`connector_id` and `delivery_id` are set on a Task that came from a Connector. Of the Tasks with one
    `order_key`, of a Connector or of a Session, one runs at a time, in the order in which they were accepted."""
    delivery_id: NotRequired[str]
    order_key: NotRequired[str]
    deleted_at: NotRequired[str]
    """`deleted_at` is set on a Task that is not shown any more."""

class _ModelPolicy(TypedDict):
    """ModelPolicy says which models Tasks of a Persona may ask. Empty members allow all."""
    models: NotRequired[list[str]]
    """Patterns of the names of models, in which * stands for any characters; none: all."""
    providers: NotRequired[list[str]]
    """The same of providers."""
    max_tokens: NotRequired[int]
    """Of one answer; 0: no bound."""

class _ApprovalPolicy(TypedDict):
    """ApprovalPolicy says how writes are approved."""
    quorum: NotRequired[int]
    """`quorum` is how many must approve; 0 is 1."""
    approvers: NotRequired[list[str]]
    """`approvers` are patterns of the actors that may decide; empty for all."""
    self_approval: NotRequired[bool]
    """`self_approval` says that whoever submitted the Task may decide, too."""
    timeout_seconds: NotRequired[float]
    """`timeout_seconds` is how long to wait for a decision; 0 for ever."""
    without: NotRequired[list[str]]
    """`without` are patterns of tools (SERVER:TOOL) and host calls that need no approval."""

class _AgentSkill(TypedDict):
    """AgentSkill names a version of a bundle of a skill."""
    name: str
    version: NotRequired[str]
    digest: NotRequired[str]
    """Of its files; absent while it is not installed."""
    required: NotRequired[bool]

class _AgentServer(TypedDict):
    """AgentServer names a server of tools."""
    name: str
    tools: NotRequired[list[str]]
    """Patterns of names; none: all of the server."""
    required: NotRequired[bool]

class _AgentModel(TypedDict):
    """AgentModel is a model as a bundle names it."""
    provider: NotRequired[str]
    name: str
    embedding: NotRequired[str]

class _AgentTools(TypedDict):
    """AgentTools are tools as a bundle names them."""
    allow: NotRequired[list[str]]
    deny: NotRequired[list[str]]

class _AgentBundle(TypedDict):
    """AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex."""
    manifest: str
    """Of its AGENTS.md."""
    files: NotRequired[str]
    """Of a zip with the files beside it; absent when there are none."""
    count: NotRequired[int]
    """Of these files."""
    bytes: NotRequired[int]
    """Of these files, unpacked."""

class _Agent(TypedDict):
    """Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the bundle that
    it came in. It is policy: a change of it is a new version of the Persona."""
    instructions: NotRequired[str]
    """What a model is told first, as it is."""
    model: NotRequired[str]
    """The model to ask; the node's default if it is absent."""
    temperature: NotRequired[float]
    """0 to 1."""
    max_tokens: NotRequired[int]
    """Of one answer of a model; 0: no bound."""
    skills: NotRequired[list[_AgentSkill]]
    """`skills` are the bundles of skills that it knows, each as it was when it was named."""
    mcp_servers: NotRequired[list[_AgentServer]]
    """`mcp_servers` are the servers of tools that it counts on. Of one that names tools it may use these alone."""
    parent_id: NotRequired[str]
    """The Persona whose subagent it is."""
    role: NotRequired[str]
    """Of a subagent, for its parent."""
    vendor_key: NotRequired[str]
    """`vendor_key` and `agent_key` name it among all agents, wherever they are. Both are of a-z, 0-9 and -."""
    agent_key: NotRequired[str]
    slug: NotRequired[str]
    version: NotRequired[str]
    """As its author counts, 1.2.3 (semver.org); that of the Persona counts changes here."""
    author: NotRequired[str]
    license: NotRequired[str]
    """As SPDX writes it."""
    tags: NotRequired[list[str]]
    model_named: NotRequired[_AgentModel]
    """`model_named` and `tools_named` are what its bundle says, in the bundle's own words. `model`, and the tools
    and tools_denied of the Persona, follow from them."""
    tools_named: NotRequired[_AgentTools]
    bundle: NotRequired[_AgentBundle]

class _Rights(TypedDict):
    """Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the Persona."""
    persona_id: str
    tools: NotRequired[list[str]]
    tools_denied: NotRequired[list[str]]
    capabilities: NotRequired[list[str]]
    handoffs: NotRequired[list[str]]
    model_policy: NotRequired[_ModelPolicy]
    mcp_servers: NotRequired[list[_AgentServer]]

class _Persona(TypedDict):
    """Persona is a durable operational role: policy, not merely a prompt."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    name: str
    version: str
    """Of its policy: a change is a new version."""
    entry_workflow: str
    """What runs its Tasks: PLUGIN, or PLUGIN#EXPORT."""
    description: str
    autonomy_tier: _AutonomyTier
    """How far its Tasks may act by themselves."""
    receipt_policy: _ReceiptPolicy
    """Whether its Tasks get receipts."""
    tools: list[str]
    """`tools` and `capabilities` are patterns of what Tasks of the Persona may use: tools as SERVER:TOOL, and host
    calls. * stands for any characters."""
    capabilities: list[str]
    tools_denied: NotRequired[list[str]]
    """`tools_denied` are patterns as those of `tools`: of what its Tasks may not use, whatever `tools` says."""
    handoffs: NotRequired[list[str]]
    """`handoffs` are patterns of the Personas that its Tasks may hand work to; nil for all."""
    triggers: NotRequired[list[Any]]
    """Kept, and without effect."""
    schedules: NotRequired[list[Any]]
    """Kept, and without effect."""
    context_packs: NotRequired[list[str]]
    """Kept, and without effect."""
    evals: NotRequired[list[str]]
    """Kept, and without effect."""
    owner: NotRequired[str]
    model_policy: NotRequired[_ModelPolicy]
    rollout_policy: NotRequired[Any]
    """Kept, and without effect."""
    quota_id: NotRequired[str]
    """A Quota that bounds its Tasks."""
    budget: NotRequired[_Budget]
    """`budget` bounds each Task of the Persona, and `approvals` says how its Tasks' writes are approved. Both are
    Wharf's own."""
    approvals: NotRequired[_ApprovalPolicy]
    tools_visibility: NotRequired[_ToolsVisibility]
    """`tools_visibility` is Wharf's own: what keys without events:internal see of its tool calls."""
    retired_at: NotRequired[str]
    """Since then no new Task or Session may name it."""
    workspace_id: NotRequired[str]
    """The Workspace that alone sees and uses it, for ever; none: the whole tenant."""
    agent: NotRequired[_Agent]
    """What makes it an agent of its own."""
    deleted_at: NotRequired[str]
    """Set on one that was deleted: no read shows it any more."""
    within: NotRequired[list[_Rights]]
    """`within` are the rights of the agents whose subagent it is, of its parent first, as they were when a Task of
    it began: what one of them may not do, that Task may not. It is in what Tasks are pinned to alone."""

class _InputSkill(TypedDict):
    """InputSkill is a skill as a plugin is told of it."""
    name: str
    description: str
    version: str
    when_to_use: NotRequired[str]
    """What its SKILL.md says of when to use it, and which tools it asks for."""
    paths: NotRequired[list[str]]
    allowed_tools: NotRequired[list[str]]

class _InputAnswer(TypedDict):
    """See its members."""
    task: _Task
    """As it was accepted; Task.Input holds what was submitted."""
    persona: _Persona
    session_id: str
    skills: NotRequired[list[_InputSkill]]
    """`skills` are those that the `task` has, as they were when it started. Their files are read by CallSkillRead."""

class _OutputRequest(TypedDict):
    """With `failure` set the Task fails, whatever the export returns."""
    summary: str
    metrics: NotRequired[dict[str, float]]
    failure: NotRequired[_Failure]
    stopped: NotRequired[bool]
    """`stopped` says that the Task ends before its work is done, and not because it has failed. Then `handoff`, an
    object, says how things stand for whoever goes on."""
    handoff: NotRequired[Any]
    stop_reason: NotRequired[_StopReason]
    """`stop_reason` says why the model has stopped whose answer the summary is of: StopLength if it was cut off.
    Absent: nothing is said."""

class _Label(TypedDict):
    """In every request, call_id is what an override key calls this call; it is to be unique among the Task's calls
    of that kind."""
    call_id: NotRequired[str]

class _ClockAnswer(TypedDict):
    """See its members."""
    unix_nano: str
    """A decimal string."""

class _IDAnswer(TypedDict):
    """See its members."""
    id: str

class _LogRequest(TypedDict):
    """See its members."""
    level: str
    """Debug, info, warn or error."""
    message: str

class _ProgressRequest(TypedDict):
    """See its members."""
    fraction: float
    """0 to 1."""
    message: NotRequired[str]

class _PlanStep(TypedDict):
    """PlanStep is one step of a plan."""
    title: str
    status: str
    """Pending, in_progress, completed or skipped."""

class _PlanRequest(TypedDict):
    """See its members."""
    steps: list[_PlanStep]

class _AgentEventRequest(TypedDict):
    """`data` is an object with the members that the kind has, and no others (docs/events.md)."""
    kind: _AgentEventKind
    data: Any

class _PlannedStep(TypedDict):
    """PlannedStep is one step of a Plan."""
    id: NotRequired[str]
    """Unique in its plan; the host makes one where there is none."""
    content: str
    """What is to be done."""
    status: _StepStatus

class _PlanSetRequest(TypedDict):
    """See its members."""
    steps: list[_PlannedStep]
    version: NotRequired[int]
    """`version` is that of the plan which is to be replaced, 0 for none; left out for whatever is there. When
    somebody has changed it meanwhile, nothing happens, and the call is refused with the code plan_changed."""

class _PlanAnswer(TypedDict):
    """See its members."""
    version: int
    """0 for no plan."""
    changed_by: NotRequired[str]
    """The actor of the last change."""
    steps: list[_PlannedStep]
    """Each with its id."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _PlanGetRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]

class _InboxTakeRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    checkpoint: _Checkpoint
    wait: NotRequired[bool]
    """`wait` parks the Task until something is there, at the longest so many milliseconds; 0 for as long as the
    Task may live."""
    timeout_ms: NotRequired[int]

class _Part(TypedDict):
    """Part is one block of a Message. Which members are set follows from `type`."""
    type: _PartType
    text: NotRequired[str]
    value: NotRequired[Any]
    tool_call_id: NotRequired[str]
    """Joins a call and its result."""
    name: NotRequired[str]
    input: NotRequired[Any]
    output: NotRequired[Any]
    status: NotRequired[str]
    """Of a tool_result: ok or error."""
    artifact_id: NotRequired[str]
    uri: NotRequired[str]
    """Where the file is."""
    mime_type: NotRequired[str]
    """Of the file or image."""
    visibility: _Visibility
    redacted: NotRequired[bool]
    """`redacted` marks a part whose content was withheld from this reader."""

class _Message(TypedDict):
    """Message is one turn of a Session's transcript. Where it is shown to clients it has the member workspace_id
    too."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    role: _Role
    """Who speaks."""
    parts: list[_Part]
    """The content, in its order."""
    session_id: NotRequired[str]
    task_id: NotRequired[str]

class _TakenReminder(TypedDict):
    """TakenReminder is a reminder that is to be shown to a model."""
    reminder_id: str
    tags: NotRequired[list[str]]
    body: str
    role_hint: _ReminderRole
    rendered_role: _ReminderRole
    """System, or user."""
    source: str
    ttl_turns: int
    _meta: NotRequired[dict[str, Any]]

class _InboxTakeAnswer(TypedDict):
    """See its members."""
    messages: list[_Message]
    """As the transcript has them."""
    reminders: list[_TakenReminder]
    woken: NotRequired[_InboxWoken]
    """`woken` says why a call that waited brings nothing."""

class _MessageInput(TypedDict):
    """MessageInput is a Message as a client writes it."""
    role: _Role
    """Who speaks."""
    parts: list[_Part]
    """The content, in its order."""
    metadata: NotRequired[Any]

class _MessageAppendAnswer(TypedDict):
    """See its members."""
    message_id: str
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _MessageDeltaRequest(TypedDict):
    """See its members."""
    text: str

class _TranscriptReadRequest(TypedDict):
    """`last` asks for the newest so many Messages; 0 for 50."""
    call_id: NotRequired[str]
    last: NotRequired[int]

class _TranscriptReadAnswer(TypedDict):
    """`earlier` says that there are `messages` before these. `unreadable` has the ids of those that are left out,
    for what is stored of them cannot be read."""
    messages: list[_Message]
    earlier: NotRequired[bool]
    unreadable: NotRequired[list[str]]

class _ModelToolCall(TypedDict):
    """ModelToolCall is a model's wish to have a tool called."""
    id: str
    name: str
    arguments: Any
    """A JSON object."""

class _ModelMessage(TypedDict):
    """ModelMessage is one message of a conversation with a model. `role` is user, assistant or tool."""
    role: str
    text: NotRequired[str]
    tool_calls: NotRequired[list[_ModelToolCall]]
    """Of an assistant."""
    tool_call_id: NotRequired[str]
    """`tool_call_id` and `is_error` belong to the role tool: `text` is what the tool answered."""
    is_error: NotRequired[bool]

class _ModelTool(TypedDict):
    """ModelTool is a tool that a model may ask for."""
    name: str
    description: NotRequired[str]
    input_schema: NotRequired[Any]

class _ModelRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    model: NotRequired[str]
    """`model` names a configured model, or is empty for the node's default."""
    system: NotRequired[str]
    messages: list[_ModelMessage]
    tools: NotRequired[list[_ModelTool]]
    tool_choice: NotRequired[str]
    """Auto (default), none, any, or a tool's name."""
    max_tokens: NotRequired[int]
    temperature: NotRequired[float]
    stop: NotRequired[list[str]]
    stream: NotRequired[bool]
    """`stream` tells watchers the text as it comes, as message deltas. The answer is the same."""

class _ModelUsage(TypedDict):
    """ModelUsage counts tokens."""
    input_tokens: int
    output_tokens: int

class _ModelConsidered(TypedDict):
    """ModelConsidered is a model that was not used."""
    provider: str
    model: str
    reason: str

class _ModelAnswer(TypedDict):
    """See its members."""
    provider: str
    """Openai, anthropic, script or client."""
    model: str
    """As the provider names it."""
    text: str
    tool_calls: NotRequired[list[_ModelToolCall]]
    stop_reason: _StopReason
    usage: _ModelUsage
    cost: float
    """`cost` is in `currency`, from the node's price table; 0 when it has no price."""
    currency: str
    route: str
    """`route` says why this model was taken, and `considered` which others were configured for the same name and
    were tried or passed over before."""
    considered: NotRequired[list[_ModelConsidered]]

class _ToolListRequest(TypedDict):
    """An empty `server` lists those of all."""
    call_id: NotRequired[str]
    server: NotRequired[str]

class _Tool(TypedDict):
    """Tool describes a tool that a plugin may call. The hints are what the tool says of itself (Model Context
    Protocol, tool annotations)."""
    server: str
    name: str
    description: NotRequired[str]
    input_schema: NotRequired[Any]
    read_only: NotRequired[bool]
    idempotent: NotRequired[bool]
    destructive: NotRequired[bool]
    open_world: NotRequired[bool]
    """It reaches what is not its server's own."""
    deprecated: NotRequired[bool]
    """Whoever offers it would rather have another called."""

class _ToolListAnswer(TypedDict):
    """See its members."""
    tools: list[_Tool]

class _ToolCallRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    server: str
    name: str
    arguments: NotRequired[Any]
    """A JSON object."""
    composition_id: NotRequired[str]
    """`composition_id` is that of the composition which the call is a child of. The one that is open has all calls
    as its children, named or not: a call that names another is refused."""

class _ToolContent(TypedDict):
    """ToolContent is one block of a tool's answer. `type` is text, image, audio or resource."""
    type: str
    text: NotRequired[str]
    data: NotRequired[str]
    """Base64."""
    mime_type: NotRequired[str]
    uri: NotRequired[str]

class _ToolCallAnswer(TypedDict):
    """A tool that failed by its own word answers with `is_error`; the call itself is then still `ok`."""
    content: list[_ToolContent]
    structured: NotRequired[Any]
    is_error: NotRequired[bool]
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _ResourceListRequest(TypedDict):
    """No `kind` is KindResource."""
    call_id: NotRequired[str]
    server: str
    kind: NotRequired[_ResourceKind]

class _Resource(TypedDict):
    """Resource describes a resource of a server of tools: what its `uri` names can be read."""
    uri: str
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    mime_type: NotRequired[str]
    size: NotRequired[int]
    """In bytes, when the server says it."""

class _ResourceTemplate(TypedDict):
    """ResourceTemplate describes resources whose URIs have a form (RFC 6570)."""
    uri_template: str
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    mime_type: NotRequired[str]

class _PromptArgument(TypedDict):
    """PromptArgument describes an argument of a Prompt."""
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    required: NotRequired[bool]

class _Prompt(TypedDict):
    """Prompt describes a prompt of a server of tools."""
    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    arguments: NotRequired[list[_PromptArgument]]

class _ResourceListAnswer(TypedDict):
    """See its members."""
    resources: NotRequired[list[_Resource]]
    templates: NotRequired[list[_ResourceTemplate]]
    prompts: NotRequired[list[_Prompt]]

class _ResourceReadRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    server: str
    uri: str

class _ResourceContent(TypedDict):
    """ResourceContent is the content of a resource: text, or bytes."""
    uri: str
    mime_type: NotRequired[str]
    text: NotRequired[str]
    data: NotRequired[str]
    """Base64."""

class _ResourceReadAnswer(TypedDict):
    """One URI may name several contents."""
    contents: list[_ResourceContent]

class _PromptGetRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    server: str
    name: str
    arguments: NotRequired[dict[str, str]]

class _PromptMessage(TypedDict):
    """PromptMessage is a message of a prompt. `role` is user or assistant."""
    role: str
    content: _ToolContent

class _PromptGetAnswer(TypedDict):
    """See its members."""
    description: NotRequired[str]
    messages: list[_PromptMessage]

class _HTTPFetchRequest(TypedDict):
    """`header` values and the `url`'s query may hold secret handles ({{secret:NAME}}), which the host replaces."""
    call_id: NotRequired[str]
    method: NotRequired[str]
    """Default GET."""
    url: str
    header: NotRequired[dict[str, str]]
    """`header` holds one value by name."""
    text: NotRequired[str]
    """The body as text."""
    body: NotRequired[str]
    """The body as bytes, base64; not with `text`."""
    purpose: NotRequired[str]
    """`purpose` is what the receipt says that the request was for."""
    idempotency_header: NotRequired[str]
    """`idempotency_header` names the header by which the target recognizes a repeated write, such as
    Idempotency-Key. The host fills it in, and repeats the request after a crash. Without it, such a write is
    answered with `indeterminate`."""
    timeout_ms: NotRequired[int]

class _HTTPFetchAnswer(TypedDict):
    """A status of 400 and more is an answer, not a failed call."""
    status: int
    url: str
    """After redirects, without secrets."""
    header: dict[str, str]
    text: NotRequired[str]
    """The body, when it is UTF-8."""
    body: NotRequired[str]
    """The body otherwise, base64."""
    bytes_sent: int
    """Body bytes of the request."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _SecretUseRequest(TypedDict):
    """See its members."""
    name: str

class _SecretUseAnswer(TypedDict):
    """`handle` is what to write where the secret belongs."""
    handle: str

class _MemoryQueryRequest(TypedDict):
    """A Memory is found when it holds every word of `text`, in any letter case; an empty `text` finds all."""
    call_id: NotRequired[str]
    scope: _MemoryScope
    text: NotRequired[str]
    limit: NotRequired[int]
    """1 to 100; default 10."""

class _Memory(TypedDict):
    """Memory is durable knowledge, apart from transcripts."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    scope: _MemoryScope
    owner_id: str
    content: Any
    """A string or an object; null when it is redacted."""
    provenance: Any
    expires_at: NotRequired[str]
    visibility: NotRequired[_Visibility]
    confidence: NotRequired[float]
    redaction_policy: NotRequired[Any]
    """The client's own: Wharf keeps it."""
    embedding_ref: NotRequired[str]
    """The client's own: Wharf keeps it."""
    redacted_at: NotRequired[str]
    """`redacted_at` is set when the content was redacted."""
    workspace_id: NotRequired[str]
    session_id: NotRequired[str]

class _MemoryQueryAnswer(TypedDict):
    """`unreadable` has the ids of `memories` that are left out, for what is stored of them cannot be read."""
    memories: list[_Memory]
    unreadable: NotRequired[list[str]]

class _MemoryWriteRequest(TypedDict):
    """See its members."""
    scope: _MemoryScope
    content: Any
    """A string or an object."""
    expires_in_seconds: NotRequired[float]
    """`expires_in_seconds` is how long the Memory lives; 0 for ever."""
    visibility: NotRequired[_Visibility]
    """Default internal."""
    confidence: NotRequired[float]
    """0 to 1."""
    metadata: NotRequired[Any]

class _MemoryWriteAnswer(TypedDict):
    """See its members."""
    memory_id: str
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _BlockListRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]

class _Block(TypedDict):
    """CallBlock is a block of memory, as a plugin is told of it."""
    label: str
    value: str
    read_only: bool
    version: int

class _BlockListAnswer(TypedDict):
    """See its members."""
    version: int
    """Counts the changes of all blocks; 0 before the first."""
    blocks: list[_Block]
    """In order of label."""

class _BlockWriteRequest(TypedDict):
    """See its members."""
    label: str
    """Of the block, which is made if there is none."""
    value: str
    append: NotRequired[bool]
    """`append` puts value below what the block has, on a line of its own, instead of in its place."""
    version: NotRequired[int]
    """`version` is that of the block which is to be changed, 0 for none; left out for whatever is there. When
    somebody has changed it meanwhile, nothing happens, and the call is refused with the code block_changed."""

class _BlockWriteAnswer(TypedDict):
    """See its members."""
    label: str
    version: int
    characters: int
    """Of its value."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _ArtifactPutRequest(TypedDict):
    """See its members."""
    kind: _ArtifactKind
    mime_type: str
    visibility: NotRequired[_Visibility]
    """Default public."""
    name: NotRequired[str]

class _ArtifactPutAnswer(TypedDict):
    """See its members."""
    artifact_id: str
    sha256: str
    """Bare hex."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _ArtifactGetRequest(TypedDict):
    """A `length` of 0 reads to the end, as far as the payload limit goes."""
    call_id: NotRequired[str]
    artifact_id: str
    offset: NotRequired[int]
    length: NotRequired[int]

class _FileReadRequest(TypedDict):
    """A `length` of 0 reads to the end, as far as one call goes."""
    call_id: NotRequired[str]
    path: str
    """Names separated by /, relative to the Workspace."""
    offset: NotRequired[int]
    length: NotRequired[int]

class _FileReadAnswer(TypedDict):
    """See its members."""
    path: str
    offset: NotRequired[int]
    """Of what was read."""
    size: int
    """Of the whole file."""
    sha256: NotRequired[str]
    """Of the whole file, bare hex; left out of one of more than 8 MiB."""
    updated_at: str
    text: NotRequired[str]
    """What was read, when it is UTF-8."""
    body: NotRequired[str]
    """What was read otherwise, base64."""

class _FileWriteRequest(TypedDict):
    """See its members."""
    path: str
    text: NotRequired[str]
    """The content as text."""
    body: NotRequired[str]
    """The content as bytes, base64; not with `text`."""
    mode: NotRequired[_FileMode]
    sha256: NotRequired[str]
    """`sha256` is what the file must have before, bare hex; another file, or none, is left as it is, and the call
    is answered with `invalid` and the code conflict."""

class _FileWriteAnswer(TypedDict):
    """See its members."""
    path: str
    size: int
    sha256: str
    """Bare hex."""
    before_sha256: NotRequired[str]
    """What was there before; "" when the file is new."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _FileEditRequest(TypedDict):
    """`old` is what the file has, and exactly so: once, unless `all` is set."""
    path: str
    old: str
    new: str
    """What comes in its place; "" takes it away."""
    all: NotRequired[bool]
    sha256: NotRequired[str]
    """`sha256` is what the file must have before, as in CallFileWriteRequest."""

class _FileEditAnswer(TypedDict):
    """See its members."""
    path: str
    size: int
    sha256: str
    """Bare hex."""
    before_sha256: str
    replaced: int
    """How often Old was there."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _FileListRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    path: NotRequired[str]
    """Of the folder; "" for the Workspace."""
    recursive: NotRequired[bool]
    """All files below it, and no folders."""
    after: NotRequired[str]
    """The next of the answer before."""
    limit: NotRequired[int]
    """1 to 1,000; default 100."""

class _FileEntry(TypedDict):
    """FileEntry is a file or folder in a list."""
    path: str
    """Within the Workspace."""
    folder: NotRequired[bool]
    size: NotRequired[int]
    updated_at: NotRequired[str]
    """Of a file."""

class _FileListAnswer(TypedDict):
    """`next` is set when there is more."""
    entries: list[_FileEntry]
    next: NotRequired[str]

class _FileRemoveRequest(TypedDict):
    """`sha256` is what the file must have, as in CallFileWriteRequest. `recursive` lets `path` be a folder, which
    is removed with all that is in it."""
    path: str
    sha256: NotRequired[str]
    recursive: NotRequired[bool]

class _RemovedFile(TypedDict):
    """RemovedFile is a file that was removed with its folder."""
    path: str
    before_sha256: str
    """Bare hex."""

class _FileRemoveAnswer(TypedDict):
    """See its members."""
    path: str
    before_sha256: str
    """What was removed, bare hex; "" of a folder."""
    removed: NotRequired[list[_RemovedFile]]
    """Of a folder: the files that were in it."""
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _FileSearchRequest(TypedDict):
    """Of `text` and `pattern` at most one is set; without either, what is found are the files that `glob` names."""
    call_id: NotRequired[str]
    path: NotRequired[str]
    """Of the folder to search; "" for the Workspace."""
    glob: NotRequired[str]
    """`glob` is what the path below that folder must match: * and ? within a name, [a-z], and ** for any number of
    folders. Without a / it is matched with the file's name."""
    text: NotRequired[str]
    pattern: NotRequired[str]
    """A regular expression (RE2), matched with each line."""
    ignore_case: NotRequired[bool]
    after: NotRequired[str]
    """The next of the answer before."""
    limit: NotRequired[int]
    """1 to 1,000; default 100."""

class _FileMatch(TypedDict):
    """FileMatch is a line of a file, or a file."""
    path: str
    line: NotRequired[int]
    """From 1; 0 for a file that only its name was asked of."""
    text: NotRequired[str]
    """The line, at most 1,000 bytes of it."""

class _FileSearchAnswer(TypedDict):
    """`next` is set when the search is not over; it may be so when nothing was found yet."""
    matches: list[_FileMatch]
    next: NotRequired[str]

class _SkillReadRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    skill: str
    """Its name, as the Task was told."""
    path: NotRequired[str]
    """Within the skill; SKILL.md if it is absent."""

class _SkillManifest(TypedDict):
    """SkillManifest is what a client says of a skill that it has."""
    when_to_use: NotRequired[str]
    allowed_tools: NotRequired[list[str]]
    paths: NotRequired[list[str]]
    """Patterns of the files that it is for."""
    model: NotRequired[str]

class _SkillReadAnswer(TypedDict):
    """See its members."""
    skill: str
    version: str
    path: str
    text: str
    files: NotRequired[list[str]]
    """With SKILL.md: the paths of the other files."""
    manifest: NotRequired[_SkillManifest]
    """`manifest` is set for a skill of a client's, which has no version."""

class _SkillCandidate(TypedDict):
    """SkillCandidate is a skill that is ranked."""
    name: str
    description: NotRequired[str]
    when_to_use: NotRequired[str]
    paths: NotRequired[list[str]]
    """Patterns of the files that it is for; * stands for any characters."""

class _SkillMatchRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    prompt: str
    working_files: NotRequired[list[str]]
    candidates: NotRequired[list[_SkillCandidate]]
    """`candidates` are the skills that are ranked; those that the Task has, and those of its Session's clients, if
    they are absent."""
    strategy: NotRequired[str]
    """Metadata: the node ranks, the default; host, or embedding: a client does, if there is one."""

class _SkillMatch(TypedDict):
    """SkillMatch is a skill that fits."""
    name: str
    score: float
    """0 or more."""
    reason: str

class _KnownSkill(TypedDict):
    """KnownSkill is a skill that a Task can read."""
    name: str
    description: NotRequired[str]
    when_to_use: NotRequired[str]
    paths: NotRequired[list[str]]
    """Patterns of the files that it is for; * stands for any characters."""
    source: _SkillSource

class _SkillMatchAnswer(TypedDict):
    """See its members."""
    matches: list[_SkillMatch]
    """The best first."""
    by: _MatchedBy
    skills: NotRequired[list[_KnownSkill]]
    """`skills` are what was ranked, where the request has no candidates."""

class _CompositionBeginRequest(TypedDict):
    """See its members."""
    name: NotRequired[str]
    """For people."""
    language: str
    """That the snippet is written in."""
    snippet_hash: str
    """`snippet_hash` and `manifest_hash` are SHA-256, in hex, of the snippet and of the manifest of bindings that
    whoever wrote it was shown."""
    manifest_hash: str
    side_effect_ceiling: _SideEffectLevel

class _CompositionBeginAnswer(TypedDict):
    """See its members."""
    composition_id: str
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _CompositionEndRequest(TypedDict):
    """With a `failure_category` the composition has failed."""
    composition_id: str
    stdout: NotRequired[str]
    stderr: NotRequired[str]
    artifacts: NotRequired[list[str]]
    """Ids of those that the Task has put."""
    result: NotRequired[Any]
    failure_category: NotRequired[_CompositionFailure]
    message: NotRequired[str]
    """Of a failure."""

class _StateGetRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    key: str

class _StateGetAnswer(TypedDict):
    """`value` is null when nothing is kept."""
    value: Any

class _StateSetRequest(TypedDict):
    """See its members."""
    key: str
    value: Any

class _SleepRequest(TypedDict):
    """See its members."""
    ms: int

class _Question(TypedDict):
    """Question is one of several that are asked at once."""
    key: str
    """Names it in the answer: the plugin's own, and no other question's."""
    kind: NotRequired[_PermissionKind]
    """Default: input."""
    prompt: NotRequired[str]
    schema: NotRequired[Any]
    """`schema`, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is not taken."""
    params: NotRequired[Any]
    """`params`, of a sampling, are what the model of whoever answers is asked: those of MCP's
    sampling/createMessage. The answer is its result, in a json part."""
    provider: NotRequired[str]
    """Of an authorization: what is to be authorized."""
    url: NotRequired[str]
    """Of an authorization: where the user does so."""
    action: NotRequired[str]
    """Of an approval: what is to be approved."""
    arguments: NotRequired[Any]
    """`arguments`, `quorum` and `approvers`, of an approval, are as those of approval.request."""
    quorum: NotRequired[int]
    approvers: NotRequired[list[str]]

class _InputRequestRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    prompt: NotRequired[str]
    """Of a single question."""
    schema: NotRequired[Any]
    """`schema` is a JSON Schema of what is wanted: an answer that does not fit it is not taken."""
    requests: NotRequired[list[_Question]]
    """`requests` are several questions, 1 to 16, in the place of `prompt` and `schema`. Each is answered by
    itself, and the call when all are settled."""
    timeout_seconds: NotRequired[float]
    """`timeout_seconds` is how long to wait; then the status is `timeout`. 0: for ever."""

class _Decision(TypedDict):
    """`decision` is what one actor has decided."""
    actor: str
    decision: str
    """Approved or denied."""
    reason: NotRequired[str]
    """For people."""
    arguments: NotRequired[Any]
    """Other arguments, when the actor changed them."""
    decided_at: str

class _ApprovalAnswer(TypedDict):
    """See its members."""
    decision: str
    """Approved, denied or timeout."""
    actor: NotRequired[str]
    decided_at: str
    reason: NotRequired[str]
    arguments: NotRequired[Any]
    """When an approver changed them."""
    decisions: NotRequired[list[_Decision]]
    """`decisions` lists all that were taken, in their order, when there was not just the one above."""
    quorum: NotRequired[int]
    """`quorum` and `approved_by` are set when more than one had to approve, and did."""
    approved_by: NotRequired[list[str]]

class _QuestionAnswer(TypedDict):
    """QuestionAnswer is what became of one of several questions."""
    key: str
    status: _PermissionStatus
    """Answered, approved, denied or timeout."""
    permission_request_id: str
    actor: NotRequired[str]
    """Who answered, or declined."""
    code: NotRequired[_DeclineCode]
    """Of one that is no approval and was denied: in which way."""
    reason: NotRequired[str]
    """Why it was declined."""
    message: NotRequired[_Message]
    """What was answered."""
    approval: NotRequired[_ApprovalAnswer]
    """Of an approval: how it was decided."""

class _InputRequestAnswer(TypedDict):
    """See its members."""
    message: NotRequired[_Message]
    actor: NotRequired[str]
    """Who answered."""
    answers: NotRequired[list[_QuestionAnswer]]
    """`answers` are those to several questions, in the order in which they were asked; then there is nothing else."""

class _AuthRequestRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    provider: str
    """What is to be authorized."""
    prompt: str
    url: NotRequired[str]
    """Where the user does so."""
    timeout_seconds: NotRequired[float]

class _ApprovalRequestRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    action: str
    """What is to be approved, such as workspace.patch.apply."""
    prompt: str
    arguments: NotRequired[Any]
    timeout_seconds: NotRequired[float]
    quorum: NotRequired[int]
    """`quorum` is how many must approve; 0 is 1. `approvers` are patterns of the actors that may decide; empty for
    all. The Persona's policy may ask for more."""
    approvers: NotRequired[list[str]]

class _TaskSpawnRequest(TypedDict):
    """See its members."""
    persona_id: NotRequired[str]
    """Default: the same."""
    input: Any
    metadata: NotRequired[Any]
    deadline_seconds: NotRequired[float]

class _TaskSpawnAnswer(TypedDict):
    """See its members."""
    task_id: str
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _TaskAwaitRequest(TypedDict):
    """See its members."""
    call_id: NotRequired[str]
    task_id: str
    timeout_seconds: NotRequired[float]

class _TaskAwaitAnswer(TypedDict):
    """See its members."""
    task_id: str
    status: _OutcomeStatus
    summary: str
    messages: NotRequired[list[_Message]]
    failure: NotRequired[_Failure]
    receipt_id: NotRequired[str]

class _HandoffRequest(TypedDict):
    """See its members."""
    persona_id: str
    input: Any
    reason: NotRequired[str]

class _DelegationBudget(TypedDict):
    """DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound."""
    usd: NotRequired[float]
    tokens: NotRequired[int]
    seconds: NotRequired[float]
    tool_calls: NotRequired[int]

class _DelegationPeer(TypedDict):
    """DelegationPeer says who the agent is, as the node has found it."""
    agent: str
    name: NotRequired[str]
    """By its card."""
    url: str
    """Where work is dispatched to."""
    card_sha256: str
    """Of the card's canonical JSON, with "sha256:" before it."""

class _DelegationCheckpoint(TypedDict):
    """DelegationCheckpoint is what an agent means to do before it is paid for it."""
    approved: NotRequired[bool]
    """`approved` has the work dispatched, once whoever policy asks has approved it. Without it, the call ends with
    the checkpoint."""
    checkpoint_id: NotRequired[str]
    """`checkpoint_id` is that of the checkpoint that was looked at. When the agent has another one by then,
    nothing is dispatched."""
    allow_local_fallback: NotRequired[bool]
    """`allow_local_fallback` lets `plan` stand in for that of an agent which makes none."""
    plan: NotRequired[Any]
    expected_scope: NotRequired[Any]
    """The rest is the agent's, and the node's. In a request it means nothing."""
    evidence_refs: NotRequired[Any]
    metadata: NotRequired[Any]
    local: NotRequired[bool]
    """The plan is the plugin's own."""
    peer: NotRequired[_DelegationPeer]

class _AgentDelegateRequest(TypedDict):
    """Its budget has at least one bound."""
    call_id: NotRequired[str]
    agent: str
    """By its name in the configuration."""
    task: str
    expected_scope: NotRequired[Any]
    """What may come of it: a text, or any other JSON."""
    context: NotRequired[Any]
    """A JSON object."""
    budget: _DelegationBudget
    idempotency_key: NotRequired[str]
    """`idempotency_key` names this piece of work among those of the plugin in its Workspace, for good. One follows
    from the call where it is not given."""
    checkpoint: NotRequired[_DelegationCheckpoint]

class _CallError(TypedDict):
    """CallError is the answer that comes with any status but `ok`."""
    code: str
    message: str

class _DelegationArtifact(TypedDict):
    """DelegationArtifact names an Artifact that a delegation has left."""
    artifact_id: str
    kind: _ArtifactKind
    sha256: str

class _DelegationHandoff(TypedDict):
    """DelegationHandoff is what came of work that was dispatched: the envelope of ExternalHandoffSchema."""
    schema: str
    """ExternalHandoffSchema."""
    status: _DelegationStatus
    """DelegationCompleted or DelegationExceeded."""
    peer: _DelegationPeer
    idempotency_key: str
    """As the agent was told it."""
    asked_sha256: str
    """Of the task, its scope and its context."""
    task_id: NotRequired[str]
    checkpoint: NotRequired[_DelegationCheckpoint]
    budget: _DelegationBudget
    budget_used: _DelegationBudget
    reported: list[str]
    """`reported` is what of `budget_used` the agent has said itself. The rest is taken to be what it was allowed."""
    exceeded: NotRequired[list[str]]
    """Members of the budget."""
    repeated: NotRequired[bool]
    """The agent says that it had done it before."""
    handoff: Any
    """What the agent hands over, for review."""
    diff: NotRequired[str]
    """The patch, where there is one."""
    outputs: NotRequired[Any]
    """The agent's artifacts."""
    receipts: NotRequired[Any]
    artifacts: NotRequired[list[_DelegationArtifact]]
    """`artifacts` are those of this node: the envelope itself, as the log has it, and the patch."""

class _AgentDelegateAnswer(TypedDict):
    """See its members."""
    status: _DelegationStatus
    reason: NotRequired[_CallError]
    """Of a refusal."""
    idempotency_key: NotRequired[str]
    """`idempotency_key` is the one to come back with when the checkpoint is approved."""
    peer: NotRequired[_DelegationPeer]
    checkpoint: NotRequired[_DelegationCheckpoint]
    handoff: NotRequired[_DelegationHandoff]
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

class _EventEmitRequest(TypedDict):
    """See its members."""
    kind: str
    payload: NotRequired[Any]
    """A JSON object."""

class _ConfigGetRequest(TypedDict):
    """See its members."""
    name: str

class _ConfigGetAnswer(TypedDict):
    """`value` is null when nothing is configured."""
    value: Any

class _HostFactRequest(TypedDict):
    """See its members."""
    name: str

class _HostFactAnswer(TypedDict):
    """See its members."""
    value: str

class _DedupePolicy(TypedDict):
    """DedupePolicy says how deliveries that come again are recognized."""
    header: NotRequired[str]
    """`header` is the header with the provider's delivery id; empty: the provider's own."""
    window_seconds: NotRequired[int]
    """`window_seconds` is how long ids are remembered; 0 for the default of a week."""

class _WebhookAuth(TypedDict):
    """WebhookAuth says how deliveries on the public path are checked. `secrets` are named, never stated: they are
    those of the node's configuration or of a Vault."""
    scheme: NotRequired[_SignatureScheme]
    """Empty: the provider's own."""
    secrets: NotRequired[list[str]]
    """`secrets` are names; a delivery signed with any of them is taken, so that a secret can be changed without a
    gap."""
    vault_id: NotRequired[str]
    """Where they are; empty: the node's own."""
    tolerance_seconds: NotRequired[int]
    """`tolerance_seconds` is how far a timestamp may be from now; 0 for 5 minutes."""
    header: NotRequired[str]
    """Of hmac: the header with the signature."""
    hash: NotRequired[str]
    """Of hmac: sha256 or sha512."""
    encoding: NotRequired[str]
    """Of hmac: the signature's, hex or base64."""
    prefix: NotRequired[str]
    """Of hmac: what stands before the signature."""
    timestamp_header: NotRequired[str]
    """`timestamp_header` is the header with the time in seconds, of hmac; then "TIME.BODY" is signed, and else the
    body alone."""

class _Webhook(TypedDict):
    """Webhook is the public path of a Connector."""
    path: NotRequired[str]
    """`path` is where providers send to. It is shown to those who may write Connectors, for it holds an
    unguessable token."""
    enabled: bool
    """`enabled` says that the path is open."""

class _Polling(TypedDict):
    """Polling makes a Connector act by itself."""
    schedule: str
    """Five fields of cron, or @every 5m, @hourly, …."""
    timezone: NotRequired[str]
    """Of the IANA database; UTC if it is empty."""
    export: NotRequired[str]
    """The plugin's export that polls; empty: each tick is a delivery itself."""
    next_at: NotRequired[str]
    """When it acts next."""
    last_at: NotRequired[str]
    """The last tick that was acted on."""
    last_task_id: NotRequired[str]
    """The Task of that tick."""

class _ConnectorCounters(TypedDict):
    """ConnectorCounters count what became of deliveries, since the Connector was made."""
    received: int
    """Taken in; what had come before is not among them."""
    deduped: int
    """Had come before."""
    rejected: int
    """For their signature; since the node started."""
    normalized: int
    """The plugin has said what they mean."""
    tasks: int
    """Submitted."""
    failed: int
    """Put aside as dead letters."""
    pending: int
    """Neither handled nor put aside yet."""

class _Connector(TypedDict):
    """Connector turns what a provider sends, or what is polled from it, into Tasks, Events or Messages."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    name: NotRequired[str]
    provider: str
    """Such as github; it decides the defaults of the rest."""
    workspace_id: str
    status: _ConnectorStatus
    """Whether it takes and handles deliveries."""
    status_reason: NotRequired[str]
    """`status_reason` says why it is FAILED."""
    event_kinds: list[str]
    dedupe_policy: NotRequired[_DedupePolicy]
    auth: NotRequired[_WebhookAuth]
    webhook: NotRequired[_Webhook]
    polling: NotRequired[_Polling]
    target_persona_id: NotRequired[str]
    """Whose Tasks deliveries become."""
    target_session_id: NotRequired[str]
    """The Session of those Tasks."""
    plugin: str
    """`plugin` is what normalizes deliveries: PLUGIN#EXPORT."""
    settings: NotRequired[Any]
    """`settings` are the plugin's own, such as the mapping of generic."""
    ordered: NotRequired[bool]
    """`ordered` says that the deliveries of one order key are handled strictly one after another: a Task begins
    when the one before has ended. ConnectorTask has the key."""
    deleted_at: NotRequired[str]
    """`deleted_at` is set on one that was deleted: no read shows it any more."""
    problems: NotRequired[list[str]]
    """`problems` are what keeps it from working now, a sentence each. They are filled in when one is read by its
    id, made or changed."""
    counters: NotRequired[_ConnectorCounters]
    """`counters` are filled in when a Connector is read."""

class _Delivery(TypedDict):
    """Delivery is what a provider has sent, as it is kept: the body as text when it is UTF-8, else as bytes."""
    id: str
    """Names the resource; it never changes."""
    object: str
    """The kind of resource."""
    created_at: str
    """When it was made."""
    updated_at: str
    """When it last changed."""
    metadata: Any
    """The client's own: any object; {} if there is none."""
    connector_id: str
    workspace_id: str
    delivery_id: str
    """The provider's."""
    header: dict[str, str]
    """Names in lower case; no credentials."""
    text: NotRequired[str]
    body: NotRequired[str]
    """Base64."""

class _DeliveriesAnswer(TypedDict):
    """See its members."""
    connector: _Connector
    deliveries: list[_Delivery]

class _ConnectorTask(TypedDict):
    """ConnectorTask is a Task to submit."""
    input: Any
    persona_id: NotRequired[str]
    """`persona_id` is the Connector's target if it is empty."""
    thread: NotRequired[str]
    """`thread` is what belongs to one Session, such as a pull request; empty: the Connector's target Session, or
    one for all."""
    order_key: NotRequired[str]
    """`order_key` orders Tasks when the Connector is ordered; empty: `thread`."""
    metadata: NotRequired[Any]

class _ConnectorMessage(TypedDict):
    """ConnectorMessage is a `message` to append."""
    message: _MessageInput
    thread: NotRequired[str]

class _ConnectorEvent(TypedDict):
    """ConnectorEvent is an event to tell."""
    kind: str
    payload: NotRequired[Any]

class _NormalizedDelivery(TypedDict):
    """NormalizedDelivery says what a delivery means. With none of the members it means nothing and is done with."""
    id: str
    """The Delivery's id."""
    tasks: NotRequired[list[_ConnectorTask]]
    messages: NotRequired[list[_ConnectorMessage]]
    events: NotRequired[list[_ConnectorEvent]]
    ignored: NotRequired[str]
    """`ignored` says in a word why it means nothing."""
    failure: NotRequired[_Failure]
    """`failure` puts the delivery aside, whatever else it says."""

class _NormalizedRequest(TypedDict):
    """See its members."""
    results: list[_NormalizedDelivery]

class _PolledDelivery(TypedDict):
    """PolledDelivery is one thing that was found. `id` is how it is recognized when it is found again."""
    id: str
    header: NotRequired[dict[str, str]]
    text: NotRequired[str]
    body: NotRequired[str]
    """Base64; not with `text`."""

class _DeliverRequest(TypedDict):
    """Each is taken as if the provider had sent it."""
    deliveries: list[_PolledDelivery]

class _DeliverAnswer(TypedDict):
    """See its members."""
    received: int
    deduped: int
    withheld: NotRequired[str]
    """"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there."""

def input() -> _InputAnswer:
    """What the Task was submitted with, the Task as it was accepted, and the Persona it runs as.

    Example::

        def example_run(task):
            return {"summary": "done: " + task.text, "metrics": {"orders": 1}}
    """

def output(request: _OutputRequest | None = None, *, summary: str = ..., metrics: dict[str, float] = ..., failure: _Failure = ..., stopped: bool = ..., handoff: Any = ..., stop_reason: _StopReason = ...) -> None:
    """What the Task results in. Called once; a second call is answered with `invalid`.

    Example::

        def example_run(task):
            return {"summary": "done: " + task.text, "metrics": {"orders": 1}}
    """

def clock(request: _Label | None = None, *, call_id: str = ...) -> _ClockAnswer:
    """Reads the wall clock. A replay can give another answer under the key time:<call_id>.

    Example::

        print("it is " + clock()["unix_nano"])
    """

def random(n: int) -> bytes:
    """Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data folder. Limit:
    65,536 bytes. A replay can give another answer under the key host:random:<call_id>.

    Example::

        key = random(16)
        assert len(key) == 16
    """

def id(request: _Label | None = None, *, call_id: str = ...) -> _IDAnswer:
    """Makes an id that is unique and sorts by time: a ULID. A replay can give another answer under the key
    host:id:<call_id>.

    Example::

        print("this is order " + id()["id"])
    """

def log(request: _LogRequest | None = None, *, level: str = ..., message: str = ...) -> None:
    """Writes a line to the Task's event stream. Limit: 10,000 hints of a Task; more are dropped.

    Example::

        log(level="warn", message="the pot is half empty")
    """

def progress(request: _ProgressRequest | None = None, *, fraction: float = ..., message: str = ...) -> None:
    """Tells watchers how far the Task is. Limit: 10,000 hints of a Task; more are dropped.

    Example::

        progress(fraction=0.5, message="half of the orders are in")
    """

def plan(request: _PlanRequest | None = None, *, steps: list[_PlanStep] = ...) -> None:
    """Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set does. Limit:
    10,000 hints of a Task; more are dropped.

    Example::

        plan(steps=[{"title": "Ask for the order", "status": "completed"}, {"title": "Place it", "status": "pending"}])
    """

def agent_event(request: _AgentEventRequest | None = None, *, kind: _AgentEventKind = ..., data: Any = ...) -> None:
    """Tells watchers what an agent does with its skills, its tools and its conversation. The data is an object
    that has members of its kind alone: skill_activated, skill_deactivated, skill_scope_tools, skill_narrow,
    tool_search_query, tool_search_result, transcript_compacted, transcript_projected, turn_started or
    turn_ended. Limit: 32 KiB; 10,000 hints of a Task, more are dropped.

    Example::

        agent_event(kind="turn_started", data={"iteration": 1})
    """

def plan_set(request: _PlanSetRequest | None = None, *, steps: list[_PlannedStep] = ..., version: int = ...) -> _PlanAnswer:
    """Sets the Task's plan, which people see and may change. A step without an id gets one that follows from the
    call. Limit: 200 steps of 2,000 characters.

    Example::

        version = plan_get()["version"]
        # It raises an error when somebody has changed the plan since it was read.
        plan_set(steps=[{"id": "order", "content": "Place the order", "status": "in_progress"}], version=version)
    """

def plan_get(request: _PlanGetRequest | None = None, *, call_id: str = ...) -> _PlanAnswer:
    """Reads the Task's plan as it is now, with what people have changed. A replay can give another answer under
    the key host:plan.get:<call_id>.

    Example::

        version = plan_get()["version"]
        # It raises an error when somebody has changed the plan since it was read.
        plan_set(steps=[{"id": "order", "content": "Place the order", "status": "in_progress"}], version=version)
    """

def inbox_take(request: _InboxTakeRequest | None = None, *, call_id: str = ..., checkpoint: _Checkpoint = ..., wait: bool = ..., timeout_ms: int = ...) -> _InboxTakeAnswer:
    """Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered once: its Messages are
    in the transcript and the answer is on disk before it is given. With wait the Task is parked until something
    comes. Limit: 100 that wait in a Session, 4 MB of them. A replay can give another answer under the key
    host:inbox.take:<call_id>.

    Example::

        for message in inbox_take(checkpoint="turn", wait=True, timeout_ms=60000)["messages"]:
            print("somebody says: " + message["parts"][0]["text"])
    """

def message_append(request: _MessageInput | None = None, *, role: _Role = ..., parts: list[_Part] = ..., metadata: Any = ...) -> _MessageAppendAnswer:
    """Appends a Message to the Session's transcript. It becomes visible with the next call that reaches outside
    the Task, at the latest when the Task ends.

    Example::

        reply("Your tea is coming.")
    """

def message_delta(request: _MessageDeltaRequest | None = None, *, text: str = ...) -> None:
    """Streams a piece of a Message that is being written. The Message itself is appended when it is whole. Limit:
    20 events a second of a Task: pieces that come faster are put together.

    Example::

        message_delta(text="Your tea")
    """

def transcript_read(request: _TranscriptReadRequest | None = None, *, call_id: str = ..., last: int = ...) -> _TranscriptReadAnswer:
    """Reads Messages of the Session, oldest first: what was appended before the Task was submitted, and what it
    appended itself. Limit: 200 Messages. A replay can give another answer under the key
    host:transcript.read:<call_id>.

    Example::

        for message in transcript_read(last=5)["messages"]:
            print(message["role"] + " has spoken")
    """

def llm_complete(request: _ModelRequest | None = None, *, call_id: str = ..., model: str = ..., system: str = ..., messages: list[_ModelMessage] = ..., tools: list[_ModelTool] = ..., tool_choice: str = ..., max_tokens: int = ..., temperature: float = ..., stop: list[str] = ..., stream: bool = ...) -> _ModelAnswer:
    """Asks a model. The answer never holds hidden reasoning. With stream set, text is told to watchers as it
    comes. A replay can give another answer under the key llm:<call_id>.

    Example::

        answer = llm_complete(system="You know teas.", messages=[{"role": "user", "text": "Name one."}], max_tokens=20)
        print("the model says: " + answer["text"])
    """

def tool_list(request: _ToolListRequest | None = None, *, call_id: str = ..., server: str = ...) -> _ToolListAnswer:
    """Lists the tools that the plugin may call. A replay can give another answer under the key
    host:tool.list:<call_id>.

    Example::

        for tool in tool_list(server="desk")["tools"]:
            print("there is a tool " + tool["name"])
    """

def tool_call(request: _ToolCallRequest | None = None, *, call_id: str = ..., server: str = ..., name: str = ..., arguments: Any = ..., composition_id: str = ...) -> _ToolCallAnswer:
    """Calls a tool. It is a read when the tool says that it is read-only, else a write: then the intent is on disk
    before the tool is called, and after a crash a tool that is not idempotent is not called again. A replay can
    give another answer under the key mcp:<server>:<call_id>.

    Example::

        answer = tool_call(server="desk", name="look", arguments={"where": "harbour"})
        print("the tool says: " + answer["content"][0]["text"])
    """

def resource_list(request: _ResourceListRequest | None = None, *, call_id: str = ..., server: str = ..., kind: _ResourceKind = ...) -> _ResourceListAnswer:
    """Lists the resources, the templates of resources, or the prompts of a server of tools. A server that has none
    lists none. Limit: 1,000 entries, 1 MiB. A replay can give another answer under the key
    mcp:<server>:resource.list:<call_id>.

    Example::

        for resource in resource_list(server="desk", kind="resource")["resources"]:
            print("there is " + resource["uri"])
    """

def resource_read(request: _ResourceReadRequest | None = None, *, call_id: str = ..., server: str = ..., uri: str = ...) -> _ResourceReadAnswer:
    """Reads a resource of a server of tools. It counts as a call of a tool. Limit: what the server's `answer`
    says, 4 MiB unless it is set. A replay can give another answer under the key
    mcp:<server>:resource.read:<call_id>.

    Example::

        note = resource_read(server="desk", uri="notes://teas")
        print("the note says: " + note["contents"][0]["text"])
    """

def prompt_get(request: _PromptGetRequest | None = None, *, call_id: str = ..., server: str = ..., name: str = ..., arguments: dict[str, str] = ...) -> _PromptGetAnswer:
    """Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a tool. Limit: what the
    server's `answer` says, 4 MiB unless it is set. A replay can give another answer under the key
    mcp:<server>:prompt.get:<call_id>.

    Example::

        prompt = prompt_get(server="desk", name="greet", arguments={"name": "Ada"})
        print("the prompt says: " + prompt["messages"][0]["content"]["text"])
    """

def http_fetch(request: _HTTPFetchRequest | None = None, *, call_id: str = ..., method: str = ..., url: str = ..., header: dict[str, str] = ..., text: str = ..., body: str = ..., purpose: str = ..., idempotency_header: str = ..., timeout_ms: int = ...) -> _HTTPFetchAnswer:
    """Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the rest are writes.
    Secrets are put in by the host. A replay can give another answer under the key host:http.fetch:<call_id>.

    Example::

        shop = config_get(name="shop")["value"]  # where it is, by the node's configuration
        # The handle stands for the key. The host puts the key in its place.
        key = secret_use(name="shop-key")["handle"]
        answer = http_fetch(
            method="POST", url=shop + "/orders", header={"Authorization": "Bearer " + key, "Content-Type": "application/json"},
            text='{"tea":"green"}', purpose="to order tea", idempotency_header="Idempotency-Key", timeout_ms=30000)
        print("the shop says: " + answer["text"])
    """

def secret_use(request: _SecretUseRequest | None = None, *, name: str = ...) -> _SecretUseAnswer:
    """Asks for a handle of a secret that the plugin is allowed. The value is never told: the host puts it where
    the handle stands in an outgoing request. A replay can give another answer under the key secret:<name>.

    Example::

        shop = config_get(name="shop")["value"]  # where it is, by the node's configuration
        # The handle stands for the key. The host puts the key in its place.
        key = secret_use(name="shop-key")["handle"]
        answer = http_fetch(
            method="POST", url=shop + "/orders", header={"Authorization": "Bearer " + key, "Content-Type": "application/json"},
            text='{"tea":"green"}', purpose="to order tea", idempotency_header="Idempotency-Key", timeout_ms=30000)
        print("the shop says: " + answer["text"])
    """

def memory_query(request: _MemoryQueryRequest | None = None, *, call_id: str = ..., scope: _MemoryScope = ..., text: str = ..., limit: int = ...) -> _MemoryQueryAnswer:
    """Finds Memories that the Task may read and that have every word of the query, newest first. Words are whole;
    `word*` stands for all that begin so. A query has at most 32. Expired and redacted Memories are left out.
    Limit: 100 Memories. A replay can give another answer under the key host:memory.query:<call_id>.

    Example::

        for memory in memory_query(scope="session", text="tea", limit=3)["memories"]:
            print("I remember: " + memory["content"])
    """

def memory_write(request: _MemoryWriteRequest | None = None, *, scope: _MemoryScope = ..., content: Any = ..., expires_in_seconds: float = ..., visibility: _Visibility = ..., confidence: float = ..., metadata: Any = ...) -> _MemoryWriteAnswer:
    """Keeps a Memory for later Tasks. Its provenance names the Task.

    Example::

        memory_write(scope="session", content="Ada likes green tea", confidence=0.75)
    """

def block_list(request: _BlockListRequest | None = None, *, call_id: str = ...) -> _BlockListAnswer:
    """Reads the blocks of memory of the Task's agent as they are now, whoever has changed them. A Persona that is
    no agent of a Workspace is answered with `not_found` and the code `no_blocks`. A replay can give another
    answer under the key host:block.list:<call_id>.

    Example::

        for block in block_list()["blocks"]:
            print(block["label"] + ": " + block["value"])
    """

def block_write(request: _BlockWriteRequest | None = None, *, label: str = ..., value: str = ..., append: bool = ..., version: int = ...) -> _BlockWriteAnswer:
    """Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent have it, too. It
    happens once. A block that is read-only is answered with `denied` and the code `block_read_only`, and a
    Persona that is no agent of a Workspace with `not_found` and `no_blocks`. Limit: 64 blocks of 100,000
    characters, 400,000 characters together.

    Example::

        block_write(label="customer", value="Ada, who likes green tea.")
    """

def artifact_put(request: _ArtifactPutRequest, content: bytes | str) -> _ArtifactPutAnswer:
    """Stores an Artifact of this Task. It becomes visible with the next call that reaches outside the Task, at the
    latest when the Task ends.

    Example::

        artifact = artifact_put({"kind": "dataset", "mime_type": "text/csv", "name": "orders.csv"}, b"tea,10\\n")
        first = artifact_get(artifact_id=artifact["artifact_id"], length=3)
        print("it begins with " + str(first, "utf-8"))
    """

def artifact_get(request: _ArtifactGetRequest | None = None, *, call_id: str = ..., artifact_id: str = ..., offset: int = ..., length: int = ...) -> bytes:
    """Reads a range of an Artifact's content that the Task's tenant and Workspace may see. A replay can give
    another answer under the key host:artifact.get:<call_id>.

    Example::

        artifact = artifact_put({"kind": "dataset", "mime_type": "text/csv", "name": "orders.csv"}, b"tea,10\\n")
        first = artifact_get(artifact_id=artifact["artifact_id"], length=3)
        print("it begins with " + str(first, "utf-8"))
    """

def file_read(request: _FileReadRequest | None = None, *, call_id: str = ..., path: str = ..., offset: int = ..., length: int = ...) -> _FileReadAnswer:
    """Reads a file of the Task's Workspace, or a range of it. Limit: 8 MiB of a file at once, and half of what one
    call may pass. A replay can give another answer under the key host:file.read:<call_id>.

    Example::

        print("the file says: " + file_read(path="orders/today.md")["text"])
    """

def file_write(request: _FileWriteRequest | None = None, *, path: str = ..., text: str = ..., body: str = ..., mode: _FileMode = ..., sha256: str = ...) -> _FileWriteAnswer:
    """Writes a file of the Task's Workspace, whole or not at all. It happens once, also when the node dies
    meanwhile. Limit: files of 8 MiB, 1 GiB in a Workspace.

    Example::

        file_write(path="orders/today.md", text="green tea, ten times")
    """

def file_edit(request: _FileEditRequest | None = None, *, path: str = ..., old: str = ..., new: str = ..., all: bool = ..., sha256: str = ...) -> _FileEditAnswer:
    """Replaces a text within a file of the Task's Workspace, by one change that happens once. A text that is not
    there, or more than once without `all`, is answered with `invalid` and the code conflict. Limit: files of 8
    MiB, before and after.

    Example::

        file_edit(path="orders/today.md", old="green tea", new="black tea")
    """

def file_list(request: _FileListRequest | None = None, *, call_id: str = ..., path: str = ..., recursive: bool = ..., after: str = ..., limit: int = ...) -> _FileListAnswer:
    """Lists a folder of the Task's Workspace, or all files below it, in the order of their paths' names. Limit:
    1,000 entries. A replay can give another answer under the key host:file.list:<call_id>.

    Example::

        for file in file_list(path="orders", recursive=True, limit=10)["entries"]:
            print("there is a file " + file["path"])
    """

def file_remove(request: _FileRemoveRequest | None = None, *, path: str = ..., sha256: str = ..., recursive: bool = ...) -> _FileRemoveAnswer:
    """Removes a file of the Task's Workspace, or a folder: one that is not empty only with `recursive`. A folder
    goes with its last file, unless somebody has made it by itself. Limit: 1,000 files and folders in a folder.

    Example::

        file_remove(path="orders/today.md")
    """

def file_search(request: _FileSearchRequest | None = None, *, call_id: str = ..., path: str = ..., glob: str = ..., text: str = ..., pattern: str = ..., ignore_case: bool = ..., after: str = ..., limit: int = ...) -> _FileSearchAnswer:
    """Finds lines, or only names, in the files of the Task's Workspace. Content that is no text is left out, and
    so are files of more than 8 MiB. A search that takes more than 10 seconds goes on with `next`, too. Limit:
    1,000 matches, 32 MiB of content and 20,000 files at once. A replay can give another answer under the key
    host:file.search:<call_id>.

    Example::

        for match in file_search(glob="*.md", text="TEA", ignore_case=True, limit=10)["matches"]:
            print(match["path"] + ": " + match["text"])
    """

def skill_read(request: _SkillReadRequest | None = None, *, call_id: str = ..., skill: str = ..., path: str = ...) -> _SkillReadAnswer:
    """Reads a file of a skill that the Task has, as it was when the Task started, or the instructions of one that
    a client of its Session has. A file that is no text is not read. Limit: half of what one call may pass. A
    replay can give another answer under the key host:skill.read:<call_id>.

    Example::

        print("the skill says: " + skill_read(skill="brewing", path="times.md")["text"])
    """

def skill_match(request: _SkillMatchRequest | None = None, *, call_id: str = ..., prompt: str = ..., working_files: list[str] = ..., candidates: list[_SkillCandidate] = ..., strategy: str = ...) -> _SkillMatchAnswer:
    """Ranks skills by how well they fit a prompt and the files that are worked on: the node does, or a client of
    the Session when it is asked for and there is one. Without candidates it also lists the skills that the Task
    can read. Limit: 1,000 candidates. A replay can give another answer under the key
    host:skill.match:<call_id>.

    Example::

        ranked = skill_match(prompt="How long does tea take?", working_files=["orders/today.md"])
        for match in ranked["matches"]:
            print("the skill " + match["name"] + " fits")
    """

def composition_begin(request: _CompositionBeginRequest | None = None, *, name: str = ..., language: str = ..., snippet_hash: str = ..., manifest_hash: str = ..., side_effect_ceiling: _SideEffectLevel = ...) -> _CompositionBeginAnswer:
    """Begins a composition: the run of a snippet whose effects are tool calls. Until it ends, every call is held
    to its ceiling, and every tool call is told as a child of it. While one is open, another is refused with
    `invalid` and the code `composition_open`; a call beyond the ceiling is refused with `denied` and
    `composition_ceiling`. Limit: one at a time.

    Example::

        begun = composition_begin(
            name="what time it is", language="javascript",
            snippet_hash="2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            manifest_hash="fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling="read_only")
        tool_call(server="host", name="time_now", composition_id=begun["composition_id"])
        composition_end(composition_id=begun["composition_id"], stdout="tea time")
    """

def composition_end(request: _CompositionEndRequest | None = None, *, composition_id: str = ..., stdout: str = ..., stderr: str = ..., artifacts: list[str] = ..., result: Any = ..., failure_category: _CompositionFailure = ..., message: str = ...) -> None:
    """Ends the composition that is open, with what came of it. One that is not open is answered with `not_found`
    and the code `unknown_composition`. When the Task ends before, the host ends it with an error. Limit: 256
    KiB, 100 Artifacts.

    Example::

        begun = composition_begin(
            name="what time it is", language="javascript",
            snippet_hash="2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            manifest_hash="fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling="read_only")
        tool_call(server="host", name="time_now", composition_id=begun["composition_id"])
        composition_end(composition_id=begun["composition_id"], stdout="tea time")
    """

def state_get(request: _StateGetRequest | None = None, *, call_id: str = ..., key: str = ...) -> _StateGetAnswer:
    """Reads a value that this Session's Tasks have kept. A replay can give another answer under the key
    host:state.get:<call_id>.

    Example::

        orders = state_get(key="orders")["value"] or 0  # None when nothing is kept
        state_set(key="orders", value=orders + 1)
    """

def state_set(request: _StateSetRequest | None = None, *, key: str = ..., value: Any = ...) -> None:
    """Keeps a value for this Session's Tasks; null removes it. When the call returns, the value is on disk. Limit:
    keys of 1 to 128 characters A-Z a-z 0-9 _ - ..

    Example::

        orders = state_get(key="orders")["value"] or 0  # None when nothing is kept
        state_set(key="orders", value=orders + 1)
    """

def sleep(request: _SleepRequest | None = None, *, ms: int = ...) -> None:
    """Waits. The Task is parked meanwhile, also over a restart of the node.

    Example::

        sleep(ms=100)
    """

def input_request(request: _InputRequestRequest | None = None, *, call_id: str = ..., prompt: str = ..., schema: Any = ..., requests: list[_Question] = ..., timeout_seconds: float = ...) -> _InputRequestAnswer:
    """Asks the user for input, or several questions at once: inputs, authorizations, approvals, samplings and
    roots. The Task is INPUT_REQUIRED until the answer comes. A replay can give another answer under the key
    host:input.request:<call_id>.

    Example::

        answer = input_request(prompt="Which tea?", schema={"type": "object", "required": ["tea"]}, timeout_seconds=3600)
        print(answer["actor"] + " has answered")
    """

def auth_request(request: _AuthRequestRequest | None = None, *, call_id: str = ..., provider: str = ..., prompt: str = ..., url: str = ..., timeout_seconds: float = ...) -> _InputRequestAnswer:
    """Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered. Credentials do not
    belong into the answer: the plugin and the record see it. A replay can give another answer under the key
    host:auth.request:<call_id>.

    Example::

        answer = auth_request(provider="calendar", prompt="May I see when you are at home?",
                              url="https://calendar.example.com/authorize", timeout_seconds=3600)
        print(answer["actor"] + " has authorized it")
    """

def approval_request(request: _ApprovalRequestRequest | None = None, *, call_id: str = ..., action: str = ..., prompt: str = ..., arguments: Any = ..., timeout_seconds: float = ..., quorum: int = ..., approvers: list[str] = ...) -> _ApprovalAnswer:
    """Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided. The receipt names who
    decided. A replay can give another answer under the key host:approval.request:<call_id>.

    Example::

        approval = approval_request(action="order.place", prompt="Order ten teas?", arguments={"count": 10}, timeout_seconds=3600)
        if approval["decision"] != "approved":
            raise Failure("no_order", "nobody wants tea")
    """

def task_spawn(request: _TaskSpawnRequest | None = None, *, persona_id: str = ..., input: Any = ..., metadata: Any = ..., deadline_seconds: float = ...) -> _TaskSpawnAnswer:
    """Submits a child Task in the same Session. A crash does not submit it twice. Limit: 1,000 children of a Task,
    8 generations.

    Example::

        child = task_spawn(persona_id="persona_echo", input={"text": "Boil water."})
        outcome = task_await(task_id=child["task_id"], timeout_seconds=60)
        print("the child says: " + outcome["summary"])
    """

def task_await(request: _TaskAwaitRequest | None = None, *, call_id: str = ..., task_id: str = ..., timeout_seconds: float = ...) -> _TaskAwaitAnswer:
    """Waits for a child Task to end. A replay can give another answer under the key host:task.await:<call_id>.

    Example::

        child = task_spawn(persona_id="persona_echo", input={"text": "Boil water."})
        outcome = task_await(task_id=child["task_id"], timeout_seconds=60)
        print("the child says: " + outcome["summary"])
    """

def handoff(request: _HandoffRequest | None = None, *, persona_id: str = ..., input: Any = ..., reason: str = ...) -> _TaskSpawnAnswer:
    """Hands work to another Persona: a child Task that the receipt names as a handoff.

    Example::

        successor = handoff(persona_id="persona_echo", input={"text": "Serve the tea."}, reason="it has the cups")
        print(successor["task_id"] + " goes on")
    """

def agent_delegate(request: _AgentDelegateRequest | None = None, *, call_id: str = ..., agent: str = ..., task: str = ..., expected_scope: Any = ..., context: Any = ..., budget: _DelegationBudget = ..., idempotency_key: str = ..., checkpoint: _DelegationCheckpoint = ...) -> _AgentDelegateAnswer:
    """Has an agent outside do paid work, in the order that docs/delegation.md tells: its card proves that it keeps
    to a budget, its plan is approved, and then it is dispatched, once. The Task is INPUT_REQUIRED until that is
    decided. Work that was done before by the same key is not dispatched again. It counts as a call of a tool.
    Limit: 1 MiB of a request, and what the agent's `answer` says, 4 MiB unless it is set. A replay can give
    another answer under the key host:agent.delegate:<call_id>.

    Example::

        work = agent_delegate(agent="coder", task="Mend the kettle's firmware", budget={"usd": 2, "seconds": 60}, checkpoint={"approved": True})
        print("the work is " + work["status"])
    """

def event_emit(request: _EventEmitRequest | None = None, *, kind: str = ..., payload: Any = ...) -> None:
    """Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS name. "vendor.wharf."
    is the host's.

    Example::

        event_emit(kind="vendor.shop.ordered", payload={"count": 10})
    """

def config_get(request: _ConfigGetRequest | None = None, *, name: str = ...) -> _ConfigGetAnswer:
    """Reads what the operator has configured for this plugin. A replay can give another answer under the key
    host:config.get:<name>.

    Example::

        currency = config_get(name="currency")["value"]
        if currency:
            print("prices are in " + currency)
    """

def host_fact(request: _HostFactRequest | None = None, *, name: str = ...) -> _HostFactAnswer:
    """Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace, session, task,
    deadline; and of the client that submitted the Task: client.protocol, client.name, client.version, and
    client.capabilities, with commas between them. Each is empty where it is not known. A replay can give
    another answer under the key host:host.fact:<name>.

    Example::

        print("the host speaks " + host_fact(name="abi.version")["value"])
    """

def connector_deliveries() -> _DeliveriesAnswer:
    """The deliveries that a Connector's plugin is to normalize, and the Connector. In a Task there are none:
    `not_found`.

    Example::

        results = []
        for delivery in connector_deliveries()["deliveries"]:
            message = {"role": "user", "parts": [{"type": "text", "text": delivery["text"], "visibility": "public"}]}
            results.append({"id": delivery["id"], "tasks": [{"input": message, "thread": "orders"}],
                            "events": [{"kind": "vendor.shop.order", "payload": {"count": 2}}]})
        connector_normalized(results=results)
    """

def connector_normalized(request: _NormalizedRequest | None = None, *, results: list[_NormalizedDelivery] = ...) -> None:
    """What the deliveries mean: Tasks, Messages, events, nothing, or a failure. Called once, outside of Tasks.

    Example::

        results = []
        for delivery in connector_deliveries()["deliveries"]:
            message = {"role": "user", "parts": [{"type": "text", "text": delivery["text"], "visibility": "public"}]}
            results.append({"id": delivery["id"], "tasks": [{"input": message, "thread": "orders"}],
                            "events": [{"kind": "vendor.shop.order", "payload": {"count": 2}}]})
        connector_normalized(results=results)
    """

def connector_deliver(request: _DeliverRequest | None = None, *, deliveries: list[_PolledDelivery] = ...) -> _DeliverAnswer:
    """Hands what a poll has found to the Task's Connector, which takes it as if it had been sent. What was found
    before is left out. Limit: 1,000 deliveries.

    Example::

        connector_deliver(deliveries=[{"id": "order-1", "header": {"content-type": "text/plain"}, "text": "two green teas"}])
    """
