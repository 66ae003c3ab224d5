// Package languages has one small plugin in each language: with the SDKs of Wharf, and with those of Extism's kits for
// plugins that package registries have. It reads how many calls it is to make, makes them, each of 100 bytes in and out
// of JSON, and answers with what came back last.
//
// Those of Wharf are built when they are asked for, as any author does: "wharf plugin new" and "wharf plugin build". Those of Extism are
// kept in wasm/, since their kits come from registries. Where the kit for a language was had:
//
//   - C: the functions of its header, which no registry has, are declared in the plugin: plugin.c
//   - Go: the module github.com/extism/go-pdk, v1.1.3
//   - Rust: the crate extism-pdk 1.0.1, with versions of the rest that Rust 1.63 builds: rust/Cargo.toml
//   - AssemblyScript: the npm package @extism/as-pdk 1.0.0
//   - JavaScript and Python: a program that makes the module is had from no registry
//
// How they are built is in src/extism/README.md.
package languages
