-- Everything that the first release needs: tenants, links, access, clicks.
-- Times are microseconds since 1970 in UTC; hashes, UUIDs and addresses are bytes.

CREATE TABLE apps (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- JSON, read and written whole by the service; no query looks inside.
    settings TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);

CREATE TABLE app_hosts (
    host TEXT NOT NULL,
    app_id BIGINT NOT NULL REFERENCES apps (id),
    position BIGINT NOT NULL,
    PRIMARY KEY (host, app_id)
);

CREATE TABLE links (
    -- A row is never removed: deleting blanks its content, so that id and code stay reserved.
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id BIGINT NOT NULL REFERENCES apps (id),
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
    expires_at BIGINT,
    -- Code, title, channel and campaign, case folded by the service.
    search_text TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    -- When the clicks of a deleted link were all erased.
    erased_at BIGINT,
    CHECK ((payload IS NULL) = (deleted_at IS NOT NULL))
);

CREATE INDEX links_of_app ON links (app_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX links_to_erase ON links (id) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

CREATE TABLE link_tags (
    link_id BIGINT NOT NULL REFERENCES links (id),
    position BIGINT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (link_id, position),
    UNIQUE (link_id, tag)
);

CREATE INDEX link_tags_by_tag ON link_tags (tag, link_id);

CREATE TABLE api_keys (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id BIGINT NOT NULL REFERENCES apps (id),
    hash BYTEA NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Names separated by blanks, as in an OAuth scope (RFC 6749, section 3.3).
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);

CREATE INDEX api_keys_of_app ON api_keys (app_id, id DESC);

CREATE TABLE admins (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email_lower TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    created_at BIGINT NOT NULL,
    disabled_at BIGINT
);

CREATE TABLE admin_apps (
    admin_id BIGINT NOT NULL REFERENCES admins (id),
    app_id BIGINT NOT NULL REFERENCES apps (id),
    PRIMARY KEY (admin_id, app_id)
);

CREATE TABLE sessions (
    sid BYTEA NOT NULL PRIMARY KEY,
    admin_id BIGINT NOT NULL REFERENCES admins (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    user_agent TEXT,
    network TEXT
);

CREATE INDEX sessions_of_admin ON sessions (admin_id, created_at DESC);

CREATE TABLE refresh_tokens (
    hash BYTEA NOT NULL PRIMARY KEY,
    sid BYTEA NOT NULL REFERENCES sessions (sid),
    issued_at BIGINT NOT NULL,
    used_at BIGINT
);

CREATE INDEX refresh_tokens_of_session ON refresh_tokens (sid);

CREATE TABLE idempotency (
    app_id BIGINT NOT NULL REFERENCES apps (id),
    key_id BIGINT NOT NULL REFERENCES api_keys (id),
    key TEXT NOT NULL,
    body_sha BYTEA NOT NULL,
    status BIGINT NOT NULL,
    -- JSON: body and headers as they were sent.
    answer TEXT NOT NULL,
    link_id BIGINT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, key_id, key)
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE changes (
    -- What other processes remember of links and apps and have to forget. Creations are not noted:
    -- nobody remembers for more than a second that something is not there.
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'app')),
    -- A short code, or an app's number.
    key TEXT NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX changes_by_age ON changes (at);

CREATE TABLE user_agents (
    -- The first half of the text's SHA-256.
    hash BYTEA NOT NULL PRIMARY KEY,
    text TEXT NOT NULL,
    last_seen_day BIGINT NOT NULL
);

CREATE TABLE clicks (
    -- No foreign keys: a click may be stored after its link was deleted, and is erased then.
    link_id BIGINT NOT NULL,
    occurred_at BIGINT NOT NULL,
    id BYTEA NOT NULL,
    ip BYTEA,
    ua_hash BYTEA,
    referrer TEXT,
    platform TEXT NOT NULL,
    browser TEXT,
    os TEXT,
    os_version TEXT,
    device TEXT,
    country TEXT,
    source TEXT NOT NULL,
    is_bot BOOLEAN NOT NULL,
    bot_reason TEXT,
    PRIMARY KEY (link_id, occurred_at, id)
) PARTITION BY RANGE (occurred_at);

CREATE TABLE clicks_default PARTITION OF clicks DEFAULT;
