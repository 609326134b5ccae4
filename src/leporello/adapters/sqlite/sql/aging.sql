-- name: put_trace
INSERT INTO trace (tenant, id, scope, kind, trace, level, since, importance, pinned, expires, aside, due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET scope = excluded.scope, trace = excluded.trace, level = excluded.level, since = excluded.since,
  importance = excluded.importance, pinned = excluded.pinned, expires = excluded.expires, aside = excluded.aside, due = excluded.due;

-- name: traces
SELECT id, scope, kind, trace, level, since, importance, pinned, expires, aside, due FROM trace
WHERE tenant = ? AND id IN (SELECT value FROM json_each(?));

-- name: due_traces
-- What falls due by a moment, in that order, from behind the last one seen.
SELECT id, scope, kind, trace, level, since, importance, pinned, expires, aside, due FROM trace
WHERE tenant = ?1 AND due IS NOT NULL AND due <= ?2 AND (due, id) > (?3, ?4)
ORDER BY due, id LIMIT ?5;

-- name: crowded_scopes
-- The scopes that hold more facts in use than there is room for.
SELECT scope FROM fact WHERE tenant = ? AND status IN ('active', 'conflict') AND retracted IS NULL GROUP BY scope HAVING count(*) > ?;

-- name: traces_in_use
SELECT t.id, t.scope, t.kind, t.trace, t.level, t.since, t.importance, t.pinned, t.expires, t.aside, t.due
FROM fact f JOIN trace t ON t.tenant = f.tenant AND t.id = f.id
WHERE f.tenant = ? AND f.scope = ? AND f.status IN ('active', 'conflict') AND f.retracted IS NULL ORDER BY t.id;

-- name: delete_trace
DELETE FROM trace WHERE tenant = ? AND id = ?;

-- name: add_event
-- Of a record that is there; one of a kind within a while is enough: (tenant, record, kind, at, run, what is too near from here on).
INSERT INTO event (tenant, record, kind, at, run)
SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM event WHERE tenant = ?1 AND record = ?2 AND kind = ?3 AND at > ?6 AND at <= ?4)
  AND (EXISTS (SELECT 1 FROM message WHERE tenant = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM episode WHERE tenant = ?1 AND id = ?2)
    OR EXISTS (SELECT 1 FROM fact WHERE tenant = ?1 AND id = ?2))
RETURNING seq;

-- name: events
SELECT record, kind, at, run FROM event WHERE tenant = ? AND record IN (SELECT value FROM json_each(?)) ORDER BY at, seq;

-- name: events_of_run
SELECT record, kind, at, run FROM event WHERE tenant = ? AND run = ? ORDER BY seq;

-- name: runs
SELECT run, min(at), count(*) FROM event WHERE tenant = ? AND run IS NOT NULL AND kind = 'archived' GROUP BY run ORDER BY min(at), run;

-- name: move_events
UPDATE event SET record = ?3 WHERE tenant = ?1 AND record = ?2;

-- name: delete_events
DELETE FROM event WHERE tenant = ? AND record = ? RETURNING seq;
