import { isMac, parseMac } from "@slipway/base";
import { z } from "zod";
import type { HostRecord } from "./host.ts";

const mac = z.string().refine((said) => isMac(said) && parseMac(said) === said);
const time = z.number();
const short = z.string().max(256);

/** What the rest of netboot relies on. Fields that are not named here stay as they are. */
const Kept = z.looseObject({
  bootChosen: z.boolean(),
  source: short.optional(),
  tokenHash: short.optional(),
  cameBy: short.optional(),
  host: z.looseObject({
    name: short.regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/),
    mac,
    macs: z.array(mac).min(1).max(256),
    firstSeen: time,
    lastSeen: time,
    address: short.optional(),
    architecture: z.enum(["x86_64", "aarch64"]).optional(),
    firmware: z.enum(["bios", "uefi"]).optional(),
    product: short.optional(),
    boot: z.union([z.enum(["agent", "disk", "wait"]), z.looseObject({ chain: z.string() })]),
    inventoryAt: time.optional(),
    agentKey: short.optional(),
    session: z
      .looseObject({
        ...{ card: mac, address: short, via: short.optional(), registeredAt: time, spokeAt: time },
        proof: z.enum(["lease", "relay", "neighbour", "claim"]),
        isAsked: z.literal(true).optional(),
      })
      .optional(),
    tpm: z
      .looseObject({
        ...{ endorsementKey: short, pcrs: z.record(short, short) },
        certificate: z
          .looseObject({
            ...{ issuer: short.optional(), serial: short.optional(), until: short.optional() },
            ...{ authority: short.optional(), because: z.string().max(1_024).optional() },
          })
          .optional(),
      })
      .optional(),
    approval: z.looseObject({ at: time, key: short.optional(), tpm: short.optional() }).optional(),
    ports: z.record(mac, short).optional(),
    install: z
      .looseObject({
        ...{ id: short, givenAt: time, reports: z.boolean(), hasFiles: z.boolean(), address: short.optional() },
        ...{ servedAt: time.optional(), servedLastAt: time.optional(), endedAt: time.optional() },
        fetched: z.record(short, z.looseObject({ at: time, from: short })).optional(),
        result: z.looseObject({ ok: z.boolean(), message: z.string() }).optional(),
      })
      .optional(),
    order: z
      .looseObject({
        is: z.looseObject({ id: short, order: short }),
        givenAt: time,
        takenAt: time.optional(),
        endedAt: time.optional(),
        progress: z.looseObject({ phase: short }).optional(),
        result: z.looseObject({ ok: z.boolean(), message: z.string() }).optional(),
      })
      .optional(),
  }),
});

/** The record that a row's text holds; undefined: it is none, or another's than `name`. Never throws. */
export function readRecord(name: unknown, text: unknown): HostRecord | undefined {
  if (typeof name !== "string" || typeof text !== "string") return undefined;
  try {
    const record = Kept.parse(JSON.parse(text));
    return record.host.name === name ? (record as unknown as HostRecord) : undefined;
  } catch {
    return undefined;
  }
}
