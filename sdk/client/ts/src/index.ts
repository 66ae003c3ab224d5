// A client of Wharf nodes. It needs fetch, WebSocket for Sessions.connect, and WebCrypto for receipts.
import * as api from "./generated.js";
import { CutError, WharfError, errorOf, isTransient } from "./errors.js";
import { frames } from "./sse.js";
import { type VerifiedReceipt, verifyReceipt } from "./receipt.js";
import { Socket, type WebSocketConstructor } from "./socket.js";

export * from "./generated.js";
export { WharfError, CutError } from "./errors.js";
export { ReceiptError, verifyReceipt, type VerifiedReceipt } from "./receipt.js";
export { Socket, SocketClosed, type Frame, type WebSocketConstructor } from "./socket.js";

/** The version of the protocol that this client speaks. */
export const protocolVersion = "agents-protocol-2026-04-25";

export interface WharfOptions {
  /** Of the node, such as http://127.0.0.1:8080. */
  url: string;
  /** An API key or access token. */
  key?: string;
  /** Sends the requests; the global fetch without it. */
  fetch?: typeof fetch;
  /** Opens WebSockets; the global WebSocket without it, which Node has from 22 on. */
  WebSocket?: WebSocketConstructor;
  /** How often a request is sent again at most: 4 without it. */
  retries?: number;
  /** How many milliseconds the client waits at most before it sends a request again; a node that asks for more has its error thrown. So long a stream tries to reach a node that is not there. A minute without it. */
  maxWait?: number;
}

/** A part of a Message that is text. */
export const text = (text: string): api.PartInput => ({ type: "text", text });

/** A Message of a user. */
export const say = (words: string): api.MessageInput => ({ role: "user", parts: [text(words)] });

/** Whether a Task has ended, well or not. */
export const ended = (task: api.Task): boolean => ["COMPLETED", "FAILED", "CANCELED"].includes(task.status);

/** Whether a Task waits for somebody's answer: see tasks.permissions. */
export const needsAnswer = (task: api.Task): boolean => ["INPUT_REQUIRED", "AUTH_REQUIRED"].includes(task.status);

export interface StreamOptions {
  /** The id of the event after which the stream begins; it begins at the beginning without it. */
  after?: string;
  signal?: AbortSignal;
}

/** A client of one node. */
export class Wharf implements api.Caller {
  readonly workspaces = new api.WorkspacesResource(this);
  readonly personas = new api.PersonasResource(this);
  readonly sessions: Sessions = new Sessions(this);
  readonly tasks: Tasks = new Tasks(this);
  readonly messages = new api.MessagesResource(this);
  readonly outcomes = new api.OutcomesResource(this);
  readonly artifacts = new api.ArtifactsResource(this);
  readonly permissions: Permissions = new Permissions(this);
  readonly receipts: Receipts = new Receipts(this);
  readonly events: Events = new Events(this);
  readonly branches = new api.BranchesResource(this);
  readonly memories = new api.MemoriesResource(this);
  readonly connectors = new api.ConnectorsResource(this);
  readonly webhooks = new api.WebhooksResource(this);
  readonly plugins = new api.PluginsResource(this);
  readonly skills = new api.SkillsResource(this);
  readonly skillBundles = new api.SkillBundlesResource(this);
  readonly toolServers = new api.ToolServersResource(this);
  readonly vaults = new api.VaultsResource(this);
  readonly keys = new api.KeysResource(this);
  readonly quotas = new api.QuotasResource(this);
  readonly holds = new api.HoldsResource(this);
  readonly node = new api.NodeResource(this);

  readonly options: Required<Omit<WharfOptions, "WebSocket">> & Pick<WharfOptions, "WebSocket">;

  constructor(options: WharfOptions) {
    this.options = {
      key: "", retries: 4, maxWait: 60_000, ...options,
      url: options.url.replace(/\/+$/, ""), fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    };
  }

  /** Sends the request of any operation: call(operations.listQuotas, {}). */
  async call<T>(operation: api.Operation, asked: api.Asked, options: api.CallOptions = {}): Promise<T> {
    const headers: Record<string, string> = {};
    let body: string | undefined;
    if (asked.body !== undefined) {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(asked.body);
    }
    const answer = await this.send(operation, asked, body, { ...options, headers: { ...headers, ...options.headers } });
    const said = await answer.text();
    return (said === "" ? undefined : JSON.parse(said)) as T;
  }

  /** Sends bytes, of a media type. */
  async upload<T>(operation: api.Operation, asked: api.Asked, content: api.Content, media: string, options: api.CallOptions = {}): Promise<T> {
    const answer = await this.send(operation, asked, content, { ...options, headers: { "Content-Type": media, ...options.headers } });
    return (await answer.json()) as T;
  }

  /** Sends the request of an operation, and returns the bytes that it is answered with. */
  async download(operation: api.Operation, asked: api.Asked, options: api.CallOptions = {}): Promise<Uint8Array> {
    const answer = await this.send(operation, asked, undefined, options);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Sends a request until it is answered with success, or for good without. */
  async send(operation: api.Operation, asked: api.Asked, body: BodyInit | undefined, options: api.CallOptions): Promise<Response> {
    const target = this.target(operation.path, asked);
    const headers: Record<string, string> = { ...options.headers };
    if (operation.keyed) headers["Idempotency-Key"] = options.idempotencyKey ?? newKey();
    const repeatable = operation.keyed || operation.method === "GET";
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(operation.method, target, body, headers, options.signal);
      } catch (error) {
        const wait = attempt < this.options.retries && !options.signal?.aborted ? this.waitBefore(error, attempt, repeatable) : undefined;
        if (wait === undefined) throw error;
        await pause(wait, options.signal);
      }
    }
  }

  /** The URL of a request. */
  target(path: string, asked: api.Asked): string {
    const ids = [...(asked.path ?? [])];
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
      const id = ids.shift();
      if (!id || id === "." || id === "..") throw new TypeError(`${JSON.stringify(id)} cannot be the ${name} in ${path}`);
      return encodeURIComponent(id);
    });
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(asked.query ?? {})) {
      if (value !== undefined && value !== null) query.set(name, String(value));
    }
    return this.options.url + filled + (query.size ? `?${query}` : "");
  }

  /** Sends a request, once. An answer of 400 and above is thrown as a WharfError. */
  async once(method: string, target: string, body: BodyInit | undefined, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    const sent: Record<string, string> = { ...headers, "Harn-Agents-Protocol-Version": protocolVersion };
    if (this.options.key) sent["Authorization"] = `Bearer ${this.options.key}`;
    const answer = await this.options.fetch(target, { method, headers: sent, body: body ?? null, signal: signal ?? null });
    if (answer.status >= 400) throw await errorOf(answer);
    return answer;
  }

  /** How long to wait before a request is sent again; undefined when it is not. */
  private waitBefore(error: unknown, attempt: number, repeatable: boolean): number | undefined {
    if (!(error instanceof WharfError)) return repeatable ? backoff(attempt) : undefined;
    const again = error.status === 429 || (repeatable && [502, 503, 504].includes(error.status));
    if (!again || error.retryAfter > this.options.maxWait) return undefined;
    return error.retryAfter > 0 ? error.retryAfter + Math.random() * 250 : Math.min(backoff(attempt), this.options.maxWait);
  }

  /**
   * Follows the events of a streaming operation. When the connection is cut or the node restarts, it connects again and goes on: no event comes
   * twice, and none is lost. It ends when the stream does, which that of a Task does, and throws what coming back does not help against.
   */
  async *stream(operation: api.Operation, asked: api.Asked, options: StreamOptions = {}): AsyncGenerator<api.Event, void, undefined> {
    let after = options.after ?? "";
    let reached = Date.now();
    for (let failed = 0; ; failed++) {
      try {
        const connection = await this.connection(operation, asked, after, options.signal);
        if (!connection) return;
        for await (const event of connection) {
          failed = 0;
          after = event.id;
          yield event;
          reached = Date.now();
        }
      } catch (error) {
        if (error instanceof CutError) reached = Date.now();
        if (options.signal?.aborted) throw options.signal.reason;
        if (Date.now() - reached > this.options.maxWait || !isTransient(error)) throw error;
        await pause(Math.max(backoff(failed), error instanceof WharfError ? error.retryAfter : 0), options.signal);
      }
    }
  }

  /** The events of one connection of a stream, which throw in the end; undefined when the node has no more. */
  private async connection(operation: api.Operation, asked: api.Asked, after: string, signal?: AbortSignal): Promise<AsyncIterable<api.Event> | undefined> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (after) headers["Last-Event-ID"] = after;
    const answer = await this.once("GET", this.target(operation.path, asked), undefined, headers, signal);
    return answer.status === 204 || !answer.body ? undefined : events(answer.body);
  }
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<api.Event, void, undefined> {
  for await (const frame of frames(body)) {
    if (frame.name === "error") throw errorOf.text(frame.data);
    yield JSON.parse(frame.data) as api.Event;
  }
}

export class Sessions extends api.SessionsResource {
  constructor(private readonly wharf: Wharf) {
    super(wharf);
  }

  /** Follows the events of a Session. */
  stream(sessionId: string, options: StreamOptions = {}): AsyncGenerator<api.Event, void, undefined> {
    return this.wharf.stream(api.operations.streamSessionEvents, { path: [sessionId] }, options);
  }

  /** Opens a WebSocket to a Session. Its events come after the one that `after` names, or from now on. */
  connect(sessionId: string, options: StreamOptions = {}): Promise<Socket> {
    const query = options.after ? { after_event_id: options.after } : {};
    const target = this.wharf.target(api.operations.connectSession.path, { path: [sessionId], query });
    return Socket.open(target, this.wharf.options.key, this.wharf.options.WebSocket, options.signal);
  }
}

export class Tasks extends api.TasksResource {
  constructor(private readonly wharf: Wharf) {
    super(wharf);
  }

  /** Follows the events of a Task, and ends with it. */
  stream(taskId: string, options: StreamOptions = {}): AsyncGenerator<api.Event, void, undefined> {
    return this.wharf.stream(api.operations.streamTaskEvents, { path: [taskId] }, options);
  }

  /** Returns a Task when it has ended, well or not, over restarts of the node; with `orAsked` also when it waits for an answer. */
  async wait(taskId: string, options: { orAsked?: boolean; signal?: AbortSignal } = {}): Promise<api.Task> {
    for await (const event of this.stream(taskId, options)) {
      if (!options.orAsked || !["task.input_required", "task.auth_required"].includes(event.event)) continue;
      const task = await this.get(taskId); // it may have been answered since
      if (needsAnswer(task)) return task;
    }
    return this.get(taskId);
  }

  /** What a Task that has ended resulted in, with its Messages and Artifacts. */
  async outcome(taskId: string): Promise<api.Outcome> {
    const task = await this.get(taskId);
    if (!task.outcome_id) throw new Error(`the Task ${taskId} is ${task.status}, and has no Outcome yet`);
    return this.wharf.outcomes.get(task.outcome_id);
  }
}

export class Permissions extends api.PermissionsResource {
  /** Lets a Task do what it has asked for. */
  approve(requestId: string, options: api.CallOptions = {}): Promise<api.PermissionRequest> {
    return this.respond(requestId, { decision: "approved" }, options);
  }

  /** Refuses what a Task has asked for. */
  deny(requestId: string, reason = "", options: api.CallOptions = {}): Promise<api.PermissionRequest> {
    return this.respond(requestId, { decision: "denied", reason }, options);
  }
}

export class Receipts extends api.ReceiptsResource {
  constructor(private readonly wharf: Wharf) {
    super(wharf);
  }

  /** The bytes of a receipt, for verifyReceipt. */
  async wire(receiptId: string): Promise<Uint8Array<ArrayBuffer>> {
    const headers = { Accept: "application/vnd.harn.receipt+json" };
    const answer = await this.wharf.send(api.operations.getReceipt, { path: [receiptId] }, undefined, { headers });
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Fetches a receipt and checks it here, with keys that the caller trusts. See verifyReceipt. */
  async verify(receiptId: string, keys: readonly api.SigningKey[]): Promise<VerifiedReceipt> {
    return verifyReceipt(await this.wire(receiptId), keys);
  }
}

export class Events extends api.EventsResource {
  constructor(private readonly wharf: Wharf) {
    super(wharf);
  }

  /** Follows all events that a query selects. */
  stream(query: api.StreamEventsQuery = {}, options: StreamOptions = {}): AsyncGenerator<api.Event, void, undefined> {
    return this.wharf.stream(api.operations.streamEvents, { query }, options);
  }
}

/** An idempotency key that nobody has used. */
const newKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is for secure pages only
  return "ts-" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
};

/** Longer each time, and never as long as other clients wait that failed at the same moment. */
const backoff = (attempt: number): number => Math.min(200 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);

const pause = (wait: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, wait);
    signal?.addEventListener("abort", aborted, { once: true });
  });
