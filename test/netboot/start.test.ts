/** `slipway netboot` where others are already: at its port, or as a DHCP server on its network. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { Question } from "./ask.ts";
import { bridge } from "./bridge.ts";
import type { Asked } from "./discover.ts";
import { lacking, Namespace } from "./namespace.ts";
import { scratch } from "./served.ts";

const SETUP = `${bridge(["client"])}
ip netns exec client ip addr add 10.9.0.77/24 dev there
ip netns exec client ip route add 255.255.255.255 dev there
`;

const DISCOVER = join(import.meta.dirname, "discover.ts");

/** A network, and the command that serves it. */
async function stage(t: TestContext) {
  const dir = scratch(t);
  mkdirSync(join(dir, "assets"));
  const namespace = await Namespace.open(SETUP);
  t.after(() => namespace.close());
  const network = "--subnet 10.9.0.0/24 --range 10.9.0.100-10.9.0.199";
  const args = `netboot --interface net ${network} --no-kubernetes --dir ${dir}/state --assets ${dir}/assets`.split(
    " ",
  );
  return { namespace, netboot: join(import.meta.dirname, "../../bin/slipway"), args };
}

test("a netboot whose HTTP port is taken ends without having answered DHCP, and starts once the port is free", {
  skip: await lacking("perl"),
}, async (t) => {
  const { namespace, netboot, args } = await stage(t);

  const until = "process.stdin.resume().on('end', () => process.exit())";
  const listening = `require("node:http").createServer().listen(8080, "10.9.0.1", () => console.error("taken")); ${until}`;
  const other = namespace.start(process.execPath, ["-e", listening]);
  await once(other.stderr!, "data");
  const asking = namespace.start(process.execPath, [DISCOVER], { net: "client" });
  const asked = text(asking.stdout!);
  await once(asking.stderr!, "data");
  const { code, stderr } = await namespace.run(netboot, args);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /10\.9\.0\.1:8080/);
  asking.stdin!.end();
  const unheard = JSON.parse(await asked) as Asked;
  assert.ok(unheard.sent > 20, `${unheard.sent} sent`);
  assert.equal(unheard.answers, 0);

  const freed = once(other, "close");
  other.stdin!.end();
  await freed;
  await namespace.startSaying("netboot serves", netboot, args);
  await namespace.startSaying("answered", process.execPath, [DISCOVER], { net: "client" });
});

test("a netboot that gives addresses beside another DHCP server says so", {
  skip: await lacking("perl"),
}, async (t) => {
  const { namespace, netboot, args } = await stage(t);
  const said = await namespace.startSaying("netboot serves", netboot, args);
  const to = { address: "255.255.255.255", port: 67 };
  const question: Question = { type: "request", said: { asks: "10.9.0.7", server: "10.9.0.5" }, to };
  const ask = [join(import.meta.dirname, "ask.ts"), JSON.stringify(question)];
  assert.equal((await namespace.run(process.execPath, ask, { net: "client" })).stdout, "");
  assert.match(said(), /"server":"10\.9\.0\.5".*use --dhcp proxy.*another DHCP server gives addresses on this network/);
});
