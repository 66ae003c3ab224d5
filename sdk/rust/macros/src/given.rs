//! What stands between the parentheses of an attribute: the name of the export.

use crate::flat;
use crate::wrong::Wrong;
use proc_macro::{Span, TokenStream, TokenTree};

/// Whether an attribute has a name.
pub enum Names {
    No,
    May,
    Must,
}

/// Names that the module has for something else.
const TAKEN: [&str; 3] = ["memory", "_start", "_initialize"];

const LONGEST: usize = 128;

impl Names {
    /// The name of the export.
    pub fn read(&self, attribute: &str, given: TokenStream) -> Result<String, Wrong> {
        let mut given = flat(given).into_iter();
        let first = match (given.next(), self) {
            (None, Names::Must) => return Err(Wrong::new(Span::call_site(), "an export has a name: #[wharf::export(\"name\")]")),
            (None, _) => return Ok(crate::RUN.into()),
            (Some(first), Names::No) => {
                let says = format!("{} takes nothing: it is the export `run`. Another name is given by #[wharf::export(\"name\")]", attribute);
                return Err(Wrong::new(first.span(), says));
            }
            (Some(first), _) => first,
        };
        if let Some(more) = given.next() {
            return Err(Wrong::new(more.span(), format!("{} takes one name, between quotes", attribute)));
        }
        checked(&first).map_err(|says| Wrong::new(first.span(), says))
    }
}

/// The name that a text has, if nodes know it as one.
fn checked(token: &TokenTree) -> Result<String, String> {
    let written = token.to_string();
    let name = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|name| !name.contains('\\'));
    let name = name.ok_or_else(|| format!("the name of an export is a plain text: \"name\", not {}", written))?;
    if name.is_empty() || name.len() > LONGEST || name.chars().any(|c| c == '#' || c <= ' ' || c == '\x7f') {
        return Err(format!("the name of an export has 1 to {} bytes, and neither spaces nor #", LONGEST));
    }
    if TAKEN.contains(&name) {
        return Err(format!("a module has `{}` for something else: choose another name", name));
    }
    Ok(name.into())
}
