-- name: add_claim
INSERT INTO claim (tenant, scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, target, fact,
  suspicion, speaker)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_claim
UPDATE claim SET fact = ?, target = ?, source = ?, provenance = ? WHERE tenant = ? AND id = ?;

-- name: claims
SELECT scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, target, fact, suspicion, speaker
FROM claim WHERE tenant = ? AND fact IN (SELECT value FROM json_each(?)) ORDER BY rid;

-- name: acting_facts
-- Facts whose claims act on claims of these facts, or are acted on by them.
SELECT fact FROM claim WHERE tenant = ?1 AND fact IS NOT NULL
  AND target IN (SELECT id FROM claim WHERE tenant = ?1 AND fact IN (SELECT value FROM json_each(?2)))
UNION
SELECT fact FROM claim WHERE tenant = ?1 AND fact IS NOT NULL
  AND id IN (SELECT target FROM claim WHERE tenant = ?1 AND fact IN (SELECT value FROM json_each(?2)));

-- name: delete_claim
DELETE FROM claim WHERE tenant = ? AND id = ?;

-- name: delete_claims_of
DELETE FROM claim WHERE tenant = ? AND fact = ? RETURNING rid;

-- name: put_shown
INSERT INTO shown (tenant, scope, id, first, last) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last);

-- name: shown
SELECT id, first FROM shown WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY last DESC, id LIMIT ?;

-- name: delete_shown
DELETE FROM shown WHERE tenant = ? AND id = ?;
