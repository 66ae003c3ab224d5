/** What comes over a WebSocket: docs/websocket.md says which frames there are. */
export interface Frame {
  type: string;
  id?: string;
  [member: string]: unknown;
}

/** What opens WebSockets: the global one, or that of the package ws. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => {
  close(code?: number): void;
  send(text: string): void;
  addEventListener(type: string, listener: (event: never) => void): void;
};

/** Why the node has closed a socket: 1000 when a Task has ended, 1001 when it drains. Connect again after the last event's id. */
export class SocketClosed extends Error {
  override readonly name = "SocketClosed";

  constructor(readonly code: number, readonly reason: string) {
    super(`the node has closed the socket: ${code} ${reason}`);
  }
}

const writes = ["message", "task.submit", "task.cancel", "session.truncate", "input", "authorization", "approval"];

/** A WebSocket to a Session. Its frames are taken with `for await`, by one loop. */
export class Socket implements AsyncIterable<Frame> {
  private readonly waiting: Frame[] = [];
  private ended: Error | undefined;
  private wake = (): void => undefined;
  private sent = 0;

  private constructor(private readonly socket: InstanceType<WebSocketConstructor>) {
    socket.addEventListener("message", (event: { data: string }) => {
      this.waiting.push(JSON.parse(event.data) as Frame);
      this.wake();
    });
    socket.addEventListener("close", (event: { code: number; reason: string }) => {
      this.ended ??= new SocketClosed(event.code, event.reason);
      this.wake();
    });
  }

  /** Opens a socket as a browser does, whose WebSocket can set no headers. */
  static open(target: string, key: string, WebSocket: WebSocketConstructor | undefined, signal?: AbortSignal): Promise<Socket> {
    const constructor = WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
    if (!constructor) throw new TypeError("there is no WebSocket here: give one in the options, such as that of the package ws");
    return new Promise((resolve, reject) => {
      const socket = new constructor(target.replace(/^http/, "ws"), ["harn.v1", ...(key ? ["bearer." + key] : [])]);
      const opened = new Socket(socket);
      socket.addEventListener("open", () => resolve(opened));
      socket.addEventListener("error", () => reject(new Error(`no WebSocket was opened to ${target}`)));
      signal?.addEventListener("abort", () => {
        socket.close();
        reject(signal.reason);
      }, { once: true });
    });
  }

  /** Sends a command and returns the id that its ack or error will have. A write gets an idempotency_key unless it has one. */
  send(command: string, members: Record<string, unknown> = {}): string {
    const key = writes.includes(command) ? { idempotency_key: "ts-" + crypto.getRandomValues(new BigUint64Array(2)).join("-") } : {};
    const frame = { id: String(++this.sent), ...key, ...members, type: command };
    this.socket.send(JSON.stringify(frame));
    return frame.id;
  }

  /** The frames, until the socket is closed here; throws a SocketClosed when the node has closed it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Frame, void, undefined> {
    for (;;) {
      const frame = this.waiting.shift();
      if (frame) yield frame;
      else if (this.ended instanceof SocketClosed) throw this.ended;
      else if (this.ended) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  close(): void {
    this.ended ??= new Error("closed");
    this.socket.close(1000);
    this.wake();
  }
}
