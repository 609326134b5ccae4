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
  supersedes, provenance, superseded_by, conflicts, subject, predicate, object)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid;

-- name: facts
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance, superseded_by, conflicts, subject, predicate, object
FROM fact WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY rid;

-- name: fact_by_id
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance, superseded_by, conflicts, subject, predicate, object
FROM fact WHERE tenant = ? AND id = ?;

-- name: facts_by_rid
SELECT rid, scope, id, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes,
  provenance, superseded_by, conflicts, subject, predicate, object
FROM fact WHERE tenant = ? AND rid IN (SELECT value FROM json_each(?));

-- name: put_fact
UPDATE fact SET kind = ?, text = ?, why = ?, source = ?, trust = ?, confidence = ?, tags = ?, valid_from = ?, valid_to = ?, recorded = ?,
  retracted = ?, status = ?, supersedes = ?, provenance = ?, superseded_by = ?, conflicts = ?, subject = ?, predicate = ?, object = ?
WHERE tenant = ? AND id = ? RETURNING rid;

-- name: delete_fact
DELETE FROM fact WHERE rid = ?;

-- name: count_facts
SELECT count(*) FROM fact WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) AND retracted IS NULL;

-- name: add_history
-- A change is never dated before the one that it follows, whatever the clock says.
INSERT INTO history (tenant, fact, at, action, actor, why, was, cause)
VALUES (?1, ?2, max(?3, ifnull((SELECT max(at) FROM history WHERE tenant = ?1 AND fact = ?2), ?3)), ?4, ?5, ?6, ?7, ?8);

-- name: history
SELECT h.at, h.action, h.actor, h.why, h.cause, h.was
FROM history h JOIN fact f ON f.rid = h.fact WHERE h.tenant = ? AND f.id = ? ORDER BY h.rid;

-- name: held_then
-- Of these facts, the states that changes after a moment put an end to, the earliest first.
SELECT f.id, h.was FROM history h JOIN fact f ON f.rid = h.fact
WHERE h.tenant = ? AND h.fact IN (SELECT rid FROM fact WHERE tenant = ?1 AND id IN (SELECT value FROM json_each(?2))) AND h.at > ?3 AND h.was <> 'null'
ORDER BY h.rid DESC;

-- name: delete_history
DELETE FROM history WHERE tenant = ? AND fact = (SELECT rid FROM fact WHERE tenant = ?1 AND id = ?2) RETURNING rid;

-- name: add_source
INSERT INTO source (tenant, parent, child) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: children
-- What rests directly on a record.
SELECT child FROM source WHERE tenant = ? AND parent = ? ORDER BY child;

-- name: delete_sources
DELETE FROM source WHERE tenant = ?1 AND (parent = ?2 OR child = ?2);

-- name: delete_parents
DELETE FROM source WHERE tenant = ? AND child = ?;

-- name: near_facts
-- The facts of one scope that share most keys: two, and nearly half of what the shorter one has; or one of those that are enough alone,
-- if few hold it. A key that more than 500 facts hold tells nothing, and is not looked at: a look costs the same in a large store.
WITH held (key, many) AS MATERIALIZED (
  SELECT value, (SELECT count(*) FROM (
    SELECT 1 FROM fact_key k WHERE k.tenant = ?1 AND k.scope = ?2 AND k.key = json_each.value LIMIT 501)) FROM json_each(?3)),
rare (key, sure) AS MATERIALIZED (
  SELECT key, many <= 40 AND key IN (SELECT value FROM json_each(?4)) FROM held WHERE many <= 500),
found (fact, shared, sure) AS MATERIALIZED (
  SELECT k.fact, count(*) AS shared, max(rare.sure) AS sure
  FROM rare CROSS JOIN fact_key k ON k.tenant = ?1 AND k.scope = ?2 AND k.key = rare.key
  GROUP BY k.fact HAVING max(rare.sure) OR count(*) >= 2)
SELECT f.rid, f.scope, f.id, f.kind, f.text, f.why, f.source, f.trust, f.confidence, f.tags, f.valid_from, f.valid_to, f.recorded,
  f.retracted, f.status, f.supersedes, f.provenance, f.superseded_by, f.conflicts, f.subject, f.predicate, f.object
FROM found k JOIN fact f ON f.rid = k.fact
WHERE k.sure OR k.shared >= 0.45 * min((SELECT count(*) FROM rare), (SELECT count(*) FROM fact_key own WHERE own.fact = k.fact))
ORDER BY k.shared DESC, k.fact DESC LIMIT ?5;

-- name: add_key
INSERT INTO fact_key (tenant, scope, key, fact) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_keys
DELETE FROM fact_key WHERE fact = ?;

-- name: facts_mark
SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'history'), 0) + ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'fact'), 0)
  + ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'removal'), 0);
