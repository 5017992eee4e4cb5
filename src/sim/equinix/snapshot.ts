import { z } from "zod";
import type { Cloud } from "./cloud.ts";
import type { SimDevice, SimPort } from "./device.ts";

const address = z.strictObject({
  id: z.string(),
  address: z.string(),
  family: z.literal([4, 6]),
  public: z.boolean(),
  cidr: z.number(),
  gateway: z.string(),
});

/** A port. Other ports are named by their name, virtual networks by their id. */
const port = z.strictObject({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["bond", "physical"]),
  mac: z.string().optional(),
  bond: z.string().optional(),
  bonded: z.boolean(),
  layer: z.literal([2, 3]),
  vlans: z.array(z.string()),
  native: z.string().optional(),
});

const event = z.strictObject({
  id: z.string(),
  type: z.string(),
  body: z.string(),
  state: z.string().optional(),
  at: z.number(),
});

const device = z.strictObject({
  id: z.string(),
  slot: z.int(),
  serial: z.string(),
  projectId: z.string(),
  plan: z.string(),
  metro: z.string(),
  operatingSystem: z.string(),
  billingCycle: z.string(),
  createdAt: z.number(),
  listedAt: z.number(),
  spot: z.boolean(),
  reservation: z.string().optional(),
  order: z.record(z.string(), z.unknown()),
  ports: z.array(port),
  hostname: z.string(),
  description: z.string().optional(),
  state: z.enum([
    "queued",
    "provisioning",
    "deprovisioning",
    "reinstalling",
    "active",
    "inactive",
    "failed",
    "powering_on",
    "powering_off",
  ]),
  tags: z.array(z.string()),
  userData: z.string(),
  scriptUrl: z.string(),
  alwaysPxe: z.boolean(),
  customData: z.json(),
  locked: z.boolean(),
  networkFrozen: z.boolean(),
  terminatesAt: z.number().optional(),
  updatedAt: z.number(),
  addresses: z.array(address),
  events: z.array(event),
  stage: z
    .enum(["dhcp", "script", "shell", "kernel", "installing", "installed", "joined", "failed", "hung", "off"])
    .optional(),
  runs: z.enum(["network", "disk"]).optional(),
  reinstallPending: z.boolean(),
  dead: z.boolean(),
  /** What the firmware has installed there. */
  disk: z.unknown().optional(),
});

/** The whole cloud at rest. Another form gets another `version`. */
export const Snapshot = z.strictObject({
  of: z.literal("equinix"),
  version: z.literal(1),
  token: z.string(),
  racked: z.int(),
  slots: z.strictObject({ next: z.int(), free: z.array(z.int()) }),
  capacity: z.record(z.string(), z.number()),
  spotPrices: z.record(z.string(), z.number()),
  reservations: z.array(
    z.strictObject({ id: z.string(), plan: z.string(), metro: z.string(), device: z.string().optional() }),
  ),
  sshKeys: z.array(
    z.strictObject({ id: z.string(), label: z.string(), key: z.string(), projectId: z.string().optional() }),
  ),
  vlans: z.array(
    z.strictObject({
      id: z.string(),
      projectId: z.string(),
      metro: z.string(),
      vxlan: z.int(),
      description: z.string(),
    }),
  ),
  devices: z.array(device),
  purchases: z.array(
    z.strictObject({
      id: z.string(),
      hostname: z.string(),
      tags: z.array(z.string()),
      plan: z.string(),
      metro: z.string(),
      at: z.number(),
      releasedAt: z.number().optional(),
    }),
  ),
});

export type Snapshot = z.infer<typeof Snapshot>;
export type SavedDevice = Snapshot["devices"][number];
export type SavedPort = SavedDevice["ports"][number];

/** The cloud as JSON that shares nothing with it. */
export function snapshotOf(cloud: Cloud): Snapshot {
  const snapshot = {
    of: "equinix",
    version: 1,
    token: cloud.token,
    racked: cloud.racked,
    slots: cloud.addresses.taken,
    capacity: Object.fromEntries(cloud.capacity),
    spotPrices: Object.fromEntries(cloud.spotPrices),
    reservations: [...cloud.reservations.values()].map((one) => ({ ...one, device: one.device?.id })),
    sshKeys: [...cloud.sshKeys.values()],
    vlans: [...cloud.vlans.values()],
    devices: [...cloud.devices.values()].map((one) => savedDevice(cloud, one)),
    purchases: [...cloud.purchases.values()],
  };
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot;
}

function savedDevice({ firmware }: Cloud, device: SimDevice): object {
  const { plan, hardware, ports, powered, timer, revocation, boot, shown, ...lasting } = device;
  return {
    ...lasting,
    plan: plan.slug,
    serial: hardware.serial,
    ports: ports.map(savedPort),
    disk: firmware.remember?.(hardware),
  };
}

function savedPort({ device, bond, vlans, native, ...lasting }: SimPort): object {
  return { ...lasting, bond: bond?.name, vlans: vlans.map(({ id }) => id), native: native?.id };
}
