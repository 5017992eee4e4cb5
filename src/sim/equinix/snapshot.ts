import { z } from "zod";
import { FAMILIES } from "./bgp.ts";
import type { Cloud } from "./cloud.ts";
import type { SimDevice, SimPort } from "./device.ts";
import { BLOCK_TYPES } from "./elastic.ts";

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
  facility: z.string().optional(),
  sshKeys: z.array(z.string()).default([]),
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
  blocks: z
    .array(
      z.strictObject({
        ...{ id: z.string(), projectId: z.string(), metro: z.string().optional(), cidr: z.string() },
        type: z.enum(BLOCK_TYPES),
        createdAt: z.number(),
        tags: z.array(z.string()),
        details: z.string().optional(),
        customData: z.json(),
      }),
    )
    .default([]),
  assignments: z
    .array(
      z.strictObject({ id: z.string(), blockId: z.string(), to: z.string(), cidr: z.string(), createdAt: z.number() }),
    )
    .default([]),
  bgpConfigs: z
    .array(
      z.strictObject({
        ...{
          id: z.string(),
          projectId: z.string(),
          asn: z.number(),
          md5: z.string().optional(),
          createdAt: z.number(),
        },
        deploymentType: z.enum(["local", "global"]),
        status: z.enum(["requested", "enabled"]),
      }),
    )
    .default([]),
  bgpSessions: z
    .array(
      z.strictObject({
        ...{ id: z.string(), deviceId: z.string(), createdAt: z.number(), defaultRoute: z.boolean() },
        family: z.enum(FAMILIES),
      }),
    )
    .default([]),
  gateways: z
    .array(
      z.strictObject({
        id: z.string(),
        projectId: z.string(),
        vlanId: z.string(),
        blockId: z.string(),
        ownsBlock: z.boolean(),
        createdAt: z.number(),
      }),
    )
    .default([]),
  spotRequests: z
    .array(
      z.strictObject({
        ...{ id: z.string(), projectId: z.string(), metro: z.string(), least: z.number(), most: z.number() },
        ...{ price: z.number(), endsAt: z.number().optional(), createdAt: z.number(), devices: z.array(z.string()) },
      }),
    )
    .default([]),
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
    blocks: [...cloud.elastic.blocks.values()],
    assignments: [...cloud.elastic.assignments.values()],
    bgpConfigs: [...cloud.bgp.configs.values()],
    bgpSessions: [...cloud.bgp.sessions.values()],
    gateways: [...cloud.gateways.values()],
    spotRequests: [...cloud.spotRequests.values()],
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
