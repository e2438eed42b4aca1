-- Tables of later releases, here from the start so that their keys are settled.

CREATE TABLE link_days (
    link_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (link_id, day)
);

CREATE TABLE app_days (
    app_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (app_id, day)
);

CREATE TABLE visitor_salts (
    day BIGINT NOT NULL PRIMARY KEY,
    salt BYTEA NOT NULL
);

CREATE TABLE journals (
    id BYTEA NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    position BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE matches (
    click_id BYTEA NOT NULL PRIMARY KEY,
    link_id BIGINT NOT NULL,
    occurred_at BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    install_id BIGINT,
    method TEXT NOT NULL CHECK (method IN ('direct', 'install_referrer', 'clipboard', 'probabilistic')),
    confidence DOUBLE PRECISION NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    signals TEXT NOT NULL,
    matched_at BIGINT NOT NULL
);

CREATE INDEX matches_of_link ON matches (link_id, occurred_at);

CREATE TABLE installs (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id BIGINT NOT NULL,
    device_hash BYTEA NOT NULL,
    episode BIGINT NOT NULL,
    token_hash BYTEA,
    answer TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    UNIQUE (app_id, device_hash, episode)
);

CREATE TABLE match_signals (
    click_id BYTEA NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    network BYTEA NOT NULL,
    occurred_at BIGINT NOT NULL,
    platform TEXT NOT NULL,
    signals TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX match_signals_by_network ON match_signals (app_id, network, occurred_at);
CREATE INDEX match_signals_by_expiry ON match_signals (expires_at);

CREATE TABLE identities (
    app_id BIGINT NOT NULL,
    device_hash BYTEA NOT NULL,
    platform TEXT NOT NULL,
    user_id TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, device_hash)
);

CREATE TABLE calibration (
    app_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (app_id, day, outcome)
);

CREATE TABLE audit (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id BIGINT,
    app_id BIGINT,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT
);

CREATE INDEX audit_of_app ON audit (app_id, at);
