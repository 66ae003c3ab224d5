//! Write plugins for Wharf in Rust.
//!
//! A plugin is a function that takes a [`Task`] and says what it results in:
//!
//! ```
//! use wharf::{Outcome, Result, Task};
//!
//! #[wharf::main]
//! fn greet(task: &Task) -> Result<Outcome> {
//!     wharf::reply(&format!("Hello, {}!", task.text()))?;
//!     Ok(Outcome::summary("greeted"))
//! }
//! ```
//!
//! There is a function for each host call ([`http_fetch`], [`memory_write`], …) with its request and
//! answer as types. A plugin imports the calls that it uses, and no others. An error that the
//! function returns fails the Task with its text; a [`Failure`] chooses the code. A panic fails it
//! with the code `plugin_panic` and what the panic says.
//!
//! A call that the Persona's tier holds back (`shadow`, `suggest`) is no error: its answer is empty
//! and says so in `withheld`.
//!
//! Outside of Wasm the calls go to a host that the test plays: see [`testing`].

#![deny(missing_docs)]

mod call;
pub mod calls;
mod error;
mod run;
mod sys;
mod task;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod types;
mod wire;

pub use calls::*;
pub use error::{Error, Failed, Result, Status, Withheld};
pub use run::{connect, run, Outcome};
pub use task::{config, fill_random, log, now, reply, set_state, state, Task};
pub use types::*;
pub use wire::{Bytes, Json, Time};

/// Makes a function the plugin's: the export `run`, which a Task calls when nothing else is said.
///
/// It takes the Task, and returns what the Task results in. `?` takes every error.
///
/// ```
/// use wharf::{Outcome, Result, Task};
///
/// #[wharf::main]
/// fn double(task: &Task) -> Result<Outcome> {
///     let n: i64 = task.text().trim().parse()?;
///     Ok(Outcome::summary((2 * n).to_string()))
/// }
/// ```
pub use wharf_plugin_macros::main;

/// Exports a function under a name, for a plugin that has more than one. It is as
/// [`main`](macro@main) is otherwise.
///
/// ```
/// use wharf::{Outcome, Result, Task};
///
/// #[wharf::export("hourly")]
/// fn hourly(_: &Task) -> Result<Outcome> {
///     Ok(Outcome::summary("there was nothing to do"))
/// }
/// ```
pub use wharf_plugin_macros::export;

/// Makes a function a Connector's: the export `run`, or that of a name, `#[wharf::connector("tickets")]`.
///
/// It is called for each delivery, and says what that means. An error puts the delivery aside, with
/// its text.
///
/// ```
/// use wharf::{Connector, ConnectorTask, Delivery, Json, NormalizedDelivery, Result};
///
/// #[wharf::connector]
/// fn normalize(_: &Connector, delivery: &Delivery) -> Result<NormalizedDelivery> {
///     let task = ConnectorTask { input: Json::of(&delivery.text)?, ..Default::default() };
///     Ok(NormalizedDelivery { tasks: vec![task], ..Default::default() })
/// }
/// ```
pub use wharf_plugin_macros::connector;
