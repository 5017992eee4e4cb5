import { isIPv4 } from "node:net";
import { BOND_MODES, type HarvesterJoin, type Management } from "./join.ts";

/** Notes one problem: the field's name in `HarvesterJoin`, and what is wrong with it. */
export type NoteProblem = (field: string, message: string) => void;

/** Least and most. */
const RANGES = { mtu: [576, 9000], vlanId: [1, 4094] } as const;
const MAC = /^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$/;

/** The installer's rules for the management network; that a card exists is known on the machine only. */
export function managementProblems(join: HarvesterJoin, refuse: NoteProblem): void {
  const { management } = join;
  if (management.method !== "dhcp" && management.method !== "static")
    refuse("management.method", `${JSON.stringify(management.method)} is neither dhcp nor static`);
  if (management.method === "static") staticAddress(join, refuse);
  cards(management, refuse);
  bond(management.bondOptions ?? {}, refuse);
  numbers(management, refuse);
}

function staticAddress({ management, dnsNameservers = [] }: HarvesterJoin, refuse: NoteProblem): void {
  for (const name of ["ip", "subnetMask", "gateway"] as const)
    if (!isIPv4(management[name] ?? "")) refuse(`management.${name}`, "must be an IPv4 address with method static");
  if (dnsNameservers.length === 0) refuse("dnsNameservers", "are required with method static");
}

function bond(options: NonNullable<Management["bondOptions"]>, refuse: NoteProblem): void {
  const at = (name: string): string => `management.bondOptions.${name}`;
  for (const [name, value] of Object.entries(options))
    if (!/^[a-z_]{1,32}$/.test(name) || !/^[A-Za-z0-9.+_,:-]{1,64}$/.test(value))
      refuse(at(name), "is not an option of Linux bonding");
  const { mode, miimon } = options;
  if (mode !== undefined && !(BOND_MODES as readonly string[]).includes(mode))
    refuse(at("mode"), `${JSON.stringify(mode)} is none of ${BOND_MODES.join(", ")}`);
  if (miimon !== undefined && !/^\d{1,6}$/.test(miimon)) refuse(at("miimon"), "is not a number of ms");
}

function cards(management: Management, refuse: NoteProblem): void {
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

function numbers(management: Management, refuse: NoteProblem): void {
  for (const name of ["mtu", "vlanId"] as const) {
    const value = management[name];
    const [least, most] = RANGES[name];
    if (value !== undefined && (!Number.isInteger(value) || value < least || value > most))
      refuse(`management.${name}`, `${value} is not a whole number from ${least} to ${most}`);
  }
}
