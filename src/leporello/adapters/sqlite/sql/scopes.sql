-- name: tenant
-- The number of a tenant.
SELECT rid FROM tenant WHERE name = ?;

-- name: tenants
SELECT name FROM tenant ORDER BY rid;

-- name: add_tenant
INSERT INTO tenant (name) VALUES (?) RETURNING rid;

-- name: name
-- The number of a user, agent, project or session name of a tenant.
SELECT rid FROM name WHERE tenant = ? AND value = ?;

-- name: add_name
INSERT INTO name (tenant, value) VALUES (?, ?) RETURNING rid;

-- name: scope
-- The scope with exactly these dimensions; 0 stands for unset.
SELECT rid FROM scope WHERE tenant = ? AND usr = ? AND agent = ? AND project = ? AND session = ?;

-- name: add_scope
INSERT INTO scope (tenant, usr, agent, project, session) VALUES (?, ?, ?, ?, ?) RETURNING rid;

-- name: scope_names
-- The dimensions of a scope by name.
SELECT t.name, u.value, a.value, p.value, s.value
FROM scope c
JOIN tenant t ON t.rid = c.tenant
LEFT JOIN name u ON u.rid = c.usr
LEFT JOIN name a ON a.rid = c.agent
LEFT JOIN name p ON p.rid = c.project
LEFT JOIN name s ON s.rid = c.session
WHERE c.rid = ?;

-- name: visible_scopes
-- Scopes that a handle sees: each dimension that it sets is equal or unset. NULL stands for not set by the handle.
SELECT rid FROM scope
WHERE tenant = :tenant
  AND (:usr IS NULL OR usr IN (:usr, 0))
  AND (:agent IS NULL OR agent IN (:agent, 0))
  AND (:project IS NULL OR project IN (:project, 0))
  AND (:session IS NULL OR session IN (:session, 0))
ORDER BY rid;

-- name: covered_scopes
-- Scopes that an erasure takes: each dimension that the handle sets is equal.
SELECT rid FROM scope
WHERE tenant = :tenant
  AND (:usr IS NULL OR usr = :usr)
  AND (:agent IS NULL OR agent = :agent)
  AND (:project IS NULL OR project = :project)
  AND (:session IS NULL OR session = :session)
ORDER BY rid;

-- name: drop_unused_scopes
-- Scopes that nothing uses any more.
DELETE FROM scope WHERE tenant = :tenant
  AND rid NOT IN (SELECT scope FROM session WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM fact WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM claim WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM note WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM pin WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM compact WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM loop WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM spend WHERE tenant = :tenant)
  AND rid NOT IN (SELECT scope FROM entry WHERE tenant = :tenant);

-- name: drop_unused_names
-- Names that no scope uses any more.
DELETE FROM name WHERE tenant = :tenant AND rid NOT IN (
  SELECT usr FROM scope WHERE tenant = :tenant UNION SELECT agent FROM scope WHERE tenant = :tenant
  UNION SELECT project FROM scope WHERE tenant = :tenant UNION SELECT session FROM scope WHERE tenant = :tenant);
