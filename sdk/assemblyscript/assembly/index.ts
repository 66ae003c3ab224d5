export * from "./calls";
export { CallError, Result, Status, textOf, Withheld } from "./call";
export { end } from "./end";
export { Json, Reader, Some, Writer } from "./json";
export { connector, fail, main, Outcome } from "./run";
export { config, fillRandom, jsonPart, now, reply, setState, state, Task, textPart } from "./task";
export * from "./exports";
