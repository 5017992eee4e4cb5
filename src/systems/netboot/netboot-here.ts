import { join } from "node:path";
import {
  Fault,
  type Log,
  privateFolder,
  cryptoRandom as random,
  replacePrivateFile,
  steadyClock,
  systemClock,
  uuid,
} from "@slipway/base";
import { assetsFolder } from "../../netboot/agent/assets-folder.ts";
import type { SharedLeases } from "../../netboot/dhcp/leases/mirror.ts";
import type { OpenMoreApi } from "../../netboot/service/more-api.ts";
import { type NetbootPlace, SOCKET } from "../../netboot/service/place.ts";
import { type Netboot, startNetboot } from "../../netboot/service/service.ts";
import type { NetbootSettings } from "../../netboot/settings.ts";
import { inheritedSockets } from "../../netboot/sockets/inherited.ts";
import { textOf } from "../../pki/shelf.ts";

/** unix(7): `sun_path` with its end. */
const LONGEST_SOCKET = 107;

/** Netboot in a folder of this machine, ready to be started as often as a lease comes and goes. */
export interface NetbootHere {
  settings: NetbootSettings;
  /** `leases`: where it finds those of the replica that served before it. */
  start(leases?: SharedLeases): Promise<Netboot>;
  /** Gives up what systemd has bound for it. */
  close(): void;
}

/**
 * Netboot in this process. `hasCluster`: a cluster says which machines are trusted (`ledNetboot`). `isEngine`: objects of the cluster say what is installed. `assets`: Default: where `make agent` puts
 * them. Rejects when the folder can't be made, when others may write to it, or when its path is too long for a socket.
 */
export async function netbootHere(
  {
    settings,
    dir,
    assets,
    hasCluster,
    isEngine = false,
  }: Pick<NetbootPlace, "settings" | "dir"> & { assets?: string; hasCluster: boolean; isEngine?: boolean },
  log: Log,
): Promise<NetbootHere> {
  const socket = join(dir, SOCKET);
  if (Buffer.byteLength(socket) > LONGEST_SOCKET)
    throw new Fault("Invalid", dir, `its socket would have a path of more than ${LONGEST_SOCKET} bytes`, {
      remedy: "choose a folder with a shorter path",
    });
  privateFolder(dir);
  const inherited = await inheritedSockets(process.env, process.pid);
  const from = assets ?? assetsFolder(process.env);
  const place: NetbootPlace = {
    ...{ settings, assets: from, dir, socket, inherited, hasCluster },
    ...(settings.api?.plunder && { moreApi: await plunderFace(isEngine) }),
  };
  // Leases and orders keep ends that they are held against much later.
  const clock = steadyClock(systemClock);
  return {
    settings,
    async start(leases) {
      const shared = leases && { ...leases, replica: await replicaOf(dir) };
      return startNetboot({ ...place, ...(shared && { leases: shared }) }, { clock, random, log });
    },
    close: () => inherited.close(),
  };
}

/** Loaded where it is wanted: it brings the writers of installers' files. */
async function plunderFace(isEngine: boolean): Promise<OpenMoreApi> {
  const { openPlunderApi } = await import("../../plunder/api/open.ts");
  return (parts) => openPlunderApi(parts, { deploys: !isEngine });
}

/** Whose leases are in the folder: a name that lasts as long as they do. */
async function replicaOf(dir: string): Promise<string> {
  const file = join(dir, "replica");
  const held = await textOf(file);
  if (held !== "") return held;
  const made = uuid(random);
  await replacePrivateFile(file, made);
  return made;
}
