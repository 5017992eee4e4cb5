/** `--interface eth1` sees eth1. Two networks, a client on each, and a server that is to serve one of them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { DhcpConfig } from "../../src/netboot/dhcp/config.ts";
import { lacking, Namespace, program } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const CONFIG: DhcpConfig = {
  mode: "pool",
  // Both networks: what comes by the wrong card would get an address of the right one.
  subnets: [{ network: "10.9.0.0/24", pools: [{ first: "10.9.0.100", last: "10.9.0.199" }] }],
  boot: { files: {}, urls: {} },
};

const SETUP = `
for n in a b; do
  ip netns add $n
  ip link add $n-here type veth peer name $n-there
  ip link set $n-there netns $n
  ip netns exec $n ip link set $n-there up
  ip link set $n-here up
done
ip addr add 10.9.0.1/24 dev a-here
`;

const skip = await lacking("udhcpc", "perl");
const NO_PERL = { env: { PATH: "/nowhere" } };

/** Whether the client of this network gets an address. */
async function leased(namespace: Namespace, net: "a" | "b"): Promise<boolean> {
  const args = ["-i", `${net}-there`, "-n", "-q", "-f", "-t", "2", "-T", "1", "-s", "/bin/true"];
  return (await namespace.run("udhcpc", args, { net })).code === 0;
}

/** As systemd would with a socket unit: binds to the device, and becomes the program. */
const ACTIVATE = String.raw`
use Socket qw(:DEFAULT IN6ADDR_ANY pack_sockaddr_in6); $^F = 255;
for (67, 4011) {
  socket(my $s, AF_INET, SOCK_DGRAM, 0); setsockopt($s, SOL_SOCKET, 25, "a-here\0") or die $!;
  bind($s, pack_sockaddr_in($_, INADDR_ANY)) or die $!; push @all, $s;
}
die if fileno $all[0] != 3;
@ENV{qw(LISTEN_PID LISTEN_FDS LISTEN_FDNAMES)} = ($$, 2, "slipway.socket:slipway.socket");
$ENV{PATH} = "/nowhere"; exec @ARGV;
`;

for (const [how, options] of Object.entries({
  "a launcher binds": {},
  "systemd has bound": { command: [program("perl")!, "-e", ACTIVATE, process.execPath] },
}))
  test(`only the card that is named is seen, by sockets that ${how}`, { skip }, async (t) => {
    const namespace = await Namespace.open(`${SETUP} ip addr add 10.9.1.1/24 dev b-here`);
    try {
      const leases = join(scratch(t), "leases");
      const served = await Served.start(namespace, { interface: "a-here", config: CONFIG, leases }, options);
      assert.equal(await leased(namespace, "b"), false);
      assert.equal(await leased(namespace, "a"), true);
      const { received, answered } = await served.stop();
      assert.deepEqual([received, answered], [2, 2]);
    } finally {
      await namespace.close();
    }
  });

test("sockets of IPv6, which systemd makes unless it is given an address, are refused with what to write", {
  skip,
}, async (t) => {
  const namespace = await Namespace.open(SETUP);
  try {
    const v6 = ACTIVATE.replace("AF_INET,", "AF_INET6,").replace(
      "pack_sockaddr_in($_, INADDR_ANY)",
      "pack_sockaddr_in6($_, IN6ADDR_ANY)",
    );
    const serving = { interface: "a-here", config: CONFIG, leases: join(scratch(t), "leases") };
    const starting = Served.start(namespace, serving, { command: [program("perl")!, "-e", v6, process.execPath] });
    await assert.rejects(starting, /write ListenDatagram=0\.0\.0\.0:67 in the socket unit/);
  } finally {
    await namespace.close();
  }
});

test("without a launcher, a card that is alone is served, and one of several is refused with what to do", {
  skip,
}, async (t) => {
  const namespace = await Namespace.open(SETUP);
  const folder = scratch(t);
  const serving = { interface: "a-here", config: CONFIG, leases: join(folder, "leases") };
  try {
    const served = await Served.start(namespace, serving, NO_PERL);
    assert.equal(await leased(namespace, "a"), true);
    await served.stop();

    await namespace.shell("ip addr add 10.9.1.1/24 dev b-here");
    await assert.rejects(Served.start(namespace, serving, NO_PERL), /install perl .*BindToDevice=/);
    await assert.rejects(Served.start(namespace, { ...serving, interface: "b" }), /there are a-here, b-here/);
  } finally {
    await namespace.close();
  }
});
