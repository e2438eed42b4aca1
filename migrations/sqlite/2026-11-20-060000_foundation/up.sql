-- Everything that the first release needs: tenants, links, access, clicks.
-- Times are microseconds since 1970 in UTC; hashes, UUIDs and addresses are bytes.

CREATE TABLE apps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- JSON, read and written whole by the service; no query looks inside.
    settings TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;

CREATE TABLE app_hosts (
    host TEXT NOT NULL,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    position INTEGER NOT NULL,
    PRIMARY KEY (host, app_id)
) STRICT;

CREATE TABLE links (
    -- A row is never removed: deleting blanks its content, so that id and code stay reserved.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    short_code TEXT NOT NULL UNIQUE,
    -- The client's own bytes; no database function may touch it. NULL once deleted.
    payload TEXT,
    og_title TEXT,
    og_description TEXT,
    og_image_url TEXT,
    channel TEXT,
    campaign TEXT,
    ios_redirect_url TEXT,
    android_redirect_url TEXT,
    web_redirect_url TEXT,
    expired_redirect_url TEXT,
    expires_at INTEGER,
    -- Code, title, channel and campaign, case folded by the service.
    search_text TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    -- When the clicks of a deleted link were all erased.
    erased_at INTEGER,
    CHECK ((payload IS NULL) = (deleted_at IS NOT NULL))
) STRICT;

CREATE INDEX links_of_app ON links (app_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX links_to_erase ON links (id) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

CREATE TABLE link_tags (
    link_id INTEGER NOT NULL REFERENCES links (id),
    position INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (link_id, position),
    UNIQUE (link_id, tag)
) STRICT;

CREATE INDEX link_tags_by_tag ON link_tags (tag, link_id);

CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    hash BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Names separated by blanks, as in an OAuth scope (RFC 6749, section 3.3).
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE INDEX api_keys_of_app ON api_keys (app_id, id DESC);

CREATE TABLE admins (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email_lower TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    created_at INTEGER NOT NULL,
    disabled_at INTEGER
) STRICT;

CREATE TABLE admin_apps (
    admin_id INTEGER NOT NULL REFERENCES admins (id),
    app_id INTEGER NOT NULL REFERENCES apps (id),
    PRIMARY KEY (admin_id, app_id)
) STRICT;

CREATE TABLE sessions (
    sid BLOB NOT NULL PRIMARY KEY,
    admin_id INTEGER NOT NULL REFERENCES admins (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    user_agent TEXT,
    network TEXT
) STRICT;

CREATE INDEX sessions_of_admin ON sessions (admin_id, created_at DESC);

CREATE TABLE refresh_tokens (
    hash BLOB NOT NULL PRIMARY KEY,
    sid BLOB NOT NULL REFERENCES sessions (sid),
    issued_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT;

CREATE INDEX refresh_tokens_of_session ON refresh_tokens (sid);

CREATE TABLE idempotency (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    key_id INTEGER NOT NULL REFERENCES api_keys (id),
    key TEXT NOT NULL,
    body_sha BLOB NOT NULL,
    status INTEGER NOT NULL,
    -- JSON: body and headers as they were sent.
    answer TEXT NOT NULL,
    link_id INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, key_id, key)
) STRICT;

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE changes (
    -- What other processes remember of links and apps and have to forget. Creations are not noted:
    -- nobody remembers for more than a second that something is not there.
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'app')),
    -- A short code, or an app's number.
    key TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX changes_by_age ON changes (at);

CREATE TABLE user_agents (
    -- The first half of the text's SHA-256.
    hash BLOB NOT NULL PRIMARY KEY,
    text TEXT NOT NULL,
    last_seen_day INTEGER NOT NULL
) STRICT;

CREATE TABLE clicks (
    -- No foreign keys: a click may be stored after its link was deleted, and is erased then.
    link_id INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    id BLOB NOT NULL,
    ip BLOB,
    ua_hash BLOB,
    referrer TEXT,
    platform TEXT NOT NULL,
    browser TEXT,
    os TEXT,
    os_version TEXT,
    device TEXT,
    country TEXT,
    source TEXT NOT NULL,
    is_bot INTEGER NOT NULL,
    bot_reason TEXT,
    UNIQUE (link_id, occurred_at, id)
) STRICT;
