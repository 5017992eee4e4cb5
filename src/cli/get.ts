import { styleText } from "node:util";
import { systemClock } from "@slipway/base";
import { Option } from "commander";
import { loadVendors, type VendorOf } from "../inventory/vendor.ts";
import type { ShownHost } from "../netboot/local-api.ts";
import { FOLDERS, netbootClient } from "./netboot-client.ts";
import { say, secrets } from "./outgoing.ts";
import { since } from "./since.ts";
import type { Verb } from "./verb.ts";

const OUTPUTS = ["wide", "json"] as const;

const MINUTE_MS = 60_000;
const FRESH_MS = 2 * MINUTE_MS;
const RECENT_MS = 30 * MINUTE_MS;

/** `slipway get`: asks the netboot that runs with the folder. */
export const verb: Verb = (program) => {
  const get = program
    .command("get")
    .description("Show what a running netboot knows.")
    .addHelpText("after", "\nExamples:\n  slipway get unleased\n  slipway get unleased -o wide");
  get
    .command("unleased")
    .alias("hosts")
    .description("Machines that were seen on the network, the latest first.")
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .addOption(
      new Option(
        "-o, --output <format>",
        "wide: what it is, boots and does, how far it is trusted, its agent's key; or json",
      ).choices(OUTPUTS),
    )
    .addHelpText("after", "\nExamples:\n  slipway get unleased\n  slipway get unleased -o json")
    .action(async ({ dir, output }: { dir?: string; output?: (typeof OUTPUTS)[number] }) => {
      const client = await netbootClient(dir === undefined ? FOLDERS : [dir]);
      try {
        const hosts = (await client.hosts()).sort((a, b) => b.lastSeen - a.lastSeen);
        if (output === "json") {
          // Inventories come one by one: all of them may be more than fits into one answer.
          for (const [at, { name }] of hosts.entries())
            hosts[at] = await client.ask<ShownHost>("GET", `/hosts/${name}`);
          console.log(JSON.stringify(secrets.clean({ hosts }), undefined, 2));
        }
        if (output !== "json")
          for (const line of table(hosts, await loadVendors(), systemClock.now(), output === "wide")) say(line);
      } finally {
        await client.close();
      }
    });
};

/** The columns of `pldrctl get unleased`, coloured as its are: seen within two minutes green, within half an hour yellow, else red. */
export function table(hosts: readonly ShownHost[], vendorOf: VendorOf, now: number, wide: boolean): string[] {
  const head = ["Mac Address", "Hardware Vendor", "Time Seen", "Time since"];
  const rows = hosts.map(({ mac, lastSeen }) => [
    mac,
    vendorOf(mac) || "-",
    new Date(lastSeen).toISOString().replace(/\.\d+Z$/, "Z"),
    since(now - lastSeen),
  ]);
  if (wide) {
    head.push("Name", "Address", "Machine", "Boots", "Order", "Trust", "Key", "Waits for");
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
  const { name, address, architecture, firmware, boot, install, product, order, standing, keyFingerprint, waitsFor } =
    host;
  const machine = product ?? [architecture, firmware].filter((known) => known !== undefined).join(" ");
  const doing =
    order === undefined ? "-" : `${order.is.order}: ${order.result?.message ?? order.progress?.phase ?? "given"}`;
  const isInstalled = install !== undefined && install.result === undefined;
  const boots = isInstalled ? "installer" : typeof boot === "string" ? boot : "script";
  return [name, address ?? "-", machine || "-", boots, doing, standing.trust, keyFingerprint ?? "-", waitsFor ?? "-"];
}

function colourOf(ageMs: number): "green" | "yellow" | "red" {
  if (ageMs < FRESH_MS) return "green";
  return ageMs < RECENT_MS ? "yellow" : "red";
}
