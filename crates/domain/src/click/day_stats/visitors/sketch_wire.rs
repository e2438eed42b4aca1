//! The bytes of a sketch: a list of the registers that are not empty while these are few, and all
//! registers beyond, each in about three bits.
//!
//! Registers crowd around one value, so that value, the commonest, is written first and each
//! register as its distance from it, folded (0, -1, 1, -2, … become 0, 1, 2, 3, …), in a Rice code:
//! half of it in unary (so many ones and a zero), then its last bit. While the commonest is zero
//! nothing lies below it, and each register is written in unary as it is. A million visitors take
//! 14 KB where six bits for each register are 24.

use super::sketch::{MAX_RANK, REGISTERS, Sketch};
use crate::click::WireError;
use crate::click::packed::{Reader, put_number};

/// Most registers in the form of a list; at two bytes each it is then as long as the other form.
const MAX_LISTED: usize = REGISTERS / 16;

const IMPOSSIBLE: WireError = WireError::Impossible("sketch of visitors");

/// The number of listed registers, zero for none and all registers instead.
pub(super) fn encode(sketch: &Sketch, out: &mut Vec<u8>) {
    let registers = sketch.registers();
    let used = registers.iter().filter(|rank| **rank > 0).count();
    if used > MAX_LISTED {
        out.push(0);
        encode_all(sketch, out);
        return;
    }
    put_number(out, used as u64);
    let mut empty = 0;
    for rank in registers {
        if *rank == 0 {
            empty += 1;
        } else {
            put_number(out, empty);
            out.push(*rank);
            empty = 0;
        }
    }
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Sketch, WireError> {
    let listed = reader.length(MAX_LISTED, "number of registers")?;
    let mut registers = Vec::with_capacity(REGISTERS);
    if listed == 0 {
        return decode_all(reader, registers);
    }
    for _ in 0..listed {
        let room = (REGISTERS - 1).checked_sub(registers.len()).ok_or(IMPOSSIBLE)?;
        let empty = reader.length(room, "register")?;
        registers.resize(registers.len() + empty, 0);
        let rank = reader.byte()?;
        if rank == 0 {
            return Err(IMPOSSIBLE);
        }
        registers.push(rank);
    }
    registers.resize(REGISTERS, 0);
    Sketch::from_registers(registers).ok_or(IMPOSSIBLE)
}

/// The commonest value of a register; the smallest of several.
fn commonest(sketch: &Sketch) -> u8 {
    let histogram = sketch.histogram();
    let most = histogram.iter().max();
    (0..=MAX_RANK).zip(&histogram).find(|(_, n)| Some(*n) == most).map_or(0, |(rank, _)| rank)
}

fn encode_all(sketch: &Sketch, out: &mut Vec<u8>) {
    let middle = commonest(sketch);
    out.push(middle);
    let mut bits = BitWriter { out, byte: 0, used: 0 };
    for rank in sketch.registers() {
        let folded = if *rank >= middle { (rank - middle) * 2 } else { (middle - rank) * 2 - 1 };
        for _ in 0..folded / 2 {
            bits.put(1);
        }
        bits.put(0);
        if middle > 0 {
            bits.put(folded % 2);
        }
    }
    bits.finish();
}

fn decode_all(reader: &mut Reader<'_>, mut registers: Vec<u8>) -> Result<Sketch, WireError> {
    let middle = reader.byte()?;
    if middle > MAX_RANK {
        return Err(IMPOSSIBLE);
    }
    let mut bits = BitReader { byte: 0, left: 0 };
    for _ in 0..REGISTERS {
        let mut half = 0_u8;
        while bits.next(reader)? {
            half += 1;
            if half > MAX_RANK {
                return Err(IMPOSSIBLE);
            }
        }
        let below = middle > 0 && bits.next(reader)?;
        let rank = if below { middle.checked_sub(half + 1) } else { middle.checked_add(half) };
        registers.push(rank.ok_or(IMPOSSIBLE)?);
    }
    let used = registers.iter().filter(|rank| **rank > 0).count();
    let sketch = Sketch::from_registers(registers).ok_or(IMPOSSIBLE)?;
    // A list would have been shorter, another middle as well, and the last bits are zero.
    let is_ours = used > MAX_LISTED && commonest(&sketch) == middle && bits.rest() == 0;
    is_ours.then_some(sketch).ok_or(IMPOSSIBLE)
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    byte: u8,
    used: u8,
}

impl BitWriter<'_> {
    fn put(&mut self, bit: u8) {
        self.byte = self.byte << 1 | bit;
        self.used += 1;
        if self.used == 8 {
            self.out.push(self.byte);
            (self.byte, self.used) = (0, 0);
        }
    }

    /// Fills the last byte with zeros.
    fn finish(mut self) {
        while self.used > 0 {
            self.put(0);
        }
    }
}

struct BitReader {
    byte: u8,
    left: u8,
}

impl BitReader {
    fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, WireError> {
        if self.left == 0 {
            (self.byte, self.left) = (reader.byte()?, 8);
        }
        let bit = self.byte & 0x80 != 0;
        self.byte <<= 1;
        self.left -= 1;
        Ok(bit)
    }

    /// The bits of the last byte that were not asked for.
    fn rest(&self) -> u8 {
        self.byte
    }
}
