import { type HttpAnswer, json } from "@slipway/base";
import type { SimDevice } from "./device.ts";
import { listDevices } from "./device-list.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { metadataInApi } from "./metadata.ts";
import { sell } from "./ordering.ts";
import { pageOf } from "./paging.ts";
import { ACCEPTED, deviceIn, metadataObject, NO_CONTENT } from "./reading.ts";
import { unprocessable } from "./refused.ts";
import { type Asked, flag, projectIn, type Route } from "./router.ts";
import { detailOf, deviceText, eventView, sshKeyView } from "./views.ts";

/** The routes of devices, by operation ids of Equinix' OpenAPI document. */
export function deviceRoutes(lifecycle: Lifecycle): readonly Route[] {
  return [
    { operation: "findProjectDevices", method: "GET", pattern: "/projects/:/devices", answer: listDevices },
    {
      operation: "createDevice",
      method: "POST",
      pattern: "/projects/:/devices",
      answer(asked) {
        const device = sell(asked.cloud, projectIn(asked), asked.body);
        lifecycle.begin(device);
        return shown(201, asked, device);
      },
    },
    {
      operation: "findDeviceById",
      method: "GET",
      pattern: "/devices/:",
      answer: (asked) => shown(200, asked, deviceIn(asked)),
    },
    { operation: "updateDevice", method: "PUT", pattern: "/devices/:", answer: update },
    // As older clients do.
    { operation: "updateDevice", method: "PATCH", pattern: "/devices/:", answer: update },
    {
      operation: "deleteDevice",
      method: "DELETE",
      pattern: "/devices/:",
      answer(asked) {
        lifecycle.release(deviceIn(asked));
        return NO_CONTENT;
      },
    },
    {
      operation: "performAction",
      method: "POST",
      pattern: "/devices/:/actions",
      answer: (asked) => act(lifecycle, asked),
    },
    {
      operation: "findDeviceEvents",
      method: "GET",
      pattern: "/devices/:/events",
      answer(asked) {
        const device = deviceIn(asked);
        const { items, meta } = pageOf(device.events.toReversed(), `/devices/${device.id}/events`, asked.query);
        return json(200, { events: items.map(eventView), meta });
      },
    },
    {
      operation: "findDeviceMetadataByID",
      method: "GET",
      pattern: "/devices/:/metadata",
      answer: (asked) => json(200, metadataInApi(asked.cloud, deviceIn(asked))),
    },
    {
      operation: "findDeviceSSHKeys",
      method: "GET",
      pattern: "/devices/:/ssh-keys",
      answer(asked) {
        const keys = deviceIn(asked).sshKeys.flatMap((id) => asked.cloud.sshKeys.get(id) ?? []);
        return json(200, { ssh_keys: keys.map(sshKeyView) });
      },
    },
    {
      operation: "findDeviceUserdataByID",
      method: "GET",
      pattern: "/devices/:/userdata",
      answer: (asked) => json(200, { userdata: deviceIn(asked).userData }),
    },
  ];
}

function shown(status: number, { cloud, query }: Asked, device: SimDevice): HttpAnswer {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { status, headers, body: deviceText(cloud, device, detailOf(query)) };
}

function update(asked: Asked): HttpAnswer {
  const { cloud, body } = asked;
  const device = deviceIn(asked);
  if (device.state === "deprovisioning") throw unprocessable("Cannot update a device while it is deprovisioning");
  const string = (name: string, set: (value: string) => void): void => {
    if (typeof body[name] === "string") set(body[name]);
  };
  const boolean = (name: string, set: (value: boolean) => void): void => {
    if (typeof body[name] === "boolean") set(body[name]);
  };
  string("hostname", (value) => {
    device.hostname = value;
  });
  string("description", (value) => {
    device.description = value;
  });
  string("userdata", (value) => {
    device.userData = value;
  });
  string("ipxe_script_url", (value) => {
    device.scriptUrl = value;
  });
  boolean("always_pxe", (value) => {
    device.alwaysPxe = value;
  });
  boolean("locked", (value) => {
    device.locked = value;
  });
  boolean("network_frozen", (value) => {
    device.networkFrozen = value;
  });
  if (body.customdata !== undefined) device.customData = metadataObject(body.customdata);
  if (Array.isArray(body.tags)) cloud.setTags(device, body.tags.map(String));
  cloud.touch(device);
  return shown(200, asked, device);
}

function act(lifecycle: Lifecycle, asked: Asked): HttpAnswer {
  const device = deviceIn(asked);
  const { type, ipxe_script_url: scriptUrl } = asked.body;
  switch (type) {
    case "power_on":
      lifecycle.powerOn(device);
      break;
    case "power_off":
      lifecycle.powerOff(device);
      break;
    case "reboot":
    case "rescue":
      lifecycle.reboot(device);
      break;
    case "reinstall":
      if (flag(asked, "force_delete") && device.locked) throw unprocessable("Device is locked");
      lifecycle.reinstall(device, typeof scriptUrl === "string" ? scriptUrl : undefined);
      break;
    default:
      throw unprocessable(`${String(type)} is not a valid action`);
  }
  return ACCEPTED;
}
