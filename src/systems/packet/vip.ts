/** What a machine does for the control plane's elastic IP. */
import type { Context } from "@slipway/kube";
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { PacketMachineStatus } from "../../kinds/packet/packet-machine.ts";
import type { MachineDriver } from "../../machines/machine.ts";
import { isExternallyManaged } from "./surroundings.ts";

type Vip = NonNullable<PacketMachineStatus["vip"]>;
export type VipStep = "session" | "address";

/** What is still to be done for a machine that runs. Workers have nothing to do with CPEM's address, and no machine with that of a foreign control plane. Pure. */
export function vipSteps({
  cluster,
  isControlPlane,
  held = {},
}: {
  cluster: PacketCluster | undefined;
  isControlPlane: boolean;
  held: Vip | undefined;
}): VipStep[] {
  if (cluster === undefined || isExternallyManaged(cluster)) return [];
  const { vipManager } = cluster.spec;
  if (vipManager === "KUBE_VIP" && held.session !== true) return ["session"];
  const isCpems = vipManager === "CPEM" && isControlPlane && cluster.status?.elasticIP?.id !== undefined;
  return isCpems && held.address !== true ? ["address"] : [];
}

/** Carries a step out; safe to repeat. Resolves with what the status is to remember. */
export async function seeToVip(
  { signal }: Pick<Context, "signal">,
  driver: MachineDriver,
  { step, machine, cluster }: { step: VipStep; machine: string; cluster: PacketCluster },
): Promise<Vip> {
  const { elastic } = driver;
  if (step === "session") {
    await elastic?.openSession(machine, signal);
    return { session: true };
  }
  const id = cluster.status!.elasticIP!.id;
  const address = (await elastic?.list(signal))?.find((one) => one.id === id);
  // The cloud controller moves it from then on.
  if (address !== undefined && address.assignments.length === 0) await elastic!.assign(address, machine, signal);
  return { address: true };
}
