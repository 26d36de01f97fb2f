//! Tests of vector instructions from their encodings, against arithmetic done another way.

mod destination;
mod division;
mod floating;
mod integer;
mod movement;
mod transcendental;
