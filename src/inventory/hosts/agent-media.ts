/** The CD that starts Slipway's agent on hosts whose BMC has an address for virtual media: when it is put in, and that it does not stay. */
import { isoTime } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { bootsBy } from "../bmc/address.ts";
import type { Facts } from "./facts.ts";
import { told } from "./moves.ts";
import type { Fields, HostStep } from "./step.ts";

/** Whether the host starts from its virtual drive where others start from the network. The CD is for UEFI. */
export function startsFromMedia({ spec }: Pick<BareMetalHost, "spec">): boolean {
  if (spec.bmc === undefined || spec.bootMode === "legacy") return false;
  return bootsBy(spec.bmc.address) === "virtual-media";
}

/** What is announced with a start from the network: the CD may be in the drive from now on. */
export function noteMedia({ host, now }: Facts): Fields {
  return startsFromMedia(host) ? { agentMediaAt: isoTime(now) } : {};
}

/** Takes the CD out; undefined: it is out, or nobody can now. */
export function takeOutMedia(at: Facts): HostStep | undefined {
  if (at.host.status?.agentMediaAt === undefined || at.bmc?.is !== "answers") return undefined;
  const done = { do: "write", fields: told(at, { agentMediaAt: undefined }) } as const;
  return { do: "eject", announce: told(at, {}), done };
}
