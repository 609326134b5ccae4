CREATE TABLE migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  name ANY NOT NULL UNIQUE
) STRICT;

CREATE TABLE name (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  value ANY NOT NULL,
  UNIQUE (tenant, value)
) STRICT;

CREATE TABLE scope (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  usr INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  project INTEGER NOT NULL,
  session INTEGER NOT NULL,
  UNIQUE (tenant, usr, agent, project, session)
) STRICT;

CREATE TABLE session (
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  scope INTEGER NOT NULL REFERENCES scope (rid),
  messages INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  joinable INTEGER NOT NULL,
  folded INTEGER NOT NULL,
  folded_turn INTEGER NOT NULL,
  episodes INTEGER NOT NULL,
  stalled INTEGER NOT NULL,
  closed_at INTEGER,
  consolidated INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  id TEXT NOT NULL,
  turn INTEGER NOT NULL,
  role ANY NOT NULL,
  name ANY,
  at INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  trust TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  origin ANY,
  text ANY NOT NULL,
  body ANY,
  media TEXT,
  FOREIGN KEY (tenant, scope) REFERENCES session (tenant, scope),
  UNIQUE (tenant, scope, pos)
) STRICT;
CREATE UNIQUE INDEX message_id ON message (tenant, id);
CREATE UNIQUE INDEX message_origin ON message (tenant, scope, origin) WHERE origin IS NOT NULL;

CREATE TABLE media (
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  hash TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, hash)
) STRICT;

CREATE TABLE message_media (
  tenant INTEGER NOT NULL,
  hash TEXT NOT NULL,
  message INTEGER NOT NULL REFERENCES message (rid) ON DELETE CASCADE,
  PRIMARY KEY (tenant, hash, message),
  FOREIGN KEY (tenant, hash) REFERENCES media (tenant, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_media_message ON message_media (message);

CREATE TABLE episode (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  pos_first INTEGER NOT NULL,
  pos_last INTEGER NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  turn_first INTEGER NOT NULL,
  turn_last INTEGER NOT NULL,
  at INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  summary ANY NOT NULL,
  items ANY NOT NULL,
  compactor TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  replaced INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  distilled INTEGER NOT NULL,
  FOREIGN KEY (tenant, scope) REFERENCES session (tenant, scope),
  UNIQUE (tenant, scope, pos_first)
) STRICT;
CREATE UNIQUE INDEX episode_id ON episode (tenant, id);

CREATE TABLE fact (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  scope INTEGER NOT NULL REFERENCES scope (rid),
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  text ANY NOT NULL,
  why ANY NOT NULL,
  source ANY NOT NULL,
  trust TEXT NOT NULL,
  confidence INTEGER NOT NULL,
  tags ANY NOT NULL,
  valid_from INTEGER,
  valid_to INTEGER,
  recorded INTEGER NOT NULL,
  retracted INTEGER,
  status TEXT NOT NULL,
  supersedes TEXT NOT NULL,
  provenance ANY NOT NULL,
  superseded_by TEXT,
  conflicts TEXT NOT NULL DEFAULT '[]',
  subject ANY NOT NULL DEFAULT '',
  predicate ANY NOT NULL DEFAULT '',
  object ANY NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX fact_id ON fact (tenant, id);
CREATE INDEX fact_scope ON fact (tenant, scope);

CREATE TABLE history (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  fact INTEGER NOT NULL REFERENCES fact (rid) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor ANY NOT NULL,
  why ANY NOT NULL,
  was ANY NOT NULL,
  cause TEXT
) STRICT;
CREATE INDEX history_fact ON history (tenant, fact);

CREATE TABLE source (
  tenant INTEGER NOT NULL,
  parent TEXT NOT NULL,
  child TEXT NOT NULL,
  PRIMARY KEY (tenant, parent, child)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_child ON source (tenant, child);

CREATE TABLE note (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  key ANY NOT NULL,
  value ANY NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (tenant, scope, key)
) STRICT;

CREATE TABLE pin (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  text ANY NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (tenant, scope, text)
) STRICT;

CREATE TABLE compact (
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  at INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  omitted INTEGER NOT NULL,
  compactor TEXT NOT NULL,
  text ANY NOT NULL,
  items ANY NOT NULL,
  PRIMARY KEY (tenant, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  usr INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  kind INTEGER NOT NULL,
  record INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  at INTEGER NOT NULL,
  recorded INTEGER NOT NULL,
  terms BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX entry_view ON entry (tenant, usr, rid);
CREATE UNIQUE INDEX entry_record ON entry (kind, record);

CREATE TABLE removal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entry INTEGER NOT NULL
) STRICT;

CREATE TABLE loop (
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  settings ANY NOT NULL,
  tally ANY NOT NULL,
  view ANY,
  shown TEXT NOT NULL,
  PRIMARY KEY (tenant, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend (
  tenant INTEGER NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  day TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  micros INTEGER NOT NULL,
  PRIMARY KEY (tenant, scope, day)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  record TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  run TEXT
) STRICT;
CREATE INDEX event_record ON event (tenant, record, kind, at);
CREATE INDEX event_run ON event (tenant, run) WHERE run IS NOT NULL;

CREATE TABLE trace (
  tenant INTEGER NOT NULL REFERENCES tenant (rid),
  id TEXT NOT NULL,
  scope INTEGER NOT NULL REFERENCES scope (rid),
  kind INTEGER NOT NULL,
  trace TEXT NOT NULL,
  level INTEGER,
  since INTEGER,
  importance TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  expires INTEGER,
  aside INTEGER,
  due INTEGER,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_due ON trace (tenant, due, id) WHERE due IS NOT NULL;
