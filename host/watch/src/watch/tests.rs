//! A server in the process that says what a real one cannot be told to say.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::client::Body;

use super::*;

/// One answer: a code, lines, and whether the connection then stays open in silence.
#[derive(Clone)]
struct Answer(u16, Vec<String>, bool);

fn ok(text: impl Into<String>) -> Answer {
    Answer(200, vec![text.into()], false)
}

fn lines(lines: &[String]) -> Answer {
    Answer(200, lines.iter().map(|line| format!("{line}\n")).collect(), true)
}

fn status(code: u16, message: &str) -> String {
    format!(r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"{message}","reason":"X","code":{code}}}"#)
}

fn list(names: &[&str], version: u32, token: &str) -> String {
    let items: Vec<String> = names.iter().map(|name| format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"1"}}}}"#)).collect();
    format!(r#"{{"kind":"WidgetList","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{}]}}"#, items.join(","))
}

fn event(kind: &str, name: &str, version: u32) -> String {
    format!(r#"{{"type":"{kind}","object":{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}}}"#)
}

/// A watch on a server with these answers, and the requests that came. After the last answer the server is silent.
fn watch(answers: Vec<Answer>) -> (Watch, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    let service = tower::service_fn(move |request: Request<Body>| {
        seen.lock().unwrap().push(request.uri().to_string());
        let answer = answers.lock().unwrap().pop_front().unwrap_or(Answer(200, Vec::new(), true));
        async move {
            let Answer(code, parts, open) = answer;
            let parts = stream::iter(parts.into_iter().map(|part| Ok::<_, Infallible>(Frame::data(Bytes::from(part)))));
            let rest: std::pin::Pin<Box<dyn futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>> =
                if open { Box::pin(stream::pending()) } else { Box::pin(stream::empty()) };
            let body = StreamBody::new(futures_util::StreamExt::chain(parts, rest));
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }
    });
    let client = Client::new(kube::Client::new(service, "default"), Duration::from_secs(30));
    let widgets = Resource::new("example.com", "v1", "widgets", "Widget");
    (Watch::new(client, widgets, &Scope::Cluster, Settings { page: 2, ..Settings::default() }), requests)
}

fn said(event: &Event) -> String {
    let name = |object: &Object| object.meta.name.clone();
    match event {
        Event::Listing => "listing".to_owned(),
        Event::Listed(object) => format!("listed {}", name(object)),
        Event::Synced => "synced".to_owned(),
        Event::Applied(object) => format!("applied {}", name(object)),
        Event::Deleted(object) => format!("deleted {}", name(object)),
        Event::Opened => "opened".to_owned(),
        Event::Unreadable(_) => "unreadable".to_owned(),
        Event::Failed(failure) => format!("failed {}", failure.cause.as_str()),
    }
}

async fn next(watch: &mut Watch, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(said(&watch.next().await));
    }
    all
}

#[tokio::test(start_paused = true)]
async fn b13_a_list_of_several_pages_is_followed_by_a_watch_from_its_version() {
    let events = [event("ADDED", "d", 8), event("BOOKMARK", "", 9), event("DELETED", "a", 10)];
    let (mut watch, requests) = watch(vec![ok(list(&["a", "b"], 7, "more/1")), ok(list(&["c"], 7, "")), lines(&events)]);
    let expected = ["listing", "listed a", "listed b", "listed c", "synced", "applied d", "deleted a"];
    assert_eq!(next(&mut watch, expected.len()).await, expected);
    let requests = requests.lock().unwrap();
    assert!(requests[1].contains("limit=2&continue=more%2F1"), "{requests:?}");
    assert!(requests[2].contains("watch=true") && requests[2].contains("resourceVersion=7"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_opened_again_where_it_ended_and_a_bookmark_counts() {
    let mut first = lines(&[event("ADDED", "a", 8), event("BOOKMARK", "", 12)]);
    first.2 = false;
    let (mut watch, requests) = watch(vec![ok(list(&[], 7, "")), first, lines(&[event("MODIFIED", "a", 13)])]);
    assert_eq!(next(&mut watch, 4).await, ["listing", "synced", "applied a", "applied a"]);
    assert!(requests.lock().unwrap()[2].contains("resourceVersion=12"));
}

#[tokio::test(start_paused = true)]
async fn b11_what_is_too_old_is_listed_anew_without_a_failure() {
    let gone = format!(r#"{{"type":"ERROR","object":{}}}"#, status(410, "too old resource version"));
    let (mut watch, _) = watch(vec![ok(list(&["a"], 7, "")), lines(&[gone]), ok(list(&["b"], 9, ""))]);
    assert_eq!(next(&mut watch, 6).await, ["listing", "listed a", "synced", "listing", "listed b", "synced"]);
}

#[tokio::test(start_paused = true)]
async fn failing_lists_wait_longer_each_time_and_say_why() {
    let failed = Answer(500, vec![status(500, "conversion webhook for example.com/v1alpha1 failed")], false);
    let (mut watch, requests) = watch(vec![failed.clone(), failed.clone(), failed, ok(list(&["a"], 7, ""))]);
    let started = Instant::now();
    let all = next(&mut watch, 9).await;
    let failures = all.iter().filter(|event| *event == "failed Conversion").count();
    assert_eq!((failures, &*all[8]), (3, "synced"), "{all:?}");
    // 5 + 10 + 20 seconds, less a quarter at most.
    let waited = started.elapsed().as_secs_f64();
    assert!((26.0..=35.1).contains(&waited), "waited {waited} s");
    assert_eq!(requests.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_is_told_and_the_next_one_comes_at_once() {
    let broken = r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":5}}}"#.to_owned();
    let (mut watch, _) = watch(vec![ok(list(&[], 7, "")), lines(&[broken, "no json".to_owned(), event("ADDED", "a", 8)])]);
    let started = Instant::now();
    assert_eq!(next(&mut watch, 5).await, ["listing", "synced", "unreadable", "unreadable", "applied a"]);
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn b12_a_silent_connection_is_given_up_and_opened_again() {
    let (mut watch, requests) = watch(vec![ok(list(&[], 7, "")), lines(&[]), lines(&[event("ADDED", "a", 8)])]);
    let started = Instant::now();
    assert_eq!(next(&mut watch, 3).await, ["listing", "synced", "applied a"]);
    assert!((300.0..301.0).contains(&started.elapsed().as_secs_f64()));
    assert_eq!(requests.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_watch_at_once_is_not_asked_without_pause() {
    let ended = Answer(200, Vec::new(), false);
    let (mut watch, _) = watch(vec![ok(list(&[], 7, "")), ended.clone(), ended, lines(&[event("ADDED", "a", 8)])]);
    let started = Instant::now();
    assert_eq!(next(&mut watch, 7).await, ["listing", "synced", "failed Network", "opened", "failed Network", "opened", "applied a"]);
    assert!(started.elapsed() > Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_again_and_again_makes_no_request_anew_and_a_silent_connection_is_noticed_all_the_same() {
    let (mut watch, requests) = watch(vec![ok(list(&["a"], 7, "")), lines(&[]), lines(&[event("ADDED", "b", 8)])]);
    let started = Instant::now();
    let mut all = Vec::new();
    while all.len() < 4 {
        // Others are heard in between, each time before this one.
        if let Ok(event) = tokio::time::timeout(Duration::from_secs(7), watch.next()).await {
            all.push(said(&event));
        }
    }
    assert_eq!(all, ["listing", "listed a", "synced", "applied b"]);
    assert!((300.0..301.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    assert_eq!(requests.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_when_waiting_for_an_event_is_given_up() {
    let half = event("ADDED", "a", 8);
    let (first, second) = half.split_at(20);
    let answer = Answer(200, vec![first.to_owned(), format!("{second}\n{}\n", event("ADDED", "b", 9))], true);
    let (mut watch, _) = watch(vec![ok(list(&[], 7, "")), answer]);
    let mut all = Vec::new();
    while all.len() < 4 {
        tokio::select! {
            biased;
            event = watch.next() => all.push(said(&event)),
            () = std::future::ready(()) => tokio::task::yield_now().await,
        }
    }
    assert_eq!(all, ["listing", "synced", "applied a", "applied b"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_of_large_objects_is_given_up_and_fewer_of_them_are_asked_for() {
    let large = |name: &str| format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"1"}},"spec":"{}"}}"#, "x".repeat(3 << 20));
    let page = |items: &[String], token: &str| {
        ok(format!(r#"{{"kind":"WidgetList","metadata":{{"resourceVersion":"7","continue":"{token}"}},"items":[{}]}}"#, items.join(",")))
    };
    let both = page(&[large("b"), large("c")], "");
    let (mut watch, requests) =
        watch(vec![page(&[large("a")], "one"), both, page(&[large("b")], "two"), page(&[large("c")], "three"), ok(list(&["d"], 7, ""))]);
    assert_eq!(next(&mut watch, 6).await, ["listing", "listed a", "listed b", "listed c", "listed d", "synced"]);
    let limits: Vec<String> = requests.lock().unwrap().iter().map(|request| request.split_once("limit=").unwrap().1.to_owned()).collect();
    assert_eq!(limits, ["2", "2&continue=one", "1&continue=one", "1&continue=two", "1&continue=three"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_no_store_takes_is_a_failure_of_its_list() {
    let giant = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{{"spec":"{}"}}]}}"#, "x".repeat(17 << 20));
    let (mut watch, _) = watch(vec![ok(giant.clone()), ok(giant), ok(list(&["a"], 7, ""))]);
    assert_eq!(next(&mut watch, 5).await, ["listing", "failed TooLarge", "listing", "listed a", "synced"]);
}
