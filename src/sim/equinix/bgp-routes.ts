import { json } from "@slipway/base";
import { FAMILIES, type SimBgpConfig, type SimBgpSession } from "./bgp.ts";
import type { SimDevice } from "./device.ts";
import { href, time } from "./place-views.ts";
import { deviceIn, NO_CONTENT, textIn } from "./reading.ts";
import { unprocessable } from "./refused.ts";
import { type Asked, projectIn, type Route } from "./router.ts";

const PEER_ASN = 65530;
const PEERS = ["169.254.255.1", "169.254.255.2"];
/** As the document says of passwords. */
const MD5 = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[a-zA-Z\d]{10,20}$/;

/** BGP of projects and devices. */
export const bgpRoutes: readonly Route[] = [
  {
    operation: "findBgpConfigByProject",
    method: "GET",
    pattern: "/projects/:/bgp-config",
    answer(asked) {
      const config = asked.cloud.bgp.configs.get(projectIn(asked));
      return json(200, config === undefined ? {} : configView(asked, config));
    },
  },
  {
    operation: "requestBgpConfig",
    method: "POST",
    pattern: "/projects/:/bgp-configs",
    answer(asked) {
      asked.cloud.bgp.enable(configWish(asked), asked.cloud.random);
      return NO_CONTENT;
    },
  },
  {
    operation: "findProjectBgpSessions",
    method: "GET",
    pattern: "/projects/:/bgp/sessions",
    answer: (asked) => json(200, { bgp_sessions: sessionsIn(asked, projectIn(asked)).map(sessionView) }),
  },
  {
    operation: "findBgpSessions",
    method: "GET",
    pattern: "/devices/:/bgp/sessions",
    answer: (asked) => json(200, { bgp_sessions: asked.cloud.bgp.of(deviceIn(asked).id).map(sessionView) }),
  },
  {
    operation: "createBgpSession",
    method: "POST",
    pattern: "/devices/:/bgp/sessions",
    answer(asked) {
      const { cloud, body } = asked;
      const { id: deviceId, projectId } = deviceIn(asked);
      const family = FAMILIES.find((one) => one === (body.address_family ?? "ipv4"));
      if (family === undefined) throw unprocessable(`address_family ${String(body.address_family)} is not valid`);
      const wish = { deviceId, family, createdAt: cloud.clock.now(), defaultRoute: body.default_route === true };
      return json(201, sessionView(cloud.bgp.open(wish, { projectId, random: cloud.random })));
    },
  },
  {
    operation: "getBgpNeighborData",
    method: "GET",
    pattern: "/devices/:/bgp/neighbors",
    answer(asked) {
      const device = deviceIn(asked);
      const config = asked.cloud.bgp.configs.get(device.projectId);
      const neighbors = asked.cloud.bgp.of(device.id).map((session) => neighborView(device, session, config));
      return json(200, { bgp_neighbors: neighbors });
    },
  },
  {
    operation: "findBgpSessionById",
    method: "GET",
    pattern: "/bgp/sessions/:",
    answer: ({ cloud, path }) => json(200, sessionView(cloud.bgp.called(path[2]!))),
  },
  {
    operation: "updateBgpSession",
    method: "PUT",
    pattern: "/bgp/sessions/:",
    answer({ cloud, path, body }) {
      const session = cloud.bgp.called(path[2]!);
      if (typeof body.default_route === "boolean") session.defaultRoute = body.default_route;
      return json(200, sessionView(session));
    },
  },
  {
    operation: "deleteBgpSession",
    method: "DELETE",
    pattern: "/bgp/sessions/:",
    answer({ cloud, path }) {
      cloud.bgp.sessions.delete(cloud.bgp.called(path[2]!).id);
      return NO_CONTENT;
    },
  },
];

function configWish(asked: Asked): Omit<SimBgpConfig, "id" | "status"> {
  const { body, cloud } = asked;
  const deploymentType = body.deployment_type;
  if (deploymentType !== "local" && deploymentType !== "global")
    throw unprocessable("deployment_type must be local or global");
  const asn = Number(body.asn);
  if (!Number.isInteger(asn) || asn < 0 || asn > 4_294_967_295) throw unprocessable("asn is not a number of an AS");
  const md5 = textIn(body.md5);
  if (md5 !== undefined && !MD5.test(md5))
    throw unprocessable("md5 must have 10 to 20 letters and digits, one of each case and one digit at least");
  return { projectId: projectIn(asked), asn, md5, deploymentType, createdAt: cloud.clock.now() };
}

function sessionsIn({ cloud }: Asked, projectId: string): SimBgpSession[] {
  return [...cloud.bgp.sessions.values()].filter((one) => cloud.devices.get(one.deviceId)?.projectId === projectId);
}

function configView(asked: Asked, config: SimBgpConfig): object {
  return {
    ...href(`/bgp-configs/${config.id}`),
    id: config.id,
    asn: config.asn,
    md5: config.md5 ?? null,
    deployment_type: config.deploymentType,
    status: config.status,
    max_prefix: 10,
    route_object: "",
    ranges: [],
    sessions: sessionsIn(asked, config.projectId).map(sessionView),
    project: href(`/projects/${config.projectId}`),
    requested_at: time(config.createdAt),
    created_at: time(config.createdAt),
  };
}

function sessionView(session: SimBgpSession): object {
  return {
    ...href(`/bgp/sessions/${session.id}`),
    id: session.id,
    address_family: session.family,
    default_route: session.defaultRoute,
    device: href(`/devices/${session.deviceId}`),
    learned_routes: [],
    status: "unknown",
    created_at: time(session.createdAt),
    updated_at: time(session.createdAt),
  };
}

function neighborView(device: SimDevice, { family }: SimBgpSession, config: SimBgpConfig | undefined): object {
  const version = family === "ipv4" ? 4 : 6;
  const own = device.addresses.find((one) => one.family === version && (version === 6 || !one.public));
  return {
    address_family: version,
    customer_as: config?.asn ?? 0,
    customer_ip: own?.address ?? "",
    md5_enabled: config?.md5 !== undefined,
    md5_password: config?.md5 ?? "",
    multihop: true,
    peer_as: PEER_ASN,
    peer_ips: version === 4 ? PEERS : PEERS.map((peer) => `fd00::${peer.split(".").at(-1)}`),
    routes_in: [],
    routes_out: [],
  };
}
