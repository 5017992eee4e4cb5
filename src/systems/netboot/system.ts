import { Fault } from "@slipway/base";
import { z } from "zod";
import { discoveryController, NETBOOT, type SeenHosts } from "../../inventory/discovery/controller.ts";
import { DISCOVERY_NAMESPACE, type NetbootSettings } from "../../netboot/settings.ts";
import { system } from "../system.ts";
import { ensureNamespace, ledNetboot, METAL3_KINDS, netbootAccess, type StartNetboot } from "./led-netboot.ts";

/** Blank machines on the provisioning network: served while it leads, and those that are discovered become BareMetalHosts. */
export const netboot = system({
  name: NETBOOT,
  summary: "boots blank machines, and makes BareMetalHosts of those it discovers",
  kinds: METAL3_KINDS,
  kindsMayBeForeign: true,
  settings: z.strictObject({
    file: z
      .string()
      .optional()
      .describe("boot real machines, too, with these settings (docs/netboot.md)")
      .meta({ flag: "--netboot <file>" }),
    dir: z
      .string()
      .default("/var/lib/slipway/netboot")
      .describe("where netboot keeps leases, hosts and keys")
      .meta({ flag: "--netboot-dir <folder>", stateFolder: "netboot" }),
    /** How hosts become objects. */
    discovery: z.custom<NetbootSettings["discovery"]>().optional(),
    /** Starts the service. Unset: only what it declares is asked for. */
    start: z.custom<StartNetboot>().optional(),
    /** Gives up what was made ready for it. */
    close: z.custom<() => void>().optional(),
  }),
  canRun: ({ file, start }) => file !== undefined || start !== undefined,
  async load({ file, dir }, { log }) {
    if (file === undefined) return {};
    const { netbootHere } = await import("./netboot-here.ts");
    const { settingsIn } = await import("../../netboot/settings-file.ts");
    const { settings, start, close } = await netbootHere({ settings: await settingsIn(file), dir }, log);
    return { discovery: settings.discovery, start, close };
  },
  parts({ client, clock, log, hasReplicas }, { discovery, start, close }) {
    if (discovery === undefined || start === undefined)
      return { controllers: [declared(DISCOVERY_NAMESPACE)], access: netbootAccess(DISCOVERY_NAMESPACE) };
    const { namespace } = discovery;
    const led = ledNetboot({ discovery }, { start, log, clock, ...(hasReplicas && { client }) });
    return {
      controllers: led.controllers,
      access: netbootAccess(namespace),
      prepare: (client, signal) => ensureNamespace(client, namespace, signal),
      async closed() {
        await led.closed();
        close?.();
      },
    };
  },
});

/** Discovery as it declares itself. It never runs. */
function declared(namespace: string) {
  const nobody = (): never => {
    throw new Fault("Bug", NETBOOT, "a controller that was made for its declaration was run");
  };
  const hosts: SeenHosts = {
    get: () => undefined,
    list: () => [],
    onChange: () => () => {},
    declare: nobody,
    standing: nobody,
  };
  return discoveryController({ hosts, namespace, most: 0, perSecond: 1 });
}
