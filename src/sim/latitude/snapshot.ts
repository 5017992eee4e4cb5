import { z } from "zod";
import type { SimServer, World } from "./world.ts";

const hardware = z.strictObject({
  id: z.string(),
  hostname: z.string(),
  plan: z.string(),
  serial: z.string(),
  nics: z.array(z.strictObject({ name: z.string(), mac: z.string() })),
  publicIp: z.string(),
  privateIp: z.string(),
  firmware: z.enum(["uefi", "bios"]),
  diskGiB: z.number(),
});

const progress = z.strictObject({
  stage: z.enum(["dhcp", "script", "shell", "kernel", "installing", "installed", "joined", "failed", "hung", "off"]),
  message: z.string(),
});

const server = z.strictObject({
  id: z.string(),
  label: z.string(),
  hostname: z.string(),
  plan: z.string(),
  site: z.string(),
  billing: z.string(),
  operatingSystem: z.string(),
  ipxe: z.string(),
  userData: z.string().optional(),
  sshKeys: z.array(z.string()),
  status: z.enum(["on", "off", "unknown", "disk_erasing", "deploying", "failed_deployment", "rescue_mode"]),
  locked: z.boolean(),
  leaving: z.boolean(),
  createdAt: z.number(),
  hardware,
  runs: z.enum(["network", "disk"]).optional(),
  acting: z.enum(["power_off", "boot"]).optional(),
  progress: progress.optional(),
  /** What the firmware has installed there. */
  disk: z.unknown().optional(),
});

/** The whole cloud at rest. Another form gets another `version`. */
export const Snapshot = z.strictObject({
  of: z.literal("latitude"),
  version: z.literal(1),
  token: z.string(),
  racked: z.int(),
  nextVid: z.int(),
  stock: z.record(z.string(), z.number()),
  servers: z.array(server),
  userData: z.array(
    z.strictObject({
      id: z.string(),
      description: z.string(),
      content: z.string(),
      createdAt: z.number(),
      updatedAt: z.number(),
    }),
  ),
  networks: z.array(
    z.strictObject({
      id: z.string(),
      vid: z.int(),
      description: z.string(),
      site: z.string(),
      createdAt: z.number(),
    }),
  ),
  assignments: z.array(
    z.strictObject({ id: z.string(), network: z.string(), server: z.string(), createdAt: z.number() }),
  ),
  purchases: z.array(
    z.strictObject({ id: z.string(), hostname: z.string(), plan: z.string(), site: z.string(), at: z.number() }),
  ),
});

export type Snapshot = z.infer<typeof Snapshot>;

/** The cloud as JSON that shares nothing with it. */
export function snapshotOf(world: World): Snapshot {
  const snapshot = {
    of: "latitude",
    version: 1,
    token: world.token,
    racked: world.racked,
    nextVid: world.nextVid,
    stock: Object.fromEntries(world.stock),
    servers: [...world.servers.values()].map((one) => savedServer(world, one)),
    userData: [...world.userData.values()],
    networks: [...world.networks.values()],
    assignments: [...world.assignments.values()],
    purchases: world.purchases,
  };
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot;
}

function savedServer({ firmware }: World, { powered, ...lasting }: SimServer): object {
  return { ...lasting, disk: firmware.remember?.(lasting.hardware) };
}
