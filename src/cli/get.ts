import { styleText } from "node:util";
import { systemClock } from "@slipway/base";
import { Option } from "commander";
import { loadVendors, type VendorOf } from "../inventory/vendor.ts";
import type { ShownHost } from "../netboot/local-api.ts";
import { since } from "../views/since.ts";
import { addRoles } from "./get-objects.ts";
import { OUTPUTS } from "./listing/options.ts";
import { documentOf } from "./listing/print.ts";
import { FOLDERS, type NetbootClient, netbootClient } from "./netboot-client.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

const MINUTE_MS = 60_000;
const FRESH_MS = 2 * MINUTE_MS;
const RECENT_MS = 30 * MINUTE_MS;

/** `slipway get`: asks the netboot that runs with the folder. */
export const verb: Verb = (program) => {
  const get = program
    .command("get")
    .description("List machines, pools or clusters of a cluster, or what a running netboot has seen.")
    .addHelpText("after", "\nExamples:\n  slipway get machines\n  slipway get pools -o wide\n  slipway get unleased");
  addRoles(get);
  get
    .command("unleased")
    .alias("hosts")
    .description("Machines that were seen on the network, the latest first.")
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .addOption(
      new Option(
        "-o, --output <format>",
        "wide: what it is, boots and does, how far it is trusted, its agent's key; name: host/NAME alone; or json, yaml",
      ).choices(OUTPUTS),
    )
    .addHelpText("after", "\nExamples:\n  slipway get unleased\n  slipway get unleased -o json")
    .action(async ({ dir, output }: UnleasedOptions) => {
      const client = await netbootClient(dir === undefined ? FOLDERS : [dir]);
      try {
        await printHosts(client, output);
      } finally {
        await client.close();
      }
    });
};

interface UnleasedOptions {
  dir?: string;
  output?: (typeof OUTPUTS)[number];
}

async function printHosts(client: NetbootClient, output: UnleasedOptions["output"]): Promise<void> {
  const hosts = (await client.hosts()).sort((a, b) => b.lastSeen - a.lastSeen);
  if (output === "name") {
    for (const { name } of hosts) say(`host/${name}`);
  } else if (output === "json" || output === "yaml") {
    // Inventories come one by one: all of them may be more than fits into one answer.
    for (const [at, { name }] of hosts.entries()) hosts[at] = await client.ask<ShownHost>("GET", `/hosts/${name}`);
    console.log(documentOf({ hosts }, output));
  } else for (const line of table(hosts, await loadVendors(), systemClock.now(), output === "wide")) say(line);
}

/** The columns of `pldrctl get unleased` and the host's name, coloured as its are: seen within two minutes green, within half an hour yellow, else red. */
export function table(hosts: readonly ShownHost[], vendorOf: VendorOf, now: number, wide: boolean): string[] {
  const head = ["Mac Address", "Hardware Vendor", "Time Seen", "Time since", "Name"];
  const rows = hosts.map(({ mac, lastSeen, name }) => [
    mac,
    vendorOf(mac) || "-",
    new Date(lastSeen).toISOString().replace(/\.\d+Z$/, "Z"),
    since(now - lastSeen),
    name,
  ]);
  if (wide) {
    head.push("Address", "Machine", "Boots", "Order", "Trust", "Key", "Waits for");
    for (const [at, host] of hosts.entries()) rows[at]!.push(...detail(host));
  }
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd();
  return [line(head), ...rows.map((row, at) => styleText(colourOf(now - hosts[at]!.lastSeen), line(row)))];
}

function detail(host: ShownHost): string[] {
  const { address, architecture, firmware, boot, install, product, order, standing, keyFingerprint, waitsFor } = host;
  const machine = product ?? [architecture, firmware].filter((known) => known !== undefined).join(" ");
  const doing =
    order === undefined ? "-" : `${order.is.order}: ${order.result?.message ?? order.progress?.phase ?? "given"}`;
  const isInstalled = install !== undefined && install.result === undefined;
  const boots = isInstalled ? "installer" : typeof boot === "string" ? boot : "script";
  return [address ?? "-", machine || "-", boots, doing, standing.trust, keyFingerprint ?? "-", waitsFor ?? "-"];
}

function colourOf(ageMs: number): "green" | "yellow" | "red" {
  if (ageMs < FRESH_MS) return "green";
  return ageMs < RECENT_MS ? "yellow" : "red";
}
