import { type Random, uuid } from "@slipway/base";
import { notFound, unprocessable } from "./refused.ts";

export const FAMILIES = ["ipv4", "ipv6"] as const;
export type Family = (typeof FAMILIES)[number];

/** What a project was allowed to announce. */
export interface SimBgpConfig {
  readonly id: string;
  readonly projectId: string;
  readonly asn: number;
  readonly md5: string | undefined;
  readonly deploymentType: "local" | "global";
  /** `enabled` at once for local ones; global ones wait for the provider's people. */
  readonly status: "requested" | "enabled";
  readonly createdAt: number;
}

/** A device's session with the routers beside it. */
export interface SimBgpSession {
  readonly id: string;
  readonly deviceId: string;
  readonly family: Family;
  readonly createdAt: number;
  defaultRoute: boolean;
}

/** BGP of a cloud. */
export class Bgp {
  readonly configs = new Map<string, SimBgpConfig>();
  readonly sessions = new Map<string, SimBgpSession>();

  enable(config: Omit<SimBgpConfig, "id" | "status">, random: Random): void {
    if (this.configs.has(config.projectId)) throw unprocessable("BGP has already been requested for this project");
    const status = config.deploymentType === "local" ? "enabled" : "requested";
    this.configs.set(config.projectId, { ...config, id: uuid(random), status });
  }

  open(
    session: Omit<SimBgpSession, "id">,
    { projectId, random }: { projectId: string; random: Random },
  ): SimBgpSession {
    if (this.configs.get(projectId)?.status !== "enabled")
      throw unprocessable("BGP is not enabled for this device's project");
    if (this.of(session.deviceId).some(({ family }) => family === session.family))
      throw unprocessable(`Device already has session for ${session.family}`);
    const made = { ...session, id: uuid(random) };
    this.sessions.set(made.id, made);
    return made;
  }

  of(deviceId: string): SimBgpSession[] {
    return [...this.sessions.values()].filter((one) => one.deviceId === deviceId);
  }

  called(id: string): SimBgpSession {
    const session = this.sessions.get(id);
    if (session === undefined) throw notFound();
    return session;
  }

  /** Ends the sessions of a device that is gone. */
  release(deviceId: string): void {
    for (const { id } of this.of(deviceId)) this.sessions.delete(id);
  }
}
