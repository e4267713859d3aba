//! Decodes bytes that another process wrote, within a budget of memory. A list of tiny elements
//! takes up to 64 times the memory of its bytes, so the number of bytes alone bounds nothing. The
//! receiver gives the budget; the sender's lengths only decide where decoding stops.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// How much memory a value may take: the sizes of all list elements, texts and bytes in it. The
/// allocator adds at most as much again, since lists grow by doubling and blocks are rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    /// For each byte of the encoded value.
    pub per_byte: usize,
    /// In addition, so that small values need no care.
    pub base: usize,
    /// In no case more than this.
    pub most: usize,
}

impl MemoryBudget {
    /// For a frame or a page. Keys take 17 bytes, so that real messages take less than eight times
    /// their size.
    pub const MESSAGE: Self = Self { per_byte: 32, base: 64 << 10, most: 256 << 20 };
    /// For what one fact refers to: its actions, its route and its notes. The shortest step of a
    /// route takes 16 times its size.
    pub const FACT: Self = Self { per_byte: 16, base: 64, most: 64 << 20 };

    fn of(self, bytes: usize) -> usize {
        bytes.saturating_mul(self.per_byte).saturating_add(self.base).min(self.most)
    }
}

/// Why bytes were not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodingError {
    /// They are not a value of the expected type.
    Damaged,
    /// They go on after the value.
    Surplus,
    /// The value would take more memory than the budget.
    OverBudget,
}

impl fmt::Display for DecodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "the bytes are damaged",
            Self::Surplus => "there are bytes too many",
            Self::OverBudget => "the value would take too much memory for its size",
        })
    }
}

impl std::error::Error for DecodingError {}

/// A value that all of the bytes belong to, if it fits into the budget.
pub fn decode<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    budget: MemoryBudget,
) -> Result<T, DecodingError> {
    let left = Cell::new(budget.of(bytes.len()) as isize);
    let mut encoded = postcard::Deserializer::from_bytes(bytes);
    match T::deserialize(Within { inner: &mut encoded, left: &left }) {
        Err(_) if left.get() < 0 => Err(DecodingError::OverBudget),
        Err(_) => Err(DecodingError::Damaged),
        Ok(value) => match encoded.finalize() {
            Ok([]) => Ok(value),
            _ => Err(DecodingError::Surplus),
        },
    }
}

/// Anything of serde, with the rest of the budget.
struct Within<'b, T> {
    inner: T,
    left: &'b Cell<isize>,
}

impl<'b, T> Within<'b, T> {
    #[inline]
    fn with<U>(&self, inner: U) -> Within<'b, U> {
        Within { inner, left: self.left }
    }
}

/// Takes memory out of the budget.
#[inline]
fn charge<E: Error>(left: &Cell<isize>, bytes: usize) -> Result<(), E> {
    left.set(left.get().saturating_sub_unsigned(bytes));
    if left.get() < 0 { Err(E::custom("over budget")) } else { Ok(()) }
}

/// Passes calls on that allocate nothing and nest nothing.
macro_rules! pass_on {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        }
    )*};
}

/// Passes calls on whose visitor may allocate or nest.
macro_rules! pass_on_within {
    ($($method:ident($($name:ident: $kind:ty),*) $visitor:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(
            self,
            $($name: $kind,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            let visitor = $visitor(self.with(visitor));
            self.inner.$method($($name,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Within<'_, D> {
    type Error = D::Error;

    // Borrowed texts and bytes take no memory of their own.
    pass_on! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_bytes deserialize_unit deserialize_identifier
    }

    pass_on_within! {
        deserialize_any() Fixed
        deserialize_ignored_any() Fixed
        deserialize_string() Fixed
        deserialize_byte_buf() Fixed
        deserialize_option() Fixed
        deserialize_unit_struct(name: &'static str) Fixed
        deserialize_newtype_struct(name: &'static str) Fixed
        deserialize_tuple(len: usize) Fixed
        deserialize_tuple_struct(name: &'static str, len: usize) Fixed
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) Fixed
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) Fixed
        deserialize_seq() Growing
        deserialize_map() Growing
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// A visitor of a value whose own size its owner has paid for.
struct Fixed<'b, V>(Within<'b, V>);

/// A visitor of a list or a map, which pays for each element.
struct Growing<'b, V>(Within<'b, V>);

impl<'de, V: Visitor<'de>> Visitor<'de> for Fixed<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.inner.expecting(f)
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        charge(self.0.left, text.len())?;
        self.0.inner.visit_str(text)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        charge(self.0.left, text.len())?;
        self.0.inner.visit_borrowed_str(text)
    }

    #[inline]
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<V::Value, E> {
        charge(self.0.left, bytes.len())?;
        self.0.inner.visit_bytes(bytes)
    }

    #[inline]
    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<V::Value, E> {
        charge(self.0.left, bytes.len())?;
        self.0.inner.visit_borrowed_bytes(bytes)
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.inner.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.0.with(value);
        self.0.inner.visit_some(value)
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.0.with(value);
        self.0.inner.visit_newtype_struct(value)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        let fields = Fields(self.0.with(fields));
        self.0.inner.visit_seq(fields)
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        let variant = self.0.with(variant);
        self.0.inner.visit_enum(variant)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Growing<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.inner.expecting(f)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let elements = Elements(self.0.with(elements));
        self.0.inner.visit_seq(elements)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let entries = Elements(self.0.with(entries));
        self.0.inner.visit_map(entries)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Within<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        let value = self.with(value);
        self.inner.deserialize(value)
    }
}

/// The fields of a tuple or a struct.
struct Fields<'b, A>(Within<'b, A>);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Fields<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.0.with(seed);
        self.0.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.inner.size_hint()
    }
}

/// The elements of a list or the entries of a map. Each costs its size, or one byte if it has none:
/// a list of nothing must end, too.
struct Elements<'b, A>(Within<'b, A>);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.0.with(seed);
        let element = self.0.inner.next_element_seed(seed)?;
        if element.is_some() {
            charge(self.0.left, size_of::<S::Value>().max(1))?;
        }
        Ok(element)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.0.with(seed);
        let key = self.0.inner.next_key_seed(seed)?;
        if key.is_some() {
            charge(self.0.left, size_of::<S::Value>().max(1))?;
        }
        Ok(key)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.0.with(seed);
        charge(self.0.left, size_of::<S::Value>())?;
        self.0.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.inner.size_hint()
    }
}

impl<'de, 'b, A: EnumAccess<'de>> EnumAccess<'de> for Within<'b, A> {
    type Error = A::Error;
    type Variant = Within<'b, A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = self.with(seed);
        let left = self.left;
        let (value, inner) = self.inner.variant_seed(seed)?;
        Ok((value, Within { inner, left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Within<'_, A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.newtype_variant_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = Fixed(self.with(visitor));
        self.inner.tuple_variant(len, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = Fixed(self.with(visitor));
        self.inner.struct_variant(fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::outcome::Note;

    const TIGHT: MemoryBudget = MemoryBudget { per_byte: 4, base: 100, most: 1 << 20 };

    fn encoded(value: &impl serde::Serialize) -> Vec<u8> {
        postcard::to_allocvec(value).unwrap()
    }

    #[test]
    fn a_value_within_its_budget_comes_back_as_it_was() {
        let value = (
            7_u8,
            Some("text".to_owned()),
            vec![(1_u128, vec![2_u8, 3]), (4, Vec::new())],
            BTreeMap::from([
                ("a".to_owned(), Ok::<u8, String>(1)),
                ("b".to_owned(), Err("c".into())),
            ]),
            vec![Note::Unsettled, Note::Dialog("alert".into(), "hello".into())],
        );
        assert_eq!(decode(&encoded(&value), MemoryBudget::MESSAGE), Ok(value));
    }

    #[test]
    fn lists_of_tiny_elements_end_where_the_budget_does() {
        // One byte becomes 48 or more.
        let notes = encoded(&vec![Note::Unsettled; 1_000]);
        assert_eq!(decode::<Vec<Note>>(&notes, TIGHT), Err(DecodingError::OverBudget));
        let empty = encoded(&vec![String::new(); 1_000]);
        assert_eq!(decode::<Vec<String>>(&empty, TIGHT), Err(DecodingError::OverBudget));
        let nested = encoded(&vec![vec![vec![1_u64]]; 1_000]);
        assert_eq!(decode::<Vec<Vec<Vec<u64>>>>(&nested, TIGHT), Err(DecodingError::OverBudget));
        let map: BTreeMap<u16, Vec<u8>> = (0..1_000).map(|key| (key, Vec::new())).collect();
        let decoded = decode::<BTreeMap<u16, Vec<u8>>>(&encoded(&map), TIGHT);
        assert_eq!(decoded, Err(DecodingError::OverBudget));
        // The same bytes as a list that takes no more memory than they do.
        assert!(decode::<Vec<u8>>(&notes, TIGHT).is_ok());
    }

    #[test]
    fn a_list_of_nothing_that_claims_to_be_endless_ends() {
        let endless = encoded(&u64::MAX);
        assert_eq!(decode::<Vec<()>>(&endless, TIGHT), Err(DecodingError::OverBudget));
    }

    #[test]
    fn an_announced_length_takes_no_memory() {
        let mut huge = encoded(&(1_u64 << 40));
        huge.extend([b'x'; 50]);
        assert_eq!(decode::<String>(&huge, TIGHT), Err(DecodingError::Damaged));
        assert_eq!(decode::<Vec<u128>>(&huge, MemoryBudget::MESSAGE), Err(DecodingError::Damaged));
    }

    #[test]
    fn no_value_takes_more_than_the_most() {
        let budget = MemoryBudget { per_byte: 100, base: 0, most: 1_000 };
        let text = "x".repeat(1_001);
        assert_eq!(decode::<String>(&encoded(&text), budget), Err(DecodingError::OverBudget));
        assert_eq!(decode::<String>(&encoded(&&text[1..]), budget).unwrap().len(), 1_000);
    }

    #[test]
    fn bytes_after_the_value_are_surplus() {
        assert_eq!(decode::<u8>(&[1, 2], TIGHT), Err(DecodingError::Surplus));
    }
}
