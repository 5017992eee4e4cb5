import { type ApiServer, createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient } from "@slipway/kube";
import { Node, type NodeCondition } from "@slipway/kube/core";
import type { JoinRequest } from "./node-object.ts";
import { seedSite } from "./seed.ts";
import { createHarvesterSite, type Site, type SiteOptions } from "./site.ts";

export const VIP = "10.20.30.40";
export const TOKEN = "join-me";

/** For tests: a simulated cluster in virtual time, with what a person would ask of it. */
export class SiteRig {
  readonly clock: VirtualClock;
  readonly api: ApiServer;
  readonly client: Client;
  readonly site: Site;

  private constructor(api: ApiServer, clock: VirtualClock, options: Partial<SiteOptions>) {
    this.api = api;
    this.clock = clock;
    this.client = createClient(api.transport(), { clock, random: seededRandom(1), log: quietLog });
    this.site = createHarvesterSite({ client: this.client, clock, joinToken: TOKEN, vip: VIP, ...options });
  }

  static async create(options: Partial<SiteOptions> = {}): Promise<SiteRig> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const api = await createApiServer({ clock, random: seededRandom(1), log: quietLog });
    const rig = new SiteRig(api, clock, options);
    await rig.whileTimePasses(seedSite(rig.client, { vip: VIP, version: "v1.8.1", vipMode: "static" }));
    await rig.whileTimePasses(rig.site.start());
    return rig;
  }

  async whileTimePasses<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    await this.clock.run(600_000, () => settled);
    return await done;
  }

  request(number: number, over: Partial<JoinRequest> = {}): JoinRequest {
    return {
      hostname: `node-${number}`,
      token: TOKEN,
      serverUrl: `https://${VIP}:443`,
      labels: { rack: "7" },
      role: "default",
      nics: [],
      addresses: [{ type: "InternalIP", address: `10.0.0.${number}` }],
      machineId: `00000000-0000-4000-8000-00000000000${number}`,
      version: "v1.8.1",
      ...over,
    };
  }

  async join(number: number, over: Partial<JoinRequest> = {}): Promise<JoinRequest> {
    const request = this.request(number, over);
    const joined = await this.whileTimePasses(this.site.join(request));
    if (joined.is !== "joined") throw new Error(joined.reason);
    return request;
  }

  async node(name: string): Promise<Node | undefined> {
    return await this.client.find(Node, { name });
  }

  async ready(name: string): Promise<NodeCondition | undefined> {
    return (await this.node(name))?.status?.conditions?.find((c) => c.type === "Ready");
  }

  async close(): Promise<void> {
    this.site.close();
    await this.api.close();
  }
}
