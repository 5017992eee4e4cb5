/**
 * What an operator and the netboot that it takes machines from say to each other, below `/v1/plunder`. Both sides read it by these schemas, each bounded,
 * since either may be given nonsense.
 */
import { isMac, parseMac } from "@slipway/base";
import { z } from "zod";

export const MACHINES_PATH = "/machines";
export const WAITING_PATH = "/waiting";

/** Texts end up in conditions: what could steer a terminal is a space. */
const line = (most: number) =>
  z
    .string()
    .max(most)
    .overwrite((said) => said.replace(/\p{C}/gu, " "));

const mac = z
  .string()
  .max(32)
  .refine(isMac, "must be a MAC address")
  .overwrite((said) => (isMac(said) ? parseMac(said) : said));

const claim = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "must be the uid of an object");
const amount = z.number().nonnegative();

/** A machine that is asked for, by one of its cards. */
export const WantedMachine = z.strictObject({
  mac,
  bootConfigName: z.string().min(1).max(253),
  claim,
  /** The object, as messages name it. */
  holder: line(512),
  hostname: z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, "must be a host name"),
  /** Where its cloud-init finds the bootstrap data. Who knows it may read them: it is in no listing. */
  seedUrl: z
    .string()
    .regex(/^https?:\/\/[\x21\x23-\x26\x28-\x5b\x5d-\x7e]{1,1024}\/$/, "must be a URL that ends with /"),
});
export type WantedMachine = z.output<typeof WantedMachine>;

/**
 * A machine that somebody has. `waiting`: for itself, for its installer. `installed`: its installation has ended well. `releasing`: it is being wiped.
 * `wiped`: nobody has it any more, and `message` is the proof.
 */
export const ServedMachine = z.object({
  claim,
  holder: line(512),
  mac,
  hostname: line(253),
  state: z.enum(["waiting", "installed", "failed", "releasing", "wiped"]),
  message: line(4096),
  address: line(64).optional(),
  /** ms since 1970. */
  createdAt: amount,
});
export type ServedMachine = z.output<typeof ServedMachine>;

export const ServedMachines = z.object({ machines: z.array(ServedMachine).max(20_000) });

/** A machine whose agent waits, and that nobody has. */
export const WaitingMachine = z.object({
  mac,
  /** All cards that it has proven. */
  macs: z.array(mac).max(64),
  /** Somebody at the netboot said that it may be used: it is approved, or every machine is. */
  isTrusted: z.boolean(),
  /** Where it was asked for. */
  hardware: z.object({ cpus: amount, memoryBytes: amount, diskBytes: amount, architecture: line(32) }).optional(),
});
export type WaitingMachine = z.output<typeof WaitingMachine>;

export const WaitingMachines = z.object({ machines: z.array(WaitingMachine).max(20_000) });
