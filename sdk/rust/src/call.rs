//! How a host call is made.

use crate::error::{Error, Result, Status};
use serde::{de::DeserializeOwned, Deserialize, Serialize};

/// An import of the host's module.
pub(crate) type Import = unsafe fn(*const u8, u32) -> u64;

/// Declares the imports. Outside of Wasm each asks the host that the test plays.
macro_rules! imports {
    ($($function:ident = $name:literal,)*) => {
        #[cfg(target_arch = "wasm32")]
        mod host {
            #[link(wasm_import_module = "wharf")]
            extern "C" {
                $(#[link_name = $name] pub fn $function(ptr: *const u8, len: u32) -> u64;)*
                pub fn read(ptr: *mut u8, len: u32) -> u32;
            }
        }

        $(
            /// # Safety
            /// So many bytes can be read at the pointer.
            pub(crate) unsafe fn $function(ptr: *const u8, len: u32) -> u64 {
                #[cfg(target_arch = "wasm32")]
                return host::$function(ptr, len);
                #[cfg(not(target_arch = "wasm32"))]
                return crate::testing::answer($name, std::slice::from_raw_parts(ptr, len as usize));
            }
        )*

        /// # Safety
        /// So many bytes can be written at the pointer.
        pub(crate) unsafe fn read(ptr: *mut u8, len: u32) -> u32 {
            #[cfg(target_arch = "wasm32")]
            return host::read(ptr, len);
            #[cfg(not(target_arch = "wasm32"))]
            return crate::testing::read(std::slice::from_raw_parts_mut(ptr, len as usize));
        }
    };
}
pub(crate) use imports;

/// Makes a call and fetches its answer.
pub(crate) fn raw(call: &'static str, import: Import, request: &[u8]) -> Result<Vec<u8>> {
    // Both pointers are to live memory of the length that is given with them.
    let (status, answer) = unsafe {
        let result = import(request.as_ptr(), request.len() as u32);
        let mut answer = vec![0; result as u32 as usize];
        let have = crate::sys::read(answer.as_mut_ptr(), answer.len() as u32);
        answer.truncate(have as usize);
        ((result >> 32) as u32, answer)
    };
    match Status::of(status) {
        None => Ok(answer),
        Some(status) => Err(refused(call, status, &answer).into()),
    }
}

fn refused(call: &'static str, status: Status, answer: &[u8]) -> Error {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Reason {
        code: String,
        message: String,
    }
    let mut reason: Reason = serde_json::from_slice(answer).unwrap_or_default();
    if reason.message.is_empty() {
        reason.message = status.to_string();
    }
    Error { call, status, code: reason.code, message: reason.message }
}

/// A call of JSON that is answered with JSON.
pub(crate) fn ask<A: DeserializeOwned>(call: &'static str, import: Import, request: &impl Serialize) -> Result<A> {
    Ok(serde_json::from_slice(&bytes(call, import, request)?)?)
}

/// A call of JSON that is answered with bytes.
pub(crate) fn bytes(call: &'static str, import: Import, request: &impl Serialize) -> Result<Vec<u8>> {
    raw(call, import, &serde_json::to_vec(request)?)
}

/// A call of JSON that is answered with nothing.
pub(crate) fn tell(call: &'static str, import: Import, request: &impl Serialize) -> Result<()> {
    match bytes(call, import, request) {
        Err(e) if e.withheld().is_none() => Err(e),
        _ => Ok(()),
    }
}

/// A call without a request.
pub(crate) fn given<A: DeserializeOwned>(call: &'static str, import: Import) -> Result<A> {
    Ok(serde_json::from_slice(&raw(call, import, &[])?)?)
}

/// A call of a line of JSON and content.
pub(crate) fn with_content<A: DeserializeOwned>(call: &'static str, import: Import, request: &impl Serialize, content: &[u8]) -> Result<A> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    line.extend_from_slice(content);
    Ok(serde_json::from_slice(&raw(call, import, &line)?)?)
}
