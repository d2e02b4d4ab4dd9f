//! How requests fail: a closed set of causes.

use std::fmt;

/// Why a request failed. Words are stable and may be labels of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The server could not convert a stored object: the conversion webhook of the kind's operator does not answer.
    Conversion,
    /// The controller lacks the right.
    Forbidden,
    /// Neither the resource nor the object exists.
    NotFound,
    /// What was asked for is older than what the server keeps.
    Gone,
    /// Somebody else has changed the object.
    Conflict,
    /// The server asks to come back later.
    Throttled,
    /// The object is too large for the server or its store.
    TooLarge,
    /// The server or an admission policy does not accept the object.
    Invalid,
    /// The answer is not what it should be.
    Decode,
    /// No answer in time.
    Timeout,
    /// No connection, or it broke.
    Network,
    /// The server has a fault.
    Server,
}

impl Cause {
    /// Whether it is what a server that is restarted, or has too much to do, causes for a moment in everything that asks it.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Network | Self::Timeout | Self::Throttled | Self::Server | Self::Gone)
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversion => "Conversion",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::Gone => "Gone",
            Self::Conflict => "Conflict",
            Self::Throttled => "Throttled",
            Self::TooLarge => "TooLarge",
            Self::Invalid => "Invalid",
            Self::Decode => "Decode",
            Self::Timeout => "Timeout",
            Self::Network => "Network",
            Self::Server => "Server",
        }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, out of a closed set.
    pub cause: Cause,
    /// Details for people.
    pub message: String,
}

impl Failure {
    /// A failure.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }

    /// What a status of the API means. Code 0 is what a client makes of an answer that is no status.
    pub fn of_status(code: u16, reason: &str, message: &str) -> Self {
        // The prefix is that of the API server's own error, see webhook_converter.go in k8s.io/apiextensions-apiserver. It comes with 500
        // from a read and with 429 while the watch cache is filled anew.
        let conversion = message.contains("conversion webhook for");
        let too_large = message.contains("request is too large") || message.contains("too large");
        let cause = match code {
            500..=599 | 429 if conversion => Cause::Conversion,
            401 | 403 if reason == "Forbidden" && message.contains("admission") => Cause::Invalid,
            401 | 403 => Cause::Forbidden,
            404 => Cause::NotFound,
            409 => Cause::Conflict,
            410 => Cause::Gone,
            413 => Cause::TooLarge,
            400 | 422 if too_large => Cause::TooLarge,
            400 | 405 | 406 | 415 | 422 => Cause::Invalid,
            429 => Cause::Throttled,
            408 | 504 => Cause::Timeout,
            0 => Cause::Decode,
            _ if too_large => Cause::TooLarge,
            _ => Cause::Server,
        };
        let message = if message.is_empty() { format!("status {code} {reason}") } else { message.to_owned() };
        Self { cause, message }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cause.as_str(), self.message)
    }
}

impl std::error::Error for Failure {}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::of_status(status.code, &status.reason, &status.message),
            kube::Error::SerdeError(error) => Self::new(Cause::Decode, error.to_string()),
            kube::Error::FromUtf8(error) => Self::new(Cause::Decode, error.to_string()),
            other => Self::new(Cause::Network, chain(&other)),
        }
    }
}

/// An error and what it comes from: a connection's errors say little by themselves.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_an_api_server_have_their_causes() {
        let webhook = "conversion webhook for example.com/v1alpha1, Kind=Widget failed: Post \"https://…\": service not found";
        let cases = [
            (500, "InternalError", webhook, Cause::Conversion),
            (429, "TooManyRequests", "storage is (re)initializing: conversion webhook for example.com/v1 failed", Cause::Conversion),
            (429, "TooManyRequests", "storage is (re)initializing", Cause::Throttled),
            (403, "Forbidden", "widgets.example.com is forbidden: User \"x\" cannot list resource", Cause::Forbidden),
            (403, "Forbidden", "admission webhook \"policy\" denied the request: no", Cause::Invalid),
            (404, "NotFound", "the server could not find the requested resource", Cause::NotFound),
            (409, "Conflict", "the object has been modified", Cause::Conflict),
            (410, "Expired", "too old resource version", Cause::Gone),
            (413, "RequestEntityTooLarge", "limit is 3145728", Cause::TooLarge),
            (500, "", "etcdserver: request is too large", Cause::TooLarge),
            (422, "Invalid", "spec.x: Invalid value", Cause::Invalid),
            (504, "Timeout", "Too large resource version: 7, current: 3", Cause::Timeout),
            (0, "", "", Cause::Decode),
            (503, "ServiceUnavailable", "apiserver not ready", Cause::Server),
        ];
        for (code, reason, message, expected) in cases {
            assert_eq!(Failure::of_status(code, reason, message).cause, expected, "{code} {message}");
        }
    }
}
