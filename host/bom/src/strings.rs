//! A walk over every text of a document, so that the last filter cannot miss a member.

/// Something that contains text.
pub(crate) trait Strings {
    /// Calls `edit` with each text.
    fn each_string(&mut self, edit: &mut dyn FnMut(&mut String));
}

impl Strings for String {
    fn each_string(&mut self, edit: &mut dyn FnMut(&mut String)) {
        edit(self);
    }
}

impl<T: Strings> Strings for Option<T> {
    fn each_string(&mut self, edit: &mut dyn FnMut(&mut String)) {
        if let Some(inner) = self {
            inner.each_string(edit);
        }
    }
}

impl<T: Strings> Strings for Vec<T> {
    fn each_string(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for inner in self {
            inner.each_string(edit);
        }
    }
}

/// Implements [`Strings`] for a structure. Every member is named either as text or as constant: a new member that is in neither list
/// does not compile.
macro_rules! strings {
    ($name:ident { $($text:ident),* $(,)? } constants { $($constant:ident),* $(,)? }) => {
        impl crate::strings::Strings for $name {
            fn each_string(&mut self, edit: &mut dyn FnMut(&mut String)) {
                let Self { $($text,)* $($constant: _,)* } = self;
                $(crate::strings::Strings::each_string($text, edit);)*
            }
        }
    };
}
pub(crate) use strings;
