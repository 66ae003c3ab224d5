// What the driver in TypeScript does when it is told to, in Node and in browsers.

/** Returns what does a command. It is given the client's module, and what prints a line, opens a file and makes WebSockets here. */
export function driver(client, { print, file, WebSocket }) {
  const { Wharf, WharfError, ReceiptError, say, verifyReceipt, operations } = client;

  const told = (error) => ({
    text: String(error),
    receipt: error instanceof ReceiptError,
    ...(error instanceof WharfError && {
      status: error.status, code: error.code, message: error.reason, advice: error.advice, request_id: error.requestId,
      retry_after: error.retryAfter / 1000, param: error.param,
    }),
  });

  const gone = (answer) => answer.then(() => false, (error) => error.code === "resource_not_found");

  const commands = {
    async session(wharf, c, options) {
      const spaces = await wharf.workspaces.list();
      return (await wharf.sessions.create({ workspace_id: spaces.data[0].id }, options)).id;
    },
    async submit(wharf, c, options) {
      return (await wharf.sessions.submit(c.session, { persona_id: c.persona, input: say(c.text) }, options)).id;
    },
    async append(wharf, c, options) {
      return (await wharf.sessions.append(c.session, { message: say(c.text) }, options)).id;
    },
    async messages(wharf, c) {
      const texts = [];
      for (let cursor; cursor !== null; ) {
        const page = await wharf.sessions.messages(c.session, { limit: 1, cursor });
        texts.push(...page.data.map((m) => m.parts[0].text));
        cursor = page.page.next_cursor;
      }
      return texts;
    },
    wait: async (wharf, c) => (await wharf.tasks.wait(c.task, { orAsked: c.orAsked })).status,
    outcome: async (wharf, c) => (await wharf.tasks.outcome(c.task)).summary,
    async stream(wharf, c) {
      for await (const e of c.task ? wharf.tasks.stream(c.task) : wharf.sessions.stream(c.session)) {
        print({ event: e.id, about: e.resource.id });
        if (e.resource.id === c.until) break;
      }
      return null;
    },
    async upload(wharf, c, options) {
      const artifact = await wharf.artifacts.upload(c.text, { name: "tide.txt", session_id: c.session }, options);
      return new TextDecoder().decode(await wharf.artifacts.content(artifact.id));
    },
    async receipt(wharf, c) {
      const task = await wharf.tasks.get(c.task);
      return (await wharf.receipts.verify(task.receipt_id, (await wharf.node.keys()).keys)).subject;
    },
    verify: async (wharf, c) => (await verifyReceipt(Uint8Array.from(atob(c.wire), (b) => b.charCodeAt(0)), c.keys)).hash,
    "create key": async (wharf, c) => (await wharf.call(operations.createKey, { body: { name: c.text, scopes: ["tasks:read"] } })).id,
    "get task": async (wharf, c) => (await wharf.tasks.get(c.task)).status,
    install: async (wharf, c, options) => (await wharf.plugins.install(c.text, await file(c.module), {}, options)).digest,
    async plugins(wharf, c) {
      const packed = await wharf.plugins.installPackage(c.text, await file(c.package));
      const { text } = await wharf.plugins.manifest(c.text);
      const second = await wharf.plugins.install(c.text, new Uint8Array(await (await file(c.module)).arrayBuffer()), { version: "second" });
      const before = await wharf.plugins.rollback(c.text, {});
      const disabled = await wharf.plugins.disable(c.text);
      const enabled = await wharf.plugins.enable(c.text);
      await wharf.plugins.remove(c.text, { force: "true" }); // a Persona names it
      return [packed.version, packed.persona_id, text.includes("tide"), second.version, second.versions.length, before.version,
        disabled.status, enabled.status, await gone(wharf.plugins.get(c.text))];
    },
    async connectors(wharf, c) {
      const made = await wharf.connectors.create({
        provider: "generic", target_persona_id: c.persona, target_session_id: c.session, settings: { task: { text: "{$.say}" } } });
      const headers = { "Content-Type": "application/json", "webhook-id": "msg_1" };
      const seen = [];
      for (let i = 0; i < 2; i++) seen.push((await wharf.connectors.deliver(made.id, '{"say":"spring tide"}', { headers })).status);
      for await (const e of wharf.sessions.stream(c.session)) if (e.event === "task.completed") break;
      seen.push((await wharf.connectors.deadLetters(made.id)).data.length);
      await wharf.connectors.delete(made.id);
      return seen;
    },
    async vaults(wharf) {
      const { id } = await wharf.vaults.create({ provider: "local", capabilities: ["read", "write"] });
      await wharf.vaults.store(id, "crm", { value: "s3cret", hosts: ["crm.example.com"] });
      const [secret] = (await wharf.vaults.secrets(id)).data;
      await wharf.vaults.removeSecret(id, "crm");
      return [secret.name, secret.hosts[0], (await wharf.vaults.secrets(id)).data.length];
    },
    async files(wharf, c) {
      const [{ id }] = (await wharf.workspaces.list()).data;
      const path = `tides/${c.task}.txt`;
      await wharf.workspaces.putFile(id, c.text, { path });
      const read = new TextDecoder().decode(await wharf.workspaces.file(id, { path }));
      await wharf.workspaces.deleteFile(id, { path });
      const bundle = new TextDecoder("latin1").decode(await wharf.tasks.bundle(c.task));
      return [read, await gone(wharf.workspaces.file(id, { path })), bundle.slice(0, 2)];
    },
    async crowd(wharf, c) {
      const opened = [];
      const followers = Array.from({ length: 50 }, async () => {
        let open;
        opened.push(new Promise((resolve) => (open = resolve)));
        for await (const e of wharf.sessions.stream(c.session)) {
          open();
          if (e.event === "user.message") return 1;
        }
        return 0;
      });
      await Promise.all(opened);
      await wharf.sessions.append(c.session, { message: say(c.text) });
      return (await Promise.all(followers)).reduce((a, b) => a + b);
    },
    async socket(wharf, c) {
      const socket = await wharf.sessions.connect(c.session);
      const id = socket.send("message", { message: say(c.text) });
      let acked, event;
      for await (const frame of socket) {
        if (frame.type === "error") throw new Error(JSON.stringify(frame));
        if (frame.type === "ack" && frame.id === id) acked = frame.resource.id;
        if (frame.type === "event") event = frame.event.resource.id;
        if (acked && event) break;
      }
      socket.close();
      return [acked, event];
    },
  };

  return async (c) => {
    const wharf = new Wharf({ url: c.url ?? "", key: c.key, WebSocket });
    try {
      print({ done: await commands[c.do](wharf, c, c.idempotencyKey ? { idempotencyKey: c.idempotencyKey } : {}) });
    } catch (error) {
      print({ error: told(error) });
    }
  };
}
