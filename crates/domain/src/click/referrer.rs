//! Where a visitor came from.

use url::Url;

/// Origin and path of the page that led here; query and fragment are dropped, because they hold
/// what a person searched for or who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referrer(Box<str>);

impl Referrer {
    /// Longest referrer kept, in bytes of its ASCII form.
    pub const MAX_BYTES: usize = 512;

    /// Reads a `Referer` header; nothing for a value that is no http(s) or app URL.
    pub fn parse(header: &str) -> Option<Self> {
        let mut url = Url::parse(header.trim()).ok()?;
        // Android's browsers name the app that opened the link: `android-app://com.example`.
        if !matches!(url.scheme(), "http" | "https" | "android-app") || url.host_str().is_none() {
            return None;
        }
        url.set_query(None);
        url.set_fragment(None);
        let _ = url.set_username("");
        let _ = url.set_password(None);
        if url.as_str().len() > Self::MAX_BYTES {
            url.set_path("");
        }
        (url.as_str().len() <= Self::MAX_BYTES).then(|| Self(url.as_str().into()))
    }

    /// Takes back what [`as_str`](Self::as_str) gave; nothing for a text it never gives.
    ///
    /// The text is checked but not parsed again: should a later parser write the same URL another
    /// way, a click that is recorded must still be read.
    pub(super) fn from_kept(text: &str) -> Option<Self> {
        let begins = |scheme: &str| text.starts_with(scheme);
        let ours = (begins("https://") || begins("http://") || begins("android-app://"))
            && text.len() <= Self::MAX_BYTES
            && text.bytes().all(|b| b.is_ascii_graphic());
        ours.then(|| Self(text.into()))
    }

    /// Origin and path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host alone, under which statistics count.
    pub fn host_of(text: &str) -> Option<String> {
        Url::parse(text).ok()?.host_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_fragment_and_user_are_dropped() {
        let referrer = Referrer::parse("https://u:p@News.example/a/b?q=secret#x").unwrap();
        assert_eq!(referrer.as_str(), "https://news.example/a/b");
        assert_eq!(Referrer::host_of(referrer.as_str()).as_deref(), Some("news.example"));
        assert_eq!(
            Referrer::parse("android-app://com.example").unwrap().as_str(),
            "android-app://com.example"
        );
    }

    #[test]
    fn nonsense_is_nothing_and_a_long_path_is_cut() {
        assert_eq!(Referrer::parse("about:blank"), None);
        assert_eq!(Referrer::parse("x"), None);
        let long = format!("https://news.example/{}", "x".repeat(600));
        assert_eq!(Referrer::parse(&long).unwrap().as_str(), "https://news.example/");
    }
}
