use crate::types::Failure;
use std::fmt;

/// What went wrong in a plugin: a host call that failed, or anything else that says why.
#[derive(Debug)]
pub enum Failed {
    /// A host call failed.
    Call(Error),
    /// The plugin fails with a code of its own.
    Own(Failure),
    /// Anything else; the code is `plugin_error`. What is boxed already becomes one by
    /// `.map_err(Failed::Other)?`.
    Other(Box<dyn std::error::Error>),
}

/// The result of what may fail in a plugin. `?` takes every error.
pub type Result<T, E = Failed> = std::result::Result<T, E>;

/// A host call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The name of the host call.
    pub call: &'static str,
    /// How the host answered.
    pub status: Status,
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
}

/// How the host answered a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The request is malformed.
    Invalid,
    /// Policy forbids it.
    Denied,
    /// What it names does not exist, or not for this Task.
    NotFound,
    /// A limit on size or count.
    TooLarge,
    /// The host could not do it now.
    Unavailable,
    /// The node died while it was done: nobody knows whether it was, and doing it again is not safe.
    Indeterminate,
    /// Nobody answered, or nothing happened, in time.
    Timeout,
    /// A status that this crate does not know.
    Other(u32),
}

impl Status {
    /// The status of a number; `None` for 0, which is no failure.
    pub fn of(number: u32) -> Option<Status> {
        Some(match number {
            0 => return None,
            1 => Status::Invalid,
            2 => Status::Denied,
            3 => Status::NotFound,
            4 => Status::TooLarge,
            5 => Status::Unavailable,
            6 => Status::Indeterminate,
            7 => Status::Timeout,
            other => Status::Other(other),
        })
    }

    /// The number that the host answers with.
    pub fn number(self) -> u32 {
        match self {
            Status::Invalid => 1,
            Status::Denied => 2,
            Status::NotFound => 3,
            Status::TooLarge => 4,
            Status::Unavailable => 5,
            Status::Indeterminate => 6,
            Status::Timeout => 7,
            Status::Other(number) => number,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Status::Invalid => f.write_str("the request is malformed"),
            Status::Denied => f.write_str("policy forbids it"),
            Status::NotFound => f.write_str("it does not exist"),
            Status::TooLarge => f.write_str("it is too large"),
            Status::Unavailable => f.write_str("the host could not do it now"),
            Status::Indeterminate => f.write_str("it is not known whether it was done"),
            Status::Timeout => f.write_str("it took too long"),
            Status::Other(number) => write!(f, "the host answered with the status {}", number),
        }
    }
}

/// How a call was held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Withheld {
    /// The tier `suggest` has made a proposal of it.
    Proposed,
    /// The tier `shadow` has left it out.
    Shadow,
}

impl Error {
    /// How the call was held back, if that is why it failed.
    pub fn withheld(&self) -> Option<Withheld> {
        match (self.status, self.code.as_str()) {
            (Status::Denied, "proposed") => Some(Withheld::Proposed),
            (Status::Denied, "shadow") => Some(Withheld::Shadow),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {} ({})", self.call, self.message, self.code)
    }
}

impl std::error::Error for Error {}

impl Failed {
    /// The host call that failed, if it was one.
    pub fn call(&self) -> Option<&Error> {
        match self {
            Failed::Call(e) => Some(e),
            _ => None,
        }
    }

    /// The status of the host call that failed, if it was one.
    pub fn status(&self) -> Option<Status> {
        self.call().map(|e| e.status)
    }

    /// How the call was held back, if that is why it failed.
    pub fn withheld(&self) -> Option<Withheld> {
        self.call().and_then(Error::withheld)
    }

    /// What the Task fails with.
    pub fn into_failure(self) -> Failure {
        match self {
            Failed::Own(failure) => failure,
            other => Failure { code: "plugin_error".into(), message: other.to_string(), ..Default::default() },
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failed::Call(e) => e.fmt(f),
            Failed::Own(failure) => write!(f, "{}: {}", failure.code, failure.message),
            Failed::Other(e) => e.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> From<E> for Failed {
    fn from(e: E) -> Failed {
        let e: Box<dyn std::error::Error> = Box::new(e);
        match e.downcast::<Error>() {
            Ok(e) => Failed::Call(*e),
            Err(e) => Failed::Other(e),
        }
    }
}

impl Failure {
    /// An error that fails the Task with a code of the plugin's own.
    ///
    /// ```
    /// # use wharf::{Failure, Result};
    /// fn check(amount: i64) -> Result<()> {
    ///     if amount < 0 {
    ///         return Err(Failure::new("bad_amount", "an amount is not negative"));
    ///     }
    ///     Ok(())
    /// }
    /// # assert_eq!(check(-1).unwrap_err().into_failure().code, "bad_amount");
    /// ```
    #[allow(clippy::new_ret_no_self)]
    pub fn new(code: &str, message: &str) -> Failed {
        Failed::Own(Failure { code: code.into(), message: message.into(), ..Default::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug)]
    struct Mine;

    impl fmt::Display for Mine {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("mine")
        }
    }

    impl std::error::Error for Mine {}

    fn boxed() -> Result<(), Box<dyn std::error::Error>> {
        Err("boxed".into())
    }

    #[test]
    fn a_question_mark_takes_every_error() {
        let refused = Error { call: "http.fetch", status: Status::Denied, code: "host".into(), message: "it is not granted".into() };
        let again = refused.clone();
        let all: [(fn(Error) -> Result<()>, &str); 7] = [
            (|_| Ok(drop("x".parse::<u8>()?)), "invalid digit found in string"),
            (|_| Err(io::Error::new(io::ErrorKind::Other, "the disk"))?, "the disk"),
            (|_| Ok(drop(std::str::from_utf8(&[255])?)), "invalid utf-8 sequence of 1 bytes from index 0"),
            (|_| Err(Mine)?, "mine"),
            (|_| Ok(drop(crate::Json::parse("{")?)), "EOF while parsing an object at line 1 column 1"),
            (|_| Ok(boxed().map_err(Failed::Other)?), "boxed"),
            (|e| Err(e)?, "http.fetch: it is not granted (host)"),
        ];
        for (fails, says) in all {
            let failure = fails(again.clone()).unwrap_err().into_failure();
            assert_eq!((failure.code.as_str(), failure.message.as_str()), ("plugin_error", says));
        }
        let failed: Failed = refused.into();
        assert_eq!(failed.status(), Some(Status::Denied));
    }
}
