import { asFault, isFault, type Log } from "@slipway/base";
import type { DomainRef, Libvirt } from "../libvirt/libvirt.ts";
import { type DomainRead, domainXml } from "../xml/domain.ts";
import { networkXml } from "../xml/network.ts";
import { diskVolumeXml, poolXml } from "../xml/storage.ts";
import type { Links } from "./links.ts";
import type { Step } from "./steps.ts";

export interface Hands {
  libvirt: Libvirt;
  links: Links;
  log: Log;
}

/** Carries out one step. Rejects with a `Fault` when it could not be done; what is done already is no fault. */
export async function carryOut({ libvirt, links, log }: Hands, step: Step): Promise<void> {
  switch (step.do) {
    case "define-pool":
      return void (await libvirt.definePool(poolXml(step.pool)));
    case "start-pool":
      return await libvirt.startPool(step.pool);
    case "remove-pool":
      if (step.active) await gone(libvirt.stopPool(step.pool));
      // A folder in which others have files stays.
      await libvirt.deletePool(step.pool).catch(() => {});
      return await gone(libvirt.undefinePool(step.pool));
    case "define-network":
      return void (await libvirt.defineNetwork(networkXml(step.definition)));
    case "start-network":
      if (step.active) await gone(libvirt.stopNetwork(step.network));
      return await libvirt.startNetwork(step.network);
    case "remove-network":
      if (step.active) await gone(libvirt.stopNetwork(step.network));
      return await gone(libvirt.undefineNetwork(step.network));
    case "plug":
      return await links.plug(step.device, step.bridge);
    case "define-domain":
      return void (await libvirt.defineDomain(domainXml(step.definition)));
    case "create-volume":
      return void (await libvirt.createVolume(step.pool, diskVolumeXml(step)));
    case "grow-volume":
      return await libvirt.resizeVolume(step.volume, step.bytes);
    case "delete-volume":
      return await gone(libvirt.deleteVolume(step.volume));
    case "power-off":
      return await gone(libvirt.destroyDomain(step.domain));
    case "undefine-domain":
      return await gone(libvirt.undefineDomain(step.domain));
    case "boot-as-usual":
      return await bootAsUsual({ libvirt, log }, step);
  }
}

/** It is gone, or has stopped, already: that is what was wanted. */
async function gone(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  });
}

/**
 * Sets the boot order of a running domain, which counts from its next reset on. libvirt has no call for it, so it is QEMU's own. Without it the domain
 * boots from the same device until it is switched off: no reason to give up.
 */
async function bootAsUsual(
  { libvirt, log }: Pick<Hands, "libvirt" | "log">,
  { domain, live, order }: Extract<Step, { do: "boot-as-usual" }>,
): Promise<void> {
  try {
    for (const command of bootCommands(live, order)) await monitor(libvirt, domain, command);
  } catch (error) {
    if (isFault(error, "Unavailable", "LostAnswer")) throw error;
    log.warn({ domain: domain.name, error: asFault(error, "QEMU").message }, "the boot order could not be set back");
  }
}

async function monitor(libvirt: Libvirt, domain: DomainRef, command: object): Promise<void> {
  const answer = JSON.parse(await libvirt.monitorCommand(domain, JSON.stringify(command))) as {
    error?: { desc?: string };
  };
  if (answer.error !== undefined) throw new Error(answer.error.desc ?? "QEMU refused the command");
}

const NONE = -1;

/** First nobody has an index, then each its own: no two devices may have the same at any time. Pure. */
export function bootCommands(live: DomainRead, order: Readonly<Record<string, number>>): readonly object[] {
  const devices = [
    ...live.cards.map(({ alias, mac }) => ({ alias, index: order[mac] })),
    ...live.drives.map(({ alias, device }) => ({ alias, index: order[device] })),
  ].filter((one): one is { alias: string; index: number | undefined } => one.alias !== undefined);
  const set = (alias: string, value: number): object => ({
    execute: "qom-set",
    arguments: { path: `/machine/peripheral/${alias}`, property: "bootindex", value },
  });
  return [
    ...devices.map(({ alias }) => set(alias, NONE)),
    ...devices.flatMap(({ alias, index }) => (index === undefined ? [] : [set(alias, index)])),
  ];
}
