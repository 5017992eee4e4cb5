/** Spot market requests: orders of several machines at one price. What can be had at it is bought at once. */
import { json, uuid } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import type { SimSpotRequest } from "./device.ts";
import { facilitiesIn } from "./facilities.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { sell } from "./ordering.ts";
import { href, metroView, time } from "./place-views.ts";
import { NO_CONTENT, strings, textIn } from "./reading.ts";
import { notFound, unprocessable } from "./refused.ts";
import { type Asked, flag, projectIn, type Route } from "./router.ts";
import { deviceReference } from "./views.ts";

/** The routes of spot market requests. */
export function spotRequestRoutes(lifecycle: Lifecycle): readonly Route[] {
  return [
    {
      operation: "listSpotMarketRequests",
      method: "GET",
      pattern: "/projects/:/spot-market-requests",
      answer(asked) {
        const project = projectIn(asked);
        const all = [...asked.cloud.spotRequests.values()].filter(({ projectId }) => projectId === project);
        return json(200, { spot_market_requests: all.map((one) => requestView(asked.cloud, one)) });
      },
    },
    {
      operation: "createSpotMarketRequest",
      method: "POST",
      pattern: "/projects/:/spot-market-requests",
      answer: (asked) => json(201, requestView(asked.cloud, order(asked, lifecycle))),
    },
    {
      operation: "findSpotMarketRequestById",
      method: "GET",
      pattern: "/spot-market-requests/:",
      answer: (asked) => json(200, requestView(asked.cloud, requestIn(asked))),
    },
    {
      operation: "deleteSpotMarketRequest",
      method: "DELETE",
      pattern: "/spot-market-requests/:",
      answer(asked) {
        const { id, devices } = requestIn(asked);
        if (flag(asked, "force_termination"))
          for (const name of devices) {
            const device = asked.cloud.devices.get(name);
            if (device !== undefined) lifecycle.release(device);
          }
        asked.cloud.spotRequests.delete(id);
        return NO_CONTENT;
      },
    },
  ];
}

function requestIn({ cloud, path }: Asked): SimSpotRequest {
  const request = cloud.spotRequests.get(path[1]!);
  if (request === undefined) throw notFound();
  return request;
}

function order(asked: Asked, lifecycle: Lifecycle): SimSpotRequest {
  const { cloud, body } = asked;
  const projectId = projectIn(asked);
  const metro = textIn(body.metro) ?? facilitiesIn(body.facilities)?.[0]?.metro;
  if (metro === undefined) throw unprocessable("metro can't be blank");
  const [least, most] = [Number(body.devices_min ?? 1), Number(body.devices_max ?? 1)];
  if (!(least >= 1 && most >= least)) throw unprocessable("devices_min and devices_max must be a range from 1 on");
  const price = Number(body.max_bid_price);
  if (!(price > 0)) throw unprocessable("max_bid_price must be a price");
  const parameters = (body.instance_parameters ?? {}) as Record<string, unknown>;
  const names = strings(parameters.hostnames);
  const devices: string[] = [];
  for (let i = 0; i < most && isAffordable(cloud, metro, parameters, price); i++) {
    const hostname = names[i] ?? textIn(parameters.hostname);
    const one = { ...parameters, metro, spot_instance: true, spot_price_max: price, ...(hostname && { hostname }) };
    const device = sell(cloud, projectId, one);
    lifecycle.begin(device);
    devices.push(device.id);
  }
  const endsAt = Date.parse(textIn(body.end_at) ?? "");
  const request: SimSpotRequest = {
    ...{ id: uuid(cloud.random), projectId, metro, least, most, price, devices },
    endsAt: Number.isNaN(endsAt) ? undefined : endsAt,
    createdAt: cloud.clock.now(),
  };
  cloud.spotRequests.set(request.id, request);
  return request;
}

function isAffordable(cloud: Cloud, metro: string, { plan }: Record<string, unknown>, price: number): boolean {
  return cloud.spotPrice(metro, String(plan)) <= price && cloud.free(metro, String(plan)) > 0;
}

function requestView(cloud: Cloud, request: SimSpotRequest): object {
  return {
    ...href(`/spot-market-requests/${request.id}`),
    id: request.id,
    devices_min: request.least,
    devices_max: request.most,
    max_bid_price: request.price,
    metro: metroView(request.metro),
    project: href(`/projects/${request.projectId}`),
    instances: href(`/spot-market-requests/${request.id}/instances`),
    devices: request.devices.filter((id) => cloud.devices.has(id)).map(deviceReference),
    ...(request.endsAt !== undefined && { end_at: time(request.endsAt) }),
    created_at: time(request.createdAt),
  };
}
