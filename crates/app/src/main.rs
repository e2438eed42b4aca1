//! The binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    signpost_app::command::run(std::env::args_os())
}
