//! Requests with a bound on time.

use std::pin::Pin;
use std::time::Duration;

use futures_util::io::{AsyncBufRead, AsyncBufReadExt as _};
use http::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Cause, Failure};
use crate::meta::Meta;

/// In which form objects are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// As they are.
    #[default]
    Whole,
    /// `metadata` only, which the server cuts out.
    Metadata,
}

impl Accept {
    fn header(self, list: bool) -> &'static str {
        match (self, list) {
            (Self::Whole, _) => "application/json",
            (Self::Metadata, false) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            (Self::Metadata, true) => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        }
    }
}

/// What a patch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What the object is to have of ours: server-side apply.
    Apply,
    /// What is to be changed: a merge patch, RFC 7386.
    Merge,
}

impl Form {
    fn content_type(self) -> &'static str {
        match self {
            // JSON is YAML.
            Self::Apply => "application/apply-patch+yaml",
            Self::Merge => "application/merge-patch+json",
        }
    }
}

/// A body that is read line by line.
pub(crate) type Lines = Pin<Box<dyn AsyncBufRead + Send>>;

/// A client of the API in which no request waits for ever. What it wraps must not retry by itself, since failures would be hidden.
#[derive(Clone)]
pub struct Client {
    client: kube::Client,
    timeout: Duration,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Client {
    /// Wraps a client; `timeout` is for each request.
    pub fn new(client: kube::Client, timeout: Duration) -> Self {
        Self { client, timeout }
    }

    /// The client inside.
    pub fn inner(&self) -> &kube::Client {
        &self.client
    }

    /// The text of an object.
    ///
    /// # Errors
    /// How the request failed.
    pub async fn get_text(&self, path: &str, accept: Accept) -> Result<String, Failure> {
        self.text(request(path, accept.header(false))?).await
    }

    /// An object read into a type.
    ///
    /// # Errors
    /// How the request failed, or that the answer is of another shape.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let text = self.get_text(path, Accept::Whole).await?;
        serde_json::from_str(&text).map_err(|error| Failure::new(Cause::Decode, error.to_string()))
    }

    /// Patches an object, and gives the metadata that it has then: the rest of it is what was sent.
    ///
    /// # Errors
    /// How the request failed.
    pub async fn patch(&self, path: &str, form: Form, body: &impl Serialize, time: Duration) -> Result<Meta, Failure> {
        let body = serde_json::to_vec(body).map_err(|error| Failure::new(Cause::Invalid, error.to_string()))?;
        let request = Request::patch(path)
            .header(http::header::ACCEPT, Accept::Metadata.header(false))
            .header(http::header::CONTENT_TYPE, form.content_type())
            .body(body)
            .map_err(|error| Failure::new(Cause::Invalid, format!("no request can be made for {path}: {error}")))?;
        let text = bounded(time, self.client.request_text(request)).await?;
        Meta::of(&text).map_err(|error| Failure::new(Cause::Decode, error.to_string()))
    }

    pub(crate) async fn list_text(&self, path: &str, accept: Accept) -> Result<String, Failure> {
        self.text(request(path, accept.header(true))?).await
    }

    /// The text of a page of a list; none when it has more bytes than `most`, which are then not read.
    pub(crate) async fn page_text(&self, path: &str, accept: Accept, most: usize) -> Result<Option<String>, Failure> {
        let request = request(path, accept.header(true))?;
        let read = async {
            let mut body: Lines = Box::pin(self.client.request_stream(request).await?);
            let mut bytes = Vec::new();
            loop {
                let part = body.fill_buf().await.map_err(|error| Failure::new(Cause::Network, format!("an answer broke off: {error}")))?;
                if part.is_empty() {
                    break;
                }
                if bytes.len() + part.len() > most {
                    return Ok(None);
                }
                bytes.extend_from_slice(part);
                let used = part.len();
                body.consume_unpin(used);
            }
            String::from_utf8(bytes).map(Some).map_err(|error| Failure::new(Cause::Decode, error.to_string()))
        };
        match tokio::time::timeout(self.timeout, read).await {
            Ok(read) => read,
            Err(_) => Err(no_answer(self.timeout)),
        }
    }

    async fn text(&self, request: Request<Vec<u8>>) -> Result<String, Failure> {
        bounded(self.timeout, self.client.request_text(request)).await
    }

    pub(crate) async fn stream(&self, path: &str, accept: Accept) -> Result<Lines, Failure> {
        let stream = bounded(self.timeout, self.client.request_stream(request(path, accept.header(false))?)).await?;
        Ok(Box::pin(stream))
    }
}

/// A call with a bound on its time.
///
/// # Errors
/// How it failed, or that there was no answer in time.
pub async fn bounded<T>(time: Duration, call: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
    match tokio::time::timeout(time, call).await {
        Ok(answer) => answer.map_err(Failure::from),
        Err(_) => Err(no_answer(time)),
    }
}

fn no_answer(time: Duration) -> Failure {
    Failure::new(Cause::Timeout, format!("no answer within {:.1} s", time.as_secs_f64()))
}

fn request(path: &str, accept: &str) -> Result<Request<Vec<u8>>, Failure> {
    Request::get(path)
        .header(http::header::ACCEPT, accept)
        .body(Vec::new())
        .map_err(|error| Failure::new(Cause::Decode, format!("no request can be made for {path}: {error}")))
}
