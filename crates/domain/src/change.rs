//! What a partial update says about one field.

/// The three things a client can say about an optional field of an update.
///
/// Absent, `null` and a value are three different wishes; an `Option` would merge two of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// The field is absent: it stays as it is.
    #[default]
    Keep,
    /// The field is `null`: its value goes away.
    Clear,
    /// The field has a value: it replaces the old one whole.
    Set(T),
}

impl<T> Change<T> {
    /// The field's value after this change.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The same wish for another type.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Clear => Change::Clear,
            Self::Set(value) => Change::Set(f(value)),
        }
    }
}

impl<T> From<Option<T>> for Change<T> {
    /// A value sets, nothing clears.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_field_keeps_its_value() {
        assert_eq!(Change::Keep.apply(Some(1)), Some(1));
        assert_eq!(Change::<i32>::Keep.apply(None), None);
    }

    #[test]
    fn null_clears_and_a_value_replaces() {
        assert_eq!(Change::Clear.apply(Some(1)), None);
        assert_eq!(Change::Set(2).apply(Some(1)), Some(2));
        assert_eq!(Change::Set(2).apply(None), Some(2));
    }
}
