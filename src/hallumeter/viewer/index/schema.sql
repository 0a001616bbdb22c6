CREATE TABLE kept (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

-- Labels are counted in the order in which a page shows them: refuted, not enough info, undecided, none, supported.
CREATE TABLE record (
  position INTEGER PRIMARY KEY,
  record_id TEXT NOT NULL,
  model TEXT,
  characters INTEGER,
  claims INTEGER NOT NULL,
  refuted INTEGER NOT NULL, not_enough_info INTEGER NOT NULL, undecided INTEGER NOT NULL, no_verdict INTEGER NOT NULL,
  supported INTEGER NOT NULL,
  unsupported INTEGER NOT NULL, share REAL NOT NULL, unmeasured INTEGER NOT NULL, disputed INTEGER NOT NULL,
  first REAL NOT NULL, second REAL NOT NULL, third REAL NOT NULL,
  name_key TEXT NOT NULL,
  record_at INTEGER NOT NULL, record_bytes INTEGER NOT NULL, claims_at INTEGER NOT NULL, claims_bytes INTEGER NOT NULL,
  verdicts_at INTEGER NOT NULL, verdicts_bytes INTEGER NOT NULL
);

-- A shape is everything that findings have in common when they differ only in their place and their words.
CREATE TABLE shape (shape INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE finding (
  finding INTEGER PRIMARY KEY, position INTEGER NOT NULL, shape INTEGER NOT NULL, tenth INTEGER, claim_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL
);
CREATE TABLE probability (judge TEXT NOT NULL, value REAL NOT NULL, finding INTEGER NOT NULL);
CREATE TABLE field (
  name TEXT NOT NULL, value TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (name, value, position)
) WITHOUT ROWID;
CREATE TABLE failure (position INTEGER NOT NULL, code TEXT NOT NULL, body BLOB NOT NULL);

-- Only of readings of pages.
CREATE TABLE reading (
  position INTEGER PRIMARY KEY, page TEXT NOT NULL, engine TEXT NOT NULL, page_key TEXT NOT NULL, engine_key TEXT NOT NULL,
  status TEXT, badge INTEGER, cer REAL, anchor REAL, block REAL NOT NULL, loop REAL NOT NULL, omission REAL NOT NULL,
  insertion REAL NOT NULL, remark REAL NOT NULL, run REAL NOT NULL, is_misread INTEGER NOT NULL, is_aligned INTEGER NOT NULL, body BLOB
);

-- Only of sentences that agents have read: what each of them made of it.
CREATE TABLE trace (position INTEGER PRIMARY KEY, body BLOB NOT NULL);

CREATE TABLE passage (passage INTEGER NOT NULL, position INTEGER NOT NULL);
CREATE TABLE term (term TEXT PRIMARY KEY) WITHOUT ROWID;
