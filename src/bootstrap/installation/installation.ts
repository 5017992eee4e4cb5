/**
 * What is to become of a machine, in the words of no installer: one plain value that each format's writer takes (`../preseed`,
 * `../kickstart`, `../autoinstall`, `../cloud-init`). Each accepted field has an effect in each format; what a format can't do, its writer
 * refuses by the field's name.
 */
import { Fault } from "@slipway/base";
import { z } from "zod";
import * as field from "./fields.ts";

const dhcp = z.strictObject({ mac: field.mac, method: z.literal("dhcp") });
const fixed = z.strictObject({
  mac: field.mac,
  method: z.literal("static"),
  address: field.ipv4WithPrefix,
  gateway: field.ipv4.exactOptional(),
  nameServers: z.array(field.ipv4).max(3),
});

/** The card that the machine is installed and later reached by, found by its MAC address. */
export const Network = z.discriminatedUnion("method", [dhcp, fixed]);
export type Network = z.output<typeof Network>;

export const User = z
  .strictObject({
    name: field.userName,
    sshKeys: z.array(field.sshKey).max(64),
    /** Absent: no login by password. */
    passwordHash: field.passwordHash.exactOptional(),
  })
  .refine(({ sshKeys, passwordHash }) => sshKeys.length > 0 || passwordHash !== undefined, {
    path: ["sshKeys"],
    message: "an SSH key or a password hash is required: without one, no login to the machine is possible",
  });

export const Swap = z.union([z.literal("none"), z.strictObject({ mebibytes: z.int().min(64).max(1_048_576) })]);

/** What the installed system is like, whatever brought it onto the disk. */
const settings = {
  hostname: field.hostname,
  network: Network,
  /** May become root without a password. */
  user: User,
  timezone: field.timezone,
  locale: field.locale,
  keyboard: field.keyboard,
  /** Empty: the distribution's own. */
  ntpServers: z.array(field.host).max(8),
  /** Through which packages are fetched, while installing and later. */
  proxy: field.webUrl.exactOptional(),
  /** Where packages are fetched. Absent: the distribution's own. */
  mirror: field.mirrorUrl.exactOptional(),
  swap: Swap,
  packages: z.array(field.packageName).max(1024),
  /** Run in the installed system, one after the other, last of all. The first that fails makes the installation fail. */
  commands: z.array(field.command).max(256),
  /** URLs that get an empty POST when all is done, or when it went wrong as far as the installer can tell. */
  report: z.strictObject({ succeeded: field.webUrl, failed: field.webUrl.exactOptional() }).exactOptional(),
};

export const SystemSettings = z.strictObject(settings);
export type SystemSettings = z.output<typeof SystemSettings>;

/** A system that an installer puts onto a disk, whose former content is lost. */
export const Installation = z
  .strictObject({
    ...settings,
    architecture: z.enum(["x86_64", "aarch64"]),
    firmware: z.enum(["bios", "uefi"]),
    /** The disk that is overwritten; the others are left alone. */
    disk: field.disk,
    /** `plain`: a partition for everything. `lvm`: the same as a logical volume. */
    layout: z.enum(["plain", "lvm"]),
    /** Where cloud-init in the installed system asks for `meta-data` and `user-data` at its first boot, with its final slash: the data by which a machine joins its cluster. */
    seedUrl: field.webUrl.refine((url) => url.endsWith("/"), "must end with a slash").exactOptional(),
  })
  .refine(({ architecture, firmware }) => architecture !== "aarch64" || firmware === "uefi", {
    path: ["firmware"],
    message: "must be uefi on aarch64",
  });
export type Installation = z.output<typeof Installation>;

/** One thing that is wrong: where, and what it needs. Never holds the value, which may be a secret. */
export interface Problem {
  /** `network.address`, `user.sshKeys.0`. */
  path: string;
  message: string;
}

/** `value` as `schema` reads it. Throws `Fault` (`Invalid`) on `source` that names every wrong field by its path. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw refusal(
    source,
    read.error.issues.map((issue) => ({ path: issue.path.join("."), message: messageOf(issue) })),
  );
}

/** A `Fault` (`Invalid`) that names each problem; `details` has them as data. */
export function refusal(source: string, problems: readonly Problem[]): Fault {
  const list = problems.map(({ path, message }) => `${path || "the whole"}: ${message}`).join("; ");
  return new Fault("Invalid", source, list, { details: problems });
}

/** Zod quotes unknown keys, which users wrote; a key may be mistaken for a value, but values are never quoted. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `has no ${issue.keys.map((key) => JSON.stringify(key.slice(0, 64))).join(", ")}`;
  return issue.message;
}

/** Host part and domain of a host name: `web.example.org` → `web`, `example.org`. */
export function namesOf(hostname: string): { host: string; domain: string } {
  const [host = "", ...rest] = hostname.split(".");
  return { host, domain: rest.join(".") };
}
