CREATE INDEX record_by_id ON record (record_id);
CREATE INDEX finding_by_shape ON finding (shape, position, tenth);
CREATE INDEX finding_by_tenth ON finding (tenth, position);
CREATE INDEX finding_by_record ON finding (position, claim_id);
CREATE INDEX probability_by_value ON probability (value, judge, finding);
CREATE INDEX failure_by_record ON failure (position, code);
CREATE INDEX passage_by_number ON passage (passage, position);
ALTER TABLE record ADD COLUMN by_worst INTEGER;
ALTER TABLE record ADD COLUMN by_severity INTEGER;
ALTER TABLE record ADD COLUMN by_share INTEGER;
ALTER TABLE record ADD COLUMN by_unmeasured INTEGER;
ALTER TABLE record ADD COLUMN by_disagreement INTEGER;
ALTER TABLE record ADD COLUMN by_name INTEGER;
UPDATE record SET by_worst = place, by_severity = severity, by_share = shared, by_unmeasured = missing,
  by_disagreement = argued, by_name = named
FROM (
  SELECT position AS own,
    row_number() OVER (ORDER BY unsupported DESC, share DESC, unmeasured DESC, position) AS place,
    row_number() OVER (ORDER BY first DESC, second DESC, third DESC, position) AS severity,
    row_number() OVER (ORDER BY share DESC, unsupported DESC, position) AS shared,
    row_number() OVER (ORDER BY unmeasured DESC, position) AS missing,
    row_number() OVER (ORDER BY disputed DESC, disputed * 1.0 / max(claims, 1) DESC, position) AS argued,
    row_number() OVER (ORDER BY name_key, record_id, position) AS named
  FROM record
)
WHERE own = position;

-- Narrow, and in order: a list without a filter is read off them.
CREATE INDEX record_by_worst ON record (by_worst);
CREATE INDEX record_by_severity ON record (by_severity);
CREATE INDEX record_by_share ON record (by_share);
CREATE INDEX record_by_unmeasured ON record (by_unmeasured);
CREATE INDEX record_by_disagreement ON record (by_disagreement);
CREATE INDEX record_by_name ON record (by_name);
