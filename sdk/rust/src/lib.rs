//! Write plugins for Wharf in Rust.
//!
//! A plugin is a function that takes a [`Task`] and says what it results in:
//!
//! ```
//! use wharf::{Outcome, Result, Task};
//!
//! wharf::main!(greet);
//!
//! fn greet(task: &Task) -> Result<Outcome> {
//!     wharf::reply(&format!("Hello, {}!", task.text()))?;
//!     Ok(Outcome::summary("greeted"))
//! }
//! # fn main() {}
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

#![warn(missing_docs)]

mod call;
pub mod calls;
mod error;
mod run;
mod sys;
mod task;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
#[allow(missing_docs)] // what a member is called says it where there is no more to say
pub mod types;
mod wire;

pub use calls::*;
pub use error::{Error, Failed, Result, Status, Withheld};
pub use run::{connect, run, Outcome};
pub use task::{config, fill_random, log, now, reply, set_state, state, Task};
pub use types::*;
pub use wire::{Bytes, Json, Time};

#[doc(hidden)]
pub use serde_json;
