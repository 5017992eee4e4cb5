import { Fault, type Http } from "@slipway/base";
import { type Access, declaredClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { z } from "zod";
import { streamProgram } from "../../inventory/bmc/run-program.ts";
import { hostClaimController } from "../../inventory/claims/host-claim-controller.ts";
import { discoveryController, NETBOOT, type SeenHosts } from "../../inventory/discovery/controller.ts";
import type { OpenBmc } from "../../inventory/hosts/bmc-views.ts";
import { hostController } from "../../inventory/hosts/controller.ts";
import { HOST_TALLIES } from "../../inventory/hosts/host-tallies.ts";
import type { Machines } from "../../inventory/hosts/machines.ts";
import { type DrivenElsewhere, metal3Operator } from "../../inventory/hosts/metal3-operator.ts";
import { bmcConsoles } from "../../inventory/outputs/bmc-console.ts";
import { bootLogs } from "../../inventory/outputs/boot-log.ts";
import { OutputFeeds } from "../../inventory/outputs/feeds.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { scriptSecretAccess } from "../../machines/drivers/inventory/script-secret.ts";
import { DISCOVERY_NAMESPACE, type NetbootSettings } from "../../netboot/settings.ts";
import { system } from "../system.ts";
import { ensureNamespace, ledNetboot, METAL3_KINDS, netbootAccess, type StartNetboot } from "./led-netboot.ts";

/** What the flag says in place of a look. */
const FLAGGED: Partial<Record<string, DrivenElsewhere>> = {
  always: async () => undefined,
  never: async () => "--drive-hosts never",
};

/** Blank machines on the provisioning network: served while it leads, and those that are discovered become BareMetalHosts. */
export const netboot = system({
  name: NETBOOT,
  summary: "boots blank machines, and makes BareMetalHosts of those it discovers",
  kinds: METAL3_KINDS,
  shows: { machines: [BareMetalHost] },
  kindsMayBeForeign: true,
  examples: "examples/inventory/pool",
  tallies: HOST_TALLIES,
  ownHardware: () => import("./simulated.ts"),
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
    drive: z
      .enum(["auto", "always", "never"])
      .default("auto")
      .describe("whether BareMetalHosts are driven; auto: not where Metal3's own operator leads")
      .meta({ flag: "--drive-hosts <when>" }),
    /** How hosts become objects. */
    discovery: z.custom<NetbootSettings["discovery"]>().optional(),
    /** Starts the service. Unset: only what it declares is asked for. */
    start: z.custom<StartNetboot>().optional(),
    /** How BMCs are reached. */
    openBmc: z.custom<OpenBmc>().optional(),
    /** To web servers of images' checksums. */
    http: z.custom<Http>().optional(),
    /** Gives up what was made ready for it. */
    close: z.custom<() => void | Promise<void>>().optional(),
  }),
  canRun: ({ file, start }) => file !== undefined || start !== undefined,
  async load({ file, dir }, { log }) {
    if (file === undefined) return {};
    const { netbootHere } = await import("./netboot-here.ts");
    const { settingsIn } = await import("../../netboot/settings-file.ts");
    const { Bmcs } = await import("../../inventory/bmc/bmcs.ts");
    const { undiciHttp } = await import("@slipway/base/http-client");
    const place = { settings: await settingsIn(file), dir, hasCluster: true, isEngine: true };
    const { settings, start, close: closeService } = await netbootHere(place, log);
    const bmcs = new Bmcs({ log });
    const http = undiciHttp({ proxy: true });
    const close = async (): Promise<void> => {
      closeService();
      await http.close();
    };
    return { discovery: settings.discovery, start, openBmc: (target) => bmcs.open(target), http, close };
  },
  parts({ client, clock, log, hasReplicas, tallies }, { discovery, start, openBmc, http, close, drive }) {
    if (discovery === undefined || start === undefined)
      return {
        controllers: [declared(DISCOVERY_NAMESPACE), ...declaredEngine(DISCOVERY_NAMESPACE, drive)],
        access: netbootAccess(DISCOVERY_NAMESPACE),
      };
    const { namespace } = discovery;
    const led = ledNetboot({ discovery }, { start, log, clock, ...(hasReplicas && { client }) });
    const { machines } = led;
    const feeds = new OutputFeeds(clock);
    const reader = (access: readonly Access[]) => declaredClient(client, access, NETBOOT);
    const drivenElsewhere = FLAGGED[drive] ?? metal3Operator();
    const engine = openBmc && http && { machines, openBmc, http, namespace, drivenElsewhere, tallies };
    return {
      controllers: [
        ...led.controllers,
        ...(engine && drive !== "never" ? [hostController(engine)] : []),
        ...(engine ? [hostClaimController(engine)] : []),
      ],
      // Pools on these hosts put what they boot beside them.
      access: [
        ...[...netbootAccess(namespace), ...LOG_ACCESS],
        ...(engine ? [...CONSOLE_ACCESS, scriptSecretAccess(namespace)] : []),
      ],
      prepare: (own, signal) => ensureNamespace(own, namespace, signal),
      outputs: {
        ...(engine && {
          serial: bmcConsoles({ client: reader(CONSOLE_ACCESS), stream: streamProgram(clock), feeds }),
        }),
        logs: bootLogs({
          current: led.current,
          hosts: async () => (await reader(LOG_ACCESS).list(BareMetalHost)).items,
          ...{ namespace, feeds },
        }),
      },
      async closed() {
        feeds.close();
        await led.closed();
        await close?.();
      },
    };
  },
});

/** To see whose a boot log is. */
const LOG_ACCESS: readonly Access[] = [{ resource: BareMetalHost, verbs: ["list"] }];
/** To reach a machine's serial console. */
const CONSOLE_ACCESS: readonly Access[] = [
  { resource: BareMetalHost, verbs: ["get"] },
  { resource: Secret, verbs: ["get"] },
];

/** Discovery as it declares itself. It never runs. */
function declared(namespace: string) {
  const hosts: SeenHosts = {
    get: nobody,
    list: nobody,
    onChange: nobody,
    declare: nobody,
    standing: nobody,
  };
  return discoveryController({ hosts, namespace, most: 0, perSecond: 1 });
}

/** The engine of hosts, and claims of them, as they declare themselves. They never run. */
function declaredEngine(namespace: string, drive: string) {
  const machines: Machines = {
    ...{ isServing: nobody, get: nobody, onChange: nobody },
    ...{ standing: nobody, setBoot: nobody, forget: nobody, order: nobody, install: nobody, endInstall: nobody },
    ...{ askBoot: nobody, askMedia: nobody, endAskedBoot: nobody },
  };
  const drivenElsewhere = nobody;
  const claims = hostClaimController({ drivenElsewhere });
  if (drive === "never") return [claims];
  return [hostController({ machines, openBmc: nobody, http: nobody, namespace, drivenElsewhere }), claims];
}

function nobody(): never {
  throw new Fault("Bug", NETBOOT, "a controller that was made for its declaration was run");
}
