import type { HttpAnswer } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import type { SimDevice } from "./device.ts";
import { pageOf } from "./paging.ts";
import { type Asked, projectIn } from "./router.ts";
import { detailOf, deviceText } from "./views.ts";

/** A page of a project's devices, in the order of their sale, that pass every filter of the query. A tag is looked up, the rest is read through. */
export function listDevices(asked: Asked): HttpAnswer {
  const { cloud, query } = asked;
  const project = projectIn(asked);
  const { items, meta } = pageOf(found(cloud, project, query), `/projects/${project}/devices`, query);
  const detail = detailOf(query);
  const texts = items.map((device) => deviceText(cloud, device, detail));
  const body = `{"devices":[${texts.join(",")}],"meta":${JSON.stringify(meta)}}`;
  return { status: 200, headers: { "content-type": "application/json; charset=utf-8" }, body };
}

function found(cloud: Cloud, project: string, query: URLSearchParams): readonly SimDevice[] {
  const tag = query.get("tag");
  const wanted = filters(query);
  if (tag === null && wanted.length === 0) return allOf(cloud, project);
  const candidates = tag === null ? cloud.devices.values() : (cloud.byTag.get(tag) ?? []);
  return [...candidates].filter(
    (device) => isListed(device, project, cloud.clock.now()) && wanted.every((is) => is(device)),
  );
}

function isListed(device: SimDevice, project: string, now: number): boolean {
  return device.projectId === project && device.listedAt <= now;
}

/** The list of a project that was read last: of a list of hundreds of pages, each would go through all devices. */
const lastOf = new WeakMap<Cloud, { project: string; now: number; moves: number; devices: readonly SimDevice[] }>();

function allOf(cloud: Cloud, project: string): readonly SimDevice[] {
  const [now, { moves }] = [cloud.clock.now(), cloud];
  const last = lastOf.get(cloud);
  if (last?.project === project && last.now === now && last.moves === moves) return last.devices;
  const devices = [...cloud.devices.values()].filter((device) => isListed(device, project, now));
  lastOf.set(cloud, { project, now, moves, devices });
  return devices;
}

const FILTERS: Readonly<Record<string, (value: string) => (device: SimDevice) => boolean>> = {
  hostname: (value) => (device) => device.hostname.includes(value),
  metro: (value) => (device) => device.metro === value.toLowerCase(),
  type: (value) => (device) => typeOf(device) === value,
  reserved: (value) => (device) => (device.reservation !== undefined) === (value === "true"),
  has_termination_time: (value) => (device) => (device.terminatesAt !== undefined) === (value === "true"),
  mac_address: (value) => (device) => device.ports.some((port) => port.mac === value.toLowerCase()),
  search: (value) => (device) =>
    [device.hostname, device.description ?? "", device.id.slice(0, 8), device.plan.slug, device.operatingSystem]
      .concat(
        device.tags,
        device.addresses.map(({ address }) => address),
      )
      .some((text) => text.includes(value)),
};

function filters(query: URLSearchParams): ((device: SimDevice) => boolean)[] {
  return Object.entries(FILTERS).flatMap(([name, filter]) => {
    const value = query.get(name);
    return value === null || value === "" ? [] : [filter(value)];
  });
}

function typeOf(device: SimDevice): string {
  if (device.reservation !== undefined) return "reserved";
  return device.spot ? "spot" : "ondemand";
}
