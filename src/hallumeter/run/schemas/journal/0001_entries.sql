CREATE TABLE run (number INTEGER PRIMARY KEY CHECK (number = 1), settings BLOB NOT NULL) STRICT;

CREATE TABLE note (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;

-- Rows name their step by a number: the names are long and repeat in every row.
CREATE TABLE step (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- A part below 2^24 and a record below 2^39 fit together into one integer.
CREATE TABLE entry (
    step INTEGER NOT NULL,
    record INTEGER NOT NULL CHECK (record BETWEEN 0 AND 549755813887),
    part INTEGER NOT NULL CHECK (part BETWEEN 0 AND 16777215),
    body BLOB NOT NULL,
    PRIMARY KEY (step, record, part)
) WITHOUT ROWID, STRICT;
