import { styleText } from "node:util";
import type { VendorOf } from "../inventory/vendor.ts";
import type { ShownHost } from "../netboot/local-api.ts";
import { since } from "../views/since.ts";

const MINUTE_MS = 60_000;
const FRESH_MS = 2 * MINUTE_MS;
const RECENT_MS = 30 * MINUTE_MS;

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
