import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import { Fault } from "@slipway/base";

/** What an Ethernet frame of 1500 bytes has room for behind the headers of IPv4 and TCP. */
const FULL_BYTES = 1460;

/**
 * Gives a connection (descriptor 3) a larger segment size than its client has asked for, which the kernel allows while a socket is in repair; an
 * empty list of IP options makes it reckon anew. Repair ends whatever happens. Prints the size that holds now; a refusal as `errno step` on
 * standard error. Core modules of perl only.
 */
const PROGRAM = `
use strict; use Socket;
my ($full) = @ARGV;
my ($TCP, $MAXSEG, $REPAIR, $REPAIR_OPTIONS, $OPTION_MSS, $IP_OPTIONS) = (6, 2, 19, 22, 2, 4);
sub fail { print STDERR $_[1] + 0, " $_[0]"; exit 1 }
open(my $tcp, "+<&=", 3) or fail("socket", $!);
sub size { unpack("i", getsockopt($tcp, $TCP, $MAXSEG) || fail("TCP_MAXSEG", $!)) }
if (size() < $full) {
  setsockopt($tcp, $TCP, $REPAIR, pack("i", 1)) or fail("TCP_REPAIR", $!);
  my $why = setsockopt($tcp, $TCP, $REPAIR_OPTIONS, pack("L L", $OPTION_MSS, $full)) ? 0 : $! + 0;
  setsockopt($tcp, $TCP, $REPAIR, pack("i", -1)) or fail("TCP_REPAIR", $!);
  if ($why) { $! = $why; fail("TCP_REPAIR_OPTIONS", $!) }
  setsockopt($tcp, 0, $IP_OPTIONS, "") or fail("IP_OPTIONS", $!);
}
print size();
`;

/**
 * Has the kernel send segments of up to 1460 bytes, or what the way's MTU allows, to a client that takes whole frames but does not say so when it connects. To be
 * called before anything was sent. Resolves with the size that holds then; rejects with a `Fault`: `MissingInput` without perl, `Unavailable` when
 * the kernel refuses (CAP_NET_ADMIN). The connection is usable in any case.
 */
export async function sendFullSegments(socket: Socket): Promise<number> {
  const on = "TCP segments";
  const { PATH } = process.env;
  // Not among the first three: of those a child takes O_NONBLOCK away, and so from ours.
  const child = spawn("perl", ["-e", PROGRAM, String(FULL_BYTES)], {
    stdio: ["ignore", "pipe", "pipe", socket],
    env: PATH === undefined ? {} : { PATH },
  });
  let said = "";
  let size = "";
  child.stdout?.on("data", (bytes: Buffer) => {
    size += bytes.toString();
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  try {
    await once(child, "close");
  } catch (error) {
    throw new Fault("MissingInput", on, "perl, which changes their size, is not there", { cause: error });
  }
  if (/^\d+$/.test(size)) return Number(size);
  const [, errno, step] = /^(\d+) (\w+)$/.exec(said) ?? [];
  if (errno === undefined) throw new Fault("Unavailable", on, `perl ended: ${said.slice(0, 200)}`);
  throw new Fault("Unavailable", on, `${step}: ${getSystemErrorName(-Number(errno))}`, {
    remedy: "run it with CAP_NET_ADMIN",
  });
}
