//! Reads how many calls it is to make, makes them, and says what came back: with Extism's crate.
use extism_pdk::*;
use serde::{Deserialize, Serialize};

#[link(wasm_import_module = "extism:host/user")]
extern "C" {
    fn get(request: u64) -> u64;
}

#[derive(Serialize)]
struct Request<'a> {
    key: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    value: String,
}

#[plugin_fn]
pub fn run(input: String) -> FnResult<String> {
    let key = "k".repeat(90);
    let mut last = String::new();
    for _ in 0..input.parse::<u32>()? {
        let request = Memory::from_bytes(serde_json::to_vec(&Request { key: &key })?)?;
        let answer = Memory::find(unsafe { get(request.offset()) }).ok_or_else(|| Error::msg("no answer"))?;
        let read: Answer = serde_json::from_slice(&answer.to_vec())?;
        last = read.value;
        request.free();
        answer.free();
    }
    Ok(last)
}
