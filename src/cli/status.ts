import { systemClock as clock, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import { SYSTEMS } from "../operator/systems.ts";
import type { Overview } from "../views/overview.ts";
import { servedKinds } from "./listing/kinds.ts";
import { addListingOptions, type ListingOptions } from "./listing/options.ts";
import { documentOf } from "./listing/print.ts";
import { readOverview } from "./listing/read.ts";
import { onCluster, type Reached } from "./on-cluster.ts";
import { say, secrets } from "./outgoing.ts";
import { viewDocument } from "./status/document.ts";
import { statusLines } from "./status/lines.ts";
import { liveOverview } from "./status/live.ts";
import { Screen } from "./status/screen.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

type StatusOptions = Omit<ListingOptions, "output"> & { output?: "json" | "yaml" };

/** `slipway status`: one screen; with `--watch` until Ctrl-C. */
export const verb: Verb = (program) => {
  const command = program
    .command("status")
    .description(
      "Show machines by state, pools, clusters, what waits and since when, and recent failures, on one screen.",
    );
  addListingOptions(command, { outputs: ["json", "yaml"], about: "for programs; unset: one screen for people" })
    .addHelpText(
      "after",
      `
Warnings of the last hour count as recent failures. With --watch the screen follows the cluster; q or Ctrl-C ends it. Where the output is no
terminal, --watch prints it anew at each change.

Examples:
  slipway status
  slipway status -n default
  slipway status -l rack=a
  slipway status -o json
  slipway status --watch`,
    )
    .action(async (options: StatusOptions) => {
      await onCluster(options, async (cluster) => {
        if (options.watch) await watched(cluster, options);
        else await once(cluster, options);
      });
    });
};

async function once({ client, transport }: Reached, options: StatusOptions): Promise<void> {
  const served = await servedKinds(transport, SYSTEMS);
  const now = clock.now();
  const { overview, problems } = await readOverview(client, served, selectedBy(options), now);
  print(overview, now, options);
  for (const problem of problems) console.error(secrets.text(`slipway: not read: ${problem}`));
}

const selectedBy = ({ namespace, selector }: StatusOptions) => ({ namespace, labelSelector: selector });

function print(overview: Overview, now: number, { output }: StatusOptions): void {
  if (output !== undefined) console.log(documentOf(viewDocument({ time: now, ...overview }), output));
  else for (const line of statusLines(secrets.clean(overview), now)) console.log(line);
}

async function watched({ client, transport }: Reached, options: StatusOptions): Promise<void> {
  const served = await servedKinds(transport, SYSTEMS);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  void untilStopped().then(stop);
  const isScreen = process.stdout.isTTY && options.output === undefined;
  const screen = isScreen ? new Screen(process.stdout, process.stdin, stop) : undefined;
  const show = (overview: Overview): void => {
    const now = clock.now();
    if (screen !== undefined) screen.draw(statusLines(secrets.clean(overview), now), `${rfc3339(now)}   q: quit`);
    else {
      if (options.output === undefined) say(`\n${rfc3339(now)}`);
      print(overview, now, options);
    }
  };
  try {
    const ports = { client, clock, random, log };
    await liveOverview(served, selectedBy(options), ports, { show, signal: stopping.signal, ticks: isScreen });
  } finally {
    screen?.close();
  }
}
