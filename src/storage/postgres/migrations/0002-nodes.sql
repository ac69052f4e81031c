-- What nodes know of each other. Nothing here outlives the nodes: after a crash of PostgreSQL or a fail-over the tables are
-- empty, and each node reports anew.

-- A node whose lease has run out does not count.
CREATE UNLOGGED TABLE nodes (
  id uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL,
  heads jsonb NOT NULL           -- by tenant: the head of its log as the node last reported it
) WITH (fillfactor = 50);

-- The panels that are connected to a node.
CREATE UNLOGGED TABLE node_panels (
  node uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
  tenant bigint NOT NULL,
  panel_id text COLLATE "C" NOT NULL,
  lag bigint NOT NULL,
  client text,
  address text,
  PRIMARY KEY (tenant, panel_id, node)
);
CREATE INDEX node_panels_node ON node_panels (node);

-- Commands to panels, for the node that a panel is connected to.
CREATE UNLOGGED TABLE panel_commands (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node uuid NOT NULL REFERENCES nodes ON DELETE CASCADE,
  tenant bigint NOT NULL,
  panel_id text COLLATE "C" NOT NULL,
  event text NOT NULL,
  data jsonb NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX panel_commands_node ON panel_commands (node);

-- Token buckets that nodes share: the time in Unix milliseconds, by the clock of the database, at which one is full again.
CREATE UNLOGGED TABLE rate_limits (
  name text COLLATE "C" PRIMARY KEY,
  full_at double precision NOT NULL
) WITH (fillfactor = 50);
