/** `slipway netboot` where it can't start, on a network whose machines ask all the time. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { bridge } from "./bridge.ts";
import type { Asked } from "./discover.ts";
import { lacking, Namespace } from "./namespace.ts";
import { scratch } from "./served.ts";

const SETUP = `${bridge(["client"])}
ip netns exec client ip addr add 10.9.0.77/24 dev there
ip netns exec client ip route add 255.255.255.255 dev there
`;

test("a netboot whose HTTP port is taken ends without having answered DHCP, and starts once the port is free", {
  skip: await lacking("perl"),
}, async (t) => {
  const dir = scratch(t);
  mkdirSync(join(dir, "assets"));
  const namespace = await Namespace.open(SETUP);
  t.after(() => namespace.close());

  /** What machines hear while something goes on. */
  const meanwhile = async (going: () => Promise<unknown>): Promise<Asked> => {
    const asking = namespace.start(process.execPath, [join(import.meta.dirname, "discover.ts")], { net: "client" });
    const told = text(asking.stdout!);
    await once(asking.stderr!, "data");
    await going();
    asking.stdin!.end();
    return JSON.parse(await told) as Asked;
  };
  const netboot = join(import.meta.dirname, "../../bin/slipway");
  const network = "--subnet 10.9.0.0/24 --range 10.9.0.100-10.9.0.199";
  const args = `netboot --interface net ${network} --no-kubernetes --dir ${dir}/state --assets ${dir}/assets`.split(
    " ",
  );

  const until = "process.stdin.resume().on('end', () => process.exit())";
  const listening = `require("node:http").createServer().listen(8080, "10.9.0.1", () => console.error("taken")); ${until}`;
  const other = namespace.start(process.execPath, ["-e", listening]);
  await once(other.stderr!, "data");
  const unheard = await meanwhile(async () => {
    const { code, stderr } = await namespace.run(netboot, args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /10\.9\.0\.1:8080/);
  });
  assert.ok(unheard.sent > 20, `${unheard.sent} sent`);
  assert.equal(unheard.answers, 0);

  const freed = once(other, "close");
  other.stdin!.end();
  await freed;
  const heard = await meanwhile(() => namespace.startSaying("netboot serves", netboot, args));
  assert.ok(heard.answers > 0);
});
