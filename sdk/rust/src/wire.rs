//! How values are written: as every SDK writes them, so that a plugin that moves from one language
//! to another leaves the same record.

use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// A time as the host writes it: RFC 3339.
pub type Time = String;

/// A JSON value as it is written, with the digits of its numbers and the order of its members.
#[derive(Clone, Debug)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The value of anything that serde writes.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Json> {
        serde_json::value::to_raw_value(value).map(Json)
    }

    /// The value that a text holds.
    pub fn parse(text: &str) -> serde_json::Result<Json> {
        RawValue::from_string(text.trim().to_owned()).map(Json)
    }

    /// The value as something that serde reads.
    pub fn to<T: de::DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// The value as text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether there is nothing.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

impl Default for Json {
    fn default() -> Json {
        Json(RawValue::from_string("null".into()).expect("null is JSON"))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Json, D::Error> {
        Box::<RawValue>::deserialize(d).map(Json)
    }
}

/// Bytes, which are base64 in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(bytes)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes(bytes.to_vec())
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() + 2) / 3 * 4);
    for part in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |w, i| w << 8 | u32::from(*part.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize] as char;
            text.push(if i <= part.len() { digit } else { '=' });
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if text.len() % 4 != 0 {
        return None;
    }
    let padding = text.iter().rev().take_while(|c| **c == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (at, part) in text.chunks(4).enumerate() {
        let pad = if (at + 1) * 4 == text.len() { padding } else { 0 };
        let mut word = 0u32;
        for (i, c) in part.iter().enumerate() {
            let digit = if i >= 4 - pad { 0 } else { ALPHABET.iter().position(|a| a == c)? as u32 };
            word = word << 6 | digit;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..4 - pad]);
    }
    Some(bytes)
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(d)?;
        decode(&text).map(Bytes).ok_or_else(|| de::Error::custom("it is not base64"))
    }
}

/// Whether a member is left out.
pub(crate) fn nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A number as ECMAScript writes it: without a fraction that is nothing.
fn digits(n: f64) -> String {
    if n == 0.0 {
        return "0".into();
    }
    if n.abs() >= 1e21 || n.abs() < 1e-6 {
        return format!("{:e}", n).replace('e', if n.abs() >= 1.0 { "e+" } else { "e" });
    }
    n.to_string()
}

struct Digits(f64);

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if !self.0.is_finite() {
            return Err(serde::ser::Error::custom("a number is finite"));
        }
        RawValue::from_string(digits(self.0)).map_err(serde::ser::Error::custom)?.serialize(s)
    }
}

pub(crate) fn number<S: Serializer>(n: &f64, s: S) -> Result<S::Ok, S::Error> {
    Digits(*n).serialize(s)
}

pub(crate) fn some_number<S: Serializer>(n: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    n.map(Digits).serialize(s)
}

pub(crate) fn numbers<S: Serializer>(all: &BTreeMap<String, f64>, s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(all.iter().map(|(name, n)| (name, Digits(*n))))
}

/// Declares a type of words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $constant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(std::borrow::Cow<'static, str>);

        impl $name {
            $($(#[$of])* #[doc = concat!("\n\nThe word `", $word, "`.")] pub const $constant: $name = $name(std::borrow::Cow::Borrowed($word));)*

            /// The word.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> $name {
                $name(std::borrow::Cow::Owned(word.to_owned()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use words;

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_every_sdk_does() {
        for (n, want) in [
            (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (1e20, "100000000000000000000"),
            (1e21, "1e+21"), (-2.5e300, "-2.5e+300"), (1e-6, "0.000001"), (1.5e-7, "1.5e-7"), (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"), (9007199254740993.0, "9007199254740992"),
        ] {
            assert_eq!(digits(n), want);
        }
        assert!(serde_json::to_string(&Digits(f64::NAN)).is_err());
    }

    #[test]
    fn bytes_are_base64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        for bad in ["Z", "Zg=", "Z===", "Zg==Zg==", "Zm 9", "Zm9v="] {
            assert_eq!(decode(bad), None, "{}", bad);
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
    }

    #[test]
    fn json_keeps_its_digits_and_order() {
        let text = r#"{"b":1.50,"a":123456789012345678901234567890}"#;
        let read: Json = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(Json::parse("{").is_err());
    }
}
