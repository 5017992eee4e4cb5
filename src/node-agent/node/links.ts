import { execFile } from "node:child_process";
import { readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { Fault, isFault } from "@slipway/base";

/** Network devices of the node. */
export interface Links {
  /** The bridge that each device is a port of, undefined for none. */
  masters(): Promise<ReadonlyMap<string, string | undefined>>;
  /** Makes a device a port of a bridge, and sets it up. */
  plug(device: string, bridge: string): Promise<void>;
}

const run = promisify(execFile);
const ENV = { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" };
const MOST_BYTES = 64 * 1024 * 1024;

/** Through `ip` of iproute2, in the network namespace of this process. */
export const systemLinks: Links = {
  async masters() {
    try {
      const { stdout } = await ip(["-json", "link", "show"]);
      const links = JSON.parse(stdout) as { ifname: string; master?: string }[];
      return new Map(links.map(({ ifname, master }) => [ifname, master]));
    } catch (error) {
      // Without iproute2 nothing can be plugged, but all else goes on.
      if (isFault(error, "MissingInput")) return await mastersBySysfs();
      throw error;
    }
  },
  async plug(device, bridge) {
    await ip(["link", "set", "dev", device, "master", bridge]);
    await ip(["link", "set", "dev", device, "up"]);
  },
};

const DEVICES = "/sys/class/net";

/** The network namespace that /sys was mounted in: the node's, in a Pod with its network. */
async function mastersBySysfs(): Promise<ReadonlyMap<string, string | undefined>> {
  const devices = await readdir(DEVICES);
  const masterOf = async (device: string): Promise<string | undefined> =>
    await readlink(join(DEVICES, device, "master")).then(
      (path) => basename(path),
      () => undefined,
    );
  return new Map(await Promise.all(devices.map(async (one) => [one, await masterOf(one)] as const)));
}

async function ip(args: readonly string[]): Promise<{ stdout: string }> {
  try {
    return await run("ip", args, { env: ENV, maxBuffer: MOST_BYTES });
  } catch (cause) {
    const { code, stderr, message } = cause as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT")
      throw new Fault("MissingInput", "ip", "it is not installed", { remedy: "install iproute2", cause });
    throw new Fault("Unavailable", "ip", (stderr || message).trim(), { cause });
  }
}
