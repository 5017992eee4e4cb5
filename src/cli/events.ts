import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { Event } from "@slipway/kube/core";
import { Option } from "commander";
import { SYSTEMS } from "../operator/systems.ts";
import { type EventRow, eventRow } from "../views/event-row.ts";
import { since } from "../views/since.ts";
import { follow, objectsOf } from "./listing/follow.ts";
import { namedObject, servedKinds } from "./listing/kinds.ts";
import { addListingOptions, type ListingOptions, selectedBy } from "./listing/options.ts";
import { printChange, printObjects } from "./listing/print.ts";
import { readEvents } from "./listing/read.ts";
import { onCluster, type Reached } from "./on-cluster.ts";
import { say, secrets } from "./outgoing.ts";
import { table } from "./progress.ts";
import { nameOf } from "./status/lines.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

type EventOptions = ListingOptions & { type?: string; all?: boolean };

/** `slipway events`: what happened to objects of Slipway's kinds, the latest last. */
export const verb: Verb = (program) => {
  const command = program
    .command("events")
    .description("Show what happened to an object, or to all objects of the systems' kinds, the latest last.")
    .argument("[object]", "KIND/NAME or KIND/NAMESPACE/NAME; unset: all")
    .addOption(new Option("--type <type>", "only events of this type").choices(["Normal", "Warning"]))
    .option("--all", "also of objects of other kinds, such as Pods");
  addListingOptions(command)
    .addHelpText(
      "after",
      `
Kubernetes keeps events for an hour.

Examples:
  slipway events
  slipway events cluster/capi-quickstart
  slipway events --type Warning -o wide
  slipway events --watch`,
    )
    .action(async (object: string | undefined, options: EventOptions) => {
      await onCluster(options, (cluster) => run(cluster, object, options));
    });
};

async function run(cluster: Reached, object: string | undefined, options: EventOptions): Promise<void> {
  const { client, transport } = cluster;
  const served = await servedKinds(transport, SYSTEMS);
  const namespace = options.namespace ?? cluster.namespace;
  const only = object === undefined ? undefined : namedObject(object, { served, systems: SYSTEMS, namespace });
  const kinds = new Set(served.map(({ kind }) => kind.kind));
  const isWanted = (event: Event): boolean => {
    const { kind, name, namespace: place, type } = eventRow(event);
    if (options.type !== undefined && type !== options.type) return false;
    if (only === undefined) return options.all === true || kinds.has(kind);
    return kind === only.resource.kind && name === only.name && place === only.namespace;
  };
  // Before a watch, too: it would try again without end what the API refuses.
  const { events } = await readEvents(client, selectedBy(options));
  if (!options.watch) return print(events.filter(isWanted), options);
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const changed = (found: object): void => {
    if (isWanted(found as Event)) printOne(found as Event, options);
  };
  const ports = { client, clock, random, log };
  const followed = await follow([Event], selectedBy(options), ports, { changed, signal: stopping.signal });
  for (const event of followed.flatMap(objectsOf) as Event[]) if (isWanted(event)) printOne(event, options);
  if (!stopping.signal.aborted)
    await new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve(), { once: true }));
}

function print(events: readonly Event[], { output }: EventOptions): void {
  if (printObjects(events.map(typed), output)) return;
  const isWide = output === "wide";
  const rows = events.map((event) => cells(eventRow(event), isWide));
  if (rows.length === 0) console.error("slipway: no events: Kubernetes keeps them for an hour");
  else for (const line of table(headsOf(isWide), secrets.clean(rows))) say(line);
}

/** Of a watch: a line each, or a document each. */
function printOne(event: Event, { output }: EventOptions): void {
  if (!printChange(typed(event), output)) say(cells(eventRow(event), output === "wide").join("   "));
}

const typed = (event: Event): Event => ({ ...event, apiVersion: "v1", kind: "Event" });

const headsOf = (wide: boolean): string[] => [
  "AGO",
  "TYPE",
  "REASON",
  "OBJECT",
  ...(wide ? ["COUNT", "FROM"] : []),
  "MESSAGE",
];

function cells(row: EventRow, wide: boolean): string[] {
  const { type, reason, message, count, from, last = clock.now() } = row;
  const more = wide ? [String(count), from || "-"] : [];
  return [since(clock.now() - last), type, reason, nameOf(row), ...more, message.replaceAll("\n", " ")];
}
