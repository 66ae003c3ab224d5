use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// What is wrong, and where.
pub struct Wrong {
    pub at: Span,
    pub says: String,
}

impl Wrong {
    pub fn new(at: Span, says: impl Into<String>) -> Wrong {
        Wrong { at, says: says.into() }
    }

    /// Code that does not compile: an error with these words at this place.
    pub fn error(self) -> TokenStream {
        let text = TokenTree::from(Literal::string(&self.says));
        let tokens: [TokenTree; 4] = [
            Ident::new("compile_error", self.at).into(),
            Punct::new('!', Spacing::Alone).into(),
            Group::new(Delimiter::Parenthesis, text.into()).into(),
            Punct::new(';', Spacing::Alone).into(),
        ];
        tokens.into_iter().map(|token| at(token, self.at)).collect()
    }
}

fn at(token: TokenTree, span: Span) -> TokenTree {
    let mut token = match token {
        TokenTree::Group(group) => Group::new(group.delimiter(), group.stream().into_iter().map(|t| at(t, span)).collect()).into(),
        token => token,
    };
    token.set_span(span);
    token
}
