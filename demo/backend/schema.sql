CREATE TABLE sites (
  code TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  country TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  site_code TEXT NOT NULL REFERENCES sites (code),
  status TEXT NOT NULL CHECK (status IN ('online', 'degraded', 'offline', 'maintenance')),
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  firmware TEXT NOT NULL,
  hostname TEXT NOT NULL UNIQUE,
  ip TEXT NOT NULL UNIQUE,
  serial TEXT NOT NULL UNIQUE,
  note TEXT,
  last_seen INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX devices_by_site ON devices (site_code);

CREATE TABLE readings (
  device_id TEXT NOT NULL REFERENCES devices (id),
  at INTEGER NOT NULL,
  temperature_c REAL NOT NULL,
  load_percent INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL
);

CREATE INDEX readings_by_device ON readings (device_id, at DESC);

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  device_id TEXT NOT NULL REFERENCES devices (id),
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('status', 'firmware', 'service')),
  text TEXT NOT NULL
);

CREATE INDEX events_by_device ON events (device_id, at DESC);

-- The moment the seeded times are relative to: one row, moved forward at every start.
CREATE TABLE seed_clock (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  base INTEGER NOT NULL
);
