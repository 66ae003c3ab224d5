//! A host for tests outside of Wasm: the test plays it.
//!
//! ```
//! use wharf::testing::{Answer, Host};
//!
//! let host = Host::new(|call, _request| match call {
//!     "memory.query" => Answer::json(r#"{"memories":[]}"#),
//!     _ => Answer::nothing(),
//! });
//! let outcome = host.run(r#"{"text":"hi"}"#, |task| {
//!     let found = wharf::memory_query(&wharf::MemoryQueryRequest { text: task.text(), ..Default::default() })?;
//!     Ok(wharf::Outcome::summary(format!("{} memories", found.memories.len())))
//! });
//! assert_eq!(outcome.summary, "0 memories");
//! assert_eq!(host.calls()[0].0, "memory.query");
//! ```

use crate::error::Status;
use crate::types::OutputRequest;
use crate::{Outcome, Result, Task};
use std::cell::RefCell;
use std::rc::Rc;

/// What the host answers a call with.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u32,
    body: Vec<u8>,
}

impl Answer {
    /// An answer that is empty.
    pub fn nothing() -> Answer {
        Answer { status: 0, body: Vec::new() }
    }

    /// An answer of JSON.
    pub fn json(text: &str) -> Answer {
        Answer::bytes(text.as_bytes())
    }

    /// An answer of bytes.
    pub fn bytes(body: &[u8]) -> Answer {
        Answer { status: 0, body: body.to_vec() }
    }

    /// A call that fails.
    pub fn refused(status: Status, code: &str, message: &str) -> Answer {
        let body = serde_json::json!({"code": code, "message": message});
        Answer { status: status.number(), body: body.to_string().into_bytes() }
    }
}

type Handler = Box<dyn FnMut(&str, &[u8]) -> Answer>;

struct Played {
    handler: Handler,
    input: String,
    calls: Vec<(String, Vec<u8>)>,
    output: Option<OutputRequest>,
}

thread_local! {
    static HOST: RefCell<Option<Rc<RefCell<Played>>>> = RefCell::new(None);
    static ANSWER: RefCell<Vec<u8>> = RefCell::new(Vec::new());
}

/// A host that a function plays: it is called for each host call but `input` and `output`.
pub struct Host(Rc<RefCell<Played>>);

impl Host {
    /// A host that answers as the function does.
    pub fn new(handler: impl FnMut(&str, &[u8]) -> Answer + 'static) -> Host {
        Host(Rc::new(RefCell::new(Played { handler: Box::new(handler), input: String::new(), calls: Vec::new(), output: None })))
    }

    /// Runs a plugin's function with an input that is JSON, and returns what it has told.
    pub fn run(&self, input: &str, handler: impl FnOnce(&Task) -> Result<Outcome>) -> OutputRequest {
        self.0.borrow_mut().input = input.to_owned();
        let before = HOST.with(|h| h.replace(Some(self.0.clone())));
        let _ = crate::run(handler);
        HOST.with(|h| h.replace(before));
        self.0.borrow_mut().output.take().unwrap_or_default()
    }

    /// The calls that were made, with their requests.
    pub fn calls(&self) -> Vec<(String, Vec<u8>)> {
        self.0.borrow().calls.clone()
    }
}

pub(crate) fn answer(call: &str, request: &[u8]) -> u64 {
    let host = HOST.with(|h| h.borrow().clone()).expect("a host call is made without a host: use wharf::testing::Host");
    let answer = host.borrow_mut().answer(call, request);
    let result = u64::from(answer.status) << 32 | answer.body.len() as u64;
    ANSWER.with(|a| a.replace(answer.body));
    result
}

pub(crate) fn read(into: &mut [u8]) -> u32 {
    ANSWER.with(|a| {
        let answer = a.borrow();
        let n = answer.len().min(into.len());
        into[..n].copy_from_slice(&answer[..n]);
        n as u32
    })
}

impl Played {
    fn answer(&mut self, call: &str, request: &[u8]) -> Answer {
        match call {
            "input" => return Answer::json(&format!(r#"{{"task":{{"id":"task_1","session_id":"sess_1","input":{}}},"session_id":"sess_1"}}"#, self.input)),
            "output" => {
                self.output = serde_json::from_slice(request).ok();
                return Answer::nothing();
            }
            _ => self.calls.push((call.to_owned(), request.to_vec())),
        }
        (self.handler)(call, request)
    }
}
