import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Command } from "commander";
import { SYSTEMS } from "../operator/systems.ts";
import { byName, type Role, type Row, rowOf } from "../views/row.ts";
import { since } from "../views/since.ts";
import { follow, objectsOf } from "./listing/follow.ts";
import { servedKinds } from "./listing/kinds.ts";
import { addListingOptions, type ListingOptions, selectedBy } from "./listing/options.ts";
import { printChange, printObjects, printProblems } from "./listing/print.ts";
import { objectsIn, readObjects } from "./listing/read.ts";
import { readable } from "./listing/refusals.ts";
import { onCluster, type Reached } from "./on-cluster.ts";
import { say, secrets } from "./outgoing.ts";
import { table } from "./progress.ts";
import { untilStopped } from "./until-stopped.ts";

const ABOUT: Readonly<Record<Role, string>> = {
  machines: "Machines of every driver, and hosts of the inventory.",
  pools: "Pools of machines, of every system.",
  clusters: "Tenants' control planes, workload clusters and sub-clusters.",
};

/** Adds `get machines`, `get pools` and `get clusters`. */
export function addRoles(get: Command): void {
  for (const [role, about] of Object.entries(ABOUT) as [Role, string][])
    addListingOptions(get.command(role).description(about))
      .addHelpText(
        "after",
        `\nExamples:\n  slipway get ${role}\n  slipway get ${role} -o wide\n  slipway get ${role} -l rack=a -o name`,
      )
      .action(async (options: ListingOptions) => {
        await onCluster(options, (cluster) =>
          options.watch ? watched(cluster, role, options) : once(cluster, role, options),
        );
      });
}

async function kindsOf({ transport }: Reached, role: Role) {
  return (await servedKinds(transport, SYSTEMS)).filter((one) => one.role === role);
}

async function once(cluster: Reached, role: Role, options: ListingOptions): Promise<void> {
  const read = await readObjects(cluster.client, await kindsOf(cluster, role), selectedBy(options));
  print(objectsIn(read), options.output, role);
  printProblems(read.problems);
}

function print(objects: readonly KubeObject[], output: ListingOptions["output"], role: Role): void {
  if (printObjects(objects, output)) return;
  const rows = objects.map(rowOf).sort(byName);
  const isWide = output === "wide";
  const now = clock.now();
  if (rows.length === 0) console.error(`slipway: there are no ${role}`);
  else for (const line of table(headsOf(isWide), secrets.clean(rows.map((row) => cells(row, isWide, now))))) say(line);
}

/** Prints what there is, then a line, or a document, for each change. */
async function watched(cluster: Reached, role: Role, options: ListingOptions): Promise<void> {
  const { output } = options;
  const selected = selectedBy(options);
  const kinds = (await kindsOf(cluster, role)).map(({ kind }) => kind);
  const { resources, problems } = await readable(cluster.client, kinds, selected);
  printProblems(problems);
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const changed = (object: KubeObject, type: string): void => printOne(object, type, output);
  const ports = { client: cluster.client, clock, random, log };
  const objects = (await follow(resources, selected, ports, { changed, signal: stopping.signal })).flatMap(objectsOf);
  if (output === "json" || output === "yaml") for (const object of objects) printOne(object, "added", output);
  else print(objects, output, role);
  if (!stopping.signal.aborted)
    await new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve(), { once: true }));
}

function printOne(object: KubeObject, type: string, output: ListingOptions["output"]): void {
  if (printChange(object, output)) return;
  const line = cells(rowOf(object), output === "wide", clock.now());
  say([...line, ...(type === "deleted" ? ["(deleted)"] : [])].join("   "));
}

const headsOf = (wide: boolean): string[] => [
  ...["KIND", "NAMESPACE", "NAME", "STATE", "READY", "AGE"],
  ...(wide ? ["BELONGS TO", "ADDRESS", "MACHINE", "NODE", "VERSION", "WAITS FOR"] : []),
];

function cells(row: Row, wide: boolean, now: number): string[] {
  const { members, created } = row;
  const ready = members === undefined ? (row.ready ? "yes" : "no") : `${members.ready}/${members.wanted}`;
  const age = created === undefined ? "-" : since(now - created);
  const more = [row.owner, row.address, row.machine, row.node, row.version, row.waitsFor?.replaceAll("\n", " ")];
  return [
    row.kind,
    row.namespace ?? "-",
    row.name,
    row.state,
    ready,
    age,
    ...(wide ? more.map((cell) => cell || "-") : []),
  ];
}
