-- name: add_episode
INSERT INTO episode (tenant, scope, pos_first, pos_last, id, number, turn_first, turn_last, at, recorded, summary, items, compactor,
  tokens, replaced, layer, distilled)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid;

-- name: episodes
SELECT rid, scope, pos_first, pos_last, id, number, turn_first, turn_last, at, recorded, summary, items, compactor, tokens, replaced,
  layer, distilled
FROM episode WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY at, rid;

-- name: session_episodes
SELECT rid, scope, pos_first, pos_last, id, number, turn_first, turn_last, at, recorded, summary, items, compactor, tokens, replaced,
  layer, distilled
FROM episode WHERE tenant = ? AND scope = ? ORDER BY pos_first;

-- name: episode_by_id
SELECT rid, scope, pos_first, pos_last, id, number, turn_first, turn_last, at, recorded, summary, items, compactor, tokens, replaced,
  layer, distilled
FROM episode WHERE tenant = ? AND id = ?;

-- name: episodes_by_rid
SELECT rid, scope, pos_first, pos_last, id, number, turn_first, turn_last, at, recorded, summary, items, compactor, tokens, replaced,
  layer, distilled
FROM episode WHERE tenant = ? AND rid IN (SELECT value FROM json_each(?));

-- name: put_episode
UPDATE episode SET layer = ?, distilled = ?, turn_first = ?, turn_last = ? WHERE tenant = ? AND id = ?;

-- name: delete_episode
DELETE FROM episode WHERE rid = ?;

-- name: count_episodes
SELECT count(*) FROM episode WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?));

-- name: add_fact
INSERT INTO fact (tenant, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status,
  supersedes, provenance)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid;

-- name: facts
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance
FROM fact WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY rid;

-- name: fact_by_id
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance
FROM fact WHERE tenant = ? AND id = ?;

-- name: facts_by_rid
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance
FROM fact WHERE tenant = ? AND rid IN (SELECT value FROM json_each(?));

-- name: put_fact
UPDATE fact SET kind = ?, text = ?, why = ?, source = ?, trust = ?, confidence = ?, tags = ?, valid_from = ?, valid_to = ?, retracted = ?,
  status = ?, supersedes = ?, provenance = ?
WHERE tenant = ? AND id = ? RETURNING rid;

-- name: delete_fact
DELETE FROM fact WHERE rid = ?;

-- name: count_facts
SELECT count(*) FROM fact WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) AND retracted IS NULL;

-- name: add_history
INSERT INTO history (tenant, fact, at, action, actor, why, was) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: add_source
INSERT INTO source (tenant, parent, child) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: children
-- What rests directly on a record.
SELECT child FROM source WHERE tenant = ? AND parent = ? ORDER BY child;

-- name: delete_sources
DELETE FROM source WHERE tenant = ?1 AND (parent = ?2 OR child = ?2);

-- name: delete_parents
DELETE FROM source WHERE tenant = ? AND child = ?;
