CREATE TABLE label (
  number INTEGER PRIMARY KEY,
  record_id TEXT NOT NULL,
  claim_id TEXT NOT NULL,
  judge TEXT,
  judged TEXT,
  is_right INTEGER CHECK (is_right IN (0, 1)),
  annotator TEXT NOT NULL,
  noted TEXT NOT NULL,
  fingerprint TEXT NOT NULL
) STRICT;
CREATE INDEX label_of_claim ON label (record_id, claim_id, annotator, number);
