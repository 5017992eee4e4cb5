import type { Draft } from "@slipway/kube";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";

/** Names of the two objects. */
export const POOL_NAME = "lab-pool";
const PROVIDER = "lab";
const PLAN = "lab-machine";

/** What a user applies for a pool of the lab's machines. `disk`: as Linux calls it there. Pure. */
export function poolManifests(wish: { count: number; isoUrl: string; disk: string }): {
  provider: Draft<MachineProvider>;
  pool: Draft<InstancePool>;
} {
  return {
    provider: {
      metadata: { name: PROVIDER },
      spec: {
        type: "inventory",
        inventory: {
          namespaces: [DISCOVERY_NAMESPACE],
          plans: { [PLAN]: { hardware: { architecture: "x86_64" } } },
          setAsideAfter: 2,
        },
      },
    },
    pool: {
      metadata: { name: POOL_NAME },
      spec: {
        count: wish.count,
        plan: PLAN,
        billingCycle: "hourly",
        managementInterface: ["eth0"],
        providerRef: { name: PROVIDER },
        isoUrl: wish.isoUrl,
        // Longer than a start from the disk takes on an emulated machine.
        nodeCleanupWaitInterval: "4m",
        harvester: { device: wish.disk, tty: "ttyS0,115200n8" },
      },
    },
  };
}

/** The manifests as a file for kubectl: both kinds with what `kubectl apply` needs. Pure. */
export function asDocuments({ provider, pool }: ReturnType<typeof poolManifests>): object[] {
  return [
    { apiVersion: `${MachineProvider.group}/${MachineProvider.version}`, kind: MachineProvider.kind, ...provider },
    { apiVersion: `${InstancePool.group}/${InstancePool.version}`, kind: InstancePool.kind, ...pool },
  ];
}
