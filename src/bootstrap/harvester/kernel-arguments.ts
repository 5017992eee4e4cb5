import { Fault } from "@slipway/base";
import type { Value } from "../../netboot/ipxe/script.ts";
import type { HarvesterJoin, Interface } from "./join.ts";
import { type Artifacts, since } from "./version.ts";

export interface KernelOptions {
  /** Where the installer fetches its configuration. */
  configUrl: string;
  /** False: the installer's live system downloads without checking certificates. */
  verifyTls?: boolean;
}

/** Linux on x86 keeps this many bytes of command line, its end mark included (`COMMAND_LINE_SIZE`). */
const MAX_BYTES = 2048;
const LONGEST_SETTING = "52:54:00:12:34:56".length;

/**
 * The words of the installer's kernel command line, for iPXE to expand. They describe the management network as a whole, not
 * only its cards: the installer brings it up from them before it has a configuration. What they say wins over the configuration.
 * Throws `Fault` (`Invalid`) when the kernel would cut them off.
 */
export function kernelArguments(join: HarvesterJoin, artifacts: Artifacts, options: KernelOptions): readonly Value[] {
  const { version } = artifacts;
  const words: Value[] = [
    `initrd=${basename(artifacts.initrd)}`,
    "ip=dhcp",
    "net.ifnames=1",
    "rd.net.dhcp.retry=10",
    "rd.net.timeout.dhcp=100",
    "rd.cos.disable",
    ...(options.verifyTls === false ? ["rd.noverifyssl"] : []),
    `root=live:${artifacts.rootfs}`,
    `console=${join.tty}`,
    "harvester.install.automatic=true",
    ...(join.skipChecks && since.skipChecks(version) ? ["harvester.install.skipchecks=true"] : []),
    ...(since.managementInterface(version) ? ["harvester.scheme_version=1"] : []),
    ...network(join, since.managementInterface(version)),
    `harvester.install.config_url=${options.configUrl}`,
  ];
  const bytes = words.reduce((sum, word) => sum + sizeOf(word) + 1, 0);
  if (bytes > MAX_BYTES)
    throw new Fault(
      "Invalid",
      "HarvesterConfig",
      `the kernel arguments need ${bytes} bytes, the kernel keeps ${MAX_BYTES}`,
      {
        remedy: "shorten the URLs or list fewer network cards",
      },
    );
  return words;
}

function network({ management }: HarvesterJoin, sinceOneOne: boolean): readonly Value[] {
  const root = `harvester.install.${sinceOneOne ? "management_interface" : "networks.harvester-mgmt"}`;
  const optional = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`${root}.${name}=${value}`];
  return [
    ...cardList(management.interfaces).map((card): Value => [`${root}.interfaces="`, ...card, '"']),
    `${root}.method=${management.method}`,
    `${root}.default_route=true`,
    ...optional("ip", management.ip),
    ...optional("subnet_mask", management.subnetMask),
    ...optional("gateway", management.gateway),
    ...Object.entries(management.bondOptions ?? {}).flatMap(([name, value]) => optional(`bond_options.${name}`, value)),
    ...(sinceOneOne ? [...optional("mtu", management.mtu), ...optional("vlan_id", management.vlanId)] : []),
  ];
}

/** A repeated key makes a list, so every card is a word of its own. Unset: the card that iPXE booted from, known to the machine only. */
function cardList(cards: readonly Interface[] | undefined): (string | { setting: string })[][] {
  // `netX` is the device that was opened last, the one DHCP succeeded on; it need not be the first.
  if (cards === undefined) return [["hwAddr:", { setting: "netX/mac" }]];
  return cards.map((card) => ["hwAddr" in card ? `hwAddr:${card.hwAddr.toLowerCase()}` : `name:${card.name}`]);
}

/** The name under which iPXE hands an image to a UEFI kernel. */
function basename(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

function sizeOf(word: Value): number {
  if (typeof word === "string") return Buffer.byteLength(word);
  const parts = "setting" in word ? [word] : word;
  return parts.reduce((sum, part) => sum + (typeof part === "string" ? Buffer.byteLength(part) : LONGEST_SETTING), 0);
}
