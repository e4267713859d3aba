//! The process of a real Chromium and the connection to it. Where no browser is installed these
//! tests fail.

mod agent;
mod connection;
mod frames;
mod launch;
mod owner;
mod real;
mod socket;
mod tab;
mod unfit;
