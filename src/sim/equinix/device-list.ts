import type { HttpAnswer } from "@slipway/base";
import type { SimDevice } from "./device.ts";
import { pageOf } from "./paging.ts";
import { type Asked, projectIn } from "./router.ts";
import { detailOf, deviceText } from "./views.ts";

/** A page of a project's devices, in the order of their sale, that pass every filter of the query. A tag is looked up, the rest is read through. */
export function listDevices(asked: Asked): HttpAnswer {
  const { cloud, query } = asked;
  const project = projectIn(asked);
  const now = cloud.clock.now();
  const tag = query.get("tag");
  const wanted = filters(query);
  const candidates = tag === null ? cloud.devices.values() : (cloud.byTag.get(tag) ?? []);
  const found: SimDevice[] = [];
  for (const device of candidates) {
    if (device.projectId === project && device.listedAt <= now && wanted.every((is) => is(device))) found.push(device);
  }
  const { items, meta } = pageOf(found, `/projects/${project}/devices`, query);
  const detail = detailOf(query);
  const texts = items.map((device) => deviceText(cloud, device, detail));
  const body = `{"devices":[${texts.join(",")}],"meta":${JSON.stringify(meta)}}`;
  return { status: 200, headers: { "content-type": "application/json; charset=utf-8" }, body };
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
