import { type HttpAnswer, json } from "@slipway/base";
import { metroOf } from "../../machines/drivers/equinix/placement.ts";
import { METROS } from "./catalog.ts";
import type { SimDevice } from "./device.ts";
import { BLOCK_TYPES, type BlockType, type SimBlock } from "./elastic.ts";
import { assignmentView, blockView } from "./ip-views.ts";
import { deviceIn, metadataObject, NO_CONTENT, strings, textIn } from "./reading.ts";
import { notFound, unprocessable } from "./refused.ts";
import { type Asked, projectIn, type Route } from "./router.ts";
import { addressView } from "./views.ts";

/** Reserved addresses of projects, and which devices have them. */
export const ipRoutes: readonly Route[] = [
  {
    operation: "findIPReservations",
    method: "GET",
    pattern: "/projects/:/ips",
    answer(asked) {
      const project = projectIn(asked);
      const found = [...asked.cloud.elastic.blocks.values()].filter((block) => block.projectId === project);
      const wanted = found.filter(wantedBy(asked.query));
      return json(200, { ip_addresses: wanted.map((block) => blockView(asked.cloud, block)) });
    },
  },
  {
    operation: "requestIPReservation",
    method: "POST",
    pattern: "/projects/:/ips",
    answer(asked) {
      const { cloud } = asked;
      const block = cloud.elastic.reserve(blockWish(asked), cloud.random, cloud.clock.now());
      return json(201, blockView(cloud, block));
    },
  },
  {
    operation: "findIPAssignments",
    method: "GET",
    pattern: "/devices/:/ips",
    answer(asked) {
      const device = deviceIn(asked);
      const own = device.addresses.map((one) => addressView(one, device));
      const given = asked.cloud.elastic.assignedTo(device.id).map((one) => assignmentView(asked.cloud, one));
      return json(200, { ip_addresses: [...own, ...given] });
    },
  },
  { operation: "createIPAssignment", method: "POST", pattern: "/devices/:/ips", answer: assignToDevice },
  {
    operation: "findIPAddressById",
    method: "GET",
    pattern: "/ips/:",
    answer: ({ cloud, path }) => json(200, addressCalled(cloud, path[1]!)),
  },
  { operation: "updateIPAddress", method: "PATCH", pattern: "/ips/:", answer: update },
  { operation: "updateIPAddress", method: "PUT", pattern: "/ips/:", answer: update },
  {
    operation: "deleteIPAddress",
    method: "DELETE",
    pattern: "/ips/:",
    answer({ cloud, path }) {
      const ended = cloud.elastic.remove(path[1]!);
      const device = ended && cloud.devices.get(ended.to);
      if (ended !== undefined && device !== undefined) {
        cloud.byAddress.delete(ended.cidr.split("/")[0]!);
        cloud.touch(device);
      }
      return NO_CONTENT;
    },
  },
  {
    operation: "findIPAvailabilities",
    method: "GET",
    pattern: "/ips/:/available",
    answer({ cloud, path, query }) {
      const block = cloud.elastic.blocks.get(path[1]!) ?? missing();
      return json(200, { available: cloud.elastic.available(block, Number(query.get("cidr") ?? "32")) });
    },
  },
];

function missing(): never {
  throw notFound();
}

function assignToDevice(asked: Asked): HttpAnswer {
  const { cloud, body } = asked;
  const device = deviceIn(asked);
  if (typeof body.address !== "string" || body.address === "") throw unprocessable("address can't be blank");
  return json(201, assignmentView(cloud, giveAddress(asked, device, body.address)));
}

/** Assigns an address of the device's project to it. Throws `Refused`. */
export function giveAddress({ cloud }: Pick<Asked, "cloud">, device: SimDevice, address: string) {
  if (device.state === "deprovisioning") throw unprocessable("Device is being deprovisioned");
  const { projectId, metro, id: to } = device;
  const given = cloud.elastic.assign({ projectId, metro, address, to }, cloud.random, cloud.clock.now());
  cloud.touch(device);
  return given;
}

function addressCalled(cloud: Asked["cloud"], id: string): object {
  const block = cloud.elastic.blocks.get(id);
  if (block !== undefined) return blockView(cloud, block);
  const given = cloud.elastic.assignments.get(id);
  if (given !== undefined) return assignmentView(cloud, given);
  for (const device of cloud.devices.values())
    for (const one of device.addresses) if (one.id === id) return addressView(one, device);
  throw notFound();
}

function update({ cloud, path, body }: Asked): HttpAnswer {
  const block = cloud.elastic.blocks.get(path[1]!) ?? missing();
  if (Array.isArray(body.tags)) block.tags = strings(body.tags);
  if (typeof body.details === "string") block.details = body.details;
  if (body.customdata !== undefined) block.customData = metadataObject(body.customdata);
  return json(200, blockView(cloud, block));
}

function blockWish(asked: Asked) {
  const { body } = asked;
  const type = BLOCK_TYPES.find((one) => one === body.type);
  if (type === undefined) throw unprocessable(`type ${String(body.type ?? "")} is none of ${BLOCK_TYPES.join(", ")}`);
  return {
    projectId: projectIn(asked),
    type,
    metro: type === "global_ipv4" ? undefined : metroIn(body),
    quantity: Number(body.quantity ?? Number.NaN),
    tags: strings(body.tags),
    details: textIn(body.details),
    customData: metadataObject(body.customdata),
  };
}

/** The metro that a body names, itself or by one of its facilities. Empty texts count as absent: older clients send them. */
function metroIn(body: Asked["body"]): string {
  const metro = textIn(body.metro) ?? metroOf(textIn(body.facility) ?? "");
  if (metro === undefined) throw unprocessable("metro or facility can't be blank");
  if (!METROS.has(metro.toLowerCase())) throw unprocessable(`metro ${metro} is not a valid metro`);
  return metro.toLowerCase();
}

function wantedBy(query: URLSearchParams): (block: SimBlock) => boolean {
  const types = [...query.getAll("types"), ...query.getAll("types[]"), ...query.getAll("type")]
    .flatMap((text) => text.split(","))
    .filter((text) => text !== "") as BlockType[];
  const metro = query.get("metro");
  return (block) => (types.length === 0 || types.includes(block.type)) && (metro === null || block.metro === metro);
}
