# The way from npm into a checkout: becomes scripts/run.mjs under a Node that can itself become the target, so that no
# helper stays in memory behind a server. An older Node on the PATH only looks for that one, or fetches it.
node=$(node scripts/find-node.mjs) || exit
exec "$node" scripts/run.mjs "$@"
