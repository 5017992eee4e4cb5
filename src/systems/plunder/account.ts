/** Which MachineProvider gives a PlunderMachine's host. */
import { Fault } from "@slipway/base";
import type { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { Account, AccountSource } from "../../machines/accounts.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { accountOf, type OwnAccount, type Reader } from "../providers/accounts.ts";
import { DEFAULT_PROVIDER } from "./names.ts";

/** All hosts that are offered, whatever their hardware: as the original took whatever was switched on. */
const ALL_HOSTS: Account = {
  ...{ type: "inventory", endpoint: undefined, ca: undefined, token: "", project: "" },
  ...{ planMapping: {}, metroMapping: {} },
  inventory: { namespaces: [DISCOVERY_NAMESPACE], plans: {}, setAsideAfter: 2 },
};

/** The provider's name: the one that gave the host, else what the machine says, its PlunderCluster, or the default. */
export function providerOf({ spec, status }: PlunderMachine, cluster: PlunderCluster | undefined): string {
  return status?.provider ?? spec.providerRef?.name ?? cluster?.spec.providerRef?.name ?? DEFAULT_PROVIDER;
}

/** Where it is described. */
export function providerSource(name: string, client: Reader, own: OwnAccount): AccountSource {
  const source = accountOf({ providerRef: { name } }, client, own);
  if (name !== DEFAULT_PROVIDER) return source;
  return {
    name: source.name,
    read: async () => ((await client.find(MachineProvider, { name })) === undefined ? ALL_HOSTS : await source.read()),
  };
}

/** Throws `Invalid` for a provider that rents its machines out: PlunderMachines are hosts of your own. */
export function refuseClouds({ driver }: Fleet, name: string): void {
  if (driver.type === "inventory") return;
  throw new Fault("Invalid", `MachineProvider/${name}`, `a PlunderMachine's host can't come from ${driver.type}`, {
    remedy: "name a MachineProvider of the type inventory in spec.providerRef, or use PacketMachines",
  });
}
