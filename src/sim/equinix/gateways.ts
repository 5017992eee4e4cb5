/** Metal gateways: routers between a VLAN and a block of addresses. */
import { json, parseCidr, uuid } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import type { SimGateway } from "./device.ts";
import { blockView } from "./ip-views.ts";
import { pageOf } from "./paging.ts";
import { href, time } from "./place-views.ts";
import { textIn } from "./reading.ts";
import { notFound, unprocessable } from "./refused.ts";
import { type Asked, projectIn, type Route } from "./router.ts";
import { vlanView } from "./views.ts";

const SIZES: readonly number[] = [8, 16, 32, 64, 128];

export const gatewayRoutes: readonly Route[] = [
  {
    operation: "findMetalGatewaysByProject",
    method: "GET",
    pattern: "/projects/:/metal-gateways",
    answer(asked) {
      const project = projectIn(asked);
      const all = [...asked.cloud.gateways.values()].filter(({ projectId }) => projectId === project);
      const { items, meta } = pageOf(all, `/projects/${project}/metal-gateways`, asked.query);
      return json(200, { metal_gateways: items.map((one) => gatewayView(asked.cloud, one)), meta });
    },
  },
  {
    operation: "createMetalGateway",
    method: "POST",
    pattern: "/projects/:/metal-gateways",
    answer: (asked) => json(201, gatewayView(asked.cloud, newGateway(asked, projectIn(asked)))),
  },
  {
    operation: "findMetalGatewayById",
    method: "GET",
    pattern: "/metal-gateways/:",
    answer: (asked) => json(200, gatewayView(asked.cloud, gatewayIn(asked))),
  },
  {
    operation: "deleteMetalGateway",
    method: "DELETE",
    pattern: "/metal-gateways/:",
    answer(asked) {
      const gateway = gatewayIn(asked);
      asked.cloud.gateways.delete(gateway.id);
      asked.cloud.elastic.release(gateway.id);
      const shown = { ...gatewayView(asked.cloud, gateway), state: "deleting" };
      if (gateway.ownsBlock) asked.cloud.elastic.remove(gateway.blockId);
      return json(202, shown);
    },
  },
];

function gatewayIn({ cloud, path }: Asked): SimGateway {
  const gateway = cloud.gateways.get(path[1]!);
  if (gateway === undefined) throw notFound();
  return gateway;
}

function newGateway({ cloud, body }: Asked, projectId: string): SimGateway {
  const vlan = cloud.vlans.get(textIn(body.virtual_network_id) ?? "");
  if (vlan?.projectId !== projectId) throw unprocessable("virtual_network_id is not a virtual network of the project");
  if ([...cloud.gateways.values()].some(({ vlanId }) => vlanId === vlan.id))
    throw unprocessable("The virtual network has a gateway already");
  const now = cloud.clock.now();
  const named = textIn(body.ip_reservation_id);
  const block =
    named === undefined ? privateBlock(cloud, projectId, vlan.metro, body) : cloud.elastic.blocks.get(named);
  if (block?.projectId !== projectId) throw unprocessable("ip_reservation_id is not a reservation of the project");
  const id = uuid(cloud.random);
  cloud.elastic.assign({ projectId, metro: vlan.metro, address: block.cidr, to: id }, cloud.random, now);
  const own = { blockId: block.id, ownsBlock: named === undefined };
  const gateway: SimGateway = { id, projectId, vlanId: vlan.id, ...own, createdAt: now };
  cloud.gateways.set(id, gateway);
  return gateway;
}

function privateBlock(cloud: Cloud, projectId: string, metro: string, body: Asked["body"]) {
  const quantity = Number(body.private_ipv4_subnet_size);
  if (!SIZES.includes(quantity))
    throw unprocessable(`ip_reservation_id, or private_ipv4_subnet_size of ${SIZES.join(", ")} is required`);
  const wish = {
    projectId,
    type: "private_ipv4",
    metro,
    quantity,
    tags: [],
    details: undefined,
    customData: {},
  } as const;
  return cloud.elastic.reserve(wish, cloud.random, cloud.clock.now());
}

/** A gateway as JSON. */
export function gatewayView(cloud: Cloud, gateway: SimGateway): object {
  const block = cloud.elastic.blocks.get(gateway.blockId);
  const vlan = cloud.vlans.get(gateway.vlanId);
  return {
    ...href(`/metal-gateways/${gateway.id}`),
    id: gateway.id,
    state: block !== undefined && parseCidr(block.cidr).prefix < 32 ? "active" : "ready",
    project: href(`/projects/${gateway.projectId}`),
    ...(block !== undefined && { ip_reservation: blockView(cloud, block) }),
    ...(vlan !== undefined && { virtual_network: vlanView(vlan) }),
    created_at: time(gateway.createdAt),
    updated_at: time(gateway.createdAt),
  };
}
