import { execFile } from "node:child_process";
import { readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
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
const DEVICES = "/sys/class/net";
const MOST_MS = 30_000;

/**
 * What Node has no call for: SIOCGIFINDEX, SIOCBRADDIF, SIOCGIFFLAGS and SIOCSIFFLAGS (netdevice(7)). Perl, since it is on every Debian and in the
 * project's own image; core functions only.
 */
const PLUG = `
use strict;
my ($device, $bridge) = @ARGV;
sub fail { print STDERR "$_[0]: $!"; exit 1 }
socket(my $s, 2, 2, 0) or fail("socket");
my $index = pack("Z16 x24", $device);
ioctl($s, 0x8933, $index) or fail($device);
my $port = pack("Z16 i x20", $bridge, unpack("x16 i", $index));
ioctl($s, 0x89a2, $port) or fail("$device becomes a port of $bridge");
my $flags = pack("Z16 x24", $device);
ioctl($s, 0x8913, $flags) or fail($device);
my $up = pack("Z16 s x22", $device, unpack("x16 s", $flags) | 1);
ioctl($s, 0x8914, $up) or fail("$device is set up");
`;

/** Of the network namespace of this process, for which /sys must have been mounted. */
export const systemLinks: Links = {
  async masters() {
    const devices = await readdir(DEVICES);
    return new Map(await Promise.all(devices.map(async (one) => [one, await masterOf(one)] as const)));
  },
  async plug(device, bridge) {
    try {
      await run("perl", ["-e", PLUG, device, bridge], { timeout: MOST_MS, env: { PATH: process.env.PATH ?? "" } });
    } catch (cause) {
      const { code, stderr, message } = cause as NodeJS.ErrnoException & { stderr?: string };
      if (code === "ENOENT")
        throw new Fault("MissingInput", device, "there is no perl to plug it in by", {
          remedy: "install perl-base",
          cause,
        });
      throw new Fault("Unavailable", device, `could not be plugged in: ${(stderr || message).trim()}`, { cause });
    }
  },
};

async function masterOf(device: string): Promise<string | undefined> {
  return await readlink(join(DEVICES, device, "master")).then(
    (path) => basename(path),
    () => undefined,
  );
}
