-- name: add_claim
INSERT INTO claim (tenant, scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, target, fact,
  suspicion, speaker)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_claim
UPDATE claim SET fact = ?, target = ?, provenance = ? WHERE tenant = ? AND id = ?;

-- name: claims
SELECT scope, id, op, text, kind, why, source, trust, confidence, tags, at, recorded, provenance, actor, target, fact, suspicion, speaker
FROM claim WHERE tenant = ? AND fact IN (SELECT value FROM json_each(?)) ORDER BY rid;

-- name: delete_claim
DELETE FROM claim WHERE tenant = ? AND id = ? RETURNING rid;

-- name: delete_claims_of
DELETE FROM claim WHERE tenant = ? AND fact = ? RETURNING rid;

-- name: put_shown
INSERT INTO shown (tenant, scope, id, first, last) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last);

-- name: shown
SELECT id, first FROM shown WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY last DESC, id LIMIT ?;

-- name: delete_shown
DELETE FROM shown WHERE tenant = ? AND id = ?;
