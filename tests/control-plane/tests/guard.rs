//! What is left behind when a test process is killed: nothing.

#![allow(clippy::unwrap_used, reason = "a failed test may panic anywhere")]

use std::path::Path;
use std::time::Duration;

use aibom_control_plane::process::Program;
use aibom_control_plane::wait_until;

/// Set for the process that is killed: this test program again, with only the test that plays its part.
const PART: &str = "AIBOM_GUARD_TEST_FOLDER";

#[test]
fn the_part_of_a_process_that_is_killed() {
    let Some(folder) = std::env::var_os(PART) else { return };
    let folder = Path::new(&folder);
    let ended = Program::new("true", folder.join("true.log")).start().unwrap();
    ended.wait_exit(Duration::from_secs(10)).unwrap();
    let child = Program::new("sleep", folder.join("sleep.log")).arg("600").start().unwrap();
    std::fs::write(folder.join("unfinished"), child.pid().to_string()).unwrap();
    std::fs::rename(folder.join("unfinished"), folder.join("pid")).unwrap();
    std::thread::sleep(Duration::from_mins(10));
}

#[test]
fn children_of_a_killed_test_process_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let victim = Program::new(std::env::current_exe().unwrap(), folder.path().join("victim.log"))
        .args(["--exact", "the_part_of_a_process_that_is_killed"])
        .env(PART, folder.path())
        .start()
        .unwrap();
    let pid = wait_until("the victim's child", Duration::from_secs(30), || {
        Ok(std::fs::read_to_string(folder.path().join("pid")).map_err(|error| format!("{error}; {}", victim.log_tail(5))))
    })
    .unwrap();
    let child = Path::new("/proc").join(pid);
    assert!(child.exists());
    victim.kill9().unwrap();
    wait_until("the end of the child", Duration::from_secs(10), || Ok(if child.exists() { Err("it runs".to_owned()) } else { Ok(()) }))
        .unwrap();
}
