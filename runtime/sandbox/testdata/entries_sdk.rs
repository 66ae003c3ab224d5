//! As much of the SDK as its attributes need.

pub use wharf_plugin_macros::{connector, export, main};

pub struct Task;
pub struct Outcome;
pub struct Connector;
pub struct Delivery;
pub struct NormalizedDelivery;
pub struct Failed;
pub type Result<T, E = Failed> = std::result::Result<T, E>;

pub fn run(handler: impl FnOnce(&Task) -> Result<Outcome>) -> i32 {
    i32::from(handler(&Task).is_err())
}

pub fn connect(mut handler: impl FnMut(&Connector, &Delivery) -> Result<NormalizedDelivery>) -> i32 {
    i32::from(handler(&Connector, &Delivery).is_err())
}
