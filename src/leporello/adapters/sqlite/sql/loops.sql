-- name: loop
SELECT settings, tally, view, shown FROM loop WHERE tenant = ? AND scope = ?;

-- name: put_loop
INSERT INTO loop (tenant, scope, settings, tally, view, shown) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, scope) DO UPDATE SET settings = excluded.settings, tally = excluded.tally, view = excluded.view, shown = excluded.shown;

-- name: drop_views
-- The views that show one of these records, or that belong to one of these scopes: what was erased must not go out again.
UPDATE loop SET view = NULL, shown = '[]'
WHERE tenant = ?1 AND view IS NOT NULL AND (
  scope IN (SELECT value FROM json_each(?2))
  OR EXISTS (SELECT 1 FROM json_each(shown) held JOIN json_each(?3) gone ON held.value = gone.value))
RETURNING scope;

-- name: delete_loop
DELETE FROM loop WHERE tenant = ? AND scope = ? RETURNING scope;

-- name: spent
SELECT ifnull(sum(tokens), 0), ifnull(sum(micros), 0) FROM spend
WHERE tenant = ? AND scope IN (SELECT value FROM json_each(?)) AND day = ?;

-- name: add_spend
INSERT INTO spend (tenant, scope, day, tokens, micros) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, scope, day) DO UPDATE SET tokens = tokens + excluded.tokens, micros = micros + excluded.micros;

-- name: delete_spend
DELETE FROM spend WHERE tenant = ? AND scope = ? RETURNING scope;
