import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Fault } from "@slipway/base";

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
    const { stdout } = await ip(["-json", "link", "show"]);
    const links = JSON.parse(stdout) as { ifname: string; master?: string }[];
    return new Map(links.map(({ ifname, master }) => [ifname, master]));
  },
  async plug(device, bridge) {
    await ip(["link", "set", "dev", device, "master", bridge]);
    await ip(["link", "set", "dev", device, "up"]);
  },
};

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
