-- Keys of effects that are under way or done: see activities.idempotency. May be applied again.
CREATE TABLE IF NOT EXISTS tickwright_effects (
    key        text        PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 255),
    run        text        NOT NULL,               -- id of the run whose attempt claimed it last
    attempt    integer     NOT NULL,
    begun_at   timestamptz NOT NULL,               -- when that attempt was scheduled
    effect     text        NOT NULL,               -- name of the function, for people
    claim      bigint      NOT NULL,               -- counts the claims; only the newest may commit
    claimed_at timestamptz NOT NULL,
    done_at    timestamptz,
    result     text                                -- JSON
);
CREATE INDEX IF NOT EXISTS tickwright_effects_claimed_at ON tickwright_effects (claimed_at);
