use crate::error::Result;
use crate::task::Task;
use crate::types::{Delivery, Failure, NormalizedDelivery, NormalizedRequest, OutputRequest, StopReason};
use std::collections::BTreeMap;

/// What a Task results in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One line for people.
    pub summary: String,
    /// Numbers worth keeping, by name.
    pub metrics: BTreeMap<String, f64>,
    /// Why the model has stopped that the summary is of.
    pub stop_reason: StopReason,
}

impl Outcome {
    /// An outcome that is a summary alone.
    pub fn summary(text: impl Into<String>) -> Outcome {
        Outcome { summary: text.into(), ..Default::default() }
    }
}

/// Reads the Task, calls the function, and tells the host what it returned. It is what an export of
/// [`main`](macro@crate::main) does.
pub fn run(handler: impl FnOnce(&Task) -> Result<Outcome>) -> i32 {
    hook();
    let result = Task::read().and_then(|task| handler(&task));
    told(match result {
        Ok(outcome) => crate::output(&OutputRequest {
            summary: outcome.summary,
            metrics: outcome.metrics,
            stop_reason: outcome.stop_reason,
            ..Default::default()
        }),
        Err(failed) => fail(failed.into_failure()),
    })
}

/// Reads the deliveries, calls the function for each, and tells the host what they mean. It is what
/// an export of [`connector`](macro@crate::connector) does.
pub fn connect(mut handler: impl FnMut(&crate::Connector, &Delivery) -> Result<NormalizedDelivery>) -> i32 {
    hook_of_connector();
    let normalized = crate::connector_deliveries().and_then(|given| {
        let results = given.deliveries.iter().map(|d| normalize(d, handler(&given.connector, d))).collect();
        crate::connector_normalized(&NormalizedRequest { results })
    });
    told(normalized)
}

/// What a delivery means; one that cannot be made sense of has a failure.
fn normalize(delivery: &Delivery, meant: Result<NormalizedDelivery>) -> NormalizedDelivery {
    let mut meant = meant.unwrap_or_else(|failed| NormalizedDelivery { failure: Some(failed.into_failure()), ..Default::default() });
    meant.id = delivery.id.clone();
    meant
}

fn told(result: Result<()>) -> i32 {
    i32::from(result.is_err())
}

/// Makes the Task fail. Like `output` it is called once, and [`run`] does it.
fn fail(failure: Failure) -> Result<()> {
    crate::output(&OutputRequest { failure: Some(failure), ..Default::default() })
}

/// Makes a panic tell its text before the trap that it is.
fn hook() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| {
        let _ = crate::log("error", &info.to_string());
        let _ = fail(Failure { code: "plugin_panic".into(), message: panicked(info), ..Default::default() });
    }));
}

/// A Connector has no output: its panics go to the log.
fn hook_of_connector() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| {
        let _ = crate::log("error", &info.to_string());
    }));
}

#[cfg(target_arch = "wasm32")]
fn panicked(info: &std::panic::PanicInfo) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| payload.downcast_ref::<String>().cloned());
    let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
    format!("the plugin panicked: {}{}", text.unwrap_or_default(), place)
}
