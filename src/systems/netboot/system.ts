import { Fault } from "@slipway/base";
import { z } from "zod";
import { discoveryController, type HeardHosts, NETBOOT } from "../../inventory/discovery/controller.ts";
import { DISCOVERY_NAMESPACE, type NetbootSettings } from "../../netboot/settings.ts";
import { system } from "../system.ts";
import { ensureNamespace, ledNetboot, METAL3_KINDS, netbootAccess, type StartNetboot } from "./led-netboot.ts";

/** Blank machines on the provisioning network: served while it leads, and those that are discovered become BareMetalHosts. */
export const netboot = system({
  name: NETBOOT,
  summary: "boots blank machines, and makes BareMetalHosts of those it discovers",
  kinds: METAL3_KINDS,
  kindsMayBeForeign: true,
  runsByDefault: false,
  settings: z.strictObject({
    /** How hosts become objects. */
    discovery: z.custom<NetbootSettings["discovery"]>().optional(),
    /** Starts the service. Unset: only what it declares is asked for. */
    start: z.custom<StartNetboot>().optional(),
    /** Replicas find each other's DHCP leases in the cluster. */
    sharesLeases: z.boolean().default(false),
  }),
  parts({ client, clock, log }, { discovery, start, sharesLeases }) {
    if (discovery === undefined || start === undefined)
      return { controllers: [declared(DISCOVERY_NAMESPACE)], access: netbootAccess(DISCOVERY_NAMESPACE) };
    const { namespace } = discovery;
    const led = ledNetboot({ discovery }, { start, log, clock, ...(sharesLeases && { client }) });
    return {
      controllers: led.controllers,
      access: netbootAccess(namespace),
      prepare: (client, signal) => ensureNamespace(client, namespace, signal),
      closed: () => led.closed(),
    };
  },
});

/** Discovery as it declares itself. It never runs. */
function declared(namespace: string) {
  const nobody = (): never => {
    throw new Fault("Bug", NETBOOT, "a controller that was made for its declaration was run");
  };
  const hosts: HeardHosts = {
    get: () => undefined,
    list: () => [],
    onChange: () => () => {},
    declare: nobody,
    standing: nobody,
  };
  return discoveryController({ hosts, namespace, most: 0, perSecond: 1 });
}
