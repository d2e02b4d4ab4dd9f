//! The rules of each section.
//!
//! Limits of lengths and numbers are those of the schema. They are checked again, because a definition that is older than the controller
//! may have let more through.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use regex::{Regex, RegexBuilder};

use super::error::{ConfigError, Problem, Section};
use super::read::Item;
use super::{Context, Documents};
use crate::config::{
    BomGenerationConfig, IdentityConstraint, PluginConfig, PodTemplateKind, RuntimeChanges, RuntimeImagePattern, SinkConfig, SinkType,
    TrustRootMode, VerificationConfig, WebhookSink,
};
use crate::kinds::{GroupKind, is_kind};
use crate::text::{is_dns_label, is_dns_subdomain, is_label_key, is_label_value};

/// Bytes that a compiled pattern may take. 256 characters of a sane pattern take a hundredth of it.
const PATTERN_SIZE: usize = 1 << 20;

/// Kinds that a message names, at most.
const NAMED_KINDS: usize = 40;

/// Collects the errors of one section.
pub(super) struct Check {
    section: Section,
    errors: Vec<ConfigError>,
}

impl Check {
    /// Runs checks of a section and puts what they find behind `errors`.
    pub(super) fn run<R>(section: Section, errors: &mut Vec<ConfigError>, checks: impl FnOnce(&mut Self) -> R) -> R {
        let mut check = Self { section, errors: Vec::new() };
        let result = checks(&mut check);
        errors.append(&mut check.errors);
        result
    }

    fn error(&mut self, path: impl Into<String>, problem: Problem) {
        self.errors.push(ConfigError { section: self.section, path: path.into(), problem });
    }

    fn length(&mut self, path: impl Into<String>, length: usize, min: usize, max: usize) -> bool {
        let fits = (min..=max).contains(&length);
        if !fits {
            self.error(path, Problem::Length { length, min, max });
        }
        fits
    }

    /// Characters, as the API server counts them.
    fn text(&mut self, path: impl Into<String>, text: &str, min: usize, max: usize) -> bool {
        self.length(path, text.chars().count(), min, max)
    }

    fn range(&mut self, path: impl Into<String>, value: i64, min: i64, max: i64) {
        if !(min..=max).contains(&value) {
            self.error(path, Problem::OutOfRange { value, min, max });
        }
    }

    fn pattern(&mut self, path: impl Into<String>, pattern: &str) {
        if let Err(reason) = compile(pattern) {
            self.error(path, Problem::Pattern(reason));
        }
    }

    fn secret(&mut self, path: &str, reference: &crate::config::SecretKeyRef) {
        self.text(format!("{path}.name"), &reference.name, 1, 253);
        self.text(format!("{path}.key"), &reference.key, 1, 253);
    }

    pub(super) fn namespace_selector(&mut self, selector: &LabelSelector) {
        const PATH: &str = "spec.discovery.namespaceSelector";
        for (key, value) in selector.match_labels.iter().flatten() {
            if !is_label_key(key) {
                self.error(format!("{PATH}.matchLabels"), Problem::LabelKey(key.clone()));
            }
            if !is_label_value(value) {
                self.error(format!("{PATH}.matchLabels[{key}]"), Problem::LabelValue(value.clone()));
            }
        }
        for (index, requirement) in selector.match_expressions.iter().flatten().enumerate() {
            let path = format!("{PATH}.matchExpressions[{index}]");
            if !is_label_key(&requirement.key) {
                self.error(format!("{path}.key"), Problem::LabelKey(requirement.key.clone()));
            }
            let values = requirement.values.as_deref().unwrap_or_default();
            let operator = requirement.operator.clone();
            match operator.as_str() {
                "In" | "NotIn" if values.is_empty() => self.error(format!("{path}.values"), Problem::ValuesNeeded(operator)),
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    self.error(format!("{path}.values"), Problem::ValuesForbidden(operator));
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                _ => self.error(format!("{path}.operator"), Problem::Operator(operator)),
            }
            for (place, value) in values.iter().enumerate().filter(|(_, value)| !is_label_value(value)) {
                self.error(format!("{path}.values[{place}]"), Problem::LabelValue(value.clone()));
            }
        }
    }

    pub(super) fn image_patterns(&mut self, patterns: &[RuntimeImagePattern]) {
        for (index, entry) in patterns.iter().enumerate() {
            let path = format!("spec.discovery.inferenceRuntimeImagePatterns[{index}]");
            self.text(format!("{path}.runtime"), &entry.runtime, 1, 64);
            if self.text(format!("{path}.pattern"), &entry.pattern, 1, 256) {
                self.pattern(format!("{path}.pattern"), &entry.pattern);
            }
        }
    }

    /// The kinds of a list, when each is known to a plugin or to `own`.
    pub(super) fn kinds(&mut self, path: &str, list: &[String], own: &[PodTemplateKind], context: &Context<'_>) -> BTreeSet<GroupKind> {
        let own: BTreeSet<GroupKind> = own.iter().map(|kind| GroupKind::new(&kind.group, &kind.kind)).collect();
        let mut kinds = BTreeSet::new();
        for (index, text) in list.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match text.parse::<GroupKind>() {
                Err(error) => self.error(path, Problem::NoKind(error)),
                Ok(kind) => {
                    if let Some(known) = context.known_kinds
                        && !known.contains(&kind)
                        && !own.contains(&kind)
                    {
                        let known = list_of(known.union(&own));
                        self.error(path, Problem::UnknownKind { kind, known });
                        continue;
                    }
                    kinds.insert(kind);
                }
            }
        }
        kinds
    }

    pub(super) fn pod_template_kinds(&mut self, kinds: &[PodTemplateKind]) {
        const PATH: &str = "spec.discovery.podTemplateKinds";
        self.length(PATH, kinds.len(), 0, 64);
        let mut seen = BTreeSet::new();
        for (index, entry) in kinds.iter().enumerate() {
            let path = format!("{PATH}[{index}]");
            let parts = [
                ("group", "API group", &entry.group, is_dns_subdomain(&entry.group)),
                ("kind", "kind", &entry.kind, is_kind(&entry.kind)),
                ("plural", "name of a resource", &entry.plural, is_dns_label(&entry.plural)),
                ("version", "version of an API", &entry.version, is_dns_label(&entry.version)),
            ];
            for (field, what, value, good) in parts {
                if !good {
                    self.error(format!("{path}.{field}"), Problem::Name { what, value: value.clone() });
                }
            }
            self.length(format!("{path}.podTemplates"), entry.pod_templates.len(), 1, 16);
            for (place, pointer) in entry.pod_templates.iter().enumerate().filter(|(_, pointer)| !is_pointer(pointer)) {
                self.error(format!("{path}.podTemplates[{place}]"), Problem::Pointer(pointer.clone()));
            }
            let kind = GroupKind::new(&entry.group, &entry.kind);
            if !seen.insert(kind.clone()) {
                self.error(path, Problem::Duplicate(kind.to_string()));
            }
        }
    }

    pub(super) fn runtimes(&mut self, changes: &RuntimeChanges, context: &Context<'_>) {
        const PATH: &str = "spec.discovery.runtimes";
        self.length(format!("{PATH}.entries"), changes.entries.len(), 0, 256);
        self.length(format!("{PATH}.disabled"), changes.disabled.len(), 0, 256);
        let mut seen = BTreeSet::new();
        for (index, entry) in changes.entries.iter().enumerate() {
            let path = format!("{PATH}.entries[{index}].name");
            self.text(&path, &entry.name, 1, 64);
            if !seen.insert(&entry.name) {
                self.error(path, Problem::Duplicate(entry.name.clone()));
            }
        }
        for (index, name) in changes.disabled.iter().enumerate() {
            self.text(format!("{PATH}.disabled[{index}]"), name, 1, 64);
        }
        if self.errors.is_empty()
            && let Some(check) = context.check_runtimes
            && let Err(reason) = check(changes)
        {
            self.error(PATH, Problem::Runtimes(reason));
        }
    }

    pub(super) fn documents(&mut self, config: &BomGenerationConfig) {
        let (least, most) = (Documents::MIN_INLINE_BYTES, Documents::MAX_INLINE_BYTES);
        if let Some(bytes) = config.inline_threshold_bytes {
            self.range("spec.bomGeneration.inlineThresholdBytes", bytes, least, most);
        }
        if let Some(count) = config.stale_threshold_reconciles {
            self.range("spec.bomGeneration.staleThresholdReconciles", count.into(), 1, i32::MAX.into());
        }
    }

    pub(super) fn sink(&mut self, path: &str, sink: &SinkConfig) {
        if !is_dns_label(&sink.name) {
            self.error(format!("{path}.name"), Problem::Name { what: "name of a sink", value: sink.name.clone() });
        }
        match (sink.type_, &sink.gcs, &sink.webhook) {
            (SinkType::Gcs, None, _) => self.error(format!("{path}.gcs"), Problem::Missing { with: "type GCS" }),
            (SinkType::Webhook, _, None) => self.error(format!("{path}.webhook"), Problem::Missing { with: "type Webhook" }),
            _ => {}
        }
        match (sink.type_, &sink.gcs, &sink.webhook) {
            (SinkType::Gcs, _, Some(_)) => self.error(format!("{path}.webhook"), Problem::Conflict { with: "type GCS" }),
            (SinkType::Webhook, Some(_), _) => self.error(format!("{path}.gcs"), Problem::Conflict { with: "type Webhook" }),
            _ => {}
        }
        if let Some(gcs) = &sink.gcs {
            let path = format!("{path}.gcs");
            self.text(format!("{path}.bucket"), &gcs.bucket, 3, 222);
            self.text(format!("{path}.pathTemplate"), gcs.path_template.as_deref().unwrap_or_default(), 0, 512);
            if let Some(reference) = &gcs.credentials_secret_ref {
                self.secret(&format!("{path}.credentialsSecretRef"), reference);
            }
        }
        if let Some(webhook) = &sink.webhook {
            self.webhook(&format!("{path}.webhook"), webhook);
        }
    }

    fn webhook(&mut self, path: &str, webhook: &WebhookSink) {
        let endpoint = format!("{path}.endpoint");
        self.text(&endpoint, &webhook.endpoint, 1, 2048);
        let Some(auth) = &webhook.auth else {
            return self.scheme(&endpoint, &webhook.endpoint);
        };
        self.scheme(&endpoint, &webhook.endpoint);
        let path = format!("{path}.auth");
        if auth.bearer_token.is_some() && auth.mtls.is_some() {
            self.error(format!("{path}.mtls"), Problem::Conflict { with: "bearerToken" });
        }
        if (auth.bearer_token.is_some() || auth.mtls.is_some()) && webhook.endpoint.starts_with("http://") {
            self.error(endpoint, Problem::ClearText);
        }
        if let Some(bearer) = &auth.bearer_token {
            self.secret(&format!("{path}.bearerToken.secretRef"), &bearer.secret_ref);
        }
        if let Some(mtls) = &auth.mtls {
            self.secret(&format!("{path}.mtls.clientCertSecretRef"), &mtls.client_cert_secret_ref);
            self.secret(&format!("{path}.mtls.clientKeySecretRef"), &mtls.client_key_secret_ref);
            if let Some(reference) = &mtls.ca_secret_ref {
                self.secret(&format!("{path}.mtls.caSecretRef"), reference);
            }
        }
    }

    fn scheme(&mut self, path: &str, url: &str) {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            self.error(path, Problem::Scheme("https:// or http://"));
        }
    }

    pub(super) fn verification(&mut self, config: &VerificationConfig) {
        const PATH: &str = "spec.verification";
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        match config.trust_root_mode {
            Some(TrustRootMode::TufMirror) if !given(&config.tuf_mirror_url) => {
                self.error(format!("{PATH}.tufMirrorURL"), Problem::Missing { with: "trustRootMode tufMirror" });
            }
            Some(TrustRootMode::StaticBundle) if !given(&config.static_bundle_path) => {
                self.error(format!("{PATH}.staticBundlePath"), Problem::Missing { with: "trustRootMode staticBundle" });
            }
            _ => {}
        }
        let urls = [("tufMirrorURL", &config.tuf_mirror_url), ("rekorURL", &config.rekor_url)];
        for (field, url) in urls.into_iter().filter(|(_, url)| given(url)) {
            let (path, url) = (format!("{PATH}.{field}"), url.as_deref().unwrap_or_default());
            self.text(&path, url, 1, 2048);
            self.scheme(&path, url);
        }
        self.text(format!("{PATH}.staticBundlePath"), config.static_bundle_path.as_deref().unwrap_or_default(), 0, 1024);
        if let Some(seconds) = config.per_claim_timeout_seconds {
            self.range(format!("{PATH}.perClaimTimeoutSeconds"), seconds.into(), 1, 30);
        }
        if let Some(minutes) = config.cache_ttl_minutes {
            self.range(format!("{PATH}.cacheTTLMinutes"), minutes.into(), 1, 10_080);
        }
        for (index, identity) in config.identities.iter().enumerate() {
            self.identity(&format!("{PATH}.identities[{index}]"), identity);
        }
    }

    fn identity(&mut self, path: &str, identity: &IdentityConstraint) {
        let (issuer, pattern) = (identity.issuer.as_deref().unwrap_or_default(), identity.subject_pattern.as_deref().unwrap_or_default());
        if issuer.is_empty() && pattern.is_empty() {
            self.error(path, Problem::NoConstraint);
        }
        self.text(format!("{path}.issuer"), issuer, 0, 512);
        if self.text(format!("{path}.subjectPattern"), pattern, 0, 512) {
            self.pattern(format!("{path}.subjectPattern"), pattern);
        }
    }

    pub(super) fn plugin(&mut self, path: &str, plugin: &PluginConfig) {
        self.text(format!("{path}.name"), &plugin.name, 1, 64);
        self.length(format!("{path}.kinds"), plugin.kinds.len(), 0, 64);
        // Not compared with what is known: a plugin may come after its settings.
        self.kinds(&format!("{path}.kinds"), &plugin.kinds, &[], &Context::default());
    }

    /// A name that two elements of a list have. The API server refuses them, so this is for objects that never passed one.
    pub(super) fn unique<T>(&mut self, items: &[Item<T>]) {
        let mut seen = BTreeSet::new();
        for item in items.iter().filter(|item| !item.name.is_empty() && !seen.insert(&item.name)) {
            self.error(format!("{}.name", item.path), Problem::Duplicate(item.name.clone()));
        }
    }
}

/// A pattern of `spec.discovery.inferenceRuntimeImagePatterns` or `spec.verification.identities`, ready for use. It matches anywhere, as in
/// RE2. The time for a match is linear in the text.
///
/// # Errors
/// What is wrong with the pattern, on one line.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build().map_err(|error| {
        // The last line says what is wrong, the ones before it draw the place.
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").trim().to_owned()
    })
}

/// RFC 6901, and not the whole document: `/` begins each token, `~` stands before 0 or 1 only.
fn is_pointer(text: &str) -> bool {
    let mut rest = text.split('~');
    let first = rest.next().unwrap_or_default();
    first.starts_with('/') && text.len() <= 512 && rest.all(|part| part.starts_with(['0', '1']))
}

fn list_of<'a>(kinds: impl Iterator<Item = &'a GroupKind>) -> String {
    let mut names: Vec<String> = kinds.map(ToString::to_string).collect();
    let more = names.len().saturating_sub(NAMED_KINDS);
    names.truncate(NAMED_KINDS);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
