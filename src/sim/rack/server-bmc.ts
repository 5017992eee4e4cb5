import { Fault } from "@slipway/base";
import type { Bmc, BmcCredentials, BootDevice } from "../../inventory/bmc/bmc.ts";
import type { SimDevice, SimServer } from "./server.ts";

/** What goes wrong at a simulated BMC: asked at each call; a fault that it throws is the call's. */
export type BmcFaults = (
  call: "readPower" | "setPower" | "bootFrom" | "insertMedia" | "ejectMedia" | "identity" | "firmwareSettings",
) => void;

const DEVICES: Readonly<Record<BootDevice, SimDevice>> = {
  ...{ pxe: "network", "uefi-http": "network", disk: "disk", "virtual-media": "media" },
  // Its firmware has the network first.
  default: "network",
};

/** A simulated server's BMC by direct call. SIMULATION. Lies on the wire are Redfish's (`sim/bmc`). */
export function serverBmc(
  server: SimServer,
  { expected, given, befall = () => {} }: { expected: BmcCredentials; given: BmcCredentials; befall?: BmcFaults },
): Bmc {
  const check = (call: Parameters<BmcFaults>[0]): void => {
    if (given.username !== expected.username || given.password !== expected.password)
      throw new Fault("BadCredentials", `bmc of ${server.name}`, "it refuses user name and password");
    befall(call);
  };
  return {
    async readPower() {
      check("readPower");
      return server.isOn ? "on" : "off";
    },
    async setPower(action) {
      check("setPower");
      if (action === "on") server.on();
      else if (action === "restart" || action === "reset") server.restart();
      else server.off();
    },
    async bootFrom(device, { once, httpBootUri }) {
      check("bootFrom");
      const from = DEVICES[device];
      server.bootUri = device === "uefi-http" ? httpBootUri : undefined;
      if (once) server.bootOnce = from;
      else server.bootFirst = from;
      return { once };
    },
    async insertMedia(url) {
      check("insertMedia");
      server.media = url;
    },
    async ejectMedia() {
      check("ejectMedia");
      server.media = undefined;
    },
    async identity() {
      check("identity");
      return { serial: server.name, macs: server.macs, system: "" };
    },
    firmwareSettings: async () => {
      check("firmwareSettings");
      return server.firmwareSettings;
    },
    close: async () => {},
  };
}
