//! Runs code that must end a process in a child process.
#![expect(unsafe_code, reason = "`fork` of the C library")]

/// Runs in a child process and tells the signal that ended it, or none if it came to its end.
///
/// `run` may neither allocate nor print: of the threads of this process only one goes on in the
/// child.
pub(crate) fn signal_of(run: impl FnOnce()) -> Option<i32> {
    // SAFETY: the child only calls `run`, which takes no lock, and ends at once without running
    // anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child process: {}", std::io::Error::last_os_error());
    if child == 0 {
        run();
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: `status` is a local; the child is ours, and nobody else waits for it.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(ended, child, "{}", std::io::Error::last_os_error());
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    assert!(matches!(code, None | Some(0)), "the child ended with {code:?}");
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}
