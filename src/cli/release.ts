import { release } from "../inventory/user-orders.ts";
import { addHostOptions, type HostVerbOptions, orderHost } from "./host-verb.ts";
import type { Verb } from "./verb.ts";

/** `slipway release`: by the host's BareMetalHost. */
export const verb: Verb = (program) => {
  addHostOptions(
    program
      .command("release")
      .description("Take away what is installed on a host and whose it is: it is wiped, and available to others."),
  )
    .requiredOption("--yes", "what is on the disks is lost")
    .option("--force", "also from a consumer, which may claim it again", false)
    .addHelpText(
      "after",
      `
The same as taking spec.image, customDeploy, userData and consumerRef out. A host of a pool, a HostClaim or a Metal3Machine is given back by deleting that.

Examples:
  slipway release rack-1-node-4 --yes
  slipway release rack-1-node-4 --yes --force`,
    )
    .action((host: string, { force, ...options }: HostVerbOptions & { force: boolean }) =>
      orderHost(host, release({ force }), options),
    );
};
