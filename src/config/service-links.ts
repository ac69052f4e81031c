/**
 * Kubernetes gives each pod variables about the services of its namespace ("service links"). A service whose name begins with
 * "belfry" makes some that look like settings: BELFRY_PORT=tcp://10.96.0.7:80, BELFRY_SERVICE_HOST, BELFRY_PORT_80_TCP_ADDR …
 */
type Environment = Readonly<Record<string, string | undefined>>;

const address = /^(?:tcp|udp|sctp):\/\//;
const others = /^BELFRY_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;

const isServiceLink = (name: string, value = '') =>
  others.test(name) || (/^BELFRY_(?:\w+_)?PORT$/.test(name) && address.test(value));

/** The environment without them, and one warning if there were any. */
export function withoutServiceLinks(env: Environment): { own: Environment; warnings: readonly string[] } {
  const links = Object.keys(env).filter((name) => isServiceLink(name, env[name]));
  if (links.length === 0) return { own: env, warnings: [] };
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !links.includes(name)));
  const warning = `ignored, because Kubernetes made them and they are not settings: ${links.sort().join(', ')}; set enableServiceLinks: false in the pod`;
  return { own, warnings: [warning] };
}
