//! The text that carries a click through a store's install referrer or a clipboard.
//!
//! A token is the base-62 number, in digits, upper and lower case letters, of 32 bytes: the click's
//! 16, the link's 8, and 8 of a MAC over both (see [`TokenMac`](crate::ports::TokenMac)). So it is
//! believed before the click's row exists, needs no encoding in a URL, and has one spelling only.

use uuid::Uuid;

use super::ClickId;
use crate::link::LinkId;

/// Length of every token, in characters: the fewest in which 62 letters tell 2^256 numbers apart.
pub const LENGTH: usize = 43;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A token's number, its highest 32 bits first: small enough for a digit's carry to fit beside.
type Number = [u32; 8];

/// The token of a click on a link; `mac` is over these two.
pub fn encode(click: ClickId, link: LinkId, mac: u64) -> String {
    let (click_high, click_low) = click.0.as_u64_pair();
    let mut number = to_number([click_high, click_low, link.0.cast_unsigned(), mac]);
    let mut letters = [0; LENGTH];
    for letter in letters.iter_mut().rev() {
        *letter = ALPHABET[divide(&mut number)];
    }
    letters.iter().copied().map(char::from).collect()
}

/// The click, the link and the MAC in a token; nothing for any text that [`encode`] never gives.
///
/// Whether the MAC is right is not known here, and nothing in the token may be believed before.
pub fn decode(text: &str) -> Option<(ClickId, LinkId, u64)> {
    if text.len() != LENGTH {
        return None;
    }
    let mut number = Number::default();
    for letter in text.bytes() {
        add_digit(&mut number, value_of(letter)?)?;
    }
    let [click_high, click_low, link, mac] = from_number(number);
    let click = ClickId(Uuid::from_u64_pair(click_high, click_low));
    Some((click, LinkId(link.cast_signed()), mac))
}

fn value_of(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'A'..=b'Z' => Some(letter - b'A' + 10),
        b'a'..=b'z' => Some(letter - b'a' + 36),
        _ => None,
    }
}

/// Divides by 62 and answers what remains.
fn divide(number: &mut Number) -> usize {
    let mut remainder = 0_u64;
    for part in number {
        let dividend = remainder << 32 | u64::from(*part);
        *part = low_half(dividend / 62);
        remainder = dividend % 62;
    }
    // It is below 62, so nothing is lost.
    usize::try_from(remainder).unwrap_or_default()
}

/// Multiplies by 62 and adds a digit, unless the number would be too large for 32 bytes.
fn add_digit(number: &mut Number, digit: u8) -> Option<()> {
    let mut carry = u64::from(digit);
    for part in number.iter_mut().rev() {
        let product = u64::from(*part) * 62 + carry;
        *part = low_half(product);
        carry = product >> 32;
    }
    (carry == 0).then_some(())
}

fn to_number(words: [u64; 4]) -> Number {
    let [a, b, c, d] = words.map(|word| [low_half(word >> 32), low_half(word)]);
    [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
}

fn from_number(number: Number) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, parts) in words.iter_mut().zip(number.chunks_exact(2)) {
        *word = parts.iter().fold(0, |word, part| word << 32 | u64::from(*part));
    }
    words
}

fn low_half(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LARGEST: &str = "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1";

    #[test]
    fn the_spelling_of_a_token_never_changes() {
        let click = ClickId(Uuid::from_u128(0x0192_f0c1_0000_7abc_8def_0123_4567_89ab));
        assert_eq!(
            encode(click, LinkId(42), 0x0123_4567_89ab_cdef),
            "0N8jgIf7syWQkKnPyYKOuKRHN1ZUTpgpgSewqhQWmOV"
        );
        assert_eq!(encode(ClickId(Uuid::nil()), LinkId(0), 0), "0".repeat(LENGTH));
        assert_eq!(encode(ClickId(Uuid::max()), LinkId(-1), u64::MAX), LARGEST);
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let mut beyond = LARGEST.to_owned();
        let last = beyond.pop().unwrap();
        beyond.push(char::from(u8::try_from(last).unwrap() + 1));
        let good = "1".repeat(LENGTH);
        assert!(decode(&good).is_some() && decode(LARGEST).is_some());
        for text in [
            "",
            &good[1..],
            &format!("{good}1"),
            &format!(" {}", &good[1..]),
            &format!("-{}", &good[1..]),
            &format!("ü{}", &good[2..]),
            &"z".repeat(LENGTH),
            &beyond,
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_token_comes_back(click: u128, link: i64, mac: u64) {
            let click = ClickId(Uuid::from_u128(click));
            let text = encode(click, LinkId(link), mac);
            prop_assert_eq!(text.len(), LENGTH);
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric()));
            prop_assert_eq!(decode(&text), Some((click, LinkId(link), mac)));
        }

        #[test]
        fn a_token_has_one_spelling(text in "[0-9A-Za-z]{43}|\\PC{0,50}") {
            if let Some((click, link, mac)) = decode(&text) {
                prop_assert_eq!(encode(click, link, mac), text);
            }
        }
    }
}
