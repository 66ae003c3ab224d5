import { configGet, clock, messageAppend, random, stateGet, stateSet } from "./calls";
import { content, textOf } from "./call";
import { hostInput } from "./host";
import { Json, Reader } from "./json";
import { InputAnswer, MessageInput, Part, PartType, Role, Visibility } from "./types";

/** What the plugin was started for. */
export class Task {
  /** The Task's id. */
  id: string = "";
  /** The Session's id. */
  session_id: string = "";
  /** What the Task was submitted with. */
  input: Json = Json.NULL;
  private given: Json = Json.NULL;

  /** Reads the Task. main does this. */
  static read(): Task {
    const given = new Json(textOf(content("input", hostInput(0, 0)).value)), begun = given.get("task"), task = new Task();
    task.given = given;
    task.id = begun.get("id").text;
    task.session_id = given.get("session_id").text;
    task.input = begun.get("input");
    return task;
  }

  /** Everything that the host tells of the Task: the Task as it was accepted, its Persona, its skills. */
  all(): InputAnswer { return this.given.to<InputAnswer>(); }

  /**
   * The text that the Task was given: the input itself if it is a text, its member text, or the text parts
   * of a Message, joined by empty lines; else nothing.
   */
  get text(): string {
    if (this.input.isText) return this.input.text;
    const said = this.input.get("text");
    return said.isText ? said.text : partsText(this.input.get("parts"));
  }

  /** The input as JSON: of a Message, the value of its first JSON part. */
  get value(): Json {
    const parts = this.input.get("parts").items;
    for (let i = 0; i < parts.length; i++) {
      if (parts[i].get("type").text == PartType.JSON) return parts[i].get("value");
    }
    return this.input;
  }
}

function partsText(parts: Json): string {
  const all = parts.items, texts: string[] = [];
  for (let i = 0; i < all.length; i++) {
    if (all[i].get("type").text == PartType.TEXT) texts.push(all[i].get("text").text);
  }
  return texts.join("\n\n");
}

/** A public part that is a text. */
export function textPart(text: string): Part { return { type: PartType.TEXT, text, visibility: Visibility.PUBLIC }; }

/** A public part that is a JSON value. */
export function jsonPart(value: Json): Part { return { type: PartType.JSON, value, visibility: Visibility.PUBLIC }; }

/** Appends an assistant's Message of one text, and returns its id. */
export function reply(text: string): string {
  return messageAppend({ role: Role.ASSISTANT, parts: [textPart(text)] }).message_id;
}

/** The wall clock, in nanoseconds since 1970. */
export function now(): i64 { return new Reader(clock({}).unix_nano).integer(); }

/** Fills bytes with randomness that is fit for keys. */
export function fillRandom(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 65536) {
    bytes.set(random(min(65536, bytes.length - at)), at);
  }
}

/** What the Session keeps under a key; null when it keeps nothing. */
export function state(key: string): Json { return stateGet({ key }).value; }

/** Keeps a value under a key of the Session. */
export function setState(key: string, value: Json): void { stateSet({ key, value }); }

/** A setting of the plugin; null when it is not set. */
export function config(name: string): Json { return configGet({ name }).value; }
