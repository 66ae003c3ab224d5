//! What the attributes take: functions as they are written, whatever else is forbidden around them.
#![forbid(unsafe_code, missing_docs, warnings)]

use std::collections::HashMap;
use wharf::{Connector, Delivery, NormalizedDelivery, Outcome, Result, Task};

/// The attribute leaves documentation and other attributes where they are.
#[wharf::main]
#[inline]
pub(crate) fn run(_: &Task) -> Result<Outcome> {
    let _: HashMap<u8, u8> = HashMap::new();
    Ok(Outcome)
}

#[wharf::export("of.any-name")]
fn r#type<'a>(_: &'a Task) -> Result<Outcome>
where
    u8: Copy,
{
    Ok(Outcome)
}

#[wharf::export("named_as_what_the_macros_use")]
const fn export(_: &Task,) -> std::result::Result<Outcome, wharf::Failed> {
    Ok(Outcome)
}

#[wharf::connector("normalize")]
fn wharf(_: &Connector, _: &Delivery) -> Result<NormalizedDelivery> {
    Ok(NormalizedDelivery)
}

macro_rules! made {
    ($vis:vis $name:ident $export:literal $item:item) => {
        #[wharf::export($export)]
        $vis fn $name(_: &Task) -> Result<Outcome> {
            Ok(Outcome)
        }

        #[wharf::export("of_an_item")]
        $item
    };
}

mod within {
    use super::*;

    made!(pub f "made" fn g(_: &Task) -> Result<Outcome> { Ok(Outcome) });
}
