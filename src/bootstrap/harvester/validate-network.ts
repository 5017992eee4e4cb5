import { isIPv4 } from "node:net";
import { BOND_MODES, type HarvesterJoin, type Management } from "./join.ts";

/** Notes one problem: the field's name in `HarvesterJoin`, and what is wrong with it. */
export type Tell = (field: string, message: string) => void;

const MAC = /^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$/;

/** The installer's rules for the management network; that a card exists is known on the machine only. */
export function managementProblems(join: HarvesterJoin, refuse: Tell): void {
  const { management } = join;
  const at = (name: string): string => `management.${name}`;
  if (management.method !== "dhcp" && management.method !== "static")
    refuse(at("method"), `${JSON.stringify(management.method)} is neither dhcp nor static`);
  if (management.method === "static") {
    for (const name of ["ip", "subnetMask", "gateway"] as const)
      if (!isIPv4(management[name] ?? "")) refuse(at(name), "must be an IPv4 address with method static");
    if ((join.dnsNameservers ?? []).length === 0) refuse("dnsNameservers", "are required with method static");
  }
  cards(management, refuse);
  for (const [name, value] of Object.entries(management.bondOptions ?? {}))
    if (!/^[a-z_]{1,32}$/.test(name) || !/^[A-Za-z0-9.+_,:-]{1,64}$/.test(value))
      refuse(at(`bondOptions.${name}`), "is not an option of Linux bonding");
  const mode = management.bondOptions?.mode;
  if (mode !== undefined && !(BOND_MODES as readonly string[]).includes(mode))
    refuse(at("bondOptions.mode"), `${JSON.stringify(mode)} is none of ${BOND_MODES.join(", ")}`);
  const miimon = management.bondOptions?.miimon;
  if (miimon !== undefined && !/^\d{1,6}$/.test(miimon)) refuse(at("bondOptions.miimon"), "is not a number of ms");
  whole(at("mtu"), management.mtu, 576, 9000, refuse);
  whole(at("vlanId"), management.vlanId, 1, 4094, refuse);
}

function cards(management: Management, refuse: Tell): void {
  const seen = new Set<string>();
  if (management.interfaces?.length === 0) refuse("management.interfaces", "must name a card, or be left out");
  for (const [at, card] of (management.interfaces ?? []).entries()) {
    const field = `management.interfaces[${at}]`;
    const text = "hwAddr" in card ? card.hwAddr.toLowerCase() : card.name;
    if ("hwAddr" in card && !MAC.test(text)) refuse(field, `${JSON.stringify(text)} is not a hardware address`);
    if ("name" in card && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/.test(text))
      refuse(field, `${JSON.stringify(text)} is not the name of a network card`);
    if (seen.has(text)) refuse(field, `${JSON.stringify(text)} is named twice`);
    seen.add(text);
  }
}

function whole(field: string, value: number | undefined, least: number, most: number, refuse: Tell): void {
  if (value !== undefined && (!Number.isInteger(value) || value < least || value > most))
    refuse(field, `${value} is not a whole number from ${least} to ${most}`);
}
