import { addRoles } from "./get-objects.ts";
import { addUnleased } from "./get-unleased.ts";
import type { Verb } from "./verb.ts";

/** `slipway get`: asks a cluster, or the netboot that runs with the folder. */
export const verb: Verb = (program) => {
  const get = program
    .command("get")
    .description("List machines, pools or clusters of a cluster, or what a running netboot has seen.")
    .addHelpText("after", "\nExamples:\n  slipway get machines\n  slipway get pools -o wide\n  slipway get unleased");
  addRoles(get);
  addUnleased(get);
};
