-- Keys of effects that are under way or done: see activities.idempotency. May be applied again. Times are ISO 8601 in UTC.
CREATE TABLE IF NOT EXISTS tickwright_effects (
    key        text    PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 255),
    run        text    NOT NULL,               -- id of the run whose attempt claimed it last
    attempt    integer NOT NULL,
    begun_at   text    NOT NULL,               -- when that attempt was scheduled
    effect     text    NOT NULL,               -- name of the function, for people
    claim      integer NOT NULL,               -- counts the claims; only the newest may commit
    claimed_at text    NOT NULL,
    done_at    text,
    result     text                            -- JSON
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tickwright_effects_claimed_at ON tickwright_effects (claimed_at);
