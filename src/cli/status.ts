import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Event, Lease } from "@slipway/kube/core";
import { SYSTEMS } from "../operator/systems.ts";
import { eventRow } from "../views/event-row.ts";
import { type Overview, overviewOf, type Shown } from "../views/overview.ts";
import { type Followed, follow, objectsOf } from "./listing/follow.ts";
import { type ServedKind, servedKinds } from "./listing/kinds.ts";
import { addListingOptions, type ListingOptions, selectedBy } from "./listing/options.ts";
import { nameLine, printProblems } from "./listing/print.ts";
import { CREW_LEASES, eventsAbout, readOverview, withShards } from "./listing/read.ts";
import { readable } from "./listing/refusals.ts";
import { printSheet, type Sheet, watchSheet } from "./listing/sheet.ts";
import { onCluster, type Reached } from "./on-cluster.ts";
import { secrets } from "./outgoing.ts";
import { viewDocument } from "./status/document.ts";
import { statusLines } from "./status/lines.ts";
import type { Verb } from "./verb.ts";

/** `slipway status`: one screen; with `--watch` until Ctrl-C. */
export const verb: Verb = (program) => {
  const command = program
    .command("status")
    .description(
      "Show machines by state, pools, clusters, what waits and since when, and recent failures, on one screen.",
    );
  addListingOptions(command, {
    about:
      "wide: every row, with more columns; name: KIND.GROUP/NAME of the machines, pools and clusters; unset: one screen",
  })
    .addHelpText(
      "after",
      `
Warnings of the last hour count as recent failures. With --watch the screen follows the cluster; q or Ctrl-C ends it. Where the output is no
terminal, --watch prints it anew at each change. With selectors it is of the selected objects alone, their warnings included.

Examples:
  slipway status
  slipway status -n default
  slipway status -l rack=a
  slipway status -o wide
  slipway status --field-selector metadata.name=workers -o json
  slipway status --watch`,
    )
    .action(async (options: ListingOptions) => {
      await onCluster(options, async (cluster) => {
        if (options.watch) await watched(cluster, options);
        else await once(cluster, options);
      });
    });
};

async function once({ client, transport }: Reached, options: ListingOptions): Promise<void> {
  const served = await servedKinds(transport, SYSTEMS);
  const { shown, overview, problems } = await readOverview(client, served, selectedBy(options), clock.now());
  printSheet(sheetOf(overview, shown), options.output);
  printProblems(problems);
}

/** What one screen is, in its formats. */
const sheetOf = (overview: Overview, shown: readonly Shown[]): Sheet => ({
  data: overview,
  lines: (now, wide) => statusLines(secrets.clean(overview), now, { wide }),
  document: (time) => viewDocument({ time, ...overview }) as object,
  names: () => shown.filter(({ role }) => role !== undefined).flatMap(({ objects }) => objects.map(nameLine)),
});

async function watched({ client, transport }: Reached, options: ListingOptions): Promise<void> {
  const selected = selectedBy(options);
  const { namespace } = selected;
  const all = await servedKinds(transport, SYSTEMS);
  const kinds = all.map(({ kind }) => kind);
  const [objects, warnings, crews] = await Promise.all([
    readable(client, kinds, selected),
    readable(client, [Event], { namespace }),
    readable(client, [Lease], CREW_LEASES),
  ]);
  printProblems([objects, warnings, crews].flatMap(({ problems }) => problems));
  const served = all.filter(({ kind }) => objects.resources.includes(kind));
  const ports = { client, clock, random, log };
  let followed: Followed[] = [];
  let events: Followed[] = [];
  let leases: Followed[] = [];
  await watchSheet(
    async (changed, signal) => {
      [followed, events, leases] = await Promise.all([
        follow(objects.resources, selected, ports, { changed, signal }),
        follow(warnings.resources, { namespace }, ports, { changed, signal }),
        follow(crews.resources, CREW_LEASES, ports, { changed, signal }),
      ]);
    },
    () => {
      const now = clock.now();
      const shown = shownOf(served, followed);
      const rows = events.flatMap(objectsOf).map((event) => eventRow(event as Event));
      const overview = overviewOf(shown, eventsAbout(shown, rows, selected), now);
      return sheetOf(withShards(overview, leases.flatMap(objectsOf) as Lease[], now), shown);
    },
    options.output,
  );
}

const shownOf = (served: readonly ServedKind[], followed: readonly Followed[]): Shown[] =>
  served.map(({ kind: { kind }, role }, at) => ({ kind, role, objects: objectsOf(followed[at]!) }));
