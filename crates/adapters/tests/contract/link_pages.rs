//! Lists of links.

use std::collections::HashSet;

use signpost_domain::app::AppId;
use signpost_domain::link::{Campaign, Channel, LinkFilter, LinkStatus, OgTitle, SearchTerm, Tag};
use signpost_domain::page::PageRequest;
use signpost_domain::ports::LinkRepository;

use crate::fixtures::{app, later, now, own, stored, tags};
use crate::world::World;

fn page(number: u32, limit: u32) -> PageRequest {
    PageRequest::new(number, limit, 100).unwrap()
}

/// The codes on a page, and how many links there are in all.
fn listed(
    links: &dyn LinkRepository,
    app: AppId,
    filter: &LinkFilter,
    page: PageRequest,
) -> (Vec<String>, u64) {
    let page = links.page(app, filter, page).unwrap();
    (page.items.iter().map(|link| link.code.as_str().to_owned()).collect(), page.total)
}

/// The codes of all links that meet a filter, on pages of any length.
fn found(links: &dyn LinkRepository, app: AppId, filter: &LinkFilter) -> HashSet<String> {
    let (codes, total) = listed(links, app, filter, page(1, 100));
    assert_eq!(total, codes.len() as u64);
    // A full page does not know the total, so the count is asked for.
    let (first, counted) = listed(links, app, filter, page(1, 1));
    assert_eq!((first.len() as u64, counted), (total.min(1), total));
    codes.into_iter().collect()
}

fn searched(links: &dyn LinkRepository, app: AppId, term: &str) -> Vec<String> {
    let search = Some(SearchTerm::parse(term).unwrap());
    let mut codes: Vec<_> =
        found(links, app, &LinkFilter { search, ..LinkFilter::default() }).into_iter().collect();
    codes.sort();
    codes
}

pub(crate) fn newest_come_first_and_equal_times_by_falling_number(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for (code, second) in [("old", 0), ("new", 9), ("mid1", 5), ("mid2", 5), ("mid3", 5)] {
        let mut draft = own(app, code);
        draft.created_at = later(second);
        stored(&*links, draft);
    }
    let all = LinkFilter::default();
    let (codes, total) = listed(&*links, app, &all, page(1, 20));
    assert_eq!(
        (codes, total),
        (["new", "mid3", "mid2", "mid1", "old"].map(String::from).to_vec(), 5)
    );
    for (number, expected) in
        [(1, vec!["new", "mid3"]), (2, vec!["mid2", "mid1"]), (3, vec!["old"])]
    {
        let (codes, total) = listed(&*links, app, &all, page(number, 2));
        assert_eq!((codes, total), (expected.into_iter().map(String::from).collect(), 5));
    }
}

pub(crate) fn a_page_past_the_end_is_empty_with_the_right_total(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let all = LinkFilter::default();
    assert_eq!(listed(&*links, app, &all, page(1, 20)), (vec![], 0));
    assert_eq!(listed(&*links, app, &all, page(2, 20)), (vec![], 0));
    for n in 0..4 {
        stored(&*links, own(app, &format!("code{n}")));
    }
    assert_eq!(listed(&*links, app, &all, page(3, 2)), (vec![], 4));
    assert_eq!(listed(&*links, app, &all, page(PageRequest::MAX_PAGE, 100)), (vec![], 4));
}

pub(crate) fn a_page_holds_whole_links(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let mut expected = Vec::new();
    for n in 0..3 {
        let mut draft = own(app, &format!("code{n}"));
        draft.content.tags = tags(&["z", "a", "m"][..n]);
        draft.content.og_title = Some(OgTitle::parse("Summer").unwrap());
        expected.insert(0, stored(&*links, draft));
    }
    assert_eq!(links.page(app, &LinkFilter::default(), page(1, 20)).unwrap().items, expected);
}

pub(crate) fn a_filter_on_tags_asks_for_all_of_them(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for (code, names) in
        [("none", &[][..]), ("one", &["a"]), ("two", &["b", "a"]), ("upper", &["A", "b"])]
    {
        let mut draft = own(app, code);
        draft.content.tags = tags(names);
        stored(&*links, draft);
    }
    for (names, expected) in [
        (&["a"][..], &["one", "two"][..]),
        (&["a", "b"], &["two"]),
        (&["b"], &["two", "upper"]),
        (&["c"], &[]),
        (&["a", "c"], &[]),
        (&["%"], &[]),
    ] {
        let tags = names.iter().map(|name| Tag::parse(name).unwrap()).collect();
        let codes = found(&*links, app, &LinkFilter { tags, ..LinkFilter::default() });
        assert_eq!(codes, expected.iter().map(|&code| code.to_owned()).collect(), "{names:?}");
    }
}

pub(crate) fn filters_on_channel_and_campaign_are_exact_and_combine(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for (code, channel, campaign) in
        [("both", "email", "summer"), ("mail", "email", "winter"), ("case", "Email", "summer")]
    {
        let mut draft = own(app, code);
        draft.content.channel = Some(Channel::parse(channel).unwrap());
        draft.content.campaign = Some(Campaign::parse(campaign).unwrap());
        stored(&*links, draft);
    }
    stored(&*links, own(app, "bare"));
    for (channel, campaign, expected) in [
        (Some("email"), None, &["both", "mail"][..]),
        (None, Some("summer"), &["both", "case"]),
        (Some("email"), Some("summer"), &["both"]),
        (Some("emai_"), None, &[]),
        (Some("mail"), None, &[]),
    ] {
        let filter = LinkFilter {
            channel: channel.map(str::to_owned),
            campaign: campaign.map(str::to_owned),
            ..LinkFilter::default()
        };
        let codes = found(&*links, app, &filter);
        assert_eq!(codes, expected.iter().map(|&code| code.to_owned()).collect());
    }
}

pub(crate) fn a_link_is_listed_as_expired_from_the_moment_of_expiry_on(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    stored(&*links, own(app, "eternal"));
    let mut draft = own(app, "ending");
    draft.content.expires_at = Some(later(60));
    stored(&*links, draft);
    let status = |status| {
        let filter = LinkFilter { status: Some(status), ..LinkFilter::default() };
        let mut codes: Vec<_> = found(&*links, app, &filter).into_iter().collect();
        codes.sort();
        codes
    };
    assert_eq!(status(LinkStatus::Active(now())), ["ending", "eternal"]);
    assert!(status(LinkStatus::Expired(later(59))).is_empty());
    assert_eq!(status(LinkStatus::Active(later(60))), ["eternal"]);
    assert_eq!(status(LinkStatus::Expired(later(60))), ["ending"]);
}

pub(crate) fn a_search_looks_into_code_title_channel_and_campaign(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let mut draft = own(app, "k7Qm2xT");
    draft.content.og_title = Some(OgTitle::parse("Sommer in Žďár").unwrap());
    draft.content.channel = Some(Channel::parse("newsletter").unwrap());
    draft.content.campaign = Some(Campaign::parse("black-friday").unwrap());
    draft.content.tags = tags(&["tagged"]);
    stored(&*links, draft);
    stored(&*links, own(app, "other"));
    for term in ["7qm2", "K7QM2XT", "sommer in", "žĎáR", "NEWS", "friday", "-f"] {
        assert_eq!(searched(&*links, app, term), ["k7Qm2xT"], "{term}");
    }
    for term in ["tagged", "SUMMER50", "promo", "xTSommer", "nothing"] {
        assert!(searched(&*links, app, term).is_empty(), "{term}");
    }
}

pub(crate) fn a_search_has_no_regard_to_case_beyond_ascii_either(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for (code, title) in
        [("de1", "Straße"), ("gr1", "ΟΔΟΣ"), ("ru1", "Привет"), ("fr1", "été"), ("tr1", "İstanbul")]
    {
        let mut draft = own(app, code);
        draft.content.og_title = Some(OgTitle::parse(title).unwrap());
        stored(&*links, draft);
    }
    for (term, expected) in
        [("STRASSE", "de1"), ("οδος", "gr1"), ("ПРИВ", "ru1"), ("ÉTÉ", "fr1"), ("İSTANBUL", "tr1")]
    {
        assert_eq!(searched(&*links, app, term), [expected], "{term}");
    }
}

pub(crate) fn wildcards_in_a_search_are_plain_characters(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for (code, title) in [
        ("percent", "100% off"),
        ("under", "a_b"),
        ("slash", r"back\slash"),
        ("star", "a*b?[c]"),
        ("plain", "100 off axb"),
    ] {
        let mut draft = own(app, code);
        draft.content.og_title = Some(OgTitle::parse(title).unwrap());
        stored(&*links, draft);
    }
    for (term, expected) in [
        ("100%", "percent"),
        ("%", "percent"),
        ("a_b", "under"),
        ("_", "under"),
        ("\\", "slash"),
        (r"k\s", "slash"),
        ("*b?[", "star"),
        ("axb", "plain"),
    ] {
        assert_eq!(searched(&*links, app, term), [expected], "{term}");
    }
}

pub(crate) fn a_list_shows_the_links_of_its_app_only(world: &World) {
    let links = world.links();
    let (shop, news) = (app(world, "shop"), app(world, "news"));
    stored(&*links, own(shop, "mine"));
    stored(&*links, own(news, "theirs"));
    assert_eq!(searched(&*links, shop, "e"), ["mine"]);
    assert_eq!(searched(&*links, news, "e"), ["theirs"]);
}
