-- Tables of later releases, here from the start so that their keys are settled.

CREATE TABLE link_days (
    link_id INTEGER NOT NULL,
    day INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (link_id, day)
) STRICT;

CREATE TABLE app_days (
    app_id INTEGER NOT NULL,
    day INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (app_id, day)
) STRICT;

CREATE TABLE visitor_salts (
    day INTEGER NOT NULL PRIMARY KEY,
    salt BLOB NOT NULL
) STRICT;

CREATE TABLE journals (
    id BLOB NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    position INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE matches (
    click_id BLOB NOT NULL PRIMARY KEY,
    link_id INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    app_id INTEGER NOT NULL,
    install_id INTEGER,
    method TEXT NOT NULL CHECK (method IN ('direct', 'install_referrer', 'clipboard', 'probabilistic')),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    signals TEXT NOT NULL,
    matched_at INTEGER NOT NULL
) STRICT;

CREATE INDEX matches_of_link ON matches (link_id, occurred_at);

CREATE TABLE installs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL,
    device_hash BLOB NOT NULL,
    episode INTEGER NOT NULL,
    token_hash BLOB,
    answer TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    UNIQUE (app_id, device_hash, episode)
) STRICT;

CREATE TABLE match_signals (
    click_id BLOB NOT NULL PRIMARY KEY,
    app_id INTEGER NOT NULL,
    network BLOB NOT NULL,
    occurred_at INTEGER NOT NULL,
    platform TEXT NOT NULL,
    signals TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX match_signals_by_network ON match_signals (app_id, network, occurred_at);
CREATE INDEX match_signals_by_expiry ON match_signals (expires_at);

CREATE TABLE identities (
    app_id INTEGER NOT NULL,
    device_hash BLOB NOT NULL,
    platform TEXT NOT NULL,
    user_id TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, device_hash)
) STRICT;

CREATE TABLE calibration (
    app_id INTEGER NOT NULL,
    day INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (app_id, day, outcome)
) STRICT;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id INTEGER,
    app_id INTEGER,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT
) STRICT;

CREATE INDEX audit_of_app ON audit (app_id, at);
