import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { systemClock as clock, rfc3339, tarOf } from "@slipway/base";
import { DEFAULT_NAMESPACE } from "../operator/defaults.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { bundleOf } from "./export/bundle.ts";
import { servedKinds } from "./listing/kinds.ts";
import { addClusterOptions } from "./listing/options.ts";
import { type ClusterOptions, onCluster } from "./on-cluster.ts";
import { wholeNumber } from "./option-values.ts";
import type { Verb } from "./verb.ts";

interface ExportOptions extends ClusterOptions {
  file?: string;
  operatorNamespace: string;
  logLines: number;
}

/** `slipway export`: a support bundle without secrets. */
export const verb: Verb = (program) => {
  addClusterOptions(
    program
      .command("export")
      .description("Write a support bundle: objects, events, the operator's logs and status, without secrets."),
  )
    .option(
      "-f, --file <file>",
      "where it is written; an existing file is refused; unset: slipway-export-TIME.tar.gz here",
    )
    .option("--operator-namespace <namespace>", "where the operator is", DEFAULT_NAMESPACE)
    .option("--log-lines <number>", "of each of the operator's Pods", wholeNumber, 5000)
    .addHelpText(
      "after",
      `
No Secret is in it but by its name and its keys. Values of the cluster's Secrets are taken out of everything else, in plain text, base64, hex and
URLs; so are fields that hold secrets by their names, private keys and tokens by their shape. Values of Secrets that you may not read can't be looked
for: problems.txt says so. Nor are values shorter than 8 characters or longer than 48 KiB, and Helm's releases. Look through it before you hand it on.

Examples:
  slipway export
  slipway export -f /tmp/bundle.tar.gz --log-lines 500`,
    )
    .action(async (options: ExportOptions) => {
      await onCluster(options, async ({ client, transport }) => {
        const { operatorNamespace: namespace, logLines } = options;
        const served = await servedKinds(transport, SYSTEMS);
        const entries = await bundleOf({ client, transport, clock }, { served, namespace, logLines });
        const now = clock.now();
        const name = options.file ?? `slipway-export-${rfc3339(now).replaceAll(/[-:]/g, "")}.tar.gz`;
        const bytes = await promisify(gzip)(tarOf(entries, Math.floor(now / 1000)));
        const file = await open(name, "wx", 0o600);
        try {
          await file.writeFile(bytes);
        } finally {
          await file.close();
        }
        console.log(`${name}: ${entries.length} files, ${Math.ceil(bytes.length / 1024)} KiB`);
      });
    });
};
