import { CutError } from "./errors.js";

export interface ServerSentEvent {
  id: string;
  name: string;
  data: string;
}

/** Reads server-sent events. A frame counts when the empty line after it is there; the end of the bytes is a CutError. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  let id = "";
  let name = "";
  let data: string[] = [];
  for await (const line of lines(body)) {
    const [field, value] = split(line);
    if (field === "id") id = value;
    else if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (line === "" && data.length > 0) {
      yield { id, name, data: data.join("\n") };
      name = "";
      data = [];
    }
  }
  throw new CutError("the stream was cut");
}

function split(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const utf8 = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((reason: unknown) => {
        throw new CutError("the stream was cut", { cause: reason });
      });
      if (done) return;
      const parts = (rest + utf8.decode(value, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield part.replace(/\r$/, "");
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it may be at its end
  }
}
