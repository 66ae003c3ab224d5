export * from "./assembly";
