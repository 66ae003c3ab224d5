//! What an attribute stands before: as much of a function as has to be known to call it.

use crate::flat;
use crate::given::Names;
use crate::wrong::Wrong;
use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::iter::Peekable;
use std::vec::IntoIter;

/// An attribute, and the functions that it is for.
pub struct Entry {
    /// As it is written.
    pub attribute: &'static str,
    /// Whether it has a name.
    pub names: Names,
    /// The function of `wharf` that calls the author's.
    pub calls: &'static str,
    /// How many parameters the author's has.
    pub parameters: usize,
    /// What they are.
    pub given: &'static str,
    /// An example.
    pub like: &'static str,
}

type Tokens = Peekable<IntoIter<TokenTree>>;

impl Entry {
    /// The name of the function that an item is.
    pub fn function(&self, item: TokenStream) -> Result<Ident, Wrong> {
        let mut tokens = flat(item).into_iter().peekable();
        self.qualifiers(&mut tokens)?;
        let name = match tokens.next() {
            Some(TokenTree::Ident(name)) => name,
            other => return Err(self.no_function(other)),
        };
        generics(&mut tokens)?;
        match tokens.next() {
            Some(TokenTree::Group(given)) => self.check_parameters(&given)?,
            other => return Err(self.no_function(other)),
        }
        if !is_punct(tokens.peek(), '-') {
            return Err(Wrong::new(name.span(), format!("`{}` returns nothing: write {}", name, self.like)));
        }
        match tokens.last() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => Ok(name),
            _ => Err(Wrong::new(name.span(), format!("`{}` has no body: {} stands before a function that has one", name, self.attribute))),
        }
    }

    /// Reads what stands before the name: attributes, `pub`, and words up to `fn`.
    fn qualifiers(&self, tokens: &mut Tokens) -> Result<(), Wrong> {
        let mut first = None;
        loop {
            let token = tokens.next();
            let word = match &token {
                Some(TokenTree::Ident(word)) => word.to_string(),
                Some(TokenTree::Punct(mark)) if mark.as_char() == '#' => {
                    tokens.next();
                    continue;
                }
                _ => return Err(self.no_function(first.or(token))),
            };
            let refused = |why: &str| Err(Wrong::new(token.as_ref().map_or_else(proc_macro::Span::call_site, TokenTree::span), why));
            match word.as_str() {
                "fn" => return Ok(()),
                "pub" => skip_group(tokens),
                "async" => return refused("a plugin's function is not async, for nothing waits while a host call is answered: leave out `async`, and `.await` after calls"),
                "unsafe" => return refused("a plugin's function is not unsafe: leave out `unsafe`, and put it around what needs it"),
                "const" => {}
                "extern" if is_foreign(tokens) => return refused("a plugin's function is one of Rust's own: leave out `extern`, for the attribute makes the export"),
                _ => return Err(self.no_function(first.or(token))),
            }
            if word != "pub" {
                first = first.or(token);
            }
        }
    }

    fn no_function(&self, at: Option<TokenTree>) -> Wrong {
        let says = format!("{} stands before a function: {}", self.attribute, self.like);
        Wrong::new(at.map_or_else(proc_macro::Span::call_site, |token| token.span()), says)
    }

    fn check_parameters(&self, given: &Group) -> Result<(), Wrong> {
        let tokens = flat(given.stream());
        let receiver = tokens.iter().take_while(|t| !is_punct(Some(t), ':') && !is_punct(Some(t), ',')).find(|t| t.to_string() == "self");
        if let Some(receiver) = receiver {
            let says = format!("{} stands before no method, for there is no value to call it on: write a function outside of `impl`, {}", self.attribute, self.like);
            return Err(Wrong::new(receiver.span(), says));
        }
        let count = parameters(&tokens);
        if count != self.parameters {
            let says = format!("a plugin's function is given {}: write {}", self.given, self.like);
            return Err(Wrong::new(given.span(), says));
        }
        Ok(())
    }
}

/// Reads generics. Lifetimes are no harm; nobody could say what any other would stand for.
fn generics(tokens: &mut Tokens) -> Result<(), Wrong> {
    if !is_punct(tokens.peek(), '<') {
        return Ok(());
    }
    tokens.next();
    let mut lifetime = false;
    for token in tokens {
        match &token {
            TokenTree::Punct(mark) if mark.as_char() == '>' => return Ok(()),
            TokenTree::Punct(mark) => lifetime = mark.as_char() == '\'',
            TokenTree::Ident(_) if lifetime => lifetime = false,
            other => {
                let says = "a plugin's function has no type parameters, for nobody chooses them: write the types themselves";
                return Err(Wrong::new(other.span(), says));
            }
        }
    }
    Ok(())
}

/// How many parameters there are: what commas part that stand in no type.
fn parameters(tokens: &[TokenTree]) -> usize {
    let (mut count, mut depth, mut begun, mut before) = (0, 0, false, ' ');
    for token in tokens {
        let mark = match token {
            TokenTree::Punct(mark) => mark.as_char(),
            _ => ' ',
        };
        match mark {
            ',' if depth == 0 => {
                count += usize::from(begun);
                begun = false;
                continue;
            }
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        begun = true;
        before = mark;
    }
    count + usize::from(begun)
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == mark)
}

/// Skips what may stand after `pub`.
fn skip_group(tokens: &mut Tokens) {
    if matches!(tokens.peek(), Some(TokenTree::Group(_))) {
        tokens.next();
    }
}

/// Reports whether a function follows upon `extern`.
fn is_foreign(tokens: &mut Tokens) -> bool {
    if matches!(tokens.peek(), Some(TokenTree::Literal(_))) {
        tokens.next();
    }
    matches!(tokens.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "fn")
}
