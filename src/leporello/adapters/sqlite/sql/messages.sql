-- name: add_message
INSERT INTO message (tenant, scope, pos, id, turn, role, name, at, recorded, trust, tokens, origin, text, body, media)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING rid;

-- name: messages
-- Messages of one session between two positions.
SELECT rid, scope, pos, id, turn, role, name, at, recorded, trust, tokens, origin, text, body, media
FROM message WHERE tenant = ? AND scope = ? AND pos BETWEEN ? AND ? ORDER BY pos LIMIT ?;

-- name: last_turn
SELECT max(turn) FROM message WHERE tenant = ? AND scope = ? AND pos BETWEEN ? AND ?;

-- name: message_by_id
SELECT rid, scope, pos, id, turn, role, name, at, recorded, trust, tokens, origin, text, body, media
FROM message WHERE tenant = ? AND id = ?;

-- name: messages_by_rid
SELECT rid, scope, pos, id, turn, role, name, at, recorded, trust, tokens, origin, text, body, media
FROM message WHERE tenant = ? AND rid IN (SELECT value FROM json_each(?));

-- name: known_origins
SELECT origin FROM message WHERE tenant = ? AND scope = ? AND origin = ?;

-- name: delete_message
DELETE FROM message WHERE rid = ?;

-- name: add_media
INSERT INTO media (tenant, hash, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: link_media
INSERT INTO message_media (tenant, hash, message) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: media
SELECT data FROM media WHERE tenant = ? AND hash = ?;

-- name: drop_unused_media
DELETE FROM media WHERE tenant = ? AND hash NOT IN (SELECT hash FROM message_media WHERE tenant = media.tenant) RETURNING hash;

-- name: count_messages
SELECT count(*) FROM message WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?));
