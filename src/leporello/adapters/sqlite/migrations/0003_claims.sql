ALTER TABLE session ADD COLUMN consolidated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fact ADD COLUMN superseded_by TEXT;
ALTER TABLE fact ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE fact ADD COLUMN subject ANY NOT NULL DEFAULT '';
ALTER TABLE fact ADD COLUMN predicate ANY NOT NULL DEFAULT '';
ALTER TABLE fact ADD COLUMN object ANY NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN cause TEXT;

CREATE TABLE fact_key (
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  key INTEGER NOT NULL,
  fact INTEGER NOT NULL REFERENCES fact (rid) ON DELETE CASCADE,
  PRIMARY KEY (tenant, scope, key, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_key_fact ON fact_key (fact);

CREATE TABLE claim (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  scope INTEGER NOT NULL REFERENCES scope (rid),
  id TEXT NOT NULL,
  op TEXT NOT NULL,
  text ANY NOT NULL,
  kind TEXT NOT NULL,
  why ANY NOT NULL,
  source ANY NOT NULL,
  trust TEXT NOT NULL,
  confidence INTEGER NOT NULL,
  tags ANY NOT NULL,
  at INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  provenance ANY NOT NULL,
  actor ANY NOT NULL,
  target TEXT,
  fact TEXT,
  suspicion ANY NOT NULL,
  speaker ANY NOT NULL
) STRICT;
CREATE UNIQUE INDEX claim_id ON claim (tenant, id);
CREATE INDEX claim_fact ON claim (tenant, fact);
CREATE INDEX claim_target ON claim (tenant, target) WHERE target IS NOT NULL;

CREATE TABLE shown (
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  id TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_last ON shown (tenant, scope, last);

-- What was known so far becomes claims, so that later ones are weighed against it.
INSERT INTO claim (tenant, scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, fact, suspicion,
  speaker)
SELECT tenant, scope, 'c' || substr(id, 2), 'say', text, kind, why, source, trust, confidence, tags, ifnull(valid_from, recorded), recorded,
  provenance, 'migration', id, '', ''
FROM fact WHERE valid_to IS NULL AND retracted IS NULL;
INSERT INTO claim (tenant, scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, target, fact,
  suspicion, speaker)
SELECT tenant, scope, id || 'a', 'archive', '', kind, '', 'user', 'user', 10000, '[]', at, recorded, '[null, [], [], []]', 'migration', id, fact, '', ''
FROM claim WHERE fact IN (SELECT id FROM fact WHERE status = 'archived');

-- What was consolidated so far: the messages of the episodes that were distilled.
UPDATE session SET consolidated = ifnull((
  SELECT max(pos_last) FROM episode WHERE episode.tenant = session.tenant AND episode.scope = session.scope AND distilled = 1), 0);
