//! A plugin made with Extism's PDK for Rust, for the tests of Extism plugins.
use extism_pdk::*;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, FromBytes)]
#[encoding(Json)]
struct Input {
    task: Task,
}

#[derive(Deserialize)]
struct Task {
    input: serde_json::Value,
}

#[derive(Serialize, ToBytes)]
#[encoding(Json)]
struct Fetch {
    call_id: String,
    url: String,
}

#[derive(Deserialize, FromBytes)]
#[encoding(Json)]
struct Fetched {
    #[serde(default)]
    text: String,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: String,
    message: String,
}

#[host_fn]
extern "ExtismHost" {
    fn http_fetch(request: Fetch) -> Fetched;
}

/// Greets whom the Task names.
#[plugin_fn]
pub fn run(input: Input) -> FnResult<String> {
    let name = input.task.input["name"].as_str().unwrap_or("nobody");
    info!("greeting {name}");
    let greeting = config::get("greeting")?.unwrap_or("Hello".to_string());
    Ok(format!("{greeting}, {name}!"))
}

/// Fetches a page through the host call.
#[plugin_fn]
pub fn fetch() -> FnResult<String> {
    let request = Fetch { call_id: "page".into(), url: "http://host.example/".into() };
    let page = unsafe { http_fetch(request)? };
    match page.error {
        Some(e) => Err(WithReturnCode::new(Error::msg(format!("{}: {}", e.code, e.message)), 7)),
        None => Ok(page.text),
    }
}

/// Uses the PDK's own variables.
#[plugin_fn]
pub fn remember() -> FnResult<()> {
    var::set("k", "v")?;
    Ok(())
}
