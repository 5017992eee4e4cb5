import { wipe } from "../inventory/user-orders.ts";
import { addHostOptions, type HostVerbOptions, orderHost } from "./host-verb.ts";
import type { Verb } from "./verb.ts";

/** `slipway wipe`: by the host's BareMetalHost. */
export const verb: Verb = (program) => {
  addHostOptions(
    program.command("wipe").description("Wipe the disks of a host that nobody uses, and read back what was wiped."),
  )
    .requiredOption("--yes", "what is on the disks is lost")
    .addHelpText(
      "after",
      `
The annotation slipway.dev/wipe does the same. A host that is in use is wiped by: slipway release.

Examples:
  slipway wipe rack-1-node-4 --yes
  slipway wipe 52:54:00:12:34:56 --yes --no-wait`,
    )
    .action((host: string, options: HostVerbOptions) => orderHost(host, wipe, options));
};
