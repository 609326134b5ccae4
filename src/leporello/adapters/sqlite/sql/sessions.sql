-- name: session
SELECT messages, turns, answered, joinable, folded, folded_turn, episodes, stalled, closed_at, consolidated FROM session WHERE tenant = ? AND scope = ?;

-- name: add_session
INSERT INTO session (tenant, scope, messages, turns, answered, joinable, folded, folded_turn, episodes, stalled)
VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 0);

-- name: put_session
UPDATE session SET messages = ?, turns = ?, answered = ?, joinable = ?, folded = ?, folded_turn = ?, episodes = ?, stalled = ?, closed_at = ?,
  consolidated = ?
WHERE tenant = ? AND scope = ?;

-- name: delete_session
DELETE FROM session WHERE tenant = ? AND scope = ?;

-- name: notes
SELECT scope, key, value, at FROM note WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY at DESC, rid DESC;

-- name: put_note
INSERT INTO note (tenant, scope, key, value, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, scope, key) DO UPDATE SET value = excluded.value, at = excluded.at;

-- name: delete_note
DELETE FROM note WHERE tenant = ? AND scope = ? AND key = ?;

-- name: delete_notes
DELETE FROM note WHERE tenant = ? AND scope = ? RETURNING rid;

-- name: pins
SELECT text FROM pin WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) ORDER BY rid;

-- name: put_pin
INSERT INTO pin (tenant, scope, text, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_pin
DELETE FROM pin WHERE tenant = ? AND scope = ? AND text = ?;

-- name: delete_pins
DELETE FROM pin WHERE tenant = ? AND scope = ? RETURNING rid;

-- name: compact
SELECT text, tokens, items, turn, compactor, omitted FROM compact WHERE tenant = ? AND scope = ?;

-- name: put_compact
INSERT INTO compact (tenant, scope, at, turn, tokens, omitted, compactor, text, items) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, scope) DO UPDATE SET at = excluded.at, turn = excluded.turn, tokens = excluded.tokens,
  omitted = excluded.omitted, compactor = excluded.compactor, text = excluded.text, items = excluded.items;

-- name: delete_compact
DELETE FROM compact WHERE tenant = ? AND scope = ? RETURNING scope;
