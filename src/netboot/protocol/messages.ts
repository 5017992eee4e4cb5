/**
 * What Slipway and its agent say to each other, version 1: JSON over HTTP, the agent asks. docs/agent-protocol.md has the order of
 * things. Every shape is bounded here, since it comes from an untrusted machine.
 */

import { isMac, parseMac } from "@slipway/base";
import { z } from "zod";
import { AGENT_KEY } from "./key.ts";

/** Below the server's URL. Another version of the protocol lives below another path. */
export const AGENT_PATH = "/agent/v1";

/** Texts end up on terminals: what could steer one is a space. */
const line = (most: number) =>
  z
    .string()
    .max(most)
    .overwrite((said) => said.replace(/\p{C}/gu, " "));
const text = line(256);
const mac = z
  .string()
  .max(32)
  .refine(isMac, "not a MAC address")
  .overwrite((said) => (isMac(said) ? parseMac(said) : said));
const count = z.int().nonnegative();

export const Disk = z.object({
  /** `/dev/sda`. */
  name: text,
  /** Stable names, without `/dev/disk/by-id/`. */
  byId: z.array(text).max(16),
  byPath: text.optional(),
  bytes: count,
  rotational: z.boolean(),
  model: text.optional(),
  vendor: text.optional(),
  serial: text.optional(),
  wwn: text.optional(),
  /** SCSI host:channel:target:lun. */
  hctl: text.optional(),
  transport: text.optional(),
  readOnly: z.boolean(),
  /** In bytes. */
  logicalBlock: count,
});

export const NetworkCard = z.object({
  name: text,
  mac,
  /** Carrier at the time of the report. */
  link: z.boolean(),
  speedMbps: count.optional(),
  /** With prefix length: `10.0.0.5/24`. */
  addresses: z.array(text).max(16),
  /** `0x8086 0x10d3`. */
  model: text.optional(),
  driver: text.optional(),
});

/** What the agent found. What could not be read is absent, never guessed. */
export const Inventory = z.object({
  /** The card that the agent came up with. */
  bootMac: mac,
  architecture: z.enum(["x86_64", "aarch64"]),
  firmware: z.object({
    kind: z.enum(["bios", "uefi"]),
    secureBoot: z.boolean().optional(),
    vendor: text.optional(),
    version: text.optional(),
    date: text.optional(),
  }),
  system: z.object({
    manufacturer: text.optional(),
    product: text.optional(),
    serial: text.optional(),
    uuid: text.optional(),
  }),
  cpu: z.object({ model: text.optional(), count, clockMhz: count.optional(), flags: z.array(text).max(512) }),
  memoryBytes: count,
  disks: z.array(Disk).max(256),
  cards: z.array(NetworkCard).min(1).max(64),
  bmc: z.object({ address: text.optional(), addressV6: text.optional() }).optional(),
  agent: z.object({
    version: text,
    kernel: text,
    uptimeSeconds: z.number().nonnegative(),
    /** What its secrets are encrypted to. Heeded at registration only. */
    key: z.string().regex(AGENT_KEY, "not an age X25519 recipient").optional(),
  }),
});

export type Inventory = z.infer<typeof Inventory>;
export type Disk = z.infer<typeof Disk>;
export type NetworkCard = z.infer<typeof NetworkCard>;

/** The disk to use, as its stable name below `/dev/disk/by-id`, or its device file where it has none. Chosen by the server. */
export interface DiskTarget {
  disk: string;
}

/** Files that the installed system reads at its first boot. Their addresses are given to this machine only, while the order runs. `sealed`: as of `write`. */
export interface FirstBootData {
  /** The file system's label: `cidata` (cloud-init NoCloud) or `config-2` (config drive). */
  label: "cidata" | "config-2";
  files: readonly { path: string; url: string; sealed?: true }[];
}

/** What the agent has to do. One at a time; `id` never comes twice. */
export type Order = { id: string } & OrderBody;

export type OrderBody =
  /** Report the hardware again. */
  | { order: "inspect" }
  /** Stream an image to a disk and check it; then, if asked, lay the first-boot data into a partition at its end. */
  | ({
      order: "write";
      url: string;
      /** What is fetched is encrypted to the key that the agent registered (age-encryption.org/v1), anew at each request. */
      sealed?: true;
      format: "raw" | "gz" | "zst" | "xz";
      /** Of the file as it lies at the server: after it is opened, before it is unpacked. */
      checksum?: { type: "md5" | "sha256" | "sha512"; value: string };
      data?: FirstBootData;
    } & DiskTarget)
  /**
   * `metadata`: every signature, both GPT copies, start and end of each partition and disk. `discard`: TRIM of the whole, where the
   * device promises zeroes. `full`: zeroes everywhere. `secure`: the device's own erase. Each is read back; the result says what was proven.
   */
  | { order: "wipe"; how: "metadata" | "discard" | "full" | "secure"; disks: "all" | readonly string[] }
  /** Start another kernel without the firmware. Under lockdown only signed ones start; the result then says so. */
  | { order: "kexec"; kernel: string; initrd?: string; commandLine: string }
  | { order: "reboot" }
  | { order: "poweroff" };

/** How far an order is. `bytes` of `total` (absent while unknown) of the phase. */
export const Progress = z.object({
  phase: line(64),
  bytes: count.optional(),
  total: count.optional(),
});
export type Progress = z.infer<typeof Progress>;

/** How an order ended. `reboot`, `poweroff` and `kexec` answer before they are carried out. */
export const Result = z.object({
  ok: z.boolean(),
  message: line(4096),
  /** Of `wipe`: what was read back, disk by disk. */
  disks: z
    .array(z.object({ disk: text, how: text, proven: z.boolean(), detail: line(1024) }))
    .max(256)
    .optional(),
});
export type Result = z.infer<typeof Result>;

/** Answer to a registration. */
export interface Registered {
  /** Names the host in the paths that follow. */
  host: string;
  /** Bearer token of all that follows; good until the next registration. */
  token: string;
}
