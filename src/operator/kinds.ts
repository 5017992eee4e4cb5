import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import type { Kind } from "../kinds/kind.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../kinds/metal3/hardware-data.ts";
import { HostClaim } from "../kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../kinds/metal3/host-deploy-policy.ts";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";

/** Every kind that Slipway brings, each with all its versions: what is installed, and what `deploy/crds` is made from. */
export const KINDS: readonly (readonly Kind[])[] = [[InstancePool], [Instance], [MachineProvider]];

/** Metal3's kinds, installed with netboot, and only where Metal3 has not installed them itself. */
export const METAL3_KINDS: readonly (readonly Kind[])[] = [
  [BareMetalHost],
  [HardwareData],
  [HostClaim],
  [HostDeployPolicy],
];
