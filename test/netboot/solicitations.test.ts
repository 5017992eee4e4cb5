/** Router solicitations over a cable: who is to be answered sees that there is no router, and nobody else sees anything. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { lacking, Namespace } from "./namespace.ts";
import { SOLICIT } from "./solicit.ts";

const SETUP = `
ip netns add a
ip link add here type veth peer name there
ip link set there netns a
ip netns exec a sh -c 'echo 0 > /proc/sys/net/ipv6/conf/there/accept_dad; ip link set there address 52:54:00:00:00:01 up'
echo 0 > /proc/sys/net/ipv6/conf/here/accept_dad
ip link set here up
`;

const skip = await lacking("perl");

async function seen(mac: string, times: number): Promise<string> {
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

test("N20 a machine in iPXE sees at once that there is no router to wait for", { skip }, async () => {
  const advertisement = Buffer.from(await seen("52:54:00:00:00:01", 60), "hex");

  assert.equal(advertisement.length, 16);
  assert.equal(advertisement[0], 134);
  // Neither hop limit nor flags, no lifetime, no times; the kernel has put the checksum in.
  assert.deepEqual([...advertisement.subarray(4)], new Array(12).fill(0));
});

test("nobody else is answered", { skip }, async () => {
  assert.equal(await seen("52:54:00:00:00:02", 2), "");
});
