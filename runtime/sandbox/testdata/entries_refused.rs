// What the attributes refuse. A comment names the word at which the compiler says something, and how that begins.
#![allow(dead_code, unused_imports)]
use wharf::{Connector, Delivery, NormalizedDelivery, Outcome, Result, Task};

#[wharf::main]
struct NoFunction; // struct: #[wharf::main] stands before a function: fn greet(task: &Task) -> Result<Outcome>

#[wharf::main]
pub const NOR_THIS: u8 = 1; // const: #[wharf::main] stands before a function

#[wharf::connector]
mod nor_that {} // mod: #[wharf::connector] stands before a function: fn normalize(connector: &Connector, delivery: &Delivery)

#[wharf::main]
extern "C" {} // extern: #[wharf::main] stands before a function

#[wharf::main]
async fn waits(_: &Task) -> Result<Outcome> { Ok(Outcome) } // async: a plugin's function is not async, for nothing waits while a host call is answered: leave out `async`

#[wharf::main]
pub(crate) unsafe fn dares(_: &Task) -> Result<Outcome> { Ok(Outcome) } // unsafe: a plugin's function is not unsafe: leave out `unsafe`

#[wharf::main]
extern "C" fn foreign(_: &Task) -> Result<Outcome> { Ok(Outcome) } // extern: a plugin's function is one of Rust's own: leave out `extern`

#[wharf::main]
fn of_any<'a, T: Default>(_: &'a Task) -> Result<Outcome> { Ok(Outcome) } // T: a plugin's function has no type parameters

#[wharf::main]
fn of_size<const N: usize>(_: &Task) -> Result<Outcome> { Ok(Outcome) } // const: a plugin's function has no type parameters

struct Plugin;

impl Plugin {
    #[wharf::main]
    fn method(&self, _: &Task) -> Result<Outcome> { Ok(Outcome) } // self: #[wharf::main] stands before no method

    #[wharf::export("of_any")]
    fn for_any(mut self: Box<Self>, _: &Task) -> Result<Outcome> { Ok(Outcome) } // self: #[wharf::export] stands before no method
}

trait Promise {
    #[wharf::main]
    fn promised(_: &Task) -> Result<Outcome>; // promised: `promised` has no body
}

#[wharf::main]
fn nothing_given() -> Result<Outcome> { Ok(Outcome) } // (): a plugin's function is given the Task: write fn greet(task: &Task) -> Result<Outcome>

#[wharf::main]
fn too_much(_: &Task, _: Vec<(u8, u8)>) -> Result<Outcome> { Ok(Outcome) } // (_: a plugin's function is given the Task

#[wharf::connector]
fn of_a_task(_: &Task) -> Result<NormalizedDelivery> { Ok(NormalizedDelivery) } // (_: a plugin's function is given the Connector and a delivery

#[wharf::main]
fn says_nothing(_: &Task) {} // says_nothing: `says_nothing` returns nothing

#[wharf::main("hourly")] // "hourly": #[wharf::main] takes nothing: it is the export `run`. Another name is given by #[wharf::export("name")]
fn named(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::export] // #[wharf::export]: an export has a name: #[wharf::export("name")]
fn nameless(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::export(hourly)] // hourly: the name of an export is a plain text: "name", not hourly
fn bare(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::export(r"raw")] // r"raw": the name of an export is a plain text
fn raw(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::export("")] // "": the name of an export has 1 to 128 bytes, and neither spaces nor #
fn empty(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::connector("two words")] // "two words": the name of an export has 1 to 128 bytes
fn spaced(_: &Connector, _: &Delivery) -> Result<NormalizedDelivery> { Ok(NormalizedDelivery) }

#[wharf::export("memory")] // "memory": a module has `memory` for something else
fn taken(_: &Task) -> Result<Outcome> { Ok(Outcome) }

#[wharf::export("a", "b")] // ,: #[wharf::export] takes one name, between quotes
fn twice(_: &Task) -> Result<Outcome> { Ok(Outcome) }
