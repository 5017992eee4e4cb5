/**
 * Netboot, whole: DHCP, TFTP, HTTP and syslog on one network interface, from one set of settings. Machines that boot become hosts;
 * the agent on them takes orders. Needs an address, a folder for what must outlive it, and what `make agent` has put together.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { asFault } from "../../base/fault.ts";
import { type HttpHandler, json } from "../../base/http.ts";
import { type HttpServerOptions, serveHttp } from "../../base/http-server.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { UserOrder } from "../agent/order.ts";
import { bootCatalog, type Lack } from "../boot/catalog.ts";
import { firstScripts } from "../boot/first-scripts.ts";
import type { BootFiles } from "../dhcp/boot.ts";
import type { Tell } from "../dhcp/event.ts";
import type { LeaseCopy } from "../dhcp/leases/mirror.ts";
import { firstOf } from "../files/source.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { whoIs } from "../hosts/who-is.ts";
import { Capabilities } from "../http/capability.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { Images } from "../images/images.ts";
import { servedImages } from "../iso/served.ts";
import { localApi } from "../local-api.ts";
import type { HostLogs } from "../logs/host-logs.ts";
import type { NetbootSettings } from "../settings.ts";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { answerSolicitations } from "../solicitations/responder.ts";
import { type DhcpPart, openDhcp } from "./dhcp-part.ts";
import { giveOrder } from "./give-order.ts";
import { hearing } from "./hearing.ts";
import { type NetbootIdentity, netbootIdentity } from "./identity.ts";
import { listen } from "./listen.ts";
import { type Memory, openMemory } from "./memory.ts";
import { warningOfOthers } from "./other-servers.ts";
import { Parts } from "./parts.ts";
import { serveRemoteApi } from "./remote-api.ts";
import { renewing } from "./renewal.ts";
import { type Site, siteOf } from "./site.ts";

export interface NetbootPlace {
  settings: NetbootSettings;
  /** What machines boot (`agent/assets-folder.ts`). */
  assets: string;
  /** For leases, hosts and keys; of its owner alone. */
  dir: string;
  /** Path of the socket on which the command asks; unset: none. */
  socket?: string;
  inherited?: InheritedSockets;
  /** Where replicas that take turns find each other's leases; unset: only in `dir`. */
  leases?: LeaseCopy;
}

export interface NetbootPorts {
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Netboot {
  readonly hosts: Hosts;
  readonly logs: HostLogs;
  /** What single hosts may fetch. */
  readonly files: PrivateFiles;
  /** Has a host do it; resolves with the order's id. Rejects with a `Fault`. */
  order(host: string, wanted: UserOrder): Promise<string>;
  /** Where machines reach it: `http://10.20.0.1:8080`. */
  readonly url: string;
  /** Where its agents do: `https://10.20.0.1:8443`. */
  readonly agentUrl: string;
  readonly lacks: readonly Lack[];
  /** Ends every part; hosts and leases stay in the folder. */
  close(): Promise<void>;
}

/** While it starts and while it ends. */
const NOT_YET = { code: "Unavailable", message: "netboot: it does not serve yet, or no more" };

/**
 * Starts all that the settings ask for, DHCP last: who is given an address finds the rest there, and what can't start leads nobody here.
 * Rejects with a `Fault` that names what is wrong; nothing is left open then.
 */
export async function startNetboot(place: NetbootPlace, ports: NetbootPorts): Promise<Netboot> {
  const { settings, assets, dir, inherited } = place;
  const { clock, random, log } = ports;
  const parts = new Parts(log);
  let api: ReturnType<typeof localApi> | undefined;
  const close = async (): Promise<void> => {
    api = undefined;
    await parts.close();
  };
  try {
    // First of all: whoever has the socket has the folder, and nobody else writes to it.
    if (place.socket !== undefined) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const handler: HttpHandler = async (request) => api?.handler(request) ?? json(503, NOT_YET);
      const stream: HttpServerOptions["stream"] = (...asked) => api?.stream(...asked) ?? false;
      parts.own(await serveHttp(handler, { socket: place.socket, stream, log }));
    }
    const site = siteOf(settings);
    const { on, address, url, agentUrl } = site;
    const look = (): Promise<NetbootIdentity> => netbootIdentity(join(dir, "pki"), address, { clock, random });
    const identity = await look();
    const memory = openMemory(dir, settings, { parts, clock, random });
    const { hosts, logs, recentIpxe } = memory;

    const { files: own, uefi, images: isos } = settings.boot;
    const catalog = await bootCatalog({ assets, uefi, ...(own !== undefined && { own }) });
    for (const { file, effect, remedy } of catalog.lacks) log.warn({ file, remedy }, effect);
    const publicFiles = firstOf(
      firstScripts(() => url),
      catalog.files,
      await servedImages(isos),
    );

    const dhcp = await dhcpOf(place, { ...ports, parts, site, memory, files: catalog.bootFiles(url) });
    const who = whoIs(dhcp === undefined ? {} : { leased: dhcp.leased });
    const capabilities = new Capabilities(identity.key, clock);
    const images = parts.own(new Images({ folder: join(dir, "images"), clock }));
    const files = parts.own(new PrivateFiles({ hosts, capabilities, whoIs: who, clock }));
    const http = await listen(
      { settings, site, identity, memory, publicFiles, files, capabilities, whoIs: who, inherited },
      { parts, clock, log },
    );
    const order: Netboot["order"] = (host, wanted) => giveOrder(host, wanted, { hosts, files, images, url: agentUrl });
    const asked = { hosts, logs, order };
    api = localApi(asked);
    const { api: remoteApi } = settings;
    const remote =
      remoteApi && parts.own(await serveRemoteApi({ host: address, ...remoteApi, identity, dhcp, log }, asked));
    const show = ({ tls, authority }: NetbootIdentity): void => {
      http.tls?.renew(tls);
      remote?.renew({ ...tls, ca: authority });
    };
    parts.own(renewing(look, show, { clock, log }));

    if (dhcp !== undefined) {
      const answering = answerSolicitations({ device: on.name, answers: (mac) => recentIpxe.has(mac), log });
      await answering.then(
        (responder) => parts.own(responder),
        (error: unknown) =>
          log.warn(
            { reason: asFault(error, on.name).advice },
            "machines in iPXE will wait fifteen seconds for IPv6 routers",
          ),
      );
    }
    await dhcp?.serve();
    log.info({ interface: on.name, url, agentUrl, dhcp: settings.dhcp.mode }, "netboot serves");
    return { hosts, logs, files, order, url, agentUrl, lacks: catalog.lacks, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface DhcpPorts extends NetbootPorts {
  parts: Parts;
  site: Site;
  memory: Memory;
  files: BootFiles;
}

/** DHCP that remembers whom it hears; undefined: none is wanted. */
async function dhcpOf(
  { settings, dir, inherited, leases }: NetbootPlace,
  { parts, site, memory, files, clock, log }: DhcpPorts,
): Promise<DhcpPart | undefined> {
  if (settings.dhcp.mode === "off") return undefined;
  const { hosts, logs, disks, recentIpxe } = memory;
  const { byArchitecture, uefiDiscovery } = settings.boot;
  const hear = hearing({ hosts, note: (mac, line) => logs.append(mac, "dhcp", line, clock.now()) });
  // Who gives reserved addresses alone means to leave the others to somebody else.
  const warn: Tell = settings.dhcp.mode === "pool" ? warningOfOthers({ clock, log }) : () => {};
  return parts.own(
    await openDhcp({
      settings: settings.dhcp,
      boot: { ...files, uefiDiscovery, ...(byArchitecture !== undefined && { byArchitecture }) },
      on: site.on,
      dir,
      ownBoot: (client) => disks.ownBoot(client, site.url),
      tell(event) {
        recentIpxe.tell(event);
        hear(event);
        warn(event);
      },
      clock,
      log,
      ...(inherited !== undefined && { inherited }),
      ...(leases !== undefined && { copy: leases }),
    }),
  );
}
