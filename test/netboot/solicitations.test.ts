/** Router solicitations over a cable: who is to be answered hears that there is no router, and nobody else hears anything. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { lacking, Namespace } from "./namespace.ts";

const SETUP = `
ip netns add a
ip link add here type veth peer name there
ip link set there netns a
ip netns exec a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/there/accept_dad; ip link set there address 52:54:00:00:00:01 up'
echo 0 > /proc/sys/net/ipv6/conf/here/accept_dad
ip link set here up
`;

/** As iPXE: a solicitation from its link-local address; prints what comes back within the time, or nothing. */
const SOLICIT = String.raw`
use Socket qw(:all);
socket(my $raw, AF_INET6, SOCK_RAW, 58) or die "socket: $!";
my $advertisements = "\xff" x 32; vec($advertisements, 134, 1) = 0;
setsockopt($raw, 58, 1, $advertisements) or die "filter: $!";
setsockopt($raw, SOL_SOCKET, 25, "there\0") or die "device: $!";
setsockopt($raw, 41, 18, pack("i", 255)) or die "hops: $!";
my $request = pack("a16 i x20", "there", 0);
ioctl($raw, 0x8933, $request) or die "index: $!";
my (undef, $index) = unpack("a16 i", $request);
for (1 .. $ARGV[0]) {
  send($raw, pack("C C n N", 133, 0, 0, 0), 0, pack_sockaddr_in6(0, inet_pton(AF_INET6, "ff02::2"), $index)) or next;
  my $ready = ""; vec($ready, fileno $raw, 1) = 1;
  select($ready, undef, undef, 0.5) > 0 or next;
  recv($raw, my $bytes, 1500, 0);
  print unpack("H*", $bytes);
  last;
}
`;

const skip = await lacking("perl");

async function heard(mac: string, times: number): Promise<string> {
  const namespace = await Namespace.open(SETUP);
  try {
    const responder = namespace.start(process.execPath, [join(import.meta.dirname, "advertise.ts"), "here", mac]);
    const [line] = (await once(createInterface({ input: responder.stdout! }), "line")) as [string];
    assert.equal(line, "ready");
    const { stdout, stderr } = await namespace.run("perl", ["-e", SOLICIT, String(times)], { net: "a" });
    assert.equal(stderr, "");
    const ended = once(responder, "exit");
    responder.stdin!.end();
    assert.deepEqual(await ended, [0, null]);
    return stdout;
  } finally {
    await namespace.close();
  }
}

test("N20 a machine in iPXE hears at once that there is no router to wait for", { skip }, async () => {
  const advertisement = Buffer.from(await heard("52:54:00:00:00:01", 60), "hex");

  assert.equal(advertisement.length, 16);
  assert.equal(advertisement[0], 134);
  // Neither hop limit nor flags, no lifetime, no times; the kernel has put the checksum in.
  assert.deepEqual([...advertisement.subarray(4)], new Array(12).fill(0));
});

test("nobody else is answered", { skip }, async () => {
  assert.equal(await heard("52:54:00:00:00:02", 2), "");
});
