//! What is short for what plugins do most.

use crate::error::Result;
use crate::types::*;
use crate::wire::Json;
use serde::{de::DeserializeOwned, Serialize};
use std::time::{Duration, SystemTime};

/// What the plugin was started for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The Task's id.
    pub id: String,
    /// The Session's id.
    pub session_id: String,
    /// What the Task was submitted with.
    pub input: Json,
    given: Json,
}

impl Task {
    /// Reads the Task. [`run`](crate::run()) does this.
    pub fn read() -> Result<Task> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Given {
            task: Begun,
            session_id: String,
        }
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Begun {
            id: String,
            input: Json,
        }
        let given: Json = crate::call::given("input", crate::sys::input)?;
        let Given { task, session_id } = given.to()?;
        Ok(Task { id: task.id, session_id, input: task.input, given })
    }

    /// Everything that the host tells of the Task: the Task as it was accepted, its Persona, its
    /// skills. It is read when it is asked for, for it is long.
    pub fn all(&self) -> Result<InputAnswer> {
        Ok(self.given.to()?)
    }

    /// The text that the Task was given: the input itself if it is a text, its member `text`, or the
    /// text parts of a Message, joined by empty lines; else nothing.
    pub fn text(&self) -> String {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Said {
            text: Option<String>,
            parts: Vec<Part>,
        }
        if let Ok(text) = self.input.to::<String>() {
            return text;
        }
        let said: Said = self.input.to().unwrap_or_default();
        said.text.unwrap_or_else(|| texts(&said.parts))
    }

    /// The input as a type of the plugin's: of a Message, the value of its first JSON part.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        #[derive(serde::Deserialize)]
        struct Message {
            parts: Vec<Part>,
        }
        if let Ok(message) = self.input.to::<Message>() {
            if let Some(value) = message.parts.into_iter().find(|p| p.r#type == PartType::JSON).and_then(|p| p.value) {
                return Ok(value.to()?);
            }
        }
        Ok(self.input.to()?)
    }
}

fn texts(parts: &[Part]) -> String {
    let all: Vec<&str> = parts.iter().filter(|p| p.r#type == PartType::TEXT).filter_map(|p| p.text.as_deref()).collect();
    all.join("\n\n")
}

impl Message {
    /// The text parts, joined by empty lines.
    pub fn text(&self) -> String {
        texts(&self.parts)
    }
}

impl Part {
    /// A public part that is a text.
    pub fn text(text: impl Into<String>) -> Part {
        Part { r#type: PartType::TEXT, text: Some(text.into()), visibility: Visibility::PUBLIC, ..Default::default() }
    }

    /// A public part that is a JSON value.
    pub fn json(value: &impl Serialize) -> Result<Part> {
        Ok(Part { r#type: PartType::JSON, value: Some(Json::of(value)?), visibility: Visibility::PUBLIC, ..Default::default() })
    }
}

/// Appends an assistant's Message of one text, and returns its id.
pub fn reply(text: &str) -> Result<String> {
    let message = MessageInput { role: Role::ASSISTANT, parts: vec![Part::text(text)], ..Default::default() };
    Ok(crate::message_append(&message)?.message_id)
}

/// Writes a line to the Task's event stream, of the level debug, info, warn or error.
pub fn log(level: &str, message: &str) -> Result<()> {
    crate::calls::log(&LogRequest { level: level.into(), message: message.into(), ..Default::default() })
}

/// The wall clock.
pub fn now() -> Result<SystemTime> {
    let nanos: u64 = crate::clock(&Label::default())?.unix_nano.to_string().parse()?;
    Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos))
}

/// Fills bytes with randomness that is fit for keys.
pub fn fill_random(bytes: &mut [u8]) -> Result<()> {
    for part in bytes.chunks_mut(65_536) {
        part.copy_from_slice(&crate::random(part.len() as u32)?);
    }
    Ok(())
}

/// Reads what the Session keeps under a key; `None` when it keeps nothing.
pub fn state<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
    let value = crate::state_get(&StateGetRequest { key: key.into(), ..Default::default() })?.value;
    Ok(value.to()?)
}

/// Keeps a value under a key of the Session.
pub fn set_state(key: &str, value: &impl Serialize) -> Result<()> {
    crate::state_set(&StateSetRequest { key: key.into(), value: Json::of(value)? })
}

/// Reads a setting of the plugin; `None` when it is not set.
pub fn config<T: DeserializeOwned>(name: &str) -> Result<Option<T>> {
    Ok(crate::config_get(&ConfigGetRequest { name: name.into() })?.value.to()?)
}
