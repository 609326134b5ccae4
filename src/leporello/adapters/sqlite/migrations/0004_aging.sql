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
