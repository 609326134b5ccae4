-- name: add_entry
INSERT INTO entry (tenant, usr, scope, kind, record, pos, at, recorded, terms, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: view_user
-- Index rows of a user and of what belongs to no user, since a mark, in the order in which they were written.
SELECT e.rid, e.kind, e.scope, e.pos, e.at, e.recorded, c.agent, c.project, c.session, e.terms, e.vector
FROM entry e JOIN scope c ON c.rid = e.scope
WHERE e.tenant = ? AND e.usr IN (?, 0) AND e.rid > ? ORDER BY e.rid;

-- name: view_tenant
-- Index rows of a tenant since a mark, in the order in which they were written.
SELECT e.rid, e.kind, e.scope, e.pos, e.at, e.recorded, c.agent, c.project, c.session, e.terms, e.vector
FROM entry e JOIN scope c ON c.rid = e.scope
WHERE e.tenant = ? AND e.rid > ? ORDER BY e.rid;

-- name: newest_entry
SELECT ifnull(max(rid), 0) FROM entry;

-- name: newest_removal
SELECT ifnull(max(seq), 0) FROM removal;

-- name: removals
SELECT entry FROM removal WHERE seq > ? ORDER BY seq;

-- name: entries_by_rid
SELECT rid, kind, record FROM entry WHERE tenant = ? AND rid IN (SELECT value FROM json_each(?));

-- name: delete_entry
DELETE FROM entry WHERE kind = ? AND record = ? RETURNING rid;

-- name: add_removal
INSERT INTO removal (entry) VALUES (?);

-- name: setting
SELECT value FROM setting WHERE key = ?;

-- name: put_setting
INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: drop_setting
DELETE FROM setting WHERE key = ? AND value = ?;

-- name: migrations
SELECT version FROM migration ORDER BY version;

-- name: add_migration
INSERT INTO migration (version, name, at) VALUES (?, ?, ?);
