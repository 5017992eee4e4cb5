import { type Context, ownerReference, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import { hardwareOf } from "../discovery/hardware.ts";
import { holds } from "../discovery/plan.ts";

/** Whether the host and its HardwareData say what the agent has reported; true where it has reported nothing. */
export function isDescribed(
  { status }: BareMetalHost,
  inventory: Inventory | undefined,
  data: HardwareData | undefined,
): boolean {
  if (inventory === undefined) return true;
  const hardware = hardwareOf(inventory);
  return holds(hardware, status?.hardware) && holds(hardware, data?.spec.hardware);
}

/** Writes what is known of the hardware to the host's HardwareData, which goes with the host. */
export async function describeHost(
  host: BareMetalHost,
  hardware: HardwareDetails,
  { client, cache }: Context,
): Promise<void> {
  const ref = refOf(host);
  const spec = { hardware };
  const held = cache.get(HardwareData, ref);
  if (held === undefined)
    await client.create(HardwareData, {
      metadata: { ...ref, ownerReferences: [ownerReference(BareMetalHost, host)] },
      spec,
    });
  else if (!holds(spec, held.spec)) await client.update(HardwareData, { ...held, spec });
}
