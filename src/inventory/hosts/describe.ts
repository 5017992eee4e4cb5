import { isFault } from "@slipway/base";
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

/** Metal3's operator keeps HardwareData with it. Where that has gone, nobody else would take it off. */
const METAL3_FINALIZER = "baremetalhost.metal3.io/hardwareData";

/** Lets HardwareData go that Metal3's operator has made of a host that is gone. */
export async function releaseHardware(host: BareMetalHost, { client, cache }: Context): Promise<void> {
  const held = cache.get(HardwareData, refOf(host));
  const { finalizers, resourceVersion } = held?.metadata ?? {};
  if (!finalizers?.includes(METAL3_FINALIZER)) return;
  const body = { metadata: { finalizers: finalizers.filter((each) => each !== METAL3_FINALIZER), resourceVersion } };
  await client.patch(HardwareData, refOf(host), { type: "merge", body }).catch((error: unknown) => {
    if (!isFault(error, "NotFound")) throw error;
  });
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
