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
