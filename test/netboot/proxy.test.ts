/** Beside a DHCP server that others wrote, which gives the addresses. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SENDS } from "../../src/netboot/dhcp/testing.ts";
import type { Answered, Question } from "./ask.ts";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { Served, scratch } from "./served.ts";

const THEIRS = "10.9.0.5";
const [OFFER, ACK] = [2, 5];

const SETUP = `${bridge(["theirs", "client"])}
ip netns exec theirs ip addr add ${THEIRS}/24 dev there
ip netns exec client ip addr add 10.9.0.77/24 dev there
ip netns exec client ip route add 255.255.255.255 dev there
`;

/** dnsmasq, until the namespace ends; resolves once it says that it serves. */
async function startDnsmasq(namespace: Namespace, leases: string): Promise<void> {
  const options = [
    ...["no-daemon", "conf-file=/dev/null", "port=0", "user=root", "no-ping", "log-dhcp", `dhcp-leasefile=${leases}`],
    ...["interface=there", "dhcp-range=10.9.0.100,10.9.0.199,1h"],
  ];
  const args = options.map((option) => `--${option}`);
  await namespace.startSaying("DHCP, IP range", "dnsmasq", args, { net: "theirs" });
}

async function ask(namespace: Namespace, question: Question): Promise<Answered[]> {
  const args = [join(import.meta.dirname, "ask.ts"), JSON.stringify(question)];
  const { stdout, stderr } = await namespace.run(process.execPath, args, { net: "client" });
  assert.equal(stderr, "");
  const answers = stdout.split("\n").filter((line) => line !== "");
  return answers.map((line) => JSON.parse(line) as Answered).sort((a, b) => a.from.localeCompare(b.from));
}

test("N17 N19 in proxy mode beside dnsmasq: the address is dnsmasq's, the boot file ours, and nobody is refused", {
  skip: await lacking("dnsmasq", "perl"),
}, async (t) => {
  const namespace = await Namespace.open(SETUP);
  const folder = scratch(t);
  try {
    await startDnsmasq(namespace, join(folder, "theirs"));
    const served = await Served.start(namespace, {
      interface: "net",
      config: { mode: "proxy", subnets: [], boot: { files: { x64: "shimx64.efi" }, urls: {} } },
      leases: join(folder, "ours"),
    });
    const all = { address: "255.255.255.255", port: 67 };

    const offers = await ask(namespace, { type: "discover", said: { flags: 0x8000, sends: SENDS.ovmfPxe }, to: all });
    assert.deepEqual(
      offers.map(({ from, type, yiaddr, file, loader }) => [from, type, yiaddr !== "0.0.0.0", file, loader]),
      [
        ["10.9.0.1:67", OFFER, false, "shimx64.efi", "PXEClient"],
        [`${THEIRS}:67`, OFFER, true, "", undefined],
      ],
    );

    const [theirs] = offers.slice(1);
    const taking = { flags: 0x8000, sends: SENDS.ovmfPxe, asks: theirs!.yiaddr, server: THEIRS };
    const acks = await ask(namespace, { type: "request", said: taking, to: all });
    assert.deepEqual(
      acks.map(({ from, type }) => [from, type]),
      [[`${THEIRS}:67`, ACK]],
    );

    // The file is asked for at port 4011 by who was given an address; the answer goes to the port it came from.
    const bootServer = { address: "10.9.0.1", port: 4011 };
    const asking = { sends: SENDS.ovmfPxe, ciaddr: "10.9.0.77" };
    const [file, ...more] = await ask(namespace, { type: "request", said: asking, to: bootServer });
    assert.deepEqual([file?.from, file?.type, file?.file], ["10.9.0.1:4011", ACK, "shimx64.efi"]);
    assert.deepEqual(more, []);

    // A system that comes back with an address of neither: ours says nothing, and does not say no.
    const stranger = { flags: 0x8000, asks: "10.9.0.42", mac: "52:54:00:00:00:09" };
    for (const sends of [SENDS.system, SENDS.ovmfPxe]) {
      const answers = await ask(namespace, { type: "request", said: { ...stranger, sends }, to: all });
      assert.deepEqual(
        answers.filter(({ from }) => from.startsWith("10.9.0.1:")),
        [],
      );
    }
    const { answered } = await served.stop();
    assert.equal(answered, 2);
  } finally {
    await namespace.close();
  }
});
