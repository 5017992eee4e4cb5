/**
 * A real cluster as the stage for worlds in virtual time: one control plane for a whole test process, emptied before each world,
 * on which the operator has the account and the rights that `deploy/` ships, and no others.
 */
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { ALL_KINDS } from "../../src/operator/kinds.ts";
import { create } from "../../src/sim/site/capi-machine.ts";
import type { Stage } from "../system/api.ts";
import type { Attributes } from "./attributes.ts";
import { startCluster } from "./cluster.ts";
import { shippedRbac } from "./grants.ts";
import { observed } from "./observed.ts";
import { apply, operatorTransport, prepare } from "./operator-account.ts";
import { OutsideWork } from "./outside-work.ts";
import { virtualTransport } from "./virtual-transport.ts";
import { wipe } from "./wipe.ts";

/** What the embedded API does by itself, where it concerns the operator. Kubelets and node life are simulated. */
export const CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "root-ca-certificate-publisher-controller",
  "disruption-controller",
];

/** Rights of systems that an installed operator does not run unless it is set to. */
const SYSTEMS_RIGHTS = [
  ...["netboot", "kamaji", "cluster-api", "cluster-addons", "kamaji-control-plane", "kubeadm-bootstrap", "packet"],
  "sip",
  "ipam",
  "plunder",
  "vino",
].map((system) => `${system}-in-operator.yaml`);

export interface RealStage extends Stage {
  /** Everything that the operator asked for so far. */
  used: Attributes[];
  /** What it was forbidden. */
  forbidden: Attributes[];
  close(): Promise<void>;
}

/** Starts the cluster with the CRDs, installed by the operator's own account, and the shipped RBAC. */
export async function realStage(): Promise<RealStage> {
  // With the cache, a list waits up to 100 ms for the server's news of other kinds' writes: virtual time makes thousands of them.
  const cluster = await startCluster({ apiServerFlags: ["--watch-cache=false"] });
  await prepare(cluster);
  await create(cluster.client, Namespace, { metadata: { name: DISCOVERY_NAMESPACE } });
  for (const more of SYSTEMS_RIGHTS)
    for (const object of await shippedRbac(more)) await apply(cluster.transport, object);
  const used: Attributes[] = [];
  const forbidden: Attributes[] = [];
  const operator = observed(await operatorTransport(cluster), (rights, status) => {
    (status === 403 ? forbidden : used).push(...rights);
  });
  const client = createClient(operator, { clock: systemClock, random: cryptoRandom, log: quietLog });
  await installCrds(client, systemClock, new AbortController().signal, ALL_KINDS);
  // The garbage collector looks for new kinds only twice a minute: it starts when ours are there.
  cluster.plane.startControllers(CONTROLLERS);
  let worlds = 0;
  return {
    used,
    forbidden,
    everyNth: 48,
    async begin(clock) {
      await wipe(cluster.client, cluster.transport);
      const work = new OutsideWork();
      const end = new AbortController();
      // Both ways in which a watch begins are played.
      const streams = worlds++ % 2 === 0;
      const ports = { clock, work, streams, times: new Map<string, string>(), ended: end.signal };
      return {
        outside: work.rest,
        transport: (as) => virtualTransport(as === "operator" ? operator : cluster.transport, ports),
        close: async () => end.abort(new DOMException("the world has ended", "AbortError")),
      };
    },
    async close() {
      await operator.close();
      await cluster.close();
    },
  };
}
