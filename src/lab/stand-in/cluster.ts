/**
 * The cluster that the stand-in's systems join, over the lab's network. STAND-IN for Harvester's own: it checks the token, the address and the name
 * as the simulated site does (`sim/site`), and that registers the Node. A machine that has not spoken for a while has lost its power.
 */
import { type Clock, type HttpAnswer, type HttpHandler, json, plain, type Timer } from "@slipway/base";
import { z } from "zod";
import type { JoinRequest } from "../../sim/site/node-object.ts";
import type { Joined } from "../../sim/site/site.ts";

export const JOIN_PATH = "/stand-in/join";
export const BEAT_PATH = "/stand-in/beat";
/** Systems speak three times as often. */
export const SILENT_AFTER_MS = 30_000;
/** Together with that, what Kubernetes waits for a kubelet. */
export const SITE_SILENT_MS = 10_000;

const joining = z.object({
  hostname: z.string(),
  serverUrl: z.string(),
  token: z.string(),
  labels: z.record(z.string(), z.string()),
  role: z.enum(["default", "management", "worker", "witness"]),
  cordoned: z.boolean(),
  version: z.string(),
  uuid: z.string().min(1),
  address: z.string(),
  cards: z.array(z.object({ name: z.string(), mac: z.string() })),
  kernel: z.string(),
  cpus: z.int().min(1),
  memoryMiB: z.int().min(1),
});
const beating = z.object({ uuid: z.string(), token: z.string() });

export interface ClusterPorts {
  site: { join(request: JoinRequest): Promise<Joined>; powerLost(machineId: string): void };
  /** What machines must know. */
  joinToken: string;
  clock: Pick<Clock, "after">;
}

export interface StandInCluster {
  /**
   * `POST /stand-in/join`: 200, or 403 with `reason`. `POST /stand-in/beat`: 204, 404 for a machine that has to join (again), 403 for one with
   * another token.
   */
  handler: HttpHandler;
  close(): void;
}

/** A cluster without members. */
export function standInCluster({ site, joinToken, clock }: ClusterPorts): StandInCluster {
  const members = new Map<string, Timer>();
  const expect = (uuid: string): void => {
    members.get(uuid)?.cancel();
    const silent = clock.after(SILENT_AFTER_MS, () => {
      members.delete(uuid);
      site.powerLost(uuid);
    });
    members.set(uuid, silent);
  };

  async function join(body: string): Promise<HttpAnswer> {
    const request = said(joining, body);
    if (request === undefined) return json(400, { reason: "the cluster can't read this" });
    const joined = await site.join(joinRequest(request));
    if (joined.is === "refused") return json(403, { reason: joined.reason });
    expect(request.uuid);
    return json(200, {});
  }

  function beat(body: string): HttpAnswer {
    const { uuid, token } = said(beating, body) ?? {};
    if (token !== joinToken) return json(403, { reason: "the join token is not this cluster's" });
    if (uuid === undefined || !members.has(uuid)) return json(404, { reason: "not a member" });
    expect(uuid);
    return plain(204, "");
  }

  return {
    async handler({ method, url, body = "" }) {
      const { pathname } = new URL(url);
      if (pathname !== JOIN_PATH && pathname !== BEAT_PATH) return plain(404, "not found\n");
      if (method !== "POST") return plain(405, "method not allowed\n", { allow: "POST" });
      return pathname === JOIN_PATH ? await join(body) : beat(body);
    },
    close() {
      for (const silent of members.values()) silent.cancel();
      members.clear();
    },
  };
}

function joinRequest(asked: z.infer<typeof joining>): JoinRequest {
  const { uuid, address, cards, kernel, cpus, memoryMiB, ...known } = asked;
  return {
    ...known,
    machineId: uuid,
    nics: cards,
    addresses: [{ type: "InternalIP", address }],
    system: {
      kernel,
      image: `Slipway's stand-in for Harvester ${known.version}`,
      cpus,
      memory: `${memoryMiB}Mi`,
    },
  };
}

function said<T>(schema: z.ZodType<T>, body: string): T | undefined {
  try {
    return schema.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}
