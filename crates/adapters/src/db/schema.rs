//! The tables as diesel sees them, in the SQL types that both backends share.
//!
//! Written by hand: `diesel print-schema` knows one backend at a time and would pick types of its
//! own for the other.

diesel::table! {
    apps (id) {
        id -> BigInt,
        slug -> Text,
        name -> Text,
        settings -> Text,
        version -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        deleted_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    app_hosts (host, app_id) {
        host -> Text,
        app_id -> BigInt,
        position -> BigInt,
    }
}

diesel::table! {
    links (id) {
        id -> BigInt,
        app_id -> BigInt,
        short_code -> Text,
        payload -> Nullable<Text>,
        og_title -> Nullable<Text>,
        og_description -> Nullable<Text>,
        og_image_url -> Nullable<Text>,
        channel -> Nullable<Text>,
        campaign -> Nullable<Text>,
        ios_redirect_url -> Nullable<Text>,
        android_redirect_url -> Nullable<Text>,
        web_redirect_url -> Nullable<Text>,
        expired_redirect_url -> Nullable<Text>,
        expires_at -> Nullable<BigInt>,
        search_text -> Text,
        version -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
        deleted_at -> Nullable<BigInt>,
        erased_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    link_tags (link_id, position) {
        link_id -> BigInt,
        position -> BigInt,
        tag -> Text,
    }
}

diesel::table! {
    api_keys (id) {
        id -> BigInt,
        app_id -> BigInt,
        hash -> Binary,
        kind -> Text,
        prefix -> Text,
        name -> Text,
        scopes -> Text,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    admins (id) {
        id -> BigInt,
        email_lower -> Text,
        password_hash -> Text,
        role -> Text,
        created_at -> BigInt,
        disabled_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    admin_apps (admin_id, app_id) {
        admin_id -> BigInt,
        app_id -> BigInt,
    }
}

diesel::table! {
    sessions (sid) {
        sid -> Binary,
        admin_id -> BigInt,
        created_at -> BigInt,
        expires_at -> BigInt,
        ended_at -> Nullable<BigInt>,
        user_agent -> Nullable<Text>,
        network -> Nullable<Text>,
    }
}

diesel::table! {
    refresh_tokens (hash) {
        hash -> Binary,
        sid -> Binary,
        issued_at -> BigInt,
        used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    idempotency (app_id, key_id, key) {
        app_id -> BigInt,
        key_id -> BigInt,
        key -> Text,
        body_sha -> Binary,
        status -> BigInt,
        answer -> Text,
        link_id -> Nullable<BigInt>,
        created_at -> BigInt,
    }
}

diesel::table! {
    changes (n) {
        n -> BigInt,
        kind -> Text,
        key -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    user_agents (hash) {
        hash -> Binary,
        text -> Text,
        last_seen_day -> BigInt,
    }
}

diesel::table! {
    clicks (link_id, occurred_at, id) {
        link_id -> BigInt,
        occurred_at -> BigInt,
        id -> Binary,
        ip -> Nullable<Binary>,
        ua_hash -> Nullable<Binary>,
        referrer -> Nullable<Text>,
        platform -> Text,
        browser -> Nullable<Text>,
        os -> Nullable<Text>,
        os_version -> Nullable<Text>,
        device -> Nullable<Text>,
        country -> Nullable<Text>,
        source -> Text,
        is_bot -> Bool,
        bot_reason -> Nullable<Text>,
    }
}

diesel::table! {
    link_days (link_id, day) {
        link_id -> BigInt,
        day -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    app_days (app_id, day) {
        app_id -> BigInt,
        day -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    visitor_salts (day) {
        day -> BigInt,
        salt -> Binary,
    }
}

diesel::table! {
    journals (id) {
        id -> Binary,
        node -> Text,
        position -> BigInt,
        updated_at -> BigInt,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    apps,
    app_hosts,
    links,
    link_tags,
    api_keys,
    admins,
    admin_apps,
    sessions,
    refresh_tokens,
    idempotency,
    user_agents,
    clicks,
);
