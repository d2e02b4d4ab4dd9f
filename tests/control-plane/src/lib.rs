//! A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager as child processes of the test.
//!
//! [`ControlPlane::start`] gives one that answers, in some seconds. It has no kubelet and no scheduler, so pods stay pending until a test
//! writes their status itself ([`ControlPlane::set_pod_status`]); everything else is what a cluster does: RBAC is enforced, Deployments get
//! ReplicaSets and Pods, owner references are collected, definitions of custom resources are checked and become established.
//!
//! - [`binaries`]: where the programs come from, and how they are built from pinned Go modules where they are missing.
//! - [`process`]: a child process with its log; also for the operator under test, which can be killed and whose memory can be read.
//! - [`cluster`]: the control plane, clients' configurations for users and ServiceAccounts, outages of the API server.
//! - [`audit`]: what the API server was asked, read from its audit log. It is the judge of "no needless writes": it sees every client.
//! - [`webhook`]: a conversion webhook that can be stopped, slowed down and made to lie.
//! - [`pods`]: statuses that a kubelet would write.
//!
//! # How many
//!
//! A control plane takes some 450 MB and some seconds, so a test binary has one, in a `static` [`std::sync::OnceLock`], and each test a
//! namespace of its own. Values in a `static` are never dropped, and a test that is killed drops nothing either; both are provided for:
//! every child is known to a small guard process, which ends them and removes the folder once the test process is gone.
//!
//! # Variables
//!
//! | Variable | Meaning |
//! |---|---|
//! | `KUBEBUILDER_ASSETS` | folder with programs, taken first and as they are |
//! | `AIBOM_TOOLS_CACHE` | folder for programs that were built, instead of `$XDG_CACHE_HOME/k8s-aibom` or `~/.cache/k8s-aibom` |
//! | `AIBOM_KEEP_CLUSTER` | keep the folders of control planes, with logs, audit log and data, and say where they are |

pub mod audit;
pub mod binaries;
pub mod cluster;
mod error;
mod guard;
pub mod pods;
mod ports;
pub mod process;
mod wait;
pub mod webhook;

pub use audit::Audit;
pub use cluster::{ControlPlane, Options};
pub use error::{Error, Result};
pub use wait::wait_until;
