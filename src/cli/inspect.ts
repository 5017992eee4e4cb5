import { inspect } from "../inventory/user-orders.ts";
import { addHostOptions, type HostVerbOptions, orderHost } from "./host-verb.ts";
import type { Verb } from "./verb.ts";

/** `slipway inspect`: by the host's BareMetalHost. */
export const verb: Verb = (program) => {
  addHostOptions(
    program
      .command("inspect")
      .description("Look at the hardware of a host that nobody uses again; its disks are wiped afterwards."),
  )
    .requiredOption("--yes", "what is on the disks is lost, unless automatedCleaningMode is disabled")
    .addHelpText(
      "after",
      `
The annotation inspect.metal3.io does the same. HardwareData has what was found.

Examples:
  slipway inspect rack-1-node-4 --yes
  slipway inspect slipway-hosts/rack-1-node-4 --yes --timeout 1800`,
    )
    .action((host: string, options: HostVerbOptions) => orderHost(host, inspect, options));
};
