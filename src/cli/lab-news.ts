import { labMac } from "../lab/machine.ts";
import type { MachinePlan } from "../lab/rack.ts";
import type { Host, HostChange } from "../netboot/hosts/host.ts";

type Known = Pick<Host, "address" | "inventoryAt"> & { order: string | undefined };

/** A listener that reports news of each machine, in one line each. Of machines that the lab has not got it says nothing. */
export function labNews(plans: readonly MachinePlan[], report: (line: string) => void): (change: HostChange) => void {
  const names = new Map<string, string>(plans.map(({ name }, at) => [labMac(at + 1), name]));
  const known = new Map<string, Known>();
  return (change) => {
    if (change.is !== "changed") return;
    const { host } = change;
    const name = names.get(host.mac);
    if (name === undefined) return;
    const before = known.get(host.mac);
    const { address, inventoryAt } = host;
    const order = orderOf(host);
    known.set(host.mac, { address, inventoryAt, order } as Known);
    for (const news of newsOf(host, order, before)) report(`${name}  ${news}`);
  };
}

function newsOf(host: Host, order: string | undefined, before: Known | undefined): string[] {
  const { address, inventoryAt, firmware, name } = host;
  const isNew = <T>(value: T | undefined, known: T | undefined): boolean => value !== undefined && value !== known;
  return [
    ...(before === undefined ? [`is seen: ${firmware ?? "unknown firmware"}`] : []),
    ...(isNew(address, before?.address) ? [`has ${address}`] : []),
    ...(isNew(inventoryAt, before?.inventoryAt) ? [`has registered as ${name}: ${hardware(host)}`] : []),
    ...(order !== undefined && order !== before?.order ? [order] : []),
  ];
}

function orderOf({ order }: Host): string | undefined {
  if (order === undefined) return undefined;
  if (order.result === undefined) return `is to ${order.is.order}`;
  return `${order.is.order}: ${order.result.message}`;
}

function hardware({ inventory }: Host): string {
  if (inventory === undefined) return "nothing reported";
  const { cpu, memoryBytes, disks } = inventory;
  const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return [
    `${cpu.count} CPU`,
    `${gib(memoryBytes)} of memory`,
    ...disks.map(({ name, bytes }) => `${name} of ${gib(bytes)}`),
  ].join(", ");
}

/** Time since the beginning, in seconds. Pure. */
export function secondsOf(elapsedMs: number): string {
  return `${(elapsedMs / 1000).toFixed(1)} s`;
}

/** What became of a machine, and when (`secondsOf`): such lines stand below each other. Pure. */
export function newsLine(seconds: string, news: string): string {
  return `${seconds.padStart(9)}  ${news}`;
}
