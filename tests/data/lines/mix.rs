// SPDX-License-Identifier: GPL-2.0
// Functions of Rust that are generic, of traits, closures, and inlined.
#![allow(stable_features)]
#![feature(bench_black_box)] // before 1.66

use std::hint::black_box;

trait Shape {
    fn area(&self, nr: u64) -> u64;
}

struct Square<T>(T);

impl Shape for Square<u32> {
    #[inline(never)]
    fn area(&self, nr: u64) -> u64 {
        (0..nr).fold(0, |all, i| all ^ black_box(i) * self.0 as u64)
    }
}

#[inline(always)]
fn turn(with: u64) -> u64 {
    (0..16).fold(with, |all, _| black_box(all).wrapping_mul(6364136223846793005))
}

#[inline(always)]
fn turns<T: Copy + Into<u64>>(seed: T) -> u64 {
    turn(seed.into())
}

#[inline(never)]
fn sum<T: Copy + Into<u64>>(seed: T, nr: u64) -> u64 {
    (0..nr / 16).fold(0, |all, i| all ^ i ^ turns(seed))
}

#[inline(never)]
fn apply(f: &dyn Fn(u64) -> u64, nr: u64) -> u64 {
    (0..nr / 4).fold(0, |all, i| all ^ f(i))
}

fn main() {
    let nr = std::env::args().nth(1).map_or(0, |text| text.parse().unwrap());
    let shape: Box<dyn Shape> = black_box(Box::new(Square(3u32)));

    println!("{}", shape.area(nr) ^ sum(3u8, nr) ^ sum(70000u32, nr) ^ apply(&|i| turn(i), nr));
}
