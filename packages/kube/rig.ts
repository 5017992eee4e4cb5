/** What tests of a manager begin with: one controller of Nodes, on an API in memory and in virtual time. */
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Controller, source } from "./controller.ts";
import { Node } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { createManager, type ManagerOptions } from "./manager.ts";

export const NODES = "/api/v1/nodes";
export const node = (name: string): object => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

export type Reconcile = Controller["reconcile"];

/** A controller of Nodes; `more` takes the place of what it has. */
export function controller(reconcile: Reconcile, more: Partial<Controller> = {}): Controller {
  return {
    name: "test",
    system: "metal",
    sources: [source({ resource: Node })],
    access: [{ resource: Node, verbs: ["patch"] }],
    reconcile,
    ...more,
  };
}

/** A manager without controllers, and what it stands on. */
export function world(options: Partial<ManagerOptions> = {}) {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const manager = createManager({
    transport: api,
    clock,
    random: seededRandom(1),
    log: quietLog,
    leaderElection: false,
    ...options,
  });
  return { api, clock, manager };
}
