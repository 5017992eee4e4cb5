import { spawn } from "node:child_process";
import type { Socket } from "node:dgram";
import { once } from "node:events";
import { getSystemErrorName } from "node:util";
import { Fault } from "@slipway/base";

/** Where a socket is bound, and the network interface that it receives and sends through. */
export interface DeviceBind {
  device: string;
  /** IPv4, dotted; `0.0.0.0` receives broadcasts. */
  address: string;
  port: number;
}

/**
 * Makes a UDP socket with SO_BINDTODEVICE, which Node can't, binds it and passes it on by SCM_RIGHTS over the channel that Node has
 * to its children, in the form in which a child that runs Node sends a socket. Perl, since it is on every Debian; core modules only.
 * It ends once the socket has arrived. A refusal by the kernel is printed as `errno step` on standard error.
 */
const PROGRAM = String.raw`
use strict; use Socket;
my ($device, $address, $port, $sendmsg) = @ARGV;
sub fail { print STDERR $_[1] + 0, " $_[0]"; exit 1 }
socket(my $udp, AF_INET, SOCK_DGRAM, 0) or fail("socket", $!);
setsockopt($udp, SOL_SOCKET, SO_REUSEADDR, 1) or fail("SO_REUSEADDR", $!);
setsockopt($udp, SOL_SOCKET, 25, "$device\0") or fail("SO_BINDTODEVICE", $!);
bind($udp, pack_sockaddr_in($port, inet_aton($address))) or fail("bind", $!);
my $text = qq({"cmd":"NODE_HANDLE","type":"dgram.Socket","dgramType":"udp4","msg":"bound"}\n);
my $rights = pack("Q i i i x4", 20, SOL_SOCKET, 1, fileno $udp);
my $parts = pack("P Q", $text, length $text);
my $message = pack("Q Q P Q P Q i x4", 0, 0, $parts, 1, $rights, length $rights, 0);
syscall($sendmsg + 0, $ENV{NODE_CHANNEL_FD} + 0, $message, 0) == length $text or fail("sendmsg", $!);
open(my $channel, "<&=", $ENV{NODE_CHANNEL_FD}) or exit;
readline $channel;
`;

/** Linux's number of sendmsg(2), which Debian's smallest perl has no name for. */
const SENDMSG: Partial<Record<NodeJS.Architecture, number>> = { x64: 46, arm64: 211 };

/**
 * A bound socket that receives and sends through the device alone. Rejects with a `Fault`: `MissingInput` when there is
 * no perl, or no way known on this processor, `Unavailable` when the kernel refuses (no such device, port taken, not allowed).
 */
export async function openOnDevice({ device, address, port }: DeviceBind): Promise<Socket> {
  const on = `udp ${address}:${port} on ${device}`;
  const sendmsg = SENDMSG[process.arch];
  if (sendmsg === undefined) throw new Fault("MissingInput", on, `a ${process.arch} can't pass a socket on`);
  const { PATH } = process.env;
  const child = spawn("perl", ["-e", PROGRAM, device, address, String(port), String(sendmsg)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: PATH === undefined ? {} : { PATH },
  });
  let said = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  let socket: Socket | undefined;
  child.on("message", (_, handle) => {
    socket = handle as Socket;
  });
  const ended = await once(child, "close").then(
    ([code]) => ({ code }) as { code: number | null },
    (error: NodeJS.ErrnoException) => error,
  );
  if (socket !== undefined) return socket;
  if (ended instanceof Error) {
    if (ended.code === "ENOENT")
      throw new Fault("MissingInput", on, "perl, which binds sockets to a device, is not there");
    throw new Fault("Unavailable", on, ended.message, { cause: ended });
  }
  throw refusal(on, said);
}

function refusal(on: string, said: string): Fault {
  const [, errno, step] = /^(\d+) (\w+)$/.exec(said) ?? [];
  if (errno === undefined) return new Fault("Unavailable", on, `perl ended without a socket: ${said.slice(0, 200)}`);
  const name = getSystemErrorName(-Number(errno));
  return new Fault("Unavailable", on, `${step}: ${name}`, {
    remedy: REMEDIES[name] ?? "look at the interface with ip addr",
  });
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENODEV: "name an interface that ip link shows",
  EADDRINUSE: "stop what listens there",
  EADDRNOTAVAIL: "give the interface this address",
  EACCES: "run it where low ports may be bound (CAP_NET_BIND_SERVICE)",
  EPERM: "run it where sockets may be bound to devices (CAP_NET_RAW)",
};
