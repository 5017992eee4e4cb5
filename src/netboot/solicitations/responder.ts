/**
 * Answers the router solicitations of machines in iPXE (RFC 4861), so that they need not wait for a router. iPXE configures IPv6
 * beside IPv4 and goes on only when both have ended; where no IPv6 router answers, that takes fifteen seconds. What is answered says
 * nothing: no router, no prefix, no DHCPv6; and only the machine that asked receives it. Whom to answer is the caller's to say.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { getSystemErrorName } from "node:util";
import { Fault, type Log, type Mac } from "@slipway/base";
import { macOfLinkLocal } from "./link-local.ts";

export interface SolicitationOptions {
  /** The network interface: `eth1`. */
  device: string;
  /** Whether this machine is answered now. */
  answers(mac: Mac): boolean;
  log: Log;
}

export interface SolicitationResponder {
  close(): Promise<void>;
}

/**
 * Node has no raw sockets; this has, and nothing else: it prints each solicitation's sender on standard output and answers those
 * that it reads from standard input, as 32 hexadecimal digits a line. It ends when standard input does. Core modules of perl only.
 */
const PROGRAM = String.raw`
use strict; use Socket qw(:all); $| = 1;
# Ctrl-C and systemd reach whole groups of processes; whoever started this one says when it ends.
$SIG{$_} = "IGNORE" for qw(INT TERM HUP);
my ($device) = @ARGV;
my ($ICMPV6, $IPV6, $FILTER, $UNICAST_HOPS, $MULTICAST_HOPS, $JOIN, $BINDTODEVICE, $SIOCGIFINDEX) = (58, 41, 1, 16, 18, 20, 25, 0x8933);
sub fail { print STDERR $_[1] + 0, " $_[0]"; exit 1 }
socket(my $raw, AF_INET6, SOCK_RAW, $ICMPV6) or fail("socket", $!);
my $solicitations = "\xff" x 32; vec($solicitations, 133, 1) = 0;
setsockopt($raw, $ICMPV6, $FILTER, $solicitations) or fail("ICMP6_FILTER", $!);
setsockopt($raw, SOL_SOCKET, $BINDTODEVICE, "$device\0") or fail("SO_BINDTODEVICE", $!);
setsockopt($raw, $IPV6, $_, pack("i", 255)) or fail("hops", $!) for $UNICAST_HOPS, $MULTICAST_HOPS;
my $request = pack("a16 i x20", $device, 0);
ioctl($raw, $SIOCGIFINDEX, $request) or fail("SIOCGIFINDEX", $!);
my (undef, $index) = unpack("a16 i", $request);
setsockopt($raw, $IPV6, $JOIN, inet_pton(AF_INET6, "ff02::2") . pack("i", $index)) or fail("ff02::2", $!);
my $nothing = pack("C C n C C n N N", 134, 0, 0, 0, 0, 0, 0, 0);
my $asked = "";
print "ready\n";
for (;;) {
  my $ready = ""; vec($ready, 0, 1) = 1; vec($ready, fileno $raw, 1) = 1;
  select($ready, undef, undef, undef) > 0 or next;
  if (vec($ready, 0, 1)) {
    sysread(STDIN, $asked, 4096, length $asked) or exit;
    send($raw, $nothing, 0, pack_sockaddr_in6(0, pack("H32", $1), $index)) while $asked =~ s/^([0-9a-f]{32})\n//;
  }
  if (vec($ready, fileno $raw, 1)) {
    my $from = recv($raw, my $bytes, 1500, 0) or next;
    print unpack("H32", (unpack_sockaddr_in6($from))[1]), "\n";
  }
}
`;

/**
 * Answers until it is closed. Rejects with a `Fault`: `MissingInput` when there is no perl, `Unavailable` when the kernel refuses (no
 * IPv6, no such interface, not allowed). Machines boot without it all the same, only later.
 */
export async function answerSolicitations(options: SolicitationOptions): Promise<SolicitationResponder> {
  const { device, answers, log } = options;
  const on = `router solicitations on ${device}`;
  const { PATH } = process.env;
  const child = spawn("perl", ["-e", PROGRAM, device], {
    stdio: ["pipe", "pipe", "pipe"],
    env: PATH === undefined ? {} : { PATH },
  });
  let said = "";
  child.stderr.on("data", (bytes: Buffer) => {
    if (said.length < 1024) said += bytes.toString();
  });
  // A line to one that has just ended is lost, as its answer would be.
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, "close").then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  const ready = await Promise.race([once(lines, "line"), ended]);
  if (!Array.isArray(ready)) throw refusal(on, said, ready);

  let closing = false;
  lines.on("line", (sender) => {
    const mac = macOfLinkLocal(sender);
    if (mac !== undefined && answers(mac)) child.stdin.write(`${sender}\n`);
  });
  void ended.then(() => {
    if (!closing)
      log.warn({ device, said }, "router solicitations are no longer answered; iPXE waits for routers again");
  });
  return {
    async close() {
      closing = true;
      child.stdin.end();
      await ended;
    },
  };
}

function refusal(on: string, said: string, error: NodeJS.ErrnoException | undefined): Fault {
  if (error?.code === "ENOENT") return new Fault("MissingInput", on, "perl, which has raw sockets, is not there");
  const [, errno, step] = /^(\d+) (\S+)$/.exec(said) ?? [];
  const why =
    errno === undefined ? `perl ended: ${said.slice(0, 200)}` : `${step}: ${getSystemErrorName(-Number(errno))}`;
  return new Fault("Unavailable", on, why, { cause: error, remedy: "it needs CAP_NET_RAW, and IPv6 on the interface" });
}
