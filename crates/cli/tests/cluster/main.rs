//! Rings of real processes with real browsers, while everything happens to them that can happen to
//! machines: the model is that of an undisturbed crawl on one machine every time.

mod chaos;
mod guide;
mod machines;
mod network;
mod ring;
mod seeds;
mod star;
mod stories;
mod tortures;
