// Package extism runs plugins that were made with an Extism PDK, through Extism's own SDK.
//
// [Check] takes a module that was rewritten, and [Source.Compile] has the SDK make an engine
// for it. [Plugin.Run] makes an instance, calls one export and throws the instance away.
// What the SDK offers plugins that would go past the Host is answered here instead: its
// log and its configuration become host calls, its variables and its HTTP are off, and WASI
// is Wharf's (package wasi).
//
// Held here:
//   - A plugin reaches the Host through host calls alone, in the names of UserModule, and is
//     bounded, told and explained as a native one is (package guest).
//   - What the SDK does on a plugin's behalf is charged to the plugin, and bounded: it walks
//     its blocks and copies them in code that is not metered.
//   - The SDK's own bookkeeping, which lies in memory that the plugin can write to, cannot be
//     written.
//
// It imports no package of the sandbox but guest, wasi, rewrite (what a module imports) and
// image (the size of a page). docs/extism.md is for authors of plugins.
package extism
