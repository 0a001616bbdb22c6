CREATE TABLE hallumeter_purse (
    run TEXT PRIMARY KEY, micro_usd BIGINT, calls BIGINT, spent_micro_usd BIGINT NOT NULL, spent_calls BIGINT NOT NULL
);
CREATE TABLE hallumeter_lease (
    id TEXT PRIMARY KEY, run TEXT NOT NULL, micro_usd BIGINT NOT NULL, calls BIGINT NOT NULL,
    used_micro_usd BIGINT NOT NULL, used_calls BIGINT NOT NULL, at_once BIGINT NOT NULL, dearest BIGINT NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL, is_open INTEGER NOT NULL
);
CREATE INDEX hallumeter_lease_of_run ON hallumeter_lease (run, is_open);
CREATE TABLE hallumeter_meter (name TEXT PRIMARY KEY, free_at DOUBLE PRECISION NOT NULL);
