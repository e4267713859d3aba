//! Tests of the public interface: one contract for all transports, and the additions of TLS.

mod authority;
mod bed;
mod contract;
mod misbehaviour;
mod tls;
mod trust;
