//! The attributes of the crate `wharf-plugin`, whose library is `wharf`: it says what they are for.
//!
//! An attribute leaves its function as it is, and adds an export of the module that has `wharf::run`
//! or `wharf::connect` call it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod entry;
mod given;
mod wrong;

use entry::Entry;
use given::Names;
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use wrong::Wrong;

const RUN: &str = "run";

/// It lies in `wharf-plugin-macros`, for attributes have a crate of their own.
#[proc_macro_attribute]
pub fn main(given: TokenStream, item: TokenStream) -> TokenStream {
    of_task("#[wharf::main]", Names::No).expand(given, item)
}

/// It lies in `wharf-plugin-macros`, for attributes have a crate of their own.
#[proc_macro_attribute]
pub fn export(given: TokenStream, item: TokenStream) -> TokenStream {
    of_task("#[wharf::export]", Names::Must).expand(given, item)
}

/// It lies in `wharf-plugin-macros`, for attributes have a crate of their own.
#[proc_macro_attribute]
pub fn connector(given: TokenStream, item: TokenStream) -> TokenStream {
    Entry {
        attribute: "#[wharf::connector]",
        names: Names::May,
        calls: "connect",
        parameters: 2,
        given: "the Connector and a delivery",
        like: "fn normalize(connector: &Connector, delivery: &Delivery) -> Result<NormalizedDelivery>",
    }
    .expand(given, item)
}

fn of_task(attribute: &'static str, names: Names) -> Entry {
    Entry { attribute, names, calls: RUN, parameters: 1, given: "the Task", like: "fn greet(task: &Task) -> Result<Outcome>" }
}

impl Entry {
    /// The item as it is, and after it the export, or what is wrong.
    fn expand(&self, given: TokenStream, item: TokenStream) -> TokenStream {
        let name = self.names.read(self.attribute, given);
        let more = match (name, self.function(item.clone())) {
            (Ok(name), Ok(function)) => self.export(&name, &function),
            (name, function) => name.err().into_iter().chain(function.err()).flat_map(Wrong::error).collect(),
        };
        item.into_iter().chain(more).collect()
    }

    /// An export of the module. Outside of Wasm it has a name that is none of the C library's.
    fn export(&self, name: &str, function: &Ident) -> TokenStream {
        let symbol: String = name.bytes().map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("_{:x}", b) }).collect();
        let code = format!(
            "const _: () = {{
                #[cfg_attr(target_arch = \"wasm32\", export_name = {:?})]
                #[cfg_attr(not(target_arch = \"wasm32\"), export_name = \"wharf_export_{}\")]
                extern \"C\" fn __wharf_export() -> i32 {{ ::wharf::{}({}) }}
            }};",
            name, symbol, self.calls, FUNCTION
        );
        ours(code.parse().expect("it is Rust"), function)
    }
}

/// What stands for the function in code that is to be.
const FUNCTION: &str = "__wharf_function";

/// Makes code this crate's: the lints and the edition of the author's are not for it. The function's
/// name stays the author's, so that what does not fit is told at its place.
fn ours(code: TokenStream, function: &Ident) -> TokenStream {
    let each = code.into_iter().map(|token| {
        let mut token = match token {
            TokenTree::Ident(name) if name.to_string() == FUNCTION => return function.clone().into(),
            TokenTree::Group(group) => Group::new(group.delimiter(), ours(group.stream(), function)).into(),
            token => token,
        };
        token.set_span(Span::mixed_site());
        token
    });
    each.collect()
}

/// The tokens without the groups that are not written: those of what another macro was given.
fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(group.stream()),
        token => vec![token],
    });
    each.flatten().collect()
}
