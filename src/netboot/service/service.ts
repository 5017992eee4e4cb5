/**
 * Netboot, whole: DHCP, TFTP, HTTP and syslog on one network interface, from one set of settings. Machines that boot become hosts;
 * the agent on them takes orders. Needs an address, a folder for what must outlive it, and what `make agent` has put together.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { asFault } from "../../base/fault.ts";
import { type HttpHandler, json } from "../../base/http.ts";
import { serveHttp } from "../../base/http-server.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { agentHandler } from "../agent/handler.ts";
import type { UserOrder } from "../agent/order.ts";
import { AGENT_PATH } from "../agent/protocol.ts";
import { bootScripts } from "../boot/boot-scripts.ts";
import { bootCatalog, type Lack } from "../boot/catalog.ts";
import { DiskBoots } from "../boot/disk-boots.ts";
import { firstScripts } from "../boot/first-scripts.ts";
import type { AgentBoot, BootingMachine } from "../boot/machine.ts";
import { interfaceNamed, onlyInterface } from "../dhcp/interface.ts";
import type { LeaseCopy } from "../dhcp/leases/mirror.ts";
import { formatIpv4 } from "../dhcp/wire/ipv4.ts";
import { firstOf } from "../files/source.ts";
import { openHostStore } from "../hosts/host-store.ts";
import { Hosts } from "../hosts/hosts.ts";
import { whoIs } from "../hosts/who-is.ts";
import { Capabilities } from "../http/capability.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { netbootHttp } from "../http/server.ts";
import { Images } from "../images/images.ts";
import { servedImages } from "../iso/served.ts";
import { localApi } from "../local-api.ts";
import { AddressedLogs } from "../logs/by-address.ts";
import { HostLogs } from "../logs/host-logs.ts";
import type { NetbootSettings } from "../settings.ts";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { RecentIpxe } from "../solicitations/recent-ipxe.ts";
import { answerSolicitations } from "../solicitations/responder.ts";
import { serveSyslog } from "../syslog/server.ts";
import { udpOn } from "../tftp/datagrams.ts";
import { serveTftp } from "../tftp/server.ts";
import { startDhcp } from "./dhcp-part.ts";
import { giveOrder } from "./give-order.ts";
import { hearing } from "./hearing.ts";
import { type NetbootIdentity, netbootIdentity } from "./identity.ts";
import { serveRemoteApi } from "./remote-api.ts";
import { renewing } from "./renewal.ts";

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

/** A machine that takes longer from its script to its first report boots once more. */
const BOOT_MS = 30 * 60_000;

/** While it starts and while it ends. */
const NOT_YET = { code: "Unavailable", message: "netboot: it does not serve yet, or no more" };

/** Starts all that the settings ask for. Rejects with a `Fault` that names what is wrong; nothing is left open then. */
export async function startNetboot(place: NetbootPlace, { clock, random, log }: NetbootPorts): Promise<Netboot> {
  const { settings, assets, dir, inherited } = place;
  const open: (() => unknown)[] = [];
  const owned = <T extends { close(): unknown }>(part: T): T => {
    open.push(() => part.close());
    return part;
  };
  let api: ReturnType<typeof localApi> | undefined;
  const close = async (): Promise<void> => {
    api = undefined;
    for (const end of open.splice(0).reverse())
      try {
        await end();
      } catch (error) {
        // The other parts hold ports that whoever starts next needs.
        log.error({ error: asFault(error, "netboot").message }, "a part of netboot could not be closed");
      }
  };
  try {
    // First of all: whoever has the socket has the folder, and nobody else writes to it.
    if (place.socket !== undefined) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const handler: HttpHandler = async (request) => api?.handler(request) ?? json(503, NOT_YET);
      owned(
        await serveHttp(handler, { socket: place.socket, stream: (...asked) => api?.stream(...asked) ?? false, log }),
      );
    }
    const on = settings.interface === undefined ? onlyInterface() : interfaceNamed(settings.interface);
    const address = formatIpv4(on.addresses[0]!.address);
    const { port, tlsPort } = settings.http;
    const [url, agentUrl] = [`http://${address}:${port}`, `https://${address}:${tlsPort}`];
    const look = (): Promise<NetbootIdentity> => netbootIdentity(join(dir, "pki"), address, { clock, random });
    const identity = await look();
    const { files: own, uefi, script, unknown } = settings.boot;
    const catalog = await bootCatalog({
      assets,
      uefi,
      ...(own !== undefined && { own }),
    });
    for (const { file, effect, remedy } of catalog.lacks) log.warn({ file, remedy }, effect);

    const hosts = owned(
      new Hosts({
        store: openHostStore(join(dir, "hosts.db")),
        clock,
        random,
        usualBoot: script === undefined ? unknown : { chain: script },
      }),
    );
    const logs = owned(new HostLogs({ hosts }));
    const note = (mac: string, source: "dhcp" | "http", line: string): void =>
      logs.append(mac, source, line, clock.now());
    const capabilities = new Capabilities(identity.key, clock);

    const disks = new DiskBoots(hosts);
    const recent = new RecentIpxe(clock);
    const hear = hearing({ hosts, note: (mac, line) => note(mac, "dhcp", line) });
    const dhcp =
      settings.dhcp.mode === "off"
        ? undefined
        : owned(
            await startDhcp({
              settings: settings.dhcp,
              boot: { ...catalog.bootFiles(url), ...bootOptions(settings) },
              on,
              dir,
              ownBoot: (client) => disks.ownBoot(client, url),
              tell(event) {
                recent.tell(event);
                hear(event);
              },
              clock,
              log,
              ...(inherited !== undefined && { inherited }),
              ...(place.leases !== undefined && { copy: place.leases }),
            }),
          );
    if (dhcp !== undefined) {
      const responder = answerSolicitations({ device: on.name, answers: (mac) => recent.has(mac), log });
      await responder.then(owned, (error: unknown) =>
        log.warn(
          { reason: asFault(error, on.name).advice },
          "machines in iPXE will wait fifteen seconds for IPv6 routers",
        ),
      );
    }
    const who = whoIs(dhcp === undefined ? {} : { leased: dhcp.leased });
    const said = new AddressedLogs({ logs, whoIs: who, clock });
    const images = owned(new Images({ folder: join(dir, "images"), clock }));
    const files = owned(new PrivateFiles({ hosts, capabilities, whoIs: who, clock }));
    const publicFiles = firstOf(
      firstScripts(() => url),
      catalog.files,
      await servedImages(settings.boot.images),
    );

    if (settings.tftp.enabled)
      owned(
        await serveTftp({
          files: publicFiles,
          clock,
          address,
          singlePort: settings.tftp.singlePort,
          datagrams: udpOn(on.name, inherited),
          onEnd: ({ client, name, outcome, bytes }) =>
            said.append(client.address, "tftp", `${name}: ${outcome.is}, ${bytes} bytes`),
        }),
      );
    if (settings.syslog.enabled)
      owned(
        await serveSyslog({
          address,
          datagrams: udpOn(on.name, inherited),
          onLine: (from, line) => said.append(from, "syslog", line),
        }),
      );

    const agentBoot = ({ mac, architecture }: BootingMachine): AgentBoot => ({
      kernel: `${url}/agent/${architecture}/vmlinuz`,
      initrd: `${url}/agent/${architecture}/initrd`,
      commandLine: [
        `slipway.url=${agentUrl}`,
        `slipway.pin=${identity.pin}`,
        `slipway.boot=${capabilities.grant({ mac, to: "agent", until: clock.now() + BOOT_MS })}`,
        `slipway.mac=${mac}`,
        ...settings.boot.arguments,
      ],
    });
    const http = owned(
      await netbootHttp({
        files: firstOf(publicFiles, files),
        handlers: {
          "/boot/": bootScripts({
            hosts,
            base: () => url,
            agentBoot,
            whoIs: who,
            clock,
            nothingOnDisk: (mac) => disks.nothingFound(mac),
            served: (machine, action) => {
              hosts.heard(machine);
              note(machine.mac, "http", `its script says: ${typeof action === "string" ? action : "chain"}`);
            },
          }),
          [`${AGENT_PATH}/`]: agentHandler({
            hosts,
            capabilities,
            whoIs: who,
            clock,
            log,
            onLine: (host, line) => logs.append(host, "agent", line, clock.now()),
          }),
        },
        host: address,
        port,
        tls: { port: tlsPort, ...identity.tls },
        onAnswered: ({ remote, method, path, status, bytes, complete }) => {
          // What the agent has to say it says by itself.
          if (path.startsWith(`${AGENT_PATH}/`)) return;
          said.append(remote, "http", `${method} ${path}: ${status}, ${bytes} bytes${complete ? "" : ", broken off"}`);
        },
        log,
      }),
    );
    const order: Netboot["order"] = (host, wanted) => giveOrder(host, wanted, { hosts, files, images, url: agentUrl });
    api = localApi({ hosts, logs, order });
    const remote =
      settings.api &&
      owned(await serveRemoteApi({ host: address, ...settings.api, identity, dhcp, log }, { hosts, logs, order }));
    const show = ({ tls, authority }: NetbootIdentity): void => {
      http.tls?.renew(tls);
      remote?.renew({ ...tls, ca: authority });
    };
    owned(renewing(look, show, { clock, log }));
    log.info({ interface: on.name, url, agentUrl, dhcp: settings.dhcp.mode }, "netboot serves");
    return { hosts, logs, files, order, url, agentUrl, lacks: catalog.lacks, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function bootOptions({ boot }: NetbootSettings): object {
  const { byArchitecture, uefiDiscovery } = boot;
  return { uefiDiscovery, ...(byArchitecture !== undefined && { byArchitecture }) };
}
