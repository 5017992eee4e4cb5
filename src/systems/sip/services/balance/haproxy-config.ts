/** Writes HAProxy's configuration of a load balancer. Pure, and strict: nothing that is given can add a line or a word. */
import { Fault, formatIp, tryParseIp } from "@slipway/base";

export interface BackendServer {
  name: string;
  address: string;
  /** Default: the port that is listened at. */
  port?: number;
}

export interface BalancedPort {
  name: string;
  /** Listened at, and the servers' own. */
  port: number;
}

export interface Balancing {
  ports: readonly BalancedPort[];
  servers: readonly BackendServer[];
  /** `apiserver`: asked for /readyz over TLS. `connect`: a connection is enough. */
  check: "apiserver" | "connect";
  /** Where HAProxy itself answers, at /healthz. */
  healthPort: number;
}

/** How long connections that are open may last once HAProxy is to end. */
export const HARD_STOP_SECONDS = 600;

const GLOBAL = [
  "global",
  "  log stdout format raw local0 info",
  `  hard-stop-after ${HARD_STOP_SECONDS}s`,
  "",
  "defaults",
  "  mode tcp",
  "  log global",
  "  option dontlognull",
  "  option tcpka",
  // A server that takes no connection is left for another one at once, before its check has failed often enough.
  "  retries 3",
  "  option redispatch 1",
  "  timeout queue 30s",
  "  timeout connect 5s",
  "  timeout client 600s",
  "  timeout server 600s",
];

/** Every 5 s, every second after it has failed, every 2 s while it is down; a server that fails four times gets no more connections, and those that it has are closed. */
const CHECK = "check inter 5s fastinter 1s downinter 2s fall 4 on-marked-down shutdown-sessions";

const CHECKS: Readonly<Record<Balancing["check"], readonly string[]>> = {
  apiserver: [
    "  option httpchk GET /readyz",
    "  http-check expect status 200",
    "  option log-health-checks",
    `  default-server ${CHECK} check-ssl verify none`,
  ],
  connect: ["  option log-health-checks", `  default-server ${CHECK}`],
};

/** The text of haproxy.cfg, with a line end. Throws `Bug` for a name or an address that HAProxy would misread. */
export function haproxyConfig({ ports, servers, check, healthPort }: Balancing): string {
  const hasIpv6 = servers.some(({ address }) => tryParseIp(address)?.family === 6);
  const bind = (port: number): string => (hasIpv6 ? `  bind :::${port} v4v6` : `  bind *:${port}`);
  const lines = [
    ...GLOBAL,
    ...["", "frontend health", "  mode http", bind(healthPort), "  monitor-uri /healthz"],
    ...ports.flatMap(({ name, port }) => [
      ...["", `frontend ${word(name)}-frontend`, bind(port), `  default_backend ${word(name)}-backend`],
      ...["", `backend ${word(name)}-backend`, "  balance roundrobin", ...CHECKS[check]],
      ...servers.map((server) => `  server ${word(server.name)} ${socket(server.address, server.port ?? port)}`),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

function word(text: string): string {
  if (/^[A-Za-z0-9._:-]+$/.test(text)) return text;
  throw new Fault("Bug", "haproxy.cfg", `${JSON.stringify(text)} can't be a name`);
}

function socket(address: string, port: number): string {
  const ip = tryParseIp(address);
  if (ip === undefined) throw new Fault("Bug", "haproxy.cfg", `${JSON.stringify(address)} is no address`);
  return ip.family === 6 ? `[${formatIp(ip)}]:${port}` : `${formatIp(ip)}:${port}`;
}
