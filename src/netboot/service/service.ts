/**
 * Netboot, whole: DHCP, TFTP, HTTP and syslog on one network interface, from one set of settings. Machines that boot become hosts;
 * the agent on them takes orders. Needs an address, a folder for what must outlive it, and what `make agent` has put together.
 */
import { join } from "node:path";
import { agentMedia } from "../boot/agent-media.ts";
import { bootCatalog, type MissingFile } from "../boot/catalog.ts";
import { firstScripts } from "../boot/first-scripts.ts";
import { firstOf } from "../files/source.ts";
import { AskedBoots } from "../hosts/asked-boots.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { Capabilities } from "../http/boot-capability.ts";
import { Installers } from "../http/installers.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { Images } from "../images/images.ts";
import { servedImages } from "../iso/served.ts";
import type { HostLogs } from "../logs/host-logs.ts";
import type { UserOrder } from "../protocol/order.ts";
import { authoritiesIn } from "../tpm/authorities.ts";
import { type BootAsker, bootAsker, filesOfAsked } from "./asked-boot-service.ts";
import { serveCommandApis } from "./command-apis.ts";
import { openCommandSocket } from "./command-socket.ts";
import { giveOrder } from "./give-order.ts";
import { type NetbootIdentity, netbootIdentity } from "./identity.ts";
import { listen } from "./listen.ts";
import { openMachinesDhcp, spareIpxeItsWait } from "./machines-dhcp.ts";
import { openMemory } from "./memory.ts";
import { Parts } from "./parts.ts";
import type { NetbootPlace, NetbootPorts } from "./place.ts";
import { reachedAt } from "./reached-at.ts";
import { renewing } from "./renewal.ts";
import { foreignNetworks, networkText, speakers } from "./speakers.ts";

export interface Netboot extends BootAsker {
  readonly hosts: Hosts;
  readonly logs: HostLogs;
  /** What single hosts may fetch. */
  readonly files: PrivateFiles;
  /** Which hosts start an installer, and what it is given. */
  readonly installers: Installers;
  /** Has a host do it; resolves with the order's id: the caller's own, or a new one. Rejects with a `Fault`. */
  order(host: string, wanted: UserOrder, id?: string): Promise<string>;
  /** Where machines reach it: `http://10.20.0.1:8080`. */
  readonly url: string;
  /** Where its agents do: `https://10.20.0.1:8443`. */
  readonly agentUrl: string;
  readonly missing: readonly MissingFile[];
  /** Ends every part; hosts and leases stay in the folder. */
  close(): Promise<void>;
}

/**
 * Starts all that the settings ask for, DHCP last: who is given an address finds the rest there, and if a part can't start, no machine is sent here. It ends
 * in the opposite order.
 * Rejects with a `Fault` that names what is wrong; nothing is left open then.
 */
export async function startNetboot(place: NetbootPlace, ports: NetbootPorts): Promise<Netboot> {
  const { settings, assets, dir, socket, inherited } = place;
  const { clock, random, log } = ports;
  const parts = new Parts(log);
  try {
    // First of all: the owner of the socket owns the folder, and no other process writes to it.
    const commands = socket === undefined ? undefined : parts.own(await openCommandSocket(socket, log));
    const reached = reachedAt(settings);
    const { address, url, agentUrl } = reached;
    const look = (): Promise<NetbootIdentity> => netbootIdentity(join(dir, "pki"), address, { clock, random });
    const identity = await look();
    const authorities = await authoritiesIn(settings.tpmAuthorities);
    const memory = openMemory({ ...place, authorities }, { parts, clock, random, log });
    const { hosts, logs } = memory;

    const { files: own, uefi, images: isos } = settings.boot;
    const catalog = await bootCatalog({ assets, uefi, ...(own !== undefined && { own }) });
    for (const { file, effect, remedy } of catalog.missing) log.warn({ file, remedy }, effect);
    const scripts = firstScripts(() => url);
    const sameForAll = firstOf(scripts, catalog.files, await servedImages(isos));

    const dhcp = await openMachinesDhcp(place, { ...ports, parts, reached, memory, files: catalog.bootFiles(url) });
    const presences = speakers({ settings, on: reached.on, dhcp, clock, log });
    const capabilities = new Capabilities(identity.key, clock);
    const askedBoots = new AskedBoots(clock, random);
    const { signed } = catalog;
    const media = agentMedia({ files: catalog.files, signed, base: url, cardOf: (value) => askedBoots.cardOf(value) });
    const asked = filesOfAsked(firstOf(scripts, catalog.files), askedBoots, presences);
    const publicFiles = firstOf(sameForAll, media, asked);
    const images = parts.own(new Images({ folder: join(dir, "images"), clock }));
    const files = parts.own(new PrivateFiles({ hosts, capabilities, presences, clock }));
    const installers = parts.own(new Installers({ hosts, capabilities, presences, clock, url }));
    const http = await listen(
      {
        settings,
        reached,
        identity,
        memory,
        publicFiles,
        files,
        installers,
        capabilities,
        asked: askedBoots,
        presences,
        authorities,
        inherited,
      },
      { parts, clock, random, log },
    );
    const order: Netboot["order"] = (host, wanted, id) =>
      giveOrder(host, wanted, { hosts, files, images, url: agentUrl }, id);
    const { moreApi, hasCluster = false } = place;
    const served = { settings, hosts, logs, installers, order, dhcp, url, address, dir, hasCluster, identity };
    const apis = await serveCommandApis({ ...served, commands, moreApi, clock, random, log }, { parts });
    const show = (renewed: NetbootIdentity): void => {
      http.tls?.renew(renewed.tls);
      apis.renew(renewed);
    };
    parts.own(renewing(look, show, { clock, log }));

    if (dhcp !== undefined) {
      await spareIpxeItsWait(reached.on.name, { memory, parts, log });
      parts.own(await dhcp.serve());
    }
    const foreign = foreignNetworks(settings, reached.on).map(networkText);
    if (foreign.length > 0) log.info({ foreign }, "another DHCP server gives the addresses in these networks");
    if (settings.trust === "first-seen")
      log.warn({ trust: settings.trust }, "every machine that registers is trusted: use this in laboratories only");
    log.info({ interface: reached.on.name, url, agentUrl, dhcp: settings.dhcp.mode }, "netboot serves");
    return {
      hosts,
      logs,
      files,
      installers,
      order,
      ...bootAsker(askedBoots, settings.boot, { ...catalog.bootFiles(url), signed, base: url }),
      url,
      agentUrl,
      missing: catalog.missing,
      close: () => parts.close(),
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}
