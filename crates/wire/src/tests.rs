//! The crate as its users see it: one contract for all transports, and what TLS adds.

mod authority;
mod bed;
mod contract;
mod misbehaviour;
mod tls;
