//! Flags and variables of the operator, under the names of the Go operator.

use std::path::PathBuf;

use clap::Args;

/// Keep one AIBOM for every AI workload of the namespaces that are opted in
///
/// Runs in a cluster, in a pod with a ServiceAccount, or outside with a kubeconfig. What is looked at, and how, says the
/// AIBOMControllerConfig `default`; without one every setting has its default.
#[derive(Debug, Args)]
// What a chart appends to the arguments of a container replaces what stands there.
#[command(args_override_self = true)]
#[command(after_help = "Namespaces are opted in by a label:\n  kubectl label namespace my-team aibom.k8saibom.dev/enabled=true\n  \
                        kubectl get aibom -n my-team\n\nOf several replicas one writes, the others stand by; see --leader-elect.")]
pub struct Flags {
    /// Address of /metrics; :8080 is every interface, 0 is none
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub metrics_bind_address: String,
    /// Address of /healthz and /readyz; 0 is none
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: String,
    /// Write only while holding the lease `k8s-aibom.aibom.k8saibom.dev` in the namespace of the controller
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub leader_elect: bool,
    /// Not ready while the configuration is not valid
    #[arg(long)]
    pub strict_config_readiness: bool,
    /// Kubeconfig [default: KUBECONFIG, ~/.kube/config, then the pod's ServiceAccount]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Folder of the built-in scrapers (*.wasm) [default: `plugins` beside the binary or one folder up]
    /// [env: K8S_AIBOM_PLUGINS]
    #[arg(long, value_name = "DIR")]
    pub plugins: Option<PathBuf>,
    /// Workloads that are looked at side by side
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub workers: usize,
    /// Up to so many opted-in namespaces, pods are watched in each of them; beyond it in the whole cluster
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub pod_watch_namespaces: usize,
    /// Seconds between two probes of each third-party kind, which show that its objects can be read
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub watch_probe_interval: u32,
    /// Name of the controller's pod, for its events and its lease
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide = true)]
    pub pod_name: Option<String>,
    /// UID of the controller's pod
    #[arg(long, value_name = "UID", env = "POD_UID", hide = true)]
    pub pod_uid: Option<String>,
    /// Namespace of the controller
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", default_value = "k8s-aibom-system")]
    pub pod_namespace: String,
    /// Level of the log until the configuration says another: debug, info, warn or error
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub zap_log_level: String,
    /// Form of the log: json, or console for people
    #[arg(long, value_name = "FORM", default_value = "json", value_parser = ["json", "console"])]
    pub zap_encoder: String,
    /// Taken for compatibility; has no effect
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true")]
    zap_devel: Option<String>,
    /// Taken for compatibility; has no effect
    #[arg(long, hide = true)]
    zap_stacktrace_level: Option<String>,
    /// Taken for compatibility; has no effect
    #[arg(long, hide = true)]
    zap_time_encoding: Option<String>,
}

impl Flags {
    /// Says which flags have no effect.
    pub fn warn_about_ignored(&self) {
        let ignored = [
            ("--zap-devel", &self.zap_devel),
            ("--zap-stacktrace-level", &self.zap_stacktrace_level),
            ("--zap-time-encoding", &self.zap_time_encoding),
        ];
        for (name, _) in ignored.iter().filter(|(_, value)| value.is_some()) {
            tracing::warn!("{name} is taken for compatibility and has no effect");
        }
    }
}
