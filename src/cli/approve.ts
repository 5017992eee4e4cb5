import type { Command } from "commander";
import type { ShownHost } from "../netboot/local-api.ts";
import { certificateLine } from "../netboot/tpm/maker-certificate.ts";
import { hostArgument } from "./logs.ts";
import { withNetboot } from "./netboot-client.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

interface Options {
  key?: string;
  withdraw: boolean;
  dir?: string;
}

/** `slipway approve`: asks the netboot that runs with the folder to trust a host. */
export const verb: Verb = (program) => {
  program
    .command("approve")
    .description("Trust a discovered host with orders that write or wipe, and with user data.")
    .argument("<host>", "host/NAME, NAME, or the address of one of its cards")
    .option("--key <fingerprint>", "only for the boot whose agent has this key: compare with the machine's own screen")
    .option("--withdraw", "take the approval back", false)
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .addHelpText(
      "after",
      `
Without --key, an attacker who spoofs the machine's card and address gets what is meant for it; docs/netboot.md has a table of what holds against whom.
A host that is declared (a BareMetalHost with its MAC, made by you) needs no approval. In a cluster the annotation
slipway.dev/approved on its BareMetalHost does the same: "true", or the fingerprint.

Examples:
  slipway get unleased -o wide
  slipway approve host/host-52-54-00-12-34-56 --key 3f2a-90b1-c44d-0e17-5a68-d2f9
  slipway approve host/host-52-54-00-12-34-56
  slipway approve host/host-52-54-00-12-34-56 --withdraw
  kubectl -n slipway-hosts annotate bmh host-52-54-00-12-34-56 slipway.dev/approved=true`,
    )
    .action(async (host: string, { key, withdraw, dir }: Options, command: Command) => {
      if (withdraw && key !== undefined) command.error("--withdraw takes back whatever was approved: leave --key out.");
      const path = `/hosts/${hostArgument(host)}`;
      const { standing, tpm } = await withNetboot(dir, async (client) => {
        if (withdraw) await client.ask("DELETE", `${path}/approval`);
        else await client.ask("PUT", `${path}/approval`, { ...(key !== undefined && { key }) });
        return client.ask<ShownHost>("GET", path);
      });
      say(`${standing.trust}: ${standing.because}`);
      if (tpm?.certificate !== undefined) say(`certificate of its TPM: ${certificateLine(tpm.certificate)}`);
    });
};
