//! What is easily got wrong about images, command lines and variables of programs: a container in, everything that is read from it out.
//!
//! One file per group of programs. How to write a case is told in [`support`].

mod agents;
mod chains;
mod clients;
mod engines;
mod in_house;
mod jobs;
mod model_servers;
mod names;
mod platforms;
mod servers;
mod signs;
mod support;
mod training;
